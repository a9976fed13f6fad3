"""`voucher merge`: the corrections of results put into a copy of the workbook that they were made of, which is read again
before it gets its name.
"""

import datetime
import re
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.file_writing import PRIVATE, appear, scratch_folder, sync, taken
from pipeline.messages.translate import heading, translated
from pipeline.model.columns import BUYER_COLUMNS, BUYERS_SHEET, COLUMN, Lang
from pipeline.model.errors import InputProblem
from pipeline.model.message import Fact, Message, SheetName, counted, joined, message
from pipeline.model.places import on_sheet, row_at
from pipeline.model.shown_cells import shown
from pipeline.reading.columns_file import ColumnMap, load_map
from pipeline.reading.formats.column_letters import column_letters
from pipeline.reading.formats.xlsx_prescan import sheet_parts
from pipeline.reading.formats.zip_package import OF_XLSX, Package
from pipeline.reading.heading_rows import Layout, find_layout
from pipeline.reading.input_files import read_sheets
from pipeline.reading.previous_result import is_result
from pipeline.reading.sheet import Sheet
from pipeline.reading.tickets import assemble
from pipeline.reporting.output_paths import check_folder, unwritable
from pipeline.reporting.xlsx.edited_cells import Place, Value, edited_sheet, with_new_sheet, write_package
from pipeline.run.result_corrections import Cell, Held, Key, ResultCorrections, corrections, named, read_round

_MOST_NAMED = 10
_OF_ANOTHER = ("header_name", "tax_no", "header_type")
_FIRST_DAY, _FIRST_DAY_1904 = datetime.date(1899, 12, 30), datetime.date(1904, 1, 1)


@dataclass
class _Original:
    """The workbook that is corrected, and the cells that are to be written, by sheet."""

    path: Path
    sheets: dict[str, tuple[Sheet, Layout]]
    held: Held
    cells: defaultdict[str, dict[Place, Value]] = field(default_factory=lambda: defaultdict(dict))
    new: dict[tuple[str, str], int] = field(default_factory=dict)

    def put(self, key: Key, column: str, value: Value) -> None:
        """Have a value in a row's column, a new one at the right where the sheet lacks it; of merged cells in their first."""
        sheet, layout = self.sheets[key[0]]
        there = layout.columns.get(column, layout.extra.get(column))
        if there is None:
            at = self.new.setdefault((key[0], column), self._free(key[0]))
            head = sheet.first_row + layout.heading_row + 1
            self.cells[key[0]][head, at] = heading(column, _lang(layout)) if column in COLUMN else column
        else:
            at = sheet.first_column + there + 1
        row = key[1]
        for above, left, below, right in sheet.merged:
            if above < row <= below + 1 and left < at <= right + 1:
                row, at = above + 1, left + 1
        self.cells[key[0]][row, at] = value

    def _free(self, name: str) -> int:
        sheet = self.sheets[name][0]
        return sheet.first_column + sheet.width + 1 + sum(one == name for one, _ in self.new)

    def rows(self, name: str) -> set[int]:
        """The numbers of a sheet's rows of tickets."""
        return {row for _, sheet, row in self.held.first if sheet == name}


@dataclass(frozen=True)
class Merge:
    """What is asked for: the original, the results, and the workbook that is to be written."""

    original: Path
    results: Sequence[Path]
    output: Path
    columns: Path | None
    currency: str


def merge(asked: Merge, tell: Callable[[Message], None]) -> None:
    """Write the merged workbook, or raise InputProblem; then nothing is written."""
    _check(asked)
    mapping, currency = load_map(asked.columns), asked.currency
    original = _original(asked.original, mapping, currency)
    once = {path.resolve(): path for path in asked.results}
    given = {path.name for path in once.values()}
    rounds = [read_round(path, given, mapping, currency) for path in once.values()]
    found = corrections(original.held, asked.original, [one for one in rounds if one])
    files = joined(path.name for path in once.values())
    if unplaced := sorted(given & found.others.keys()):
        raise InputProblem(
            "{files}: one of the columns file, sheet and row is gone from Failures, which say where its rows stood in {original}; take the"
            " result as it was written, and correct it there",
            files=joined(unplaced), original=asked.original.name,
        )  # fmt: skip
    if found.others and not found.listed:
        raise InputProblem(
            "{files}: made of {others}, not of {original}; give that workbook, under the name that it had",
            files=files, others=joined(found.others), original=asked.original.name,
        )  # fmt: skip
    if not found.of_cells and not found.buyers:
        raise InputProblem(
            "{files}: nothing there differs from {original}; correct Failures, save it, and merge it then",
            files=files, original=asked.original.name,
        )  # fmt: skip
    repeating = _correct_alike(original.held, found)
    for (key, column), (cell, _) in found.of_cells.items():
        original.put(key, column, _value(original.held, key, cell, column))
    new_buyers = [*_put_buyers(original, found)]
    try:
        with scratch_folder(asked.output.parent) as folder:
            finished = folder / asked.original.name
            gone = _write(original, finished, new_buyers)
            _check_read_back(original.held, _original(finished, mapping, currency).held, found)
            finished.chmod(PRIVATE)
            sync(finished)
            appear(finished, asked.output)
    except OSError as problem:
        raise unwritable(asked.output, problem) from problem
    if repeating:
        tell(
            counted(
                "{count} row that repeats a corrected one is corrected alike",
                "{count} rows that repeat corrected ones are corrected alike",
                repeating,
            )
        )
    for told in _told(asked, original, found, gone):
        tell(told)


