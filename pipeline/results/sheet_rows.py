"""The rows of one sheet: values, column by column, made into its XML and its links.

Most columns of a month have few distinct values, or short ones of one kind. So each distinct value of a column is
looked at once: how it is shown, how it is written, how many lines it takes.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, repeat
from numbers import Number
from typing import Any, NamedTuple

from xlsxwriter.utility import xl_col_to_name, xl_rowcol_to_cell

from pipeline.results import links
from pipeline.results.cells import Cells
from pipeline.results.fields import LINE_POINTS, Field, lines_of
from pipeline.results.formats import Style
from pipeline.results.links import Cell
from pipeline.results.sheet_xml import Look, cell_xml, link_xml, rows_xml

#: Some rows that follow each other, column by column.
Block = Sequence[Sequence[Any]]
#: Gives the rows from one position to before another. It is asked for each row once, in their order.
Rows = Callable[[int, int], Block]

_AT_ONCE = 4096  # rows
_MOST_KNOWN = 20_000  # distinct values of a column that are kept in mind
_FIRST_ROW = 2  # headings stand above it


class _Special(NamedTuple):
    """Of a Cell what matters for how it is written: not where it leads, but whether it does."""

    kind: type
    value: Any
    linked: bool
    marked: bool
    tone: str


class _Taken(NamedTuple):
    """Some values of a column: their cells, how many lines each takes (None: all of them one), and their links."""

    xml: list[str]
    lines: list[int] | None
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


class _Column:
    """One column of a sheet, with what is known of its values."""

    def __init__(self, letters: str, field: Field, width: int, cells: Cells, looks: Mapping[Any, Look]) -> None:
        self._letters = letters
        self._style = field.style
        self._width = width
        self._cells = cells
        self._looks = looks
        # By the type of numbers: 1, 1.0 and True are the same to a dictionary, and differ in how they are shown.
        self._known: defaultdict[type | None, _Known] = defaultdict(lambda: _Known(self._cell))
        self._lines: dict[Any, int] = {}  # of values that take more than one
        self._shown: dict[_Special, Any] = {}  # of links

    def take(self, values: Sequence[Any], first: int) -> _Taken:
        """Values of rows from the number `first` on."""
        kinds = set(map(type, values))
        found: list[str] = []
        if Cell in kinds:
            cells, values = values, [_special(value) if type(value) is Cell else value for value in values]
        numbers = [kind for kind in kinds if issubclass(kind, Number)]
        if len(numbers) > 1:
            xml = [self._known[type(value)][value] for value in values]
        else:
            xml = list(map(self._known[numbers[0] if numbers else None].__getitem__, values))
        if Cell in kinds:
            found = [
                link_xml(f"{self._letters}{number}", cell.link, self._shown[value])
                for number, (cell, value) in enumerate(zip(cells, values, strict=True), first)
                if type(cell) is Cell and cell.link
            ]
        lines = [self._lines.get(value, 1) for value in values] if self._lines else None
        self._forget()
        return _Taken(xml, lines, found)

    def _forget(self) -> None:
        """Let go of the values if there are many: they may all be distinct, and never come again."""
        if sum(map(len, self._known.values())) > _MOST_KNOWN:
            self._known.clear()
            self._lines.clear()
            self._shown.clear()

    def _cell(self, value: Any) -> str:
        """A blank value makes no cell, except where an answer is awaited or it is shown in a special way."""
        special = value if type(value) is _Special else None
        text = special.value if special else value
        if isinstance(text, str) and (2 * len(text) > self._width or "\n" in text):  # nearly all are short
            lines = lines_of(text, self._width, self._style)
            if lines > 1:
                self._lines[value] = lines
        if special:
            shown, look = self._cells.special(
                text, self._style, linked=special.linked, marked=special.marked, tone=special.tone
            )
            self._shown[special] = shown
        elif self._style is not Style.ANSWER and (value is None or value == ""):
            return ""
        else:
            shown, look = self._cells.shown(value, self._style)
        return cell_xml(self._letters, shown, self._looks[look])


def _special(cell: Cell) -> _Special:
    return _Special(type(cell.value), cell.value, bool(cell.link), cell.marked, cell.tone)


class SheetRows:
    """What stands below a sheet's headings: of what `rows` gives, `count` rows from the position `first` on."""

    def __init__(self, fields: Sequence[Field], widths: Sequence[int], rows: Rows, first: int, count: int) -> None:
        self.count = count
        self.columns = len(fields)
        self.last_cell = xl_rowcol_to_cell(count, len(fields) - 1)
        self._fields = fields
        self._widths = widths
        self._rows = rows
        self._first = first
        self.links: list[str] = []  # of the rows that were written

    def xml(self, cells: Cells, looks: Mapping[Any, Look]) -> Iterator[bytes]:
        """The rows as XML, piece by piece: they are never in memory together."""
        columns = [
            _Column(xl_col_to_name(at), field, width, cells, looks)
            for at, (field, width) in enumerate(zip(self._fields, self._widths, strict=True))
        ]
        for start in range(0, self.count, _AT_ONCE):
            stop = min(start + _AT_ONCE, self.count)
            block = self._rows(self._first + start, self._first + stop)
            if [len(values) for values in block] != [stop - start] * len(columns):
                raise RuntimeError(f"a sheet's rows {start} to {stop} are not there, column by column")
            block = _with_links(block, links.MOST_LINKS - len(self.links))
            number = _FIRST_ROW + start
            taken = [column.take(values, number) for column, values in zip(columns, block, strict=True)]
            self.links += [link for column in taken for link in column.links]
            yield rows_xml(number, [column.xml for column in taken], _heights(taken))


def _heights(taken: Sequence[_Taken]) -> Iterator[float | None]:
    """How high the rows are, None for the usual height: programs differ in whether they find it by themselves."""
    lines = [column.lines for column in taken if column.lines]
    if not lines:
        return repeat(None)
    return (None if most == 1 else 3 + LINE_POINTS * most for most in map(max, zip(*lines, strict=True)))


def _with_links(block: Block, most: int) -> Block:
    """The rows with so many links at most; the others' values stand alone."""
    linked = [
        (row, column)
        for column, values in enumerate(block)
        if Cell in set(map(type, values))
        for row, value in enumerate(values)
        if type(value) is Cell and value.link
    ]
    if len(linked) <= most:
        return block
    columns = [list(values) for values in block]
    for row, column in sorted(linked)[max(most, 0) :]:
        columns[column][row] = columns[column][row]._replace(link="")
    return columns


def by_column(rows: Iterable[Sequence[Any]]) -> Rows:
    """Rows that come one after another, each taken when it is asked for."""
    rows = iter(rows)
    return lambda start, stop: list(zip(*islice(rows, stop - start), strict=True))
