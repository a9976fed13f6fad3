"""Submission with a real ledger file and a real server: what is on disk at the moments that matter."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from aiohttp import web

import pipeline.submission
from pipeline.account import Result
from pipeline.carrier.client import connected
from pipeline.carrier.crypto import Cipher
from pipeline.carrier.documents import body
from pipeline.ledger import opening, records
from pipeline.ledger.records import Attempt
from pipeline.ledger.spill import Spill, spill_path, spilled
from pipeline.ledger.writer import Writer
from pipeline.profile import Profile
from pipeline.profile import Submission as SubmissionSettings
from pipeline.request import Charge, Header, Identity, Request
from pipeline.submission import TRIES, UNKNOWN_IN_A_ROW, Halt, Progress, Submission

CIPHER = Cipher("key")
HEADER = Header("business", "Example Trading Co.", "91110000600037341L", "", "finance@example.com")


def itineraries(count: int) -> list[Request]:
    return [
        Request(
            "itinerary",
            "domestic",
            HEADER,
            (Charge(Identity(f"999{n:010}", "ticket_fare", "flight"), "P", 100, n, None),),
        )
        for n in range(1, count + 1)
    ]


async def ticket_of(request: web.Request) -> str:
    document = json.loads(CIPHER.open(await request.json()))
    return str(document["issueItinerary"]["ticketNo"])


def yes(ticket_no: str) -> web.Response:
    result = {
        "itineraryResult": {"ticketNo": ticket_no, "itineraryNum": f"2{ticket_no:>019}", "success": True}
    }
    data = json.loads(body(json.dumps(result).encode(), CIPHER))
    return web.json_response({"code": 200, "message": "success", "data": data, "traceId": "t"})


class Bench:
    """A ledger, a carrier that answers as the test says, and a submission between them."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "test.ledger"
        self.halt = Halt()
        self.asked: list[str] = []
        self.progress: list[Progress] = []
        self.peers: list[object] = []
        self.connection, self._lock = opening.open_for_run(
            self.path, opening.sandbox_owner("A"), may_create=True
        )
        self.run = records.begin_run(self.connection, "issue", "0", "2026-11-20", [])

    def plan(self, requests: Sequence[Request]) -> list[Attempt]:
        return records.plan(self.connection, self.run, requests, {n: ("f", "s", n) for n in range(1000)})

    def on_disk(self, query: str) -> list[tuple[object, ...]]:
        with closing(apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READONLY)) as other:
            return list(other.execute(query))

    def submit(
        self, requests: Sequence[Request], answer: Callable[..., object], **settings: float
    ) -> list[Result]:
        profile = Profile(
            submission=SubmissionSettings(**{"concurrency": 4, "response_timeout_seconds": 5, **settings})
        )
        attempts = self.plan(requests)

        async def carrier(request: web.Request) -> web.StreamResponse:
            ticket_no = await ticket_of(request)
            self.asked.append(ticket_no)
            assert request.transport is not None
            self.peers.append(request.transport.get_extra_info("peername"))
            answered = answer(ticket_no)
            if asyncio.iscoroutine(answered):
                answered = await answered
            assert isinstance(answered, web.StreamResponse)
            return answered

        async def work() -> list[Result]:
            app = web.Application()
            app.router.add_post("/itinerary/issueItinerary", carrier)
            runner = web.AppRunner(app, shutdown_timeout=0.1)
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            with Spill(spill_path(self.path), records.ledger_id(self.connection), 4) as spill:
                writer = Writer(self.connection, spill)
                try:
                    async with connected(profile, f"http://127.0.0.1:{site.port}", "api-key") as client:
                        submission = Submission(
                            client, writer, CIPHER, profile, self.halt, frozenset(), self.progress.append
                        )
                        return await submission.submit(attempts)
                finally:
                    await writer.close()
                    await runner.cleanup()

        return asyncio.run(work())

    def close(self) -> None:
        self.connection.close()
        self._lock.close()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with closing(Bench(tmp_path)) as made:
        yield made


def states(results: Sequence[Result]) -> list[str]:
    return [result.outcome.state for result in results]


def test_sending_is_on_disk_before_the_carrier_sees_a_request(bench: Bench) -> None:
    seen = []

    def look(ticket_no: str) -> web.Response:
        seen.append(
            bench.on_disk(
                f"SELECT state FROM attempt JOIN charge USING (attempt_id) WHERE ticket_no = '{ticket_no}'"
            )
        )
        return yes(ticket_no)

    results = bench.submit(itineraries(20), look)
    assert seen == [[("sending",)]] * 20
    assert states(results) == ["issued"] * 20
    assert sorted(bench.asked) == [request.charges[0].identity.ticket_no for request in itineraries(20)]
    assert bench.progress[-1].done == bench.progress[-1].total == 20


