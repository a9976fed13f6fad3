"""Putting in order what an earlier run left: first the spill file, then `sending`, then `planned`."""

import base64
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import apsw

from pipeline.ledger import attempts, opening, planning
from pipeline.ledger.lock import Lock, Phase
from pipeline.ledger.runs import end_open
from pipeline.ledger.spill import spill_path, spilled
from pipeline.model.errors import LedgerProblem
from pipeline.model.message import from_text, message
from pipeline.model.outcome import Answered, Outcome
from pipeline.model.request import Asked


class Unread(Protocol):
    """What an answer that nobody has come to interpret is read by; see `attempts.Interrupted`."""

    @property
    def asked(self) -> Asked:
        """What was asked for."""

    @property
    def doubted(self) -> bool:
        """Whether a charge of it was ever unknown."""

    @property
    def accepted(self) -> bool:
        """Whether the service had taken key and address in that run."""

    @property
    def beside(self) -> tuple[Answered | None, ...]:
        """The answers of those that were interrupted with it, None for each that never came."""


#: What an answer on disk comes to, beside what is known of its run.
Meaning = Callable[[Unread, Answered], Outcome]

_KILLED = message("that run was killed")


@dataclass(frozen=True)
class Recovered:
    """What was found: outcomes taken from the spill file or from answers on disk, and doubts."""

    spilled: int = 0
    answered: int = 0
    unknown: int = 0


def _take_in(connection: apsw.Connection, entry: dict[str, Any]) -> bool:
    """Record what was spilled; False if this ledger has no such attempt, or says otherwise of it.

    An entry that is in the ledger already is fine: a commit that failed may have reached the disk, and a
    recovery may have been killed before it removed the spill file.
    """
    attempt_id = entry["attempt_id"]
    state = attempts.state_of(connection, attempt_id)
    if "body" in entry:
        answer = Answered(entry["http_status"], base64.b64decode(entry["body"]), entry["retry_after"])
        attempts.record_answer(connection, attempt_id, answer)
        return state not in (None, "planned")
    if "never_sent" in entry:
        outcome = Outcome("not_sent", "run_stopped", detail=message("the ledger failed before it was sent"))
        # Its `sending` may never have been written, or even its plan.
        fitting: tuple[str | None, ...] = (None, "planned", "sending", "not_sent")
    else:
        outcome = Outcome(
            entry["state"], entry["reason"], entry["number"], entry["trace_id"], from_text(entry["detail"])
        )
        recorded = attempts.as_recorded(connection, attempt_id, outcome)
        fitting = ("sending", recorded.state)
        if state == "issued" and attempts.number_of(connection, attempt_id) != recorded.number:
            return False
    attempts.record_outcome(connection, attempt_id, outcome)
    return state in fitting


def recover(
    connection: apsw.Connection,
    ledger: Path,
    lock: Lock,
    meaning: Meaning,
) -> Recovered:
    """Settle what an earlier run left, in one transaction, then end it; `meaning` interprets an answer on disk.

    An attempt whose raw answer is on disk ends as that answer says; without one it is unknown. The
    spill file goes only after what it held is committed. Raises LedgerProblem, with nothing changed, if
    the spill file holds what this ledger knows nothing of: then the ledger is older than that file.
    """
    path = spill_path(ledger.resolve())
    taken = list(spilled(path, opening.ledger_id(connection)))
    answered = unknown = 0
    if taken or attempts.unfinished(connection):
        lock.note(Phase.FOLDING)  # from here on the file may be half written
    with connection:
        for entry in taken:
            if not _take_in(connection, entry):
                raise LedgerProblem(
                    "{path}: holds the outcome of attempt {attempt}, which does not fit this ledger: the"
                    " ledger is older, or another has its name. Put the right one back; if it is lost for"
                    " good: voucher ledger mark-gap",
                    path=str(path),
                    attempt=entry["attempt_id"],
                )
        for left in attempts.interrupted(connection):
            if left.answer is None:
                unknown += 1
                outcome = Outcome("unknown", "run_killed", detail=_KILLED)
            else:
                answered += 1
                outcome = meaning(left, left.answer)
            attempts.record_outcome(connection, left.attempt_id, outcome)
        planning.drop_planned(connection)
    path.unlink(missing_ok=True)
    end_open(connection, lock)
    return Recovered(len({entry["attempt_id"] for entry in taken}), answered, unknown)
