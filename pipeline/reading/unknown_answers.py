"""People's answers about unknown outcomes, read back from the Unknown sheets of our own workbooks."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pipeline.messages.translate import in_every_language
from pipeline.model.errors import InputProblem
from pipeline.model.evidence import Answer
from pipeline.model.message import Message, Private, Term, message
from pipeline.model.places import row_at
from pipeline.reading import cells
from pipeline.reading.cell_words import folded
from pipeline.reading.input_files import read_sheets, refuse_far
from pipeline.reading.sheet import Sheet, is_blank

_NEEDED = ("ledger", "request", "attempt", "resolution", "number", "resolved_by", "evidence")
_WORDS = {folded(word): name for name in _NEEDED for word in in_every_language(name, "column")}
_UNKNOWN = re.compile(r"Unknown( [0-9]+)?")


def _columns(sheet: Sheet) -> dict[str, int]:
    """The positions of an Unknown sheet's columns; fewer than needed where it is none."""
    return (
        {_WORDS[folded(cell)]: at for at, cell in enumerate(sheet.rows[0]) if folded(cell) in _WORDS}
        if sheet.rows
        else {}
    )


def unknown_sheets(sheets: Sequence[Sheet]) -> list[tuple[Sheet, dict[str, int]]]:
    """The Unknown sheets of a workbook of ours, with their columns."""
    found = [(sheet, _columns(sheet)) for sheet in sheets if _UNKNOWN.fullmatch(sheet.name)]
    return [(sheet, columns) for sheet, columns in found if columns.keys() >= set(_NEEDED)]


def read_answers(path: Path) -> list[Answer]:
    """The answers in a workbook's Unknown sheet, in its order; lines that are left blank are none.

    Raises InputProblem if it has no such sheet. An answer with a cell that can't be read says so in its `problem`.
    """
    return answers_of(path, read_sheets(path))


def answers_of(path: Path, sheets: Sequence[Sheet]) -> list[Answer]:
    """The answers in sheets that are read already."""
    found = unknown_sheets(sheets)
    if not found:
        raise InputProblem(
            "{file}: has no sheet Unknown with the columns request, attempt and resolution; give the result workbook in"
            " which the answers were filled in, as it was saved",
            file=str(path),
        )
    refuse_far(path, sheets)
    return [answer for sheet, columns in found for answer in _answers(path, sheet, columns)]


def _answers(path: Path, sheet: Sheet, columns: dict[str, int]) -> Iterator[Answer]:
    for index, row in enumerate(sheet.rows[1:], start=1):
        place = row_at(path.name, sheet.name, sheet.first_row + index + 1)
        given = {name: row[at] if at < len(row) else "" for name, at in columns.items()}
        number, problem = _number(given["number"])
        request, attempt = _text(given["request"]), _attempt(given["attempt"])
        if not request:
            problem = message("the request is blank; restore that cell as the result had it")
        elif not attempt:
            problem = message(
                "the attempt is not as the result had it (“{attempt}”); restore that cell",
                attempt=Private(_text(given["attempt"])),
            )
        if is_blank(given["resolution"]):
            filled = [name for name in ("number", "resolved_by", "evidence") if not is_blank(given[name])]
            if not filled:
                continue
            problem = message(
                "has {column} but no resolution; enter “issued” or “not issued”, or clear the line",
                column=Term(filled[0]),
            )
        yield Answer(
            _text(given["ledger"]), request, attempt, _text(given["resolution"]),
            number, _text(given["resolved_by"]), _text(given["evidence"]), place, problem,
        )  # fmt: skip


def _text(cell: Any) -> str:
    return "" if isinstance(cell, bytes) else cells.text(cell)


def _attempt(cell: Any) -> int:
    """An attempt's number, 0 for what is none."""
    text = _text(cell).removesuffix(".0")
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _number(cell: Any) -> tuple[str, Message | None]:
    """(the voucher's number, what is wrong with it)."""
    if isinstance(cell, float) and abs(cell) >= 10**15:
        return "", message(
            "the number was spoilt by the spreadsheet, which keeps 15 digits; format the cell as text and enter it again"
        )
    return re.sub(r"\s", "", _text(cell)), None
