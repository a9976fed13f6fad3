"""The way in and every way out: call the command, say how it ended, exit with its code."""

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from pipeline import signals
from pipeline.cli.commands import voucher
from pipeline.cli.language import chosen, of_locale, speak, wrong_usage
from pipeline.cli.stderr import Reader
from pipeline.model.errors import Stop
from pipeline.model.exit_code import ExitCode
from pipeline.model.message import message, system_error
from pipeline.process_hardening import protect_process


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command; every way it can end is an exit code of interface.md, and none a traceback."""
    protect_process()  # before any key is read
    reader = Reader()
    signals.heed()
    try:
        code = _ended(sys.argv[1:] if arguments is None else arguments, reader)
    except (click.Abort, KeyboardInterrupt):
        signals.let_finish()
        reader.stopped(message("Interrupted. Running the same command again is safe."))
        code = ExitCode.STOPPED
    _leave(code)


def _leave(code: int) -> NoReturn:
    """Exit with this code, here and now: all is closed, and to take a month of rows apart again takes its time.

    And where an interruption came while Python ran a text as code, as it does for every dataclass that is imported, it
    would end the process by SIGINT, whatever is made of the exception (PyRun_String, _Py_UnhandledKeyboardInterrupt).
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def _ended(arguments: Sequence[str], reader: Reader) -> int:
    """Run a command to its end and say how it ended; the exit code. Raises what an interruption raises."""
    try:
        try:
            reader.lang = of_locale(os.environ)
            reader.lang = chosen(arguments, os.environ)
            speak(reader.lang, voucher)
            code = voucher.main(arguments, prog_name="voucher", standalone_mode=False, obj=reader)
        finally:
            signals.let_finish()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else ExitCode.DONE
    except Stop as stop:
        reader.stopped(stop.message)
        return stop.exit_code
    except click.ClickException as error:
        click.echo(wrong_usage(error, reader.lang), err=True, nl=False)
        return ExitCode.WRONG_USAGE
    except click.Abort:
        raise
    except OSError as error:
        reader.stopped(
            message(
                "{file} can't be read or written: {problem}. Running the same command again is safe.",
                file=str(error.filename) if error.filename else message("a file"),
                problem=system_error(error),
            )
        )
        return ExitCode.STOPPED
    except Exception:  # noqa: BLE001 - a defect of ours is no finding about rows (1): the run stopped early
        from pipeline.cli.defect import print_defect  # noqa: PLC0415 - start-up: only a defect needs the keys here

        print_defect()
        reader.stopped(
            message(
                "This is a defect of the program; please report it. Running the same command again is safe."
            )
        )
        return ExitCode.STOPPED
    return code if isinstance(code, int) else ExitCode.DONE
