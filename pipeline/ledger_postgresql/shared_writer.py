"""A worker at work: one thread that speaks with the shared ledger for all that are sending, and one by which it is heard.

Lanes in an event loop ask for attempts (`claim`) and hand in what came of them (`commit`); all that has come up meanwhile goes by one turn
(`worker_turns`). While the server is away, what is known is kept on this machine (`worker_spill`), and goes in when it is back; a worker that
was silent for too long sends no more, and says what it knows by late words.
"""

import asyncio
import contextlib
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from pipeline.ledger.attempt_changes import Acknowledged, Again, Change, Ended, GotAnswer
from pipeline.ledger_postgresql.known_workers import awaited
from pipeline.ledger_postgresql.server_connection import LedgerConnection, connect
from pipeline.ledger_postgresql.server_schema import about
from pipeline.ledger_postgresql.sqlstates import (
    ClaimsShut,
    LedgerGap,
    LedgerLacks,
    ServerAway,
    TurnOpen,
    WorkerGone,
    as_problem,
)
from pipeline.ledger_postgresql.worker_spill import WorkerSpill
from pipeline.ledger_postgresql.worker_turns import Claimed, Turn, Worker
from pipeline.model.errors import LedgerProblem
from pipeline.model.message import NOTHING, Message, Note, joined, message, to_text
from pipeline.model.outcome import Outcome

_ALLOT_EVERY = 0.5  # seconds
_SAY_AFTER = 2.0  # seconds, in which a run got nothing to send
_SAY_AGAIN = 60.0  # seconds, while claims are shut
_LOOK_AGAIN = 0.25  # seconds, where nothing can be claimed for now
_LEAVE_WITHIN = 60.0  # seconds for which a worker that is gone tries to take its leave, or one that may have joined to be told so
_PAUSES = (0.1, 0.2, 0.5, 1.0, 2.0)  # seconds, between tries to reach the server

_Waiting = tuple[Change, "asyncio.Future[Acknowledged] | None"]
_Answer = tuple["asyncio.Future[Acknowledged] | None", Acknowledged | LedgerProblem | None]


@dataclass
class Part:
    """A run that this worker takes part in. `stays`: it waits for the run's end, as others' requests may be tried again.

    `counted` is told of failures in a row, of all workers, with the last of them. `over` says why nothing more is claimed, once it is so.
    """

    run: int
    lanes: int
    loop: asyncio.AbstractEventLoop
    counted: Callable[[Counter[str], Outcome], None]
    stays: bool = False
    over: bool = False
    why: Message = NOTHING
    slots: int = 0
    busy: int = 0
    waits_from: float = (
        0.0  # monotonic, for others to let go of what may be in flight; told when it is infinite
    )
    claims: list["asyncio.Future[Claimed | None]"] = field(default_factory=list)


