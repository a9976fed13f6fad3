"""What a team does with its ledger beside issuing: what each command records, says and makes, and what it leaves as it is."""

import datetime
import re
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw
import openpyxl
import pytest

from pipeline import __version__
from pipeline.ledger import (
    carrier_move,
    export,
    gaps,
    inbox_files,
    issued_elsewhere,
    last_run_witness,
    ledger_path,
    opening,
    reversals,
    runs,
    settlements,
    withdrawals,
)
from pipeline.ledger.clock import local_text, utc_now
from pipeline.ledger.files_match import wal_filled, wal_path
from pipeline.ledger.inbox_files import EARLY, NAMED, UNREAD, Handled
from pipeline.ledger.lock import LastRun, Lock, Phase, noted_run
from pipeline.ledger.reversals import SaidReversed
from pipeline.ledger.schema import VERSION
from pipeline.ledger.settlements import Settlement
from pipeline.ledger.spill import Spill, spill_path
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.evidence import StatementLine
from pipeline.model.job import Job
from pipeline.model.message import NOTHING, Message, from_text
from pipeline.model.outcome import Answered
from pipeline.model.profile import Carrier, Owner, Profile, sandbox_owner
from pipeline.run import ledger_export, ledger_maintenance
from tests import next_version
from tests.unit.ledger.conftest import Book, charge, invoice

HOST, NEW_HOST = Owner("https://carrier.example", "DEMO"), Owner("https://new.example", "DEMO")
TICKETS = "9990000000001", "9990000000002"
UNNOTED = "its last run is not noted beside it"
#: What SQLite needs beside a ledger to read it (sqlite.org/walformat.html, 2.1), in bytes; less than a ledger has.
SHARED_MEMORY = 32 * 1024

Rows = list[tuple[Any, ...]]


@pytest.fixture(autouse=True)
def desk() -> None:
    """No folder of tickets: nothing here is about them."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where ledgers lie by default, and their last runs are noted: other folders for each test."""
    for name in ("data", "state"):
        monkeypatch.setenv(f"XDG_{name.upper()}_HOME", str(tmp_path / "home" / name))
    monkeypatch.delenv("VOUCHER_WITNESS", raising=False)
    return tmp_path / "home"


@contextmanager
def running(path: Path, owner: Owner = HOST, *, exit_code: int | None = 0) -> Iterator[Book]:
    """A run on a ledger, which is made if it is missing; without an exit code it is killed."""
    connection, lock = opening.open_for_run(path, owner, may_create=True)
    with closing(lock), closing(connection):
        run = runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20", ["tickets.xlsx"]))
        yield Book.of(path, connection, run)
        if exit_code is not None:
            runs.end(connection, lock, run, exit_code)


def issue(book: Book, number: str, *tickets: int) -> None:
    (attempt,) = book.plan(invoice(*map(charge, tickets)))
    book.state(attempt.attempt_id, "sending")
    book.state(attempt.attempt_id, "issued", number)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger at rest, in which one invoice of two tickets was issued."""
    (tmp_path / "books").mkdir()
    with running(tmp_path / "books" / "a.ledger") as book:
        issue(book, "N1", 1, 2)
    return book.path


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A ledger that knows of no run."""
    connection, lock = opening.open_for_run(tmp_path / "empty.ledger", HOST, may_create=True)
    connection.close()
    lock.close()
    return tmp_path / "empty.ledger"


def job(path: Path | None = None, owner: Owner | None = None) -> Job:
    """A command's, with a ledger or the carrier's own one."""
    carrier = Carrier(base_url=owner.base_url, agency=owner.agency) if owner else Carrier()
    return Job((), Profile(carrier=carrier), None, ledger=str(path) if path else None)


def rows(path: Path, query: str) -> Rows:
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        return list(connection.execute(query))


