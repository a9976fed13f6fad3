import functools
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from pipeline.ledger import (
    checkpoint,
    files_match,
    gaps,
    ledger_path,
    opening,
    runs,
)
from pipeline.ledger.backup import copied
from pipeline.ledger.lock import LastRun
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.message import verbatim
from pipeline.model.profile import Owner, sandbox_owner
from tests.conftest import without_privileges

OWNER = Owner("https://carrier.example", "AGENCY")


def test_a_missing_ledger_is_an_error_where_one_is_expected(tmp_path: Path) -> None:
    with pytest.raises(InputProblem) as refused:
        opening.open_for_run(tmp_path / "a.ledger", OWNER, may_create=False)
    assert str(refused.value) == (
        f"{tmp_path / 'a.ledger'}: there is no ledger, though one is expected: without its memory everything would be issued"
        " again. Find it, or restore it from its backup; if the carrier has a new address: voucher ledger move-carrier with"
        " the old ledger; for the very first run with this carrier say --new-ledger"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_new_ledger_is_private_and_durable(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "a.ledger"
    connection, lock = opening.open_for_run(path, OWNER, may_create=True)
    runs._begin_run(connection, runs.RunStart("issue", "2026-11-20"))
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
        "import os, sys; from pathlib import Path; from pipeline.ledger import opening; from pipeline.model.profile import Owner\n"
        "kept = opening.open_for_run(Path(sys.argv[1]), Owner('https://carrier.example', 'AGENCY'), may_create=True)\n"
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


def test_a_sandboxs_ledger_and_a_carriers_are_told_apart_by_what_to_do(tmp_path: Path) -> None:
    owners = {"trial": sandbox_owner("AGENCY"), "real": OWNER}
    for name, owner in owners.items():
        connection, lock = opening.open_for_run(tmp_path / name, owner, may_create=True)
        connection.close()
        lock.close()
    with pytest.raises(
        InputProblem, match=r"trial: this is a sandbox's ledger, .*: add --sandbox, or name your own"
    ):
        opening.open_for_run(tmp_path / "trial", OWNER, may_create=True)
    with pytest.raises(
        InputProblem,
        match=r"real: this is the ledger of https://carrier\.example .*: name no ledger",
    ):
        opening.open_for_run(tmp_path / "real", owners["trial"], may_create=True)


@pytest.mark.parametrize(
    "other",
    [
        Owner("https://carrier.example", "ANOTHER"),
        Owner("https://other.example", "AGENCY"),
        sandbox_owner("AGENCY"),
    ],
)
def test_a_ledger_belongs_to_one_carrier(tmp_path: Path, other: Owner) -> None:
    connection, lock = opening.open_for_run(tmp_path / "a.ledger", OWNER, may_create=True)
    connection.close()
    lock.close()
    named = r"(belongs to|is the ledger of) https://carrier\.example as agency AGENCY"
    with pytest.raises(InputProblem, match=named):
        opening.open_for_run(tmp_path / "a.ledger", other, may_create=True)
    with pytest.raises(InputProblem, match=named):
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


def test_a_folder_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    """By a process of its own: root may write everywhere."""
    script = (
        "import sys; from pathlib import Path; from pipeline.ledger import opening; from pipeline.model.errors import LedgerProblem\n"
        "from pipeline.model.profile import Owner\n"
        "try: opening.open_for_run(Path(sys.argv[1]), Owner('https://carrier.example', 'AGENCY'), may_create=True)\n"
        "except LedgerProblem as problem: print(problem)\n"
    )
    path = tmp_path / "a.ledger"
    tmp_path.chmod(0o500)
    ran = subprocess.run(
        [*without_privileges(), sys.executable, "-c", script, path],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.startswith(f"{path}: ")
    assert "can't be opened" in ran.stdout
    assert not path.exists()


def test_ledger_urls() -> None:
    assert ledger_path.path_given("sqlite:///var/a.ledger") == Path("var/a.ledger")
    assert ledger_path.path_given("sqlite:////var/a.ledger") == Path("/var/a.ledger")
    with pytest.raises(InputProblem, match="only a file") as refused:
        ledger_path.path_given("postgresql://user:secret@host/db")
    assert "secret" not in str(refused.value)


def test_each_carrier_has_a_default_ledger_of_its_own() -> None:
    names = {ledger_path.default_path(Owner(url, agency)).name for url, agency in [
        ("https://a.example", "X"), ("https://a.example", "Y"), ("https://a.example/v2", "X"), ("sandbox", "X"),
    ]}  # fmt: skip
    assert len(names) == 4


@pytest.mark.slow
def test_a_run_that_did_not_end_needs_its_wal_and_looking_makes_none(tmp_path: Path) -> None:
    path, wal = tmp_path / "a.ledger", tmp_path / "a.ledger-wal"
    connection, lock = opening.open_for_run(path, OWNER, may_create=True)
    runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20"))
    connection.close()  # as where the disk was full before anything could be planned
    lock.close()
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    checkpoint.keep_wal(connection, keep=True)
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
    runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20"))
    connection.close()
    lock.close()
    for _ in range(2):  # opened and closed, as where a spill file of another ledger stops the start
        connection, lock = opening.open_for_run(path, OWNER, may_create=False)
        connection.close()
        lock.close()
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    runs._end_open_runs(connection)
    checkpoint.keep_wal(connection, keep=False)
    connection.close()
    lock.close()
    assert not (tmp_path / "a.ledger-wal").exists()


def left_open(path: Path) -> None:
    """A ledger as a killed run leaves it: begun in the file, one change in its -wal, noted in the lock file."""
    connection, lock = opening.open_for_run(path, OWNER, may_create=True)
    runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20"))
    connection.execute(
        "INSERT INTO request VALUES ('R1', 'invoice', 'domestic', 100, 'business', 'A', '', '', '', '')"
    )
    for end in ("", "-wal"):  # as it is on disk at this moment
        (path.parent / f"{path.name}{end}.killed").write_bytes(path.with_name(path.name + end).read_bytes())
    connection.close()
    lock.close()
    for end in ("", "-wal"):
        (path.parent / f"{path.name}{end}.killed").replace(path.with_name(path.name + end))


def test_a_killed_run_s_own_wal_is_taken(tmp_path: Path) -> None:
    left_open(tmp_path / "a.ledger")
    connection, lock = opening.open_for_run(tmp_path / "a.ledger", OWNER, may_create=False)
    assert connection.execute("SELECT request_id FROM request").get == "R1"
    assert lock.run is not None
    connection.close()
    lock.close()


def test_no_ledger_is_made_beside_what_belongs_to_one_that_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    left_open(path)
    path.rename(tmp_path / "away")
    wal = (tmp_path / "a.ledger-wal").read_bytes()
    (tmp_path / "a.ledger.lock").rename(tmp_path / "away.lock")
    with pytest.raises(InputProblem) as refused:
        opening.open_for_run(path, OWNER, may_create=True)
    assert str(refused.value) == (
        f"{path}: there is no ledger, but a.ledger-wal, which belongs to one, is there: put the ledger back beside it. If"
        " it is lost for good, keep that file elsewhere for comparing with the carrier's statement"
    )
    assert not path.exists()
    assert (tmp_path / "a.ledger-wal").read_bytes() == wal
    (tmp_path / "a.ledger-wal").rename(tmp_path / "away-wal")
    (tmp_path / "a.ledger.spill").write_text("")
    with pytest.raises(InputProblem, match=r"a\.ledger\.spill, which belongs to one"):
        opening.open_for_run(path, OWNER, may_create=True)
    (tmp_path / "a.ledger.spill").unlink()
    (tmp_path / "away.lock").replace(tmp_path / "a.ledger.lock")
    with pytest.raises(InputProblem, match=r"one had this name.*delete a\.ledger\.lock"):
        opening.open_for_run(path, OWNER, may_create=True)
    (tmp_path / "a.ledger.lock").unlink()
    connection, lock = opening.open_for_run(path, OWNER, may_create=True)
    connection.close()
    lock.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "put_there", ["another ledger", "an older state of it", "a backup made during that run"]
)
def test_another_ledger_beside_a_killed_run_s_wal_is_refused_and_both_stay(
    tmp_path: Path, put_there: str
) -> None:
    path, other = tmp_path / "a.ledger", tmp_path / "b.ledger"
    connection, lock = opening.open_for_run(path, OWNER, may_create=True)
    connection.close()
    lock.close()
    if put_there == "another ledger":
        connection, lock = opening.open_for_run(other, OWNER, may_create=True)
        connection.close()
        lock.close()
    if put_there == "an older state of it":
        other.write_bytes(path.read_bytes())
    left_open(path)
    if put_there == "a backup made during that run":
        (tmp_path / "c.ledger").write_bytes(path.read_bytes())
        (tmp_path / "c.ledger-wal").write_bytes((tmp_path / "a.ledger-wal").read_bytes())
        looking = opening.open_for_reading(tmp_path / "c.ledger", OWNER)
        assert looking is not None
        copied(looking, other, lambda copy: gaps.mark_gap(copy, "2026-11-20", verbatim("a backup")))
        looking.close()
    path.unlink()
    other.rename(path)
    before = {left.name: left.read_bytes() for left in (path, tmp_path / "a.ledger-wal")}
    told = (
        "on another ledger, or a later" if put_there.startswith("a backup") else "does not know the last run"
    )
    for opened in (opening.open_for_reading, functools.partial(opening.open_for_run, may_create=False)):
        with pytest.raises(
            InputProblem, match=rf"{told}.*keep a\.ledger-wal elsewhere, then voucher ledger mark-gap"
        ):
            opened(path, OWNER)
    assert {left.name: left.read_bytes() for left in (path, tmp_path / "a.ledger-wal")} == before


def test_what_the_lock_file_notes_may_be_cut_off(tmp_path: Path) -> None:
    left_open(tmp_path / "a.ledger")
    note = (tmp_path / "a.ledger.lock").read_bytes().rstrip()
    for cut in (0, 1, len(note) // 2, len(note) - 1):
        (tmp_path / "a.ledger.lock").write_bytes(note[:cut])
        lock = opening.Lock(tmp_path / "a.ledger")
        assert lock.run is None
        lock.run = LastRun("id", 1, "2026-11-20T00:00:00.000+00:00")
        assert lock.run == LastRun("id", 1, "2026-11-20T00:00:00.000+00:00")
        lock.run = None
        assert lock.run is None
        lock.close()


def test_the_name_that_a_ledger_was_made_under_is_no_second_name(tmp_path: Path) -> None:
    """As where the first run is killed between the ledger's appearing and the other name's going."""
    path = tmp_path / "a [1].ledger"
    connection, lock = opening.open_for_run(path, OWNER, may_create=True)
    connection.close()
    lock.close()
    made, other = tmp_path / f".{path.name}.{'0' * 32}.new", tmp_path / f".{path.name}.{'1' * 32}.new"
    made.hardlink_to(path)
    other.write_text("of another moment")
    (tmp_path / f".{path.name}.{'2' * 32}.new").symlink_to("gone")  # as one that goes while we look
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    connection.close()
    lock.close()
    assert (made.exists(), other.exists()) == (False, True)
    (tmp_path / "b.ledger").hardlink_to(path)
    with pytest.raises(InputProblem, match="second name"):
        opening.open_for_run(path, OWNER, may_create=False)


def test_folders_made_for_a_ledger_are_private_all_the_way_down(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        connection, lock = opening.open_for_run(tmp_path / "a/b/c.ledger", OWNER, may_create=True)
    finally:
        os.umask(before)
    connection.close()
    lock.close()
    assert [stat.S_IMODE((tmp_path / folder).stat().st_mode) for folder in ("a", "a/b")] == [0o700, 0o700]


@pytest.mark.slow
def test_a_reader_takes_nothing_away_from_a_run_that_begins_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.ledger"
    connection, lock = opening.open_for_run(path, OWNER, may_create=True)
    connection.close()
    lock.close()
    begun = []
    for place, moment in (
        *((opening, name) for name in ("noted_run", "check_memory", "_connect")),
        (files_match, "read_alone"),
    ):
        real = getattr(place, moment)

        def first_a_run_begins(*given: object, real: Callable[..., object] = real, **named: object) -> object:
            monkeypatch.undo()
            connection, lock = opening.open_for_run(path, OWNER, may_create=False)
            run = runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20"))
            begun.append((connection, lock, run))
            return real(*given, **named)

        monkeypatch.setattr(place, moment, first_a_run_begins)
        looking = opening.open_for_reading(path, OWNER)
        assert looking is not None
        looking.close()
        connection, lock, run = begun.pop()
        assert (tmp_path / "a.ledger-wal").stat().st_size > 0  # the one that the run writes to
        runs.end(connection, lock, run, 0)
        connection.close()
        lock.close()
