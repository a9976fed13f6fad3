"""Tickets against ledger against statement: which kind each charge is, and when numbers differ."""

import datetime
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pipeline.model.evidence import Statement, StatementLine
from pipeline.model.known_charges import KnownCharge
from pipeline.model.request import Identity
from pipeline.settlement.compare import (
    Compare,
    Compared,
    Period,
    in_month,
    period_of,
)
from pipeline.settlement.decide import Decided
from pipeline.settlement.match import matched

ZONE = "Asia/Shanghai"
AT = "2026-10-05T04:00:00.000+00:00"  # the 5th, at noon, where the carrier is
OCTOBER = Period(datetime.date(2026, 10, 1), datetime.date(2026, 10, 31))
MADE = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC)


def holding(ticket: int, number: str, voucher: str = "invoice", **changes: Any) -> KnownCharge:
    plain = KnownCharge(
        Identity(f"999{ticket:010}", "ticket_fare", "flight"), "", voucher, "issued", number, 1000, "business", "Acme Ltd", "",
        f"R{number}", 1, 1, AT, "", "", "o.xlsx", "Tickets", 2,
    )  # fmt: skip
    return replace(plain, **changes)


def line(ticket: int, number: str, voucher: str = "invoice", **changes: Any) -> StatementLine:
    plain = StatementLine(
        voucher, number, f"999{ticket:010}", "ticket_fare", "flight", 1000, datetime.date(2026, 10, 5), "Acme Ltd",
        f"s.csv, s, row {ticket}", "s.csv",
    )  # fmt: skip
    return replace(plain, **changes)


def compared(
    ours: Sequence[KnownCharge],
    listed: Sequence[StatementLine],
    period: Period | None = OCTOBER,
    *,
    claimed: frozenset[str] = frozenset({"invoice", "itinerary"}),
) -> list[Compared]:
    held = {one.identity: one for one in ours}
    kinds = frozenset(one.voucher for one in listed)
    statement = Statement("s.csv", "0" * 64, MADE, tuple(listed), kinds=kinds)
    decided = Decided(lines=tuple(listed), found=matched(listed, held))
    return Compare(decided, [statement], held, [], period, claimed, ZONE).entries()


def kinds(*given: Any, **more: Any) -> list[str]:
    return [entry.kind for entry in compared(*given, **more)]


def test_the_same_on_both_sides_agrees() -> None:
    assert kinds([holding(1, "A")], [line(1, "A")]) == ["agreed"]
    assert kinds([holding(1, "A")], [line(1, "A", buyer=" acme  LTD ")]) == ["agreed"]
    assert kinds([holding(1, "A")], [line(1, "A", amount=None, buyer="")]) == ["agreed"]


@pytest.mark.parametrize(
    ("changes", "differing"),
    [
        ({"amount": 1001}, ("amount",)),
        ({"buyer": "Other"}, ("buyer",)),
        ({"voucher": "itinerary"}, ("voucher", "number")),
        ({"amount": 1, "buyer": "B"}, ("amount", "buyer")),
    ],
)
def test_what_differs_is_named(changes: Any, differing: tuple[str, ...]) -> None:
    number = "B" if "voucher" in changes else "A"
    (entry,) = compared([holding(1, "A")], [line(1, number, **changes)])
    assert (entry.kind, entry.differing) == ("differing", differing)


def test_an_itinerarys_number_must_be_the_same() -> None:
    (entry,) = compared([holding(1, "A", "itinerary")], [line(1, "B", "itinerary")])
    assert entry.differing == ("number",)


def test_a_statement_may_number_its_invoices_in_its_own_way() -> None:
    ours = [holding(1, "A"), holding(2, "A"), holding(3, "B")]
    assert kinds(ours, [line(1, "X"), line(2, "X"), line(3, "Y")]) == ["agreed"] * 3
    # but not join what are two of ours, nor part what is one
    joined = compared(ours, [line(1, "X"), line(2, "X"), line(3, "X")])
    assert [entry.differing for entry in joined] == [("number",)] * 3
    parted = compared(ours, [line(1, "X"), line(2, "Z"), line(3, "Y")])
    assert [entry.kind for entry in parted] == ["agreed", "differing", "differing"]


