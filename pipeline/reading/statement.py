"""A carrier's statement: one line for each issued charge, from a workbook or a text, with tolerant headings."""

import datetime
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pipeline.model.errors import InputProblem
from pipeline.model.evidence import (
    Misread,
    Reversal,
    Statement,
    StatementLine,
)
from pipeline.model.message import Message
from pipeline.model.places import on_sheet
from pipeline.model.profile import Profile
from pipeline.model.quoting import row_at
from pipeline.model.table import shown
from pipeline.reading import cells
from pipeline.reading.cell_words import (
    CHOICE_WORDS,
    folded,
    meanings,
    normal,
)
from pipeline.reading.currencies import as_seen
from pipeline.reading.fingerprint import Origin, origin_of
from pipeline.reading.footers import is_footer
from pipeline.reading.headings import Layout, cell_name, find_layout
from pipeline.reading.input_files import read_sheets, refuse_far
from pipeline.reading.made_at import moment_of, times_made
from pipeline.reading.previous_result import is_result
from pipeline.reading.reversal_words import said_of_reversal
from pipeline.reading.sheet import Sheet, is_blank
from pipeline.reading.statement_words import (
    NO_WORDS,
    RED_COLUMNS,
    STATEMENT_COLUMNS,
    TICKETS_ONLY,
    VOUCHER_SHEETS,
    VOUCHER_WORDS,
)
from pipeline.reading.totals import is_total
from pipeline.reading.unreadable import Unreadable, one_width

#: More digits than these a spreadsheet's number does not keep.
_EXACT_DIGITS = 15
_OWN = {folded(word): name for name, words in STATEMENT_COLUMNS.items() for word in words}
_VOUCHERS = {**CHOICE_WORDS["voucher"], **{folded(word): name for word, name in VOUCHER_WORDS.items()}}
_SHEETS = {folded(word): name for word, name in VOUCHER_SHEETS.items()}
_TITLE_ROWS = 30
_ANY_ZONE = ZoneInfo("UTC")
_PARTS = re.compile(r"[\s/|()（）_-]+")
_LATIN = re.compile(r"[A-Za-z][A-Za-z .#_-]*")
#: What a longer word for a kind of voucher holds; an itinerary's first, for it is a kind of electronic invoice.
_SAID_WITHIN = (
    ("行程单", "itinerary"),
    ("itinerary", "itinerary"),
    ("发票", "invoice"),
    ("invoice", "invoice"),
)
_NUMBERS = {"number": "", "invoice_number": "invoice", "itinerary_number": "itinerary"}


@dataclass(frozen=True)
class _Words:
    """The words that a statement's cells may have: for charges and products ours and the carrier's codes, its currency."""

    charges: Mapping[str, str]
    products: Mapping[str, str]
    currency: str


class _Bad(Exception):
    """What is wrong with a line."""


def known_heading(text: str) -> object:
    """Whether a text is a heading of a statement or of tickets, in any of its spellings."""
    return folded(text) in _OWN or meanings(text)


def statement_layout(place: Message, sheet: Sheet) -> Layout | None:
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
                names = {_OWN[part] for part in parts if part in _OWN}
                if len(names) == 1:
                    own[word] = names.pop()
                elif names and names <= _NUMBERS.keys():  # 发票号码/行程单号: one column for every kind
                    own[word] = "number"
    return own


def is_statement(path: Path, sheets: Sequence[Sheet]) -> bool:
    """Whether a file's content is a carrier's statement."""
    if is_result(sheets):
        return False
    for sheet in sheets:
        try:
            if sheet.visible and sheet.rows and statement_layout(on_sheet(str(path), sheet.name), sheet):
                return True
        except InputProblem:
            if len(sheets) == 1:
                raise
    return False


def read_statement(path: Path, profile: Profile) -> Statement:
    """Read a statement of this carrier's whole. Raises InputProblem naming the file and the cure if it is none."""
    before = origin_of(path)
    statement = statement_of(path, read_sheets(path, known_heading), profile, before)
    if origin_of(path) != before:
        raise InputProblem(f"{path}: was written to while it was read; let that end, and run again")
    return statement


