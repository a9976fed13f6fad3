"""What became of the input rows, column by column: where the result workbook looks at all rows of an account."""

from collections.abc import Sequence

from pipeline.account import RowAccount
from pipeline.reasons import STATUS


class Fates:
    """By a row's position: where it stood, its status, its voucher numbers and requests, its reasons and last day."""

    def __init__(self, rows: Sequence[RowAccount]) -> None:
        self.file = [row.file for row in rows]
        self.sheet = [row.sheet for row in rows]
        self.row = [row.row for row in rows]
        self.reasons = [row.reasons for row in rows]
        # Nearly all rows have one charge, which says at once what several have to be compared for.
        first = [row.charges[0] if len(row.charges) == 1 else None for row in rows]
        both = list(zip(first, rows, strict=True))
        self.status = [one.status if one else row.status for one, row in both]
        self.numbers = [one.number if one else "\n".join(row.numbers) for one, row in both]
        self.requests = [_of_one(one.request_id) if one else row.request_ids for one, row in both]
        self.last_day = [one.last_day if one else row.last_day for one, row in both]
        failures = {name for name, status in STATUS.items() if status.failure}
        #: Rows of which something has to be corrected or sent again.
        self.failed = [
            position
            for position, (one, row) in enumerate(both)
            if (one.status in failures if one else row.failed)
        ]

    def having(self, code: str, among: Sequence[int] | None = None) -> list[int]:
        """The rows with that reason, among all or some."""
        return [
            position
            for position in (range(len(self.reasons)) if among is None else among)
            if self.reasons[position] and any(reason.code == code for reason in self.reasons[position])
        ]


def _of_one(request_id: str) -> tuple[str, ...]:
    return (request_id,) if request_id else ()
