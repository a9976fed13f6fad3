"""The sheet Buyers: the buyers that a corrected name in Failures may mean."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pipeline.messages.translate import choice_words
from pipeline.model.buyer_source import BEHIND, ENTERED, KEPT_APART, Source, flat
from pipeline.model.columns import BUYER_COLUMNS
from pipeline.model.result import RunResult
from pipeline.reporting.links import Places
from pipeline.reporting.xlsx.book import Book
from pipeline.reporting.xlsx.column_specs import field, vocabulary
from pipeline.reporting.xlsx.row_stream import by_column


def add_buyers(book: Book, result: RunResult, _places: Places) -> None:
    """Write the sheet Buyers: those that rows may name; one that is corrected there is so for all rows that name it."""
    hidden = replace(field("buyer_source", result.lang), hidden=True)
    fields = [*vocabulary(BUYER_COLUMNS, result.lang), field("file", result.lang), hidden]
    lines = [*_lines(result)]
    book.add_rows("Buyers", fields, len(lines), by_column(lines))


def _lines(result: RunResult) -> Iterator[tuple[Any, ...]]:
    """Every buyer that the rows could have named, whose it is, and as what it was written."""
    words = {column.name: choice_words(column, result.lang) for column in BUYER_COLUMNS}
    buyers = result.table.buyers
    books = set(result.table.frame["book"].tolist())
    files: dict[Any, list[Any]] = buyers[buyers["file"] != ""].groupby("buyer")["file"].agg(list).to_dict()
    for buyer in buyers.to_dict("records"):
        instead = files.get(buyer["buyer"], ()) if not buyer["file"] else ()
        if instead and all(any(_of(book, file) for file in instead) for book in books):
            continue  # a buyers file's, where all rows have one that was corrected in an earlier result
        texts = [words[name].get(buyer[name], buyer[name]) for name in words]
        if buyer["file"] == ENTERED:
            yield (*texts, "", "")  # as one that somebody adds to the sheet
            continue
        file = buyer["file"] or KEPT_APART
        name, *fields = map(flat, texts)
        yield (*texts, file, Source(file, name, tuple(fields)).text)


def _of(book: str, file: str) -> bool:
    """Whether a buyer of this file is one that the rows of a workbook, or of one behind an earlier result, may name."""
    book, file = f"{book}{BEHIND}", f"{file}{BEHIND}"
    return book.startswith(file) or file.startswith(book)
