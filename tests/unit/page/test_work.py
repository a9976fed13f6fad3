"""Work of the page's: how it ends, whose turn it is, what is kept of it and what is taken out."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import apsw
import pytest

from pipeline import signals
from pipeline.model.exit_code import ExitCode
from pipeline.model.message import message
from pipeline.model.profile import Profile
from pipeline.page import month_uploads, month_work, months, work
from pipeline.page.month_uploads import Upload
from pipeline.page.months import Overtaken
from pipeline.page.page_database import connected, transaction
from pipeline.page.serve_settings import ServeSettings
from pipeline.page.work import Ended
from pipeline.page.work_turn import process_of, taken_lock, wait_for_turn

_DAY = 24 * 60 * 60
NO_LEDGER = message("the ledger is locked")


def _begun(folder: Path, kind: str, month: str | None = None, days_ago: float | None = None) -> int:
    """A piece of work that ended so long ago, None: it is on."""
    now = time.time()
    with transaction(folder) as connection:
        return int(
            connection.execute(
                "INSERT INTO work (month, kind, asked, by, begun_at, ended_at) VALUES (?, ?, '{}', 'anna', ?, ?) RETURNING id",
                (month, kind, now, None if days_ago is None else now - days_ago * _DAY),
            ).get
        )


def _written(folder: Path, number: int) -> Path:
    written = work.results(folder, number)
    written.mkdir(parents=True)
    (written / "register.xlsx").touch()
    return written


@pytest.fixture
def settings(tmp_path: Path) -> ServeSettings:
    ledger = tmp_path / "page.ledger"
    return ServeSettings(Profile(), None, str(ledger), tmp_path, sandbox=True)


@pytest.fixture
def month(tmp_path: Path) -> str:
    begun = months.begin(tmp_path, "peter", "November")
    month_uploads.add_upload(tmp_path, begun, Upload(1, "tickets.xlsx", "workbook", 1, 0.0, "peter"))
    return begun


def _standing(folder: Path, month: str) -> months.Month:
    found = months.find(folder, month)
    assert found
    return found


# --- what is kept ----------------------------------------------------------------------------------


def test_what_was_done_long_ago_is_taken_out_with_its_files(tmp_path: Path) -> None:
    old, recent = _begun(tmp_path, "register", days_ago=401), _begun(tmp_path, "backup", days_ago=399)
    on = _begun(tmp_path, "reconcile")
    written = [_written(tmp_path, number) for number in (old, recent, on)]
    work.forget_old(tmp_path, 400)
    assert sorted(one.id for one in work.latest(tmp_path)) == [recent, on]
    assert [path.exists() for path in written] == [False, True, True]


def test_files_of_work_and_months_that_are_gone_are_taken_out(tmp_path: Path, month: str) -> None:
    known = _begun(tmp_path, "send", month, days_ago=1)
    for number in (known, 97):
        os.close(taken_lock(tmp_path, number))
        work.stopper_file(tmp_path, number).touch()
    _written(tmp_path, 98)
    gone, kept = months.folder_of(tmp_path, "0123456789abcdef"), months.folder_of(tmp_path, month)
    work.forget_old(tmp_path, 400)
    months.forget_old(tmp_path, 400)
    assert {path.name for path in (tmp_path / "work").iterdir()} == {f"{known}.lock", f"{known}.stopped"}
    assert (gone.exists(), kept.exists()) == (False, True)


@pytest.mark.slow
def test_of_judgings_that_have_ended_only_the_last_is_kept(settings: ServeSettings, month: str) -> None:
    folder = settings.folder
    old = [_begun(folder, "judge", month, days_ago=1) for _ in range(3)]
    for number in old:
        os.close(taken_lock(folder, number))
    sending = _begun(folder, "send", month, days_ago=1)
    begun = work.begin(settings, "judge", "anna", month)
    assert [one.id for one in work.of_month(folder, month, "judge", "send")] == [begun.id, sending]
    assert {path.name for path in (folder / "work").glob("*.lock")} == {f"{begun.id}.lock"}
    _until_ended(settings, begun.id)


def _until_ended(settings: ServeSettings, number: int) -> work.Work:
    deadline = time.monotonic() + 60
    while (found := work.find(settings.folder, number)).is_on:
        assert time.monotonic() < deadline
        work.note_ended(settings)
        time.sleep(0.05)
    return found


# --- how it ends -----------------------------------------------------------------------------------


def test_a_judging_goes_on_until_what_it_judged_stands(tmp_path: Path, month: str) -> None:
    number = _begun(tmp_path, "judge", month)
    version = _standing(tmp_path, month).version
    months.judge_again(tmp_path, month)
    assert not work.end(tmp_path, number, Ended(ExitCode.DONE), version)
    assert work.find(tmp_path, number).is_on
    assert work.end(tmp_path, number, Ended(ExitCode.DONE), version + 1)
    assert not work.find(tmp_path, number).is_on


def test_a_judging_that_failed_is_the_months_problem(tmp_path: Path, month: str) -> None:
    connected(tmp_path).execute("UPDATE month SET plan = '{}'")
    number = _begun(tmp_path, "judge", month)
    assert work.end(tmp_path, number, Ended(ExitCode.STOPPED, problem=NO_LEDGER), 1)
    standing = _standing(tmp_path, month)
    assert (standing.problem, standing.judged, standing.plan, standing.state) == (
        NO_LEDGER,
        1,
        None,
        "reading",
    )
    months.judge_again(tmp_path, month)
    assert _standing(tmp_path, month).judged < _standing(tmp_path, month).version


@pytest.mark.slow
def test_a_killed_judging_is_the_months_problem_and_the_next_server_judges_anew(
    settings: ServeSettings, month: str
) -> None:
    killed = _begun(settings.folder, "judge", month)
    work.note_ended(settings)
    assert "ended from outside" in str(_standing(settings.folder, month).problem)
    work.resume(settings)
    begun = work.newest(settings.folder, month, "judge")
    assert begun
    assert begun.id != killed
    assert _until_ended(settings, begun.id).exit_code == ExitCode.WRONG_USAGE  # its workbook is not there
    work.resume(settings)  # what a server's start does not mend is not tried again
    again = work.newest(settings.folder, month, "judge")
    assert again
    assert again.id == begun.id


@pytest.mark.slow
@pytest.mark.parametrize("result", [True, False])
def test_a_sending_without_a_result_has_the_plan_looked_at_anew(
    settings: ServeSettings, month: str, *, result: bool
) -> None:
    folder = settings.folder
    number = _begun(folder, "send", month)
    connected(folder).execute("UPDATE month SET judged = version, ended = ?", ("sent" if result else "",))
    work.note_ended(settings)
    assert "the ledger knows what was sent" in str(work.find(folder, number).problem)
    judging = work.newest(folder, month, "judge")
    assert (_standing(folder, month).version, judging is None) == ((1, True) if result else (2, False))
    if judging:
        _until_ended(settings, judging.id)


# --- stopping --------------------------------------------------------------------------------------

_COUNTING = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: print("told", flush=True))
print("ready", flush=True)
deadline = time.monotonic() + 60
while time.monotonic() < deadline:
    time.sleep(0.01)
"""


