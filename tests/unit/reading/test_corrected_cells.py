"""What was corrected on the page counts as if somebody had typed it into the file, which stays as it is."""

import csv
import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
import xlwt

from pipeline.model.columns import BUYER_COLUMNS, COLUMN, Kind
from pipeline.model.corrections import NO_CORRECTIONS, Corrections
from pipeline.model.errors import InputProblem
from pipeline.model.job import Finished
from pipeline.reading.sheet import Sheet
from pipeline.reading.tickets import ReadOptions, assemble, read_table
from pipeline.run.check import check
from pipeline.run.issue import issue
from tests.conftest import GOOD
from tests.unit.reconciliation.desk import KEYS, ticket
from tests.unit.run.runs import Watched, at_address, carrier, job

pytestmark = pytest.mark.usefixtures("read_here")

FORMATS = ("xlsx", "csv", "xls")
#: The others are slow.
ONE_FORMAT = [FORMATS[0], *(pytest.param(one, marks=pytest.mark.slow) for one in FORMATS[1:])]
#: A row with something in every column; what it holds differs from every correction.
FULL = {
    **GOOD, "ticket_prefix": "999", "buyer": "A", "used_on": "2026-10-02", "refund_approved_on": "2026-10-03",
    "purchased_on": "2026-10-04", "remarks": "old", "order_type": "国内机票正常单",
    **{name: "10.00" for name, column in COLUMN.items() if column.kind is Kind.MONEY and name != "amount"},
}  # fmt: skip
#: What is typed in place of a cell, by the kind of its column: as it is meant, in other ways to write it, and wrong.
TYPED = {
    Kind.TICKET: ("999-1234567891", "９９９１２３４５６７８９２", "12345", ""),
    Kind.MONEY: ("1,234.50", "￥12", "twelve", ""),
    Kind.DATE: ("2026-03-05", "2026年3月5日", "2026-13-45", ""),
    Kind.CHOICE: ("retired", ""),
    Kind.TEXT: ("new", " spaced ", "=1+1", "#N/A", ""),
}
CHOICES = {"charge": "退票费", "product": "seat", "market": "国际", "ticket_status": "已退票", "voucher": "行程单", "header_type": "个人"}  # fmt: skip


def written(path: Path, sheets: Mapping[str, Sequence[Sequence[str]]]) -> Path:
    """Sheets of texts; of a CSV file the first alone."""
    path.parent.mkdir(exist_ok=True)
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(next(iter(sheets.values())))
    elif path.suffix == ".xls":
        old = xlwt.Workbook()
        for name, rows in sheets.items():
            page = old.add_sheet(name)
            for at, row in enumerate(rows):
                for column, text in enumerate(row):
                    page.write(at, column, text)
        old.save(str(path))
    else:
        book = openpyxl.Workbook()
        book.remove(book.worksheets[0])
        for name, rows in sheets.items():
            of_book = book.create_sheet(name)
            for at, row in enumerate(rows, 1):
                for column, text in enumerate(row, 1):
                    of_book.cell(at, column).value = text or None
                    of_book.cell(at, column).data_type = "s" if text else "n"
        book.save(path)
    return path


def judged(path: Path, corrections: Corrections = NO_CORRECTIONS) -> tuple[Finished, Watched]:
    watched = Watched()
    given = job(
        path,
        corrections=corrections,
        output=path.with_name("o.result.xlsx"),
        report=path.with_name("r.json"),
    )
    return check(given, watched.watch), watched


def all_said(path: Path, corrections: Corrections = NO_CORRECTIONS) -> dict[str, Any]:
    """All that a check tells of a workbook: to whoever watches, in the report and in the result workbook."""
    finished, watched = judged(path, corrections)
    assert finished.workbook is not None
    book = openpyxl.load_workbook(finished.workbook)
    table = finished.result.table
    return {
        "told": (watched.noted, watched.warned),
        "report": json.loads(path.with_name("r.json").read_text()),
        "letters": table.letters,
        "sheets": {
            sheet.title: [[cell.value for cell in row] for row in sheet.iter_rows()]
            for sheet in book.worksheets
            if sheet.title != "Summary"  # which says when it was
        },
    }


