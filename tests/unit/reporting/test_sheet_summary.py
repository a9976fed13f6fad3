"""The Summary: counts, money, and what to do next."""

import dataclasses
import datetime
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest

from pipeline.model.columns import LANGS, Lang
from pipeline.model.message import SheetName, message
from pipeline.model.outcome import Outcome
from pipeline.model.result import RowResults, RunResult
from pipeline.reporting.result_workbook import write_workbook
from pipeline.reporting.sheet_summary_last_days import due

Made = Callable[..., RunResult]
DAY = datetime.timedelta(1)
TODAY = datetime.date(2026, 11, 20)


def summary_text(path: Path) -> str:
    rows = openpyxl.load_workbook(path)["Summary"].iter_rows(values_only=True)
    return "\n".join(" | ".join(str(cell) for cell in row if cell is not None) for row in rows)


def test_the_summary_counts_and_says_what_to_do(mixed: RunResult, tmp_path: Path) -> None:
    text = summary_text(write_workbook(mixed, tmp_path / "r.xlsx"))
    assert "issued | 1 | 1000.5 | the carrier accepted it" in text
    assert "Total | 5 | 4002" in text
    assert "itinerary | 1 | 1000.5 | 1 | 1000.5 | 0 | 0" in text
    assert "Buyer 1 | 1 | 1000.5 | 0 | 0 | 1 | 1000.5" in text
    assert "1 request with an unknown outcome (sheet Unknown of the result workbook)" in text
    assert "1 row invalid: correct" in text
    assert "ready" not in text


def test_the_summary_adds_small_buyers_up_and_says_that_a_run_stopped(made: Made, tmp_path: Path) -> None:
    rows = [
        {
            "ticket_no": f"99912345678{n:02d}",
            "header_name": f"Buyer {n}",
            "header_type": "individual",
            "buyer": None,
            "amount": 1 + n,
        }
        for n in range(25)
    ]
    text = summary_text(write_workbook(made(*rows, stopped="key refused."), tmp_path / "r.xlsx"))
    assert "Buyer 24" in text
    assert "Buyer 4 " not in text
    assert re.search(r"^5 other buyers \| 0 \| 0 \| 5 \| 15 \| 0 \| 0$", text, re.MULTILINE)
    assert "• The run stopped early: key refused.\n• Running the same command again is safe." in text
    assert "25 rows ready" in text


def test_a_run_with_nothing_to_do_says_so(made: Made, tmp_path: Path) -> None:
    result = made({}, answers=[Outcome("issued", number="1")])
    assert "Nothing: every row is issued." in summary_text(write_workbook(result, tmp_path / "r.xlsx"))


def ago(**back: int) -> datetime.date:
    """A day so many years and days before today."""
    return TODAY.replace(year=TODAY.year - back.get("years", 0)) - DAY * back.get("days", 0)


@pytest.mark.slow
def test_the_first_line_says_how_much_is_done(mixed: RunResult, made: Made, tmp_path: Path) -> None:
    text = summary_text(write_workbook(mixed, tmp_path / "r.xlsx"))
    assert text.split("\n")[1] == "1 of 5 charges have their voucher: CNY 1,000.50 of CNY 4,002.00."
    checked = summary_text(write_workbook(made({}, command="check"), tmp_path / "c.xlsx"))
    assert checked.split("\n")[1].startswith("Nothing was sent. 0 of 1 charges")


