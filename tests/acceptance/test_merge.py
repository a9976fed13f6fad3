"""Corrections of all rounds put back into the original workbook: nothing else of it is changed, and it is judged as the last rows were."""

import datetime
import shutil
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter

from pipeline.messages.translate import choice_word, heading
from pipeline.model.columns import Lang
from tests.acceptance.bill import write_bill, write_buyers
from tests.acceptance.conftest import Desk, tickets, write_workbook

OPTIONS = ("--sandbox", "--ledger", "L", "--as-of", "2026-11-20")
Line = Callable[..., Any]


def correct(
    path: Path, lang: Lang, *changes: tuple[Mapping[str, Any], Mapping[str, Any]], sheet: str = "Failures"
) -> Path:
    """A result as a person leaves it: in every row that says the one thing, the other is put."""
    book = openpyxl.load_workbook(path)
    at = {str(cell.value): cell.column for cell in book[sheet][1]}
    for where, put in changes:
        found = [
            row
            for row in range(2, book[sheet].max_row + 1)
            if all(
                book[sheet].cell(row, at[heading(name, lang)]).value == value for name, value in where.items()
            )
        ]
        assert found, where
        for row in found:
            for name, value in put.items():
                book[sheet].cell(row, at.get(heading(name, lang), len(at) + 1)).value = value
    book.save(path)
    return path


def differences(one: Path, other: Path) -> dict[str, Any]:
    """The cells of the other workbook that say something else, by sheet and cell; nothing but their values may differ."""
    before, after = (openpyxl.load_workbook(path) for path in (one, other))
    found = {}
    for name in after.sheetnames:
        old, new = before[name] if name in before.sheetnames else before.create_sheet(name), after[name]
        assert [*map(str, old.merged_cells.ranges)] == [*map(str, new.merged_cells.ranges)]
        assert {k: v.width for k, v in old.column_dimensions.items()} == {
            k: v.width for k, v in new.column_dimensions.items()
        }
        for row in new.iter_rows():
            for cell in row:
                was = old.cell(cell.row, cell.column)
                if was.value != cell.value:
                    found[f"{name}!{cell.coordinate}"] = cell.value
                if was.value is not None:
                    assert was.style_id == cell.style_id
    return found


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_bill_corrected_over_two_rounds_is_judged_as_its_last_rows_and_nothing_else_of_it_changed(
    desk: Any, lang: Lang
) -> None:
    bill = write_bill(desk.folder / "bill.xlsx")
    book = openpyxl.load_workbook(bill)
    for sheet, rows in (("全部", (5, 6)), ("国内机票", (5, 6))):
        book[sheet].cell(rows[0], 5).value = None
        book[sheet].cell(rows[1], 10).value = "abc"
    book["全部"].column_dimensions["E"].width = 31
    book.create_sheet("汇总").append(["票号", "金额", "票价", "金额"])  # left out: its headings can't be read
    book.save(bill)
    (desk.folder / "map.toml").write_text(
        '[headings]\n"结算金额" = ""\n[sheets."汇总"]\nskip = true\n', encoding="utf-8"
    )
    given = (
        "--columns",
        "map.toml",
        "--buyers",
        write_buyers(desk.folder / "buyers.xlsx"),
        *OPTIONS,
        "--lang",
        lang,
    )
    assert desk.voucher("issue", bill, *given).code == 1
    used, refunded = choice_word("used", lang), "已退票"
    first = correct(
        desk.folder / "bill.result.xlsx", lang,
        ({"ticket_no": "999-2420000001"}, {"passenger_name": "李娜娜"}),
        ({"ticket_no": "999-2420000002"}, {"fare": "xyz", "remarks": "改过"}),
        ({"ticket_status": refunded}, {"refund_approved_on": datetime.date(2026, 11, 1)}),
    )  # fmt: skip
    assert desk.voucher("issue", first, *given).code == 1
    second = correct(
        desk.folder / "bill.2.result.xlsx", lang,
        ({"ticket_no": "999-2420000002"}, {"fare": 1234.5, "passenger_name": "王芳芳"}),
        ({"ticket_no": "999-2420000034"}, {"ticket_status": used}),
    )  # fmt: skip
    assert desk.voucher("issue", second, *given).code == 0
    was = bill.read_bytes()
    ran = desk.voucher(
        "merge", bill, second, first, "-o", "fixed.xlsx", "--columns", "map.toml", "--lang", lang
    )
    assert ran.code == 0, ran.err
    assert "fixed.xlsx" in ran.err
    assert bill.read_bytes() == was
    new = {"V4": "退票审核日期", **{f"V{row}": "2026-11-01" for row in (13, 14)}}
    both = {"E5": "李娜娜", "J6": 1234.5, "E6": "王芳芳", "U6": "改过", "S12": used, **new}
    assert differences(bill, desk.folder / "fixed.xlsx") == {
        f"{sheet}!{cell}": value for sheet in ("全部", "国内机票") for cell, value in both.items()
    }
    ran = desk.voucher(
        "check", "fixed.xlsx", *given[:4], *OPTIONS[:1], *OPTIONS[3:], "--report", "fixed.json"
    )
    assert ran.code == 0, ran.err
    by_sheet = Counter((row["sheet"], row["status"]) for row in desk.report("fixed.json")["rows"])
    assert by_sheet == {("全部", "ready"): 11, ("国内机票", "repeated"): 10, ("国际机票", "repeated"): 1}


