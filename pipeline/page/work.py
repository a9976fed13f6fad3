"""Work: judging, sending, reconciling and the like, each in a process of its own that goes on when the server is killed.

The server begins it, and may stop it as Ctrl-C stops `voucher issue`; the process itself writes into the page's database how far it
is and how it ended (month_work.py). Whether a process is still there is told by a lock on a file that it was begun with and that
dies with it, so that a server which is started again finds what goes on, and what was killed.
"""

import contextlib
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import apsw
import orjson

from pipeline.file_writing import PRIVATE
from pipeline.model.exit_code import ExitCode
from pipeline.model.message import NOTHING, Message, counted, from_text, message, to_text
from pipeline.page import months
from pipeline.page.months import Overtaken
from pipeline.page.page_database import connected, transaction
from pipeline.page.serve_settings import ServeSettings
from pipeline.page.work_turn import process_of, taken_lock

Kind = Literal[
    "judge", "survey", "send", "result", "reconcile", "collect", "register", "ledger_check", "backup", "gap"
]
#: What is done for every change of a month: of those that have ended only the last of each kind is kept.
_OFTEN_DONE = ("judge", "survey")


@dataclass(frozen=True)
class Work:
    """A piece of work as it stands; `ended_at` None: it is still on. Times are seconds since 1970.

    `progress`: (requests, how many of them by state), None where it sends nothing. `notes` are what it told, `problem` why it stopped.
    `stopping`: it was told to stop.
    """

    id: int
    month: str | None
    kind: Kind
    by: str
    begun_at: float
    ended_at: float | None
    progress: tuple[int, Mapping[str, int]] | None
    notes: tuple[Message, ...]
    exit_code: int | None
    problem: Message
    files: tuple[str, ...]
    stopped_by: str
    stopping: bool

    @property
    def is_on(self) -> bool:
        """Whether it has not ended."""
        return self.ended_at is None

    def seconds_left(self, now: float) -> float | None:
        """How long the requests that are left will take at the rate so far, None where that can't be told yet."""
        if self.progress is None:
            return None
        total, states = self.progress
        done, took = sum(states.values()), now - self.begun_at
        return took * (total - done) / done if done and self.is_on else None


@dataclass(frozen=True)
class Ended:
    """How a piece of work ended: its exit code, the names of what it wrote, and why it stopped, if it did."""

    code: ExitCode
    files: tuple[str, ...] = ()
    problem: Message = NOTHING


def begin(settings: ServeSettings, kind: Kind, by: str, month: str | None = None, **asked: Any) -> Work:
    """Begin a piece of work in a process of its own. Raises Overtaken where the same is being done already, another month is being sent, or
    the server ends.
    """
    folder = settings.folder
    with transaction(folder) as connection:
        if _ENDING.is_set():
            raise Overtaken(
                "voucher serve is ending: nothing new is begun. Try again when it has been started again."
            )
        sending = "SELECT by FROM work WHERE kind = 'send' AND ended_at IS NULL AND month <> ?"
        if kind == "send" and (other := connection.execute(sending, (month,)).get):
            raise Overtaken(
                "{by} is sending another month: one is sent at a time. Wait until it has ended.", by=other
            )
        try:
            number = connection.execute(
                "INSERT INTO work (month, kind, asked, by, begun_at) VALUES (?, ?, ?, ?, ?) RETURNING id",
                (month, kind, orjson.dumps(asked).decode(), by, time.time()),
            ).get
        except apsw.ConstraintError:
            raise Overtaken("This is being done already: wait for it to end.") from None
        old = connection.execute(
            f"DELETE FROM work WHERE month = ? AND kind = ? AND kind IN {_OFTEN_DONE} AND ended_at IS NOT NULL RETURNING id",  # noqa: S608 - constants
            (month, kind),
        ).fetchall()
        lock = taken_lock(folder, number)
        try:
            pid = _start(settings, number, lock)
        finally:
            os.close(lock)
        connection.execute("UPDATE work SET pid = ? WHERE id = ?", (pid, number))
    for (before,) in old:
        (folder / "work" / f"{before}.lock").unlink(missing_ok=True)
    return find(folder, number)


