"""What a ledger acknowledged is in it, whatever ends at that moment: the program with its processes, or the server with all of its."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.contract.acknowledged import REQUESTS
from tests.contract.ledgers import Ledger, Shared, charge, invoice, one_file
from tests.postgresql_server import Server, server

pytestmark = pytest.mark.slow

#: How many lines it has said when it is killed: in a batch's claims, and in its outcomes.
KILLED_AT = (3, 12, 28)


@contextmanager
def working(*arguments: str) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.contract.acknowledged", *arguments],
        stdout=subprocess.PIPE, text=True, cwd=REPOSITORY, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            killed(process)


def killed(process: "subprocess.Popen[str]") -> None:
    for pid in (*children(process.pid), process.pid):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def children(pid: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def said_by(process: "subprocess.Popen[str]", lines: int) -> list[str]:
    assert process.stdout
    return [process.stdout.readline() for _ in range(lines)]


def rest_of(process: "subprocess.Popen[str]") -> list[str]:
    assert process.stdout
    return process.stdout.readlines()


def missing(said: list[str], ledger: Ledger) -> list[str]:
    """The lines that a ledger does not bear out; one that was cut off is none."""
    states = {row[0]: row[1:] for row in ledger.rows("SELECT attempt_id, state, number FROM attempt")}
    lacking = []
    for line in said:
        if not line.endswith("\n") or not line[0].isdigit():
            continue
        attempt, state, *number = line.split()
        found = states.get(int(attempt), ("nothing", ""))
        told = (
            found[0] in ("sending", "unknown", "issued")
            if state == "sending"
            else found == (state, number[0])
        )
        if not told:
            lacking.append(f"{line.strip()}: {found}")
    return lacking


@pytest.mark.parametrize("lines", KILLED_AT)
def test_of_one_file(tmp_path: Path, lines: int) -> None:
    """The process that sends and the one that commits are killed at once."""
    path = tmp_path / "a.ledger"
    with working("file", str(path)) as process:
        said = said_by(process, lines)
        killed(process)
        said += rest_of(process)
    assert len(said) >= lines
    with one_file(path) as ledger:
        assert missing(said, ledger) == []
        assert "sending" not in ledger.states().values()


@pytest.fixture
def own_server(postgresql: Server) -> Iterator[Server]:
    with server(postgresql.programs) as one:
        yield one


def test_of_a_server(own_server: Server) -> None:
    """The server is killed with all its processes, again and again; the workers that remain find nothing missing."""
    name = own_server.new_database()
    ledger = Shared(lambda role: own_server.url(name, role))
    ledger.prepare()
    ledger.open()
    ledger.plan(*(invoice(charge(number)) for number in range(REQUESTS)))
    for lines in (3, 58, 203):
        with working("server", own_server.url(name, "{role}"), str(ledger.run)) as process:
            said = said_by(process, lines)
            own_server.kill()
            said += rest_of(process)
        assert said[-1] == "the ledger is away\n"
        own_server.start()
        ledger.close()
        ledger.open()
        assert missing(said, ledger) == []
        ledger.force(
            "UPDATE server_life SET opened_at = clock_timestamp()"
        )  # else the next would wait for all that were killed
    with closing(ledger):
        assert len(ledger.states()) == REQUESTS
