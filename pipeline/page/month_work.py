"""A piece of the page's work, done in a process of its own (work_process.py).

It runs the flows of `pipeline.run`, as the commands do, and writes how far it is and how it ended into the page's database, so that it
needs no server to be there.
"""

import datetime
import pickle
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pipeline import signals
from pipeline.model.approval import Approval
from pipeline.model.corrections import Corrections
from pipeline.model.errors import Declined, InputProblem, LedgerProblem, Stop
from pipeline.model.exit_code import ExitCode
from pipeline.model.job import Finished, Job, Plan, Progress
from pipeline.model.message import message, system_error
from pipeline.open_ledger import ledger_to_read
from pipeline.page import (
    collection_work,
    dropped_files,
    ledger_work,
    month_corrections,
    month_history,
    month_uploads,
    months,
    survey_file,
    work,
)
from pipeline.page.defects import log_defect
from pipeline.page.page_database import NO_ROOM, is_full, transaction
from pipeline.page.plan_facts import PlanFacts
from pipeline.page.rows_file import write_rows
from pipeline.page.serve_settings import ServeSettings
from pipeline.page.work import Ended, Work
from pipeline.page.work_task import Teller, WorkTask
from pipeline.run import check as check_flow
from pipeline.run import issue as issue_flow
from pipeline.run.column_survey import surveyed
from pipeline.secret_keys import load_secrets


def _month_job(task: WorkTask) -> tuple[Job, int]:
    """The job of a month's files as they are now, their corrections in it, and the version that this is."""
    with transaction(task.folder):  # all of one moment
        month = months.find(task.folder, task.month)
        if month is None:
            raise InputProblem("There is no such month any more.")
        given = month_uploads.uploads(task.folder, task.month)
        corrected = _corrections(task.folder, task.month)
    at = task.month_folder
    inputs = tuple(one.path(at) for one in given if one.kind in month_uploads.TICKETS)
    buyers = [one.path(at) for one in given if one.kind == "buyers"]
    mapping = at / "columns.toml"
    if not inputs:
        raise InputProblem("No workbook with tickets was uploaded yet.")
    job = replace(
        task.job,
        inputs=inputs,
        buyers=buyers[-1] if buyers else None,
        columns=mapping if mapping.exists() else None,
        corrections=corrected,
    )
    return job, month.version


def _job_of_all(task: WorkTask) -> tuple[Job, int]:
    """The same, once each file that was dropped onto the month has been told apart."""
    while True:
        dropped_files.tell_apart(task)
        found = _month_job(task)
        if not month_uploads.uploads(task.folder, task.month, "new"):
            return found


def _corrections(folder: Path, month: str) -> Corrections:
    cells: dict[tuple[str, str, int], dict[str, str]] = {}
    for one in month_corrections.corrections(folder, month):
        cells.setdefault((one.file, one.sheet, one.line), {})[one.column] = one.value
    buyers = tuple(
        {name: str(value) for name, value in one.items() if name not in ("month", "at", "by")}
        for one in month_corrections.buyers(folder, month)
    )
    return Corrections(cells, buyers)


def _judge(task: WorkTask) -> Ended:
    """Judge a month."""
    job, version = _job_of_all(task)
    _check_ledger(job)
    finished = check_flow.check(job, task.watch(lambda _: False))
    plan = PlanFacts.of(finished.result, job.profile, job.owner)
    write_rows(task.month_folder / "rows.sqlite", finished.result, plan.digest)
    months.judged(task.folder, task.month, version, plan)
    return Ended(finished.exit_code)


def _check_ledger(job: Job) -> None:
    """Raises LedgerProblem where the ledger can't be looked at: no fault of the files, which no meaning of their headings mends."""
    try:
        with ledger_to_read(job):
            pass
    except InputProblem as problem:
        raise LedgerProblem(problem.message) from None


def _survey(task: WorkTask) -> Ended:
    """Find out what a month's files are read as."""
    job, version = _job_of_all(task)
    survey_file.write(task.month_folder, version, surveyed(job))
    return Ended(ExitCode.DONE)


def _result(task: WorkTask) -> Ended:
    """Write a month's result as it stands, without sending anything."""
    job, _ = _month_job(task)
    finished = check_flow.check(_to_be_written(task, job), task.watch(lambda _: False))
    _note_written(task, finished)
    return Ended(finished.exit_code, task.teller.files)


def _to_be_written(task: WorkTask, job: Job) -> Job:
    """The job with the month's result, under a name that is free."""
    name = f"{job.inputs[0].stem.removesuffix('.result')}.result.xlsx"
    return replace(job, lang=task.asked["lang"], output=task.month_folder / "results" / name)


def _note_written(task: WorkTask, finished: Finished) -> None:
    task.teller.files = (finished.workbook.name,) if finished.workbook else ()
    for problem in finished.problems:
        task.teller.note(problem)


