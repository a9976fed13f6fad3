"""A carrier's statement: one line for each issued charge, from a workbook or a text, with tolerant headings."""

import datetime
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import InputProblem
from pipeline.evidence import Misread, Statement, StatementLine
from pipeline.profile import Codes
from pipeline.reading import cells
from pipeline.reading.earlier import is_result
from pipeline.reading.headings import Layout, cell_name, find_layout
from pipeline.reading.inputs import read_sheets
from pipeline.reading.leftout import is_total
from pipeline.reading.origin import Origin, origin_of
from pipeline.reading.sheet import Sheet, is_blank
from pipeline.reading.unreadable import Unreadable
from pipeline.reading.vocabulary import CHOICE_WORDS, folded, meanings, normal
from pipeline.statements import STATEMENT_COLUMNS, TICKETS_ONLY, VOUCHER_SHEETS, VOUCHER_WORDS

#: More digits than these a spreadsheet's number does not keep.
_EXACT_DIGITS = 15
_OWN = {folded(word): name for name, words in STATEMENT_COLUMNS.items() for word in words}
_VOUCHERS = {**CHOICE_WORDS["voucher"], **{folded(word): name for word, name in VOUCHER_WORDS.items()}}
_SHEETS = {folded(word): name for word, name in VOUCHER_SHEETS.items()}
_TITLE_ROWS = 30
_PARTS = re.compile(r"[\s/|()（）_-]+")
_LATIN = re.compile(r"[A-Za-z][A-Za-z .#_-]*")
_NUMBERS = {"number": "", "invoice_number": "invoice", "itinerary_number": "itinerary"}
_WHEN = re.compile(
    r"(?P<day>.+?)[T ](?P<time>[0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})?"
)


@dataclass(frozen=True)
class _Words:
    """The words that a statement's cells may have for charges and products: ours and the carrier's codes."""

    charges: Mapping[str, str]
    products: Mapping[str, str]


class _Bad(Exception):
    """What is wrong with a line."""


def known_heading(text: str) -> object:
    """Whether a text is a heading of a statement or of tickets, in any of its spellings."""
    return folded(text) in _OWN or meanings(text)


def statement_layout(place: str, sheet: Sheet) -> Layout | None:
    """Where a statement's headings stand on a sheet; None where it is no statement's."""
    if _is_of_tickets(sheet):  # by its own words first: as a statement's they may have two meanings
        return None
    layout = find_layout(place, sheet, _headings_of(sheet))
    if layout is None or "ticket_no" not in layout.columns or TICKETS_ONLY & layout.columns.keys():
        return None
    return layout if _NUMBERS.keys() & layout.columns.keys() else None


def _is_of_tickets(sheet: Sheet) -> bool:
    cells = [cell for row in sheet.rows[:_TITLE_ROWS] for cell in row if isinstance(cell, str)]
    return any(TICKETS_ONLY & set(meanings(cell)) for cell in cells)


def _headings_of(sheet: Sheet) -> dict[str, str]:
    """A statement's headings, and those of this sheet that say them with a unit or in two languages."""
    own = dict(_OWN)
    for row in sheet.rows[:_TITLE_ROWS]:
        for cell in row:
            if isinstance(cell, str) and (word := folded(cell)) not in own:
                parts = (
                    normal(cell),
                    *map(folded, _PARTS.split(cell)),
                    *map(folded, _LATIN.split(cell)),
                    *map(folded, _LATIN.findall(cell)),
                )
                if len(names := {_OWN[part] for part in parts if part in _OWN}) == 1:
                    own[word] = names.pop()
    return own


def is_statement(path: Path, sheets: Sequence[Sheet]) -> bool:
    """Whether a file's content is a carrier's statement."""
    if is_result(sheets):
        return False
    for sheet in sheets:
        try:
            if sheet.visible and sheet.rows and statement_layout(f"{path}, sheet {sheet.name}", sheet):
                return True
        except InputProblem:
            if len(sheets) == 1:
                raise
    return False


