"""The sheets of input rows: Rows, with all of them as they were read, and Failures, to be corrected in place."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pipeline.messages.translate import RESULT_HEADINGS, choice_word, in_every_language, rendered
from pipeline.model.columns import (
    BUYER_COLUMNS,
    COLUMN,
    COLUMNS,
    FEE_COLUMNS,
    HEADER_FIELDS,
    HEADER_TYPES,
    ORDER_TYPE,
    Column,
    Kind,
    Lang,
)
from pipeline.model.message import message
from pipeline.model.result import ReasonText, RunResult
from pipeline.model.status import STATUS_OF
from pipeline.model.table import MINOR, Indices, Table
from pipeline.reporting.links import Cell, Places
from pipeline.reporting.sheet_buyers import buyer_lines, needs_buyers, sources
from pipeline.reporting.xlsx.book import Book
from pipeline.reporting.xlsx.column_specs import (
    Field,
    field,
    roomy,
    vocabulary,
    width_of,
)
from pipeline.reporting.xlsx.row_stream import Block, Rows, by_column
from pipeline.reporting.xlsx.styles import Style

_FAILURES = ("status", "row", "reason", "what_to_do", "last_day")
_FAILURE_KEYS = 2
_FROM = ("file", "sheet")
_ROWS = (*_FROM, "row", "status", "number", "reason", "request", "last_day")
_ROW_KEYS = 3
_WRITTEN_IF_READ = (*FEE_COLUMNS, ORDER_TYPE)  # nobody has to fill these in

_KNOWN = {
    word.casefold()
    for column in COLUMNS
    for word in (*in_every_language(column.name, "column"), *column.variants)
}


def extra_heading(heading: str) -> str:
    """An input's own heading as we write it: never one of ours, so that the file can be read again.

    >>> extra_heading("cost_centre"), extra_heading("status")
    ('cost_centre', 'status (input)')
    """
    if heading in RESULT_HEADINGS:
        return f"{heading} (input)"
    # With brackets at its end the reader would take it for the column, in a unit.
    return f"input: {heading}" if heading.casefold() in _KNOWN else heading


def _extras(table: Table) -> list[Field]:
    names = [str(name) for name in table.cells if name not in COLUMN]
    return [Field(name, extra_heading(name), Style.TEXT, width_of(table.cells[name])) for name in names]


def _shown(name: str, table: Table, at: Indices) -> list[Any]:
    """A column's cells as they were read, except that a text which is money or a date becomes one.

    (A CSV file has nothing but texts.) What can't be read stays as it was.
    """
    if name not in table.cells:
        return [""] * len(at)
    cells: list[Any] = table.cells[name].to_numpy(dtype=object)[at].tolist()
    kind = COLUMN[name].kind if name in COLUMN else Kind.TEXT
    if kind not in (Kind.MONEY, Kind.DATE):
        return cells
    texts = [place for place, cell in enumerate(cells) if isinstance(cell, str) and cell]
    meant = table.frame[name].to_numpy()[at[texts]]
    if kind is Kind.MONEY:
        read: list[Any] = [minor / MINOR if minor else None for minor in meant.tolist()]
    else:
        read = meant.astype("datetime64[D]").astype(object).tolist()
    for place, value in zip(texts, read, strict=True):
        if value is not None:
            cells[place] = value
    return cells


def _filled(name: str, result: RunResult, at: Indices) -> list[Any]:
    """A buyer column's cells, the blank ones with what the rules took from the Buyers sheet."""
    known: list[str] = result.header[name][at].tolist()
    if name == "header_type":
        words = {choice.name: choice_word(choice.name, result.lang) for choice in HEADER_TYPES}
        known = [words.get(value, value) for value in known]
    seen = _shown(name, result.table, at)
    return [
        value if isinstance(cell, str) and not cell.strip() else cell
        for cell, value in zip(seen, known, strict=True)
    ]


def _in_our_words(column: Column, cells: list[Any], result: RunResult, at: Indices) -> list[Any]:
    """Cells of a column of choices, a team's own words for them as ours: its mapping may not be there again."""
    if not column.choices:
        return cells
    ours = {
        choice.name: {
            word.casefold() for word in (*in_every_language(choice.name, "choice"), *choice.variants)
        }
        for choice in column.choices
    }
    words = {choice.name: choice_word(choice.name, result.lang) for choice in column.choices}
    meant: list[Any] = result.table.frame[column.name].astype(object).to_numpy()[at].tolist()
    return [
        words[choice] if choice in words and str(cell).strip().casefold() not in ours[choice] else cell
        for cell, choice in zip(cells, meant, strict=True)
    ]


def reason_lines(reasons: Sequence[ReasonText], lang: Lang) -> str:
    """Every reason that applies to a row, its own status's first: its cell, what is said of it, and its code."""
    if not reasons:
        return ""
    return "\n".join(
        f"{_of_cell(reason, lang)} [{reason.code}]" if reason.cell else f"{reason.message} [{reason.code}]"
        for reason in reasons
    )


def _of_cell(reason: ReasonText, lang: Lang) -> str:
    return rendered(message("{place}: {note}", place=reason.cell, note=reason.message), lang)


