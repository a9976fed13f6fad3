"""The files that a run ends in: the result workbook and the report, each where it is asked for."""

from dataclasses import replace
from pathlib import Path

from pipeline.model.errors import Stop
from pipeline.model.job import Finished
from pipeline.model.result import RunResult
from pipeline.reporting.json_report import report, write_report


def write_results(result: RunResult, target: Path | None, path: Path | None) -> Finished:
    """Write what is asked for; a failure of one does not lose the other, and the ledger has it all."""
    finished = Finished(result)
    if target is not None:
        from pipeline.reporting.result_workbook import write_workbook  # noqa: PLC0415 - what writes workbooks takes long to load, and only -o asks a check for it

        try:
            finished = replace(finished, workbook=write_workbook(result, target))
        except Stop as problem:
            finished = replace(finished, problems=(problem.message,))
    if path is not None:
        try:
            write_report(report(result, finished.exit_code), path)
        except Stop as problem:
            finished = replace(finished, problems=(*finished.problems, problem.message))
    return finished
