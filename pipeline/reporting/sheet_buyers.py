"""What a result workbook says of buyers so that they can be corrected in it.

That is whom Failures has filled in its buyer columns for, and the buyers that a corrected name may mean.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.messages.translate import choice_word
from pipeline.model.buyer_source import KEPT_APART, Source, flat
from pipeline.model.columns import BUYER_COLUMNS, HEADER_FIELDS, HEADER_TYPES
from pipeline.model.result import RunResult
from pipeline.model.table import Indices, shown
from pipeline.reporting.row_view import ByRow


def sources(result: RunResult, at: Indices, filled: Mapping[str, Sequence[Any]]) -> list[str]:
    """Of the rows at these positions, what the reader is to remember of their buyers.

    `filled` are the buyer columns as Failures has them: what was blank in the input was filled in.
    """
    table = result.table
    seen = [
        table.cells[name].to_numpy(dtype=object)[at] if name in table.cells else [""] * len(at)
        for name in HEADER_FIELDS
    ]
    wrote = [filled[name] for name in HEADER_FIELDS]
    remembered, books = (table.frame[name].to_numpy(dtype=object)[at] for name in ("remembered", "book"))
    said = []
    for place, row in enumerate(at.tolist()):
        before = Source.read(remembered[place]) or Source("")
        now = tuple(
            flat(shown(given[place])) if isinstance(cell[place], str) and not cell[place].strip() else old
            for cell, given, old in zip(seen, wrote, before.filled, strict=True)
        )
        buyer = result.found_buyer[row] or before.buyer
        said.append(Source(books[place], flat(buyer), now if buyer else before.filled).text)
    return said


def needs_buyers(result: RunResult, rows: ByRow) -> bool:
    """Whether a row may be given another buyer: whatever it failed for, where any are known; else where it lacks one."""
    if len(result.table.buyers):
        return bool(rows.failed)
    return any(reason.column == "buyer" for row in rows.failed for reason in rows.reasons(row))


def buyer_lines(result: RunResult) -> Iterator[tuple[Any, ...]]:
    """Every buyer that the rows could have named, and whose it is."""
    words = {choice.name: choice_word(choice.name, result.lang) for choice in HEADER_TYPES}
    for buyer in result.table.buyers.to_dict("records"):
        texts = [words.get(buyer[column.name], buyer[column.name]) for column in BUYER_COLUMNS]
        yield (*texts, buyer["file"] or KEPT_APART)
