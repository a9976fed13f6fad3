"""A run and its ledger: which one it gets, in what order, what is recorded of it, and what is said where the file fails."""

import contextlib
import datetime
import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from pipeline import open_ledger
from pipeline.ledger import (
    attempts,
    clock,
    epochs,
    first_ledger,
    gaps,
    last_run_witness,
    ledger_path,
    opening,
    runs,
)
from pipeline.ledger.clock import local_text, utc_now
from pipeline.ledger.judgements import Judgement
from pipeline.ledger.ledger_file import LedgerFile, as_problem
from pipeline.ledger.lock import LastRun, Named
from pipeline.ledger.session import OpenLedger, file_to_write
from pipeline.ledger.spill import Spill, spill_path
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.job import Job, Watch
from pipeline.model.known_charges import KnownCharges
from pipeline.model.message import NOTHING, verbatim
from pipeline.model.outcome import Answered, Outcome
from pipeline.model.profile import Carrier, Owner, Profile, Terms, sandbox_owner
from pipeline.model.request import Identity
from pipeline.rules.judge import judge
from pipeline.splitting import split
from pipeline.submission.charge_details import charge_details
from tests import next_version
from tests.conftest import AS_OF
from tests.unit.ledger.conftest import OWNER, Book, charge, invoice

HOST = Owner("https://carrier.example", "DEMO")
TERMS = Terms(AS_OF, Profile())
LATER = "2027-02-03T04:05:06.000+00:00"
UNNOTED = "its last run is not noted beside it"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, state_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where ledgers lie by default, for each test another folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("VOUCHER_WITNESS", raising=False)
    assert not state_folder.exists()
    return tmp_path / "home"


@dataclass
class Said:
    """What whoever watches a run is told."""

    noted: list[str] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)

    @property
    def watch(self) -> Watch:
        return Watch(
            lambda said: self.noted.append(str(said)),
            lambda _: None,
            lambda _: True,
            lambda said: self.warned.append(str(said)),
        )


def never(*_: object) -> Outcome:
    raise AssertionError("there is no answer to interpret")


def job(path: Path | None = None, owner: Owner = OWNER, **changes: Any) -> Job:
    carrier = Carrier(base_url=owner.base_url, agency=owner.agency)
    return Job((), Profile(carrier=carrier), None, **{"ledger": str(path) if path else None, **changes})


@contextmanager
def written(given: Job, said: Said | None = None, meaning: Any = never) -> Iterator[OpenLedger]:
    with file_to_write(given, (said or Said()).watch, meaning) as ledger:
        yield ledger


def made(path: Path, owner: Owner = OWNER, *, ran: bool = False) -> Path:
    """A ledger at rest, that knows of no run, or of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection, lock = opening.open_for_run(path, owner, may_create=True)
    with closing(lock), closing(connection):
        if ran:
            runs.end(connection, lock, runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20")), 0)
    return path


def damage(path: Path) -> None:
    """Spoil the page that the attempts begin on, which nothing looks at while the ledger is opened."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        page: Any = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'attempt'").get
    data = bytearray(path.read_bytes())
    data[(page - 1) * 4096 : page * 4096] = b"\xa5" * 4096
    path.write_bytes(data)


@pytest.fixture
def ledger(book: Book) -> OpenLedger:
    """The book's ledger, in its run."""
    return OpenLedger(book.path, book.connection, book.lock, Named(book.path), None)


def rows(ledger: OpenLedger, query: str) -> list[Any]:
    return list(ledger._connection.execute(query))


def fare(number: int) -> Identity:
    return charge(number).identity


# --- what a run asks of it -------------------------------------------------------------------------


def test_a_ledger_without_a_gap_lacks_nothing(ledger: OpenLedger) -> None:
    assert ledger.lacking() is NOTHING
    ledger.check_complete(2)


def test_nothing_is_sent_while_a_gap_is_open(ledger: OpenLedger) -> None:
    gaps.mark_gap(ledger._connection, "2026-11-01", verbatim("a copy was put back"))
    lacking = f"this ledger may lack what was issued after {local_text('2026-11-01')} (a copy was put back)"
    assert str(ledger.lacking()) == lacking
    with pytest.raises(InputProblem) as refused:
        ledger.check_complete(2)
    said = f"{ledger.path}: {lacking}, so that the 2 requests of this run may be issued already; nothing was sent."
    assert str(refused.value).startswith(said)


