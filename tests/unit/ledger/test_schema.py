"""A ledger of an older program is upgraded after a copy, one of a newer is refused, a changed one too."""

import contextlib
import shutil
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

import apsw
import pytest

from pipeline.ledger import (
    attempts,
    epochs,
    held_charges,
    integrity_check,
    issued_elsewhere,
    judgements,
    opening,
    planning,
    reversals,
    runs,
    schema,
    settlements,
)
from pipeline.ledger.lock import Phase, noted_run
from pipeline.model.errors import LedgerProblem
from pipeline.model.outcome import Outcome
from pipeline.model.profile import Owner
from pipeline.model.request import Request

from .conftest import HEADER, charge, note_last_run

OWNER = Owner("http://127.0.0.1:18080", "AGENCY")


def put_there(name: str, folder: Path) -> Path:
    path: Path = shutil.copy(Path(__file__).with_name(name), folder / "old.ledger")
    note_last_run(path)
    return path


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A ledger that the program of version 1 wrote: 10 charges issued, refused and in doubt."""
    return put_there("version-1.ledger", tmp_path)


@pytest.fixture
def year_old(tmp_path: Path) -> Path:
    """One that the program of version 2 wrote: 5 charges issued and in doubt, a move, a gap that is closed."""
    return put_there("version-2.ledger", tmp_path)


@pytest.fixture
def last(tmp_path: Path) -> Path:
    """One that the program of version 3 wrote: 7 charges, settlements, a statement's line, a move, a gap that is closed."""
    return put_there("version-3.ledger", tmp_path)


#: What each step added: tables, which are empty, and columns.
NEW_IN = {
    2: {"carrier_move", "gap"},
    3: {"elsewhere", "judgement", "handled"},
    4: {"epoch", "clock_correction", "reversal", "withdrawal"},
}
NEW_COLUMNS = {
    "charge": {"content": ""},
    "attempt": {"epoch": 1},
    "elsewhere": {"live": 1, "withdrawn": 0},
    "handled": {"epoch": 1},
    "settlement": {"withdrawn": 0, "answered": ""},
}


