"""What the cells of a statement's line say: number and kind of the voucher, ticket, charge, amount, when it was issued.

Each raises BadCell where that can't be understood.
"""

import datetime
import re
from typing import Any

from pipeline.model.message import Private, message
from pipeline.model.shown_cells import shown
from pipeline.reading import amount_cells, cells
from pipeline.reading.cell_words import CHOICE_WORDS, folded
from pipeline.reading.sheet import is_blank
from pipeline.reading.statement_lines import EXACT_DIGITS, NUMBERS, BadCell, Line
from pipeline.reading.statement_made_at import moment_of
from pipeline.reading.statement_words import VOUCHER_SHEETS, VOUCHER_WORDS
from pipeline.reading.ticket_number import ticket_no
from pipeline.reading.unreadable import Unreadable

#: Kinds of voucher by the names of sheets, folded.
KIND_OF_SHEET = {folded(word): name for word, name in VOUCHER_SHEETS.items()}
_VOUCHERS = {**CHOICE_WORDS["voucher"], **{folded(word): name for word, name in VOUCHER_WORDS.items()}}
#: What a longer word for a kind of voucher holds; an itinerary's first, for it is a kind of electronic invoice.
_SAID_WITHIN = (
    ("行程单", "itinerary"),
    ("itinerary", "itinerary"),
    ("发票", "invoice"),
    ("invoice", "invoice"),
)
#: A long number as a spreadsheet shows it: 1.79526E+17.
_ROUNDED = re.compile(r"[0-9]+([.,][0-9]+)?[Ee]\+?[0-9]+")


def ticket_of(line: Line) -> str:
    """The ticket's 13 digits."""
    try:
        return ticket_no(cells.value(line.get("ticket_no")))
    except Unreadable:
        raise BadCell("ticket_no", message("is not a ticket number of 13 digits")) from None


def number_of(line: Line) -> tuple[str, str]:
    """(the column that holds it, the voucher's number); one of the columns does."""
    columns = [name for name in NUMBERS if name in line.page.layout.columns]
    given = [name for name in columns if not line.blank(name)]
    if not given:
        raise BadCell(columns[0], message("the voucher's number is missing"))
    if len(given) > 1:
        raise BadCell(given[1], message("two numbers stand in one line"))
    return given[0], number_text(given[0], line.get(given[0]))


def number_text(name: str, cell: Any) -> str:
    """A voucher's number, as a cell of that column has it."""
    text = re.sub(r"\s", "", cells.text(cell)) if not isinstance(cell, bytes) else ""
    if (isinstance(cell, float) and abs(cell) >= 10**EXACT_DIGITS) or _ROUNDED.fullmatch(text):
        raise BadCell(
            name,
            message(
                "the number was spoilt by the spreadsheet, which keeps 15 digits; take the carrier's file as it came, and open it with"
                " this column as text"
            ),
        )
    if not re.fullmatch(r"[0-9A-Za-z-]{4,40}", text):
        raise BadCell(
            name,
            message(
                "is not a voucher's number, of 4 to 40 letters and digits; enter it as the carrier has it, or ask the carrier"
            ),
        )
    return text


def voucher_of(line: Line, heading: str) -> str:
    """The kind of voucher: what the line says of itself wins; headings and sheets are called after one kind for all of them."""
    cell, sheet = line.get("voucher"), line.page.sheet.name
    if not is_blank(cell) and (said := _kind_said(cell)):
        return said
    named = {kind for kind in (heading, KIND_OF_SHEET.get(folded(sheet), "")) if kind}
    if len(named) != 1 or (not is_blank(cell) and not heading):
        raise BadCell("voucher", message("does not say whether it is an invoice or an itinerary"))
    return named.pop()


def _kind_said(cell: Any) -> str:
    """The kind that a cell says, "" for none: an itinerary is also called an electronic invoice (of that kind)."""
    word = folded(cell)
    if (said := _VOUCHERS.get(word, "")) in ("invoice", "itinerary"):
        return said
    return next((kind for part, kind in _SAID_WITHIN if part in word), "")


def charge_of(line: Line, voucher: str) -> tuple[str, str]:
    """(charge, product). An itinerary is of a ticket's fare (carrier-interface.md, Itinerary request)."""
    words = line.page.words
    text, product_text = (
        "" if line.blank(name) else folded(line.get(name)) for name in ("charge", "product")
    )
    charge = words.charges.get(text, "" if not text else "?")
    product = words.products.get(product_text, "" if not product_text else "?")
    if charge == "?" and product in ("", "?") and words.products.get(text) not in (None, "flight"):
        charge, product = "ancillary", words.products[text]  # the charge is called by its product
    if not charge and voucher == "itinerary":
        charge = "ticket_fare"
    if charge in ("", "?"):
        raise BadCell(
            "charge",
            message("is not a charge that is known: ticket_fare 机票款, refund 退票费, ancillary 附加服务"),
        )
    if charge != "ancillary" and product not in ("", "flight"):
        raise BadCell("product", message("is a product that does not go with the charge"))
    if charge != "ancillary":
        return charge, "flight"
    if product in ("?", "flight"):
        raise BadCell("product", message("is not an ancillary product that is known"))
    return charge, product


def amount_of(line: Line, cell: Any) -> int | None:
    """A line's amount, as that cell gives it, in minor units; None where none is given."""
    if is_blank(cell):
        return None
    currency = line.page.words.currency
    if other := line.page.in_others.get(line.index):
        wrong = message(
            "is in another currency than the carrier's, {currency}, or in one that is not known: {cell} “{heading}” says “{seen}”",
            currency=currency, cell=other.cell, heading=Private(other.heading), seen=Private(other.seen[:40]),
        )  # fmt: skip
        raise BadCell("amount", wrong)
    try:
        return amount_cells.amount(cells.value(cell), currency)
    except Unreadable as unreadable:
        if str(unreadable) == "currency":
            wrong = message(
                "“{amount}” is not in the carrier's currency, {currency}",
                amount=Private(shown(cell)[:40]),
                currency=currency,
            )
            raise BadCell("amount", wrong) from None
        raise BadCell("amount", message("is not an amount")) from None


def issued_at(line: Line) -> datetime.datetime | datetime.date | None:
    """When it was issued: a date, or a time where one is given; a time zone is kept."""
    if line.blank("issued_at"):
        return None
    try:
        return moment_of(line.get("issued_at"))
    except (Unreadable, ValueError):
        raise BadCell("issued_at", message("is not a date that can be read without guessing")) from None
