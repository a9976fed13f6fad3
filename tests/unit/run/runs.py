"""Runs in this process: what each is asked for, on which ledger, and what it tells whoever watches it."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import apsw

from pipeline.ledger import gaps, opening, planning, runs
from pipeline.ledger.clock import utc_now
from pipeline.model.job import Job, Plan, Watch
from pipeline.model.message import from_text, to_text, verbatim
from pipeline.model.outcome import Outcome
from pipeline.model.profile import Carrier, Owner, Profile
from pipeline.model.request import Charge, Header, Identity, Request
from pipeline.reading import bounded_child
from pipeline.reading.child_process import Opening
from pipeline.reading.formats.serialize import dumps
from tests.conftest import AS_OF
from tests.crash.wire_answers import good
from tests.crash.wire_server import Line, Server, told
from tests.unit.reconciliation.desk import PROFILE, ticket

#: A carrier that nobody asks anything.
OWNER = Owner("http://127.0.0.1:1", "DEMO")
AT = "2026-11-19T23:30:00.000+00:00"
LI = Header("individual", "Li Na", "", "", "l@example.com")
#: A row as `Ledger.sent` has asked for it.
AS_SENT = {
    "voucher": "itinerary", "passenger_name": "ZHANG/WEI", "amount": "10.00", "header_type": "individual",
    "header_name": "Li Na", "tax_no": "", "phone": "", "email": "l@example.com",
}  # fmt: skip


def fares(*numbers: int, **changes: Any) -> list[dict[str, Any]]:
    return [{"ticket_no": ticket(number), **changes} for number in numbers]


def at_address(url: str = OWNER.base_url, **carrier: Any) -> Profile:
    return replace(PROFILE, carrier=Carrier(base_url=url, **carrier))


def job(*inputs: Path, **changes: Any) -> Job:
    given = {"profile": at_address(), "secrets": None, "as_of": AS_OF, **changes}
    if isinstance(given.get("ledger"), Path):
        given["ledger"] = str(given["ledger"])
    return Job(inputs, **given)


@dataclass
class Watched:
    """What a run tells and asks whoever watches it."""

    answer: bool = True
    noted: list[str] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)
    logged: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    asked: list[Plan] = field(default_factory=list)
    meanwhile: Callable[[], None] = lambda: None  # done while it is asked

    @property
    def watch(self) -> Watch:
        return Watch(
            lambda said: self.noted.append(str(said)),
            lambda _: None,
            self._confirm,
            lambda said: self.warned.append(str(said)),
            lambda event, **facts: self.logged.append((event, facts)),
        )

    def _confirm(self, plan: Plan) -> bool:
        self.asked.append(plan)
        self.meanwhile()
        return self.answer

    def facts(self, event: str) -> dict[str, object]:
        """What was logged of an event that there is once."""
        (found,) = [facts for name, facts in self.logged if name == event]
        return found


@dataclass
class Ledger:
    """A ledger in a run of its own, for what earlier runs came to."""

    path: Path
    connection: apsw.Connection
    run: int

    def sent(self, outcome: Outcome | None, *numbers: int, at: str = AT, kind: str = "itinerary") -> Request:
        """A request for these tickets, of the rows with these numbers, that ended so then; None: it is being sent."""
        charges = tuple(
            Charge(Identity(ticket(number), "ticket_fare", "flight"), "ZHANG/WEI", 1000, number, ("FARE", "Flight"))
            for number in numbers
        )  # fmt: skip
        request = Request(kind, "domestic", LI, charges)
        places = {number: ("october.xlsx", "Tickets", number) for number in numbers}
        (attempt,) = planning.plan(self.connection, self.run, [request], places)
        self._set("state = 'sending', sending_at = ?", attempt, utc_now() if outcome is None else at)
        if outcome is not None:
            self._set(
                "state = ?, reason = ?, number = ?, trace_id = ?, detail = ?, ended_at = ?", attempt,
                outcome.state, outcome.reason, outcome.number, outcome.trace_id, to_text(outcome.detail), at,
            )  # fmt: skip
        return request

    def _set(self, what: str, attempt: planning.Attempt, *values: str) -> None:
        self.connection.execute(
            f"UPDATE attempt SET {what} WHERE attempt_id = ?",
            (*values, attempt.attempt_id),
        )


@contextmanager
def earlier(path: Path, owner: Owner = OWNER, *, ends: bool = True) -> Iterator[Ledger]:
    """An earlier run on a ledger, which is made if it is missing; one that does not end is killed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection, lock = opening.open_for_run(path, owner, may_create=True)
    with closing(lock), closing(connection):
        run = runs.begin(connection, lock, runs.RunStart("issue", str(AS_OF), ["october.xlsx"]))
        yield Ledger(path, connection, run)
        if ends:
            runs.end(connection, lock, run, 0)


def marked(path: Path) -> Path:
    """The ledger, which may lack something by now."""
    connection, lock = opening.open_for_run(path, None, may_create=False)
    with closing(lock), closing(connection):
        runs.begin_change(connection, lock)
        gaps.mark_gap(connection, "2026-11-01", verbatim("a copy was put back"))
        runs.end_change(connection, lock)
    return path


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    """The rows of a query, with messages in words."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        return [
            tuple(str(from_text(value)) if isinstance(value, str) else value for value in row)
            for row in connection.execute(sql)
        ]


def ledger_id(path: Path) -> str:
    with closing(opening.open_existing(path, None)) as connection:
        return opening.ledger_id(connection)


class Begun(Opening):
    """A file that is being read already, and how often it was asked for."""

    def __init__(self, path: Path) -> None:
        self.path, self.asked = path, 0

    def said(self) -> Iterator[bytes]:
        self.asked += 1
        yield b"".join(dumps(bounded_child.read(self.path)))


@contextmanager
def carrier(*talk: Callable[[Line], None]) -> Iterator[Server]:
    """A carrier that answers so, and issues whatever it is asked for from then on."""
    with closing(Server(told([*talk, *[good] * 100]))) as server:
        yield server
