"""`voucher check`."""

import sys
from typing import Any

from pipeline.cli.console import Terminal
from pipeline.cli.job_options import job_from
from pipeline.reading.child_process import Opening
from pipeline.reporting.event_log import logged
from pipeline.run import check as flow


def check(*, begun: Opening | None, **given: Any) -> None:
    """Check, say what came of it, exit."""
    terminal = Terminal(quiet=given["quiet"], verbose=given["verbose"], lang=given["lang"])
    with terminal.watch(yes=True) as seen, logged(given["log_file"], "check", seen) as watch:
        finished = flow.check(job_from(given, needs_keys=None), watch, begun)
    terminal.finish(finished)
    sys.exit(finished.exit_code)
