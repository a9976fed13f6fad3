"""Separated values, with one of the separators that programs save them with; their encoding: `text_encodings`."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise, starmap
from typing import Any

from pipeline.reading.formats.column_letters import column_letters
from pipeline.reading.formats.columnar import Columns
from pipeline.reading.formats.refusal import Refusal, Seen
from pipeline.reading.formats.sheet_bounds import LARGEST_AREA, SPARSE, SPARSE_AREA
from pipeline.reading.formats.text_encodings import certain_text, of_no_encoding, possible_texts

SEPARATORS = ",\t;|"
#: What a spreadsheet's own cell holds at most.
LONGEST_CELL = 32_767

_SAID = re.compile(r"\s*\"?sep=(.)\"?\s*?(?:\r\n|\n|\r)")
_TICKET = re.compile(r"\s*[0-9]{3}[- ]?[0-9]{10}\s*")
_BEFORE_COMMA = re.compile(r"[^0-9]{0,4}[0-9]{1,3}(?:\.[0-9]{3})*")
_AFTER_COMMA = re.compile(r"[0-9]{3}(?:\.[0-9]{1,2})?[^0-9]{0,4}|[0-9]{1,2}[^0-9]{0,4}")
_SAMPLE_CHARACTERS = 100_000
_SAMPLE_ROWS = 50


def readings(content: bytes, name: str) -> dict[str, Any]:
    """The one sheet of the file: once where its encoding is certain, else once for each that it may be in."""
    text = certain_text(content, f"\r\n{SEPARATORS}")
    if b"\x00" in content if text is None else "\x00" in text:
        raise Refusal("damaged", Seen.NUL_BYTES)
    if text is not None:
        return {"readings": [[_sheet(text, name)]], "certain": True}
    found, problems = [], []
    for text in possible_texts(content):
        try:
            found.append([_sheet(text, name)])
        except Refusal as refusal:
            problems.append(refusal)
    if not found:
        raise problems[0] if problems else of_no_encoding(content)
    return {**of_no_encoding(content).answer(), "readings": found, "certain": False}


def _sheet(text: str, name: str) -> dict[str, Any]:
    """The text's rows. A quoted line break makes one row of several lines; the spreadsheet program counts so too."""
    csv.field_size_limit(LONGEST_CELL)
    if said := _SAID.match(text):  # a line for the spreadsheet program, which does not show it
        text, separator = text[said.end() :], said[1]
    else:
        separator = _separator(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    columns = Columns()
    try:
        columns.take(_bounded(_whole_lines(reader, separator)))
    except csv.Error as error:
        seen = Seen.LONG_CELL if "field larger" in str(error) else Seen.LINE
        raise Refusal("damaged", seen, line=reader.line_num) from error
    return {"name": name, "visible": True, "first_row": 0, "first_column": 0, **columns.handed_over()}


def _whole_lines(reader: Any, separator: str) -> Iterator[list[str]]:
    """The rows. Raises Refusal for a cell with line breaks that holds rows of other tickets, and for a number that its own comma parted.

    Two stray quotation marks, each in another line, make one cell of all that stands between them: those rows would be
    lost, and their passengers' data be printed on somebody's voucher as a remark. Texts of two lines are left alone.
    An amount of 1,234.50 without quotation marks is two cells, of which the first would be the amount: its row is longer than the headings.
    """
    before = above = 0  # above: the width of what stands above the first ticket, its headings
    tickets = False
    for number, row in enumerate(reader, start=1):
        tickets = tickets or any(map(_TICKET.fullmatch, row))
        above = above if tickets else max(above, len(row))
        if above and len(row) > above and any(starmap(_is_parted, pairwise(row))):
            raise Refusal("parted", Seen.PARTED, line=reader.line_num)
        if reader.line_num - before > 1:
            for at, cell in enumerate(row):
                lines = (line.split(separator) for line in cell.splitlines()[1:])
                if any(
                    2 * len(line) >= max(len(row), 4) and any(map(_TICKET.fullmatch, line)) for line in lines
                ):
                    raise Refusal(
                        "swallowed",
                        Seen.SWALLOWED,
                        line=before + 1,
                        last=reader.line_num,
                        cell=f"{column_letters(at)}{number}",
                    )
        before = reader.line_num
        yield row


def _is_parted(cell: str, after: str) -> bool:
    """Whether two cells may be one number: 1,234.50 or, as many countries write it, 617,25."""
    return bool(_BEFORE_COMMA.fullmatch(cell) and _AFTER_COMMA.fullmatch(after))


def _bounded(rows: Iterable[list[str]]) -> Iterator[list[str]]:
    area = width = 0
    for number, row in enumerate(rows, start=1):
        area, width = area + len(row) + 1, max(width, len(row))
        if area > LARGEST_AREA:
            raise Refusal("too_large", Seen.CELLS, count=LARGEST_AREA)
        if (spans := number * width) > SPARSE_AREA and area * SPARSE < spans:
            raise Refusal("too_large", Seen.ROW_CELLS, count=width)
        yield row


def _separator(text: str) -> str:
    """The separator that gives the most rows of one width: commas in amounts come and go, columns don't."""
    return max(SEPARATORS, key=lambda separator: _regular(text, separator))


def _regular(text: str, separator: str) -> tuple[int, int]:
    """How many rows have the most frequent width of more than one cell, and that width."""
    widths: Counter[int] = Counter()
    reader = csv.reader(io.StringIO(text[:_SAMPLE_CHARACTERS], newline=""), delimiter=separator)
    try:
        for row in reader:
            widths[len(row)] += bool(row)
            if widths.total() == _SAMPLE_ROWS:
                break
    except csv.Error:  # what was seen until then counts; reading the whole tells of it
        pass
    return max(((times, width) for width, times in widths.items() if width > 1), default=(0, 0))
