"""The sheets of requests: Invoices and Itineraries."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from pipeline.messages.translate import choice_word, rendered
from pipeline.model.columns import (
    Lang,
)
from pipeline.model.message import P_, message
from pipeline.model.money import MINOR
from pipeline.model.result import RunResult
from pipeline.model.result_values import RequestResult
from pipeline.model.status import ISSUED
from pipeline.reporting.links import AllRequests, Cell, Places
from pipeline.reporting.reason_lines import reason_lines
from pipeline.reporting.xlsx.book import Book
from pipeline.reporting.xlsx.column_specs import Field, field, roomy
from pipeline.reporting.xlsx.row_stream import by_column

#: What an invoice's number is: the tax office's number of the invoice is another (carrier-interface.md, invoiceId).
NUMBER = message("number (the carrier's request ID)")

#: Of a request, the run that sent it: this one or an earlier one.
RUN = P_("column", "run")

_NAME_WIDTH = 36  # characters; a longer name takes another line
_MOST_TICKETS = 30  # of an invoice; all of them are on the sheet Rows

_INVOICE = (
    "request", "attempt", "status", "number", "header_name", "tax_no", "market", "amount", "currency",
    "charges", "tickets", RUN, "trace_id", "reason",
)  # fmt: skip
_ITINERARY = (
    "ticket_no", "status", "number", "passenger_name", "header_name", "email", "amount", "currency",
    "market", "request", "attempt", RUN, "trace_id", "reason",
)  # fmt: skip


def listed(items: Sequence[str], most: int, lang: Lang) -> str:
    """A list in one cell, with what is left out said."""
    shown = ", ".join(items[:most])
    if len(items) <= most:
        return shown
    return rendered(message("{shown} … and {count} more", shown=shown, count=len(items) - most), lang)


def _reason(asked: RequestResult, lang: Lang) -> str:
    return reason_lines((asked.reason,), lang) if asked.reason else ""


def _status(asked: RequestResult, places: Places) -> Any:
    """A request's status, which leads to where something can be done about it."""
    if asked.status in ISSUED:
        return asked.status
    if asked.status == "unknown":
        where = places.doubts.get(asked.request.request_id, "")
    else:
        where = next((places.failures[row] for row in asked.rows if row in places.failures), "")
    return Cell(asked.status, where)


def _run(asked: RequestResult, result: RunResult) -> int | None:
    """The run that sent a request, None where none did."""
    return (asked.run if asked.status == "already_issued" else result.origin.run) or None


def _invoice(asked: RequestResult, result: RunResult, places: Places) -> tuple[Any, ...]:
    request = asked.request
    tickets = list(dict.fromkeys(charge.identity.ticket_no for charge in request.charges))
    return (
        Cell(asked.request_id or None, Places.row(asked.rows[0])),
        asked.attempt or None,
        _status(asked, places),
        asked.number,
        request.header.header_name,
        request.header.tax_no,
        choice_word(request.market, result.lang),
        request.amount / MINOR,
        result.currency,
        len(request.charges),
        listed(tickets, _MOST_TICKETS, result.lang),
        _run(asked, result),
        asked.trace_id,
        _reason(asked, result.lang),
    )


def _itinerary(asked: RequestResult, result: RunResult, places: Places) -> tuple[Any, ...]:
    request = asked.request
    charge = request.charges[0]
    return (
        Cell(charge.identity.ticket_no, Places.row(asked.rows[0])),
        _status(asked, places),
        asked.number,
        charge.passenger_name,
        request.header.header_name,
        request.header.email,
        request.amount / MINOR,
        result.currency,
        choice_word(request.market, result.lang),
        asked.request_id or None,
        asked.attempt or None,
        _run(asked, result),
        asked.trace_id,
        _reason(asked, result.lang),
    )


def fields_of(names: Iterable[str], amounts: Iterable[int], lang: Lang) -> list[Field]:
    """Columns of our own sheets, with room for a buyer's name and for the largest amount."""
    largest = max(amounts, default=0) / MINOR
    fields = [field(name, lang) for name in names]
    return [
        replace(shown, width=_NAME_WIDTH) if shown.name == "header_name"
        else roomy(shown, [largest]) if shown.name == "amount"
        else shown
        for shown in fields
    ]  # fmt: skip


def _asked(result: RunResult, voucher: str, names: Sequence[str]) -> tuple[AllRequests, list[Field]]:
    """The requests for that voucher, and the columns of their sheet."""
    asked = AllRequests(result, voucher)
    return asked, fields_of(names, (one.amount for one in asked.asked), result.lang)


def add_invoices(book: Book, result: RunResult, places: Places) -> None:
    """Write the sheet Invoices: one row a request."""
    asked, fields = _asked(result, "invoice", _INVOICE)
    number = rendered(NUMBER, result.lang)
    fields = [replace(shown, heading=number) if shown.name == "number" else shown for shown in fields]
    book.add_rows("Invoices", fields, len(asked), by_column(_invoice(one, result, places) for one in asked))


def add_itineraries(book: Book, result: RunResult, places: Places) -> None:
    """Write the sheet Itineraries: one row a ticket."""
    asked, fields = _asked(result, "itinerary", _ITINERARY)
    book.add_rows(
        "Itineraries", fields, len(asked), by_column(_itinerary(one, result, places) for one in asked)
    )
