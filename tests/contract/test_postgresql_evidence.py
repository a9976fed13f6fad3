"""Two at once about the same thing, on a shared ledger: one of them does it, and the other is told what every second one is told."""

import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import psycopg
import pytest

from pipeline.ledger.attempt_changes import Ended
from pipeline.ledger.judgements import Judgement
from pipeline.ledger.reversals import SaidReversed
from pipeline.ledger.settlements import NotSettled, Settlement
from pipeline.ledger_postgresql.evidence_changes import check_settle_after
from pipeline.ledger_postgresql.postgresql_ledger import PostgresqlLedger
from pipeline.ledger_postgresql.server_connection import connect
from pipeline.ledger_postgresql.server_schema import about
from pipeline.model.errors import InputProblem, Stop
from pipeline.model.itinerary_file import FileStatus
from pipeline.model.message import verbatim
from pipeline.model.outcome import Outcome
from pipeline.model.profile import Owner, Profile, Reconcile
from tests.contract.conftest import Begin
from tests.contract.ledgers import OWNER, Shared, charge, invoice, issued, seal
from tests.contract.test_evidence import (
    LOST,
    hold,
    itinerary_file,
    line,
    one_issued,
    one_itinerary,
    one_unknown,
)

pytestmark = pytest.mark.slow

WRITERS, TIMES = 4, 5
Change = Callable[[PostgresqlLedger], object]


