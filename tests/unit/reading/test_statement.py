"""A carrier's statement, however the carrier lays it out; what can't be understood proves nothing."""

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import openpyxl
import pytest

from pipeline.messages.translate import heading
from pipeline.model.columns import BUYER_COLUMNS, TICKET_COLUMNS, Lang
from pipeline.model.errors import InputProblem
from pipeline.model.evidence import Statement
from pipeline.model.profile import Codes, Profile
from pipeline.reading.input_files import read_sheets
from pipeline.reading.statement import is_statement, read_statement

pytestmark = pytest.mark.usefixtures("read_here")

CODES = Codes(
    fee_type={"ticket_fare": "TKT_FARE", "refund": "REFUND_FEE", "ancillary": "ANC"},
    product_type={"flight": "Flight", "baggage": "XBAG", "seat": "", "upgrade": "", "meal": "", "lounge": ""},
)
ZONE = ZoneInfo("Asia/Shanghai")
PROFILE = Profile(codes=CODES)
HEADINGS = ("voucher", "number", "ticket_no", "charge", "amount", "issued_at", "buyer")
LINE = ("invoice", "179525952880229397", "999-1234567890", "ticket_fare", "1,234.50", "2026-10-05", "Acme")


def read(path: Path, *rows: Sequence[Any], sheet: str = "Sheet1") -> Statement:
    if path.suffix == ".csv":
        path.write_text("\n".join(",".join(f'"{cell}"' for cell in row) for row in rows), encoding="utf-8")
    else:
        book = openpyxl.Workbook()
        book.active.title = sheet
        for row in rows:
            book.active.append(list(row))
        book.save(path)
    return read_statement(path, PROFILE)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_a_line_is_read_with_its_place(tmp_path: Path, suffix: str) -> None:
    found = read(tmp_path / f"s{suffix}", HEADINGS, LINE)
    assert found.misread == ()
    (line,) = found.lines
    assert (line.voucher, line.number, line.ticket_no, line.charge, line.product) == (
        "invoice", "179525952880229397", "9991234567890", "ticket_fare", "flight"
    )  # fmt: skip
    assert (line.amount, line.buyer, line.issued) == (123450, "Acme", datetime.date(2026, 10, 5))
    assert str(line.place).startswith(f"s{suffix}, ")
    assert str(line.place).endswith("row 2")
    assert found.name == f"s{suffix}"
    assert len(found.sha256) == 64


@pytest.mark.parametrize(
    ("headings", "line"),
    [
        (("凭证类型", "凭证号码", "票号", "费用类型", "金额（元）", "开具时间", "购买方"), ("发票", LINE[1], LINE[2], "机票款", "1234.5元", "2026年10月5日", "甲")),
        (("开票日期", "电子客票号码", "发票号码", "费用项目", "价税合计", "购买方名称"), ("2026/10/5", LINE[2], LINE[1], "TKT_FARE", 1234.5, "甲")),
        (("Ticket Number", "Invoice No.", "Fee Type", "Total"), (LINE[2], LINE[1], "tkt_fare", 1234.5)),
        (("票号 Ticket No", "号码 Number", "类型 Type", "项目 Item"), (LINE[2], LINE[1], "数电发票", "机票款")),
    ],
)  # fmt: skip
def test_headings_and_words_as_carriers_have_them(tmp_path: Path, headings: Any, line: Any) -> None:
    found = read(tmp_path / "s.xlsx", ("某航空公司开票明细",), (), headings, line)
    assert found.misread == ()
    assert (found.lines[0].voucher, found.lines[0].number, found.lines[0].charge) == (
        "invoice",
        LINE[1],
        "ticket_fare",
    )


@pytest.mark.parametrize(
    "heading",
    [
        "tax_no",
        "Tax No.",
        "税号",
        "纳税人识别号 Tax No",
        "phone number",
        "header_type",
        "Order No",
        "PNR No",
        "Tax Amount",
    ],
)
@pytest.mark.parametrize("number", ["number", "Invoice No."])
def test_another_column_with_a_number_an_amount_or_a_type_is_carried_along(
    tmp_path: Path, heading: str, number: str
) -> None:
    headings = ("voucher", number, *HEADINGS[2:], heading)
    for columns in (headings, (heading, *headings[:-1])):
        line = [dict(zip(headings, (*LINE, "91310000775785552L"), strict=True))[name] for name in columns]
        found = read(tmp_path / "s.csv", columns, line)
        assert found.misread == ()
        assert [(one.number, one.amount, one.voucher) for one in found.lines] == [(LINE[1], 123450, LINE[0])]