@contextmanager
def _process(folder: Path, number: int) -> Iterator["subprocess.Popen[str]"]:
    """A process that holds the work's lock, and says whenever it is told to stop."""
    lock = taken_lock(folder, number)
    with subprocess.Popen(
        [sys.executable, "-c", _COUNTING], stdout=subprocess.PIPE, text=True, pass_fds=(lock,)
    ) as process:
        os.close(lock)
        try:
            assert process.stdout
            assert process.stdout.readline() == "ready\n"
            connected(folder).execute("UPDATE work SET pid = ? WHERE id = ?", (process.pid, number))
            yield process
        finally:
            process.kill()


def test_whatever_is_to_stop_is_told_once(tmp_path: Path, month: str) -> None:
    number = _begun(tmp_path, "send", month)
    with _process(tmp_path, number) as process:
        assert work.stop(tmp_path, number, "anna")
        assert process.stdout
        assert process.stdout.readline() == "told\n"
        assert not work.stop(tmp_path, number, "amy")
        assert not work.stop(tmp_path, number)  # a server that ends
        time.sleep(0.3)
        process.kill()
        assert process.stdout.read() == ""
    assert work.find(tmp_path, number).stopped_by == "anna"
    assert work.stopper_file(tmp_path, number).read_text() == "anna"


