"""A copy of a ledger is whole, whatever is written meanwhile, and appears complete or not at all."""

from pathlib import Path
from typing import Any

import apsw
import pytest

from pipeline.ledger import gaps, opening
from pipeline.ledger.backup import copied
from pipeline.model.message import verbatim

from .conftest import OWNER


def test_a_copy_taken_while_a_run_is_on_holds_what_is_committed_in_one_file(
    book: Any, fare: Any, tmp_path: Path
) -> None:
    first, second = book.plan(fare(1), fare(2))
    book.state(first.attempt_id, "sending")
    book.state(first.attempt_id, "issued", "1")
    book.state(second.attempt_id, "sending")
    looking = opening.open_for_reading(book.path, OWNER)
    assert looking is not None
    book.connection.execute("BEGIN IMMEDIATE")
    book.state(second.attempt_id, "unknown")
    copied(
        looking,
        tmp_path / "copy.ledger",
        lambda copy: gaps.mark_gap(copy, "2026-11-20", verbatim("a backup")),
    )
    book.connection.execute("ROLLBACK")
    looking.close()
    assert {path.name for path in tmp_path.iterdir() if "copy" in path.name} == {"copy.ledger"}
    assert (tmp_path / "copy.ledger").stat().st_mode & 0o777 == 0o600
    # While that run is on, none is begun on the copy: where they are noted alone.
    connection, lock = opening.open_for_run(
        tmp_path / "copy.ledger", OWNER, opening.OpenOptions(kept=False), may_create=False
    )
    assert list(connection.execute("SELECT attempt_id, state, number, detail FROM attempt")) == [
        (first.attempt_id, "issued", "1", ""),
        (second.attempt_id, "sending", "", ""),
    ]
    assert gaps.open_gap(connection) == gaps.Gap("2026-11-20", verbatim("a backup"))
    assert opening.ledger_id(connection) == opening.ledger_id(book.connection)
    connection.close()
    lock.close()


def test_nothing_is_copied_over_another_file(book: Any, tmp_path: Path) -> None:
    (tmp_path / "copy.ledger").write_text("mine")
    with pytest.raises(FileExistsError):
        copied(book.connection, tmp_path / "copy.ledger")
    assert (tmp_path / "copy.ledger").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_copy_that_fails_leaves_nothing(book: Any, tmp_path: Path) -> None:
    def fail(_: apsw.Connection) -> None:
        raise apsw.FullError("the disk is full")

    with pytest.raises(apsw.FullError):
        copied(book.connection, tmp_path / "copy.ledger", fail)
    assert [path.name for path in tmp_path.iterdir() if "copy" in path.name] == []
