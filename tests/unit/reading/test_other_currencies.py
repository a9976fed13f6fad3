"""Numbers that a cell's format shows in another currency are not taken for the carrier's own."""

import csv
import datetime
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

from pipeline.model.profile import Carrier, Profile
from pipeline.model.table import Table
from pipeline.reading.formats import xlsb_prescan, xlsx_prescan_exact
from pipeline.reading.formats.currency_names import is_own
from pipeline.reading.formats.shown_currencies import currency_styles, shown_currency
from pipeline.reading.input_files import read_sheets
from pipeline.reading.statement import read_statement
from pipeline.reading.tickets import assemble

pytestmark = pytest.mark.usefixtures("read_here")

FOREIGN = [
    "[$USD] #,##0.00",
    '"$"#,##0.00',
    "[$$-409]#,##0.00",
    r"\$0.00",
    '0.00"美元"',
    "[$€-2] #,##0",
    '_("HK$"* #,##0_)',
    "[$CAD] #,##0.00",
    '"＄"#,##0.00',
    "[$¥-411]#,##0",
    "[$¥-ja-JP]#,##0",
    "[$JPY] #,##0",
    '#,##0"円"',
    '"JP¥"#,##0',
    '"新加坡元"0.00',
    "[$S$-1004]0.00",
    "[$Fr.-807] 0.00",
    '0.0"万元"',
    "[$¥-804]#,##0;[$USD]-#,##0",
    '0.00"卢布"',
    '0.00" 林吉特"',
]
OWN = [
    "General",
    "#,##0.00",
    "[$¥-804]#,##0.00",
    "[$￥-478]#,##0.00",
    "[$¥-zh-CN]#,##0.00",
    '"¥"#,##0',
    r"\￥#,##0",
    '_ "¥"* #,##0.00_ ;_ "¥"* -#,##0.00_ ;_ "¥"* "-"??_ ;_ @_ ',
    "[$CNY] 0.00",
    "[$RMB] 0.00",
    '"人民币"0.00',
    '0.00"元"',
    "[Red][<0]-0.00;0.00",
    "[$-804]0.00",
    '"约"0.00_k',
    '0.00" 元"',
    "#,##0.00_);(#,##0.00)",
    "#,##0.00;-#,##0.00",
    r"#,##0.00_);[Red]\(#,##0.00\)",
    '_-* #,##0.00_-;-* #,##0.00_-;_-* "-"??_-;_-@_-',
    '_ * #,##0.00_ ;_ * -#,##0.00_ ;_ * "-"??_ ;_ @_ ',
    '_("¥"* #,##0.00_);_("¥"* (#,##0.00);_("¥"* "-"??_);_(@_)',
    "[>=0]#,##0.00;-#,##0.00",
    "[<0](0.00);0.00",
    "000-0000",
    "0.00E-00",
    '0.00" (含税)"',
    '"CNY-"0.00',
]
#: A number that is shown as a thousandth, or as a hundredfold.
SCALED = [
    '0.00"万"',
    "0.00%",
    "0%",
    "0.0%",
    '0"分"',
    '0.00" k"',
    '#,##0.00"千"',
    '[Red]0.00"百万"',
    r"0.00\K",
    "0.00,",
    "#,##0,",
    "#,##0.00,,",
    "#,##0,.0",
    "0!.0,",
    '0!.0,"万"',
    r"0\.00",
    "#,##0.00,;-#,##0.00,",
    "[>=1000]0.00,;0.00",
]
#: A number above zero that is shown as one below it.
BELOW_ZERO = [
    "-#,##0.00",
    "(#,##0.00)",
    '"-"0.00',
    r"\-0.00",
    "-General",
    "-#,##0.00;#,##0.00",
    "[Red](#,##0.00);0.00",
    "[<0]0.00;-0.00",
    "-[$¥-804]#,##0.00",
    '"¥"-0.00',
    "0.00-",
]
#: What other carriers' currencies are marked by, and what is refused then.
OTHERS = [
    ("USD", "[$$-409]0.00", "[$¥-804]0.00"),
    ("USD", '"US$"0.00', "[$$-1009]0.00"),
    ("HKD", '"HK$"0.00', '0.00"元"'),
    ("HKD", "[$$-C04]0.00", "[$$-409]0.00"),
    ("JPY", "[$¥-411]0", "[$CNY] 0"),
    ("CHF", "[$CHF] 0.00", "[$EUR] 0.00"),
]


