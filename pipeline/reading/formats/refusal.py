"""What ends the reading of one file: a code that the parent has a cure for, and what was seen; and how the parent asks."""

from enum import StrEnum
from typing import Any

from pipeline.model.message import N_

#: The child's second argument, where it is to look exactly.
EXACTLY = "exactly"


class Seen(StrEnum):
    """What was seen in a file that is not read, within the parent's sentence about it.

    The process that reads the file names one of these to the parent, which takes no other text for ours.
    """

    # What it is instead.
    PDF = N_("a PDF document")
    TEXT_DOCUMENT = N_("a text document")
    PRESENTATION = N_("a presentation")
    PICTURE = N_("a picture")
    ARCHIVE = N_("an archive")
    SYLK = N_("a SYLK file")
    DATABASE = N_("a database")
    BEFORE_1997 = N_("an Excel file from before 1997")
    XML_2003 = N_("an “XML Spreadsheet 2003”")

    # Damaged.
    CUT_OFF = N_("it is cut off, or its parts do not fit together")
    RECORDS = N_("its records do not fit together")
    PARTS = N_("it holds {count} parts")
    ONE_NAME = N_("it holds two parts of one name")
    DECLARES_LESS = N_("a part of it unpacks to more than it declares")
    PACKED_OTHERWISE = N_("a part of it is packed in a way that spreadsheet programs do not use")
    REPEATED_ROW = N_("a row of it is repeated beyond all bounds")
    STUMBLED = N_("the workbook reader stumbled over it")
    NO_ANSWER = N_("the reader's answer does not fit together")
    ENDED = N_("the reader ended with {code}")
    TEXT_ENDS = N_("its text breaks off at byte {byte}")
    NUL_BYTES = N_("it holds NUL bytes")
    LONG_CELL = N_("a cell in line {line} of it is longer than a cell can be")
    LINE = N_("its quotes and commas do not fit together in line {line}")
    SWALLOWED = N_(
        "a quotation mark makes lines {line} to {last} one cell, {cell}, with other tickets' rows in it"
    )
    PARTED = N_(
        "line {line} has more cells than the headings, and two of them may be one amount that its own comma parted"
    )
    CELL_AT = N_("a cell of it is in row {row}, column {column}")
    CELL_CALLED = N_("a cell of it is called {name}")
    DIVIDED = N_("its values are divided by comments or the like, which no spreadsheet program writes")
    NOT_UTF_8 = N_("its XML is not UTF-8")
    SHEET_LIST = N_("its list of sheets breaks off at line {line}, column {column}")
    SHEET_XML = N_("a sheet of it breaks off at line {line}, column {column}")

    # Too large.
    BYTES = N_("it has {count} bytes")
    MEMORY = N_("it takes more memory than a file of its size may")
    TIME = N_("it took longer than {seconds} seconds")
    LARGE_PART = N_("its part {name} is larger than any program writes it")
    UNPACKS_TO = N_("{packed} bytes unpack to {unpacked} or more")
    SHEETS_SPAN = N_("its sheets span {count} cells")
    SHEET_SPANS = N_("sheet {sheet} spans {count} cells")
    SPANS = N_("it spans {count} cells")
    CELLS = N_("it holds more than {count} cells")
    ROW_CELLS = N_("a row of it holds {count} cells")
    REPEATED_CELL = N_("one cell with {value} is repeated {count} times")

    # Cells far from all others.
    FAR_CELLS = N_("sheet {sheet} holds {cells} far from all others")
    REACHES = N_("sheet {sheet} reaches to row {row} and column {column} for {count} filled cells")

    # An encoding that can't be told.
    BYTE = N_("byte {byte}")


class Refusal(Exception):
    """A file that is not read: a code that the parent has words and a cure for, and what was seen.

    What is none of ours, such as what another program says, is told as it is.
    """

    def __init__(self, code: str, seen: Seen | str = "", /, **facts: str | int) -> None:
        super().__init__(code, seen, facts)
        self.code, self.seen, self.facts = code, seen, facts

    def answer(self) -> dict[str, Any]:
        """What the parent is told."""
        return {"problem": self.code, "detail": str(self.seen), "facts": self.facts}
