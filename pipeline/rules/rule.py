"""The form of a rule, the terms that rules judge by, and the words that they are written in."""

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pipeline.model.columns import COMPONENTS, FEES
from pipeline.model.lazy import LazySequence
from pipeline.model.message import Fact, Term
from pipeline.model.money import money_shown
from pipeline.model.profile import Profile, Terms
from pipeline.model.table import (
    Days,
    Finding,
    Indices,
    Mask,
    Money,
)
from pipeline.rules.rows import Rows

Facts = Mapping[str, Fact | Sequence[Fact]]


@dataclass(frozen=True)
class Example:
    """A row by what it changes in a row that may be sent, and whether it breaks the rule.

    The row that may be sent is a used domestic ticket's fare of 1000.00 as an invoice, judged on
    2026-11-20 by a profile with every code filled in; `profile` replaces that profile.
    """

    breaks: bool
    cells: Mapping[str, str]
    profile: Profile | None = None


#: What a refund that may be sent changes in that row.
REFUND = {"charge": "refund", "ticket_status": "refunded", "refund_approved_on": "2026-11-01"}


def no_facts(_rows: Rows, _broken: Indices, _terms: Terms) -> Facts:
    """For messages that say only what the row itself holds."""
    return {}


@dataclass(frozen=True)
class Rule:
    """One rule: the code of its finding, the column to look at, where it comes from, when it breaks."""

    code: str
    column: str
    source: str
    broken: Callable[[Rows, Terms], Mask]
    examples: tuple[Example, ...]
    facts: Callable[[Rows, Indices, Terms], Facts] = field(default=no_facts)

    def find(self, rows: Rows, terms: Terms) -> Finding | None:
        """The finding about the rows that break the rule, None where there are none."""
        broken = np.flatnonzero(self.broken(rows, terms))
        return (
            Finding(self.code, self.column, broken, self.facts(rows, broken, terms)) if len(broken) else None
        )


# --- the words of the rules ----------------------------------------------------------------------


def identified(rows: Rows) -> Mask:
    """Rows whose charge is known for what it is: ticket, charge and product readable."""
    return (rows.ticket >= 0) & ~rows.says("charge", "") & ~rows.says("product", "")


def fare(rows: Rows) -> Mask:
    """Ticket fare charges."""
    return rows.says("charge", "ticket_fare")


def refund(rows: Rows) -> Mask:
    """Refund charges."""
    return rows.says("charge", "refund")


def ancillary(rows: Rows) -> Mask:
    """Ancillary service charges."""
    return rows.says("charge", "ancillary")


def invoice(rows: Rows) -> Mask:
    """Rows that go as an invoice."""
    return rows.says("voucher", "invoice")


def itinerary(rows: Rows) -> Mask:
    """Rows that go as an itinerary."""
    return rows.says("voucher", "itinerary")


def after(days: Days, last: datetime.date) -> Mask:
    """Days beyond another; days that are not given are beyond none."""
    return np.asarray(days > np.datetime64(last), dtype=bool)


def before(days: Days, first: datetime.date) -> Mask:
    """Days that come before another; days that are not given come before none."""
    return np.asarray(days < np.datetime64(first), dtype=bool)


def blank(rows: Rows, column: str) -> Mask:
    """Rows that hold nothing in a text or choice column (unreadable is not blank)."""
    return rows.says(column, "") & ~rows.bad(column)


def unreadable_part(rows: Rows) -> Mask:
    """Rows of which a component or a fee holds something that can't be read."""
    parts = {part for names in COMPONENTS.values() for part in names} | set(FEES.values())
    return np.asarray(np.any([rows.bad(part) for part in sorted(parts)], axis=0), dtype=bool)


def texts_seen(
    column: str, slip: Callable[[str], str] = lambda _value: ""
) -> Callable[[Rows, Indices, Terms], Facts]:
    """For messages: the texts of a column as they stand, each with its likely slip."""

    def facts(rows: Rows, broken: Indices, _terms: Terms) -> Facts:
        seen: list[str] = rows.text(column)[broken].tolist()
        return {"seen": seen, "hint": LazySequence(len(seen), lambda at: slip(seen[at]))}

    return facts


def money_texts(amounts: Money) -> Sequence[str]:
    """Amounts of minor units as texts, for messages."""
    return LazySequence(len(amounts), lambda at: money_shown(int(amounts[at])))


def choices(names: Sequence[str]) -> Sequence[Term]:
    """Choices by name, for messages."""
    return LazySequence(len(names), lambda at: Term(names[at], "choice"))


def day_texts(days: Days) -> list[str]:
    """Days as ISO texts, for messages."""
    texts: list[str] = days.astype("datetime64[D]").astype(str).tolist()
    return texts