def test_no_more_are_marked_as_sending_than_are_in_flight(bench: Bench) -> None:
    most = 0

    async def count(ticket_no: str) -> web.Response:
        nonlocal most
        await asyncio.sleep(0.01)
        (found,) = bench.on_disk("SELECT count(*) FROM attempt WHERE state = 'sending'")
        most = max(most, int(str(found[0])))
        return yes(ticket_no)

    bench.submit(itineraries(40), count, concurrency=4)
    assert most == 4


def test_the_raw_answer_is_on_disk_before_it_is_looked_at(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, seen = pipeline.submission.interpret, []

    def look(*given: object, **named: object) -> object:
        seen.append(bench.on_disk("SELECT state, http_status, answer IS NOT NULL FROM attempt"))
        return real(*given, **named)

    monkeypatch.setattr(pipeline.submission, "interpret", look)
    bench.submit(itineraries(1), yes)
    assert seen == [[("sending", 200, 1)]]


def test_only_what_reached_nobody_is_tried_again_and_not_for_ever(bench: Bench) -> None:
    results = bench.submit(itineraries(1), lambda _: web.Response(status=429, headers={"Retry-After": "0"}))
    assert [(result.outcome.state, result.outcome.reason, result.attempt) for result in results] == [
        ("not_sent", "carrier_busy", TRIES)
    ]
    assert len(bench.asked) == TRIES
    assert bench.on_disk("SELECT attempt, state FROM attempt") == [
        (n, "not_sent") for n in range(1, TRIES + 1)
    ]


def test_what_may_have_been_issued_is_not_tried_again(bench: Bench) -> None:
    results = bench.submit(itineraries(3), lambda _: web.Response(status=500))
    assert states(results) == ["unknown"] * 3
    assert len(bench.asked) == 3


def test_many_unknown_outcomes_in_a_row_stop_the_run(bench: Bench) -> None:
    results = bench.submit(itineraries(60), lambda _: web.Response(status=502), concurrency=1)
    assert states(results) == ["unknown"] * UNKNOWN_IN_A_ROW + ["not_sent"] * (60 - UNKNOWN_IN_A_ROW)
    assert {result.outcome.reason for result in results[UNKNOWN_IN_A_ROW:]} == {"run_stopped"}
    assert "in a row are unknown" in bench.halt.reason


def test_a_definite_answer_ends_a_row_of_failures(bench: Bench) -> None:
    def sometimes(ticket_no: str) -> web.Response:
        return yes(ticket_no) if int(ticket_no) % UNKNOWN_IN_A_ROW == 0 else web.Response(status=502)

    results = bench.submit(itineraries(50), sometimes, concurrency=1)
    assert bench.halt.reason == ""
    assert states(results).count("issued") == 5


def test_a_refused_key_stops_the_run_and_the_rest_is_not_sent(bench: Bench) -> None:
    results = bench.submit(itineraries(50), lambda _: web.Response(status=401), concurrency=2)
    assert set(states(results)) == {"not_sent"}
    assert len(bench.asked) <= 4
    assert {result.outcome.reason for result in results} == {"key_refused", "run_stopped"}


def test_a_ledger_that_fails_stops_all_sending_and_loses_no_answer(bench: Bench) -> None:
    """The file stops taking commits while answers are under way: no further request leaves."""
    failing = False

    async def fail_soon(ticket_no: str) -> web.Response:
        nonlocal failing
        if len(bench.asked) == 10:
            failing = True
        await asyncio.sleep(0.05)
        return yes(ticket_no)

    bench.connection.set_commit_hook(lambda: failing)
    results = bench.submit(itineraries(60), fail_soon, concurrency=4)
    bench.connection.set_commit_hook(None)
    assert "can't be written" in bench.halt.reason
    asked = len(bench.asked)
    assert asked <= 14
    assert states(results).count("issued") == asked  # every answer that came is told to the person
    assert states(results).count("not_sent") == 60 - asked
    issued = {str(row[0]) for row in bench.on_disk("SELECT number FROM attempt WHERE state = 'issued'")}
    kept = {
        entry["number"]
        for entry in spilled(spill_path(bench.path), records.ledger_id(bench.connection))
        if entry.get("number")
    }
    assert issued | kept == {result.outcome.number for result in results if result.outcome.number}
    assert kept


def test_stopping_waits_for_what_is_in_flight(bench: Bench) -> None:
    async def stop_then_answer(ticket_no: str) -> web.Response:
        bench.halt.stop("interrupted")
        await asyncio.sleep(0.2)
        return yes(ticket_no)

    results = bench.submit(itineraries(20), stop_then_answer, concurrency=3)
    assert sorted(set(states(results))) == ["issued", "not_sent"]
    assert states(results).count("issued") == len(bench.asked) <= 3


def test_a_second_interrupt_stops_waiting_and_what_was_in_flight_is_unknown(bench: Bench) -> None:
    async def abandon(ticket_no: str) -> web.Response:
        bench.halt.stop("interrupted")
        asyncio.get_running_loop().call_later(0.1, bench.halt.abandon)
        await asyncio.sleep(3)
        return yes(ticket_no)

    results = bench.submit(itineraries(10), abandon, concurrency=2)
    assert states(results).count("unknown") == len(bench.asked)
    assert states(results).count("not_sent") == 10 - len(bench.asked)
    assert bench.on_disk("SELECT count(*) FROM attempt WHERE state = 'sending'") == [(0,)]


def test_the_rate_is_kept_from_the_first_request_on(bench: Bench) -> None:
    loop_times = []

    def note(ticket_no: str) -> web.Response:
        loop_times.append(asyncio.get_running_loop().time())
        return yes(ticket_no)

    bench.submit(itineraries(15), note, rate_per_second=50, concurrency=8)
    # a request may reach the server late, never early: n of them take (n - 1) periods less a little jitter
    assert loop_times[-1] - loop_times[0] > 13 / 50


def test_a_number_that_another_request_has_is_no_number_of_this_one(bench: Bench) -> None:
    """As when a stale answer comes in on a connection that is used again."""

    def same_number(ticket_no: str) -> web.Response:
        result = {
            "itineraryResult": {
                "ticketNo": ticket_no,
                "itineraryNum": "20179522956809634828",
                "success": True,
            }
        }
        data = json.loads(body(json.dumps(result).encode(), CIPHER))
        return web.json_response({"code": 200, "message": "success", "data": data, "traceId": "t"})

    results = bench.submit(itineraries(3), same_number, concurrency=1)
    assert states(results) == ["issued", "unknown", "unknown"]
    assert "has already" in results[1].outcome.detail
    assert bench.on_disk("SELECT state FROM attempt ORDER BY attempt_id") == [
        ("issued",),
        ("unknown",),
        ("unknown",),
    ]


def test_after_an_answer_that_made_no_sense_the_connection_is_not_used_again(bench: Bench) -> None:
    used: list[object] = []

    def answer(ticket_no: str) -> web.Response:
        return web.Response(status=502) if len(bench.asked) == 2 else yes(ticket_no)

    bench.peers = used
    assert states(bench.submit(itineraries(4), answer, concurrency=1)) == [
        "issued",
        "unknown",
        "issued",
        "issued",
    ]
    first, second, third, fourth = used
    assert first == second != third == fourth


@pytest.mark.parametrize("taken", [False, True])
def test_a_ledger_that_loses_its_name_stops_the_run(bench: Bench, taken: bool) -> None:
    def lose(ticket_no: str) -> web.Response:
        if len(bench.asked) == 5:
            bench.path.rename(bench.path.with_name("elsewhere"))
            if taken:
                bench.path.write_bytes(b"")
        return yes(ticket_no)

    results = bench.submit(itineraries(30), lose, concurrency=1)
    assert states(results).count("issued") == len(bench.asked) == 5
    assert states(results).count("not_sent") == 25
    assert "can't be written" in bench.halt.reason


def test_stopping_does_not_wait_for_the_rate(bench: Bench) -> None:
    def stop(ticket_no: str) -> web.Response:
        bench.halt.stop("interrupted")
        return yes(ticket_no)

    begun = time.monotonic()
    results = bench.submit(itineraries(5), stop, rate_per_second=0.02, concurrency=2)
    assert states(results).count("not_sent") == 4
    assert time.monotonic() - begun < 25  # the next turn would come after 50 seconds


def test_a_run_that_stops_while_sending_is_being_written_sends_nothing(bench: Bench) -> None:
    def stop() -> bool:
        bench.halt.stop("interrupted")
        return False

    bench.connection.set_commit_hook(stop)
    results = bench.submit(itineraries(3), yes, concurrency=1)
    bench.connection.set_commit_hook(None)
    assert bench.asked == []
    assert states(results) == ["not_sent"] * 3
    assert bench.on_disk("SELECT count(*) FROM attempt WHERE state = 'sending'") == [(0,)]
