"""A ledger of an older program is upgraded after a copy, one of a newer is refused, a changed one too."""

import contextlib
import resource
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from pipeline.ledger import (
    attempts,
    held_charges,
    integrity_check,
    issued_elsewhere,
    opening,
    planning,
    runs,
    schema,
    settlements,
    ticket_rows,
)
from pipeline.ledger.lock import Phase, noted_run
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.message import Message, from_text, verbatim
from pipeline.model.outcome import Outcome
from pipeline.model.request import Request
from tests.next_version import NEXT, steps_after

from .conftest import HEADER, OWNER, charge, write_used_ledger


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A ledger of today's version."""
    path = tmp_path / "old.ledger"
    write_used_ledger(path)
    return path


def contents(path: Path) -> dict[str, list[dict[str, object]]]:
    """Every row of every table, by the names of its columns."""
    with contextlib.closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        ]
        found = {}
        for table in tables:
            names = [column[1] for column in connection.execute(f"PRAGMA table_info({table})")]
            found[table] = [
                dict(zip(names, row, strict=True)) for row in connection.execute(f"SELECT * FROM {table}")
            ]
    return found


def version(path: Path) -> int:
    with contextlib.closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        found: int = connection.pragma("user_version")
    return found


def without_its_gap(copied: dict[str, list[dict[str, object]]]) -> dict[str, list[dict[str, object]]]:
    """What a copy holds, but for what marks it as one: an open gap, from what it knows last on."""
    *earlier, marked = copied["gap"]
    assert str(from_text(str(marked["why"]))) == "it is a copy made before an upgrade"
    assert marked["closed_at"] is None
    assert marked["since"] == max(str(run["ended_at"]) for run in copied["run"])
    return copied | {"gap": earlier}


def upgraded(old: Path) -> list[str]:
    """Open it by a program of the next version, and close it; what was told."""
    notes = list[str | Message]()
    connection, lock = opening.open_for_run(
        old, OWNER, opening.OpenOptions(note=notes.append), may_create=False, steps=NEXT
    )
    assert schema.differences(connection, NEXT) == []
    connection.close()
    lock.close()
    return [str(note) for note in notes]


def test_an_older_ledger_is_upgraded_with_all_that_it_holds(old: Path) -> None:
    before = contents(old)
    notes = upgraded(old)
    assert version(old) == schema.VERSION + 1
    after = contents(old)
    assert after.pop("later_0") == [
        {"attempt_id": row["attempt_id"], "told": row["detail"]} for row in before["attempt"]
    ]
    attempted = [row | {"later_0": "not told"} for row in before["attempt"]]
    assert after == before | {"attempt": attempted}
    assert [row["state"] for row in attempted] == ["issued", "rejected", "unknown", "not_sent"]
    copy = old.with_name(f"old.ledger.version-{schema.VERSION}")
    assert notes == [
        f"The ledger was upgraded from version {schema.VERSION} to {schema.VERSION + 1}; as it was before: {copy}"
    ]
    assert without_its_gap(contents(copy)) == before
    assert upgraded(old) == []


def test_several_steps_are_taken_at_once_and_end_where_a_new_ledger_does(old: Path, tmp_path: Path) -> None:
    steps = steps_after(3)
    for path in (old, tmp_path / "new.ledger"):
        connection, lock = opening.open_for_run(path, OWNER, may_create=True, steps=steps)
        assert connection.pragma("user_version") == schema.VERSION + 3
        assert schema.differences(connection, steps) == []
        connection.close()
        lock.close()


def test_steps_are_all_taken_or_none(old: Path) -> None:
    before = contents(old)
    with pytest.raises(LedgerProblem, match="no such table: missing"):
        opening.open_for_run(old, OWNER, may_create=False, steps=(*NEXT, "DROP TABLE missing"))
    assert (version(old), contents(old)) == (schema.VERSION, before)
    upgraded(old)


