"""A carrier that breaks every rule of its interface, of HTTP and of TCP, held against the promise.

Each row of the table meets the real submission, client and ledger on a fresh and on a reused connection;
the expected outcome is the design's. Seen to fail, on changes planted in a copy of the program:
redirects followed; a request sent again when the carrier hung up; every failure counted as not sent; a
connection not made in time counted as sent; the envelope's message not looked at; another ticket's
answer taken; a success taken under another envelope code; HTTP 5xx counted as not sent; a connection
kept after an answer that was no clear yes; the bound on an answer's size gone; a raw answer not recorded.
"""

import asyncio
import csv
import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from pipeline.carrier.client import Client
from pipeline.carrier.connection_reuse import HeldConnection
from pipeline.model.outcome import Lost, Reply
from pipeline.submission.event_loop import loop_factory
from pipeline.submission.retry import TRIES
from tests.crash import wire_doubled, wire_table
from tests.crash.wire_answers import envelope, good, result, sealed
from tests.crash.wire_bench import Case, Heard, Row, Unreached, opened, play, play_unreached
from tests.crash.wire_broken import POINTS
from tests.crash.wire_checks import problems, unreached_problems
from tests.crash.wire_fault import UNEXPLAINED, Fault, says
from tests.crash.wire_faults import Course, brisk, drawn_from
from tests.crash.wire_faults import problems as course_problems
from tests.crash.wire_faults import run as run_courses
from tests.crash.wire_server import API_KEY, ENCRYPTION_KEY, Line, Server
from tests.crash.wire_unreached import ways

REPOSITORY = Path(__file__).parents[2]
FAULTS = {fault.name: fault for fault in wire_table.faults()}
WAYS = {way.name: way for way in ways()}


@dataclass
class Played:
    """The table, played: of the faults that are asked for."""

    cases: dict[str, list[Case]]
    rows: dict[str, list[Row]]
    heard: Heard
    files: bytes
    elsewhere: int


@pytest.fixture(scope="module", autouse=True)
def _brisk() -> Iterator[None]:
    with brisk():
        yield


def _asked(request: pytest.FixtureRequest) -> set[str]:
    """The rows whose tests are run, slow ones or not."""
    return {item.callspec.params.get("name") for item in request.session.items if hasattr(item, "callspec")}


def _leads_elsewhere(name: str) -> bool:
    return " to another origin" in name


@pytest.fixture(scope="module")
def table(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Played:
    asked = _asked(request)
    with opened(tmp_path_factory.mktemp("table")) as book:
        with closing(Server(Line.fin)) as elsewhere:
            faults = wire_table.faults(elsewhere.url)
            cases = list(wire_table.cases([f for f in faults if f.name in asked or _leads_elsewhere(f.name)]))
            heard = play(cases, book, loop_factory())
        by_fault: dict[str, list[Case]] = {}
        for case in cases:
            by_fault.setdefault(case.fault.name, []).append(case)
        return Played(
            by_fault, book.rows(), heard, book.files(), len(elsewhere.log.touched) + len(elsewhere.log.heard)
        )


def _row(at: int, fault: Fault) -> object:
    why = wire_table.defect(fault)
    marks = [pytest.mark.xfail(strict=True, reason=why)] if why else []
    if at % 9 or fault.stalls:
        marks.append(pytest.mark.slow)
    return pytest.param(fault.name, marks=marks)


@pytest.mark.parametrize("name", [_row(at, fault) for at, fault in enumerate(FAULTS.values())])
def test_a_fault_comes_to_what_the_design_says_and_reaches_the_wire_once(table: Played, name: str) -> None:
    found = {case.name: found for case in table.cases[name] if (found := problems(case, table.rows))}
    assert not found


def test_no_two_rows_share_a_name() -> None:
    assert len(FAULTS) == len(wire_table.faults())
    assert all(any(name.startswith(known) for name in FAULTS) for known in wire_table.KNOWN_DEFECTS)


def test_where_a_redirect_leads_nothing_ever_comes(table: Played) -> None:
    assert sum(map(_leads_elsewhere, table.cases)) == 10
    assert table.elsewhere == 0


def test_the_keys_are_in_no_log_and_no_ledger(table: Played) -> None:
    said = "\n".join(table.heard.lines)
    assert API_KEY not in said
    assert ENCRYPTION_KEY not in said
    assert API_KEY.encode() not in table.files
    assert ENCRYPTION_KEY.encode() not in table.files


#: The one that the program has here, and the one that it has where that can't be installed.
LOOPS = [
    pytest.param(loop_factory(), id="own loop"),
    pytest.param(asyncio.new_event_loop, id="asyncio", marks=pytest.mark.slow),
]


@pytest.fixture(scope="module", params=LOOPS)
def unreached(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[str]]:
    if not shutil.which("openssl"):
        return {}
    folder = tmp_path_factory.mktemp("unreached")
    with opened(folder) as book:
        cases = [
            Unreached(way, serial)
            for serial, way in enumerate(WAYS.values(), start=1)
            if way.name in _asked(request)
        ]
        play_unreached(cases, book, folder, request.param)
        rows = book.rows()
    return {case.way.name: unreached_problems(case, rows) for case in cases}


def _way(name: str) -> object:
    """The slow ones are tried four times, and waited for each time; `unit/carrier/test_connection_check.py` has them once."""
    waits = any(word in name for word in ("silence", "in time", "nothing more"))
    return pytest.param(name, marks=[pytest.mark.slow] if waits else [])


@pytest.mark.slow
@pytest.mark.parametrize("name", [_way(name) for name in WAYS])
def test_a_carrier_that_cannot_be_reached_was_sent_nothing(
    unreached: dict[str, list[str]], needs_tool: Callable[[str, object], None], name: str
) -> None:
    needs_tool("openssl", shutil.which("openssl"))
    assert [problem for problem in unreached[name] if problem != "the key was sent to the proxy"] == []


def test_a_proxy_is_not_told_the_key(
    unreached: dict[str, list[str]], needs_tool: Callable[[str, object], None]
) -> None:
    needs_tool("openssl", shutil.which("openssl"))
    assert [name for name, found in unreached.items() if "the key was sent to the proxy" in found] == []


@pytest.mark.slow
def test_a_machine_without_a_network_sends_nothing(needs_tool: Callable[[str, object], None]) -> None:
    unshare = shutil.which("unshare")
    needs_tool("unshare", unshare)
    assert unshare is not None
    if subprocess.run([unshare, "-rn", "true"], capture_output=True, check=False).returncode:
        pytest.skip("a network namespace may not be made here")
    command = [unshare, "-rn", sys.executable, "-m", "tests.crash.wire_nowhere"]
    ran = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=60)
    assert ran.stdout.splitlines() == [
        f"errno {errno.ENETUNREACH}", f"not_sent carrier_unreachable {TRIES}", " ".join(["not_sent"] * TRIES),
    ], ran.stderr  # fmt: skip


