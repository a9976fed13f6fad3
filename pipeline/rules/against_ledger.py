"""Rows against the ledger: what it holds of their charges, the voucher kind that it binds their tickets to, what is in doubt.

Sources: carrier-interface.md, Issue invoice, rule 2, and Issue itinerary, rule 6 (an invoice or an itinerary, never
both); that nothing is issued twice is the product's promise.
"""

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from pipeline.model.columns import COLUMN, COMPONENTS, FEES, HEADER_FIELDS
from pipeline.model.known_charges import KnownCharge, KnownCharges, in_doubt_since
from pipeline.model.message import Fact, Message, Private, Term, joined, message
from pipeline.model.money import money_shown
from pipeline.model.profile import Profile
from pipeline.model.request import Identity, wire_text
from pipeline.model.table import Finding, Mask, among
from pipeline.rules.rows import Rows
from pipeline.rules.rule import fare, identified, refund

#: So many tickets are named in a line.
_NAMED = 3


def held_rows(rows: Rows, holdings: KnownCharges, profile: Profile) -> dict[int, KnownCharge]:
    """The rows whose charge the ledger holds, by identity or by equal wire codes."""
    if not holdings.held:
        return {}
    by_wire = {(h.identity.ticket_no, h.wire): h for h in holdings.held.values() if h.wire}
    tickets = list({identity.ticket_no for identity in holdings.held})
    asked = np.flatnonzero(identified(rows) & among(rows.ticket_no, tickets))
    found: dict[int, KnownCharge] = {}
    for row in asked.tolist():
        ticket, charge, product = rows.ticket_no[row], rows.charge[row], rows.product[row]
        holding = (
            holdings.held.get(Identity(ticket, charge, product))
            or by_wire.get((ticket, wire_text(profile.wire(charge, product))))
            or holdings.held.get(Identity(ticket, charge, ""))  # a statement that does not say which product
        )
        if holding:
            found[row] = holding
    return found


def ledger_kinds(holdings: KnownCharges) -> dict[str, KnownCharge]:
    """By ticket, a fare or refund that is issued or in doubt: the kind that the ticket is bound to."""
    return {
        identity.ticket_no: holding
        for identity, holding in holdings.held.items()
        if identity.charge in ("ticket_fare", "refund")
    }


def ledger_conflicts(
    rows: Rows,
    bound: Mapping[str, KnownCharge],
    held: Mapping[int, KnownCharge],
    both_kinds: Container[str],
    time_zone: str,
) -> list[Finding]:
    """`voucher_conflict` against the ledger, for the charge itself or the ticket's other charge."""
    if not bound:
        return []
    mine = identified(rows) & (fare(rows) | refund(rows)) & among(rows.ticket_no, bound)
    at, others, hints = [], list[Fact](), []
    for row in np.flatnonzero(mine).tolist():
        holding = held.get(row, bound[rows.ticket_no[row]])
        if row in held and holding.state != "issued":
            continue  # in doubt itself: unknown, whatever it asks for
        neither = row not in held and rows.ticket_no[row] in both_kinds
        if rows.voucher[row] and (neither or rows.voucher[row] != holding.voucher):
            at.append(row)
            others.append(_held(holding, time_zone))
            hints.append("issued_as_other" if row in held else "")
    if not at:
        return []
    return [
        Finding("voucher_conflict", "voucher", np.array(at, dtype=np.int64), {"other": others, "hint": hints})
    ]


def both_owed(rows: Rows, ready: Mask, holdings: KnownCharges) -> tuple[Message, ...]:
    """A line about tickets of which a refund is to be sent and the fare was issued before, or the other way round; none where there is
    none.

    Within an input such rows are not sent (`ticket_conflicts.status_conflicts`). What an earlier row said of its ticket was true then, as
    the flight may have been given back since: so somebody is told, and the row is sent.
    """
    other = {"refund": "ticket_fare", "ticket_fare": "refund"}
    issued = {(of.ticket_no, of.charge) for of, holding in holdings.held.items() if holding.state == "issued"}
    whole = rows.says("ticket_status", "used") | rows.says("ticket_status", "refunded")
    at = np.flatnonzero(ready & whole & among(rows.ticket_no, list({ticket for ticket, _ in issued})))
    tickets = [
        rows.ticket_no[row]
        for row in at.tolist()
        if (rows.ticket_no[row], other.get(rows.charge[row])) in issued
    ]
    if not tickets:
        return ()
    named = [*tickets[:_NAMED], *(["…"] if len(tickets) > _NAMED else [])]
    return (
        message(
            "The fare was issued before of tickets whose refund is here, or the other way round: {tickets} (tickets: {count}). Where such a ticket was"
            " given back as a whole, have the voucher of its fare reversed; where a part was flown, write partly_used",
            count=len(tickets),
            tickets=joined(named),
        ),
    )


