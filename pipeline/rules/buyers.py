"""Buyers: known, and well-formed; what must be given of them is in required_of_buyers.py, what is well-formed in buyer_formats.py.

Source: carrier-interface.md, invoice and itinerary headers.
"""

from collections.abc import Callable

import numpy as np

from pipeline.model.columns import HEADER_TYPES
from pipeline.model.error_cells import no_value
from pipeline.model.lazy import LazySequence
from pipeline.model.message import Joined, Message, Private, terms
from pipeline.model.profile import Terms
from pipeline.model.table import Indices, Mask
from pipeline.rules.buyer_formats import (
    email_hint,
    is_email,
    is_phone,
    is_tax_no,
    phone_hint,
    tax_hint,
)
from pipeline.rules.required_of_buyers import HEADER
from pipeline.rules.rows import Rows
from pipeline.rules.rule import Example, Facts, Rule, texts_seen

_TYPES = [choice.name for choice in HEADER_TYPES]
_CHOICES = terms(_TYPES, "choice")


def _malformed(column: str, well_formed: Callable[[str], bool]) -> Callable[[Rows, Terms], Mask]:
    """Each distinct value is looked at once; blank ones are nobody's slip."""

    def broken(rows: Rows, _terms: Terms) -> Mask:
        return rows.coded(column).where(lambda value: value != "" and not well_formed(value))

    return broken


def _unknown(rows: Rows, _terms: Terms) -> Mask:
    return ~rows.whose.known & ~rows.whose.named_none


def _unknown_facts(rows: Rows, broken: Indices, _terms: Terms) -> Facts:
    seen: list[str] = rows.buyer[broken].tolist()
    differing: list[Joined] = rows.whose.differing[broken].tolist()
    near: list[str] = rows.whose.near[broken].tolist()
    alike: list[Message | str] = rows.whose.alike[broken].tolist()

    def hint(at: int) -> str:
        if differing[at]:
            return "two_buyers"
        return no_value(seen[at]) or ("buyers_alike" if alike[at] else "close_buyer" if near[at] else "")

    return {
        "seen": seen,
        "differing": differing,
        "near": [*map(Private, near)],
        "alike": alike,
        "hint": LazySequence(len(seen), hint),
    }


def _wrong_type(rows: Rows, _terms: Terms) -> Mask:
    """A Buyers row's type; one in the ticket rows is marked by the reader."""
    return np.asarray(~rows.coded("header_type").among([*_TYPES, ""]) & ~rows.bad("header_type"), dtype=bool)


RULES = (
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
        "bad_choice", "header_type", HEADER, _wrong_type,
        (Example(False, {"header_type": "individual"}), Example(False, {"header_type": "企业"})),
        lambda rows, broken, terms: {
            **texts_seen("header_type", no_value)(rows, broken, terms), "choices": _CHOICES,
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
        texts_seen("tax_no", tax_hint),
    ),
    Rule(
        "bad_email", "email", "carrier-interface.md, Issue itinerary, rule 2: the address must be correct",
        _malformed("email", is_email),
        (Example(True, {"email": "finance.example.com"}), Example(False, {"email": "finance@example.com"})),
        texts_seen("email", email_hint),
    ),
    Rule(
        "bad_phone", "phone", "carrier-interface.md: telNo and phone", _malformed("phone", is_phone),
        (Example(True, {"phone": "12"}), Example(False, {"phone": "+49 30 901820"})),
        texts_seen("phone", phone_hint),
    ),
)  # fmt: skip
