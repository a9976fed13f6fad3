"""The workers that a shared ledger knows, as a person looks at them, and what a person says in their place."""

import datetime
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import psycopg

from pipeline.ledger_postgresql.sqlstates import as_problem
from pipeline.model.errors import InputProblem
from pipeline.model.message import Message, joined, message

_SHORTEST = 4  # characters of an ID that are enough to name a worker by


@dataclass(frozen=True)
class KnownWorker:
    """A worker, by the server's clock. `silent`: not heard for a lease. `sending`: so many requests, of these `runs`.

    `vouched`: since the server was started it has found what it had been told, or a person said so for it. `dead_by`,
    `dead_how`: who declared it dead, and how that was seen.
    """

    worker: uuid.UUID
    machine: str
    process: int
    since: datetime.datetime
    heard: datetime.datetime
    standing: Literal["on", "silent", "dead", "left"]
    sending: int
    runs: Sequence[int]
    vouched: bool
    dead_by: str
    dead_how: str

    @property
    def ended(self) -> bool:
        """Whether it has left in good order, or was declared dead."""
        return self.standing in ("dead", "left")


@dataclass(frozen=True)
class Claims:
    """Whether anybody may claim anything since the server was started; `lease` in seconds."""

    open: bool
    lease: float


def known_workers(connection: psycopg.Connection) -> list[KnownWorker]:
    """All of them, in the order in which they began."""
    with as_problem():
        rows = connection.execute(
            "SELECT worker, machine, process, joined_at, heard_at,"
            "  CASE WHEN left_at IS NOT NULL THEN 'left' WHEN dead_at IS NOT NULL THEN 'dead'"
            "    WHEN silent_at IS NOT NULL OR heard_at + (SELECT lease FROM voucher.ledger) <= clock_timestamp() THEN 'silent' ELSE 'on' END,"
            "  sending, runs, vouched_life >= (SELECT max(life) FROM voucher.server_life), coalesce(dead_by, ''), coalesce(dead_how, '')"
            " FROM voucher.worker LEFT JOIN LATERAL ("
            "  SELECT count(*) AS sending, coalesce(array_agg(DISTINCT run), '{}') AS runs FROM voucher.attempt"
            "  WHERE attempt.worker = worker.worker AND state = 'sending'"
            " ) AS attempts ON true ORDER BY joined_at, worker"
        ).fetchall()
    return [KnownWorker(*row) for row in rows]


def claims(connection: psycopg.Connection) -> Claims:
    """Whether claims are open, as far as anybody has looked since the server was started."""
    with as_problem():
        row = connection.execute(
            "SELECT opened_at IS NOT NULL, extract(epoch FROM lease)::float8 FROM voucher.server_life, voucher.ledger"
            " ORDER BY life DESC LIMIT 1"
        ).fetchone()
    assert row is not None  # noqa: S101 - a ledger is made with its first life
    return Claims(*row)


def shown(worker: uuid.UUID, machine: str, process: int) -> Message:
    """A worker, as messages name it."""
    return message(
        "worker {worker} ({machine}, process {process})",
        worker=worker.hex[:8],
        machine=machine,
        process=str(process),
    )


def awaited(connection: psycopg.Connection) -> list[Message]:
    """The workers that claims wait for since the server was started and that are not heard any more; a worker may ask, too."""
    with as_problem():
        rows = connection.execute(
            "SELECT worker, machine, process FROM voucher.awaited() WHERE NOT heard"
        ).fetchall()
    return [shown(*row) for row in rows]


def named(workers: Sequence[KnownWorker], beginning: str) -> KnownWorker:
    """The worker whose ID begins so. Raises InputProblem where none does, or several do."""
    wanted = beginning.strip().lower().replace("-", "")
    if not re.fullmatch(rf"[0-9a-f]{{{_SHORTEST},32}}", wanted):
        raise InputProblem(
            "{beginning}: is no ID of a worker; give its first characters, as voucher ledger workers shows them",
            beginning=beginning,
        )
    found = [one for one in workers if one.worker.hex.startswith(wanted)]
    if not found:
        raise InputProblem(
            "{beginning}: the ledger knows no such worker; see voucher ledger workers --all",
            beginning=beginning,
        )
    if len(found) > 1:
        raise InputProblem(
            "{beginning}: several workers begin so ({workers}); give more of the ID",
            beginning=beginning,
            workers=joined(str(one.worker) for one in found),
        )
    return found[0]


def declare_dead(connection: psycopg.Connection, worker: uuid.UUID, by: str, how: str) -> int:
    """Record that somebody has seen a worker dead, and how; what it was sending is unknown then, so many requests."""
    with as_problem():
        row = connection.execute("SELECT voucher.declare_dead(%s, %s, %s)", (worker, by, how)).fetchone()
    return int(row[0]) if row else 0


def open_claims(connection: psycopg.Connection) -> bool:
    """Note a start of the server, and open claims where everybody has vouched and a lease has passed; whether they are open."""
    with as_problem():
        row = connection.execute("SELECT voucher.open_claims()").fetchone()
    return bool(row and row[0])


def vouch_for(connection: psycopg.Connection, workers: Sequence[uuid.UUID], by: str, why: str) -> bool:
    """Record that a person says for silent workers that nothing is missing which they were told; whether claims are open then."""
    with as_problem():
        row = connection.execute("SELECT voucher.vouch_for(%s, %s, %s)", ([*workers], by, why)).fetchone()
    return bool(row and row[0])