def read_statement(path: Path, codes: Codes) -> Statement:
    """Read a statement whole. Raises InputProblem naming the file and the cure if it is none."""
    before = origin_of(path)
    statement = statement_of(path, read_sheets(path, known_heading), codes, before)
    if origin_of(path) != before:
        raise InputProblem(f"{path}: was written to while it was read; let that end, and run again")
    return statement


def statement_of(path: Path, sheets: Sequence[Sheet], codes: Codes, origin: Origin) -> Statement:
    """The statement in sheets that are read already from that origin."""
    if not is_statement(path, sheets):
        raise InputProblem(
            f"{path}: is no carrier's statement: no sheet has headings for a ticket's number and a voucher's number; a"
            " statement has voucher, number, ticket_no, charge, amount, issued_at and buyer"
        )
    words = _Words(
        {**CHOICE_WORDS["charge"], **{folded(code): name for name, code in codes.fee_type.items() if code}},
        {
            **CHOICE_WORDS["product"],
            **{folded(code): name for name, code in codes.product_type.items() if code},
        },
    )
    lines: list[StatementLine] = []
    misread: list[Misread] = []
    kinds: set[str] = set()
    unread: list[str] = []
    for sheet in sheets:
        # Headings that mean two things on one sheet stop the whole: that sheet may list anything.
        layout = (
            statement_layout(f"{path}, sheet {sheet.name}", sheet) if sheet.visible and sheet.rows else None
        )
        if layout is None:
            if sheet.filled:
                unread.append(sheet.name)
            continue
        kinds |= _kinds(sheet, layout)
        for taken in _lines(path, sheet, layout, words):
            if isinstance(taken, Misread):
                misread.append(taken)
            else:
                lines.append(taken)
    kinds |= {line.voucher for line in lines}
    return Statement(
        path.name, origin.sha256, origin.made, tuple(lines), tuple(misread), frozenset(kinds), tuple(unread)
    )


def _kinds(sheet: Sheet, layout: Layout) -> set[str]:
    """The kinds of voucher that a sheet's columns, or its name, can list."""
    if "voucher" in layout.columns:
        return {"invoice", "itinerary"}
    said = {kind for name, kind in _NUMBERS.items() if name in layout.columns and kind}
    named = _SHEETS.get(folded(sheet.name))
    return said | ({named} if named else set())


def _lines(path: Path, sheet: Sheet, layout: Layout, words: _Words) -> Iterator[StatementLine | Misread]:
    for index, row in enumerate(sheet.rows[layout.heading_row + 1 :], start=layout.heading_row + 1):
        if all(is_blank(cell) for cell in row) or _says_headings(row, layout):
            continue
        place = f"{path.name}, {sheet.name}, row {sheet.first_row + index + 1}"
        get = _getter(row, layout)
        if is_total(row, layout) and all(is_blank(get(name)) for name in _NUMBERS):
            continue
        ticket = ""
        try:
            ticket = _ticket(get("ticket_no"))
            kind, number = _number(get, layout)
            voucher = _voucher(get("voucher"), kind, sheet.name)
            charge, product = _charge(get("charge"), get("product"), voucher, words)
            yield StatementLine(
                voucher, number, ticket, charge, product, _amount(get("amount")), _issued(get("issued_at")),
                cells.text(get("buyer")) if not isinstance(get("buyer"), bytes) else "", place, path.name,
            )  # fmt: skip
        except _Bad as bad:
            yield Misread(
                place,
                ticket,
                f"{cell_name(sheet, index, layout.columns[bad.args[0]]) if bad.args[0] in layout.columns else 'a cell'}: {bad.args[1]}",
            )


def _getter(row: Sequence[Any], layout: Layout) -> Callable[[str], Any]:
    def get(name: str) -> Any:
        at = layout.columns.get(name)
        return row[at] if at is not None and at < len(row) else ""

    return get


