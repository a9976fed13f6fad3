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


@dataclass(slots=True)  # not frozen, as that takes several times as long, for each request
class Sending:
    """The request is about to leave."""

    attempt_id: int

    def plain(self) -> "Plain":
        """It in plain values."""
        return "sending", self.attempt_id


@dataclass(slots=True)  # not frozen, as that takes several times as long, for each request
class GotAnswer:
    """An answer came in and nobody has looked at it yet."""

    attempt_id: int
    answer: Answered

    def plain(self) -> "Plain":
        """It in plain values."""
        came = self.answer
        return "answered", self.attempt_id, came.http_status, came.body, came.retry_after


@dataclass(slots=True)  # not frozen, as that takes several times as long, for each request
class Ended:
    """What the attempt came to; acknowledged with the outcome as it is recorded."""

    attempt_id: int
    outcome: Outcome

    def plain(self) -> "Plain":
        """It in plain values."""
        o = self.outcome
        said = (o.state, o.reason, o.number, o.trace_id, o.detail, o.stop, o.retry_after)
        return "ended", self.attempt_id, *said


@dataclass(slots=True)  # not frozen, as that takes several times as long, for each request
class Again:
    """A new attempt like an ended one of this run; acknowledged with its (attempt_id, attempt).

    `pause`: the seconds before anybody may claim it, of a ledger that several share; of a file's, whoever asks for it waits himself.
    """

    attempt_id: int
    pause: float = 0.0

    def plain(self) -> "Plain":
        """It in plain values."""
        return "again", self.attempt_id, self.pause


Change = Sending | GotAnswer | Ended | Again
Acknowledged = tuple[int, int] | Outcome | None
#: A change as it goes from process to process: its kind and what it says, in values of Python's own. To pickle one of the classes
#: above, and to read it again, takes several times as long, for each request.
Plain = tuple[Any, ...]

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


def _of_plain(change: Plain) -> Change:
    """The change that these plain values are of."""
    kind, attempt_id, *said = change
    match kind:
        case "sending":
            return Sending(attempt_id)
        case "answered":
            return GotAnswer(attempt_id, Answered(*said))
        case "ended":
            return Ended(attempt_id, Outcome(*said))
        case _:
            return Again(attempt_id, *said)


def write_as_sets(connection: apsw.Connection, changes: Sequence[Plain]) -> bool:
    """Write changes in the transaction that is on, each kind in one statement, in the order that an attempt goes through them.

    False if not all fit, and then the transaction is to be undone. Raises what keeps any from being written.
    """
    answers: list[Any] = []
    ends: list[Any] = []
    sendings: list[Any] = []
    for change in changes:
        match change:
            case ("sending", attempt_id):
                sendings.append(attempt_id)
            case ("answered", attempt_id, http_status, body, retry_after):
                answers.append([attempt_id, http_status, body.hex(), retry_after])
            case ("ended", attempt_id, state, reason, number, trace_id, detail, *_):
                ends.append([attempt_id, state, reason, number, trace_id, to_text(detail)])
            case _:  # that of another attempt can't be one of a set
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


def write_alone(connection: apsw.Connection, changes: Sequence[Plain]) -> list[Acknowledged | LedgerProblem]:
    """Write changes in the transaction that is on, one by one; each one's acknowledgement, or why it alone is refused."""
    return [_alone(connection, _of_plain(change)) for change in changes]


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
