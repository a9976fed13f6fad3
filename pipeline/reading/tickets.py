"""Workbooks to one Table: tickets and buyers of every file, typed, with what could not be read."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from pipeline.model.columns import BUYER_COLUMNS, COLUMN, COLUMNS
from pipeline.model.corrections import NO_CORRECTIONS, Corrections, Place
from pipeline.model.errors import InputProblem
from pipeline.model.message import Joined, Message, SheetName, joined, message
from pipeline.model.places import about, on_sheet, row_at
from pipeline.model.table import (
    BUYER_PLACE,
    Indices,
    SheetRows,
    Table,
)
from pipeline.reading import cells, cells_fast, left_out, previous_result, ticket_numbers
from pipeline.reading.ambiguous_amounts import Tickets, refuse_doubtful
from pipeline.reading.cell_words import folded
from pipeline.reading.child_process import Opening
from pipeline.reading.columns_file import NO_MAP, ColumnMap
from pipeline.reading.corrected_cells import corrected, with_entered
from pipeline.reading.currency_columns import OtherCurrency, other_currencies, refused
from pipeline.reading.fees_not_taken import untaken_fees
from pipeline.reading.fill_blanks import Part, filled
from pipeline.reading.formats.column_letters import column_letters
from pipeline.reading.heading_meanings import BUYER_NAMES
from pipeline.reading.heading_rows import (
    Layout,
    Own,
    beside_ours,
    find_layout,
    looks_like_tickets,
    nothing_known,
    refuse_low_headings,
    refuse_unit_of_footer,
    slips,
)
from pipeline.reading.hidden_rows import hidden_sheets, warnings, with_hidden_rows
from pipeline.reading.input_files import far_cells, not_read, read_sheets, refuse_far
from pipeline.reading.merged_cells import unmerged
from pipeline.reading.other_currencies import as_seen
from pipeline.reading.refund_lines import take_refund_lines, told_refund_lines
from pipeline.reading.repeated_headings import repeats, repeats_headings
from pipeline.reading.said_issued import said_issued
from pipeline.reading.sheet import Cells, Sheet, is_blank
from pipeline.reading.totals_and_footers import is_footer, is_total
from pipeline.reading.typed_columns import as_texts, typed
from pipeline.reading.unheaded_sheets import refuse_unheaded
from pipeline.reading.unread_amounts import unread_amounts


@dataclass(frozen=True)
class _Rows:
    """The input rows of one sheet, and where they stand."""

    place: str
    sheet: str
    lines: Indices  # as the spreadsheet program counts
    columns: Part
    first_places: tuple[Cells, Cells, Indices]  # see previous_result.first_places
    elsewhere: Cells  # see previous_result.said_elsewhere
    in_others: Mapping[int, OtherCurrency]  # by position among these rows


@dataclass
class Gathered:
    """Rows of all sheets so far, sheet by sheet; `names` are those of the files, as they are shown."""

    names: dict[Path, str]
    mapping: ColumnMap
    currency: str
    kept_apart: bool = False  # whether a buyers file is given
    parts: list[_Rows] = field(default_factory=list)
    buyers: list[pd.DataFrame] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)
    letters: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    sheets: list[SheetRows] = field(default_factory=list)
    tickets: list[Tickets] = field(default_factory=list)
    left_out: int = 0  # rows of hotels and the like, sheets that a team leaves out
    corrections: Corrections = NO_CORRECTIONS
    corrected: set[Place] = field(default_factory=set)  # the rows that there are of those that were corrected


def _ticket_rows(place: str, sheet: Sheet, layout: Layout, own: Own, gathered: Gathered) -> None:
    """Take the sheet's input rows: no blank ones, no totals, no repeated headings, no signatures."""
    where = on_sheet(place, sheet.name)
    sheet = as_seen(unmerged(where, sheet, layout), layout, gathered.currency)
    rows, no_data = _input_rows(where, sheet, layout, own, gathered.currency)
    if no_data:
        gathered.notes.append(
            message("{place}: {count} total, heading or footer rows left out", place=where, count=no_data)
        )
    no_tickets = left_out.rows_left_out(sheet, layout, rows, gathered.mapping)
    gathered.notes += no_tickets.notes(where)
    rows, gathered.left_out = rows[~no_tickets.any], gathered.left_out + int(no_tickets.any.sum())
    gathered.notes += [about(where, slip) for slip in slips(sheet, layout, own)]
    sheet, layout = _corrected(place, sheet, layout, rows, gathered)
    positions = {**layout.columns, **layout.extra}
    gathered.letters[place, sheet.name] = _letters(sheet, layout)
    gathered.tickets.append(Tickets(place, sheet, layout, own, gathered.currency))
    gathered.sheets.append(with_hidden_rows(place, sheet, rows))
    if len(rows):
        part: Part = {name: sheet.columns[position].at(rows) for name, position in positions.items()}
        part, notes = filled(part, place, sheet.name, gathered.mapping)
        lines = rows + sheet.first_row + 1
        here = Cells.same(place, len(lines)), Cells.same(sheet.name, len(lines)), lines
        first = previous_result.first_places(sheet, layout, rows) or here
        others = other_currencies(sheet, layout, own, rows, gathered.currency)
        entered = _amounts_entered(gathered.corrections.of_sheet(place, sheet.name))
        others = {at: other for at, other in others.items() if int(lines[at]) not in entered}
        elsewhere = previous_result.said_elsewhere(sheet, layout, rows)
        gathered.parts.append(_Rows(place, sheet.name, lines, part, first, elsewhere, others))
        gathered.notes += notes


