"""What every run reads first."""

from pathlib import Path

from pipeline.model.job import Job, Watch
from pipeline.model.message import counted
from pipeline.model.table import Table
from pipeline.reading.child_process import Opening
from pipeline.reading.columns_file import load_map
from pipeline.reading.input_files import workbook_files
from pipeline.reading.tickets import ReadOptions, read_table
from pipeline.reporting.events import log_read
from pipeline.reporting.output_paths import check_report_path


def read(job: Job, watch: Watch, begun: Opening | None = None) -> tuple[list[Path], Table]:
    """The files and their Table; whatever can be refused before reading is refused first."""
    if job.report:
        check_report_path(job.report)
    options = ReadOptions(load_map(job.columns), job.profile.carrier.currency, job.corrections)
    files = workbook_files(job.inputs, watch.note)
    table = read_table(files, job.buyers, options, begun)
    log_read(watch.log, table)
    for warning in table.warnings:
        watch.warn(warning)
    for note in table.notes:
        watch.note(note)
    watch.note(
        counted(
            "Read {rows} rows from {count} workbook",
            "Read {rows} rows from {count} workbooks",
            len(files),
            rows=len(table),
        )
    )
    return files, table