def test_what_is_known_of_tickets_is_known_of_those_alone(ledger: OpenLedger, book: Book) -> None:
    issued, refused, doubted, other = book.plan(*(invoice(charge(number)) for number in (1, 2, 3, 4)))
    for attempt, state in (
        (issued, "issued"),
        (refused, "rejected"),
        (doubted, "unknown"),
        (other, "issued"),
    ):
        book.state(attempt.attempt_id, "sending")
        book.state(attempt.attempt_id, state, f"N{attempt.attempt_id}" if state == "issued" else "")
    known = ledger.holdings([fare(number).ticket_no for number in (1, 2, 3)])
    assert {identity: (of.state, of.number) for identity, of in known.held.items()} == {
        fare(1): ("issued", "N1"), fare(3): ("unknown", ""),
    }  # fmt: skip
    assert [*ledger.refusals([fare(2).ticket_no])] == [fare(2)]
    assert ledger.refusals([fare(1).ticket_no]) == {}
    (unsettled,) = ledger.contents([(doubted.request.request_id, 1)])
    assert [identity for identity, _, _ in unsettled.charges] == [fare(3)]


def test_what_was_issued_in_a_time_is_that_from_its_beginning_and_before_its_end(
    ledger: OpenLedger, book: Book
) -> None:
    """In times of any zone."""
    ended = (
        "2026-09-30T15:59:59.999",
        "2026-09-30T16:00:00.000",
        "2026-10-31T15:59:59.999",
        "2026-10-31T16:00:00.000",
    )
    for attempt, at in zip(book.plan(*(invoice(charge(n)) for n in range(4))), ended, strict=True):
        book.state(attempt.attempt_id, "sending")
        book.connection.execute(
            "UPDATE attempt SET state = 'issued', number = attempt_id, ended_at = ? WHERE attempt_id = ?",
            (f"{at}+00:00", attempt.attempt_id),
        )
    shanghai = datetime.timezone(datetime.timedelta(hours=8))
    first, end = (datetime.datetime(2026, month, 1, tzinfo=shanghai) for month in (10, 11))
    assert {*ledger.issued_between(first, end)} == {fare(1), fare(2)}


def test_it_is_known_by_its_own_id_and_by_its_epochs(ledger: OpenLedger) -> None:
    ((ledger_id,),) = rows(ledger, "SELECT ledger_id FROM ledger")
    assert ledger.ledger_id == ledger_id
    assert ledger.epoch == epochs.current(ledger._connection) != ""


def test_a_judgement_is_noted_of_the_run(ledger: OpenLedger, book: Book) -> None:
    judged = Judgement("9990000000001", "ticket_fare", "flight", "invoice", 100_00, "waiting", "ticket_still_open", "a.xlsx", "T", 2)  # fmt: skip
    ledger.note_judgements(book.run, [judged])
    assert rows(ledger, "SELECT run, ticket_no, status, amount, row FROM judgement") == [
        (book.run, "9990000000001", "waiting", 100_00, 2)
    ]


def test_a_run_is_recorded_with_what_it_was_asked(ledger: OpenLedger) -> None:
    """Files by their names, of which one may be no text; and noted beside the ledger."""
    names = [Path("机票.xlsx"), Path(os.fsdecode(b"\xff.csv"))]
    number = ledger.begin("reconcile", TERMS, names)
    assert rows(ledger, f"SELECT command, as_of, files, ended_at FROM run WHERE run = {number}") == [
        ("reconcile", "2026-11-20", '["机票.xlsx", "?.csv"]', None)
    ]
    assert rows(ledger, "SELECT * FROM clock_correction") == []
    assert ledger.lock.run is not None
    assert ledger.lock.run.run == number


def test_a_correction_of_the_clock_is_recorded_with_the_run(ledger: OpenLedger) -> None:
    replace(ledger, corrected=(LATER, "chen")).begin("issue", TERMS, [])
    assert rows(ledger, "SELECT latest, corrected_by FROM clock_correction") == [(LATER, "chen")]


