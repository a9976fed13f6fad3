"""The text of a file's pages: each text where it stands, put together into lines (GB/T 33190, 8 and 11: TextObject, TextCode)."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pipeline.itinerary_files.bounded_xml import Element
from pipeline.itinerary_files.read_reasons import Reason, unreadable

#: Millimetres. Texts whose middles are this near in height are one line; nearer than the gap, one word.
_ONE_LINE, _ONE_WORD = 1.0, 0.6
#: How far below its label an amount stands at most, and how far beside.
_BELOW, _BESIDE = 20.0, 15.0
_MOST_CHARACTERS, _LONGEST_TEXT = 100_000, 1_000
#: Of all pages with their templates, each as often as it is used.
_MOST_ELEMENTS = 100_000


class Placed(NamedTuple):
    """A text, in one form of its characters and blanks, and the box that it stands in, in millimetres from the page's upper left corner."""

    text: str
    left: float
    top: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """Of its height."""
        return self.top + self.height / 2


@dataclass(frozen=True)
class PageText:
    """The texts of all pages: by their IDs, and where they stand."""

    by_id: dict[str, str]
    pages: tuple[tuple[Placed, ...], ...]

    @cached_property
    def text(self) -> str:
        """All lines, each from left to right; of a bounded length."""
        lines = (line for page in self.pages for line in _lines(page))
        return _RUN.sub(" ", "\n".join(map(_joined, lines)))[:_MOST_CHARACTERS]

    def below(self, label: str, wanted: re.Pattern[str]) -> str | None:
        """What matches in the text that stands under a label: in the nearest line below that has any, the nearest to its left or right."""
        for page in self.pages:
            for one in page:
                if one.text.strip(" :") == label:
                    return _under(one, page, wanted)
        return None


def page_text(roots: Iterable[Iterable[Element]]) -> PageText:
    """The texts of pages, each of which has an element of its own and those of its templates. Raises Refused where they are too many.

    What goes beyond the characters of an itinerary's pages is not placed.
    """
    by_id, pages = dict[str, str](), list[tuple[Placed, ...]]()
    elements = characters = 0
    for page in roots:
        placed = []
        for element in (element for root in page for element in root.all()):
            elements += 1
            if elements > _MOST_ELEMENTS:
                raise unreadable(Reason.TEXTS, count=_MOST_ELEMENTS)
            if element.name != "TextObject":
                continue
            text = "".join(code.text for code in element.all("TextCode"))[:_LONGEST_TEXT]
            by_id.setdefault(element.attributes.get("ID", ""), text)
            box = _box(element.attributes.get("Boundary", ""))
            characters += len(text)
            if text and box and characters <= _MOST_CHARACTERS:
                placed.append(Placed(_normal(text), *box))
        pages.append(tuple(placed))
    return PageText(by_id, tuple(pages))


#: Blanks side by side are one: what is searched for has them in several places, and would try each division of a run.
_RUN = re.compile(r"[ \t]+")


def _normal(text: str) -> str:
    return _RUN.sub(" ", unicodedata.normalize("NFKC", text))


def _box(boundary: str) -> tuple[float, float, float, float] | None:
    """Four finite numbers; None for anything else."""
    try:
        left, top, width, height = (float(number) for number in boundary.split()[:5])
    except ValueError:
        return None
    inside = all(abs(number) < 10**6 for number in (left, top, width, height))
    return (left, top, width, height) if inside else None


def _lines(page: Iterable[Placed]) -> list[list[Placed]]:
    lines: list[list[Placed]] = []
    for one in sorted(page, key=lambda one: one.middle):
        if lines and one.middle - lines[-1][0].middle < _ONE_LINE:
            lines[-1].append(one)
        else:
            lines.append([one])
    return lines


def _joined(line: list[Placed]) -> str:
    parts: list[str] = []
    end = None
    for one in sorted(line, key=lambda one: one.left):
        if end is not None and one.left - end > _ONE_WORD:
            parts.append(" ")
        parts.append(one.text)
        end = one.left + one.width
    return "".join(parts)


def _under(label: Placed, page: Iterable[Placed], wanted: re.Pattern[str]) -> str | None:
    center = label.left + label.width / 2
    nearest: tuple[float, float, str] | None = None
    for one in page:
        down, beside = one.middle - label.middle, abs(one.left + one.width / 2 - center)
        if _ONE_LINE <= down <= _BELOW and beside <= _BESIDE and (hit := wanted.search(one.text)):
            rank = (round(down), beside, hit[0])
            nearest = min(nearest, rank) if nearest else rank
    return nearest[2] if nearest else None
