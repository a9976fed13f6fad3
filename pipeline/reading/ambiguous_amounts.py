"""Charges that would be added up without their fare, or with a tax twice: refused, never guessed.

An export may have its fare in a column that is not read, or taxes that hold one another. A row that gives its total
shows which it is; of a row that does not a wrong sum looks like a right one. What the team's own mapping says of a
heading is in no doubt.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pipeline.model.columns import COMPONENTS
from pipeline.model.errors import InputProblem
from pipeline.model.message import Fact, Message, Private, Term, joined
from pipeline.model.money import money_shown
from pipeline.model.places import on_sheet
from pipeline.model.table import Finding, Mask, Money
from pipeline.reading import amount_cells, cells
from pipeline.reading.cell_words import folded
from pipeline.reading.heading_meanings import normal, vague
from pipeline.reading.heading_rows import (
    NOT_READ,
    TAXES,
    Layout,
    Own,
)
from pipeline.reading.sheet import Sheet, is_blank

#: Words in headings of amounts: which taxes, whether they are in it, whether it is a price at all.
_ANY_TAXES = frozenset({"税费", "taxes", "税费合计", "税金"})
_TAX_INCLUDED = re.compile(r"(?<![不未])含(?:[机燃]|税)|税后|incl|(?:with|plus)tax|taxes?included")
_MONEY = (
    re.compile(r"价|款|price|fare"),
    re.compile(r"额|应[收付]|实[收付]|支付|小计|total|amount|cost|paid|sum"),
)


@dataclass(frozen=True)
class Tickets:
    """A sheet of tickets, with its headings and what the team's mapping says of them."""

    place: str
    sheet: Sheet
    layout: Layout
    own: Own
    currency: str

    @property
    def where(self) -> Message:
        """The sheet, as messages name it."""
        return on_sheet(self.place, self.sheet.name)

    @property
    def ticket_column(self) -> int:
        """Where its ticket numbers stand, as the spreadsheet program counts, from 0."""
        return self.sheet.first_column + self.layout.columns["ticket_no"]

    def unread(self) -> Iterator[tuple[str, str]]:
        """Headings that are not read, though the team says nothing of them, and the cells that they stand in."""
        for heading, at in self.layout.extra.items():
            if folded(heading) not in self.own and not heading.startswith(NOT_READ):
                yield heading, self.sheet.cell_name(self.layout.heading_row, at)

    def read_as(self, column: str) -> tuple[str, str]:
        """The heading that a column is read by and its cell; "" for one that is not there or that the team names."""
        heading, cell = self.layout.headings.get(column, ("", ""))
        return ("", cell) if folded(heading) in self.own else (heading, cell)


@dataclass(frozen=True)
class _Reckoned:
    """The rows of one sheet and one charge whose amount is the sum of its parts, with what was read of them."""

    tickets: Tickets
    charge: str
    frame: pd.DataFrame
    as_read: pd.DataFrame

    def money(self, *columns: str) -> Money:
        """The sum of some columns by row."""
        return np.asarray(self.frame[list(columns)].to_numpy().sum(axis=1), dtype=np.int64)

    def row(self, found: Mask) -> int:
        """The first of some rows, as the spreadsheet program counts."""
        return int(self.frame["row"].to_numpy()[np.flatnonzero(found)[0]])


def refuse_doubtful(
    sheets: Collection[Tickets], frame: pd.DataFrame, as_read: pd.DataFrame, findings: Collection[Finding]
) -> None:
    """Raise InputProblem for the first sheet in which a charge's amount can be read in two ways."""
    sum_of_parts = (frame["amount"] == 0).to_numpy(dtype=bool, copy=True)
    for finding in findings:
        if finding.column in ("amount", "charge"):
            sum_of_parts[finding.rows] = False  # the rules say what is wrong there
    if not sum_of_parts.any():
        return
    unnamed, status = frame["charge"].isna(), frame["ticket_status"]
    of_bills = (("ticket_fare", status != "refunded"), ("refund", status.isin(["refunded", "partly_used"])))
    for tickets in sheets:
        mine = sum_of_parts & ((frame["file"] == tickets.place) & (frame["sheet"] == tickets.sheet.name))
        for charge, of_unnamed in of_bills:
            these = mine & ((frame["charge"] == charge) | (unnamed & of_unnamed))
            if these.any():
                rows = _Reckoned(tickets, charge, frame[these], as_read[these])
                _refuse_vague(rows)
                if charge == "ticket_fare":
                    _refuse_without_fare(rows)
                    _refuse_taxes_twice(rows)


