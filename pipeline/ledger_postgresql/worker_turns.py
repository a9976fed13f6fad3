"""A worker: whoever claims attempts of a shared ledger, sends them and records what came of them.

The order is the fence (sql/functions.sql): the clock is read before a claim; what came back from an acknowledged COMMIT is sent, and
nothing else; and it is sent by `send_by`, or not at all.
"""

import base64
import json
import os
import socket
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import psycopg
from psycopg.rows import namedtuple_row

from pipeline.boot_time import boot_time
from pipeline.ledger.attempt_changes import Acknowledged, Again, Change, Ended, GotAnswer, Sending
from pipeline.ledger_postgresql.server_connection import LedgerConnection
from pipeline.ledger_postgresql.server_schema import about
from pipeline.ledger_postgresql.sqlstates import AGAIN, LedgerLacks, as_problem, problem_of
from pipeline.model.errors import LedgerProblem
from pipeline.model.message import NOTHING, Message, from_text, message, to_text
from pipeline.model.outcome import Outcome
from pipeline.model.request import Asked

#: How a worker stands with the ledger. `vouch`: the server was started anew; `unknown`: this ledger has never heard of it.
Standing = Literal["on", "vouch", "silent", "dead", "left", "unknown"]
_TRIES = 20  # at a turn that meets others
_OWN_WORD = message("its own word, when it was heard again")


@dataclass(frozen=True, slots=True)
class Claimed:
    """An attempt that is this worker's to send, with its sealed body; it is written by `send_by` (boot_time), or is not_sent.

    `tries` says which attempt of its run at the request it is; `doubted`: a charge of it was ever unknown; `leave_at` (boot_time): not
    before, by the carrier's rate.
    """

    attempt_id: int
    request_id: str
    attempt: int
    voucher: str
    body: bytes = field(repr=False)
    send_by: float
    tickets: tuple[str, ...] = ()
    doubted: bool = False
    tries: int = 1
    leave_at: float = 0.0

    @property
    def too_late(self) -> bool:
        """Whether it may not be written any more: somebody may count it as lost by now, and send its charges anew."""
        return boot_time() > self.send_by

    @property
    def asked(self) -> Asked:
        """What an answer to it is read by."""
        return Asked(self.voucher, self.tickets)


#: How a run stands for whoever would claim of it; `ended`: or it is about to end; `left`: its issuer was not heard, or was seen dead.
RunStanding = Literal["on", "stopped", "ended", "left"]


@dataclass(frozen=True)
class Turn:
    """What a turn came to: of each change how it is recorded, or why it alone is refused; and what is to be sent.

    Where it claimed: how the run stands, why it was stopped, and `idle`, the seconds until there may be more, None where nothing more of it
    is planned. `in_a_row`: how many outcomes of the run, of all workers, were unknown or not_sent since the last yes or no.
    """

    done: Sequence[Acknowledged | LedgerProblem] = ()
    claimed: Sequence[Claimed] = ()
    standing: RunStanding = "on"
    stopped: Message = NOTHING
    idle: float | None = None
    in_a_row: Counter[str] = field(default_factory=Counter)


