"""Work: judging, sending, reconciling and the like, each in a process of its own that goes on when the server is killed.

The server begins it, and may stop it as Ctrl-C stops `voucher issue`; the process itself writes into the page's database how far it
is and how it ended (month_work.py). Whether a process is still there is told by a lock on a file that it was begun with and that
dies with it, so that a server which is started again finds what goes on, and what was killed.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import apsw
import orjson

from pipeline.file_writing import PRIVATE, private_folder
from pipeline.model.exit_code import ExitCode
from pipeline.model.message import NOTHING, Message, counted, from_text, message, to_text
from pipeline.page.months import Overtaken, all_months
from pipeline.page.page_database import connected, transaction
from pipeline.page.serve_settings import ServeSettings

Kind = Literal["judge", "survey", "send", "reconcile", "register", "ledger_check", "backup", "gap"]


@dataclass(frozen=True)
class Work:
    """A piece of work as it stands; `ended_at` None: it is still on. Times are seconds since 1970.

    `progress`: (requests, how many of them by state), None where it sends nothing. `notes` are what it told, `problem` why it stopped.
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


def begin(settings: ServeSettings, kind: Kind, by: str, month: str | None = None, **asked: Any) -> Work:
    """Begin a piece of work in a process of its own. Raises Overtaken where the same is being done already."""
    with transaction(settings.folder) as connection:
        try:
            number = connection.execute(
                "INSERT INTO work (month, kind, asked, by, begun_at) VALUES (?, ?, ?, ?, ?) RETURNING id",
                (month, kind, orjson.dumps(asked).decode(), by, time.time()),
            ).get
        except apsw.ConstraintError:
            raise Overtaken("This is being done already: wait for it to end.") from None
        lock = _lock(settings.folder, number)
        try:
            pid = _start(settings, number, lock)
        finally:
            os.close(lock)
        connection.execute("UPDATE work SET pid = ? WHERE id = ?", (pid, number))
    return find(settings.folder, number)


def _start(settings: ServeSettings, number: int, lock: int) -> int:
    """Start the process, with the lock that tells that it is there, and give its ID; it waits for its turn to write, which is after this."""
    process = subprocess.Popen(  # noqa: S603 - our own interpreter and module, no shell
        [sys.executable, "-m", "pipeline.page.month_work", *_arguments(settings), str(number)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
        pass_fds=(lock,),
    )
    _CHILDREN[number] = process
    return process.pid


#: The processes that this server began, by their work's number, until somebody has asked how they ended.
_CHILDREN: dict[int, "subprocess.Popen[bytes]"] = {}


def _arguments(settings: ServeSettings) -> list[str]:
    """What a process is told of how the server was started; the keys are in its environment, or in the keyring."""
    said = {
        "--folder": settings.folder,
        "--ledger": settings.ledger,
        "--profile": settings.profile_path,
        "--as-of": settings.as_of,
    }
    given = [f"{name}={value}" for name, value in said.items() if value is not None]
    return [
        *given,
        *(["--sandbox"] if settings.sandbox else []),
        *(["--new-ledger"] if settings.new_ledger else []),
    ]


def _lock(folder: Path, number: int) -> int:
    """The file descriptor of the work's lock, taken. Raises BlockingIOError while its process lives."""
    private_folder(folder / "work")
    file = os.open(folder / "work" / f"{number}.lock", os.O_RDWR | os.O_CREAT, PRIVATE)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        raise
    return file


def results(folder: Path, number: int) -> Path:
    """The folder of what a piece of work wrote that was about no month."""
    return folder / "work" / str(number)


def find(folder: Path, number: int) -> Work:
    """A piece of work by its number. Raises KeyError where there is none."""
    for work in _select(folder, "WHERE id = ?", number):
        return work
    raise KeyError(number)


def of_month(folder: Path, month: str) -> list[Work]:
    """What was done for a month, the newest first."""
    return _select(folder, "WHERE month = ? ORDER BY id DESC", month)


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
        "SELECT id, month, kind, by, begun_at, ended_at, progress, notes, exit_code, problem, files, stopped_by"  # noqa: S608 - a text of this module
        f" FROM work {where}",
        given,
    )
    return [_work(line) for line in lines]


