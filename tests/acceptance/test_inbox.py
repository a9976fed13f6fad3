"""`voucher reconcile --inbox --outbox`: whole files, known by their content, each dealt with once."""

import contextlib
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tests.acceptance.conftest import Desk
from tests.acceptance.office import LOST_AFTER, LOST_BEFORE, Office, answered, at_rest

Boxes = tuple[Path, Path]


@pytest.fixture
def boxes(desk: Desk) -> Boxes:
    inbox, outbox = desk.folder / "in", desk.folder / "out"
    inbox.mkdir()
    outbox.mkdir()
    return inbox, outbox


@pytest.mark.slow
def test_an_inbox_is_worked_off_by_content_each_file_once(
    desk: Desk,
    boxes: Boxes,
    sandbox: Callable[..., Any],
    workbook: Callable[..., Path],
    tickets: Callable[..., Any],
) -> None:
    inbox, outbox = boxes
    every = [
        *tickets(3),
        {
            "ticket_no": "9990000000098",
            "refund_approved_on": "",
            "charge": "refund",
            "ticket_status": "refunded",
            "voucher": "invoice",
        },
    ]
    book = workbook(every, name="every.xlsx")
    shutil.copy(book, inbox / "october.xlsx")
    (inbox / "notes.txt").write_text("not ours")
    (inbox / "~$october.xlsx").write_bytes(b"lock")
    (inbox / "broken.xlsx").write_bytes(b"PK\x03\x04 nothing")
    at_rest(*inbox.iterdir())
    args = ("--inbox", inbox, "--outbox", outbox)
    with sandbox(book, faults=f"{LOST_AFTER}requests = [2]\n") as carrier:
        office = Office(desk, carrier)
        before = (inbox / "october.xlsx").read_bytes()
        ran = office.reconcile(*args)
        assert ran.code == 4, ran.err
        assert "broken.xlsx" in ran.err
        assert "notes.txt: is no workbook, and is not read; save it as .xlsx, or take it away" in ran.err
        assert "~$october" not in ran.err
        assert office.states() == {"issued": 2, "unknown": 1, "waiting": 1}
        assert (outbox / "october.result.xlsx").exists()
        # The statement and the answered workbook are known by what is in them.
        at_rest(Path(shutil.copy(carrier.statement, inbox / "whatever.csv")))
        (inbox / "broken.xlsx").unlink()
        (inbox / "notes.txt").rename(inbox / ".notes.txt")
        ran = office.reconcile(*args)
        assert ran.code == 1, ran.err  # one row waits for its refund
        assert office.report()["problems"] == []
        assert office.states() == {"already_issued": 3, "waiting": 1}
        assert len(office.report()["settled"]) == 1
        assert (outbox / "october.result.2.xlsx").exists() or (outbox / "october.2.result.xlsx").exists()
        # Nothing new: the open row is judged again, and no further workbook of it is written.
        written = sorted(path.name for path in outbox.iterdir() if "result" in path.name)
        office.reconcile(*args)
        assert sorted(path.name for path in outbox.iterdir() if "result" in path.name) == written
        assert (inbox / "october.xlsx").read_bytes() == before
        assert carrier.twice() == []


@pytest.mark.slow
def test_a_finished_workbook_is_not_read_again_and_a_changed_one_is(
    desk: Desk,
    boxes: Boxes,
    sandbox: Callable[..., Any],
    workbook: Callable[..., Path],
    tickets: Callable[..., Any],
) -> None:
    inbox, outbox = boxes
    (inbox / "done").mkdir()  # is told of to somebody who looks on, and not every night
    book = workbook(tickets(4), name="all.xlsx")
    args = ("--inbox", inbox, "--outbox", outbox)
    with sandbox(book) as carrier:
        office = Office(desk, carrier)
        at_rest(workbook(tickets(2), name="in/october.xlsx"))
        assert office.reconcile(*args).code == 0
        ran = office.reconcile(*args)
        assert (ran.code, ran.err, office.report()["rows"]) == (0, "", [])
        for name in ("scan.pdf", "all.zip"):  # told every night until it is taken away
            (inbox / name).write_bytes(b"%PDF-1.7")
            for _ in range(2):
                ran = office.reconcile(*args)
                assert ran.code == 1
                assert f"{name}: is no workbook" in ran.err
            (inbox / name).unlink()
        (inbox / "october.xlsx").rename(inbox / "renamed.xlsx")
        assert office.reconcile(*args).code == 0
        assert office.report()["rows"] == []
        at_rest(workbook(tickets(4), name="in/renamed.xlsx"))
        assert office.reconcile(*args).code == 0
        assert office.states() == {"already_issued": 2, "issued": 2}
        assert carrier.twice() == []


