"""What is written into the rows of a workbook comes back, whatever it is, by two readers that know nothing of it."""

import datetime
import math
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook

from pipeline.reporting.links import Cell
from pipeline.reporting.result_workbook import write_book
from pipeline.reporting.xlsx import column_xml, row_stream
from pipeline.reporting.xlsx.book import Cover
from pipeline.reporting.xlsx.column_specs import Field
from pipeline.reporting.xlsx.row_stream import by_column
from pipeline.reporting.xlsx.styles import Style
from pipeline.reporting.xlsx.unfit_characters import fit

SETTINGS = settings(
    max_examples=min(60, settings().max_examples),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
#: Texts that a program could take for something else, or leave something of out.
TRAPS = (
    "_x0041_", "__x0041_x0042_", "_x005F_x0041_", "_", "_x", "<r>a</r>", "<r></r>", "]]>", "&amp;", "&#10;", '"', "'", "=1+1",
    "|", " | ", "a|b", " a", "a ", " ", "\n", "a\nb", "a\n", "\ta", "  two  ", "\xa0a\u3000", "\0", "R\0C", "\r\n", "\x85", "\u2028",
    "\ufffe", "\ud800", "𠮷", "#N/A", "TRUE", "1", "1e5", "007", "2026-01-01", "x" * 32_768, "𠮷" * 16_384, "NA", "None",
)  # fmt: skip
#: Texts that differ from those that need no care in one character.
NEARLY_PLAIN = st.sampled_from("&<>_| \n").flatmap(lambda special: st.text(f"abcd{special}", max_size=4))
TEXTS = st.one_of(
    st.sampled_from(TRAPS), st.text(), st.text(st.characters(codec=None)), st.from_regex("[A-Z0-9 ]{1,30}"), NEARLY_PLAIN,
)  # fmt: skip
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**53), 2**53), st.booleans(),
    st.sampled_from([0.0, -0.0, 0, 1, 1.0, True, 0.1 + 0.2, 1e300, 5e-324, 1234567890.12]),
)  # fmt: skip
DAYS = st.one_of(
    st.dates(datetime.date(1900, 3, 1)),
    st.datetimes(datetime.datetime(1900, 3, 1)).map(lambda at: at.replace(microsecond=0)),  # noqa: DTZ001 - cells
    st.times().map(lambda at: at.replace(microsecond=0)),
    st.timedeltas(datetime.timedelta(days=1), datetime.timedelta(days=999)).map(
        lambda long: datetime.timedelta(long.days, long.seconds)
    ),
)
VALUES = st.one_of(st.none(), TEXTS, NUMBERS, DAYS)
SHOWN = VALUES.filter(lambda value: value is not None and (not isinstance(value, str) or fit(value) != ""))
CELLS = (
    st.one_of(  # no link of ours is on a blank cell, where openpyxl would show its place; a tone is a text's
        st.builds(Cell, VALUES, st.just(""), st.booleans(), st.just("")),
        st.builds(Cell, SHOWN, st.just("internal:'Values'!A1"), st.booleans(), st.just("")),
        st.builds(Cell, TEXTS, st.just(""), st.booleans(), st.just("warn")),
    )
)
STYLES = st.sampled_from([Style.TEXT, Style.IDENTIFIER, Style.MONEY, Style.DATE])


