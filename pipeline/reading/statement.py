"""A carrier's statement: one line for each issued charge, from a workbook or a text, with tolerant headings."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from zoneinfo import ZoneInfo

from pipeline.model.errors import InputProblem
from pipeline.model.evidence import Misread, Reversal, Statement, StatementLine
from pipeline.model.message import Message, Term, message, terms
from pipeline.model.places import about, on_sheet
from pipeline.model.profile import Profile
from pipeline.reading import cells
from pipeline.reading.cell_words import folded
from pipeline.reading.fingerprint import Origin, origin_of
from pipeline.reading.heading_meanings import meanings, normal
from pipeline.reading.heading_rows import Layout, find_layout
from pipeline.reading.input_files import read_sheets, refuse_far
from pipeline.reading.other_currencies import as_seen
from pipeline.reading.previous_result import is_result
from pipeline.reading.reversal_lines import check_original, red_column, reversal
from pipeline.reading.sheet import Sheet
from pipeline.reading.statement_cells import (
    KIND_OF_SHEET,
    amount_of,
    charge_of,
    issued_at,
    number_of,
    ticket_of,
    voucher_of,
)
from pipeline.reading.statement_lines import NUMBERS, BadCell, Line, Page, Words, has_ticket
from pipeline.reading.statement_made_at import times_made
from pipeline.reading.statement_words import STATEMENT_COLUMNS, TICKETS_ONLY

_OWN = {folded(word): name for name, words in STATEMENT_COLUMNS.items() for word in words}
#: The columns of tickets that a statement has too, or that show that a sheet is none.
_TOLD_APART = STATEMENT_COLUMNS.keys() | TICKETS_ONLY
_TITLE_ROWS = 30
#: No blanks: one word of several turns a heading into another one (order no, tax amount).
_PARTS = re.compile(r"[/|()（）\n]+")
_UNIT = re.compile(r"[\s_-]+(?:cny|rmb|yuan|元|(?:utc|gmt)[+0-9:]*)$", re.IGNORECASE)
_LATIN = re.compile(r"[A-Za-z][A-Za-z .#_-]*")


def known_heading(text: str) -> object:
    """Whether a text is a heading of a statement or of tickets, in any of its spellings."""
    return folded(text) in _OWN or meanings(text)


def statement_layout(
    place: Message, sheet: Sheet, currency: str = "", *, named: bool = False
) -> Layout | None:
    """Where a statement's headings stand on a sheet, with amounts in that currency ("": in any); None where it is no statement's.

    One that has columns of tickets, too, such as the passenger's, is one only where somebody says so (`named`), and it says when a voucher
    was issued.
    """
    of_tickets = _of_tickets(sheet)  # by its own words first: as a statement's they may have two meanings
    if of_tickets and not named:
        return None
    layout = find_layout(place, sheet, _headings_of(sheet), currency=currency)
    if layout is None or "ticket_no" not in layout.columns or not NUMBERS.keys() & layout.columns.keys():
        return None
    if of_tickets or TICKETS_ONLY & layout.columns.keys():
        return layout if named and "issued_at" in layout.columns else None
    return layout


def _of_tickets(sheet: Sheet) -> set[str]:
    """The columns that only tickets have, by the words of a sheet's first rows."""
    cells = [cell for row in sheet.rows[:_TITLE_ROWS] for cell in row if isinstance(cell, str)]
    return {name for cell in cells for name in TICKETS_ONLY & set(meanings(cell))}


def _headings_of(sheet: Sheet) -> dict[str, str]:
    """A statement's headings, and those of this sheet that say them with a unit or in two languages; "" is none of them."""
    own = dict(_OWN)
    for row in sheet.rows[:_TITLE_ROWS]:
        for cell in row:
            if isinstance(cell, str) and (word := folded(cell)) not in own:
                if (known := meanings(cell)) and known.isdisjoint(_TOLD_APART):
                    own[word] = ""  # a buyer's tax number, say: carried along, for its “no” is no voucher's
                    continue
                parts = (
                    normal(cell),
                    folded(_UNIT.sub("", cell)),
                    *map(folded, _PARTS.split(cell)),
                    *map(folded, _LATIN.split(cell)),
                    *map(folded, _LATIN.findall(cell)),
                )
                names = {_OWN[part] for part in parts if part in _OWN}
                if len(names) == 1:
                    own[word] = names.pop()
                elif names and names <= NUMBERS.keys():  # 发票号码/行程单号: one column for every kind
                    own[word] = "number"
    return own


def is_statement(path: Path, sheets: Sequence[Sheet], *, named: bool = False) -> bool:
    """Whether a file's content is a carrier's statement, or (`named`) can be one where somebody says that it is."""
    if is_result(sheets):
        return False
    for sheet in sheets:
        try:
            place = on_sheet(str(path), sheet.name)
            if sheet.visible and sheet.rows and statement_layout(place, sheet, named=named):
                return True
        except InputProblem:
            if len(sheets) == 1:
                raise
    return False


def read_statement(path: Path, profile: Profile) -> Statement:
    """Read a statement of this carrier's that somebody named, whole. Raises InputProblem naming the file and the cure if it is none."""
    before = origin_of(path)
    statement = statement_of(path, read_sheets(path, known_heading), profile, before, named=True)
    if origin_of(path) != before:
        raise InputProblem(
            "{file}: was written to while it was read; let that end, and run again", file=str(path)
        )
    return statement


