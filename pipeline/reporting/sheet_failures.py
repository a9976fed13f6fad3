"""The sheet Failures: rows to be corrected in place, with whom their buyer columns were filled in for."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pipeline.messages.translate import choice_words, in_every_language, rendered
from pipeline.model.buyer_source import Source, flat
from pipeline.model.columns import COLUMN, COLUMNS, HEADER_FIELDS, Column, Lang
from pipeline.model.message import message, terms
from pipeline.model.result import RunResult
from pipeline.model.result_values import ReasonText
from pipeline.model.shown_cells import shown
from pipeline.model.table import Indices
from pipeline.reporting import links
from pipeline.reporting.cells_at_fault import at_fault
from pipeline.reporting.input_cells import beside, extras, letters_of, shown_cells
from pipeline.reporting.links import Cell, Places, line_number
from pipeline.reporting.reason_lines import reason_lines
from pipeline.reporting.xlsx.book import Book
from pipeline.reporting.xlsx.column_specs import LINE_POINTS, Field, field, lines_of, roomy, vocabulary
from pipeline.reporting.xlsx.row_stream import Block, Rows
from pipeline.reporting.xlsx.styles import FONT
from pipeline.reporting.xlsx.unfit_characters import fit

_OURS = ("reason_no", "status", "row", "reason", "what_to_do", "last_day")
_KEYS = 3
_FROM = ("file", "sheet")
_MOST_NOTES = 5_000  # a program takes long to open more, and of one reason the first say it all
_ADDED_BUYERS = 1_000  # that somebody may write below those that are there
_NOTE_WIDE = 52  # characters
_NOTE = {"x_scale": 3, "font_size": 9, "font_name": FONT}


def add_failures(book: Book, result: RunResult, places: Places) -> None:
    """Write the sheet Failures: what has to be corrected, reason by reason, with every column that may have to be filled in."""
    table, lang, rows = result.table, result.lang, places.rows
    at = np.array(rows.failed, dtype=np.int64)
    asked = [column for column in COLUMNS if column.asked or column.name in table.cells]
    own = extras(table)
    before = [Source.read(text) for text in table.frame["remembered"].to_numpy()[at]]
    filled = {name: _filled(name, result, at, before) for name in HEADER_FIELDS}
    columns = [
        _in_our_words(column, filled.get(column.name) or shown_cells(column.name, table, at), result, at)
        for column in asked
    ]
    other_rows = _other_rows(result, at, rows.having("status_conflict"))
    fields = [
        *(field(name, lang) for name in _OURS),
        *map(roomy, vocabulary(asked, lang), columns),
        *own,
        *([field("status_of_other_rows", lang)] if other_rows else []),
        *(field(name, lang) for name in _FROM),
        replace(field("buyer_source", lang), hidden=True),
    ]
    columns = _marked(asked, columns, [frozenset(_notes(rows.reasons(position))) for position in rows.failed])
    columns += [shown_cells(extra.name, table, at) for extra in own]
    columns += [other_rows] if other_rows else []
    columns += [[values[position] for position in rows.failed] for values in (rows.file, rows.sheet)]
    columns.append(_sources(result, at, before, filled))
    sheets = book.add_rows(
        "Failures", fields, len(at), beside(_failed(places, lang, letters_of(fields)), columns), keys=_KEYS
    )
    _add_notes([sheet for sheet, _ in sheets], fields, places)
    for sheet, count in sheets:
        for name, letters in letters_of(fields).items():
            if count and (offered := _offered(COLUMN[name], result)):
                sheet.data_validation(f"{letters}2:{letters}{count + 1}", offered)


def _offered(column: Column, result: RunResult) -> dict[str, Any]:
    """What a cell's drop-down offers, as in the template: the choices of its column, or the names on the sheet Buyers."""
    title = {"error_title": rendered(message("Please check this cell"), result.lang)}
    if column.choices:
        wrong = message(
            "Choose one of: {choices}.", choices=terms((c.name for c in column.choices), "choice")
        )
        words = [*choice_words(column, result.lang).values()]
        return title | {"validate": "list", "source": words, "error_message": rendered(wrong, result.lang)}
    if column.name == "buyer":
        names = f"$A$2:$A${len(result.table.buyers) + _ADDED_BUYERS}"
        source = f"=OFFSET(Buyers!$A$2,0,0,MAX(1,COUNTA(Buyers!{names})),1)"
        return title | {"validate": "list", "source": source, "error_type": "warning"}
    return {}


