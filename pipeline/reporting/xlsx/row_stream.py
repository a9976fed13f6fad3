"""The rows of one sheet: from values, column by column, to its XML and its links."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice, repeat
from typing import Any

from xlsxwriter.utility import xl_col_to_name, xl_rowcol_to_cell

from pipeline.reporting import links
from pipeline.reporting.links import Cell
from pipeline.reporting.xlsx.cell_values import Cells, write_cell, write_link
from pipeline.reporting.xlsx.cell_xml import CellLook, rows_xml
from pipeline.reporting.xlsx.column_specs import LINE_POINTS, Field, lines_of
from pipeline.reporting.xlsx.column_xml import Column, Taken
from pipeline.reporting.xlsx.styles import Style

#: Some rows that follow each other, column by column.
Block = Sequence[Sequence[Any]]
#: Gives the rows from one position to before another. It is asked for each row once, in their order.
Rows = Callable[[int, int], Block]

_AT_ONCE = 4096  # rows
_FIRST_ROW = 2  # headings stand above it


class SheetRows:
    """What stands below a sheet's headings: of what `rows` gives, `count` rows from the position `first` on."""

    def __init__(
        self, fields: Sequence[Field], widths: Sequence[int], rows: Rows, first: int, count: int
    ) -> None:
        self.count = count
        self.columns = len(fields)
        self.last_cell = xl_rowcol_to_cell(count, len(fields) - 1)
        self._fields = fields
        self._widths = widths
        self._rows = rows
        self._first = first
        self.links: list[str] = []  # of the rows that were written

    def xml(self, cells: Cells, looks: Mapping[Any, CellLook]) -> Iterator[bytes]:
        """The rows as XML, piece by piece: they are never in memory together."""
        columns = [
            Column(xl_col_to_name(at), field, width, cells, looks)
            for at, (field, width) in enumerate(zip(self._fields, self._widths, strict=True))
        ]
        for start, whole in self._blocks():
            kinds = [set(map(type, values)) for values in whole]
            block = _with_links(whole, kinds, links.MOST_LINKS - len(self.links))
            number = _FIRST_ROW + start
            taken = [
                column.take(values, of_values, number)
                for column, values, of_values in zip(columns, block, kinds, strict=True)
            ]
            self.links += [link for column in taken for link in column.links]
            seen = [column for column, field in zip(taken, self._fields, strict=True) if not field.hidden]
            yield rows_xml(number, [column.xml for column in taken], _heights(seen))

    def write(self, sheet: Any, cells: Cells) -> None:
        """The rows by XlsxWriter alone: the same cells as `xml` makes, many times slower."""
        left = links.MOST_LINKS
        for start, whole in self._blocks():
            block = _with_links(whole, [set(map(type, values)) for values in whole], left)
            for row, values in enumerate(zip(*block, strict=True), _FIRST_ROW - 1 + start):
                lines = [
                    self._write_cell(sheet, row, column, value, cells) for column, value in enumerate(values)
                ]
                if max(lines) > 1:
                    sheet.set_row(row, _height(max(lines)))
                left -= sum(type(value) is Cell and bool(value.link) for value in values)

    def _blocks(self) -> Iterator[tuple[int, Block]]:
        """The rows, some at a time, each with its position below the headings."""
        for start in range(0, self.count, _AT_ONCE):
            stop = min(start + _AT_ONCE, self.count)
            block = self._rows(self._first + start, self._first + stop)
            if [len(values) for values in block] != [stop - start] * self.columns:
                raise RuntimeError(f"a sheet's rows {start} to {stop} are not there, column by column")
            yield start, block

    def _write_cell(self, sheet: Any, row: int, column: int, value: Any, cells: Cells) -> float:
        """Write one cell; how many lines its text takes."""
        style, link = self._fields[column].style, ""
        if type(value) is Cell:
            text, link = value.value, value.link
            shown = cells.special(text, style, linked=bool(link), marked=value.marked, tone=value.tone)
        elif (value is None or value == "") and style is not Style.ANSWER:
            return 1
        else:
            text, shown = value, cells.shown(value, style)
        if link:
            write_link(sheet, (row, column), link, *shown)
        else:
            write_cell(sheet, (row, column), *shown)
        if not isinstance(text, str) or self._fields[column].hidden:
            return 1
        return lines_of(text, self._widths[column], style)


def _heights(taken: Sequence[Taken]) -> Iterator[float | None]:
    """How high the rows are, None for the usual height: programs differ in whether they find it by themselves."""
    lines = [column.lines for column in taken if column.lines]
    if not lines:
        return repeat(None)
    return (None if most == 1 else _height(most) for most in map(max, zip(*lines, strict=True)))


def _height(lines: float) -> float:
    return 3 + LINE_POINTS * lines


def _with_links(block: Block, kinds: Sequence[AbstractSet[type]], most: int) -> Block:
    """The rows, whose values are of these types by column, with so many links at most; the others' values stand alone."""
    holding = [column for column, of_values in enumerate(kinds) if Cell in of_values]
    linked = [
        (row, column)
        for column in holding
        for row, value in enumerate(block[column])
        if type(value) is Cell and value.link
    ]
    if len(linked) <= most:
        return block
    columns = {column: list(block[column]) for column in holding}
    for row, column in sorted(linked)[max(most, 0) :]:
        value, _, marked, tone = columns[column][row]
        columns[column][row] = Cell(value, "", marked, tone)
    return [columns.get(column, values) for column, values in enumerate(block)]


def by_column(rows: Iterable[Sequence[Any]]) -> Rows:
    """Rows that come one after another, each taken when it is asked for."""
    rows = iter(rows)
    return lambda start, stop: list(zip(*islice(rows, stop - start), strict=True))
