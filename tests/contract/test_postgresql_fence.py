"""The fence of the shared ledger, step by step (sql/functions.sql): a story for each, told with the step and with it left out.

A story gives the requests that the carrier got. With the fence it got none of them twice; without that one step it does, so
that each of them is known to be needed, and looked at.
"""

import shutil
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from pipeline.ledger.attempt_changes import Ended
from pipeline.ledger.settlements import NotSettled, Settlement
from pipeline.ledger_postgresql import server_schema, worker_turns
from pipeline.ledger_postgresql.server_connection import connect
from pipeline.ledger_postgresql.server_schema import Bounds
from pipeline.ledger_postgresql.sqlstates import (
    ClaimsShut,
    LedgerLacks,
    ServerAway,
    TurnOpen,
    WorkerGone,
)
from pipeline.ledger_postgresql.worker_turns import Claimed, Turn, Worker
from pipeline.model.errors import LedgerProblem
from pipeline.model.message import from_text, verbatim
from pipeline.model.outcome import Outcome
from tests.contract.conftest import Begin
from tests.contract.ledgers import Shared, charge, invoice, issued
from tests.postgresql_server import Server, server

pytestmark = pytest.mark.slow

#: In seconds: send within, lease, settle after.
SHORT = Bounds(0.3, 0.9, 1.8)
SILENT, SETTLED = 1.1, 2.0
NOT_ISSUED = Settlement("not_sent", "", "chen", "the carrier's letter")
LOST = Outcome("unknown", "no_answer")


@contextmanager
def left_out(*changes: tuple[str, str]) -> Iterator[None]:
    """Meanwhile a ledger is made without a step."""
    whole = server_schema.statements

    def statements() -> str:
        text = whole()
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        return text

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server_schema, "statements", statements)
        yield


def twice(sent: list[str]) -> list[str]:
    return [request for request, count in Counter(sent).items() if count > 1]


def send(claimed: Claimed, sent: list[str]) -> None:
    """What a sender does: step 3, then the write."""
    if not claimed.too_late:
        sent.append(claimed.request_id)


def another(ledger: Shared) -> Worker:
    return Worker(ledger.connect("worker"))


def sends_the_rest(ledger: Shared, sent: list[str]) -> None:
    """What a later run does: everything that may be sent is planned anew, and sent by another worker."""
    with suppress(LedgerProblem):
        ledger.plan(invoice(charge(1)))
    worker = another(ledger)
    with suppress(ClaimsShut):
        for one in worker.turn([], ledger.run, 10).claimed:
            send(one, sent)
            worker.turn([Ended(one.attempt_id, LOST)], ledger.run, 0)


def settled_as_not_issued(ledger: Shared) -> None:
    ledger.sweep()
    for (attempt_id,) in ledger.rows(
        "SELECT attempt_id FROM attempt WHERE state = 'unknown' AND number = ''"
    ):
        with suppress(NotSettled):
            ledger.operations.settle(attempt_id, NOT_ISSUED)


# --- 1: the clock is read before the claim ---------------------------------------------------------


def frozen_after_the_commit(ledger: Shared, make: Callable[..., Worker], clock: list[float]) -> list[str]:
    """A worker is stopped when its claim is committed and it does not know yet, for as long as it takes to count it as lost."""
    sent: list[str] = []
    ledger.plan(invoice(charge(1)))
    worker = make(ledger.connect("worker"))
    on_the_wire = worker._turn

    def stopped(*given: Any) -> Any:
        row = on_the_wire(*given)
        time.sleep(SETTLED)
        settled_as_not_issued(ledger)
        sends_the_rest(ledger, sent)
        clock[0] += SETTLED
        return row

    worker._turn = stopped  # type: ignore[method-assign]
    for one in worker.turn([], ledger.run, 1).claimed:
        send(one, sent)
    return sent


class ReadsItsClockAfterwards(Worker):
    def turn(self, *given: Any) -> Turn:
        turn = super().turn(*given)
        return replace(
            turn,
            claimed=[
                replace(one, send_by=worker_turns.boot_time() + SHORT.send_within) for one in turn.claimed
            ],
        )


