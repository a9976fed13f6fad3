"""What must be given of a buyer: a name on one line, the kind of buyer, a tax number for a business, an e-mail for an itinerary.

Sources: carrier-interface.md, invoice and itinerary headers; what is required beside is "not shown" there and comes from the profile
([required]).
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from pipeline.model.error_cells import no_value
from pipeline.model.printable_text import name_hint
from pipeline.model.profile import Profile, Required, Terms
from pipeline.model.table import Mask
from pipeline.rules.rows import Rows
from pipeline.rules.rule import Example, Rule, blank, invoice, itinerary, texts_seen

HEADER = "carrier-interface.md, Invoice request: invoiceHeader; Itinerary request: itineraryHeader"
#: The carrier can't see it: any name is one to it.
ONE_LINE = "interface.md, Buyers sheet: header_name, which a line break leaves in two readings"


def _no_name(rows: Rows, _terms: Terms) -> Mask:
    """No name, or a cell of the Buyers sheet that shows an error in place of one."""
    broken = rows.coded("header_name").where(lambda name: bool(no_value(name)))
    return np.asarray(rows.whose.known & (blank(rows, "header_name") | broken), dtype=bool)


def _name_has(slip: str, rows: Rows, _terms: Terms) -> Mask:
    return rows.coded("header_name").where(lambda name: name_hint(name) == slip)


def _missing(column: str) -> Callable[[Rows, Terms], Mask]:
    return lambda rows, _terms: np.asarray(rows.whose.known & blank(rows, column), dtype=bool)


def _no_tax_no(rows: Rows, _terms: Terms) -> Mask:
    return np.asarray(
        rows.whose.known & rows.says("header_type", "business") & blank(rows, "tax_no"), dtype=bool
    )


def _not_given(column: str) -> Callable[[Rows, Terms], Mask]:
    """Blank where this voucher needs it: by the profile, or an itinerary's e-mail always."""

    def broken(rows: Rows, terms: Terms) -> Mask:
        required = terms.profile.required
        needed = np.zeros(len(rows), dtype=bool)
        if column in required.invoice:
            needed |= invoice(rows)
        if column in required.itinerary or column == "email":
            needed |= itinerary(rows)
        return needed & rows.whose.known & blank(rows, column)

    return broken


_PHONE_ASKED = Profile(required=Required(invoice=("phone",)))

#: Also the itinerary's own conditions, by which `auto` chooses.
NEEDS_EMAIL = Rule(
    "missing_value", "email", f"{HEADER}; Issue itinerary, rule 2", _not_given("email"),
    (
        Example(True, {"voucher": "itinerary", "email": ""}),
        Example(False, {"voucher": "invoice", "email": ""}),
    ),
)  # fmt: skip
NEEDS_PHONE = Rule(
    "missing_value", "phone", "interface.md, Carrier profile: [required]", _not_given("phone"),
    (
        Example(False, {"phone": ""}),
        Example(True, {"phone": ""}, _PHONE_ASKED),
        Example(False, {"phone": "", "voucher": "itinerary"}, _PHONE_ASKED),
    ),
)  # fmt: skip

RULES = (
    Rule(
        "missing_value", "buyer", HEADER, lambda rows, _terms: rows.whose.named_none & ~rows.bad("buyer"),
        (
            Example(True, {"header_type": "", "header_name": "", "tax_no": "", "phone": "", "email": ""}),
            Example(False, {}),
        ),
    ),
    Rule(
        "missing_value", "header_name", HEADER, _no_name,
        (Example(True, {"header_name": ""}), Example(False, {})),
        texts_seen("header_name", no_value),
    ),
    Rule(
        "missing_value", "header_name", ONE_LINE, partial(_name_has, "line_break"),
        (Example(True, {"header_name": "Example\nTrading Co."}), Example(False, {"header_name": "示例\n公司"})),
        lambda _rows, _broken, _terms: {"hint": "line_break"},
    ),
    Rule(
        "missing_value", "header_name", ONE_LINE, partial(_name_has, "unseen_characters"),
        (Example(True, {"header_name": "Example\x1b Co."}), Example(False, {"header_name": "Example\u00a0Co."})),
        lambda _rows, _broken, _terms: {"hint": "unseen_characters"},
    ),
    Rule(
        "missing_value", "header_type", HEADER, _missing("header_type"),
        (Example(True, {"header_type": ""}), Example(False, {"header_type": "individual", "tax_no": ""})),
    ),
    Rule(
        "missing_value", "tax_no", HEADER, _no_tax_no,
        (Example(True, {"tax_no": ""}), Example(False, {"header_type": "individual", "tax_no": ""})),
    ),
    NEEDS_EMAIL,
    NEEDS_PHONE,
)  # fmt: skip
