"""What stands in which column: heading rows found and understood by the vocabulary."""

import difflib
import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.columns import BUYER_COLUMNS, COLUMNS
from pipeline.errors import InputProblem
from pipeline.reading.inputs import Sheet

#: Headings stand below a few title rows at most.
_TITLE_ROWS = 30

_UNIT = re.compile(r"[(\[][^()\[\]]*[)\]]$")


def folded(text: Any) -> str:
    """A word with case, width, spaces and separators taken away.

    >>> folded("Ticket Fare"), folded("refunded (no)")
    ('ticketfare', 'refunded(no)')
    """
    return re.sub(r"[\s_\-.:*]+", "", unicodedata.normalize("NFKC", str(text)).casefold())


def normal(text: Any) -> str:
    """A heading folded, without the unit that may stand in brackets behind it.

    >>> normal(" Ticket_No. "), normal("金额（元）"), normal("e-mail")
    ('ticketno', '金额', 'email')
    """
    word = folded(text)
    return _UNIT.sub("", word) or word


HEADINGS = {
    normal(word): column.name for column in COLUMNS for word in (column.name, column.zh, *column.variants)
}
CHOICE_WORDS = {
    column.name: {
        folded(word): choice.name
        for choice in column.choices
        for word in (choice.name, choice.zh, *choice.variants)
    }
    for column in COLUMNS
    if column.choices
}
_BUYER_NAMES = {column.name for column in BUYER_COLUMNS}


@dataclass(frozen=True)
class Layout:
    """Where a sheet's headings stand.

    `heading_row` is an index into the sheet's rows; `columns` maps a column's name to its position in
    a row; `extra` maps every other heading, as it stands, to its position.
    """

    heading_row: int
    columns: dict[str, int]
    extra: dict[str, int]

    def without(self, headings: Collection[str]) -> "Layout":
        """The same without extra columns of these headings."""
        extra = {heading: at for heading, at in self.extra.items() if heading not in headings}
        return Layout(self.heading_row, self.columns, extra)


def column_letters(position: int) -> str:
    """A column's letters as the spreadsheet program shows them, from position 0.

    >>> column_letters(0), column_letters(27)
    ('A', 'AB')
    """
    letters = ""
    position += 1
    while position:
        position, rest = divmod(position - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def cell_name(sheet: Sheet, row: int, column: int) -> str:
    """A cell as the spreadsheet program names it, from positions in `sheet.rows`."""
    return f"{column_letters(sheet.first_column + column)}{sheet.first_row + row + 1}"


def _layout(place: str, sheet: Sheet, row: int) -> Layout:
    columns: dict[str, int] = {}
    extra: dict[str, int] = {}
    width = max(len(cells) for cells in sheet.rows[row:])
    heading_cells = sheet.rows[row] + [""] * (width - len(sheet.rows[row]))
    for position, cell in enumerate(heading_cells):
        name = HEADINGS.get(normal(cell))
        if name in columns:
            first, second = cell_name(sheet, row, columns[name]), cell_name(sheet, row, position)
            raise InputProblem(
                f"{place}: {first} “{sheet.rows[row][columns[name]]}” and {second} “{cell}” both mean {name};"
                " rename or delete one of them"
            )
        if name:
            columns[name] = position
            continue
        heading = str(cell).strip()
        if not heading:
            if all(str(cells[position]).strip() == "" for cells in sheet.rows[row:] if position < len(cells)):
                continue
            heading = f"column {column_letters(sheet.first_column + position)}"
        unique, number = heading, 2
        while unique in extra:
            unique, number = f"{heading} ({number})", number + 1
        extra[unique] = position
    return Layout(row, columns, extra)


def find_layout(place: str, sheet: Sheet) -> Layout | None:
    """The sheet's headings, or None where it holds neither tickets nor buyers.

    A heading row of tickets names the ticket number and one other column at least; one of buyers
    names two buyer columns at least. Raises InputProblem if two headings mean one column.
    """
    for index, row in enumerate(sheet.rows[:_TITLE_ROWS]):
        known = {HEADINGS[word] for cell in row if (word := normal(cell)) in HEADINGS}
        if len(known) > 1 and ("ticket_no" in known or known <= _BUYER_NAMES):
            return _layout(place, sheet, index)
    return None


def looks_like_tickets(sheet: Sheet) -> bool:
    """Whether some row has headings of tickets, though no heading row was found: a slip to be told."""
    return any(
        len({HEADINGS[word] for cell in row if (word := normal(cell)) in HEADINGS}) > 2
        for row in sheet.rows[:_TITLE_ROWS]
    )


def nearest(text: Any) -> str:
    """The known heading that a text comes closest to, or "".

    >>> nearest("Ticket Numbr")
    'ticket number'
    """
    spelt = {normal(word): word for column in COLUMNS for word in (column.name, column.zh, *column.variants)}
    close = difflib.get_close_matches(normal(text), spelt, n=1, cutoff=0.75)
    return spelt[close[0]] if close else ""


def nothing_known(place: str, sheets: Sequence[Sheet]) -> InputProblem:
    """The error for a workbook in which no sheet has headings of tickets."""
    for sheet in sheets:
        for index, row in enumerate(sheet.rows[:_TITLE_ROWS]):
            for position, cell in enumerate(row):
                if isinstance(cell, str) and (close := nearest(cell)) and normal(cell) not in HEADINGS:
                    return InputProblem(
                        f"{place}, sheet {sheet.name}, cell {cell_name(sheet, index, position)}: “{cell}” is not a"
                        f" known heading; did you mean “{close}”?"
                    )
    seen = [
        str(cell).strip() for sheet in sheets for row in sheet.rows[:1] for cell in row if str(cell).strip()
    ]
    first = f"; the first row reads: {', '.join(seen[:8])}" if seen else ""
    return InputProblem(
        f"{place}: no sheet has the headings of tickets (ticket_no 票号 and others){first}. `voucher template` writes a"
        " workbook with the headings"
    )
