"""The pieces of the page's work that are about the whole ledger and no month: each runs the flow of its command."""

import contextlib
import datetime
import time
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

import orjson

from pipeline.file_writing import PRIVATE
from pipeline.model.columns import LANGS, Lang
from pipeline.model.errors import InputProblem, LedgerInUse
from pipeline.model.evidence import Answer
from pipeline.model.exit_code import ExitCode
from pipeline.model.job import Task
from pipeline.model.message import counted, message
from pipeline.model.settled import Decided
from pipeline.page import months, work
from pipeline.page.months import Overtaken
from pipeline.page.page_words import told
from pipeline.page.work import Ended
from pipeline.page.work_task import WorkTask
from pipeline.reporting.summary_text import reconciled_lines
from pipeline.run import ledger_maintenance
from pipeline.run.evidence_files import told_apart
from pipeline.run.ledger_check_text import check_lines
from pipeline.run.reconcile import reconcile
from pipeline.run.register import Wanted, registered
from pipeline.settlement.reconciliation_result import Reconciliation

#: What a reconciliation came to, in lines, by language.
LINES = "lines.json"

_Weighed = TypeVar("_Weighed")


def reconciled(task: WorkTask) -> Ended:
    """Settle what the evidence settles, and compare; nothing is sent, which a month's page does, after a question."""
    asked = task.asked
    statements, resolved, itineraries = told_apart([task.folder / name for name in asked["files"]])
    complete, made = asked.get("complete", ()), asked.get("made", "")
    if (complete or made) and not statements:
        raise InputProblem(
            "None of these files is a statement of the carrier's, so that nothing can be said of which days it is complete for, or when"
            " it was made"
        )
    wanted = Task(
        replace(
            task.job,
            lang=asked["lang"],
            output=task.results / "reconciliation.xlsx",
        ),
        task.work.by,
        tuple(statements),
        tuple(resolved),
        tuple(complete),
        made,
        month=asked.get("compare", ""),
        answers=tuple(map(_answer, asked.get("answers", ()))),
        itineraries=tuple(itineraries),
    )
    finished = when_free(task, lambda: reconcile(wanted, task.watch(lambda _: False)))
    lines = {lang: _lines(finished.said, lang) for lang in LANGS}
    kept = task.results / LINES
    kept.touch(PRIVATE)
    kept.write_bytes(orjson.dumps(lines))
    for problem in finished.problems:
        task.teller.note(problem)
    judge_what_may_have_changed(task, finished.said.decided)
    return Ended(finished.exit_code, (finished.workbook.name,) if finished.workbook else ())


def judge_what_may_have_changed(task: WorkTask, decided: Decided) -> None:
    """Have the month judged again that the evidence was brought to, and those with requests of unknown outcome, where some were settled."""
    for month in months.all_months(task.folder):
        doubted = decided.settled and month.plan and month.plan.unknown
        if month.id == task.month or doubted:
            with contextlib.suppress(Overtaken):  # what is being sent sees it by itself
                months.judge_again(task.folder, month.id)
                work.judge(task.settings, month.id, task.work.by)


def when_free(task: WorkTask, weigh: Callable[[], _Weighed]) -> _Weighed:
    """What weighing evidence comes to once nobody else is using the ledger: what somebody brought is not lost to a month that is being
    sent.
    """
    wait, until = _FIRST_WAIT, time.monotonic() + _PATIENCE
    while True:
        try:
            return weigh()
        except LedgerInUse as problem:
            if time.monotonic() > until:
                raise
            task.teller.note(
                message(
                    "Another run is using the ledger{by}: what was brought is kept, and is weighed as soon as that has ended.",
                    by=problem.message.facts["by"],
                )
            )
        time.sleep(wait)
        wait = min(wait * 2, _LONGEST_WAIT)  # each time the evidence is read anew


#: Seconds: between two tries to have the ledger, and how long it is waited for at all.
_FIRST_WAIT, _LONGEST_WAIT, _PATIENCE = 1.0, 30.0, 12 * 60 * 60


def _lines(said: Reconciliation, lang: Lang) -> list[str]:
    """What it came to in a language, in the page's words."""
    return reconciled_lines(replace(said, result=replace(said.result, lang=lang)), told)


def as_asked(answer: Answer) -> dict[str, Any]:
    """An answer that a visitor gave, as a piece of work is begun with it."""
    return {name: value for name, value in asdict(answer).items() if name not in ("place", "problem")}


def _answer(said: Mapping[str, Any]) -> Answer:
    return Answer(**said, place=message("said on the page"))


def lines_of(folder: Path, lang: Lang) -> list[str]:
    """The lines of a reconciliation, from the folder of its work; none where it did not come to any."""
    try:
        lines: list[str] = orjson.loads((folder / LINES).read_bytes())[lang]
    except FileNotFoundError:
        return []
    return lines


def register(task: WorkTask) -> Ended:
    """Write the register of a month, or of everything; of several buyers' workbooks one archive."""
    asked, zone = task.asked, task.job.profile.carrier.time_zone
    wanted = Wanted(asked["month_asked"], zone, task.results, asked["split"], asked["masked"])
    written, charges = registered(task.job, wanted, asked["lang"], task.teller.note)
    if not written or not charges:
        task.teller.note(
            message("The ledger has no voucher of {month}.", month=asked["month_asked"])
            if asked["month_asked"]
            else message("The ledger has no voucher.")
        )
        return Ended(ExitCode.DONE)
    task.teller.note(counted("{count} charge", "{count} charges", charges))
    if not asked["split"]:
        return Ended(ExitCode.DONE, (written[0].name,))
    return Ended(ExitCode.DONE, (_archive(task.results / f"{wanted.stem}.zip", written),))


def _archive(path: Path, workbooks: list[Path]) -> str:
    """An archive of these workbooks, in place of them; its name."""
    path.touch(PRIVATE)
    with zipfile.ZipFile(path, "w") as archive:  # workbooks are compressed already
        for workbook in workbooks:
            archive.write(workbook, workbook.name)
            workbook.unlink()
    return path.name


def ledger_check(task: WorkTask) -> Ended:
    """Look at all of the ledger."""
    found = ledger_maintenance.looked_over(task.job)
    for line in [*([found.doubted] if found.doubted else []), *check_lines(found)]:
        task.teller.note(line)
    return Ended(ExitCode.STOPPED.where(found.looked.gap or not found.sound))


def backup(task: WorkTask) -> Ended:
    """Copy the ledger; the copy knows that it may lack what is issued from now on."""
    return Ended(ExitCode.DONE, (ledger_maintenance.backed_up(task.job, task.results).name,))


def gap(task: WorkTask) -> Ended:
    """Say that the ledger may lack something, that it lacks nothing though its last run is not noted, or that it lacks nothing any more."""
    asked, by, note = task.asked, task.work.by, task.teller.note
    if asked["step"] == "close":
        done = ledger_maintenance.gap_closed(
            task.job, note, by, asked["evidence"], lambda _: bool(asked["anyway"])
        )
    elif asked["step"] == "nothing_missing":
        done = ledger_maintenance.nothing_missing(task.job, note, by, asked["why"])
    else:
        since = datetime.datetime.fromisoformat(asked["since"]) if asked["since"] else None
        done = ledger_maintenance.gap_marked(task.job, note, since, f"{asked['why']} ({by})")
    note(done or _NOTHING_CHANGED)
    return Ended(ExitCode.STOPPED.where(not done))


_NOTHING_CHANGED = message(
    "Nothing was changed. Reconcile with the carrier's complete statement first, or say below that the gap is to be closed all the same."
)