def everything(path: Path) -> dict[str, Any]:
    """What the ledger holds, and what is noted of it."""
    names = [name for (name,) in rows(path, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1")]
    return {name: rows(path, f"SELECT * FROM {name}") for name in names} | {
        "version": rows(path, "PRAGMA user_version"), "noted": (noted_run(path), outside(path)),
    }  # fmt: skip


def outside(path: Path) -> list[LastRun]:
    """What is noted of its last run outside its folder."""
    ((ledger_id,),) = rows(path, "SELECT ledger_id FROM ledger")
    return [last for _, last in last_run_witness.noted(last_run_witness.places(), ledger_id)]


def assert_at_rest(path: Path) -> None:
    """All that is recorded is in the ledger's own file, and is noted beside it and outside its folder."""
    with closing(opening.open_existing(path, None)) as connection:
        last = runs.last_run(connection, Phase.AT_REST)
    assert not wal_filled(path)
    assert (noted_run(path), outside(path)) == (last, [last])


def fail(_line: Message) -> bool:
    raise AssertionError("nobody is to be asked")


class Asked:
    """Whoever is asked, and what it was."""

    def __init__(self, *, answer: bool) -> None:
        self.answer, self.heard = answer, list[str]()

    def __call__(self, question: Message) -> bool:
        self.heard.append(str(question))
        return self.answer


@contextmanager
def small_files(most: int) -> Iterator[None]:
    """No file grows beyond so many bytes meanwhile, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def damage(path: Path) -> None:
    """Spoil the page that the attempts begin on, which nothing looks at while the ledger is opened."""
    ((page,),) = rows(path, "SELECT rootpage FROM sqlite_schema WHERE name = 'attempt'")
    data = bytearray(path.read_bytes())
    data[(page - 1) * 4096 : page * 4096] = b"\xa5" * 4096
    path.write_bytes(data)


# --- looking it over -------------------------------------------------------------------------------


def test_a_ledger_is_looked_over_through_a_link_with_what_waits_beside_it(path: Path, tmp_path: Path) -> None:
    (tmp_path / "link.ledger").symlink_to(path)
    found = ledger_maintenance.looked_over(job(tmp_path / "link.ledger"))
    looked = found.looked
    assert (looked.base_url, looked.agency, looked.runs, looked.states) == (
        *HOST.__dict__.values(),
        1,
        {"issued": 1},
    )
    assert (looked.gap, looked.wrong, found.doubted, found.outcomes_wait) == (None, (), NOTHING, False)
    spill_path(path).write_bytes(b"{}\n")
    assert ledger_maintenance.looked_over(job(tmp_path / "link.ledger")).outcomes_wait


def test_a_ledger_that_may_be_an_older_copy_is_looked_over_all_the_same(path: Path) -> None:
    path.with_name("a.ledger.lock").unlink()
    found = ledger_maintenance.looked_over(job(path))
    assert (found.looked.states, found.sound) == ({"issued": 1}, False)
    assert str(found.doubted).startswith(f"{path}: {UNNOTED} (a.ledger.lock)")


def test_a_damaged_ledger_is_told_by_its_name(path: Path) -> None:
    damage(path)
    with pytest.raises(LedgerProblem, match=re.escape(f"{path}: the ledger is damaged (")):
        ledger_maintenance.looked_over(job(path))


# --- backups ---------------------------------------------------------------------------------------


def test_a_backup_holds_everything_and_lacks_what_came_after_the_last_run(path: Path, tmp_path: Path) -> None:
    time.sleep(0.002)
    kept = ledger_maintenance.backed_up(job(path), tmp_path / "kept.ledger")
    assert kept == tmp_path / "kept.ledger"
    assert rows(kept, "SELECT number FROM attempt") == [("N1",)]
    (since, why, found), ended = (
        *rows(kept, "SELECT since, why, found_at FROM gap"),
        rows(path, "SELECT ended_at FROM run"),
    )
    assert [(since,)] == ended
    assert since < found
    assert str(from_text(why)) == "it is a backup"
    assert rows(path, "SELECT * FROM gap") == []


def test_a_backup_of_a_ledger_without_a_run_lacks_what_came_after_now(empty: Path, tmp_path: Path) -> None:
    before = utc_now()
    kept = ledger_maintenance.backed_up(job(empty), tmp_path / "kept.ledger")
    ((since,),) = rows(kept, "SELECT since FROM gap")
    assert before <= since <= utc_now()


def test_a_backup_of_what_may_be_an_older_copy_says_so(path: Path, tmp_path: Path) -> None:
    path.with_name("a.ledger.lock").unlink()
    kept = ledger_maintenance.backed_up(job(path), tmp_path / "kept.ledger")
    assert [str(from_text(why)) for (why,) in rows(kept, "SELECT why FROM gap")] == [
        "it is a backup of what may be an older copy"
    ]


def test_a_backup_in_a_folder_is_named_by_the_ledger_and_the_time(path: Path, tmp_path: Path) -> None:
    (tmp_path / "backups").mkdir()
    before = utc_now()
    kept = ledger_maintenance.backed_up(job(path), tmp_path / "backups")
    assert kept.parent == tmp_path / "backups"
    found = re.fullmatch(r"a\.([0-9]{8}T[0-9]{6})Z\.ledger", kept.name)
    assert found
    made = datetime.datetime.strptime(f"{found[1]}+0000", "%Y%m%dT%H%M%S%z")
    assert before[:19] <= made.isoformat()[:19] <= utc_now()
    assert rows(kept, "SELECT number FROM attempt") == [("N1",)]


@pytest.mark.parametrize(
    ("name", "problem", "told"),
    [
        (
            "taken.ledger",
            InputProblem,
            "exists already and is left as it is; choose another name, or a folder",
        ),
        (
            "no/b.ledger",
            InputProblem,
            "there is no folder {folder}/no; create it, or choose a folder that exists and that you may write to",
        ),
        (
            "taken.ledger/b.ledger",
            InputProblem,
            "there is no folder {folder}/taken.ledger; create it, or choose a folder that exists and that you may write to",
        ),
        (
            "full.ledger",
            LedgerProblem,
            "can't be written (disk I/O error); choose a folder that exists and has room",
        ),
    ],
)
def test_a_backup_that_can_not_be_made_names_its_place_and_leaves_nothing(
    path: Path, tmp_path: Path, name: str, problem: type[Exception], told: str
) -> None:
    (tmp_path / "taken.ledger").write_text("mine")
    with pytest.raises(problem) as refused, small_files(SHARED_MEMORY if name == "full.ledger" else 1 << 30):
        ledger_maintenance.backed_up(job(path), tmp_path / name)
    assert str(refused.value) == f"{tmp_path / name}: {told.format(folder=tmp_path)}"
    assert (tmp_path / "taken.ledger").read_text() == "mine"
    assert sorted(left.name for left in tmp_path.iterdir()) == ["books", "home", "taken.ledger"]


# --- a carrier that moves --------------------------------------------------------------------------


def move(path: Path | None, to: Owner = NEW_HOST, confirm: Callable[[Message], bool] = lambda _: True) -> str:
    return str(ledger_maintenance.moved(job(path, to), fail, "letter of 1 Nov", "chen", confirm))


MOVES = "SELECT from_base_url, from_agency, to_base_url, to_agency, moved_by, why FROM carrier_move"
MOVED = (*HOST.__dict__.values(), *NEW_HOST.__dict__.values(), "chen", "letter of 1 Nov")


def test_a_ledger_follows_its_carrier_under_its_own_name(path: Path, home: Path) -> None:
    asked = Asked(answer=True)
    assert move(path, confirm=asked) == (
        f"{path}: belonged to https://carrier.example as agency DEMO and belongs to https://new.example as agency DEMO from now on"
    )
    assert asked.heard == [
        f"{path}: belongs to https://carrier.example as agency DEMO and is to belong to https://new.example as agency DEMO"
    ]
    assert rows(path, "SELECT base_url, agency FROM ledger") == [(NEW_HOST.base_url, "DEMO")]
    assert rows(path, MOVES) == [MOVED]
    assert_at_rest(path)
    assert not (home / "data").exists()


def test_a_move_that_is_declined_changes_nothing(path: Path, home: Path) -> None:
    before = everything(path)
    assert move(path, confirm=Asked(answer=False)) == ""
    assert everything(path) == before
    assert not (home / "data").exists()


@pytest.mark.parametrize(
    ("owner", "to", "told"),
    [
        (HOST, HOST, "belongs to https://carrier.example as agency DEMO already"),
        (HOST, Owner("http://127.0.0.1:80", "DEMO"), "is the ledger of a real carrier (https://carrier.example as agency DEMO)"),
        (Owner("http://127.0.0.1:80", "DEMO"), HOST, "is the ledger of a trial (http://127.0.0.1:80 as agency DEMO)"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("default", [False, True])
def test_what_is_no_move_is_refused_wherever_the_ledger_lies(
    tmp_path: Path, owner: Owner, to: Owner, told: str, default: bool
) -> None:
    place = ledger_path.default_path(owner) if default else tmp_path / "a.ledger"
    with running(place, owner):
        pass
    before = everything(place)
    with pytest.raises(InputProblem, match=re.escape(f"{place}: {told}")):
        move(place, to, fail)
    assert everything(place) == before


@pytest.fixture
def default() -> Path:
    """A ledger in the default place of its carrier's address."""
    with running(ledger_path.default_path(HOST)) as book:
        issue(book, "N1", 1)
    return book.path


def test_a_ledger_in_its_default_place_is_found_at_the_new_address(
    default: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside: list[list[str]] = []
    sync = carrier_move.sync

    def synced(folder: Path) -> None:
        beside.append(sorted(left.name for left in folder.iterdir() if left.suffix != ".lock"))
        sync(folder)

    monkeypatch.setattr(carrier_move, "sync", synced)
    wanted = ledger_path.default_path(NEW_HOST)
    assert move(default).startswith(
        f"{wanted}: belonged to https://carrier.example as agency DEMO and belongs"
    )
    assert beside == [[wanted.name]], "it was closed before it was renamed"
    assert not default.exists()
    assert noted_run(default) is None
    assert rows(wanted, "SELECT base_url FROM ledger") == [(NEW_HOST.base_url,)]
    assert rows(wanted, MOVES) == [MOVED]
    assert_at_rest(wanted)
    with running(wanted, NEW_HOST):
        pass


def test_a_move_that_is_declined_leaves_the_ledger_in_its_default_place(default: Path) -> None:
    before = everything(default)
    assert move(default, confirm=Asked(answer=False)) == ""
    assert everything(default) == before
    assert not ledger_path.default_path(NEW_HOST).exists()


def test_a_move_that_was_cut_off_before_the_ledger_had_its_new_name_is_made_whole(
    default: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as cut:
        cut.setattr(carrier_move, "rename", raising(OSError(5, "Input/output error")))
        with pytest.raises(LedgerProblem, match="Input/output"):
            move(default)
    assert rows(default, "SELECT base_url FROM ledger") == [(NEW_HOST.base_url,)]
    # Or as it was to be renamed: it is expected under both names.
    wanted = ledger_path.default_path(NEW_HOST)
    with closing(Lock(wanted)) as lock:
        lock.run = noted_run(default)
    asked = Asked(answer=True)
    new = "https://new.example as agency DEMO"
    assert move(default, confirm=asked) == f"{wanted}: belonged to {new} and belongs to {new} from now on"
    assert asked.heard == [f"{default}: belongs to {new} and is to belong to {new}"]
    assert rows(wanted, MOVES) == [MOVED]
    assert_at_rest(wanted)
    assert not default.exists()


def raising(error: Exception) -> Callable[..., None]:
    def fails(*_: Any, **__: Any) -> None:
        raise error

    return fails


def test_a_move_takes_no_name_of_another_ledgers(default: Path) -> None:
    wanted = ledger_path.default_path(NEW_HOST)
    with running(wanted, NEW_HOST):
        pass
    before = everything(default)
    with pytest.raises(
        InputProblem, match=f"^{re.escape(str(wanted))}: the new address has a ledger already"
    ):
        move(default, confirm=fail)
    wanted.unlink()
    with pytest.raises(
        InputProblem, match=f"^{re.escape(str(wanted))}: there is no ledger, though one had this name"
    ):
        move(default, confirm=fail)
    assert everything(default) == before


@pytest.mark.parametrize("left", ["run", "spill"])
def test_a_ledger_that_is_to_be_renamed_is_put_in_order_first(default: Path, left: str) -> None:
    if left == "run":
        with running(default, exit_code=None):
            pass
    else:
        spill_path(default).touch()
    with pytest.raises(
        InputProblem, match=f"^{re.escape(str(default))}: its last run did not end; before the ledger moves"
    ):
        move(default, confirm=fail)
    assert default.exists()


def test_a_ledger_that_keeps_its_name_may_move_though_its_last_run_did_not_end(path: Path) -> None:
    with running(path, exit_code=None):
        pass
    assert move(path)
    assert rows(path, MOVES) == [MOVED]


# --- a ledger whose last run is not noted ----------------------------------------------------------


def nothing_missing(path: Path) -> str:
    return str(ledger_maintenance.nothing_missing(job(path), fail, "chen", "the old disk was full"))


def test_a_ledger_that_lacks_nothing_is_used_again_once_somebody_says_so(path: Path) -> None:
    path.with_name("a.ledger.lock").unlink()
    time.sleep(0.002)
    assert nothing_missing(path) == (
        f"{path}: may be used for sending again; recorded: nothing is missing (the old disk was full)"
    )
    ((since, why, closed_by, evidence),) = rows(path, "SELECT since, why, closed_by, evidence FROM gap")
    assert [(since,)] == rows(path, "SELECT ended_at FROM run")
    assert str(from_text(why)) == "its last run was not noted beside it, or on this machine"
    assert (closed_by, str(from_text(evidence))) == ("chen", "nothing is missing: the old disk was full")
    assert_at_rest(path)
    with running(path):
        pass


def test_there_is_nothing_to_say_of_a_ledger_whose_last_run_is_noted(path: Path) -> None:
    before = everything(path)
    with pytest.raises(InputProblem) as refused:
        nothing_missing(path)
    assert str(refused.value) == (
        f"{path}: its last run is noted beside it and on this machine, so that there is nothing to say"
    )
    assert everything(path) == before


def test_nothing_missing_closes_no_gap(path: Path, tmp_path: Path) -> None:
    kept = ledger_maintenance.backed_up(job(path), tmp_path / "kept.ledger")
    before = everything(kept)
    with pytest.raises(InputProblem) as refused:
        nothing_missing(kept)
    assert str(refused.value) == (
        f"{kept}: has a gap, which only the carrier's statement can close: voucher ledger close-gap"
    )
    assert everything(kept) | {"noted": None} == before | {"noted": None}


# --- gaps that are marked --------------------------------------------------------------------------


def mark(path: Path, since: datetime.datetime | None = None) -> str:
    return str(ledger_maintenance.gap_marked(job(path), fail, since, "an older copy"))


def marked(path: Path) -> Rows:
    return [(since, str(from_text(why))) for since, why in rows(path, "SELECT since, why FROM gap")]


def test_a_gap_begins_where_the_last_run_ended(path: Path) -> None:
    ((ended,),) = rows(path, "SELECT ended_at FROM run")
    assert mark(path) == (
        f"{path}: nothing is sent until the time from {local_text(ended)} on is settled (voucher ledger close-gap)"
    )
    assert marked(path) == [(ended, "an older copy")]
    assert_at_rest(path)


def test_a_gap_begins_where_the_run_began_whose_wal_is_lost(path: Path) -> None:
    with running(path, exit_code=None) as book:
        issue(book, "N2", 3)
    wal_path(path).unlink()
    ((begun,),) = rows(path, "SELECT max(started_at) FROM run")
    mark(path)
    assert marked(path) == [(begun, "an older copy")]
    assert rows(path, "SELECT number FROM attempt") == [("N1",)]


def test_a_gap_begins_when_somebody_says_in_the_time_of_this_machine(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        told = mark(empty, datetime.datetime.fromisoformat("2026-01-01T09:00"))
    finally:
        monkeypatch.delenv("TZ")
        time.tzset()
    assert "from 2026-01-01 09:00:00+08:00 on" in told
    assert marked(empty) == [("2026-01-01T01:00:00.000+00:00", "an older copy")]


def test_a_ledger_that_knows_no_time_is_to_be_told_one(empty: Path) -> None:
    with pytest.raises(InputProblem) as refused:
        mark(empty)
    assert str(refused.value) == "--since is missing: from when on may the ledger lack what was issued?"
    assert marked(empty) == []


@pytest.mark.usefixtures("far_west")
def test_today_is_the_day_where_the_time_is_said_and_not_where_the_machine_is(path: Path) -> None:
    there = datetime.datetime.now(datetime.timezone(datetime.timedelta(hours=14)))
    assert there.date() > datetime.datetime.now().astimezone().date()
    assert "nothing is sent until" in mark(path, there)


@pytest.fixture
def far_west(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine 26 hours behind the easternmost places."""
    monkeypatch.setenv("TZ", "Etc/GMT+12")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def days_ago(days: int) -> datetime.datetime:
    return datetime.datetime.now().astimezone() - datetime.timedelta(days=days)


@pytest.mark.parametrize("since", [datetime.datetime.fromisoformat("2025-12-31T23:59"), days_ago(-2)])
def test_a_gap_begins_on_no_day_on_which_there_was_no_ledger(path: Path, since: datetime.datetime) -> None:
    before = everything(path)
    with pytest.raises(InputProblem) as refused:
        mark(path, since)
    assert str(refused.value) == (
        f"--since {since:%Y-%m-%d}: is not a day on which this ledger was used; check the year"
    )
    assert everything(path) == before


def test_what_was_spilled_before_a_gap_is_set_aside_for_comparing(path: Path) -> None:
    ((ledger_id,),) = rows(path, "SELECT ledger_id FROM ledger")
    with Spill(spill_path(path), ledger_id, 1) as spill:
        spill.answer(1, Answered(200, b"sealed", ""))
    kept, aside = spill_path(path).read_bytes(), path.with_name("a.ledger.spill.kept")
    told = mark(path, days_ago(0))
    assert told.endswith(
        f" (voucher ledger close-gap); what was in its spill file is kept in {aside} for comparing"
    )
    assert told.startswith(
        f"{path}: nothing is sent until the time from {local_text(marked(path)[0][0])} on is settled"
    )
    assert aside.read_bytes() == kept
    assert not spill_path(path).exists()


def test_what_the_ledger_refuses_is_told_by_its_name(path: Path) -> None:
    before = everything(path)
    with pytest.raises(
        LedgerProblem, match=f"^{re.escape(str(path))}: the ledger refuses what would break its rules"
    ):
        ledger_maintenance.gap_marked(job(path), fail, None, "")
    assert everything(path)["gap"] == before["gap"] == []


# --- gaps that are closed --------------------------------------------------------------------------

NO_STATEMENT = (
    "voucher reconcile was given no statement since the gap was found that was made after {since} and lists anything;"
    " what the ledger lacks would be issued again. Give it the carrier's complete statement from then on: voucher reconcile --statement FILE"
)
UNREAD_STATEMENT = (
    "voucher reconcile could not read all of {files}, and what it did not read is not held and would be issued again;"
    " correct the statement, and give it to voucher reconcile again under its name"
)
GAPS = "SELECT closed_at IS NULL, closed_by, evidence FROM gap"


def close(path: Path, confirm: Callable[[Message], bool] = fail, note: Any = fail) -> str:
    return str(ledger_maintenance.gap_closed(job(path), note, "chen", "statement of 21 Nov", confirm))


def taken(path: Path, *statements: tuple[str, str]) -> None:
    """Statements that a reconciliation took in, and how."""
    with running(path) as book:
        for name, how in statements:
            handled = Handled("ab12", "statement", name, "", how, unfinished=False)
            inbox_files.record(book.connection, book.run, handled)


@pytest.fixture
def gap(path: Path) -> str:
    """When the gap of the ledger begins: at the end of its last run."""
    mark(path)
    return str(marked(path)[0][0])


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_gap_that_no_statement_was_compared_for_is_closed_if_somebody_confirms_it(
    path: Path, gap: str, confirmed: bool
) -> None:
    taken(path, ("october.csv", f"{NAMED} {EARLY}"))
    before, noted, asked = everything(path), list[str](), Asked(answer=confirmed)
    told = close(path, asked, lambda line: noted.append(str(line)))
    assert noted == [f"{path}: {NO_STATEMENT.format(since=local_text(gap))}"]
    assert asked.heard == [f"{path}: has a gap"]
    assert bool(told) is confirmed
    if not confirmed:
        assert everything(path) == before
        assert [bool(is_open) for is_open, *_ in rows(path, GAPS)] == [True]
    else:
        assert [bool(is_open) for is_open, *_ in rows(path, GAPS)] == [False]


def test_a_statement_that_was_compared_before_the_gap_was_found_shows_nothing_of_it(path: Path) -> None:
    taken(path, ("october.csv", NAMED))
    time.sleep(0.002)
    mark(path)
    noted = list[str]()
    assert close(path, Asked(answer=False), lambda line: noted.append(str(line))) == ""
    assert noted == [f"{path}: {NO_STATEMENT.format(since=local_text(marked(path)[0][0]))}"]


@pytest.mark.usefixtures("gap")
def test_a_gap_is_not_closed_unasked_while_a_statement_could_not_be_read(path: Path) -> None:
    taken(path, ("z.csv", UNREAD), ("a.csv", f"{NAMED} {UNREAD}"), ("whole.csv", NAMED))
    noted = list[str]()
    assert close(path, Asked(answer=False), lambda line: noted.append(str(line))) == ""
    assert noted == [f"{path}: {UNREAD_STATEMENT.format(files='a.csv, z.csv')}"]
    # What is corrected and given again under its name is read.
    taken(path, ("z.csv", NAMED), ("a.csv", NAMED))
    assert close(path)


def test_a_gap_is_closed_by_what_a_statement_showed(path: Path, tmp_path: Path) -> None:
    kept = ledger_maintenance.backed_up(job(path), tmp_path / "kept.ledger")
    mark(kept, days_ago(0))
    (first, _), (second, _) = marked(kept)
    taken(kept, ("november.csv", ""))
    assert close(kept) == (
        f"{kept}: may be used for sending again; settled: what was issued after {local_text(first)} (it is a backup);"
        f" what was issued after {local_text(second)} (an older copy)"
    )
    assert [(closed_by, str(from_text(said))) for _, closed_by, said in rows(kept, GAPS)] == [
        ("chen", "statement of 21 Nov")
    ] * 2
    assert_at_rest(kept)  # from now on it is this one whose runs are noted outside its folder
    with running(kept):
        pass


@pytest.mark.usefixtures("gap")
def test_a_gap_is_closed_with_the_number_of_charges_that_are_held_since(path: Path) -> None:
    taken(path, ("november.csv", ""))
    with running(path) as book:
        issued_elsewhere.record(book.connection, book.run, [(line("E1", 3), ""), (line("E1", 4), "")], "chen")
    assert close(path).endswith(" (an older copy); charges held since as a statement showed them: 2")


def test_a_ledger_without_a_gap_has_none_to_close(path: Path) -> None:
    before = everything(path)
    with pytest.raises(InputProblem) as refused:
        close(path)
    assert str(refused.value) == f"{path}: has no gap to close"
    assert everything(path) == before


# --- evidence that is withdrawn, vouchers that were reversed -----------------------------------------


def line(number: str, ticket: int, voucher: str = "invoice") -> StatementLine:
    """What a statement shows as issued to somebody."""
    ticket_no = f"999{ticket:010}"
    return StatementLine(
        voucher, number, ticket_no, "ticket_fare", "flight", 100_00, None, "Acme", "o.csv, row 7", "o.csv"
    )


@pytest.fixture
def settled(path: Path) -> Path:
    """A ledger with an entry of each kind: S1, E1, R1."""
    with running(path) as book:
        (attempt,) = book.plan(invoice(charge(3)))
        for state in ("sending", "unknown"):
            book.state(attempt.attempt_id, state)
        settlements.settle(
            book.connection, attempt.attempt_id, Settlement("not_sent", "", "li", "october.csv")
        )
        issued_elsewhere.record(book.connection, book.run, [(line("E9", 4), "")], "li")
        issue(book, "N2", 5)
        reversals.reverse(book.connection, reversals.SaidReversed("N2", "li", "red letter"))
    return path


def withdraw(path: Path, entry: str, note: Any = fail) -> list[str]:
    return [*map(str, ledger_maintenance.withdrawn(job(path), note, entry, "chen", "the wrong month"))]


@pytest.mark.parametrize(
    ("entry", "follows"),
    [
        (
            " s1 ",
            "request {request}, 1: is unknown again, and its charges are held until other evidence settles it",
        ),
        ("E1", "what a statement showed under E9: holds its charge no more"),
        ("R1", "N2: counts as issued again, and its charges are held"),
    ],
)
def test_what_is_withdrawn_is_recorded_with_what_follows(settled: Path, entry: str, follows: str) -> None:
    name = entry.strip().upper()
    assert withdraw(settled, entry) == [
        f"{settled}: {name} is withdrawn and counts no more",
        follows.format(request=invoice(charge(3)).request_id),
    ]
    query = "SELECT coalesce('S' || settlement, 'E' || elsewhere, 'R' || reversal), withdrawn_by, why FROM withdrawal"
    assert rows(settled, query) == [(name, "chen", "the wrong month")]
    assert_at_rest(settled)


def test_an_entry_that_is_not_there_is_withdrawn_in_no_ledger(settled: Path) -> None:
    before = everything(settled)
    with pytest.raises(InputProblem, match="S7: there is no such entry"):
        withdraw(settled, "S7")
    after = everything(settled)
    assert {name: after[name] for name in after if name != "noted"} == {
        name: before[name] for name in before if name != "noted"
    }


def reverse(path: Path, voucher: str = "", red: str = "") -> list[str]:
    said = SaidReversed("N1", "chen", "red letter of 3 Dec", voucher, red)
    done = ledger_maintenance.voucher_reversed(job(path), fail, said)
    return [*map(str, done)]


REVERSALS = "SELECT voucher, number, red_number, reversed_by, evidence FROM reversal"


def test_a_voucher_that_was_reversed_is_recorded_and_its_tickets_are_told(path: Path) -> None:
    assert reverse(path, red="RED1") == [
        f"{path}: N1 is recorded as reversed (R1); its 2 charges may be issued again",
        f"Tickets: {', '.join(TICKETS)}",
    ]
    ((*reversal, evidence),) = rows(path, REVERSALS)
    assert (*reversal, str(from_text(evidence))) == ("invoice", "N1", "RED1", "chen", "red letter of 3 Dec")
    assert_at_rest(path)


def test_a_ticket_of_several_charges_is_told_once(tmp_path: Path) -> None:
    with running(tmp_path / "a.ledger") as book:
        (attempt,) = book.plan(invoice(charge(1, "ancillary", "seat"), charge(1, "ancillary", "meal")))
        book.state(attempt.attempt_id, "sending")
        book.state(attempt.attempt_id, "issued", "N1")
    assert reverse(book.path)[1] == f"Tickets: {TICKETS[0]}"


def test_of_an_invoice_and_an_itinerary_of_one_number_the_one_that_is_named_is_reversed(path: Path) -> None:
    with running(path) as book:
        issued_elsewhere.record(book.connection, book.run, [(line("N1", 7, "itinerary"), "")], "li")
    with pytest.raises(InputProblem, match="say which with --voucher"):
        reverse(path)
    assert rows(path, REVERSALS) == []
    assert reverse(path, "itinerary")[1] == "Tickets: 9990000000007"
    assert [row[0] for row in rows(path, REVERSALS)] == ["itinerary"]


# --- what every change does ------------------------------------------------------------------------


def gap_in(path: Path) -> None:
    mark(path)


def unnoted(_path: Path) -> None:
    for place in last_run_witness.places():
        for note in place.iterdir():
            note.unlink()


#: How a ledger comes to need each change, the change, and where it is recorded.
CHANGES: dict[str, tuple[Callable[[Path], None] | None, Callable[[Job, Any], Any], Any, str]] = {
    "move": (
        None, lambda job, note: ledger_maintenance.moved(job, note, "a letter", "chen", lambda _: True), carrier_move, "move",
    ),
    "nothing missing": (
        unnoted, lambda job, note: ledger_maintenance.nothing_missing(job, note, "chen", "a disk"), gaps, "mark_gap",
    ),
    "mark": (None, lambda job, note: ledger_maintenance.gap_marked(job, note, None, "a copy"), gaps, "mark_gap"),
    "close": (
        gap_in, lambda job, note: ledger_maintenance.gap_closed(job, note, "chen", "a statement", lambda _: True), gaps, "close_gaps",
    ),
    "withdraw": (None, lambda job, note: ledger_maintenance.withdrawn(job, note, "S1", "chen", "a month"), withdrawals, "withdraw"),
    "reverse": (
        None, lambda job, note: ledger_maintenance.voucher_reversed(job, note, SaidReversed("N1", "chen", "a letter")), reversals, "reverse",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_made_while_the_file_is_noted_as_one_that_may_be_half_written(
    settled: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare, change, module, function = CHANGES[name]
    if prepare:
        prepare(settled)
    seen = list[Any]()
    real = getattr(module, function)

    def watched(*given: Any, **named: Any) -> Any:
        seen.append(noted_run(settled))
        return real(*given, **named)

    monkeypatch.setattr(module, function, watched)
    change(job(settled, NEW_HOST), lambda _: None)
    assert [last and last.phase for last in seen] == [Phase.FOLDING]
    assert_at_rest(settled)


@pytest.mark.parametrize("name", CHANGES)
def test_whoever_changes_an_older_ledger_is_told_that_it_was_upgraded(settled: Path, name: str) -> None:
    prepare, change, *_ = CHANGES[name]
    if prepare:
        prepare(settled)
    noted = list[str]()
    with next_version.program(1):
        change(job(settled, NEW_HOST), lambda line: noted.append(str(line)))
    before = settled.with_name(f"a.ledger.version-{VERSION}")
    assert (
        noted[0]
        == f"The ledger was upgraded from version {VERSION} to {VERSION + 1}; as it was before: {before}"
    )


@pytest.mark.parametrize("name", CHANGES)
def test_no_change_makes_a_ledger(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        InputProblem, match=f"^{re.escape(str(tmp_path / 'none.ledger'))}: there is no ledger, though"
    ):
        CHANGES[name][1](job(tmp_path / "none.ledger", NEW_HOST), fail)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", sorted(CHANGES.keys() - {"mark", "nothing missing"}))
def test_what_may_be_an_older_copy_is_changed_only_by_saying_what_it_lacks(settled: Path, name: str) -> None:
    unnoted(settled)
    with pytest.raises(InputProblem, match="its last run is not noted on this machine"):
        CHANGES[name][1](job(settled, NEW_HOST), fail)
    assert CHANGES["mark"][1](job(settled), fail)


def test_a_ledger_that_was_put_back_is_not_said_to_lack_nothing(path: Path) -> None:
    earlier = {left: left.read_bytes() for left in path.parent.iterdir()}
    with running(path):
        pass
    for left, data in earlier.items():
        left.write_bytes(data)
    with pytest.raises(InputProblem, match="was put back from an earlier time"):
        nothing_missing(path)
    assert mark(path)


# --- exports ---------------------------------------------------------------------------------------


def exported(
    path: Path, wanted: Path, lang: Any = "en", zone: str = "UTC"
) -> tuple[dict[str, str], dict[str, Rows]]:
    """The facts on the first sheet of an export, and the rows of the others under their names."""
    first, *others = openpyxl.load_workbook(ledger_export.exported(job(path), wanted, lang, zone))
    return dict(first.iter_rows(values_only=True)), {
        sheet.title: [*sheet.iter_rows(values_only=True)] for sheet in others
    }


@pytest.mark.slow
def test_an_export_tells_whose_ledger_it_is_and_what_it_may_lack(settled: Path, tmp_path: Path) -> None:
    assert "Gap" not in exported(settled, tmp_path / "whole.xlsx")[0]
    kept = ledger_maintenance.backed_up(job(settled), tmp_path / "kept.ledger")
    ((since,),) = rows(kept, "SELECT since FROM gap")
    ((ledger_id, created),) = rows(kept, "SELECT ledger_id, created_at FROM ledger")
    before = utc_now()
    facts, _ = exported(kept, tmp_path / "audit.xlsx", "en", "Asia/Shanghai")
    assert before <= facts.pop("Exported (UTC)") <= utc_now()
    assert facts == {
        "fact": "value", "Ledger": str(kept), "Ledger ID": ledger_id, "Carrier": "https://carrier.example as agency DEMO",
        "Version of the ledger": f"{VERSION}", "Begun (UTC)": created, "Exported by": f"voucher-pipeline {__version__}",
        "Attempts": "2 issued, 1 not_sent", "Gap": f"may lack what was issued after {since} (it is a backup)",
        "Times on the sheets": "Asia/Shanghai",
        "Left out": "the carrier's raw answers: sealed data, kept in the ledger",
    }  # fmt: skip
    facts, sheets = exported(kept, tmp_path / "zh.xlsx", "zh")
    assert (facts["承运人"], facts["请求次数"], facts["缺口"]) == (
        "https://carrier.example（代理人 DEMO）", "2 已开具, 1 未发送", f"可能缺少 {since} 之后开具的内容（它是备份）",
    )  # fmt: skip
    assert {name: len(found) - 1 for name, found in sheets.items()} == {
        "Requests": 3, "Charges": 4, "Issued elsewhere": 1, "Reversals": 1, "Withdrawals": 0, "Judgements": 0, "Runs": 2, "People": 0, "Files": 0, "Itinerary files": 0,
        "Gaps and moves": 1,
    }  # fmt: skip


@pytest.mark.parametrize("owner", [HOST, sandbox_owner("DEMO")], ids=["carrier", "sandbox"])
def test_an_export_says_on_every_page_that_a_sandbox_issued_what_it_lists(
    tmp_path: Path, owner: Owner
) -> None:
    with running(tmp_path / "a.ledger", owner) as book:
        issue(book, "N1", 1)
    audit = openpyxl.load_workbook(
        ledger_export.exported(job(book.path), tmp_path / "audit.xlsx", "en", "UTC")
    )
    pages = {sheet.oddHeader.center.text for sheet in audit}
    assert pages == {"SANDBOX 沙箱" if owner.is_sandbox else None}


def test_an_export_is_read_from_a_copy_in_its_own_folder_that_nobody_takes_for_the_ledger(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    seen = list[list[str]]()
    write = ledger_export.write_audit

    def written(*given: Any) -> Path:
        seen.append(sorted(str(left.relative_to(tmp_path / "out")) for left in (tmp_path / "out").rglob("*")))
        return write(*given)

    monkeypatch.setattr(ledger_export, "write_audit", written)
    exported(path, tmp_path / "out" / "audit.xlsx")
    (((made,)),) = seen
    assert re.fullmatch(r"\.voucher-[^/]+", made)
    assert [left.name for left in (tmp_path / "out").iterdir()] == ["audit.xlsx"]


def test_an_older_ledger_is_exported_like_one_of_today(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = export._QUERIES["requests"].replace("http_status", "later_0 AS http_status")
    monkeypatch.setitem(export._QUERIES, "requests", query)
    with next_version.program(1):
        assert "not told" in exported(path, tmp_path / "audit.xlsx")[1]["Requests"][1]


@pytest.mark.parametrize(
    ("name", "problem", "told"),
    [
        ("audit.csv", InputProblem, "the export is an Excel workbook; give it a name that ends in .xlsx"),
        (
            "no/audit.xlsx",
            InputProblem,
            "there is no folder {0}/no; create it, or choose a folder that exists and that you may write to",
        ),
        ("full.xlsx", LedgerProblem, "can't be written (disk I/O error); choose a folder that exists and has room"),
    ],
)  # fmt: skip
def test_an_export_that_can_not_be_made_names_its_place_and_leaves_nothing(
    path: Path, tmp_path: Path, name: str, problem: type[Exception], told: str
) -> None:
    with pytest.raises(problem) as refused, small_files(SHARED_MEMORY):
        ledger_export.exported(job(path), tmp_path / name, "en", "UTC")
    assert str(refused.value) == f"{tmp_path / name}: {told.format(tmp_path)}"
    assert sorted(left.name for left in tmp_path.iterdir()) == ["books", "home"]


def test_a_copy_that_fails_while_it_is_exported_is_told_by_the_ledgers_name(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_export, "write_audit", raising(apsw.IOError("disk I/O error")))
    with pytest.raises(LedgerProblem, match=f"^{re.escape(str(path))}: the ledger can't be read or written"):
        ledger_export.exported(job(path), tmp_path / "audit.xlsx", "en", "UTC")
