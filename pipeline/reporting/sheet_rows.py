"""The sheet Rows: every input row in its order, with what became of it."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pipeline.model.columns import COLUMNS, Lang
from pipeline.model.result import RunResult
from pipeline.reporting.input_cells import beside, extras, letters_of, shown_cells
from pipeline.reporting.links import Cell, Places, line_number
from pipeline.reporting.reason_lines import reason_lines
from pipeline.reporting.xlsx.book import Book
from pipeline.reporting.xlsx.column_specs import field, roomy, vocabulary
from pipeline.reporting.xlsx.row_stream import Block, Rows

_OURS = ("file", "sheet", "row", "status", "number", "reason", "request", "last_day")
_KEYS = 3


def add_all_rows(book: Book, result: RunResult, places: Places) -> None:
    """Write the sheet Rows: every input row in its order, with what became of it."""
    table, lang = result.table, result.lang
    at = np.arange(len(table), dtype=np.int64)
    present, own = [column for column in COLUMNS if column.name in table.cells], extras(table)
    names = (*(column.name for column in present), *(extra.name for extra in own))
    columns = [shown_cells(name, table, at) for name in names]
    fields = [*(field(name, lang) for name in _OURS), *map(roomy, vocabulary(present, lang), columns), *own]
    book.add_rows(
        "Rows", fields, len(table), beside(_outcomes(places, lang, letters_of(fields)), columns), keys=_KEYS
    )


def _outcomes(places: Places, lang: Lang, letters: Mapping[str, str]) -> Rows:
    """What became of every row, with links to where it can be corrected and to its request."""
    rows = places.rows
    # Issued, but with other contents: a person has to look at it, which green would hide.
    tones = dict.fromkeys(rows.having("differs_from_issued"), "warn")

    looked_into = places.looked_into() | tones.keys()
    request = functools.cache(lambda asked: _request(asked, places))  # that of one row is others' too

    def ours(start: int, stop: int) -> Block:
        return [
            rows.file[start:stop],
            rows.sheet[start:stop],
            rows.number[start:stop],
            [
                _status(position, places, tones.get(position, "")) if position in looked_into else status
                for position, status in enumerate(rows.status[start:stop], start)
            ],
            rows.vouchers[start:stop],
            [
                reason_lines(reasons, lang, letters, line_number(position))
                if (reasons := rows.reasons(position))
                else ""
                for position in range(start, stop)
            ],
            list(map(request, rows.requests[start:stop])),
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
