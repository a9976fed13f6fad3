"""`voucher issue` and `voucher worker` on one ledger, each a process of its own, with a real server and a carrier that counts.

The carrier issues whatever it is asked for, as often as it is asked: what goes twice stands twice in its statement.
"""

import contextlib
import json
import re
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any

import openpyxl
import psycopg
import pytest

from pipeline.carrier.crypto import Cipher
from pipeline.ledger_postgresql import invitations, server_schema
from pipeline.ledger_postgresql.server_connection import LedgerConnection, connect
from pipeline.ledger_postgresql.server_schema import Bounds
from pipeline.model.profile import Owner
from tests.acceptance.conftest import KEYS, Desk, tickets, write_workbook
from tests.acceptance.office import at_rest
from tests.conftest import needs_tool
from tests.crash.forked import Begun, Ran
from tests.postgresql_server import Server, programs, server

pytestmark = pytest.mark.slow

DAY = ("--as-of", "2026-11-20")
#: In seconds: send within, lease, settle after.
BOUNDS = Bounds(3, 6, 3600)


@dataclass
class Carrier:
    """A carrier that takes `pause` seconds for each request; it refuses keys that are not `key`.

    `instead`: the HTTP status that it answers with at once, having issued nothing, by how many requests have arrived;
    `gates`: by ticket, until when its answer waits.
    """

    pause: float = 0.0
    key: str = KEYS["VOUCHER_API_KEY"]
    base_url: str = ""
    instead: dict[int, int] = field(default_factory=dict)
    gates: dict[str, threading.Event] = field(default_factory=dict)
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
            if status := self.instead.get(len(self.arrivals)):
                return status, b"{}"
            ticket = json.loads(cipher.open(json.loads(body)))["issueItinerary"]["ticketNo"]
            self.issued.append(ticket)
            number = f"{len(self.issued):020}".replace("0", "7", 1)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        time.sleep(self.pause)
        if gate := self.gates.get(ticket):
            gate.wait(240)
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