def at_once(ledger: Shared, *changes: Change) -> list[str]:
    """What each came to that began at the same moment, by a connection of its own: "" where it was done, else why not."""
    connections = [connect(ledger.url("issuer")) for _ in changes]
    begin, said = threading.Barrier(len(changes)), [""] * len(changes)

    def do(at: int) -> None:
        other = PostgresqlLedger(connections[at], seal)
        begin.wait()
        try:
            changes[at](other)
        except Stop as problem:
            said[at] = str(problem)

    threads = [threading.Thread(target=do, args=(at,)) for at in range(len(changes))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for connection in connections:
        connection.close()
    return sorted(said)


def one_of(said: Sequence[str], why: str) -> bool:
    """Whether one did it, and every other one was told why it could not."""
    return said[0] == "" and len(said) == WRITERS and all(why in one for one in said[1:])


def test_a_voucher_is_reversed_once_by_whoever_says_so_at_once(begin_shared: Begin) -> None:
    ledger = begin_shared()
    for number in range(1, TIMES + 1):
        one_issued(ledger, f"N{number}", number)
        said = at_once(
            ledger, *[lambda it, n=number: it.reverse(SaidReversed(f"N{n}", "li", "mail"))] * WRITERS
        )
        assert one_of(said, f"N{number}: its reversal is recorded already (R")
    assert ledger.rows("SELECT count(*), count(DISTINCT number) FROM reversal") == [(TIMES, TIMES)]


def test_evidence_is_withdrawn_once_by_whoever_says_so_at_once(begin_shared: Begin) -> None:
    ledger = begin_shared()
    for number in range(1, TIMES + 1):
        hold(ledger, line(f"E{number}", ticket=number))
        said = at_once(
            ledger, *[lambda it, n=number: it.withdraw(f"E{n}", withdrawn_by="li", why="no")] * WRITERS
        )
        assert one_of(said, f"E{number}: is withdrawn already")
    assert ledger.rows("SELECT count(*) FROM withdrawal") == [(TIMES,)]


def test_what_two_statements_show_at_once_is_held_once(begin_shared: Begin) -> None:
    ledger = begin_shared()
    lines = [(line(f"E{number}", ticket=number), "FARE/Flight") for number in range(1, 21)]
    orders = (lines, lines[::-1], lines, lines[::-1])
    assert (
        at_once(
            ledger, *(lambda it, these=these: it.hold_elsewhere(ledger.run, these, "li") for these in orders)
        )
        == [""] * 4
    )
    assert ledger.rows("SELECT count(*), count(DISTINCT number) FROM elsewhere") == [(20, 20)]


def test_an_attempt_is_settled_once_by_whoever_says_so_at_once(begin_shared: Begin) -> None:
    ledger = begin_shared()
    for number in range(1, TIMES + 1):
        attempt = one_unknown(ledger, number)
        found = [Settlement("issued", f"N{number}{who}", "li", "a statement") for who in range(WRITERS)]
        said = at_once(ledger, *(lambda it, one=one, of=attempt: it.settle(of, one) for one in found))
        assert one_of(said, f"is not unknown any more: it is issued as N{number}")
    assert set(ledger.states().values()) == {"issued"}
    assert ledger.rows("SELECT count(*) FROM settlement") == [(TIMES,)]


def test_a_number_is_settled_once_by_whoever_says_so_at_once(begin_shared: Begin) -> None:
    ledger = begin_shared()
    for first in range(1, TIMES * WRITERS, WRITERS):
        attempts = [one_unknown(ledger, number) for number in range(first, first + WRITERS)]
        found = Settlement("issued", f"N{first}", "li", "a statement")
        said = at_once(ledger, *(lambda it, of=of, found=found: it.settle(of, found) for of in attempts))
        assert one_of(said, f"N{first} is another voucher's by now")
    assert ledger.rows("SELECT count(*) FROM settlement") == [(TIMES,)]


def test_a_number_that_is_reversed_by_another_at_once_is_never_both(begin_shared: Begin) -> None:
    """A worker brings the number while somebody says that it is the one of the red voucher."""
    for _ in range(TIMES):
        ledger = begin_shared()
        one_issued(ledger)
        ledger.plan(invoice(charge(2)))
        (second,) = ledger.claim(1)
        done: list[Any] = []
        at_once(
            ledger,
            lambda it: it.reverse(SaidReversed("N1", "li", "mail", red_number="N2")),
            lambda _, of=second, one=ledger, to=done: to.extend(one.record(Ended(of, issued("N2")))),
        )
        ((reversals,),) = ledger.rows("SELECT count(*) FROM reversal WHERE red_number = 'N2'")
        assert (reversals, done[0].state) in ((1, "unknown"), (0, "issued"))


def test_what_a_withdrawal_holds_again_another_does_not_claim_at_once(begin_shared: Begin) -> None:
    """A charge is in one live attempt: either it is held again first, or the withdrawal is told that another one holds it."""
    for _ in range(TIMES):
        ledger = begin_shared()
        first = one_unknown(ledger)
        ledger.operations.settle(first, Settlement("not_sent", "", "chen", "a letter", "a letter"))
        (second,) = ledger.plan(invoice(charge(1)))
        said = at_once(
            ledger,
            lambda it: it.withdraw("S1", withdrawn_by="li", why="no"),
            lambda _, one=ledger: one.claim(1),
        )
        found = ledger.states()
        if said[1:] == [""]:
            assert found == {first: "unknown", second: "planned"}
        else:
            assert "ticket 9990000000001 is held by another attempt" in said[1]
            assert found == {first: "not_sent", second: "sending"}


def test_two_that_judge_the_same_rows_at_once_note_each_once(begin_shared: Begin) -> None:
    ledger = begin_shared()
    made = [
        Judgement(f"999{number:010}", "refund", "flight", "invoice", 1, "ready", "", "a.xlsx", "S", number)
        for number in range(500)
    ]
    assert at_once(ledger, *[lambda it: it.note_judgements(ledger.run, made)] * WRITERS) == [""] * WRITERS
    assert ledger.rows("SELECT count(*), count(DISTINCT ticket_no) FROM judgement") == [(500, 500)]


def test_judgements_that_come_in_parts_are_compared_with_what_was_there_before(
    begin_shared: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.ledger_postgresql.evidence_changes._TOGETHER", 1)
    ledger = begin_shared()
    first = Judgement("9990000000001", "refund", "flight", "invoice", 1, "ready", "", "a.xlsx", "S", 2)
    second = first._replace(row=3)
    ledger.operations.note_judgements(ledger.run, [second])
    ledger.operations.note_judgements(ledger.run, [first, second])
    assert ledger.rows("SELECT row FROM judgement ORDER BY judgement") == [(3,), (2,)]


def test_a_file_that_two_collect_at_once_is_noted_once(begin_shared: Begin) -> None:
    ledger = begin_shared()
    files = [itinerary_file("a", FileStatus("received"), one_itinerary(ledger))]
    assert at_once(ledger, *[lambda it: it.note_files(ledger.run, files)] * WRITERS) == [""] * WRITERS
    assert ledger.rows("SELECT status FROM received_file") == [("received",)]


def test_a_ledger_moves_once_and_not_while_a_run_is_on(begin_shared: Begin) -> None:
    ledger = begin_shared()
    to = Owner("http://127.0.0.1:8081", "DEMO")
    (said,) = at_once(ledger, lambda it: it.move(to, "li", "their letter"))
    assert "a run is on that began at" in said
    assert ledger.rows("SELECT base_url FROM ledger") == [(OWNER.base_url,)]
    ledger.operations.end(ledger.run, 0)
    assert at_once(ledger, *[lambda it: it.move(to, "li", "their letter")] * WRITERS) == [""] * WRITERS
    assert ledger.rows("SELECT base_url FROM ledger") == [(to.base_url,)]
    assert ledger.rows("SELECT count(*) FROM carrier_move") == [(1,)]


def test_a_trials_ledger_never_becomes_a_real_carriers(begin_shared: Begin) -> None:
    ledger = begin_shared()
    ledger.operations.end(ledger.run, 0)
    (said,) = at_once(ledger, lambda it: it.move(Owner("https://carrier.example", "DEMO"), "li", "a letter"))
    assert "is the ledger of a trial" in said
    assert ledger.rows("SELECT count(*) FROM carrier_move") == [(0,)]


def test_the_database_itself_lets_no_number_be_two_vouchers(begin_shared: Begin) -> None:
    ledger = begin_shared()
    one_issued(ledger)
    hold(ledger, line("E9", ticket=9))
    ledger.operations.reverse(SaidReversed("N1", "li", "mail", red_number="RED1"))
    ledger.plan(invoice(charge(2)))
    (attempt,) = ledger.claim(1)
    ends = "UPDATE attempt SET state = 'issued', number = '%s', ended_at = clock_timestamp(), body = NULL WHERE attempt_id = %s"
    for number in ("N1", "RED1", "E9"):
        with pytest.raises(psycopg.Error) as refused:
            ledger.force(ends % (number, attempt))
        assert refused.value.sqlstate == "VP010"
    ledger.force(ends % ("N2", attempt))


# --- proof that nothing was issued -----------------------------------------------------------------


def test_what_is_no_proof_yet_says_whose_end_is_to_be_seen_and_from_when_on_it_is_one(
    begin_shared: Begin,
) -> None:
    ledger = begin_shared()
    ledger.plan(invoice(charge(1)))
    (attempt,) = ledger.claim(1)
    ledger.record(Ended(attempt, LOST))
    letter = Settlement("not_sent", "", "chen", "a letter", "a letter")
    with pytest.raises(NotSettled) as said:
        ledger.operations.settle(attempt, letter)
    assert f"voucher ledger declare-dead {ledger.worker.worker} --how" in str(said.value)
    ((until,),) = ledger.rows(
        "SELECT to_char((sending_at + interval '1 hour 1 minute') AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') FROM attempt"
    )
    assert f"{until} UTC or later" in str(said.value)
    ledger.sender_dies()
    ledger.operations.settle(attempt, letter)
    assert ledger.states() == {attempt: "not_sent"}


@pytest.mark.parametrize("hours", [None, 1, 1.5])
def test_a_profile_may_wait_longer_than_the_ledger(begin_shared: Begin, hours: float | None) -> None:
    profile = Profile(reconcile=Reconcile(settle_after_hours=hours))
    check_settle_after(profile, about(begin_shared().connect("reader")))


def test_a_profile_that_takes_silence_for_a_proof_too_soon_is_told(begin_shared: Begin) -> None:
    profile = Profile(reconcile=Reconcile(settle_after_hours=0.5))
    with pytest.raises(
        InputProblem,
        match=r"settle_after_hours in the profile is 0.5, and .* before 1 hours; set it to 1, or",
    ):
        check_settle_after(profile, about(begin_shared().connect("reader")))


def test_that_something_was_issued_is_proof_at_any_time(begin_shared: Begin) -> None:
    ledger = begin_shared()
    ledger.plan(invoice(charge(1)))
    (attempt,) = ledger.claim(1)
    ledger.record(Ended(attempt, LOST))
    ledger.operations.settle(attempt, Settlement("issued", "N1", "chen", "a statement"))
    assert ledger.states() == {attempt: "issued"}


def test_a_late_word_that_was_withdrawn_is_not_taken_again_and_another_one_is(begin_shared: Begin) -> None:
    ledger = begin_shared()
    ledger.plan(invoice(charge(1)))
    (attempt,) = ledger.claim(1)
    sender = ledger.worker
    ledger.sender_dies()
    assert sender.late(attempt, issued("N1")) == issued("N1")
    ledger.operations.withdraw("S1", withdrawn_by="li", why="the carrier knows no such number")
    assert ledger.states() == {attempt: "unknown"}
    assert sender.late(attempt, issued("N1")).state == "unknown"
    no = Outcome("rejected", "carrier_rejected", detail=verbatim("no"))
    assert sender.late(attempt, no).state == "rejected"
    ledger.operations.withdraw("S2", withdrawn_by="li", why="of another request")
    assert ledger.states() == {attempt: "unknown"}
    assert ledger.rows("SELECT state, taken FROM late_word ORDER BY late_word") == [
        ("issued", True),
        ("rejected", True),
    ]


# --- roles -----------------------------------------------------------------------------------------


def test_who_sends_gives_no_evidence_and_who_issues_writes_to_no_table(begin_shared: Begin) -> None:
    ledger = begin_shared()
    for role, statement in (
        ("worker", "SELECT voucher.reverse('{}', NULL)"),
        ("worker", "SELECT voucher.withdraw('settlement', 1, 'x', 'x')"),
        ("worker", "SELECT voucher.note_files(1, '[]')"),
        ("worker", "SELECT voucher.move_carrier('{}', '{}', 'x', 'x')"),
        (
            "issuer",
            "INSERT INTO voucher.withdrawal (settlement, withdrawn_by, why, withdrawn_at) VALUES (1, 'x', 'x', now())",
        ),
        ("issuer", "UPDATE voucher.reversal SET withdrawn = true"),
        ("issuer", "SELECT voucher.held_by_another(1)"),
    ):
        with (
            closing(connect(ledger.url(role))) as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            connection.execute(statement.encode())
    assert ledger.connect("reader").execute("SELECT count(*) FROM voucher.judgement").fetchone() == (0,)
