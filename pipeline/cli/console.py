"""What a person sees while a run is on: notes, a live bar or a line now and then, the plan, the end.

Everything goes to stderr; stdout is left to what a command is asked to print.
"""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from pipeline.cli.stderr import asking, listening, say
from pipeline.messages.chinese import in_language, shown
from pipeline.messages.translate import choice_word, status_word
from pipeline.model.columns import Lang
from pipeline.model.job import Finished, Plan, Progress, Watch
from pipeline.model.message import Message
from pipeline.model.status import STATUS
from pipeline.model.table import money_text
from pipeline.reporting.summary_text import summary_lines

Show = Callable[[Progress], None]

_LINE_EVERY = 5.0  # seconds, where there is no terminal to draw a bar on


@dataclass(frozen=True)
class _Words:
    """What the terminal itself says, in one language."""

    sending: str
    progress: str
    to_send: str
    hidden: str
    limits: str
    confirm: str
    request: str
    result: str


_WORDS: dict[Lang, _Words] = {
    "en": _Words(
        sending="Sending",
        progress="{done} of {total} requests, {rate:.0f}/s: {states}",
        to_send="To send: {count} × {market} {voucher}, {amount} {currency}",
        hidden="Of them hidden or filtered out in the file: {hidden} of {rows} rows of {file}, sheet {sheet}",
        limits="Limits of one invoice: domestic {domestic}, international {international} {currency}",
        confirm="Send {count} requests to {carrier}?",
        request="{voucher} {request}, attempt {attempt}: {status} {number}",
        result="Result: {path}",
    ),
    "zh": _Words(
        sending="正在发送",
        progress="{total} 个请求已完成 {done} 个，每秒 {rate:.0f} 个：{states}",
        to_send="待发送：{count} × {market}{voucher}，{amount} {currency}",
        hidden="其中在文件中被隐藏或筛选掉：{file}，工作表“{sheet}”，{rows} 行中的 {hidden} 行",
        limits="单张发票限额：国内 {domestic}，国际 {international} {currency}",
        confirm="将 {count} 个请求发送给 {carrier}？",
        request="{voucher} {request}，第 {attempt} 次：{status} {number}",
        result="结果：{path}",
    ),
}


def _states(progress: Progress, lang: Lang) -> str:
    return ("、" if lang == "zh" else ", ").join(
        f"{progress.states[name]} {status_word(name, lang)}" for name in STATUS if progress.states[name]
    )


class Terminal:
    """One run's conversation with the person at the keyboard, or with cron's mail, where `cells` are not quoted."""

    def __init__(self, *, quiet: bool, verbose: bool, lang: Lang, cells: bool = True) -> None:
        self._quiet = quiet
        self._verbose = verbose
        self._cells = cells
        self._lang: Lang = lang
        self._words = _WORDS[lang]
        self._live = listening() and not quiet

    def say(self, text: str | Message) -> None:
        """A line that --quiet leaves out."""
        if not self._quiet:
            self._warn(text)

    def _warn(self, text: str | Message) -> None:
        say(shown(text, self._lang, names=self._cells))

    @contextlib.contextmanager
    def watch(self, *, yes: bool) -> Iterator[Watch]:
        """Follow a run; the bar is gone when the context ends."""
        with contextlib.ExitStack() as stack:
            if self._live:
                from pipeline.cli.progress_bar import drawn  # noqa: PLC0415 - rich is slow to import, and only a terminal draws

                draw = drawn(stack, self._words.sending, partial(_states, lang=self._lang))
            else:
                draw = self._lines()

            def show(progress: Progress) -> None:
                # The terminal may go away while requests are in flight; they are waited for all the same.
                with contextlib.suppress(OSError, ValueError):
                    draw(progress)

            yield Watch(self.say, show, lambda plan: self._confirmed(plan, yes=yes), self._warn)

    def _lines(self) -> Show:
        begun = last = time.monotonic()

        def show(progress: Progress) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= _LINE_EVERY or (progress.done == progress.total and progress.total > 1):
                last = now
                rate = progress.done / max(now - begun, 0.001)
                states = _states(progress, self._lang)
                self.say(
                    self._words.progress.format(
                        done=progress.done, total=progress.total, rate=rate, states=states
                    )
                )

        return show

    def _confirmed(self, plan: Plan, *, yes: bool) -> bool:
        """Show the plan; ask on a terminal, unless --yes or nobody is there."""
        currency = plan.profile.carrier.currency
        for voucher, market, count, total in plan.lines():
            kind = {"voucher": choice_word(voucher, self._lang), "market": choice_word(market, self._lang)}
            line = self._words.to_send.format(
                count=count, amount=money_text(total), currency=currency, **kind
            )
            self.say(line)
        for seen in plan.sheets:
            if seen.hidden_rows and not seen.hidden_sheet:
                where = {"file": seen.file, "sheet": seen.sheet, "rows": seen.rows}
                self.say(self._words.hidden.format(hidden=seen.hidden_rows, **where))
        limits = plan.profile.limits
        self.say(
            self._words.limits.format(
                domestic=money_text(limits.domestic_invoice_max),
                international=money_text(limits.international_invoice_max),
                currency=currency,
            )
        )
        if yes or not asking():
            return True
        question = self._words.confirm.format(
            count=len(plan.requests), carrier=in_language(plan.carrier, self._lang)
        )
        return click.confirm(question, default=False, err=True)

    def finish(self, finished: Finished) -> None:
        """The short summary, and where the result is; --quiet says it only if a person is needed."""
        if self._quiet and not finished.exit_code:
            return
        for line in summary_lines(finished.account):
            say(line)
        if self._verbose:
            for request in finished.account.requests:
                line = self._words.request.format(
                    voucher=choice_word(request.request.voucher, self._lang),
                    request=request.request.request_id,
                    attempt=request.attempt,
                    status=status_word(request.status, self._lang),
                    number=request.number,
                )
                say(line.rstrip())
        self.say_files(finished.problems, (finished.workbook,))

    def say_files(self, problems: Sequence[str | Message], paths: Iterable[Path | None]) -> None:
        """What could not be written, and where the rest is."""
        for problem in problems:
            say(f"voucher: {in_language(problem, self._lang)}")
        for path in paths:
            if path:
                say(self._words.result.format(path=path))