def _start(settings: ServeSettings, number: int, lock: int) -> int:
    """Start the process, with the lock that tells that it is there, and give its ID; it waits for its turn to write, which is after this.

    What the server was started with it is handed, so that page and work go by the same profile, whatever becomes of its file; but
    the keys are in its environment, or in the keyring.
    """
    process = subprocess.Popen(  # noqa: S603 - our own interpreter and module, no shell
        [sys.executable, "-m", "pipeline.page.work_process", settings.folder, str(number)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
        pass_fds=(lock,),
    )
    if process.stdin:
        with contextlib.suppress(BrokenPipeError), process.stdin as handed:
            handed.write(pickle.dumps(replace(settings, secrets=None)))
    _CHILDREN[number] = process
    return process.pid


#: The processes that this one began, by their work's number, until somebody has asked how they ended.
_CHILDREN: dict[int, "subprocess.Popen[bytes]"] = {}
#: Set once the server ends.
_ENDING = threading.Event()


def results(folder: Path, number: int) -> Path:
    """The folder of what a piece of work wrote that was about no month."""
    return folder / "work" / str(number)


def find(folder: Path, number: int) -> Work:
    """A piece of work by its number. Raises KeyError where there is none."""
    for work in _select(folder, "WHERE id = ?", number):
        return work
    raise KeyError(number)


def asked_of(folder: Path, number: int) -> dict[str, Any]:
    """What a piece of work was begun with."""
    asked: dict[str, Any] = orjson.loads(
        connected(folder).execute("SELECT asked FROM work WHERE id = ?", (number,)).get
    )
    return asked


def of_month(folder: Path, month: str, *kinds: Kind) -> list[Work]:
    """What was done for a month of these kinds, the newest first."""
    return _select(
        folder,
        "WHERE month = ? AND kind IN (SELECT value FROM json_each(?)) ORDER BY id DESC",
        month,
        orjson.dumps(kinds).decode(),
    )


def newest(folder: Path, month: str, kind: Kind) -> Work | None:
    """What was done last for a month of one kind, None where there was nothing."""
    return next(
        iter(_select(folder, "WHERE month = ? AND kind = ? ORDER BY id DESC LIMIT 1", month, kind)), None
    )


def latest(folder: Path, kind: Kind | None = None, most: int = 50) -> list[Work]:
    """What was done of all months and of none, the newest first; of one kind."""
    if kind is None:
        return _select(folder, "WHERE kind != 'judge' ORDER BY id DESC LIMIT ?", most)
    return _select(folder, "WHERE kind = ? ORDER BY id DESC LIMIT ?", kind, most)


def on(folder: Path) -> list[Work]:
    """What has not ended, as far as the database knows."""
    return _select(folder, "WHERE ended_at IS NULL")


def time_left(work: Work) -> Message:
    """How long the sending will take from now on, for people; nothing where that can't be told yet."""
    seconds = work.seconds_left(time.time())
    if seconds is None:
        return NOTHING
    if seconds < _MINUTE:
        return message("less than a minute left")
    return counted("about {count} minute left", "about {count} minutes left", round(seconds / _MINUTE))


_MINUTE = 60


def _select(folder: Path, where: str, *given: Any) -> list[Work]:
    lines = connected(folder).execute(
        "SELECT id, month, kind, by, begun_at, ended_at, progress, notes, exit_code, problem, files, stopped_by, stopping"  # noqa: S608 - a text of this module
        f" FROM work {where}",
        given,
    )
    return [_work(line) for line in lines]


def _work(line: Sequence[Any]) -> Work:
    *first, progress, notes, exit_code, problem, files, stopped_by, stopping = line
    number, month, kind, by, begun_at, ended_at = first
    return Work(
        number, month, kind, by, begun_at, ended_at,
        tuple(orjson.loads(progress)) if progress else None,
        tuple(from_text(note) for note in orjson.loads(notes)),
        exit_code, from_text(problem), tuple(orjson.loads(files)), stopped_by, bool(stopping),
    )  # fmt: skip


def stop(folder: Path, number: int, by: str = "") -> bool:
    """Have it stop in good order, if that was not said before: no further request leaves, the answers under way are waited for.

    Whether it was said now. A second signal would have the answers given up.
    """
    with transaction(folder) as connection:
        first = connection.execute(
            "UPDATE work SET stopping = 1, stopped_by = ? WHERE id = ? AND ended_at IS NULL AND NOT stopping RETURNING id",
            (by, number),
        ).fetchall()
    if not first:
        return False
    if by:
        path = stopper_file(folder, number)
        path.touch(PRIVATE)
        path.write_text(by, encoding="utf-8")
    process = process_of(folder, number)
    if process is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGTERM)
    return True


