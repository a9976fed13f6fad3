"""The judgement: rules over rows and ledger, and the one status that each row ends in."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

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
    buyers,
    carrier_codes,
    component_sums,
    deadlines,
    duplicates,
    future_dates,
    invoice_limits,
    itinerary_charges,
    products,
    refund_approval,
    refund_fees,
    required_of_buyers,
    required_of_tickets,
    ticket_conflicts,
    ticket_prefixes,
    ticket_status,
    unseen_characters,
)
from pipeline.rules.auto_voucher import as_held, with_auto_decided
from pipeline.rules.overridden_buyers import overridden
from pipeline.rules.rows import Rows, resolve
from pipeline.rules.rule import Rule
from pipeline.rules.told_as_issued import told_as_issued
from pipeline.rules.wide_bills import of_charges

RULES: tuple[Rule, ...] = (
    *required_of_tickets.OF_TICKETS,
    *unseen_characters.RULES,
    *required_of_tickets.OF_CHARGES,
    *products.RULES,
    *component_sums.RULES,
    *invoice_limits.RULES,
    *future_dates.RULES,
    *required_of_buyers.RULES,
    *buyers.RULES,
    *carrier_codes.RULES,
    *ticket_prefixes.RULES,
    *ticket_status.OF_FARES,
    *ticket_status.OF_REFUNDS,
    *refund_approval.RULES,
    *refund_fees.RULES,
    *itinerary_charges.RULES,
    *ticket_status.OF_ANCILLARIES,
    *deadlines.RULES,
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
        own = (
            held
            for held in self.held.values()
            if held.state == state and not (held.elsewhere or held.in_hand)
        )
        return sorted({(held.request_id, held.attempt) for held in own})

    @property
    def ready(self) -> Mask:
        """The rows that may be sent."""
        return np.asarray(self.status == "ready", dtype=bool)


def _statuses(size: int, findings: list[Finding]) -> Texts:
    rank = np.zeros(size, dtype=np.int8)
    for finding in findings:
        np.maximum.at(rank, finding.rows, FINDING_RANK.get(STATUS_OF[finding.code], 0))
    names = np.array(["ready", *sorted(FINDING_RANK, key=lambda name: FINDING_RANK[name])], dtype=object)
    return names[rank]


def judge(table: Table, holdings: KnownCharges, terms: Terms) -> Verdicts:
    """Judge every row by its own cells, the other rows, and what the ledger holds.

    Where the ledger holds a row's charge the ledger decides: already issued, unknown, or in conflict with the kind of voucher that was
    issued (the first of its rows, and those that differ from it); today's rules have no say in it (interface.md, Row status).
    """
    resolved, time_zone = resolve(table), terms.profile.carrier.time_zone
    bound = against_ledger.ledger_kinds(holdings)
    held = against_ledger.held_rows(resolved, holdings, terms.profile)
    rows = with_auto_decided(resolved, held, bound, terms)
    kinds = as_held(rows.coded("voucher"), held, np.ones(len(rows), dtype=bool))
    of_ledger = against_ledger.ledger_conflicts(rows, bound, held, holdings.both_kinds, time_zone)
    silent = {row for finding in of_ledger for row in finding.rows.tolist()}
    by_itself = [
        *(of_charges(finding, rows.line) for finding in table.findings),
        *(found for rule in RULES if (found := rule.find(rows, terms))),
    ]
    wrong = _not_understood(by_itself, len(rows))
    by_rule = [
        *by_itself,
        *duplicates.duplicates(rows, terms.profile, wrong, held),
        # What conflicts with what was issued is told so, and not once more by the issued row.
        *(
            kept
            for found in ticket_conflicts.voucher_conflicts(rows, kinds)
            if (kept := _without(found, silent))
        ),
        *ticket_conflicts.status_conflicts(rows),
    ]
    findings = [kept for finding in by_rule if (kept := _without_held(finding, held))] + of_ledger
    status = _statuses(len(rows), findings)
    for row, holding in held.items():
        in_doubt = "not_sent" if holding.in_hand else "unknown"
        decided = "already_issued" if holding.state == "issued" else in_doubt
        status[row] = "ineligible" if row in silent else decided
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
    ready = np.asarray(status == "ready", dtype=bool)
    notes = (
        *overridden(rows, table),
        *against_ledger.both_owed(rows, ready, holdings),
        *told_as_issued(rows, ready, table),
    )
    # What the ledger has decided is of the kind that it has: an ancillary charge may ask for another one by now.
    by_ledger = among(status, ("already_issued", "unknown", "not_sent"))
    rows = rows.asking(as_held(rows.coded("voucher"), held, by_ledger)) if held else rows
    return Verdicts(rows, status, tuple(findings), held, notes)


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
    return finding if STATUS_OF[finding.code] in ("invalid", "repeated") else _without(finding, held)


def _without(finding: Finding, gone: Collection[int]) -> Finding | None:
    """A finding without these rows; None where it was of no other."""
    if not gone:
        return finding
    kept = np.flatnonzero(~np.isin(finding.rows, list(gone)))
    return finding.at(kept, finding.rows[kept]) if len(kept) else None
