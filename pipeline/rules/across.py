"""Rules between rows, and between rows and the ledger: one voucher kind a ticket, each charge once.

Sources: carrier-interface.md, Issue invoice, rule 2, and Issue itinerary, rule 6 (an invoice or an
itinerary, never both); that nothing is issued twice is the product's promise.
"""

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from pipeline.holdings import Holding, Holdings
from pipeline.profile import Profile
from pipeline.request import Identity, wire_text
from pipeline.rules.rows import Rows
from pipeline.rules.rule import fare, refund
from pipeline.table import FIELD, PART, Finding, Mask, Texts, among, money_text

#: What two rows of one charge must agree in to be the same row twice: all that decides whether and
#: how it is sent.
_SAME = (
    "charge", "product", "amount", "voucher", "market", "passenger_name", "ticket_status", "flight_date",
    "used_on", "refund_approved_on", "purchased_on", "remarks", "header_type", "header_name", "tax_no",
    "phone", "email",
)  # fmt: skip


def identified(rows: Rows) -> Mask:
    """Rows whose charge is known for what it is: ticket, charge and product readable."""
    return np.asarray((rows.ticket_no != "") & (rows.charge != "") & (rows.product != ""), dtype=bool)


def _charge_keys(rows: Rows, profile: Profile) -> Texts:
    """What makes two charges of one ticket the same: equal wire codes, else equal names."""
    names = pd.Series(rows.charge + "/" + rows.product, dtype=object)
    keys = {name: wire_text(profile.wire(*name.split("/"))) or name for name in names.unique()}
    return names.map(keys).to_numpy(dtype=object)


def _others(rows: Rows, group: Sequence[int], row: int) -> str:
    places = [rows.place(other) for other in group if other != row]
    return "; ".join(places[:3]) + ("; …" if len(places) > 3 else "")


def _finding(code: str, column: str, rows: Rows, groups: Mapping[int, Sequence[int]]) -> list[Finding]:
    if not groups:
        return []
    at = sorted(groups)
    others = [_others(rows, groups[row], row) for row in at]
    return [Finding(code, column, np.array(at, dtype=np.int64), {"other": others})]


def duplicates(rows: Rows, profile: Profile) -> list[Finding]:
    """`duplicate_charge`: of identical rows all but the first, of differing ones every one."""
    known = np.flatnonzero(identified(rows))
    frame = pd.DataFrame(
        {"ticket": rows.ticket_no[known], "key": _charge_keys(rows, profile)[known]}, index=known
    )
    frame = frame[frame.duplicated(["ticket", "key"], keep=False)]
    content = pd.DataFrame({name: getattr(rows, name)[frame.index] for name in _SAME}, index=frame.index)
    refused: dict[int, Sequence[int]] = {}
    fate: dict[int, str] = {}
    for (_, key), group in frame.groupby(["ticket", "key"], sort=False):
        members = [int(row) for row in group.index]
        theirs = content.loc[group.index]
        differing = " ".join(name for name in _SAME if len(set(theirs[name])) > 1)
        refused.update(dict.fromkeys(members if differing else members[1:], members))
        one_to_the_carrier = {"charge", "product"} & set(differing.split())
        fate.update(dict.fromkeys(members, f"wire {key}" if one_to_the_carrier else differing))
    return [
        Finding(
            found.code,
            found.column,
            found.rows,
            {**found.facts, "fate": [fate[r] for r in found.rows.tolist()]},
        )
        for found in _finding("duplicate_charge", "ticket_no", rows, refused)
    ]


def conflicts(rows: Rows, kinds: Texts) -> list[Finding]:
    """`voucher_conflict` within the input: a ticket's fare and refund as different kinds of voucher.

    `kinds` is each row's kind, the ledger's where it holds the charge already.
    """
    mine = np.flatnonzero(identified(rows) & (fare(rows) | refund(rows)) & (kinds != ""))
    frame = pd.DataFrame({"ticket": rows.ticket_no[mine], "kind": kinds[mine]}, index=mine)
    mixed = frame.groupby("ticket")["kind"].transform("nunique") > 1
    refused: dict[int, Sequence[int]] = {}
    for _, group in frame[mixed].groupby("ticket", sort=False):
        members = [int(row) for row in group.index]
        refused.update(dict.fromkeys(members, members))
    return _finding("voucher_conflict", "voucher", rows, refused)


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
