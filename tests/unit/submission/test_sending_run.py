"""A run's sending with a real ledger and a carrier: what it takes, whom it tells, and what it changes in the process meanwhile."""

import asyncio
import errno
import os
import signal
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pipeline.ledger import planning
from pipeline.ledger.spill import Spill, spill_path, spilled
from pipeline.model.errors import LedgerProblem
from pipeline.model.known_charges import Doubts
from pipeline.model.message import Message, from_text
from pipeline.model.profile import Carrier, Submission
from pipeline.submission.sending_run import Run, Sent, send
from tests.committing import LEDGER, channel_to
from tests.conftest import table_of
from tests.crash.wire_answers import envelope, good, number_of, result, sealed
from tests.crash.wire_bench import request_of
from tests.crash.wire_server import API_KEY, ENCRYPTION_KEY, Asked, Line, Server, told
from tests.crash.wire_unreached import certificate, secured
from tests.unit.reconciliation.desk import KEYS, PROFILE, Desk, ticket

if TYPE_CHECKING:
    from pipeline.model.job import Progress

#: The rows that a sandbox knows: of ticket 1 alone.
ROWS = table_of([{"ticket_no": ticket(1), "passenger_name": "P", "amount": "0.01"}])


def planned(desk: Desk, *numbers: int) -> list[planning.Attempt]:
    requests = [request_of("itinerary", number) for number in numbers]
    places = {number: ("o.xlsx", "Tickets", number) for number in numbers}
    return planning.plan(desk.ledger._connection, desk.run, requests, places)


def run_to(desk: Desk, carrier: Carrier, in_flight: int = 4, *, sandbox: bool = False, **told_to: Any) -> Run:
    """A run; `told_to` are those who watch it instead of the desk."""
    settings = Submission(concurrency=in_flight, connect_timeout_seconds=5, response_timeout_seconds=5)
    profile = replace(PROFILE, carrier=carrier, submission=settings)
    run = desk.run_of(desk.job(profile=profile, secrets=KEYS, sandbox=sandbox))
    return replace(run, watch=replace(run.watch, **told_to))


def sent(
    desk: Desk,
    *numbers: int,
    talk: Callable[[Line], None] = good,
    in_flight: int = 4,
    doubts: Doubts | None = None,
    proxy: str = "",
    **told_to: Any,
) -> tuple[Sent, list[Asked]]:
    """What comes of requests for these tickets, and what the carrier was asked."""
    with closing(Server(told([talk] * 100))) as server:
        run = run_to(desk, Carrier(base_url=server.url, proxy=proxy), in_flight, **told_to)
        with channel_to(desk.ledger._connection) as channel:
            return send(run, channel, planned(desk, *numbers), ROWS, doubts or Doubts()), server.log.asked


def states(sent: Sent) -> list[str]:
    return [one.outcome.state for one in sent.results]


@pytest.mark.usefixtures("own_signals")
def test_an_interruption_between_two_sendings_of_a_run_stops_the_second(desk: Desk) -> None:
    found: list[str] = []
    with closing(Server(told([good] * 100))) as server:
        run = run_to(desk, Carrier(base_url=server.url))
        for number in (1, 2):
            with channel_to(desk.ledger._connection) as channel:
                found += states(send(run, channel, planned(desk, number), ROWS, Doubts()))
            os.kill(os.getpid(), signal.SIGTERM)
        assert [one.tickets for one in server.log.asked] == [(ticket(1),)]
    assert found == ["issued", "not_sent"]


def test_requests_are_sent_and_each_ones_end_is_told(desk: Desk) -> None:
    progress: list[tuple[int, int]] = []

    def note(seen: "Progress") -> None:
        progress.append((seen.done, seen.total))

    came, asked = sent(desk, 1, 2, progress=note)
    assert [one.outcome.number for one in came.results] == sorted(number_of(one) for one in asked)
    assert (states(came), str(came.stopped), came.ledger_failed) == (["issued", "issued"], "", False)
    assert progress in ([(1, 2), (2, 2)], [(2, 2)])  # those within moments at once
    facts = {"attempt": 1, "voucher": "itinerary", "state": "issued", "reason": "", "trace_id": "trace-1"}
    assert sorted(desk.logged, key=str) == sorted(
        [("request_ended", {"request": one.request.request_id, **facts}) for one in came.results], key=str
    )
    assert desk.warned == desk.noted == []


@pytest.mark.parametrize("trace", ["t" * 65, "a trace"])
def test_the_log_is_told_why_and_of_no_trace_that_is_none(desk: Desk, trace: str) -> None:
    def refuse(line: Line) -> None:
        document = sealed(result(line.read(), "", success=False))
        line.answer(200, envelope(document, trace=trace))

    sent(desk, 1, talk=refuse)
    ((_, facts),) = desk.logged
    assert (facts["state"], facts["reason"], facts["trace_id"]) == ("rejected", "carrier_rejected", "")


def test_without_room_to_keep_outcomes_safe_nothing_is_sent(desk: Desk) -> None:
    spill_path(desk.ledger.path).mkdir()
    with pytest.raises(LedgerProblem, match="no room to keep outcomes safe"):
        sent(desk, 1)


@pytest.mark.parametrize(("requests", "in_flight", "outcomes"), [(3, 2, 2), (1, 4, 1)])
def test_there_is_room_for_as_many_outcomes_as_may_be_in_flight(
    desk: Desk, requests: int, in_flight: int, outcomes: int
) -> None:
    sizes: set[int] = set()
    beside = spill_path(desk.ledger.path)

    def look(line: Line) -> None:
        sizes.add(beside.stat().st_size)
        good(line)

    sent(desk, *range(1, requests + 1), talk=look, in_flight=in_flight)
    with closing(Spill(beside.with_name("other"), "", outcomes)):
        assert sizes == {beside.with_name("other").stat().st_size}
    assert not beside.exists()