def _add_notes(sheets: Sequence[Any], fields: Sequence[Field], places: Places) -> None:
    """Put on the cells to be corrected what is wrong and what to do; of each reason on so many as fit, the first."""
    rows, columns = places.rows, {shown.name: at for at, shown in enumerate(fields) if shown.name in COLUMN}
    most, first = _MOST_NOTES // max(len(rows.causes), 1), 0
    for same in rows.causes.values():
        left = most
        for position, row in enumerate(same, first):
            for column, said in _notes(rows.reasons(row)).items():
                if column in columns and left:
                    left -= 1
                    look = _NOTE | {
                        "height": LINE_POINTS * (1 + sum(lines_of(line, _NOTE_WIDE) for line in said))
                    }
                    at = line_number(position) - 1, columns[column]
                    sheets[position // links.ROOM].write_comment(*at, fit("\n".join(said)), look)
        first += len(same)


def _notes(reasons: Sequence[ReasonText]) -> dict[str, list[str]]:
    """By column whose cell is at fault, the sentences about it, each once."""
    found: dict[str, dict[str, None]] = {}
    for reason in reasons:
        if at_fault(reason):
            found.setdefault(reason.column, {}).update(dict.fromkeys((reason.message, reason.cure)))
    return {column: [*said] for column, said in found.items()}


def _failed(places: Places, lang: Lang, letters: Mapping[str, str]) -> Rows:
    """Why rows failed, and what to do, with links to them."""
    rows = places.rows
    numbers = [number for number, same in enumerate(rows.causes.values(), 1) for _ in same]

    def ours(start: int, stop: int) -> Block:
        failed = rows.failed[start:stop]
        reasons = [rows.reasons(position) for position in failed]
        return [
            numbers[start:stop],
            [rows.status[position] for position in failed],
            [_first_place(rows.number[position], places.row(position)) for position in failed],
            [
                reason_lines(of_row, lang, letters, line_number(at))
                for at, of_row in enumerate(reasons, start)
            ],
            [_cures(of_row) for of_row in reasons],
            [rows.last_day[position] for position in failed],
        ]

    return ours


def _first_place(number: int | None, link: str) -> Any:
    """The number of the row where it stood at first, with a link to it on Rows; blank where it was added on an earlier result."""
    return Cell(number, link) if number else ""


def _filled(name: str, result: RunResult, at: Indices, before: Sequence[Source]) -> list[Any]:
    """A buyer column's cells; the blank ones, and those that an earlier result filled in, with what the rules took from the
    Buyers sheet.
    """
    known: list[str] = result.header[name][at].tolist()
    words = choice_words(COLUMN[name], result.lang)
    place = HEADER_FIELDS.index(name)
    return [
        words.get(value, value) if _blank(cell) or source.filled[place] else cell
        for cell, value, source in zip(shown_cells(name, result.table, at), known, before, strict=True)
    ]


def _blank(cell: Any) -> bool:
    return isinstance(cell, str) and not cell.strip()


def _sources(
    result: RunResult, at: Indices, before: Sequence[Source], filled: Mapping[str, Sequence[Any]]
) -> list[str]:
    """Of the rows at these positions, what the reader is to remember of their buyers.

    `filled` are the buyer columns as Failures has them: what was blank in the input was filled in, as it was `before`.
    """
    table = result.table
    seen = [
        table.cells[name].to_numpy(dtype=object)[at] if name in table.cells else [""] * len(at)
        for name in HEADER_FIELDS
    ]
    wrote = [filled[name] for name in HEADER_FIELDS]
    books = table.frame["book"].to_numpy(dtype=object)[at]
    said = []
    for place, (row, source) in enumerate(zip(at.tolist(), before, strict=True)):
        now = tuple(
            flat(shown(given[place])) if _blank(cell[place]) or old else ""
            for cell, given, old in zip(seen, wrote, source.filled, strict=True)
        )
        buyer = result.found_buyer[row] or source.buyer
        said.append(Source(books[place], flat(buyer), now if buyer else source.filled).text)
    return said


def _other_rows(result: RunResult, at: Indices, conflicting: list[int]) -> list[str]:
    """Of the rows at these positions that conflict in their ticket's status, what rows that are not on Failures say against it: without
    them, corrected or not, nothing would contradict the row that is given back. A row that repeats one of Failures says nothing of its own:
    it is corrected with that one. None of any row: empty.
    """
    if not conflicting:
        return []
    frame, contrary = result.table.frame, {"used": "refunded", "refunded": "used"}
    tickets, said = frame["ticket_no"], frame["ticket_status"]
    failed, status = {*at.tolist()}, result.columns.status
    copies = [row for row, of in result.repeats.items() if of in failed and status[row] == "repeated"]
    elsewhere = np.setdiff1d(np.flatnonzero(tickets.isin(tickets.iloc[conflicting])), [*failed, *copies])
    others = {*zip(tickets.iloc[elsewhere], said.iloc[elsewhere], strict=True)}
    others |= {*zip(tickets.iloc[conflicting], frame["elsewhere"].iloc[conflicting], strict=True)}
    words, against = choice_words(COLUMN["ticket_status"], result.lang), dict[int, str]()
    for row in conflicting:
        other = contrary.get(said.iloc[row])
        if other and (tickets.iloc[row], other) in others:
            against[row] = words[other]
    return [against.get(row, "") for row in at.tolist()] if against else []


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
    words = choice_words(column, result.lang)
    meant: list[Any] = result.table.frame[column.name].astype(object).to_numpy()[at].tolist()
    return [
        words[choice] if choice in words and str(cell).strip().casefold() not in ours[choice] else cell
        for cell, choice in zip(cells, meant, strict=True)
    ]


def _marked(
    asked: Sequence[Column], columns: list[list[Any]], wrong: Sequence[frozenset[str]]
) -> list[list[Any]]:
    """The columns, with the cells marked that are wrong: of each row the names of its columns."""
    return [
        [
            Cell(value, marked=True) if column.name in names else value
            for value, names in zip(cells, wrong, strict=True)
        ]
        if any(column.name in names for names in wrong)
        else cells
        for column, cells in zip(asked, columns, strict=True)
    ]


def _cures(reasons: Sequence[ReasonText]) -> str:
    return "\n".join(dict.fromkeys(reason.cure for reason in reasons))
