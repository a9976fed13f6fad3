"""The lines of a carrier's statement: which rows of a sheet are lines, and their cells by column."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from pipeline.model.message import Message
from pipeline.model.places import row_at
from pipeline.model.profile import Profile
from pipeline.reading import cells
from pipeline.reading.cell_words import CHOICE_WORDS, folded
from pipeline.reading.currency_columns import OtherCurrency, other_currencies
from pipeline.reading.heading_rows import Layout
from pipeline.reading.sheet import Sheet, is_blank
from pipeline.reading.statement_made_at import times_made
from pipeline.reading.ticket_number import ticket_no
from pipeline.reading.totals_and_footers import is_footer, is_total
from pipeline.reading.unreadable import Unreadable

#: Columns of vouchers' numbers, and the kind of voucher that each is for.
NUMBERS = {"number": "", "invoice_number": "invoice", "itinerary_number": "itinerary"}
#: More digits than these a spreadsheet's number does not keep.
EXACT_DIGITS = 15
_ANY_ZONE = ZoneInfo("UTC")


@dataclass(frozen=True)
class Words:
    """The words that a statement's cells may have: for charges and products ours and the carrier's codes, its currency."""

    charges: Mapping[str, str]
    products: Mapping[str, str]
    currency: str

    @classmethod
    def of(cls, profile: Profile) -> "Words":
        """Those of this carrier."""
        fees, products = profile.codes.fee_type, profile.codes.product_type
        return cls(
            {**CHOICE_WORDS["charge"], **{folded(code): name for name, code in fees.items() if code}},
            {**CHOICE_WORDS["product"], **{folded(code): name for name, code in products.items() if code}},
            profile.carrier.currency,
        )


@dataclass(frozen=True)
class Page:
    """A sheet of a statement, with its headings and the words that its cells may have."""

    path: Path
    sheet: Sheet
    layout: Layout
    words: Words

    @cached_property
    def spoilt(self) -> frozenset[str]:
        """The columns in which a spreadsheet rounded the numbers before they were saved as text: all of the long ones."""
        found, below = set(), self._below
        for name in (*NUMBERS, "original_number"):
            at = self.layout.columns.get(name)
            column = [row[at] for row in below if at is not None and at < len(row)]
            long = [text for text in map(long_number, column) if text]
            if len(long) > 1 and not any(text[EXACT_DIGITS:].strip("0") for text in long):
                found.add(name)
        return frozenset(found)

    def place(self, index: int) -> Message:
        """Where a row stands."""
        return row_at(self.path.name, self.sheet.name, self.sheet.first_row + index + 1)

    @cached_property
    def in_others(self) -> Mapping[int, OtherCurrency]:
        """The cells that say another currency than the carrier's, by row of the sheet."""
        rows = np.arange(self.layout.heading_row + 1, self.sheet.height)
        found = other_currencies(self.sheet, self.layout, {}, rows, self.words.currency)
        return {int(rows[at]): other for at, other in found.items()}

    @property
    def _below(self) -> Sequence[list[Any]]:
        return self.sheet.rows[self.layout.heading_row + 1 :]

    def lines(self) -> Iterator["Line"]:
        """Its lines, without totals, signatures and headings that are repeated."""
        for index, row in enumerate(self._below, start=self.layout.heading_row + 1):
            line = Line(self, index, row)
            if not line.says_nothing:
                yield line


class BadCell(Exception):
    """What is wrong with a line: in which column, and why."""

    def __init__(self, column: str, problem: Message) -> None:
        super().__init__(column, problem)
        self.column, self.problem = column, problem


@dataclass(frozen=True)
class Line:
    """A line of a page, with its cells."""

    page: Page
    index: int  # among the sheet's rows
    row: Sequence[Any]

    @property
    def place(self) -> Message:
        """Where it stands."""
        return self.page.place(self.index)

    @property
    def says_nothing(self) -> bool:
        """Whether it is no line of the statement's: blank, a total, a signature, headings again, when it was made."""
        if all(map(is_blank, self.row)) or self._repeats_headings:
            return True
        unnumbered = all(is_blank(self.get(name)) for name in NUMBERS)
        if unnumbered and (is_total(self.row, self.page.layout) or is_footer(self.row)):
            return True
        return not has_ticket(self.row, self.page.layout) and any(times_made(self.row, _ANY_ZONE))

    @property
    def _repeats_headings(self) -> bool:
        """As printed statements do on every page."""
        layout = self.page.layout
        at = layout.columns["ticket_no"]
        return at < len(self.row) and folded(self.row[at]) in layout.words.get(at, ())

    def get(self, name: str) -> Any:
        """The cell of a column, "" where there is none; a number that a spreadsheet rounded is a number again."""
        cell = _cell(self.row, self.page.layout, name)
        return float(long_number(cell)) if name in self.page.spoilt and long_number(cell) else cell

    def blank(self, name: str) -> bool:
        """Whether nothing stands in a column."""
        return is_blank(self.get(name))

    def cell_name(self, column: str) -> str:
        """The cell of a column, as the spreadsheet program names it."""
        return self.page.sheet.cell_name(self.index, self.page.layout.columns[column])


def has_ticket(row: Sequence[Any], layout: Layout) -> bool:
    """Whether a row holds a ticket's number in its column."""
    try:
        return bool(ticket_no(cells.value(_cell(row, layout, "ticket_no"))))
    except Unreadable:
        return False


def _cell(row: Sequence[Any], layout: Layout, name: str) -> Any:
    at = layout.columns.get(name)
    return row[at] if at is not None and at < len(row) else ""


def long_number(cell: Any) -> str:
    """A number that a spreadsheet can't keep; "" for another cell."""
    text = re.sub(r"\s", "", cells.text(cell))
    return text if re.fullmatch(f"[1-9][0-9]{{{EXACT_DIGITS},}}", text) else ""
