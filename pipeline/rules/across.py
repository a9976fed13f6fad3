"""Rules between rows, and between rows and the ledger: one voucher kind a ticket, each charge once.

Sources: carrier-interface.md, Issue invoice, rule 2, and Issue itinerary, rule 6 (an invoice or an
itinerary, never both); that nothing is issued twice is the product's promise.
"""

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from pipeline.holdings import Holding, Holdings
from pipeline.profile import Profile
from pipeline.request import Identity, wire_text
from pipeline.rules.alike import Coded, alike
from pipeline.rules.rows import Rows
from pipeline.rules.rule import fare, refund
from pipeline.rules.together import Together
from pipeline.table import FIELD, PART, Finding, Mask, among, money_text

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


def _charge_keys(rows: Rows, profile: Profile) -> Coded:
    """What makes two charges of one ticket the same: equal wire codes, else equal names."""
    charge, product = rows.coded("charge"), rows.coded("product")
    kinds = alike([charge, product])
    names = (f"{rows.charge[at]}/{rows.product[at]}" for at in kinds.first.tolist())
    keys = [wire_text(profile.wire(*name.split("/"))) or name for name in names]
    return Coded.of(np.array(keys, dtype=object)).spread(kinds.group)


def duplicates(rows: Rows, profile: Profile) -> list[Finding]:
    """`duplicate_charge`: of identical rows all but the first, of differing ones every one."""
    keys = _charge_keys(rows, profile)
    charges = rows.same_ticket * len(keys.words) + keys.codes
    known = np.flatnonzero(identified(rows))
    groups = Together.of(known, charges[known])
    differing = {name: groups.differ(_comparable(getattr(rows, name)[groups.rows])) for name in _SAME}
    any_differs = np.any(list(differing.values()), axis=0)
    first = np.diff(groups.group, prepend=-1) != 0

    def fate(group: int) -> str:
        names = [name for name in _SAME if differing[name][group]]
        one_to_the_carrier = {"charge", "product"} & set(names)
        key = keys.words[keys.codes[groups.rows[groups.starts[group]]]]
        return f"wire {key}" if one_to_the_carrier else " ".join(names)

    return groups.finding("duplicate_charge", "ticket_no", rows, any_differs[groups.group] | ~first, fate)


def _comparable(values: np.ndarray) -> np.ndarray:
    """A column as whole numbers that are equal where its values are; days that are not given are equal."""
    return Coded.of(values).codes if values.dtype == object else values.astype(np.int64)


def conflicts(rows: Rows, kinds: Coded) -> list[Finding]:
    """`voucher_conflict` within the input: a ticket's fare and refund as different kinds of voucher.

    `kinds` is each row's kind, the ledger's where it holds the charge already.
    """
    mine = np.flatnonzero(identified(rows) & (fare(rows) | refund(rows)) & ~kinds.says(""))
    groups = Together.of(mine, rows.same_ticket[mine])
    mixed = groups.differ(kinds.codes[groups.rows])
    return groups.finding("voucher_conflict", "voucher", rows, mixed[groups.group])


def held_rows(rows: Rows, holdings: Holdings, profile: Profile) -> dict[int, Holding]:
    """The rows whose charge the ledger holds, by identity or by equal wire codes."""
    if not holdings.held:
        return {}
    by_wire = {(h.identity.ticket_no, h.wire): h for h in holdings.held.values() if h.wire}
    tickets = list({identity.ticket_no for identity in holdings.held})
    asked = np.flatnonzero(identified(rows) & among(rows.ticket_no, tickets))
    found: dict[int, Holding] = {}
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


def ledger_kinds(holdings: Holdings) -> dict[str, Holding]:
    """By ticket, a fare or refund that is issued or in doubt: the kind that the ticket is bound to."""
    return {
        identity.ticket_no: holding
        for identity, holding in holdings.held.items()
        if identity.charge in ("ticket_fare", "refund")
    }


def ledger_conflicts(
    rows: Rows,
    bound: Mapping[str, Holding],
    held: Mapping[int, Holding],
    both_kinds: Container[str],
    time_zone: str,
) -> list[Finding]:
    """`voucher_conflict` against the ledger, for the charge itself or the ticket's other charge."""
    if not bound:
        return []
    mine = identified(rows) & (fare(rows) | refund(rows)) & among(rows.ticket_no, bound)
    at, others = [], []
    for row in np.flatnonzero(mine).tolist():
        holding = held.get(row, bound[rows.ticket_no[row]])
        if row in held and holding.state != "issued":
            continue  # in doubt itself: unknown, whatever it asks for
        neither = row not in held and rows.ticket_no[row] in both_kinds
        if rows.voucher[row] and (neither or rows.voucher[row] != holding.voucher):
            at.append(row)
            known = f"{holding.number} on" if holding.state == "issued" else "in doubt since"
            others.append(f"{holding.voucher} {known} {holding.day(time_zone)}, {holding.place}")
    if not at:
        return []
    return [Finding("voucher_conflict", "voucher", np.array(at, dtype=np.int64), {"other": others})]


def issued_before(
    rows: Rows, held: Mapping[int, Holding], conflicting: Container[int], time_zone: str
) -> list[Finding]:
    """Where each issued charge was issued: `differs_from_issued` if its row now says another amount or buyer.

    The fact `differences` is, for each column, its name, what was issued and what the row says.
    """
    found: dict[str, list[tuple[int, dict[str, str]]]] = {}
    for row, holding in held.items():
        if holding.state != "issued" or row in conflicting:
            continue
        facts = {"issued_on": holding.day(time_zone), "place": holding.place, "number": holding.number}
        if holding.elsewhere:
            found.setdefault("issued_elsewhere", []).append((row, facts))
            continue
        issued = {name: getattr(holding, name) for name in ("amount", "header_type", "header_name", "tax_no")}
        # Another charge that has the carrier's code of this one by now: it was not issued.
        issued |= {"charge": holding.identity.charge, "product": holding.identity.product}
        changed = FIELD.join(
            PART.join((column, _as_text(value), _as_text(getattr(rows, column)[row])))
            for column, value in issued.items()
            if getattr(rows, column)[row] != value
        )
        if changed:
            found.setdefault("differs_from_issued", []).append((row, {**facts, "differences": changed}))
        else:
            found.setdefault("issued_before", []).append((row, facts))
    return [_by_row(code, at) for code, at in found.items()]


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else money_text(int(value))


def _by_row(code: str, at: Sequence[tuple[int, Mapping[str, str]]]) -> Finding:
    facts = {name: [facts[name] for _, facts in at] for name in at[0][1]}
    return Finding(code, "", np.array([row for row, _ in at], dtype=np.int64), facts)


def doubts(held: Mapping[int, Holding], time_zone: str) -> list[Finding]:
    """The reason why each charge that the ledger has in doubt is unknown, and since when."""
    found: dict[str, list[tuple[int, dict[str, str]]]] = {}
    for row, holding in held.items():
        if holding.state == "unknown":
            facts = {"detail": holding.detail, "earlier": f"{holding.day(time_zone)}, {holding.place}"}
            found.setdefault(holding.reason or "run_killed", []).append((row, facts))
    return [_by_row(code, at) for code, at in found.items()]
