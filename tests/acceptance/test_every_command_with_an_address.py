"""Every command that takes a ledger, given the address of one that several machines share, as a user gives it: exit code, and what it says."""

import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import openpyxl
import pytest

from pipeline.ledger_postgresql import invitations, server_schema
from pipeline.ledger_postgresql.server_connection import LedgerConnection, connect
from pipeline.ledger_postgresql.server_schema import Bounds
from pipeline.ledger_postgresql.worker_turns import Worker
from pipeline.model.profile import Owner
from pipeline.model.server_address import server_name
from tests.acceptance.conftest import Desk, Sandbox, running_sandbox, tickets, write_workbook
from tests.acceptance.test_ledger_address import WITH_A_LEDGER
from tests.conftest import needs_tool
from tests.postgresql_server import Server, programs, server

pytestmark = pytest.mark.slow

DAY = ("--as-of", "2026-11-20")


@dataclass
class At:
    """A desk whose profile and ledger are in its environment; the ledger's first three tickets are issued."""

    desk: Desk
    server: Server
    carrier: Sandbox
    url: str = ""

    def prepared(self) -> str:
        """Another ledger of the carrier, in which nothing is."""
        url = self.server.url(self.server.new_database())
        with closing(connect(url)) as connection:
            server_schema.prepare(
                connection, Owner(self.carrier.base_url, "AGENCY"), Bounds(), invitations.statements()
            )
        return url

    def told(self, code: int, *arguments: str, ledger: str = "") -> str:
        """What a command says that ends with that code, and which names no user of the server."""
        self.desk.environment["VOUCHER_LEDGER"] = ledger or self.url
        ran = self.desk.voucher(*arguments)
        said = f"{ran.out}\n{ran.err}"
        assert ran.code == code, said
        assert not re.search(r"Traceback|owner@", said)
        return said

    def issued(self, number: int) -> str:
        """What that ticket was issued as."""
        found = re.search(r"issued as (\d+)", self.told(0, "history", f"999{number:010}"))
        assert found
        return found[1]

    def connected(self, url: str) -> "closing[LedgerConnection]":
        return closing(connect(url))


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[At]:
    found = programs()
    needs_tool("PostgreSQL's server", found)
    assert found
    desk = Desk(tmp_path_factory.mktemp("desk"))
    book = write_workbook(desk.folder / "tickets.xlsx", tickets(9))
    with server(found) as one, running_sandbox(desk, book) as carrier:
        desk.profile(carrier.base_url)
        desk.environment["VOUCHER_PROFILE"] = "carrier.toml"
        made = At(desk, one, carrier)
        made.url = made.prepared()
        write_workbook(desk.folder / "three.xlsx", tickets(3))
        assert "3 of 3 requests" in made.told(0, "issue", "three.xlsx", *DAY)
        yield made
        assert carrier.twice() == []


TRIED: dict[str, Callable[[At], None]] = {}


def of(command: str) -> Callable[[Callable[[At], None]], Callable[[At], None]]:
    """What tries a command."""

    def note(trial: Callable[[At], None]) -> Callable[[At], None]:
        TRIED[command] = trial
        return trial

    return note


@of("check")
def _(at: At) -> None:
    assert re.search(r"already_issued +3 ", at.told(0, "check", "three.xlsx", *DAY))


@of("issue")
def _(at: At) -> None:
    write_workbook(at.desk.folder / "fourth.xlsx", tickets(4)[3:])
    said = at.told(0, "issue", "fourth.xlsx", *DAY)
    assert f"Ledger: {server_name(at.url)}" in said
    assert re.search(r"issued +1 ", said)
    assert re.search(r"already_issued +1 ", at.told(0, "issue", "fourth.xlsx", *DAY))
    assert "machines that share a ledger could not reach a sandbox" in at.told(
        2, "issue", "fourth.xlsx", "--sandbox"
    )


@of("reconcile")
def _(at: At) -> None:
    at.told(0, "reconcile", "three.xlsx", *DAY, "--report", "tickets.json")
    assert at.desk.report("tickets.json")["totals"] == {"rows": 3, "already_issued": 3}
    at.told(0, "reconcile", "--statement", str(at.carrier.statement), *DAY, "--report", "statement.json")
    assert '"agreed"' in Path(at.desk.folder, "statement.json").read_text()


@of("history")
def _(at: At) -> None:
    assert re.search(r"issued as \d{20}", at.told(0, "history", "999-0000000001"))


