"""Cells that people corrected on the page, put in the place of those that the file has.

A correction is of one row: of a cell merged over several, the other rows keep what the file says. Which rows are input
is told by the file alone, so that a row which is corrected to a blank one, or to what looks like a total, stays in sight.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from pipeline.model.buyer_source import ENTERED
from pipeline.model.columns import BUYER_COLUMNS
from pipeline.model.errors import InputProblem
from pipeline.model.message import Message, Private
from pipeline.model.table import BUYER_PLACE
from pipeline.reading import cells as single
from pipeline.reading.cell_words import folded
from pipeline.reading.heading_rows import Layout
from pipeline.reading.sheet import Cells, Sheet
from pipeline.rules.buyer_lookup import name_key


def corrected(
    place: Message,
    sheet: Sheet,
    layout: Layout,
    rows: Mapping[int, Mapping[str, str]],
    known: Collection[str],
) -> tuple[Sheet, Layout]:
    """The sheet with other texts in some rows, by position and column, and its headings.

    A column that it lacks stands behind its last one, if it is one of `known`. Raises InputProblem for any other.
    """
    texts: dict[int, dict[int, Any]] = {}
    added: dict[str, int] = {}
    for row, by_column in rows.items():
        for name, text in by_column.items():
            at = layout.columns.get(name, layout.extra.get(name))
            if at is None:
                if name not in known:
                    raise InputProblem(
                        "{place}: has no column “{column}” that could be corrected",
                        place=place, column=Private(name),
                    )  # fmt: skip
                at = added.setdefault(name, sheet.width + len(added))
            texts.setdefault(at, {})[row] = text
    headings = {name: (name, sheet.cell_name(layout.heading_row, at)) for name, at in added.items()}
    wider = replace(sheet, columns=(*sheet.columns, *[Cells.same("", sheet.height)] * len(added)))
    return wider.changed(texts), replace(
        layout, columns={**layout.columns, **added}, headings={**layout.headings, **headings}
    )


def with_entered(
    buyers: pd.DataFrame, entered: Sequence[Mapping[str, str]], types: Mapping[str, str]
) -> pd.DataFrame:
    """The buyers with those that were entered on the page, in place of those of the same name; `types` are the words of header_type.

    Each stands by itself too, for the rows of workbooks that have no such name. Raises InputProblem for one without a name.
    """
    if not entered:
        return buyers
    of = dict(zip(BUYER_PLACE, ("", "", 0), strict=True))
    rows, new = buyers.to_dict("records"), dict[str, dict[str, Any]]()
    for buyer in entered:
        told = {column.name: single.text(buyer.get(column.name, "")) for column in BUYER_COLUMNS}
        told["header_type"] = types.get(folded(told["header_type"]), told["header_type"])
        if not (key := name_key(told["buyer"])):
            raise InputProblem(
                "A buyer was entered on the page without the name by which rows name it; enter the name"
            )
        for row in rows:
            if name_key(row["buyer"]) == key:
                row.update({**told, **of})
        new[key] = {"file": ENTERED, **told, **of}
    return pd.DataFrame([*rows, *new.values()], columns=buyers.columns, dtype=object)
