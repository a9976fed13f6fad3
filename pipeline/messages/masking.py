"""Lines of ours without what they quote: what cron mails, and what is shown to everybody, names no person."""

import re

from pipeline.messages.translate import in_every_language
from pipeline.model.columns import BUYERS_SHEET, COLUMN, RECONCILIATION_SHEETS, RESULT_SHEETS, TICKETS_SHEET

#: From a quotation mark to the last that closes it: what is quoted may hold marks of its own.
_QUOTED = re.compile(r"“((?:[^”]|”(?=[^“]*”))*)”")
_OUR_QUOTES = {*COLUMN, "issued", "not issued", "XML Spreadsheet 2003"}
#: Sheets that nobody has named: those of our workbooks, and those that a spreadsheet program begins with.
_NOBODYS = "|".join(
    [
        *map(
            re.escape,
            {
                *in_every_language(TICKETS_SHEET, "sheet"),
                *in_every_language(BUYERS_SHEET, "sheet"),
                *RESULT_SHEETS,
                *RECONCILIATION_SHEETS,
            },
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