@of("register")
def _(at: At) -> None:
    said = at.told(0, "register", "-o", "register.xlsx")
    assert re.search(r"Register: register\.xlsx \([3-9] charges\)", said)


@of("collect")
def _(at: At) -> None:
    (at.desk.folder / "mail").mkdir()
    said = at.told(0, "collect", "mail", *DAY)
    assert f"Ledger: {server_name(at.url)}" in said
    assert re.search(r"[3-9] itineraries issued, 0 received", said)
    with at.connected(at.url) as connection:
        (ledger_id,) = connection.execute("SELECT ledger_id FROM voucher.ledger").fetchone() or ("",)
    assert f"{ledger_id}.itineraries" in said


@of("serve")
def _(at: At) -> None:
    process = at.desk.begin("serve", "--listen", "127.0.0.1:0", "--ledger", at.url)
    try:
        at.desk.during(process, lambda: "/open?token=" in process.told())
        (address,) = re.findall(r"http://127\.0\.0\.1:\d+", process.told())[:1]
        with urllib.request.urlopen(f"{address}/healthz", timeout=60) as answer:
            assert answer.status == 200
    finally:
        os.kill(process.pid, signal.SIGTERM)
    assert process.end().code == 0


@of("user add")
@of("user list")
@of("user password")
@of("user remove")
def _(at: At) -> None:
    """All four, for each is about what the one before it did."""
    for typed in (("add", "chen", "--role", "viewer"), ("password", "chen")):
        ran = subprocess.run(
            [sys.executable, "-m", "pipeline", "user", *typed, "--ledger", at.url],
            input="a password of words\n", capture_output=True, text=True, cwd=at.desk.folder, env=at.desk.environ(), check=False,
        )  # fmt: skip
        assert (ran.returncode, "owner@" in ran.stderr) == (0, False), ran.stderr
    assert "chen: viewer" in at.told(0, "user", "list")
    assert "chen" in at.told(0, "user", "remove", "chen")
    assert "chen" not in at.told(0, "user", "list")


@of("profile check")
def _(at: At) -> None:
    assert f"Ledger: {server_name(at.url)} answers, and is this carrier's" in at.told(0, "profile", "check")


@of("worker")
def _(at: At) -> None:
    assert f"Worker of {server_name(at.url)}: waits for runs" in at.told(0, "worker", "--once")


@of("ledger check")
def _(at: At) -> None:
    said = at.told(0, "ledger", "check")
    assert f"Ledger: {server_name(at.url)}" in said
    assert "Sound: nothing is wrong with it" in said
    assert "machines that share a ledger could not reach a sandbox" in at.told(
        2, "ledger", "check", "--sandbox"
    )


@of("ledger backup")
def _(at: At) -> None:
    said = at.told(2, "ledger", "backup", "backup.ledger")
    assert re.search("pg_basebackup .* pg_dump; voucher ledger copy-to", said)
    assert not Path(at.desk.folder, "backup.ledger").exists()


@of("ledger export")
def _(at: At) -> None:
    assert "Export: audit.xlsx" in at.told(0, "ledger", "export", "audit.xlsx")
    about = openpyxl.load_workbook(at.desk.folder / "audit.xlsx").worksheets[0]
    assert server_name(at.url) in [cell for row in about.iter_rows(values_only=True) for cell in row]


@of("ledger prepare")
def _(at: At) -> None:
    empty = at.server.url(at.server.new_database())
    assert f"{server_name(empty)}: the ledger of " in at.told(0, "ledger", "prepare", ledger=empty)
    assert "GRANT voucher_worker TO NAME" in at.told(0, "ledger", "prepare", "--sql")
    assert f"{server_name(empty)}: this database holds a ledger already" in at.told(
        2, "ledger", "prepare", ledger=empty
    )


@of("ledger workers")
def _(at: At) -> None:
    assert re.search("has left +nothing", at.told(0, "ledger", "workers", "--all"))


@of("ledger vouch")
def _(at: At) -> None:
    assert f"{server_name(at.url)}: claims are open; there is nothing to vouch for" in at.told(
        0, "ledger", "vouch"
    )