def test_without_room_for_the_copy_before_an_upgrade_the_ledger_stays_as_it_is(old: Path) -> None:
    before, beside = contents(old), sorted(old.parent.iterdir())
    largest = resource.getrlimit(resource.RLIMIT_FSIZE)
    no_file_grows_over = old.stat().st_size // 2
    resource.setrlimit(resource.RLIMIT_FSIZE, (no_file_grows_over, largest[1]))
    try:
        with pytest.raises(LedgerProblem) as raised:
            opening.open_for_run(old, OWNER, may_create=False, steps=NEXT)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, largest)
    assert str(raised.value).startswith(
        f"{old}: the ledger is to be brought from version {schema.VERSION} to {schema.VERSION + 1}, after a copy of it, and the copy can't be"
        " written beside it ("
    )
    assert (version(old), contents(old)) == (schema.VERSION, before)
    assert [
        path for path in sorted(old.parent.iterdir()) if path not in beside and ".lock" not in path.name
    ] == []
    upgraded(old)


def test_an_upgraded_ledger_is_sound_and_can_be_used(old: Path) -> None:
    connection, lock = opening.open_for_run(old, OWNER, may_create=False, steps=NEXT)
    run = runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20", ["tickets.xlsx"]))
    request = Request("invoice", "domestic", HEADER, (charge(77),))
    (attempt,) = planning.plan(connection, run, [request], {77: ("tickets.xlsx", "Tickets", 2)})
    connection.execute(
        "UPDATE attempt SET state = 'sending', sending_at = 'now' WHERE attempt_id = ?", (attempt.attempt_id,)
    )
    outcome = Outcome("rejected", "carrier_rejected", detail=verbatim("no"))
    attempts.record_outcome(connection, attempt.attempt_id, outcome)
    (refused,) = held_charges.refusals(connection, [charge(77).identity.ticket_no]).values()
    assert refused.content == request.content_of(request.charges[0])
    runs.end(connection, lock, run, 1)
    assert schema.differences(connection, NEXT) == []
    connection.close()
    lock.close()


def test_an_upgraded_ledger_is_refused_by_the_older_program(old: Path) -> None:
    upgraded(old)
    with pytest.raises(
        InputProblem, match=f"version is {schema.VERSION + 1}, this program's {schema.VERSION}"
    ):
        opening.open_for_run(old, OWNER, may_create=False)


def test_while_it_is_upgraded_the_lock_file_says_that_the_file_may_be_half_written(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with contextlib.closing(apsw.Connection(str(old))) as connection:
        last = runs.last_run(connection, Phase.AT_REST)
    seen = []
    real = schema.bring_up_to_date

    def note(connection: apsw.Connection, steps: schema.Steps) -> None:
        if connection.filename == str(old):
            seen.append(noted_run(old))
        real(connection, steps)

    monkeypatch.setattr(schema, "bring_up_to_date", note)
    upgraded(old)
    assert last
    assert seen == [replace(last, phase=Phase.FOLDING)]


def test_the_copy_from_before_the_upgrade_is_the_old_ledger(old: Path, tmp_path: Path) -> None:
    before = contents(old)
    taken = tmp_path / f"old.ledger.version-{schema.VERSION}"
    taken.write_text("something of a person's")
    upgraded(old)
    assert taken.read_text() == "something of a person's"
    copy = tmp_path / f"{taken.name}.2"
    assert without_its_gap(contents(copy)) == before
    assert version(copy) == schema.VERSION
    assert copy.stat().st_mode & 0o777 == 0o600


def test_an_upgrade_that_can_not_be_copied_before_is_not_done(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(opening, "copied", full)
    with pytest.raises(LedgerProblem, match="No space left"):
        opening.open_for_run(old, OWNER, may_create=False, steps=NEXT)
    assert version(old) == schema.VERSION


def test_looking_at_an_older_ledger_shows_what_it_lacks_as_empty_and_changes_nothing(old: Path) -> None:
    before = old.read_bytes()
    connection = opening.open_for_reading(old, OWNER, NEXT)
    assert connection is not None
    assert set(connection.execute("SELECT state, later_0 FROM attempt")) == {
        (state, "not told") for state in ("issued", "rejected", "unknown", "not_sent")
    }
    assert list(connection.execute("SELECT attempt_id, told FROM later_0")) == []
    assert held_charges.holdings(connection, ["9990000000001"]).held
    assert len(ticket_rows.attempts(connection, "9990000000001")) == 1
    assert len(ticket_rows.judgements(connection, "9990000000001")) == 1
    assert {one.epoch for one in settlements.unsettled(connection)} == {opening.ledger_id(connection)}
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
        "DROP INDEX elsewhere_number",
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
        opening.open_for_run(old, OWNER, may_create=False, steps=NEXT)
    assert version(old) == schema.VERSION
