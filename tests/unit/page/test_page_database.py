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


def test_a_full_disk_is_what_a_transaction_fails_by(tmp_path: Path) -> None:
    def much() -> None:
        with transaction(tmp_path) as connection:
            for _ in range(1000):
                connection.execute(_TRY)

    connection = connected(tmp_path)
    # SQLite takes it as it takes a full disk, and rolls back by itself.
    connection.pragma("max_page_count", connection.pragma("page_count"))
    with pytest.raises(apsw.FullError):
        much()
    assert connection.execute("SELECT count(*) FROM login_try").get == 0


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


def test_uploads_and_work_of_before_itinerary_files_stay_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "old"
    with monkeypatch.context() as before:
        before.setattr(page_database, "STEPS", page_database.STEPS[:1])
        old = connected(folder)
        old.execute("INSERT INTO month (id, title, made_at, made_by) VALUES ('m', 'May', 1, 'anna')")
        old.execute("INSERT INTO upload VALUES ('m', 1, 'may.xlsx', 'workbook', 9, 1, 'anna', 'en')")
        for number in (1, 2, 3):
            old.execute(
                "INSERT INTO work (id, month, kind, asked, by, begun_at) VALUES (?, 'm', 'reconcile', '{}', 'anna', 1)",
                (number,),
            )
        old.execute("DELETE FROM work WHERE id = 3")
        queries = ("SELECT * FROM upload", "SELECT * FROM work ORDER BY id")
        kept = [[*old.execute(query)] for query in queries]
        old.close()
        page_database._open.connections.clear()
    new = connected(folder)
    assert [[*new.execute(query)] for query in queries] == kept
    new.execute("UPDATE upload SET kind = 'itineraries'")
    # A number is given once, and several collections may wait for the ledger.
    begin = (
        "INSERT INTO work (month, kind, asked, by, begun_at) VALUES (NULL, ?, '{}', 'anna', 1) RETURNING id"
    )
    assert [new.execute(begin, ("collect",)).get for _ in range(2)] == [4, 5]
    new.execute(begin, ("backup",))
    with pytest.raises(apsw.ConstraintError):
        new.execute(begin, ("backup",))
    new.execute("DELETE FROM month")
    assert new.execute("SELECT count(*) FROM upload").get == 0
    assert new.execute("SELECT count(month) FROM work").get == 0
