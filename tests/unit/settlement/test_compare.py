"""Tickets against ledger against statement: which kind each charge is, and when numbers differ."""

import datetime
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pipeline.model.evidence import Statement, StatementLine, Unsettled
from pipeline.model.known_charges import KnownCharge
from pipeline.model.message import Message
from pipeline.model.request import Identity
from pipeline.model.result import RunResult
from pipeline.model.result_values import ChargeResult, ReasonText, RowResult
from pipeline.model.settled import Decided, Settled
from pipeline.model.table import Table
from pipeline.settlement.compare import (
    Compare,
    Compared,
    Period,
    in_month,
    period_of,
)
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


def test_one_charge_under_two_numbers_differs_on_whatever_statements_they_are() -> None:
    ours = [holding(1, "1" * 18), holding(2, "2" * 18)]
    listed = [line(1, "1" * 18), line(2, "2" * 18), line(2, "3" * 18, statement="other.csv")]
    entries = compared(ours, listed)
    assert [(entry.kind, entry.differing) for entry in entries] == [
        ("agreed", ()), ("agreed", ()), ("differing", ("number",)),
    ]  # fmt: skip
    # The same voucher by its ID and by the carrier's own number, which is made up in another way.
    assert kinds(ours, [*listed[:2], line(2, "3" * 20, statement="other.csv")]) == ["agreed"] * 3


def test_one_of_our_ids_proves_that_a_statement_shows_them_however_many_charges_differ() -> None:
    ours = [*(holding(at, "A") for at in range(1, 7)), holding(7, "B")]
    entries = compared(ours, [*(line(at, "X") for at in range(1, 7)), line(7, "B")])
    assert [entry.ticket_no[-1] for entry in entries if entry.differing == ("number",)] == list("123456")
    assert [entry.kind for entry in entries] == ["agreed", *["differing"] * 6]
    # A number that evidence settled may be from a statement that numbers in its own way.
    ours[-1] = holding(7, "B", reason="no_answer")
    assert kinds(ours, [*(line(at, "X") for at in range(1, 7)), line(7, "B")]) == ["agreed"] * 7


def test_whether_a_statement_shows_our_ids_is_told_by_what_it_lists_of_issued_vouchers_and_it_alone() -> None:
    ours = [holding(1, "A"), holding(2, "B"), holding(3, "C")]
    shows_ids = [line(1, "A"), line(2, "B"), line(3, "X")]
    open_ = [holding(at, "", state="unknown") for at in (4, 5)]
    entries = compared([*ours, *open_], [*shows_ids, line(4, "P"), line(5, "Q")])
    assert [entry.kind for entry in entries] == ["agreed", "agreed", "differing", "unknown", "unknown"]

    others = [holding(at, f"D{at}") for at in (6, 7, 8)]
    numbers_its_own_way = [line(at, f"Y{at}", statement="t.csv") for at in (6, 7, 8)]
    listed, held = [*shows_ids, *numbers_its_own_way], {one.identity: one for one in (*ours, *others)}
    statements = [
        Statement(name, "0" * 64, MADE, tuple(listed), kinds=frozenset({"invoice"}))
        for name in ("s.csv", "t.csv")
    ]
    decided = Decided(lines=tuple(listed), found=matched(listed, held))
    entries = Compare(decided, statements, held, [], OCTOBER, frozenset(), ZONE).entries()
    assert [entry.ticket_no[-1] for entry in entries if entry.differing] == ["3"]

    itineraries = [(holding(at, f"I{at}", "itinerary"), line(at, f"I{at}", "itinerary")) for at in (6, 7, 8)]
    own_numbers = [(holding(at, f"D{at}"), line(at, f"Y{at}")) for at in (1, 2)]
    both = [*itineraries, *own_numbers]
    assert kinds([one for one, _ in both], [one for _, one in both]) == ["agreed"] * 5


def row(at: int, ticket: int, *charges: ChargeResult, reasons: tuple[ReasonText, ...] = ()) -> RowResult:
    return RowResult(at, "o.xlsx", "Tickets", at, f"999{ticket:010}", charges, reasons)


def fate(
    status: str, reasons: Sequence[str] = (), charge: str = "ticket_fare", **changes: Any
) -> ChargeResult:
    product = "flight" if charge == "ticket_fare" else "seat"
    told = tuple(ReasonText(code, "", f"about {code}", "") for code in reasons)
    return replace(ChargeResult(charge, product, "invoice", 900, status, "", "", told), **changes)


def result(*rows: RowResult) -> RunResult:
    return RunResult(
        "reconcile",
        "2026-11-20",
        "en",
        "CNY",
        "",
        "",
        Table.empty(),
        {},
        np.array([], dtype=object),
        rows,
        (),
    )


