"""Lines to a person in the language that the person asked for."""

from collections.abc import Callable
from dataclasses import dataclass

import click

from pipeline.cli.notice import say
from pipeline.messages.chinese import shown
from pipeline.model.columns import (
    LANGS,
    Lang,
)
from pipeline.model.message import Message


@dataclass
class Reader:
    """Who reads a command's lines; --lang says in which language, as soon as the command line is read.

    It outlives the command, so that what ends a command is told in the same language. `cells`: whether lines may quote
    cells; what cron mails may not.
    """

    lang: Lang = "en"
    cells: bool = True

    def tell(self, text: str | Message) -> None:
        """Say a line in that language, on stderr."""
        say(shown(text, self.lang))

    def stopped(self, text: str | Message) -> None:
        """Say why a command ended before its end."""
        say(f"voucher: {shown(text, self.lang, names=self.cells)}")


def teller(lang: Lang) -> Callable[[str | Message], None]:
    """What tells lines in a language, for those who have something to tell and know no language."""
    return Reader(lang).tell


def _heard(context: click.Context, _parameter: click.Parameter, lang: Lang) -> Lang:
    context.find_root().ensure_object(Reader).lang = lang
    return lang


LANG = click.option(
    "--lang", type=click.Choice(LANGS), default="en", show_default=True, callback=_heard, is_eager=True,
    help="Language of headings and messages in what is written.",
)  # fmt: skip