def test_deadlines_stand_soonest_first_with_their_rows(made: Made, tmp_path: Path) -> None:
    seat = {"charge": "ancillary", "product": "seat", "voucher": None}
    result = made(
        {"ticket_no": "9991234567801", "flight_date": ago(years=1, days=9), "used_on": ago(years=1) + DAY * 9},
        {"ticket_no": "9991234567802", "flight_date": ago(days=178), "voucher": "itinerary"},
        {"ticket_no": "9991234567803", **seat, "purchased_on": ago(years=1), "ticket_status": "open"},
        {"ticket_no": "9991234567804", "flight_date": ago(days=5)},  # a year to go
        {"ticket_no": "9991234567805", "flight_date": ago(years=1, days=1)},  # too late
        {"ticket_no": "9991234567806", "flight_date": ago(years=1) + DAY * 3, "ticket_status": "open"},
        {"ticket_no": "9991234567807", "charge": "refund", "ticket_status": "refunded",
         "refund_approved_on": ago(years=1) + DAY},
        {"ticket_no": "9991234567808", "flight_date": ago(days=178), "voucher": "itinerary", "ticket_status": "open"},
    )  # fmt: skip
    charges = result.columns.charges
    assert [(charges.last_day[at].item() - TODAY, charges.line[at]) for at in due(result)] == [
        (0 * DAY, 2),
        (2 * DAY, 1),
        (9 * DAY, 0),
    ]
    path = write_workbook(result, tmp_path / "r.xlsx")
    lines = [line for line in summary_text(path).split("\n") if line.startswith("tickets.xlsx, Tickets, row")]
    assert lines == [
        "tickets.xlsx, Tickets, row 4 | 2026-11-20 00:00:00 | 9991234567803 | 0 | seat · invoice | waiting | 1000.5",
        "tickets.xlsx, Tickets, row 3 | 2026-11-22 00:00:00 | 9991234567802 | 2 | ticket_fare · itinerary | ready | 1000.5",
        "tickets.xlsx, Tickets, row 2 | 2026-11-29 00:00:00 | 9991234567801 | 9 | ticket_fare · invoice | ready | 1000.5",
    ]
    sheet = openpyxl.load_workbook(path)["Summary"]
    places = [cell.hyperlink.location for cell in sheet["A"] if cell.hyperlink]
    assert [place for place in places if "Rows" in place] == ["'Rows'!A4", "'Rows'!A3", "'Rows'!A2"]
    rows = list(openpyxl.load_workbook(path)["Rows"].iter_rows(values_only=True))
    at = rows[0].index("last_day")
    assert [row[at] and row[at].date() for row in rows[1:]] == [
        TODAY + 9 * DAY, TODAY + 2 * DAY, TODAY, TODAY.replace(year=2027) - 5 * DAY, TODAY - DAY, None, None, None,
    ]  # fmt: skip


def test_what_has_its_voucher_presses_no_more(made: Made) -> None:
    rows = [{"flight_date": ago(years=1) + DAY}]
    issued = [Outcome("issued", number="1")]
    assert [len(due(made(*rows, answers=answers))) for answers in ([], issued)] == [1, 0]


def test_many_deadlines_are_cut_and_counted(made: Made, tmp_path: Path) -> None:
    rows = [
        {"ticket_no": f"99912345678{n:02d}", "flight_date": ago(years=1) + DAY * n, "amount": 1}
        for n in range(18)
    ]
    text = summary_text(write_workbook(made(*rows), tmp_path / "r.xlsx"))
    assert "row 16 |" in text
    assert "row 17 |" not in text
    assert "… and 3 more: sort the sheet Rows by last_day." in text


def test_of_the_deadlines_of_one_day_the_largest_amounts_are_shown(made: Made, tmp_path: Path) -> None:
    rows = [
        {"ticket_no": f"99912345678{n:02d}", "flight_date": ago(years=1) + DAY, "amount": 1 + n}
        for n in range(18)
    ]
    lines = summary_text(write_workbook(made(*rows), tmp_path / "r.xlsx")).split("\n")
    amounts = [
        float(line.split(" | ")[-1]) for line in lines if line.startswith("tickets.xlsx, Tickets, row")
    ]
    assert amounts == [18 - n for n in range(15)]


