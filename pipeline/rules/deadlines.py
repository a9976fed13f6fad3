"""How long a charge may be requested: a year for an invoice, 180 days for an itinerary; and by charge the last day of it.

Sources: carrier-interface.md, Limits, and Issue itinerary, rule 4; the rules that close the windows are in fares.py and
ancillaries.py. A refund has no last day. The Summary shows the days that are near while there is still time.
"""

import numpy as np
import pandas as pd

from pipeline.model.table import Days
from pipeline.rules.rows import Rows
from pipeline.rules.rule import (
    ancillary,
    fare,
    invoice,
    itinerary,
    used,
)

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
