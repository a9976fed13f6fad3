"""Who answers for a plan: what the page hands to the run that sends it."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass


def may_approve(person: str, prepared: Iterable[str]) -> bool:
    """Whether this person may approve, where two are asked for, what these prepared and proposed: nobody may their own.

    >>> may_approve("Amy", ["Anna"]), may_approve("anna ", ["Anna"]), may_approve("", ["Anna"])
    (True, False, False)
    """
    before = {name.strip().casefold() for name in prepared}
    return person.strip().casefold() not in {*before, ""}


@dataclass(frozen=True)
class Approval:
    """A plan, by its digest (plan_digest), that somebody has said yes to.

    `prepared_by` uploaded and corrected, `proposed_by` asked for the approval; where one person may do all, they may be blank, and
    nothing is `proposed_at` any time.
    """

    digest: str
    approved_by: str
    approved_at: datetime.datetime
    proposed_by: str = ""
    proposed_at: datetime.datetime | None = None
    prepared_by: tuple[str, ...] = ()

    @property
    def by_two(self) -> bool:
        """Whether who approved is another person than each who had a hand in it before."""
        return bool(self.proposed_by.strip()) and may_approve(
            self.approved_by, (self.proposed_by, *self.prepared_by)
        )
