"""Names with line breaks, and names and remarks with characters that no eye sees: refused, as a person has to look at them.

Source: interface.md, Input columns.
"""

from functools import partial

import numpy as np

from pipeline.model.printable_text import has_unseen, name_hint
from pipeline.model.profile import Terms
from pipeline.model.table import Mask
from pipeline.rules.required_of_tickets import REQUEST
from pipeline.rules.rows import Rows
from pipeline.rules.rule import Example, Rule, invoice
from pipeline.rules.text_as_sent import unprintable

#: Where the interface says nothing: what no eye sees can't be compared with the ticket, and a terminal may obey it.
UNSEEN = "interface.md, Input columns: passenger_name as on the ticket, remarks as free text"


def _name_has(slip: str, rows: Rows, _terms: Terms) -> Mask:
    broken = np.zeros(len(rows), dtype=bool)
    odd = unprintable(rows.passenger_name)  # every line break is
    broken[odd] = [name_hint(name) == slip for name in rows.passenger_name[odd]]
    return broken


def _unseen_remarks(rows: Rows, _terms: Terms) -> Mask:
    broken = np.zeros(len(rows), dtype=bool)
    odd = unprintable(rows.remarks)
    broken[odd] = [has_unseen(remarks) for remarks in rows.remarks[odd]]
    return broken & invoice(rows)


RULES = (
    Rule(
        "missing_value", "passenger_name", REQUEST, partial(_name_has, "line_break"),
        (Example(True, {"passenger_name": "ZHANG\nWEI"}), Example(False, {"passenger_name": "ZHANG/\nWEI"})),
        lambda _rows, _broken, _terms: {"hint": "line_break"},
    ),
    Rule(
        "missing_value", "passenger_name", UNSEEN, partial(_name_has, "unseen_characters"),
        (
            Example(True, {"passenger_name": "ZHANG/WEI\x1b[31m"}), Example(True, {"passenger_name": "\u3164"}),
            Example(False, {"passenger_name": "\u200bZHANG/WEI\u00a0MR\ufeff"}),
        ),
        lambda _rows, _broken, _terms: {"hint": "unseen_characters"},
    ),
    Rule(
        "missing_value", "remarks", UNSEEN, _unseen_remarks,
        (Example(True, {"remarks": "PO 7\x1b[2J"}), Example(False, {"remarks": "PO 7,\nline 2"})),
        lambda _rows, _broken, _terms: {"hint": "unseen_characters"},
    ),
)  # fmt: skip
