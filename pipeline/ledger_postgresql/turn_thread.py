"""The thread that speaks with the shared ledger for all lanes of a worker: all that has come up meanwhile goes by one turn
(`worker_turns`).

While the server is away, what is known is kept on this machine (`worker_spill`), and goes in when it is back; a worker that was silent for
too long sends no more, and says what it knows by late words.
"""

import contextlib
import time
from collections.abc import Sequence

from pipeline.ledger.attempt_changes import Acknowledged, Again, Ended, GotAnswer
from pipeline.ledger_postgresql.known_workers import awaited, open_claims
from pipeline.ledger_postgresql.sqlstates import (
    GONE,
    ClaimsShut,
    LedgerGap,
    LedgerLacks,
    ServerAway,
    TurnOpen,
    WorkerGone,
    as_problem,
)
from pipeline.ledger_postgresql.worker_membership import Membership
from pipeline.ledger_postgresql.worker_part import Answer, Handed, Part, answer, give
from pipeline.ledger_postgresql.worker_queue import Waiting, WorkerQueue
from pipeline.ledger_postgresql.worker_turns import Standing, Turn
from pipeline.model.errors import LedgerProblem
from pipeline.model.message import NOTHING, Message, Note, joined, message, to_text
from pipeline.model.outcome import Outcome

_ALLOT_EVERY = 0.5  # seconds
_SAY_AFTER = 2.0  # seconds, in which a run got nothing to send
_SAY_AGAIN = 60.0  # seconds, while claims are shut
_LOOK_AGAIN = 0.25  # seconds, where nothing can be claimed for now
_PAUSES = (0.1, 0.2, 0.5, 1.0, 2.0)  # seconds, between tries to reach the server