@pytest.fixture(scope="module")
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
    _looks: LedgerConnection | None = None

    def issue(self, workbook: str = "tickets.xlsx", *more: str) -> Begun:
        return self.desk.begin("issue", workbook, *DAY, "--report", f"{workbook}.json", *more)

    def worker(self, *more: str) -> Begun:
        self.workers.append(self.desk.begin("worker", *more))
        return self.workers[-1]

    def workbook(self, count: int, name: str = "tickets.xlsx", first: int = 1) -> None:
        write_workbook(self.desk.folder / name, tickets(first - 1 + count)[first - 1 :])

    def totals(self, workbook: str = "tickets.xlsx") -> dict[str, int]:
        found: dict[str, int] = self.desk.report(f"{workbook}.json")["totals"]
        return found

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What the database has, by one connection for all that is looked at."""
        try:
            return self._looked(query)
        except psycopg.OperationalError:  # the server was started anew
            self.close()
            return self._looked(query)

    def _looked(self, query: str) -> list[tuple[Any, ...]]:
        self._looks = self._looks or connect(self.url)
        return self._looks.execute(query.encode()).fetchall()

    def close(self) -> None:
        if self._looks:
            self._looks.close()
            self._looks = None

    def until(self, reached: Callable[[], object], seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while not reached():
            assert time.monotonic() < deadline
            time.sleep(0.02)


@pytest.fixture
def office(desk: Desk, carrier: Carrier, postgresql: Server) -> Iterator[Office]:
    with opened(desk, carrier, postgresql, BOUNDS) as one:
        yield one


@contextlib.contextmanager
def opened(desk: Desk, carrier: Carrier, postgresql: Server, bounds: Bounds) -> Iterator[Office]:
    """An office whose ledger has these times."""
    url = postgresql.url(postgresql.new_database())
    with closing(connect(url)) as connection:
        server_schema.prepare(connection, Owner(carrier.base_url, "AGENCY"), bounds, invitations.statements())
    desk.profile(carrier.base_url)
    desk.environment |= {"VOUCHER_PROFILE": "carrier.toml", "VOUCHER_LEDGER": url}
    one = Office(desk, carrier, url)
    yield one
    for worker in one.workers:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            worker.kill()
    one.close()


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
    issue = office.issue()
    office.until(lambda: senders(office) == 3)
    office.carrier.pause = 0.0
    ran = issue.end()
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


def test_the_next_attempt_is_claimed_while_the_answer_to_one_goes_into_the_ledger(office: Office) -> None:
    """And not after an answer that says busy, for then none may follow; nor beside the first, which goes alone."""
    office.carrier.instead = {5: 429}
    office.workbook(8)
    assert office.issue("tickets.xlsx", "--concurrency", "1").end().code == 0
    times = office.rows("SELECT sending_at, ended_at FROM voucher.attempt ORDER BY sending_at")
    ahead = [later[0] < earlier[1] for earlier, later in pairwise(times)]
    assert ahead[:7] == [False, True, True, True, False, True, True]  # the last one was due later
    assert len(office.carrier.issued) == 8


def test_what_can_not_be_written_in_time_after_its_claim_does_not_leave(
    desk: Desk, carrier: Carrier, postgresql: Server
) -> None:
    with opened(desk, carrier, postgresql, Bounds(0.0001, 6, 3600)) as office:
        office.workbook(3)
        ran = office.issue().end()
        states = office.rows("SELECT DISTINCT state FROM voucher.attempt")
    assert (ran.code, carrier.arrivals, states) == (3, [], [("not_sent",)]), ran.err
    assert (
        "could not be written in time after it was claimed" in (desk.folder / "tickets.xlsx.json").read_text()
    )


def test_a_newcomer_takes_part_in_a_run_that_is_on(office: Office) -> None:
    office.carrier.pause = 0.1
    office.workbook(300)
    issue = office.issue()
    office.until(lambda: len(office.carrier.issued) > 8)
    office.worker("--once")
    office.until(lambda: senders(office) == 2 or issue.has_ended())
    office.carrier.pause = 0.0
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
    office.carrier.pause = 0.0
    ran = issue.end()
    totals = office.totals()
    unknown = totals.get("unknown", 0)  # none, where every answer was in the ledger already
    assert ran.code == (4 if unknown else 0), ran.err
    assert unknown <= 8
    assert unknown + totals["issued"] == 120
    assert office.carrier.twice() == []
    assert totals["issued"] <= len(office.carrier.issued) <= 120  # what it had claimed may not have left yet


#: Whoever says what an attempt came to waits until that is dropped; what the carrier answered is recorded by then.
HELD = """
CREATE FUNCTION public.held() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(3600); RETURN new; END';
CREATE TRIGGER held BEFORE UPDATE ON voucher.attempt FOR EACH ROW
WHEN (old.state = 'sending' AND new.state <> 'sending' AND new.answer IS NOT NULL) EXECUTE FUNCTION public.held()
"""


def killed_before_it_has_read_its_answer(office: Office, sender: Begun) -> None:
    """What the carrier has answered is in the ledger, and nobody says what that comes to."""
    by = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
    office.until(lambda: office.rows(by))
    sender.kill()
    with closing(connect(office.url)) as connection:
        connection.execute(f"SELECT pg_terminate_backend(pid) FROM ({by}) AS held".encode())
        connection.execute("DROP FUNCTION public.held CASCADE")


def test_what_a_killed_sender_was_answered_is_read_by_the_next_and_nothing_is_sent_again(
    office: Office,
) -> None:
    office.workbook(3)
    with closing(connect(office.url)) as connection:
        connection.execute(HELD)
    killed_before_it_has_read_its_answer(office, office.issue())
    dead = "SELECT voucher.declare_dead(worker, 'chen', 'kill -9') FROM voucher.worker"
    assert office.rows(dead) == [(1,)]
    assert office.rows("SELECT state, reason FROM voucher.attempt") == [("unknown", "run_killed")]
    said = office.worker("--once").end()
    assert (said.code, "1 answers read from the ledger" in said.err) == (0, True), said.err
    assert office.rows("SELECT state, number FROM voucher.attempt") == [("issued", f"7{1:019}")]
    assert len(office.carrier.issued) == 1
    again = office.issue().end()
    assert (again.code, office.totals()) == (0, {"rows": 3, "already_issued": 1, "issued": 2}), again.err
    assert (office.carrier.twice(), len(office.carrier.issued)) == ([], 3)


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
    office.carrier.pause = 0.0
    again = office.issue().end()
    totals = office.totals()
    assert again.code == (4 if totals.get("unknown") else 0)
    assert totals.get("unknown", 0) <= 8
    assert sum(totals.get(one, 0) for one in ("issued", "already_issued", "unknown")) == 400
    assert (office.carrier.twice(), len(office.carrier.issued)) == ([], 400)
    assert ended(worker).code == 0


def test_sending_goes_on_after_the_server_was_started_anew(office: Office, postgresql: Server) -> None:
    office.carrier.pause = 0.1
    # A busy machine takes seconds to start it, and whoever was not heard for a lease meanwhile has lost its run.
    office.rows("UPDATE voucher.ledger SET lease = interval '60 s' RETURNING lease")
    worker = office.worker()
    office.until(lambda: office.rows("SELECT FROM voucher.worker"))
    office.workbook(300)
    issue = office.issue()
    office.until(lambda: senders(office) == 2)
    postgresql.restart_at_once()
    told = "The ledger's server was started anew: nothing is sent until 60 s have passed"
    office.until(lambda: told in issue.told() or issue.has_ended())
    office.carrier.pause = 0.0
    past = "UPDATE voucher.server_life SET seen_at = seen_at - interval '1 min' WHERE opened_at IS NULL RETURNING life"
    office.until(lambda: office.rows(past))  # once somebody has noted it
    ran = issue.end()
    assert told in ran.err
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
    assert codes <= {0, 3, 4}  # 4: on a machine so busy that one of them was not heard for a lease
    found = [office.totals(), office.totals("copy.xlsx")]
    assert sum(totals.get("issued", 0) for totals in found) == 60
    assert (office.carrier.twice(), len(office.carrier.issued)) == ([], 60)


def gated(office: Office, *numbers: int) -> list[threading.Event]:
    """What the answers about these tickets wait for; on a busy machine that takes a while, for which nobody is given up."""
    office.desk.profile(office.carrier.base_url, response_timeout=240)
    office.rows("UPDATE voucher.ledger SET lease = interval '240 s' RETURNING lease")
    gates = [threading.Event() for _ in numbers]
    office.carrier.gates |= {f"999{number:010}": gate for number, gate in zip(numbers, gates, strict=True)}
    return gates


def has_issued(office: Office, number: int) -> Callable[[], bool]:
    return lambda: f"999{number:010}" in office.carrier.issued


def with_one_in_hand_each(office: Office) -> tuple[Begun, Begun]:
    """Two runs on tickets 1 to 3 and 2 to 4. The first request of each goes alone, so that the other has planned what it has in hand."""
    office.workbook(3)
    office.workbook(3, "other.xlsx", first=2)
    first = office.issue()
    office.until(has_issued(office, 1))
    second = office.issue("other.xlsx")
    office.until(has_issued(office, 2))
    return first, second


def test_what_two_runs_want_at_once_is_told_as_the_ledger_has_it_when_each_has_ended(office: Office) -> None:
    one, two = gated(office, 1, 2)
    first, second = with_one_in_hand_each(office)
    one.set()
    ran = first.end()
    assert (ran.code, office.totals()) == (3, {"rows": 3, "issued": 2, "not_sent": 1}), ran.err
    row = office.desk.report("tickets.xlsx.json")["rows"][1]
    assert [reason["code"] for reason in row["reasons"]] == ["in_hand"]
    said = row["reasons"][0]["message"]
    assert "This run did not send it: another run of this ledger is sending it now" in said
    assert "other.xlsx" in said
    two.set()
    ran = second.end()
    assert (ran.code, office.totals("other.xlsx")) == (0, {"rows": 3, "issued": 2, "already_issued": 1}), (
        ran.err
    )
    report = office.desk.report("other.xlsx.json")
    numbers = dict(
        office.rows("SELECT ticket_no, number FROM voucher.charge JOIN voucher.attempt USING (attempt_id)")
    )
    assert [row["number"] for row in report["rows"]] == [numbers[row["ticket_no"]] for row in report["rows"]]
    assert [one["status"] for one in report["requests"]] == ["issued", "issued"]
    assert (office.carrier.twice(), len(office.carrier.issued)) == ([], 4)


def test_what_another_run_has_in_hand_when_a_run_begins_is_looked_at_again_at_its_end(office: Office) -> None:
    one, two = gated(office, 1, 2)
    office.workbook(1)
    first = office.issue()
    office.until(has_issued(office, 1))
    checked = office.desk.voucher("check", "tickets.xlsx", *DAY, "--lang", "zh")
    assert (checked.code, "另一次运行" in checked.err) == (3, True), checked.err
    office.workbook(1, "same.xlsx")
    ran = office.issue("same.xlsx").end()
    assert (ran.code, office.totals("same.xlsx")) == (3, {"rows": 1, "not_sent": 1}), ran.err
    office.workbook(2, "both.xlsx")
    second = office.issue("both.xlsx")
    office.until(has_issued(office, 2))
    one.set()
    assert first.end().code == 0
    two.set()
    ran = second.end()
    assert (ran.code, office.totals("both.xlsx")) == (0, {"rows": 2, "issued": 1, "already_issued": 1}), (
        ran.err
    )
    assert (office.carrier.twice(), len(office.carrier.issued)) == ([], 2)


def test_what_a_worker_with_another_key_gave_back_and_another_run_issued_is_issued_already(
    office: Office,
) -> None:
    """The second run has planned the same request again, so that the first can't: but its result says what the ledger has at its end."""
    one, two = gated(office, 1, 2)
    first, second = with_one_in_hand_each(office)
    office.desk.environment["VOUCHER_ENCRYPTION_KEY"] = "another-key"
    worker = office.worker()
    given_back = (
        "SELECT FROM voucher.attempt JOIN voucher.charge USING (attempt_id)"
        " WHERE run = 1 AND ticket_no LIKE '%3' AND state = 'not_sent'"
    )
    office.until(lambda: office.rows(given_back))
    assert worker.end().code == 3
    two.set()
    assert second.end().code == 0
    one.set()
    ran = first.end()
    assert (ran.code, office.totals()) == (0, {"rows": 3, "issued": 1, "already_issued": 2}), ran.err
    assert (office.carrier.twice(), len(office.carrier.issued)) == ([], 4)


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


