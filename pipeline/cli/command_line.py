"""A command line called: how it ended, in a line on stderr where there is something to say, and as an exit code."""

import contextlib
import os
from collections.abc import Sequence

import click

from pipeline import signals
from pipeline.cli.commands import voucher
from pipeline.cli.language import chosen, of_locale, speak, wrong_usage
from pipeline.cli.stderr import Reader
from pipeline.model.errors import InputProblem, Stop
from pipeline.model.exit_code import ExitCode
from pipeline.model.message import message, system_error


def ended(arguments: Sequence[str], reader: Reader) -> int:
    """Run a command to its end and say how it ended; the exit code. Raises KeyboardInterrupt."""
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
        raise KeyboardInterrupt from None
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


def interrupted(arguments: Sequence[str]) -> int:
    """Say that a command was interrupted; the exit code."""
    reader = Reader(of_locale(os.environ))
    with contextlib.suppress(InputProblem):
        reader.lang = chosen(arguments, os.environ)
    reader.stopped(message("Interrupted. Running the same command again is safe."))
    return ExitCode.STOPPED