def statement_of(path: Path, sheets: Sequence[Sheet], profile: Profile, origin: Origin) -> Statement:
    """The statement in sheets that are read already from that origin."""
    if not is_statement(path, sheets):
        raise InputProblem(
            f"{path}: is no carrier's statement: no sheet has headings for a ticket's number and a voucher's number; a"
            " statement has voucher, number, ticket_no, charge, amount, issued_at and buyer"
        )
    refuse_far(path, sheets)
    codes, currency, zone = profile.codes, profile.carrier.currency, ZoneInfo(profile.carrier.time_zone)
    words = _Words(
        {**CHOICE_WORDS["charge"], **{folded(code): name for name, code in codes.fee_type.items() if code}},
        {
            **CHOICE_WORDS["product"],
            **{folded(code): name for name, code in codes.product_type.items() if code},
        },
        currency,
    )
    lines: list[StatementLine] = []
    misread: list[Misread] = []
    kinds: set[str] = set()
    reversals: list[Reversal] = []
    unread: list[str] = []
    made: list[datetime.datetime] = []
    for sheet in sheets:
        # Headings that mean two things on one sheet stop the whole: that sheet may list anything.
        layout = (
            statement_layout(on_sheet(str(path), sheet.name), sheet) if sheet.visible and sheet.rows else None
        )
        if layout is None:
            if sheet.filled:
                unread.append(sheet.name)
            continue
        kinds |= _kinds(sheet, layout)
        made += (time for row in sheet.rows if not _has_ticket(row, layout) for time in times_made(row, zone))
        for taken in _lines(path, as_seen(sheet, layout, currency), layout, words):
            if isinstance(taken, Misread):
                misread.append(taken)
            elif isinstance(taken, Reversal):
                reversals.append(taken)
            else:
                lines.append(taken)
    kinds |= {line.voucher for line in lines}
    return Statement(
        path.name, origin.sha256, origin.made, tuple(lines), tuple(misread), frozenset(kinds), tuple(unread),
        min(made, default=None), tuple(reversals),
    )  # fmt: skip


def _kinds(sheet: Sheet, layout: Layout) -> set[str]:
    """The kinds of voucher that a sheet's columns, or its name, can list."""
    if "voucher" in layout.columns:
        return {"invoice", "itinerary"}
    said = {kind for name, kind in _NUMBERS.items() if name in layout.columns and kind}
    named = _SHEETS.get(folded(sheet.name))
    return said | ({named} if named else set())


def _lines(
    path: Path, sheet: Sheet, layout: Layout, words: _Words
) -> Iterator[StatementLine | Misread | Reversal]:
    spoilt = _spoilt(sheet, layout)
    for index, row in enumerate(sheet.rows[layout.heading_row + 1 :], start=layout.heading_row + 1):
        if all(is_blank(cell) for cell in row) or _says_headings(row, layout):
            continue
        place = row_at(path.name, sheet.name, sheet.first_row + index + 1)
        get = _getter(row, layout, spoilt)
        unnumbered = all(is_blank(get(name)) for name in _NUMBERS)
        if unnumbered and (is_total(row, layout) or is_footer(row)):
            continue
        if not _has_ticket(row, layout) and any(times_made(row, _ANY_ZONE)):
            continue
        ticket = ""
        try:
            ticket = _ticket(get("ticket_no"))
            if red := _red(get):
                yield _reversal(get, layout, ticket, red, sheet.name, place, words)
                continue
            column, number = _number(get, layout)
            _check_original(get, number)
            voucher = _voucher(get("voucher"), _NUMBERS[column], sheet.name)
            if _contradicts(voucher, column, layout):
                raise InputProblem(
                    f"{path}: {cell_name(sheet, index, layout.columns[column])} holds an {_NUMBERS[column]}'s number by its heading,"
                    f" and the line says {voucher}, though another column is for {voucher}s' numbers; which of them is true can't"
                    " be told. Correct the statement, or ask the carrier for another"
                )
            charge, product = _charge(get("charge"), get("product"), voucher, words)
            yield StatementLine(
                voucher, number, ticket, charge, product, _amount(get("amount"), words.currency), _issued(get("issued_at")),
                cells.text(get("buyer")) if not isinstance(get("buyer"), bytes) else "", place, path.name,
            )  # fmt: skip
        except _Bad as bad:
            yield Misread(
                place,
                ticket,
                f"{cell_name(sheet, index, layout.columns[bad.args[0]]) if bad.args[0] in layout.columns else 'a cell'}: {bad.args[1]}",
            )