def _alone(folder: Path, *faults: Fault) -> tuple[list[Case], dict[str, list[Row]], bytes]:
    with opened(folder) as book:
        cases = list(wire_table.cases(faults))
        play(cases, book, loop_factory())
        return cases, book.rows(), book.files()


@pytest.mark.parametrize("point", ["before the request is read", "after the request"])
def test_a_client_that_sends_again_would_be_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    """As aiohttp's session does for methods that it takes for idempotent, over a connection that drops."""
    once = Client.post

    async def post(
        client: Client, path: str, body: bytes, _: float | None = None
    ) -> tuple[Reply, HeldConnection]:
        reply, connection = await once(client, path, body)
        return await once(client, path, body) if isinstance(reply, Lost) else (reply, connection)

    monkeypatch.setattr(Client, "post", post)
    until, reason = POINTS[point]

    def drop(line: Line) -> None:
        until(line)
        line.fin()

    cases, _rows, _files = _alone(tmp_path, Fault("dropped", drop, "unknown", reason))
    for case in cases:
        assert len(case.log.touched) == 4  # three requests
        assert any("reached the carrier" in problem for problem in problems(case, {}))


#: The carrier repeats our key in its answer, as debug pages and careless messages do.
ECHOES = {
    "in a message": lambda _: envelope("", code=500, message=f"key {API_KEY} may not do this"),
    "in a message that refuses the key": lambda _: envelope("", code=401, message=f"APIKEY {API_KEY} is not valid"),
    "in a trace": lambda asked: envelope(sealed(result(asked, "5" * 20)), trace=f"t-{API_KEY}"),
    "in a page": lambda _: f"<pre>APIKEY: {API_KEY}</pre>".encode(),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("echo", ECHOES)
def test_a_key_that_the_carrier_repeats_is_not_kept_nor_shown(tmp_path: Path, echo: str) -> None:
    (case, *_), _rows, files = _alone(
        tmp_path, says(echo, ECHOES[echo], "unknown", UNEXPLAINED, reused=(False,))
    )
    assert API_KEY not in f"{case.results!r} {case.stopped}"
    assert API_KEY.encode() not in files


@pytest.mark.parametrize("secure", [False, True], ids=["http", "https"])
@pytest.mark.parametrize("loop", LOOPS)
def test_random_courses_of_faults_keep_the_promise(
    tmp_path: Path,
    loop: Callable[[], asyncio.AbstractEventLoop] | None,
    secure: bool,
    needs_tool: Callable[[str, object], None],
) -> None:
    if secure:
        needs_tool("openssl", shutil.which("openssl"))
    with opened(tmp_path, secure=secure) as book:
        faults = drawn_from()
        courses = [Course(seed, faults) for seed in range(8)]
        run_courses(courses, book, loop or asyncio.new_event_loop)
        rows = book.rows()
    assert {course.seed: found for course in courses if (found := list(course_problems(course, rows)))} == {}
    assert sum(len(course.log.issued) for course in courses) > 50


@pytest.mark.slow
@pytest.mark.parametrize(
    ("in_flight", "delays", "kinds"),
    [
        pytest.param(1, (0.0, 0.005, 0.02), "", id="one by one"),
        pytest.param(
            64, (0.005, 0.05), "HTTP 429, code 8, a refusal, yes", id="64 in flight", marks=pytest.mark.slow
        ),
    ],
)
def test_an_answer_that_comes_twice_is_no_other_requests_answer(
    tmp_path: Path, in_flight: int, delays: tuple[float, ...], kinds: str
) -> None:
    trials = [
        trial for trial in wire_doubled.trials((in_flight,), delays) if trial.kind.name in kinds or not kinds
    ]
    with opened(tmp_path) as book:
        rows = wire_doubled.play(trials, book, loop_factory())
    assert {
        trial.name: found for trial in trials if (found := list(wire_doubled.problems(trial, rows)))
    } == {}
    told = [rows[ticket][-1].state for ticket in rows]
    assert told.count("issued") > 0.7 * len(told)  # most of the requests met nothing out of the way


#: For the command as a whole: what its messages, its report and its files say, fault by fault.
SHOWN = [
    name for name in FAULTS
    if name.startswith(("close ", "reset ", "the status line", "two lengths", "301", "307", "a chunk size", "gzip that", "a header", "an SSH"))
    and not (FAULTS[name].big or FAULTS[name].idle)
]  # fmt: skip
PROFILE = """
[carrier]
base_url = "{url}"
agency = "AGENCY"
[submission]
concurrency = 1
response_timeout_seconds = 20
"""
COLUMNS = {
    "passenger_name": "ZHANG/WEI", "charge": "ticket_fare", "amount": "1000", "market": "domestic", "ticket_status": "used",
    "flight_date": "2026-10-01", "voucher": "itinerary", "header_type": "business", "header_name": "Acme", "tax_no": "91110000600037341L",
    "email": "finance@example.com",
}  # fmt: skip


@pytest.mark.slow
def test_the_command_tells_every_fault_and_no_key(tmp_path: Path) -> None:
    """Each fault between good answers, in a process of its own, at its most talkative."""
    fates = {f"999{n:010}": FAULTS[SHOWN[n // 2]] if n % 2 else None for n in range(2 * len(SHOWN))}

    def talk(line: Line) -> None:
        while not line.over and line.waits() and (asked := line.looked_at()):
            fault = fates[asked.tickets[0]]
            (good if fault is None else fault.play)(line)

    with (tmp_path / "tickets.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["ticket_no", *COLUMNS])
        writer.writeheader()
        writer.writerows({"ticket_no": ticket, **COLUMNS} for ticket in fates)
    with closing(Server(talk)) as server:
        (tmp_path / "carrier.toml").write_text(PROFILE.format(url=server.url))
        options = [
            "--profile",
            "carrier.toml",
            "--ledger",
            "a.ledger",
            "--as-of",
            "2026-11-20",
            "--report",
            "report.json",
        ]
        environment = {
            "VOUCHER_API_KEY": API_KEY,
            "VOUCHER_ENCRYPTION_KEY": ENCRYPTION_KEY,
            "PYTHONASYNCIODEBUG": "1",
        }
        ran = subprocess.run(
            [sys.executable, "-m", "pipeline", "issue", "tickets.csv", "--verbose", *options],
            cwd=tmp_path, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
    assert ran.returncode == 4, ran.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    told = {row["ticket_no"]: row["status"] for row in report["rows"]}
    right = {ticket: fault.expected if fault else ("issued",) for ticket, fault in fates.items()}
    assert {ticket: status for ticket, status in told.items() if status not in right[ticket]} == {}
    assert server.log.broken == []
    assert len(server.log.touched) == len(fates)
    assert "Traceback" not in ran.stderr
    everything = (
        ran.stdout.encode() + ran.stderr.encode() + b"".join(path.read_bytes() for path in tmp_path.iterdir())
    )
    assert API_KEY.encode() not in everything
    assert ENCRYPTION_KEY.encode() not in everything
