"""The bar of a run that sends has a thread that moves it, for as long as there is anything to show."""

import contextlib
import threading
from collections import Counter

from pipeline.cli.progress_bar import drawn
from pipeline.model.job import Progress


def test_its_thread_has_ended_when_all_is_done() -> None:
    before = {*threading.enumerate()}
    with contextlib.ExitStack() as stack:
        draw = drawn(stack, "Sending", lambda _: "")
        draw(Progress(2, Counter(issued=1)))
        (moves,) = {*threading.enumerate()} - before
        draw(Progress(2, Counter(issued=2)))
        moves.join(60)
        assert not moves.is_alive()
