"""Submission with a real ledger file and a real server: what is on disk at the moments that matter."""

import asyncio
import itertools
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import apsw
import pytest
from aiohttp import web

import pipeline.ledger.group_commit
import pipeline.submission.attempt_sender
import pipeline.submission.request_sender
from pipeline.boot_time import boot_time
from pipeline.carrier.client import connected
from pipeline.carrier.crypto import Cipher
from pipeline.carrier.documents import body
from pipeline.carrier.key_redaction import Concealed
from pipeline.carrier.replies import interpret
from pipeline.ledger import attempt_changes, opening, planning, runs
from pipeline.ledger.attempt_changes import (
    Acknowledged,
    Again,
    Change,
    Ended,
    GotAnswer,
    Plain,
    Sending,
)
from pipeline.ledger.group_commit import Writer
from pipeline.ledger.planning import Attempt
from pipeline.ledger.spill import Spill, spill_path, spilled
from pipeline.model.errors import LedgerProblem
from pipeline.model.known_charges import Doubts
from pipeline.model.message import from_text, message, to_text
from pipeline.model.outcome import Outcome, Result
from pipeline.model.profile import Answers, Profile, sandbox_owner
from pipeline.model.profile import Submission as SubmissionSettings
from pipeline.model.request import (
    Charge,
    Header,
    Identity,
    Request,
)
from pipeline.submission.attempt_sender import Leaving
from pipeline.submission.failures_in_a_row import UNKNOWN_IN_A_ROW
from pipeline.submission.graceful_stop import Halt
from pipeline.submission.rate_limit import Pace
from pipeline.submission.request_sender import RequestSender
from pipeline.submission.retry import TRIES
from tests.committing import writer_by