@pytest.fixture(scope="module")
def issued_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of whoever issued a workbook two of whose four rows are wrong."""
    desk, rows = Desk(tmp_path_factory.mktemp("issued")), tickets(4)
    rows[1] |= {"amount": "abc"}
    rows[2] |= {"passenger_name": ""}
    book = write_workbook(desk.folder / "tickets.xlsx", rows)
    assert desk.voucher("issue", book.name, *OPTIONS, "--lang", "en").code == 1
    return desk.folder


@pytest.fixture
def issued(desk: Any, issued_once: Path) -> Path:
    """The result of that workbook, in a copy of that folder."""
    shutil.copytree(issued_once, desk.folder, dirs_exist_ok=True)
    return Path(desk.folder / "tickets.result.xlsx")


SECOND, THIRD = {"ticket_no": "9990000000002"}, {"ticket_no": "9990000000003"}


def merged(desk: Any, *results: Path, original: str = "tickets.xlsx") -> Any:
    return desk.voucher("merge", original, *results, "-o", "fixed.xlsx")


@pytest.mark.slow
def test_copies_that_two_people_correct_are_put_together_and_may_not_contradict_each_other(
    desk: Any, issued: Path
) -> None:
    copy = Path(shutil.copy(issued, desk.folder / "copy.result.xlsx"))
    correct(issued, "en", (SECOND, {"amount": 12.34}))
    correct(copy, "en", (THIRD, {"passenger_name": "LI/NA"}))
    ran = merged(desk, issued, copy)
    assert ran.code == 0, ran.err
    assert differences(desk.folder / "tickets.xlsx", desk.folder / "fixed.xlsx") == {
        "Tickets!D3": 12.34,
        "Tickets!B4": "LI/NA",
    }
    (desk.folder / "fixed.xlsx").unlink()
    correct(copy, "en", (SECOND, {"amount": 56.78}))
    ran = merged(desk, issued, copy)
    assert ran.code == 2
    for told in ("tickets.result.xlsx, Failures, row 3", "copy.result.xlsx, Failures, row 3", "amount"):
        assert told in ran.err
    assert not (desk.folder / "fixed.xlsx").exists()


@pytest.mark.slow
def test_a_later_run_wins_and_what_is_put_back_is_no_correction(desk: Any, issued: Path) -> None:
    correct(issued, "en", (SECOND, {"amount": "12,5", "remarks": "one"}), (THIRD, {"remarks": "x"}))
    assert desk.voucher("issue", issued, *OPTIONS, "--lang", "en").code == 1
    later = desk.folder / "tickets.2.result.xlsx"
    correct(
        later,
        "en",
        (SECOND, {"amount": 12.5, "remarks": "two"}),
        (THIRD, {"remarks": None, "cost_centre": "CC-9"}),
    )
    ran = merged(desk, later, issued, later)
    assert ran.code == 0, ran.err
    assert differences(desk.folder / "tickets.xlsx", desk.folder / "fixed.xlsx") == {
        "Tickets!D3": 12.5, "Tickets!M3": "two", "Tickets!N4": "CC-9",
    }  # fmt: skip
    (desk.folder / "fixed.xlsx").unlink()
    ran = merged(desk, later)
    assert ran.code == 2
    assert (
        "tickets.2.result.xlsx: was made of tickets.result.xlsx, whose corrections are wanted as well"
        in ran.err
    )


@pytest.mark.slow
def test_a_round_that_is_left_out_is_asked_for_even_where_all_was_issued_after_it(
    desk: Any, issued: Path
) -> None:
    correct(issued, "en", (SECOND, {"amount": "12,5"}), (THIRD, {"passenger_name": "LI/NA"}))
    assert desk.voucher("issue", issued, *OPTIONS, "--lang", "en").code == 1
    second = correct(desk.folder / "tickets.2.result.xlsx", "en", (SECOND, {"amount": 12.5}))
    assert desk.voucher("issue", second, *OPTIONS, "--lang", "zh").code == 0
    last = desk.folder / "tickets.3.result.xlsx"
    ran = merged(desk, issued, last)
    assert ran.code == 2
    assert "tickets.3.result.xlsx: was made of tickets.2.result.xlsx" in ran.err
    assert not (desk.folder / "fixed.xlsx").exists()
    assert merged(desk, issued, second, last).code == 0
    assert openpyxl.load_workbook(desk.folder / "fixed.xlsx")["Tickets"]["D3"].value == 12.5


@pytest.mark.slow
def test_a_formula_without_its_result_is_no_correction(desk: Any, issued: Path) -> None:
    """Its text stands on the next result, too, and is no value there either."""
    correct(issued, "en", (SECOND, {"amount": 12.5, "remarks": "=A1"}))
    ran = merged(desk, issued)
    assert ran.code == 2
    assert "remarks holds “=” and no value" in ran.err
    for number in (2, 3):
        assert desk.voucher("issue", issued, *OPTIONS, "--lang", "en").code == 1
        issued = desk.folder / f"tickets.{number}.result.xlsx"
        sheet = openpyxl.load_workbook(issued)["Failures"]
        assert sorted(sheet.cell(row, 2).value for row in range(2, sheet.max_row + 1)) == [
            "invalid",
            "invalid",
        ]


@pytest.mark.slow
def test_what_was_corrected_by_hand_in_the_original_too_stands_in_nobody_s_way(
    desk: Any, issued: Path
) -> None:
    book = openpyxl.load_workbook(desk.folder / "tickets.xlsx")
    book["Tickets"]["D3"] = 12.5
    book.save(desk.folder / "tickets.xlsx")
    correct(issued, "en", (SECOND, {"amount": 12.5}), (THIRD, {"passenger_name": "LI/NA"}))
    ran = merged(desk, issued)
    assert ran.code == 0, ran.err
    assert differences(desk.folder / "tickets.xlsx", desk.folder / "fixed.xlsx") == {"Tickets!B4": "LI/NA"}


@pytest.mark.slow
def test_a_row_that_says_another_name_than_its_buyer_is_told(desk: Any, issued: Path) -> None:
    correct(issued, "en", (SECOND, {"amount": 12.5, "header_name": "Acme Trading Limited"}))
    ran = merged(desk, issued)
    assert ran.code == 0, ran.err
    assert "check will ask which is meant" in ran.err
    assert "tickets.xlsx, Tickets, row 3" in ran.err


def edited_in_between(desk: Any, _: Path) -> None:
    book = openpyxl.load_workbook(desk.folder / "tickets.xlsx")
    book["Tickets"]["B3"] = "SOMEBODY/ELSE"
    book.save(desk.folder / "tickets.xlsx")


def renamed(desk: Any, _: Path) -> None:
    (desk.folder / "tickets.xlsx").rename(desk.folder / "other.xlsx")


def twice(_: Any, result: Path) -> None:
    book = openpyxl.load_workbook(result)
    sheet = book["Failures"]
    sheet.append([cell.value for cell in sheet[2]])
    book.save(result)


def without_its_places(_: Any, result: Path) -> None:
    book = openpyxl.load_workbook(result)
    sheet = book["Failures"]
    sheet.delete_cols([cell.value for cell in sheet[1]].index("row") + 1)
    book.save(result)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "original", "told"),
    [
        (
            edited_in_between,
            "tickets.xlsx",
            ("tickets.xlsx, Tickets, row 3", "passenger_name B3", "SOMEBODY/ELSE"),
        ),
        (renamed, "other.xlsx", ("made of tickets.xlsx, not of other.xlsx",)),
        (
            without_its_places,
            "tickets.xlsx",
            (
                "tickets.result.xlsx: one of the columns file, sheet and row is gone from Failures",
                "in tickets.xlsx;",
            ),
        ),
        (twice, "tickets.xlsx", ("Failures, row 2", "Failures, row 4", "take file, sheet and row out")),
        (
            lambda desk, _: (desk.folder / "fixed.xlsx").touch(),
            "tickets.xlsx",
            ("fixed.xlsx: is there already",),
        ),
        (lambda desk, _: (desk.folder / "t.csv").touch(), "t.csv", ("t.csv", "save it as .xlsx")),
        (lambda *_: None, "tickets.result.xlsx", ("tickets.result.xlsx: is a result itself",)),
    ],
    ids=["edited", "renamed", "no places", "twice", "there", "csv", "result"],
)
def test_where_it_can_not_be_sure_nothing_is_written_and_it_says_why(
    desk: Any, issued: Path, before: Line, original: str, told: tuple[str, ...]
) -> None:
    before(desk, correct(issued, "en", (SECOND, {"amount": 12.34})))
    there = {path.name: path.read_bytes() for path in desk.folder.glob("*.xlsx")}
    ran = merged(desk, issued, original=original)
    assert ran.code == 2, ran.err
    for each in told:
        assert each in ran.err
    assert {path.name: path.read_bytes() for path in desk.folder.glob("*.xlsx")} == there


@pytest.mark.slow
def test_a_result_of_an_earlier_one_and_of_another_workbook_corrects_both_originals(
    desk: Any, issued: Path, workbook: Any
) -> None:
    correct(issued, "en", (SECOND, {"amount": "12,5"}), (THIRD, {"passenger_name": "LI/NA"}))
    other = workbook([{"ticket_no": "9990000000008", "passenger_name": ""}], "other.xlsx")
    both = ("issue", issued, other, *OPTIONS, "--lang", "en", "-o", "both.xlsx")
    assert desk.voucher(*both).code == 1
    last = correct(
        desk.folder / "both.xlsx",
        "en",
        (SECOND, {"amount": 12.5}),
        ({"ticket_no": "9990000000008"}, {"passenger_name": "ZHAO/LEI"}),
    )
    ran = merged(desk, issued, last)
    assert ran.code == 0, ran.err
    assert "1 row of Failures is of other.xlsx; merge it with that" in ran.err
    expected = {"Tickets!D3": 12.5, "Tickets!B4": "LI/NA"}
    assert differences(desk.folder / "tickets.xlsx", desk.folder / "fixed.xlsx") == expected
    ran = desk.voucher("merge", other, issued, last, "-o", "fixed-other.xlsx")
    assert ran.code == 0, ran.err
    assert differences(other, desk.folder / "fixed-other.xlsx") == {"Tickets!B2": "ZHAO/LEI"}


@pytest.mark.slow
def test_formulas_of_rows_keep_their_results_and_those_of_totals_are_calculated_anew(desk: Any) -> None:
    row = {
        "ticket_no": "", "passenger_name": "LI/NA", "charge": "ticket_fare", "fare": 950, "airport_fee": 50, "amount": "",
        "market": "domestic", "ticket_status": "used", "flight_date": "2026-10-01", "voucher": "itinerary",
        "header_type": "business", "header_name": "Acme Co", "email": "a@example.com", "tax_no": "91110000600037341L",
    }  # fmt: skip
    path = desk.folder / "tickets.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet("Tickets")
        sheet.write_row(0, 0, row)
        for number in (2, 3, 4):
            texts = {
                **row,
                "ticket_no": f"999000000000{number}",
                "passenger_name": "" if number == 2 else "LI/NA",
            }
            sheet.write_row(number - 1, 0, texts.values())
            sheet.write_formula(number - 1, 5, f"=SUM(D{number}:E{number})", None, 1000)
        sheet.write(4, 0, "Total")
        sheet.write_formula(4, 5, "=SUM(F2:F4)", None, 3000)
    with zipfile.ZipFile(path, "a") as package:
        package.writestr("xl/calcChain.xml", '<calcChain><c r="F2"/></calcChain>')
    assert desk.voucher("issue", path, *OPTIONS, "--lang", "en").code == 1
    result = correct(
        desk.folder / "tickets.result.xlsx",
        "en",
        (SECOND, {"passenger_name": "LI/LEI", "amount": 1000.01, "airport_fee": 50.01}),
    )
    ran = merged(desk, result)
    assert ran.code == 0, ran.err
    assert "in place of a formula now: Tickets!F2" in ran.err
    with zipfile.ZipFile(desk.folder / "fixed.xlsx") as package:
        assert "xl/calcChain.xml" not in package.namelist()  # it names a formula that is gone
    calculated = openpyxl.load_workbook(desk.folder / "fixed.xlsx", data_only=True)["Tickets"]
    assert [calculated.cell(row, 6).value for row in range(2, 6)] == [1000.01, 1000, 1000, None]
    assert desk.voucher("check", "fixed.xlsx", "--sandbox", "--as-of", "2026-11-20").code == 0


def test_what_is_no_result_or_was_not_corrected_is_refused(desk: Any, issued: Path) -> None:
    ran = merged(desk, issued)
    assert (ran.code, "nothing there differs" in ran.err) == (2, True)
    ran = merged(desk, desk.folder / "tickets.xlsx")
    assert (ran.code, "no result of voucher issue" in ran.err) == (2, True)


@pytest.mark.slow
def test_merged_cells_are_corrected_for_all_their_rows_or_not_at_all(
    desk: Any, workbook: Any, tickets: Any
) -> None:
    path = workbook(
        [{**row, "buyer": "Acne" if number < 2 else "ACME"} for number, row in enumerate(tickets(3))]
    )
    book = openpyxl.load_workbook(path)
    book["Tickets"].merge_cells("L2:L3")
    book.save(path)
    assert desk.voucher("issue", path, *OPTIONS, "--lang", "en").code == 1
    result = correct(desk.folder / "tickets.result.xlsx", "en", (SECOND, {"buyer": "ACME"}))
    ran = merged(desk, result)
    assert ran.code == 2
    assert "tickets.xlsx, Tickets, row 2: buyer can't be put right" in ran.err
    correct(result, "en", ({"ticket_no": "9990000000001"}, {"buyer": "ACME"}))
    assert merged(desk, result).code == 0
    assert differences(path, desk.folder / "fixed.xlsx") == {"Tickets!L2": "ACME"}


@pytest.mark.slow
@pytest.mark.parametrize("with_sheet", [True, False])
def test_buyers_that_were_corrected_or_added_stand_on_its_sheet_of_buyers(
    desk: Any, workbook: Any, tickets: Any, with_sheet: bool
) -> None:
    rows = tickets(3, voucher="itinerary")
    rows[1] |= {"buyer": "New one"}
    path = workbook([*rows, {"ticket_no": "9990000000004", "passenger_name": ""}])
    if not with_sheet:
        book = openpyxl.load_workbook(path)
        del book["Buyers"]
        for row in (2, 4, 5):  # a buyer of their own
            for column, value in enumerate(
                ("business", "Acme Trading Co.", "91110000600037341L", "a@example.com"), 15
            ):
                book["Tickets"].cell(row, column).value = value
        for column, name in enumerate(("header_type", "header_name", "tax_no", "email"), 15):
            book["Tickets"].cell(1, column).value = name
        book.save(path)
    assert desk.voucher("issue", path, *OPTIONS, "--lang", "en").code == 1
    result = desk.folder / "tickets.result.xlsx"
    book = openpyxl.load_workbook(result)
    if with_sheet:
        book["Buyers"]["E2"] = "010-85200001"
    book["Buyers"].append(
        ["New one", "business", "New Co. Ltd", "91110000600037341L", None, "new@example.com"]
    )
    sheet = book["Failures"]
    names = [cell.value for cell in sheet[1]]
    for row in range(2, 4):
        name = sheet.cell(row, names.index("passenger_name") + 1)
        name.value = name.value or "LI/NA"
    sheet.append(
        [
            "" if name in ("file", "sheet", "row") else sheet.cell(2, at).value
            for at, name in enumerate(names, 1)
        ]
    )
    sheet.cell(4, names.index("ticket_no") + 1).value = "9990000000005"
    book.save(result)
    ran = merged(desk, result)
    assert ran.code == 0, ran.err
    assert "tickets.result.xlsx, Failures, row 4" in ran.err  # which stands on no sheet
    new = ["New one", "business", "New Co. Ltd", "91110000600037341L", None, "new@example.com"]
    lines = [[*line] for line in openpyxl.load_workbook(desk.folder / "fixed.xlsx")["Buyers"].values]
    if with_sheet:
        assert lines[1][4] == "010-85200001"
        assert lines[3] == new
    else:
        assert lines == [["buyer", "header_type", "header_name", "tax_no", "phone", "email"], new]
    ran = desk.voucher("check", "fixed.xlsx", "--sandbox", "--as-of", "2026-11-20")
    assert ran.code == 0, ran.err