def lines_of(names: Sequence[str], rows: int) -> list[list[str]]:
    return [[str({**FULL, "ticket_no": ticket(at)}.get(name, "")) for name in names] for at in range(rows)]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ONE_FORMAT)
def test_every_kind_of_column_is_as_typed_into_the_file(tmp_path: Path, suffix: str) -> None:
    names = [*FULL, "cost centre"]
    typed = [
        (name, text)
        for name in names
        for text in (
            *TYPED[COLUMN[name].kind if name in COLUMN else Kind.TEXT],
            *([CHOICES[name]] if name in CHOICES else []),
        )
    ]
    assert {name for name, _ in typed} == {*COLUMN, "cost centre"}
    before = lines_of(names, len(typed))
    after = [list(line) for line in before]
    sheet = "t" if suffix == "csv" else "Tickets"
    cells = {}
    for at, (name, text) in enumerate(typed):
        after[at][names.index(name)] = text
        cells[f"t.{suffix}", sheet, at + 2] = {name: text}
    overlaid = all_said(
        written(tmp_path / "a" / f"t.{suffix}", {"Tickets": [names, *before]}), Corrections(cells)
    )
    assert overlaid == all_said(written(tmp_path / "b" / f"t.{suffix}", {"Tickets": [names, *after]}))
    assert overlaid != all_said(written(tmp_path / "c" / f"t.{suffix}", {"Tickets": [names, *before]}))


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ONE_FORMAT)
def test_a_column_that_the_sheet_lacks_is_as_typed_behind_its_last(tmp_path: Path, suffix: str) -> None:
    names = ["ticket_no", "passenger_name", "charge", "cost centre"]
    missing = [name for name in FULL if name not in names]
    before = lines_of(names, len(missing) + 1)
    after = [[*line, *([""] * len(missing))] for line in before]
    sheet = "t" if suffix == "csv" else "Tickets"
    cells = {}
    for at, name in enumerate(missing):
        text = CHOICES.get(name) or TYPED[COLUMN[name].kind][0]
        after[at][len(names) + at] = text
        cells[f"t.{suffix}", sheet, at + 2] = {name: text}
    overlaid = all_said(
        written(tmp_path / "a" / f"t.{suffix}", {"Tickets": [names, *before]}), Corrections(cells)
    )
    typed = [[*names, *missing], *after]
    assert overlaid == all_said(written(tmp_path / "b" / f"t.{suffix}", {"Tickets": typed}))
    assert overlaid["letters"][f"t.{suffix}", sheet][missing[0]] == "E"


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["xlsx", "xls"])
def test_a_buyer_of_the_sheet_buyers_is_as_typed_there(tmp_path: Path, suffix: str) -> None:
    names = [*(name for name in GOOD if name not in {column.name for column in BUYER_COLUMNS}), "buyer"]
    rows = [[str({**GOOD, "ticket_no": ticket(at), "buyer": buyer}.get(name, "")) for name in names] for at, buyer in enumerate("ABC")]  # fmt: skip
    head = ["buyer", "header_type", "header_name", "tax_no"]
    before = [["A", "企业", "甲公司", "91110000600037341L"], ["B", "企业", "乙公司", "1"], ["C", "", "", ""]]
    after = [
        ["A", "个人", "甲公司", "91110000600037341L", ""],
        ["B", "企业", "乙公司", "91350100M000100Y43", "b@x.com"],
        ["", "", "", "", ""],
    ]
    cells = {
        (f"t.{suffix}", "Buyers", 2): {"header_type": "个人"},
        (f"t.{suffix}", "Buyers", 3): {"tax_no": "91350100M000100Y43", "email": "b@x.com"},
        (f"t.{suffix}", "Buyers", 4): {"buyer": " "},
    }
    tickets = [names, *rows]
    overlaid = all_said(
        written(tmp_path / "a" / f"t.{suffix}", {"Tickets": tickets, "Buyers": [head, *before]}), Corrections(cells)
    )  # fmt: skip
    typed = {"Tickets": tickets, "Buyers": [[*head, "email"], *after]}
    assert overlaid == all_said(written(tmp_path / "b" / f"t.{suffix}", typed))
    assert [row["status"] for row in overlaid["report"]["rows"]] == ["ready", "ready", "invalid"]