@pytest.mark.parametrize(
    "headings", [("Invoice Amount CNY", "Issued at UTC"), ("发票金额 元", "开票时间 UTC+8")]
)
def test_a_heading_with_a_unit_behind_it(tmp_path: Path, headings: tuple[str, str]) -> None:
    found = read(tmp_path / "s.xlsx", (*HEADINGS[:4], *headings), LINE[:6])
    assert [(one.amount, str(one.issued)) for one in found.lines] == [(123450, "2026-10-05")]


def test_a_column_for_each_kind_and_the_sheets_name_say_which_voucher_it_is(tmp_path: Path) -> None:
    rows = (
        ("ticket_no", "发票号码", "行程单号", "charge"),
        (LINE[2], LINE[1], "", "refund"),
        ("9991234567891", "", "2" * 20, ""),
    )
    found = read(tmp_path / "s.xlsx", *rows)
    assert [(line.voucher, line.charge) for line in found.lines] == [
        ("invoice", "refund"),
        ("itinerary", "ticket_fare"),
    ]
    named = read(tmp_path / "t.xlsx", ("ticket_no", "号码"), (LINE[2], "2" * 20), sheet="行程单")
    assert [line.voucher for line in named.lines] == ["itinerary"]


@pytest.mark.parametrize(
    ("charge", "product", "read_as"),
    [
        ("ancillary", "baggage", ("ancillary", "baggage")),
        ("ANC", "XBAG", ("ancillary", "baggage")),
        ("附加服务", "", ("ancillary", "")),
        ("行李", "", ("ancillary", "baggage")),
        ("退票费", "机票", ("refund", "flight")),
        ("REFUND_FEE", "Flight", ("refund", "flight")),
    ],
)
def test_charges_and_products_by_our_words_and_by_the_carriers_codes(
    tmp_path: Path, charge: str, product: str, read_as: Any
) -> None:
    found = read(tmp_path / "s.xlsx", (*HEADINGS, "product"), (*LINE[:3], charge, *LINE[4:], product))
    assert [(line.charge, line.product) for line in found.lines] == [read_as], found.misread


@pytest.mark.parametrize(
    ("cell", "when"),
    [
        (
            "2026-10-05T09:30:00+08:00",
            datetime.datetime(2026, 10, 5, 9, 30, tzinfo=datetime.timezone(datetime.timedelta(hours=8))),
        ),
        ("2026-10-05 9:30", datetime.datetime(2026, 10, 5, 9, 30)),  # noqa: DTZ001 - a statement without a time zone
        (datetime.datetime(2026, 10, 5, 9, 30), datetime.datetime(2026, 10, 5, 9, 30)),  # noqa: DTZ001 - likewise
        ("20261005", datetime.date(2026, 10, 5)),
        ("", None),
    ],
)
def test_when_it_was_issued(tmp_path: Path, cell: Any, when: Any) -> None:
    assert read(tmp_path / "s.xlsx", HEADINGS, (*LINE[:5], cell, "Acme")).lines[0].issued == when


@pytest.mark.parametrize(
    ("column", "cell", "seen"),
    [
        ("ticket_no", "12345", "not a ticket number"),
        ("number", "", "number is missing"),
        ("number", 179525952880229397.0, "spoilt"),
        ("number", "1.79526E+17", "spoilt by the spreadsheet"),
        ("number", "1.7959208499761027e+17", "spoilt by the spreadsheet"),
        ("number", "12", "enter it as the carrier has it"),
        ("voucher", "receipt", "whether it is an invoice"),
        ("charge", "", "not a charge"),
        ("charge", "tip", "not a charge"),
        ("amount", "-12.00", "reverses a voucher (red) and does not name it"),
        ("amount", "twelve", "not an amount"),
        ("issued_at", "03/04/2026", "without guessing"),
    ],
)
def test_a_line_that_can_not_be_understood_is_named_with_its_cell(
    tmp_path: Path, column: str, cell: Any, seen: str
) -> None:
    bad = [cell if name == column else value for name, value in zip(HEADINGS, LINE, strict=True)]
    found = read(tmp_path / "s.xlsx", HEADINGS, LINE, bad)
    assert len(found.lines) == 1
    (misread,) = found.misread
    assert seen in str(misread.problem)
    assert str(misread.problem).startswith(f"{'ABCDEFG'[HEADINGS.index(column)]}3: ")
    assert misread.ticket_no == ("" if column == "ticket_no" else "9991234567890")