if TYPE_CHECKING:
    from pipeline.model.job import Progress

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
        self.ended: list[tuple[Request, int, Outcome]] = []
        self.peers: list[object] = []
        self.doubts = Doubts()
        self.concealed = Concealed()
        self.answers = Answers()
        self.connection, self._lock = opening.open_for_run(self.path, sandbox_owner("A"), may_create=True)
        self.run = runs._begin_run(self.connection, runs.RunStart("issue", "2026-11-20"))

    def plan(self, requests: Sequence[Request]) -> list[Attempt]:
        return planning.plan(self.connection, self.run, requests, {n: ("f", "s", n) for n in range(1000)})

    def on_disk(self, query: str) -> list[tuple[object, ...]]:
        with closing(apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READONLY)) as other:
            return list(other.execute(query))

    def submit(
        self, requests: Sequence[Request], answer: Callable[..., object], **settings: float
    ) -> list[Result]:
        profile = Profile(
            submission=SubmissionSettings(**{"concurrency": 4, "response_timeout_seconds": 5, **settings}),
            answers=self.answers,
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
            with Spill(spill_path(self.path), opening.ledger_id(self.connection), 4) as spill:
                try:
                    async with (
                        writer_by(self.connection, spill, profile.submission.concurrency) as writer,
                        connected(profile, f"http://127.0.0.1:{site.port}", "api-key") as client,
                    ):
                        submission = RequestSender(
                            client,
                            writer,
                            CIPHER,
                            profile,
                            self.halt,
                            self.doubts,
                            lambda seen: self.progress.append(replace(seen, states=seen.states.copy())),
                            self.concealed,
                            lambda *told: self.ended.append(told),
                        )
                        results = await submission.submit(attempts)
                        await asyncio.sleep(0.01)  # nothing is told any more, though a time for it was set
                        return results
                finally:
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


def test_no_more_would_be_in_doubt_after_a_crash_than_may_be_in_flight(bench: Bench) -> None:
    """Those that are marked as sending and have no answer: what they came to would be asked for."""
    most = 0

    async def count(ticket_no: str) -> web.Response:
        nonlocal most
        await asyncio.sleep(0.01)
        (found,) = bench.on_disk("SELECT count(*) FROM attempt WHERE state = 'sending' AND answer IS NULL")
        most = max(most, int(str(found[0])))
        return yes(ticket_no)

    bench.submit(itineraries(40), count, concurrency=4)
    assert most == 4


def test_the_raw_answer_is_on_disk_before_it_is_looked_at(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, seen = pipeline.submission.attempt_sender.interpret, []

    def look(*given: object, **named: object) -> object:
        seen.append(bench.on_disk("SELECT state, http_status, answer IS NOT NULL FROM attempt"))
        return real(*given, **named)

    monkeypatch.setattr(pipeline.submission.attempt_sender, "interpret", look)
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


class BusyAndMore(web.Response):
    """An answer that says busy, and so many seconds later another one, over the same connection."""

    def __init__(self, later: float) -> None:
        super().__init__(text='{"code": 5001, "message": "busy", "traceId": "b"}')
        self._later = later

    async def write_eof(self, data: bytes = b"") -> None:
        writer = self._payload_writer
        assert writer is not None
        assert writer.transport is not None
        await super().write_eof(data)
        another = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
        asyncio.get_running_loop().call_later(self._later, writer.transport.write, another)


@pytest.mark.parametrize(("first_takes", "later"), [(0, 0.05), (0.5, 0.6)], ids=["soon", "as answers go"])
def test_a_busy_answer_that_another_one_follows_proves_nothing(
    bench: Bench, first_takes: float, later: float
) -> None:
    async def answer(ticket_no: str) -> web.Response:
        if ticket_no.endswith("2"):
            return BusyAndMore(later)
        await asyncio.sleep(first_takes)
        return yes(ticket_no)

    bench.answers = Answers(not_processed_codes=(5001,))
    results = bench.submit(itineraries(3), answer, concurrency=1)
    assert states(results) == ["issued", "unknown", "issued"]
    assert [ticket_no[-1] for ticket_no in bench.asked] == ["1", "2", "3"]
    outcome = results[1].outcome
    assert (outcome.reason, outcome.trace_id) == ("answer_unexplained", "b")
    assert str(outcome.detail) == "code 5001: busy, and then another answer to the same request"
    assert len(set(bench.peers)) == 2


def test_what_may_have_been_issued_is_not_tried_again(bench: Bench) -> None:
    results = bench.submit(itineraries(3), lambda _: web.Response(status=500))
    assert states(results) == ["unknown"] * 3
    assert len(bench.asked) == 3


def test_many_unknown_outcomes_in_a_row_stop_the_run(bench: Bench) -> None:
    results = bench.submit(itineraries(60), lambda _: web.Response(status=502), concurrency=1)
    assert states(results) == ["unknown"] * UNKNOWN_IN_A_ROW + ["not_sent"] * (60 - UNKNOWN_IN_A_ROW)
    assert {result.outcome.reason for result in results[UNKNOWN_IN_A_ROW:]} == {"run_stopped"}
    assert "in a row are unknown" in str(bench.halt.reason)


def test_a_definite_answer_ends_a_row_of_failures(bench: Bench) -> None:
    def sometimes(ticket_no: str) -> web.Response:
        return yes(ticket_no) if int(ticket_no) % UNKNOWN_IN_A_ROW == 0 else web.Response(status=502)

    results = bench.submit(itineraries(50), sometimes, concurrency=1)
    assert str(bench.halt.reason) == ""
    assert states(results).count("issued") == 5


def test_a_refused_key_stops_the_run_and_the_rest_is_not_sent(bench: Bench) -> None:
    results = bench.submit(itineraries(50), lambda _: web.Response(status=401), concurrency=2)
    assert set(states(results)) == {"not_sent"}
    assert len(bench.asked) <= 4
    assert {result.outcome.reason for result in results} == {"key_refused", "run_stopped"}


@pytest.mark.parametrize("status", [401, 403, 404, 405])
@pytest.mark.parametrize("definite", ["yes", "no"])
def test_a_refusal_after_an_accepted_answer_is_unknown_and_stops_the_run(
    bench: Bench, status: int, definite: str
) -> None:
    """As something in front of the carrier says it, whose other requests succeed; the carrier may have issued."""

    def answer(ticket_no: str) -> web.Response:
        said = yes(ticket_no) if definite == "yes" else no(ticket_no)
        return said if ticket_no.endswith("1") else web.Response(status=status)

    results = bench.submit(itineraries(5), answer, concurrency=1)
    assert states(results)[1:] == ["unknown", "not_sent", "not_sent", "not_sent"]
    assert results[1].outcome.reason == "answer_unexplained"
    assert bench.halt.reason == results[1].outcome.detail
    assert str(bench.halt.reason).startswith(f"HTTP {status}, though key and address were accepted before")
    assert len(bench.asked) == 2


def test_a_refusal_beside_a_request_that_is_accepted_later_is_unknown(bench: Bench) -> None:
    """Both are under way; the refusal comes first, the yes when the run has stopped already."""

    async def answer(ticket_no: str) -> web.Response:
        if ticket_no.endswith("1"):  # it goes alone
            return web.Response(status=502)
        if ticket_no.endswith("2"):
            return web.Response(status=401)
        await asyncio.sleep(0.3)
        return yes(ticket_no)

    results = bench.submit(itineraries(5), answer, concurrency=2)
    assert states(results) == ["unknown", "unknown", "issued", "not_sent", "not_sent"]
    assert str(bench.halt.reason).startswith("HTTP 401, though key and address were accepted before")
    assert bench.on_disk("SELECT state, http_status FROM attempt ORDER BY attempt_id")[1] == ("unknown", 401)
    assert ("unknown", 1) in {(outcome.state, number) for _, number, outcome in bench.ended}


def test_of_several_refusals_the_first_is_why_the_run_stopped(bench: Bench) -> None:
    async def answer(ticket_no: str) -> web.Response:
        if ticket_no.endswith("1"):  # it goes alone
            return web.Response(status=502)
        if ticket_no.endswith("2"):
            return web.Response(status=401)
        await bench.halt.pause(60)
        return web.Response(status=404)

    results = bench.submit(itineraries(3), answer, concurrency=2)
    assert [one.outcome.reason for one in results] == [
        "answer_unexplained",
        "key_refused",
        "carrier_unreachable",
    ]
    assert str(bench.halt.reason).startswith("HTTP 401")


def test_a_refusal_that_is_in_doubt_is_on_disk_while_others_are_under_way(bench: Bench) -> None:
    seen: list[object] = []

    async def answer(ticket_no: str) -> web.Response:
        if ticket_no.endswith("2"):
            return web.Response(status=401)
        if ticket_no.endswith("3"):
            await bench.halt.pause(60)
            for _ in range(500):
                (seen[:],) = bench.on_disk("SELECT state FROM attempt WHERE attempt_id = 2")
                if seen == ["unknown"]:
                    break
                await asyncio.sleep(0.01)
        return yes(ticket_no)

    results = bench.submit(itineraries(3), answer, concurrency=2)
    assert states(results) == ["issued", "unknown", "issued"]
    assert seen == ["unknown"]


def test_a_wrong_key_from_the_start_leaves_nothing_unknown(bench: Bench) -> None:
    results = bench.submit(itineraries(80), lambda _: web.Response(status=401), concurrency=64)
    assert set(states(results)) == {"not_sent"}
    assert {outcome.state for _, _, outcome in bench.ended} == {"not_sent"}


def test_an_answer_means_what_the_profile_says_of_its_code(bench: Bench) -> None:
    bench.answers = Answers(rejected_codes=(8,))
    refusal = {"code": 8, "message": "no", "data": "", "traceId": "t"}
    assert states(bench.submit(itineraries(2), lambda _: web.json_response(refusal))) == ["rejected"] * 2


def test_a_code_that_refuses_the_key_accepts_it_in_no_answer(bench: Bench) -> None:
    """Not even with a result that opens with our key; by any other code that would be the service's own answer."""
    bench.answers = Answers(key_refused_codes=(7,))
    document = CIPHER.seal(json.dumps({"itineraryResult": {"success": False}}).encode())
    refusal = {"code": 7, "message": "no", "data": document, "traceId": "t"}
    results = bench.submit(itineraries(2), lambda _: web.json_response(refusal), concurrency=1)
    assert [(one.outcome.state, one.outcome.reason) for one in results] == [
        ("not_sent", "key_refused"),
        ("not_sent", "run_stopped"),
    ]


def test_a_wrong_encryption_key_is_said_after_the_first_answer(bench: Bench) -> None:
    sealed_otherwise = {
        "code": 200,
        "message": "success",
        "data": Cipher("another").seal(b"{}"),
        "traceId": "t",
    }
    results = bench.submit(itineraries(80), lambda _: web.json_response(sealed_otherwise), concurrency=64)
    assert states(results) == ["unknown", *["not_sent"] * 79]
    assert str(bench.halt.reason).endswith("check VOUCHER_ENCRYPTION_KEY")


@pytest.mark.slow
@pytest.mark.parametrize("first", [200, 429, 502], ids=["a yes", "busy", "unexplained"])
def test_the_others_wait_for_the_first_reply_and_not_for_its_retries(bench: Bench, first: int) -> None:
    alone: list[int] = []
    released = asyncio.Event()

    async def answer(ticket_no: str) -> web.Response:
        if len(bench.asked) == 1:
            await asyncio.sleep(0.3)
            alone.append(len(bench.asked))
            retry = {"Retry-After": "1"}
            return yes(ticket_no) if first == 200 else web.Response(status=first, headers=retry)
        if len(bench.asked) == 4:
            released.set()
        await released.wait()  # the others are at once at the carrier
        return yes(ticket_no)

    results = bench.submit(itineraries(5), answer, concurrency=4)
    assert alone == [1]
    assert states(results) == ["unknown" if first == 502 else "issued", *["issued"] * 4]
    assert bench.asked.index("9990000000001", 1) == 5 if first == 429 else len(bench.asked) == 5


def test_a_run_that_was_stopped_before_its_first_request_ends(bench: Bench) -> None:
    bench.halt.stop(message("interrupted"))
    assert states(bench.submit(itineraries(5), yes)) == ["not_sent"] * 5
    assert bench.asked == []


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
    assert "can't be written" in str(bench.halt.reason)
    asked = len(bench.asked)
    assert asked <= 14
    assert states(results).count("issued") == asked  # every answer that came is told to the person
    assert states(results).count("not_sent") == 60 - asked
    issued = {str(row[0]) for row in bench.on_disk("SELECT number FROM attempt WHERE state = 'issued'")}
    kept = {
        entry["number"]
        for entry in spilled(spill_path(bench.path), opening.ledger_id(bench.connection))
        if entry.get("number")
    }
    assert issued | kept == {result.outcome.number for result in results if result.outcome.number}
    assert kept


def test_stopping_waits_for_what_is_in_flight(bench: Bench) -> None:
    async def stop_then_answer(ticket_no: str) -> web.Response:
        bench.halt.stop(message("interrupted"))
        await asyncio.sleep(0.2)
        return yes(ticket_no)

    results = bench.submit(itineraries(20), stop_then_answer, concurrency=3)
    assert sorted(set(states(results))) == ["issued", "not_sent"]
    assert states(results).count("issued") == len(bench.asked) <= 3


def test_a_second_interrupt_stops_waiting_and_what_was_in_flight_is_unknown(bench: Bench) -> None:
    async def abandon(ticket_no: str) -> web.Response:
        bench.halt.stop(message("interrupted"))
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


@pytest.mark.slow
def test_the_rate_makes_nothing_wait_longer_the_longer_a_run_is_on(bench: Bench) -> None:
    came = []

    def note(ticket_no: str) -> web.Response:
        came.append(asyncio.get_running_loop().time())
        return yes(ticket_no)

    bench.submit(itineraries(20), note, rate_per_second=20, concurrency=1)
    waited = [later - earlier for earlier, later in itertools.pairwise(came)]
    assert (
        median(waited[-5:]) < 10 / 20
    )  # a turn is a twentieth of a second: ten times that is no hiccup of a busy machine


def same_number(ticket_no: str) -> web.Response:
    result = {
        "itineraryResult": {"ticketNo": ticket_no, "itineraryNum": "20179522956809634828", "success": True}
    }
    data = json.loads(body(json.dumps(result).encode(), CIPHER))
    return web.json_response({"code": 200, "message": "success", "data": data, "traceId": "t"})


def test_what_a_request_came_to_is_told_while_the_next_one_waits_for_its_turn(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn, pause, told = Pace.turn, Halt.pause, list[int]()
    turns: list[float] = []

    def taken(pace: Pace, now: float) -> float:
        turns.append(turn(pace, now))
        return turns[-1]

    async def paused(halt: Halt, seconds: float) -> None:
        await pause(halt, seconds)
        if turns:
            turns.clear()
            told.append(len(bench.progress))

    monkeypatch.setattr(Pace, "turn", taken)
    monkeypatch.setattr(Halt, "pause", paused)
    bench.submit(
        itineraries(3), yes, concurrency=1, rate_per_second=4
    )  # on a busy machine a request takes a while, too
    assert told == [0, 1, 2]


def test_a_carrier_that_repeats_a_number_is_sent_ten_more_and_no_further(bench: Bench) -> None:
    bench.submit(itineraries(20), same_number, concurrency=1)
    assert len(bench.asked) == 1 + UNKNOWN_IN_A_ROW
    assert str(bench.halt.reason).startswith("10 outcomes in a row are unknown (the answer brings number")


def test_a_number_that_another_request_has_is_no_number_of_this_one(bench: Bench) -> None:
    """As when a stale answer comes in on a connection that is used again."""
    results = bench.submit(itineraries(3), same_number, concurrency=1)
    assert states(results) == ["issued", "unknown", "unknown"]
    assert "has already" in str(results[1].outcome.detail)
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
    assert first == second
    assert (
        len({second, third, fourth}) == 3
    )  # of the third nobody knew yet what it came to, as far as the disk has it


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
    assert "is not under its name any more" in str(bench.halt.reason)


@pytest.mark.slow
def test_stopping_does_not_wait_for_the_rate(bench: Bench) -> None:
    def stop(ticket_no: str) -> web.Response:
        asyncio.get_running_loop().call_later(0.5, bench.halt.stop, message("interrupted"))
        return yes(ticket_no)

    begun = time.monotonic()
    results = bench.submit(itineraries(5), stop, rate_per_second=0.02, concurrency=2)
    assert states(results).count("not_sent") == 4
    assert time.monotonic() - begun < 25  # the next turn would come after 50 seconds
    assert bench.on_disk("SELECT state, count(*) FROM attempt GROUP BY 1") == [("issued", 1), ("planned", 4)]
    # Those that waited for their turn are told of, as they would have been had they left.
    stopped = Outcome("not_sent", "run_stopped", detail=message("interrupted"))
    told = [(request, number, outcome) for request, number, outcome in bench.ended if outcome == stopped]
    assert sorted(told, key=str) == sorted(((results[at].request, 1, stopped) for at in (1, 2)), key=str)
    assert [result.attempt for result in results] == [1] * 5


def test_a_request_that_left_late_holds_up_the_one_that_would_follow_too_closely(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    def leave(_pace: Pace, now: float) -> float:
        asked.append(now)
        assert bench.on_disk("SELECT state FROM attempt") == [("sending",)]
        return 0.1 if len(asked) < 3 else 0.0

    monkeypatch.setattr(Pace, "leave", leave)
    assert states(bench.submit(itineraries(1), yes, rate_per_second=1000)) == ["issued"]
    assert len(asked) == 3
    assert asked[1] - asked[0] >= 0.1
    assert asked[2] - asked[1] >= 0.1


def test_what_left_late_is_not_waited_for_once_the_run_stops(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = iter([60.0])

    def leave(_pace: Pace, _now: float) -> float:
        bench.halt.stop(message("interrupted"))
        return next(waits)

    monkeypatch.setattr(Pace, "leave", leave)
    assert states(bench.submit(itineraries(1), yes, rate_per_second=1000)) == ["not_sent"]
    assert bench.asked == []


def no(ticket_no: str) -> web.Response:
    result = {"itineraryResult": {"ticketNo": ticket_no, "itineraryNum": "", "success": False}}
    data = json.loads(body(json.dumps(result).encode(), CIPHER))
    return web.json_response({"code": 200, "message": "success", "data": data, "traceId": "t"})


def busy(_: str, seconds: int = 0) -> web.Response:
    return web.Response(status=429, headers={"Retry-After": str(seconds)})


def while_writing(
    monkeypatch: pytest.MonkeyPatch, kind: type[Change], then: Callable[[], None], *, written: bool = True
) -> None:
    """Have something happen when a change of this kind has been (or instead of being) written."""
    real = Writer.commit_together

    def commit_together(writer: Writer, *changes: Change) -> "list[asyncio.Future[Acknowledged]]":
        some = [change for change in changes if written or not isinstance(change, kind)]
        done = dict(zip(map(id, some), real(writer, *some), strict=True)) if some else {}

        async def told(change: Change) -> Acknowledged:
            result = await done[id(change)] if id(change) in done else None
            if isinstance(change, kind):
                then()
            return result

        return [asyncio.ensure_future(told(change)) for change in changes]

    monkeypatch.setattr(Writer, "commit_together", commit_together)


def full() -> None:
    raise LedgerProblem("the disk is full")


def test_results_are_of_the_requests_in_their_order(bench: Bench) -> None:
    requests = itineraries(6)
    results = bench.submit(requests, yes)
    assert [result.request.request_id for result in results] == [request.request_id for request in requests]
    told = [(progress.done, progress.total) for progress in bench.progress]
    assert (told[-1], len({*told})) == ((6, 6), len(told))


def test_who_can_not_be_told_how_far_it_is_keeps_nobody_from_the_results(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[object] = []

    def full(seen: object) -> None:
        told.append(seen)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bench, "progress", SimpleNamespace(append=full))
    assert states(bench.submit(itineraries(3), yes)) == ["issued"] * 3
    assert told


def test_the_next_request_is_made_before_the_one_before_it_leaves(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While that one's `sending` goes to disk, when there is nothing else to do."""
    make, made, asked = pipeline.submission.request_sender.request_body, [], []

    def noted(request: Request, *more: Any) -> bytes:
        made.append(request.charges[0].identity.ticket_no)
        return make(request, *more)

    def answered(ticket_no: str) -> web.Response:
        asked.append([*made])
        return yes(ticket_no)

    monkeypatch.setattr(pipeline.submission.request_sender, "request_body", noted)
    bench.submit(itineraries(3), answered, concurrency=1)
    assert [len(before) for before in asked] == [2, 3, 3]
    assert made == bench.asked


def test_when_the_run_is_stopping_no_further_request_is_claimed(bench: Bench) -> None:
    def stopping(ticket_no: str) -> web.Response:
        if len(bench.asked) == 4:
            bench.halt.stop(message("stopped"))
        return yes(ticket_no)

    results = bench.submit(itineraries(6), stopping, concurrency=1)
    assert states(results) == ["issued"] * 4 + ["not_sent"] * 2
    assert bench.on_disk("SELECT state, count(*) FROM attempt GROUP BY 1 ORDER BY 1") == [
        ("issued", 4),
        ("planned", 2),
    ]


def test_a_request_that_can_not_be_made_ends_the_run_when_it_is_its_turn(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    first, other, last = itineraries(3)
    no_codes = replace(other, voucher="invoice")  # of its charge, which the rules would have held back
    with pytest.raises(ExceptionGroup) as raised:
        bench.submit([first, no_codes, last], no, concurrency=1)
    assert raised.group_contains(ValueError, match="no wire codes")
    assert bench.asked == [first.charges[0].identity.ticket_no]
    states = bench.on_disk("SELECT state FROM attempt ORDER BY attempt_id")
    assert states == [("rejected",), ("planned",), ("planned",)]
    assert not caplog.records  # the event loop has nothing to say of the making ahead that failed


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_claim_written_while_the_run_stopped_is_taken_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, concurrency: int
) -> None:
    claims = itertools.count(1)
    while_writing(
        monkeypatch, Sending, lambda: bench.halt.stop(message("interrupted")) if next(claims) > 1 else None
    )
    results = bench.submit(itineraries(10), yes, concurrency=concurrency)
    assert len(bench.asked) == 1  # the first goes alone
    assert {(r.outcome.state, r.outcome.reason, str(r.outcome.detail), r.attempt) for r in results[1:]} == {
        ("not_sent", "run_stopped", "interrupted", 1)
    }
    ((claimed,),) = bench.on_disk("SELECT count(*) FROM attempt WHERE state = 'not_sent'")
    # What the first came to may go to disk before its place has another request.
    assert claimed in (concurrency, max(1, concurrency - 1))
    assert bench.on_disk("SELECT state, reason, detail, count(*) FROM attempt GROUP BY 1, 2, 3") == [
        ("issued", "", "", 1),
        ("not_sent", "run_stopped", to_text(message("interrupted")), claimed),
        ("planned", "", "", 9 - int(str(claimed))),
    ]


@pytest.mark.parametrize("refused", [2, 3], ids=["by itself", "beside an answer"])
def test_a_claim_that_the_ledger_refuses_is_not_sent_and_stops_the_run(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, refused: int
) -> None:
    real = bench.plan

    def without_it(requests: Sequence[Request]) -> list[Attempt]:
        planned = real(requests)
        bench.connection.execute(
            "DELETE FROM attempt WHERE attempt_id = ?", (planned[refused - 1].attempt_id,)
        )
        return planned

    monkeypatch.setattr(bench, "plan", without_it)
    results = bench.submit(itineraries(4), yes, concurrency=1)
    sent = refused - 1
    assert states(results) == ["issued"] * sent + ["not_sent"] * (4 - sent)
    assert len(bench.asked) == sent
    assert str(bench.halt.reason).startswith(f"attempt {refused} is not in the ledger any more")
    assert {str(result.outcome.detail) for result in results[sent:]} == {str(bench.halt.reason)}
    assert list(spilled(spill_path(bench.path), opening.ledger_id(bench.connection))) == []


def test_nobody_waits_for_outcomes_to_go_with_requests_that_do_not_come(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline.ledger.group_commit, "_LATER", 60.0)
    begun = time.monotonic()
    results = bench.submit(
        itineraries(3), lambda ticket: yes(ticket) if len(bench.asked) > 1 else busy(ticket)
    )
    assert states(results) == ["issued"] * 3
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize("kind", [GotAnswer, Ended])
def test_an_outcome_that_can_not_be_written_stops_the_run_and_is_told(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, kind: type[Change]
) -> None:
    while_writing(monkeypatch, kind, full, written=False)
    results = bench.submit(itineraries(3), yes, concurrency=1)
    assert states(results) == ["issued", "not_sent", "not_sent"]
    assert len(bench.asked) == 1
    assert str(bench.halt.reason) == "the disk is full"


def test_a_new_attempt_that_can_not_be_written_leaves_the_outcome_of_the_last(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    while_writing(monkeypatch, Again, full, written=False)
    results = bench.submit(itineraries(2), busy, concurrency=1)
    assert [(r.outcome.reason, r.attempt) for r in results] == [("carrier_busy", 1), ("run_stopped", 1)]
    assert len(bench.asked) == 1
    assert str(bench.halt.reason) == "the disk is full"


def test_a_run_that_stopped_while_a_new_attempt_was_written_leaves_the_outcome_of_the_last(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    while_writing(monkeypatch, Again, lambda: bench.halt.stop(message("interrupted")))
    (result,) = bench.submit(itineraries(1), busy)
    assert (result.outcome.reason, result.attempt) == ("carrier_busy", 1)
    assert bench.on_disk("SELECT attempt, state FROM attempt") == [(1, "not_sent"), (2, "planned")]


def test_every_attempts_end_is_told(bench: Bench) -> None:
    request = itineraries(1)[0]
    (result,) = bench.submit([request], lambda ticket: yes(ticket) if len(bench.asked) > 1 else busy(ticket))
    (first, number, outcome), last = bench.ended
    assert (first, number, outcome.state, outcome.reason) == (request, 1, "not_sent", "carrier_busy")
    assert last == (request, 2, result.outcome)


def test_a_log_that_fails_keeps_nobody_from_the_results(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    class Told(list[Any]):
        def append(self, told: Any) -> None:
            super().append(told)
            if len(self) == 2:  # nobody waits for the second one's outcome
                raise OSError("the log is full")

    bench.ended = Told()
    assert states(bench.submit(itineraries(4), yes, concurrency=1)) == ["issued"] * 4
    assert "the log is full" in caplog.text


def test_of_requests_that_were_never_attempted_no_end_is_told(bench: Bench) -> None:
    first, *others = itineraries(3)
    results = bench.submit([first, *others], lambda _: web.Response(status=403), concurrency=1)
    assert [result.outcome.reason for result in results] == ["key_refused", "run_stopped", "run_stopped"]
    assert [told[0] for told in bench.ended] == [first]


def test_a_run_that_stops_between_attempts_leaves_the_outcome_of_the_last(bench: Bench) -> None:
    """One waits for its next attempt, a long time; the other is told that the key is refused."""

    async def answer(ticket_no: str) -> web.Response:
        if int(ticket_no) % 10 == 1:
            return busy(ticket_no, seconds=20)
        await asyncio.sleep(0.2)
        return web.Response(status=401)

    begun = time.monotonic()
    results = bench.submit(itineraries(2), answer, concurrency=2)
    assert time.monotonic() - begun < 15  # not the 20 seconds that the carrier asked for
    assert [(r.outcome.reason, r.attempt) for r in results] == [("carrier_busy", 1), ("key_refused", 1)]
    assert str(bench.halt.reason).startswith("HTTP 401: the key or the agency is refused")
    assert len(bench.asked) == 2
    assert bench.on_disk("SELECT count(*) FROM attempt") == [(2,)]


def test_attempts_are_four_and_pauses_lie_between_them(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def pause(tries: int, retry_after: float | None) -> float:
        asked.append((tries, retry_after))
        return 0.0

    monkeypatch.setattr(pipeline.submission.request_sender, "pause", pause)
    bench.submit(itineraries(1), lambda ticket_no: busy(ticket_no, seconds=7))
    bench.submit(itineraries(1), lambda _: web.Response(status=429))
    assert asked == [(1, 7.0), (2, 7.0), (3, 7.0), (1, None), (2, None), (3, None)]
    assert len(bench.asked) == 2 * 4


@pytest.mark.parametrize(("seconds", "asked"), [(-1, 0), (60, 1)])
def test_a_request_is_written_by_its_time_or_not_at_all(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, seconds: int, asked: int
) -> None:
    """As a worker's request has one (`shared_sender`): beyond it another may have counted it as lost."""
    timely = partial(Leaving, send_by=boot_time() + seconds)
    monkeypatch.setattr(pipeline.submission.request_sender, "Leaving", timely)
    monkeypatch.setattr(pipeline.submission.request_sender, "pause", lambda *_: 0)
    (result,) = bench.submit(itineraries(1), yes)
    assert (len(bench.asked), result.outcome.state) == (asked, "issued" if asked else "not_sent")


def test_ten_unknown_outcomes_in_a_row_are_too_many(bench: Bench) -> None:
    bench.submit(itineraries(12), lambda _: web.Response(status=502), concurrency=1)
    assert len(bench.asked) == 10
    assert str(bench.halt.reason) == "10 outcomes in a row are unknown (HTTP 502)"


@pytest.mark.parametrize("definite", [yes, no])
def test_a_yes_and_a_no_end_a_row_of_unknown_outcomes(
    bench: Bench, definite: Callable[[str], web.Response]
) -> None:
    def answer(ticket_no: str) -> web.Response:
        return definite(ticket_no) if int(ticket_no) % 10 == 0 else web.Response(status=502)

    results = bench.submit(itineraries(29), answer, concurrency=1)
    assert str(bench.halt.reason) == ""
    assert states(results).count("unknown") == 27


@pytest.fixture
def quick_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is hardly looked whether another answer follows one that says busy: of these tests none has one."""
    monkeypatch.setattr(pipeline.submission.attempt_sender, "_SHORTEST_LOOK", 0.01)


@pytest.mark.usefixtures("quick_look")
@pytest.mark.parametrize("definite", [yes, no])
def test_a_yes_and_a_no_end_a_row_of_attempts_that_reached_nobody(
    bench: Bench, definite: Callable[[str], web.Response]
) -> None:
    def answer(ticket_no: str) -> web.Response:
        return definite(ticket_no) if int(ticket_no) % 10 == 5 else busy(ticket_no)

    bench.submit(itineraries(9), answer, concurrency=1)  # 16 attempts for nothing, one answered, 16 again
    assert str(bench.halt.reason) == ""
    assert len(bench.asked) == 33


@pytest.mark.usefixtures("quick_look")
def test_twenty_attempts_in_a_row_that_reached_nobody_are_too_many(bench: Bench) -> None:
    results = bench.submit(itineraries(7), busy, concurrency=1)
    assert len(bench.asked) == 20
    assert str(bench.halt.reason) == "20 attempts in a row reached nobody (HTTP 429)"
    assert [result.outcome.reason for result in results] == ["carrier_busy"] * 5 + ["run_stopped"] * 2


@pytest.mark.usefixtures("quick_look")
def test_with_many_in_flight_three_failures_of_each_are_too_many(bench: Bench) -> None:
    bench.submit(itineraries(40), busy, concurrency=8)
    assert str(bench.halt.reason) == "24 attempts in a row reached nobody (HTTP 429)"
    assert 24 <= len(bench.asked) < 24 + 8


def test_a_no_to_what_was_in_doubt_before_is_unknown(bench: Bench) -> None:
    doubtful, other = itineraries(2)
    bench.doubts = Doubts(frozenset(charge.identity for charge in doubtful.charges))
    results = bench.submit([doubtful, other], no)
    assert [(r.outcome.state, r.outcome.reason) for r in results] == [
        ("unknown", "answer_unexplained"),
        ("rejected", "carrier_rejected"),
    ]
    assert bench.on_disk("SELECT state FROM attempt ORDER BY attempt_id") == [("unknown",), ("rejected",)]


def test_one_doubted_charge_puts_its_whole_request_in_doubt(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    charges = tuple(
        Charge(Identity(f"999{n:010}", "refund", "flight"), "P", 100, n, ("REFUND_FEE", "Flight"))
        for n in (1, 2)
    )
    bench.doubts = Doubts(frozenset({charges[1].identity}))
    doubted: list[bool] = []

    def look(*given: Any) -> Outcome:
        doubted.append(given[-1].doubted)
        return interpret(*given)

    monkeypatch.setattr(pipeline.submission.attempt_sender, "interpret", look)
    bench.submit([Request("invoice", "domestic", HEADER, charges)], yes)
    assert set(doubted) == {True}


def test_a_connection_is_used_again_only_after_a_clear_yes(bench: Bench) -> None:
    def answer(ticket_no: str) -> web.Response:
        return no(ticket_no) if ticket_no.endswith("2") else yes(ticket_no)

    bench.submit(itineraries(6), answer, concurrency=1)
    first, second, *others = bench.peers
    assert first == second not in others
    # One is in use while what came over the other goes to disk.
    assert others == [others[0], others[1]] * 2
    assert others[0] != others[1]


@pytest.mark.parametrize("keepalive", [0, 60])
def test_there_are_at_most_twice_as_many_connections_as_requests_in_flight(
    bench: Bench, keepalive: float
) -> None:
    """Half of them are in use, and over the others came what is on its way to disk."""
    there: set[object] = set()

    def count(ticket_no: str) -> web.Response:
        there.add(bench.peers[-1])
        return yes(ticket_no)

    assert set(states(bench.submit(itineraries(60), count, concurrency=4, keepalive_seconds=keepalive))) == {
        "issued"
    }
    assert len(there) == 60 if keepalive == 0 else len(there) <= 8


def test_a_yes_with_a_number_that_an_earlier_run_has_ends_its_connection(bench: Bench) -> None:
    """The ledger alone knows the number; what it says is waited for before the connection is used again."""
    known, second, third = itineraries(3)

    def answer(ticket_no: str) -> web.Response:
        number = "7" * 20 if ticket_no.endswith(("1", "2")) else "8" * 20
        result = {"itineraryResult": {"ticketNo": ticket_no, "itineraryNum": number, "success": True}}
        data = json.loads(body(json.dumps(result).encode(), CIPHER))
        return web.json_response({"code": 200, "message": "success", "data": data, "traceId": "t"})

    bench.submit([known], answer)
    assert states(bench.submit([second, third], answer, concurrency=1)) == ["unknown", "issued"]
    assert len(set(bench.peers)) == 3


def test_what_is_kept_of_an_answer_names_no_key_and_is_read_as_it_came(bench: Bench) -> None:
    """The carrier quotes our key where it says yes, and where it says something that nobody explained."""
    bench.concealed = Concealed("key-4711")

    def quoting(ticket_no: str) -> web.Response:
        result = {"ticketNo": ticket_no, "itineraryNum": "N-key-4711", "success": True}
        sealed = CIPHER.seal(json.dumps({"itineraryResult": result}).encode())
        code = 200 if ticket_no.endswith("1") else 9999
        message = "success" if code == 200 else "APIKEY key-4711 is not one"
        data = sealed if code == 200 else ""
        return web.json_response({"code": code, "message": message, "data": data, "traceId": "key-4711/1"})

    yes_, what = bench.submit(itineraries(2), quoting, concurrency=1)
    assert (yes_.outcome.state, yes_.outcome.number, yes_.outcome.trace_id) == (
        "issued",
        "N-key-4711",
        "***/1",
    )
    assert (what.outcome.state, str(what.outcome.detail)) == ("unknown", "code 9999: APIKEY *** is not one")
    kept = bench.on_disk("SELECT state, trace_id, detail, answer FROM attempt ORDER BY attempt_id")
    assert [(*row[:2], str(from_text(row[2]))) for row in kept] == [
        ("issued", "***/1", ""),
        ("unknown", "***/1", "code 9999: APIKEY *** is not one"),
    ]
    for row in kept:
        assert json.loads(bytes(cast("bytes", row[3])))["traceId"] == "***/1"


@pytest.fixture
def groups(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> list[list[tuple[str, int]]]:
    """The changes that were committed together: kind and attempt."""
    found: list[list[tuple[str, int]]] = []
    now: list[tuple[str, int]] = []
    write_as_sets = attempt_changes.write_as_sets

    def noted(connection: apsw.Connection, changes: Sequence[Plain]) -> bool:
        now.extend((kind, attempt_id) for kind, attempt_id, *_ in changes)
        return write_as_sets(connection, changes)

    def committed() -> bool:
        if now:
            found.append([*now])
            now.clear()
        return False

    monkeypatch.setattr(attempt_changes, "write_as_sets", noted)
    bench.connection.set_commit_hook(committed)
    return found


def test_an_answer_and_the_next_requests_sending_share_a_commit_with_the_outcome_before(
    bench: Bench, groups: list[list[tuple[str, int]]]
) -> None:
    assert set(states(bench.submit(itineraries(4), yes, concurrency=1))) == {"issued"}
    assert groups == [
        [("sending", 1)],
        [("answered", 1)],  # the first goes alone
        [("ended", 1)],
        [("sending", 2)],
        [("answered", 2), ("sending", 3)],
        [("ended", 2), ("answered", 3), ("sending", 4)],
        [("ended", 3), ("answered", 4)],
        [("ended", 4)],
    ]


def test_at_a_rate_no_request_is_claimed_before_its_turn(
    bench: Bench, groups: list[list[tuple[str, int]]]
) -> None:
    bench.submit(itineraries(3), yes, concurrency=1, rate_per_second=1000)
    assert groups == [[(kind, n)] for n in (1, 2, 3) for kind in ("sending", "answered", "ended")]


def test_with_an_answer_after_which_a_request_is_tried_again_no_other_is_claimed(
    bench: Bench, groups: list[list[tuple[str, int]]]
) -> None:
    def answer(ticket_no: str) -> web.Response:
        return busy(ticket_no, seconds=0) if len(bench.asked) == 2 else yes(ticket_no)

    assert states(bench.submit(itineraries(4), answer, concurrency=1)) == ["issued"] * 4
    assert bench.asked == [f"999{n:010}" for n in (1, 2, 2, 3, 4)]
    assert [group for group in groups if ("answered", 2) in group] == [[("answered", 2)]]


def test_what_is_claimed_does_not_wait_for_another_to_be_tried_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Busy is said inside an answer of HTTP 200, so that the next request was claimed already: another place takes it."""
    monkeypatch.setattr(pipeline.submission.request_sender, "pause", lambda *_: 20.0)
    bench.answers = Answers(not_processed_codes=(503,))

    async def answer(ticket_no: str) -> web.Response:
        number = len(bench.asked)
        if number == 2:
            return web.json_response({"code": 503, "message": "busy"})
        if number == 3:
            await asyncio.sleep(1.5)
        if number == 5:
            bench.halt.stop(message("stopped"))
        return yes(ticket_no)

    begun = time.monotonic()
    results = bench.submit(itineraries(5), answer, concurrency=2)
    assert time.monotonic() - begun < 15
    assert bench.asked[3:] == [f"999{n:010}" for n in (4, 5)]
    assert sorted(states(results)) == ["issued"] * 4 + ["not_sent"]
    assert bench.on_disk("SELECT count(*) FROM attempt WHERE state = 'sending'") == [(0,)]


@pytest.mark.parametrize("concurrency", [1, 4])
def test_no_more_are_in_doubt_than_may_be_in_flight_where_many_are_tried_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, concurrency: int
) -> None:
    bench.answers = Answers(not_processed_codes=(503,))
    monkeypatch.setattr(pipeline.submission.request_sender, "pause", lambda *_: 0.05)
    doubts: list[int] = []

    def answer(ticket_no: str) -> web.Response:
        found = bench.on_disk("SELECT count(*) FROM attempt WHERE state = 'sending' AND answer IS NULL")
        doubts.append(int(str(found[0][0])))
        is_busy = len(bench.asked) > 1 and bench.asked.count(ticket_no) == 1
        return web.json_response({"code": 503, "message": "busy"}) if is_busy else yes(ticket_no)

    assert states(bench.submit(itineraries(9), answer, concurrency=concurrency)) == ["issued"] * 9
    assert max(doubts) == concurrency


def test_where_answers_take_longer_than_a_connection_may_be_idle_a_place_has_one(bench: Bench) -> None:
    async def answer(ticket_no: str) -> web.Response:
        await asyncio.sleep(0.7)
        return yes(ticket_no)

    bench.submit(itineraries(4), answer, concurrency=1, keepalive_seconds=0.5)
    assert len(set(bench.peers)) == 1


def test_what_a_request_came_to_is_told_though_the_next_answer_takes_long(bench: Bench) -> None:
    told: list[int] = []

    async def answer(ticket_no: str) -> web.Response:
        if len(bench.asked) == 3:
            await asyncio.sleep(0.5)
            told.append(len(bench.ended))
            told.append(bench.progress[-1].done)
        return yes(ticket_no)

    bench.submit(itineraries(3), answer, concurrency=1)
    assert told == [2, 2]


def test_no_answer_is_lost_to_a_request_that_can_not_be_made(bench: Bench) -> None:
    """The second is made when its turn comes, and not while the first one's answer is to be kept."""
    first, other, last = itineraries(3)
    no_codes = replace(other, voucher="invoice")
    with pytest.raises(ExceptionGroup):
        bench.submit([last, first, no_codes], yes, concurrency=1)
    assert bench.on_disk("SELECT state FROM attempt ORDER BY attempt_id") == [
        ("issued",),
        ("issued",),
        ("planned",),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_more_are_at_the_carrier_at_once_than_may_be(bench: Bench, concurrency: int) -> None:
    there, most = 0, 0

    async def count(ticket_no: str) -> web.Response:
        nonlocal there, most
        there += 1
        most = max(most, there)
        await asyncio.sleep(0.01)
        there -= 1
        return yes(ticket_no)

    bench.submit(itineraries(20), count, concurrency=concurrency)
    assert most == concurrency


def test_a_refusal_inside_an_answer_is_understood_before_the_next_request_leaves(bench: Bench) -> None:
    refused = {"code": 401, "message": "no such key", "traceId": "t"}
    results = bench.submit(itineraries(5), lambda _: web.json_response(refused), concurrency=1)
    assert len(bench.asked) == 1
    assert [result.outcome.reason for result in results] == ["key_refused", *["run_stopped"] * 4]