def stopper_file(folder: Path, number: int) -> Path:
    """Where the name of whoever stops a piece of work is left for its run."""
    return folder / "work" / f"{number}.stopped"


def end(folder: Path, number: int, how: Ended, version: int | None = None) -> bool:
    """Note how a piece of work ended; False where it has to go on, as `version` of its month, which it was about, does not stand any more.

    A month that could not be judged has that problem; one whose sending came to no end has to be looked at anew.
    """
    with transaction(folder) as connection:
        newer = "SELECT 1 FROM month JOIN work ON month.id = work.month WHERE work.id = ? AND version > ?"
        if version is not None and connection.execute(newer, (number, version)).fetchall():
            return False
        lines: list[Any] = connection.execute(
            "UPDATE work SET ended_at = ?, exit_code = ?, problem = ?, files = ? WHERE id = ? AND ended_at IS NULL RETURNING kind, month",
            (time.time(), int(how.code), to_text(how.problem), orjson.dumps(how.files).decode(), number),
        ).fetchall()
        for kind, month in lines:
            if kind == "judge" and how.problem:
                months.could_not_be_judged(folder, month, how.problem)
            if kind == "send":
                months.sending_ended(folder, month)
    stopper_file(folder, number).unlink(missing_ok=True)
    return True


def note_ended(settings: ServeSettings) -> None:
    """Note work whose process is gone without a word as ended: it was killed. What it was sending the ledger knows, and the next run puts
    in order.
    """
    folder = settings.folder
    for number, process in [*_CHILDREN.items()]:
        if process.poll() is not None:
            _CHILDREN.pop(number, None)
    for work in on(folder):
        if work.id not in _CHILDREN and process_of(folder, work.id) is None:
            end(
                folder,
                work.id,
                Ended(ExitCode.STOPPED, problem=_KILLED_SENDING if work.kind == "send" else _KILLED),
            )
            judge_if_due(settings, work)


def forget_old(folder: Path, days: int) -> None:
    """Take out what was done that long ago and was about no month, registers, reconciliations and backups, and all files of work that is
    gone.
    """
    there = [*(folder / "work").glob("*")]
    before = time.time() - days * 24 * 60 * 60
    with transaction(folder) as connection:  # what is there by now has its line
        connection.execute("DELETE FROM work WHERE month IS NULL AND ended_at < ?", (before,))
        known = {str(number) for (number,) in connection.execute("SELECT id FROM work").fetchall()}
    for path in there:
        if path.name.partition(".")[0] in known:
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


_KILLED = message(
    "The process was ended from outside, perhaps for lack of memory. Doing the same again is safe."
)
_KILLED_SENDING = message(
    "The process was ended from outside. Doing the same again is safe: the ledger knows what was sent, and what was in flight is asked"
    " about as unknown."
)


def judge(settings: ServeSettings, month: str, by: str) -> None:
    """Have a month judged as it is now; where that is on already, it goes on until what it judged is what stands.

    `by` "": nobody asked for it.
    """
    with contextlib.suppress(Overtaken):
        begin(settings, "judge", by, month)


def judge_if_due(settings: ServeSettings, ended: Work) -> None:
    """Have a month judged whose sending has ended without a result."""
    month = months.find(settings.folder, ended.month) if ended.kind == "send" and ended.month else None
    if month and month.judged < month.version:
        judge(settings, month.id, "")


def resume(settings: ServeSettings) -> None:
    """What a server that starts does about work: note what was killed, and have judged what was not judged to its end."""
    note_ended(settings)
    for month in months.all_months(settings.folder):
        last = newest(settings.folder, month.id, "judge")
        interrupted = month.problem and last and last.exit_code == ExitCode.STOPPED
        if month.judged < month.version or interrupted:
            judge(settings, month.id, month.made_by)


def stop_all(settings: ServeSettings) -> None:
    """Stop in good order whatever is on, and wait for it: what a server that is told to end does before it ends. Nothing is begun any more."""
    _ENDING.set()
    while remaining := [
        one for one in on(settings.folder) if process_of(settings.folder, one.id) is not None
    ]:
        for one in remaining:
            stop(settings.folder, one.id)
        note_ended(settings)
        time.sleep(_WAIT)


_WAIT = 0.1  # seconds
