"""The last day on which each charge may still be requested, by the rules that close its window.

The days are those of fares.py and ancillaries.py; a refund has no last day. Nothing is judged here: the
Summary shows the days that are near while there is still time.
"""

import numpy as np

from pipeline.model.table import Days
from pipeline.rules.fares import ITINERARY_DAYS
from pipeline.rules.rows import Rows
from pipeline.rules.rule import (
    ancillary,
    fare,
    invoice,
    itinerary,
    one_year_after,
    used,
)


def last_days(rows: Rows) -> Days:
    """By charge, the last day to request it; NaT where it has none, or none that is known yet."""
    found = np.full(len(rows), np.datetime64("NaT"), dtype="datetime64[D]")
    for applies, days in (
        (fare(rows) & used(rows) & invoice(rows), one_year_after(rows.used_on)),
        (fare(rows) & used(rows) & itinerary(rows), rows.flight_date + ITINERARY_DAYS),
        (ancillary(rows), one_year_after(rows.purchased_on)),  # whatever its ticket's status
    ):
        found = np.where(applies, days, found)
    return found
