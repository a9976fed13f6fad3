"""A file that is dealt with is known by its content, and by what was last done with it."""

from dataclasses import replace
from typing import Any

from pipeline.ledger import inbox_files
from pipeline.ledger.inbox_files import Handled

TICKETS = Handled("ab12", "tickets", "october.xlsx", "october.result.xlsx", "f1", unfinished=True)


def test_what_was_last_done_with_a_content_is_told(book: Any) -> None:
    assert inbox_files.last(book.connection, "ab12", "tickets") is None
    inbox_files.record(book.connection, book.run, TICKETS)
    assert inbox_files.last(book.connection, "ab12", "tickets") == TICKETS
    later = replace(TICKETS, name="renamed.xlsx", result="", fates="f2", unfinished=False)
    inbox_files.record(book.connection, book.run, later)
    assert inbox_files.last(book.connection, "ab12", "tickets") == later
    ((run, at),) = set(book.connection.execute("SELECT run, handled_at > '2026' FROM handled"))
    assert (run, at) == (book.run, 1)


def test_another_content_or_another_kind_is_another_file(book: Any) -> None:
    inbox_files.record(book.connection, book.run, TICKETS)
    assert inbox_files.last(book.connection, "ab1", "tickets") is None
    assert inbox_files.last(book.connection, "ab12", "statement") is None
    statement = Handled("ab12", "statement", "october.csv", "", "", unfinished=False)
    inbox_files.record(book.connection, book.run, statement)
    assert inbox_files.last(book.connection, "ab12", "statement") == statement
    assert inbox_files.last(book.connection, "ab12", "tickets") == TICKETS
