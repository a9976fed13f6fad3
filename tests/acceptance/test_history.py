"""`voucher history`: what a ledger knows of a ticket, for people in their language and for programs."""

import json
from typing import Any

import pytest

ISSUE = ("--profile", "carrier.toml", "--ledger", "october.ledger", "--as-of", "2026-11-20")
FIRST_LOST = '[[fault]]\nkind = "reset"\nwhen = "after"\nrequests = [1]\n'


@pytest.fixture
def settled(desk: Any, sandbox: Any, workbook: Any, tickets: Any) -> Any:
    """A ticket whose answer was lost, and which a statement then listed; beside one that was issued elsewhere."""
    book = workbook(tickets(2))
    with sandbox(book, faults=FIRST_LOST) as carrier:
        desk.profile(carrier.base_url, concurrency=1)
        assert desk.voucher("issue", book, *ISSUE).code == 4
        statement = carrier.statement.read_text(encoding="utf-8-sig")
        (desk.folder / "october.csv").write_text(statement.replace("9990000000002", "9990000000003"))
        ran = desk.voucher("reconcile", *ISSUE, "--statement", "october.csv", "--by", "chen")
        assert ran.code == 1, ran.err
        yield carrier


def test_a_ticket_is_followed_from_its_row_to_its_settlement(desk: Any, settled: Any) -> None:
    ran = desk.voucher("history", "999-0000000001", *ISSUE[:4])
    assert (ran.code, ran.err) == (0, "")
    heading, *lines = ran.out.splitlines()
    assert heading == "999-0000000001 (times: Asia/Shanghai)"
    begun = [
        line for line in lines if " sending begun by " in line
    ]  # nobody where this machine's user has no name
    told = [line.split()[2] for line in lines if line not in begun]
    assert (len(begun) <= 1, told) == (True, ["judged", "sending", "unknown:", "settled"])
    (number,) = (row["number"] for row in settled.issued() if row["ticket_no"] == "9990000000001")
    assert f"settled as issued under {number} by chen: october.csv, " in lines[-1]
    assert "(times: UTC)" in desk.voucher("history", "9990000000001", *ISSUE[2:4]).out


def test_what_a_statement_showed_is_told_of_a_ticket_that_was_never_asked_for(
    desk: Any, settled: Any
) -> None:
    ran = desk.voucher("history", "9990000000003", *ISSUE[2:4], "--lang", "zh")
    assert "他处已开具：承运人账单列有" in ran.out
    assert settled.issued()[1]["number"] in ran.out


@pytest.mark.usefixtures("settled")
def test_for_programs_there_is_one_object_by_ticket(desk: Any) -> None:
    ran = desk.voucher("history", "9990000000001", "9990000000009", "9990000000001", *ISSUE[:4], "--json")
    assert (ran.code, ran.err) == (0, "")
    told = json.loads(ran.out)
    assert list(told) == ["9990000000001", "9990000000009"]
    events = [event for event in told["9990000000001"] if event["event"] != "sent"]
    assert [event["event"] for event in events] == ["judged", "sending", "unknown", "settled"]
    assert events[0]["amount"] == "1000.00"
    assert told["9990000000009"] == []
    assert "canary" not in ran.out


@pytest.mark.usefixtures("settled")
def test_a_ledger_that_may_be_an_older_copy_is_told_of_and_left_as_it_is(desk: Any) -> None:
    path = desk.folder / "october.ledger"
    (desk.folder / "october.ledger.lock").unlink()
    before = path.read_bytes()
    ran = desk.voucher("history", "9990000000002", *ISSUE[2:4])
    assert ran.code == 0
    assert "its last run is not noted beside it (october.ledger.lock)" in ran.err
    assert "issued as " in ran.out
    assert path.read_bytes() == before


def test_what_is_wrong_is_said_in_the_language_that_was_asked_for(desk: Any) -> None:
    for lang, said in (("en", "999: is not a ticket number of 13 digits"), ("zh", "999：不是 13 位票号")):
        ran = desk.voucher("history", "999", "--ledger", "none.ledger", "--lang", lang)
        assert (ran.code, ran.out) == (2, "")
        assert said in ran.err
    ran = desk.voucher("history", "9990000000001", "--ledger", "none.ledger", "--lang", "zh")
    assert (ran.code, "没有台账" in ran.err) == (2, True)
