"""The way in and every way out: begin to read, load the commands and call one, exit with its code.

A command's workbook is what takes longest, so it is begun to be read before the commands are loaded; what is needed until then is
all that this module loads.
"""

import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from pipeline import signals
from pipeline.process_hardening import protect_process
from pipeline.reading.child_process import Opening, opened

#: The commands that read a workbook first (lazy_command.ReadingCommand).
READING = ("check", "issue")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command; every way it can end is an exit code of interface.md, and none a traceback."""
    protect_process()  # before any key is read
    signals.heed()
    # numpy's linear algebra, which nobody needs here, begins a thread for each processor, which keeps it busy for a tenth of a second.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    given = sys.argv[1:] if arguments is None else arguments
    begun = None
    try:
        begun = _begun(given)
        from pipeline.cli.command_line import ended  # noqa: PLC0415 - loaded while the workbook is read
        from pipeline.cli.stderr import Reader  # noqa: PLC0415 - likewise

        code = ended(given, Reader(begun=begun))
    except KeyboardInterrupt:
        signals.let_finish()
        from pipeline.cli.command_line import interrupted  # noqa: PLC0415 - it may have come before

        code = interrupted(given)
    finally:
        if begun:
            begun.end()
    _leave(code)


def _begun(arguments: Sequence[str]) -> Opening | None:
    """The workbook that stands behind the name of a command that reads one, being read; None where something else stands there."""
    if len(arguments) > 1 and arguments[0] in READING and not arguments[1].startswith("-"):
        return opened(Path(arguments[1]))
    return None


def _leave(code: int) -> NoReturn:
    """Exit with this code, here and now: all is closed, and to take a month of rows apart again takes its time.

    And where an interruption came while Python ran a text as code, as it does for every dataclass that is imported, it
    would end the process by SIGINT, whatever is made of the exception (PyRun_String, _Py_UnhandledKeyboardInterrupt).
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)
