"""Putting in order what an earlier run left: first the spill file, then `sending`, then `planned`."""

import base64
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from pipeline.carrier.replies import Answered, Outcome
from pipeline.ledger import records
from pipeline.ledger.spill import spill_path, spilled

_KILLED = "an earlier run was killed while it was being sent"


@dataclass(frozen=True)
class Recovered:
    """What was found: outcomes taken from the spill file or from answers on disk, and doubts."""

    spilled: int = 0
    answered: int = 0
    unknown: int = 0
    dropped: int = 0


def _take_in(connection: apsw.Connection, entry: dict[str, Any]) -> None:
    attempt_id = entry["attempt_id"]
    if "never_sent" in entry:
        outcome = Outcome("not_sent", "run_stopped", detail="the ledger failed before it was sent")
        records.record_outcome(connection, attempt_id, outcome)
    elif "body" in entry:
        answer = Answered(entry["http_status"], base64.b64decode(entry["body"]), entry["retry_after"])
        records.record_answer(connection, attempt_id, answer)
    else:
        outcome = Outcome(
            entry["state"], entry["reason"], entry["number"], entry["trace_id"], entry["detail"]
        )
        records.record_outcome(connection, attempt_id, outcome)


def recover(
    connection: apsw.Connection, ledger: Path, meaning: Callable[[records.Interrupted, Answered], Outcome]
) -> Recovered:
    """Settle what an earlier run left, in one transaction; `meaning` interprets an answer on disk.

    An attempt whose raw answer is on disk ends as that answer says; without one it is unknown. The
    spill file goes only after what it held is committed.
    """
    path = spill_path(ledger.resolve())
    taken = list(spilled(path, records.ledger_id(connection)))
    answered = unknown = 0
    with connection:
        for entry in taken:
            _take_in(connection, entry)
        for left in records.interrupted(connection):
            if left.answer is None:
                unknown += 1
                outcome = Outcome("unknown", "run_killed", detail=_KILLED)
            else:
                answered += 1
                outcome = meaning(left, left.answer)
            records.record_outcome(connection, left.attempt_id, outcome)
        dropped = records.drop_planned(connection)
        records.end_open_runs(connection)
    path.unlink(missing_ok=True)
    # Everything of earlier runs into the one file: what is copied or renamed without its -wal is then
    # short of a run that is on at most.
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Recovered(len({entry["attempt_id"] for entry in taken}), answered, unknown, dropped)
