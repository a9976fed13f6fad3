"""Ticket fares: only of used tickets, as an invoice within one year or an itinerary within 180 days.

Sources: carrier-interface.md, Limits, and Issue itinerary, rules 3 and 4. A fare's days are the
carrier's calendar days, and the last day is still in time.
"""

from pipeline.model.profile import Terms
from pipeline.model.table import Indices, Mask
from pipeline.rules.deadlines import ITINERARY_DAYS, one_year_after
from pipeline.rules.rows import Rows
from pipeline.rules.rule import (
    Example,
    Facts,
    Rule,
    before,
    day_texts,
    fare,
    invoice,
    itinerary,
    refunded,
    still_open,
)


def _open(rows: Rows, _terms: Terms) -> Mask:
    return fare(rows) & still_open(rows)


def _refunded(rows: Rows, _terms: Terms) -> Mask:
    return fare(rows) & refunded(rows)


def _window_closed(rows: Rows, terms: Terms) -> Mask:
    return fare(rows) & invoice(rows) & ~still_open(rows) & before(one_year_after(rows.used_on), terms.day)


def _flight_too_old(rows: Rows, terms: Terms) -> Mask:
    return (
        fare(rows)
        & itinerary(rows)
        & ~still_open(rows)
        & before(rows.flight_date + ITINERARY_DAYS, terms.day)
    )


def _last_invoice_day(rows: Rows, broken: Indices, _terms: Terms) -> Facts:
    return {"last_day": day_texts(one_year_after(rows.used_on[broken]))}


def _last_itinerary_day(rows: Rows, broken: Indices, _terms: Terms) -> Facts:
    return {"last_day": day_texts(rows.flight_date[broken] + ITINERARY_DAYS)}


FLIGHT_TOO_OLD = Rule(
    "flight_too_old_for_itinerary", "flight_date",
    "carrier-interface.md, Limits: flight age for itinerary; Issue itinerary, rule 4",
    _flight_too_old,
    (
        Example(False, {"voucher": "itinerary", "flight_date": "2026-05-24"}),  # 180 days
        Example(True, {"voucher": "itinerary", "flight_date": "2026-05-23"}),  # 181 days
        Example(True, {"voucher": "itinerary", "flight_date": "2026-05-23", "used_on": "2026-11-01"}),
        Example(False, {"voucher": "itinerary", "flight_date": "2026-05-23", "ticket_status": "open"}),
        Example(False, {"voucher": "invoice", "flight_date": "2026-05-23"}),
    ),
    _last_itinerary_day,
)  # fmt: skip

RULES = (
    Rule(
        "ticket_still_open", "ticket_status",
        "carrier-interface.md, Terms: issued when the ticket has been used; Limits: ticket eligibility",
        _open,
        (Example(True, {"ticket_status": "open"}), Example(False, {"ticket_status": "used"})),
    ),
    Rule(
        "ticket_not_used", "ticket_status",
        "carrier-interface.md, Terms: issued when the ticket has been used; Issue itinerary, rule 3",
        _refunded,
        (
            Example(True, {"ticket_status": "refunded"}),
            Example(True, {"ticket_status": "refunded", "voucher": "itinerary"}),
            Example(False, {"ticket_status": "open"}),
        ),
    ),
    Rule(
        "fare_window_closed", "used_on",
        "carrier-interface.md, Limits: time to request ticket fare charge, within one year after the ticket was used",
        _window_closed,
        (
            Example(False, {"used_on": "2025-11-20", "flight_date": "2025-11-20"}),
            Example(True, {"used_on": "2025-11-19", "flight_date": "2025-11-19"}),
            Example(False, {"used_on": "2025-11-20", "flight_date": "2025-11-01"}),
            Example(True, {"flight_date": "2025-11-19", "used_on": ""}),
            Example(False, {"flight_date": "2025-11-19", "used_on": "", "ticket_status": "open"}),
        ),
        _last_invoice_day,
    ),
    FLIGHT_TOO_OLD,
)  # fmt: skip