def _refuse_without_fare(rows: _Reckoned) -> None:
    """Taxes alone are no ticket's fare; where its column has a name that is not known, that is told."""
    tickets = rows.tickets
    taxed = rows.money(*TAXES) != 0
    if "fare" in tickets.layout.columns or not taxed.any():
        return
    tax = next(name for name in TAXES if rows.money(name).any())
    heading, cell = tickets.layout.headings[tax]
    facts: dict[str, Fact] = {"place": tickets.where, "cell": cell, "heading": Private(heading)}
    for unread, its_cell in sorted(tickets.unread(), key=lambda one: -says_money(one[0])):
        if says_money(unread) and (found := taxed & (_amounts(rows, unread) != 0)).any():
            raise InputProblem(
                "{place}: row {row} has {cell} “{heading}” but no fare: {unread_cell} “{unread}” is not a known heading and"
                " was not read; call it fare (票价) if it is the fare without the taxes; if it is the total, call it"
                " amount (金额) and leave the columns of taxes out",
                row=rows.row(found), unread_cell=its_cell, unread=Private(unread), **facts,
            )  # fmt: skip
    if (found := taxed & (rows.money("change_fee") == 0)).any():
        raise InputProblem(
            "{place}: row {row} has {cell} “{heading}” but no fare, and no column is known to hold it; add the column of the"
            " fare (票价)",
            row=rows.row(found), **facts,
        )  # fmt: skip


def _refuse_vague(rows: _Reckoned) -> None:
    """An unread column that may be a part of the sum, unless it is seen to be what was read already."""
    total = rows.money(*COMPONENTS[rows.charge])
    for heading, cell in rows.tickets.unread():
        names = [name for name in vague(heading) if name in COMPONENTS[rows.charge]]
        if rows.charge == "ticket_fare" and "amount" in vague(heading):
            names.append("amount")
        if not names:
            continue
        seen = _amounts(rows, heading)
        parts = [name for name in names if name != "amount"]
        known = (seen == total) if "amount" in names else np.zeros(len(seen), dtype=bool)
        if parts:
            known |= seen == rows.money(*parts)
        if (found := (seen != 0) & (total != 0) & ~known).any():
            raise InputProblem(
                "{place}: {cell} “{heading}” holds {amount} in row {row} and was not read: it may mean {columns}, and no"
                " total shows what the charge comes to; name it more exactly, or say in --columns what it is",
                place=rows.tickets.where, cell=cell, heading=Private(heading), amount=money_shown(int(seen[found][0])),
                row=rows.row(found), columns=joined(map(Term, names), "or"),
            )  # fmt: skip


def _refuse_taxes_twice(rows: _Reckoned) -> None:
    """Taxes that may hold the other taxes beside them, and a fare that says that it holds them."""
    heading, cell = rows.tickets.read_as("other_taxes")
    found = (rows.money("other_taxes") != 0) & (rows.money("airport_fee", "fuel_surcharge") != 0)
    if any_taxes(heading) and found.any():
        raise InputProblem(
            "{place}: {cell} “{heading}” may hold the airport fee and the fuel surcharge of row {row}, or come on top of"
            " them, and no total shows which; call it other_taxes (其他税费) if it comes on top, or leave it out with"
            ' "{heading}" = "" in --columns if it holds them',
            place=rows.tickets.where, cell=cell, heading=Private(heading), row=rows.row(found),
        )  # fmt: skip
    heading, cell = rows.tickets.read_as("fare")
    found = (rows.money("fare") != 0) & (rows.money(*TAXES) != 0)
    if tax_included(heading) and found.any():
        raise InputProblem(
            "{place}: {cell} “{heading}” says that it holds the taxes, and row {row} has taxes beside it, which may be part of"
            " it or come on top, and no total shows which; call it fare (票价) if they come on top, or say"
            ' "{heading}" = "fare" in --columns; if it holds them, leave the columns of taxes out',
            place=rows.tickets.where, cell=cell, heading=Private(heading), row=rows.row(found),
        )  # fmt: skip


def _amounts(rows: _Reckoned, heading: str) -> Money:
    """The amounts of a column that is not read; 0 for what is none."""
    codes, distinct = pd.factorize(rows.as_read[heading].to_numpy(dtype=object), use_na_sentinel=False)
    return np.array([_amount(cell, rows.tickets.currency) for cell in distinct], dtype=np.int64)[codes]


def _amount(cell: object, currency: str) -> int:
    if is_blank(cell):
        return 0
    try:
        return amount_cells.money(cells.value(cell), currency)
    except cells.Unreadable:
        return 0


def any_taxes(heading: str) -> bool:
    """Whether a heading of taxes may hold every tax that there is, those with a column of their own too.

    >>> any_taxes("税费（元）"), any_taxes("其他税费")
    (True, False)
    """
    return normal(heading) in _ANY_TAXES


def tax_included(heading: str) -> bool:
    """Whether a fare's heading says that its taxes are in it.

    >>> tax_included("票价（含税）"), tax_included("Fare (incl. tax)"), tax_included("票价（不含税）")
    (True, True, False)
    """
    return bool(_TAX_INCLUDED.search(folded(heading)))


def says_money(heading: str) -> int:
    """How much a heading sounds like a price: 2 like a fare, 1 like another amount, 0 like none.

    >>> says_money("成交价"), says_money("应付金额"), says_money("部门")
    (2, 1, 0)
    """
    word = folded(heading)
    return next((2 - at for at, words in enumerate(_MONEY) if words.search(word)), 0)