def _amounts_entered(corrections: Mapping[int, Mapping[str, str]]) -> set[int]:
    """The rows whose amount was entered on the page: in the carrier's currency, as is asked for where a cell says another one."""
    return {line for line, cells in corrections.items() if "amount" in cells}


def _corrected(
    file: str, sheet: Sheet, layout: Layout, rows: Indices, gathered: Gathered
) -> tuple[Sheet, Layout]:
    """The sheet and its headings with what was corrected in these of its rows."""
    told = gathered.corrections.of_sheet(file, sheet.name)
    if not told:
        return sheet, layout
    here = {row: told[line] for row in rows.tolist() if (line := row + sheet.first_row + 1) in told}
    gathered.corrected |= {(file, sheet.name, row + sheet.first_row + 1) for row in here}
    known = COLUMN if "ticket_no" in layout.columns else BUYER_NAMES
    return corrected(on_sheet(file, sheet.name), sheet, layout, here, known)


def _letters(sheet: Sheet, layout: Layout) -> dict[str, str]:
    """The letters that the columns of the vocabulary stand under."""
    return {name: column_letters(sheet.first_column + position) for name, position in layout.columns.items()}


def _input_rows(where: Message, sheet: Sheet, layout: Layout, own: Own, currency: str) -> tuple[Indices, int]:
    """The positions of the input rows, and how many others are left out that are not blank.

    A row with a ticket's number is input whatever else it says, so that only the others are looked at.
    """
    below = layout.heading_row + 1
    tickets = ticket_numbers.of_sheet(sheet, layout)
    taken = np.array(cells_fast.at_sight(cells_fast.named, tickets.different), dtype=bool)[tickets.codes]
    taken[:below] = False
    others = np.flatnonzero(~taken[below:]) + below
    no_data = 0
    for index, row in zip(others.tolist(), sheet.at(others).rows, strict=True):
        if all(map(is_blank, row)):
            continue
        if footer := is_footer(row):
            refuse_unit_of_footer(where, sheet, index, layout, currency)
        if footer or is_total(row, layout) or repeats_headings(where, sheet, index, layout, own):
            no_data += 1
        else:
            taken[index] = True
    return np.flatnonzero(taken), no_data


def _buyer_rows(place: str, sheet: Sheet, layout: Layout, gathered: Gathered, name: str) -> pd.DataFrame:
    """The sheet's buyers as text, with whose they are and where in the file of that name; see table.Table.buyers."""
    sheet = unmerged(on_sheet(place, sheet.name), sheet, layout)
    those = [
        line
        for line, row in enumerate(sheet.rows)
        if line > layout.heading_row
        and not all(map(is_blank, row))
        and not repeats(row, layout)
        and not is_footer(row)
    ]
    at = np.array(those, dtype=np.int64)
    sheet, layout = _corrected(name, sheet, layout, at, gathered)
    gathered.letters[name, sheet.name] = _letters(sheet, layout)
    whose = {
        line: previous_result.buyers_of(place, row, layout, kept_apart=gathered.kept_apart)
        for line, row in zip(those, sheet.at(at).rows, strict=True)
        if not all(map(is_blank, row))
    }
    lines = np.array([line for line, book in whose.items() if book is not None], dtype=np.int64)
    found = {"file": np.array([book for book in whose.values() if book is not None], dtype=object)}
    for column in BUYER_COLUMNS:
        position = layout.columns.get(column.name)
        texts = _texts(Cells.same("", sheet.height) if position is None else sheet.columns[position]).at(
            lines
        )
        # A word that is no known type stays as it is; the rules report it with the rows that use it.
        if column.choices:
            texts = texts.read(partial(_named, gathered.mapping.words(column.name)))
        found[column.name] = texts.objects()
    of: tuple[Any, ...] = (name, sheet.name, lines + sheet.first_row + 1)
    found |= dict(zip(BUYER_PLACE, of, strict=True))
    return pd.DataFrame(found, dtype=object)