def _getter(row: Sequence[Any], layout: Layout, spoilt: frozenset[str] = frozenset()) -> Callable[[str], Any]:
    def get(name: str) -> Any:
        at = layout.columns.get(name)
        cell = row[at] if at is not None and at < len(row) else ""
        return float(_long_number(cell)) if name in spoilt and _long_number(cell) else cell

    return get


def _has_ticket(row: Sequence[Any], layout: Layout) -> bool:
    try:
        return bool(_ticket(_getter(row, layout)("ticket_no")))
    except _Bad:
        return False


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
    """(the column that holds it, the voucher's number); one of the columns does."""
    given = [(name, get(name)) for name in _NUMBERS if name in layout.columns and not is_blank(get(name))]
    if not given:
        raise _Bad("number", "the voucher's number is missing")
    if len(given) > 1:
        raise _Bad(given[1][0], "two numbers stand in one line")
    name, cell = given[0]
    return name, _number_text(name, cell)


def _spoilt(sheet: Sheet, layout: Layout) -> frozenset[str]:
    """The columns in which a spreadsheet rounded the numbers before they were saved as text: all of the long ones."""
    found = set()
    for name in (*_NUMBERS, "original_number"):
        at = layout.columns.get(name)
        cells_of = [
            row[at] for row in sheet.rows[layout.heading_row + 1 :] if at is not None and at < len(row)
        ]
        long = [text for text in map(_long_number, cells_of) if text]
        if len(long) > 1 and not any(text[_EXACT_DIGITS:].strip("0") for text in long):
            found.add(name)
    return frozenset(found)


def _long_number(cell: Any) -> str:
    """A number that a spreadsheet can't keep; "" for another cell."""
    text = re.sub(r"\s", "", cells.text(cell))
    return text if re.fullmatch(f"[1-9][0-9]{{{_EXACT_DIGITS},}}", text) else ""


def _number_text(name: str, cell: Any) -> str:
    """A voucher's number, as a cell of that column has it."""
    if isinstance(cell, float) and abs(cell) >= 10**_EXACT_DIGITS:
        raise _Bad(name, "the number was spoilt by the spreadsheet, which keeps 15 digits; have it as text")
    text = re.sub(r"\s", "", cells.text(cell)) if not isinstance(cell, bytes) else ""
    if not re.fullmatch(r"[0-9A-Za-z-]{4,40}", text) or re.fullmatch(r"[0-9.]+[Ee]\+?[0-9]+", text):
        raise _Bad(name, "is not a voucher's number")
    return text


#: What is told of a cell that may say that its line is red.
_UNCLEAR = {
    "partly": (
        "says that a part of a voucher was reversed, and not how much; nothing was changed. Ask the carrier; if all of it"
        " was reversed: voucher ledger reverse"
    ),
    "unclear": (
        "says something about a reversal, and not that one was made; nothing was changed. Ask the carrier; if the voucher was reversed:"
        " voucher ledger reverse; if not, correct the cell (正常). Leave out only a line that is no voucher"
    ),
    "unknown": (
        "is not a status that is known; whether the voucher is good can't be told. Ask the carrier; if it is good, correct the cell"
        " (正常); if it was reversed: voucher ledger reverse"
    ),
}