class Worker:
    """One worker's side of a shared ledger. It is used by one thread; `heartbeat` has a connection of its own.

    `worker`: the ID by which this one may have joined before, where that was not acknowledged; else it makes one.
    """

    def __init__(self, connection: LedgerConnection, worker: uuid.UUID | None = None) -> None:
        self.worker = worker or uuid.uuid4()
        self._acknowledged = 0  # its last turn that it was told of
        self._highest = 0  # turn that it has asked for by give_back, whether that arrived or not
        self._bodies: dict[int, bytes] = {}  # of what it has claimed and may have to try again
        self._send_within = about(connection).send_within
        self.reconnect(connection)
        with as_problem():
            self._row("SELECT voucher.join_work(%s, %s, %s)", self.worker, socket.gethostname(), os.getpid())

    def turn(self, changes: Sequence[Change], run: int, most: int) -> Turn:
        """Record what has come in, and claim so many attempts of a run: one transaction, acknowledged when this returns.

        Raises WorkerGone where this one may not go on, ClaimsShut, ServerAway, LedgerLacks; nothing may be sent on the strength of a
        turn that raised, and what it was to record is handed in again: by the next turn, or by `late`.
        """
        clock = boot_time()
        row = self._turn((self.worker, self._acknowledged, self._as_json(changes)), run, most)
        self._acknowledged = row.turn
        claimed = _claimed(row, clock + self._send_within)
        self._bodies |= {one.attempt_id: one.body for one in claimed}
        return Turn(
            [self._acknowledgement(*each) for each in zip(changes, row.done, strict=True)],
            claimed,
            row.standing or "ended",
            from_text(row.stopped or ""),
            row.idle,
            Counter(unknown=row.unknown_in_a_row or 0, not_sent=row.not_sent_in_a_row or 0),
        )

    def _turn(self, given: tuple[Any, ...], run: int, most: int) -> Any:
        for _ in range(_TRIES):
            # By itself a statement is a transaction, and what it gave comes back when its COMMIT was acknowledged, or not at all: one
            # exchange with the server, and a worker that is stopped keeps no transaction open.
            try:
                return self._row("SELECT * FROM voucher.turn(%s, %s, %s, %s, %s)", *given, run, most)
            except psycopg.Error as error:
                if error.sqlstate not in AGAIN:
                    raise problem_of(error) from None
                last = error
        raise problem_of(last)

    def _as_json(self, changes: Sequence[Change]) -> str:
        return json.dumps([self._change(change) for change in changes], ensure_ascii=False)

    def _change(self, change: Change) -> dict[str, Any]:
        match change:
            case GotAnswer(attempt_id, answer):
                body = base64.b64encode(answer.body).decode()
                return {
                    "kind": "answer", "attempt_id": attempt_id, "http_status": answer.http_status, "body": body,
                    "retry_after": answer.retry_after,
                }  # fmt: skip
            case Ended(attempt_id, outcome):
                return {"kind": "ended", "attempt_id": attempt_id} | _said(outcome)
            case Again(attempt_id, pause):
                body = base64.b64encode(self._bodies[attempt_id]).decode()
                return {"kind": "again", "attempt_id": attempt_id, "body": body, "pause": pause}
            case Sending():
                raise TypeError("what is sent is what a claim gave")

    def _acknowledgement(self, change: Change, done: dict[str, Any]) -> Acknowledged | LedgerProblem:
        if why := done.get("refused"):
            return LedgerProblem("the ledger refused a change: {why}", why=why)
        match change:
            case Ended(attempt_id, outcome):
                if outcome.state != "not_sent":
                    self._bodies.pop(attempt_id, None)
                return outcome if done["state"] == outcome.state else _outcome(done)
            case Again(attempt_id):
                self._bodies.pop(attempt_id, None)
                return done["attempt_id"], done["attempt"]
            case _:
                return None

    def allot(self, run: int, wanted: int, busy: int) -> int:
        """How many requests of a run this worker may have in flight, of `wanted` (0: it takes part no more), while `busy` are; -1 of a run
        that has ended.
        """
        with as_problem():
            (slots,) = self._row("SELECT voucher.allot(%s, %s, %s, %s)", self.worker, run, wanted, busy)
        found: int = slots
        return found

    def late(self, attempt_id: int, outcome: Outcome) -> Outcome:
        """Say what came of an attempt that this worker had lost; what it is in the ledger then.

        It settles that attempt alone; said again it changes nothing. What contradicts evidence that was given meanwhile is kept
        beside it. Raises LedgerLacks where this ledger knows of no such attempt.
        """
        return say_late(self._connection, self.worker, attempt_id, outcome, _OWN_WORD)

    def heartbeat(self, connection: psycopg.Connection) -> Standing:
        """Be heard, by a connection that no turn keeps waiting; how this worker stands."""
        with as_problem():
            row: Any = connection.execute("SELECT voucher.heartbeat(%s)", (self.worker,)).fetchone()
        standing: Standing = row[0]
        return standing

    def vouch(self) -> None:
        """Say that nothing is missing that this worker was told. Raises LedgerLacks where something is; then nothing is sent any more."""
        with as_problem():
            (found,) = self._row("SELECT voucher.vouch(%s, %s)", self.worker, self._acknowledged)
        if not found:
            lacks = message(
                "the ledger lacks what worker {worker} was told: an older copy is in its place. Nothing is sent until it was compared with"
                " the carrier's statement",
                worker=str(self.worker),
            )
            raise LedgerLacks(lacks)

    def give_back(self, sending: Iterable[int]) -> int:
        """After a turn that was not acknowledged: what it may have claimed, beside what is `sending`, was sent by nobody; so many.

        What that turn was to record is handed in again by the next: what is recorded already is acknowledged as it is.
        """
        detail = message("the ledger failed before it was sent")
        self._highest = (
            max(self._highest, self._acknowledged + 1) + 1
        )  # the turn that was lost may be the next
        with as_problem():
            (given,) = self._row(
                "SELECT voucher.give_back(%s, %s, %s, %s, %s)",
                self.worker, self._acknowledged, self._highest, [*sending], to_text(detail),
            )  # fmt: skip
        self._acknowledged = self._highest
        count: int = given
        return count

    def reconnect(self, connection: LedgerConnection) -> None:
        """Go on by another connection, the first having broken; after a turn that was not acknowledged `give_back` comes first."""
        self._connection = connection

    def leave(self) -> None:
        """End in good order. Refused while anything of it is being sent."""
        with as_problem():
            self._row("SELECT voucher.leave_work(%s)", self.worker)

    def _row(self, sql: str, *given: Any) -> Any:
        with self._connection.cursor(binary=True, row_factory=namedtuple_row) as cursor:
            return cursor.execute(sql, given).fetchone()