def _texts(column: Cells) -> Cells:
    """A column's cells as texts, nearly all of them at first sight."""
    at_sight = zip(column.different, cells_fast.texts(column.different), strict=True)
    return Cells([cells.text(cell) if plain is None else plain for cell, plain in at_sight], column.codes)


def _named(words: Mapping[str, str], text: str) -> str:
    return words.get(folded(text), text)


def sheets_to_read(path: Path, sheets: list[Sheet], gathered: Gathered) -> list[Sheet]:
    """The visible sheets that hold anything; of an earlier result, the Failures and what is none of its own."""
    if previous_result.is_result(sheets):
        sheets = [
            sheet for sheet in sheets if previous_result.is_failures(sheet) or previous_result.is_added(sheet)
        ]
    filled = [sheet for sheet in sheets if sheet.filled]
    hidden, place = [sheet for sheet in filled if not sheet.visible], gathered.names[path]
    told, notes = hidden_sheets(place, hidden)
    gathered.sheets += told
    gathered.notes += notes
    visible = [sheet for sheet in filled if sheet.visible]
    gathered.notes += [
        message(
            "{place}: cells far from all others were not read ({cells}); see that they are no part of the tickets",
            place=on_sheet(place, sheet.name),
            cells=far_cells(sheet),
        )
        for sheet in visible
        if sheet.far
    ]
    if not visible:
        raise _hidden_alone(path, hidden) if hidden else not_read(path, "empty")
    return visible


def _hidden_alone(path: Path, hidden: Sequence[Sheet]) -> InputProblem:
    return InputProblem(
        "{file}: what tickets it holds stand on hidden sheets alone ({sheets}); show the one with the tickets",
        file=str(path),
        sheets=_names(hidden[:5]),
    )


def _take_file(path: Path, sheets: list[Sheet], gathered: Gathered) -> None:
    """One workbook's tickets and buyers. Raises InputProblem if it holds no tickets."""
    earlier_result, all_sheets = previous_result.is_result(sheets), sheets
    sheets = sheets_to_read(path, sheets, gathered)
    own = beside_ours(gathered.mapping.headings) if earlier_result else gathered.mapping.headings
    buyers_before, tickets_seen = len(gathered.buyers), False
    parts_before, sheets_before, unheaded = len(gathered.parts), len(gathered.tickets), list[Sheet]()
    left_out_before = gathered.left_out
    for sheet in sheets:
        taken = take_sheet(path, sheet, own, gathered, from_result=earlier_result)
        tickets_seen |= taken.use == "tickets"
        if taken.use == "unheaded":
            unheaded.append(sheet)
    if not tickets_seen and (buyers := gathered.buyers[buyers_before:]):
        if hidden := [sheet for sheet in all_sheets if sheet.filled and not sheet.visible]:
            raise _hidden_alone(path, hidden)
        if any(map(len, buyers)):
            raise InputProblem(
                "{file}: holds buyers but no tickets; give it as --buyers {file}", file=str(path)
            )
    if not tickets_seen and gathered.left_out == left_out_before:
        raise nothing_known(str(path), sheets, own)
    refuse_unheaded(
        path,
        unheaded,
        (cell for part in gathered.parts[parts_before:] for cell in part.columns["ticket_no"].objects()),
        {seen.ticket_column for seen in gathered.tickets[sheets_before:]},
    )
    if len(gathered.parts) == parts_before and gathered.left_out == left_out_before:
        raise _no_rows(path, sheets, earlier_result=earlier_result)


@dataclass(frozen=True)
class Taken:
    """What became of a sheet, and its headings, None where it has none or they were not looked at."""

    use: Literal["tickets", "buyers", "unheaded", "left_out"]
    layout: Layout | None = None


