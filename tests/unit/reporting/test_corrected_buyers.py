"""A buyer corrected in a result workbook is the buyer of the row, and nobody else's cells pass for its own."""

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from pipeline.messages.translate import heading, rendered
from pipeline.model.columns import (
    BUYER_COLUMNS,
    HEADER_FIELDS,
    LANGS,
    RESULT_SHEETS,
    Lang,
)
from pipeline.model.known_charges import KnownCharges
from pipeline.model.profile import Terms
from pipeline.model.result import RunResult
from pipeline.profile_file import load_profile
from pipeline.reading.tickets import read_table
from pipeline.reporting.build_result import RunFacts, make_result
from pipeline.reporting.result_workbook import write_workbook
from pipeline.rules.judge import judge
from pipeline.splitting import Judged

PROFILE = Path(__file__).parents[3] / "sample_data" / "sandbox.toml"
HEAD = [column.name for column in BUYER_COLUMNS]
A = ["A", "business", "Alpha Ltd", "91110000600037341L", "13800138000", "a@example.com"]
B = ["B", "business", "Beta Ltd", "91350100M000100Y43", "13900139000", "b@example.com"]
TICKET = {
    "ticket_no": "9991234567890", "passenger_name": "ZHANG/WEI", "charge": "ticket_fare", "amount": 1000,
    "market": "domestic", "ticket_status": "used", "flight_date": datetime.date(2026, 10, 1), "voucher": "invoice",
    "buyer": "A",
}  # fmt: skip
NAMELESS = {"passenger_name": ""}

Cells = Mapping[str, Any]


def judged(paths: Sequence[Path], lang: Lang = "en", buyers: Path | None = None) -> RunResult:
    table = read_table(paths, buyers)
    terms = Terms(datetime.date(2026, 11, 20), load_profile(PROFILE))
    verdicts = judge(table, KnownCharges(), terms)
    return make_result(RunFacts("check", terms, lang), Judged(table, KnownCharges(), verdicts, []))


def book_of(path: Path, rows: Sequence[Cells], *buyers: Sequence[str]) -> Path:
    book = openpyxl.Workbook()
    if rows:
        sheet = book.active
        names = list(dict.fromkeys(name for row in ({}, *rows) for name in {**TICKET, **row}))
        for cells in (dict(zip(names, names, strict=True)), *({**TICKET, **row} for row in rows)):
            sheet.append([cells.get(name) for name in names])
    if buyers:
        sheet = book.create_sheet("Buyers") if rows else book.active
        for line in (HEAD, *buyers):
            sheet.append(line)
    book.save(path)
    return path


def result(tmp_path: Path, *inputs: Path, lang: Lang = "en", buyers: Path | None = None) -> Path:
    return write_workbook(judged(inputs, lang, buyers), tmp_path / "r.result.xlsx")


def corrected(path: Path, *changes: Cells, buyers: Sequence[Sequence[str]] = ()) -> Path:
    """The result as a person leaves it: cells of Failures changed, row by row, and lines added to Buyers."""
    book = openpyxl.load_workbook(path)
    sheet = book["Failures"]
    at = {cell.value: cell.column for cell in sheet[1]}
    for number, cells in enumerate(changes, start=2):
        for name, value in cells.items():
            sheet.cell(number, at[name]).value = value
    if buyers and "Buyers" not in book.sheetnames:
        book.create_sheet("Buyers").append(HEAD)
    for line in buyers:
        book["Buyers"].append(line)
    book.save(path)
    return path


def header(result: RunResult, row: int = 0) -> list[str]:
    return [result.header[name][row] for name in HEADER_FIELDS]


def codes(result: RunResult, row: int = 0) -> list[tuple[str, str]]:
    return [(reason.code, reason.column) for reason in result.rows[row].reasons]


PUT_RIGHT = {"passenger_name": "ZHANG/WEI"}


def test_a_corrected_buyer_of_a_buyers_file_is_the_row_s_buyer(tmp_path: Path) -> None:
    path = result(tmp_path, book_of(tmp_path / "t.xlsx", [NAMELESS], A, B))
    both = book_of(tmp_path / "buyers.xlsx", [], A, B)
    again = judged([corrected(path, PUT_RIGHT | {"buyer": "B"})], buyers=both)
    assert again.totals == {"ready": 1}
    assert header(again) == B[1:]


