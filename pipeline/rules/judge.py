"""The judgement: rules over rows and ledger, and the one status that each row ends in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from pipeline.model.encoded import EncodedColumn
from pipeline.model.known_charges import KnownCharge, KnownCharges
from pipeline.model.message import Message
from pipeline.model.profile import Terms
from pipeline.model.status import FINDING_RANK, STATUS_OF
from pipeline.model.table import (
    Finding,
    Mask,
    Table,
    Texts,
    among,
)
from pipeline.rules import (
    against_ledger,
    amounts,
    ancillaries,
    buyers,
    codes,
    deadlines,
    duplicates,
    fares,
    future_dates,
    refunds,
    required,
    ticket_conflicts,
)
from pipeline.rules.overridden_buyers import overridden
from pipeline.rules.rows import Rows, resolve
from pipeline.rules.rule import Rule, fare, refund
from pipeline.rules.wide_bills import of_charges

RULES: tuple[Rule, ...] = (
    *required.RULES,
    *amounts.RULES,
    *future_dates.RULES,
    *buyers.RULES,
    *codes.RULES,
    *fares.RULES,
    *refunds.RULES,
    *ancillaries.RULES,
    *deadlines.RULES,
)

#: The conditions that an itinerary has beyond those of an invoice; by them `auto` chooses.
ITINERARY_CONDITIONS: tuple[Rule, ...] = (
    required.NEEDS_FLIGHT_DATE,
    buyers.NEEDS_EMAIL,
    buyers.NEEDS_PHONE,
    deadlines.FLIGHT_TOO_OLD,
)


@dataclass(frozen=True)
class Verdicts:
    """The judged rows: `status` by row (ready where it may be sent), findings, what is held, and what a person should know."""

    rows: Rows
    status: Texts
    findings: tuple[Finding, ...]
    held: Mapping[int, KnownCharge]
    notes: tuple[Message, ...]

    @property
    def in_doubt(self) -> list[tuple[str, int]]:
        """The (request, attempt) pairs whose outcome is unknown and that hold rows of this input."""
        return self._attempts("unknown")

    @property
    def issued_before(self) -> list[tuple[str, int]]:
        """The (request, attempt) pairs that were issued and hold rows of this input."""
        return self._attempts("issued")

    def _attempts(self, state: str) -> list[tuple[str, int]]:
        own = (held for held in self.held.values() if held.state == state and not held.elsewhere)
        return sorted({(held.request_id, held.attempt) for held in own})

    @property
    def ready(self) -> Mask:
        """The rows that may be sent."""
        return np.asarray(self.status == "ready", dtype=bool)


def _chosen(
    rows: Rows, held: Mapping[int, KnownCharge], bound: Mapping[str, KnownCharge], terms: Terms
) -> Rows:
    """`auto` decided: an itinerary where a fare's conditions for one hold, else an invoice.

    Conditions are the itinerary's own, and that the ticket is not bound to invoices already, by the
    ledger or by a refund in the same input. A charge that the ledger holds stays what it was.
    """
    voucher, auto = rows.coded("voucher"), rows.says("voucher", "auto")
    supposed = rows.asking(voucher.but(auto & fare(rows), "itinerary"))
    broken = np.any([rule.broken(supposed, terms) for rule in ITINERARY_CONDITIONS], axis=0)
    has_refund = rows.of_tickets(refund(rows))
    to_invoices = among(rows.ticket_no, [ticket for ticket, h in bound.items() if h.voucher == "invoice"])
    itinerary = fare(rows) & ~broken & ~has_refund & ~to_invoices
    chosen = voucher.but(auto, "invoice").but(auto & itinerary, "itinerary")
    return rows.asking(_as_held(chosen, held, auto))


def _as_held(kinds: EncodedColumn, held: Mapping[int, KnownCharge], where: Mask) -> EncodedColumn:
    """Kinds of voucher, those of the charges that the ledger holds as it has them."""
    for voucher in {holding.voucher for holding in held.values()}:
        mine = np.zeros(len(kinds), dtype=bool)
        mine[[row for row, holding in held.items() if holding.voucher == voucher]] = True
        kinds = kinds.but(mine & where, voucher)
    return kinds


def _statuses(size: int, findings: list[Finding]) -> Texts:
    rank = np.zeros(size, dtype=np.int8)
    for finding in findings:
        np.maximum.at(rank, finding.rows, FINDING_RANK.get(STATUS_OF[finding.code], 0))
    names = np.array(["ready", *sorted(FINDING_RANK, key=lambda name: FINDING_RANK[name])], dtype=object)
    return names[rank]


def judge(table: Table, holdings: KnownCharges, terms: Terms) -> Verdicts:
    """Judge every row by its own cells, the other rows, and what the ledger holds.

    Where the ledger holds a row's charge the ledger decides: already issued, unknown, or in conflict
    with the kind of voucher that was issued (the first of its rows, and those that differ from it); today's rules have no say in it (interface.md, Row status).
    """
    resolved, time_zone = resolve(table), terms.profile.carrier.time_zone
    bound = against_ledger.ledger_kinds(holdings)
    held = against_ledger.held_rows(resolved, holdings, terms.profile)
    rows = _chosen(resolved, held, bound, terms)
    kinds = _as_held(rows.coded("voucher"), held, np.ones(len(rows), dtype=bool))
    of_ledger = against_ledger.ledger_conflicts(rows, bound, held, holdings.both_kinds, time_zone)
    by_itself = [
        *(of_charges(finding, rows.line) for finding in table.findings),
        *(found for rule in RULES if (found := rule.find(rows, terms))),
    ]
    wrong = _not_understood(by_itself, len(rows))
    by_rule = [
        *by_itself,
        *duplicates.duplicates(rows, terms.profile, wrong, held),
        *ticket_conflicts.voucher_conflicts(rows, kinds),
        *ticket_conflicts.status_conflicts(rows),
    ]
    findings = [kept for finding in by_rule if (kept := _without_held(finding, held))] + of_ledger
    status = _statuses(len(rows), findings)
    silent = {row for finding in of_ledger for row in finding.rows.tolist()}
    for row, holding in held.items():
        in_doubt = "already_issued" if holding.state == "issued" else "unknown"
        status[row] = "ineligible" if row in silent else in_doubt
    repeated = {
        row for finding in findings if finding.code == "repeated_charge" for row in finding.rows.tolist()
    }
    for row in repeated & held.keys() - silent:
        status[row] = "repeated"
    silent |= repeated
    findings += [
        *against_ledger.issued_before(rows, held, silent, wrong, time_zone),
        *against_ledger.doubts(held, silent, time_zone),
    ]
    return Verdicts(rows, status, tuple(findings), held, overridden(rows, table))


def _not_understood(found: Iterable[Finding], size: int) -> dict[str, Mask]:
    """By column the rows that are invalid for what stands there."""
    marks: dict[str, Mask] = {}
    for finding in found:
        if STATUS_OF[finding.code] == "invalid":
            marks.setdefault(finding.column, np.zeros(size, dtype=bool))[finding.rows] = True
    return marks


def _without_held(finding: Finding, held: Mapping[int, KnownCharge]) -> Finding | None:
    """A finding without the rows that the ledger decides: eligibility is no question there any more.

    What can't be read stays, because a person has to see it; and so does that a row repeats another, which counts.
    """
    if STATUS_OF[finding.code] in ("invalid", "repeated") or not held:
        return finding
    kept = np.flatnonzero(~np.isin(finding.rows, list(held)))
    return finding.at(kept, finding.rows[kept]) if len(kept) else None