@pytest.mark.slow
def test_a_wide_bill_is_as_typed(tmp_path: Path) -> None:
    names = ["ticket_no", "passenger_name", "市场", "国内/国际", "ticket_status", "flight_date", "票价", "机建", "退票费", "header_type", "header_name", "tax_no"]  # fmt: skip
    line = [ticket(1), "ZHANG/WEI", "x", "国内", "partly_used", "2026-10-01", "1000", "50", "", "企业", "甲公司", "91110000600037341L"]  # fmt: skip
    more = {"refund_fee": "200", "refund_approved_on": "2026-10-05"}
    overlaid = all_said(
        written(tmp_path / "a" / "t.xlsx", {"S": [names, line]}), Corrections({("t.xlsx", "S", 2): more})
    )
    typed = [[*names, "refund_approved_on"], [*line, "2026-10-05"]]
    typed[1][8] = "200"
    assert overlaid == all_said(written(tmp_path / "b" / "t.xlsx", {"S": typed}))
    (row,) = overlaid["report"]["rows"]
    assert [(one["charge"], one["amount"]) for one in row["charges"]] == [
        ("ticket_fare", "1050.00"), ("refund", "200.00"),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_total_that_the_sheet_lacks_is_compared_as_typed_there(tmp_path: Path) -> None:
    """What is told of a total that is off names the column that it stands in, which is new here."""
    names, line = ["票号", "姓名", "国内/国际", "票价", "服务费"], [ticket(1), "A", "国内", "1000", "20"]
    cells = Corrections({("t.xlsx", "S", 2): {"amount": "1020"}})
    overlaid = all_said(written(tmp_path / "a" / "t.xlsx", {"S": [names, line]}), cells)
    typed = {"S": [[*names, "amount"], [*line, "1020"]]}
    assert overlaid == all_said(written(tmp_path / "b" / "t.xlsx", typed))
    assert "服务费" in str(overlaid["report"]["rows"][0]["reasons"])


def _rows(*cells: Sequence[Any], first: int = 0, merged: Sequence[tuple[int, int, int, int]] = ()) -> Sheet:
    head = ["票号", "姓名", "票价", "发票抬头"]
    return Sheet.of_rows("S", [["title"], head, *cells], first_row=first, merged=merged)


def _read(*sheets: Sheet, **cells: Mapping[int, Mapping[str, str]]) -> Any:
    corrected = {("book.xlsx", sheet, row): texts for sheet, of in cells.items() for row, texts in of.items()}
    return assemble([(Path("book.xlsx"), list(sheets))], corrections=Corrections(corrected)).frame


def test_of_merged_cells_only_the_row_that_was_corrected_changes() -> None:
    lines = [ticket(1), "A", 1000.0, "甲公司"], [ticket(2), "B", 900.0, ""], [ticket(3), "C", 900.0, ""]
    sheet = _rows(*lines, first=5, merged=((7, 3, 9, 3),))
    names = [
        _read(sheet, S=changes)["header_name"].tolist()
        for changes in ({8: {"header_name": "乙"}}, {9: {"header_name": "乙"}}, {9: {"header_name": ""}})
    ]
    assert names == [["乙", "甲公司", "甲公司"], ["甲公司", "乙", "甲公司"], ["甲公司", "", "甲公司"]]


def test_an_amount_shown_in_another_currency_is_corrected_to_one_in_the_carriers() -> None:
    sheet = _rows([ticket(1), "A", 1000.0, "甲"], [ticket(2), "B", 900.0, "乙"])
    dollars = replace(sheet, currencies={"US$": np.array([[2, 2], [3, 2]], dtype=np.int32)})
    assert _read(dollars, S={3: {"fare": "7200"}})["fare"].tolist() == [7200_00, 0]


def test_rows_stay_input_whatever_they_are_corrected_to_and_no_others_become_so() -> None:
    sheet = _rows([ticket(1), "A", 1.0, "甲"], [ticket(2), "B", 1.0, "乙"], ["", "合计", 2.0, ""])
    blank = dict.fromkeys(["ticket_no", "passenger_name", "fare", "header_name"], "")
    frame = _read(sheet, S={3: blank, 4: {**blank, "passenger_name": "合计"}})
    assert (frame["row"].tolist(), frame["passenger_name"].tolist()) == ([3, 4], ["", "合计"])


def test_rows_of_two_files_and_sheets_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    line = [ticket(1), "A", "1000", "甲"]
    head = ["票号", "姓名", "票价", "发票抬头"]
    paths = [
        written(tmp_path / folder / name, {"S": [head, line], "T": [head, line]})
        for folder, name in (("a", "x.xlsx"), ("a", "y.xlsx"), ("b", "x.xlsx"))
    ]
    cells = {
        ("y.xlsx", "S", 2): {"fare": "1"},
        (str(paths[2]), "T", 2): {"fare": "2"},
        (str(paths[0]), "S", 2): {"passenger_name": "B", "fare": "3"},
    }
    table = read_table(paths, options=ReadOptions(corrections=Corrections(cells)))
    assert table.frame["fare"].tolist() == [300, 100000, 100, 100000, 100000, 200]
    assert table.frame["passenger_name"].tolist() == ["B", *"AAAAA"]


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (("book.xlsx", "S", 6), "book.xlsx, S, row 6"),  # a total
        (("book.xlsx", "S", 2), "book.xlsx, S, row 2"),  # the headings
        (("book.xlsx", "S", 99), "book.xlsx, S, row 99"),
        (("book.xlsx", "Other", 3), "book.xlsx, Other, row 3"),
        (("other.xlsx", "S", 3), "other.xlsx, S, row 3"),
    ],
)
def test_a_correction_of_a_row_that_is_none_is_refused_with_its_place(
    place: tuple[str, str, int], text: str
) -> None:
    sheet = _rows([ticket(1), "A", 1.0, "甲"], [], [ticket(2), "B", 1.0, "乙"], ["合计", "", 2.0, ""])
    with pytest.raises(
        InputProblem, match=f"^{text}: was corrected on the page, and is no row of tickets or buyers"
    ):
        assemble([(Path("book.xlsx"), [sheet])], corrections=Corrections({place: {"fare": "2"}}))