def test_a_corrected_buyer_that_nobody_knows_is_never_the_old_one(tmp_path: Path) -> None:
    path = result(tmp_path, book_of(tmp_path / "t.xlsx", [NAMELESS], A, B))
    again = judged([corrected(path, PUT_RIGHT | {"buyer": "C"})])
    assert codes(again) == [("unknown_buyer", "buyer")]
    assert header(again) == [""] * 5


@pytest.mark.slow
@pytest.mark.parametrize("generations", [1, 2, 3])
def test_a_row_given_another_buyer_finds_it_on_the_result_s_own_sheet_of_buyers(
    tmp_path: Path, generations: int
) -> None:
    """Whatever the row had failed for: every result with failures has the buyers that its rows may name."""
    path = book_of(tmp_path / "t.xlsx", [NAMELESS, {"ticket_no": "9990000000001", "amount": "x"}], A, B)
    for generation in range(generations):
        path = write_workbook(judged([path]), tmp_path / f"{generation}.result.xlsx")
        rows = list(openpyxl.load_workbook(path)["Buyers"].iter_rows(min_row=2, max_col=6, values_only=True))
        assert rows == [tuple(A), tuple(B)]
    again = judged([corrected(path, PUT_RIGHT | {"buyer": "B"})])
    assert header(again, 0) == B[1:]
    assert again.rows[0].status == "ready"


def added_by_hand(path: Path, *rows: Cells) -> Path:
    """The result with rows written below those of its Failures, as a person adds them: no column of ours filled in."""
    book = openpyxl.load_workbook(path)
    sheet = book["Failures"]
    at = {cell.value: cell.column for cell in sheet[1]}
    for cells in rows:
        line = sheet.max_row + 1
        for name, value in {**TICKET, "ticket_no": "9990000000009", **cells}.items():
            sheet.cell(line, at[name]).value = value
    book.save(path)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [{}, {"amount": "x"}])
def test_a_row_added_by_hand_names_a_buyer_that_stands_there_once(tmp_path: Path, wrong: Cells) -> None:
    path = result(tmp_path, book_of(tmp_path / "t.xlsx", [NAMELESS], A, B))
    again = judged([added_by_hand(path, {"buyer": "B"} | wrong)])
    assert header(again, 1) == B[1:]
    assert codes(again, 1) == ([("bad_amount", "amount")] if wrong else [])
    # Where it fails for something else, it names the same buyer in the next result, and in the one after that.
    for name in ("second", "third"):
        path = write_workbook(again, tmp_path / f"{name}.result.xlsx")
        again = judged([corrected(path, {}, {"amount": 500} if name == "third" and wrong else {})])
        if wrong:
            assert header(again, 1) == B[1:]
    assert not wrong or again.rows[1].status == "ready"


def test_a_row_added_by_hand_names_nobody_by_a_name_that_two_workbooks_have(tmp_path: Path) -> None:
    one = book_of(tmp_path / "a.xlsx", [NAMELESS], A, B)
    other = book_of(
        tmp_path / "b.xlsx",
        [NAMELESS | {"ticket_no": "9990000000001"}],
        ["A", "business", "Another A", "", "", ""],
    )
    path = result(tmp_path, one, other)
    again = judged([added_by_hand(path, {"buyer": "A"}, {"buyer": "B", "ticket_no": "9990000000008"})])
    assert codes(again, 2) == [("unknown_buyer", "buyer")]
    assert header(again, 3) == B[1:]


@pytest.mark.slow
def test_a_row_added_by_hand_that_names_nobody_takes_the_only_buyer_there_is(tmp_path: Path) -> None:
    path = result(tmp_path, book_of(tmp_path / "t.xlsx", [NAMELESS], A))
    assert header(judged([added_by_hand(path, {"buyer": ""})]), 1) == A[1:]
    path = result(tmp_path, book_of(tmp_path / "u.xlsx", [NAMELESS], A, B))
    kept_apart = book_of(tmp_path / "c.xlsx", [], ["C", "individual", "Li Lei", "", "", ""])
    again = judged([added_by_hand(path, {"buyer": ""})], buyers=kept_apart)
    assert codes(again, 1) == [("missing_value", "buyer")]  # of two, none; and never another file's


