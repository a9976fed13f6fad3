"""The reconciliation workbook: what agrees and what does not, a sheet a kind, and what to do about it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pipeline.messages.translate import choice_word, rendered, translated
from pipeline.model.columns import (
    RECONCILIATION_SHEETS,
    Lang,
)
from pipeline.model.message import JOINTS
from pipeline.model.money import MINOR
from pipeline.model.result import RunResult
from pipeline.reporting.links import Cell, NoPlaces, Places
from pipeline.reporting.result_workbook import write_book
from pipeline.reporting.sheet_buyers import add_buyers
from pipeline.reporting.sheet_failures import add_failures
from pipeline.reporting.sheet_reconciliation_summary import add_summary
from pipeline.reporting.sheet_unknown import add_unknown
from pipeline.reporting.words_reconciliation import tell
from pipeline.reporting.xlsx.book import Book, Cover
from pipeline.reporting.xlsx.column_specs import Field
from pipeline.reporting.xlsx.row_stream import by_column
from pipeline.reporting.xlsx.styles import Style
from pipeline.settlement.compare import KINDS, Compared
from pipeline.settlement.reconciliation_result import Reconciliation

_OURS = ("ticket_no", "charge", "product", "voucher", "buyer", "amount", "number", "issued_on", "status")
_STATEMENT = (
    "statement_voucher", "statement_number", "statement_amount", "statement_buyer", "statement_issued", "statement_place",
)  # fmt: skip
#: The sheets between Summary and Failures, each of one kind.
_KIND_OF = dict(zip(RECONCILIATION_SHEETS[1:-1], KINDS, strict=True))
_COLUMNS = {
    "agreed": (*_OURS, "request", "place", *_STATEMENT),
    "not_on_statement": (*_OURS, "request", "place"),
    "not_covered": (*_OURS, "request", "place"),
    "not_ours": (*_OURS[:3], *_STATEMENT, "reason", "place"),
    "differing": (*_OURS[:3], "differing", *_OURS[3:], *_STATEMENT, "request", "place", "reason"),
    "to_issue": ("last_day", *_OURS[:6], "status", "reason", "place"),
}
_LOOKS: dict[str, tuple[Style, int]] = {
    "ticket_no": (Style.IDENTIFIER, 16), "charge": (Style.TEXT, 14), "product": (Style.TEXT, 12), "voucher": (Style.TEXT, 12),
    "buyer": (Style.WRAP, 30), "amount": (Style.MONEY, 14), "number": (Style.IDENTIFIER, 24), "issued_on": (Style.DATE, 13),
    "status": (Style.STATUS, 15), "request": (Style.IDENTIFIER, 23), "place": (Style.WRAP, 34), "last_day": (Style.DATE, 13),
    "reason": (Style.WRAP, 54), "differing": (Style.WRAP, 24), "statement_voucher": (Style.TEXT, 14),
    "statement_number": (Style.IDENTIFIER, 24), "statement_amount": (Style.MONEY, 16), "statement_buyer": (Style.WRAP, 30),
    "statement_issued": (Style.TEXT, 26), "statement_place": (Style.WRAP, 34),
}  # fmt: skip


def write_reconciliation(done: Reconciliation, path: Path) -> Path:
    """Write the reconciliation workbook; give the path that it has, which is another where `path` was taken.

    Raises Stop where it can't be written; nothing is left behind then.
    """
    return write_book(
        path,
        Cover(tell("title", done.result.lang), done.result.lang, done.result.origin.is_sandbox),
        RECONCILIATION_SHEETS,
        lambda book: _fill(book, done),
    )


def _fill(book: Book, done: Reconciliation) -> None:
    result = done.result
    places = NoPlaces(result)
    adders: dict[str, Callable[[], None]] = {
        "Summary": lambda: add_summary(book, done),
        "Unknown": lambda: add_unknown(book, result, places),
        "Failures": lambda: _failures(book, result, places),
    }
    for sheet in RECONCILIATION_SHEETS:
        adders.get(sheet, lambda sheet=sheet: _entries(book, done, _KIND_OF[sheet], sheet))()


def _failures(book: Book, result: RunResult, places: Places) -> None:
    """Failures as in a result; where several workbooks came by the inbox, each has its own result for that."""
    if len(result.table):
        add_failures(book, result, places)
        add_buyers(book, result, places)
    else:
        book.add_rows(
            "Failures", [Field("status", tell("status", result.lang), Style.STATUS, 15)], 0, by_column([])
        )


def _entries(book: Book, done: Reconciliation, kind: str, sheet: str) -> None:
    lang, names = done.result.lang, _COLUMNS[kind]
    fields = [
        Field(name, tell("differing_column" if name == "differing" else name, lang), *_LOOKS[name])
        for name in names
    ]
    book.add_rows(sheet, fields, len(done.of(kind)), by_column(_rows(done, kind, names, lang)))


def _rows(done: Reconciliation, kind: str, names: tuple[str, ...], lang: Lang) -> Iterator[list[Any]]:
    for entry in done.of(kind):
        values = _values(entry, lang)
        yield [values[name] for name in names]


def _values(entry: Compared, lang: Lang) -> dict[str, Any]:
    line = entry.line
    listed: dict[str, Any] = dict.fromkeys(_STATEMENT, "")
    listed["statement_amount"] = None
    if line is not None:
        listed = {
            "statement_voucher": choice_word(line.voucher, lang),
            "statement_number": line.number,
            "statement_amount": None if line.amount is None else line.amount / MINOR,
            "statement_buyer": line.buyer,
            "statement_issued": line.issued_text.replace("T", " "),
            "statement_place": rendered(line.place, lang),
        }
    differing = translated(JOINTS["list"], lang).join(tell(name, lang) for name in entry.differing)
    for name, cell in (
        ("voucher", "statement_voucher"),
        ("number", "statement_number"),
        ("amount", "statement_amount"),
        ("buyer", "statement_buyer"),
    ):
        if name in entry.differing:
            listed[cell] = Cell(listed[cell], marked=True)
    return {
        "ticket_no": entry.ticket_no,
        "charge": choice_word(entry.charge, lang),
        "product": choice_word(entry.product, lang),
        "voucher": choice_word(entry.voucher, lang),
        "buyer": entry.buyer,
        "amount": None if entry.amount is None else entry.amount / MINOR,
        "number": entry.number,
        "issued_on": entry.issued_day,
        "status": entry.status,
        "request": entry.request_id,
        "place": rendered(entry.place, lang),
        "last_day": entry.last_day,
        "reason": rendered(entry.reason, lang),
        "differing": differing,
        **listed,
    }
