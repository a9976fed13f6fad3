"""Who answers for a plan: what the page hands to the run that sends it."""

import datetime
from dataclasses import dataclass


@dataclass(frozen=True)
class Approval:
    """A plan, by its digest (plan_digest), that somebody has said yes to.

    `prepared_by` uploaded and corrected, `proposed_by` asked for the approval; where one person may do all, they may be blank.
    """

    digest: str
    approved_by: str
    approved_at: datetime.datetime
    proposed_by: str = ""
    prepared_by: tuple[str, ...] = ()

    @property
    def by_two(self) -> bool:
        """Whether who approved is another person than each who had a hand in it before."""
        before = {name.strip().casefold() for name in (self.proposed_by, *self.prepared_by)}
        return bool(self.proposed_by.strip()) and self.approved_by.strip().casefold() not in {*before, ""}