def _held(holding: KnownCharge, time_zone: str) -> Message:
    facts: dict[str, Fact] = {
        "voucher": Term(holding.voucher, "choice"),
        "day": holding.day(time_zone),
        "place": holding.place,
    }
    if holding.in_hand:
        return message("{voucher} that another run is sending now, {place}", **facts)
    if holding.state != "issued":
        return message("{voucher} in doubt since {day}, {place}", **facts)
    return message("{voucher} {number} on {day}, {place}", number=holding.number, **facts)


def issued_before(
    rows: Rows,
    held: Mapping[int, KnownCharge],
    silent: Container[int],
    wrong: Mapping[str, Mask],
    time_zone: str,
) -> list[Finding]:
    """Where each issued charge was issued: `differs_from_issued` if its row now says another amount or buyer.

    Rows that are `silent` have another reason: they conflict with it, or repeat another row. `wrong` has by column the
    rows that can't be understood there: what they hold says nothing. The fact `differences` says for each column what was
    issued and what the row says.
    """
    found: dict[str, list[tuple[int, dict[str, Fact]]]] = {}
    for row, holding in held.items():
        if holding.state != "issued" or row in silent:
            continue
        facts: dict[str, Fact] = {
            "issued_on": holding.day(time_zone),
            "place": holding.place,
            "number": holding.number,
        }
        if holding.elsewhere:
            found.setdefault("issued_elsewhere", []).append((row, facts))
            continue
        issued = {name: getattr(holding, name) for name in ("amount", "header_type", "header_name", "tax_no")}
        # Another charge that has the carrier's code of this one by now: it was not issued.
        issued |= {"charge": holding.identity.charge, "product": holding.identity.product}
        changed = [
            _difference(column, value, getattr(rows, column)[row])
            for column, value in issued.items()
            if getattr(rows, column)[row] != value and _readable(rows, row, column, wrong)
        ]
        if changed:
            facts["differences"] = joined(changed, "sentences")
            found.setdefault("differs_from_issued", []).append((row, facts))
        else:
            found.setdefault("issued_before", []).append((row, facts))
    return [_by_row(code, at) for code, at in found.items()]


def _readable(rows: Rows, row: int, column: str, wrong: Mapping[str, Mask]) -> bool:
    """Whether a row says what its amount, or a field of its buyer, is."""
    if column == "amount":
        parts = COMPONENTS.get(rows.charge[row]) or (FEES.get(rows.product[row], ""),)
        deciding = ("amount",) if rows.given_amount[row] else ("amount", *parts)
        return bool(rows.amount[row]) and not any(rows.bad(name)[row] for name in deciding)
    deciding = (column, "buyer") if column in HEADER_FIELDS else (column,)
    return not any(name in wrong and wrong[name][row] for name in deciding)


def _difference(column: str, issued: Any, here: Any) -> Message:
    """One column in which a row differs from what was issued."""
    return message(
        "{column} was issued as “{issued}”, this row says “{here}”",
        column=Term(column), issued=_value(column, issued), here=_value(column, here),
    )  # fmt: skip


def _value(column: str, value: Any) -> Fact:
    if column == "amount":
        return money_shown(int(value))
    return Term(value, "choice") if value and COLUMN[column].choices else Private(value)


def _by_row(code: str, at: Sequence[tuple[int, Mapping[str, Fact]]]) -> Finding:
    facts = {name: [facts[name] for _, facts in at] for name in at[0][1]}
    return Finding(code, "", np.array([row for row, _ in at], dtype=np.int64), facts)


def doubts(held: Mapping[int, KnownCharge], silent: Container[int], time_zone: str) -> list[Finding]:
    """The reason why each charge that the ledger has in doubt is unknown, and since when, or who has it in hand; none of rows that are
    `silent`.
    """
    found: dict[str, list[tuple[int, dict[str, Fact]]]] = {}
    for row, holding in held.items():
        if holding.state == "unknown" and row not in silent:
            code = "in_hand" if holding.in_hand else holding.reason or "run_killed"
            since = in_doubt_since(holding.day(time_zone), holding.place)
            earlier = message("Asked for from {place}. ", place=holding.place) if holding.in_hand else since
            facts: dict[str, Fact] = {"detail": holding.detail, "earlier": earlier}
            found.setdefault(code, []).append((row, facts))
    return [_by_row(code, at) for code, at in found.items()]
