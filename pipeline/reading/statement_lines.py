"""The lines of a carrier's statement: what each says that was issued or reversed, or why it can't be understood."""

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pipeline.model.errors import InputProblem
from pipeline.model.evidence import Misread, Reversal, StatementLine
from pipeline.model.message import Message, Private, Term, message
from pipeline.model.places import about, row_at
from pipeline.model.profile import Profile
from pipeline.model.table import shown
from pipeline.reading import cells
from pipeline.reading.cell_words import CHOICE_WORDS, folded
from pipeline.reading.footers import is_footer
from pipeline.reading.headings import Layout, cell_name
from pipeline.reading.made_at import moment_of, times_made
from pipeline.reading.reversal_words import said_of_reversal
from pipeline.reading.sheet import Sheet, is_blank
from pipeline.reading.statement_words import NO_WORDS, RED_COLUMNS, VOUCHER_SHEETS, VOUCHER_WORDS
from pipeline.reading.totals import is_total
from pipeline.reading.unreadable import Unreadable, one_width

#: Columns of vouchers' numbers, and the kind of voucher that each is for.
NUMBERS = {"number": "", "invoice_number": "invoice", "itinerary_number": "itinerary"}
#: Kinds of voucher by the names of sheets, folded.
KIND_OF_SHEET = {folded(word): name for word, name in VOUCHER_SHEETS.items()}

#: More digits than these a spreadsheet's number does not keep.
_EXACT_DIGITS = 15
_VOUCHERS = {**CHOICE_WORDS["voucher"], **{folded(word): name for word, name in VOUCHER_WORDS.items()}}
_ANY_ZONE = ZoneInfo("UTC")
#: What a longer word for a kind of voucher holds; an itinerary's first, for it is a kind of electronic invoice.
_SAID_WITHIN = (
    ("行程单", "itinerary"),
    ("itinerary", "itinerary"),
    ("发票", "invoice"),
    ("invoice", "invoice"),
)
#: What is told of a cell that may say that its line is red.
_UNCLEAR = {
    "partly": message(
        "says that a part of a voucher was reversed, and not how much; nothing was changed. Ask the carrier; if all of it"
        " was reversed: voucher ledger reverse"
    ),
    "unclear": message(
        "says something about a reversal, and not that one was made; nothing was changed. Ask the carrier; if the voucher was reversed:"
        " voucher ledger reverse; if not, correct the cell (正常). Leave out only a line that is no voucher"
    ),
    "unknown": message(
        "is not a status that is known; whether the voucher is good can't be told. Ask the carrier; if it is good, correct the cell"
        " (正常); if it was reversed: voucher ledger reverse"
    ),
}


@dataclass(frozen=True)
class Words:
    """The words that a statement's cells may have: for charges and products ours and the carrier's codes, its currency."""

    charges: Mapping[str, str]
    products: Mapping[str, str]
    currency: str

    @classmethod
    def of(cls, profile: Profile) -> "Words":
        """Those of this carrier."""
        fees, products = profile.codes.fee_type, profile.codes.product_type
        return cls(
            {**CHOICE_WORDS["charge"], **{folded(code): name for name, code in fees.items() if code}},
            {**CHOICE_WORDS["product"], **{folded(code): name for name, code in products.items() if code}},
            profile.carrier.currency,
        )


@dataclass(frozen=True)
class Page:
    """A sheet of a statement, with its headings and the words that its cells may have."""

    path: Path
    sheet: Sheet
    layout: Layout
    words: Words

    @cached_property
    def spoilt(self) -> frozenset[str]:
        """The columns in which a spreadsheet rounded the numbers before they were saved as text: all of the long ones."""
        found, below = set(), self._below
        for name in (*NUMBERS, "original_number"):
            at = self.layout.columns.get(name)
            column = [row[at] for row in below if at is not None and at < len(row)]
            long = [text for text in map(_long_number, column) if text]
            if len(long) > 1 and not any(text[_EXACT_DIGITS:].strip("0") for text in long):
                found.add(name)
        return frozenset(found)

    @property
    def _below(self) -> Sequence[list[Any]]:
        return self.sheet.rows[self.layout.heading_row + 1 :]

    def lines(self) -> Iterator["_Line"]:
        """Its lines, without totals, signatures and headings that are repeated."""
        for index, row in enumerate(self._below, start=self.layout.heading_row + 1):
            line = _Line(self, index, row)
            if not line.says_nothing:
                yield line


class _Bad(Exception):
    """What is wrong with a line: in which column, and why."""

    def __init__(self, column: str, problem: Message) -> None:
        super().__init__(column, problem)
        self.column, self.problem = column, problem


