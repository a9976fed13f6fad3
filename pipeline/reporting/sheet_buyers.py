"""The sheet Buyers: the buyers that a corrected name in Failures may mean."""

from collections.abc import Iterator
from typing import Any

from pipeline.messages.translate import choice_words
from pipeline.model.buyer_source import KEPT_APART
from pipeline.model.columns import BUYER_COLUMNS
from pipeline.model.result import RunResult
from pipeline.reporting.links import Places
from pipeline.reporting.xlsx.book import Book
from pipeline.reporting.xlsx.column_specs import field, vocabulary
from pipeline.reporting.xlsx.row_stream import by_column


def add_buyers(book: Book, result: RunResult, _places: Places) -> None:
    """Write the sheet Buyers: those that rows may name; one that is corrected there is so for all rows that name it."""
    fields = [*vocabulary(BUYER_COLUMNS, result.lang), field("buyer_source", result.lang)]
    book.add_rows("Buyers", fields, len(result.table.buyers), by_column(_buyer_lines(result)))


def _buyer_lines(result: RunResult) -> Iterator[tuple[Any, ...]]:
    """Every buyer that the rows could have named, and whose it is."""
    words = {column.name: choice_words(column, result.lang) for column in BUYER_COLUMNS}
    for buyer in result.table.buyers.to_dict("records"):
        texts = [words[name].get(buyer[name], buyer[name]) for name in words]
        yield (*texts, buyer["file"] or KEPT_APART)
