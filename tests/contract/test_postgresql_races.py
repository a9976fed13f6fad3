"""What meets at a shared ledger: messages that arrive late or twice, evidence beside deaths, changes at the same moment.

Each story is one that an earlier form of sql/functions.sql told otherwise.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pipeline.ledger.attempt_changes import Again, Ended
from pipeline.ledger.planning import NO_DETAILS
from pipeline.ledger.settlements import NotSettled, Settlement
from pipeline.ledger_postgresql import known_workers
from pipeline.ledger_postgresql.issued_run import IssuedRun
from pipeline.ledger_postgresql.open_runs import open_runs
from pipeline.ledger_postgresql.postgresql_ledger import PostgresqlLedger
from pipeline.ledger_postgresql.server_connection import connect
from pipeline.ledger_postgresql.server_schema import Bounds
from pipeline.ledger_postgresql.shared_writer import SharedWriter
from pipeline.ledger_postgresql.sqlstates import ServerAway
from pipeline.ledger_postgresql.worker_part import Part
from pipeline.ledger_postgresql.worker_turns import Worker
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.message import verbatim
from pipeline.model.outcome import Outcome
from pipeline.model.profile import Owner
from tests.contract.conftest import Begin
from tests.contract.ledgers import OWNER, ROWS, TERMS, Shared, charge, invoice, issued, seal

pytestmark = pytest.mark.slow

NOT_ISSUED = Settlement("not_sent", "", "chen", "the carrier's letter")
LOST = Outcome("unknown", "no_answer", detail=verbatim("timeout"))
NOBODY = Outcome("not_sent", "carrier_unreachable")
_PATIENCE = 10.0  # seconds


class Unlucky(Worker):
    """A worker whose next call, whose statement holds `lost`, does not arrive while it waits; `arrive` has it arrive after all."""

    lost = ""
    on_the_way: tuple[Any, ...] = ()

    def _row(self, sql: str, *given: Any) -> Any:
        if self.lost and self.lost in sql:
            self.lost, self.on_the_way = "", (sql, given)
            raise ServerAway("the connection broke")
        return super()._row(sql, *given)

    def arrive(self, by: psycopg.Connection) -> None:
        with suppress(psycopg.Error):
            by.execute(*self.on_the_way)


def another(ledger: Shared) -> Worker:
    return Worker(ledger.connect("worker"))


def at_once(*does: Callable[[], object]) -> None:
    threads = [threading.Thread(target=one, daemon=True) for one in does]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_PATIENCE)
        assert not thread.is_alive()


# --- messages that arrive late ---------------------------------------------------------------------


def test_a_return_that_arrives_late_gives_nothing_back_that_is_being_sent_by_then(
    begin_shared: Begin,
) -> None:
    """A worker gives back, hears nothing, gives back again, and goes on; then the first one arrives."""
    ledger = begin_shared()
    (first,) = ledger.plan(invoice(charge(1)))
    worker = Unlucky(ledger.connect("worker"))
    worker.lost = "voucher.give_back"
    with pytest.raises(ServerAway):
        worker.give_back([])
    worker.reconnect(ledger.connect("worker"))
    assert worker.give_back([]) == 0
    assert [one.attempt_id for one in worker.turn([], ledger.run, 1).claimed] == [first]
    worker.arrive(ledger.connect("worker"))
    assert ledger.states() == {first: "sending"}  # else its charge is free, and goes a second time
    assert worker.turn([Ended(first, issued("N1"))], ledger.run, 0).done == [issued("N1")]


def test_a_return_that_arrives_before_the_next_changes_nothing(begin_shared: Begin) -> None:
    ledger = begin_shared()
    (first,) = ledger.plan(invoice(charge(1)))
    worker = Unlucky(ledger.connect("worker"))
    worker.lost = "voucher.give_back"
    with pytest.raises(ServerAway):
        worker.give_back([])
    worker.arrive(ledger.connect("worker"))
    assert worker.give_back([]) == 0
    assert [one.attempt_id for one in worker.turn([], ledger.run, 1).claimed] == [first]


def test_a_worker_that_did_not_hear_that_it_had_joined_is_one_worker(begin_shared: Begin) -> None:
    """Else the other one is waited for after every start of the server, until somebody declares it dead."""
    ledger = begin_shared()
    ledger.worker.leave()
    first = another(ledger)
    again = Worker(ledger.connect("worker"), first.worker)
    assert again.turn([], ledger.run, 0).done == []
    assert ledger.rows("SELECT count(*) FROM worker WHERE left_at IS NULL") == [(1,)]


# --- what is handed in again -----------------------------------------------------------------------


class TurnLost(Worker):
    """Its turns are done, and it is told of none while `deaf`."""

    deaf = False

    def turn(self, *given: Any) -> Any:
        if not self.deaf:
            return super().turn(*given)
        before = self._acknowledged
        super().turn(*given)
        self._acknowledged = before
        raise ServerAway("the connection broke")


def test_what_is_handed_in_again_is_acknowledged_as_it_is_recorded(begin_shared: Begin) -> None:
    ledger = begin_shared()
    ledger.plan(invoice(charge(1)), invoice(charge(2)), invoice(charge(3)))
    worker = TurnLost(ledger.connect("worker"))
    first, second, third = (one.attempt_id for one in worker.turn([], ledger.run, 3).claimed)
    changes = [Ended(first, issued("N1")), Ended(second, issued("N1")), Ended(third, NOBODY), Again(third)]
    worker.deaf = True
    with pytest.raises(ServerAway):
        worker.turn(changes, ledger.run, 0)
    worker.deaf = False
    assert worker.give_back([]) == 0
    worker._bodies[third] = b"sealed again"
    done = list(worker.turn(changes, ledger.run, 0).done)
    ((again,),) = ledger.rows("SELECT max(attempt_id) FROM attempt")
    assert done[0] == issued("N1")
    assert (done[1].state, done[1].reason) == ("unknown", "answer_unexplained")  # type: ignore[union-attr]
    assert done[2:] == [NOBODY, (again, 2)]
    assert ledger.states() == {first: "issued", second: "unknown", third: "not_sent", again: "planned"}


def test_what_was_recorded_stays_so_though_a_statement_came_between(begin_shared: Begin) -> None:
    ledger = begin_shared()
    ledger.plan(invoice(charge(1)))
    worker = TurnLost(ledger.connect("worker"))
    (first,) = (one.attempt_id for one in worker.turn([], ledger.run, 1).claimed)
    worker.deaf = True
    with pytest.raises(ServerAway):
        worker.turn([Ended(first, issued("N1"))], ledger.run, 0)
    worker.deaf = False
    ledger.force(
        "INSERT INTO elsewhere (run, ticket_no, charge, product, wire, voucher, number, buyer, issued_at, evidence, found_by, found_at)"
        f" VALUES ({ledger.run}, '9990000000009', 'ticket_fare', 'flight', '', 'invoice', 'N1', '', '', 'row 2', 'chen', now())"
    )
    worker.give_back([])
    assert worker.turn([Ended(first, issued("N1"))], ledger.run, 0).done == [issued("N1")]


# --- numbers that come at the same moment ----------------------------------------------------------


def number_is_taken_meanwhile(ledger: Shared, number: str, attempt: int, says: Callable[[], object]) -> None:
    """`says` is on when another transaction has given the number to an attempt, and has not committed."""
    with psycopg.connect(ledger.url("owner")) as other:
        other.execute(
            "UPDATE voucher.attempt SET state = 'issued', number = %s, ended_at = now(), body = NULL WHERE attempt_id = %s",
            (number, attempt),
        )
        thread = threading.Thread(target=says, daemon=True)
        thread.start()
        until = time.monotonic() + _PATIENCE
        while not ledger.rows("SELECT FROM pg_stat_activity WHERE wait_event = 'transactionid'"):
            assert time.monotonic() < until
            time.sleep(0.01)
        other.commit()
        thread.join(_PATIENCE)
        assert not thread.is_alive()


def test_a_number_that_another_gets_at_the_same_moment_makes_an_outcome_unknown_and_not_lost(
    begin_shared: Begin,
) -> None:
    ledger = begin_shared()
    ledger.plan(invoice(charge(1)), invoice(charge(2)))
    first, second = ledger.claim(2)
    done: list[Any] = []
    nonsense = Ended(99, issued("N9"))  # so that each change is recorded by itself
    number_is_taken_meanwhile(
        ledger, "N1", first, lambda: done.extend(ledger.record(nonsense, Ended(second, issued("N1"))))
    )
    assert isinstance(done[0], LedgerProblem)
    assert (done[1].state, done[1].reason) == ("unknown", "answer_unexplained")
    assert ledger.states() == {first: "issued", second: "unknown"}


def test_a_late_word_with_a_number_that_another_gets_at_the_same_moment_is_kept(begin_shared: Begin) -> None:
    ledger = begin_shared()
    ledger.plan(invoice(charge(1)), invoice(charge(2)))
    (first,) = ledger.claim(1)
    lost = another(ledger)
    (second,) = (one.attempt_id for one in lost.turn([], ledger.run, 1).claimed)
    ledger.declare_dead(lost.worker, "chen", "kill -9")
    said: list[Outcome] = []
    number_is_taken_meanwhile(ledger, "N1", first, lambda: said.append(lost.late(second, issued("N1"))))
    assert [one.state for one in said] == ["unknown"]
    assert ledger.rows("SELECT state, number, taken FROM late_word") == [("issued", "N1", False)]


# --- evidence beside deaths ------------------------------------------------------------------------


def test_evidence_from_before_a_senders_death_says_nothing_of_what_it_sent_after(begin_shared: Begin) -> None:
    """A statement is made while a worker is on; it sends, is killed, and is seen dead. The statement lacks what it sent."""
    ledger = begin_shared()
    (first,) = ledger.plan(invoice(charge(1)))
    ledger.claim(1)
    ((made_at,),) = ledger.rows("SELECT clock_timestamp()")
    ledger.sender_dies()
    with pytest.raises(NotSettled, match="had not ended by"):
        ledger.operations.settle(first, replace(NOT_ISSUED, as_of=made_at))
    ((made_at,),) = ledger.rows("SELECT clock_timestamp()")
    ledger.operations.settle(first, replace(NOT_ISSUED, as_of=made_at))
    assert ledger.states() == {first: "not_sent"}


def test_evidence_from_before_a_sender_left_says_nothing_of_what_it_sent_after(begin_shared: Begin) -> None:
    ledger = begin_shared()
    (first,) = ledger.plan(invoice(charge(1)))
    ledger.claim(1)
    ((made_at,),) = ledger.rows("SELECT clock_timestamp()")
    ledger.record(Ended(first, LOST))
    ledger.worker.leave()
    with pytest.raises(NotSettled, match="had not ended by"):
        ledger.operations.settle(first, replace(NOT_ISSUED, as_of=made_at))
    ledger.operations.settle(first, NOT_ISSUED)
    assert ledger.states() == {first: "not_sent"}


def test_a_late_yes_against_evidence_holds_its_charges(begin_shared: Begin) -> None:
    """Somebody said that nothing was issued, and the sender has a number: one of them is wrong, and until it is known which nothing is sent."""
    ledger = begin_shared()
    ledger.plan(invoice(charge(1), charge(2)))
    (first,) = ledger.claim(1)
    dead = ledger.worker
    ledger.sender_dies()
    ledger.operations.settle(first, NOT_ISSUED)
    assert dead.late(first, issued("N1")).state == "not_sent"
    held, free = ledger.plan(invoice(charge(2)), invoice(charge(3)))
    assert ledger.claim(5) == [free]
    assert ledger.rows(f"SELECT barred FROM attempt WHERE attempt_id = {held}") == [
        ("a worker has a number for a charge of it, against what is recorded",)
    ]


@pytest.mark.parametrize("how", ["declared dead", "swept", "vouched for"])
def test_whoever_counts_a_worker_as_lost_has_none_of_its_attempts_while_another_settles(
    begin_shared: Begin, how: str
) -> None:
    """Who settles has the gate, and then the attempt; the other way round the two would wait for each other."""
    ledger = begin_shared()
    (first,) = ledger.plan(invoice(charge(1)))
    lost = ledger.worker.worker
    ledger.operations._one("SELECT voucher.open_run(%s, %s, 0, 0)", ledger.run, lost)
    ledger.claim(1)
    if how == "vouched for":
        ledger.force("UPDATE server_life SET name = 'the one before'")
    if how != "declared dead":
        ledger.force(f"UPDATE worker SET heard_at = heard_at - interval '1 day' WHERE worker = '{lost}'")
    counts = {
        "declared dead": lambda: ledger.declare_dead(lost, "chen", "kill -9"),
        "swept": ledger.sweep,
        "vouched for": lambda: known_workers.vouch_for(
            ledger.operations._connection, [lost], "chen", "it was only started again"
        ),
    }[how]
    with connect(ledger.url("owner")) as settles, settles.transaction():
        settles.execute("SELECT pg_advisory_xact_lock(voucher.gate())")
        thread = threading.Thread(target=counts, daemon=True)
        thread.start()
        until = time.monotonic() + _PATIENCE
        while not ledger.rows("SELECT FROM pg_stat_activity WHERE wait_event = 'advisory'"):
            assert time.monotonic() < until
            time.sleep(0.01)
        settles.execute("SELECT FROM voucher.attempt WHERE attempt_id = %s FOR UPDATE NOWAIT", (first,))
    thread.join(_PATIENCE)
    assert not thread.is_alive()
    assert ledger.states() == {first: "unknown"}


# --- claims that meet ------------------------------------------------------------------------------


def test_claims_that_the_database_alone_refuses_end_all_the_same(begin_shared: Begin) -> None:
    """Two refunds of one ticket, which no look at other rows finds in each other's way."""
    ledger = begin_shared()
    first, _ = ledger.plan(invoice(charge(1, "refund")), invoice(charge(1, "refund", "baggage")))
    (third,) = ledger.plan(invoice(charge(3)))
    claimed: list[int] = []
    at_once(lambda: claimed.extend(ledger.claim(5)))
    assert claimed == [first, third]
    assert ledger.claim(5) == []