def test_where_a_statement_shows_our_ids_another_number_differs() -> None:
    ours = [holding(1, "A"), holding(2, "B"), holding(3, "C")]
    entries = compared(ours, [line(1, "A"), line(2, "B"), line(3, "X")])
    assert [(entry.kind, entry.differing) for entry in entries] == [
        ("agreed", ()),
        ("agreed", ()),
        ("differing", ("number",)),
    ]


def test_what_the_statement_lacks_of_its_period_is_said() -> None:
    ours = [holding(1, "A"), holding(2, "B")]
    assert kinds(ours, [line(1, "A")]) == ["agreed", "not_on_statement"]
    assert kinds(ours, [line(1, "A")], Period(datetime.date(2026, 9, 1), datetime.date(2026, 9, 30))) == [
        "agreed"
    ]
    assert kinds(ours, [line(1, "A")], None) == ["agreed"]
    late = [holding(1, "A"), holding(2, "B", at="2026-11-01T00:00:00.001+00:00")]
    assert kinds(late, [line(1, "A")], Period(OCTOBER.first, datetime.date(2026, 11, 30))) == ["agreed"]


def test_a_statement_of_invoices_alone_lacks_no_itinerary_unless_it_is_said_to_be_complete() -> None:
    ours = [holding(1, "A"), holding(2, "B", "itinerary")]
    assert kinds(ours, [line(1, "A")], claimed=frozenset()) == ["agreed"]
    assert kinds(ours, [line(1, "A")], claimed=frozenset({"itinerary"})) == ["agreed", "not_on_statement"]


def test_the_day_is_the_carriers() -> None:
    ours = [holding(1, "A", at="2026-10-31T16:30:00.000+00:00")]  # November has begun in Shanghai
    assert kinds(ours, [], OCTOBER) == []
    november = Period(datetime.date(2026, 11, 1), datetime.date(2026, 11, 30))
    assert kinds([replace(ours[0])], [], november) == ["not_on_statement"]


def test_what_is_not_ours_and_what_is_unknown() -> None:
    assert kinds([], [line(1, "A")]) == ["not_ours"]
    assert kinds([holding(1, "A", elsewhere=True)], [line(1, "A")]) == ["not_ours"]
    assert kinds([holding(1, "", state="unknown")], [line(1, "A")]) == ["unknown"]
    assert kinds([holding(1, "", state="unknown")], []) == ["unknown"]


def test_a_month_is_of_either_side() -> None:
    ours = [
        holding(1, "A"),
        holding(2, "B", at="2026-09-30T15:59:00.000+00:00"),
        holding(3, "", state="unknown"),
    ]
    listed = [line(1, "A"), line(2, "B", issued=datetime.datetime(2026, 9, 30, 16, 1, tzinfo=datetime.UTC))]
    assert [entry.kind for entry in in_month(compared(ours, listed), OCTOBER, ZONE)] == [
        "agreed",
        "agreed",
        "unknown",
    ]
    december = Period(datetime.date(2026, 12, 1), datetime.date(2026, 12, 31))
    assert [entry.kind for entry in in_month(compared(ours, listed), december, ZONE)] == ["unknown"]


def test_a_statements_own_days_are_its_period() -> None:
    days = [
        line(1, "A", issued=None),
        line(2, "B"),
        line(3, "C", issued=datetime.datetime(2026, 10, 6, 17, tzinfo=datetime.UTC)),
    ]
    found = period_of(days, ZONE)
    assert found is not None
    assert (found.first, found.last) == (datetime.date(2026, 10, 5), datetime.date(2026, 10, 7))
    assert period_of([line(1, "A", issued=None)], ZONE) is None
