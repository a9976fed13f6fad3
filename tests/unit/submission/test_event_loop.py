"""Signals while requests are in flight, and the event loop that they are sent by."""

import asyncio
import os
import signal
from collections.abc import Iterator

import pytest

from pipeline.model.outcome import Lost
from pipeline.signals import ENDING, heed
from pipeline.submission.event_loop import _loop_factory, _stoppable
from pipeline.submission.sender import Halt
from tests.unit.submission.test_sender import Slow


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    """Signals as the program has them, whatever started the tests; afterwards as they were."""
    before = {number: signal.getsignal(number) for number in ENDING}
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)
    heed()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", ENDING)
@pytest.mark.parametrize("ignored", [False, True])
@pytest.mark.parametrize("secure", [False, True])
def test_a_first_signal_waits_for_the_answers_a_second_does_not_and_then_all_is_as_before(
    number: signal.Signals, ignored: bool, secure: bool
) -> None:
    if ignored:  # as `nohup` has it, and a shell for its background jobs; but `kill -INT` means it
        signal.signal(number, signal.SIG_IGN)
    before = {each: signal.getsignal(each) for each in ENDING}
    heeded = number is signal.SIGINT or not ignored
    said: list[object] = []

    async def run() -> None:
        halt = Halt()
        with _stoppable(halt, said.append):
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

    with asyncio.Runner(loop_factory=_loop_factory(secure=secure)) as runner:
        runner.run(run())
    assert [str(text).split(":")[0] for text in said] == (["Stopping"] if heeded else [])
    assert {each: signal.getsignal(each) for each in ENDING} == before


def test_tls_is_for_the_standard_loop() -> None:
    assert _loop_factory(secure=True) is None
