"""What a person sees while a run is on: notes, a live bar or a line now and then, the plan, the end.

Everything goes to stderr; stdout is left to what a command is asked to print.
"""

import contextlib
import time
from collections.abc import Callable, Iterator

import click

from pipeline.columns import Lang
from pipeline.job import Finished, Plan, Watch
from pipeline.notice import asking, listening, say
from pipeline.reasons import STATUS
from pipeline.results.text import summary_lines
from pipeline.submission import Progress
from pipeline.table import money_text

Show = Callable[[Progress], None]

_LINE_EVERY = 5.0  # seconds, where there is no terminal to draw a bar on


def _states(progress: Progress, lang: Lang) -> str:
    return ", ".join(
        f"{progress.states[name]} {STATUS[name].word(lang)}" for name in STATUS if progress.states[name]
    )


class Terminal:
    """One run's conversation with the person at the keyboard, or with cron's mail."""

    def __init__(self, *, quiet: bool, verbose: bool, lang: Lang) -> None:
        self._quiet = quiet
        self._verbose = verbose
        self._lang = lang
        self._live = listening() and not quiet

    def say(self, text: str) -> None:
        """A line that --quiet leaves out."""
        if not self._quiet:
            say(text)

    @contextlib.contextmanager
    def watch(self, *, yes: bool) -> Iterator[Watch]:
        """Follow a run; the bar is gone when the context ends."""
        with contextlib.ExitStack() as stack:
            draw = self._bar(stack) if self._live else self._lines()

            def show(progress: Progress) -> None:
                # The terminal may go away while requests are in flight; they are waited for all the same.
                with contextlib.suppress(OSError, ValueError):
                    draw(progress)

            yield Watch(self.say, show, lambda plan: self._confirmed(plan, yes=yes), say)

    def _lines(self) -> Show:
        begun = last = time.monotonic()

        def show(progress: Progress) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= _LINE_EVERY or (progress.done == progress.total and progress.total > 1):
                last = now
                rate = progress.done / max(now - begun, 0.001)
                self.say(
                    f"{progress.done} of {progress.total} requests, {rate:.0f}/s: {_states(progress, self._lang)}"
                )

        return show

    def _bar(self, stack: contextlib.ExitStack) -> Show:
        from rich.console import Console  # noqa: PLC0415 - start-up: only a terminal draws
        from rich.progress import (  # noqa: PLC0415 - likewise
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as Bar  # noqa: PLC0415 - likewise

        bar = Bar(
            TextColumn("Sending"),
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
                stack.enter_context(bar)
            rate = progress.done / max(time.monotonic() - begun, 0.001)
            states = _states(progress, self._lang)
            bar.update(
                task,
                total=progress.total,
                completed=progress.done,
                rate=f"{rate:.0f}/s",
                states=states,
                visible=True,
            )

        return show

    def _confirmed(self, plan: Plan, *, yes: bool) -> bool:
        """Show the plan; ask on a terminal, unless --yes or nobody is there."""
        for voucher, market, count, total in plan.lines():
            noun = {"invoice": "invoice", "itinerary": "itinerary"}[voucher]
            self.say(
                f"To send: {count} × {market} {noun}, {money_text(total)} {plan.profile.carrier.currency}"
            )
        limits = plan.profile.limits
        self.say(
            f"Limits of one invoice: domestic {money_text(limits.domestic_invoice_max)},"
            f" international {money_text(limits.international_invoice_max)} {plan.profile.carrier.currency}"
        )
        if yes or not asking():
            return True
        return click.confirm(
            f"Send {len(plan.requests)} requests to {plan.carrier}?", default=False, err=True
        )

    def finish(self, finished: Finished) -> None:
        """The short summary, and where the result is; --quiet says it only if a person is needed."""
        if self._quiet and not finished.exit_code:
            return
        for line in summary_lines(finished.account):
            say(line)
        if self._verbose:
            for request in finished.account.requests:
                what = f"{request.request.voucher} {request.request.request_id}, attempt {request.attempt}"
                say(f"{what}: {request.status} {request.number}".rstrip())
        for problem in finished.problems:
            say(f"voucher: {problem}")
        if finished.workbook:
            say(f"Result: {finished.workbook}")
