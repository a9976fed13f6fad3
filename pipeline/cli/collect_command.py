"""`voucher collect`."""

import datetime
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.cli.console import Terminal
from pipeline.cli.job_options import job_from
from pipeline.cli.stderr import listening, reader, say, teller
from pipeline.model.errors import InputProblem
from pipeline.model.exit_code import ExitCode
from pipeline.model.job import Job
from pipeline.model.message import N_, Message, counted, message
from pipeline.reporting.words_collection import collected_lines
from pipeline.run.collect import Collecting, verified
from pipeline.run.collect import collect as collected

#: What a job has that collecting has no options for.
_NOT_ASKED = {
    "workbooks": (), "concurrency": None, "rate": None, "sandbox_statement": None, "new_ledger": False, "buyers": None, "columns": None,
}  # fmt: skip
#: Options that say how files are collected; of the archive's the environment may have one.
_COLLECTING = ("month", "output", "report")
_MOST = 20  # files of an archive that are named


def collect(
    paths: tuple[Path, ...],
    *,
    mailbox: str | None,
    archive: Path | None,
    since: datetime.datetime | None,
    verify: Path | None,
    **given: Any,
) -> None:
    """Collect, say what needs a person, exit; or compare an archive."""
    reader().cells = listening()
    if verify:
        _check_alone(
            {"PATH": paths, "--mailbox": mailbox, "--since": since}
            | {f"--{one}": given[one] for one in _COLLECTING}
        )
    job = job_from(_NOT_ASKED | given, needs_keys=False)
    if job.throw_away:
        raise InputProblem("--sandbox goes with --ledger: files are collected for a ledger that is kept")
    terminal = Terminal(quiet=given["quiet"], verbose=False, lang=job.lang, cells=listening())
    if verify:
        _verify(job, verify)
    if not (paths or mailbox):
        raise InputProblem("Nothing to collect: name files or folders, or a mailbox with --mailbox")
    day = since.date() if since else None
    asked = Collecting(paths, given["by"], archive, given["month"] or "", day, mailbox or "")
    with terminal.watch(yes=True) as watch:
        finished = collected(job, asked, watch)
    if not given["quiet"] or finished.exit_code:
        for line in collected_lines(finished.said, names=listening()):
            say(line)
        terminal.say_files(finished.problems, (finished.workbook,))
    sys.exit(finished.exit_code)


def _check_alone(given: Mapping[str, object]) -> None:
    """Raise InputProblem where something is asked for that comparing an archive does not do."""
    if asked := [name for name, value in given.items() if value]:
        raise InputProblem(
            "--verify only compares an archive, and collects and writes nothing: leave out {options}",
            options=", ".join(asked),
        )


def _verify(job: Job, folder: Path) -> None:
    """Compare an archive with the ledger, say what is not as it was, exit."""
    tell = teller(job.lang)
    found = verified(job, folder, tell)
    for what, paths in (
        (N_("missing in the archive (collect its mail again, and it is put back): {paths}"), found.missing),
        (
            N_("changed since it was kept (collect its mail again, and it is put back): {paths}"),
            found.altered,
        ),
        (N_("can't be read: {paths}"), found.unreadable),
        (
            N_("in the archive, and not in the ledger (move it out, and collect it from there): {paths}"),
            found.unlisted,
        ),
    ):
        for path in paths[:_MOST]:
            tell(Message(what, {"paths": path}))
        if len(paths) > _MOST:
            tell(Message(what, {"paths": message("… and {count} more", count=len(paths) - _MOST)}))
    tell(
        counted(
            "Archive {folder}: {count} file is as it was kept",
            "Archive {folder}: {count} files are as they were kept",
            found.intact,
            folder=str(folder),
        )
    )
    wrong = found.missing or found.altered or found.unreadable or found.unlisted
    sys.exit(ExitCode.NEEDS_PERSON.where(wrong))