def _check(asked: Merge) -> None:
    if asked.original.suffix.lower() != ".xlsx":
        raise InputProblem(
            "{file}: corrections can be put into an .xlsx workbook alone; save it as .xlsx, issue that, and merge its results",
            file=str(asked.original),
        )
    if asked.output.suffix.lower() != ".xlsx":
        raise InputProblem(
            "{file}: the merged workbook is an .xlsx workbook; give -o a name that ends in .xlsx",
            file=str(asked.output),
        )
    if taken(asked.output):
        raise InputProblem(
            "{file}: is there already and is left as it is; give -o another name", file=str(asked.output)
        )
    check_folder(asked.output)


def _original(path: Path, mapping: ColumnMap, currency: str) -> _Original:
    sheets = read_sheets(path, mapping.knows)
    if is_result(sheets):
        raise InputProblem(
            "{file}: is a result itself; give the workbook that was issued first", file=str(path)
        )
    if not zipfile.is_zipfile(path) or OF_XLSX not in Package(path.read_bytes()):
        raise InputProblem(
            "{file}: is no .xlsx workbook, whatever its name says; open it and save it as .xlsx",
            file=str(path),
        )
    table = assemble([(path, sheets)], None, mapping, currency)
    found = {
        sheet.name: (sheet, layout)
        for sheet in sheets
        if sheet.visible
        and not mapping.skips_sheet(sheet.name)
        and (layout := find_layout(on_sheet(str(path), sheet.name), sheet, mapping.headings, currency=""))
    }
    return _Original(path, found, Held(table))


def _lang(layout: Layout) -> Lang:
    """The language of a sheet's headings."""
    return (
        "zh"
        if any("\u4e00" <= each <= "\u9fff" for text, _ in layout.headings.values() for each in text)
        else "en"
    )


def _value(original: Held, key: Key, cell: Cell, column: str) -> Value:
    """What is to be written; a day as a text where the original has no day, whose cell may not look like one."""
    value = cell.value
    if isinstance(value, datetime.datetime):
        value = value.date() if value.time() == datetime.time() else shown(value)
    if isinstance(value, datetime.date):
        was = Cell(original, original.rows[key], column).seen
        return value if isinstance(was, datetime.date) else value.isoformat()
    return value


def _correct_alike(original: Held, found: ResultCorrections) -> int:
    """Correct rows that repeat a corrected one as that, or the two would differ and neither be issued. Give their number."""
    tickets, corrected = original.table.frame["ticket_no"], {original.rows[key] for key, _ in found.of_cells}
    of_ticket = defaultdict[str, list[int]](list)
    for at in tickets.index[tickets.isin(tickets.iloc[sorted(corrected)]) & (tickets != "")].tolist():
        if original.first[at][1:] not in found.listed:
            of_ticket[tickets.iloc[at]].append(at)
    alike = set()
    for (key, column), correction in [*found.of_cells.items()]:
        for at in of_ticket[tickets.iloc[original.rows[key]]]:
            if all(
                Cell(original, at, name).says(Cell(original, original.rows[key], name)) for name in COLUMN
            ):
                found.of_cells[original.first[at][1:], column] = correction
                alike.add(at)
    return len(alike)


def _put_buyers(original: _Original, found: ResultCorrections) -> Iterator[dict[str, str]]:
    """Have the buyers' corrections on the sheet of buyers; give those that there is no sheet for."""
    sheet = next(
        (name for name, (_, layout) in original.sheets.items() if "ticket_no" not in layout.columns), ""
    )
    below = original.sheets[sheet][0].first_row + original.sheets[sheet][0].height if sheet else 0
    for place, new in found.buyers:
        if place is None and not sheet:
            yield new
            continue
        below += place is None
        for column, text in new.items():
            original.put(place or (sheet, below), column, text)