@pytest.mark.parametrize("make", [Worker, ReadsItsClockAfterwards])
def test_the_clock_is_read_before_the_claim(
    begin_shared: Begin, make: type[Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1000.0]
    monkeypatch.setattr(worker_turns, "boot_time", lambda: clock[0])
    sent = frozen_after_the_commit(begin_shared(SHORT), make, clock)
    assert bool(twice(sent)) == (make is not Worker)
    assert len(sent) == 1 + (make is not Worker)


# --- 2: what is sent is what an acknowledged COMMIT gave -------------------------------------------


@contextmanager
def deaf_at(commits: bytes, port: int, until: threading.Event | None = None) -> Iterator[int]:
    """A way to the server that breaks when it has to tell of what `commits`: it is done, and nobody is told; `until` then it keeps silent."""
    with socket.create_server(("127.0.0.1", 0)) as door:

        def serve() -> None:
            client, _ = door.accept()
            with client, socket.create_connection(("127.0.0.1", port)) as beyond:
                threading.Thread(target=backwards, args=(beyond, client), daemon=True).start()
                while data := client.recv(1 << 16):
                    if commits in data:
                        broken.set()
                    beyond.sendall(data)

        def backwards(beyond: socket.socket, client: socket.socket) -> None:
            with suppress(OSError):
                while data := beyond.recv(1 << 16):
                    if broken.is_set():
                        if until:
                            until.wait(30)
                        client.shutdown(socket.SHUT_RDWR)
                        return
                    client.sendall(data)

        broken = threading.Event()
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield door.getsockname()[1]
        thread.join(5)


class SendsWhatItWasNotToldOf(Worker):
    """It takes what the statement gave, before the COMMIT is acknowledged."""

    heard: Any = None

    def _row(self, sql: str, *given: Any) -> Any:
        if "voucher.turn" not in sql:
            return super()._row(sql, *given)
        with self._connection.transaction():
            self.heard = super()._row(sql, *given)
        return self.heard


@pytest.mark.parametrize(
    ("make", "commits"), [(Worker, b"voucher.turn"), (SendsWhatItWasNotToldOf, b"COMMIT")]
)
def test_what_is_sent_is_what_an_acknowledged_commit_gave(
    begin_shared: Begin, postgresql: Server, make: type[Worker], commits: bytes
) -> None:
    ledger, sent = begin_shared(), list[str]()
    ledger.plan(invoice(charge(1)))
    with deaf_at(commits, postgresql.port) as port:
        away = connect(ledger.url("worker").replace(f":{postgresql.port}/", f":{port}/"))
        with closing(away):
            worker = make(away)
            with pytest.raises(ServerAway):
                worker.turn([], ledger.run, 1)
    if isinstance(worker, SendsWhatItWasNotToldOf):
        sent += worker.heard.request_ids
    assert [*ledger.states().values()] == ["sending"]  # the COMMIT was done
    worker.reconnect(ledger.connect("worker"))
    with pytest.raises(TurnOpen):
        worker.turn([], ledger.run, 1)
    assert worker.give_back([]) == 1
    assert [*ledger.states().values()] == ["not_sent", "planned"]
    sends_the_rest(ledger, sent)
    assert bool(twice(sent)) == (make is not Worker)


def test_a_worker_that_is_stopped_within_a_turn_keeps_nobody_waiting(
    begin_shared: Begin, postgresql: Server
) -> None:
    """A turn holds the gate, and the worker's own row: it ends by itself, so that what others do does not wait for who is not there."""
    ledger, goes_on = begin_shared(), threading.Event()
    ledger.plan(invoice(charge(1)), invoice(charge(2)))
    with deaf_at(b"voucher.turn", postgresql.port, goes_on) as port:
        away = connect(ledger.url("worker").replace(f":{postgresql.port}/", f":{port}/"))
        with closing(away), ThreadPoolExecutor() as beside:
            worker = Worker(away)
            turn = beside.submit(worker.turn, [], ledger.run, 1)
            asked = time.monotonic()
            while "sending" not in ledger.states().values():
                assert time.monotonic() - asked < 20
                time.sleep(0.01)
            beside.submit(ledger.stop, verbatim("enough")).result(20)
            assert not turn.done()
            goes_on.set()
            with pytest.raises(ServerAway):
                turn.result(20)


# --- 3: written in time, or not at all -------------------------------------------------------------


@pytest.mark.parametrize("looks", [True, False])
def test_a_request_is_written_in_time_or_not_at_all(begin_shared: Begin, looks: bool) -> None:
    """A worker is stopped before it writes, for as long as it takes to count its claim as lost."""
    ledger, sent = begin_shared(SHORT), list[str]()
    ledger.plan(invoice(charge(1)))
    (claimed,) = ledger.worker.turn([], ledger.run, 1).claimed
    assert not claimed.too_late
    time.sleep(SETTLED)
    settled_as_not_issued(ledger)
    sends_the_rest(ledger, sent)
    send(claimed if looks else replace(claimed, send_by=float("inf")), sent)
    assert bool(twice(sent)) == (not looks)


# --- 4: a silent worker has lost what it was sending, and claims nothing more -----------------------


def test_a_silent_workers_requests_are_unknown_and_it_claims_nothing_more(begin_shared: Begin) -> None:
    ledger = begin_shared(SHORT)
    first, second = ledger.plan(invoice(charge(1)), invoice(charge(2)))
    ledger.worker.turn([], ledger.run, 1)
    assert ledger.sweep() == 0
    time.sleep(SILENT)
    with pytest.raises(WorkerGone):
        ledger.worker.turn([], ledger.run, 1)
    assert ledger.worker.heartbeat(ledger.connect("worker")) == "silent"
    assert (ledger.sweep(), ledger.sweep()) == (1, 0)
    ((detail,),) = ledger.rows("SELECT detail FROM attempt WHERE reason = 'run_killed'")
    assert str(from_text(detail)) == "whoever was sending it was killed, or was not heard for too long"
    assert ledger.states() == {first: "unknown", second: "planned"}
    with pytest.raises(WorkerGone):
        ledger.worker.turn([Ended(first, issued("N1"))], ledger.run, 1)
    assert ledger.states() == {first: "unknown", second: "planned"}
    assert [one.attempt_id for one in another(ledger).turn([], ledger.run, 5).claimed] == [second]


def test_a_worker_that_is_heard_keeps_what_it_is_sending(begin_shared: Begin) -> None:
    ledger = begin_shared(SHORT)
    (first,) = ledger.plan(invoice(charge(1)))
    ledger.claim(1)
    by = ledger.connect("worker")
    until = time.monotonic() + 2 * SILENT
    while time.monotonic() < until:
        assert ledger.worker.heartbeat(by) == "on"
        time.sleep(SHORT.lease / 4)
    assert ledger.sweep() == 0
    assert ledger.record(Ended(first, issued("N1"))) == [issued("N1")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "it.silent_at IS NOT NULL OR it.left_at IS NOT NULL OR it.dead_at IS NOT NULL\n        OR it.heard_at",
            "false AND it.heard_at",
        ),
        (
            "WHERE worker = _worker AND state = 'sending';\n    GET DIAGNOSTICS lost",
            "WHERE false;\n    GET DIAGNOSTICS lost",
        ),
    ],
    ids=["it goes on", "what it was sending stays"],
)
def test_without_that_something_is_left_that_nobody_answers_for(
    begin_shared: Begin, old: str, new: str
) -> None:
    with left_out((old, new)):
        ledger = begin_shared(SHORT)
    ledger.plan(invoice(charge(1)), invoice(charge(2)))
    ledger.worker.turn([], ledger.run, 1)
    time.sleep(SILENT)
    ledger.sweep()
    with suppress(WorkerGone):
        ledger.worker.turn([], ledger.run, 1)
    ledger.sweep()
    assert "sending" in ledger.states().values()