def test_a_row_whose_own_buyer_columns_stand_beside_a_corrected_buyer_is_refused(tmp_path: Path) -> None:
    own = dict(zip(HEADER_FIELDS, A[1:], strict=True))
    path = result(tmp_path, book_of(tmp_path / "t.xlsx", [NAMELESS | own], A, B))
    both = book_of(tmp_path / "buyers.xlsx", [], A, B)
    again = judged([corrected(path, PUT_RIGHT | {"buyer": "B"})], buyers=both)
    assert codes(again) == [("unknown_buyer", "buyer")]


@pytest.mark.parametrize("lang", LANGS)
def test_a_new_buyer_may_be_typed_over_the_old_one_s_columns(tmp_path: Path, lang: Lang) -> None:
    path = result(tmp_path, book_of(tmp_path / "t.xlsx", [NAMELESS], A, B), lang=lang)
    zh = {column.name: heading(column.name, "zh") for column in BUYER_COLUMNS} | {
        "passenger_name": "旅客姓名"
    }
    typed = PUT_RIGHT | {"buyer": "Late", "header_name": "Late Ltd", "tax_no": B[3]}
    again = judged([corrected(path, {zh[name] if lang == "zh" else name: typed[name] for name in typed})])
    assert again.totals == {"ready": 1}
    # The type was left as it was; the old buyer's address and telephone go to nobody else.
    assert header(again) == ["business", "Late Ltd", B[3], "", ""]


@pytest.mark.slow
@pytest.mark.parametrize("buyers", [False, True])
def test_the_columns_of_the_same_buyer_are_corrected_in_place(tmp_path: Path, buyers: bool) -> None:
    path = result(tmp_path, book_of(tmp_path / "t.xlsx", [NAMELESS], A, B))
    both = book_of(tmp_path / "buyers.xlsx", [], A, B) if buyers else None
    renamed = PUT_RIGHT | {"header_name": "Alpha Limited", "tax_no": B[3], "email": "new@example.com"}
    again = judged([corrected(path, renamed)], buyers=both)
    assert again.totals == {"ready": 1}
    assert header(again) == ["business", "Alpha Limited", B[3], "13800138000", "new@example.com"]


@pytest.mark.slow
def test_what_was_filled_in_stays_remembered_until_the_row_is_right(tmp_path: Path) -> None:
    path = result(tmp_path, book_of(tmp_path / "t.xlsx", [NAMELESS], A, B))
    second = write_workbook(judged([corrected(path, {"phone": ""})]), tmp_path / "second.result.xlsx")
    third = judged([corrected(second, PUT_RIGHT | {"buyer": "B"})])
    assert header(third) == B[1:]


def buyer_corrected(path: Path, name: str, **cells: str) -> Path:
    """The result as a person leaves it who corrected a buyer on the sheet Buyers."""
    book = openpyxl.load_workbook(path)
    for row in book["Buyers"].iter_rows(min_row=2):
        if row[0].value == name:
            for column, value in cells.items():
                row[HEAD.index(column)].value = value
    book.save(path)
    return path


