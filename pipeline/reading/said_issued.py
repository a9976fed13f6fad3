"""Columns of a bill that say that a row has its voucher already: by a voucher's number, or by its state.

They may speak of another voucher, such as the agency's own invoice for its fee, so that they are carried through like other columns that are
not ours; but nobody else may know of a voucher that was issued by hand. Where such a row is to be sent, somebody is told (rules/told_as_issued.py).
"""

import re
from collections.abc import Container, Iterator, Mapping
from typing import Any

from pipeline.model.columns import COLUMN
from pipeline.model.table import Mask, shown
from pipeline.reading.cell_words import folded
from pipeline.reading.fill_blanks import Part
from pipeline.reading.heading_meanings import normal
from pipeline.reading.statement_words import STATEMENT_COLUMNS

_NUMBERS = frozenset(
    normal(word) for name in ("invoice_number", "itinerary_number") for word in STATEMENT_COLUMNS[name]
)
_STATES = frozenset(
    map(
        normal,
        (
            "invoice status", "voucher status", "itinerary status", "issuing status", "发票状态", "开票状态", "行程单状态", "凭证状态", "开具状态",
            "开票情况", "是否已开票", "是否已开", "invoiced", "invoice issued",
        ),
    )
)  # fmt: skip
_ISSUED = frozenset(
    map(
        folded,
        (
            "issued", "invoiced", "already issued", "yes", "y", "true", "已开", "已开票", "已开具", "已出具", "已打印", "开票成功", "开具成功", "是", "√",
        ),
    )
)  # fmt: skip
#: Fewer digits are no voucher's number, but a count or a person's own note.
_NUMBER = re.compile("[0-9](?:[ -]?[0-9]){7}")


def said_issued(as_read: Part, own: Container[str]) -> Mapping[str, Mask]:
    """By heading the rows whose cell there says so; what a team's mapping (`own`) names is what the team says."""
    return dict(_found(as_read, own))


def _found(as_read: Part, own: Container[str]) -> Iterator[tuple[str, Mask]]:
    for heading, column in as_read.items():
        said = heading.removesuffix(" (input)")  # as our results have it (reporting/input_cells.py)
        if heading in COLUMN or folded(said) in own:
            continue
        says = _is_number if normal(said) in _NUMBERS else _is_issued if normal(said) in _STATES else None
        if says and (rows := column.where(says)).any():
            yield heading, rows


def _is_number(cell: Any) -> bool:
    return bool(_NUMBER.search(shown(cell)))


def _is_issued(cell: Any) -> bool:
    return folded(shown(cell)) in _ISSUED
