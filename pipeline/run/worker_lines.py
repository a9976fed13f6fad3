"""The workers of a shared ledger, in lines for people."""

from collections.abc import Iterator, Sequence
from zoneinfo import ZoneInfo

from pipeline.ledger_postgresql.known_workers import KnownWorker
from pipeline.messages.translate import rendered
from pipeline.model.columns import Lang
from pipeline.model.message import N_, Message, counted, joined, message, verbatim
from pipeline.model.text_width import cells_wide

_STANDS = {"on": N_("is heard"), "silent": N_("silent"), "left": N_("has left"), "dead": N_("declared dead")}
_BETWEEN = "  "


def worker_lines(workers: Sequence[KnownWorker], lang: Lang, time_zone: str, *, ended: bool) -> Iterator[str]:
    """A table, with times of that zone; `ended`: with those that have left or are dead, else they are counted."""
    shown = [one for one in workers if ended or not one.ended]
    zone = ZoneInfo(time_zone)
    heading = [
        message("Worker"),
        message("Machine"),
        message("Process"),
        message("Since ({zone})", zone=time_zone),
        message("Last heard"),
        message("Stands"),
        message("Sending"),
    ]
    cells = [[rendered(each, lang) for each in heading], *(_cells(one, lang, zone) for one in shown)]
    if shown:
        widths = [max(map(cells_wide, column)) for column in zip(*cells, strict=True)]
        for line in cells:
            yield _BETWEEN.join(
                text + " " * (width - cells_wide(text)) for text, width in zip(line, widths, strict=True)
            ).rstrip()
    if gone := len(workers) - len(shown):
        yield rendered(
            counted("{count} worker has ended (--all)", "{count} workers have ended (--all)", gone), lang
        )
    elif not shown:
        yield rendered(message("No worker has taken part yet"), lang)


def _cells(one: KnownWorker, lang: Lang, zone: ZoneInfo) -> list[str]:
    since, heard = (f"{each.astimezone(zone):%Y-%m-%d %H:%M:%S}" for each in (one.since, one.heard))
    told = (rendered(each, lang) for each in (_stands(one), _sending(one)))
    return [one.worker.hex[:8], one.machine, str(one.process), since, heard, *told]


def _stands(one: KnownWorker) -> Message:
    stands = message(_STANDS[one.standing])
    if one.standing == "dead":
        return message(
            "{stands} by {by}: {how}", stands=stands, by=verbatim(one.dead_by), how=verbatim(one.dead_how)
        )
    if one.ended or one.vouched:
        return stands
    return message("{stands}, has not looked since the server was started", stands=stands)


def _sending(one: KnownWorker) -> Message:
    if not one.sending:
        return message("nothing")
    runs = joined(str(run) for run in one.runs)
    return counted("{count} request of run {runs}", "{count} requests of run {runs}", one.sending, runs=runs)