def test_charges_are_planned_with_the_rows_that_they_come_from_and_what_these_say_beside(
    ledger: OpenLedger, full_profile: Profile, table_of: Callable[..., Any]
) -> None:
    given = [
        {"ticket_no": f"999000000000{at}", "cost_centre": f"CC-{at}", "amount": "", "fare": "900", "airport_fee": "50"}
        for at in (1, 2)
    ]  # fmt: skip
    table, terms, known = table_of(given), Terms(AS_OF, full_profile), KnownCharges()
    verdicts = judge(table, known, terms)
    requests, of_rows = split(verdicts, known, terms), verdicts.rows
    run = ledger.begin("issue", terms, [])
    planned = ledger.plan(run, requests, of_rows, charge_details(table, of_rows))
    assert [attempt.request for attempt in planned] == list(requests)
    assert rows(
        ledger, "SELECT run, ticket_no, file, sheet, row, components, carried FROM charge JOIN attempt USING (attempt_id)"
    ) == [
        (run, f"999000000000{at}", "tickets.xlsx", "Tickets", at + 1,
         json.dumps({"fare": 900_00, "airport_fee": 50_00}), json.dumps({"cost_centre": f"CC-{at}"}))
        for at in (1, 2)
    ]  # fmt: skip


# --- how a run ends --------------------------------------------------------------------------------


def test_a_run_that_ends_forgets_what_was_not_sent(ledger: OpenLedger, book: Book) -> None:
    run = ledger.begin("issue", TERMS, [])
    book.plan(invoice(charge(1)))
    ledger.end(run, 3)
    ((ended, code),) = rows(ledger, f"SELECT ended_at, exit_code FROM run WHERE run = {run}")
    assert (bool(ended), code, book.states()) == (True, 3, {})


def test_a_ledger_whose_name_leads_elsewhere_is_left_as_it_is(ledger: OpenLedger, book: Book) -> None:
    run = ledger.begin("issue", TERMS, [])
    book.plan(invoice(charge(1)))
    ledger.path.rename(ledger.path.with_name("renamed"))
    ledger.end(run, 3)
    assert rows(ledger, f"SELECT ended_at FROM run WHERE run = {run}") == [(None,)]
    assert [*book.states().values()] == ["planned"]


def close(book: Book, _state: Path) -> None:
    book.connection.close()


def put_folder_for_the_lock(book: Book, _state: Path) -> None:
    path = book.path.with_name(f"{book.path.name}.lock")
    path.unlink()
    path.mkdir()


def put_file_for_the_notes(_book: Book, state: Path) -> None:
    state.rename(state.with_name("gone"))
    state.touch()


@pytest.mark.parametrize("spoil", [close, put_folder_for_the_lock, put_file_for_the_notes])
def test_an_end_that_can_not_be_recorded_is_left_to_the_next_start(
    tmp_path: Path, state_folder: Path, spoil: Callable[[Book, Path], None]
) -> None:
    """The results are written by then: nothing is lost by it, and nothing raised."""
    given = job(tmp_path / "a.ledger")
    with written(given) as ledger:
        run = ledger.begin("issue", TERMS, [])
        spoil(Book.of(ledger.path, ledger._connection, run), state_folder)
        ledger.end(run, 0)


# --- what is said where its file fails ------------------------------------------------------------


ASKED: dict[str, Callable[[OpenLedger], Any]] = {
    "lacking": lambda ledger: ledger.lacking(),
    "holdings": lambda ledger: ledger.holdings(["9990000000001"]),
    "issued between": lambda ledger: ledger.issued_between(*[datetime.datetime.now(datetime.UTC)] * 2),
    "ID": lambda ledger: ledger.ledger_id,
    "epoch": lambda ledger: ledger.epoch,
    "refusals": lambda ledger: ledger.refusals(["9990000000001"]),
    "judgements": lambda ledger: ledger.note_judgements(1, []),
    "contents": lambda ledger: ledger.contents([("r", 1)]),
    "issued requests": lambda ledger: ledger.issued_requests([("r", 1)]),
    "begin": lambda ledger: ledger.begin("issue", TERMS, []),
}