def _work(line: Sequence[Any]) -> Work:
    *first, progress, notes, exit_code, problem, files, stopped_by = line
    number, month, kind, by, begun_at, ended_at = first
    return Work(
        number, month, kind, by, begun_at, ended_at,
        tuple(orjson.loads(progress)) if progress else None,
        tuple(from_text(note) for note in orjson.loads(notes)),
        exit_code, from_text(problem), tuple(orjson.loads(files)), stopped_by,
    )  # fmt: skip


def stop(folder: Path, work: Work, by: str) -> None:
    """Have it stop in good order: no further request leaves, the answers under way are waited for."""
    with transaction(folder) as connection:
        connection.execute("UPDATE work SET stopped_by = ? WHERE id = ? AND ended_at IS NULL", (by, work.id))
    path = stopper_file(folder, work.id)
    path.touch(PRIVATE)
    path.write_text(by, encoding="utf-8")
    process = process_of(folder, work.id)
    if process is not None:
        os.kill(process, signal.SIGTERM)


def stopper_file(folder: Path, number: int) -> Path:
    """Where the name of whoever stops a piece of work is left for its run."""
    return folder / "work" / f"{number}.stopped"


def process_of(folder: Path, number: int) -> int | None:
    """The ID of the process that does a piece of work, None where it is gone."""
    try:
        os.close(_lock(folder, number))
    except BlockingIOError:
        return int(connected(folder).execute("SELECT pid FROM work WHERE id = ?", (number,)).get)
    return None


def note_ended(folder: Path) -> list[Work]:
    """Work whose process is gone without a word, noted as ended: it was killed. What it was sending the ledger knows, and the next run puts in order."""
    for number, process in [*_CHILDREN.items()]:
        if process.poll() is not None:
            del _CHILDREN[number]
    gone = [work for work in on(folder) if work.id not in _CHILDREN and process_of(folder, work.id) is None]
    for work in gone:
        with transaction(folder) as connection:
            connection.execute(
                "UPDATE work SET ended_at = ?, exit_code = ?, problem = ? WHERE id = ? AND ended_at IS NULL",
                (time.time(), ExitCode.STOPPED, to_text(KILLED), work.id),
            )
    return gone


def forget_old(folder: Path, days: int) -> None:
    """Take out what was done that long ago and was about no month: registers, reconciliations and backups, with what they wrote."""
    before = time.time() - days * 24 * 60 * 60
    with transaction(folder) as connection:
        old: list[Any] = connection.execute(
            "DELETE FROM work WHERE month IS NULL AND ended_at < ? RETURNING id", (before,)
        ).fetchall()
    for (number,) in old:
        shutil.rmtree(results(folder, number), ignore_errors=True)
        (folder / "work" / f"{number}.lock").unlink(missing_ok=True)


KILLED = message(
    "The process was ended from outside. Doing the same again is safe: the ledger knows what was sent, and what was in flight is asked"
    " about as unknown."
)


def judge(settings: ServeSettings, month: str, by: str) -> None:
    """Have a month judged as it is now; where that is on already, it goes on until what it judged is what stands."""
    with contextlib.suppress(Overtaken):
        begin(settings, "judge", by, month)


def resume(settings: ServeSettings) -> None:
    """What a server that starts does about work: note what was killed, and have judged what was not judged to its end."""
    note_ended(settings.folder)
    for month in all_months(settings.folder):
        if month.judged < month.version and month.version:
            judge(settings, month.id, month.made_by)


def stop_all(folder: Path) -> None:
    """Stop in good order what sends or settles, and wait for it: what a server that is told to end does before it ends."""
    for one in on(folder):
        process = process_of(folder, one.id)
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
    while any(process_of(folder, one.id) is not None for one in on(folder)):
        note_ended(folder)
        time.sleep(_WAIT)


_WAIT = 0.1  # seconds