def test_a_correction_of_a_column_that_is_none_is_refused_with_its_name() -> None:
    sheet = _rows([ticket(1), "A", 1.0, "甲"])
    with pytest.raises(
        InputProblem, match=r"^book\.xlsx, sheet S: has no column “weather” that could be corrected"
    ):
        _read(sheet, S={3: {"weather": "fine"}})
    buyers = Sheet.of_rows("B", [["购买方", "抬头名称"], ["A", "甲公司"]])
    with pytest.raises(
        InputProblem, match=r"^book\.xlsx, sheet B: has no column “fare” that could be corrected"
    ):
        _read(sheet, buyers, B={2: {"fare": "1"}})


def test_a_file_of_buyers_kept_apart_is_corrected_by_its_own_place(tmp_path: Path) -> None:
    head = ["票号", "姓名", "票价", "购买方"]
    tickets = written(tmp_path / "t.xlsx", {"S": [head, [ticket(1), "A", "1000", "A"]]})
    buyers = written(tmp_path / "buyers.xlsx", {"B": [["购买方", "抬头名称"], ["A", "甲公司"]]})
    corrected = Corrections({("buyers.xlsx", "B", 2): {"header_name": "乙公司"}})
    assert read_table([tickets], buyers, ReadOptions(corrections=corrected)).buyers[
        "header_name"
    ].tolist() == ["乙公司"]


# --- buyers that are entered whole -----------------------------------------------------------------

ACME = {"buyer": "ACME", "header_type": "企业", "header_name": "Acme", "tax_no": "91110000600037341L", "email": "a@x.com"}  # fmt: skip
HEAD = [
    *(name for name in GOOD if name not in ("header_type", "header_name", "tax_no", "phone", "email")),
    "buyer",
]


def month(path: Path, *named: str, buyers: Sequence[Sequence[str]] = ()) -> Path:
    rows = [[str({**GOOD, "ticket_no": ticket(at), "buyer": name}[of]) for of in HEAD] for at, name in enumerate(named)]  # fmt: skip
    more = {"Buyers": [["buyer", "header_name", "tax_no", "header_type"], *buyers]} if buyers else {}
    return written(path, {"Tickets": [HEAD, *rows], **more})