# --- 5: a late word settles that attempt alone -----------------------------------------------------


def a_late_word_beside_a_later_attempt(ledger: Shared) -> list[str]:
    """A worker that reached nobody is heard again when another's attempt at the request was issued and its answer lost."""
    sent: list[str] = []
    ledger.plan(invoice(charge(1)))
    (first,) = ledger.worker.turn([], ledger.run, 1).claimed
    ledger.declare_dead(ledger.worker.worker, "chen", "the machine burnt down")
    settled_as_not_issued(ledger)
    sends_the_rest(ledger, sent)
    ledger.worker.late(first.attempt_id, Outcome("not_sent", "carrier_unreachable"))
    sends_the_rest(ledger, sent)
    return sent


OWN_ATTEMPT = "WHERE attempt_id = (_change ->> 'attempt_id')::bigint AND worker = _worker FOR UPDATE;\n    IF NOT FOUND THEN"
LAST_ATTEMPT = """WHERE request_id = (SELECT request_id FROM voucher.attempt WHERE attempt_id = (_change ->> 'attempt_id')::bigint)
    ORDER BY attempt_id DESC LIMIT 1; IF NOT FOUND THEN"""


def test_a_late_word_settles_its_own_attempt_alone(begin_shared: Begin) -> None:
    assert a_late_word_beside_a_later_attempt(begin_shared()) == [invoice(charge(1)).request_id]
    with left_out((OWN_ATTEMPT, LAST_ATTEMPT)):
        ledger = begin_shared()
    assert twice(a_late_word_beside_a_later_attempt(ledger))