def test_totals_blank_rows_and_repeated_headings_are_no_lines(tmp_path: Path) -> None:
    total = ("合计", "", "", "", 1234.5, "", "")
    found = read(
        tmp_path / "s.xlsx",
        ("Statement of October",),
        HEADINGS,
        LINE,
        (),
        HEADINGS,
        (*LINE[:2], "9991234567891", *LINE[3:]),
        total,
    )
    assert (len(found.lines), found.misread) == (2, ())


@pytest.mark.parametrize(
    ("headings", "line"),
    [
        ((*HEADINGS, "passenger_name"), (*LINE, "ZHANG/SAN")),
        (
            ("类型", "发票号码", "票号", "旅客姓名", "费用类型", "金额", "开票日期", "购方名称", "航班日期"),
            ("发票", *LINE[1:3], "张三", "机票款", "1,234.50", "2026-10-05", "Acme", "2026-10-01"),
        ),
    ],
)
def test_a_statement_with_columns_of_tickets_is_one_where_somebody_says_so(
    tmp_path: Path, headings: Sequence[str], line: Sequence[str]
) -> None:
    found = read(tmp_path / "s.csv", headings, line)
    assert [(one.number, one.ticket_no, one.amount, one.buyer) for one in found.lines] == [
        ("179525952880229397", "9991234567890", 123_450, "Acme")
    ]
    assert found.misread == ()
    sheets = read_sheets(tmp_path / "s.csv")
    assert not is_statement(tmp_path / "s.csv", sheets)
    assert is_statement(tmp_path / "s.csv", sheets, named=True)


def test_tickets_are_no_statement(tmp_path: Path) -> None:
    with pytest.raises(
        InputProblem, match=r"no carrier's statement: it has columns of tickets \(passenger_name\)"
    ):
        read(
            tmp_path / "t.xlsx",
            ("ticket_no", "passenger_name", "number", "amount"),
            (LINE[2], "ZHANG/SAN", "1", 5),
        )
    assert not is_statement(tmp_path / "t.xlsx", read_sheets(tmp_path / "t.xlsx"))
    with pytest.raises(InputProblem, match="no carrier's statement"):
        read(tmp_path / "u.csv", ("a", "b"), ("1", "2"))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_one_sheet_with_all_our_own_headings_of_tickets_is_no_statement(tmp_path: Path, lang: Lang) -> None:
    path = tmp_path / "tickets.csv"
    headings = [heading(column.name, lang) for column in (*TICKET_COLUMNS, *BUYER_COLUMNS[1:])]
    path.write_text(",".join(headings) + "\n9991234567890\n", encoding="utf-8")
    assert not is_statement(path, read_sheets(path))


def test_a_files_own_time_says_nothing_of_when_its_statement_was_made(tmp_path: Path) -> None:
    import os  # noqa: PLC0415 - here alone

    found = read(tmp_path / "s.csv", HEADINGS, LINE)
    os.utime(tmp_path / "s.csv", (1_700_000_000, 1_700_000_000))
    again = read_statement(tmp_path / "s.csv", PROFILE)
    assert again.written == datetime.datetime.fromtimestamp(1_700_000_000, datetime.UTC)
    assert found.written > again.written
    assert (found.made, again.made) == (None, None)


NINE = datetime.datetime(2025, 11, 1, 9, 30, tzinfo=ZONE)


