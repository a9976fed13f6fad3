"""The sheet Unknown: requests whose outcome is unknown, with columns to fill in what the carrier says."""

from typing import Any

from pipeline.messages.translate import choice_word, rendered
from pipeline.model.message import message
from pipeline.model.money import MINOR, money_shown
from pipeline.model.result import RunResult
from pipeline.model.result_values import UnknownAttempt
from pipeline.reporting.links import Cell, Places
from pipeline.reporting.reason_lines import reason_lines
from pipeline.reporting.sheet_requests import fields_of, listed
from pipeline.reporting.xlsx.book import Book
from pipeline.reporting.xlsx.column_specs import field
from pipeline.reporting.xlsx.row_stream import by_column
from pipeline.reporting.xlsx.styles import Style

#: What a person may answer about an unknown outcome; read back by `voucher reconcile --resolved`.
RESOLUTIONS = ("issued", "not issued")

#: What is said where an answer is chosen, in XlsxWriter's words.
ANSWER_CHECK = {
    "input_title": message("What the carrier says"),
    "input_message": message(
        "issued: the carrier has it; enter its number. not issued: the carrier knows nothing of it. Name yourself and the"
        " evidence."
    ),
    "error_message": message("Choose issued or not issued."),
}

_KEYS = 2  # ledger and request
_MOST_DOUBTED = 500  # of an unknown request, which may stand on no other sheet
_UNKNOWN = (
    "ledger", "request", "attempt", "voucher", "tickets", "header_name", "market", "amount", "currency",
    "reason", "what_to_do", "trace_id", "resolution", "number", "resolved_by", "evidence",
)  # fmt: skip


def _doubt(doubt: UnknownAttempt, result: RunResult, places: Places) -> tuple[Any, ...]:
    lang = result.lang
    inside = [
        f"{of.ticket_no} {choice_word(of.charge, lang)} {money_shown(amount)}" for of, amount in doubt.charges
    ]
    return (
        doubt.epoch,
        Cell(doubt.request_id, places.requests.get(doubt.request_id, "")),
        doubt.attempt,
        choice_word(doubt.voucher, lang),
        listed(inside, _MOST_DOUBTED, lang),
        doubt.header_name,
        choice_word(doubt.market, lang),
        doubt.amount / MINOR,
        result.currency,
        reason_lines((doubt.reason,), lang),
        doubt.reason.cure,
        doubt.trace_id,
        *(text or None for text in doubt.typed),
    )


def add_unknown(book: Book, result: RunResult, places: Places) -> None:
    """Write the sheet Unknown: one line a request in doubt, with what a person finds out left blank.

    The answers are the same two words in every language, since they are read back.
    """
    amounts = (doubt.amount for doubt in result.doubts)
    fields = [
        field(name, result.lang, Style.ANSWER) if name == "number" else shown
        for name, shown in zip(_UNKNOWN, fields_of(_UNKNOWN, amounts, result.lang), strict=True)
    ]
    at = _UNKNOWN.index("resolution")
    check = {"validate": "list", "source": list(RESOLUTIONS)} | {
        name: rendered(text, result.lang) for name, text in ANSWER_CHECK.items()
    }
    rows = by_column(_doubt(doubt, result, places) for doubt in result.doubts)
    for sheet, count in book.add_rows("Unknown", fields, len(result.doubts), rows, keys=_KEYS):
        if count:
            sheet.data_validation(1, at, count, at, check)
            book.print_side_by_side(sheet, (count, len(fields) - 1), _KEYS)
