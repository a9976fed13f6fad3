"""The comparison: tickets against ledger against statement, charge by charge.

Every charge that any of the three knows ends in one kind. What a statement shows and the ledger has alike agrees, and nothing
else: what is issued and was on no statement that could show it is `not_covered`. An invoice's number on the statement may be
another than the ID that the carrier returned (carrier-interface.md, Invoice result: the ID names the request), so
numbers of invoices are compared by what they bring together, unless the statement shows our IDs.
"""

import datetime
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from pipeline.model.evidence import Statement, StatementLine
from pipeline.model.known_charges import KnownCharge
from pipeline.model.message import NOTHING, Fact, Message, message
from pipeline.model.places import row_at
from pipeline.model.request import Identity
from pipeline.model.result_values import ChargeResult, RowResult
from pipeline.model.settled import Decided
from pipeline.model.status import ISSUED
from pipeline.settlement.voucher_numbers import of_other_vouchers, shows_our_ids

if TYPE_CHECKING:  # a period alone needs no numpy, which is much to load
    from pipeline.model.result import RunResult

#: The kinds, in the order of the reconciliation workbook.
KINDS = ("agreed", "not_on_statement", "not_ours", "differing", "not_covered", "unknown", "to_issue")
#: Kinds that need a person: the books do not agree.
DISAGREEING = ("not_on_statement", "not_ours", "differing")
_BUYER_MOST = 200  # characters; statements cut long names


@dataclass(frozen=True)
class Compared:
    """One charge as the three have it. Amounts in minor units, days ISO text; "" and None: not known there."""

    kind: str
    ticket_no: str
    charge: str
    product: str
    voucher: str
    buyer: str
    amount: int | None
    number: str
    issued_on: str
    status: str
    request_id: str = ""
    place: Fact = NOTHING  # the workbook's row
    last_day: datetime.date | None = None
    reason: Fact = NOTHING  # a row's own is in the language of its result
    differing: tuple[str, ...] = ()
    line: StatementLine | None = None
    set_free: bool = False  # by evidence, and in none of this run's workbooks: nobody sends it unless asked

    @property
    def issued_day(self) -> datetime.date | None:
        """The calendar day on which the ledger had it issued."""
        return datetime.date.fromisoformat(self.issued_on) if self.issued_on else None


@dataclass(frozen=True)
class Period:
    """Calendar days of the carrier, both included; `said` where somebody asked for them."""

    first: datetime.date
    last: datetime.date
    said: bool = True

    def times(self, time_zone: str) -> tuple[datetime.datetime, datetime.datetime]:
        """Its beginning, and its end (not in it), in that time zone."""
        zone, after = ZoneInfo(time_zone), self.last + datetime.timedelta(days=1)
        first, end = (datetime.datetime.combine(day, datetime.time(), zone) for day in (self.first, after))
        return first, end

    def __contains__(self, day: datetime.date) -> bool:
        return self.first <= day <= self.last


def line_day(line: StatementLine, time_zone: str) -> datetime.date | None:
    """The carrier's calendar day on which a statement's line was issued."""
    if isinstance(line.issued, datetime.datetime) and line.issued.tzinfo is not None:
        return line.issued.astimezone(ZoneInfo(time_zone)).date()
    return line.issued_day


def period_of(lines: Sequence[StatementLine], time_zone: str) -> Period | None:
    """The days that a statement covers as far as its own lines show it; None where they have no dates."""
    days = [day for line in lines if (day := line_day(line, time_zone))]
    return Period(min(days), max(days), said=False) if days else None


