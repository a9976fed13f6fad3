"""Stopping while requests are in flight."""

import asyncio
import os
import signal
from collections.abc import Callable
from unittest.mock import ANY

import pytest

from pipeline.carrier.client import Client
from pipeline.carrier.connection_reuse import HeldConnection
from pipeline.model.message import Message, message
from pipeline.model.outcome import Answered, Lost, Reply
from pipeline.signals import ENDING
from pipeline.submission.event_loop import loop_factory
from pipeline.submission.graceful_stop import Halt, stopped_by_signals


class Slow(Client):
    """A client whose answers take a while; no network."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    async def post(self, path: str, body: bytes, _: float | None = None) -> tuple[Reply, HeldConnection]:
        await asyncio.sleep(self.seconds)
        return Answered(200, path.encode() + body), HeldConnection()


pytestmark = pytest.mark.usefixtures("own_signals")


@pytest.mark.parametrize("number", ENDING)
@pytest.mark.parametrize("ignored", [False, True])
@pytest.mark.parametrize("loop", [loop_factory(), asyncio.new_event_loop])
def test_a_first_signal_waits_for_the_answers_a_second_does_not_and_a_later_one_is_too_late(
    number: signal.Signals, ignored: bool, loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    if ignored:  # as `nohup` has it, and a shell for its background jobs; but `kill -INT` means it
        signal.signal(number, signal.SIG_IGN)
    heeded = number is signal.SIGINT or not ignored
    said, late = list[object](), list[int]()

    async def run() -> None:
        halt = Halt()
        with stopped_by_signals(halt, said.append, late):
            waiting = asyncio.create_task(halt.answer_to(Slow(60), "", b""))
            os.kill(os.getpid(), number)
            await asyncio.sleep(0.05)
            assert (str(halt.reason), waiting.done()) == ("interrupted" if heeded else "", False)
            os.kill(os.getpid(), number)
            await asyncio.sleep(0.05)
            assert waiting.done() is heeded
            if heeded:
                assert isinstance((await waiting)[0], Lost)
            waiting.cancel()

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(run())
    assert [str(text).split(":")[0] for text in said] == (["Stopping"] if heeded else [])
    assert late == []
    os.kill(os.getpid(), number)
    nothing_else = signal.SIG_IGN if ignored else ANY
    assert (late, signal.getsignal(number)) == ([number] if not ignored else [], nothing_else)


def test_what_comes_between_two_sendings_stops_the_second() -> None:
    late: list[int] = []

    async def run() -> Message:
        halt = Halt()
        with stopped_by_signals(halt, list[object]().append, late):
            return halt.reason

    assert asyncio.run(run()) == Message("")
    os.kill(os.getpid(), signal.SIGTERM)
    assert asyncio.run(run()) == Message("interrupted")


def test_a_pause_takes_its_time_and_ends_when_the_run_stops() -> None:
    async def work() -> None:
        halt, clock = Halt(), asyncio.get_running_loop().time
        begun = clock()
        await halt.pause(0.1)
        assert clock() - begun >= 0.1
        asyncio.get_running_loop().call_later(0.05, halt.stop, "interrupted")
        await halt.pause(60)
        assert clock() - begun < 30

    asyncio.run(asyncio.wait_for(work(), 40))


def test_whoever_has_an_answer_is_not_abandoned() -> None:
    async def work() -> Reply:
        halt = Halt()
        reply, _ = await halt.answer_to(Slow(0), "/path", b"body")
        halt.abandon()
        await asyncio.sleep(0)  # a cancelled task would end here, with its answer lost
        return reply

    assert asyncio.run(work()) == Answered(200, b"/pathbody")


def test_whoever_waits_is_abandoned_and_goes_on() -> None:
    async def work() -> tuple[Reply, str, int]:
        halt = Halt()
        waiting = asyncio.create_task(halt.answer_to(Slow(60), "", b""))
        await asyncio.sleep(0)
        halt.abandon()
        return (await waiting)[0], str(halt.reason), waiting.cancelling()

    assert asyncio.run(work()) == (
        Lost(Message("the run was interrupted while it waited for the answer")),
        "interrupted",
        0,
    )


def test_a_cancelled_run_that_nobody_stopped_is_cancelled() -> None:
    async def work() -> None:
        waiting = asyncio.create_task(Halt().answer_to(Slow(60), "", b""))
        await asyncio.sleep(0)
        waiting.cancel()
        await waiting

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(work())


def test_a_reason_that_is_said_anew_is_in_the_place_of_the_first() -> None:
    halt = Halt()
    halt.stop(message("the disk is full"))
    halt.stop(message("the key is wrong"), anew=True)
    assert halt.stopping
    assert halt.reason == message("the key is wrong")


def test_the_first_reason_to_stop_is_kept() -> None:
    async def work() -> str:
        halt = Halt()
        halt.stop("the disk is full")
        halt.abandon()
        return str(halt.reason)

    assert asyncio.run(work()) == "the disk is full"