def _to_correct(reasons: Sequence[ReasonText]) -> frozenset[str]:
    """The columns whose cells a person has to correct."""
    return frozenset(r.column for r in reasons if STATUS_OF[r.code] == "invalid")


def _cures(reasons: Sequence[ReasonText]) -> str:
    return "\n".join(dict.fromkeys(reason.cure for reason in reasons))


def _beside(ours: Rows, columns: Sequence[Sequence[Any]]) -> Rows:
    """What became of the rows, and then their own columns."""
    return lambda start, stop: [*ours(start, stop), *(column[start:stop] for column in columns)]


def add_failures(book: Book, result: RunResult, places: Places) -> None:
    """Write the sheet Failures: what has to be corrected, with every column that may have to be filled in."""
    table, lang, failed = result.table, result.lang, places.rows.failed
    at = np.array(failed, dtype=np.int64)
    extras = _extras(table)
    asked = [column for column in COLUMNS if column not in _WRITTEN_IF_READ or column.name in table.cells]
    filled = {name: _filled(name, result, at) for name in HEADER_FIELDS}
    columns = [filled[c.name] if c.name in filled else _shown(c.name, table, at) for c in asked]
    columns = [_in_our_words(c, cells, result, at) for c, cells in zip(asked, columns, strict=True)]
    fields = [
        *(field(name, lang) for name in _FAILURES),
        *map(roomy, vocabulary(asked, lang), columns),
        *extras,
        *(field(name, lang) for name in (*_FROM, "buyer_source")),
    ]
    columns += [_shown(extra.name, table, at) for extra in extras]
    wrong = [_to_correct(places.rows.reasons(position)) for position in failed]
    for position, column in enumerate(asked):
        if any(column.name in names for names in wrong):
            columns[position] = [
                Cell(value, marked=True) if column.name in names else value
                for value, names in zip(columns[position], wrong, strict=True)
            ]
    columns += [[places.rows.file[position] for position in failed]]
    columns += [[places.rows.sheet[position] for position in failed]]
    columns += [sources(result, at, filled)]
    rows = _beside(_failed(places, lang), columns)
    book.add_rows("Failures", fields, len(failed), rows, keys=_FAILURE_KEYS)


def _failed(places: Places, lang: Lang) -> Rows:
    """Why rows failed, and what to do, with links to them."""
    rows = places.rows

    def ours(start: int, stop: int) -> Block:
        failed = rows.failed[start:stop]
        reasons = [rows.reasons(position) for position in failed]
        return [
            [rows.status[position] for position in failed],
            [Cell(rows.number[position], places.row(position)) for position in failed],
            [reason_lines(of_row, lang) for of_row in reasons],
            [_cures(of_row) for of_row in reasons],
            [rows.last_day[position] for position in failed],
        ]

    return ours


def add_buyers(book: Book, result: RunResult, places: Places) -> None:
    """Write the sheet Buyers, where a row may be given another buyer: those that Failures may name."""
    if needs_buyers(result, places.rows):
        fields = [*vocabulary(BUYER_COLUMNS, result.lang), field("buyer_source", result.lang)]
        book.add_rows("Buyers", fields, len(result.table.buyers), by_column(buyer_lines(result)))


def _outcomes(places: Places, lang: Lang) -> Rows:
    """What became of every row, with links to where it can be corrected and to its request."""
    rows = places.rows
    # Issued, but with other contents: a person has to look at it, which green would hide.
    tones = dict.fromkeys(rows.having("differs_from_issued"), "warn")

    def ours(start: int, stop: int) -> Block:
        return [
            rows.file[start:stop],
            rows.sheet[start:stop],
            rows.number[start:stop],
            [_status(position, places, tones.get(position, "")) for position in range(start, stop)],
            rows.vouchers[start:stop],
            [reason_lines(rows.reasons(position), lang) for position in range(start, stop)],
            [_request(asked, places) for asked in rows.requests[start:stop]],
            rows.last_day[start:stop],
        ]

    return ours


def _status(position: int, places: Places, tone: str) -> Any:
    status, remedy = places.rows.status[position], places.remedy(position)
    return Cell(status, remedy, tone=tone) if remedy or tone else status


def _request(asked: Sequence[str], places: Places) -> Any:
    shown = ", ".join(asked)  # not by lines: LibreOffice runs them together in a link
    link = places.requests.get(asked[0]) if asked else None
    return Cell(shown, link) if link else shown


def add_all_rows(book: Book, result: RunResult, places: Places) -> None:
    """Write the sheet Rows: every input row in its order, with what became of it."""
    table, lang = result.table, result.lang
    at = np.arange(len(table), dtype=np.int64)
    present = [column for column in COLUMNS if column.name in table.cells]
    extras = _extras(table)
    columns = [_shown(name, table, at) for name in (*(c.name for c in present), *(e.name for e in extras))]
    named = map(roomy, vocabulary(present, lang), columns)
    fields = [*(field(name, lang) for name in _ROWS), *named, *extras]
    book.add_rows("Rows", fields, len(table), _beside(_outcomes(places, lang), columns), keys=_ROW_KEYS)
