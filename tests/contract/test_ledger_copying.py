"""A whole ledger copied to a server and back: the same afterwards, closed where it was, and never in use at two places, wherever it is cut off."""

import contextlib
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.ledger import opening, whole_ledger
from pipeline.ledger.ledger_file import existing_file
from pipeline.ledger.session import file_to_write
from pipeline.ledger.settlements import Settlement
from pipeline.ledger.spill import spill_path
from pipeline.ledger_postgresql import server_schema
from pipeline.ledger_postgresql.ledger_copying import copy_to_file, copy_to_server
from pipeline.ledger_postgresql.ledger_tables import TABLES
from pipeline.ledger_postgresql.opening_shared import shared_to_read, shared_to_write
from pipeline.ledger_postgresql.server_connection import connect
from pipeline.ledger_postgresql.worker_turns import Worker
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.job import Job, Watch
from pipeline.model.message import verbatim
from pipeline.model.outcome import Outcome
from pipeline.model.profile import Carrier, Owner, Profile
from tests.contract.conftest import Begin
from tests.contract.ledgers import OWNER, PATIENT, TERMS, charge, invoice, issued, one_file
from tests.contract.lived_ledger import Life
from tests.postgresql_server import Server

pytestmark = pytest.mark.slow

WATCH = Watch(lambda _: None, lambda _: None, lambda _: True, lambda _: None)
KILLS = 4


def job(ledger: Path | str) -> Job:
    return Job(
        (), Profile(carrier=Carrier(base_url=OWNER.base_url, agency=OWNER.agency)), None, ledger=str(ledger)
    )


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VOUCHER_WITNESS", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def prepared(postgresql: Server) -> str:
    """The address of an empty shared ledger."""
    address = postgresql.url(postgresql.new_database())
    with connect(address) as owner:
        server_schema.prepare(owner, OWNER, PATIENT)
    return address


@pytest.fixture
def lived(tmp_path: Path) -> Path:
    path = tmp_path / "a.ledger"
    Life(path, 7).lived()
    return path


def held(path: Path) -> dict[str, list[Any]]:
    """All rows of a file."""
    with contextlib.closing(opening.open_existing(path, OWNER)) as connection:
        return {
            table.name: [
                *whole_ledger.rows(connection, table.name, (*table.columns, *table.sealed), table.key)
            ]
            for table in TABLES.values()
        }


def refuses_runs(ledger: Path | str) -> str:
    """What a run is told, "" where it may begin."""
    opened = (
        shared_to_write(str(ledger), job(ledger), WATCH, _never)
        if "://" in str(ledger)
        else file_to_write(job(ledger), WATCH, _never)
    )
    try:
        with opened as ledger_of_run:
            ledger_of_run.begin("issue", TERMS, [])
    except LedgerProblem as problem:
        return str(problem)
    except InputProblem as problem:
        return str(problem)
    return ""


def _never(*_: object) -> Any:
    raise AssertionError("there is no answer to interpret")


def test_all_of_it_comes_back_and_each_place_it_has_left_is_closed(
    lived: Path, prepared: str, tmp_path: Path
) -> None:
    before, back = held(lived), tmp_path / "b.ledger"
    with existing_file(lived, OWNER) as file:  # a life at random does what no run would do
        wrong = file.looked_over().wrong
    copy_to_server(job(lived), prepared, lambda _: None)
    assert "goes on in its place" in refuses_runs(lived)
    copy_to_file(prepared, back)
    assert f"was copied to {back}" in refuses_runs(prepared)
    assert held(back) == before
    assert sum(map(len, before.values())) > 300
    with shared_to_read(prepared, OWNER) as closed:
        assert (closed.looked_over().wrong, str(closed.lacking())[-21:]) == (wrong, "goes on in its place)")
    assert refuses_runs(back) == ""


def test_a_copied_ledger_goes_on_where_it_was(lived: Path, prepared: str) -> None:
    before = held(lived)
    copy_to_server(job(lived), prepared, lambda _: None)
    with shared_to_write(prepared, job(prepared), WATCH, _never) as ledger:
        assert ledger.begin("issue", TERMS, []) == len(before["run"]) + 1
        assert ledger.epochs == [row[1] for row in before["epoch"]]
    with connect(prepared) as owner:
        for table in TABLES.values():
            if table.key == (table.name,) or table.name == "attempt":
                (following,) = owner.execute(
                    "SELECT nextval(pg_get_serial_sequence(%s, %s))", (f"voucher.{table.name}", table.key[0])
                ).fetchone() or (0,)
                assert following > max((row[0] for row in before[table.name]), default=0), table.name