def test_a_late_word_settles_what_is_unknown_once_and_nobody_elses(begin_shared: Begin) -> None:
    ledger = begin_shared()
    ledger.plan(invoice(charge(1)), invoice(charge(2)))
    first, second = ledger.claim(2)
    ledger.declare_dead(ledger.worker.worker, "chen", "kill -9")
    with pytest.raises(LedgerLacks):
        another(ledger).late(first, issued("N1"))
    for _ in range(2):
        assert ledger.worker.late(first, issued("N1")) == issued("N1")
    assert ledger.states() == {first: "issued", second: "unknown"}
    assert ledger.rows("SELECT count(*) FROM settlement") == [(1,)]
    assert ledger.worker.late(second, issued("N1")).state == "unknown"  # it has another's number
    assert ledger.rows("SELECT state, number, taken FROM late_word ORDER BY late_word") == [
        ("issued", "N1", True), ("issued", "N1", False),
    ]  # fmt: skip


def test_a_late_word_against_evidence_is_kept_beside_it(begin_shared: Begin) -> None:
    ledger = begin_shared()
    ledger.plan(invoice(charge(1)))
    (first,) = ledger.claim(1)
    ledger.declare_dead(ledger.worker.worker, "chen", "kill -9")
    ledger.operations.settle(first, NOT_ISSUED)
    for _ in range(2):
        assert ledger.worker.late(first, issued("N1")).state == "not_sent"
    assert ledger.rows("SELECT state, number, taken FROM late_word") == [("issued", "N1", False)]


# --- 6: when "not issued" counts -------------------------------------------------------------------


def told_at_once(ledger: Shared) -> list[str]:
    """A worker is stopped between its last look and its write, for a lease; somebody says at once that nothing was issued."""
    sent: list[str] = []
    ledger.plan(invoice(charge(1)))
    (claimed,) = ledger.worker.turn([], ledger.run, 1).claimed
    looked = not claimed.too_late
    time.sleep(SILENT)
    settled_as_not_issued(ledger)
    sends_the_rest(ledger, sent)
    if looked:
        sent.append(claimed.request_id)
    return sent


TOO_YOUNG = ("of_then < shown_from", "false")


def test_not_issued_counts_when_the_sender_is_dead_or_the_evidence_old_enough(begin_shared: Begin) -> None:
    assert len(told_at_once(begin_shared(SHORT))) == 1
    with left_out(TOO_YOUNG):
        ledger = begin_shared(SHORT)
    assert twice(told_at_once(ledger))


def test_evidence_has_to_be_about_a_moment_that_is_late_enough(begin_shared: Begin) -> None:
    ledger = begin_shared(SHORT)
    ledger.plan(invoice(charge(1)))
    (first,) = ledger.claim(1)
    time.sleep(SILENT)
    ledger.sweep()
    ((sending_at,),) = ledger.rows("SELECT sending_at FROM attempt")
    late_enough = sending_at + timedelta(seconds=SHORT.settle_after)
    time.sleep(SHORT.settle_after)
    with pytest.raises(NotSettled, match="was not seen to end"):
        ledger.operations.settle(first, replace(NOT_ISSUED, as_of=late_enough - timedelta(seconds=0.1)))
    ledger.operations.settle(first, replace(NOT_ISSUED, as_of=late_enough))
    assert ledger.states() == {first: "not_sent"}


def test_no_evidence_is_about_a_time_to_come(begin_shared: Begin) -> None:
    ledger = begin_shared()
    ledger.plan(invoice(charge(1)))
    (first,) = ledger.claim(1)
    ledger.record(Ended(first, LOST))
    ((to_come,),) = ledger.rows("SELECT clock_timestamp() + interval '2 hours'")
    with pytest.raises(NotSettled, match="was not seen to end"):
        ledger.operations.settle(first, replace(NOT_ISSUED, as_of=to_come))
    assert ledger.states() == {first: "unknown"}