@pytest.mark.slow
def test_a_row_that_repeats_another_leaves_nothing_to_be_done(
    desk: Desk,
    boxes: Boxes,
    sandbox: Callable[..., Any],
    workbook: Callable[..., Path],
    tickets: Callable[..., Any],
) -> None:
    inbox, outbox = boxes
    first, *rows = every = tickets(3)
    book = workbook(every, name="every.xlsx")
    workbook([*rows, rows[0]], name="in/october.xlsx")
    workbook([first], name="in/a.xlsx")
    at_rest(*inbox.iterdir())
    args = ("--inbox", inbox, "--outbox", outbox)
    with sandbox(book) as carrier:
        office = Office(desk, carrier)
        ran = office.reconcile(*args)
        assert ran.code == 0, ran.err
        assert office.states() == {"issued": 3, "repeated": 1}
        assert [row.get("repeats") for row in office.report()["rows"]] == [None, None, None, 1]
        assert [charge for charge in office.report()["charges"] if charge["kind"] == "to_issue"] == []
        ran = office.reconcile(*args)
        assert (ran.code, ran.err, office.report()["rows"]) == (0, "", [])
        assert carrier.twice() == []


@pytest.mark.slow
def test_what_nobody_sees_in_a_new_file_is_told_once(
    desk: Desk,
    boxes: Boxes,
    sandbox: Callable[..., Any],
    workbook: Callable[..., Path],
    tickets: Callable[..., Any],
) -> None:
    inbox, outbox = boxes
    waiting = {"ticket_no": "9990000000098", "ticket_status": "open"}
    path = workbook([*tickets(1), waiting], name="in/october.xlsx")
    book = openpyxl.load_workbook(path)
    book["Tickets"].row_dimensions[3].hidden = True
    book.save(path)
    workbook([{**waiting, "ticket_no": "9990000000097"}], name="in/other.xlsx")
    at_rest(*inbox.iterdir())
    args = ("--inbox", inbox, "--outbox", outbox, "--quiet")
    with sandbox(path) as carrier:
        office = Office(desk, carrier)
        ran = office.reconcile(*args)
        assert "october.xlsx, sheet Tickets: hidden or filtered out in the file" in ran.err
        seen = [(one["file"], one["hidden_rows"]) for one in office.report()["sheets"]]
        assert seen == [("october.xlsx", 1), ("other.xlsx", 0)]
        ran = office.reconcile(*args)  # judged again, for what still waits in it
        assert len(office.report()["rows"]) == 3
        assert "hidden or filtered" not in ran.err


@pytest.mark.slow
def test_answers_that_come_by_the_inbox_settle_and_those_of_another_ledger_are_left(
    desk: Desk,
    boxes: Boxes,
    sandbox: Callable[..., Any],
    workbook: Callable[..., Path],
    tickets: Callable[..., Any],
) -> None:
    inbox, outbox = boxes
    book = workbook(tickets(1))
    with sandbox(book, faults=f"{LOST_BEFORE}requests = [1]\n") as carrier:
        office = Office(desk, carrier)
        office.issue(book)
        result = answered(desk.folder / "tickets.result.xlsx", "not issued")
        other = openpyxl.load_workbook(result)
        at = next(cell.column for cell in other["Unknown"][1] if cell.value == "ledger")
        other["Unknown"].cell(2, at, "0123456789abcdef0123456789abcdef")
        other.save(inbox / "other.xlsx")
        at_rest(inbox / "other.xlsx")
        ran = office.reconcile("--inbox", inbox, "--outbox", outbox)
        assert ran.code == 4
        assert "another ledger" in ran.err
        (inbox / "other.xlsx").unlink()
        at_rest(shutil.copy(result, inbox / "answers.xlsx"))
        ran = office.reconcile("--inbox", inbox, "--outbox", outbox)
        assert ran.code == 0, ran.err
        assert office.reconcile(book).code == 0
        assert len(carrier.issued()) == 1


