"""Who had a hand in a run: who prepared, proposed and approved what it sends, who began it, and who stopped it."""

import contextlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import apsw

from pipeline.ledger.clock import utc_now, utc_text
from pipeline.model.job import Job
from pipeline.model.quoting import one_line

#: What who begins a run is called, by its command; collecting weighs evidence, as reconciling does.
_BEGUN = {"issue": "sent", "reconcile": "reconciled", "collect": "reconciled"}
_LONGEST_NAME = 200


@dataclass(frozen=True)
class RunPerson:
    """A person in a role; `plan` is the digest of what was approved. `at`: by when (UTC, ISO 8601), "" for now."""

    role: str
    person: str
    plan: str = ""
    at: str = ""


def people_of(command: str, job: Job) -> Iterator[RunPerson]:
    """Who is known to have a hand in a run that begins."""
    if command == "issue" and (approval := job.approval):
        at = utc_text(approval.approved_at)
        before = utc_text(approval.proposed_at or approval.approved_at)
        for name in dict.fromkeys(approval.prepared_by):
            yield RunPerson("prepared", name, at=before)
        yield RunPerson("proposed", approval.proposed_by, at=before)
        yield RunPerson("approved", approval.approved_by, approval.digest, at)
    yield RunPerson(_BEGUN[command], job.operator)


def stopper_of(job: Job) -> RunPerson:
    """Who has stopped a run, where that was done on the page, which leaves the name in a file."""
    name = ""
    if job.stopped_by_file:
        with (
            contextlib.suppress(OSError),
            job.stopped_by_file.open(encoding="utf-8", errors="replace") as file,
        ):
            name = file.read(_LONGEST_NAME)
    return RunPerson("stopped", name)


def named(people: Iterable[RunPerson]) -> Iterator[RunPerson]:
    """Those who have a name, each on one line: whoever has none is nobody."""
    for one in people:
        if person := one_line(one.person).strip():
            yield replace(one, person=person)


def note(connection: apsw.Connection, run: int, people: Iterable[RunPerson]) -> None:
    """Record who had a hand in a run that is on."""
    for one in named(people):
        connection.execute(
            "INSERT INTO run_person (run, role, person, plan, noted_at) VALUES (?, ?, ?, ?, ?)",
            (run, one.role, one.person, one.plan, one.at or utc_now()),
        )


def of_ticket(connection: apsw.Connection, ticket_no: str) -> list[dict[str, Any]]:
    """Who had a hand in the runs that asked for a charge of this ticket, in the order of recording."""
    cursor = connection.execute(
        "SELECT run, role, person, plan, noted_at FROM run_person WHERE run IN"
        " (SELECT run FROM attempt JOIN charge USING (attempt_id) WHERE ticket_no = ?) ORDER BY run_person",
        (ticket_no,),
    )
    return [dict(zip(("run", "role", "person", "plan", "noted_at"), row, strict=True)) for row in cursor]


def of_runs(connection: apsw.Connection, runs: Iterable[int]) -> dict[int, list[RunPerson]]:
    """Who had a hand in each of these runs, in the order of recording."""
    found: dict[int, list[RunPerson]] = {}
    for run, *person in connection.execute(
        "SELECT run, role, person, plan, noted_at FROM run_person WHERE run IN (SELECT value FROM json_each(?)) ORDER BY run_person",
        (json.dumps(list(runs)),),
    ):
        found.setdefault(run, []).append(RunPerson(*person))
    return found