def _says_headings(row: Sequence[Any], layout: Layout) -> bool:
    """Whether a row repeats the headings, as printed statements do on every page."""
    at = layout.columns["ticket_no"]
    return at < len(row) and folded(row[at]) in layout.words.get(at, ())


def _ticket(cell: Any) -> str:
    try:
        return cells.ticket_no(cells.value(cell))
    except Unreadable:
        raise _Bad("ticket_no", "is not a ticket number of 13 digits") from None


def _number(get: Callable[[str], Any], layout: Layout) -> tuple[str, str]:
    """(the kind of voucher that the column says, the number); one of the columns holds it."""
    given = [(name, get(name)) for name in _NUMBERS if name in layout.columns and not is_blank(get(name))]
    if not given:
        raise _Bad("number", "the voucher's number is missing")
    if len(given) > 1:
        raise _Bad(given[1][0], "two numbers stand in one line")
    name, cell = given[0]
    if isinstance(cell, float) and abs(cell) >= 10**_EXACT_DIGITS:
        raise _Bad(name, "the number was spoilt by the spreadsheet, which keeps 15 digits; have it as text")
    text = re.sub(r"\s", "", cells.text(cell)) if not isinstance(cell, bytes) else ""
    if not re.fullmatch(r"[0-9A-Za-z-]{4,40}", text) or re.fullmatch(r"[0-9.]+[Ee]\+?[0-9]+", text):
        raise _Bad(name, "is not a voucher's number")
    return _NUMBERS[name], text


def _voucher(cell: Any, kind: str, sheet: str) -> str:
    said = kind or ("" if is_blank(cell) else _VOUCHERS.get(folded(cell), "?"))
    said = said or _SHEETS.get(folded(sheet), "")
    if said not in ("invoice", "itinerary"):
        raise _Bad("voucher", "does not say whether it is an invoice or an itinerary")
    return said


def _charge(cell: Any, product_cell: Any, voucher: str, words: _Words) -> tuple[str, str]:
    """(charge, product). An itinerary is of a ticket's fare (carrier-interface.md, Itinerary request)."""
    text = "" if is_blank(cell) else folded(cell)
    product_text = "" if is_blank(product_cell) else folded(product_cell)
    charge = words.charges.get(text, "" if not text else "?")
    product = words.products.get(product_text, "" if not product_text else "?")
    if charge == "?" and product in ("", "?") and words.products.get(text) not in (None, "flight"):
        charge, product = "ancillary", words.products[text]  # the charge is called by its product
    if not charge and voucher == "itinerary":
        charge = "ticket_fare"
    if charge in ("", "?"):
        raise _Bad(
            "charge", "is not a charge that is known: ticket_fare 机票款, refund 退票费, ancillary 附加服务"
        )
    if charge != "ancillary" and product not in ("", "flight"):
        raise _Bad("product", "is a product that does not go with the charge")
    if charge != "ancillary":
        return charge, "flight"
    if product in ("?", "flight"):
        raise _Bad("product", "is not an ancillary product that is known")
    return charge, product


def _amount(cell: Any) -> int | None:
    if is_blank(cell):
        return None
    try:
        return cells.amount(cells.value(cell))
    except Unreadable:
        raise _Bad("amount", "is not an amount above zero (a reversal is to be settled by hand)") from None


def _issued(cell: Any) -> datetime.datetime | datetime.date | None:
    """When it was issued: a date, or a time where one is given; a time zone is kept."""
    if is_blank(cell):
        return None
    if isinstance(cell, datetime.datetime):
        return cell if cell.time() != datetime.time() else cell.date()
    try:
        if isinstance(cell, str) and (when := _WHEN.fullmatch(cell.strip())):
            moment = f"{cells.day(when['day'])}T{when['time'].zfill(5) if len(when['time']) < 6 else when['time'].zfill(8)}"
            return datetime.datetime.fromisoformat(moment + (when["zone"] or ""))
        return cells.day(cells.value(cell))
    except (Unreadable, ValueError):
        raise _Bad("issued_at", "is not a date that can be read without guessing") from None
