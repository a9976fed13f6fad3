"""Lines to a person in the language that the person asked for."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import click

from pipeline.cli.notice import say
from pipeline.messages.chinese import in_language
from pipeline.model.columns import (
    BUYERS_SHEET,
    COLUMN,
    LANGS,
    RECONCILIATION_SHEETS,
    RESULT_SHEETS,
    TICKETS_SHEET,
    Lang,
)

#: From a quotation mark to the last that closes it: what is quoted may hold marks of its own.
_QUOTED = re.compile(r"“((?:[^”]|”(?=[^“]*”))*)”")
_OUR_QUOTES = {*COLUMN, "issued", "not issued", "XML Spreadsheet 2003"}
#: Sheets that nobody has named: those of our workbooks, and those that a spreadsheet program begins with.
_NOBODYS = "|".join(
    [
        *map(
            re.escape,
            {*TICKETS_SHEET.values(), *BUYERS_SHEET.values(), *RESULT_SHEETS, *RECONCILIATION_SHEETS},
        ),
        "(?:Sheet|工作表)[0-9]+",
    ]
)
_AFTER_SHEET = r"(?=, cell |: |, row | is hidden| has no headings| was not read| spans | reaches |$)"
#: Where a line names sheets: before what is said of one, in its place, and in a list.
_SHEETS = (
    (
        re.compile(rf"(?:(?<=: )|(?<=, )|(?<=\()|^)sheet (?!(?:{_NOBODYS}){_AFTER_SHEET}).+?{_AFTER_SHEET}"),
        "sheet …",
    ),
    (re.compile(rf"(?<=\.)(\w{{2,5}}), (?!sheet |(?:{_NOBODYS}), row ).+?, (row [0-9]+)"), r"\1, …, \2"),
    (re.compile(r"\(sheets: .*\)"), "(sheets: …)"),
    (re.compile(r"(?<=hidden sheets alone )\(.*\)"), "(…)"),
)


def without_cells(text: str) -> str:
    """A line of ours, in English, without the texts of cells and the names of sheets that it quotes: they may name people.

    The names of sheets that nobody has named stay.

    >>> without_cells("may.xlsx, sheet 王小明, cell A1: “李晓红” is not a known heading; did you mean “ticket_no”?")
    'may.xlsx, sheet …, cell A1: “…” is not a known heading; did you mean “ticket_no”?'
    >>> without_cells("list.csv, 王小明, row 3")
    'list.csv, …, row 3'
    >>> without_cells("may.xlsx, Tickets, row 3"), without_cells("may.xlsx: sheet Sheet1 is hidden"), without_cells("sheet Sheet1 b: no")
    ('may.xlsx, Tickets, row 3', 'may.xlsx: sheet Sheet1 is hidden', 'sheet …: no')
    """
    text = _QUOTED.sub(lambda found: found[0] if found[1] in _OUR_QUOTES else "“…”", text)
    for pattern, hidden in _SHEETS:
        text = pattern.sub(hidden, text)
    return text


@dataclass
class Reader:
    """Who reads a command's lines; --lang says in which language, as soon as the command line is read.

    It outlives the command, so that what ends a command is told in the same language. `cells`: whether lines may quote
    cells; what cron mails may not.
    """

    lang: Lang = "en"
    cells: bool = True

    def tell(self, text: str) -> None:
        """Say a line in that language, on stderr."""
        say(in_language(text, self.lang))

    def stopped(self, text: str) -> None:
        """Say why a command ended before its end."""
        say(f"voucher: {in_language(text if self.cells else without_cells(text), self.lang)}")


def teller(lang: Lang) -> Callable[[str], None]:
    """What tells lines in a language, for those who have something to tell and know no language."""
    return Reader(lang).tell


def _heard(context: click.Context, _parameter: click.Parameter, lang: Lang) -> Lang:
    context.find_root().ensure_object(Reader).lang = lang
    return lang


LANG = click.option(
    "--lang", type=click.Choice(LANGS), default="en", show_default=True, callback=_heard, is_eager=True,
    help="Language of headings and messages in what is written.",
)  # fmt: skip