# --- two runs of the same input --------------------------------------------------------------------


def planned_by_another_run(ledger: Shared, number: int) -> int:
    run = ledger.operations.begin("issue", TERMS, [])
    (made,) = ledger.operations.plan(run, [invoice(charge(number))], ROWS, NO_DETAILS)
    return made.attempt_id


def test_what_another_run_has_planned_meanwhile_is_given_back_all_the_same(begin_shared: Begin) -> None:
    ledger = begin_shared()
    (first,) = ledger.plan(invoice(charge(1)))
    ledger.claim(1)
    second = planned_by_another_run(ledger, 1)
    assert ledger.worker.give_back([]) == 1
    assert ledger.states() == {first: "not_sent", second: "planned"}


@pytest.mark.parametrize("most", [8, 7, 3])
def test_what_may_be_in_flight_is_shared_by_all_workers_and_none_is_left_out(
    begin_shared: Begin, most: int
) -> None:
    ledger = begin_shared()
    workers = [ledger.worker, another(ledger), another(ledger)]
    with closing(IssuedRun(ledger.url("issuer"), ledger.run)) as issued_run:
        issued_run.open(str(workers[0].worker), 0, most)
    slots = [0, 0, 0]
    for at in (0, 0, 1, 0, 1, 2, 0, 1, 2, 0, 1, 2):  # one is there first, then another, then the third
        slots[at] = workers[at].allot(ledger.run, most, 0)
        assert sum(slots) <= most
    assert sum(slots) == most
    assert min(slots) >= most // 3


