"""What a register of vouchers holds, as values."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, field

from pipeline.model.profile import Owner
from pipeline.model.register_line import RegisterLine
from pipeline.reporting.register_masking import NoMasks

STATES = ("issued", "unknown", "reversed")
TONES = {"issued": "good", "unknown": "warn", "reversed": "bad"}


@dataclass(frozen=True)
class Register:
    """What a register holds: its lines, by line the number of its buyer (from 1), and what is said of it as a whole.

    `days`: from the first to the last, None for everything. `undated`: charges known from statements that say no day, which no
    days have. `gap`: since when the ledger may lack something, "" where it lacks nothing. `of_buyer`: it is that buyer's alone.
    """

    lines: Sequence[RegisterLine]
    buyers: Sequence[int]
    days: tuple[datetime.date, datetime.date] | None
    carrier: Owner
    time_zone: str
    currency: str
    written: datetime.datetime
    undated: int
    gap: str
    masks: NoMasks = field(default_factory=NoMasks)
    of_buyer: int = 0
