"""Columns of a bill that say that a row has its voucher already: by a voucher's number, or by its state.

They may speak of another voucher, such as the agency's own invoice for its fee, so that they are carried through like other columns that
are not ours; but nobody else may know of a voucher that was issued by hand. Where such a row is to be sent, somebody is told
(rules/told_as_issued.py).
"""

import re
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any

from pipeline.model.columns import COLUMN
from pipeline.model.shown_cells import shown
from pipeline.model.table import Mask
from pipeline.reading.cell_words import folded
from pipeline.reading.fill_blanks import Part
from pipeline.reading.heading_meanings import normal
from pipeline.reading.statement_words import STATEMENT_COLUMNS

#: Fewer digits are no voucher's number, but a count or a person's own note. A spreadsheet program writes a long one with its exponent.
_NUMBER = re.compile(r"[0-9](?:[ -]?[0-9]){7}|[0-9](?:\.[0-9]+)?[eE]\+(?:0[7-9]|[12][0-9])")
#: Under a heading that may be of any number: the lengths that the carrier's are seen to have (carrier-interface.md, Invoice and Itinerary
#: result).
_OF_ITS_SHAPE = re.compile(r"[0-9]{18}(?:[0-9]{2})?|[0-9](?:\.[0-9]+)?[eE]\+1[79]")
_ISSUED = frozenset(
    map(
        folded,
        (
            "issued", "invoiced", "already issued", "yes", "y", "true", "已开", "已开票", "已开具", "已出具", "已打印", "开票成功", "开具成功", "是", "√",
        ),
    )
)  # fmt: skip


def _is_number(cell: Any) -> bool:
    return bool(_NUMBER.search(shown(cell)))


def _is_of_its_shape(cell: Any) -> bool:
    return bool(_OF_ITS_SHAPE.fullmatch(shown(cell).strip()))


def _is_issued(cell: Any) -> bool:
    return folded(shown(cell)) in _ISSUED


_NUMBERS = (
    *STATEMENT_COLUMNS["invoice_number"], *STATEMENT_COLUMNS["itinerary_number"], "电子发票号", "数电票号", "数电票号码", "数电发票号",
)  # fmt: skip
_STATES = (
    "invoice status", "voucher status", "itinerary status", "issuing status", "invoiced", "invoice issued", "issued", "发票状态", "开票状态",
    "行程单状态", "凭证状态", "开具状态", "开票情况", "开票", "是否已开票", "是否已开",
)  # fmt: skip
#: By heading, what in a cell says so.
_SAYS: dict[str, Callable[[Any], bool]] = {
    normal(word): says
    for says, words in (
        (_is_of_its_shape, STATEMENT_COLUMNS["number"]),
        (_is_number, _NUMBERS),
        (_is_issued, _STATES),
    )
    for word in words
}


def says_issued(heading: str) -> bool:
    """Whether a heading is one of a column that may say so.

    >>> says_issued("发票号码（Invoice No.）"), says_issued("订单号")
    (True, False)
    """
    return normal(heading) in _SAYS


def said_issued(as_read: Part, own: Container[str]) -> Mapping[str, Mask]:
    """By heading the rows whose cell there says so; what a team's mapping (`own`) names is what the team says."""
    return dict(_found(as_read, own))


def _found(as_read: Part, own: Container[str]) -> Iterator[tuple[str, Mask]]:
    for heading, column in as_read.items():
        said = heading.removesuffix(" (input)")  # as our results have it (reporting/input_cells.py)
        if heading in COLUMN or folded(said) in own:
            continue
        if (says := _SAYS.get(normal(said))) and (rows := column.where(says)).any():
            yield heading, rows
