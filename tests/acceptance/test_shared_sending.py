"""`voucher issue` and `voucher worker` on one ledger, each a process of its own, with a real server and a carrier that counts.

The carrier issues whatever it is asked for, as often as it is asked: what goes twice stands twice in its statement.
"""

import contextlib
import json
import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import openpyxl
import pytest

from pipeline.carrier.crypto import Cipher
from pipeline.ledger_postgresql import invitations, server_schema
from pipeline.ledger_postgresql.server_connection import connect
from pipeline.ledger_postgresql.server_schema import Bounds
from pipeline.model.profile import Owner
from tests.acceptance.conftest import KEYS, Desk, tickets, write_workbook
from tests.conftest import needs_tool
from tests.crash.forked import Begun, Ran
from tests.postgresql_server import Server, programs, server

pytestmark = pytest.mark.slow

DAY = ("--as-of", "2026-11-20")
#: In seconds: send within, lease, settle after.
BOUNDS = Bounds(3, 6, 3600)


@dataclass
class Carrier:
    """A carrier that takes `pause` seconds for each request; it refuses keys that are not `key`."""

    pause: float = 0.0
    key: str = KEYS["VOUCHER_API_KEY"]
    base_url: str = ""
    issued: list[str] = field(default_factory=list)  # tickets, one for each voucher
    arrivals: list[float] = field(default_factory=list)
    most_at_once: int = 0
    _at_once: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, body: bytes, key: str) -> tuple[int, bytes]:
        cipher = Cipher(KEYS["VOUCHER_ENCRYPTION_KEY"])
        with self._lock:
            self.arrivals.append(time.monotonic())
            if key != self.key:
                return 401, b"{}"
            ticket = json.loads(cipher.open(json.loads(body)))["issueItinerary"]["ticketNo"]
            self.issued.append(ticket)
            number = f"{len(self.issued):020}".replace("0", "7", 1)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        time.sleep(self.pause)
        with self._lock:
            self._at_once -= 1
        result = {"itineraryResult": {"ticketNo": ticket, "itineraryNum": number, "success": True}}
        data = cipher.seal(json.dumps(result).encode())
        return 200, json.dumps({"code": 200, "message": "success", "data": data, "traceId": "t"}).encode()

    def twice(self) -> list[str]:
        return [ticket for ticket, count in Counter(self.issued).items() if count > 1]


