"""Which cells of a failing row are at fault, and marked so: on the sheet Failures and on the page."""

from pipeline.model.result_values import ReasonText
from pipeline.model.status import STATUS_OF


def at_fault(reason: ReasonText) -> bool:
    """Whether the cell that it is about is at fault: it can't be understood, or it is what a rule forbids, so that the row is
    issued only if a person changes that cell (or drops the row).

    No cell is at fault where time mends it (`waiting`), where nothing reached the carrier or it said no in its own words, and where the
    carrier profile lacks a key: that is filled in once, there, for all rows.
    """
    return bool(reason.column) and not reason.key and STATUS_OF[reason.code] in ("invalid", "ineligible")