def attempt(*tickets: int) -> Unsettled:
    charges = tuple(
        (Identity(f"999{ticket:010}", "ticket_fare", "flight"), "F", 700 + ticket) for ticket in tickets
    )
    place = Message("{file}, {sheet}, row {row}", {"file": "before.xlsx", "sheet": "Tickets", "row": 5})
    return Unsettled(
        1, "R8", 1, "invoice", "domestic", "Old Ltd", 1, "no_answer", "", "", AT, AT, place, charges,
        times_doubtful=False, epoch="L", header_type="business", tax_no="", first_asked=AT,
    )  # fmt: skip


def with_rows() -> list[Compared]:
    """What a month's rows, a statement and the ledger come to where each knows something else."""
    late, soon = datetime.date(2026, 12, 31), datetime.date(2026, 12, 1)
    results = [
        result(
            row(2, 1, fate("already_issued")),
            row(3, 2, fate("already_issued", ["differs_from_issued", "other"])),
            row(4, 3, fate("already_issued", ["voucher_conflict"])),
            row(5, 4, fate("already_issued", ["other"])),
            row(6, 5, fate("rejected", ["rejected_by_carrier"], last_day=late, buyer="Acme Ltd", request_id="R5"),
                fate("invalid", charge="ancillary", amount=None), fate("invalid", charge="ancillary", product="meal"),
                fate("not_sent", charge="refund", product="flight"), reasons=(ReasonText("bad", "", "all of it", ""),)),
            row(7, 6, fate("ineligible")),
            row(8, 7, fate("unknown")), row(13, 13, fate("unknown")), row(14, 14, fate("unknown")),
            row(15, 17, fate("already_issued")),
        ),
        result(
            row(9, 5, fate("not_sent")), row(10, 9, fate("repeated")), row(11, 10, fate("not_sent", last_day=soon)),
            row(12, 1, fate("already_issued", ["differs_from_issued"])),
        ),
    ]  # fmt: skip
    ours = [holding(1, "A"), holding(2, "B"), holding(3, "C", "itinerary"), holding(4, "D", "itinerary")]
    ours += [holding(at, "", state="unknown", request_id="R13") for at in (13, 14)]
    ours += [holding(15, "E", "itinerary"), holding(16, "F", elsewhere=True), holding(17, "G")]
    listed = [line(1, "A"), line(2, "B"), line(7, "Z"), line(77, "Y"), line(13, "X")]
    held = {one.identity: one for one in ours}
    statement = Statement("s.csv", "0" * 64, MADE, tuple(listed), kinds=frozenset({"invoice"}))
    settled = (
        Settled(attempt(8, 5, 4, 15), "not_sent", "", "Wang", "tel.", "tel.", ""),
        Settled(attempt(12), "issued", "E", "Wang", "tel.", "tel.", ""),
    )
    decided = Decided(settled, lines=tuple(listed), found=matched(listed, held))
    return Compare(decided, [statement], held, results, OCTOBER, frozenset(), ZONE).entries()


def test_what_rows_statement_and_ledger_say_is_told_with_where_it_stands() -> None:
    at = [replace(one, place=str(one.place), reason=str(one.reason)) for one in with_rows()]

    def entry(kind: str, ticket: int, charge: str = "ticket_fare", **changes: Any) -> Compared:
        product = "flight" if charge == "ticket_fare" else "seat"
        plain = Compared(
            kind, f"999{ticket:010}", charge, product, "invoice", "", 900, "", "", "", reason="", place=""
        )
        return replace(plain, **changes)

    ours = {"buyer": "Acme Ltd", "amount": 1000, "issued_on": "2026-10-05", "status": "already_issued"}
    unknown = {**ours, "status": "unknown", "request_id": "R13"}
    unknown_day = "its last day is not known here; voucher check with its workbook says it"
    assert at == [
        entry("agreed", 1, **ours, number="A", request_id="RA", place="o.xlsx, Tickets, row 2", line=line(1, "A")),
        entry("not_on_statement", 17, **ours, number="G", request_id="RG", place="o.xlsx, Tickets, row 15"),
        entry("not_ours", 7, amount=None, place="o.xlsx, Tickets, row 8", line=line(7, "Z")),
        entry("not_ours", 77, amount=None, line=line(77, "Y")),
        entry("differing", 2, **ours, number="B", request_id="RB", place="o.xlsx, Tickets, row 3", line=line(2, "B"),
              differing=("row",), reason="about differs_from_issued [differs_from_issued]"),
        entry("differing", 3, **ours, voucher="itinerary", number="C", request_id="RC", place="o.xlsx, Tickets, row 4",
              differing=("row",), reason="about voucher_conflict [voucher_conflict]"),
        entry("not_covered", 4, **ours, voucher="itinerary", number="D", request_id="RD", place="o.xlsx, Tickets, row 5"),
        entry("unknown", 13, **unknown, place="o.xlsx, Tickets, row 13", line=line(13, "X")),
        entry("unknown", 14, **unknown, place="o.xlsx, Tickets, row 14"),
        entry("to_issue", 8, buyer="Old Ltd", amount=708, status="not_sent", request_id="R8",
              place="before.xlsx, Tickets, row 5", reason=unknown_day, set_free=True),
        entry("to_issue", 10, status="not_sent", place="o.xlsx, Tickets, row 11", last_day=datetime.date(2026, 12, 1)),
        entry("to_issue", 5, buyer="Acme Ltd", status="rejected", request_id="R5", place="o.xlsx, Tickets, row 6",
              last_day=datetime.date(2026, 12, 31), reason="about rejected_by_carrier [rejected_by_carrier]"),
        entry("to_issue", 5, "ancillary", amount=None, status="invalid", place="o.xlsx, Tickets, row 6",
              reason="all of it [bad]"),
        entry("to_issue", 5, "ancillary", product="meal", status="invalid", place="o.xlsx, Tickets, row 6",
              reason="all of it [bad]"),
        entry("to_issue", 5, "refund", product="flight", status="not_sent", place="o.xlsx, Tickets, row 6",
              reason="all of it [bad]"),
    ]  # fmt: skip
    assert [one.issued_day for one in at[1:3]] == [datetime.date(2026, 10, 5), None]