@pytest.mark.parametrize("asked", ASKED)
def test_a_file_that_fails_is_named(ledger: OpenLedger, asked: str) -> None:
    ledger._connection.close()
    with pytest.raises(LedgerProblem) as failed:
        ASKED[asked](ledger)
    assert str(failed.value).startswith(f"{ledger.path}: the ledger can't be read or written (")


def test_a_file_that_takes_no_plan_is_named(
    ledger: OpenLedger, full_profile: Profile, table_of: Callable[..., Any]
) -> None:
    verdicts = judge(table_of([{}]), KnownCharges(), Terms(AS_OF, full_profile))
    ledger._connection.close()
    with pytest.raises(LedgerProblem) as failed:
        ledger.plan(1, [], verdicts.rows, lambda _: ("{}", "{}"))
    assert str(failed.value).startswith(f"{ledger.path}: ")


def after(cause: Exception, error: Exception) -> Exception:
    """An error that came up while another one was dealt with."""
    error.__context__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (apsw.CorruptError("malformed"), "the ledger is damaged (malformed). If it is damaged, restore its backup"),
        (apsw.NotADBError("no database"), "the ledger is damaged (no database). If it is"),
        (apsw.BusyError("is locked"), "another program is using the ledger (is locked); let it end"),
        (apsw.LockedError("a table is locked"), "another program is using the ledger (a table is locked)"),
        (apsw.ConstraintError("not unique"), "the ledger refuses what would break its rules (not unique); look it over"),
        (apsw.FullError("disk is full"), "the ledger can't be read or written (disk is full); free disk space"),
        (OSError("no disk"), "the ledger can't be read or written (no disk); free disk space"),
        (after(OSError("the disk is gone"), apsw.IOError("disk I/O error")), "the ledger can't be read or written (the disk is gone);"),
    ],
)  # fmt: skip
def test_a_failure_is_told_with_its_cure(error: Exception, said: str) -> None:
    with pytest.raises(LedgerProblem) as failed, as_problem(Path("a.ledger")):
        raise error
    assert str(failed.value).startswith(f"a.ledger: {said}")


# --- what is said of one that may lack something ---------------------------------------------------


def test_what_may_be_missing_is_noted_by_whoever_only_reads(book: Book) -> None:
    said = Said()
    LedgerFile(book.path, book.connection).note_gap(said.watch.note)
    assert said.noted == []
    gaps.mark_gap(book.connection, "2026-11-01", verbatim("a copy was put back"))
    LedgerFile(book.path, book.connection).note_gap(said.watch.note)
    assert said.noted == [
        f"This ledger may lack what was issued after {local_text('2026-11-01')} (a copy was put back): nothing is sent until voucher ledger close-gap"
    ]


def doubts(path: Path) -> tuple[str, list[str]]:
    """Why it is doubted, and what is noted of that."""
    said = Said()
    with closing(opening.open_existing(path, None)) as connection:
        ledger = LedgerFile(path, connection)
        ledger.note_doubt(said.watch.note)
        return str(ledger.doubt()), said.noted


def test_a_doubt_is_noted_and_no_doubt_is_not(tmp_path: Path) -> None:
    path = made(tmp_path / "a.ledger", ran=True)
    (tmp_path / "link").symlink_to(path)
    assert doubts(tmp_path / "link") == ("", [])
    path.with_name("a.ledger.lock").unlink()
    told, noted = doubts(tmp_path / "link")
    assert told.startswith(f"{path}: {UNNOTED} (a.ledger.lock)")
    assert noted == [told]


def test_a_ledger_that_was_put_back_is_doubted_by_what_is_noted_outside_its_folder(tmp_path: Path) -> None:
    path = made(tmp_path / "books" / "a.ledger", ran=True)
    earlier = {left: left.read_bytes() for left in path.parent.iterdir()}
    with written(job(path)) as ledger:
        ledger.end(ledger.begin("issue", TERMS, []), 0)
    for left, data in earlier.items():
        left.write_bytes(data)
    told, noted = doubts(path)
    assert f"{path}: was put back from an earlier time" in told
    assert noted == [told]


def test_what_keeps_doubts_from_being_told_is_told_in_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path / "a.ledger")
    monkeypatch.setenv("VOUCHER_WITNESS", str(tmp_path / "gone"))
    assert doubts(path)[0].startswith(f"VOUCHER_WITNESS: there is no folder {tmp_path / 'gone'}")