def _write(original: _Original, finished: Path, new_buyers: Sequence[dict[str, str]]) -> list[str]:
    """Write the copy; give the cells whose formulas are gone."""
    package = Package(original.path.read_bytes())
    parts, gone, known = dict[str, bytes](), list[str](), sheet_parts(package)
    book = package.whole(OF_XLSX, 1 << 25)
    first_day = _FIRST_DAY_1904 if re.search(rb"\bdate1904=.(1|true|on)\b", book) else _FIRST_DAY
    with zipfile.ZipFile(original.path) as archive:
        names = {name.lower(): name for name in archive.namelist()}
        for sheet, cells in original.cells.items():
            part = names[known[sheet].lower()]
            try:
                parts[part], formulas = edited_sheet(
                    archive.read(part), cells, original.rows(sheet), first_day
                )
            except ValueError as together:
                raise InputProblem(
                    "{place}: one formula fills {cells} together, and one of them can't be put right alone; correct it by hand",
                    place=on_sheet(original.path.name, sheet),
                    cells=str(together),
                ) from together
            gone += [f"{sheet}!{cell}" for cell in formulas]
    if new_buyers:
        lang = _lang(next(layout for _, layout in original.sheets.values()))
        rows = [[heading(column.name, lang) for column in BUYER_COLUMNS]]
        rows += [[buyer.get(column.name, "") for column in BUYER_COLUMNS] for buyer in new_buyers]
        parts |= with_new_sheet(original.path, translated(BUYERS_SHEET, lang, "sheet"), rows)
    write_package(original.path, finished, parts, formulas_gone=bool(gone))
    return gone


def _check_read_back(original: Held, now: Held, found: ResultCorrections) -> None:
    """Raise InputProblem where the copy does not say what it should: of corrected cells, and of all rows that nobody corrected."""
    corrected = {key for key, _ in found.of_cells}
    for at, (file, sheet, row) in enumerate(original.first):
        for column in {**original.seen, **now.seen}:
            key = (sheet, row)
            wanted = (
                found.of_cells[key, column][0]
                if (key, column) in found.of_cells
                else Cell(original, at, column)
            )
            if key in corrected and (key, column) not in found.of_cells:
                continue  # what follows from a correction
            if key not in now.rows or not Cell(now, now.rows[key], column).says(wanted):
                raise InputProblem(
                    "{place}: {column} can't be put right without changing another row (cells that are merged, or a formula);"
                    " correct it by hand in {file}",
                    place=row_at(file, sheet, row), column=named(column), file=file,
                )  # fmt: skip


def _told(
    asked: Merge, original: _Original, found: ResultCorrections, gone: Sequence[str]
) -> Iterator[Message]:
    """What was done, and what could not be."""
    for (sheet, column), at in original.new.items():
        yield message(
            "{place}: new column {letters} “{heading}”", place=on_sheet(asked.original.name, sheet),
            letters=column_letters(at - 1), heading=heading(column, _lang(original.sheets[sheet][1])),
        )  # fmt: skip
    if gone:
        yield message(
            "A value stands in place of a formula now: {cells}", cells=_some([*map(SheetName, gone)])
        )
    if found.added:
        yield message(
            "Not in the merged workbook, since they stand on no sheet of any; add them by hand: {rows}",
            rows=_some(found.added),
        )
    if unlike := [
        row_at(asked.original.name, *key)
        for (key, column), (cell, _) in found.of_cells.items()
        if column in _OF_ANOTHER and Cell(cell.held, cell.row, "buyer").text
    ]:
        yield message(
            "These rows name a buyer of Buyers and say another name, tax number or type: check will ask which is meant; say it on"
            " Buyers, or clear buyer: {rows}",
            rows=_some(list(dict.fromkeys(unlike))),
        )
    for file, count in found.others.items():
        yield counted(
            "{count} row of Failures is of {file}; merge it with that", "{count} rows of Failures are of {file}; merge them with that",
            count, file=file,
        )  # fmt: skip
    if found.buyers:
        yield counted(
            "{count} buyer corrected or added", "{count} buyers corrected or added", len(found.buyers)
        )
    yield message(
        "Merged workbook: {path} (corrected: cells {cells}, rows {rows})",
        path=str(asked.output), cells=len(found.of_cells), rows=len({key for key, _ in found.of_cells}),
    )  # fmt: skip


def _some(facts: Sequence[Fact]) -> Fact:
    """The first of many, and how many more there are."""
    first, more = joined(facts[:_MOST_NAMED]), len(facts) - _MOST_NAMED
    return message("{first} and {count} more", first=first, count=more) if more > 0 else first
