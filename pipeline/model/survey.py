"""What workbooks are read as, before anything is judged: sheets, headings and values, what is missing, and what is to be asked.

A reader's survey of a workbook is values; the command prints it and writes the mapping that follows from it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pipeline.model.message import Fact, Message

Use = Literal["tickets", "buyers", "unheaded", "left_out", "unreadable"]


@dataclass(frozen=True)
class HeadingUse:
    """A heading as it stands, with its cell, and the column that it is taken for, "" if it is carried along.

    `may_mean` are the columns of which it may be any, where that is not certain. `samples` are some of its values as text.
    `plain`: a mapping may say the same of it without a reader's doubts being silenced (ambiguous_amounts.py).
    """

    cell: str
    heading: str
    column: str = ""
    may_mean: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()
    plain: bool = True


@dataclass(frozen=True)
class ValueUse:
    """A value of a column of choices with the number of rows that have it, and the choice that it means, "" if it is not known.

    `close` are the choices whose words come close to it. An order type means what a mapping, or its name, says of its rows.
    """

    column: str
    text: str
    rows: int
    choice: str = ""
    close: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lack:
    """A column in which rows lack something: how many, and the first of them; "missing" or "unreadable"."""

    column: str
    rows: int
    first_row: int
    kind: Literal["missing", "unreadable"]


@dataclass(frozen=True)
class SheetUse:
    """A sheet: what it is used as, the row of its headings (0: none), its input rows, and all that is to be told of it."""

    file: str
    sheet: str
    use: Use
    heading_row: int = 0
    rows: int = 0
    headings: tuple[HeadingUse, ...] = ()
    values: tuple[ValueUse, ...] = ()
    notes: tuple[Message, ...] = ()
    lacks: tuple[Lack, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A line of a mapping: its section, such as ("values", "market"), its key, and what it says."""

    section: tuple[str, ...]
    key: str
    value: str | bool


@dataclass(frozen=True)
class Answer:
    """One answer to a question, and the lines that a mapping has by it; none: all stays as it is."""

    said: Fact
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Question:
    """What the workbooks do not say by themselves."""

    asked: Message
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class Survey:
    """All sheets, what stops the workbooks from being read, what is to be asked, and the lines of the mapping that are certain."""

    sheets: Sequence[SheetUse]
    problems: Sequence[Message]
    questions: Sequence[Question]
    entries: Sequence[Entry]
