"""What a ledger is opened with, what it is made of, and what is left when opening fails."""

import functools
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from pipeline.ledger import opening, runs, schema
from pipeline.ledger.lock import Lock
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.profile import Owner

OWNER = Owner("https://carrier.example", "AGENCY")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger at rest, owner OWNER."""
    made = tmp_path / "a.ledger"
    connection, lock = opening.open_for_run(made, OWNER, may_create=True)
    connection.close()
    lock.close()
    return made


@pytest.fixture(params=["for a run", "for reading"])
def connection(request: pytest.FixtureRequest, path: Path) -> Iterator[apsw.Connection]:
    if request.param == "for reading":
        reading = opening.open_for_reading(path, OWNER)
        assert reading is not None
        yield reading
        reading.close()
        return
    running, lock = opening.open_for_run(path, OWNER, may_create=False)
    yield running
    running.close()
    lock.close()


def test_every_connection_syncs_fully_keeps_references_and_waits(connection: apsw.Connection) -> None:
    names = (
        "synchronous",
        "foreign_keys",
        "fullfsync",
        "checkpoint_fullfsync",
        "busy_timeout",
        "journal_mode",
    )
    assert [connection.pragma(name) for name in names] == [2, 1, 1, 1, 5000, "wal"]


@pytest.mark.parametrize("how", ["for a run", "for reading"])
def test_it_does_not_rely_on_what_sqlite_was_built_with(
    path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    class Lax(apsw.Connection):
        """As of a library whose defaults are others."""

        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            for name in ("synchronous", "foreign_keys", "fullfsync", "checkpoint_fullfsync"):
                self.pragma(name, 0)

    monkeypatch.setattr(apsw, "Connection", Lax)
    if how == "for reading":
        connection, lock = opening.open_for_reading(path, OWNER), None
    else:
        connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    assert connection is not None
    names = ("synchronous", "foreign_keys", "fullfsync", "checkpoint_fullfsync")
    assert [connection.pragma(name) for name in names] == [2, 1, 1, 1]
    connection.close()
    if lock is not None:
        lock.close()


def test_a_ledger_is_told_from_any_other_database(path: Path) -> None:
    header = path.read_bytes()[:100]
    assert header[68:72] == b"vouc"  # application_id, sqlite.org/fileformat.html, 1.3
    assert int.from_bytes(header[60:64], "big") == schema.VERSION
    assert header[18:20] == b"\2\2"  # WAL


def test_a_new_ledger_says_whose_it_is_and_is_one_file_alone(path: Path) -> None:
    connection = opening.open_for_reading(path, None)
    assert connection is not None
    ((only, ledger_id, base_url, agency, created_at),) = connection.execute("SELECT * FROM ledger")
    connection.close()
    assert (only, base_url, agency) == (1, "https://carrier.example", "AGENCY")
    assert len(ledger_id) == 32
    assert int(ledger_id, 16)
    assert created_at.endswith("+00:00")
    names = {"a.ledger", "a.ledger.lock", "a.ledger-wal", "a.ledger-shm"}
    assert {found.name for found in path.parent.iterdir()} <= names  # the last two made by looking


def test_a_new_ledger_is_private_from_its_first_moment_and_appears_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    real_step, real_sync, real_appear = (
        schema.bring_up_to_date,
        opening.__dict__["sync"],
        opening.__dict__["appear"],
    )

    def step(connection: apsw.Connection, steps: schema.Steps) -> None:
        made = Path(connection.filename)
        seen.append((made.name.startswith(".a.ledger."), made.name.endswith(".new"), made.parent == tmp_path))
        seen.append(stat.S_IMODE(made.stat().st_mode))
        seen.append(connection.pragma("journal_mode"))
        real_step(connection, steps)

    def appear(finished: Path, path: Path) -> None:
        connection = apsw.Connection(
            f"file:{finished}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )
        seen.append(("appears", path.name, connection.execute("SELECT agency FROM ledger").get))
        seen.append(finished.read_bytes()[18:20])
        connection.close()
        real_appear(finished, path)

    def sync(folder: Path) -> None:
        seen.append(("synced", folder == tmp_path, (tmp_path / "a.ledger").exists()))
        real_sync(folder)

    monkeypatch.setattr(schema, "bring_up_to_date", step)
    monkeypatch.setattr(opening, "appear", appear)
    monkeypatch.setattr(opening, "sync", sync)
    connection, lock = opening.open_for_run(tmp_path / "a.ledger", OWNER, may_create=True)
    connection.close()
    lock.close()
    assert seen == [
        *((True, True, True), 0o600, "delete"),
        *(("synced", False, False), ("appears", "a.ledger", "AGENCY")),
        *(b"\2\2", ("synced", True, True)),  # in WAL mode already
    ]


def test_a_ledger_that_could_not_be_made_leaves_no_file_and_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(connection: apsw.Connection, _steps: schema.Steps) -> None:
        for end in ("-wal", "-shm", "-journal"):
            Path(f"{connection.filename}{end}").touch()
        raise apsw.FullError("the disk is full")

    monkeypatch.setattr(schema, "bring_up_to_date", fail)
    with pytest.raises(
        LedgerProblem, match=r"a\.ledger: the ledger can't be opened \(the disk is full\); check the disk"
    ):
        opening.open_for_run(tmp_path / "a.ledger", OWNER, may_create=True)
    assert [found.name for found in tmp_path.iterdir()] == ["a.ledger.lock"]
    monkeypatch.undo()
    connection, lock = opening.open_for_run(tmp_path / "a.ledger", OWNER, may_create=True)
    connection.close()
    lock.close()


def test_a_ledger_is_made_on_a_disk_without_hard_links_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", refuse)
    connection, lock = opening.open_for_run(tmp_path / "a.ledger", OWNER, may_create=True)
    connection.close()
    lock.close()
    assert {found.name for found in tmp_path.iterdir()} == {"a.ledger", "a.ledger.lock"}
    assert stat.S_IMODE((tmp_path / "a.ledger").stat().st_mode) == 0o600


def test_a_newer_ledger_is_refused_by_name_and_stays_as_it_is(path: Path) -> None:
    newer = schema.VERSION + 1
    other = apsw.Connection(str(path))
    other.pragma("user_version", newer)
    other.close()
    before = path.read_bytes()
    for opened in (opening.open_for_reading, functools.partial(opening.open_for_run, may_create=False)):
        with pytest.raises(InputProblem) as refused:
            opened(path, OWNER)
        assert str(refused.value) == (
            f"{path}: the ledger's version is {newer}, this program's {schema.VERSION}; update the program"
        )
    assert path.read_bytes() == before


def test_without_an_owner_none_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputProblem, match="there is no ledger"):
        opening.open_for_run(tmp_path / "a.ledger", None, may_create=True)
    assert list(tmp_path.iterdir()) == []


def test_without_an_owner_any_carriers_ledger_is_opened(path: Path) -> None:
    connection, lock = opening.open_for_run(path, None, may_create=False)
    assert opening.owner_of(connection) == OWNER
    connection.close()
    lock.close()


def test_a_ledger_with_a_second_name_is_refused(path: Path) -> None:
    second = path.with_name("b.ledger")
    second.hardlink_to(path)
    for name in (path, second):
        with pytest.raises(
            InputProblem,
            match=rf"{name.name}: the ledger has a second name \(a hard link\); delete the other name",
        ):
            opening.open_for_run(name, OWNER, may_create=False)
    second.unlink()
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    connection.close()
    lock.close()


@pytest.mark.parametrize("how", ["run", "reading"])
def test_a_damaged_ledger_is_told_from_what_is_none(path: Path, how: str) -> None:
    whole = path.read_bytes()

    def opened() -> object:
        if how == "run":
            return opening.open_for_run(path, OWNER, may_create=False)
        return opening.open_for_reading(path, OWNER)

    def told() -> str:
        with pytest.raises((InputProblem, LedgerProblem)) as refused:
            opened()
        return f"{type(refused.value).__name__}: {refused.value}"

    path.write_bytes(b"x" * len(whole))
    text = told()
    assert text.startswith(
        f"InputProblem: {path}: is not a ledger, or is damaged; check --ledger. If it is damaged,"
    )
    path.write_bytes(whole[:100] + b"\xff" * (len(whole) - 100))
    text = told()
    assert text.startswith(f"LedgerProblem: {path}: the ledger is damaged (")
    assert "restore its backup" in text
    path.write_bytes(whole)
    other = apsw.Connection(str(path))
    other.pragma("application_id", 7)
    other.close()
    assert told() == f"InputProblem: {path}: is not a ledger; check --ledger"


def test_a_ledger_that_another_program_holds_is_waited_for_and_then_told(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[int] = []
    real = apsw.Connection

    class Impatient(apsw.Connection):
        def set_busy_timeout(self, milliseconds: int) -> None:
            waited.append(milliseconds)

    other = real(str(path))
    other.pragma("locking_mode", "exclusive")
    other.execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr(apsw, "Connection", Impatient)
    with pytest.raises(
        LedgerProblem, match=r"can't be opened \(.*locked.*\); check the disk and permissions"
    ):
        opening.open_for_run(path, OWNER, may_create=False)
    assert waited == [5000]
    other.execute("ROLLBACK")
    other.close()


def test_another_carriers_ledger_is_named_with_both_and_let_go(path: Path) -> None:
    other = Owner("https://other.example", "AGENCY")
    told = (
        f"{path}: this ledger belongs to https://carrier.example as agency AGENCY, not to https://other.example as"
        " agency AGENCY; use that carrier's profile, or another --ledger. If the carrier itself has moved: voucher ledger"
        " move-carrier"
    )
    with pytest.raises(InputProblem) as refused:
        opening.open_for_reading(path, other)
    assert str(refused.value) == told
    with pytest.raises(InputProblem) as refused:
        opening.open_for_run(path, other, may_create=True)
    assert str(refused.value) == told
    Lock(path).close()


@pytest.mark.parametrize("ended", [True, False])
def test_closing_keeps_the_wal_of_an_open_run_alone(path: Path, ended: bool) -> None:
    wal = path.with_name("a.ledger-wal")
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    run = runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20"))
    if ended:
        runs.end(connection, lock, run, 0)
    connection.close()
    lock.close()
    assert wal.exists() is not ended
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    connection.execute("CREATE TEMP TABLE looked (x)")
    connection.close()
    lock.close()
    assert wal.exists() is not ended