@pytest.mark.parametrize(
    ("row", "made"),
    [
        (("导出时间：2025-11-01 09:30",), NINE),
        (("", "导出时间", "", "2025-11-01 09:30:00"), NINE),
        (("打印时间", NINE.replace(tzinfo=None)), NINE),
        (("制表人：李四", "生成日期:", "2025年11月1日"), NINE.replace(hour=0, minute=0)),
        (("Generated at 2025-11-01 09:30",), NINE),
        (("导出时间（北京时间） 2025-11-01 09:30",), NINE),
        (("Generated at: 2025-11-01T01:30:00Z",), NINE),
        (("Date printed", "2025-11-01 03:30:00 +02:00"), NINE),
        (("Report generated on", "01/11/2025"), None),  # day or month
        (("统计期间：2025-10-01 至 2025-10-31",), None),
        (("Created by: Wang",), None),
        (("Statement date", "2025-11-30"), None),  # the end of its time, it may be
    ],
)
@pytest.mark.parametrize("above", [True, False])
def test_when_a_statement_says_that_it_was_made(tmp_path: Path, row: Any, made: Any, *, above: bool) -> None:
    rows = [row, HEADINGS, LINE] if above else [HEADINGS, LINE, row]
    found = read(tmp_path / "s.xlsx", *rows)
    assert found.made == made
    assert len(found.lines) == 1


def test_the_earliest_time_counts_and_the_files_own_where_it_is_earlier(tmp_path: Path) -> None:
    import os  # noqa: PLC0415 - here alone

    found = read(
        tmp_path / "s.xlsx",
        ("导出时间", NINE.replace(tzinfo=None)),
        HEADINGS,
        LINE,
        ("打印时间：2025-11-02 10:00",),
    )
    assert found.made == NINE
    then = NINE.timestamp() - 3600
    os.utime(tmp_path / "s.xlsx", (then, then))
    assert read_statement(tmp_path / "s.xlsx", PROFILE).made == NINE - datetime.timedelta(hours=1)


def test_a_statement_in_gb18030_is_known_by_its_own_headings(tmp_path: Path) -> None:
    text = "填开日期,票号,行程单号码\n2026-10-05,999-1234567890,20179525952873829059\n"
    (tmp_path / "s.csv").write_bytes(text.encode("gb18030"))
    assert read_statement(tmp_path / "s.csv", PROFILE).lines[0].voucher == "itinerary"


