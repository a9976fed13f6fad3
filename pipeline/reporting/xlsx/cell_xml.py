"""Cells as the XML of a sheet (ECMA-376 part 1, 18.3.1): the one place where it is written.

What comes in is a value as `cell_values.Cells` shows it, and how it looks in the package; what goes out are `<c>`
elements, `<row>` elements made of them, and `<hyperlink>` elements. A text is always a text: it stands in its cell
("inlineStr"), whole, without what no cell can hold. A number comes back to the last bit.
"""

import functools
import re
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from openpyxl.utils import datetime as days

from pipeline.reporting.xlsx.unfit_characters import LONGEST, fit

#: In the XML of a cell, where the number of its row goes: a character that no text in a workbook has.
ROW = "\0"

#: Where a text is parted: readers differ in whether they take _x0041_ for an "A".
_TRAP = re.compile(r"(?<=_)(?=x[0-9a-fA-F]{4}_)")

_SPECIAL = re.compile(r"[&<>_]|^\s|\s$")  # as few texts have
# Of printable texts that have "|" before, between and behind them.
_SPECIAL_AMONG = ("&", "<", ">", "_", "| ", " |")
_UNQUOTED = ("&", "<", ">", '"', "\n", "\t")
_IN_QUOTES = {'"': "&quot;", "\n": "&#10;", "\t": "&#9;"}


class CellLook(NamedTuple):
    """How a cell looks: the number of its style in the package, and that style's font, as a text's part tells it."""

    style: str
    font: str


def cell_xml(column: str, value: Any, look: CellLook) -> str:
    """A cell of the column with these letters, in the row ROW; "" for a text of which nothing can be shown.

    The value is None, a text, a finite number, or a day or time.
    """
    start = f'<c r="{column}{ROW}" s="{look.style}"'
    if isinstance(value, str):
        text = fit(value)
        return f'{start} t="inlineStr"><is>{_text(text, look.font)}</is></c>' if text else ""
    return f"{start}/>" if value is None else f"{start}><v>{_number(value)}</v></c>"


def texts_xml(column: str, texts: Sequence[str], look: CellLook) -> list[str] | None:
    """Texts as `cell_xml` would write each, all at once; None where one of them has to be looked at."""
    together = f"|{'|'.join(texts)}|"
    if not together.isprintable() or _any(_SPECIAL_AMONG, together) or 2 * max(map(len, texts)) > LONGEST:
        return None
    start, end = f'<c r="{column}{ROW}" s="{look.style}" t="inlineStr"><is><t>', "</t></is></c>"
    return [start + text + end if text else "" for text in texts]


def numbers_xml(column: str, numbers: Sequence[float], look: CellLook) -> list[str]:
    """Finite numbers as `cell_xml` would write each."""
    start, end = f'<c r="{column}{ROW}" s="{look.style}"><v>', "</v></c>"
    return [f"{start}{number!r}".removesuffix(".0") + end for number in numbers]


def link_xml(cell: str, place: str, shown: Any) -> str:
    """What makes a cell a link to a place of the same workbook ("internal:…"); `shown` is what stands in it."""
    text = fit(shown) if isinstance(shown, str) else " "
    return f'<hyperlink ref="{cell}" location="{_quoted(place.removeprefix("internal:"))}" display="{_quoted(text)}"/>'


def links_xml(column: str, first: int, places: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Links of a column's cells from the row `first` on, as `link_xml` would write each; the texts are such as `texts_xml` takes."""
    each = enumerate(zip(places, texts, strict=True), first)
    if _any(_UNQUOTED, "".join([*places, *texts])):
        return [link_xml(f"{column}{number}", *link) for number, link in each]
    return [
        f'<hyperlink ref="{column}{number}" location="{place.removeprefix("internal:")}" display="{text}"/>'
        for number, (place, text) in each
    ]


def rows_xml(first: int, columns: Sequence[Iterable[str]], heights: Iterable[float | None]) -> bytes:
    """Rows from the number `first` on, out of the XML of their cells by column; a height of None is the usual one."""
    rows = zip(map(_start, heights), *columns, repeat("</row>"), strict=False)  # the last has no end
    return "".join(
        ["".join(row).replace(ROW, str(number)) for number, row in enumerate(rows, first)]
    ).encode()


@functools.cache  # there are a few
def _start(height: float | None) -> str:
    given = "" if height is None else f' ht="{height:g}" customHeight="1"'
    return f'<row r="{ROW}"{given}>'


def _number(value: Any) -> str:
    if isinstance(value, float):
        return float.__repr__(value).removesuffix(".0")
    if isinstance(value, int):
        return str(int(value))
    serial: float = days.to_excel(value)  # type: ignore[no-untyped-call]  # openpyxl's stubs lack it
    return str(serial)


def _quoted(text: str) -> str:
    return escape(text, _IN_QUOTES) if _any(_UNQUOTED, text) else text


def _any(marks: Iterable[str], text: str) -> bool:
    return any(mark in text for mark in marks)


def _text(text: str, font: str) -> str:
    if not _SPECIAL.search(text):
        return f"<t>{text}</t>"
    parts = _TRAP.split(text)
    if len(parts) == 1:
        return _part(text)
    return "".join(f"<r>{font}{_part(part)}</r>" for part in parts)


def _part(text: str) -> str:
    kept = ' xml:space="preserve"' if text != text.strip() else ""
    return f"<t{kept}>{escape(text)}</t>"
