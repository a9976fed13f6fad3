"""The changes of a run that is sending, and how a group of them is written: as sets, or one by one.

Changes are nearly always as they should be, and then each kind is one statement for all of them: its rules
are asked of every row all the same, and nobody waits while statements are handed over one by one. If the ledger
refuses anything, or an attempt is not where it should be, the transaction is undone and written change by change, so
that what can't be written is refused alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from pipeline.ledger import attempts, planning
from pipeline.ledger.clock import utc_now
from pipeline.model.errors import LedgerProblem
from pipeline.model.message import system_error, to_text
from pipeline.model.outcome import Answered, Outcome


@dataclass(frozen=True, slots=True)
class Sending:
    """The request is about to leave."""

    attempt_id: int


@dataclass(frozen=True, slots=True)
class GotAnswer:
    """An answer came in and nobody has looked at it yet."""

    attempt_id: int
    answer: Answered


@dataclass(frozen=True, slots=True)
class Ended:
    """What the attempt came to; acknowledged with the outcome as it is recorded."""

    attempt_id: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Again:
    """A new attempt like an ended one of this run; acknowledged with its (attempt_id, attempt).

    `pause`: the seconds before anybody may claim it, of a ledger that several share; of a file's, whoever asks for it waits himself.
    """

    attempt_id: int
    pause: float = 0.0


Change = Sending | GotAnswer | Ended | Again
Acknowledged = tuple[int, int] | Outcome | None

# NOT INDEXED leaves SQLite the rowid alone to find an attempt by; of the index of open attempts it would read all of
# them for each change. The raw answer goes as hexadecimal digits: JSON has no bytes.
_SENDING = """
UPDATE attempt NOT INDEXED SET state = 'sending', sending_at = ?1
WHERE attempt_id IN (SELECT value FROM json_each(?2))
"""
_GOT_ANSWER = """
UPDATE attempt NOT INDEXED SET http_status = got ->> 1, answer = unhex(got ->> 2), retry_after = got ->> 3, answered_at = ?1
FROM (SELECT value AS got FROM json_each(?2))
WHERE attempt_id = got ->> 0 AND state = 'sending' AND answer IS NULL
"""
_ENDED = """
UPDATE attempt NOT INDEXED SET state = ended ->> 1, reason = ended ->> 2, number = ended ->> 3, trace_id = ended ->> 4,
       detail = ended ->> 5, ended_at = ?1
FROM (SELECT value AS ended FROM json_each(?2))
WHERE attempt_id = ended ->> 0 AND state = 'sending'
"""


def write_as_sets(connection: apsw.Connection, changes: Sequence[Change]) -> bool:
    """Write changes in the transaction that is on, each kind in one statement, in the order that an attempt goes through them.

    False if not all fit, and then the transaction is to be undone. Raises what keeps any from being written.
    """
    answers: list[Any] = []
    ends: list[Any] = []
    sendings: list[Any] = []
    for change in changes:
        match change:
            case Sending(attempt_id):
                sendings.append(attempt_id)
            case GotAnswer(attempt_id, answer):
                answers.append([attempt_id, answer.http_status, answer.body.hex(), answer.retry_after])
            case Ended(attempt_id, o):
                ends.append([attempt_id, o.state, o.reason, o.number, o.trace_id, to_text(o.detail)])
            case Again():
                return False
    now = utc_now()
    try:
        for statement, values in ((_GOT_ANSWER, answers), (_ENDED, ends), (_SENDING, sendings)):
            if values:
                connection.execute(statement, (now, planning.as_json(values)))
                if connection.changes() != len(values):
                    return False
    except apsw.ConstraintError:
        return False
    return True


def write_alone(connection: apsw.Connection, changes: Sequence[Change]) -> list[Acknowledged | LedgerProblem]:
    """Write changes in the transaction that is on, one by one; each one's acknowledgement, or why it alone is refused."""
    return [_alone(connection, change) for change in changes]


def _alone(connection: apsw.Connection, change: Change) -> Acknowledged | LedgerProblem:
    """Make one change; what the ledger refuses is a problem of this change alone."""
    done: Acknowledged = None
    attempt_id = change.attempt_id
    try:
        match change:
            case Sending():
                connection.execute(
                    "UPDATE attempt SET state = 'sending', sending_at = ? WHERE attempt_id = ?",
                    (utc_now(), attempt_id),
                )
            case GotAnswer(_, answer):
                attempts.record_answer(connection, attempt_id, answer)
            case Ended(_, outcome):
                done = attempts.record_outcome(connection, attempt_id, outcome)
            case Again():
                return planning.plan_again(connection, attempt_id)
    except apsw.ConstraintError as error:
        return LedgerProblem("the ledger refused a change: {why}", why=system_error(error))
    if connection.changes() != 1:
        return LedgerProblem(
            "attempt {attempt_id} is not in the ledger any more, or has ended there: another program"
            " has changed the ledger during this run. Keep this run's result workbook, and look the"
            " ledger over: voucher ledger check",
            attempt_id=attempt_id,
        )
    return done
