"""How long a charge may be requested: a year for an invoice, 180 days for an itinerary; and by charge the last day of it.

Sources: carrier-interface.md, Limits, and Issue itinerary, rule 4. Days are the carrier's calendar days, and the last day is
still in time. A refund has no last day. The Summary shows the days that are near while there is still time.
"""

import numpy as np
import pandas as pd

from pipeline.model.profile import Terms
from pipeline.model.table import Days, Indices, Mask
from pipeline.rules.rows import Rows
from pipeline.rules.rule import (
    Example,
    Facts,
    Rule,
    ancillary,
    before,
    day_texts,
    fare,
    invoice,
    itinerary,
)
from pipeline.rules.ticket_status import still_open, used

#: From the day of the flight on, for an itinerary.
ITINERARY_DAYS = np.timedelta64(180, "D")


def one_year_after(days: Days) -> Days:
    """The same day one year later; 28 February for 29 February.

    >>> one_year_after(np.array(["2024-02-29", "2025-11-20"], dtype="datetime64[D]")).astype(str).tolist()
    ['2025-02-28', '2026-11-20']
    """
    codes, distinct = pd.factorize(days.astype(np.int64))  # a month has few days
    each = distinct.astype("datetime64[D]")
    months = each.astype("datetime64[M]")
    later = months + np.timedelta64(12, "M")
    last_of_month = (later + np.timedelta64(1, "M")).astype("datetime64[D]") - np.timedelta64(1, "D")
    same_day: Days = np.minimum(
        later.astype("datetime64[D]") + (each - months.astype("datetime64[D]")), last_of_month
    )
    return same_day[codes]


def last_days(rows: Rows) -> Days:
    """By charge, the last day to request it; NaT where it has none, or none that is known yet."""
    found = np.full(len(rows), np.datetime64("NaT", "D"), dtype="datetime64[D]")
    for applies, days in (
        (fare(rows) & used(rows) & invoice(rows), one_year_after(rows.used_on)),
        (fare(rows) & used(rows) & itinerary(rows), rows.flight_date + ITINERARY_DAYS),
        (ancillary(rows), one_year_after(rows.purchased_on)),  # whatever its ticket's status
    ):
        found = np.where(applies, days, found)
    return found


def _fare_window_closed(rows: Rows, terms: Terms) -> Mask:
    return fare(rows) & invoice(rows) & ~still_open(rows) & before(one_year_after(rows.used_on), terms.as_of)


def _flight_too_old(rows: Rows, terms: Terms) -> Mask:
    return (
        fare(rows)
        & itinerary(rows)
        & ~still_open(rows)
        & before(rows.flight_date + ITINERARY_DAYS, terms.as_of)
    )


def _last_fare_day(rows: Rows, broken: Indices, _terms: Terms) -> Facts:
    return {"last_day": day_texts(one_year_after(rows.used_on[broken]))}


def _last_itinerary_day(rows: Rows, broken: Indices, _terms: Terms) -> Facts:
    return {"last_day": day_texts(rows.flight_date[broken] + ITINERARY_DAYS)}


def _ancillary_window_closed(rows: Rows, terms: Terms) -> Mask:
    return ancillary(rows) & before(one_year_after(rows.purchased_on), terms.as_of)


def _last_ancillary_day(rows: Rows, broken: Indices, _terms: Terms) -> Facts:
    return {"last_day": day_texts(one_year_after(rows.purchased_on[broken]))}


_BAGGAGE = {"charge": "ancillary", "product": "baggage", "purchased_on": "2026-10-01"}

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
        "fare_window_closed", "used_on",
        "carrier-interface.md, Limits: time to request ticket fare charge, within one year after the ticket was used",
        _fare_window_closed,
        (
            Example(False, {"used_on": "2025-11-20", "flight_date": "2025-11-20"}),
            Example(True, {"used_on": "2025-11-19", "flight_date": "2025-11-19"}),
            Example(False, {"used_on": "2025-11-20", "flight_date": "2025-11-01"}),
            Example(True, {"flight_date": "2025-11-19", "used_on": ""}),
            Example(False, {"flight_date": "2025-11-19", "used_on": "", "ticket_status": "open"}),
        ),
        _last_fare_day,
    ),
    FLIGHT_TOO_OLD,
    Rule(
        "ancillary_window_closed", "purchased_on",
        "carrier-interface.md, Limits: time to request ancillary charge, within one year after purchase",
        _ancillary_window_closed,
        (
            Example(False, {**_BAGGAGE, "purchased_on": "2025-11-20"}),
            Example(True, {**_BAGGAGE, "purchased_on": "2025-11-19"}),
        ),
        _last_ancillary_day,
    ),
)  # fmt: skip