def failing(desk: Desk, line: Line) -> None:
    """An answer comes, and the ledger's disk takes nothing any more."""
    asked = line.read()
    desk.ledger._connection.set_commit_hook(lambda: threading.current_thread().name == LEDGER)
    line.answer(200, envelope(sealed(result(asked, "N-1"))))


def test_a_ledger_that_fails_is_told_of_and_loses_no_outcome(desk: Desk) -> None:
    came, asked = sent(desk, 1, 2, talk=partial(failing, desk), in_flight=1)
    desk.ledger._connection.set_commit_hook(None)
    assert (states(came), len(asked), came.ledger_failed) == (["issued", "not_sent"], 1, True)
    assert "the ledger can't be written" in str(came.stopped)
    kept = [*spilled(spill_path(desk.ledger.path), desk.ledger.ledger_id)]
    assert [one["number"] for one in kept if "number" in one] == ["N-1"]
    assert desk.warned == []


def test_what_can_be_kept_nowhere_is_told_to_whoever_watches(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    def fail(line: Line) -> None:
        monkeypatch.setattr(os, "fsync", broken)
        failing(desk, line)

    sent(desk, 1, talk=fail)
    desk.ledger._connection.set_commit_hook(None)
    *_, last = desk.warned
    assert last.startswith("Could not be kept on disk; keep this line for reconciling: {")
    assert '"number": "N-1"' in last


@pytest.mark.usefixtures("own_signals")
def test_ctrl_c_waits_for_the_answer_under_way_and_says_so(desk: Desk) -> None:
    def interrupt(line: Line) -> None:
        asked = line.read()
        os.kill(os.getpid(), signal.SIGINT)
        stopping.wait(5)
        line.answer(200, envelope(sealed(result(asked, "N-1"))))

    stopping = threading.Event()
    noted: list[str] = []

    def note(said: Message) -> None:
        noted.append(str(said))
        stopping.set()

    came, asked = sent(desk, 1, 2, talk=interrupt, in_flight=1, note=note)
    assert (states(came), str(came.stopped), len(asked)) == (["issued", "not_sent"], "interrupted", 1)
    assert [said.split(";")[0] for said in noted] == ["Stopping: no further request leaves"]


def test_a_no_to_what_was_in_doubt_is_none(desk: Desk) -> None:
    def refuse(line: Line) -> None:
        line.answer(200, envelope(sealed(result(line.read(), "", success=False))))

    doubted = request_of("itinerary", 1).charges[0].identity
    came, _ = sent(desk, 1, 2, talk=refuse, doubts=Doubts(frozenset({doubted})))
    assert states(came) == ["unknown", "rejected"]


def test_neither_key_is_kept_where_an_answer_quotes_them(desk: Desk) -> None:
    def quote(line: Line) -> None:
        line.read()
        line.answer(200, envelope("", code=9999, message=f"{API_KEY} and {ENCRYPTION_KEY} are none"))

    came, _ = sent(desk, 1, talk=quote)
    assert str(came.results[0].outcome.detail).startswith("code 9999: *** and *** are none")
    ((detail, answer),) = desk.ledger._connection.execute("SELECT detail, CAST(answer AS text) FROM attempt")
    assert "*** and *** are none" in str(from_text(detail))
    assert "*** and *** are none" in answer


@pytest.mark.slow
def test_a_run_goes_by_the_profiles_proxy_and_its_own_sandbox_round_it(desk: Desk) -> None:
    """The sandbox knows the tickets of the rows that are sent, and it alone is asked."""
    with closing(Server(told([good] * 10))) as proxy:
        came, asked = sent(desk, 3, proxy=proxy.url)
        assert (states(came), len(asked), len(proxy.log.asked)) == (["issued"], 0, 1)
        run = run_to(desk, Carrier(base_url=proxy.url, agency="A", proxy=proxy.url), sandbox=True)
        with channel_to(desk.ledger._connection) as channel:
            came = send(run, channel, planned(desk, 1, 2), ROWS, Doubts())
        assert states(came) == ["issued", "rejected"]
        assert len(proxy.log.asked) == 1


def test_no_thread_is_left_of_it(desk: Desk) -> None:
    """A night's batches are sent one after the other."""
    sent(desk, 1)
    assert [one.name for one in threading.enumerate() if one.name == "ledger"] == []


@pytest.mark.slow
@pytest.mark.usefixtures("openssl")
def test_http_and_https_go_by_the_same_loop(desk: Desk, tmp_path: Path) -> None:
    ours = certificate(tmp_path, "IP:127.0.0.1")
    seen: list[str] = []

    def note(_: "Progress") -> None:
        seen.append(type(asyncio.get_running_loop()).__module__.split(".")[0])

    with closing(Server(good)) as plain, closing(Server(good, tls=secured(ours))) as secure:
        carrier = Carrier(base_url=secure.url, ca_file=f"{ours}.crt")
        for number, (to, sandbox) in enumerate(
            ((carrier, False), (carrier, True), (replace(carrier, base_url=plain.url), False))
        ):
            run = run_to(desk, to, sandbox=sandbox, progress=note)
            with channel_to(desk.ledger._connection) as channel:
                send(run, channel, planned(desk, number), ROWS, Doubts())
    assert seen == ["uvloop", "uvloop", "uvloop"]