def test_what_of_a_statement_was_not_read_is_known(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (HEADINGS, LINE):
        book.active.append(list(row))
    book.create_sheet("Page2").append(list(LINE))
    hidden = book.create_sheet("Old")
    hidden.append(["9991234567890"])
    hidden.sheet_state = "hidden"
    book.create_sheet("Empty")
    book.save(tmp_path / "s.xlsx")
    found = read_statement(tmp_path / "s.xlsx", PROFILE)
    assert (len(found.lines), found.unread) == (1, ("Page2", "Old"))


def test_a_line_that_only_looks_like_a_total_is_named(tmp_path: Path) -> None:
    found = read(
        tmp_path / "s.xlsx", HEADINGS, LINE, ("invoice", "179525952880229398", "", "", 12, "", "Total")
    )
    assert (len(found.lines), len(found.misread)) == (1, 1)


@pytest.mark.parametrize(
    ("headings", "kinds"),
    [
        (HEADINGS, {"invoice", "itinerary"}),
        (("ticket_no", "发票号码"), {"invoice"}),
        (("ticket_no", "发票号码", "行程单号"), {"invoice", "itinerary"}),
    ],
)
def test_which_kinds_of_voucher_a_statement_can_list(tmp_path: Path, headings: Any, kinds: set[str]) -> None:
    assert read(tmp_path / "s.xlsx", headings, ["" for _ in headings]).kinds == kinds


def test_a_product_that_does_not_go_with_its_charge_is_no_line(tmp_path: Path) -> None:
    found = read(tmp_path / "s.xlsx", (*HEADINGS, "product"), (*LINE, "baggage"))
    assert (found.lines, len(found.misread)) == ((), 1)


INVOICE, ITINERARY = "179534103497928404", "20179534095875978952"


@pytest.mark.parametrize("heading", ["发票号码", "行程单号", "发票号码/行程单号", "凭证号码"])
@pytest.mark.parametrize("sheet", ["开票明细", "发票"])
def test_the_lines_own_kind_wins_over_the_heading_of_its_number_and_the_sheets_name(
    tmp_path: Path, heading: str, sheet: str
) -> None:
    found = read(
        tmp_path / "s.xlsx",
        ("某航空公司 电子发票/行程单开具明细",),
        (),
        ("序号", "凭证类型", heading, "票号", "费用项目"),
        (1, "电子行程单", ITINERARY, "999-1234567890", "机票款"),
        (2, "电子发票", INVOICE, "999-1234567891", "机票款"),
        (3, "电子发票（航空电子客票行程单）", ITINERARY, "999-1234567892", "机票款"),
        (4, "增值税电子普通发票", INVOICE, "999-1234567893", "机票款"),
        sheet=sheet,
    )
    assert found.misread == ()
    assert [line.voucher for line in found.lines] == ["itinerary", "invoice", "itinerary", "invoice"]


def test_a_kind_that_only_a_heading_says_counts_unless_the_sheet_says_another(tmp_path: Path) -> None:
    rows = (("类型", "发票号码", "票号", "费用项目"), ("成人", INVOICE, "999-1234567890", "机票款"))
    assert [line.voucher for line in read(tmp_path / "s.xlsx", *rows).lines] == ["invoice"]
    found = read(tmp_path / "t.xlsx", *rows, sheet="行程单")
    assert (found.lines, len(found.misread)) == ((), 1)


def test_a_number_in_the_column_of_the_kind_that_its_line_is_not_refuses_the_file(tmp_path: Path) -> None:
    rows = (
        ("凭证类型", "发票号码", "行程单号", "票号", "费用项目"),
        ("发票", INVOICE, "", "999-1234567890", "机票款"),
        ("行程单", ITINERARY, "", "999-1234567891", "机票款"),
    )
    with pytest.raises(
        InputProblem, match="B3 holds an invoice's number by its heading, and the line says itinerary"
    ):
        read(tmp_path / "s.xlsx", *rows)


def test_numbers_that_a_spreadsheet_rounded_before_they_became_text_are_spoilt(tmp_path: Path) -> None:
    rounded = [("invoice", "179525952880229000", *LINE[2:]), ("itinerary", "20179525952873800000", *LINE[2:])]
    found = read(tmp_path / "s.csv", HEADINGS, *rounded)
    assert found.lines == ()
    assert all("spoilt by the spreadsheet" in str(misread.problem) for misread in found.misread)
    assert [str(misread.problem)[:3] for misread in found.misread] == ["B2:", "B3:"]
    # One of them may end so by chance, and a number that does not end so was not rounded.
    assert len(read(tmp_path / "t.csv", HEADINGS, rounded[0]).lines) == 1
    assert len(read(tmp_path / "u.csv", HEADINGS, *rounded, LINE).lines) == 3
    originals = [(*LINE, "179525952880229000", "红冲"), (*LINE, "179525952880228000", "红冲")]
    found = read(tmp_path / "v.csv", (*HEADINGS, "原发票号码", "状态"), *originals)
    assert (found.reversals, len(found.misread)) == ((), 2)


def test_a_column_that_lines_need_and_that_is_not_there_is_told_by_the_row_of_the_headings(
    tmp_path: Path,
) -> None:
    headings = ("行程单号", "发票号码", "票号")
    found = read(
        tmp_path / "s.xlsx",
        ("某航空公司",),
        headings,
        (ITINERARY, "", "999-1234567890"),
        ("", INVOICE, "999-1234567891"),
        ("", INVOICE, "999-1234567892"),
    )
    assert [line.ticket_no for line in found.lines] == ["9991234567890"]  # an itinerary is of the fare
    assert [misread.ticket_no for misread in found.misread] == ["9991234567891", "9991234567892"]
    (told,) = {(str(misread.place), str(misread.problem)) for misread in found.misread}
    assert told[0] == "s.xlsx, Sheet1, row 2"
    assert told[1].startswith("no column is headed charge, and ")
    found = read(tmp_path / "t.xlsx", headings, ("", "", "999-1234567890"), sheet="发票")
    assert [str(misread.problem)[:3] for misread in found.misread] == ["B2:"]
    found = read(tmp_path / "u.xlsx", ("number", "票号", "charge"), (INVOICE, "999-1234567891", "refund"))
    assert [str(misread.problem)[:28] for misread in found.misread] == ["no column is headed voucher,"]
