"""Pieces that a copy of the process makes are those that the process would make, whatever becomes of the copy."""

import contextlib
import os
import signal
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.reporting.links import Cell
from pipeline.reporting.result_workbook import write_book
from pipeline.reporting.xlsx import forked_pieces, splice
from pipeline.reporting.xlsx.book import Book, Cover
from pipeline.reporting.xlsx.column_specs import Field
from pipeline.reporting.xlsx.forked_pieces import made_beside
from pipeline.reporting.xlsx.row_stream import Block
from pipeline.reporting.xlsx.styles import Style

PIECES = [bytes([at]) * (70_000 * at + 1) for at in range(5)]


def children() -> set[str]:
    """The processes that this one has begun, the ended ones that nobody waited for among them."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has gone meanwhile
            if stat.read_text().rpartition(")")[2].split()[1] == str(os.getpid()):
                found.add(stat.parent.name)
    return found


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path) -> Iterator[None]:
    handles, before = [*Path("/proc/self/fd").iterdir()], children()
    yield
    assert len([*Path("/proc/self/fd").iterdir()]) == len(handles)
    assert list(tmp_path.glob("tmp*")) == []
    assert children() <= before  # other tests' servers


def made_by() -> Iterator[bytes]:
    while True:
        yield str(os.getpid()).encode()


def taken(pieces: forked_pieces.Pieces, folder: Path) -> list[bytes]:
    with made_beside(pieces, str(folder)) as made:
        return [*made]


def test_a_copy_makes_them(tmp_path: Path) -> None:
    assert taken(lambda: iter(PIECES), tmp_path) == PIECES
    with made_beside(made_by, str(tmp_path)) as made:
        assert {int(next(made)) for _ in range(3)}.isdisjoint({os.getpid()})


@pytest.mark.parametrize("come", range(len(PIECES) + 1))
@pytest.mark.parametrize("end", ["killed", "failed", "interrupted"])
def test_what_a_copy_did_not_come_to_is_made_all_the_same(tmp_path: Path, come: int, end: str) -> None:
    us = os.getpid()

    def pieces() -> Iterator[bytes]:
        yield from PIECES[:come]
        if os.getpid() != us:
            if end == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            raise MemoryError if end == "failed" else KeyboardInterrupt
        yield from PIECES[come:]

    assert taken(pieces, tmp_path) == PIECES


def test_a_copy_that_hangs_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked_pieces, "_PATIENCE", 0)
    us = os.getpid()

    def pieces() -> Iterator[bytes]:
        if os.getpid() != us:
            signal.pause()
        yield from PIECES

    assert taken(pieces, tmp_path) == PIECES


def test_a_piece_that_is_not_whole_on_disk_is_made_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    us, write = os.getpid(), os.write
    monkeypatch.setattr(os, "write", lambda to, data: write(to, forked_pieces._LENGTH.pack(9)) if data else 0)

    def pieces() -> Iterator[bytes]:
        yield b"whole and"
        yield b"short" if os.getpid() != us else b"not short"

    assert taken(pieces, tmp_path) == [b"whole and", b"not short"]


def test_a_process_with_other_threads_is_not_copied(tmp_path: Path) -> None:
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    try:
        with made_beside(made_by, str(tmp_path)) as made:
            assert int(next(made)) == os.getpid()
    finally:
        done.set()
        other.join()


def test_where_the_system_has_no_room_for_a_copy_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room() -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", no_room)
    assert taken(lambda: iter(PIECES), tmp_path) == PIECES


def test_a_copy_ends_with_what_is_done_beside_it(tmp_path: Path) -> None:
    """An interruption comes wherever this process is: nothing of the copy is left, as is looked for after each of these."""
    with pytest.raises(KeyboardInterrupt), made_beside(made_by, str(tmp_path)):
        raise KeyboardInterrupt


def workbook(path: Path, *, fails: bool = False) -> dict[str, bytes]:
    """Two sheets, the second the longest, with links beyond those that a sheet may have; their parts by name."""
    us = os.getpid()

    def rows(start: int, stop: int) -> Block:
        if fails and os.getpid() != us and start:
            raise RuntimeError
        at = range(start, stop)
        return [
            [Cell(f"R{n}", f"internal:'Short'!A{n + 2}") for n in at],
            [f"{n % 7}\n" * (n % 3) for n in at],
        ]

    def fill(book: Book) -> None:
        fields = [Field("a", "a", Style.IDENTIFIER, 12), Field("b", "b", Style.TEXT, 12)]
        book.add_rows("Short", fields, 5, lambda start, stop: [range(start, stop), range(start, stop)])
        book.add_rows("Long", fields, 9_000, rows)

    write_book(path, Cover("", "en"), ["Short", "Long"], fill)
    with zipfile.ZipFile(path) as package:
        return {name: package.read(name) for name in package.namelist() if "sheet" in name}


@pytest.mark.parametrize("fails", [False, True])
def test_a_workbook_is_the_same_whoever_makes_its_longest_sheet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    monkeypatch.setattr("pipeline.reporting.links.MOST_LINKS", 6_000)
    here = workbook(tmp_path / "here.xlsx")
    assert here["xl/worksheets/sheet2.xml"].count(b"<hyperlink ") == 6_000
    copies: list[int] = []
    fork = os.fork

    def noted() -> int:
        copies.append(fork())
        return copies[-1]

    monkeypatch.setattr(os, "fork", noted)
    monkeypatch.setattr(splice, "_WORTH_A_PROCESS", 0)
    assert workbook(tmp_path / "beside.xlsx", fails=fails) == here
    assert len(copies) == 1