def test_what_is_gone_already_is_stopped_without_a_word(tmp_path: Path) -> None:
    number = _begun(tmp_path, "send")
    with _process(tmp_path, number) as process:
        gone = subprocess.Popen(["true"])
        gone.wait()
        connected(tmp_path).execute("UPDATE work SET pid = ?", (gone.pid,))
        assert work.stop(tmp_path, number, "anna")
        assert process.poll() is None


# --- whose turn it is ------------------------------------------------------------------------------


@contextmanager
def _cores_taken(folder: Path) -> Iterator[None]:
    """As many registers going on as there are cores; afterwards their processes are gone, though nobody has noted so."""
    with ExitStack() as stack:
        for _ in range(len(os.sched_getaffinity(0))):
            number = _begun(folder, "register")
            connected(folder).execute("UPDATE work SET pid = ? WHERE id = ?", (os.getpid(), number))
            stack.callback(os.close, taken_lock(folder, number))
        yield


def _turn(folder: Path, kind: str, month: str | None = None) -> threading.Thread:
    """A thread that lasts until its turn has come."""
    number = _begun(folder, kind, month)
    thread = threading.Thread(target=wait_for_turn, args=(folder, number), daemon=True)
    thread.start()
    return thread


@pytest.mark.slow
def test_what_only_reads_waits_for_its_turn_and_what_sends_does_not(tmp_path: Path, month: str) -> None:
    with _cores_taken(tmp_path):
        reading = [_turn(tmp_path, kind, month) for kind in ("judge", "survey", "result")]
        for kind in ("send", "reconcile", "backup"):
            other = _turn(tmp_path, kind)
            other.join(30)
            assert not other.is_alive(), kind
        time.sleep(0.5)
        assert all(one.is_alive() for one in reading)
    for one in reading:
        one.join(30)
        assert not one.is_alive()


def test_one_month_is_sent_at_a_time_whoever_asks_at_the_same_moment(
    settings: ServeSettings, month: str
) -> None:
    other = months.begin(settings.folder, "peter", "December")
    sending = _begun(settings.folder, "send", month)
    with pytest.raises(Overtaken, match="anna is sending another month: one is sent at a time"):
        work.begin(settings, "send", "bob", other)
    with pytest.raises(Overtaken, match="being done already"):
        work.begin(settings, "send", "bob", month)
    assert [one.id for one in work.on(settings.folder)] == [sending]


@pytest.mark.slow
def test_a_waiting_judging_is_stopped_and_says_so(settings: ServeSettings, month: str) -> None:
    folder = settings.folder
    with _cores_taken(folder):
        begun = work.begin(settings, "judge", "anna", month)
        time.sleep(1)
        process = process_of(folder, begun.id)
        assert process
        os.kill(process, signal.SIGTERM)
        ended = _until_ended(settings, begun.id)
    assert "The reading was stopped before its end" in str(ended.problem)
    assert _standing(folder, month).problem == ended.problem


def test_work_that_finds_the_disk_full_says_so(
    settings: ServeSettings, month: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judge(_: object) -> Ended:
        raise apsw.FullError("database or disk is full")

    number = _begun(settings.folder, "judge", month)
    monkeypatch.setitem(month_work._KINDS, "judge", judge)
    monkeypatch.setattr(signals, "let_finish", lambda: None)
    month_work.do(pickle.dumps(settings), number)
    ended = work.find(settings.folder, number)
    assert ended.exit_code == ExitCode.STOPPED
    assert "no room on the server's disk" in str(ended.problem)
    assert "number" not in str(ended.problem)
