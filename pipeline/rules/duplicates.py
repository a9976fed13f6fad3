"""Rules between rows, and between rows and the ledger: one voucher kind a ticket, each charge once.

Sources: carrier-interface.md, Issue invoice, rule 2, and Issue itinerary, rule 6 (an invoice or an
itinerary, never both); Terms (a fare is of a ticket that was used, a refund of one that was refunded: of a
ticket whose rows say both, neither is known to be owed); that nothing is issued twice is the product's promise.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pipeline.model.columns import COLUMN, COMPONENTS, FEES, HEADER_FIELDS
from pipeline.model.encoded import EncodedColumn, alike
from pipeline.model.known_charges import KnownCharge, KnownCharges, in_doubt_since
from pipeline.model.lazy import LazySequence
from pipeline.model.message import Fact, Message, Private, Term, joined, message, terms
from pipeline.model.profile import Profile
from pipeline.model.request import Identity, wire_text
from pipeline.model.status import STATUS_OF
from pipeline.model.table import (
    Finding,
    Mask,
    among,
    money_text,
)
from pipeline.rules.groups import Together, places
from pipeline.rules.rows import Rows
from pipeline.rules.rule import fare, refund

#: What two rows of one charge must agree in to be the same row twice: all that decides whether and
#: how it is sent.
_SAME = (
    "charge", "product", "amount", "voucher", "market", "passenger_name", "ticket_status", "flight_date",
    "used_on", "refund_approved_on", "purchased_on", "remarks", "header_type", "header_name", "tax_no",
    "phone", "email",
)  # fmt: skip


def identified(rows: Rows) -> Mask:
    """Rows whose charge is known for what it is: ticket, charge and product readable."""
    return (rows.ticket >= 0) & ~rows.says("charge", "") & ~rows.says("product", "")


def _charge_keys(rows: Rows, profile: Profile) -> EncodedColumn:
    """What makes two charges of one ticket the same: equal wire codes, else equal names."""
    charge, product = rows.coded("charge"), rows.coded("product")
    kinds = alike([charge, product])
    names = (f"{rows.charge[at]}/{rows.product[at]}" for at in kinds.first.tolist())
    keys = [wire_text(profile.wire(*name.split("/"))) or name for name in names]
    return EncodedColumn.of(np.array(keys, dtype=object)).spread(kinds.group)


def duplicates(
    rows: Rows, profile: Profile, found: Iterable[Finding], held: Iterable[int] = ()
) -> list[Finding]:
    """Rows of one charge: `repeated_charge` for identical ones but the first, `duplicate_charge` for differing ones.

    `found` is what is wrong with the rows by themselves: one that can't be understood repeats nothing, and beside one
    that can it differs, because what it says is not known. Of a charge that the ledger holds (its rows are `held`) no
    row is to be sent, so that those that are as the first repeat it, whatever others say.
    """
    keys = _charge_keys(rows, profile)
    charges = rows.same_ticket * len(keys.words) + keys.codes
    known = np.flatnonzero(identified(rows))
    groups = Together.of(known, charges[known])
    if not len(groups.rows):
        return []
    values = {name: _comparable(name, getattr(rows, name)[groups.rows]) for name in _SAME}
    differing = {name: groups.differ(numbers) for name, numbers in values.items()}
    wrong = _not_understood(found, len(rows))
    for column, marks in wrong.items():
        differs = groups.differ(marks[groups.rows].astype(np.int64))
        differing[column] = differing.get(column, np.zeros_like(differs)) | differs
    any_differs = np.any(list(differing.values()), axis=0)

    def fate(group: int) -> Message:
        names = [name for name, differs in differing.items() if differs[group]]
        one_to_the_carrier = {"charge", "product"} & set(names)
        key = keys.words[keys.codes[groups.rows[groups.starts[group]]]]
        return _told_apart_by_nothing(key) if one_to_the_carrier else _differ_in(names)

    refused = any_differs[groups.group]
    first = groups.starts[groups.group]
    of_held = np.zeros(len(rows), dtype=bool)
    of_held[list(held)] = True
    repeating = (~refused | of_held[groups.rows]) & (first != np.arange(len(groups.rows)))
    for numbers in values.values():
        repeating &= numbers == numbers[first]
    for marks in wrong.values():
        repeating &= ~(marks[groups.rows] | marks[groups.rows[first]])
    return [
        *groups.finding("duplicate_charge", "ticket_no", rows, refused, fate),
        *_repeats(rows, groups, repeating),
    ]


def _told_apart_by_nothing(code: str) -> Message:
    return message(
        "the carrier's code is {code} for each, so that it could not tell them apart, and none of them is sent",
        code=code,
    )


def _differ_in(columns: Iterable[str]) -> Message:
    return message("they differ in {columns}, so that none of them is sent", columns=terms(columns))


def _not_understood(found: Iterable[Finding], size: int) -> dict[str, Mask]:
    """By column the rows that are invalid for what stands there."""
    marks: dict[str, Mask] = {}
    for finding in found:
        if STATUS_OF[finding.code] == "invalid":
            marks.setdefault(finding.column, np.zeros(size, dtype=bool))[finding.rows] = True
    return marks


def _repeats(rows: Rows, groups: Together, chosen: Mask) -> list[Finding]:
    """`repeated_charge`; the fact `first` is the charge that each repeats, by its position."""
    at, first = groups.rows[chosen], groups.rows[groups.starts[groups.group[chosen]]]
    if not len(at):
        return []
    order = np.argsort(at)
    at, first = at[order], first[order]
    facts: dict[str, Sequence[Fact]] = {
        "other": LazySequence(len(at), lambda n: rows.place(int(first[n]))),
        "first": first.tolist(),
    }
    return [Finding("repeated_charge", "ticket_no", at, facts)]


def _comparable(name: str, values: np.ndarray) -> np.ndarray:
    """A column as whole numbers that are equal where its values are; days that are not given are equal, and names by their words."""
    if name == "passenger_name":
        values = np.array([" ".join(text.split()) for text in values.tolist()], dtype=object)
    return EncodedColumn.of(values).codes if values.dtype == object else values.astype(np.int64)


def conflicts(rows: Rows, kinds: EncodedColumn) -> list[Finding]:
    """`voucher_conflict` within the input: a ticket's fare and refund as different kinds of voucher.

    `kinds` is each row's kind, the ledger's where it holds the charge already.
    """
    mine = np.flatnonzero(identified(rows) & (fare(rows) | refund(rows)) & ~kinds.says(""))
    groups = Together.of(mine, rows.same_ticket[mine])
    mixed = groups.differ(kinds.codes[groups.rows])
    return groups.finding("voucher_conflict", "voucher", rows, mixed[groups.group])


def status_conflicts(rows: Rows) -> list[Finding]:
    """`status_conflict`: fares and refunds of a ticket that is used on one row and refunded on another.

    Every row of the ticket counts as what it says, a service's too and one with mistakes. A ticket that is both says
    `partly_used`; a ticket that is open on another row only waits there.
    """
    saying = {name: rows.says("ticket_status", name) for name in ("used", "refunded")}
    contradicted = np.all([rows.of_tickets(said) for said in saying.values()], axis=0)
    refused = np.flatnonzero(contradicted & (fare(rows) | refund(rows)))
    if not len(refused):
        return []
    tickets = rows.same_ticket[refused].tolist()
    facts = {}
    for name, said in saying.items():
        at: dict[int, list[int]] = {}
        for row in np.flatnonzero(contradicted & said).tolist():
            at.setdefault(int(rows.same_ticket[row]), []).append(row)
        where = {ticket: places(rows, those) for ticket, those in at.items()}
        facts[f"{name}_at"] = [where[ticket] for ticket in tickets]
    return [Finding("status_conflict", "ticket_status", refused, facts)]


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


def _held(holding: KnownCharge, time_zone: str) -> Message:
    facts: dict[str, Fact] = {
        "voucher": Term(holding.voucher, "choice"),
        "day": holding.day(time_zone),
        "place": holding.place,
    }
    if holding.state != "issued":
        return message("{voucher} in doubt since {day}, {place}", **facts)
    return message("{voucher} {number} on {day}, {place}", number=holding.number, **facts)


def issued_before(
    rows: Rows,
    held: Mapping[int, KnownCharge],
    silent: Container[int],
    by_itself: Iterable[Finding],
    time_zone: str,
) -> list[Finding]:
    """Where each issued charge was issued: `differs_from_issued` if its row now says another amount or buyer.

    Rows that are `silent` have another reason: they conflict with it, or repeat another row. What can't be read, as `by_itself` has it (what is wrong with the rows by themselves), says nothing. The fact
    `differences` says for each column what was issued and what the row says.
    """
    wrong = _not_understood(by_itself, len(rows)) if held else {}
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
        return money_text(int(value))
    return Term(value, "choice") if value and COLUMN[column].choices else Private(value)


def _by_row(code: str, at: Sequence[tuple[int, Mapping[str, Fact]]]) -> Finding:
    facts = {name: [facts[name] for _, facts in at] for name in at[0][1]}
    return Finding(code, "", np.array([row for row, _ in at], dtype=np.int64), facts)


def doubts(held: Mapping[int, KnownCharge], silent: Container[int], time_zone: str) -> list[Finding]:
    """The reason why each charge that the ledger has in doubt is unknown, and since when; none of rows that are `silent`."""
    found: dict[str, list[tuple[int, dict[str, Fact]]]] = {}
    for row, holding in held.items():
        if holding.state == "unknown" and row not in silent:
            facts: dict[str, Fact] = {
                "detail": holding.detail,
                "earlier": in_doubt_since(holding.day(time_zone), holding.place),
            }
            found.setdefault(holding.reason or "run_killed", []).append((row, facts))
    return [_by_row(code, at) for code, at in found.items()]
