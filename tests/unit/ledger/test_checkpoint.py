"""Whether the -wal is in the ledger's own file is told rightly, and others are waited for as long as is said."""

from contextlib import ExitStack
from types import SimpleNamespace

import apsw
import pytest

from pipeline.ledger import checkpoint, gaps
from pipeline.ledger.checkpoint import fold, folded, unfolded
from pipeline.model.errors import LedgerProblem
from pipeline.model.message import verbatim

from .conftest import Book, read_meanwhile


def wal_size(book: Book) -> int:
    size: int = book.path.with_name(book.path.name + "-wal").stat().st_size
    return size


def change(book: Book) -> None:
    gaps.mark_gap(book.connection, "2026-11-20", verbatim("restored"))


@pytest.fixture
def impatient(book: Book) -> Book:
    """SQLite itself waits for nobody."""
    book.connection.set_busy_timeout(0)
    return book


def test_a_wal_is_emptied_only_where_that_is_asked(book: Book) -> None:
    assert folded(book.connection)
    assert wal_size(book) > 0
    fold(book.connection)
    assert wal_size(book) > 0
    fold(book.connection, empty=True)
    assert wal_size(book) == 0


def test_where_there_is_no_wal_all_is_in_the_file(book: Book) -> None:
    book.connection.pragma("journal_mode", "delete")
    assert folded(book.connection, empty=True)


def test_what_a_reader_still_needs_is_not_folded(impatient: Book) -> None:
    with read_meanwhile(impatient.path):
        change(impatient)
        assert not folded(impatient.connection, patience=0)
    assert folded(impatient.connection, patience=0)


def test_a_reader_of_all_that_is_there_keeps_the_wal_from_being_emptied_alone(impatient: Book) -> None:
    change(impatient)
    with read_meanwhile(impatient.path):
        assert folded(impatient.connection, patience=0)
        assert not folded(impatient.connection, empty=True, patience=0)
    assert folded(impatient.connection, empty=True, patience=0)


def test_sqlite_waits_for_a_reader_by_itself(book: Book) -> None:
    """Else the processor would be kept busy with asking."""
    with ExitStack() as reading:
        reading.enter_context(read_meanwhile(book.path))
        change(book)

        def the_reader_ends(_asked_before: int) -> bool:
            reading.close()
            return True

        book.connection.set_busy_handler(the_reader_ends)
        assert folded(book.connection, patience=0)


@pytest.mark.parametrize(("ends", "in_time"), [(59, True), (60, False)])
def test_a_reader_is_waited_for_a_minute(
    impatient: Book, monkeypatch: pytest.MonkeyPatch, ends: int, in_time: bool
) -> None:
    """`ends`: the second in which the reader ends."""
    with ExitStack() as reading:
        reading.enter_context(read_meanwhile(impatient.path))
        change(impatient)
        seconds = iter(range(100))

        def monotonic() -> int:
            if (second := next(seconds)) == ends:
                reading.close()
            return second

        monkeypatch.setattr(checkpoint, "time", SimpleNamespace(monotonic=monotonic))
        assert folded(impatient.connection) is in_time
    assert next(seconds) <= 61


def test_nobody_is_waited_for_where_there_is_no_time(
    impatient: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    with read_meanwhile(impatient.path):
        change(impatient)
        looked = iter((5.0, 5.0))
        monkeypatch.setattr(checkpoint, "time", SimpleNamespace(monotonic=looked.__next__))
        assert not folded(impatient.connection, patience=0)


def test_who_is_in_the_way_is_told(impatient: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "PATIENCE", 0.0)
    with read_meanwhile(impatient.path):
        change(impatient)
        with pytest.raises(
            LedgerProblem, match=r"test\.ledger: another command has been reading.*let it end"
        ):
            fold(impatient.connection)


def test_nothing_is_folded_by_a_commit_meanwhile_and_then_it_is_again(book: Book) -> None:
    before = book.connection.pragma("wal_autocheckpoint")
    assert before > 0
    with unfolded(book.connection):
        assert book.connection.pragma("wal_autocheckpoint") == 0
    assert book.connection.pragma("wal_autocheckpoint") == before
    with pytest.raises(apsw.SQLError), unfolded(book.connection):
        book.connection.execute("as where the disk is full")
    assert book.connection.pragma("wal_autocheckpoint") == before
