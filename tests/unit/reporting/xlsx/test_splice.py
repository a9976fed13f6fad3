"""The rows that are put into XlsxWriter's package look, and are read, as if it had written them itself."""

import datetime
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from python_calamine import CalamineWorkbook
from xlsxwriter.worksheet import Worksheet

from pipeline.reporting import links
from pipeline.reporting.links import Cell
from pipeline.reporting.result_workbook import write_book
from pipeline.reporting.xlsx import splice
from pipeline.reporting.xlsx.book import Book, Cover
from pipeline.reporting.xlsx.cell_values import write_cell
from pipeline.reporting.xlsx.column_specs import Field, lines_of
from pipeline.reporting.xlsx.row_stream import Block, Rows, by_column
from pipeline.reporting.xlsx.styles import TONES, Style

DAY, MOMENT = datetime.date(2026, 10, 1), datetime.datetime(2026, 10, 1, 8, 30, 5)  # noqa: DTZ001 - cells
VALUES = (
    "text",
    " _x0041_ & <b>",
    1,
    1.0,
    12.5,
    12.345,
    True,
    DAY,
    MOMENT,
    datetime.time(3, 4),
    datetime.timedelta(2, 60),
)
STYLES = (Style.TEXT, Style.IDENTIFIER, Style.MONEY, Style.DATE, Style.ANSWER)
SPECIAL = [
    Cell("a", "internal:'Ours'!A1"), Cell("a", marked=True), Cell("a", "internal:'Ours'!A1", marked=True), Cell(1.5, marked=True),
    Cell("", marked=True), *(Cell("_x0041_", tone=tone) for tone in TONES),
]  # fmt: skip


def written(folder: Path, rows: Sequence[Sequence[Any]], styles: Sequence[Style] = STYLES) -> Path:
    """The rows on a sheet of ours, and on one that XlsxWriter wrote cell by cell."""
    fields = [Field(f"{at}", f"{at}", style, 12) for at, style in enumerate(styles)]

    def fill(book: Book) -> None:
        book.add_rows("Ours", fields, len(rows), by_column(rows))
        theirs = book.workbook.add_worksheet("Theirs")
        for at, row in enumerate(rows, start=1):
            for column, (value, style) in enumerate(zip(row, styles, strict=True)):
                if isinstance(value, Cell):
                    shown = book.cells.special(
                        value.value, style, linked=bool(value.link), marked=value.marked, tone=value.tone
                    )
                    write_cell(theirs, (at, column), *shown)
                elif value is not None:
                    write_cell(theirs, (at, column), *book.cells.shown(value, style))

    return write_book(folder / "r.xlsx", Cover("", "en"), ["Ours", "Theirs"], fill)


def look(cell: Any) -> str:
    return repr((cell.number_format, cell.font, cell.fill, cell.border, cell.alignment))


