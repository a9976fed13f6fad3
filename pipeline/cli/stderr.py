"""Lines to the person at the keyboard, or to cron's mail, on stderr, in the language that the person asked for.

Vouchers are issued whether anybody listens or not: a closed terminal, a full log disk or `| head` must
never stop a run that is sending, so a line that can't be written is let go.
"""

import contextlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from pipeline.messages.translate import rendered
from pipeline.model.columns import (
    LANGS,
    Lang,
)
from pipeline.model.message import Message
from pipeline.model.quoting import LONGEST, bounded, one_line
from pipeline.reading.child_process import Opening

_FOLDERS = re.compile(r"(?:/[^/\s]+){3,}(?=/[^/\s]+)")


def say(text: str) -> None:
    """Write one line; what a terminal would take for a command is left out of it, and what is too long, in its middle."""
    line = one_line(text)
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


@dataclass
class Reader:
    """Who reads a command's lines, and in which language (cli/language.py).

    It outlives the command, so that what ends a command is told in the same language. `cells`: whether lines may quote
    cells; what cron mails may not. `begun` is the command's workbook where it is being read already.
    """

    lang: Lang = "en"
    cells: bool = True
    begun: Opening | None = None

    def tell(self, text: Message) -> None:
        """Say a line in that language, on stderr."""
        say(rendered(text, self.lang))

    def stopped(self, text: Message) -> None:
        """Say why a command ended before its end."""
        say(f"voucher: {rendered(text, self.lang, names=self.cells)}")


def teller(lang: Lang) -> Callable[[Message], None]:
    """What tells lines in a language, for those who have something to tell and know no language."""
    return Reader(lang).tell


def reader() -> Reader:
    """Who reads the lines of the command that is called."""
    return click.get_current_context().find_root().ensure_object(Reader)


def _lang(*, exposed: bool) -> Callable[[click.decorators.FC], click.decorators.FC]:
    return click.option(
        "--lang", type=click.Choice(LANGS), default=lambda: reader().lang, expose_value=exposed,
        help="Language of headings and messages; env VOUCHER_LANG; default: Chinese where the locale is zh_*, else English.",
    )  # fmt: skip


LANG = _lang(exposed=True)
#: The same before a command's name, or where help alone is asked for.
LANG_OF_ALL = _lang(exposed=False)
