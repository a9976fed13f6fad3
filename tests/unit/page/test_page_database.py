"""The page's own database."""

import os
import threading
from pathlib import Path

import apsw
import pytest

from pipeline.page import page_database
from pipeline.page.page_database import connected, transaction

_TRY = "INSERT INTO login_try (name, address, at) VALUES (x'00', 'a', 1)"


def test_a_thread_has_a_connection_of_its_own(tmp_path: Path) -> None:
    found = []
    thread = threading.Thread(target=lambda: found.append(connected(tmp_path)))
    thread.start()
    thread.join()
    assert connected(tmp_path) is connected(tmp_path)
    assert found[0] is not connected(tmp_path)


def test_a_transaction_is_all_or_nothing(tmp_path: Path) -> None:
    def half() -> None:
        with transaction(tmp_path) as connection:
            connection.execute(_TRY)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert connected(tmp_path).execute("SELECT count(*) FROM login_try").get == 0
    with transaction(tmp_path) as connection:
        connection.execute(_TRY)
    assert connected(tmp_path).execute("SELECT count(*) FROM login_try").get == 1


def test_who_writes_keeps_others_from_it_until_the_end(tmp_path: Path) -> None:
    with transaction(tmp_path):
        other = apsw.Connection(str(tmp_path / page_database.NAME))
        with pytest.raises(apsw.BusyError):
            other.execute("BEGIN IMMEDIATE")


def test_what_was_written_is_there_for_the_next_process(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        try:
            with transaction(tmp_path) as connection:
                connection.execute(_TRY)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert connected(tmp_path).execute("SELECT count(*) FROM login_try").get == 1


def test_an_older_file_takes_the_steps_that_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "old"
    connected(folder).execute(_TRY)
    connected(folder).close()
    page_database._open.connections.clear()
    later = (*page_database.STEPS, "CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT")
    monkeypatch.setattr(page_database, "STEPS", later)
    assert connected(folder).execute("SELECT count(*) FROM login_try").get == 1
    assert connected(folder).execute("SELECT count(*) FROM later").get == 0
    assert connected(folder).pragma("user_version") == len(later)
