"""The workbook of a collection of itinerary files: Summary, Files, Missing."""

import datetime
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.messages.translate import rendered, status_word
from pipeline.model.columns import Lang
from pipeline.model.file_status import FILE_STATUS, FILE_STATUSES, MISSING
from pipeline.model.itinerary_file import CollectedFile, NotReceived
from pipeline.model.message import Message, joined, message
from pipeline.model.money import MINOR
from pipeline.reporting.links import Cell
from pipeline.reporting.result_workbook import write_book
from pipeline.reporting.sheet_page import Page
from pipeline.reporting.sheet_summary import origin_facts
from pipeline.reporting.words_collection import headline, label, place_of, steps
from pipeline.reporting.xlsx.book import Book, Cover
from pipeline.reporting.xlsx.column_specs import Field
from pipeline.reporting.xlsx.row_stream import by_column
from pipeline.reporting.xlsx.styles import Style
from pipeline.settlement.collection_result import Collection

#: The same names in every language, because people and programs find them by name.
SHEETS = ("Summary", "Files", "Missing")
_MOST = 100  # lines of one section
_LOOKS: dict[str, tuple[Style, int]] = {
    "status": (Style.TEXT, 16), "reason": (Style.WRAP, 54), "number": (Style.IDENTIFIER, 24), "ticket": (Style.IDENTIFIER, 16),
    "buyer": (Style.WRAP, 30), "tax_no": (Style.IDENTIFIER, 22), "total": (Style.MONEY, 14), "issued": (Style.DATE, 13),
    "seal": (Style.TEXT, 12), "read_from": (Style.TEXT, 16), "archived": (Style.IDENTIFIER, 40), "place": (Style.WRAP, 40),
    "sha256": (Style.IDENTIFIER, 24), "request": (Style.IDENTIFIER, 23), "days": (Style.COUNT, 10), "email": (Style.TEXT, 28),
}  # fmt: skip
_FILES = (
    "status", "reason", "number", "ticket", "buyer", "tax_no", "total", "issued", "seal", "read_from", "archived", "place",
    "sha256", "request",
)  # fmt: skip
_MISSING = ("status", "days", "number", "ticket", "buyer", "email", "total", "issued", "request")


def write_collection_workbook(said: Collection, path: Path) -> Path:
    """Write the workbook; give the path that it has, which is another where `path` was taken.

    Raises Stop where it can't be written; nothing is left behind then.
    """

    def fill(book: Book) -> None:
        _add_summary(book, said)
        rows = (_file_row(one, said.lang) for one in said.files)
        book.add_rows("Files", _fields(_FILES, said.lang), len(said.files), by_column(rows))
        waiting = (_missing_row(one, said.lang) for one in said.not_received)
        book.add_rows("Missing", _fields(_MISSING, said.lang), len(said.not_received), by_column(waiting))

    return write_book(path, Cover(label("title", said.lang), said.lang, said.origin.is_sandbox), SHEETS, fill)


def _fields(names: tuple[str, ...], lang: Lang) -> list[Field]:
    return [Field(name, label(name, lang), *_LOOKS[name]) for name in names]


def _file_row(one: CollectedFile, lang: Lang) -> list[Any]:
    file, data = one.file, one.file.data
    source = data.sources.get("number") if data else None
    return [
        Cell(status_word(one.status, lang), tone=FILE_STATUS[one.status].tone),
        rendered(joined(one.reasons, "sentences"), lang),
        data and data.number,
        ", ".join(data.tickets) if data else None,
        data and data.buyer_name,
        data and data.buyer_tax_no,
        None if data is None or data.total is None else data.total / MINOR,
        data and data.issued_on,
        status_word(file.seal, lang) if data else None,
        label(source, lang) if source else None,
        file.archived,
        place_of(one),
        file.sha256,
        one.of and one.of.request_id,
    ]


def _missing_row(one: NotReceived, lang: Lang) -> list[Any]:
    tone = "warn" if one.status == MISSING else "bad"
    return [
        Cell(status_word(one.status, lang), tone=tone), one.days, one.number, one.ticket_no, one.header_name, one.email,
        one.amount / MINOR, one.issued, one.request_id,
    ]  # fmt: skip


def _add_summary(book: Book, said: Collection) -> None:
    lang, page = book.lang, Page(book, "Summary")
    page.spread(0, headline(said), page.headline)
    page.row += 1
    if todo := steps(said):
        page.heading(label("next", lang))
        page.points(todo)
    page.heading(label("itineraries", lang))
    _table(page, [(status, count, "") for status, count in said.states.items()])
    page.heading(label("files", lang))
    counts = Counter(one.status for one in said.files)
    _table(
        page, [(one.status, counts[one.status], one.meaning) for one in FILE_STATUSES if counts[one.status]]
    )
    if settled := said.decided.settled:
        page.heading(label("settled", lang))
        page.points(
            message(
                "request {request}, attempt {attempt}: issued as {number} ({evidence})",
                request=one.attempt.request_id,
                attempt=one.attempt.attempt,
                number=one.number,
                evidence=one.evidence,
            )
            for one in settled[:_MOST]
        )
    page.heading(label("facts", lang))
    page.facts((label(name, lang), value) for name, value in _facts(said))
    page.facts(origin_facts(said.origin, lang))
    page.finish()


def _table(page: Page, lines: list[tuple[str, int, str]]) -> None:
    """Counts by status, with what it means where that is said."""
    lang = page.lang
    page.put(0, label("status", lang), page.column_heading)
    page.put(1, label("count", lang), page.number_heading)
    page.spread(2, label("meaning", lang), page.column_heading)
    page.row += 1
    for status, count, meaning in lines:
        tone = FILE_STATUS[status].tone if status in FILE_STATUS else "warn"  # type: ignore[index]
        page.line(status_word(status, lang), page.tones[tone if count else "plain"])
        page.put(1, count, page.count)
        page.spread(2, Message(meaning), page.name)
        page.row += 1


def _facts(said: Collection) -> Iterator[tuple[str, str | datetime.date]]:
    yield "command", "voucher collect"
    yield "as_of", said.as_of
    yield (
        "period",
        f"{said.period.first}..{said.period.last}" if said.period else label("everything", said.lang),
    )
    yield "archive", said.archive
    yield "ledger", said.ledger
    yield "ledger_id", said.ledger_id