@pytest.fixture(params=["put in", "written by XlsxWriter alone"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Both ways of writing rows: the second is taken where XlsxWriter writes the pattern otherwise than is known here."""
    if request.param != "put in":
        monkeypatch.setattr(splice, "_LOOK", re.compile("nothing"))
    splice.fits.cache_clear()
    assert splice.fits() == (request.param == "put in")
    yield request.param
    splice.fits.cache_clear()


@pytest.mark.usefixtures("way")
def test_a_cell_is_what_xlsxwriter_makes_of_the_same_value(tmp_path: Path) -> None:
    rows = [*([value] * len(STYLES) for value in VALUES), *([cell] * len(STYLES) for cell in SPECIAL)]
    book = openpyxl.load_workbook(written(tmp_path, rows), rich_text=True)
    for row, column in product(range(2, len(rows) + 2), range(1, len(STYLES) + 1)):
        ours, theirs = (book[name].cell(row, column) for name in ("Ours", "Theirs"))
        same = pytest.approx(theirs.value) if isinstance(theirs.value, float) else theirs.value
        assert (ours.value, ours.data_type) == (same, theirs.data_type)
        assert look(ours) == look(theirs)


LINKED = [Cell(f"R{at:03}", f"internal:'Ours'!A{at}") for at in range(2, 32)]
TONED = [Cell(f"R{at:03}", f"internal:'Ours'!A{at}", tone="warn") for at in range(2, 32)]
AMOUNTS = [at / 100 for at in range(100, 130)]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(
    ("values", "style"),
    [
        ([f"999{at:010}" for at in range(30)], Style.IDENTIFIER),
        ([f"{at:02}{'W' * at}" for at in range(30)], Style.TEXT),  # some take another line
        (LINKED, Style.IDENTIFIER),
        (TONED, Style.TEXT),
        ([Cell(f"{at or ''}", marked=True) for at in range(30)], Style.IDENTIFIER),
        ([*LINKED, Cell('a "quoted" & long one, of two lines', "internal:'Ours'!A2")], Style.IDENTIFIER),
        ([*LINKED, Cell('"quoted"', "internal:'Ours'!A2")], Style.IDENTIFIER),
        ([*LINKED, Cell("not linked")], Style.IDENTIFIER),
        ([*LINKED, *TONED], Style.TEXT),
        (["issued", "rejected", "unknown"], Style.STATUS),
        ([f"{at}" for at in range(30)], Style.ANSWER),
        ([*AMOUNTS, 0.0, -0.0, -1.5, 1e15], Style.MONEY),
        ([*AMOUNTS, 12.345], Style.MONEY),
        ([*AMOUNTS, float("inf")], Style.MONEY),
        ([*range(1, 31)], Style.LINE),
        ([*range(1, 31)], Style.IDENTIFIER),
        (AMOUNTS, Style.TEXT),
    ],
)
def test_values_that_hardly_come_again_are_what_each_is_alone(
    tmp_path: Path, values: Sequence[Any], style: Style
) -> None:
    book = openpyxl.load_workbook(written(tmp_path, [[value] for value in values], [style]), rich_text=True)
    for row, value in enumerate(values, start=2):
        ours, theirs = (book[name].cell(row, 1) for name in ("Ours", "Theirs"))
        assert (ours.value, ours.data_type, look(ours)) == (theirs.value, theirs.data_type, look(theirs))
        link = f"internal:{ours.hyperlink.location}" if ours.hyperlink else ""
        assert link == (value.link if isinstance(value, Cell) else "")
        text = value.value if isinstance(value, Cell) else value
        height = book["Ours"].row_dimensions[row].height
        assert (height is not None) == (isinstance(text, str) and lines_of(text, 12, style) > 1)


def test_a_text_in_parts_has_one_font_the_one_of_its_cell(tmp_path: Path) -> None:
    book = openpyxl.load_workbook(
        written(tmp_path, [["_x0041_"], [Cell("_x0041_", tone="bad")]], [Style.TEXT]), rich_text=True
    )
    for row in (2, 3):
        cell = book["Ours"].cell(row, 1)
        assert isinstance(cell.value, CellRichText)
        for part in cell.value:
            assert isinstance(part, TextBlock)
            assert (part.font.rFont, part.font.sz) == (cell.font.name, cell.font.sz)
            colour = part.font.color.rgb if part.font.color and row == 3 else None
            assert colour == (cell.font.color.rgb if row == 3 else None)


def test_a_large_sheet_opens_in_three_programs_with_its_formats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, converted: Callable[[Path, str], Path]
) -> None:
    """What may come to more than 2 GB is told so beforehand, which not every program has to understand."""
    monkeypatch.setattr(splice, "_MANY", 0)
    rows = [["a", "0012", 1234.5, DAY, None], ["b\nc", "999-1", -0.01, DAY, None]]
    path = written(tmp_path, rows)
    for found in (path, converted(path, "xlsx")):
        sheet = openpyxl.load_workbook(found)["Ours"]
        assert [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2, max_col=3)] == [
            row[:3] for row in rows
        ]
        assert [cell.number_format.replace("\\", "") for cell in sheet[2]][1:4] == [
            "@",
            "#,##0.00",
            "yyyy-mm-dd",
        ]
        assert sheet["D2"].value.date() == DAY
    assert CalamineWorkbook.from_path(path).get_sheet_by_name("Ours").to_python()[1][:4] == rows[0][:4]


def test_nothing_of_the_pattern_is_left(tmp_path: Path) -> None:
    path = written(tmp_path, [])
    sheet = openpyxl.load_workbook(path)["Ours"]
    assert (sheet.max_row, sheet.max_column) == (1, len(STYLES))
    xml = zipfile.ZipFile(path).read("xl/worksheets/sheet1.xml").decode()
    assert "hyperlink" not in xml
    assert '<dimension ref="A1:E1"/>' in xml


def asked(count: int) -> tuple[Rows, list[tuple[int, int]]]:
    """Rows that note what was asked for."""
    noted: list[tuple[int, int]] = []

    def rows(start: int, stop: int) -> Block:
        noted.append((start, stop))
        return [range(start, min(stop, count))]

    return rows, noted


@pytest.mark.usefixtures("way")
def test_rows_are_asked_for_once_in_order_and_some_at_a_time_over_several_sheets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "ROOM", 9_000)
    rows, noted = asked(20_000)
    field = Field("n", "n", Style.COUNT, 12)
    write_book(
        tmp_path / "r.xlsx",
        Cover("", "en"),
        ["S", "S 3"],
        lambda book: book.add_rows("S", [field], 20_000, rows),
    )
    assert [start for start, _ in noted] == [0, *(stop for _, stop in noted[:-1])]
    assert noted[-1][1] == 20_000
    assert max(stop - start for start, stop in noted) < 5_000
    book = CalamineWorkbook.from_path(tmp_path / "r.xlsx")
    found = [row[0] for name in ("S", "S 2", "S 3") for row in book.get_sheet_by_name(name).to_python()[1:]]
    assert found == list(range(20_000))


@pytest.mark.usefixtures("way")
def test_rows_that_are_not_those_announced_are_no_workbook(tmp_path: Path) -> None:
    rows, _ = asked(5)
    fields = [Field("n", "n", Style.COUNT, 12)]
    with pytest.raises(RuntimeError, match="rows 0 to 6"):
        write_book(tmp_path / "r.xlsx", Cover("", "en"), [], lambda book: book.add_rows("S", fields, 6, rows))
    assert list(tmp_path.iterdir()) == []


def test_where_xlsxwriter_writes_the_pattern_otherwise_it_writes_the_rows_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [["text", "0012", 12.5, DAY, None], [Cell("a", "internal:'Ours'!A1"), "b\nc", 1, DAY, ""]]
    usual = openpyxl.load_workbook(written(tmp_path, rows))["Ours"]

    def blank(sheet: Worksheet, row: int, column: int, *parts: Any) -> None:
        sheet.write_blank(row, column, None, parts[0])

    monkeypatch.setattr(Worksheet, "write_rich_string", blank)
    splice.fits.cache_clear()
    alone = openpyxl.load_workbook(written(tmp_path, rows))["Ours"]
    splice.fits.cache_clear()
    assert [[cell.value for cell in row] for row in alone.iter_rows()] == [
        [cell.value for cell in row] for row in usual.iter_rows()
    ]
    assert [look(cell) for row in alone for cell in row] == [look(cell) for row in usual for cell in row]
    assert (alone["A3"].hyperlink.location, alone["A2"].hyperlink) == ("'Ours'!A1", None)
    heights = [[sheet.row_dimensions[row].height for row in (2, 3)] for sheet in (alone, usual)]
    assert heights[0] == heights[1] != [None, None]