def test_a_second_ctrl_c_at_the_issuer_waits_for_nobody_and_loses_nothing_that_others_send(
    office: Office,
) -> None:
    office.carrier.pause = 3.0
    worker = office.worker()
    office.until(lambda: office.rows("SELECT FROM voucher.worker"))
    office.workbook(100)
    issue = office.issue()
    office.until(lambda: senders(office) == 2 and office.carrier.most_at_once == 8)
    begun = time.monotonic()
    issue.send_signal(signal.SIGINT)
    time.sleep(0.3)
    issue.send_signal(signal.SIGINT)
    ran = issue.end()
    assert time.monotonic() - begun < 2.5
    assert ran.code == 4, ran.err
    sent, totals = len(office.carrier.issued), office.totals()
    assert totals.get("issued", 0) + totals["unknown"] == sent
    assert totals["not_sent"] == 100 - sent
    report = (office.desk.folder / "tickets.xlsx.json").read_text()
    assert "another worker was still sending it when this run ended" in report
    assert "the run was interrupted while it waited for the answer" in report
    office.until(lambda: not office.rows("SELECT FROM voucher.attempt WHERE state = 'sending'"))
    own = "worker = (SELECT issuer FROM voucher.run)"
    states = dict(office.rows(f"SELECT state, count(*) FROM voucher.attempt WHERE NOT {own} GROUP BY 1"))
    assert states.keys() <= {"issued", "not_sent"}
    assert states["issued"] >= 1
    office.carrier.pause = 0.0
    again = office.issue().end()
    assert again.code == 4
    assert (office.carrier.twice(), len(office.carrier.issued)) == ([], 100)
    assert ended(worker).code == 0


