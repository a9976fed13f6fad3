"""What workbooks are read as, in lines for a terminal, in both languages."""

from pipeline.model.message import message
from pipeline.model.survey import HeadingUse, Lack, SheetUse, Survey, ValueUse
from pipeline.reporting.survey_text import survey_lines

USE = SheetUse(
    "b.xlsx", "国内", "tickets", 4, 2,
    (
        HeadingUse("A4", "票号", "ticket_no", samples=("999", "x" * 30)),
        HeadingUse("B4", "手续费", may_mean=("refund_fee", "change_fee")),
        HeadingUse("C4", "部\n门", samples=("a\x1b[31m",)),
    ),
    (ValueUse("ticket_status", "已使用过", 1, close=("used",)), ValueUse("market", "火星", 2), ValueUse("market", "国内", 2, "domestic")),
    (message("{place}: {note}", place=message("b.xlsx, sheet 国内"), note="told"),),
    (Lack("fare", 2, 6, "unreadable"), Lack("flight_date", 1, 5, "missing"), Lack("buyer", 2, 5, "missing")),
)  # fmt: skip


def test_a_sheet_s_lines() -> None:
    left = SheetUse("b.xlsx", "酒店", "left_out", headings=(HeadingUse("A1", "房型", samples=("大床",)),))
    survey = Survey([USE, left], [message("something stops it")], [], [])
    assert list(survey_lines(survey, "en")) == [
        "b.xlsx, sheet 国内: tickets, 2 rows, headings in row 4",
        f"  A4  票号    = ticket_no                 999 | {'x' * 24}…",
        "  B4  手续费  ? refund_fee or change_fee",
        "  C4  部 门   carried along               a [31m",
        "  ! flight_date is missing in 1 row, the first of them row 5",
        "  ! no buyer in 2 rows, the first of them row 5; a buyers file is given with --buyers",
        "  ! fare can't be read in 2 rows, the first of them row 6",
        "  ! ticket_status is “已使用过” in 1 row, which is not known; did you mean used?",
        "  ! market is “火星” in 2 rows, which is not known; known: domestic, international",
        "  told",
        "",
        "b.xlsx, sheet 酒店: left out",
        "  A1  房型  left out  大床",
        "",
        "something stops it",
    ]


def test_in_chinese_columns_have_their_chinese_names() -> None:
    lines = list(survey_lines(Survey([USE], [], [], []), "zh"))
    assert lines[0] == "b.xlsx，工作表“国内”：客票，2 行，表头在第 4 行"
    assert lines[2].split() == ["B4", "手续费", "?", "退票手续费或改签费"]
    assert "是否为已使用？" in lines[7]
