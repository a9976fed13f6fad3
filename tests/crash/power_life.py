"""The life of a small ledger, as the product leads it: runs that end, that are killed, that fill the disk.

Everything is done by the product's own code, opening to closing; only the carrier is made up. Every change
goes through the writer and its group commits, with some requests in flight at once.
"""

import asyncio
import contextlib
import datetime
import itertools
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import apsw

from pipeline.ledger import (
    attempts as records,
)
from pipeline.ledger import (
    held_charges,
    opening,
    planning,
)
from pipeline.ledger.attempt_changes import (
    Again,
    Change,
    Ended,
    GotAnswer,
    Sending,
)
from pipeline.ledger.group_commit import Writer
from pipeline.ledger.lock import Named
from pipeline.ledger.recovery import recover
from pipeline.ledger.session import OpenLedger
from pipeline.ledger.spill import Spill, spill_path
from pipeline.model.errors import LedgerProblem
from pipeline.model.message import verbatim
from pipeline.model.outcome import Answered, Outcome
from pipeline.model.profile import Owner, Profile, Terms
from pipeline.model.request import (
    Charge,
    Header,
    Identity,
    Request,
)
from tests import next_version
from tests.committing import writer_by
from tests.crash.power_disk import KINDS, Disk, Image
from tests.crash.power_recorder import Attempts, Recorder, Recording, recording

OWNER = Owner("http://127.0.0.1:18080", "AGENCY")
NAME = "test.ledger"
_TERMS = Terms(datetime.date(2026, 11, 20), Profile())
_HEADER = Header("business", "Example Trading Co.", "91110000600037341L", "", "finance@example.com")
_SECONDS = 300  # that a run may take before it counts as hung


def temporary() -> tempfile.TemporaryDirectory[str]:
    """A folder in memory where there is one: what a real disk would do is the model's business."""
    memory = Path("/dev/shm")
    return tempfile.TemporaryDirectory(prefix="power-", dir=memory if memory.is_dir() else None)


def meaning(answer: Answered) -> Outcome:
    """What the made-up carrier's answers say."""
    word, _, number = answer.body.decode().partition(":")
    if word == "yes":
        return Outcome("issued", number=number, trace_id="t")
    if word == "no":
        return Outcome("rejected", "carrier_rejected", trace_id="t", detail=verbatim("refused"))
    return Outcome("unknown", "answer_unreadable")


def recovered_meaning(_left: records.Interrupted, answer: Answered) -> Outcome:
    """The same for the start after a crash."""
    return meaning(answer)


def _row(found: Attempts, attempt: tuple[int, int]) -> dict[str, Any]:
    return found.get(attempt, {"state": None})


def _is_there(attempt: tuple[int, int]) -> Callable[[Attempts], bool]:
    return lambda found: _row(found, attempt)["state"] is not None


def _was_sent(attempt: tuple[int, int]) -> Callable[[Attempts], bool]:
    return lambda found: _row(found, attempt)["state"] not in (None, "planned")


def _never_sent(attempt: tuple[int, int]) -> Callable[[Attempts], bool]:
    return lambda found: _row(found, attempt)["state"] in (None, "not_sent")


def _answered(attempt: tuple[int, int], answer: Answered) -> Callable[[Attempts], bool]:
    return lambda found: _row(found, attempt).get("answer") == answer.body


def _ended(attempt: tuple[int, int], outcome: Outcome) -> Callable[[Attempts], bool]:
    def has(found: Attempts) -> bool:
        row = _row(found, attempt)
        return (row["state"], row.get("number"), row.get("reason")) == (
            outcome.state,
            outcome.number,
            outcome.reason,
        )

    return has


@dataclass
class _Flight:
    """A request on its way: what happens to it next."""

    attempt: tuple[int, int]
    outcome: Outcome
    answer: Answered | None
    again: bool
    step: int = 0

    def next(self) -> Change | None:
        changes: list[Change] = [Sending(self.attempt[0])]
        if self.answer is not None:
            changes.append(GotAnswer(self.attempt[0], self.answer))
        changes.append(Ended(self.attempt[0], self.outcome))
        if self.again:
            changes.append(Again(self.attempt[0]))
        return changes[self.step] if self.step < len(changes) else None


@dataclass(frozen=True)
class Session:
    """One run: how large, and how it ends. `killed` and `full` say after how many changes of the disk in a phase."""

    requests: int
    in_flight: int
    killed: tuple[str, int] | None = None
    full: int | None = None
    full_to_the_end: bool = False


