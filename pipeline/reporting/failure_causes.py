"""Why rows failed, and the order in which Failures numbers that: what has to change in the row itself comes first."""

from collections.abc import Sequence
from typing import NamedTuple

from pipeline.model.columns import COLUMN
from pipeline.model.result_values import ReasonText
from pipeline.model.status import STATUS, STATUS_OF

_STATUSES, _COLUMNS = list(STATUS), list(COLUMN)


class Cause(NamedTuple):
    """Why rows failed: their status, and of their reasons the first, with the column or the profile's key that it is about, "" for none."""

    status: str
    code: str
    column: str
    key: str = ""

    @classmethod
    def of(cls, status: str, reasons: Sequence[ReasonText]) -> "Cause":
        """The reason of that status to begin with: what has to change in the row itself, before what the profile lacks for many."""
        own = sorted(reasons, key=lambda reason: (STATUS_OF[reason.code] != status, bool(reason.key)))
        return cls(status, own[0].code, own[0].column, own[0].key) if own else cls(status, "", "")

    @property
    def order(self) -> tuple[bool, bool, int, int, int, str]:
        """What a person has to mend in rows comes before what the profile lacks, and that before what time or another run does."""
        status = STATUS[self.status]
        return (
            status.tone != "bad",
            bool(self.key),
            _STATUSES.index(self.status),
            status.codes.index(self.code) if self.code in status.codes else len(status.codes),
            _COLUMNS.index(self.column) if self.column in COLUMN else len(_COLUMNS),
            self.key,
        )
