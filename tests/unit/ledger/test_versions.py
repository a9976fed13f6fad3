"""A ledger of an older program is upgraded after a copy, one of a newer is refused, a changed one too."""

import contextlib
import shutil
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from pipeline.errors import LedgerProblem
from pipeline.ledger import opening, records, versions
from pipeline.ledger.lock import Lock, Phase, noted_run

OWNER = opening.Owner("http://127.0.0.1:18080", "AGENCY")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A ledger that the program of version 1 wrote: 10 charges issued, refused and in doubt."""
    return shutil.copy(Path(__file__).with_name("version-1.ledger"), tmp_path / "old.ledger")


def contents(path: Path) -> dict[str, list[tuple[object, ...]]]:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    found = {table: list(connection.execute(f"SELECT * FROM {table}")) for table in tables}
    connection.close()
    return found


def test_an_older_ledger_is_upgraded_with_all_that_it_holds(old: Path) -> None:
    before, notes = contents(old), list[str]()
    connection, lock = opening.open_for_run(old, OWNER, may_create=False, note=notes.append)
    assert connection.pragma("user_version") == versions.VERSION
    assert versions.differences(connection, versions.VERSION) == []
    connection.close()
    lock.close()
    after = contents(old)
    assert {table: after[table] for table in before} == before
    assert {row[4] for row in after["attempt"]} == {"issued", "rejected", "unknown", "not_sent"}
    assert {table: rows for table, rows in after.items() if table not in before} == {
        "carrier_move": [],
        "gap": [],
    }
    assert notes == [
        f"The ledger was upgraded from version 1 to {versions.VERSION}; as it was before: {old}.version-1"
    ]


def test_while_it_is_upgraded_the_lock_file_says_that_the_file_may_be_half_written(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with contextlib.closing(apsw.Connection(str(old))) as connection:
        last = records.last_run(connection, Phase.AT_REST)
    with contextlib.closing(Lock(old)) as lock:
        lock.run = last
    seen = []
    real = versions.bring_up_to_date

    def note(connection: apsw.Connection, found: int = 0) -> None:
        seen.append(noted_run(old))
        real(connection, found)

    monkeypatch.setattr(versions, "bring_up_to_date", note)
    connection, lock = opening.open_for_run(old, OWNER, may_create=False)
    connection.close()
    lock.close()
    assert last
    assert seen == [replace(last, phase=Phase.FOLDING)]


def test_the_copy_from_before_the_upgrade_is_the_old_ledger(old: Path, tmp_path: Path) -> None:
    before = contents(old)
    (tmp_path / "old.ledger.version-1").write_text("something of a person's")
    connection, lock = opening.open_for_run(old, OWNER, may_create=False)
    connection.close()
    lock.close()
    assert (tmp_path / "old.ledger.version-1").read_text() == "something of a person's"
    copy = tmp_path / "old.ledger.version-1.2"
    assert contents(copy) == before
    assert apsw.Connection(str(copy)).pragma("user_version") == 1
    assert copy.stat().st_mode & 0o777 == 0o600


def test_an_upgrade_that_can_not_be_copied_before_is_not_done(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(opening, "copied", full)
    with pytest.raises(LedgerProblem, match="No space left"):
        opening.open_for_run(old, OWNER, may_create=False)
    assert apsw.Connection(str(old)).pragma("user_version") == 1


def test_looking_at_an_older_ledger_changes_nothing(old: Path) -> None:
    before = old.read_bytes()
    connection = opening.open_for_reading(old, OWNER)
    assert connection is not None
    assert records.holdings(connection, ["9990000000001"]).held
    connection.close()
    assert old.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("DROP TRIGGER one_voucher_kind", "trigger one_voucher_kind"),
        ("DROP INDEX charge_live_once", "index charge_live_once"),
        ("CREATE TABLE notes (x)", "table notes"),
        ("DROP TRIGGER one_voucher_kind; CREATE TABLE notes (x)", "table notes, trigger one_voucher_kind"),
        ("DROP INDEX number_once; CREATE INDEX number_once ON attempt (number)", "index number_once"),
    ],
)
def test_a_ledger_whose_rules_were_changed_is_refused(tmp_path: Path, change: str, named: str) -> None:
    path = tmp_path / "a.ledger"
    connection, lock = opening.open_for_run(path, OWNER, may_create=True)
    connection.execute(change)
    connection.close()
    lock.close()
    with pytest.raises(LedgerProblem, match=rf"rules were changed \({named}\)"):
        opening.open_for_run(path, OWNER, may_create=False)
    with pytest.raises(LedgerProblem, match=named):
        opening.open_for_reading(path, None)


def test_an_older_ledger_whose_rules_were_changed_is_not_upgraded(old: Path) -> None:
    connection = apsw.Connection(str(old))
    connection.execute("DROP TRIGGER attempt_state")
    connection.close()
    with pytest.raises(LedgerProblem, match="trigger attempt_state"):
        opening.open_for_run(old, OWNER, may_create=False)
    assert apsw.Connection(str(old)).pragma("user_version") == 1