def command(ledger: Path | str, to: Path | str, profile: Path) -> list[str]:
    return [
        sys.executable, "-m", "pipeline", "ledger", "copy-to", str(to), "--ledger", str(ledger), "--profile", str(profile), "--lang", "en",
    ]  # fmt: skip


def cut_off(arguments: list[str], chance: random.Random, whole: float) -> None:
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(chance.uniform(0.35, 1.0) * whole)
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.parametrize("seed", [1])
def test_it_may_be_killed_anywhere_and_is_never_in_use_at_two_places(
    seed: int, lived: Path, prepared: str, tmp_path: Path
) -> None:
    before, chance, profile, back = (
        held(lived),
        random.Random(seed),
        tmp_path / "carrier.toml",
        tmp_path / "b.ledger",
    )
    profile.write_text(f'[carrier]\nbase_url = "{OWNER.base_url}"\nagency = "{OWNER.agency}"\n')
    for ledger, to in ((lived, prepared), (prepared, back)):
        begun = time.monotonic()
        subprocess.run([*command(ledger, ledger, profile)], capture_output=True, check=False)
        whole = 1.6 * (time.monotonic() - begun) + 0.8
        for _ in range(KILLS):
            cut_off(command(ledger, to, profile), chance, whole)
            usable = [
                one
                for one in (ledger, to)
                if ("://" in str(one) or Path(one).exists()) and open_for_runs(one)
            ]
            assert len(usable) <= 1, usable
        done = subprocess.run(command(ledger, to, profile), capture_output=True, text=True, check=False)
        assert "closed for good" in done.stderr or "already" in done.stderr, done.stderr
        assert not open_for_runs(ledger)
    assert held(back) == before


def open_for_runs(ledger: Path | str) -> bool:
    """Whether a run could begin, without beginning one."""
    opened = (
        shared_to_write(str(ledger), job(ledger), WATCH, _never)
        if "://" in str(ledger)
        else file_to_write(job(ledger), WATCH, _never)
    )
    with contextlib.suppress(InputProblem, LedgerProblem), opened as one:
        return not one.lacking() and one.ledger_id != "" and _holds(one)
    return False


def _holds(ledger: Any) -> bool:
    """An empty one that nothing was copied into is no ledger in use."""
    return bool(ledger.past_runs(1))


@contextlib.contextmanager
def unfinished(path: Path) -> Iterator[None]:
    with one_file(path) as ledger:
        ledger.plan(invoice(charge(1)))
        ledger.claim(1)
        yield


def test_a_file_that_is_not_at_rest_is_not_copied(lived: Path, prepared: str, tmp_path: Path) -> None:
    with unfinished(tmp_path / "on.ledger"), pytest.raises(LedgerProblem, match="another run is using"):
        copy_to_server(job(tmp_path / "on.ledger"), prepared, lambda _: None)
    with pytest.raises(InputProblem, match="its last run did not end"):
        copy_to_server(job(tmp_path / "on.ledger"), prepared, lambda _: None)
    spill_path(lived).write_text("{}\n")
    with pytest.raises(InputProblem, match="its last run did not end"):
        copy_to_server(job(lived), prepared, lambda _: None)
    spill_path(lived).unlink()
    assert refuses_runs(lived) == ""


def test_a_shared_ledger_that_is_not_at_rest_is_not_copied(prepared: str, tmp_path: Path) -> None:
    with connect(prepared) as owner:
        worker = Worker(owner)
        with pytest.raises(InputProblem, match="workers have not ended"):
            copy_to_file(prepared, tmp_path / "b.ledger")
        worker.leave()
        with shared_to_write(prepared, job(prepared), WATCH, _never) as ledger:
            run = ledger.begin("issue", TERMS, [])
            with pytest.raises(InputProblem, match="a run is on"):
                copy_to_file(prepared, tmp_path / "b.ledger")
            ledger.end(run, 0)
            ledger.mark_gap("2026-11-20T00:00:00.000+00:00", verbatim("a copy was put back"))
        with pytest.raises(InputProblem, match="it has a gap"):
            copy_to_file(prepared, tmp_path / "b.ledger")
    assert not [*tmp_path.glob("*b.ledger*copying")]
    assert not (tmp_path / "b.ledger").exists()