def take_sheet(path: Path, sheet: Sheet, own: Own, gathered: Gathered, *, from_result: bool) -> Taken:
    """Take one sheet's tickets or buyers. Raises InputProblem where it has tickets that can't be read by its headings."""
    place = gathered.names[path]
    if told := left_out.by_team(place, sheet, gathered.mapping):
        return _leave_out(told, gathered)
    other = left_out.is_of_other_services(sheet, gathered.mapping)
    layout = find_layout(
        on_sheet(str(path), sheet.name), sheet, own, ours=from_result, currency=gathered.currency
    )
    if (notes := left_out.passed_over(place, sheet, layout, from_result=from_result)) is not None:
        gathered.notes += notes
        return Taken("left_out", layout)
    if layout is None and not other:
        if looks_like_tickets(sheet, own):
            raise nothing_known(str(path), [sheet], own)
        refuse_low_headings(on_sheet(str(path), sheet.name), sheet, own)
    if layout is None:
        gathered.notes.append(
            message(
                "{file}: sheet {sheet} has no headings of tickets or buyers and was not read",
                file=place,
                sheet=SheetName(sheet.name),
            )
        )
        gathered.left_out += other
        return Taken("unheaded")
    if "ticket_no" in layout.columns:
        taken = layout.without(previous_result.LEFT_OUT) if from_result else layout
        _ticket_rows(place, sheet, taken, own, gathered)
        return Taken("tickets", taken)
    if other:
        return _leave_out(left_out.as_other_services(place, sheet), gathered)
    gathered.buyers.append(_buyer_rows(place, sheet, layout, gathered, place))
    return Taken("buyers", layout)


def _leave_out(told: Message, gathered: Gathered) -> Taken:
    gathered.left_out += 1
    gathered.notes.append(told)
    return Taken("left_out")


def _no_rows(path: Path, sheets: list[Sheet], *, earlier_result: bool) -> InputProblem:
    """The error for a workbook with headings of tickets and nothing below them."""
    if earlier_result:
        return InputProblem(
            "{file}: its Failures sheet holds no rows; there is nothing to issue again. Leave it out; of a folder, what ends in .result.xlsx is left"
            " out by itself",
            file=str(path),
        )
    return InputProblem(
        "{file}: has headings but no rows below them (sheets: {sheets}); add the tickets",
        file=str(path),
        sheets=_names(sheets),
    )


def _names(sheets: Iterable[Sheet]) -> Joined:
    return joined(SheetName(sheet.name) for sheet in sheets)


def _take_buyers_file(path: Path, gathered: Gathered) -> None:
    """The buyers of a file kept apart from the tickets; an earlier month's workbook serves too."""
    try:
        there = path.is_file()
    except OSError:
        there = False
    if not there:
        raise InputProblem("{file}: there is no such buyers file; check the path", file=str(path))
    sheets = read_sheets(path, gathered.mapping.knows)
    refuse_far(path, sheets)
    found = [
        _buyer_rows("", sheet, layout, gathered, path.name)
        for sheet in sheets
        if sheet.visible
        and (layout := find_layout(on_sheet(str(path), sheet.name), sheet, gathered.mapping.headings))
        is not None
        and "ticket_no" not in layout.columns
    ]
    if not any(len(buyers) for buyers in found):
        raise InputProblem(
            "{file}: holds no buyers; it needs the headings buyer and header_name and a row below them",
            file=str(path),
        )
    gathered.buyers += found


@dataclass(frozen=True)
class ReadOptions:
    """How files are read: by a team's mapping, amounts in the carrier's currency (ISO 4217), corrections in place of what stands there."""

    mapping: ColumnMap = NO_MAP
    currency: str = "CNY"
    corrections: Corrections = NO_CORRECTIONS


def read_table(
    files: Sequence[Path],
    buyers_file: Path | None = None,
    options: ReadOptions = ReadOptions(),
    begun: Opening | None = None,
) -> Table:
    """Read every workbook into one Table, in the order of the files, sheets and rows.

    `begun` may be a child that reads one of them already. Raises InputProblem naming the file, sheet or cell and the cure.
    """
    workbooks = [(path, read_sheets(path, options.mapping.knows, begun)) for path in files]
    return assemble(workbooks, buyers_file, options.mapping, options.currency, options.corrections)


def file_names(workbooks: Sequence[tuple[Path, list[Sheet]]]) -> dict[Path, str]:
    """How each file is called: by its name, or by its path where another has the same name."""
    alone = Counter(path.name for path, _ in workbooks)
    names = {path: path.name if alone[path.name] == 1 else str(path) for path, _ in workbooks}
    # A name in another encoding than UTF-8 is shown as far as it can be.
    return {path: name.encode(errors="replace").decode() for path, name in names.items()}


