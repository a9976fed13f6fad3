"""Whether a workbook's result is another than the last time, and whether it may still change by itself."""

import hashlib

from pipeline.model.result import RunResult

#: Row statuses after which a workbook has nothing more to come by itself.
_SETTLED_STATUSES = frozenset({"issued", "already_issued", "repeated", "invalid", "ineligible", "rejected"})
#: Reasons that a day, an answer of the carrier's in the profile, an outcome that is settled, or a file of buyers takes away.
_PASSING = frozenset(
    {"date_in_future", "code_not_configured", "amount_over_limit", "not_a_carrier_ticket", "voucher_conflict", "unknown_buyer"}
)  # fmt: skip


def fates(result: RunResult) -> str:
    """A digest of what became of every row, so that a night in which nothing changed writes no new workbook."""
    said = [
        (row.row, row.sheet, row.status, row.numbers, [reason.code for reason in row.reasons])
        for row in result.rows
    ]
    return hashlib.sha256(repr(said).encode()).hexdigest()[:20]


def unfinished(result: RunResult) -> bool:
    """Whether rows may come to another end without anybody's changing them: by time, by evidence, by the profile."""
    return any(
        charge.status not in _SETTLED_STATUSES or any(reason.code in _PASSING for reason in charge.reasons)
        for row in result.rows
        for charge in row.charges
    )
