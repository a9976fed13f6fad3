"""The live bar of a run that sends, on a terminal."""

import contextlib
import time
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from pipeline.model.job import Progress


def drawn(
    stack: contextlib.ExitStack, title: str, states: Callable[[Progress], str]
) -> Callable[[Progress], None]:
    """What draws the progress it is given; the bar appears with the first, and moves until all is done or the stack ends.

    Then its thread has ended: a process without other threads makes a long workbook quicker (`reporting/xlsx/forked_pieces.py`).
    """
    drawing = stack.enter_context(contextlib.ExitStack())
    bar = Bar(
        TextColumn(title),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[states]}"),
        console=Console(stderr=True),
    )
    task = bar.add_task("", total=None, rate="", states="", visible=False)
    begun = 0.0

    def show(progress: Progress) -> None:
        nonlocal begun
        if not begun:
            begun = time.monotonic()
            drawing.enter_context(bar)
        rate = f"{progress.done / max(time.monotonic() - begun, 0.001):.0f}/s"
        bar.update(
            task,
            total=progress.total,
            completed=progress.done,
            rate=rate,
            states=states(progress),
            visible=True,
        )
        if progress.done == progress.total:
            drawing.close()

    return show