@pytest.mark.slow
@pytest.mark.parametrize("lang", LANGS)
def test_two_charts_show_the_tables(lang: Lang, sample: Callable[[Lang], RunResult], tmp_path: Path) -> None:
    path = write_workbook(sample(lang), tmp_path / "r.xlsx")
    sheet = openpyxl.load_workbook(path)["Summary"]
    with zipfile.ZipFile(path) as package:
        charts = [package.read(f"xl/charts/chart{n}.xml").decode() for n in (1, 2)]
    for chart in charts:
        series = re.findall(r"<c:f>Summary!\$([A-Z])\$(\d+):\$[A-Z]\$(\d+)</c:f>(.*?</c:[a-z]+Cache>)", chart)
        assert len(series) >= 2
        for column, first, last, cache in series:
            cells = [sheet[f"{column}{row}"].value for row in range(int(first), int(last) + 1)]
            # For programs that show what is stored with a chart, and not what its cells hold.
            stored: list[Any] = re.findall("<c:v>(.*?)</c:v>", cache)
            assert (stored if column in "AH" else [float(number) for number in stored]) == cells
    assert len(re.findall("<c:ser>", charts[0])) == 1
    assert len(re.findall("<c:dPt>", charts[0])) == len(sample(lang).totals)
    assert len(re.findall("<c:ser>", charts[1])) == len(
        {"issued", "rest"} | {"ready"} & set(sample(lang).totals)
    )


def test_each_step_leads_to_the_sheet_that_it_speaks_of(mixed: RunResult, tmp_path: Path) -> None:
    sheet = openpyxl.load_workbook(write_workbook(mixed, tmp_path / "r.xlsx"))["Summary"]
    links = {cell.value: cell.hyperlink.location for cell in sheet["G"] if cell.hyperlink}
    assert links == {"→ Unknown": "'Unknown'!A2", "→ Failures": "'Failures'!A3"}
    # Each to the first row of its own kind: not sent, invalid, rejected.
    assert [cell.hyperlink.location for cell in sheet["G"] if cell.value == "→ Failures"] == [
        "'Failures'!A4", "'Failures'!A2", "'Failures'!A3",
    ]  # fmt: skip


def test_a_long_buyer_leaves_the_chart_its_room_and_every_bar_has_its_name(
    made: Made, tmp_path: Path
) -> None:
    names = [f"Yunfan International Freight Forwarding Services (Group), Branch No. {n}" for n in range(10)]
    rows = [
        {"ticket_no": f"99912345678{n:02d}", "header_name": name, "header_type": "individual", "buyer": None}
        for n, name in enumerate(names)
    ]
    path = write_workbook(made(*rows), tmp_path / "r.xlsx")
    with zipfile.ZipFile(path) as package:
        chart = package.read("xl/charts/chart2.xml").decode()
    labels = re.findall("<c:v>([^<]+)</c:v>", chart.partition("<c:cat>")[2].partition("</c:cat>")[0])
    assert len(set(labels)) == 8
    assert labels[0] == "Yunfan Internation…anch No. 0"
    assert '<c:tickLblSkip val="1"/>' in chart
    assert '<c:plotVisOnly val="1"/>' not in chart  # the labels stand in a column that nobody sees
    sheet = openpyxl.load_workbook(path)["Summary"]
    assert [cell.value for cell in sheet["H"] if cell.value] == labels
    assert sheet.column_dimensions["H"].hidden
    assert names[0] in summary_text(path)


def test_a_buyer_whose_name_no_file_can_hold_does_not_break_the_chart(made: Made, tmp_path: Path) -> None:
    result = made({})
    names = np.array(["Bell\x07 \ufffe & <Sons>"], dtype=object)
    columns = dataclasses.replace(
        result.columns, charges=dataclasses.replace(result.columns.charges, buyer=names)
    )
    result = dataclasses.replace(result, rows=RowResults(columns, lambda _: result.rows.__getitem__, "en"))
    path = write_workbook(result, tmp_path / "r.xlsx")
    with zipfile.ZipFile(path) as package:
        assert "<c:v>Bell  &amp; &lt;Sons&gt;</c:v>" in package.read("xl/charts/chart2.xml").decode()
    assert "Bell  & <Sons>" in summary_text(path)


def test_what_the_reader_left_out_is_said_in_the_workbooks_language(
    mixed_zh: RunResult, tmp_path: Path
) -> None:
    note = message("{file}: sheet {sheet} is hidden and was not read", file="t.xlsx", sheet=SheetName("Old"))
    table = dataclasses.replace(mixed_zh.table, notes=(note,))
    path = write_workbook(dataclasses.replace(mixed_zh, table=table), tmp_path / "r.xlsx")
    assert "• t.xlsx：工作表“Old”已隐藏，未读取" in summary_text(path)