@dataclass(frozen=True)
class _Line:
    page: Page
    index: int  # among the sheet's rows
    row: Sequence[Any]

    @property
    def place(self) -> Message:
        sheet = self.page.sheet
        return row_at(self.page.path.name, sheet.name, sheet.first_row + self.index + 1)

    @property
    def says_nothing(self) -> bool:
        if all(map(is_blank, self.row)) or self._repeats_headings:
            return True
        unnumbered = all(is_blank(self.get(name)) for name in NUMBERS)
        if unnumbered and (is_total(self.row, self.page.layout) or is_footer(self.row)):
            return True
        return not has_ticket(self.row, self.page.layout) and any(times_made(self.row, _ANY_ZONE))

    @property
    def _repeats_headings(self) -> bool:
        """As printed statements do on every page."""
        layout = self.page.layout
        at = layout.columns["ticket_no"]
        return at < len(self.row) and folded(self.row[at]) in layout.words.get(at, ())

    def get(self, name: str) -> Any:
        """The cell of a column, "" where there is none; a number that a spreadsheet rounded is a number again."""
        cell = _cell(self.row, self.page.layout, name)
        return float(_long_number(cell)) if name in self.page.spoilt and _long_number(cell) else cell

    def blank(self, name: str) -> bool:
        return is_blank(self.get(name))

    def cell_name(self, column: str) -> str | Message:
        """The cell of a column, as the spreadsheet program names it."""
        at = self.page.layout.columns.get(column)
        return message("a cell") if at is None else cell_name(self.page.sheet, self.index, at)


def taken(page: Page) -> Iterator[StatementLine | Misread | Reversal]:
    """What each line of a sheet says. Raises InputProblem where a line contradicts its own heading."""
    for line in page.lines():
        ticket = ""
        try:
            ticket = _ticket(line.get("ticket_no"))
            red = _red(line)
            yield _reversal(line, ticket, red) if red else _issued_charge(line, ticket)
        except _Bad as bad:
            yield Misread(line.place, ticket, about(line.cell_name(bad.column), bad.problem))


def has_ticket(row: Sequence[Any], layout: Layout) -> bool:
    """Whether a row holds a ticket's number in its column."""
    try:
        return bool(_ticket(_cell(row, layout, "ticket_no")))
    except _Bad:
        return False


def _cell(row: Sequence[Any], layout: Layout, name: str) -> Any:
    at = layout.columns.get(name)
    return row[at] if at is not None and at < len(row) else ""


def _issued_charge(line: _Line, ticket: str) -> StatementLine:
    column, number = _number(line)
    _check_original(line, number)
    voucher = _voucher(line.get("voucher"), NUMBERS[column], line.page.sheet.name)
    if _contradicts(voucher, column, line.page.layout):
        raise InputProblem(
            "{file}: {cell} holds an {kind}'s number by its heading, and the line says {voucher}, though another column is for"
            " {voucher}s' numbers; which of them is true can't be told. Correct the statement, or ask the carrier for another",
            file=str(line.page.path), cell=line.cell_name(column), kind=Term(NUMBERS[column], "choice"),
            voucher=Term(voucher, "choice"),
        )  # fmt: skip
    charge, product = _charge(line, voucher)
    buyer = "" if isinstance(line.get("buyer"), bytes) else cells.text(line.get("buyer"))
    return StatementLine(
        voucher, number, ticket, charge, product, _amount(line.get("amount"), line.page.words.currency),
        _issued(line.get("issued_at")), buyer, line.place, line.page.path.name,
    )  # fmt: skip


def _ticket(cell: Any) -> str:
    try:
        return cells.ticket_no(cells.value(cell))
    except Unreadable:
        raise _Bad("ticket_no", message("is not a ticket number of 13 digits")) from None


def _number(line: _Line) -> tuple[str, str]:
    """(the column that holds it, the voucher's number); one of the columns does."""
    given = [name for name in NUMBERS if name in line.page.layout.columns and not line.blank(name)]
    if not given:
        raise _Bad("number", message("the voucher's number is missing"))
    if len(given) > 1:
        raise _Bad(given[1], message("two numbers stand in one line"))
    return given[0], _number_text(given[0], line.get(given[0]))


def _long_number(cell: Any) -> str:
    """A number that a spreadsheet can't keep; "" for another cell."""
    text = re.sub(r"\s", "", cells.text(cell))
    return text if re.fullmatch(f"[1-9][0-9]{{{_EXACT_DIGITS},}}", text) else ""


def _number_text(name: str, cell: Any) -> str:
    """A voucher's number, as a cell of that column has it."""
    if isinstance(cell, float) and abs(cell) >= 10**_EXACT_DIGITS:
        raise _Bad(
            name, message("the number was spoilt by the spreadsheet, which keeps 15 digits; have it as text")
        )
    text = re.sub(r"\s", "", cells.text(cell)) if not isinstance(cell, bytes) else ""
    if not re.fullmatch(r"[0-9A-Za-z-]{4,40}", text) or re.fullmatch(r"[0-9.]+[Ee]\+?[0-9]+", text):
        raise _Bad(name, message("is not a voucher's number"))
    return text