# --- 7: a start of the server ----------------------------------------------------------------------


@pytest.fixture
def own_server(postgresql: Server) -> Iterator[Server]:
    """A server that is stopped and started, beside the one that others use."""
    with server(postgresql.programs) as one:
        yield one


def begun(own_server: Server) -> Shared:
    name = own_server.new_database()
    ledger = Shared(lambda role: own_server.url(name, role))
    ledger.prepare()
    ledger.open()
    return ledger


def opened(ledger: Shared) -> bool:
    """Whether claims are open when a lease has passed: the start is put that far back, which takes no time and asks nobody to be quick."""
    ledger.open_claims()  # it notes the start
    ledger.force("UPDATE server_life SET seen_at = seen_at - (SELECT lease FROM ledger)")
    return ledger.open_claims()


def an_older_copy_is_put_back(own_server: Server) -> tuple[list[str], Shared]:
    """The server's files are copied; a request is sent; the copy is put in their place, and a worker begins."""
    sent: list[str] = []
    ledger = begun(own_server)
    ledger.plan(invoice(charge(1)))
    ledger.worker.leave()
    ledger.close()
    own_server.stop(signal.SIGQUIT)
    copy = own_server.folder / "copy"
    shutil.copytree(own_server.data, copy)
    own_server.start()
    ledger.open()
    assert not ledger.open_claims()
    assert opened(ledger)
    (claimed,) = ledger.worker.turn([], ledger.run, 1).claimed
    send(claimed, sent)
    ledger.close()
    own_server.stop(signal.SIGQUIT)
    shutil.rmtree(own_server.data)
    copy.rename(own_server.data)
    own_server.hand_over()
    own_server.start()
    remembers = ledger.worker
    ledger.open()
    sends_the_rest(ledger, sent)
    remembers.reconnect(ledger.connect("worker"))
    with pytest.raises(LedgerLacks):
        remembers.vouch()
    return sent, ledger


def test_an_older_copy_that_is_put_back_sends_nothing(own_server: Server) -> None:
    sent, ledger = an_older_copy_is_put_back(own_server)
    with closing(ledger):
        assert len(sent) == 1
        assert "remembers what this ledger lacks" in str(ledger.operations.lacking())
        assert opened(ledger)
        sends_the_rest(ledger, sent)  # the gap holds
        assert len(sent) == 1


def test_without_that_it_sends_again(own_server: Server) -> None:
    with left_out(("AND name = voucher.life_now() AND opened_at IS NOT NULL", "")):
        sent, ledger = an_older_copy_is_put_back(own_server)
    ledger.close()
    assert twice(sent)


def test_after_a_start_everybody_has_to_vouch_and_a_lease_to_pass(own_server: Server) -> None:
    ledger = begun(own_server)
    (first, second) = ledger.plan(invoice(charge(1)), invoice(charge(2)))
    ledger.claim(1)
    ledger.close()
    own_server.restart_at_once()
    there_before = ledger.worker
    ledger.open()
    with closing(ledger):
        there_before.reconnect(ledger.connect("worker"))
        with pytest.raises(ClaimsShut):
            ledger.claim(1)
        assert there_before.heartbeat(ledger.connect("worker")) == "vouch"
        assert not opened(ledger)
        with pytest.raises(ClaimsShut):
            ledger.claim(1)
        there_before.vouch()
        assert ledger.open_claims()
        assert ledger.claim(5) == [second]
        assert ledger.states() == {
            first: "sending",
            second: "sending",
        }  # nothing that was acknowledged is lost


def test_a_worker_that_can_vouch_no_more_is_declared_dead(own_server: Server) -> None:
    ledger = begun(own_server)
    (first,) = ledger.plan(invoice(charge(1)))
    ledger.claim(1)
    ledger.close()
    own_server.kill()
    own_server.start()
    gone = ledger.worker
    ledger.open()
    with closing(ledger):
        assert not opened(ledger)
        assert ledger.declare_dead(gone.worker, "chen", "its machine was taken away") == 1
        assert ledger.open_claims()
        assert ledger.states() == {first: "unknown"}
        with pytest.raises(LedgerProblem):
            ledger.declare_dead(gone.worker, "chen", "again")