@pytest.mark.parametrize("lang", ["en", pytest.param("zh", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kept_apart", [False, True])
def test_a_buyer_corrected_on_buyers_is_corrected_for_all_rows_that_name_it(
    tmp_path: Path, lang: Lang, kept_apart: bool
) -> None:
    rows = [NAMELESS | {"ticket_no": f"999123456789{n}", "buyer": name} for n, name in enumerate("AABB")]
    wrong = [A[0], A[1], "Alfa Ltd", B[3], "", A[5]]
    file = book_of(tmp_path / "buyers.xlsx", [], wrong, B) if kept_apart else None
    path = result(
        tmp_path, book_of(tmp_path / "t.xlsx", rows, *(() if file else (wrong, B))), lang=lang, buyers=file
    )
    buyer_corrected(path, "A", header_name=A[2], tax_no=A[3], phone=A[4])
    second = judged([path], lang, file)
    assert [header(second, row) for row in range(4)] == [A[1:], A[1:], B[1:], B[1:]]
    # What was corrected stands in the next result, on Failures and on Buyers, and can be corrected again there.
    path = write_workbook(second, tmp_path / "second.result.xlsx")
    failures = openpyxl.load_workbook(path)["Failures"]
    name = [cell.value for cell in failures[1]].index(heading("header_name", lang))
    assert [row[name] for row in failures.iter_rows(min_row=2, values_only=True)] == [A[2], A[2], B[2], B[2]]
    buyer_corrected(path, "A", email="new@example.com")
    third = judged([path], lang, file)
    assert [header(third, row) for row in range(4)] == [[*A[1:5], "new@example.com"]] * 2 + [B[1:]] * 2


def test_a_buyer_who_is_still_wrong_is_told_where_he_was_corrected(tmp_path: Path) -> None:
    path = result(tmp_path, book_of(tmp_path / "t.xlsx", [{}], [*A[:3], "123", *A[4:]], B))
    buyer_corrected(path, "A", tax_no="1234")
    (reason,) = [reason for reason in judged([path]).rows[0].reasons if reason.column == "tax_no"]
    assert "“1234”" in reason.message
    assert "r.result.xlsx, sheet Buyers, cell D2" in reason.message
    assert reason.cell == ""
    corrected(path, {"tax_no": "12345"})
    (reason,) = [reason for reason in judged([path]).rows[0].reasons if reason.column == "tax_no"]
    assert ("“12345”" in reason.message, reason.cell[-1]) == (True, "2")


def test_a_row_s_own_correction_stays_beside_one_of_its_buyer(tmp_path: Path) -> None:
    path = result(tmp_path, book_of(tmp_path / "t.xlsx", [NAMELESS, NAMELESS | {"amount": 900}], A, B))
    corrected(path, {"email": "own@example.com"})
    again = judged([buyer_corrected(path, "A", phone="13900000000", email="new@example.com")])
    assert header(again, 0) == [*A[1:4], "13900000000", "own@example.com"]
    assert header(again, 1) == [*A[1:4], "13900000000", "new@example.com"]


@pytest.mark.slow
def test_the_only_buyer_that_a_row_need_not_name_is_corrected_too(tmp_path: Path) -> None:
    path = result(tmp_path, book_of(tmp_path / "t.xlsx", [NAMELESS | {"buyer": ""}], A))
    assert header(judged([buyer_corrected(path, "A", header_name="Alpha Limited")]))[1] == "Alpha Limited"


def test_what_was_filled_in_counts_where_its_buyer_is_nowhere_any_more(tmp_path: Path) -> None:
    path = result(tmp_path, book_of(tmp_path / "t.xlsx", [NAMELESS], A, B))
    book = openpyxl.load_workbook(path)
    book["Buyers"].delete_rows(2)
    book.save(path)
    assert header(judged([path])) == A[1:]


def test_a_buyer_without_telephone_and_address_is_remembered_as_it_was_filled_in(tmp_path: Path) -> None:
    """A spreadsheet's cell loses the blank lines at its end."""
    path = result(tmp_path, book_of(tmp_path / "t.xlsx", [NAMELESS], [*A[:4], "", ""], B))
    assert header(judged([corrected(path, {"buyer": "B"})])) == B[1:]


@pytest.mark.parametrize("buyers", [(), (A, B)])
@pytest.mark.parametrize("row", [TICKET, NAMELESS])
def test_buyers_is_always_the_last_sheet_and_failures_chooses_from_it(
    tmp_path: Path, row: Cells, buyers: Sequence[Sequence[str]]
) -> None:
    path = result(
        tmp_path, book_of(tmp_path / "t.xlsx", [{**TICKET, "passenger_name": "ZHANG/WEI", **row}], *buyers)
    )
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == [*RESULT_SHEETS, "Buyers"]
    written = [line[:6] for line in book["Buyers"].iter_rows(values_only=True)]
    assert written == [tuple(heading(name, "en") for name in HEAD), *map(tuple, buyers)]
    offered = [rule.formula1 for rule in book["Failures"].data_validations.dataValidation]
    failed = row is NAMELESS or not buyers
    assert any("Buyers!$A$2" in formula for formula in offered) is failed


def test_a_misspelt_buyer_is_corrected_in_the_result_alone(tmp_path: Path) -> None:
    path = result(tmp_path, book_of(tmp_path / "t.xlsx", [{"buyer": "BB"}], A, B))
    assert openpyxl.load_workbook(path).sheetnames == [*RESULT_SHEETS, "Buyers"]
    assert codes(judged([path])) == [("unknown_buyer", "buyer")]
    again = judged([corrected(path, {"buyer": "B"})])
    assert again.totals == {"ready": 1}
    assert header(again) == B[1:]


@pytest.mark.slow
def test_a_buyer_that_is_added_to_the_result_is_known(tmp_path: Path) -> None:
    path = result(tmp_path, book_of(tmp_path / "t.xlsx", [{"buyer": "C"}], A, B))
    added = ["C", "individual", "Li Lei", "", "", "li@example.com"]
    assert header(judged([corrected(path, buyers=[added])])) == added[1:]
    other = result(tmp_path, book_of(tmp_path / "u.xlsx", [NAMELESS], A, B))
    assert header(judged([corrected(other, {"buyer": "C"}, buyers=[added])])) == added[1:]


@pytest.mark.slow
def test_a_buyer_that_is_added_to_the_result_is_known_in_the_rounds_after_it(tmp_path: Path) -> None:
    path = result(tmp_path, book_of(tmp_path / "t.xlsx", [NAMELESS | {"buyer": "C"}], A, B))
    added = ["C", "individual", "Li Lei", "", "", "li@example.com"]
    corrected(path, buyers=[added])
    for generation in ("second", "third", "fourth"):
        again = judged([path])
        assert codes(again) == [("missing_value", "passenger_name")]
        assert header(again) == added[1:]
        path = write_workbook(again, tmp_path / f"{generation}.result.xlsx")


@pytest.mark.slow
def test_a_buyer_of_the_buyers_file_stands_on_buyers_for_rows_that_have_no_corrected_one(
    tmp_path: Path,
) -> None:
    file = book_of(tmp_path / "buyers.xlsx", [], A, B)
    path = result(tmp_path, book_of(tmp_path / "t.xlsx", [NAMELESS]), buyers=file)
    buyer_corrected(path, "A", phone="13900000000")
    alone = write_workbook(judged([path], buyers=file), tmp_path / "alone.result.xlsx")
    other = book_of(tmp_path / "u.xlsx", [NAMELESS | {"ticket_no": "9990000000001"}])
    both = write_workbook(judged([path, other], buyers=file), tmp_path / "both.result.xlsx")
    listed = [
        [row[0] for row in openpyxl.load_workbook(book)["Buyers"].iter_rows(min_row=2, values_only=True)]
        for book in (alone, both)
    ]
    assert [sorted(names) for names in listed] == [["A", "B"], ["A", "A", "B"]]
    assert header(judged([both], buyers=file), 1)[3] == A[4]


def test_the_buyers_of_a_buyers_file_are_in_the_result_and_give_way_to_the_file(tmp_path: Path) -> None:
    tickets, both = book_of(tmp_path / "t.xlsx", [{"buyer": "BB"}]), book_of(tmp_path / "b.xlsx", [], A, B)
    path = corrected(result(tmp_path, tickets, buyers=both), {"buyer": "B"})
    assert header(judged([path])) == B[1:]
    newer = book_of(tmp_path / "newer.xlsx", [], A, [*B[:5], "new@example.com"])
    assert header(judged([path], buyers=newer))[4] == "new@example.com"
    known = book_of(tmp_path / "known.xlsx", [{"buyer": "B", "ticket_no": "9990000000001"}], B)
    assert header(judged([known], buyers=path)) == B[1:]  # a result serves as a buyers file too


@pytest.mark.slow
def test_a_row_that_is_left_as_it_was_is_judged_as_it_was(tmp_path: Path) -> None:
    """One workbook's buyers are no other's, and a row that names nobody takes no other workbook's only one."""
    first = book_of(tmp_path / "a.xlsx", [NAMELESS], A)
    rows = [{"buyer": "A", "ticket_no": "9990000000001"}, {"buyer": "", "ticket_no": "9990000000002"}]
    result = judged([first, book_of(tmp_path / "b.xlsx", rows)])
    for generation in ("one", "two", "three"):
        by_ticket = {row.ticket_no: codes(result, row.index) for row in result.rows}
        assert by_ticket["9990000000001"] == [("unknown_buyer", "buyer")]
        assert by_ticket["9990000000002"] == [("missing_value", "buyer")]
        result = judged([write_workbook(result, tmp_path / f"{generation}.result.xlsx")])


def test_what_else_is_put_into_a_result_is_told_not_to_be_read(tmp_path: Path) -> None:
    path = result(tmp_path, book_of(tmp_path / "t.xlsx", [NAMELESS], A))
    book = openpyxl.load_workbook(path)
    book.create_sheet("More").append(["ticket_no", "amount"])
    book.save(path)
    assert any("sheet More was not read" in str(note) for note in judged([path]).notes)
    assert any("“More”未读取" in rendered(note, "zh") for note in judged([path], "zh").notes)