def test_a_gap_that_is_marked_meanwhile_stops_everybody(office: Office) -> None:
    office.carrier.pause = 0.2
    worker = office.worker()
    office.until(lambda: office.rows("SELECT FROM voucher.worker"))
    office.workbook(400)
    issue = office.issue()
    office.until(lambda: senders(office) == 2)
    marked = office.desk.voucher("ledger", "mark-gap", "--since", "2026-11-20", "--why", "restored copy")
    claimed = office.rows("SELECT count(*) FROM voucher.attempt WHERE state <> 'planned'")[0][0]
    assert marked.code == 0, marked.err
    ran = issue.end()
    sent = len(office.carrier.issued)
    assert (ran.code, sent) == (3, claimed), ran.err
    assert office.totals() == {"rows": 400, "issued": sent, "not_sent": 400 - sent}
    assert "nothing is sent while the ledger has a gap" in ran.err
    told = worker.end()  # by itself, for nothing would come to it until somebody closes the gap
    assert (told.code, told.err.count("voucher ledger close-gap")) == (3, 1), told.err
    assert "this ledger may lack what was issued after 2026-11-20" in told.err
    assert len(office.carrier.issued) == sent


def test_a_refusal_of_the_key_proves_nothing_once_another_answer_shows_that_it_was_taken(
    office: Office,
) -> None:
    """The first answer tells nothing, so that others leave beside the refused one; the last of them is a yes."""
    office.carrier.pause = 1.0
    office.carrier.instead = {1: 500, 3: 401}
    office.desk.profile(office.carrier.base_url, concurrency=2)
    office.workbook(20)
    ran = office.issue().end()
    assert ran.code == 4, ran.err
    assert office.totals() == {"rows": 20, "issued": 1, "unknown": 2, "not_sent": 17}
    assert dict(office.rows("SELECT http_status, state FROM voucher.attempt WHERE http_status > 0")) == {
        500: "unknown", 200: "issued", 401: "unknown",
    }  # fmt: skip


