"""Rows below the headings that are no input rows: totals, and the headings again."""

import re
from collections.abc import Sequence
from typing import Any

from pipeline.model.errors import InputProblem
from pipeline.model.message import Message, Private
from pipeline.model.table import shown
from pipeline.reading.cell_words import folded
from pipeline.reading.footers import is_label
from pipeline.reading.headings import (
    Layout,
    Own,
    cell_name,
    known_at,
    repeats,
)
from pipeline.reading.sheet import Sheet, is_blank

_TOTAL = re.compile(
    r"(?:grand|sub|page|sheet|overall)?(?:total|sum)s?(?:amount)?(?:本[页月期表次]|以上|全部|各项)?"
    r"|(?:本[页月期表次]|以上|全部|各项)?(?:合计|总计|小计|共计|总和|累计|汇总)(?:金额|价款|人民币|数|行)?(?:/?(?:grand|sub)?totals?)?"
)
#: One of its letters at least, in any width: looked for first, because cells are many.
_MAY_SAY = re.compile("[计計和总總汇匯累tsｔｓ]", re.IGNORECASE)
#: What may stand behind the word in its cell: a count, a sum, a unit in brackets.
_BEHIND = re.compile(r"(?:\([^()]*\)|[:：=]|¥?[0-9][0-9,]*元?|张|条|笔|行|人|份|客票|tickets?|rows?)*")
_COUNT = re.compile(r"[0-9]{1,6}(?:张|条|笔|人|份|tickets?)?")
_TICKET = re.compile(r"(?<![0-9])[0-9]{13}(?![0-9])")


def says_total(cell: Any) -> bool:
    """Whether a cell says that its row is a total.

    >>> says_total("合计（3张）："), says_total("Grand Total"), says_total("TOTAL/ANNE"), says_total("合计航空")
    (True, True, False, False)
    """
    if not isinstance(cell, str) or not _MAY_SAY.search(cell):
        return False
    word = folded(cell)
    found = _TOTAL.match(word)
    return bool(found and found[0] and _BEHIND.fullmatch(word[found.end() :]))


def is_total(row: Sequence[Any], layout: Layout) -> bool:
    """A row of which some cell says total, and that holds no ticket, names no passenger and no charge.

    A ticket that only looks like part of a total is input: it is judged, and whoever reads it sees it.
    """
    for name in ("ticket_no", "passenger_name", "charge"):
        at = layout.columns.get(name, len(row))
        cell = row[at] if at < len(row) else ""
        said = says_total(cell) or is_label(cell) or (name == "ticket_no" and _counts(cell))
        if not (is_blank(cell) or said):
            return False
    # Only what is taken from the row: where an earlier result says that it came from may be called total.
    taken = (*layout.columns.values(), *layout.extra.values())
    return any(says_total(row[at]) for at in taken if at < len(row)) and not any(map(_holds_ticket, row))


def _counts(cell: Any) -> bool:
    """Whether a cell holds how many tickets there are."""
    text = shown(cell)
    return len(text) < 13 and bool(_COUNT.fullmatch(folded(text)))  # a ticket number is no count


def _holds_ticket(cell: Any) -> bool:
    return bool(_TICKET.search(folded(shown(cell))))


def is_heading(place: Message, sheet: Sheet, index: int, layout: Layout, own: Own) -> bool:
    """Whether a row says the headings again, as every printed page does.

    Raises InputProblem where they name other columns than the headings above: what stands below would be
    taken for something else.
    """
    row = sheet.rows[index]
    at = layout.columns["ticket_no"]
    ticket = row[at] if at < len(row) else ""
    if not isinstance(ticket, str) or any(map(str.isdigit, ticket)):
        return False  # as nearly every row is: looked at first, because rows are many
    if repeats(row, layout):
        return True
    named = known_at(row, own)
    texts = all(isinstance(cell, str) for cell in row if not is_blank(cell))
    if "ticket_no" not in named.values() or len(named) < 2 or not texts:
        return False
    for at, name in named.items():
        if layout.columns.get(name) != at:
            raise InputProblem(
                "{place}: {cell} “{heading}” begins a second table, whose columns are not those above it; put each table on a"
                " sheet of its own",
                place=place,
                cell=cell_name(sheet, index, at),
                heading=Private(str(row[at])),
            )
    return True
