import os
import stat
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from pipeline.errors import InputProblem, LedgerProblem
from pipeline.ledger import opening, records, versions

OWNER = opening.Owner("https://carrier.example", "AGENCY")


def test_a_missing_ledger_is_an_error_where_one_is_expected(tmp_path: Path) -> None:
    with pytest.raises(InputProblem, match=r"there is no ledger.*--new-ledger"):
        opening.open_for_run(tmp_path / "a.ledger", OWNER, may_create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_new_ledger_is_private_and_durable(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "a.ledger"
    connection, lock = opening.open_for_run(path, OWNER, may_create=True)
    records.begin_run(connection, "issue", "0", "2026-11-20", [])
    modes = {found.name: stat.S_IMODE(found.stat().st_mode) for found in path.parent.iterdir()}
    assert modes == dict.fromkeys(("a.ledger", "a.ledger-wal", "a.ledger-shm", "a.ledger.lock"), 384)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert connection.pragma("journal_mode") == "wal"
    assert connection.pragma("synchronous") == 2  # FULL
    connection.close()
    lock.close()


def test_one_run_at_a_time(tmp_path: Path) -> None:
    connection, lock = opening.open_for_run(tmp_path / "a.ledger", OWNER, may_create=True)
    with pytest.raises(LedgerProblem, match="another run"):
        opening.open_for_run(tmp_path / "a.ledger", OWNER, may_create=True)
    link = tmp_path / "link.ledger"
    link.symlink_to(tmp_path / "a.ledger")
    with pytest.raises(LedgerProblem, match="another run"):
        opening.open_for_run(link, OWNER, may_create=True)
    connection.close()
    lock.close()
    connection, lock = opening.open_for_run(tmp_path / "a.ledger", OWNER, may_create=False)
    connection.close()
    lock.close()


def test_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path; from pipeline.ledger import opening\n"
        "kept = opening.open_for_run(Path(sys.argv[1]), opening.Owner('https://carrier.example', 'AGENCY'), may_create=True)\n"
        "print('locked', flush=True); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "a.ledger")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("locked\n", -9)
    connection, lock = opening.open_for_run(tmp_path / "a.ledger", OWNER, may_create=False)
    connection.close()
    lock.close()


@pytest.mark.parametrize(
    "other",
    [
        opening.Owner("https://carrier.example", "ANOTHER"),
        opening.Owner("https://other.example", "AGENCY"),
        opening.sandbox_owner("AGENCY"),
    ],
)
def test_a_ledger_belongs_to_one_carrier(tmp_path: Path, other: opening.Owner) -> None:
    connection, lock = opening.open_for_run(tmp_path / "a.ledger", OWNER, may_create=True)
    connection.close()
    lock.close()
    with pytest.raises(InputProblem, match=r"belongs to https://carrier\.example as agency AGENCY"):
        opening.open_for_run(tmp_path / "a.ledger", other, may_create=True)
    with pytest.raises(InputProblem, match="belongs to"):
        opening.open_for_reading(tmp_path / "a.ledger", other)
    connection, lock = opening.open_for_run(tmp_path / "a.ledger", OWNER, may_create=False)  # not left locked
    connection.close()
    lock.close()


def test_what_is_no_ledger_is_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "tickets.csv"
    text.write_text("ticket_no\n" * 200)
    database = tmp_path / "other.sqlite"
    other = apsw.Connection(str(database))
    other.execute("CREATE TABLE t (x)")
    other.close()
    for path in (text, database):
        before = path.read_bytes()
        with pytest.raises(InputProblem, match="is not a ledger"):
            opening.open_for_run(path, OWNER, may_create=True)
        assert path.read_bytes() == before


def test_a_ledger_of_another_version_is_refused(tmp_path: Path) -> None:
    connection, lock = opening.open_for_run(tmp_path / "a.ledger", OWNER, may_create=True)
    connection.pragma("user_version", versions.VERSION + 1)
    connection.close()
    lock.close()
    with pytest.raises(InputProblem, match="update the program"):
        opening.open_for_run(tmp_path / "a.ledger", OWNER, may_create=False)


def test_looking_changes_nothing_and_needs_no_lock(tmp_path: Path) -> None:
    assert opening.open_for_reading(tmp_path / "a.ledger", OWNER) is None
    assert list(tmp_path.iterdir()) == []
    connection, lock = opening.open_for_run(tmp_path / "a.ledger", OWNER, may_create=True)
    looking = opening.open_for_reading(tmp_path / "a.ledger", OWNER)
    assert looking is not None
    with pytest.raises(apsw.ReadOnlyError):
        looking.execute("UPDATE ledger SET agency = 'x'")
    for open_one in (looking, connection):
        open_one.close()
    lock.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(LedgerProblem, match="can't be opened"):
        opening.open_for_run(tmp_path / "a.ledger", OWNER, may_create=True)


def test_ledger_urls() -> None:
    assert opening.ledger_path("sqlite:///var/a.ledger") == Path("var/a.ledger")
    assert opening.ledger_path("sqlite:////var/a.ledger") == Path("/var/a.ledger")
    with pytest.raises(InputProblem, match="only a file") as refused:
        opening.ledger_path("postgresql://user:secret@host/db")
    assert "secret" not in str(refused.value)


def test_each_carrier_has_a_default_ledger_of_its_own() -> None:
    names = {opening.default_path(opening.Owner(url, agency)).name for url, agency in [
        ("https://a.example", "X"), ("https://a.example", "Y"), ("https://a.example/v2", "X"), ("sandbox", "X"),
    ]}  # fmt: skip
    assert len(names) == 4


def test_a_run_that_did_not_end_needs_its_wal_and_looking_makes_none(tmp_path: Path) -> None:
    path, wal = tmp_path / "a.ledger", tmp_path / "a.ledger-wal"
    connection, lock = opening.open_for_run(path, OWNER, may_create=True)
    opening.keep_wal(connection, keep=True)
    records.begin_run(connection, "issue", "0", "2026-11-20", [])
    connection.close()  # as where the disk was full before anything could be planned
    lock.close()
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    opening.keep_wal(connection, keep=True)
    connection.close()
    lock.close()
    wal.unlink()
    for _ in range(2):
        with pytest.raises(InputProblem, match=r"a\.ledger-wal"):
            opening.open_for_reading(path, OWNER)
        with pytest.raises(InputProblem, match=r"a\.ledger-wal"):
            opening.open_for_run(path, OWNER, may_create=False)


def test_closing_before_recovery_keeps_the_wal_of_a_run_that_did_not_end(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    connection, lock = opening.open_for_run(path, OWNER, may_create=True)
    opening.keep_wal(connection, keep=True)
    records.begin_run(connection, "issue", "0", "2026-11-20", [])
    connection.close()
    lock.close()
    for _ in range(2):  # opened and closed, as where a spill file of another ledger stops the start
        connection, lock = opening.open_for_run(path, OWNER, may_create=False)
        connection.close()
        lock.close()
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    records.end_open_runs(connection)
    opening.keep_wal(connection, keep=False)
    connection.close()
    lock.close()
    assert not (tmp_path / "a.ledger-wal").exists()