def test_workbooks_of_an_inbox_are_sent_one_after_the_other_by_all(office: Office) -> None:
    office.carrier.pause = 0.3  # so that each workbook lasts until the worker has its share
    worker = office.worker()
    office.until(lambda: office.rows("SELECT FROM voucher.worker"))
    boxes = [office.desk.folder / name for name in ("in", "out")]
    for box in boxes:
        box.mkdir()
    office.workbook(60, "in/october.xlsx")
    office.workbook(60, "in/november.xlsx", first=41)  # of these 20 are in both
    at_rest(*boxes[0].iterdir())
    ran = office.desk.voucher(
        "reconcile", "--inbox", "in", "--outbox", "out", *DAY, "-o", "out/r.xlsx", "--report", "r.json"
    )
    assert ran.code == 0, ran.err
    assert sorted(office.carrier.issued) == [f"999{number:010}" for number in range(1, 101)]
    assert {"october.result.xlsx", "november.result.xlsx"} <= {one.name for one in boxes[1].iterdir()}
    assert senders(office) == 2  # the issuer is the same worker for both
    assert office.rows("SELECT command, exit_code, ended_at IS NOT NULL FROM voucher.run") == [
        ("reconcile", 0, True)
    ]
    assert ended(worker).code == 0


def test_a_workbook_that_takes_longer_to_judge_than_a_lease_does_not_cost_the_run(office: Office) -> None:
    office.rows("UPDATE voucher.ledger SET lease = interval '60 s' RETURNING lease")  # on a busy machine, too
    boxes = [office.desk.folder / name for name in ("in", "out")]
    for box in boxes:
        box.mkdir()
    office.workbook(2, "in/a.xlsx")
    office.workbook(2, "in/b.xlsx", first=3)
    at_rest(*boxes[0].iterdir())
    with closing(connect(office.url)) as connection:
        connection.execute(HELD.replace("pg_sleep(3600)", "pg_advisory_xact_lock(7)"))
        connection.execute("SELECT pg_advisory_lock(7)")  # until then the first one waits for its outcomes
        ran = office.desk.begin("reconcile", "--inbox", "in", "--outbox", "out", *DAY, "--report", "r.json")
        office.workers.append(ran)
        waits = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 7 AND NOT granted"
        office.until(lambda: office.rows(waits))
        with connection.transaction():
            connection.execute(
                "LOCK TABLE voucher.judgement IN EXCLUSIVE MODE"
            )  # which the second one waits for
            connection.execute("SELECT pg_advisory_unlock(7)")
            waits = "SELECT FROM pg_locks WHERE relation = 'voucher.judgement'::regclass AND NOT granted"
            office.until(lambda: office.rows(waits))
            assert len(office.carrier.issued) == 2
            with closing(connect(office.url)) as later:  # a lease has passed for whoever has left
                later.execute("SET session_replication_role = replica")
                later.execute("UPDATE voucher.worker SET left_at = left_at - interval '1 hour'")
                later.execute("RESET session_replication_role")
                later.execute("SELECT voucher.sweep()")
    said = ran.end()
    assert (said.code, len(office.carrier.issued)) == (0, 4), said.err
    assert office.rows("SELECT exit_code FROM voucher.run") == [(0,)]
    assert office.rows("SELECT count(*) FROM voucher.worker") == [(1,)]


