"""A piece of the page's work, in a process of its own: `python -m pipeline.page.month_work --folder=… --ledger=… NUMBER`.

It runs the flows of `pipeline.run`, as the commands do, and writes how far it is and how it ended into the page's database, so that it
needs no server to be there. SIGTERM stops it as it stops `voucher issue`.
"""

import argparse
import datetime
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import orjson

from pipeline import signals
from pipeline.model.approval import Approval
from pipeline.model.corrections import Corrections
from pipeline.model.errors import Declined, InputProblem, Stop
from pipeline.model.exit_code import ExitCode
from pipeline.model.job import Finished, Job, Plan
from pipeline.model.message import Message, message, system_error
from pipeline.page import ledger_work, months, survey_file, work
from pipeline.page.defects import log_defect
from pipeline.page.page_database import transaction
from pipeline.page.plan_facts import PlanFacts
from pipeline.page.rows_file import write_rows
from pipeline.page.work_task import Ended, Teller, WorkTask
from pipeline.process_hardening import protect_process
from pipeline.profile_file import load_profile
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
        given = months.uploads(task.folder, task.month)
        corrected = _corrections(task.folder, task.month)
    at = task.month_folder
    inputs = tuple(one.path(at) for one in given if one.kind == "workbook")
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


def _corrections(folder: Path, month: str) -> Corrections:
    cells: dict[tuple[str, str, int], dict[str, str]] = {}
    for one in months.corrections(folder, month):
        cells.setdefault((one.file, one.sheet, one.line), {})[one.column] = one.value
    buyers = tuple(
        {name: str(value) for name, value in one.items() if name not in ("month", "at", "by")}
        for one in months.buyers(folder, month)
    )
    return Corrections(cells, buyers)


def _judge(task: WorkTask) -> Ended:
    """Judge a month, until what was judged is what stands: corrections may come while it is on."""
    while True:
        job, version = _month_job(task)
        try:
            finished = check_flow.check(job, task.watch(lambda _: False))
        except InputProblem as problem:
            months.judged(task.folder, task.month, version, problem.message)
            raise
        plan = PlanFacts.of(finished.result, job.profile, job.owner)
        write_rows(task.month_folder / "rows.sqlite", finished.result, plan.digest)
        months.judged(task.folder, task.month, version, plan)
        month = months.find(task.folder, task.month)
        if month is None or month.version == version:
            return finished.exit_code, ()


def _survey(task: WorkTask) -> Ended:
    """Find out what a month's files are read as, until it is those that stand."""
    while True:
        job, version = _month_job(task)
        survey_file.write(task.month_folder, version, surveyed(job))
        month = months.find(task.folder, task.month)
        if month is None or month.version == version:
            return ExitCode.DONE, ()


def _send(task: WorkTask) -> Ended:
    """Send a month's plan, if it is still the one that was confirmed, and keep its result."""
    job, _ = _month_job(task)
    said = task.asked["approval"]
    approval = Approval(
        said["digest"],
        said["approved_by"],
        datetime.datetime.fromtimestamp(said["approved_at"], datetime.UTC),
        said["proposed_by"],
        tuple(said["prepared_by"]),
    )
    results = task.month_folder / "results"
    job = replace(
        job,
        lang=task.asked["lang"],
        operator=task.work.by,
        approval=approval,
        stopped_by_file=work.stopper_file(task.folder, task.work.id),
        output=results / f"{job.inputs[0].stem.removesuffix('.result')}.result.xlsx",
    )
    finished = issue_flow.issue(job, task.watch(lambda plan: _is_confirmed(plan, approval.digest)))
    plan = PlanFacts.of(finished.result, job.profile, job.owner)
    write_rows(task.month_folder / "rows.sqlite", finished.result, plan.digest)
    how: months.Ending = "stopped" if finished.result.stopped else "sent"
    months.ended(task.folder, task.month, how, plan)
    for problem in finished.problems:
        task.teller.note(problem)
    return finished.exit_code, _written(finished)


def _is_confirmed(plan: Plan, digest: str) -> bool:
    """Whether this is the very plan that was looked at. Raises Declined where it is another."""
    if plan.digest != digest:
        raise Declined(
            "Nothing was sent: what would be sent is not what was confirmed any more (rows were issued meanwhile, or a day has passed)."
            " Look at the plan again."
        )
    return True


def _written(finished: Finished) -> tuple[str, ...]:
    return (finished.workbook.name,) if finished.workbook else ()


_KINDS: dict[str, Callable[[WorkTask], Ended]] = {
    "judge": _judge,
    "survey": _survey,
    "send": _send,
    "reconcile": ledger_work.reconciled,
    "register": ledger_work.register,
    "ledger_check": ledger_work.ledger_check,
    "backup": ledger_work.backup,
    "gap": ledger_work.gap,
}


def main() -> None:
    """Do the work that is asked for, and note how it ended."""
    protect_process()
    signals.heed()
    given = _given()
    teller = Teller(given.folder, given.number)
    with transaction(given.folder) as connection:  # after whoever began it has noted it
        asked = orjson.loads(connection.execute("SELECT asked FROM work WHERE id = ?", (given.number,)).get)
    of = work.find(given.folder, given.number)
    code, problem, files = ExitCode.STOPPED, Message(""), tuple[str, ...]()
    try:
        task = WorkTask(of, asked, _job(given), teller, given.folder)
        code, files = _KINDS[of.kind](task)
    except KeyboardInterrupt:
        problem = message("Stopped before anything was sent.")
    except Stop as stop:
        code, problem = stop.exit_code, stop.message
    except OSError as error:
        problem = message(
            "{file} can't be read or written: {problem}.",
            file=Path(str(error.filename or "")).name,
            problem=system_error(error),
        )
    except Exception as error:  # noqa: BLE001 - a defect of ours: told as one, and the traceback to whoever mends it
        number = log_defect(error)
        problem = message(
            "This is a defect of the program (number {number} in the server's log); please report it. Doing the same again is safe.",
            number=number,
        )
    finally:
        signals.let_finish()
    teller.ended(code, problem, files)
    os._exit(0)


def _given() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    for name in ("--folder", "--profile"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--ledger")
    parser.add_argument("--as-of", type=datetime.date.fromisoformat)
    for name in ("--sandbox", "--new-ledger"):
        parser.add_argument(name, action="store_true")
    parser.add_argument("number", type=int)
    return parser.parse_args(sys.argv[1:])


def _job(given: argparse.Namespace) -> Job:
    """The job that every piece of work is done with; the keys only where there is a carrier to send to."""
    profile = load_profile(given.profile)
    secrets = None if given.sandbox or not profile.carrier.base_url else load_secrets()
    return Job(
        (),
        profile,
        secrets,
        ledger=given.ledger,
        new_ledger=given.new_ledger,
        as_of=given.as_of,
        sandbox=given.sandbox,
    )


if __name__ == "__main__":
    main()