def assemble(
    workbooks: Sequence[tuple[Path, list[Sheet]]],
    buyers_file: Path | None = None,
    mapping: ColumnMap = NO_MAP,
    currency: str = "CNY",
    corrections: Corrections = NO_CORRECTIONS,
) -> Table:
    """Make the Table of workbooks whose sheets are read already. Raises InputProblem for a correction of a row that they do not have."""
    names = file_names(workbooks)
    gathered = Gathered(names, mapping, currency, kept_apart=buyers_file is not None, corrections=corrections)
    if buyers_file is not None:
        _take_buyers_file(buyers_file, gathered)
    for path, sheets in workbooks:
        _take_file(path, sheets, gathered)
    if not gathered.parts:
        raise InputProblem(
            "{files}: holds no tickets; all that is in it is left out", files=joined(names.values())
        )
    for place in sorted(corrections.cells.keys() - gathered.corrected):
        raise InputProblem(
            "{place}: was corrected on the page, and is no row of tickets or buyers; take the correction back",
            place=row_at(*place),
        )
    return _table(gathered)


def _table(gathered: Gathered) -> Table:
    """The Table of all sheets' rows."""
    parts = gathered.parts
    places = Cells.joined([Cells.same(part.place, len(part.lines)) for part in parts])
    sheets = Cells.joined([Cells.same(part.sheet, len(part.lines)) for part in parts])
    as_read, books, remembered = previous_result.refilled(_joined(parts), places)
    made: dict[str, Any] = {"file": as_texts(places), "sheet": as_texts(sheets)}
    made["row"] = np.concatenate([part.lines for part in parts])
    files, names, lines = zip(*(part.first_places for part in parts), strict=True)
    made |= {"first_file": as_texts(Cells.joined(files)), "first_sheet": as_texts(Cells.joined(names))}
    made["first_row"] = np.concatenate(lines)
    made |= {"book": as_texts(books), "remembered": as_texts(remembered)}
    made["elsewhere"] = as_texts(Cells.joined([part.elsewhere for part in parts]))
    findings = []
    for column in COLUMNS:
        words = gathered.mapping.words(column.name) if column.choices else {}
        values = as_read.get(column.name, Cells.same("", len(places)))
        values = ticket_numbers.put_together(as_read) if column.name == "ticket_no" else values
        made[column.name], finding = typed(column, values, words, gathered.currency)
        if finding:
            findings.append(finding)
    frame = pd.DataFrame(made, copy=False)
    begins = np.cumsum([0, *(len(part.lines) for part in parts)]).tolist()
    others = {
        begin + at: other
        for begin, part in zip(begins, parts, strict=False)
        for at, other in part.in_others.items()
    }
    known = {column.name: as_read[column.name] for column in COLUMNS if column.name in as_read}
    seen = pd.DataFrame(
        {name: column.objects() for name, column in {**known, **as_read}.items()}, dtype=object, copy=False
    )
    findings, paid_back = take_refund_lines(frame, seen, findings, gathered.currency)
    if others:
        findings.append(refused(frame, others, gathered.currency))
    refuse_doubtful(gathered.tickets, frame, seen, findings)
    names = ("file", *(column.name for column in BUYER_COLUMNS), *BUYER_PLACE)
    empty = pd.DataFrame({name: [] for name in names}, dtype=object)
    buyers = pd.concat([empty, *gathered.buyers], ignore_index=True)
    buyers = with_entered(buyers, gathered.corrections.buyers, gathered.mapping.words("header_type"))
    notes = (*gathered.notes, *told_refund_lines(frame, paid_back), *untaken_fees(frame))
    return Table(
        frame, seen, tuple(findings), buyers, warnings(gathered.sheets), notes, gathered.letters, tuple(gathered.sheets), paid_back,
        unread_amounts(gathered.tickets, frame, seen, gathered.currency), said_issued(as_read, gathered.mapping.headings),
    )  # fmt: skip


def _joined(parts: Sequence[_Rows]) -> Part:
    """The columns of all sheets, one sheet's rows below the other's; blank where a sheet has no such column."""
    names = dict.fromkeys(name for part in parts for name in part.columns)
    return {
        name: Cells.joined([part.columns.get(name, Cells.same("", len(part.lines))) for part in parts])
        for name in names
    }
