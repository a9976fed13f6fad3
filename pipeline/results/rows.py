"""The sheets of input rows: Rows, with all of them as they were read, and Failures, to be corrected in place."""

import datetime
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from pipeline.account import Account, RowAccount
from pipeline.columns import (
    BUYER_COLUMNS,
    COLUMN,
    COLUMNS,
    FEE_COLUMNS,
    HEADER_FIELDS,
    HEADER_TYPES,
    ORDER_TYPE,
    RESULT_HEADINGS,
    Column,
    Kind,
    Lang,
)
from pipeline.reasons import REASON
from pipeline.results.buyers import buyer_lines, needs_buyers, sources
from pipeline.results.fields import Field, field, roomy, vocabulary, width_of
from pipeline.results.formats import Style
from pipeline.results.links import Cell, Places
from pipeline.results.sheets import Book
from pipeline.table import MINOR, Indices, Table

_FAILURES = ("status", "row", "reason", "what_to_do", "last_day")
_FAILURE_KEYS = 2
_FROM = ("file", "sheet")
_ROWS = (*_FROM, "row", "status", "number", "reason", "request", "last_day")
_ROW_KEYS = 3
_WRITTEN_IF_READ = (*FEE_COLUMNS, ORDER_TYPE)  # nobody has to fill these in

_KNOWN = {word.casefold() for column in COLUMNS for word in (column.name, column.zh, *column.variants)}


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
    seen: list[Any] = table.cells[name].to_numpy(dtype=object)[at].tolist()
    kind = COLUMN[name].kind if name in COLUMN else Kind.TEXT
    if kind is Kind.MONEY:
        minors = table.frame[name].to_numpy()[at].tolist()
        return [
            minor / MINOR if isinstance(cell, str) and minor else cell
            for cell, minor in zip(seen, minors, strict=True)
        ]
    if kind is Kind.DATE:
        days = table.frame[name].to_numpy()[at].astype("datetime64[D]").astype(object).tolist()
        return [_date(cell, day) for cell, day in zip(seen, days, strict=True)]
    return seen


def _date(cell: Any, day: datetime.date | None) -> Any:
    return day if isinstance(cell, str) and day is not None else cell


def _filled(name: str, account: Account, at: Indices) -> list[Any]:
    """A buyer column's cells, the blank ones with what the rules took from the Buyers sheet."""
    known: list[str] = account.header[name][at].tolist()
    if name == "header_type":
        words = {choice.name: choice.word(account.lang) for choice in HEADER_TYPES}
        known = [words.get(value, value) for value in known]
    seen = _shown(name, account.table, at)
    return [
        value if isinstance(cell, str) and not cell.strip() else cell
        for cell, value in zip(seen, known, strict=True)
    ]


def _in_our_words(column: Column, cells: list[Any], account: Account, at: Indices) -> list[Any]:
    """Cells of a column of choices, a team's own words for them as ours: its mapping may not be there again."""
    if not column.choices:
        return cells
    ours = {
        choice.name: {word.casefold() for word in (choice.name, choice.zh, *choice.variants)}
        for choice in column.choices
    }
    words = {choice.name: choice.word(account.lang) for choice in column.choices}
    meant: list[Any] = account.table.frame[column.name].astype(object).to_numpy()[at].tolist()
    return [
        words[choice] if choice in words and str(cell).strip().casefold() not in ours[choice] else cell
        for cell, choice in zip(cells, meant, strict=True)
    ]


def reason_lines(row: RowAccount, lang: Lang) -> str:
    """Every reason that applies to a row, its own status's first: its cell, what is said of it, and its code."""
    colon = "：" if lang == "zh" else ": "
    return "\n".join(
        f"{reason.cell}{colon if reason.cell else ''}{reason.message} [{reason.code}]"
        for reason in row.reasons
    )


def _to_correct(row: RowAccount) -> frozenset[str]:
    """The columns whose cells a person has to correct."""
    return frozenset(r.column for r in row.reasons if REASON[r.code].status == "invalid")


