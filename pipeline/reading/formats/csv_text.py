"""Separated values: a text in one of the encodings and with one of the separators that programs save them in.

UTF-8 and UTF-16 can be told from the bytes. GB18030 and Big5 can't: nearly any bytes are a text in either. So both
are handed over, and whoever knows the headings chooses the one in which they make sense.
"""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from pipeline.reading.formats.columnar import Columns
from pipeline.reading.formats.prescan import SPARSE, SPARSE_AREA
from pipeline.reading.formats.refusal import Refusal, Seen

SEPARATORS = ",\t;|"
#: What a spreadsheet's own cell holds at most.
LONGEST_CELL = 32_767
LARGEST_AREA = 64_000_000

#: Told by headings alone; the more frequent first.
_CHINESE = ("gb18030", "big5hkscs")
_SAID = re.compile(r"\s*\"?sep=(.)\"?\s*?(?:\r\n|\n|\r)")
_SAMPLE_CHARACTERS = 100_000
_SAMPLE_ROWS = 50


def readings(content: bytes, name: str) -> dict[str, Any]:
    """The one sheet of the file: once where its encoding is certain, else once for each that it may be in."""
    text = _certain(content)
    if text is not None:
        return {"readings": [[_sheet(text, name)]], "certain": True}
    found, problems = [], []
    for encoding in _CHINESE:
        try:
            found.append([_sheet(content.decode(encoding), name)])
        except UnicodeDecodeError:
            continue
        except Refusal as refusal:
            problems.append(refusal)
    if not found:
        raise problems[0] if problems else _of_no_encoding(content)
    return {**_of_no_encoding(content).answer(), "readings": found, "certain": False}


def start_of(content: bytes) -> str:
    """The text's beginning as far as it can be told, to see whether it is a web page."""
    head = content[:4096]
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if head.startswith(mark):
            return head.decode(encoding, errors="replace").strip()
    return head.removeprefix(codecs.BOM_UTF8).replace(b"\x00", b"").decode("latin-1").strip()


def _certain(content: bytes) -> str | None:
    """The text, where the bytes themselves tell its encoding; None where they don't."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _decoded(content, "utf-16")
    if encoding := _plain_utf16(content):
        return _decoded(content, encoding)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def _decoded(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise Refusal("damaged", Seen.TEXT_ENDS, byte=error.start + 1) from error


def _plain_utf16(content: bytes) -> str:
    """UTF-16 without its mark: each line break and separator has a zero byte, always on the same side."""
    sample = content[:65_536]
    if b"\x00" not in sample:
        return ""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if min(even, odd) or len(content) % 2:
        return ""
    encoding = "utf-16-le" if odd else "utf-16-be"
    text = sample.decode(encoding, errors="replace")
    return encoding if any(sign in text for sign in f"\r\n{SEPARATORS}") else ""


def _of_no_encoding(content: bytes) -> Refusal:
    """The refusal of a text that is not UTF-8, and of which nothing tells what it is."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        return Refusal("encoding", Seen.BYTE, byte=error.start + 1)
    return Refusal("encoding")


def _sheet(text: str, name: str) -> dict[str, Any]:
    """The text's rows. A quoted line break makes one row of several lines; the spreadsheet program counts so too."""
    if "\x00" in text:
        raise Refusal("damaged", Seen.NUL_BYTES)
    csv.field_size_limit(LONGEST_CELL)
    if said := _SAID.match(text):  # a line for the spreadsheet program, which does not show it
        text, separator = text[said.end() :], said[1]
    else:
        separator = _separator(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    columns = Columns()
    try:
        columns.take(_bounded(reader))
    except csv.Error as error:
        seen = Seen.LONG_CELL if "field larger" in str(error) else Seen.LINE
        raise Refusal("damaged", seen, line=reader.line_num) from error
    place = {"first_row": 0, "first_column": 0, "height": columns.height}
    return {"name": name, "visible": True, **place, "columns": columns.handed_over()}


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