class Life:
    """Runs of one ledger in one recording."""

    def __init__(self, recorder: Recorder, chance: random.Random, folder: str) -> None:
        self._recorder = recorder
        self._chance = chance
        self._ledger = f"{folder}{NAME}"
        self._numbers = itertools.count(1)

    def run(self, session: Session) -> None:
        """One run of the program, from opening to closing; killed, it raises nothing."""
        try:
            with contextlib.ExitStack() as stack:
                self._run(session, stack)
        except (apsw.Error, OSError, LedgerProblem):
            if not self._recorder.dead:
                raise

    def _phase(self, name: str, session: Session) -> None:
        killed = session.killed
        fills = session.full if name == "send" else None
        if name in ("end", "close") and session.full_to_the_end:
            fills = 0
        dies = killed[1] if killed and killed[0] == name else -1
        self._recorder.phase(name, dies_in=dies, fills_in=-1 if fills is None else fills)

    def _run(self, session: Session, stack: contextlib.ExitStack) -> None:
        recorder = self._recorder
        path = recorder.folder / self._ledger
        os.environ["XDG_STATE_HOME"] = str(recorder.folder / "state")  # power is cut there too
        self._phase("open", session)
        connection, lock = opening.open_for_run(path, OWNER, may_create=True)
        stack.callback(lock.close)
        stack.callback(_closed, connection)
        recorder.look()
        recorder.acknowledge("the ledger is there", 0)  # what a killed run left in it need not be sure yet
        self._phase("recover", session)
        recover(connection, path, lock, recovered_meaning)
        recorder.acknowledge("recovered")
        ledger = OpenLedger(path, connection, lock, Named(path.resolve()), None)
        self._phase("begin", session)
        run = ledger.begin("issue", _TERMS, [Path("tickets.xlsx")])
        recorder.acknowledge(f"run {run} has begun")
        self._phase("plan", session)
        attempts = self._planned(connection, run, session.requests)
        recorder.acknowledge(f"run {run} is planned")
        self._phase("send", session)
        spill = Spill(spill_path(path), opening.ledger_id(connection), 1)
        flights = [self._flight(attempt.attempt_id, run) for attempt in attempts]
        with spill:
            sending = self._send(connection, spill, flights, session.in_flight)
            failed = asyncio.run(asyncio.wait_for(sending, _SECONDS))
        self._phase("end", session)
        if not failed:  # else the run leaves it to the next start
            ledger.end(run, 0)
            if not session.full_to_the_end:
                recorder.acknowledge(f"run {run} has ended")
        self._phase("close", session)

    def _planned(self, connection: apsw.Connection, run: int, number: int) -> list[planning.Attempt]:
        """Requests of some charges: new ones, and such as an earlier run did not bring to an end."""
        requests, wanted = [], self._chance.sample(range(1, 12 + 3 * run), number)
        held = held_charges.holdings(connection, [f"999{ticket:010}" for ticket in wanted]).held
        for ticket in wanted:
            charges = [_charge(ticket, kind) for kind in ("ticket_fare", "ancillary")[: 1 + ticket % 2]]
            if not any(charge.identity in held for charge in charges):
                requests.append(Request("invoice", "domestic", _HEADER, tuple(charges)))
        places = {c.row: ("tickets.xlsx", "Tickets", c.row + 2) for r in requests for c in r.charges}
        return planning.plan(connection, run, requests, places)

    def _flight(self, attempt_id: int, run: int) -> _Flight:
        draw = self._chance.random()
        if draw < 0.15:
            outcome = Outcome("unknown", "no_answer", detail=verbatim("timeout"))
            return _Flight((attempt_id, run), outcome, None, again=False)
        if draw < 0.3:
            outcome = Outcome("not_sent", "carrier_unreachable", detail=verbatim("no connection"))
            return _Flight((attempt_id, run), outcome, None, again=self._chance.random() < 0.7)
        # Answers of many sizes, so that some need pages of their own.
        padding = "x" * self._chance.choice((0, 200, 3000, 9000))
        body = f"yes:{run:06}{attempt_id:08}{next(self._numbers):06}" if draw < 0.8 else "no:"
        answer = Answered(200, body.encode(), padding)
        return _Flight((attempt_id, run), meaning(answer), answer, again=False)

    async def _send(
        self, connection: apsw.Connection, spill: Spill, flights: list[_Flight], in_flight: int
    ) -> bool:
        """Let the flights go on in rounds, some at once, so that their changes meet in one group; whether it failed."""
        async with writer_by(connection, spill, in_flight) as writer:
            while flights and not self._recorder.dead:
                here = flights[:in_flight]
                moving = self._chance.sample(here, self._chance.randint(1, len(here)))
                await asyncio.gather(*(self._step(writer, spill, flight, flights) for flight in moving))
        return writer.failed

    async def _step(self, writer: Writer, spill: Spill, flight: _Flight, flights: list[_Flight]) -> None:
        change = flight.next()
        if change is None:
            flights.remove(flight)
            return
        try:
            done = await writer.commit(change)
        except LedgerProblem:
            if not spill.failed:
                self._spilled(flight.attempt, change)
            flight.step += 1
            # Nothing is sent any more; what is on its way already comes to its end.
            flights[:] = [each for each in flights if each.step and not isinstance(change, Again)]
            if isinstance(change, Sending):
                flights[:] = [each for each in flights if each is not flight]
            return
        flight.step += 1
        if isinstance(change, Again) and isinstance(done, tuple):
            flights.remove(flight)
            again = (done[0], flight.attempt[1])
            flights.append(self._flight(*again))
            self._recorder.acknowledge(f"again {again}", _is_there(again))
        else:
            self._kept(flight.attempt, change)

    def _kept(self, attempt: tuple[int, int], change: Change) -> None:
        told = self._recorder.acknowledge
        match change:
            case Sending():
                told(f"sending {attempt}", _was_sent(attempt), _was_sent(attempt))
            case GotAnswer(_, answer):
                told(f"answer {attempt}", _answered(attempt, answer), _answered(attempt, answer))
            case Ended(_, outcome):
                told(f"outcome {attempt}", _ended(attempt, outcome), _ended(attempt, outcome))
            case Again():
                raise TypeError("a new attempt is acknowledged with its ID")

    def _spilled(self, attempt: tuple[int, int], change: Change) -> None:
        """What the ledger could not take is promised too, though the next start alone puts it in."""
        told = self._recorder.acknowledge
        match change:
            case Sending():
                told(f"spilled: never sent {attempt}", None, _never_sent(attempt))
            case GotAnswer(_, answer):
                told(f"spilled: answer {attempt}", None, _answered(attempt, answer))
            case Ended(_, outcome):
                told(f"spilled: outcome {attempt}", None, _ended(attempt, outcome))
            case Again():
                pass