def buyers_of(finished: Finished) -> list[str]:
    return [str(name) for name in finished.result.header["header_name"].tolist()]


def test_a_buyer_that_no_sheet_knows_is_that_of_the_rows_that_name_it_and_of_no_others(
    tmp_path: Path,
) -> None:
    finished, _ = judged(month(tmp_path / "t.xlsx", "acme", "", "Other"), Corrections(buyers=(ACME,)))
    assert buyers_of(finished) == ["Acme", "", ""]
    assert [row.status for row in finished.result.rows] == ["ready", "invalid", "invalid"]


@pytest.mark.slow
def test_a_buyer_that_is_entered_counts_in_place_of_those_of_its_name(tmp_path: Path) -> None:
    known = [["ACME", "Old", "91350100M000100Y43", "business"], ["B", "Beta", "91350100M000100Y43", "business"]]  # fmt: skip
    path = month(tmp_path / "t.xlsx", "ACME", "B", buyers=known)
    assert buyers_of(judged(path)[0]) == ["Old", "Beta"]
    assert buyers_of(judged(path, Corrections(buyers=(ACME,)))[0]) == ["Acme", "Beta"]
    apart = month(tmp_path / "apart.xlsx", "x", buyers=known)
    table = read_table(
        [month(tmp_path / "u.xlsx", "ACME")], apart, ReadOptions(corrections=Corrections(buyers=(ACME, ACME)))
    )
    assert table.buyers["header_name"].tolist() == ["Acme", "Beta", "Acme"]


def test_a_buyer_that_is_entered_is_the_same_when_the_result_is_given_again(tmp_path: Path) -> None:
    apart = month(
        tmp_path / "apart.xlsx", "x", buyers=[["ACME", "Old", "91350100M000100Y43", "business"]] * 2
    )
    path = month(tmp_path / "t.xlsx", "ACME", "New")
    new = {**ACME, "buyer": "New", "header_name": "New Ltd"}
    corrected = Corrections({("t.xlsx", "Tickets", at): {"passenger_name": ""} for at in (2, 3)}, (ACME, new))
    given = job(path, buyers=apart, corrections=corrected, output=tmp_path / "o.result.xlsx")
    first = check(given, Watched().watch)
    assert buyers_of(first) == ["Acme", "New Ltd"]
    assert first.workbook is not None
    again = check(job(first.workbook, buyers=apart), Watched().watch)
    assert buyers_of(again) == ["Acme", "New Ltd"]


def test_what_is_wrong_with_a_buyer_that_is_entered_says_where_it_was(tmp_path: Path) -> None:
    (row,) = judged(
        month(tmp_path / "t.xlsx", "ACME"), Corrections(buyers=({**ACME, "tax_no": "12"},))
    )[0].result.rows  # fmt: skip
    assert row.reasons[0].message.startswith("The buyers that were entered on the page: ")
    with pytest.raises(InputProblem, match="was entered on the page without the name"):
        judged(month(tmp_path / "u.xlsx", "ACME"), Corrections(buyers=({"buyer": " "},)))


@pytest.mark.slow
def test_what_was_corrected_is_what_is_sent(tmp_path: Path) -> None:
    path = month(tmp_path / "t.xlsx", "ACME", "ACME")
    corrected = Corrections({("t.xlsx", "Tickets", 2): {"amount": "17.25"}}, (ACME,))
    with carrier() as server:
        given = job(
            path, profile=at_address(server.url), secrets=KEYS, ledger=tmp_path / "l", corrections=corrected
        )
        finished = issue(given, Watched().watch)
        (asked,) = server.log.asked
    assert [row.status for row in finished.result.rows] == ["issued", "issued"]
    assert [
        (request.request.amount, request.request.header.header_name) for request in finished.result.requests
    ] == [(1017_25, "Acme")]
    assert finished.result.table.frame["flight_date"][0].date() == datetime.date(2026, 10, 1)
    assert {*asked.tickets} == {ticket(0), ticket(1)}
