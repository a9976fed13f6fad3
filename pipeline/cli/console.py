"""What a person sees while a run is on: notes, a live bar or a line now and then, the plan, the end.

Everything goes to stderr; stdout is left to what a command is asked to print.
"""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from pipeline.cli.plan_confirmation import confirmed
from pipeline.cli.stderr import listening, say
from pipeline.messages.translate import rendered
from pipeline.model.columns import Lang
from pipeline.model.job import Finished, Progress, Watch
from pipeline.model.message import Joined, Message, Term, joined, message
from pipeline.model.status import STATUS
from pipeline.reporting.summary_text import summary_lines

Show = Callable[[Progress], None]

_LINE_EVERY = 5.0  # seconds, where there is no terminal to draw a bar on


def _states(progress: Progress) -> Joined:
    return joined(
        message("{count} {status}", count=progress.states[name], status=Term(name, "status"))
        for name in STATUS
        if progress.states[name]
    )


class Terminal:
    """One run's conversation with the person at the keyboard, or with cron's mail, where `cells` are not quoted."""

    def __init__(self, *, quiet: bool, verbose: bool, lang: Lang, cells: bool = True) -> None:
        self._quiet = quiet
        self._verbose = verbose
        self._cells = cells
        self._lang: Lang = lang
        self._live = listening() and not quiet

    def say(self, text: Message) -> None:
        """A line that --quiet leaves out."""
        if not self._quiet:
            self._warn(text)

    def _warn(self, text: Message) -> None:
        say(rendered(text, self._lang, names=self._cells))

    @contextlib.contextmanager
    def watch(self, *, yes: bool) -> Iterator[Watch]:
        """Follow a run; the bar is gone when the context ends."""
        with contextlib.ExitStack() as stack:
            if self._live:
                from pipeline.cli.progress_bar import drawn  # noqa: PLC0415 - rich is slow to import, and only a terminal draws

                draw = drawn(
                    stack,
                    self._in_words(message("Sending")),
                    lambda progress: rendered(_states(progress), self._lang),
                )
            else:
                draw = self._lines()

            def show(progress: Progress) -> None:
                # The terminal may go away while requests are in flight; they are waited for all the same.
                with contextlib.suppress(OSError, ValueError):
                    draw(progress)

            yield Watch(
                self.say, show, lambda plan: confirmed(plan, self.say, self._lang, yes=yes), self._warn
            )

    def _lines(self) -> Show:
        begun = last = time.monotonic()

        def show(progress: Progress) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= _LINE_EVERY or (progress.done == progress.total and progress.total > 1):
                last = now
                self.say(
                    message(
                        "{done} of {total} requests, {rate}/s: {states}",
                        done=progress.done,
                        total=progress.total,
                        rate=round(progress.done / max(now - begun, 0.001)),
                        states=_states(progress),
                    )
                )

        return show

    def _in_words(self, told: Message) -> str:
        return rendered(told, self._lang)

    def finish(self, finished: Finished) -> None:
        """The short summary, and where the result is; --quiet says it only if a person is needed."""
        if self._quiet and not finished.exit_code:
            return
        for line in summary_lines(finished.result):
            say(line)
        if self._verbose:
            for request in finished.result.requests:
                told = message(
                    "{voucher} {request}, attempt {attempt}: {status} {number}",
                    voucher=Term(request.request.voucher, "choice"),
                    request=request.request.request_id,
                    attempt=request.attempt,
                    status=Term(request.status, "status"),
                    number=request.number,
                )
                say(self._in_words(told).rstrip())
        self.say_files(finished.problems, (finished.workbook,))

    def say_files(self, problems: Sequence[Message], paths: Iterable[Path | None]) -> None:
        """What could not be written, and where the rest is."""
        for problem in problems:
            say(f"voucher: {rendered(problem, self._lang)}")
        for path in paths:
            if path:
                say(self._in_words(message("Result: {path}", path=str(path))))
