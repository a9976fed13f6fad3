"""Tickets of other carriers: their numbers begin with a prefix that is none of this carrier's.

Source: interface.md, Carrier profile (`ticket_prefixes`); where the profile names none, any ticket is taken.
"""

import numpy as np

from pipeline.model.lazy import LazySequence
from pipeline.model.message import joined
from pipeline.model.profile import Carrier, Profile, Terms
from pipeline.model.table import Indices, Mask
from pipeline.rules.rows import Rows
from pipeline.rules.rule import Example, Facts, Rule

_BEHIND_PREFIX = 10**10  # ten of a ticket number's 13 digits


def _foreign(rows: Rows, terms: Terms) -> Mask:
    ours = terms.profile.carrier.ticket_prefixes
    if not ours:
        return np.zeros(len(rows), dtype=bool)
    has_one = rows.ticket >= 0
    return np.asarray(
        has_one & ~np.isin(rows.ticket // _BEHIND_PREFIX, [int(prefix) for prefix in ours]), dtype=bool
    )


def _prefix_facts(rows: Rows, broken: Indices, terms: Terms) -> Facts:
    prefix = LazySequence(len(broken), lambda at: str(rows.ticket_no[broken[at]])[:3])
    return {"prefix": prefix, "prefixes": joined(terms.profile.carrier.ticket_prefixes)}


_OURS = Profile(carrier=Carrier(ticket_prefixes=("999",)))

RULES = (
    Rule(
        "not_a_carrier_ticket", "ticket_no", "interface.md, Carrier profile: ticket_prefixes", _foreign,
        (
            Example(True, {"ticket_no": "8881234567890"}, _OURS),
            Example(False, {"ticket_no": "9991234567890"}, _OURS),
            Example(False, {"ticket_no": "8881234567890"}),  # no prefixes named: any
        ),
        _prefix_facts,
    ),
)  # fmt: skip