def _red(get: Callable[[str], Any]) -> str:
    """The column that says that a line reverses another one; "" where none does."""
    said = {name: said_of_reversal(name, get(name)) for name in RED_COLUMNS if not is_blank(get(name))}
    for name, what in said.items():
        if what in _UNCLEAR:
            raise _Bad(name, _UNCLEAR[what])
    if red := [name for name, what in said.items() if what == "red"]:
        return red[0]
    return "amount" if _below_zero(get("amount")) is not None else ""


def _check_original(get: Callable[[str], Any], number: str) -> None:
    """A line that names another voucher reverses it, though nothing else may say so."""
    original = re.sub(r"\s", "", cells.text(get("original_number")))
    said = re.sub(r"\W", "", folded(original))
    if said and said not in NO_WORDS and original != number:
        raise _Bad(
            "original_number",
            "names another voucher, as a line that reverses it (red) does, and nothing else in the line says that; nothing was changed."
            " Ask the carrier; if that voucher was reversed: voucher ledger reverse; if not, clear the cell",
        )


def _below_zero(cell: Any) -> Any:
    """An amount without the sign or the brackets that say that it is below zero; None where none do."""
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return -cell if cell < 0 else None
    text = one_width(cell).strip() if isinstance(cell, str) else ""
    found = re.fullmatch(r"-\s*(.+)|([¥￥]?)\s*-\s*(.+)|\((.+)\)", text)
    return "".join(filter(None, found.groups())) if found else None


def _reversal(  # noqa: PLR0913 - where a line's parts meet
    get: Callable[[str], Any], layout: Layout, ticket: str, red: str, sheet: str, place: str, words: _Words
) -> Reversal:
    """A red line. Raises _Bad where it does not name what it reverses."""
    if is_blank(get("original_number")):
        raise _Bad(
            "original_number" if "original_number" in layout.columns else red,
            "is of a line that reverses a voucher (red) and does not name it; find out which, then: voucher ledger reverse",
        )
    original = _number_text("original_number", get("original_number"))
    numbered = not all(is_blank(get(name)) for name in _NUMBERS)
    number = _number(get, layout)[1] if numbered else ""
    try:
        voucher = _voucher(get("voucher"), "", sheet)
    except _Bad:
        voucher = ""
    charge, product = (
        _charge(get("charge"), get("product"), voucher, words) if not is_blank(get("charge")) else ("", "")
    )
    below = _below_zero(get("amount"))
    amount = _amount(get("amount") if below is None else below, words.currency)
    return Reversal(original, number, voucher, ticket, charge, product, amount, place)


def _voucher(cell: Any, heading: str, sheet: str) -> str:
    """The kind of voucher: what the line says of itself wins; headings and sheets are called after one kind for all of them."""
    if not is_blank(cell) and (said := _kind_said(cell)):
        return said
    named = {kind for kind in (heading, _SHEETS.get(folded(sheet), "")) if kind}
    if len(named) != 1 or (not is_blank(cell) and not heading):
        raise _Bad("voucher", "does not say whether it is an invoice or an itinerary")
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
    return bool(_NUMBERS[column]) and column != own and own in layout.columns


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


def _amount(cell: Any, currency: str) -> int | None:
    if is_blank(cell):
        return None
    try:
        return cells.amount(cells.value(cell), currency)
    except Unreadable as unreadable:
        if str(unreadable) == "currency":
            raise _Bad(
                "amount", f"“{shown(cell)[:40]}” is not in the carrier's currency, {currency}"
            ) from None
        raise _Bad("amount", "is not an amount") from None


def _issued(cell: Any) -> datetime.datetime | datetime.date | None:
    """When it was issued: a date, or a time where one is given; a time zone is kept."""
    if is_blank(cell):
        return None
    try:
        return moment_of(cell)
    except (Unreadable, ValueError):
        raise _Bad("issued_at", "is not a date that can be read without guessing") from None
