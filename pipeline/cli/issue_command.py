"""`voucher issue`."""

import sys
from typing import Any

from pipeline.cli.console import Terminal
from pipeline.cli.job_options import job_from
from pipeline.reading.child_process import Opening
from pipeline.reporting.event_log import logged
from pipeline.run import issue as flow


def issue(*, yes: bool, begun: Opening | None, **given: Any) -> None:
    """Issue, say what came of it, exit."""
    terminal = Terminal(quiet=given["quiet"], verbose=given["verbose"], lang=given["lang"])
    with terminal.watch(yes=yes) as seen, logged(given["log_file"], "issue", seen) as watch:
        finished = flow.issue(job_from(given, needs_keys=True), watch, begun)
    terminal.finish(finished)
    sys.exit(finished.exit_code)