# --- for looking -----------------------------------------------------------------------------------


def looked(given: Job) -> str | None:
    """The ID of the ledger that is looked at, None where there is none."""
    with open_ledger.ledger_to_read(given) as ledger:
        found = ledger.ledger_id if ledger else None
    if ledger:
        with pytest.raises(LedgerProblem):
            ledger.as_of_now()
    return found


def id_of(path: Path) -> str:
    with closing(opening.open_existing(path, None)) as connection:
        return opening.ledger_id(connection)


def test_the_ledger_that_is_looked_at_is_the_named_one_or_the_carriers(tmp_path: Path) -> None:
    assert looked(job()) is None
    assert looked(job(tmp_path / "no.ledger")) is None
    named, own = made(tmp_path / "a.ledger"), made(ledger_path.default_path(OWNER))
    assert looked(job(named)) == id_of(named)
    assert looked(job()) == id_of(own)


@pytest.mark.parametrize(
    ("left_behind", "cure"), [(True, "Put it back, or restore its backup"), (False, "mount its disk")]
)
def test_a_ledger_that_is_missing_though_one_lay_there_is_not_taken_for_one_that_never_was(
    tmp_path: Path, left_behind: bool, cure: str
) -> None:
    path = made(tmp_path / "disk" / "a.ledger", ran=True)
    moved = path if left_behind else path.parent
    away = moved.rename(tmp_path / "away")
    with pytest.raises(InputProblem, match=cure):
        looked(job(path))
    assert looked(job(tmp_path / "another.ledger")) is None
    away.rename(moved)
    assert looked(job(path)) == id_of(path)


def test_where_another_ledger_is_asked_for_the_one_that_lay_there_is_not_waited_for(tmp_path: Path) -> None:
    path = made(tmp_path / "disk" / "a.ledger", ran=True)
    path.parent.rename(tmp_path / "away")
    assert looked(job(path, new_ledger=True)) is None


def test_a_ledger_that_its_first_run_makes_meanwhile_is_not_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.ledger"
    asked = first_ledger.noted_run

    def meanwhile(ledger: Path) -> LastRun | None:
        made(path, ran=True)
        return asked(ledger)

    monkeypatch.setattr(first_ledger, "noted_run", meanwhile)
    assert looked(job(path)) is None


def test_without_a_carrier_a_named_ledger_is_looked_at_whosever_it_is(tmp_path: Path) -> None:
    nobody, path = Owner("", "DEMO"), made(tmp_path / "a.ledger", HOST)
    assert looked(job(path, nobody)) == id_of(path)
    assert looked(job(None, nobody)) is None


def test_another_carriers_ledger_is_not_looked_at(tmp_path: Path) -> None:
    with pytest.raises(InputProblem, match=r"this ledger belongs to https://carrier\.example"):
        looked(job(made(tmp_path / "a.ledger", HOST)))


def test_a_sandbox_of_its_own_has_no_ledger_and_a_named_one_is_looked_at() -> None:
    sandbox = sandbox_owner("DEMO")
    path = made(ledger_path.default_path(sandbox), sandbox)
    assert looked(job(sandbox=True)) is None
    assert looked(job(path, sandbox=True)) == id_of(path)


def test_a_ledger_that_fails_while_it_is_looked_at_is_named(tmp_path: Path) -> None:
    path = made(tmp_path / "a.ledger")
    with pytest.raises(LedgerProblem) as failed, open_ledger.ledger_to_read(job(path)):
        raise apsw.FullError("disk is full")
    assert str(failed.value).startswith(f"{path}: the ledger can't be read or written (disk is full)")


# --- for sending -----------------------------------------------------------------------------------


def noted_outside() -> list[str]:
    """The IDs of the ledgers whose runs are noted outside their folders."""
    return [
        note.stem
        for place in last_run_witness.places()
        if place.is_dir()
        for note in place.glob("*.last-run")
    ]