@dataclass(frozen=True)
class Compare:
    """What is compared: the decided evidence, what the ledger holds, and the results of this run's rows."""

    decided: Decided
    statements: Sequence[Statement]
    held: Mapping[
        Identity, KnownCharge
    ]  # of the tickets on statements and in workbooks, and what the period asks for
    results: "Sequence[RunResult]"
    period: Period | None
    claimed: frozenset[str]  # the kinds of voucher of which the statements are said to list everything
    time_zone: str
    not_issued: Mapping[Identity, Message] = field(
        default_factory=dict
    )  # charges called so by evidence, with what to do

    def entries(self) -> list[Compared]:
        """Every charge in its kind; what is still to be issued soonest first."""
        entries = [*self._listed(), *self._not_listed(), *self._to_issue()]
        return sorted(
            entries,
            key=lambda entry: (
                KINDS.index(entry.kind),
                # One whose last day is not known may press most.
                datetime.date.min if entry.set_free else entry.last_day or datetime.date.max,
                entry.issued_on,
                entry.ticket_no,
                entry.charge,
            ),
        )

    def _rows(self) -> dict[Identity, tuple[RowResult, ChargeResult]]:
        """The first row of each charge that this run's workbooks have."""
        rows: dict[Identity, tuple[RowResult, ChargeResult]] = {}
        for result in self.results:
            for row in result.rows:
                for charge in row.charges:
                    rows.setdefault(Identity(row.ticket_no, charge.charge, charge.product), (row, charge))
        return rows

    def _listed(self) -> Iterator[Compared]:
        """Every line of the statements."""
        decided, rows = self.decided, self._rows()
        odd = self._numbers_that_differ()
        for at, line in enumerate(decided.lines):
            identity = decided.found[at]
            holding = self.held.get(identity) if identity else None
            if holding is None or holding.elsewhere:
                yield self._not_ours(line, rows.get(line.identity))
            elif holding.state != "issued":
                yield self._entry("unknown", holding, rows, line)
            else:
                row = ("row",) if _row_differs(rows, holding.identity) else ()
                differing = (*self._differing(holding, line, numbers_differ=at in odd), *row)
                yield self._entry("differing" if differing else "agreed", holding, rows, line, differing)

    def _not_listed(self) -> Iterator[Compared]:
        """What the ledger has and no statement lists."""
        listed = {identity for identity in self.decided.found.values() if identity}
        # An older statement beside it says nothing of what one lacks that was made later.
        made = [(of.kinds | self.claimed, of.made or of.written) for of in self.statements]
        rows = self._rows()
        for identity, holding in self.held.items():
            if identity in listed or holding.elsewhere or holding.in_hand:
                continue
            if holding.state != "issued":
                yield self._entry("unknown", holding, rows)
                continue
            expected = (
                self.period is not None
                and datetime.date.fromisoformat(holding.day(self.time_zone)) in self.period
                and any(
                    holding.voucher in kinds and datetime.datetime.fromisoformat(holding.at) <= at
                    for kinds, at in made
                )
            )
            if expected:
                yield self._entry("not_on_statement", holding, rows)
            elif identity in rows:
                differs = _row_differs(rows, identity)
                yield self._entry(
                    "differing" if differs else "not_covered",
                    holding,
                    rows,
                    differing=("row",) if differs else (),
                )

    def _to_issue(self) -> Iterator[Compared]:
        """Charges whose voucher is still to come, each once: of this run's rows, and those that evidence set free."""
        seen: set[Identity] = set()
        for result in self.results:
            for row in result.rows:
                for charge in row.charges:
                    identity = Identity(row.ticket_no, charge.charge, charge.product)
                    if charge.status in (*ISSUED, "repeated", "unknown", "ineligible") or identity in seen:
                        continue
                    seen.add(identity)
                    reason = next(iter(charge.reasons or row.reasons), None)
                    yield Compared(
                        "to_issue", row.ticket_no, charge.charge, charge.product, charge.voucher,
                        charge.buyer, charge.amount, "", "", charge.status, charge.request_id,
                        _place(row), charge.last_day, f"{reason.message} [{reason.code}]" if reason else NOTHING,
                    )  # fmt: skip

        rows = self._rows()
        for one in self.decided.settled:
            for identity, _, amount in one.attempt.charges if one.state == "not_sent" else ():
                if identity not in rows and identity not in self.held:
                    yield Compared(
                        "to_issue", identity.ticket_no, identity.charge, identity.product, one.attempt.voucher,
                        one.attempt.header_name, amount, "", "", "not_sent", one.attempt.request_id, one.attempt.place,
                        reason=message("its last day is not known here; voucher check with its workbook says it"), set_free=True,
                    )  # fmt: skip

    def _entry(
        self,
        kind: str,
        holding: KnownCharge,
        rows: Mapping[Identity, tuple[RowResult, ChargeResult]],
        line: StatementLine | None = None,
        differing: tuple[str, ...] = (),
    ) -> Compared:
        row, charge = rows.get(holding.identity, (None, None))
        status = charge.status if charge else holding.state
        reason = (
            next((f"{r.message} [{r.code}]" for r in charge.reasons), "")
            if charge and "row" in differing
            else ""
        )
        return Compared(
            kind, *(holding.identity.ticket_no, holding.identity.charge, holding.identity.product), holding.voucher,
            holding.header_name, holding.amount, holding.number, holding.day(self.time_zone), status, holding.request_id,
            _place(row) if row else holding.place, None, reason, differing, line,
        )  # fmt: skip

    def _not_ours(self, line: StatementLine, at: tuple[RowResult, ChargeResult] | None) -> Compared:
        return Compared(
            "not_ours", *(line.ticket_no, line.charge, line.product, line.voucher), "", None, "", "", "",
            place=_place(at[0]) if at else NOTHING, line=line, reason=self.not_issued.get(line.identity, NOTHING),
        )  # fmt: skip

    def _differing(self, holding: KnownCharge, line: StatementLine, *, numbers_differ: bool) -> Iterator[str]:
        if line.voucher != holding.voucher:
            yield "voucher"
        if line.amount is not None and line.amount != holding.amount:
            yield "amount"
        if line.buyer and _plain(line.buyer) != _plain(holding.header_name):
            yield "buyer"
        if numbers_differ:
            yield "number"

    def _numbers_that_differ(self) -> set[int]:
        """The lines whose number can't be that of our voucher, and those that join our vouchers or part one."""
        pairs = [
            (at, line, holding)
            for at, line in enumerate(self.decided.lines)
            if (identity := self.decided.found[at])
            and (holding := self.held.get(identity))
            and holding.state == "issued"
        ]
        others = of_other_vouchers([(line, h) for _, line, h in pairs])
        odd = {at for (at, *_), other in zip(pairs, others, strict=True) if other}
        for statement in self.statements:
            mine = [
                (at, line, h)
                for at, line, h in pairs
                if line.statement == statement.name and line.voucher == h.voucher == "invoice"
            ]
            if shows_our_ids((line, h) for _, line, h in mine):
                continue
            by_number, by_request = defaultdict(set), defaultdict(set)
            for _, line, holding in mine:
                by_number[line.number].add(holding.number)
                by_request[holding.number].add(line.number)
            odd |= {
                at for at, line, h in mine if len(by_number[line.number]) > 1 or len(by_request[h.number]) > 1
            }
        return odd


def in_month(entries: Iterable[Compared], period: Period, time_zone: str) -> list[Compared]:
    """The entries of a month: issued in it by the ledger or by the statement; what is open stays."""
    return [
        entry
        for entry in entries
        if entry.kind in ("unknown", "to_issue")
        or (entry.issued_on and datetime.date.fromisoformat(entry.issued_on) in period)
        or (entry.line is not None and (line_day(entry.line, time_zone) or period.first) in period)
    ]


def _plain(name: str) -> str:
    return " ".join(name.split())[:_BUYER_MOST].casefold()


def _row_differs(rows: Mapping[Identity, tuple[RowResult, ChargeResult]], identity: Identity) -> bool:
    """Whether this run's workbooks say something else of an issued charge than what was issued."""
    _, charge = rows.get(identity, (None, None))
    return charge is not None and bool(
        {"differs_from_issued", "voucher_conflict"} & {reason.code for reason in charge.reasons}
    )


def _place(row: RowResult) -> Message:
    return row_at(row.file, row.sheet, row.row)