@st.composite
def _sheets(draw: st.DrawFn) -> tuple[list[Style], list[list[Any]]]:
    """The styles of some columns, and rows; a column's cells may be of one kind, or of any."""
    styles = draw(st.lists(STYLES, min_size=1, max_size=4))
    count = draw(st.integers(1, 12))
    kinds = [
        draw(st.sampled_from([VALUES, TEXTS, NEARLY_PLAIN, NUMBERS, DAYS, st.one_of(VALUES, CELLS)]))
        for _ in styles
    ]
    columns = [draw(st.lists(kind, min_size=count, max_size=count)) for kind in kinds]
    return styles, [list(row) for row in zip(*columns, strict=True)]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few rows at once, and a few values in mind, so that a small sheet is written as a large one is."""
    monkeypatch.setattr(row_stream, "_AT_ONCE", 5)
    monkeypatch.setattr(column_xml, "_MOST_KNOWN", 6)


def _written(folder: Path, styles: Sequence[Style], rows: Sequence[Sequence[Any]]) -> Path:
    fields = [Field(f"column {at}", f"column {at}", style, 12) for at, style in enumerate(styles)]
    return write_book(
        folder / "r.xlsx", Cover("", "en"), ["Values"],
        lambda book: book.add_rows("Values", fields, len(rows), by_column(rows)),
    )  # fmt: skip


def _meant(value: Any, style: Style) -> Any:
    """What a reader must find: texts without what no cell can hold, identifiers as texts, blanks as nothing."""
    value = value.value if isinstance(value, Cell) else value
    if isinstance(value, str):
        return fit(value) or None
    if value is None or style is not Style.IDENTIFIER:
        return value
    return ...  # a number or a day, written out as a text


@pytest.mark.slow
@SETTINGS
@given(_sheets())
@example(([Style.TEXT], [[trap] for trap in TRAPS]))
@example(([Style.TEXT] * 3, [["a&", " a", "a"], ["b", "b", "b "], ["c", "c", "c|"], ["d", "d", "d"]]))
@example(([Style.MONEY], [[1], [1.0], [True], ["1"], [-0.0], [0.0], [0], [False]]))
def test_every_cell_comes_back_by_openpyxl_to_the_last_bit(
    sheet: tuple[list[Style], list[list[Any]]],
) -> None:
    styles, rows = sheet
    with tempfile.TemporaryDirectory() as folder:
        found = openpyxl.load_workbook(_written(Path(folder), styles, rows))["Values"]
    for (row, column), value, style in _each(styles, rows):
        cell, meant = found.cell(row + 2, column + 1), _meant(value, style)
        if meant is ...:
            assert (cell.data_type, cell.number_format) == ("s", "@")
        elif isinstance(meant, datetime.date | datetime.time | datetime.timedelta):
            assert cell.is_date
            assert _as_told(cell.value) == _as_told(meant)
        else:
            assert cell.value == meant
            assert cell.data_type == ("s" if isinstance(meant, str) else "n")
        linked = isinstance(value, Cell) and value.link
        assert (cell.hyperlink.location if cell.hyperlink else "") == ("'Values'!A1" if linked else "")


@pytest.mark.slow
@SETTINGS
@given(_sheets())
@example(([Style.TEXT], [[trap] for trap in TRAPS]))
def test_every_cell_comes_back_by_calamine(sheet: tuple[list[Style], list[list[Any]]]) -> None:
    styles, rows = sheet
    with tempfile.TemporaryDirectory() as folder:
        book = CalamineWorkbook.from_path(_written(Path(folder), styles, rows))
        found = book.get_sheet_by_name("Values").to_python(skip_empty_area=False)
    for (row, column), value, style in _each(styles, rows):
        cell = found[row + 1][column] if row + 1 < len(found) and column < len(found[row + 1]) else ""
        meant = _meant(value, style)
        if isinstance(meant, str | float) or meant is None:
            assert cell == ("" if meant is None else meant)
        elif isinstance(meant, int):
            assert float(cell) == float(meant)


def _each(
    styles: Sequence[Style], rows: Sequence[Sequence[Any]]
) -> Iterator[tuple[tuple[int, int], Any, Style]]:
    for at, row in enumerate(rows):
        for column, (value, style) in enumerate(zip(row, styles, strict=True)):
            yield (at, column), value, style


def _as_told(moment: Any) -> Any:
    """A day, time or span as far as programs agree about it: a day without a time is its beginning."""
    if isinstance(moment, datetime.datetime | datetime.timedelta | datetime.time):
        return moment
    return datetime.datetime.combine(moment, datetime.time())


def test_a_number_looks_as_its_kind_does_whatever_equal_number_came_before(tmp_path: Path) -> None:
    rows = [[1], [1.0], [True], [-0.0], [0.0], [12.345]]
    sheet = openpyxl.load_workbook(_written(tmp_path, [Style.MONEY], rows))["Values"]
    formats = [sheet.cell(row, 1).number_format for row in range(2, 8)]
    assert formats == ["General", "#,##0.00", "General", "#,##0.00", "#,##0.00", "General"]
    (minus, zero) = [
        row[0]
        for row in CalamineWorkbook.from_path(tmp_path / "r.xlsx")
        .get_sheet_by_name("Values")
        .to_python()[4:6]
    ]
    assert (math.copysign(1, minus), math.copysign(1, zero)) == (-1, 1)