def test_a_first_ledger_is_told_of_and_kept(tmp_path: Path) -> None:
    path, said = tmp_path / "a.ledger", Said()
    with written(job(path), said) as ledger:
        assert ledger.path == path
        assert ledger.corrected is None
        assert rows(ledger, "SELECT base_url, agency FROM ledger") == [(OWNER.base_url, OWNER.agency)]
        ledger.end(ledger.begin("issue", TERMS, []), 0)
    assert said.noted == [f"Ledger: {path}"]
    (warned,) = said.warned
    assert warned.startswith(f"A new ledger was begun: {path}; keep it, and back it up")
    assert [*map(len, noted_outside())] == [32]


def test_a_ledger_is_let_go_of_when_the_run_ends(tmp_path: Path) -> None:
    path, said = tmp_path / "a.ledger", Said()
    with written(job(path)) as first:
        pass
    with pytest.raises(apsw.ConnectionClosedError):
        first._connection.execute("SELECT 1")
    page = replace(job(path), operator="Li Na", on_page=True)
    with (
        written(page, said) as again,
        pytest.raises(
            LedgerProblem, match=r"another run is using this ledger \(by Li Na, on the page, since "
        ),
        written(job(path)),
    ):
        pass
    assert (said.noted, said.warned) == ([f"Ledger: {path}"], [])
    assert again.path == path


def test_a_sandbox_of_its_own_leaves_no_ledger(home: Path) -> None:
    said = Said()
    with written(job(owner=HOST, sandbox=True), said) as ledger:
        folder = ledger.path.parent
        assert (folder.is_dir(), folder.name.startswith("voucher-")) == (True, True), (
            "whose it is if it is left behind"
        )
        ledger.end(ledger.begin("issue", TERMS, []), 0)
    assert not folder.exists()
    assert said.noted == ["Sandbox: nothing reaches a real carrier; the ledger is thrown away after this run"]
    assert (said.warned, noted_outside(), home.exists()) == ([], [], False)


def test_a_run_is_about_the_ledger_under_its_name(tmp_path: Path) -> None:
    """By whatever way it is named: when another takes that name the run sees it."""
    path = made(tmp_path / "a.ledger")
    (tmp_path / "link").symlink_to(path)
    with written(job(tmp_path / "link")) as ledger:
        assert not ledger.named.gone
        path.rename(tmp_path / "b.ledger")
        assert ledger.named.gone


def test_another_carriers_ledger_is_not_sent_with(tmp_path: Path) -> None:
    with (
        pytest.raises(InputProblem, match="this ledger belongs to"),
        written(job(made(tmp_path / "a.ledger", HOST))),
    ):
        pass


def test_an_upgrade_is_told_of(tmp_path: Path) -> None:
    path, said = made(tmp_path / "a.ledger"), Said()
    with next_version.program(1), written(job(path), said):
        pass
    assert any("The ledger was upgraded from version" in line for line in said.noted), said.noted


def test_a_ledger_that_is_damaged_where_its_opening_does_not_look_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    killed(path, None)
    with written(job(path)):
        pass
    damage(path)
    with pytest.raises(LedgerProblem, match=rf"^{path}: the ledger is damaged"), written(job(path)):
        pass


# --- what an earlier run left ----------------------------------------------------------------------


