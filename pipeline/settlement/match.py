"""Statement lines and the charges that we know of: which line speaks of which charge.

A ticket has one fare and one refund, so ticket and charge name them. It may have several ancillary charges; a line that
does not say which product it was is matched by its number. Where the carrier numbers its statement in a way of its own, it is
compared with what was issued for that amount; what is in doubt it never settles, for it may be about another product.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pipeline.model.evidence import StatementLine
from pipeline.model.known_charges import KnownCharge
from pipeline.model.request import Identity


@dataclass(frozen=True)
class MatchedLines:
    """Statement lines, each with the charge of ours that it speaks of; None where it is none that we know."""

    pairs: Sequence[tuple[StatementLine, Identity | None]]

    @classmethod
    def of(cls, lines: Sequence[StatementLine], held: Mapping[Identity, KnownCharge]) -> "MatchedLines":
        """Match lines to charges, as `matched` does."""
        found = matched(lines, held)
        return cls([(line, found[at]) for at, line in enumerate(lines)])

    @cached_property
    def by_charge(self) -> Mapping[Identity | None, Sequence[StatementLine]]:
        """The lines that speak of each charge."""
        found = defaultdict(list)
        for line, identity in self.pairs:
            found[identity].append(line)
        return found

    @cached_property
    def by_ticket(self) -> Mapping[str, Sequence[tuple[StatementLine, Identity | None]]]:
        """The lines of each ticket."""
        return self._by("ticket_no")

    @cached_property
    def by_number(self) -> Mapping[str, Sequence[tuple[StatementLine, Identity | None]]]:
        """The lines under each voucher's number."""
        return self._by("number")

    def _by(self, name: str) -> Mapping[str, Sequence[tuple[StatementLine, Identity | None]]]:
        found = defaultdict(list)
        for line, identity in self.pairs:
            found[getattr(line, name)].append((line, identity))
        return found


def matched(
    lines: Sequence[StatementLine], held: Mapping[Identity, KnownCharge]
) -> dict[int, Identity | None]:
    """By position of a line, the charge of ours that it speaks of; None where it is none that we know.

    `held` is what the ledger holds of the lines' tickets: issued, in doubt, or known from an earlier statement.
    """
    found: dict[int, Identity | None] = {}
    unsaid: dict[str, list[int]] = defaultdict(list)
    for at, line in enumerate(lines):
        if line.product:
            found[at] = line.identity if line.identity in held else None
        else:
            unsaid[line.ticket_no].append(at)
    for ticket_no, positions in unsaid.items():
        ours = [
            holding
            for identity, holding in held.items()
            if identity.ticket_no == ticket_no and identity.charge == "ancillary" and not holding.elsewhere
        ]
        found |= _by_number_or_amount([(at, lines[at]) for at in positions], ours, set(found.values()))
    return found


def _by_number_or_amount(
    lines: Iterable[tuple[int, StatementLine]], ours: Sequence[KnownCharge], taken: set[Identity | None]
) -> dict[int, Identity | None]:
    """Lines of one ticket that do not name their product, to its ancillary charges."""
    found: dict[int, Identity | None] = {}
    for at, line in lines:
        free = [holding for holding in ours if holding.identity not in taken]
        same = [
            one for one in (*free, *ours) if one.number == line.number and line.amount in (None, one.amount)
        ]
        if not same:
            same = [one for one in free if line.amount == one.amount]
            # Another number of the same shape is another voucher's.
            issued = [one for one in same if one.number and shape(one.number) != shape(line.number)]
            same = issued if len(same) == 1 else []
        found[at] = same[0].identity if same else None
        taken.add(found[at])
    return found


def shape(number: str) -> str:
    """How a number is made up: the count of its digits where it is nothing else, else its letters, digits and hyphens in turn.

    >>> shape("20179525952873829059"), shape("INV-0017")
    ('20', 'A-9')
    """
    if number.isdecimal():
        return str(len(number))
    return re.sub("[0-9]+", "9", re.sub("[A-Za-z]+", "A", number))