def _red(line: _Line) -> str:
    """The column that says that a line reverses another one; "" where none does."""
    said = {name: said_of_reversal(name, line.get(name)) for name in RED_COLUMNS if not line.blank(name)}
    for name, what in said.items():
        if what in _UNCLEAR:
            raise _Bad(name, _UNCLEAR[what])
    if red := [name for name, what in said.items() if what == "red"]:
        return red[0]
    return "amount" if _below_zero(line.get("amount")) is not None else ""


def _check_original(line: _Line, number: str) -> None:
    """A line that names another voucher reverses it, though nothing else may say so."""
    original = re.sub(r"\s", "", cells.text(line.get("original_number")))
    said = re.sub(r"\W", "", folded(original))
    if said and said not in NO_WORDS and original != number:
        raise _Bad(
            "original_number",
            message(
                "names another voucher, as a line that reverses it (red) does, and nothing else in the line says that; nothing"
                " was changed. Ask the carrier; if that voucher was reversed: voucher ledger reverse; if not, clear the cell"
            ),
        )


def _below_zero(cell: Any) -> Any:
    """An amount without the sign or the brackets that say that it is below zero; None where none do."""
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return -cell if cell < 0 else None
    text = one_width(cell).strip() if isinstance(cell, str) else ""
    found = re.fullmatch(r"-\s*(.+)|([¥￥]?)\s*-\s*(.+)|\((.+)\)", text)
    return "".join(filter(None, found.groups())) if found else None


def _reversal(line: _Line, ticket: str, red: str) -> Reversal:
    """A red line. Raises _Bad where it does not name what it reverses; `red` is the column that says that it is one."""
    if line.blank("original_number"):
        raise _Bad(
            "original_number" if "original_number" in line.page.layout.columns else red,
            message(
                "is of a line that reverses a voucher (red) and does not name it; find out which, then: voucher ledger reverse"
            ),
        )
    original = _number_text("original_number", line.get("original_number"))
    number = "" if all(map(line.blank, NUMBERS)) else _number(line)[1]
    try:
        voucher = _voucher(line.get("voucher"), "", line.page.sheet.name)
    except _Bad:
        voucher = ""
    charge, product = ("", "") if line.blank("charge") else _charge(line, voucher)
    amount = line.get("amount")
    below = _below_zero(amount)
    minor = _amount(amount if below is None else below, line.page.words.currency)
    return Reversal(original, number, voucher, ticket, charge, product, minor, line.place)


def _voucher(cell: Any, heading: str, sheet: str) -> str:
    """The kind of voucher: what the line says of itself wins; headings and sheets are called after one kind for all of them."""
    if not is_blank(cell) and (said := _kind_said(cell)):
        return said
    named = {kind for kind in (heading, KIND_OF_SHEET.get(folded(sheet), "")) if kind}
    if len(named) != 1 or (not is_blank(cell) and not heading):
        raise _Bad("voucher", message("does not say whether it is an invoice or an itinerary"))
    return named.pop()


def _kind_said(cell: Any) -> str:
    """The kind that a cell says, "" for none: an itinerary is also called an electronic invoice (of that kind)."""
    word = folded(cell)
    if (said := _VOUCHERS.get(word, "")) in ("invoice", "itinerary"):
        return said
    return next((kind for part, kind in _SAID_WITHIN if part in word), "")


def _contradicts(voucher: str, column: str, layout: Layout) -> bool:
    """Whether a number stands in the column for the other kind of voucher, though its own kind has one."""
    own = f"{voucher}_number"
    return bool(NUMBERS[column]) and column != own and own in layout.columns


def _charge(line: _Line, voucher: str) -> tuple[str, str]:
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
        raise _Bad(
            "charge",
            message("is not a charge that is known: ticket_fare 机票款, refund 退票费, ancillary 附加服务"),
        )
    if charge != "ancillary" and product not in ("", "flight"):
        raise _Bad("product", message("is a product that does not go with the charge"))
    if charge != "ancillary":
        return charge, "flight"
    if product in ("?", "flight"):
        raise _Bad("product", message("is not an ancillary product that is known"))
    return charge, product


def _amount(cell: Any, currency: str) -> int | None:
    if is_blank(cell):
        return None
    try:
        return cells.amount(cells.value(cell), currency)
    except Unreadable as unreadable:
        if str(unreadable) == "currency":
            wrong = message(
                "“{amount}” is not in the carrier's currency, {currency}",
                amount=Private(shown(cell)[:40]),
                currency=currency,
            )
            raise _Bad("amount", wrong) from None
        raise _Bad("amount", message("is not an amount")) from None


def _issued(cell: Any) -> datetime.datetime | datetime.date | None:
    """When it was issued: a date, or a time where one is given; a time zone is kept."""
    if is_blank(cell):
        return None
    try:
        return moment_of(cell)
    except (Unreadable, ValueError):
        raise _Bad("issued_at", message("is not a date that can be read without guessing")) from None
