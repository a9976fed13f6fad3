"""What a collection of itinerary files came to, as values: its workbook, report, last lines and exit code are drawn from it."""

import datetime
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pipeline.model import exit_code
from pipeline.model.columns import Lang
from pipeline.model.exit_code import ExitCode
from pipeline.model.file_status import MISSING, needs_person
from pipeline.model.itinerary_file import CollectedFile, NotReceived
from pipeline.model.message import Message
from pipeline.model.result_values import RunOrigin
from pipeline.model.settled import Decided
from pipeline.settlement.compare import Period
from pipeline.settlement.itinerary_matching import PATIENCE


@dataclass(frozen=True)
class Collection:
    """A whole collection: the files, and of the itineraries that were issued in `period` (None: ever) those not received.

    `decided` is what the files settled as evidence; `remaining`: so many mails are left for the next time.
    """

    files: tuple[CollectedFile, ...]
    issued: int
    not_received: tuple[NotReceived, ...]
    decided: Decided
    period: Period | None
    as_of: datetime.date
    lang: Lang
    ledger: str
    ledger_id: str
    origin: RunOrigin
    archive: str = ""
    remaining: int = 0

    @cached_property
    def states(self) -> Mapping[str, int]:
        """How many itineraries were received, differ, are missing: by what their files came to, of those there are."""
        waiting = Counter(one.status for one in self.not_received)
        received = self.issued - waiting.total()
        return {"received": received} | {name: waiting[name] for name in sorted(waiting)}

    @property
    def longest_missing(self) -> int:
        """For how many days the one is missing that is missing longest; 0 where none is."""
        return max((one.days for one in self.not_received if one.status == MISSING), default=0)

    @property
    def exit_code(self) -> ExitCode:
        """What the collection ends with: a file that is neither received, received before nor none at all, and an itinerary that
        differs, or has been missing for some days, need a person; mails that are left are read when it is run again.
        """
        odd = any(needs_person(one) for one in self.files)
        late = any(one.status != MISSING or one.days >= PATIENCE for one in self.not_received)
        return max(
            ExitCode.NEEDS_PERSON.where(odd or late or self.decided.troubles),
            ExitCode.STOPPED.where(self.remaining),
        )


@dataclass(frozen=True)
class Collected:
    """What a collection came to, the workbook that was written, and what went wrong in writing."""

    said: Collection
    workbook: Path | None = None
    problems: tuple[Message, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """What the command ends with."""
        return exit_code.where_written(self.said.exit_code, self.problems)
