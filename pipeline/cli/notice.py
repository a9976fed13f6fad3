"""A line to the person at the keyboard, or to cron's mail, on stderr.

Vouchers are issued whether anybody listens or not: a closed terminal, a full log disk or `| head` must
never stop a run that is sending, so a line that can't be written is let go.
"""

import contextlib
import re
import sys
from pathlib import Path

import click

from pipeline.model.quoting import LONGEST, bounded

_FOLDERS = re.compile(r"(?:/[^/\s]+){3,}(?=/[^/\s]+)")


def say(text: str) -> None:
    """Write one line; what a terminal would take for a command is left out of it, and what is too long, in its middle."""
    line = "".join(character if character.isprintable() else " " for character in text)
    line = bounded(_with_short_paths(line) if len(line) > LONGEST else line)
    with contextlib.suppress(OSError, ValueError):
        if sys.stderr is not None:
            click.echo(line, err=True)


def _with_short_paths(line: str) -> str:
    """A line with paths from the working folder, or from home: as good as whole ones; else without their folders."""
    with contextlib.suppress(OSError, RuntimeError):
        line = line.replace(f"{Path.cwd()}/", "").replace(f"{Path.home()}/", "~/")
    return _FOLDERS.sub("…", line) if len(line) > LONGEST else line


def listening() -> bool:
    """Whether stderr is a terminal that a bar can be drawn on."""
    with contextlib.suppress(OSError, ValueError):
        return sys.stderr is not None and sys.stderr.isatty()
    return False


def asking() -> bool:
    """Whether somebody can be asked: stdin and stderr are terminals."""
    with contextlib.suppress(OSError, ValueError):
        return listening() and sys.stdin is not None and sys.stdin.isatty()
    return False
