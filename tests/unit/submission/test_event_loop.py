"""What is set for the time of sending is set back behind it."""

import asyncio
import gc
import weakref

import pytest

from pipeline.submission import event_loop
from pipeline.submission.sending_run import Sent


@pytest.mark.parametrize("on", [True, False])
def test_while_sending_the_collector_is_on_whatever_it_was_before(on: bool) -> None:
    if not on:
        gc.disable()
    try:
        with event_loop._collecting_less():
            assert gc.isenabled()
        assert gc.isenabled() is on
    finally:
        gc.enable()


@pytest.mark.slow
def test_while_sending_the_collector_leaves_what_was_read_alone_and_only_then() -> None:
    before = gc.get_threshold()
    assert gc.get_freeze_count() == 0
    in_itself = Sent()
    in_itself.__dict__["itself"], gone = in_itself, weakref.ref(in_itself)
    del in_itself
    with event_loop._collecting_less():
        gc.collect()
        assert gone() is not None, "what was there is not looked through"
        assert gc.get_freeze_count() > 0
        assert gc.get_threshold()[0] > before[0]
    assert gc.get_freeze_count() == 0
    assert gc.get_threshold() == before
    gc.collect()
    assert gone() is None


@pytest.mark.slow
def test_what_runs_in_the_event_loop_has_all_of_it() -> None:
    before = gc.get_threshold()

    async def told() -> tuple[tuple[int, int, int], str]:
        loop = type(asyncio.get_running_loop()).__module__.split(".")[0]
        return gc.get_threshold(), loop

    with event_loop.event_loop() as runner:
        threshold, loop = runner.run(told())
    assert (threshold[0] > before[0], loop) == (True, "uvloop")
    assert gc.get_threshold() == before
