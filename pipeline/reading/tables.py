"""Workbooks to one Table: tickets and buyers of every file, typed, with what could not be read."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pipeline.columns import BUYER_COLUMNS, COLUMNS, RESULT_HEADINGS, RESULT_SHEETS, Column, Kind
from pipeline.errors import InputProblem
from pipeline.reading import cells
from pipeline.reading.headings import (
    CHOICE_WORDS,
    HEADINGS,
    Layout,
    find_layout,
    folded,
    looks_like_tickets,
    normal,
    nothing_known,
)
from pipeline.reading.inputs import Sheet, read_sheets
from pipeline.table import Finding, Mask, Table, shown

_TOTAL_WORDS = {
    normal(word)
    for word in ("total", "totals", "grand total", "subtotal", "sum", "合计", "总计", "小计", "共计")
}
_BAD = {
    Kind.TICKET: "bad_ticket_no",
    Kind.MONEY: "bad_amount",
    Kind.DATE: "bad_date",
    Kind.CHOICE: "bad_choice",
}


@dataclass
class _Gathered:
    """Rows of all sheets so far, column by column."""

    names: dict[Path, str]
    places: list[tuple[str, str, int]] = field(default_factory=list)
    parts: list[pd.DataFrame] = field(default_factory=list)
    buyers: list[pd.DataFrame] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def _blank(cell: Any) -> bool:
    return isinstance(cell, str) and not cell.strip()


def _is_total(row: Sequence[Any], layout: Layout) -> bool:
    """A row of which some cell says total, and that names neither a ticket nor a charge."""
    named = [
        row[at] for name in ("ticket_no", "charge") if (at := layout.columns.get(name, len(row))) < len(row)
    ]
    if not all(_blank(cell) or _says_total(cell) for cell in named):
        return False
    # Only what is taken from the row: where an earlier result says that it came from may be called total.
    return any(
        _says_total(row[at]) for at in (*layout.columns.values(), *layout.extra.values()) if at < len(row)
    )


def _says_total(cell: Any) -> bool:
    return isinstance(cell, str) and normal(cell) in _TOTAL_WORDS


def _ticket_rows(place: str, sheet: Sheet, layout: Layout, gathered: _Gathered) -> None:
    """Take the sheet's input rows: no blank ones, no totals, no repeated headings."""
    positions = {**layout.columns, **layout.extra}
    at = layout.columns["ticket_no"]
    kept: list[list[Any]] = []
    left_out = 0
    for offset, row in enumerate(sheet.rows[layout.heading_row + 1 :], start=layout.heading_row + 1):
        if all(_blank(cell) for cell in row):
            continue
        ticket = row[at] if at < len(row) else ""
        if _is_total(row, layout) or HEADINGS.get(normal(ticket)) == "ticket_no":
            left_out += 1
            continue
        kept.append([row[position] if position < len(row) else "" for position in positions.values()])
        gathered.places.append((place, sheet.name, sheet.first_row + offset + 1))
    if left_out:
        gathered.notes.append(f"{place}, sheet {sheet.name}: {left_out} total or heading rows left out")
    if kept:
        gathered.parts.append(
            pd.DataFrame(dict(zip(positions, zip(*kept, strict=True), strict=True)), dtype=object)
        )


def _buyer_rows(place: str, sheet: Sheet, layout: Layout) -> pd.DataFrame:
    """The sheet's buyers as text, with the file's name; see table.Table.buyers."""
    rows = [row for row in sheet.rows[layout.heading_row + 1 :] if not all(_blank(cell) for cell in row)]
    found: dict[str, list[str]] = {"file": [place] * len(rows)}
    for column in BUYER_COLUMNS:
        at = layout.columns.get(column.name)
        texts = [cells.text(row[at]) if at is not None and at < len(row) else "" for row in rows]
        # A word that is no known type stays as it is; the rules report it with the rows that use it.
        words = CHOICE_WORDS.get(column.name, {})
        found[column.name] = [words.get(folded(text), text) for text in texts]
    return pd.DataFrame(found, dtype=object)