def say_late(
    connection: psycopg.Connection, worker: uuid.UUID, attempt_id: int, outcome: Outcome, evidence: Message
) -> Outcome:
    """Say what came of an attempt that a worker had lost, and what shows it; see `Worker.late`."""
    values = {"attempt_id": attempt_id, "evidence": to_text(evidence)} | _said(outcome)
    said = json.dumps(values, ensure_ascii=False)
    for _ in range(_TRIES):
        try:
            row: Any = connection.execute("SELECT voucher.late(%s, %s)", (worker, said)).fetchone()
        except psycopg.Error as error:
            last = error  # another may have got the number at the same moment
            if error.sqlstate not in AGAIN | {"23505"}:
                break
        else:
            return _outcome(row[0])
    raise problem_of(last)


def _claimed(row: Any, send_by: float) -> list[Claimed]:
    """What a turn gave to be sent; by the carrier's rate the seconds count from when it was acknowledged."""
    now = boot_time()
    parts = (
        row.attempt_ids,
        row.request_ids,
        row.attempts,
        row.kinds,
        row.bodies,
        row.tickets,
        row.doubts,
        row.tries,
    )
    return [
        Claimed(
            attempt_id, request_id, attempt, voucher, body, send_by, tuple(tickets.split(" ")), doubted, tries,
            now + row.leaves_in + at * row.period if row.period else 0.0,
        )
        for at, (attempt_id, request_id, attempt, voucher, body, tickets, doubted, tries) in enumerate(
            zip(*(part or () for part in parts), strict=True)
        )
    ]  # fmt: skip


def _said(outcome: Outcome) -> dict[str, str]:
    return {
        "state": outcome.state, "reason": outcome.reason, "number": outcome.number, "trace_id": outcome.trace_id,
        "detail": to_text(outcome.detail),
    }  # fmt: skip


def _outcome(done: dict[str, Any]) -> Outcome:
    return Outcome(done["state"], done["reason"], done["number"], done["trace_id"], from_text(done["detail"]))