def _send(task: WorkTask) -> Ended:
    """Send a month's plan, if it is still the one that was confirmed, and keep its result."""
    job, _ = _month_job(task)
    said = task.asked["approval"]
    approval = Approval(
        said["digest"],
        said["approved_by"],
        datetime.datetime.fromtimestamp(said["approved_at"], datetime.UTC),
        said["proposed_by"],
        datetime.datetime.fromtimestamp(said["proposed_at"] or said["approved_at"], datetime.UTC),
        tuple(said["prepared_by"]),
    )
    job = replace(
        _to_be_written(task, job),
        approval=approval,
        stopped_by_file=work.stopper_file(task.folder, task.work.id),
    )
    finished = issue_flow.issue(job, task.watch(lambda plan: _is_confirmed(task, plan)))
    _note_written(task, finished)
    plan = PlanFacts.of(finished.result, job.profile, job.owner)
    write_rows(task.month_folder / "rows.sqlite", finished.result, plan.digest)
    how: months.Ending = "stopped" if finished.result.stopped else "sent"
    months.ended(task.folder, task.month, how, plan)
    return Ended(finished.exit_code, task.teller.files)


def _is_confirmed(task: WorkTask, plan: Plan) -> bool:
    """Whether this is the very plan that was looked at, whose sending begins then. Raises Declined where it is another."""
    if plan.digest != task.asked["approval"]["digest"]:
        raise Declined(
            "Nothing was sent: what would be sent is not what was confirmed any more (rows were issued meanwhile, or a day has passed)."
            " Look at the plan again."
        )
    said = message("began to send the plan {digest}", digest=plan.digest[:12])
    month_history.note(task.folder, task.month, task.work.by, said)
    task.teller.progress(Progress(len(plan.requests), Counter()))
    return True


_KINDS: dict[str, Callable[[WorkTask], Ended]] = {
    "judge": _judge,
    "survey": _survey,
    "send": _send,
    "result": _result,
    "reconcile": ledger_work.reconciled,
    "collect": collection_work.collected,
    "register": ledger_work.register,
    "ledger_check": ledger_work.ledger_check,
    "backup": ledger_work.backup,
    "gap": ledger_work.gap,
}


def do(handed: bytes, number: int) -> None:
    """Do a piece of work, and note how it ended; what is about a month as it stands goes on until it is.

    `handed` is what the server was started with.
    """
    settings: ServeSettings = pickle.loads(handed)  # noqa: S301 - from the process that began this one
    of = work.find(settings.folder, number)
    month = of.month if of.kind in ("judge", "survey") else None
    teller = Teller(settings.folder, number)
    while True:
        standing = months.find(settings.folder, month) if month else None
        version = standing.version if standing else None
        if work.end(settings.folder, number, _done(settings, of, teller), version):
            break
    signals.let_finish()
    work.judge_if_due(settings, of)


def note_interrupted(handed: bytes, number: int) -> None:
    """Note that a piece of work was stopped before it came to its end."""
    settings: ServeSettings = pickle.loads(handed)  # noqa: S301 - from the process that began this one
    of = work.find(settings.folder, number)
    said = {
        "send": message("Stopped before anything was sent."),
        "judge": message("The reading was stopped before its end; have the month judged again."),
    }
    problem = said.get(of.kind, message("Stopped before its end. Doing the same again is safe."))
    work.end(settings.folder, number, Ended(ExitCode.STOPPED, problem=problem))
    work.judge_if_due(settings, of)


def _done(settings: ServeSettings, of: Work, teller: Teller) -> Ended:
    """How the work ended."""
    try:
        task = WorkTask(of, work.asked_of(settings.folder, of.id), _job(settings, of), teller, settings)
        return _KINDS[of.kind](task)
    except Stop as stop:
        code, problem = stop.exit_code, stop.message
    except OSError as error:
        code = ExitCode.STOPPED
        problem = message(
            "{file} can't be read or written: {problem}.",
            file=Path(str(error.filename or "")).name,
            problem=system_error(error),
        )
    except Exception as error:  # noqa: BLE001 - a defect of ours: told as one, and the traceback to whoever mends it
        code = ExitCode.STOPPED
        problem = (
            NO_ROOM
            if is_full(error)
            else message(
                "This is a defect of the program (number {number} in the server's log); please report it. Doing the same again is safe.",
                number=log_defect(error),
            )
        )
    return Ended(code, teller.files, problem)


def _job(settings: ServeSettings, of: Work) -> Job:
    """The job that every piece of work is done with; the keys only where there is a carrier to send to."""
    return replace(
        settings.job,
        secrets=None if settings.sandbox or not settings.profile.carrier.base_url else load_secrets(),
        new_ledger=settings.new_ledger,
        operator=of.by,
        on_page=True,
    )