def test_what_stops_one_workbook_of_an_inbox_stops_those_after_it(office: Office) -> None:
    office.carrier.instead = {5: 401, **dict.fromkeys(range(1, 5), 500)}
    office.desk.profile(office.carrier.base_url, concurrency=1)
    boxes = [office.desk.folder / name for name in ("in", "out")]
    for box in boxes:
        box.mkdir()
    office.workbook(20, "in/a.xlsx")
    office.workbook(20, "in/b.xlsx", first=21)
    at_rest(*boxes[0].iterdir())
    ran = office.desk.voucher("reconcile", "--inbox", "in", "--outbox", "out", *DAY, "--report", "r.json")
    assert ran.code == 4, ran.err
    assert (len(office.carrier.arrivals), office.carrier.issued) == (5, [])
    assert len(office.rows("SELECT FROM voucher.attempt WHERE state = 'planned'")) == 0
    assert [office.desk.report("r.json")["totals"][one] for one in ("unknown", "not_sent")] == [4, 36]


def test_a_worker_that_is_stopped_finishes_what_it_sends_and_the_others_go_on(office: Office) -> None:
    office.carrier.pause = 0.2
    worker = office.worker()
    office.until(lambda: office.rows("SELECT FROM voucher.worker"))
    office.workbook(120)
    issue = office.issue()
    office.until(lambda: senders(office) == 2)
    assert ended(worker).code == 0
    office.carrier.pause = 0.0
    assert issue.end().code == 0
    assert office.totals() == {"rows": 120, "issued": 120}
    assert office.carrier.twice() == []


def with_another_key(office: Office, name: str) -> Begun:
    """A worker of a machine on which one of the keys is wrong."""
    office.desk.environment[name] = "another-key"
    worker = office.worker()
    office.until(lambda: office.rows("SELECT FROM voucher.worker"))
    del office.desk.environment[name]
    return worker


@pytest.mark.parametrize(
    ("key", "arrived", "told"),
    [
        ("VOUCHER_ENCRYPTION_KEY", 0, "is not the key that the run was planned with; nothing was sent from there"),
        ("VOUCHER_API_KEY", 1, "the key or the agency is refused; check VOUCHER_API_KEY"),
    ],
)  # fmt: skip
def test_a_worker_with_another_key_ends_with_the_cause_and_stops_nobody(
    office: Office, key: str, arrived: int, told: str
) -> None:
    (gate,) = gated(office, 1)
    worker = with_another_key(office, key)
    office.workbook(60)
    issue = office.issue()
    said = worker.end()
    assert (said.code, said.err.count(told), socket.gethostname() in said.err) == (3, 1, True), said.err
    assert office.rows("SELECT count(*) FROM voucher.attempt WHERE state = 'not_sent'") >= [(1,)]
    gate.set()
    ran = issue.end()
    assert (ran.code, office.totals()) == (0, {"rows": 60, "issued": 60}), ran.err
    assert len(office.carrier.arrivals) == 60 + arrived
    assert office.carrier.twice() == []
    assert office.rows("SELECT count(*) FROM voucher.worker WHERE left_at IS NULL") == [(0,)]