@of("ledger declare-dead")
def _(at: At) -> None:
    url = at.prepared()
    with at.connected(url) as connection:
        worker = Worker(connection).worker.hex[:8]
        given = ("ledger", "declare-dead", worker, "--how", "its machine burned", "--yes")
        assert "was heard within the last 60 s, so that it is alive" in at.told(2, *given, ledger=url)
        connection.execute("UPDATE voucher.worker SET heard_at = heard_at - interval '1 hour'")
        assert "is declared dead; requests that are unknown from now on: 0" in at.told(0, *given, ledger=url)


@of("ledger mark-gap")
@of("ledger close-gap")
def _(at: At) -> None:
    """Both, for there is nothing to close before."""
    url = at.prepared()
    assert f"{server_name(url)}: has no gap to close" in at.told(
        2, "ledger", "close-gap", "--evidence", "x", ledger=url
    )
    given = ("ledger", "mark-gap", "--why", "a copy was put back")
    assert "voucher ledger vouch" in at.told(2, *given, "--nothing-missing", ledger=url)
    said = at.told(0, *given, "--since", "2026-11-20", ledger=url)
    assert f"{server_name(url)}: nothing is sent until the time from 2026-11-20 00:00:00" in said
    write_workbook(at.desk.folder / "last.xlsx", tickets(9)[8:])
    said = at.told(2, "issue", "last.xlsx", *DAY, ledger=url)
    assert f"{server_name(url)}: this ledger may lack what was issued after 2026-11-20 00:00:00" in said
    closing_it = ("ledger", "close-gap", "--evidence", "their statement lists nothing")
    assert "nothing was changed; to close it all the same, say --yes" in at.told(2, *closing_it, ledger=url)
    assert f"{server_name(url)}: may be used for sending again" in at.told(
        0, *closing_it, "--yes", ledger=url
    )


@of("ledger reverse")
@of("ledger withdraw")
def _(at: At) -> None:
    """Both, for what the one says the other takes back."""
    number = at.issued(1)
    said = at.told(0, "ledger", "reverse", number, "--evidence", "red invoice of today")
    (entry,) = re.findall(rf"{number} is recorded as reversed \((R\d+)\)", said)
    assert re.search(r"ready +1 ", at.told(0, "check", "three.xlsx", *DAY))
    said = at.told(0, "ledger", "withdraw", entry, "--why", "of another ticket")
    assert f"{server_name(at.url)}: {entry} is withdrawn and counts no more" in said
    assert "withdrawn" in at.told(2, "ledger", "withdraw", entry, "--why", "once more")


@of("ledger move-carrier")
def _(at: At) -> None:
    url = at.prepared()
    given = ("ledger", "move-carrier", "--why", "new host name", "--yes")
    assert "already; name the new address in the profile" in at.told(2, *given, ledger=url)
    at.desk.profile("http://127.0.0.1:9/moved", name="moved.toml")
    said = at.told(0, *given, "--profile", "moved.toml", ledger=url)
    assert (
        f"{server_name(url)}: belonged to {at.carrier.base_url} as agency AGENCY and belongs to http://127.0.0.1:9/moved"
        in said
    )
    assert "belongs to http://127.0.0.1:9/moved as agency AGENCY, not to" in at.told(
        2, "issue", "three.xlsx", *DAY, ledger=url
    )


@of("ledger copy-to")
def _(at: At) -> None:
    url = at.prepared()
    assert "one file is copied to another by voucher ledger backup" in at.told(
        2, "ledger", "copy-to", at.url, ledger=url
    )
    for mistyped in (
        "postgresql:/ledger.example/vouchers",
        "postgresql://ledger.example/vouchers?host=other.example",
    ):
        assert "the ledger's address" in at.told(2, "ledger", "copy-to", mistyped, ledger="some.ledger")
    assert f"{server_name(url)}: was copied to" in at.told(0, "ledger", "copy-to", "moved.ledger", ledger=url)
    assert "which goes on in its place" in at.told(2, "issue", "three.xlsx", *DAY, ledger=url)
    assert "Sound" in at.told(0, "ledger", "check", ledger="moved.ledger")


def test_every_command_that_takes_a_ledger_is_tried() -> None:
    assert set(TRIED) == set(WITH_A_LEDGER)


@pytest.mark.parametrize(
    "trial",
    dict.fromkeys(TRIED.values()),
    ids=lambda trial: ", ".join(n for n, of in TRIED.items() if of is trial),
)
def test_a_command_does_with_an_address_what_it_does_with_a_file_or_says_why_not(
    at: At, trial: Callable[[At], None]
) -> None:
    trial(at)