class Turns:
    """What the thread does (`work`), and what it knows of how its worker stands. All of it is its own, but for what is in the queue and
    `heard`.
    """

    def __init__(self, member: Membership, queue: WorkerQueue, lease: float, note: Note) -> None:
        self._member, self._queue, self._lease, self._note = member, queue, lease, note
        self._in_flight: set[int] = set()  # claimed, and not known to have ended in the ledger
        self._must_vouch = False
        self._lost_as = ""  # how the heart found that it is this worker no more, though no turn is made
        self._shut = False  # since a start of the server
        self._asks_at = 0.0  # when to ask again whether claims are open, monotonic
        self._says_at = 0.0  # when to say again whom claims wait for, monotonic

    def heard(self, standing: Standing) -> None:
        """What the ledger says of the worker when it is heard; the heart's thread says it."""
        if standing != "on":
            with self._queue.condition:
                self._must_vouch = self._must_vouch or standing in ("vouch", "unknown")
                self._lost_as = standing if standing in ("silent", "dead") else ""
                self._queue.condition.notify()

    def work(self) -> None:
        """The thread that speaks with the ledger."""
        while True:
            with self._queue.condition:
                if not self._has_work():
                    if self._queue.closing:
                        return
                    self._queue.condition.wait(self._until())
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
            (self._queue.stops is not None and not self._queue.failed)
            or bool(self._queue.changes[self._queue.kept :] if self._queue.failed else self._queue.changes)
            or self._wanted() > 0
        )

    def _until(self) -> float:
        """Seconds until there may be something to do, though nothing comes up."""
        return _LOOK_AGAIN if self._queue.part or self._shut else 1.0

    def _wanted(self) -> int:
        """How many attempts to claim now."""
        part = self._queue.part
        if part is None or part.over or self._shut or time.monotonic() < part.looks_at:
            return 0
        return part.wanted

    def _step(self) -> None:
        if self._queue.stops and not self._queue.failed:
            run, why = self._queue.stops
            with as_problem():
                self._member.connection.execute("SELECT voucher.stop_run(%s, %s)", (run, to_text(why)))
            self._queue.stops = None
        if self._queue.failed or self._queue.gone:
            self._say_late() if self._queue.gone and not self._queue.failed else self._keep()
            return
        if self._lost_as:
            raise WorkerGone(GONE, why=self._lost_as)
        if self._must_vouch or self._shut:
            self._vouch()
        self._allot()
        self._turn()

    def _allot(self) -> None:
        part = self._queue.part
        if part and not part.over and time.monotonic() >= part.allots_at:
            part.slots = self._member.worker.allot(part.run, part.lanes, part.busy)
            if part.slots < 0:
                self._claim_no_more(NOTHING)
            self._say_that_it_waits(part)
            part.allots_at = time.monotonic() + _ALLOT_EVERY

    def _claim_no_more(self, why: Message) -> None:
        with self._queue.condition:
            self._queue.end_part(why)

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
        with self._queue.condition:
            part, group, most = self._queue.part, [*self._queue.changes], self._wanted()
        if not group and not most:
            return
        try:
            turn = self._member.worker.turn([change for change, _ in group], part.run if part else 0, most)
        except LedgerGap as problem:
            self._claim_no_more(problem.message)
            return
        except ClaimsShut:
            self._shut = True
            self._note(
                message(
                    "The ledger's server was started anew: nothing is sent until {lease} s have passed and every worker that was at work has found"
                    " what it had been told (voucher ledger vouch says whom it waits for, and what to do)",
                    lease=f"{self._lease:g}",
                )
            )
            return
        with self._queue.condition:
            self._queue.recorded(len(group))
            self._in_flight -= {change.attempt_id for change, _ in group if isinstance(change, Ended)}
            self._in_flight |= {one.attempt_id for one in turn.claimed}
            handed = self._taken(part, turn, most) if part and most else []
        self._tell(part, group, turn, handed)

    def _taken(self, part: Part, turn: Turn, most: int) -> Handed:
        """Which lane gets what a turn claimed, and when to look again."""
        handed = part.hand_out(turn.claimed)
        for one in turn.claimed[len(handed) :]:  # no lane wants it any more; others may have it
            stopped = Outcome("not_sent", "run_stopped", detail=part.why)
            self._queue.changes += [(Ended(one.attempt_id, stopped), None), (Again(one.attempt_id), None)]
        if turn.standing != "on":
            left = message("whoever issued it is gone")  # as the sweep says, which may come first
            part.end(turn.stopped or (left if turn.standing == "left" else NOTHING))
        elif turn.idle is None and not turn.claimed and not part.stays and not part.busy:
            part.end(NOTHING)
        elif len(turn.claimed) < most:
            wait = _LOOK_AGAIN if turn.idle is None else min(max(turn.idle, 0.02), 1.0)
            part.looks_at = time.monotonic() + wait
        return handed

    def _tell(self, part: Part | None, group: Sequence[Waiting], turn: Turn, handed: Handed) -> None:
        if part is None:
            return
        failing = [
            one for one in turn.done if isinstance(one, Outcome) and one.state in ("unknown", "not_sent")
        ]

        def told() -> None:
            answer(zip([done for _, done in group], turn.done, strict=True))
            give(handed)
            if failing:
                part.counted(turn.in_a_row, failing[-1])

        part.tell(told)

    def _vouch(self) -> None:
        """Say that nothing is missing since the server was started, and let claims be made when everybody has."""
        self._member.worker.vouch()
        self._must_vouch = False
        if self._shut and time.monotonic() >= self._asks_at:
            self._asks_at = time.monotonic() + min(1.0, self._lease / 10)
            if open_claims(self._member.connection):
                self._shut = False
                self._asks_at = 0.0
                self._note(message("The ledger takes claims again; sending goes on"))
            elif time.monotonic() >= self._says_at:
                self._say_whom_it_waits_for()

    def _say_whom_it_waits_for(self) -> None:
        """Name the workers that are not heard any more, for whom nobody but a person can say what claims wait for."""
        if found := awaited(self._member.connection):
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
        with self._queue.condition:
            fresh, part = self._queue.fresh(), self._queue.part
        for change, _ in fresh:
            self._queue.spill.keep(change)
        if part is None:
            return
        problem = LedgerProblem(self._queue.problem) if self._queue.failed else None
        safe: list[Answer] = [
            (done, problem) for change, done in fresh if problem or isinstance(change, GotAnswer)
        ]
        part.tell(lambda: answer(safe))

    def _came_back(self) -> bool:
        """Whether the server is there again; until then what is known is kept here. False where this worker ends first."""
        self._queue.away = True
        self._member.connection.close()
        told = False
        for tries in range(1_000_000_000):
            self._keep()
            try:
                self._member.reconnect()
                with self._queue.condition:
                    known = self._in_flight | {change.attempt_id for change, _ in self._queue.changes}
                self._member.worker.give_back(known)
            except ServerAway as problem:
                if not told and tries > 1:
                    self._note(
                        message(
                            "{why}. Outcomes are kept on this machine, and go in when the server is back",
                            why=problem.message,
                        )
                    )
                    told = True
                with self._queue.condition:
                    if self._queue.closing:
                        return False
                    if self._queue.all_kept:  # else something came up meanwhile, and is kept at once
                        self._queue.condition.wait(_PAUSES[min(tries, len(_PAUSES) - 1)])
                continue
            except LedgerProblem as problem:
                self._fails(problem.message)
                if isinstance(problem, LedgerLacks):
                    self._say_what_it_lacks()
            break
        self._queue.away = False
        with self._queue.condition:
            self._queue.kept = 0  # they are handed in again; the file is emptied when the ledger has them
        if told:
            self._note(message("The ledger's server is back"))
        return True

    def _is_gone(self, why: Message) -> None:
        """It was silent for too long, or somebody called it dead: it claims nothing more."""
        self._queue.gone = True
        self._claim_no_more(why)

    def _say_late(self) -> None:
        """What a worker that is gone knows goes by late words."""
        with self._queue.condition:
            group, part = [*self._queue.changes], self._queue.part
        done: list[Answer] = []
        for change, told in group:
            taken: Acknowledged = None
            if isinstance(change, Ended):
                taken = self._member.worker.late(change.attempt_id, change.outcome)
                self._in_flight.discard(change.attempt_id)
            done.append((told, taken))
        with self._queue.condition:
            self._queue.recorded(len(group))
        if part:
            part.tell(lambda: answer(done))

    def _say_what_it_lacks(self) -> None:
        """An older copy is in the ledger's place: have it know so, and nothing is sent by anybody. None but this worker may remember."""
        for tries in range(1_000_000_000):
            try:
                self._member.worker.vouch()
            except ServerAway:
                with self._queue.condition:
                    if self._queue.closing:
                        return
                    self._queue.condition.wait(_PAUSES[min(tries, len(_PAUSES) - 1)])
                with contextlib.suppress(ServerAway):
                    self._member.reconnect()
            except LedgerProblem:  # it knows now
                return
            else:
                return

    def _fails(self, why: Message) -> None:
        """Nothing is sent any more, and what is known is kept here: the ledger is not the one that it was, or refuses us."""
        self._queue.problem = self._queue.problem or why
        self._note(why)
        with self._queue.condition:
            self._queue.kept = 0 if not self._queue.away else self._queue.kept
            self._queue.end_part(why)
        self._keep()
