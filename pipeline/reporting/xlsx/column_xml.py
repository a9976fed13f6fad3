"""A column's values as the cells of a sheet, each distinct value looked at once.

Most columns of a month have few distinct values: how one is shown, how it is written and how many lines it takes is
found out when it comes first. Where nearly all values are distinct, as tickets' numbers, links to requests and amounts are, they are
short texts or numbers that need no care, which is seen of many at once.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from numbers import Number
from typing import Any, NamedTuple

from pipeline.model.text_width import perhaps_longer
from pipeline.reporting.links import Cell
from pipeline.reporting.xlsx.cell_values import Cells, all_money
from pipeline.reporting.xlsx.cell_xml import (
    CellLook,
    cell_xml,
    link_xml,
    links_xml,
    numbers_xml,
    texts_xml,
)
from pipeline.reporting.xlsx.column_specs import Field, lines_of
from pipeline.reporting.xlsx.styles import Style

_MOST_KNOWN = 20_000  # distinct values that are kept in mind


class _Special(NamedTuple):
    """Of a Cell what matters for how it is written: not where it leads, but whether it does."""

    kind: type
    value: Any
    linked: bool
    marked: bool
    tone: str


class Taken(NamedTuple):
    """Some values of a column: their cells, how many lines each takes (None: all of them one), and their links."""

    xml: list[str]
    lines: list[float] | None
    links: list[str]


class _Known(dict[Any, str]):
    """Cells by their value, each made when its value is met first."""

    def __init__(self, make: Callable[[Any], str]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, value: Any) -> str:
        made = self._make(value)
        if value != 0:  # 0.0 and -0.0 are the same to a dictionary
            self[value] = made
        return made


class Column:
    """One column of a sheet, with what is known of its values."""

    def __init__(
        self, letters: str, field: Field, width: int, cells: Cells, looks: Mapping[Any, CellLook]
    ) -> None:
        self._letters = letters
        self._style = field.style
        self._width = width
        self._cells = cells
        self._looks = looks
        # By the type of numbers: 1, 1.0 and True are the same to a dictionary, and differ in how they are shown.
        self._known: defaultdict[type | None, _Known] = defaultdict(lambda: _Known(self._cell))
        self._lines: dict[Any, float] = {}  # of values that take more than one
        self._shown: dict[_Special, Any] = {}  # of links

    def take(self, values: Sequence[Any], kinds: AbstractSet[type], first: int) -> Taken:
        """Values, of these types, of rows from the number `first` on."""
        taken = self._all_alike(values, kinds, first)
        if taken is None:
            keys: Sequence[Any] = values
            if Cell in kinds:
                keys = [_special(value) if type(value) is Cell else value for value in values]
            xml = self._one_by_one(keys, kinds)
            found = self._links(values, keys, first) if Cell in kinds else []
            taken = Taken(xml, self._lines_of(keys), found)
        self._forget()
        return taken

    def _all_alike(self, values: Sequence[Any], kinds: AbstractSet[type], first: int) -> Taken | None:
        """Texts, links or numbers that hardly ever come again, None where they do or have to be looked at one by one."""
        if self._style in (Style.STATUS, Style.ANSWER):
            return None
        if kinds == {str}:
            _, look = self._cells.shown("text", self._style)
            return self._together(values, look)
        if kinds == {Cell}:
            return self._together_as_links(values, first)
        amounts = kinds == {float} and self._style is Style.MONEY and all_money(values)
        if amounts or (kinds == {int} and self._style in (Style.COUNT, Style.LINE)):
            _, look = self._cells.shown(values[0], self._style)
            return Taken(numbers_xml(self._letters, values, self._looks[look]), None, [])
        return None

    def _together_as_links(self, cells: Sequence[Cell], first: int) -> Taken | None:
        texts, places, marks, tones = zip(*cells, strict=True)
        ways = set(zip(map(bool, places), marks, tones, strict=True))
        if len(ways) > 1 or set(map(type, texts)) != {str} or "" in texts:
            return None
        ((linked, marked, tone),) = ways
        _, look = self._cells.special("text", self._style, linked=linked, marked=marked, tone=tone)
        taken = self._together(texts, look)
        if taken is None or not linked:
            return taken
        return taken._replace(links=links_xml(self._letters, first, places, texts))

    def _links(self, values: Sequence[Any], keys: Sequence[Any], first: int) -> list[str]:
        return [
            link_xml(f"{self._letters}{number}", cell.link, self._shown[key])
            for number, (cell, key) in enumerate(zip(values, keys, strict=True), first)
            if type(cell) is Cell and cell.link
        ]

    def _together(self, texts: Sequence[str], look: Any) -> Taken | None:
        if 2 * len(set(texts)) < len(texts):
            return None
        xml = texts_xml(self._letters, texts, self._looks[look])
        if xml is None:
            return None
        for text in perhaps_longer(texts, self._width):
            self._measure(text, text)
        return Taken(xml, self._lines_of(texts), [])

    def _lines_of(self, keys: Sequence[Any]) -> list[float] | None:
        return [self._lines.get(key, 1) for key in keys] if self._lines else None

    def _one_by_one(self, keys: Sequence[Any], kinds: AbstractSet[type]) -> list[str]:
        numbers = [kind for kind in kinds if issubclass(kind, Number)]
        if len(numbers) > 1:
            return [self._known[type(key)][key] for key in keys]
        return list(map(self._known[numbers[0] if numbers else None].__getitem__, keys))

    def _forget(self) -> None:
        """Let go of the values if there are many: they may all be distinct, and never come again."""
        if len(self._lines) + sum(map(len, self._known.values())) > _MOST_KNOWN:
            self._known.clear()
            self._lines.clear()
            self._shown.clear()

    def _cell(self, value: Any) -> str:
        """A blank value makes no cell, except where an answer is awaited or it is shown in a special way."""
        if type(value) is _Special:
            return self._special_cell(value)
        if (value is None or value == "") and self._style is not Style.ANSWER:
            return ""
        self._measure(value, value)
        shown, look = self._cells.shown(value, self._style)
        return cell_xml(self._letters, shown, self._looks[look])

    def _special_cell(self, special: _Special) -> str:
        _, value, linked, marked, tone = special
        self._measure(special, value)
        shown, look = self._cells.special(value, self._style, linked=linked, marked=marked, tone=tone)
        self._shown[special] = shown
        return cell_xml(self._letters, shown, self._looks[look])

    def _measure(self, value: Any, text: Any) -> None:
        if isinstance(text, str) and (lines := lines_of(text, self._width, self._style)) > 1:
            self._lines[value] = lines


def _special(cell: Cell) -> _Special:
    return _Special(type(cell.value), cell.value, bool(cell.link), cell.marked, cell.tone)