class SharedWriter:
    """One worker, joined and heard from when this is made until `close`."""

    def __init__(self, address: str, note: Note, most: int) -> None:
        """`most`: requests that may be in flight here at once. Raises what `connect` does, and LedgerProblem without room to keep outcomes."""
        self._address, self._note = address, note
        self._connection, self._worker = _joined(address)
        try:
            self._about = about(self._connection)
            self._spill = WorkerSpill(self._about.ledger_id, self._worker.worker, most)
        except BaseException:
            self._connection.close()
            raise
        self._condition = threading.Condition()
        self._part: Part | None = None
        self._changes: list[_Waiting] = []
        self._spilled = 0  # so many of them are kept in the spill file
        self._in_flight: set[int] = set()  # claimed, and not known to have ended in the ledger
        self._stops: tuple[int, Message] | None = None  # a run that is to be stopped for all, and why
        self._must_vouch = False
        self._lost_as = ""  # how the heart found that it is this worker no more, though no turn is made
        self._shut = False  # since a start of the server
        self._says_at = 0.0  # when to say again whom claims wait for, monotonic
        self._looks_at = 0.0  # when to claim again, monotonic
        self._allots_at = 0.0
        self._is_away = False
        self._closing = False
        self._problem = NOTHING
        self.gone = False
        self._heart_ends = threading.Event()
        self._threads = [
            threading.Thread(target=self._beat, name="heartbeat", daemon=True),
            threading.Thread(target=self._work, name="turns", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    @property
    def worker(self) -> str:
        """The worker's ID."""
        return str(self._worker.worker)

    @property
    def failed(self) -> bool:
        """Whether nothing can be relied on any more that this ledger says."""
        return bool(self._problem)

    # What lanes call, in their event loop.

    def begin(self, part: Part) -> None:
        """Take part in a run from now on; no other is on here."""
        with self._condition:
            self._part = part
            self._looks_at = self._allots_at = 0.0
            part.waits_from = time.monotonic()
            part.over = part.over or self.gone or self.failed
            part.why = self._problem
            self._condition.notify()

    def claim(self) -> "asyncio.Future[Claimed | None]":
        """The next attempt for a lane that has none; None where nothing more is claimed of this run here."""
        part = self._of_run()
        asked: asyncio.Future[Claimed | None] = part.loop.create_future()
        with self._condition:
            if part.over:
                asked.set_result(None)
            else:
                part.claims.append(asked)
                self._condition.notify()
        return asked

    def returned(self) -> None:
        """A lane is done with its attempt at the carrier."""
        with self._condition:
            self._of_run().busy -= 1
            self._condition.notify()

    def commit(self, change: Change) -> "asyncio.Future[Acknowledged]":
        """Done when the change is in the ledger, or, of an answer while the server is away, on this machine's disk."""
        done: asyncio.Future[Acknowledged] = self._of_run().loop.create_future()
        with self._condition:
            self._changes.append((change, done))
            self._condition.notify()
        return done

    def claim_no_more(self, why: Message = NOTHING) -> None:
        """Nothing more of this run is claimed here; what is in flight goes on."""
        with self._condition:
            self._end_part(why)
            self._condition.notify()

    def stop_run(self, run: int, why: Message) -> None:
        """Have nothing more of a run claimed, by any worker; here from now on."""
        with self._condition:
            self._stops = self._stops or (run, why)
            if self._part and self._part.run == run:
                self._end_part(why)
            self._condition.notify()

    async def settled(self) -> None:
        """Wait until all that was handed in is in the ledger, or can't be put there: then it is kept on this machine."""
        while True:
            with self._condition:
                if not (self._changes or self._stops) or (
                    (self._is_away or self.failed) and self._spilled == len(self._changes)
                ):
                    return
            await asyncio.sleep(0.02)

    async def finish(self) -> None:
        """Take part in the run no more, once all is settled."""
        await self.settled()
        with self._condition:
            part, self._part = self._of_run(), None
        if not (self._is_away or self.failed or self.gone):
            with contextlib.suppress(LedgerProblem):
                await asyncio.to_thread(self._let_go, part.run)

    def _let_go(self, run: int) -> None:
        with contextlib.closing(connect(self._address)) as connection, as_problem():
            connection.execute("SELECT voucher.allot(%s, %s, 0, 0)", (self._worker.worker, run))

    def _of_run(self) -> Part:
        if self._part is None:
            raise RuntimeError("this worker takes part in no run")
        return self._part

    # Its end.

    def close(self) -> None:
        """Leave in good order, as far as the server can be reached; what it could not be told stays on this machine."""
        with self._condition:
            self._closing = True
            self._condition.notify()
        self._threads[1].join()
        self._heart_ends.set()
        self._threads[0].join()
        self._leave()
        self._connection.close()
        if self._spill.used:
            self._note(
                message(
                    "{count} outcomes could not be told to the ledger; they are kept in {path}, and go in when voucher issue or voucher worker is"
                    " started here again",
                    count=len(self._changes),
                    path=str(self._spill.path),
                )
            )
        for line in self._spill.failed:
            self._note(
                message("Could not be kept on disk; keep this line for reconciling: {line}", line=line)
            )
        self._spill.close()

    def _leave(self) -> None:
        """Have the ledger know of its end. Of a worker that is gone nobody else could: claims would wait for it after a start of the server."""
        until = time.monotonic() + (_LEAVE_WITHIN if self.gone else 0)
        while True:
            try:
                if self._is_away:
                    self._connection.close()
                    self._connection = connect(self._address)
                    self._worker.reconnect(self._connection)
                    self._is_away = False
                if not self.failed:
                    self._worker.vouch()
                self._worker.leave()
            except ServerAway:
                self._is_away = True
                if time.monotonic() < until:
                    time.sleep(_PAUSES[-2])
                    continue
            except LedgerProblem:
                pass  # it is dead to the ledger, or sends still; or that is another ledger
            return

    # The heart.

    def _beat(self) -> None:
        """Be heard, whatever keeps a turn waiting; and see to it that others who are not heard are counted as silent."""
        every = min(self._about.lease / 6, 5.0)
        swept = float("-inf")
        while not self._heart_ends.is_set():
            with contextlib.suppress(LedgerProblem), contextlib.closing(connect(self._address)) as connection:
                while True:
                    standing = self._worker.heartbeat(connection)
                    if standing != "on":
                        with self._condition:
                            self._must_vouch = self._must_vouch or standing in ("vouch", "unknown")
                            self._lost_as = standing if standing in ("silent", "dead") else ""
                            self._condition.notify()
                    if time.monotonic() - swept > self._about.lease / 4:
                        with as_problem():
                            connection.execute("SELECT voucher.sweep()")
                        swept = time.monotonic()
                    if self._heart_ends.wait(every):
                        return
            self._heart_ends.wait(min(every, 1.0))

    # Turns.

    def _work(self) -> None:
        """The thread that speaks with the ledger."""
        while True:
            with self._condition:
                if not self._has_work():
                    if self._closing:
                        return
                    self._condition.wait(self._until())
            try:
                self._step()
            except (ServerAway, TurnOpen):
                if not self._came_back():
                    return
            except WorkerGone as problem:
                self._is_gone(problem.message)
            except LedgerLacks as problem:
                self._fails(problem.message)
                self._say_what_it_lacks()
            except LedgerProblem as problem:
                self._fails(problem.message)
            except BaseException as error:  # a defect of ours: nobody may wait for ever
                self._fails(message("{error}", error=f"{type(error).__name__}: {error}"))
                raise

    def _has_work(self) -> bool:
        return (
            (self._stops is not None and not self.failed)
            or bool(self._changes[self._spilled :] if self.failed else self._changes)
            or self._wanted() > 0
        )

    def _until(self) -> float:
        """Seconds until there may be something to do, though nothing comes up."""
        return _LOOK_AGAIN if self._part or self._shut else 1.0

    def _wanted(self) -> int:
        """How many attempts to claim now."""
        part = self._part
        if part is None or part.over or self._shut or time.monotonic() < self._looks_at:
            return 0
        return max(0, min(len(part.claims), part.slots - part.busy))

    def _step(self) -> None:
        if self._stops and not self.failed:
            run, why = self._stops
            with as_problem():
                self._connection.execute("SELECT voucher.stop_run(%s, %s)", (run, to_text(why)))
            self._stops = None
        if self.failed or self.gone:
            self._say_late() if self.gone and not self.failed else self._keep()
            return
        if self._lost_as:
            raise WorkerGone("this worker may claim nothing more ({why})", why=self._lost_as)
        if self._must_vouch or self._shut:
            self._vouch()
        self._allot()
        self._turn()

    def _allot(self) -> None:
        part = self._part
        if part and not part.over and time.monotonic() >= self._allots_at:
            part.slots = self._worker.allot(part.run, part.lanes, part.busy)
            if part.slots < 0:
                self.claim_no_more()
            self._say_that_it_waits(part)
            self._allots_at = time.monotonic() + _ALLOT_EVERY

    def _say_that_it_waits(self, part: Part) -> None:
        """Say once, of the run that is issued here, that all that may be in flight at the carrier is others' for so long."""
        now = time.monotonic()
        if part.slots or not part.stays:
            part.waits_from = max(part.waits_from, now)
        elif now - part.waits_from > _SAY_AFTER:
            part.waits_from = float("inf")
            self._note(
                message(
                    "As many requests as the profile allows are in flight for other runs or by other workers; this run goes on as those end"
                )
            )

    def _turn(self) -> None:
        with self._condition:
            part, group, most = self._part, [*self._changes], self._wanted()
        if not group and not most:
            return
        try:
            turn = self._worker.turn([change for change, _ in group], part.run if part else 0, most)
        except LedgerGap as problem:
            self.claim_no_more(problem.message)
            return
        except ClaimsShut:
            self._shut = True
            self._note(
                message(
                    "The ledger's server was started anew: nothing is sent until {lease} s have passed and every worker that was at work has found"
                    " what it had been told (voucher ledger vouch says whom it waits for, and what to do)",
                    lease=f"{self._about.lease:g}",
                )
            )
            return
        with self._condition:
            del self._changes[: len(group)]
            self._spilled = 0
            self._in_flight -= {change.attempt_id for change, _ in group if isinstance(change, Ended)}
            self._in_flight |= {one.attempt_id for one in turn.claimed}
            if not self._changes:
                self._spill.empty()
            handed = self._taken(part, turn, most) if part and most else []
        self._tell(part, group, turn, handed)

    def _taken(
        self, part: Part, turn: Turn, most: int
    ) -> list[tuple["asyncio.Future[Claimed | None]", Claimed]]:
        """Which lane gets what a turn claimed, and when to look again."""
        handed = list(zip(part.claims, turn.claimed, strict=False))
        del part.claims[: len(handed)]
        part.busy += len(handed)
        for one in turn.claimed[len(handed) :]:  # no lane wants it any more; others may have it
            stopped = Outcome("not_sent", "run_stopped", detail=part.why)
            self._changes += [(Ended(one.attempt_id, stopped), None), (Again(one.attempt_id), None)]
        if turn.standing != "on":
            left = message("whoever issued this run was not heard for too long, or was seen dead")
            self._end_part(turn.stopped or (left if turn.standing == "left" else NOTHING))
        elif turn.idle is None and not turn.claimed and not part.stays and not part.busy:
            self._end_part(NOTHING)
        elif len(turn.claimed) < most:
            wait = _LOOK_AGAIN if turn.idle is None else min(max(turn.idle, 0.02), 1.0)
            self._looks_at = time.monotonic() + wait
        return handed

    def _end_part(self, why: Message) -> None:
        part = self._part
        if part is None or part.over:
            return
        part.over, part.why = True, why
        waiting, part.claims = part.claims, []
        part.loop.call_soon_threadsafe(_give, [(one, None) for one in waiting])

    def _tell(
        self,
        part: Part | None,
        group: Sequence[_Waiting],
        turn: Turn,
        handed: Sequence[tuple["asyncio.Future[Claimed | None]", Claimed]],
    ) -> None:
        if part is None:
            return
        failing = [
            one for one in turn.done if isinstance(one, Outcome) and one.state in ("unknown", "not_sent")
        ]

        def told() -> None:
            _answer(zip([done for _, done in group], turn.done, strict=True))
            _give(handed)
            if failing:
                part.counted(turn.in_a_row, failing[-1])

        with contextlib.suppress(RuntimeError):  # the loop has ended
            part.loop.call_soon_threadsafe(told)

    def _vouch(self) -> None:
        """Say that nothing is missing since the server was started, and let claims be made when everybody has."""
        self._worker.vouch()
        self._must_vouch = False
        if self._shut and time.monotonic() >= self._looks_at:
            self._looks_at = time.monotonic() + min(1.0, self._about.lease / 10)
            with as_problem():
                opened = self._connection.execute("SELECT voucher.open_claims()").fetchone()
            if opened == (True,):
                self._shut = False
                self._looks_at = 0.0
                self._note(message("The ledger takes claims again; sending goes on"))
            elif time.monotonic() >= self._says_at:
                self._say_whom_it_waits_for()

    def _say_whom_it_waits_for(self) -> None:
        """Name the workers that are not heard any more, for whom nobody but a person can say what claims wait for."""
        if found := awaited(self._connection):
            self._says_at = time.monotonic() + _SAY_AGAIN
            self._note(
                message(
                    "Nothing is sent yet: {workers} sent with this ledger before its server was started anew, and nothing is heard from there. Whoever"
                    " knows what became of it says so: voucher ledger vouch, or voucher ledger declare-dead",
                    workers=joined(found),
                )
            )

    # What becomes of it when something fails.

    def _keep(self) -> None:
        """Put what is known on this machine's disk; an answer is safe then."""
        with self._condition:
            fresh = self._changes[self._spilled :]
            self._spilled = len(self._changes)
            part = self._part
        for change, _ in fresh:
            self._spill.keep(change)
        if part is None:
            return
        problem = LedgerProblem(self._problem) if self.failed else None
        safe: list[_Answer] = [
            (done, problem) for change, done in fresh if problem or isinstance(change, GotAnswer)
        ]
        with contextlib.suppress(RuntimeError):
            part.loop.call_soon_threadsafe(_answer, safe)

    def _came_back(self) -> bool:
        """Whether the server is there again; until then what is known is kept here. False where this worker ends first."""
        self._is_away = True
        self._connection.close()
        told = False
        for tries in range(1_000_000_000):
            self._keep()
            try:
                self._connection = connect(self._address)
                self._worker.reconnect(self._connection)
                with self._condition:
                    known = self._in_flight | {change.attempt_id for change, _ in self._changes}
                self._worker.give_back(known)
            except ServerAway as problem:
                if not told and tries > 1:
                    self._note(
                        message(
                            "{why}. Outcomes are kept on this machine, and go in when the server is back",
                            why=problem.message,
                        )
                    )
                    told = True
                with self._condition:
                    if self._closing:
                        return False
                    if (
                        len(self._changes) == self._spilled
                    ):  # else something came up meanwhile, and is kept at once
                        self._condition.wait(_PAUSES[min(tries, len(_PAUSES) - 1)])
                continue
            except LedgerProblem as problem:
                self._fails(problem.message)
                if isinstance(problem, LedgerLacks):
                    self._say_what_it_lacks()
            break
        self._is_away = False
        with self._condition:
            self._spilled = 0  # they are handed in again; the file is emptied when the ledger has them
        if told:
            self._note(message("The ledger's server is back"))
        return True

    def _is_gone(self, why: Message) -> None:
        """It was silent for too long, or somebody called it dead: it claims nothing more."""
        self.gone = True
        with self._condition:
            self._end_part(why)

    def _say_late(self) -> None:
        """What a worker that is gone knows goes by late words."""
        with self._condition:
            group, part = [*self._changes], self._part
        done: list[_Answer] = []
        for change, told in group:
            taken: Acknowledged = None
            if isinstance(change, Ended):
                taken = self._worker.late(change.attempt_id, change.outcome)
                self._in_flight.discard(change.attempt_id)
            done.append((told, taken))
        with self._condition:
            del self._changes[: len(group)]
            self._spilled = 0
            if not self._changes:
                self._spill.empty()
        if part:
            with contextlib.suppress(RuntimeError):
                part.loop.call_soon_threadsafe(_answer, done)

    def _say_what_it_lacks(self) -> None:
        """An older copy is in the ledger's place: have it know so, and nothing is sent by anybody. None but this worker may remember."""
        for tries in range(1_000_000_000):
            try:
                self._worker.vouch()
            except ServerAway:
                with self._condition:
                    if self._closing:
                        return
                    self._condition.wait(_PAUSES[min(tries, len(_PAUSES) - 1)])
                with contextlib.suppress(ServerAway):
                    self._connection.close()
                    self._connection = connect(self._address)
                    self._worker.reconnect(self._connection)
            except LedgerProblem:  # it knows now
                return
            else:
                return

    def _fails(self, why: Message) -> None:
        """Nothing is sent any more, and what is known is kept here: the ledger is not the one that it was, or refuses us."""
        self._problem = self._problem or why
        self._note(why)
        with self._condition:
            self._spilled = 0 if not self._is_away else self._spilled
            self._end_part(why)
        self._keep()


def _joined(address: str) -> tuple[LedgerConnection, Worker]:
    """A worker that has joined, and its connection.

    One that has and was not told joins again by the same ID: of another that nobody is, claims would wait after a start of the server.
    """
    worker, until = uuid.uuid4(), 0.0
    while True:
        try:
            connection = connect(address)
            until = until or time.monotonic() + _LEAVE_WITHIN
            try:
                return connection, Worker(connection, worker)
            except BaseException:
                connection.close()
                raise
        except ServerAway:
            if time.monotonic() >= until:
                raise
            time.sleep(_PAUSES[1])


def _give(handed: Sequence[tuple["asyncio.Future[Claimed | None]", Claimed | None]]) -> None:
    for asked, claimed in handed:
        if not asked.done():
            asked.set_result(claimed)


def _answer(answers: Iterable[_Answer]) -> None:
    for done, said in answers:
        if done is None or done.done():
            continue
        if isinstance(said, LedgerProblem):
            done.set_exception(said)
            done.exception()  # nobody need ask for it
        else:
            done.set_result(said)