def test_a_key_that_is_refused_where_the_run_is_issued_stops_it_for_all(office: Office) -> None:
    office.carrier.pause = 0.2
    worker = office.worker()
    office.until(lambda: office.rows("SELECT FROM voucher.worker"))
    office.workbook(200)
    office.desk.environment["VOUCHER_API_KEY"] = "another-key"
    ran = office.issue().end()
    totals = office.totals()
    assert ran.code == 3
    assert totals["not_sent"] + totals.get("issued", 0) == 200
    assert totals["not_sent"] > 0
    assert '"key_refused"' in (office.desk.folder / "tickets.xlsx.json").read_text()
    assert "check VOUCHER_API_KEY" in ran.err
    assert f"(found on {socket.gethostname()}, worker " in ran.err
    assert office.carrier.twice() == []
    assert ended(worker).code == 0


def test_a_refusal_beside_an_acceptance_is_no_wrong_key_of_that_worker(office: Office) -> None:
    """The worker's first answer tells nothing, so that another request leaves beside the refused one; that is a yes, and comes later."""
    of_issuer, *of_worker = gated(office, 1, 3, 4)  # whichever of the two comes first
    office.carrier.instead = {2: 500, 4: 401}
    office.desk.profile(office.carrier.base_url, concurrency=4, response_timeout=240)  # two each
    worker = office.worker()
    office.until(lambda: office.rows("SELECT FROM voucher.worker"))
    office.workbook(20)
    issue = office.issue()
    office.until(lambda: office.rows("SELECT FROM voucher.attempt WHERE http_status = 401"))
    for gate in of_worker:
        gate.set()
    office.until(lambda: office.rows("SELECT FROM voucher.run WHERE stopped <> ''"))
    of_issuer.set()
    ran = issue.end()
    assert (ran.code, office.totals()) == (4, {"rows": 20, "issued": 2, "unknown": 2, "not_sent": 16}), (
        ran.err
    )
    said = ended(worker)
    assert (said.code, "though key and address were accepted before" in said.err) == (0, True), said.err


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


def test_no_more_are_in_flight_than_the_profile_allows_while_two_issue_at_once(office: Office) -> None:
    office.carrier.pause = 0.1
    office.desk.profile(office.carrier.base_url, concurrency=6)
    office.worker()
    office.until(lambda: office.rows("SELECT FROM voucher.worker"))
    office.workbook(100)
    office.workbook(100, "other.xlsx", first=101)
    first, second = office.issue(), office.issue("other.xlsx")
    office.until(
        lambda: len(office.rows("SELECT DISTINCT run FROM voucher.attempt WHERE state = 'sending'")) == 2
    )
    assert (first.end().code, second.end().code) == (0, 0)
    assert 5 <= office.carrier.most_at_once <= 6
    assert (office.carrier.twice(), len(office.carrier.issued)) == ([], 200)


def test_a_run_for_which_nothing_is_left_to_be_in_flight_waits_and_says_so(office: Office) -> None:
    office.carrier.pause = 0.4
    office.desk.profile(office.carrier.base_url, concurrency=1)
    office.workbook(12)
    office.workbook(1, "other.xlsx", first=101)
    first = office.issue()
    office.until(lambda: office.carrier.issued)
    second = office.issue("other.xlsx")
    told = [second.end(), first.end()]
    assert [one.code for one in told] == [0, 0]
    assert ["are in flight for other runs or by other workers" in one.err for one in told] == [True, False]
    assert office.carrier.most_at_once == 1
    assert office.carrier.issued[-1] == "9990000000101"


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
    # What was being claimed as the server was killed may be unknown as well: it is not known whether it was, and it never left.
    assert (states["issued"], states["sending"]) == (kept, 0)