def killed(path: Path, *left: Answered | Outcome | None) -> None:
    """A run that left an attempt for each of these: without an answer, with one that is not read yet, or spilled."""
    connection, lock = opening.open_for_run(path, OWNER, may_create=True)
    with closing(lock), closing(connection):
        book = Book.of(path, connection, runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20")))
        planned = book.plan(*(invoice(charge(at)) for at, _ in enumerate(left)))
        spill = Spill(spill_path(path), opening.ledger_id(connection), 1)
        for attempt, found in zip(planned, left, strict=True):
            connection.execute(
                "UPDATE attempt SET state = 'sending', sending_at = ? WHERE attempt_id = ?",
                (utc_now(), attempt.attempt_id),
            )
            if isinstance(found, Answered):
                attempts.record_answer(connection, attempt.attempt_id, found)
            elif found:
                spill.ended(attempt.attempt_id, found)
        spill.close()


SPILLED, ANSWERED, IN_DOUBT = (
    "Taken in from the spill file of an earlier run: 1 outcomes",
    "An earlier run was killed after the carrier answered: 1 answers read from the ledger",
    "An earlier run was killed while sending: 1 requests are now unknown and wait for evidence",
)


@pytest.mark.parametrize(
    ("left", "said", "becomes"),
    [
        (Outcome("issued", number="N1"), SPILLED, ("issued", "N1")),
        (Answered(200, b"yes"), ANSWERED, ("issued", "read of yes")),
        (None, IN_DOUBT, ("unknown", "")),
    ],
)
def test_what_a_killed_run_left_is_put_in_order_and_told(
    tmp_path: Path, left: Any, said: str, becomes: tuple[str, str]
) -> None:
    path, told = tmp_path / "a.ledger", Said()
    killed(path, left)

    def meaning(about: attempts.Interrupted, answer: Answered) -> Outcome:
        assert [one.identity for one in about.request.charges] == [fare(0)]
        return Outcome("issued", number=f"read of {answer.body.decode()}")

    with written(job(path), told, meaning) as ledger:
        assert rows(ledger, "SELECT state, number FROM attempt") == [becomes]
    assert told.noted == [f"Ledger: {path}", said]
    assert not spill_path(path).exists()


# --- the clock -------------------------------------------------------------------------------------


@pytest.fixture
def ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger whose last entry is later than this machine's clock."""
    with monkeypatch.context() as changed:
        changed.setattr(runs, "utc_now", lambda: LATER)
        path = made(tmp_path / "a.ledger", ran=True)
    monkeypatch.setattr(clock, "utc_now", lambda: "2026-11-20T10:20:30.000+00:00")
    return path


def test_nothing_is_sent_by_a_clock_that_is_behind(ahead: Path) -> None:
    with (
        pytest.raises(InputProblem, match=r"clock says 2026-11-20 10:20 UTC.*nothing was changed"),
        written(job(ahead)),
    ):
        pass


def test_who_says_that_the_clock_is_right_is_known_to_the_run(ahead: Path) -> None:
    with written(job(ahead, clock_right_by="chen")) as ledger:
        assert ledger.corrected == (LATER, "chen")


def test_a_clock_that_is_right_needs_nobody_to_say_so(tmp_path: Path) -> None:
    with written(job(made(tmp_path / "a.ledger", ran=True), clock_right_by="chen")) as ledger:
        assert ledger.corrected is None


# --- which may be begun ----------------------------------------------------------------------------


def begun(given: Job) -> bool:
    """Whether the run gets a ledger where there was none."""
    said = Said()
    with contextlib.suppress(InputProblem), written(given, said) as ledger:
        return ledger.path.exists()
    assert said.warned == []
    return False


def test_a_real_carriers_first_ledger_is_begun_only_where_that_is_said(tmp_path: Path) -> None:
    assert not begun(job(tmp_path / "a.ledger", HOST))
    assert not begun(job(None, HOST))
    assert begun(job(tmp_path / "a.ledger", HOST, new_ledger=True))
    assert begun(job(None, HOST, new_ledger=True))


def test_a_sandboxs_first_ledger_is_begun(tmp_path: Path) -> None:
    assert begun(job(tmp_path / "a.ledger", HOST, sandbox=True))


def test_on_loopback_a_first_ledger_is_begun_in_a_folder_that_is_there(tmp_path: Path, home: Path) -> None:
    """The folder of a named one may be on a disk that is not mounted; the default one is made."""
    assert not begun(job(tmp_path / "gone" / "a.ledger"))
    assert not (tmp_path / "gone").exists()
    assert not home.exists()
    assert begun(job())
    assert begun(job(tmp_path / "a.ledger", replace(OWNER, agency="OTHER")))


def test_on_loopback_a_second_ledger_of_an_agency_is_not_begun_and_one_that_is_there_is_used(
    tmp_path: Path,
) -> None:
    first = made(tmp_path / "first.ledger")
    again = job(tmp_path / "second.ledger", replace(OWNER, base_url="http://localhost:9"))
    with pytest.raises(InputProblem) as refused, written(again):
        pass
    assert str(refused.value).startswith(
        f"{tmp_path / 'second.ledger'}: there is no ledger, but {first} may be of the same carrier"
    )
    assert begun(replace(again, new_ledger=True))
    with written(again) as ledger:
        assert ledger.path == tmp_path / "second.ledger"
