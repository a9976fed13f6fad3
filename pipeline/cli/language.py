"""The language that a command speaks, known before its command line is read: then click's own words are in it too.

click takes its words ("Usage:", "Missing argument", …) by gettext from the domain "messages" of the language that the
environment names; our catalogue (messages/zh.po) holds them beside ours.
"""

import gettext
import inspect
import io
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from pipeline import messages
from pipeline.model.columns import LANGS, Lang
from pipeline.model.errors import InputProblem
from pipeline.model.message import N_
from pipeline.model.text_width import is_wide

_NAMED: Mapping[str, Lang] = {lang: lang for lang in LANGS}
_LOCALE = (
    "LC_ALL",
    "LC_MESSAGES",
    "LANG",
)  # the first that is set counts (POSIX, Internationalization Variables)
_HALF = "\u200b"  # a character without any width: the second half of a wide one
#: Words of click's that it does not translate.
_FIXED = (N_("integer range"), N_("float range"), N_("[OPTIONS]"), N_("COMMAND [ARGS]..."))


def of_locale(environment: Mapping[str, str]) -> Lang:
    """Chinese where the locale is zh_*, else English."""
    locale = next(filter(None, map(environment.get, _LOCALE)), "")
    return "zh" if locale.startswith("zh") else "en"


def chosen(arguments: Sequence[str], environment: Mapping[str, str]) -> Lang:
    """The language of --lang, else of VOUCHER_LANG, else Chinese where the locale is zh_*, else English.

    What --lang can't be is left to click. Raises InputProblem for what VOUCHER_LANG can't be.
    """
    asked = None
    for before, text in zip(["", *arguments], arguments, strict=False):
        if text == "--":
            break
        option, _, value = text.partition("=")
        asked = _NAMED.get(text) if before == "--lang" else _NAMED.get(value) if option == "--lang" else asked
    if asked:
        return asked
    if named := environment.get("VOUCHER_LANG"):
        if named not in _NAMED:
            raise InputProblem(
                "VOUCHER_LANG {value}: is none of our languages; set it to en or zh", value=named
            )
        return _NAMED[named]
    return of_locale(environment)


def wrong_usage(error: click.ClickException, lang: Lang) -> str:
    """What click says of how a command was called; it ends what is missing with an English full stop, whatever the language."""
    shown = io.StringIO()
    error.show(shown)
    said = shown.getvalue()
    return said if lang == "en" else re.sub(r"(?<=')\.$", "。", said.rstrip()) + "\n"


def speak(lang: Lang, command: click.Command) -> None:
    """Let click speak this language, and the help of a command and of all below it."""
    os.environ["LANGUAGE"] = lang
    gettext.bindtextdomain("messages", str(Path(messages.__file__).parent))
    if lang != "en":
        _translate(command)


def _translate(command: click.Command) -> None:
    """Put into words what was written down when the commands were declared, before any language was chosen."""
    command.context_class = _Context
    command.options_metavar = _in_words(command.options_metavar)
    command.help, command.epilog = _in_words(command.help), _in_words(command.epilog)
    command.short_help = (command.help or "").partition("\n")[0]  # click's own ends with an English full stop
    for parameter in command.params:
        parameter.type.name = gettext.gettext(parameter.type.name)
        if isinstance(parameter, click.Option):
            parameter.help = _in_words(parameter.help)
    if isinstance(command, click.Group):
        command.subcommand_metavar = gettext.gettext(command.subcommand_metavar)
        for below in command.commands.values():
            _translate(below)


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text, each on one line, as the catalogues have them."""
    return [" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n")]


def _in_words(text: str | None) -> str | None:
    """A text in the language, as wide for click, which counts characters, as it is on a terminal."""
    if not text:
        return text
    said = "\n\n".join(map(gettext.gettext, paragraphs(text)))
    return "".join(f"{each}{_HALF}" if is_wide(each) else each for each in said)


class _Formatter(click.HelpFormatter):
    def write(self, string: str) -> None:
        super().write(string.replace(_HALF, ""))

    def write_heading(self, heading: str) -> None:
        self.write(f"{'':>{self.current_indent}}{heading}：\n")


class _Context(click.Context):
    formatter_class = _Formatter
