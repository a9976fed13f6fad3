"""What finance reads of a run: totals that are those of the vouchers, counts that say what was compared, words that say what to do."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from pipeline.cli.options import login
from tests.acceptance.conftest import BUYERS, Desk
from tests.acceptance.office import ALL, LOST_AFTER, LOST_BEFORE, Office, answered
from tests.moved_clock import needs_compiler

Make = Callable[..., Any]


def summary(path: Path) -> dict[str, list[Any]]:
    """The lines of a Summary by their first cell, the last line where several begin alike."""
    rows = openpyxl.load_workbook(path)["Summary"].iter_rows(values_only=True)
    return {str(row[0]): list(row[1:]) for row in rows if row[0] is not None}


@pytest.mark.slow
def test_totals_of_issued_vouchers_are_those_that_were_issued(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    rows = tickets(2, voucher="invoice")
    rows[1]["buyer"] = "Li Na"
    with sandbox(workbook(rows)) as carrier:
        office = Office(desk, carrier)
        assert office.issue(workbook(rows)).code == 0
        rows[0]["amount"], rows[1]["buyer"] = 1500, "ACME"
        ran = office.issue(workbook(rows, name="later.xlsx"))
    assert ran.code == 1, ran.err
    (line,) = (line for line in ran.err.splitlines() if line.startswith("  already_issued"))
    assert line.split() == ["already_issued", "2", "CNY", "2,000.00"]
    said = summary(desk.folder / "later.result.xlsx")
    assert said["already_issued"][:2] == [2, 2000]
    assert "2 of 2 charges have their voucher: CNY 2,000.00 of CNY 2,000.00." in said
    assert said["Acme Trading Co."][:4] == said["Li Na"][:4] == [1, 1000, 1, 1000]
    assert [row["amount"] for row in desk.report("issue.json")["rows"]] == ["1000.00"] * 2


@pytest.mark.slow
def test_only_what_a_statement_shows_agrees(desk: Desk, sandbox: Make, workbook: Make, tickets: Make) -> None:
    book = workbook(tickets(4))
    with sandbox(book) as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 0
        listed = [{**line, "issued_at": "2026-01-05"} for line in carrier.issued()[:2]]
        ran = office.reconcile(book, "--statement", office.statement(lines=listed), "-o", "compared.xlsx")
        assert ran.code == 0, ran.err
        assert {kind: count for kind, count in office.report()["comparison"].items() if count} == {
            "agreed": 2, "not_covered": 2
        }  # fmt: skip
        said = summary(desk.folder / "compared.xlsx")
        assert said["Agreed"][:2] == said["Issued, on no statement given"][:2] == [2, 2000]
        assert "2 of 4 issued charges agree with a statement; 0 still to be issued." in said
        sheet = openpyxl.load_workbook(desk.folder / "compared.xlsx")["Not covered"]
        assert [row[0] for row in sheet.iter_rows(values_only=True)] == [
            "ticket_no", "9990000000003", "9990000000004"
        ]  # fmt: skip
        assert office.reconcile(book, "-o", "without.xlsx").code == 0
        said = summary(desk.folder / "without.xlsx")
        assert (said["Agreed"][0], said["Issued, on no statement given"][0]) == (0, 4)
        assert not any("everything agrees" in line for line in said)


@pytest.mark.slow
def test_a_row_that_says_something_else_than_its_voucher_does_not_agree(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    rows = tickets(2)
    with sandbox(workbook(rows)) as carrier:
        office = Office(desk, carrier)
        assert office.issue(workbook(rows)).code == 0
        rows[0]["amount"] = 1500
        ran = office.reconcile(workbook(rows, name="later.xlsx"), "--statement", office.statement())
        assert ran.code == 1, ran.err
        comparison = office.report()["comparison"]
        assert (comparison["agreed"], comparison["differing"]) == (1, 1)


@pytest.mark.slow
def test_one_number_for_two_requests_names_both_and_where_it_was_said(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    book = workbook(tickets(3))
    with sandbox(book, faults=f"{LOST_AFTER}requests = [2, 3]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 4
        issued = desk.report("issue.json")["requests"]
        told = answered(desk.folder / "tickets.result.xlsx", "issued", "20179525952873829999")
        assert office.reconcile("--resolved", told).code == 4
        first, second = (one["request"] for one in issued[1:])
        messages = {p["place"]: p["message"] for p in office.report()["problems"]}
        for mine, other, row in ((first, second, 2), (second, first, 3)):
            message = messages[f"request {mine}, attempt 1"]
            assert f"20179525952873829999 ({told.name}, Unknown, row {row})" in message
            assert f"another request ({other}; {told.name}, Unknown, row {5 - row})" in message
            assert "Ask the carrier" in message
        # The number of a voucher that the ledger has already.
        taken = answered(desk.folder / "tickets.result.xlsx", "issued", issued[0]["number"])
        ran = office.reconcile("--resolved", taken, "--lang", "zh")
        assert f"另一请求（{issued[0]['request']}）" in ran.err
        assert "which" not in ran.err


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_charge_that_was_issued_as_the_other_voucher_is_told_that_and_nothing_of_a_refund(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make, lang: str
) -> None:
    with sandbox(workbook(tickets(1))) as carrier:
        office = Office(desk, carrier)
        assert office.issue(workbook(tickets(1))).code == 0
        number = desk.report("issue.json")["rows"][0]["number"]
        later = workbook(tickets(1, voucher="invoice"), name="later.xlsx")
        ran = desk.voucher("check", later, *office.common, "--lang", lang, "-o", "r.xlsx")
    assert ran.code == 1, ran.err
    (row,) = openpyxl.load_workbook(desk.folder / "r.xlsx")["Failures"].iter_rows(min_row=2, values_only=True)
    said = {"en": "was issued as another kind of voucher than this row asks for", "zh": "已开具为另一种凭证"}[
        lang
    ]
    assert said in row[3]
    assert number in row[3]
    assert "tickets.xlsx" in row[3]
    assert not any(word in f"{row[3]} {row[4]}" for word in ("refund", "退票"))
    assert "voucher ledger reverse" in row[4]


@pytest.mark.slow
def test_the_last_lines_count_what_is_to_be_done_and_say_where_the_rest_stands(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    wrong = [
        {"passenger_name": ""},
        {"amount": "abc"},
        {"flight_date": "soon"},
        {"market": "lunar"},
        {"ticket_status": "open"},
        {"buyer": "Nobody"},
        {"charge": "refund", "voucher": "invoice", "ticket_status": "refunded"},
        {"voucher": "invoice", "amount": 20000},
        {"ticket_no": "12"},
        {"flight_date": "2025-01-01"},
    ]
    rows = tickets(11)
    with sandbox(workbook(rows[:1])) as carrier:
        office = Office(desk, carrier)
        assert office.issue(workbook(rows[:1])).code == 0
        rows[0]["flight_date"] = "soon"  # issued already: nobody has to act
        for row, more in zip(rows[1:], wrong, strict=True):
            row.update(more)
        later = workbook(rows, name="later.xlsx")
        for lang, said in (("en", "kinds of reasons not shown here: "), ("zh", "种原因")):
            ran = desk.voucher("check", later, *office.common, "--as-of", "2026-11-20", "--lang", lang)
            lines = [line for line in ran.err.splitlines() if line.startswith("  ") and " × " in line]
            assert len(lines) == 8
            (date,) = (line for line in lines if "bad_date" in line)
            assert date.split()[0] == "1"
            (more,) = (line for line in ran.err.splitlines() if said in line)
            assert "Rows" in more
            assert "-o" in more


@pytest.mark.slow
def test_a_sheet_that_is_named_by_nobody_is_named_to_whom_no_name_is_told(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    path = workbook(tickets(3))
    for name, told in (("Tickets", "sheet Tickets: "), ("Sheet1", "sheet Sheet1: "), ("王小明", "sheet …: ")):
        book = openpyxl.load_workbook(path)
        book.worksheets[0].title = name
        book.worksheets[0].row_dimensions[3].hidden = True
        book.save(path)
        with sandbox(path) as carrier:
            ran = Office(desk, carrier).reconcile(path, "--quiet", "--new-ledger")
        assert f"tickets.xlsx, {told}hidden or filtered out" in ran.err


@pytest.mark.slow
def test_what_is_wrong_on_the_buyers_sheet_is_told_with_its_cell(
    desk: Desk, workbook: Make, tickets: Make
) -> None:
    heading, acme, other = BUYERS
    bell = (*acme[:2], "Acme \ue000 Co.", *acme[3:])
    path = workbook(tickets(2), buyers=[heading, other, bell])
    for lang, said in (
        ("en", "tickets.xlsx, sheet Buyers, cell C3: header_name has a character"),
        ("zh", "tickets.xlsx，工作表“Buyers”，单元格 C3：抬头名称中有"),
    ):
        ran = desk.voucher("check", path, "--lang", lang, "-o", "r.xlsx", "--report", "r.json")
        assert ran.code == 1
        assert said in ran.err
        for row in desk.report("r.json")["rows"]:
            assert row["reasons"][0]["message"].startswith(said)
    kept = workbook([{}], name="buyers of us.xlsx", buyers=[heading, bell])
    book = openpyxl.load_workbook(kept)
    del book["Tickets"]
    book.save(kept)
    bare = workbook(tickets(1), name="bare.xlsx", buyers=())
    ran = desk.voucher("check", bare, "--buyers", kept)
    assert "buyers of us.xlsx, sheet Buyers, cell C2: " in ran.err


@pytest.mark.slow
def test_a_row_that_says_another_address_than_its_buyer_is_told_with_both_cells(
    desk: Desk, workbook: Make, tickets: Make
) -> None:
    rows = tickets(3)
    for row in rows:
        row["email"] = "finance@example.com"
    rows[1]["email"] = rows[2]["email"] = "other@example.com"
    path = workbook(rows)
    said = (
        "tickets.xlsx, sheet Tickets: email in O3 is not what tickets.xlsx, sheet Buyers, cell F2 has for its buyer; the row's own"
        " is used (rows: 2)"
    )
    ran = desk.voucher("check", path, "-o", "r.xlsx")
    assert said in ran.err
    assert f"• {said}" in summary(desk.folder / "r.xlsx")
    assert "other@" not in ran.err
    ran = desk.voucher("check", path, "--lang", "zh")
    assert (
        "O3 的邮箱与其购买方的信息（tickets.xlsx，工作表“Buyers”，单元格 F2）不同；以该行自填的为准（共 2 行）"
        in ran.err
    )


#: What stays as it is in Chinese: names of files, sheets, people and commands, codes, and what is typed.
STAYS = re.compile(
    r"(?:not )?[\w.-]+\.(?:csv|xlsx|ledger)|(?:voucher )?(?:issue|reconcile|ledger (?:reverse|withdraw S[0-9]))|--[a-z-]+|\[\w+\]|statement(?= 第)|^(?:not )?issued$|\w+(?= ×)|× \w+|R[0-9a-f]{19}"
    r"|Acme Trading Co\.|Li Na|ZHANG/WEI MR|Tickets|Unknown|Failures|Buyers|Differing|Not (?:ours|covered|on statement)|To issue|Rows|CNY|ACME|Wang"
    r"|“(?:not )?issued”|[\w.+-]+@[\w.]+|[0-9a-f]{32}|CC-1|/\S+|voucher(?=:)|settle_after_hours|UTC|Asia/Shanghai|http://127[.0-9:]+|AGENCY|telephone|abc|maybe"
)


@pytest.mark.slow
@needs_compiler
def test_every_line_of_a_reconciliation_with_troubles_is_in_chinese(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    book = workbook([*tickets(7), {"ticket_no": "9990000000099", "amount": "abc"}])
    with sandbox(book, faults=f"{LOST_AFTER}requests = [2]\n{LOST_BEFORE}requests = [3, 4, 5]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book, hours_ago=6).code == 4
        result = desk.folder / "tickets.result.xlsx"
        first, second, *_ = lines = carrier.issued()
        bad = [
            {**first, "ticket_no": "12"},
            {**first, "ticket_no": "9990000000003", "number": ""},
            {**first, "ticket_no": "9990000000008", "number": "12345678"},
            {**first, "ticket_no": "9990000000009", "amount": "-1.00"},
        ]
        statement = office.statement(lines=[{**first, "amount": "999.00"}, *lines[1:], *bad])
        yes, no = (
            answered(result, said, number)
            for said, number in (("issued", second["number"][:-4] + "9999"), ("not issued", ""))
        )
        zh = ("--lang", "zh", "-o", "zh.xlsx", "--by", "王芳")
        for given in (
            (book, "--statement", statement, "--resolved", yes, *ALL),
            (book, "--statement", statement, "--resolved", yes, "--resolved", no, *ALL),
            (book, "--resolved", no),
            (book, "--statement", statement, "--resolved", yes),
        ):
            ran = office.reconcile(*given, *zh)
            written = max(desk.folder.glob("zh*.xlsx"), key=lambda path: path.stat().st_mtime_ns)
            told = ran.err.splitlines()
            for sheet in openpyxl.load_workbook(written).worksheets:
                if sheet.title in ("Failures", "Buyers"):
                    continue  # the input's own cells
                told += [
                    str(cell) for row in sheet.iter_rows(min_row=2, values_only=True) for cell in row if cell
                ]
            assert [line for line in told if re.search(r"[A-Za-z]{2,}", STAYS.sub("", line))] == []
            assert [line for line in told if re.search(r"[\u4e00-\u9fff”）]: ", line)] == []


def headers(path: Path) -> set[str | None]:
    return {sheet.oddHeader.center.text for sheet in openpyxl.load_workbook(path).worksheets}


@pytest.mark.slow
def test_a_workbook_says_whose_it_is_and_who_made_it(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    book = workbook(tickets(2, voucher="invoice"))
    with sandbox(book) as carrier:
        office = Office(desk, carrier)
        checked = desk.voucher("check", book, *office.common, "--as-of", "2026-11-20", "-o", "checked.xlsx")
        assert checked.code == 0, checked.err
        assert office.issue(book).code == 0
        assert office.reconcile(book, "-o", "compared.xlsx").code == 0
        assert office.reconcile("--statement", office.statement(), "-o", "stated.xlsx").code == 0
    for name in ("checked.xlsx", "tickets.result.xlsx", "compared.xlsx", "stated.xlsx"):
        said = summary(desk.folder / name)
        assert said["Carrier"][0] == f"{carrier.base_url} as agency AGENCY"
        assert re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d \(Asia/Shanghai\)", said["Begun"][0])
        assert said["Run by"][0] == login()
        assert "SANDBOX" not in " ".join(said)
        assert headers(desk.folder / name) == {None}
    result = openpyxl.load_workbook(desk.folder / "tickets.result.xlsx")
    assert result["Invoices"]["D1"].value == "number (the carrier's request ID)"


@pytest.mark.slow
def test_a_sandbox_s_workbooks_say_so_at_the_top_and_on_every_page(
    desk: Desk, workbook: Make, tickets: Make
) -> None:
    book = workbook(tickets(2))
    kept = ("--sandbox", "--ledger", "kept.ledger")
    assert desk.voucher("issue", book, *kept, "--as-of", "2026-11-20").code == 0
    assert desk.voucher("check", book, *kept, "--as-of", "2026-11-20", "-o", "checked.xlsx").code == 0
    assert desk.voucher("register", *kept, "-o", "register.xlsx").code == 0
    assert desk.voucher("ledger", "export", "audit.xlsx", *kept).code == 0
    assert desk.voucher("reconcile", book, *kept, "--as-of", "2026-11-20", "-o", "compared.xlsx").code == 0
    for name in ("tickets.result.xlsx", "checked.xlsx", "register.xlsx", "audit.xlsx", "compared.xlsx"):
        assert headers(desk.folder / name) == {"SANDBOX 沙箱"}, name
        first = openpyxl.load_workbook(desk.folder / name).worksheets[0]["A1"].value
        assert first.startswith("SANDBOX 沙箱 · ") or name == "audit.xlsx", name
    assert summary(desk.folder / "checked.xlsx")["Carrier"][0] == "sandbox as agency DEMO"
