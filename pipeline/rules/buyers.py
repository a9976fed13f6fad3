"""Buyers: known, complete, and well-formed.

Sources: carrier-interface.md, invoice and itinerary headers; what is required beside name, tax number
and an itinerary's e-mail is "not shown" there and comes from the profile. What is well-formed is said in buyer_formats.py.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from pipeline.model.columns import HEADER_TYPES
from pipeline.model.error_cells import no_value
from pipeline.model.lazy import LazySequence
from pipeline.model.message import Joined, Private, terms
from pipeline.model.printable_text import name_hint
from pipeline.model.profile import Profile, Required, Terms
from pipeline.model.table import Indices, Mask
from pipeline.rules.buyer_formats import (
    email_hint,
    is_email,
    is_phone,
    is_tax_no,
    phone_hint,
    tax_hint,
)
from pipeline.rules.rows import Rows
from pipeline.rules.rule import Example, Facts, Rule, blank, invoice, itinerary

_HEADER = "carrier-interface.md, Invoice request: invoiceHeader; Itinerary request: itineraryHeader"
#: The carrier can't see it: any name is one to it.
ONE_LINE = "interface.md, Buyers sheet: header_name, which a line break leaves in two readings"
_TYPES = [choice.name for choice in HEADER_TYPES]
_CHOICES = terms(_TYPES, "choice")


def _malformed(column: str, well_formed: Callable[[str], bool]) -> Callable[[Rows, Terms], Mask]:
    """Each distinct value is looked at once; blank ones are nobody's slip."""

    def broken(rows: Rows, _terms: Terms) -> Mask:
        return rows.coded(column).where(lambda value: value != "" and not well_formed(value))

    return broken


def _seen(
    column: str, slip: Callable[[str], str] = lambda _value: ""
) -> Callable[[Rows, Indices, Terms], Facts]:
    """The texts as they stand, each with its likely slip."""

    def facts(rows: Rows, broken: Indices, _terms: Terms) -> Facts:
        seen: list[str] = rows.text(column)[broken].tolist()
        return {"seen": seen, "hint": LazySequence(len(seen), lambda at: slip(seen[at]))}

    return facts


def _no_name(rows: Rows, _terms: Terms) -> Mask:
    """No name, or a cell of the Buyers sheet that shows an error in place of one."""
    broken = rows.coded("header_name").where(lambda name: bool(no_value(name)))
    return np.asarray(rows.whose.known & (blank(rows, "header_name") | broken), dtype=bool)


def _name_has(slip: str, rows: Rows, _terms: Terms) -> Mask:
    return rows.coded("header_name").where(lambda name: name_hint(name) == slip)


def _unknown(rows: Rows, _terms: Terms) -> Mask:
    return ~rows.whose.known & ~rows.whose.named_none


def _unknown_facts(rows: Rows, broken: Indices, _terms: Terms) -> Facts:
    seen: list[str] = rows.buyer[broken].tolist()
    differing: list[Joined] = rows.whose.differing[broken].tolist()
    near: list[str] = rows.whose.near[broken].tolist()

    def hint(at: int) -> str:
        return "two_buyers" if differing[at] else no_value(seen[at]) or ("close_buyer" if near[at] else "")

    return {
        "seen": seen,
        "differing": differing,
        "near": [*map(Private, near)],
        "hint": LazySequence(len(seen), hint),
    }


def _wrong_type(rows: Rows, _terms: Terms) -> Mask:
    """A Buyers row's type; one in the ticket rows is marked by the reader."""
    return np.asarray(~rows.coded("header_type").among([*_TYPES, ""]) & ~rows.bad("header_type"), dtype=bool)


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
    "missing_value", "email", f"{_HEADER}; Issue itinerary, rule 2", _not_given("email"),
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
        "missing_value", "buyer", _HEADER, lambda rows, _terms: rows.whose.named_none & ~rows.bad("buyer"),
        (
            Example(True, {"header_type": "", "header_name": "", "tax_no": "", "phone": "", "email": ""}),
            Example(False, {}),
        ),
    ),
    Rule(
        "unknown_buyer", "buyer", "interface.md, Input columns: buyer", _unknown,
        (
            Example(True, {
                "buyer": "Nobody", "header_type": "", "header_name": "", "tax_no": "", "phone": "", "email": "",
            }),
            Example(False, {"buyer": "Nobody"}),  # the row says itself who it is
        ),
        _unknown_facts,
    ),
    Rule(
        "missing_value", "header_name", _HEADER, _no_name,
        (Example(True, {"header_name": ""}), Example(False, {})),
        _seen("header_name", no_value),
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
        "missing_value", "header_type", _HEADER, _missing("header_type"),
        (Example(True, {"header_type": ""}), Example(False, {"header_type": "individual", "tax_no": ""})),
    ),
    Rule(
        "missing_value", "tax_no", _HEADER, _no_tax_no,
        (Example(True, {"tax_no": ""}), Example(False, {"header_type": "individual", "tax_no": ""})),
    ),
    NEEDS_EMAIL,
    NEEDS_PHONE,
    Rule(
        "bad_choice", "header_type", _HEADER, _wrong_type,
        (Example(False, {"header_type": "individual"}), Example(False, {"header_type": "企业"})),
        lambda rows, broken, terms: {
            **_seen("header_type", no_value)(rows, broken, terms), "choices": _CHOICES,
        },
    ),
    Rule(
        "bad_tax_no", "tax_no", "carrier-interface.md: taxNo; GB 32100-2015 for its form", _malformed("tax_no", is_tax_no),
        (
            Example(False, {"tax_no": "9111 0000 6000 3734 1L"}),
            Example(True, {"tax_no": "91110000600037341K"}),
            Example(False, {"tax_no": "110108600037341"}),
            Example(True, {"tax_no": "1234"}),
            Example(False, {"tax_no": "N2330106MF1234567L"}),
        ),
        _seen("tax_no", tax_hint),
    ),
    Rule(
        "bad_email", "email", "carrier-interface.md, Issue itinerary, rule 2: the address must be correct",
        _malformed("email", is_email),
        (Example(True, {"email": "finance.example.com"}), Example(False, {"email": "finance@example.com"})),
        _seen("email", email_hint),
    ),
    Rule(
        "bad_phone", "phone", "carrier-interface.md: telNo and phone", _malformed("phone", is_phone),
        (Example(True, {"phone": "12"}), Example(False, {"phone": "+49 30 901820"})),
        _seen("phone", phone_hint),
    ),
)  # fmt: skip
