"""Days of an .ods file whose cells hold numbers: SheetJS writes them so, with the day in the cell's text or its style."""

import datetime
import zipfile
from pathlib import Path
from typing import Any

import pytest

from pipeline.reading.input_files import read_sheets
from pipeline.reading.tickets import read_table

pytestmark = pytest.mark.usefixtures("read_here")

DAY, MOMENT = datetime.date(2026, 10, 5), datetime.datetime(2026, 10, 5, 12)  # noqa: DTZ001
STYLES = (
    '<number:date-style style:name="N37"><number:year/></number:date-style>'
    '<number:number-style style:name="N2"><number:number/></number:number-style>'
    '<style:style style:name="ce1" style:family="table-cell" style:data-style-name="N37"/>'
    '<style:style style:name="ce2" style:family="table-cell" style:parent-style-name="ce1"/>'
    '<style:style style:name="ce3" style:family="table-cell" style:parent-style-name="ce1" style:data-style-name="N2"/>'
)


def number(value: str, text: str = "", style: str = "") -> str:
    style = f' table:style-name="{style}"' if style else ""
    return (
        f'<table:table-cell office:value-type="float" office:value="{value}"{style}>'
        f"<text:p>{text or value}</text:p></table:table-cell>"
    )


def moment(value: str, text: str) -> str:
    return f'<table:table-cell office:value-type="date" office:date-value="{value}"><text:p>{text}</text:p></table:table-cell>'


def words(*texts: str) -> str:
    return "".join(
        f'<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>'
        for text in texts
    )


def an_ods(path: Path, *rows: str, before: str = "", in_table: str = "", row: str = "") -> Path:
    spaces = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{of}:1.0"'
        for name, of in (
            ("office", "office"), ("table", "table"), ("text", "text"), ("style", "style"), ("number", "datastyle"),
        )
    )  # fmt: skip
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr(
            "content.xml",
            f"<office:document-content{spaces}><office:automatic-styles>{STYLES}</office:automatic-styles>"
            f'<office:body><office:spreadsheet>{before}<table:table table:name="S">{in_table}'
            + "".join(f"<table:table-row{row}>{cells}</table:table-row>" for cells in rows)
            + "</table:table></office:spreadsheet></office:body></office:document-content>",
        )
    return path


def cell(path: Path, content: str, **more: str) -> Any:
    (sheet,) = read_sheets(an_ods(path, content + words("x"), **more))
    return sheet.rows[0][0]


@pytest.mark.parametrize(
    ("content", "read"),
    [
        (number("46300", "2026-10-05"), DAY),
        (number("46300", "10/5/26"), DAY),
        (number("46300", "5.10.2026"), DAY),
        (number("46300", "2026年10月5日"), DAY),
        (number("46300.000497685185", "10/5/26"), DAY),  # a day of SheetJS east of Greenwich
        (number("46300", style="ce1"), DAY),
        (number("46300", style="ce2"), DAY),
        (number("46300.5", "2026-10-05 12:00", "ce1"), MOMENT),
        (number("46300"), 46300.0),
        (number("46300", style="ce3"), 46300.0),  # its own format is a number's, whatever its parent's
        (number("46300", "46,300.00"), 46300.0),
        (number("46300", "2026-10-06"), 46300.0),  # it is not the day of that number
        (number("46300", "05-Oct"), 46300.0),
        (number("1e300", "10/5/26"), 1e300),
        (number("-5", style="ce1"), -5.0),
        # In Universal Time: the day is the one that is shown, if it began somewhere near that moment.
        (moment("2026-10-04T16:00:00.000Z", "10/5/26"), DAY),
        (moment("2026-10-04T15:59:17.000Z", "2026-10-05"), DAY),
        (moment("2026-10-05T04:00:00.000Z", "10/5/26"), DAY),
        (moment("2026-10-05T00:00:00.000Z", "10/5/26"), DAY),
        (
            moment("2026-10-04T15:59:17.000Z", "10/4/26"),
            "2026-10-04T15:59:17.000Z",
        ),  # as SheetJS spoils the 5th
        (moment("9999-12-31T16:00:00.000Z", "10/5/26"), "9999-12-31T16:00:00.000Z"),
        (moment("2026-10-04T16:00:00.000+08:00Z", "10/5/26"), DAY),
        (moment("0001-01-01T16:00:00Z", "10/5/26"), "0001-01-01T16:00:00Z"),
        (moment("noonZ", "10/5/26"), "noonZ"),
        (moment("2026-10-04T16:00:00.000Z", "somewhen"), "2026-10-04T16:00:00.000Z"),
        (moment("2026-10-04T16:00:00.000Z", "2026-10-07"), "2026-10-04T16:00:00.000Z"),
    ],
)
def test_a_day_is_what_the_cell_s_style_or_its_text_says(tmp_path: Path, content: str, read: Any) -> None:
    assert cell(tmp_path / "t.ods", content) == read


def test_a_style_may_be_the_row_s_or_the_column_s(tmp_path: Path) -> None:
    column = '<table:table-column table:default-cell-style-name="ce1"/>'
    assert cell(tmp_path / "t.ods", number("46300"), in_table=column) == DAY
    of_row = ' table:default-cell-style-name="ce1"'
    assert cell(tmp_path / "t.ods", number("46300"), row=of_row) == DAY
    assert cell(tmp_path / "t.ods", number("46300", style="ce3"), in_table=column, row=of_row) == 46300.0


def test_days_are_counted_from_the_file_s_own_first_one(tmp_path: Path) -> None:
    of_1904 = '<table:calculation-settings><table:null-date table:date-value="1904-01-01"/></table:calculation-settings>'
    assert cell(tmp_path / "t.ods", number("44838", style="ce1"), before=of_1904) == DAY
    assert cell(tmp_path / "t.ods", number("46300", "2026-10-05"), before=of_1904) == 46300.0
    for odd in ("9999-01-01", "once"):
        assert cell(
            tmp_path / "t.ods", number("46300", style="ce1"), before=of_1904.replace("1904-01-01", odd)
        )


def test_a_month_as_sheetjs_writes_it_is_read_and_a_day_that_nothing_shows_has_a_cure(tmp_path: Path) -> None:
    head = words("ticket_no", "amount", "flight_date")
    path = an_ods(
        tmp_path / "t.ods",
        head,
        words("9991234567890") + number("46300", "46300") + number("46300", "10/5/26"),
        words("9991234567891") + number("46300", "46300") + number("46300"),
    )
    table = read_table([path])
    assert table.frame["amount"].tolist() == [4630000, 4630000]
    assert str(table.frame["flight_date"][0].date()) == "2026-10-05"
    (finding,) = table.findings
    assert (finding.code, finding.column, finding.facts["hint"]) == (
        "bad_date",
        "flight_date",
        ["serial_day"],
    )


def test_a_truth_value_is_no_amount_of_one(tmp_path: Path) -> None:
    """LibreOffice writes what a formula such as =TRUE() or =1=1 comes to as a number, and the word as its text."""
    cells = [
        number("1", "TRUE"),
        number("0", "FALSE"),
        number("1", "真"),
        number("0", "假"),
        number("1", "1.00"),
    ]
    path = an_ods(
        tmp_path / "t.ods",
        words("ticket_no", "amount"),
        *(words(f"999123456789{at}") + cell for at, cell in enumerate(cells)),
    )
    table = read_table([path])
    assert table.frame["amount"].tolist() == [0, 0, 0, 0, 100]
    (finding,) = table.findings
    assert (finding.code, finding.facts["seen"]) == ("bad_amount", ["TRUE", "FALSE", "TRUE", "FALSE"])