def statement_of(
    path: Path, sheets: Sequence[Sheet], profile: Profile, origin: Origin, *, named: bool = False
) -> Statement:
    """The statement in sheets that are read already from that origin; `named`: somebody says that it is one."""
    if not is_statement(path, sheets, named=named):
        if of_tickets := {name for sheet in sheets if sheet.visible for name in _of_tickets(sheet)}:
            raise InputProblem(
                "{file}: is no carrier's statement: it has columns of tickets ({columns}), and none beside a ticket's and a voucher's number that"
                " says when the voucher was issued (issued_at)",
                file=str(path),
                columns=terms(sorted(of_tickets)),
            )
        raise InputProblem(
            "{file}: is no carrier's statement: no sheet has headings for a ticket's number and a voucher's number; a"
            " statement has voucher, number, ticket_no, charge, amount, issued_at and buyer",
            file=str(path),
        )
    refuse_far(path, sheets)
    zone, words = ZoneInfo(profile.carrier.time_zone), Words.of(profile)
    laid_out = list(_laid_out(path, sheets, words.currency, named=named))
    said = [
        one
        for sheet, layout in laid_out
        if layout
        for one in _read_lines(Page(path, as_seen(sheet, layout, words.currency), layout, words))
    ]
    made = (
        time
        for sheet, layout in laid_out
        if layout
        for row in sheet.rows
        if not has_ticket(row, layout)
        for time in times_made(row, zone)
    )
    lines = tuple(one for one in said if isinstance(one, StatementLine))
    kinds = [_kinds(sheet, layout) for sheet, layout in laid_out if layout]
    return Statement(
        path.name, origin.sha256, origin.made, lines, tuple(one for one in said if isinstance(one, Misread)),
        frozenset({line.voucher for line in lines}.union(*kinds)),
        tuple(sheet.name for sheet, layout in laid_out if layout is None and sheet.filled), min(made, default=None),
        tuple(one for one in said if isinstance(one, Reversal)),
    )  # fmt: skip


def _laid_out(
    path: Path, sheets: Sequence[Sheet], currency: str, *, named: bool
) -> Iterator[tuple[Sheet, Layout | None]]:
    """Each sheet with its headings, None where it is no statement's or nobody sees it.

    Headings that mean two things on one sheet stop the whole: that sheet may list anything.
    """
    for sheet in sheets:
        read = sheet.visible and sheet.rows
        place = on_sheet(str(path), sheet.name)
        yield sheet, statement_layout(place, sheet, currency, named=named) if read else None


def _kinds(sheet: Sheet, layout: Layout) -> set[str]:
    """The kinds of voucher that a sheet's columns, or its name, can list."""
    if "voucher" in layout.columns:
        return {"invoice", "itinerary"}
    said = {kind for name, kind in NUMBERS.items() if name in layout.columns and kind}
    named = KIND_OF_SHEET.get(folded(sheet.name))
    return said | ({named} if named else set())


def _read_lines(page: Page) -> Iterator[StatementLine | Misread | Reversal]:
    """What each line of a sheet says. Raises InputProblem where a line contradicts its own heading."""
    for line in page.lines():
        ticket = ""
        try:
            ticket = ticket_of(line)
            red = red_column(line)
            yield reversal(line, ticket, red) if red else _issued_charge(line, ticket)
        except BadCell as bad:
            if bad.column in page.layout.columns:
                yield Misread(line.place, ticket, about(line.cell_name(bad.column), bad.problem))
            else:  # the headings are to blame, and are told once for all lines
                lacking = message(
                    "no column is headed {column}, and these lines can't be understood without it; add it, or ask the carrier for a"
                    " statement that has it",
                    column=Term(bad.column),
                )
                yield Misread(page.place(page.layout.heading_row), ticket, lacking)


def _issued_charge(line: Line, ticket: str) -> StatementLine:
    column, number = number_of(line)
    check_original(line, number)
    voucher = voucher_of(line, NUMBERS[column])
    if _contradicts(voucher, column, line.page.layout):
        raise InputProblem(
            "{file}: {cell} holds an {kind}'s number by its heading, and the line says {voucher}, though another column is for"
            " {voucher}s' numbers; which of them is true can't be told. Correct the statement, or ask the carrier for another",
            file=str(line.page.path), cell=line.cell_name(column), kind=Term(NUMBERS[column], "choice"),
            voucher=Term(voucher, "choice"),
        )  # fmt: skip
    charge, product = charge_of(line, voucher)
    buyer = "" if isinstance(line.get("buyer"), bytes) else cells.text(line.get("buyer"))
    return StatementLine(
        voucher, number, ticket, charge, product, amount_of(line, line.get("amount")),
        issued_at(line), buyer, line.place, line.page.path.name,
    )  # fmt: skip


def _contradicts(voucher: str, column: str, layout: Layout) -> bool:
    """Whether a number stands in the column for the other kind of voucher, though its own kind has one."""
    own = f"{voucher}_number"
    return bool(NUMBERS[column]) and column != own and own in layout.columns