def test_runs_that_plan_the_same_requests_at_once_have_an_attempt_each(begin_shared: Begin) -> None:
    ledger = begin_shared()
    requests = [invoice(charge(number)) for number in range(1, 4)]
    runs = [ledger.operations.begin("issue", TERMS, []) for _ in range(4)]
    planners = [PostgresqlLedger(ledger.connect("issuer"), seal) for _ in runs]
    made: list[Any] = []
    with connect(ledger.url("owner")) as owner:
        owner.execute(
            "BEGIN; LOCK TABLE voucher.attempt IN SHARE MODE"
        )  # until all of them have looked for the last number
        release = threading.Timer(1.0, lambda: owner.execute("COMMIT"))
        release.start()
        at_once(
            *(
                lambda one=one, run=run: made.extend(one.plan(run, requests, ROWS, NO_DETAILS))
                for one, run in zip(planners, runs, strict=True)
            )
        )
        release.join()
    assert sorted(one.attempt for one in made) == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]


def test_a_charge_is_in_doubt_that_came_to_be_so_after_it_was_planned(begin_shared: Begin) -> None:
    """Two runs plan it; the first's attempt is unknown, and called not issued. A no to the second may mean that it was issued."""
    ledger = begin_shared()
    ledger.plan(invoice(charge(1), charge(2)))
    run = ledger.operations.begin("issue", TERMS, [])
    ledger.operations.plan(run, [invoice(charge(2)), invoice(charge(3))], ROWS, NO_DETAILS)
    (first,) = ledger.claim(1)
    ledger.sender_dies()
    ledger.operations.settle(first, NOT_ISSUED)
    second, third = ledger.worker.turn([], run, 2).claimed
    assert (second.doubted, third.doubted) == (True, False)