@pytest.fixture
def carrier() -> Iterator[Carrier]:
    one = Carrier()

    class Service(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, answer = one.take(body, self.headers["APIKEY"])
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Nothing: stderr is the program's."""

    class Doors(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def handle_error(self, *_: object) -> None:
            """A process that was killed does not wait for its answer."""

    with Doors(("127.0.0.1", 0), Service) as doors:
        one.base_url = f"http://127.0.0.1:{doors.server_port}"
        thread = threading.Thread(target=doors.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield one
        finally:
            doors.shutdown()
            thread.join()


@pytest.fixture
def postgresql() -> Iterator[Server]:
    found = programs()
    needs_tool("PostgreSQL's server", found)
    assert found is not None
    with server(found) as one:
        yield one


@dataclass
class Office:
    """One ledger, a carrier's profile, and whoever works there."""

    desk: Desk
    carrier: Carrier
    url: str
    workers: list[Begun] = field(default_factory=list)

    def issue(self, workbook: str = "tickets.xlsx", *more: str) -> Begun:
        return self.desk.begin("issue", workbook, *DAY, "--report", f"{workbook}.json", *more)

    def worker(self, *more: str) -> Begun:
        self.workers.append(self.desk.begin("worker", *more))
        return self.workers[-1]

    def workbook(self, count: int, name: str = "tickets.xlsx") -> None:
        write_workbook(self.desk.folder / name, tickets(count))

    def totals(self, workbook: str = "tickets.xlsx") -> dict[str, int]:
        found: dict[str, int] = self.desk.report(f"{workbook}.json")["totals"]
        return found

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with closing(connect(self.url)) as connection:
            return connection.execute(query.encode()).fetchall()

    def until(self, reached: Callable[[], object], seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while not reached():
            assert time.monotonic() < deadline
            time.sleep(0.02)


@pytest.fixture
def office(desk: Desk, carrier: Carrier, postgresql: Server) -> Iterator[Office]:
    url = postgresql.url(postgresql.new_database())
    with closing(connect(url)) as connection:
        server_schema.prepare(connection, Owner(carrier.base_url, "AGENCY"), BOUNDS)
        invitations.install(connection)
    desk.profile(carrier.base_url)
    desk.environment |= {"VOUCHER_PROFILE": "carrier.toml", "VOUCHER_LEDGER": url}
    one = Office(desk, carrier, url)
    yield one
    for worker in one.workers:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            worker.kill()


def ended(worker: Begun) -> Ran:
    worker.send_signal(signal.SIGTERM)
    return worker.end()


def senders(office: Office) -> int:
    return len(office.rows("SELECT DISTINCT worker FROM voucher.attempt WHERE worker IS NOT NULL"))


def test_a_month_is_issued_by_all_and_its_workbook_is_as_of_one_machine(office: Office) -> None:
    office.carrier.pause = 0.15
    workers = [office.worker(), office.worker()]
    office.until(lambda: len(office.rows("SELECT FROM voucher.worker")) == 2)
    office.workbook(300)
    ran = office.issue().end()
    assert (ran.code, ran.out) == (0, ""), ran.err
    assert office.totals() == {"rows": 300, "issued": 300}
    assert sorted(office.carrier.issued) == [f"999{number:010}" for number in range(1, 301)]
    assert senders(office) == 3
    book = openpyxl.load_workbook(office.desk.folder / "tickets.result.xlsx", read_only=True)
    assert sum(1 for _ in book["Itineraries"].iter_rows()) == 1 + 300
    assert office.rows("SELECT exit_code, ended_at IS NOT NULL FROM voucher.run") == [(0, True)]
    assert [ended(worker).code for worker in workers] == [0, 0]
    assert office.rows("SELECT count(*) FROM voucher.worker WHERE left_at IS NULL") == [(0,)]
    again = office.issue().end()
    assert (again.code, office.totals()) == (0, {"rows": 300, "already_issued": 300})
    assert len(office.carrier.issued) == 300


def test_a_newcomer_takes_part_in_a_run_that_is_on(office: Office) -> None:
    office.carrier.pause = 0.1
    office.workbook(300)
    issue = office.issue()
    office.until(lambda: len(office.carrier.issued) > 8)
    office.worker("--once")
    assert issue.end().code == 0
    assert senders(office) == 2
    assert office.workers[0].end().code == 0


def test_a_killed_worker_leaves_what_it_was_sending_unknown_and_nothing_goes_twice(office: Office) -> None:
    office.carrier.pause = 0.2
    office.worker()
    office.until(lambda: office.rows("SELECT FROM voucher.worker"))
    office.workbook(120)
    issue = office.issue()
    office.until(lambda: senders(office) == 2 and len(office.carrier.issued) > 24)
    office.workers[0].kill()
    ran = issue.end()
    totals = office.totals()
    assert ran.code == 4, ran.err
    assert 1 <= totals["unknown"] <= 8
    assert totals["unknown"] + totals["issued"] == 120
    assert (office.carrier.twice(), len(office.carrier.issued)) == ([], 120)


def test_nothing_of_a_killed_issuers_run_is_sent_any_more(office: Office) -> None:
    office.carrier.pause = 0.2
    worker = office.worker()
    office.until(lambda: office.rows("SELECT FROM voucher.worker"))
    office.workbook(400)
    issue = office.issue()
    office.until(lambda: senders(office) == 2)
    issue.kill()
    office.until(lambda: office.rows("SELECT FROM voucher.run WHERE ended_at IS NOT NULL"))
    sent = len(office.carrier.issued)
    assert office.rows("SELECT exit_code FROM voucher.run") == [(None,)]
    assert office.rows("SELECT FROM voucher.attempt WHERE state = 'planned'") == []
    time.sleep(1)
    assert len(office.carrier.issued) == sent < 400
    again = office.issue().end()
    totals = office.totals()
    assert again.code == 4
    assert totals["unknown"] <= 8
    assert sum(totals.get(one, 0) for one in ("issued", "already_issued", "unknown")) == 400
    assert (office.carrier.twice(), len(office.carrier.issued)) == ([], 400)
    assert ended(worker).code == 0


def test_sending_goes_on_after_the_server_was_started_anew(office: Office, postgresql: Server) -> None:
    office.carrier.pause = 0.1
    # A busy machine takes seconds to start it, and whoever was not heard for a lease meanwhile has lost its run.
    office.rows("UPDATE voucher.ledger SET lease = interval '20 s' RETURNING lease")
    worker = office.worker()
    office.until(lambda: office.rows("SELECT FROM voucher.worker"))
    office.workbook(300)
    issue = office.issue()
    office.until(lambda: senders(office) == 2)
    postgresql.restart_at_once()
    ran = issue.end()
    assert "The ledger's server was started anew: nothing is sent until 20 s have passed" in ran.err
    assert (ran.code, office.totals()) == (0, {"rows": 300, "issued": 300}), ran.err
    assert office.carrier.twice() == []
    assert office.rows("SELECT exit_code FROM voucher.run") == [(0,)]
    assert ended(worker).code == 0


def test_two_issues_at_once_on_one_workbook_issue_each_charge_once(office: Office) -> None:
    office.carrier.pause = 0.05
    office.workbook(60)
    office.workbook(60, "copy.xlsx")
    first, second = office.issue(), office.issue("copy.xlsx")
    codes = {first.end().code, second.end().code}
    assert codes <= {0, 3, 4}
    found = [office.totals(), office.totals("copy.xlsx")]
    assert sum(totals.get("issued", 0) for totals in found) == 60
    assert (office.carrier.twice(), len(office.carrier.issued)) == ([], 60)


def test_ctrl_c_at_the_issuer_stops_the_run_for_all(office: Office) -> None:
    office.carrier.pause = 0.2
    worker = office.worker()
    office.until(lambda: office.rows("SELECT FROM voucher.worker"))
    office.workbook(400)
    issue = office.issue()
    office.until(lambda: senders(office) == 2)
    issue.send_signal(signal.SIGINT)
    ran = issue.end()
    sent = len(office.carrier.issued)
    assert ran.code == 3
    assert office.totals() == {"rows": 400, "issued": sent, "not_sent": 400 - sent}
    time.sleep(1)
    assert len(office.carrier.issued) == sent < 400
    assert not worker.has_ended()
    assert office.rows("SELECT exit_code FROM voucher.run") == [(3,)]


def test_a_worker_that_is_stopped_finishes_what_it_sends_and_the_others_go_on(office: Office) -> None:
    office.carrier.pause = 0.2
    worker = office.worker()
    office.until(lambda: office.rows("SELECT FROM voucher.worker"))
    office.workbook(120)
    issue = office.issue()
    office.until(lambda: senders(office) == 2)
    assert ended(worker).code == 0
    assert issue.end().code == 0
    assert office.totals() == {"rows": 120, "issued": 120}
    assert office.carrier.twice() == []


def test_a_key_that_is_refused_at_one_worker_stops_the_run(office: Office) -> None:
    office.carrier.pause = 0.2
    office.desk.environment["VOUCHER_API_KEY"] = "another-key"
    office.worker()
    office.until(lambda: office.rows("SELECT FROM voucher.worker"))
    del office.desk.environment["VOUCHER_API_KEY"]
    office.workbook(200)
    ran = office.issue().end()
    totals = office.totals()
    assert ran.code == 3
    assert totals["not_sent"] + totals.get("issued", 0) == 200
    assert "check VOUCHER_API_KEY" in ran.err
    assert office.carrier.twice() == []


def test_a_worker_with_another_encryption_key_sends_nothing_and_stops_nobody(office: Office) -> None:
    office.carrier.pause = 0.1
    office.desk.environment["VOUCHER_ENCRYPTION_KEY"] = "another-key"
    worker = office.worker()
    office.until(lambda: office.rows("SELECT FROM voucher.worker"))
    del office.desk.environment["VOUCHER_ENCRYPTION_KEY"]
    office.workbook(60)
    ran = office.issue().end()
    assert (ran.code, office.totals()) == (0, {"rows": 60, "issued": 60}), ran.err
    assert "is not the key that the run was planned with; nothing was sent from here" in ended(worker).err


def test_the_rate_holds_over_all_workers(office: Office) -> None:
    for _ in range(2):
        office.worker()
    office.until(lambda: len(office.rows("SELECT FROM voucher.worker")) == 2)
    office.workbook(120)
    assert office.issue("tickets.xlsx", "--rate", "20").end().code == 0
    arrivals = sorted(office.carrier.arrivals)
    in_a_second = max(sum(one <= other < one + 1 for other in arrivals) for one in arrivals)
    assert in_a_second <= 20 + 4  # commits take their time, now more and now less
    assert arrivals[-1] - arrivals[0] >= 119 / 20 * 0.95
    assert senders(office) == 3


def test_no_more_are_in_flight_than_the_profile_allows_over_all_workers(office: Office) -> None:
    office.carrier.pause = 0.1
    office.desk.profile(office.carrier.base_url, concurrency=6)
    for _ in range(2):
        office.worker()
    office.until(lambda: len(office.rows("SELECT FROM voucher.worker")) == 2)
    office.workbook(150)
    assert office.issue().end().code == 0
    assert 4 <= office.carrier.most_at_once <= 6
    assert senders(office) == 3


def test_outcomes_that_the_ledger_could_not_be_told_are_taken_in_by_the_next_start(
    office: Office, postgresql: Server
) -> None:
    office.carrier.pause = 1.0
    worker = office.worker()
    office.until(lambda: office.rows("SELECT FROM voucher.worker"))
    office.workbook(40)
    issue = office.issue()
    office.until(lambda: senders(office) == 2 and len(office.carrier.issued) >= 12)
    postgresql.kill()
    spills = office.desk.folder / ".local/share/voucher-pipeline/spill"
    office.until(lambda: sum(b"issued" in path.read_bytes() for path in spills.glob("*.spill")) == 2)
    time.sleep(1.5)  # for every answer to be in
    worker.kill()
    issue.kill()
    kept = len(office.carrier.issued)
    postgresql.start()
    again = office.worker("--once")
    said = again.end()
    assert said.code == 0
    assert len(re.findall(r"Taken in from the spill file of an earlier run: \d+ outcomes", said.err)) == 2
    assert [*spills.glob("*.spill")] == []
    states = Counter(dict(office.rows("SELECT state, count(*) FROM voucher.attempt GROUP BY 1")))
    assert (states["issued"], states["unknown"], states["sending"]) == (kept, 0, 0)