def _charge(ticket: int, kind: str) -> Charge:
    product = "flight" if kind == "ticket_fare" else "baggage"
    identity = Identity(f"999{ticket:010}", kind, product)
    return Charge(identity, "ZHANG/WEI", 100_00 + ticket, 10 * ticket + len(kind), (kind, product))


def _closed(connection: apsw.Connection) -> None:
    with contextlib.suppress(apsw.Error):  # of a ledger that was killed, or whose disk is full
        connection.close()


def lives(seed: int, *, made_folder: bool = False) -> list[Recording]:
    """The recordings of a seed: the first begins with nothing, others with what a cut left, some by the program's next version."""
    chance = random.Random(f"life {seed}")
    folder = "books/" if made_folder else ""
    upgraded = not made_folder and chance.random() < 0.15
    start, found = Image(), list[Recording]()
    for last in (False, chance.random() < 0.5, True):
        versions_later = int(upgraded and bool(found))
        with next_version.program(versions_later):
            found.append(_recorded(start, folder, chance))
        found[-1].versions_later = versions_later
        if last:
            break
        start = _after_a_cut(found[-1], chance)
    return found


def _after_a_cut(last: Recording, chance: random.Random) -> Image:
    disk = Disk(last.start, last.events)
    disk.advance(chance.randint(len(last.events) // 2, len(last.events)))
    return disk.lost_power(chance.choice(KINDS), chance)


def _sessions(chance: random.Random) -> Iterator[Session]:
    """Some runs; the one after a full disk takes in what was spilled."""
    full = False
    for number in range(4):
        if number >= 1 and not full and chance.random() < 0.4:
            break
        session = Session(chance.randint(3, 7), chance.randint(1, 4))
        draw, full = chance.random(), False
        if draw < 0.4:
            phase = chance.choice(
                ("open", "recover", "begin", "plan", "send", "send", "send", "end", "close")
            )
            session = replace(session, killed=(phase, chance.randint(1, 120 if phase == "send" else 25)))
        elif draw < 0.75:
            full = True
            session = replace(session, full=chance.randint(1, 60), full_to_the_end=chance.random() < 0.5)
        yield session


def _recorded(start: Image, folder: str, chance: random.Random) -> Recording:
    """One recording of some runs. Threads take turns only when they wait, so that a seed is the same each time."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(10)
    try:
        with temporary() as root:
            folders = (_new_folder(Path(root) / str(number)) for number in itertools.count())
            pages = chance.choice((0, 0, 4, 12, 40))
            with recording(start, folder + NAME, next(folders), next(folders), pages) as recorder:
                life = Life(recorder, chance, folder)
                for session in _sessions(chance):
                    life.run(session)
                    if recorder.dead:
                        shutil.rmtree(recorder.folder)
                        recorder.killed(next(folders), next(folders))
                    else:
                        recorder.check_complete()
                return recorder.recording
    finally:
        sys.setswitchinterval(interval)


def _new_folder(path: Path) -> Path:
    path.mkdir()
    return path
