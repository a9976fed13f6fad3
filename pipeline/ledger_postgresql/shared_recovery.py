"""Putting in order what workers that are gone left in a shared ledger, and on this machine, before anything else is done with it.

First the spill files of this machine, then `sending` of those who are silent, then raw answers that nobody has come to read: they are the
carrier's own word, whoever reads them.
"""

from dataclasses import dataclass

import psycopg

from pipeline.ledger.recovery import Meaning
from pipeline.ledger_postgresql.server_connection import LedgerConnection
from pipeline.ledger_postgresql.server_schema import about
from pipeline.ledger_postgresql.sqlstates import as_problem
from pipeline.ledger_postgresql.worker_spill import take_in
from pipeline.ledger_postgresql.worker_turns import say_late
from pipeline.model.message import Note, message
from pipeline.model.outcome import Answered
from pipeline.model.request import Asked

_READ = message("the carrier's answer, which its worker had recorded before it was gone")


@dataclass(frozen=True)
class _Unread:
    """What a raw answer is read by (`ledger.recovery.Unread`). The ledger counts in what was sent beside it."""

    asked: Asked
    doubted: bool
    accepted: bool
    beside: tuple[Answered | None, ...] = ()


def put_in_order(connection: LedgerConnection, meaning: Meaning, note: Note) -> None:
    """Take in, call unknown, and read what was left; `meaning` interprets an answer. Raises LedgerProblem, and what `meaning` does."""
    take_in(connection, about(connection).ledger_id, note)
    with as_problem():
        (unknown,) = connection.execute("SELECT voucher.sweep()").fetchone() or (0,)
    if unknown:
        note(
            message(
                "Workers that are silent were sending {count} requests, which are now unknown and wait for evidence",
                count=unknown,
            )
        )
    read_answers(connection, meaning, note)


def read_answers(connection: psycopg.Connection, meaning: Meaning, note: Note) -> None:
    """Say of raw answers that nobody has read what they come to.

    One that says neither yes nor no is left as it is: with another key, or by another profile, it may.
    """
    with as_problem():
        unread = connection.execute("SELECT * FROM voucher.unread_answers()").fetchall()
    read = 0
    for attempt_id, worker, kind, tickets, status, body, retry_after, *known in unread:
        of = _Unread(Asked(kind, tuple(tickets)), *known)
        outcome = meaning(of, Answered(status, bytes(body), retry_after or ""))
        if outcome.state != "unknown":
            say_late(connection, worker, attempt_id, outcome, _READ)
            read += 1
    if read:
        note(
            message(
                "Workers were killed after the carrier answered: {count} answers read from the ledger",
                count=read,
            )
        )
