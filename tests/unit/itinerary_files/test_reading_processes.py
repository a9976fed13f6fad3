"""Files read by bounded processes: in order, as they come, and what becomes of a process that goes beyond its bounds."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipeline.itinerary_files import reading_processes
from pipeline.itinerary_files.reading_processes import read_itinerary_files
from pipeline.model.itinerary_file import FileStatus, FoundFile, SealStatus
from pipeline.model.message import message
from tests.unit.itinerary_files.ofd_files import ROOT, Voucher, itinerary


def found(content: bytes, name: str = "x.ofd") -> FoundFile:
    return FoundFile((name,), content)


@pytest.mark.slow
def test_files_come_back_in_their_order_with_what_was_read() -> None:
    totals = [f"{100 + at}.00" for at in range(9)]
    files = [found(itinerary(Voucher().said(TotalAmount=total), seal=False), total) for total in totals]
    files.insert(4, FoundFile(("mail", "link"), problem=FileStatus.LINK_ONLY, reason=message("a link")))
    read = [*read_itinerary_files(files)]
    assert [one for one, _ in read] == files
    assert [file.data and file.data.total for _, file in read] == [
        *(10000 + 100 * at for at in range(4)), None, *(10000 + 100 * at for at in range(4, 9)),
    ]  # fmt: skip
    assert (read[4][1].problem, read[4][1].reasons) == (FileStatus.LINK_ONLY, (message("a link"),))


@pytest.mark.slow
def test_roots_reach_the_reader() -> None:
    package = found(itinerary())
    assert [file.seal for _, file in read_itinerary_files([package], (ROOT.certificate,))] == [
        SealStatus.VALID
    ]
    assert [file.seal for _, file in read_itinerary_files([package])] == [SealStatus.INTACT]


def test_they_are_read_as_they_come() -> None:
    asked = 0

    def more() -> Iterator[FoundFile]:
        nonlocal asked
        while True:
            asked += 1
            yield found(b"", f"{asked}")

    reading = read_itinerary_files(more())
    assert next(reading)[0].place == ("1",)
    assert asked <= 1 + reading_processes.PROCESSES
    assert next(reading)[0].place == ("2",)
    reading.close()


def test_many_with_problems_do_not_pile_up() -> None:
    asked = 0

    def more() -> Iterator[FoundFile]:
        nonlocal asked
        while asked < 1_000:
            asked += 1
            yield FoundFile(("x",), problem=FileStatus.UNREADABLE)

    assert next(read_itinerary_files(more()))[1].problem is FileStatus.UNREADABLE
    assert asked < 100


def test_nothing_to_read_starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_processes, "started", None)
    assert [*read_itinerary_files([])] == []


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The processes that are started."""
    real, pids = reading_processes.started, list[int]()

    def started(*given: Path, stdin: int) -> object:
        process = real(*given, stdin=stdin)
        pids.append(process.pid)
        return process

    monkeypatch.setattr(reading_processes, "started", started)
    return pids


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_its_processes_end_with_it(children: list[int]) -> None:
    reading = read_itinerary_files(found(b"") for _ in range(10))
    next(reading)
    assert all(map(_alive, children))
    reading.close()
    assert children
    assert not any(map(_alive, children))


@pytest.mark.slow
def test_one_process_reads_file_after_file(children: list[int]) -> None:
    assert len([*read_itinerary_files(found(b"x") for _ in range(50))]) == 50
    assert len(children) <= reading_processes.PROCESSES


Child = Callable[[str], None]


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Child:
    """In place of what reads, a script; where a file is b"bad" it does something else first."""

    def written(bad: str) -> None:
        script = tmp_path / "child.py"
        script.write_text(
            f"""
import os, signal, sys, time
from pipeline.itinerary_files import reader_child
real = reader_child.read_itinerary
def read(content, roots):
    if content == b"bad":
        {bad}
    return real(content, roots)
reader_child.read_itinerary = read
reader_child.main()
"""
        )
        monkeypatch.setattr(reading_processes, "CHILD", script)

    return written


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("while True: pass", "it took longer than 10 seconds"),
        ("time.sleep(100)", "it took longer than 2 seconds"),
        ("bytearray(10**10)", "it takes more memory than such a file may"),
        ("x = []\n        while True: x.append(bytearray(1 << 20))", "it takes more memory than such a file may"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "it takes more memory than such a file may"),
        ("os._exit(7)", "the reader ended with 7"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", f"the reader ended with {-signal.SIGSEGV}"),
        ("raise ZeroDivisionError", "the reader ended with 1"),
        ("return {'problem': 'received'}", "the reader's answer does not fit together"),
        ("return {'problem': 'unreadable', 'reasons': [['it is {x.__class__}', {}]]}", "the reader's answer does not fit together"),
        ("os.write(1, b'\\xff' * 2**22); time.sleep(100)", "the reader's answer does not fit together"),
    ],
)  # fmt: skip
def test_a_file_that_ends_its_process_is_one_finding(
    child: Child, children: list[int], monkeypatch: pytest.MonkeyPatch, bad: str, words: str
) -> None:
    if bad.startswith("while"):
        bad = f"signal.setitimer(signal.ITIMER_PROF, 0.1)\n        {bad}"
    if bad.startswith("time.sleep"):
        monkeypatch.setattr(reading_processes, "TIME_SECONDS", 2)
    child(bad)
    monkeypatch.setattr(reading_processes, "PROCESSES", 1)
    good = found(itinerary(seal=False))
    files = [file for _, file in read_itinerary_files([good, found(b"bad"), good])]
    assert [file.problem for file in files] == [None, FileStatus.UNREADABLE, None]
    assert [str(reason) for reason in files[1].reasons] == [words]
    assert len(children) == 2
    assert not any(map(_alive, children))


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_a_process_has_its_bounds_and_no_keys(children: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOUCHER_API_KEY", "canary")
    reading = read_itinerary_files([found(b""), found(b"")])
    next(reading)
    limits = Path(f"/proc/{children[0]}/limits").read_text()
    environment = Path(f"/proc/{children[0]}/environ").read_bytes()
    assert "335544320" in next(line for line in limits.splitlines() if line.startswith("Max data size"))
    assert "1073741824" in next(line for line in limits.splitlines() if line.startswith("Max address space"))
    assert b"canary" not in environment
    reading.close()


def test_an_interruption_while_one_is_started_leaves_none_behind(
    children: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = reading_processes.started

    def interrupted(*given: Path, stdin: int) -> object:
        os.kill(os.getpid(), signal.SIGINT)
        return real(*given, stdin=stdin)

    monkeypatch.setattr(reading_processes, "started", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            next(read_itinerary_files([found(b"")]))
    finally:
        signal.signal(signal.SIGINT, before)
    assert children
    assert not any(map(_alive, children))