# --- an older copy in the place of the ledger ------------------------------------------------------


AN_OLDER_COPY = "SET session_replication_role = replica; "  # past the rules, as files that are put back are


def gap_is_marked(ledger: Shared, writer: SharedWriter) -> bool:
    until = time.monotonic() + _PATIENCE
    while not (writer.failed and ledger.operations.lacking()) and time.monotonic() < until:
        time.sleep(0.05)
    return bool(writer.failed and ledger.operations.lacking())


def test_a_worker_that_a_ledger_has_never_heard_of_says_that_it_lacks_something(
    begin_shared: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else claims would open without it, and what it sent would be sent again."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    ledger = begin_shared(Bounds(0.3, 0.9, 1.8))
    with closing(SharedWriter(ledger.url("worker"), lambda _: None, 2)) as writer:
        ledger.force(f"{AN_OLDER_COPY} DELETE FROM worker WHERE worker = '{writer.worker}'")
        assert gap_is_marked(ledger, writer)


def test_a_worker_whose_turns_a_ledger_lacks_says_so(
    begin_shared: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    ledger = begin_shared()
    ledger.plan(invoice(charge(1)))

    async def claims_and_says() -> bool:
        loop = asyncio.get_running_loop()
        writer.begin(Part(ledger.run, 1, loop, lambda _, __: None))
        claimed = await asyncio.wait_for(writer.claim(), _PATIENCE)
        assert claimed is not None
        ledger.force(f"{AN_OLDER_COPY} UPDATE worker SET turn = 0 WHERE worker = '{writer.worker}'")
        writer.commit(Ended(claimed.attempt_id, issued("N1")))
        return await asyncio.to_thread(gap_is_marked, ledger, writer)

    with closing(SharedWriter(ledger.url("worker"), lambda _: None, 2)) as writer:
        assert asyncio.run(claims_and_says())


def test_a_worker_that_has_nothing_to_do_learns_that_it_is_counted_as_silent(
    begin_shared: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would neither vouch nor begin anew, and a start of the server would wait for it for ever."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    ledger = begin_shared(Bounds(0.3, 0.9, 1.8))
    with closing(SharedWriter(ledger.url("worker"), lambda _: None, 2)) as writer:
        ledger.force(f"UPDATE worker SET silent_at = clock_timestamp() WHERE worker = '{writer.worker}'")
        until = time.monotonic() + _PATIENCE
        while not writer.gone and time.monotonic() < until:
            time.sleep(0.05)
        assert writer.gone
    assert ledger.rows(f"SELECT left_at IS NOT NULL FROM worker WHERE worker = '{writer.worker}'") == [
        (True,)
    ]


def test_a_worker_that_is_gone_takes_its_leave_though_its_connection_broke(
    begin_shared: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    ledger = begin_shared(Bounds(0.3, 0.9, 1.8))
    with closing(SharedWriter(ledger.url("worker"), lambda _: None, 2)) as writer:
        ledger.force(f"UPDATE worker SET silent_at = clock_timestamp() WHERE worker = '{writer.worker}'")
        until = time.monotonic() + _PATIENCE
        while not writer.gone and time.monotonic() < until:
            time.sleep(0.05)
        assert writer.gone
        ledger.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'worker'")
    assert ledger.rows(f"SELECT left_at IS NOT NULL FROM worker WHERE worker = '{writer.worker}'") == [
        (True,)
    ]


# --- a carrier that moves --------------------------------------------------------------------------

ELSEWHERE = Owner("http://127.0.0.1:8081", OWNER.agency)


def test_no_run_begins_for_the_owner_that_a_ledger_had_when_it_was_opened(begin_shared: Begin) -> None:
    ledger = begin_shared()
    ledger.operations.end(ledger.run, 0)
    ledger.operations.move(ELSEWHERE, "li", "their letter")
    with pytest.raises(
        InputProblem, match=r"belongs to http://127.0.0.1:8081 .*, not to http://127.0.0.1:8080"
    ):
        ledger.operations.begin("issue", TERMS, [])
    assert ledger.rows("SELECT count(*) FROM run") == [(1,)]


def test_a_run_that_begins_while_the_ledger_moves_is_of_whom_it_belongs_to(begin_shared: Begin) -> None:
    """Whichever of the two comes first, the other is refused."""
    ledger = begin_shared()
    ledger.operations.end(ledger.run, 0)
    with connect(ledger.url("issuer")) as slow, slow.transaction():
        slow.execute(
            "SELECT voucher.move_carrier(%s, %s, 'li', 'their letter')",
            ([OWNER.base_url, OWNER.agency], [ELSEWHERE.base_url, ELSEWHERE.agency]),
        )
        refused: list[InputProblem] = []

        def begin() -> None:
            try:
                ledger.operations.begin("issue", TERMS, [])
            except InputProblem as problem:
                refused.append(problem)

        beginning = threading.Thread(target=begin)
        beginning.start()
        beginning.join(0.3)
        assert beginning.is_alive()  # it waits for the gate
    beginning.join(_PATIENCE)
    assert len(refused) == 1
    assert ledger.rows("SELECT count(*) FROM run WHERE ended_at IS NULL") == [(0,)]


def test_a_worker_takes_part_in_no_run_of_another_owner(begin_shared: Begin) -> None:
    ledger = begin_shared()
    ledger.plan(invoice(charge(1)))
    ledger.operations._one("SELECT voucher.open_run(%s, %s, 0, 0)", ledger.run, ledger.worker.worker)
    assert open_runs(ledger.url("worker"), OWNER) == [ledger.run]
    with pytest.raises(
        InputProblem, match=r"belongs to http://127.0.0.1:8080 .*, not to http://127.0.0.1:8081"
    ):
        open_runs(ledger.url("worker"), ELSEWHERE)


# --- how a run ends for those who took part --------------------------------------------------------


def why_it_is_over(ledger: Shared) -> str:
    """What a worker that takes part in the run is told when nothing more of it is claimed."""

    async def told() -> str:
        part = Part(ledger.run, 1, asyncio.get_running_loop(), lambda _, __: None)
        writer.begin(part)
        assert await asyncio.wait_for(writer.claim(), _PATIENCE) is None
        await writer.finish()
        return str(part.why)

    with closing(SharedWriter(ledger.url("worker"), lambda _: None, 2)) as writer:
        return asyncio.run(told())


@pytest.mark.parametrize("how", ["left", "dead"])
def test_a_run_whose_issuer_has_left_in_good_order_was_not_stopped(
    begin_shared: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    ledger = begin_shared()
    ledger.operations._one("SELECT voucher.open_run(%s, %s, 0, 0)", ledger.run, ledger.worker.worker)
    if how == "left":
        ledger.worker.leave()
        assert why_it_is_over(ledger) == ""
    else:  # whether it finds that itself, or somebody has swept before
        ledger.force(
            "UPDATE worker SET dead_at = clock_timestamp(), dead_by = 'chen', dead_how = 'kill -9'"
            f" WHERE worker = '{ledger.worker.worker}'"
        )
        assert why_it_is_over(ledger) == "whoever issued it is gone"