def test_what_holds_charges_and_has_no_place_in_a_file_is_not_left_behind(
    begin_shared: Begin, tmp_path: Path
) -> None:
    ledger = begin_shared()
    ledger.plan(invoice(charge(1)))
    (attempt,) = ledger.claim(1)
    dead = ledger.worker
    ledger.sender_dies()
    ledger.operations.settle(attempt, Settlement("not_sent", "", "chen", "the carrier's letter"))
    dead.late(attempt, issued("N1"))
    ledger.worker.leave()
    ledger.operations.end(ledger.run, 0)
    ((request_id,),) = ledger.rows("SELECT request_id FROM request")
    with pytest.raises(
        InputProblem,
        match=rf"request {request_id}, attempt 1, was issued as N1, and .* voucher ledger withdraw",
    ):
        copy_to_file(ledger.url("owner"), tmp_path / "b.ledger")
    ledger.operations.withdraw("S1", withdrawn_by="chen", why="the worker has its number")
    ledger.operations.settle(attempt, Settlement("issued", "N1", "chen", "the carrier's statement"))
    copy_to_file(ledger.url("owner"), tmp_path / "b.ledger")
    assert [row[2:4] for row in held(tmp_path / "b.ledger")["settlement"]] == [
        ("not_sent", ""),
        ("issued", "N1"),
    ]


def test_a_refusal_that_a_worker_told_late_is_copied_as_the_attempts_end(
    begin_shared: Begin, tmp_path: Path
) -> None:
    ledger, back = begin_shared(), tmp_path / "b.ledger"
    ledger.plan(invoice(charge(1)))
    (attempt,) = ledger.claim(1)
    dead = ledger.worker
    ledger.sender_dies()
    dead.late(attempt, Outcome("rejected", "carrier_rejected", detail=verbatim("no such ticket")))
    ledger.worker.leave()
    ledger.operations.end(ledger.run, 0)
    copy_to_file(ledger.url("owner"), back)
    with contextlib.closing(opening.open_existing(back, OWNER)) as connection:
        kept = connection.execute("SELECT state, reason, was_unknown FROM attempt").fetchall()
    assert (kept, held(back)["settlement"]) == ([("rejected", "carrier_rejected", 1)], [])
    with existing_file(back, OWNER) as file:
        assert not file.looked_over().wrong


def test_it_is_copied_into_nothing_that_is_in_use(lived: Path, prepared: str, tmp_path: Path) -> None:
    with shared_to_write(prepared, job(prepared), WATCH, _never) as ledger:
        ledger.end(ledger.begin("issue", TERMS, []), 0)
    with pytest.raises(InputProblem, match="this ledger is not empty"):
        copy_to_server(job(lived), prepared, lambda _: None)
    (tmp_path / "b.ledger").write_bytes(b"something")
    with pytest.raises(InputProblem, match="exists already"):
        copy_to_file(prepared, tmp_path / "b.ledger")
    assert refuses_runs(lived) == refuses_runs(prepared) == ""


def test_it_is_copied_to_its_carriers_ledger_alone(lived: Path, postgresql: Server) -> None:
    other = postgresql.url(postgresql.new_database())
    with connect(other) as owner:
        server_schema.prepare(owner, Owner(OWNER.base_url, "OTHER"), PATIENT)
    with pytest.raises(InputProblem, match="this ledger belongs to"):
        copy_to_server(job(lived), other, lambda _: None)


def test_what_was_copied_once_is_copied_nowhere_else(
    lived: Path, prepared: str, postgresql: Server, tmp_path: Path
) -> None:
    copy_to_server(job(lived), prepared, lambda _: None)
    with pytest.raises(InputProblem, match="was copied into it already"):
        copy_to_server(job(lived), prepared, lambda _: None)
    other = postgresql.url(postgresql.new_database())
    with connect(other) as owner:
        server_schema.prepare(owner, OWNER, PATIENT)
    with pytest.raises(InputProblem, match="was copied to postgresql://"):
        copy_to_server(job(lived), other, lambda _: None)
    copy_to_file(prepared, tmp_path / "b.ledger")
    with pytest.raises(InputProblem, match="was copied to"):
        copy_to_file(prepared, tmp_path / "c.ledger")


def test_only_whoever_owns_it_copies_it(prepared: str, lived: Path) -> None:
    with connect(prepared) as owner:
        with contextlib.suppress(Exception):
            owner.execute("CREATE ROLE issuer LOGIN")
        owner.execute("GRANT voucher_issuer TO issuer")
    with pytest.raises(InputProblem, match="copied by the role that prepared it, owner"):
        copy_to_server(job(lived), prepared.replace("owner@", "issuer@"), lambda _: None)