def _sheets_to_read(path: Path, sheets: list[Sheet], gathered: _Gathered) -> list[Sheet]:
    """The visible sheets that hold anything; of an earlier result, the Failures alone."""
    if _is_result(sheets):
        sheets = [sheet for sheet in sheets if re.fullmatch(r"Failures( [0-9]+)?", sheet.name)]
    filled = [sheet for sheet in sheets if any(not _blank(cell) for row in sheet.rows for cell in row)]
    hidden = [sheet.name for sheet in filled if not sheet.visible]
    gathered.notes += [f"{gathered.names[path]}: sheet {name} is hidden and was not read" for name in hidden]
    visible = [sheet for sheet in filled if sheet.visible]
    if hidden and not visible:
        raise InputProblem(
            f"{path}: all its sheets are hidden ({', '.join(hidden)}); show the one with the tickets"
        )
    if not visible:
        raise InputProblem(f"{path}: is empty; there is nothing to read")
    return visible


def _is_result(sheets: list[Sheet]) -> bool:
    """Whether a workbook is a result of ours, whose Failures were corrected."""
    return {sheet.name for sheet in sheets} >= set(RESULT_SHEETS)


def _take_file(path: Path, sheets: list[Sheet], gathered: _Gathered) -> None:
    """One workbook's tickets and buyers. Raises InputProblem if it holds no tickets."""
    place, earlier_result = gathered.names[path], _is_result(sheets)
    sheets = _sheets_to_read(path, sheets, gathered)
    rows_before, buyers_before, tickets_seen = len(gathered.places), len(gathered.buyers), False
    for sheet in sheets:
        layout = find_layout(f"{path}, sheet {sheet.name}", sheet)
        if layout is None and looks_like_tickets(sheet):
            raise nothing_known(str(path), [sheet])
        if layout is None:
            gathered.notes.append(
                f"{place}: sheet {sheet.name} has no headings of tickets or buyers and was not read"
            )
        elif "ticket_no" in layout.columns:
            tickets_seen = True
            _ticket_rows(
                place, sheet, layout.without(RESULT_HEADINGS) if earlier_result else layout, gathered
            )
        else:
            gathered.buyers.append(_buyer_rows(place, sheet, layout))
    if not tickets_seen and len(gathered.buyers) > buyers_before:
        raise InputProblem(f"{path}: holds buyers but no tickets; give it as --buyers {path}")
    if not tickets_seen:
        raise nothing_known(str(path), sheets)
    if len(gathered.places) == rows_before and earlier_result:
        raise InputProblem(f"{path}: its Failures sheet holds no rows; there is nothing to issue again")
    if len(gathered.places) == rows_before:
        names = ", ".join(sheet.name for sheet in sheets)
        raise InputProblem(f"{path}: has headings but no rows below them (sheets: {names}); add the tickets")


def _take_buyers_file(path: Path, gathered: _Gathered) -> None:
    """The buyers of a file kept apart from the tickets; an earlier month's workbook serves too."""
    try:
        there = path.is_file()
    except OSError:
        there = False
    if not there:
        raise InputProblem(f"{path}: there is no such buyers file; check the path")
    found = [
        _buyer_rows("", sheet, layout)
        for sheet in read_sheets(path)
        if sheet.visible
        and (layout := find_layout(f"{path}, sheet {sheet.name}", sheet)) is not None
        and "ticket_no" not in layout.columns
    ]
    if not any(len(buyers) for buyers in found):
        raise InputProblem(
            f"{path}: holds no buyers; it needs the headings buyer and header_name and a row below them"
        )
    gathered.buyers += found


