"""What proves nothing any more: answers about a lost history, a wrong clock's times, evidence that is withdrawn, a voucher
that the carrier has reversed.
"""

import datetime
import json
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tests.acceptance.conftest import Desk
from tests.acceptance.english import english
from tests.acceptance.office import ALL, LOST_AFTER, LOST_BEFORE, Office, answered
from tests.moved_clock import needs_compiler


def typed(desk: Desk, name: str = "*.reconciliation*.xlsx") -> tuple[Any, ...]:
    """What stands in the last columns of the newest such workbook's first outcome that is unknown."""
    newest = max(desk.folder.glob(name), key=lambda path: path.stat().st_mtime_ns)
    return tuple(cell.value for cell in openpyxl.load_workbook(newest)["Unknown"][2][-4:])


@pytest.mark.slow
def test_an_answer_about_an_attempt_that_a_restored_ledger_lost_settles_none_of_the_same_number(
    desk: Desk, sandbox: Callable[..., Any], workbook: Callable[..., Path], tickets: Callable[..., Any]
) -> None:
    rows = tickets(2)
    first, second = workbook(rows[:1], name="first.xlsx"), workbook(rows[1:], name="second.xlsx")
    everything = workbook(rows, name="all.xlsx")
    with sandbox(everything, faults=f"{LOST_BEFORE}requests = [2, 3]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(first).code == 0
        assert desk.voucher("ledger", "backup", "kept.ledger", *office.common[2:]).code == 0
        assert office.issue(second).code == 4
        lost = answered(desk.folder / "second.result.xlsx", "not issued").rename(desk.folder / "lost.xlsx")
        asked = desk.report("issue.json")["requests"][0]
        # The disk is lost, and the backup used in its place; its own request is in doubt, too, under the same number.
        office.common = (*office.common[:3], desk.folder / "kept.ledger")
        said = ("--by", "chen", "--evidence", "the carrier, by telephone", "--yes")
        assert desk.voucher("ledger", "close-gap", *office.common[2:], *said).code == 0
        assert office.issue(second).code == 4
        again = desk.report("issue.json")["requests"][0]
        assert [(one["request"], one["attempt"]) for one in (asked, again)] == [(asked["request"], 1)] * 2
        ran = office.reconcile("--resolved", lost)
        assert ran.code == 4, ran.err
        assert office.report()["settled"] == []
        (trouble,) = office.report()["problems"]
        assert "lost when this ledger was restored" in trouble["message"]
        assert "nothing here. If it says issued, compare the carrier's statement" in trouble["message"]
        # Nor is it typed beside the attempt of now, from where it could be given back as an answer about that one.
        assert typed(desk) == (None, None, None, None)
        assert office.reconcile(second, "--resolved", lost).code == 4
        assert {typed(desk, name) for name in ("*.result.xlsx", "*.reconciliation*.xlsx")} == {
            (None, None, None, None)
        }
        zh = office.reconcile("--resolved", lost, "--lang", "zh")
        assert "恢复台账时已丢失" in zh.err
        assert english(zh.err) == []
        # Its own sheets, of the run itself and of the reconciliation, are taken.
        of_now = max(desk.folder.glob("*.reconciliation*.xlsx"))
        own = (desk.folder / "second.2.result.xlsx", of_now)
        names = {openpyxl.load_workbook(path)["Unknown"]["A2"].value for path in own}
        assert len(names) == 1
        assert names != {openpyxl.load_workbook(lost)["Unknown"]["A2"].value}
        assert office.reconcile("--resolved", answered(own[0], "not issued")).code == 0
        assert [one["status"] for one in office.report()["settled"]] == ["not_sent"]


@pytest.mark.slow
@needs_compiler
def test_a_clock_behind_the_last_entry_stops_a_run_before_it_sends(
    desk: Desk, sandbox: Callable[..., Any], workbook: Callable[..., Path], tickets: Callable[..., Any]
) -> None:
    rows = tickets(6)
    first, second = workbook(rows[:5], name="first.xlsx"), workbook(rows[5:], name="second.xlsx")
    with sandbox(workbook(rows, name="all.xlsx"), faults=f"{LOST_BEFORE}requests = [3]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(first, hours_ago=-30).code == 4  # by a clock that is 30 hours ahead
        for command in (office.issue, office.reconcile):
            ran = command(second)
            assert ran.code == 2
            assert "Set the clock right, or say --clock-is-right" in ran.err
        assert len(carrier.issued()) == 4
        said = desk.voucher(
            "issue",
            second,
            *office.common,
            "--as-of",
            "2026-11-20",
            "--clock-is-right",
            "--report",
            "issue.json",
        )
        assert said.code == 0, said.err
        assert office.issue(second).code == 0  # it is said once
        # What that clock wrote proves nothing: the statement's silence settles nothing.
        silent = office.reconcile("--statement", office.statement(), *ALL)
        assert silent.code == 4, silent.err
        assert office.report()["settled"] == []
        assert desk.voucher("ledger", "export", "audit.xlsx", *office.common[2:]).code == 0
        told = openpyxl.load_workbook(desk.folder / "audit.xlsx")["Gaps and moves"]
        assert [row[1].value for row in told.iter_rows(min_row=2)] == ["Correction of the clock"]


@pytest.mark.slow
def test_evidence_that_is_withdrawn_counts_no_more(
    desk: Desk, sandbox: Callable[..., Any], workbook: Callable[..., Path], tickets: Callable[..., Any]
) -> None:
    rows = tickets(2)
    book = workbook(rows)
    with sandbox(book, faults=f"{LOST_AFTER}requests = [2]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 4
        result = desk.folder / "tickets.result.xlsx"
        wrong = answered(result, "not issued", why="the statement of the wrong month")
        assert office.reconcile("--resolved", wrong).code == 0
        take_back = ("ledger", "withdraw", "S1", *office.common[2:], "--by", "Li", "--why", "the wrong month")
        with_lock = desk.voucher(*take_back, "--lang", "zh")
        assert (with_lock.code, english(with_lock.err)) == (0, [])
        assert "重新成为结果未知" in with_lock.err
        assert desk.voucher(*take_back).code == 2  # once
        # It is unknown again: held, and the same answer does not settle it once more, whatever its file is called.
        assert office.issue(book).code == 4
        for name in ("renamed.xlsx", "once more.xlsx"):
            wrong = wrong.rename(desk.folder / name)
            assert office.reconcile("--resolved", wrong).code == 4
            assert "this evidence was withdrawn (S1)" in office.report()["problems"][0]["message"]
        assert typed(desk) == (None, None, None, None)
        assert office.reconcile("--statement", office.statement()).code == 0
        assert len(carrier.issued()) == 2
        tickets_asked = [str(row["ticket_no"]) for row in rows]
        told = desk.voucher("history", *tickets_asked, *office.common, "--json")
        events = [event for found in json.loads(told.out).values() for event in found]
        names = [
            (event["event"], event.get("entry"))
            for event in events
            if event["event"] in ("settled", "withdrawn")
        ]
        assert names == [("settled", "S1"), ("withdrawn", "S1"), ("settled", "S2")]
        assert "S1 was withdrawn by Li and counts no more: the wrong month" in told.out
        assert desk.voucher("ledger", "check", *office.common[2:]).code == 0


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_statement_with_what_was_called_not_issued_says_which_entry_to_withdraw(
    desk: Desk,
    sandbox: Callable[..., Any],
    workbook: Callable[..., Path],
    tickets: Callable[..., Any],
    lang: str,
) -> None:
    with sandbox(book := workbook(tickets(2)), faults=f"{LOST_AFTER}requests = [2]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 4
        wrong = answered(desk.folder / "tickets.result.xlsx", "not issued", why="he misheard")
        assert office.reconcile("--resolved", wrong).code == 0
        statement, told = office.statement(), desk.folder / "told.xlsx"
        assert office.reconcile("--statement", statement, "-o", told, "--lang", lang).code == 1
        assert office.report()["comparison"]["not_ours"] == 1
        headings, line = openpyxl.load_workbook(told)["Not ours"].iter_rows(values_only=True)
        said = dict(zip(headings, line, strict=True))[{"en": "reason", "zh": "原因"}[lang]]
        (second,) = [one["request"] for one in desk.report("issue.json")["requests"] if one["number"] is None]
        assert "S1" in said
        assert second in said
        assert "voucher ledger withdraw S1" in said
        withdraw = ("ledger", "withdraw", "S1", *office.common[2:], "--by", "Li", "--why", "he misheard")
        assert desk.voucher(*withdraw).code == 0
        assert office.reconcile("--statement", statement).code == 0
        assert (office.report()["comparison"]["agreed"], office.report()["comparison"]["not_ours"]) == (2, 0)
        assert len(carrier.issued()) == 2


@pytest.mark.slow
def test_a_voucher_that_was_reversed_is_issued_again_under_another_number(
    desk: Desk, sandbox: Callable[..., Any], workbook: Callable[..., Path], tickets: Callable[..., Any]
) -> None:
    book = workbook(tickets(2))
    with sandbox(book) as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 0
        first, other = desk.report("issue.json")["requests"]
        unheard = desk.voucher(
            "ledger", "reverse", "26000000", *office.common[2:], "--by", "Li", "--evidence", "red invoice"
        )
        assert (unheard.code, "no voucher of this number is held as issued" in unheard.err) == (2, True)
        said = desk.voucher(
            "ledger", "reverse", first["number"], *office.common[2:], "--by", "Li", "--evidence", "red invoice of 3 Dec",
            "--lang", "zh",
        )  # fmt: skip
        assert (said.code, english(said.err)) == (0, [])
        assert "可以重新开具" in said.err
        reverse = urllib.request.Request(
            f"{carrier.base_url}/sandbox/reverse",
            json.dumps({"number": first["number"]}).encode(),
            method="POST",
        )
        with urllib.request.urlopen(reverse) as answer:
            red = json.load(answer)["number"]
        checked = desk.voucher(
            "check", book, *office.common, "--as-of", "2026-11-20", "--report", "check.json"
        )
        assert checked.code == 0
        states = [row["status"] for row in desk.report("check.json")["rows"]]
        assert sorted(states) == ["already_issued", "ready"]
        assert other["number"] != first["number"]
        assert len(carrier.issued()) == 3  # with the red line
        # A reconciliation sends it no more than a refused one; whoever runs issue gets another number.
        assert office.reconcile(book).code == 1
        assert len(carrier.issued()) == 3
        assert office.issue(book).code == 0
        again = carrier.issued()[-1]["number"]
        assert len({first["number"], other["number"], red, again}) == 4
        told = desk.voucher("history", *(str(row["ticket_no"]) for row in tickets(2)), *office.common)
        assert told.out.count(f"{first['number']} was reversed by the carrier") == 1
        # The statement has all three: the voucher, its red line, and the one in its place.
        assert office.reconcile("--statement", office.statement()).code == 0, office.report()["problems"]


@pytest.mark.slow
def test_nothing_is_taken_back_while_a_run_is_on(
    desk: Desk, sandbox: Callable[..., Any], workbook: Callable[..., Path], tickets: Callable[..., Any]
) -> None:
    book = workbook(tickets(30))
    with sandbox(book) as carrier:
        office = Office(desk, carrier)
        slow = desk.begin(
            "issue", book, *office.common, "--as-of", "2026-11-20", "--rate", "4", "--concurrency", "1"
        )
        desk.during(slow, lambda: len(carrier.issued()) >= 2)
        number = carrier.issued()[0]["number"]
        for command in (("withdraw", "S1", "--why", "x"), ("reverse", number, "--evidence", "x")):
            ran = desk.voucher("ledger", *command, *office.common[2:], "--by", "Li")
            assert (ran.code, "another run is using this ledger" in ran.err) == (3, True)
        slow.kill()


@pytest.mark.slow
@pytest.mark.parametrize("said_by", ["an answer", "the statement"])
def test_what_was_issued_after_all_is_settled_once_the_voucher_in_its_place_was_reversed(
    desk: Desk,
    sandbox: Callable[..., Any],
    workbook: Callable[..., Path],
    tickets: Callable[..., Any],
    said_by: str,
) -> None:
    book = workbook(tickets(2))
    evidence = ("--by", "Li", "--evidence", "red invoice of 3 Dec")
    with sandbox(book, faults=f"{LOST_AFTER}requests = [1]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 4
        wrong = answered(desk.folder / "tickets.result.xlsx", "not issued")
        assert office.reconcile("--resolved", wrong).code == 0
        before = carrier.issued()
        port = int(carrier.base_url.rpartition(":")[2])
    carrier.statement.unlink()  # a carrier that has forgotten the first one issues it once more
    with sandbox(book, port=port) as carrier:
        assert office.issue(book).code == 0
        (second,) = (line["number"] for line in carrier.issued())
        take_back = ("ledger", "withdraw", "S1", *office.common[2:], "--by", "Li", "--why", "he misheard")
        refused = desk.voucher(*take_back)
        assert refused.code == 2
        # What is said there is done, word for word.
        assert (
            f"have {second} reversed and record that (voucher ledger reverse {second}), then withdraw S1"
            in refused.err
        )
        reverse = urllib.request.Request(
            f"{carrier.base_url}/sandbox/reverse", json.dumps({"number": second}).encode(), method="POST"
        )
        with urllib.request.urlopen(reverse):
            pass
        assert desk.voucher("ledger", "reverse", second, *office.common[2:], *evidence).code == 0
        assert desk.voucher(*take_back).code == 0
        everything = [*before, *carrier.issued()]
        # It is in doubt, and held: nothing is sent, and the reversal of the other is not taken back before it is settled.
        untaken = ("ledger", "withdraw", "R1", *office.common[2:], "--by", "Li", "--why", "x")
        assert office.reconcile(book).code == 4, office.desk.report()
        assert office.issue(book).code == 4
        assert "Settle that attempt first" in desk.voucher(*untaken).err
        first = next(line["number"] for line in before if line["ticket_no"] == everything[-1]["ticket_no"])
        newest = max(desk.folder.glob("tickets*.result.xlsx"), key=lambda path: path.stat().st_mtime_ns)
        said = {
            "an answer": lambda: ("--resolved", answered(newest, "issued", first, why="the carrier's mail")),
            "the statement": lambda: ("--statement", office.statement(lines=everything)),
        }[said_by]()
        assert office.reconcile(book, *said).code == 0, office.report()["problems"]
        assert [one["number"] for one in office.report()["settled"]] == [first]
        assert office.states() == {"already_issued": 2}
        assert office.reconcile("--statement", office.statement(lines=everything)).code == 0
        assert office.report()["problems"] == []
        assert f"have {first} reversed" in desk.voucher(*untaken).err
        # Issued it is, once: nothing is sent, and no more is recorded than was said.
        assert office.issue(book).code == 0
        rows = desk.report("issue.json")["rows"]
        assert [(row["status"], row["number"]) for row in rows] == [
            ("already_issued", line["number"])
            for row in rows
            for line in before
            if line["ticket_no"] == row["ticket_no"]
        ]
        assert [*before, *carrier.issued()] == everything
        told = desk.voucher("history", everything[-1]["ticket_no"], *office.common)
        assert told.out.count(f"settled as issued under {first}") == 1, told.out
        assert desk.voucher("ledger", "export", "audit.xlsx", *office.common[2:]).code == 0
        assert desk.voucher("ledger", "check", *office.common[2:]).code == 0


@pytest.mark.slow
@needs_compiler
def test_what_was_said_by_mistake_not_to_be_issued_is_settled_after_it_was_sent_again(
    desk: Desk, sandbox: Callable[..., Any], workbook: Callable[..., Path], tickets: Callable[..., Any]
) -> None:
    book = workbook(tickets(3))
    with sandbox(book, faults=f"{LOST_AFTER}requests = [2]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book, hours_ago=80).code == 4
        wrong = answered(desk.folder / "tickets.result.xlsx", "not issued")
        assert office.reconcile("--resolved", wrong).code == 0
        assert office.issue(book).code == 4  # the carrier refuses what it has issued
        assert len(carrier.issued()) == 3
        # By its date the voucher is that of the first attempt, and there is no other.
        then = (datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=80)).date()
        lines = [{**line, "issued_at": str(then)} for line in carrier.issued()]
        assert office.reconcile("--statement", office.statement(lines=lines)).code == 0
        assert office.report()["problems"] == []
        assert [one["number"] for one in office.report()["settled"]] == [lines[1]["number"]]
        assert office.issue(book).code == 0
        assert len(carrier.issued()) == 3


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [False, True])
def test_what_was_sent_again_with_others_by_a_mistake_is_settled_by_an_answer_and_a_withdrawal(
    desk: Desk,
    sandbox: Callable[..., Any],
    workbook: Callable[..., Path],
    tickets: Callable[..., Any],
    *,
    at_once: bool,
) -> None:
    rows = tickets(3, voucher="invoice")
    alone, everything = workbook(rows[:1], name="alone.xlsx"), workbook(rows, name="all.xlsx")
    with sandbox(everything, faults=f"{LOST_AFTER}requests = [1]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(alone).code == 4
        wrong = answered(desk.folder / "alone.result.xlsx", "not issued")
        assert office.reconcile("--resolved", wrong).code == 0
        assert office.issue(everything).code == 4  # one invoice of all three, which the carrier refuses whole
        (first,) = carrier.issued()
        take_back = ("ledger", "withdraw", "S1", *office.common[2:], "--by", "Li", "--why", "he misheard")
        assert desk.voucher(*take_back).code == 2
        if not at_once:
            # What is listed is a part of it alone; that may be the earlier attempt's, or the rest was left out.
            assert office.reconcile(everything, "--statement", office.statement()).code == 4
            (problem,) = office.report()["problems"]
            assert "answer “not issued” to this one, then withdraw S1" in problem["message"], problem[
                "message"
            ]
            zh = office.reconcile("--statement", office.statement(), "--lang", "zh")
            assert english(zh.err.replace("Unknown", "").replace("Not ours", "")) == [], zh.err
        right = answered(desk.folder / "all.result.xlsx", "not issued", why="the carrier's list of requests")
        shown = ("--statement", office.statement()) if at_once else ()
        # The others are sent again at once, and the one that the carrier has issued is not.
        assert office.reconcile(everything, "--resolved", right, *shown).code in (0, 1), office.report()
        assert office.report()["problems"] == []
        assert [one["status"] for one in office.report()["settled"]] == ["not_sent"]
        assert len(carrier.issued()) == 3
        withdrawn = desk.voucher(*take_back)
        assert withdrawn.code == 0, withdrawn.err
        assert office.reconcile("--statement", office.statement()).code == 0, office.report()
        assert [one["number"] for one in office.report()["settled"]] == [first["number"]]
        assert office.issue(everything).code == 0
        assert len(carrier.issued()) == 3
        assert carrier.twice() == []
        assert desk.voucher("ledger", "check", *office.common[2:]).code == 0
