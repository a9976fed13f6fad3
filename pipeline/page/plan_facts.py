"""What a month came to when it was judged or sent, as the pages show it: counts, money, what presses, without its rows."""

from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import orjson

from pipeline.model.message import Message, from_text, to_text
from pipeline.model.plan_digest import plan_digest
from pipeline.model.profile import Owner, Profile
from pipeline.model.result import RunResult
from pipeline.model.status import STATUS
from pipeline.reporting.sheet_summary_last_days import due
from pipeline.reporting.tallies import Tallies
from pipeline.rules import told_as_issued
from pipeline.splitting import by_kind

_MOST_BUYERS = 200
_MOST_DAYS = 60


@dataclass(frozen=True)
class PlanFacts:
    """A month's judging or sending. Money is in minor units of `currency`; days are ISO texts.

    `totals`: rows by status. `tallies`: [charges, money] by status. `requests`: [voucher, market, requests, money] of what would be
    sent. `vouchers` and `buyers`: [name, charges, money, charges issued, charges ready], the buyers with the largest sums first.
    `days`: [last day, charges, money] of what can still be asked for and must be soon. `reasons`: [code, rows], the commonest first.
    `hidden`: [file, sheet, hidden rows, rows]. `notes` are messages as JSON (`message.to_text`).
    """

    as_of: str
    currency: str
    rows: int
    digest: str
    totals: dict[str, int]
    tallies: dict[str, list[int]]
    requests: list[list[Any]]
    vouchers: list[list[Any]]
    buyers: list[list[Any]]
    days: list[list[Any]]
    reasons: list[list[Any]]
    hidden: list[list[Any]]
    lacking: list[str]
    notes: list[str]
    unknown: int
    stopped: str

    @classmethod
    def of(cls, result: RunResult, profile: Profile, owner: Owner) -> "PlanFacts":
        """The facts of a run's result; `owner` is the carrier that its requests go to."""
        tallies, columns = Tallies(result), result.columns
        charges = columns.charges
        pressing = due(result)
        days: dict[str, list[int]] = {}
        for at in pressing.tolist():
            of_day = days.setdefault(str(charges.last_day[at].astype("datetime64[D]")), [0, 0])
            of_day[0] += 1
            of_day[1] += int(charges.amount[at])
        return cls(
            as_of=result.as_of,
            currency=result.currency,
            rows=columns.size,
            digest=plan_digest(result.asked, profile, owner),
            totals=result.totals,
            tallies={name: [*of] for name, of in charges.tallies().items()},
            requests=[[*kind] for kind in by_kind(result.asked)],
            vouchers=[_line(group) for group in tallies.by_voucher()],
            buyers=[_line(group) for group in tallies.by_buyer()[:_MOST_BUYERS]],
            days=[[day, *of] for day, of in [*days.items()][:_MOST_DAYS]],
            reasons=sorted(
                ([code, len(np.unique(rows))] for code, rows in columns.having.items()),
                key=lambda one: -one[1],
            ),
            hidden=[
                [one.file, one.sheet, one.hidden_rows, one.rows]
                for one in result.table.sheets
                if one.hidden_rows and not one.hidden_sheet
            ],
            lacking=[*result.lacking],
            notes=[to_text(note) for note in result.notes],
            unknown=len(result.doubts),
            stopped=to_text(result.stopped),
        )

    @classmethod
    def read(cls, text: str) -> "PlanFacts":
        """The facts that `text` was made of."""
        kept = orjson.loads(text)
        return cls(**{one.name: kept[one.name] for one in fields(cls)})

    @property
    def text(self) -> str:
        """The facts as JSON."""
        return orjson.dumps(asdict(self)).decode()

    @property
    def told(self) -> list[Message]:
        """What the reader and the rules have to tell of the files."""
        return [from_text(note) for note in self.notes]

    @property
    def told_as_issued(self) -> list[Message]:
        """What of it is that rows to be sent may have their voucher already."""
        return [note for note in self.told if note.text == told_as_issued.SAID]

    @property
    def request_count(self) -> int:
        """How many requests would be sent."""
        return sum(kind[2] for kind in self.requests)

    @property
    def money(self) -> int:
        """For how much, in minor units."""
        return sum(kind[3] for kind in self.requests)

    @property
    def stopped_message(self) -> Message:
        """Why the sending stopped early, nothing where it did not."""
        return from_text(self.stopped)

    @property
    def failing(self) -> int:
        """How many rows somebody has to correct, or to wait with."""
        return sum(count for name, count in self.totals.items() if STATUS[name].failure) - self.not_sent

    @property
    def not_sent(self) -> int:
        """How many rows may be right as they are, and did not reach the carrier."""
        return self.totals.get("not_sent", 0)

    @property
    def issued(self) -> int:
        """How many rows have their voucher."""
        return sum(count for name, count in self.totals.items() if STATUS[name].issued)


def _line(group: Any) -> list[Any]:
    return [group.name, group.all.charges, group.all.amount, group.issued.charges, group.ready.charges]
