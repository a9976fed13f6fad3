"""What whoever waits at a shared ledger is told: for which workers, on which machines, and again while it lasts."""

import asyncio
import os
import socket
from collections import Counter
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.ledger.attempt_changes import Ended
from pipeline.ledger_postgresql import turn_thread
from pipeline.ledger_postgresql.issued_run import IssuedRun
from pipeline.ledger_postgresql.shared_writer import SharedWriter
from pipeline.ledger_postgresql.worker_part import Part
from pipeline.ledger_postgresql.worker_turns import Worker
from pipeline.submission import shared_run
from tests.contract.conftest import Begin
from tests.contract.ledgers import Shared, issued, itinerary

pytestmark = pytest.mark.slow


def named(worker: Worker) -> str:
    return f"worker {worker.worker.hex[:8]} ({socket.gethostname()}, process {os.getpid()})"


def restarted_without(ledger: Shared, *silent: Worker) -> None:
    """The server is started anew, as far as the ledger can see, and these have been silent for a lease."""
    ledger.force(
        "CREATE OR REPLACE FUNCTION life_now() RETURNS text LANGUAGE sql STABLE AS $$ SELECT 'another life' $$"
    )
    for one in silent:
        ledger.force(
            f"UPDATE worker SET heard_at = heard_at - interval '1 hour' WHERE worker = '{one.worker}'"
        )


async def until(said: list[str], text: str, times: int) -> None:
    async with asyncio.timeout(60):
        while sum(text in one for one in said) < times:  # noqa: ASYNC110 - another thread says it
            await asyncio.sleep(0.01)


def test_a_sender_names_those_that_claims_wait_for_again_and_again(
    begin_shared: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, said = begin_shared(), list[str]()
    ledger.plan(itinerary(1))
    heard = Worker(ledger.connect("worker"))
    restarted_without(ledger, ledger.worker)
    monkeypatch.setattr(turn_thread, "_SAY_AGAIN", 0.0)

    async def waits(writer: SharedWriter) -> None:
        writer.begin(Part(ledger.run, 1, asyncio.get_running_loop(), lambda *_: None))
        asked = writer.claim()
        await until(said, f"Nothing is sent yet: {named(ledger.worker)} sent with this ledger", 2)
        assert not any(heard.worker.hex[:8] in one for one in said)  # it looks by itself
        writer.claim_no_more()
        assert await asked is None
        await writer.finish()

    with closing(SharedWriter(ledger.url("worker"), lambda one: said.append(str(one)), 1)) as writer:
        asyncio.run(waits(writer))
    assert sum("was started anew: nothing is sent until" in one for one in said) == 1


def test_the_ledger_opens_its_claims_when_nobody_is_awaited_any_more(begin_shared: Begin) -> None:
    ledger = begin_shared()
    restarted_without(ledger)
    assert not ledger.open_claims()
    ledger.force("UPDATE server_life SET seen_at = seen_at - interval '1 hour' WHERE opened_at IS NULL")
    assert not ledger.open_claims()
    ledger.worker.vouch()
    assert ledger.open_claims()


def test_an_issuer_names_those_that_send_the_last_of_its_run(
    begin_shared: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, said = begin_shared(), list[str]()
    issuer, other = ledger.worker, Worker(ledger.connect("worker"))
    with closing(IssuedRun(ledger.url("issuer"), ledger.run)) as run:
        run.open(str(issuer.worker), 0, 0)
        attempts = ledger.plan(itinerary(1), itinerary(2), itinerary(3))
        of_run: Any = SimpleNamespace(watch=SimpleNamespace(note=lambda one: said.append(str(one))))
        nothing: Any = None
        sending = shared_run._Sending(of_run, nothing, run, nothing, shared_run._Whole(3, Counter()))

        def looked(times: int) -> None:
            for _ in range(times):
                asyncio.run(sending._say_whom_it_waits_for(run.progress()))

        monkeypatch.setattr(shared_run, "_SAY_AFTER", 0.0)
        ledger.claim(1)
        looked(3)  # what is the issuer's own waits for the carrier
        assert said == []
        other.turn([], ledger.run, 2)
        looked(3)
        told = f"Waits for the requests that other workers are sending: {named(other)}: 2."
        assert [one[: len(told)] for one in said] == [told]
        monkeypatch.setattr(shared_run, "_SAY_AGAIN", 0.0)
        monkeypatch.setattr(shared_run, "_SAY_AGAIN", 0.0)
        looked(1)
        assert len(said) == 1  # it was said a moment ago, by the interval of then
        other.turn([Ended(attempts[1], issued("N1"))], ledger.run, 0)
        looked(3)
        assert [f"{named(other)}: 1." in one for one in said[1:]] == [True, True]