def _typed(column: Column, values: pd.Series) -> tuple[Any, Mask, list[str]]:
    """A column's values as the Table has them, which were unreadable, and a hint for each distinct one.

    Equal cells are read once: months hold few dates, statuses and amounts, and many rows.
    """
    codes, distinct = pd.factorize(values.to_numpy(dtype=object), use_na_sentinel=False)
    parse: Callable[[Any], Any] = {
        Kind.TEXT: cells.text,
        Kind.TICKET: cells.ticket_no,
        Kind.MONEY: cells.amount if column.name == "amount" else cells.money,
        Kind.DATE: cells.day,
        Kind.CHOICE: lambda value: cells.choice(column.name, value),
    }[column.kind]
    nothing: Any = {Kind.MONEY: 0, Kind.DATE: None}.get(column.kind, "")
    read, bad, hints = [nothing] * len(distinct), np.zeros(len(distinct), bool), [""] * len(distinct)
    for index, value in enumerate(distinct):
        if _blank(value):
            continue
        try:
            read[index] = parse(value)
        except cells.Unreadable as unreadable:
            bad[index], hints[index] = True, str(unreadable)
    if column.kind is Kind.MONEY:
        made: Any = np.array(read, dtype=np.int64)[codes]
    elif column.kind is Kind.DATE:
        made = np.array(read, dtype="datetime64[s]")[codes]
    elif column.kind is Kind.CHOICE:
        names = [choice.name for choice in column.choices]
        position = {name: index for index, name in enumerate(names)}
        at = np.array([position.get(name, -1) for name in read], dtype=np.int8)
        made = pd.Categorical.from_codes(at[codes], dtype=pd.CategoricalDtype(names))
    else:
        made = np.array(read, dtype=object)[codes]
    return made, bad[codes], [hints[code] for code in codes[bad[codes]]]


def _unreadable(column: Column, values: pd.Series, bad: Mask, hints: list[str]) -> Finding:
    rows = np.flatnonzero(bad)
    facts: dict[str, str | Sequence[str]] = {"seen": [shown(value) for value in values.iloc[rows]]}
    if column.kind is Kind.TICKET:
        facts["hint"] = hints
    if column.kind is Kind.CHOICE:
        facts["choices"] = " ".join(choice.name for choice in column.choices)
    return Finding(_BAD[column.kind], column.name, rows, facts)


def read_table(files: Sequence[Path], buyers_file: Path | None = None) -> Table:
    """Read every workbook into one Table, in the order of the files, sheets and rows.

    Raises InputProblem naming the file, sheet or cell and the cure.
    """
    return assemble([(path, read_sheets(path)) for path in files], buyers_file)


def assemble(workbooks: Sequence[tuple[Path, list[Sheet]]], buyers_file: Path | None = None) -> Table:
    """Make the Table of workbooks whose sheets are read already."""
    alone = Counter(path.name for path, _ in workbooks)
    names = {path: path.name if alone[path.name] == 1 else str(path) for path, _ in workbooks}
    # A name in another encoding than UTF-8 is shown as far as it can be.
    gathered = _Gathered({path: name.encode(errors="replace").decode() for path, name in names.items()})
    if buyers_file is not None:
        _take_buyers_file(buyers_file, gathered)
    for path, sheets in workbooks:
        _take_file(path, sheets, gathered)
    as_read = pd.concat(gathered.parts, ignore_index=True).fillna("")
    known = [column for column in COLUMNS if column.name in as_read]
    as_read = as_read[[column.name for column in known] + [name for name in as_read if name not in _NAMES]]
    frame = pd.DataFrame(gathered.places, columns=["file", "sheet", "row"]).astype({"row": np.int64})
    findings = []
    for column in COLUMNS:
        values = (
            as_read[column.name] if column.name in as_read else pd.Series([""] * len(as_read), dtype=object)
        )
        frame[column.name], bad, hints = _typed(column, values)
        if bad.any():
            findings.append(_unreadable(column, values, bad, hints))
    empty = pd.DataFrame({name: [] for name in ("file", *(c.name for c in BUYER_COLUMNS))}, dtype=object)
    buyers = pd.concat([empty, *gathered.buyers], ignore_index=True)
    return Table(frame, as_read, tuple(findings), buyers, tuple(gathered.notes))


_NAMES = {column.name for column in COLUMNS}