def contents(path: Path) -> dict[str, list[dict[str, object]]]:
    """Every row of every table, by the names of its columns."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    found = {}
    for table in tables:
        names = [column[1] for column in connection.execute(f"PRAGMA table_info({table})")]
        found[table] = [
            dict(zip(names, row, strict=True)) for row in connection.execute(f"SELECT * FROM {table}")
        ]
    connection.close()
    return found


def without_its_gap(copied: dict[str, list[dict[str, object]]]) -> dict[str, list[dict[str, object]]]:
    """What a copy holds, but for what marks it as one: an open gap, and the table for it in the first version."""
    *earlier, marked = copied["gap"]
    assert (marked["why"], marked["closed_at"]) == ("it is a copy made before an upgrade", None)
    return {
        table: rows
        for table, rows in (copied | {"gap": earlier}).items()
        if rows or table not in ("gap", "carrier_move")
    }


@pytest.mark.parametrize(("fixture", "version"), [("old", 1), ("year_old", 2), ("last", 3)])
def test_an_older_ledger_is_upgraded_with_all_that_it_holds(
    fixture: str, version: int, request: pytest.FixtureRequest
) -> None:
    old: Path = request.getfixturevalue(fixture)
    before, notes = contents(old), list[str]()
    connection, lock = opening.open_for_run(old, OWNER, may_create=False, note=notes.append)
    assert connection.pragma("user_version") == schema.VERSION
    assert schema.differences(connection, schema.VERSION) == []
    connection.close()
    lock.close()
    after = contents(old)
    expected = {
        table: [NEW_COLUMNS.get(table, {}) | row for row in rows] for table, rows in before.items()
    } | {table: [] for step, tables in NEW_IN.items() if step > version for table in tables}
    (ledger,) = before["ledger"]
    begun, *restored = after.pop("epoch")
    assert begun == {
        "epoch": 1, "epoch_id": ledger["ledger_id"], "why": "the ledger was begun", "begun_at": ledger["created_at"],
    }  # fmt: skip
    assert len(restored) == (1 if version > 1 else 0)  # the others had a gap, which is closed
    for number, row in enumerate(after["settlement"], start=1):
        assert row.pop("settlement") == number
    by_attempt = itemgetter("attempt_id")
    assert sorted(after.pop("settlement"), key=by_attempt) == sorted(
        expected.pop("settlement"), key=by_attempt
    )
    assert after == {table: rows for table, rows in expected.items() if table != "epoch"}
    assert {"issued", "unknown"} <= {row["state"] for row in after["attempt"]}
    copy = old.with_name(f"old.ledger.version-{version}")
    assert notes == [
        f"The ledger was upgraded from version {version} to {schema.VERSION}; as it was before: {copy}"
    ]
    assert without_its_gap(contents(copy)) == before


def test_an_upgraded_ledger_is_sound_and_can_be_used(year_old: Path) -> None:
    connection, lock = opening.open_for_run(year_old, OWNER, may_create=False)
    run = runs.begin(connection, lock, "issue", "2026-11-20", ["tickets.xlsx"])
    request = Request("invoice", "domestic", HEADER, (charge(77),))
    (attempt,) = planning.plan(connection, run, [request], {77: ("tickets.xlsx", "Tickets", 2)})
    connection.execute(
        "UPDATE attempt SET state = 'sending', sending_at = 'now' WHERE attempt_id = ?", (attempt.attempt_id,)
    )
    outcome = Outcome("rejected", "carrier_rejected", detail="no")
    attempts.record_outcome(connection, attempt.attempt_id, outcome)
    (refused,) = held_charges.refusals(connection, [charge(77).identity.ticket_no]).values()
    assert refused.content == request.content_of(request.charges[0])
    runs.end(connection, lock, run, 1)
    assert integrity_check.look(connection).wrong == ()
    connection.close()
    lock.close()


def test_while_it_is_upgraded_the_lock_file_says_that_the_file_may_be_half_written(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with contextlib.closing(apsw.Connection(str(old))) as connection:
        last = attempts.last_run(connection, Phase.AT_REST)
    seen = []
    real = schema.bring_up_to_date

    def note(connection: apsw.Connection, *how: int) -> None:
        if connection.filename == str(old):
            seen.append(noted_run(old))
        real(connection, *how)

    monkeypatch.setattr(schema, "bring_up_to_date", note)
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
    assert without_its_gap(contents(copy)) == before
    assert apsw.Connection(str(copy)).pragma("user_version") == schema.FIRST_WITH_GAPS
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


@pytest.mark.parametrize("fixture", ["old", "year_old", "last"])
def test_looking_at_an_older_ledger_changes_nothing(fixture: str, request: pytest.FixtureRequest) -> None:
    old: Path = request.getfixturevalue(fixture)
    before = old.read_bytes()
    connection = opening.open_for_reading(old, OWNER)
    assert connection is not None
    assert held_charges.holdings(connection, ["9990000000001"]).held
    assert len(attempts.history(connection, "9990000000001")) == 1
    assert len(judgements.of_ticket(connection, "9990000000001")) == (1 if fixture == "last" else 0)
    assert settlements.of_ticket(connection, "9990000000001") == []
    assert reversals.of_ticket(connection, "9990000000001") == []
    ledger_id = attempts.ledger_id(connection)
    assert {one.epoch for one in settlements.unsettled(connection)} == {ledger_id}
    assert epochs.current(connection) == ledger_id
    assert issued_elsewhere.of_ticket(connection, "9990000000001") == []
    assert integrity_check.look(connection).wrong == ()
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


@pytest.mark.parametrize(
    "change",
    [
        "DROP INDEX elsewhere_number",  # as the first ledgers of version 3 are
        "CREATE INDEX of_mine ON attempt (trace_id)",
    ],
)
def test_an_index_that_keeps_nothing_out_is_no_rule(tmp_path: Path, change: str) -> None:
    path = tmp_path / "a.ledger"
    connection, lock = opening.open_for_run(path, OWNER, may_create=True)
    connection.execute(change)
    connection.close()
    lock.close()
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    assert issued_elsewhere.other_ticket(connection, "1", 0) == ""
    connection.close()
    lock.close()


def test_an_older_ledger_whose_rules_were_changed_is_not_upgraded(old: Path) -> None:
    connection = apsw.Connection(str(old))
    connection.execute("DROP TRIGGER attempt_state")
    connection.close()
    with pytest.raises(LedgerProblem, match="trigger attempt_state"):
        opening.open_for_run(old, OWNER, may_create=False)
    assert apsw.Connection(str(old)).pragma("user_version") == 1