def _cures(row: RowAccount) -> str:
    return "\n".join(dict.fromkeys(reason.cure for reason in row.reasons))


def _beside(rows: Iterable[tuple[Any, ...]], columns: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    return ((*ours, *theirs) for ours, theirs in zip(rows, zip(*columns, strict=True), strict=True))


def add_failures(book: Book, account: Account, places: Places) -> None:
    """Write the sheet Failures: what has to be corrected, with every column that may have to be filled in."""
    table, lang = account.table, account.lang
    failed = [row for row in account.rows if row.failed]
    at = np.array([row.index for row in failed], dtype=np.int64)
    extras = _extras(table)
    asked = [column for column in COLUMNS if column not in _WRITTEN_IF_READ or column.name in table.cells]
    filled = {name: _filled(name, account, at) for name in HEADER_FIELDS}
    columns = [filled[c.name] if c.name in filled else _shown(c.name, table, at) for c in asked]
    columns = [_in_our_words(c, cells, account, at) for c, cells in zip(asked, columns, strict=True)]
    fields = [
        *(field(name, lang) for name in _FAILURES),
        *map(roomy, vocabulary(asked, lang), columns),
        *extras,
        *(field(name, lang) for name in (*_FROM, "buyer_source")),
    ]
    columns += [_shown(extra.name, table, at) for extra in extras]
    wrong = [_to_correct(row) for row in failed]
    for position, column in enumerate(asked):
        if any(column.name in names for names in wrong):
            columns[position] = [
                Cell(value, marked=True) if column.name in names else value
                for value, names in zip(columns[position], wrong, strict=True)
            ]
    columns += [[row.file for row in failed], [row.sheet for row in failed]]
    columns += [sources(account, at, filled)]
    ours = (
        (row.status, Cell(row.row, places.row(row.index)), reason_lines(row, lang), _cures(row), row.last_day)
        for row in failed
    )
    book.add_rows("Failures", fields, _beside(ours, columns), keys=_FAILURE_KEYS)


def add_buyers(book: Book, account: Account, _places: Places) -> None:
    """Write the sheet Buyers, where a buyer has to be corrected: those that Failures may name instead."""
    if needs_buyers(account):
        fields = [*vocabulary(BUYER_COLUMNS, account.lang), field("buyer_source", account.lang)]
        book.add_rows("Buyers", fields, buyer_lines(account))


def _ours(row: RowAccount, places: Places, lang: Lang) -> tuple[Any, ...]:
    """What became of a row, with links to where it can be corrected and to its request."""
    remedy = places.remedy(row)
    # Issued, but with other contents: a person has to look at it, which green would hide.
    tone = "warn" if any(reason.code == "differs_from_issued" for reason in row.reasons) else ""
    asked = row.request_ids
    request: Any = ", ".join(asked)  # not by lines: LibreOffice runs them together in a link
    if asked and (link := places.requests.get(asked[0])):
        request = Cell(request, link)
    return (
        row.file,
        row.sheet,
        row.row,
        Cell(row.status, remedy, tone=tone) if remedy or tone else row.status,
        "\n".join(row.numbers),
        reason_lines(row, lang),
        request,
        row.last_day,
    )


def add_all_rows(book: Book, account: Account, places: Places) -> None:
    """Write the sheet Rows: every input row in its order, with what became of it."""
    table, lang = account.table, account.lang
    at = np.arange(len(table), dtype=np.int64)
    present = [column for column in COLUMNS if column.name in table.cells]
    extras = _extras(table)
    columns = [_shown(name, table, at) for name in (*(c.name for c in present), *(e.name for e in extras))]
    named = map(roomy, vocabulary(present, lang), columns)
    fields = [*(field(name, lang) for name in _ROWS), *named, *extras]
    ours = (_ours(row, places, lang) for row in account.rows)
    book.add_rows("Rows", fields, _beside(ours, columns), keys=_ROW_KEYS)
