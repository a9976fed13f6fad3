"""Rows and sheets that are left out: hotels, trains and cars, what a team's mapping leaves out, and of an earlier result what is no input.

Nothing is left out that holds a ticket's number, unless the team itself says so; and nothing without a word that says what it
is, because a ticket whose number was forgotten looks the same.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pipeline.model.message import Message, SheetName, counted, message
from pipeline.model.places import about
from pipeline.model.shown_cells import shown
from pipeline.model.table import Indices, Mask
from pipeline.reading import previous_result, ticket_numbers
from pipeline.reading.agency_words import says_flight, says_other_service
from pipeline.reading.cell_words import CHOICE_WORDS, folded
from pipeline.reading.character_width import one_width
from pipeline.reading.columns_file import ColumnMap
from pipeline.reading.heading_rows import Layout
from pipeline.reading.sheet import Cells, Sheet
from pipeline.reading.template_stamp import made_from, newer

#: A ticket's number, or what is left of one without its leading zeros, without the airline's digits, or with more behind it.
_TICKET = re.compile(r"[0-9](?:[-/ ]?[0-9]){9,}")
_SAYING = ("order_type", "charge", "product")


@dataclass(frozen=True)
class LeftOut:
    """Which of a sheet's rows are left out: other services, and order types that a team's mapping leaves out."""

    services: Mask
    by_team: Mask

    @property
    def any(self) -> Mask:
        """The rows that are no input."""
        return self.services | self.by_team

    def notes(self, place: Message) -> Iterator[Message]:
        """What is to be told of them."""
        if count := int(self.services.sum()):
            yield counted(
                "{place}: {count} row of hotels, trains, cars and the like left out; it holds no ticket",
                "{place}: {count} rows of hotels, trains, cars and the like left out; they hold no tickets",
                count,
                place=place,
            )
        if count := int(self.by_team.sum()):
            yield counted(
                "{place}: {count} row left out, as --columns says of its order type",
                "{place}: {count} rows left out, as --columns says of their order types",
                count,
                place=place,
            )


def rows_left_out(sheet: Sheet, layout: Layout, rows: Indices, mapping: ColumnMap) -> LeftOut:
    """Which of these rows of a sheet are no tickets; masks over `rows`."""
    cells = {name: sheet.columns[layout.columns[name]].at(rows) for name in _SAYING if name in layout.columns}
    none = np.zeros(len(rows), dtype=bool)
    order = cells.get("order_type", Cells.same("", len(rows)))
    by_team = order.where(lambda cell: bool(mapping.skips_order_type(shown(cell))))
    kept = order.where(lambda cell: mapping.skips_order_type(shown(cell)) is False)
    other, flights = none, none
    for name, column in cells.items():
        other = other | column.where(lambda cell: says_other_service(shown(cell)))
        flights = flights | column.where(partial(_says_flight, name, mapping))
    if is_of_other_services(sheet, mapping):
        other = np.ones(len(rows), dtype=bool)
    other = other & ~flights & ~kept & ~by_team
    if other.any():
        other &= ~ticket_numbers.of_sheet(sheet, layout).at(rows).where(_may_be_ticket)
    return LeftOut(other, by_team)


def is_of_other_services(sheet: Sheet, mapping: ColumnMap) -> bool:
    """Whether a sheet's name says hotels and the like, and a team's mapping does not say what to do with it."""
    return mapping.skips_sheet(sheet.name) is None and says_other_service(sheet.name)


def by_team(place: str, sheet: Sheet, mapping: ColumnMap) -> Message | None:
    """What to tell of a sheet that a team's mapping leaves out; None where it does not."""
    if not mapping.skips_sheet(sheet.name):
        return None
    return _told(place, sheet, message("as --columns says"))


def as_other_services(place: str, sheet: Sheet) -> Message:
    """What to tell of a sheet of hotels and the like that has headings, though not those of tickets."""
    return _told(place, sheet, message("it holds no tickets"))


def _told(place: str, sheet: Sheet, why: Message) -> Message:
    return message(
        "{file}: sheet {sheet} is left out: {why}", file=place, sheet=SheetName(sheet.name), why=why
    )


def passed_over(
    place: str, sheet: Sheet, layout: Layout | None, *, from_result: bool
) -> list[Message] | None:
    """What to tell of an earlier result's sheet that is not read, or of a template's instructions; None for any other sheet."""
    if (
        from_result
        and not previous_result.is_failures(sheet)
        and (layout is None or "ticket_no" in layout.columns)
    ):
        told = message(
            "sheet {sheet} was not read: of an earlier result only Failures and buyers are",
            sheet=SheetName(sheet.name),
        )
        return [about(place, told)]
    if layout is None and (version := made_from(sheet.rows)):
        return [about(place, told) for told in newer(version)]
    return None


def _says_flight(column: str, mapping: ColumnMap, cell: Any) -> bool:
    """Whether a cell is of a flight: one of our own words, an order type that is known, or a word for flights."""
    text = shown(cell)
    known = (
        folded(text) in CHOICE_WORDS[column] if column in CHOICE_WORDS else bool(mapping.of_order_type(text))
    )
    return known or says_flight(text)


def _may_be_ticket(cell: Any) -> bool:
    return bool(_TICKET.fullmatch(one_width(shown(cell)).strip()))