@pytest.mark.slow
def test_a_statement_from_the_future_is_left_and_proves_nothing(
    desk: Desk,
    boxes: Boxes,
    sandbox: Callable[..., Any],
    workbook: Callable[..., Path],
    tickets: Callable[..., Any],
) -> None:
    inbox, outbox = boxes
    book = workbook(tickets(2))
    with sandbox(book, faults=f"{LOST_AFTER}requests = [1]\n") as carrier:
        office = Office(desk, carrier)
        office.issue(book)
        later = Path(shutil.copy(carrier.statement, inbox / "statement.csv"))
        os.utime(later, (time.time() + 86_400,) * 2)
        ran = office.reconcile("--inbox", inbox, "--outbox", outbox)
        assert ran.code == 4
        assert "statement.csv" in ran.err
        assert "still to come" in ran.err
        assert office.report()["settled"] == []
        at_rest(later)
        assert office.reconcile("--inbox", inbox, "--outbox", outbox).code == 0
        assert len(office.report()["settled"]) == 1


@pytest.mark.slow
def test_what_may_be_tickets_or_a_statement_is_left_and_nothing_of_it_is_sent(
    desk: Desk,
    boxes: Boxes,
    sandbox: Callable[..., Any],
    workbook: Callable[..., Path],
    tickets: Callable[..., Any],
) -> None:
    inbox, outbox = boxes
    listed = {"发票号码": "900000000000000911", "开票日期": "2026-11-02"}
    book = workbook([{**row, **listed} for row in tickets(2)], name="listed.xlsx")
    shutil.copy(book, inbox)
    shutil.copy(
        workbook([{**row, "发票号码": "", "开票日期": ""} for row in tickets(1)], name="bill.xlsx"), inbox
    )
    at_rest(*inbox.iterdir())
    with sandbox(book) as carrier:
        office = Office(desk, carrier)
        ran = office.reconcile("--inbox", inbox, "--outbox", outbox)
        assert ran.code == 1, ran.err
        assert "listed.xlsx: may be tickets, or a carrier's statement" in ran.err
        assert [line["ticket_no"] for line in carrier.issued()] == [tickets(1)[0]["ticket_no"]]


@pytest.mark.slow
def test_a_file_that_may_not_be_read_is_left_and_the_others_are_taken(
    desk: Desk,
    boxes: Boxes,
    sandbox: Callable[..., Any],
    workbook: Callable[..., Path],
    tickets: Callable[..., Any],
) -> None:
    inbox, outbox = boxes
    book = workbook(tickets(1), name="in/october.xlsx")
    (inbox / ("n" * 240 + ".csv")).write_text("nothing known\n")
    at_rest(*inbox.iterdir())
    with sandbox(book) as carrier:
        office = Office(desk, carrier)
        ran = office.reconcile("--inbox", inbox, "--outbox", outbox)
        assert ran.code == 1
        assert "nnnn" in ran.err
        assert office.states() == {"issued": 1}


@pytest.mark.slow
def test_the_buyers_of_an_inbox_s_rows_are_looked_up_in_a_file_kept_apart(
    desk: Desk,
    boxes: Boxes,
    sandbox: Callable[..., Any],
    workbook: Callable[..., Path],
    tickets: Callable[..., Any],
) -> None:
    inbox, outbox = boxes
    buyers = workbook([], name="buyers.xlsx")
    book = workbook(tickets(1), name="in/october.xlsx", buyers=())
    at_rest(book)
    with sandbox(book) as carrier:
        office = Office(desk, carrier)
        assert office.reconcile("--inbox", inbox, "--outbox", outbox, "--buyers", buyers).code == 0
        assert office.states() == {"issued": 1}
    with contextlib.closing(sqlite3.connect(desk.folder / "o.ledger")) as ledger:
        ((files,),) = ledger.execute("SELECT files FROM run")
    assert files == json.dumps([str(book)])


@pytest.mark.slow
def test_an_answer_that_says_too_little_stands_on_the_result_of_its_row_again(
    desk: Desk,
    boxes: Boxes,
    sandbox: Callable[..., Any],
    workbook: Callable[..., Path],
    tickets: Callable[..., Any],
) -> None:
    inbox, outbox = boxes
    book = workbook(tickets(1))
    with sandbox(book, faults=f"{LOST_BEFORE}requests = [1]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 4
        answered(desk.folder / "tickets.result.xlsx", "not issued", by="").rename(inbox / "answers.xlsx")
        book.rename(inbox / "october.xlsx")
        at_rest(*inbox.iterdir())
        assert office.reconcile("--inbox", inbox, "--outbox", outbox).code == 4
        assert office.report()["settled"] == []
        asked, *_ = openpyxl.load_workbook(outbox / "october.result.xlsx")["Unknown"].iter_rows(
            min_row=2, values_only=True
        )
        assert {"not issued", "telephone"} <= set(asked)