def _workbook(path: Path, *number_formats: str, amount: float = 1070.5) -> Path:
    """A workbook with a row for each of the formats."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.append(["票号", "金额", "部门"])
    for line, number_format in enumerate(number_formats, 2):
        sheet.append([f"{9991234567888 + line}", amount, amount])
        for column in (2, 3):
            sheet.cell(line, column).number_format = number_format
    book.save(path)
    return path


def _table(path: Path, currency: str = "CNY") -> Table:
    return assemble([(path, read_sheets(path))], currency=currency)


def _is_refused(table: Table) -> None:
    (finding,) = table.findings
    assert (finding.code, finding.column, finding.rows.tolist()) == (
        "bad_amount",
        "amount",
        [*range(len(table))],
    )
    assert finding.facts["hint"] == ["currency"] * len(table)
    assert all(str(cell).endswith("1070.5") for cell in table.cells["amount"])


@pytest.mark.parametrize("number_format", FOREIGN)
def test_an_amount_shown_in_another_currency_is_refused_like_a_text_that_says_so(
    tmp_path: Path, number_format: str
) -> None:
    table = _table(_workbook(tmp_path / "t.xlsx", number_format))
    _is_refused(table)
    assert table.cells["部门"].tolist() == [1070.5]  # not ours, and carried through as it is


def _is_of_another_unit(table: Table) -> None:
    (finding,) = table.findings
    assert (finding.code, finding.column, finding.rows.tolist()) == (
        "bad_amount",
        "amount",
        [*range(len(table))],
    )
    assert finding.facts["hint"] == ["unit"] * len(table)


@pytest.mark.parametrize("number_format", SCALED)
def test_an_amount_shown_in_another_unit_is_refused(tmp_path: Path, number_format: str) -> None:
    """1.07 that reads 1.07万 was meant as 10,700; whoever looks at the file sees another amount than its cell holds."""
    _is_of_another_unit(_table(_workbook(tmp_path / "t.xlsx", number_format)))


@pytest.mark.parametrize("suffix", ["xls", "ods"])
def test_another_unit_is_seen_in_every_kind_of_workbook(
    tmp_path: Path, converted: Callable[[Path, str], Path], suffix: str
) -> None:
    formats = ('0.00"万"', "0.00%", "0%", '0.00"千"', "0.00,", "#,##0.00,,", "0!.0,")
    _is_of_another_unit(_table(converted(_workbook(tmp_path / "t.xlsx", *formats), suffix)))


def test_of_a_thousandth_is_told_what_the_cell_holds(tmp_path: Path) -> None:
    table = _table(_workbook(tmp_path / "t.xlsx", "0.00,", "#,##0.00,,", '0!.0,"万"', "[$USD] 0.00,"))
    assert table.cells["amount"].tolist() == ["1.0705k"] * 4


def _is_below_zero(table: Table) -> None:
    (finding,) = table.findings
    assert (finding.code, finding.rows.tolist()) == ("bad_amount", [*range(len(table))])
    assert finding.facts["hint"] == ["negative"] * len(table)
    assert {str(cell).replace("¥", "") for cell in table.cells["amount"]} == {"-1070.5"}


@pytest.mark.parametrize("number_format", BELOW_ZERO)
def test_an_amount_shown_as_less_than_zero_is_refused_like_one(tmp_path: Path, number_format: str) -> None:
    _is_below_zero(_table(_workbook(tmp_path / "t.xlsx", number_format)))


@pytest.mark.parametrize("suffix", ["xls", "ods"])
def test_an_amount_shown_as_less_than_zero_is_seen_in_every_kind_of_workbook(
    tmp_path: Path, converted: Callable[[Path, str], Path], suffix: str
) -> None:
    _is_below_zero(_table(converted(_workbook(tmp_path / "t.xlsx", *BELOW_ZERO), suffix)))


@pytest.mark.parametrize("suffix", ["xls", "ods"])
def test_every_usual_format_is_taken_from_every_kind_of_workbook(
    tmp_path: Path, converted: Callable[[Path, str], Path], suffix: str
) -> None:
    table = _table(converted(_workbook(tmp_path / "t.xlsx", *OWN), suffix))
    assert (table.frame["amount"].tolist(), table.findings) == ([107050] * len(OWN), ())
    for at, amount in enumerate((0.4, 3.0, 1234567.0)):
        path = _workbook(tmp_path / f"{at}.xlsx", "0", "#,##0", "0.00", amount=amount)
        table = _table(converted(path, suffix))
        assert (table.frame["amount"].tolist(), table.findings) == ([round(amount * 100)] * 3, ())


def test_an_amount_below_zero_that_its_format_shows_so_once_more_is_none(tmp_path: Path) -> None:
    table = _table(_workbook(tmp_path / "t.xlsx", "-0.00", amount=-5.0))
    assert [finding.code for finding in table.findings] == ["bad_amount"]


PERCENT = [("0%", 0.5, "50%"), ("0.00%", 0.07, "7%"), ("0%", 100, "10000%"), ("0%", "=50%", "50%")]
#: “%” that is mere text beside the number.
BESIDE = [('0.0"%"', 0.5, "0.5％"), (r"0\%", 5, "5％")]


@pytest.mark.parametrize(("number_format", "amount", "seen"), PERCENT[:3] + BESIDE)
def test_of_a_percentage_is_told_what_the_sheet_shows(
    tmp_path: Path, number_format: str, amount: float, seen: str
) -> None:
    table = _table(_workbook(tmp_path / "t.xlsx", number_format, amount=amount))
    _is_of_another_unit(table)
    assert table.cells["amount"].tolist() == [seen]


@pytest.mark.parametrize("suffix", ["xls", "ods"])
def test_of_percentages_the_same_is_told_in_every_kind_of_workbook(
    tmp_path: Path, converted: Callable[[Path, str], Path], suffix: str
) -> None:
    told = PERCENT + BESIDE
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.append(["票号", "金额"])
    for line, (number_format, amount, _) in enumerate(told, 2):
        sheet.append([f"{9991234567890 + line}", amount])
        sheet.cell(line, 2).number_format = number_format
    if suffix == "ods":
        sheet.cell(5, 2).number_format = "General"  # which shows the formula's =50% as 50.00% all the same
    book.save(tmp_path / "t.xlsx")
    table = _table(converted(tmp_path / "t.xlsx", suffix))
    assert table.cells["amount"].tolist() == [seen for _, _, seen in told]


@pytest.mark.parametrize("text", ["1.07万", "12.5%", "１２．５％", "3千", "1.07万元"])
def test_a_text_in_another_unit_is_told_for_one(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"票号,金额\n9991234567890,{text}\n", encoding="utf-8")
    _is_of_another_unit(_table(path))


@pytest.mark.parametrize("number_format", OWN)
def test_an_amount_in_the_currency_s_own_format_is_taken(tmp_path: Path, number_format: str) -> None:
    table = _table(_workbook(tmp_path / "t.xlsx", number_format))
    assert table.frame["amount"].tolist() == [107050]
    assert table.findings == ()


@pytest.mark.parametrize(("currency", "own", "other"), OTHERS)
def test_the_signs_that_are_taken_are_those_of_the_carrier_s_currency(
    tmp_path: Path, currency: str, own: str, other: str
) -> None:
    assert _table(_workbook(tmp_path / "own.xlsx", own), currency).frame["amount"].tolist() == [107050]
    _is_refused(_table(_workbook(tmp_path / "other.xlsx", other), currency))


@pytest.mark.parametrize(
    ("currency", "own", "other"), [("USD", "US$ 12.50", "12.50 元"), ("HKD", "港币12.5", "¥12.5")]
)
def test_a_text_is_read_in_the_carrier_s_currency_too(
    tmp_path: Path, currency: str, own: str, other: str
) -> None:
    path = tmp_path / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["票号", "金额"], ["9991234567890", own], ["9991234567891", other]])
    table = _table(path, currency)
    assert table.frame["amount"].tolist() == [1250, 0]
    assert [finding.facts["hint"] for finding in table.findings] == [["currency"]]


@pytest.mark.parametrize("suffix", ["xls", "ods"])
def test_another_currency_is_seen_in_every_kind_of_workbook(
    tmp_path: Path, converted: Callable[[Path, str], Path], suffix: str
) -> None:
    formats = ("[$CAD] #,##0.00", "[$¥-411]#,##0.00", '"＄"#,##0.00', "[$$-409]#,##0.00", '0.00"円"')
    _is_refused(_table(converted(_workbook(tmp_path / "t.xlsx", *formats), suffix)))


@pytest.mark.parametrize("suffix", ["xls", "ods"])
def test_the_carrier_s_own_is_seen_in_every_kind_of_workbook(
    tmp_path: Path, converted: Callable[[Path, str], Path], suffix: str
) -> None:
    formats = ("[$¥-804]#,##0.00", '"￥"#,##0.00', '0.00"元"', "[$CNY] 0.00")
    table = _table(converted(_workbook(tmp_path / "t.xlsx", *formats), suffix))
    assert (table.frame["amount"].tolist(), table.findings) == ([107050] * len(formats), ())


def _record(number: int, content: bytes = b"") -> bytes:
    head = bytes([number]) if number < 128 else bytes([number & 0x7F | 0x80, number >> 7])
    return head + bytes([len(content)]) + content


def test_an_xlsb_s_cells_are_known_by_their_formats() -> None:
    code = "[$CAD] 0.00"
    text = len(code).to_bytes(4, "little") + code.encode("utf-16-le")
    plain, shown = (b"\x00\x00" + number.to_bytes(2, "little") + b"\x00" * 12 for number in (0, 164))
    styles = (
        _record(44, (164).to_bytes(2, "little") + text) + _record(47, shown)  # not a cell's
        + _record(617, b"\x02\x00\x00\x00") + _record(47, plain) + _record(47, shown) + _record(618)
    )  # fmt: skip
    currencies = xlsb_prescan.currency_styles(iter([styles]))
    assert currencies == {1: "CAD"}

    def cell(number: int, column: int, style: int) -> bytes:
        return _record(number, column.to_bytes(4, "little") + style.to_bytes(3, "little") + b"\x00" * 9)

    row = _record(0, (4).to_bytes(4, "little") + b"\x00" * 13)
    cells = [cell(5, 0, 0), cell(5, 1, 1), cell(2, 2, 1), cell(9, 3, 1), cell(7, 4, 1), cell(1, 5, 1)]
    look = xlsb_prescan.look(iter([row + b"".join(cells)]), currencies)
    assert look.currencies == {"CAD": [4, 1, 4, 2, 4, 3]}  # numbers alone, not texts and blank cells


def test_attributes_of_a_cell_come_in_any_order_and_number(tmp_path: Path) -> None:
    made = _workbook(tmp_path / "made.xlsx", FOREIGN[0])
    for at, (old, new) in enumerate(
        [
            (b'r="B2" s="1"', b'r="B2" s="1" cm="1"'),
            (b'r="B2" s="1"', b's="1" ph="0" r="B2"'),
            (b'r="B2" s="1" t="n"', b't="n" r="B2" vm="3" s="1"'),
            (b'r="B2" s="1" t="n"', b't="n" s="1"'),
        ]
    ):
        path = tmp_path / f"{at}.xlsx"
        with zipfile.ZipFile(made) as package, zipfile.ZipFile(path, "w") as changed:
            for name in package.namelist():
                content = package.read(name)
                if name.endswith("sheet1.xml"):
                    assert old in content
                    content = content.replace(old, new)
                changed.writestr(name, content)
        _is_refused(_table(path))


def test_a_comment_about_dollars_is_no_amount_in_dollars(
    tmp_path: Path, converted: Callable[[Path, str], Path]
) -> None:
    path = _workbook(tmp_path / "t.xlsx", "0.00")
    book = openpyxl.load_workbook(path)
    book.worksheets[0]["B2"].comment = openpyxl.comments.Comment("was USD 150", "me")
    book.save(path)
    assert _table(converted(path, "ods")).frame["amount"].tolist() == [107050]


def test_a_statement_s_amounts_are_in_the_carrier_s_currency(tmp_path: Path) -> None:
    path = tmp_path / "s.xlsx"
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.append(["voucher", "number", "ticket_no", "charge", "amount", "issued_at"])
    for ticket, number_format in (("9991234567890", "[$CAD] 0.00"), ("9991234567891", "[$¥-804]0.00")):
        sheet.append(["invoice", "12345678", ticket, "ticket_fare", 10.5, datetime.date(2026, 10, 1)])
        sheet.cell(sheet.max_row, 5).number_format = number_format
    book.save(path)
    found = read_statement(path, Profile())
    assert [line.ticket_no for line in found.lines] == ["9991234567891"]
    assert [str(bad.problem) for bad in found.misread] == [
        "E2: “CAD10.5” is not in the carrier's currency, CNY"
    ]
    assert [line.ticket_no for line in read_statement(path, Profile(Carrier(currency="CAD"))).lines] == [
        "9991234567890"
    ]


def test_nothing_is_nothing_in_every_currency(tmp_path: Path) -> None:
    book = openpyxl.load_workbook(_workbook(tmp_path / "t.xlsx", FOREIGN[0], amount=0))
    book.worksheets[0]["B1"] = "票价"
    book.save(tmp_path / "t.xlsx")
    assert _table(tmp_path / "t.xlsx").findings == ()


def test_an_exact_look_sees_the_same_cells_as_a_quick_one(tmp_path: Path) -> None:
    path = _workbook(tmp_path / "t.xlsx", FOREIGN[0])
    with zipfile.ZipFile(path) as package:
        currencies = currency_styles(package.read("xl/styles.xml"))
        look = xlsx_prescan_exact.look(iter([package.read("xl/worksheets/sheet1.xml")]), currencies)
    (read,) = read_sheets(path)
    assert look.currencies == {"USD": [1, 1, 1, 2]}
    assert {signs: places.tolist() for signs, places in read.currencies.items()} == {"USD": [[1, 1], [1, 2]]}


def test_what_is_no_currency_is_none() -> None:
    for code in (
        "yyyy-mm-dd",
        "[$-F800]dddd, mmmm dd, yyyy",
        "AM/PM h:mm",
        "0.00E+00",
        '0"张"',
        "@",
        "# ?/?",
    ):
        assert shown_currency(code) == ""
    assert not is_own("Fr.", "CNY")