def test_what_the_statement_lacks_of_its_period_is_said() -> None:
    ours = [holding(1, "A"), holding(2, "B")]
    assert kinds(ours, [line(1, "A")]) == ["agreed", "not_on_statement"]
    assert kinds(ours, [line(1, "A")], Period(datetime.date(2026, 9, 1), datetime.date(2026, 9, 30))) == [
        "agreed"
    ]
    assert kinds(ours, [line(1, "A")], None) == ["agreed"]
    late = [holding(1, "A"), holding(2, "B", at="2026-11-01T00:00:00.001+00:00")]
    for said, missing in (
        (None, 1),
        (datetime.datetime.fromisoformat(AT) - datetime.timedelta(seconds=1), 0),
    ):
        statement = Statement("s.csv", "0" * 64, MADE, (), said_made=said)
        entries = Compare(
            Decided(), [statement], {ours[0].identity: ours[0]}, [], OCTOBER, frozenset(), ZONE
        ).entries()
        assert len(entries) == missing, "it was made before that voucher was issued, and written later"
    without = Compare(Decided(), [], {ours[0].identity: ours[0]}, [], OCTOBER, frozenset({"invoice"}), ZONE)
    assert without.entries() == [], "no statement is there, whatever is said of one"
    assert kinds(late, [line(1, "A")], Period(OCTOBER.first, datetime.date(2026, 11, 30))) == ["agreed"]


def test_an_older_statement_beside_it_hides_nothing_that_one_lacks() -> None:
    ours = {one.identity: one for one in (holding(1, "A"), holding(2, "I", "itinerary"))}
    before = datetime.datetime.fromisoformat(AT) - datetime.timedelta(days=1)
    of_both = Statement("s.csv", "0" * 64, MADE, ())
    older = Statement("older.csv", "1" * 64, before, ())
    invoices_alone = replace(of_both, kinds=frozenset({"invoice"}))

    def missing(*statements: Statement) -> list[str]:
        entries = Compare(Decided(), statements, ours, [], OCTOBER, frozenset(), ZONE).entries()
        return [entry.number for entry in entries if entry.kind == "not_on_statement"]

    assert missing(of_both, older) == missing(older, of_both) == ["A", "I"]
    assert missing(older) == []
    assert missing(invoices_alone, older) == ["A"], "the one that would list itineraries was made before"


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
    assert kinds([holding(1, "", state="unknown", in_hand=True)], []) == []  # another run is at it


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
    unlisted = compared([holding(1, "A")], [])
    assert in_month(unlisted, OCTOBER, ZONE) == unlisted
    undated = compared([], [line(9, "Z", issued=None)])
    assert in_month(undated, OCTOBER, ZONE) == undated, "it may be of any month"
    assert in_month(compared([], [line(9, "Z", issued=datetime.date(2026, 9, 30))]), OCTOBER, ZONE) == []
    december = Period(datetime.date(2026, 12, 1), datetime.date(2026, 12, 31))
    assert [entry.kind for entry in in_month(compared(ours, listed), december, ZONE)] == ["unknown"]
    assert in_month(unlisted, december, ZONE) == []


def test_a_statements_own_days_are_its_period() -> None:
    days = [
        line(1, "A", issued=None),
        line(2, "B"),
        line(3, "C", issued=datetime.datetime(2026, 10, 6, 17, tzinfo=datetime.UTC)),
    ]
    found = period_of(days, ZONE)
    where_it_is = [line(1, "A", issued=datetime.datetime(2026, 10, 5, 23, 30))]  # noqa: DTZ001 - a statement's own
    assert period_of(where_it_is, ZONE) == Period(
        datetime.date(2026, 10, 5), datetime.date(2026, 10, 5), said=False
    )
    assert found is not None
    assert (found.first, found.last) == (datetime.date(2026, 10, 5), datetime.date(2026, 10, 7))
    assert period_of([line(1, "A", issued=None)], ZONE) is None
