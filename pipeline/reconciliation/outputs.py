"""What a reconciliation writes, its workbook, a result of each file and the report, and where they go."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pipeline.model.errors import InputProblem, Stop
from pipeline.model.job import Task
from pipeline.model.message import Message
from pipeline.reconciliation.resubmit import Again
from pipeline.reconciliation.result_changes import fates
from pipeline.reporting.json_report import reconciled_report, write_report
from pipeline.reporting.output_paths import check_folder, check_report_path, free_path
from pipeline.reporting.reconciliation_workbook import write_reconciliation
from pipeline.reporting.result_workbook import write_workbook
from pipeline.settlement.reconciliation_result import Reconciled, Reconciliation

#: Bytes; a file's name has 255 on the file systems there are, and a number and an ending come behind.
_LONGEST_STEM = 220


def reconciliation_path(task: Task) -> Path:
    """Where the reconciliation workbook goes: -o, else the outbox, else beside the first file that was named.

    Raises InputProblem where nothing can be written, before anything is done.
    """
    job = task.job
    if task.inbox is not None and task.outbox is not None:
        if task.outbox.resolve() == task.inbox.resolve():
            raise InputProblem(
                "--outbox {folder}: is the inbox itself; name another folder", folder=str(task.outbox)
            )
        check_folder(task.outbox / "result.xlsx")
    elif task.inbox is not None or task.outbox is not None:
        raise InputProblem("--inbox and --outbox go together: name both folders")
    if job.report:
        check_report_path(job.report)
    if job.output:
        return free_path(job.output)
    if task.outbox is not None:
        name = f"{task.month or job.terms.as_of}.reconciliation.xlsx"
        return free_path(task.outbox / name)
    first = next(iter((*job.inputs, *task.statements, *task.resolved)), None)
    if first is None:
        return free_path(Path("reconciliation.xlsx"))
    folder, name = (first, first.resolve().name) if first.is_dir() else (first.parent, first.name)
    stem = name if first.is_dir() else Path(name).stem
    stem = stem.removesuffix(".result").removesuffix(".reconciliation")
    return free_path(folder / f"{stem}.reconciliation.xlsx")


def written(task: Task, said: Reconciliation, done: Sequence[Again], target: Path) -> Reconciled:
    """Write everything; a failure of one does not lose the others, and the ledger has it all."""
    problems = list[Message]()
    results: dict[Path, Path] = {}
    unwritten: set[Path] = set()
    for one in done:
        path = one.batch.path
        before = one.batch.before
        if path is None or task.outbox is None or (before is not None and before.fates == fates(one.result)):
            continue
        try:
            wanted = free_path(task.outbox / f"{_stem(path)}.result.xlsx")
            results[path] = write_workbook(one.result, wanted)
        except Stop as problem:
            problems.append(problem.message)
            unwritten.add(path)
    workbook = None
    # A night on which there was nothing to compare leaves nothing behind, unless a workbook was asked for.
    if task.job.output or task.outbox is None or said.entries or said.result.doubts or said.decided.troubles:
        try:
            workbook = write_reconciliation(said, target)
        except Stop as problem:
            problems.append(problem.message)
    finished = Reconciled(said, workbook, results, tuple(problems), frozenset(unwritten))
    if task.job.report:
        try:
            write_report(reconciled_report(said, finished.exit_code), task.job.report)
        except Stop as problem:
            finished = replace(finished, problems=(*problems, problem.message))
    return finished


def _stem(path: Path) -> str:
    """A name for a file's result: its own, as far as a file's name may be long and a text."""
    stem = path.name.removesuffix(path.suffix).removesuffix(".result").encode(errors="replace").decode()
    while len(stem.encode()) > _LONGEST_STEM:
        stem = stem[:-1]
    return stem
