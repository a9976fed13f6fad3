"""What evidence settles, and what it does not: a contradiction settles nothing."""

import datetime
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.model.evidence import (
    Answer,
    Complete,
    Misread,
    Reversal,
    Statement,
    StatementLine,
    Unsettled,
)
from pipeline.model.known_charges import KnownCharge
from pipeline.model.request import Identity
from pipeline.settlement.decide import Decided, Evidence, decide
from pipeline.settlement.match import matched

NUMBER = "179525952880229397"
OTHER = "179525952880229398"
AT = datetime.datetime(2026, 11, 10, 12, tzinfo=datetime.UTC)


def charge(ticket: int, name: str = "ticket_fare", product: str = "flight") -> Identity:
    return Identity(f"{9_990_000_000_000 + ticket}", name, product)


def attempt(
    *charges: Identity, voucher: str = "invoice", attempt_id: int = 1, at: datetime.datetime = AT
) -> Unsettled:
    parts = tuple((identity, f"{identity.charge}/{identity.product}", 1000) for identity in charges)
    text = at.isoformat(timespec="milliseconds")
    return Unsettled(
        attempt_id, f"R{attempt_id}", 1, voucher, "domestic", "Acme", 1000 * len(parts), "no_answer", "", "", text, text,
        "october.xlsx, Tickets, row 2", parts, header_type="business", first_asked=text,
    )  # fmt: skip


def line(identity: Identity, number: str = NUMBER, **changes: Any) -> StatementLine:
    plain = StatementLine(
        "invoice",
        number,
        identity.ticket_no,
        identity.charge,
        identity.product,
        1000,
        None,
        "Acme",
        "s.csv, s, row 2",
        "s.csv",
    )
    return replace(plain, **changes)


#: Invoices and itineraries of ours around the attempts: (ticket, number, minutes after them).
AROUND = {
    "invoice": ((charge(-91), "1" * 17 + "1", -1), (charge(92), "1" * 17 + "2", 0), (charge(93), "1" * 17 + "3", 1)),
    "itinerary": ((charge(-94), "2" * 19 + "1", -1), (charge(95), "2" * 19 + "2", 0), (charge(96), "2" * 19 + "3", 1)),
}  # fmt: skip


def around(*kinds: str) -> list[StatementLine]:
    """The lines of a statement that lists ours of these kinds."""
    return [line(of, number, voucher=kind) for kind in kinds for of, number, _ in AROUND[kind]]


def statement(
    *lines: StatementLine,
    made: datetime.datetime = AT + datetime.timedelta(days=9),
    misread: Sequence[Misread] = (),
    ours: Sequence[str] = ("invoice", "itinerary"),
) -> Statement:
    return Statement("s.csv", "0" * 64, made, (*lines, *around(*ours)), tuple(misread), said_made=made)


COMPLETE = (
    Complete(AT - datetime.timedelta(days=3), AT + datetime.timedelta(days=5), "2026-11-07..2026-11-14"),
)


def answer(state: str, number: str = "", attempt_id: int = 1, **changes: Any) -> Answer:
    return replace(
        Answer("L", f"R{attempt_id}", 1, state, number, "Wang", "telephone", "r.xlsx, Unknown, row 2"),
        **changes,
    )


def evidence(
    *statements: Statement,
    answers: Sequence[Answer] = (),
    complete: Sequence[Complete] = (),
    hours: float | None = 24,
) -> Evidence:
    after = None if hours is None else datetime.timedelta(hours=hours)
    return Evidence(tuple(statements), tuple(answers), tuple(complete), after, "cron")


def held(*attempts: Unsettled, issued: Sequence[tuple[Identity, str]] = ()) -> dict[Identity, KnownCharge]:
    found = {i: holding(i, "unknown", "", one.request_id) for one in attempts for i, _, _ in one.charges}
    found |= {one.identity: one for one in ours()}
    return found | {identity: holding(identity, "issued", number, "R0") for identity, number in issued}


def holding(
    identity: Identity, state: str, number: str, request: str, voucher: str = "invoice", minutes: float = 0
) -> KnownCharge:
    return KnownCharge(
        identity, "", voucher, state, number, 1000, "business", "Acme", "", request, 1, 1,
        (AT + datetime.timedelta(minutes=minutes)).isoformat(), "", "", "f", "s", 2, market="domestic",
    )  # fmt: skip


def ours(**changes: Any) -> list[KnownCharge]:
    return [
        replace(holding(of, "issued", number, f"R{number}", kind, minutes), **changes)
        for kind, three in AROUND.items()
        for of, number, minutes in three
    ]


def decided(attempts: Sequence[Unsettled], brought: Evidence, **more: Any) -> Decided:
    taken, issued, earlier = more.pop("taken", {}), more.pop("around", ours()), more.pop("earlier", ())
    return decide(attempts, brought, held(*attempts, **more), taken, earlier, issued)


def outcome(found: Decided) -> list[tuple[str, str]]:
    return [(one.state, one.number) for one in found.settled]


def test_a_request_that_is_listed_whole_under_one_number_is_issued() -> None:
    one = attempt(charge(1), charge(2))
    found = decided([one], evidence(statement(line(charge(1)), line(charge(2)))))
    assert outcome(found) == [("issued", NUMBER)]
    assert found.settled[0].settled_by == "cron"
    assert "s.csv" in str(found.settled[0].evidence)
    assert (found.troubles, found.elsewhere) == ((), ())


@pytest.mark.parametrize(
    ("lines", "seen"),
    [
        ([line(charge(1))], "only 1 of its 2 charges"),
        ([line(charge(1)), line(charge(2), OTHER)], "several numbers"),
        ([line(charge(1)), line(charge(1), OTHER), line(charge(2))], "several numbers"),
        (
            [line(charge(1), voucher="itinerary"), line(charge(2), voucher="itinerary")],
            "asked for as invoice",
        ),
        ([line(charge(1)), line(charge(2)), line(charge(3))], "charges of other requests"),
        ([line(charge(1, "refund"), voucher="itinerary")], "an itinerary of ticket"),
    ],
)
def test_what_is_listed_in_part_or_in_two_ways_settles_nothing(lines: list[StatementLine], seen: str) -> None:
    found = decided([attempt(charge(1), charge(2))], evidence(statement(*lines), complete=COMPLETE))
    assert outcome(found) == []
    assert [t.code for t in found.troubles] == ["contradiction"]
    assert seen in str(found.troubles[0].message)


def test_a_number_that_another_request_has_settles_nothing() -> None:
    one = attempt(charge(1))
    found = decided([one], evidence(statement(line(charge(1)))), taken={NUMBER: "another request (R9)"})
    assert outcome(found) == []
    assert "which another request (R9) has already" in str(found.troubles[0].message)
    two = [attempt(charge(1)), attempt(charge(2), attempt_id=2)]
    said = evidence(answers=[answer("issued", NUMBER), answer("issued", NUMBER, 2)])
    assert outcome(decided(two, said)) == []
    assert len(decided(two, said).troubles) == 2


@pytest.mark.parametrize(
    ("answers", "lines", "complete", "settled"),
    [
        ([answer("issued", NUMBER)], [], (), [("issued", NUMBER)]),
        ([answer("not issued")], [], (), [("not_sent", "")]),
        ([answer("未开具")], [], (), [("not_sent", "")]),
        ([answer("not issued"), answer("not issued", place="again")], [], (), [("not_sent", "")]),
        ([answer("issued", NUMBER)], [line(charge(1))], (), [("issued", NUMBER)]),
        ([answer("not issued")], [], COMPLETE, [("not_sent", "")]),
        # and those that contradict each other
        ([answer("not issued")], [line(charge(1))], (), []),
        ([answer("issued", OTHER)], [line(charge(1))], (), []),
        ([answer("issued", NUMBER)], [], COMPLETE, []),
        ([answer("issued", NUMBER), answer("not issued")], [], (), []),
        ([answer("issued", NUMBER), answer("issued", OTHER)], [], (), []),
    ],
)
def test_a_persons_answer_with_or_against_the_statement(
    answers: Any, lines: Any, complete: Any, settled: Any
) -> None:
    found = decided([attempt(charge(1))], evidence(statement(*lines), answers=answers, complete=complete))
    assert outcome(found) == settled
    assert [t.code for t in found.troubles] == ([] if settled else ["contradiction"])


def test_who_answered_and_how_is_the_evidence() -> None:
    (one,) = decided([attempt(charge(1))], evidence(answers=[answer("not issued")])).settled
    assert (one.settled_by, str(one.evidence)) == ("Wang", "r.xlsx, Unknown, row 2: telephone")


def test_silence_settles_only_where_the_statement_is_said_to_be_complete() -> None:
    one = attempt(charge(1))
    assert outcome(decided([one], evidence(statement(line(charge(7)))))) == []
    found = decided([one], evidence(statement(line(charge(7))), complete=COMPLETE))
    assert outcome(found) == [("not_sent", "")]
    assert "complete for 2026-11-07..2026-11-14" in str(found.settled[0].evidence)


DAY = datetime.timedelta(days=1)
HOUR = datetime.timedelta(hours=1)
MOMENT = datetime.timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("complete", "made", "hours", "settles"),
    [
        ({}, AT + DAY + HOUR, 24, True),
        ({}, AT + DAY + HOUR - MOMENT, 24, False),  # made too soon
        ({}, AT + DAY + HOUR, None, False),  # the profile does not say how soon
        ({"until": AT + DAY + HOUR}, AT + 9 * DAY, 24, True),
        ({"until": AT + DAY + HOUR - MOMENT}, AT + 9 * DAY, 24, False),
        ({"since": AT - HOUR}, AT + 9 * DAY, 24, True),
        ({"since": AT - HOUR + MOMENT}, AT + 9 * DAY, 24, False),
        ({"until": AT + HOUR}, AT + HOUR, 0, True),
        ({"kind": "invoice"}, AT + 9 * DAY, 24, True),
        ({"kind": "itinerary"}, AT + 9 * DAY, 24, False),
    ],
)
def test_the_moments_and_the_kind_for_which_silence_is_evidence(
    complete: Any, made: datetime.datetime, hours: Any, settles: bool
) -> None:
    claims = [replace(COMPLETE[0], **complete)]
    found = decided([attempt(charge(1))], evidence(statement(made=made), complete=claims, hours=hours))
    assert outcome(found) == ([("not_sent", "")] if settles else [])
    assert (found.notes == ()) == settles
    # Beside a claim that proves nothing, one that does is enough.
    both = evidence(statement(), complete=[*claims, *COMPLETE])
    assert outcome(decided([attempt(charge(1))], both)) == [("not_sent", "")]


def test_nobody_said_when_the_statement_was_made() -> None:
    unsaid = replace(statement(), said_made=None)
    found = decided([attempt(charge(1))], evidence(unsaid, complete=COMPLETE))
    assert (outcome(found), found.troubles) == ([], ())
    assert "s.csv does not say when it was made; say it with --statement-made" in str(found.notes[0])
    # Nor one of two; and a copy's own time only makes it older.
    assert outcome(decided([attempt(charge(1))], evidence(statement(), unsaid, complete=COMPLETE))) == []
    older = replace(statement(), written=AT)
    assert outcome(decided([attempt(charge(1))], evidence(older, complete=COMPLETE))) == []
    newer = replace(statement(), said_made=AT)
    assert outcome(decided([attempt(charge(1))], evidence(newer, complete=COMPLETE))) == []


@pytest.mark.parametrize(
    ("around_it", "settles"),
    [
        ([-2, -1, 1], True),
        ([-1, 1, 2], True),
        ([0, 0, 0], True),  # at the same time is before and after
        ([-1, 1], False),
        ([-3, -2, -1], False),
        ([1, 2, 3], False),
        ([-1, 1, 60 * 24 * 6], False),  # the third after the days that are claimed
        ([], False),
    ],
)
def test_the_statement_must_list_three_others_of_ours_on_both_sides(around_it: Any, settles: bool) -> None:
    others = [
        holding(charge(2 + at if at % 2 else -at), "issued", f"{at:018}", f"R{60 + at}", minutes=minutes)
        for at, minutes in enumerate(around_it)
    ]
    lines = [line(one.identity, one.number) for one in others]
    brought = evidence(statement(*lines, line(charge(99), "9" * 18), ours=()), complete=COMPLETE)
    more = [(one.identity, one.number) for one in others]
    found = decided([attempt(charge(1))], brought, around=others, issued=more)
    assert outcome(found) == ([("not_sent", "")] if settles else [])
    assert settles or "at least 3 others of that kind (invoice)" in str(found.notes[0])
    # Of one request there is one, however many charges it has.
    one = [replace(each, request_id="R60") for each in others]
    assert outcome(decided([attempt(charge(1))], brought, around=one, issued=more)) == []


@pytest.mark.parametrize(
    "change", [{"voucher": "itinerary"}, {"amount": 1001}], ids=["another kind", "another amount"]
)
def test_what_the_statement_lists_otherwise_than_the_ledger_is_no_agreement(change: Any) -> None:
    brought = evidence(
        replace(statement(), lines=tuple(replace(one, **change) for one in around("invoice"))),
        complete=COMPLETE,
    )
    of_invoices = [one for one in ours() if one.voucher == "invoice"]
    assert outcome(decided([attempt(charge(1))], brought, around=of_invoices)) == []


def test_itineraries_say_nothing_of_invoices_and_a_wrong_clock_nothing_at_all() -> None:
    one = attempt(charge(1))
    only = evidence(statement(ours=["itinerary"]), complete=COMPLETE)
    found = decided([one], only)
    assert (outcome(found), found.troubles) == ([], ())  # it is not said to be complete for invoices
    assert "they lack others of that kind (invoice)" in str(found.notes[0])
    claimed = evidence(statement(ours=["itinerary"]), complete=[replace(COMPLETE[0], kind="invoice")])
    assert [t.code for t in decided([one], claimed).troubles] == ["contradiction"]
    found = decided([replace(one, times_doubtful=True)], evidence(statement(), complete=COMPLETE))
    assert outcome(found) == []
    assert "a clock that is known to have been wrong" in str(found.notes[0])


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        ({"identity": {"charge": "refund"}}, "(ticket_fare)"),
        ({"identity": {"product": "lounge"}}, "(ticket_fare, flight)"),
        ({"market": "international"}, "(ticket_fare, flight, domestic)"),
        ({"header_type": "individual"}, "(ticket_fare, flight, domestic, business)"),
        ({"header_name": "Yuanshan"}, "(ticket_fare, flight, domestic, business, Acme)"),
        (
            {"tax_no": "91110108MA1XXXX028"},
            "(ticket_fare, flight, domestic, business, Acme, 91110000600037341L)",
        ),
        ({"times_doubtful": True}, "(0 before, 0 after)"),
    ],
)
@pytest.mark.parametrize("side", [-1, 1])
def test_what_a_statement_lists_must_be_like_the_doubtful_one_on_both_sides(
    change: dict[str, Any], missing: str, side: int
) -> None:
    """One that is filtered by charge, product, market or buyer would list no such; a wrong clock tells no sides."""
    tax_no = "91110000600037341L"
    others = [
        replace(
            holding(charge(6 * at - 9), "issued", f"{at:018}", f"R{60 + at}", minutes=minutes),
            tax_no=tax_no,
        )
        for at, minutes in enumerate((-1, -1, 1, 1))
    ]

    def found(change: dict[str, Any], of: Sequence[int]) -> Decided:
        changed = [
            replace(one, **{**change, "identity": replace(one.identity, **change.get("identity", {}))})
            for one in others
        ]
        others_now = [changed[at] if at in of else one for at, one in enumerate(others)]
        lines = [line(one.identity, one.number) for one in others_now]
        brought = evidence(statement(*lines, ours=()), complete=COMPLETE)
        more = [(one.identity, one.number) for one in others_now]
        return decided([replace(attempt(charge(1)), tax_no=tax_no)], brought, around=others_now, issued=more)

    assert outcome(found(change, [0, 2])) == [("not_sent", "")], "one of each side is like it"
    one_side = found(change, [0, 1] if side < 0 else [2, 3])
    assert outcome(one_side) == []
    if "times_doubtful" not in change:
        assert missing in str(one_side.notes[0])
        assert f"issued {'before' if side < 0 else 'after'} it" in str(one_side.notes[0])
    else:
        assert ("(0 before, 2 after)" if side < 0 else "(2 before, 0 after)") in str(one_side.notes[0])


@pytest.mark.parametrize(
    ("others", "told"),
    [  # ticket, amount and minutes of others; the doubtful one is 5 at 500
        ([(1, 400, -1), (9, 600, 1), (6, 500, 0)], ""),
        ([(1, 400, -1), (4, 600, 1), (3, 500, 0)], "ticket number is higher"),  # cut off behind ticket 4
        ([(6, 400, -1), (9, 600, 1), (7, 500, 0)], "ticket number is lower"),
        ([(1, 300, -1), (9, 400, 1), (6, 300, 0)], "amount is higher"),  # filtered: up to 400
        ([(1, 600, -1), (9, 700, 1), (6, 800, 0)], "amount is lower"),
        (
            [(1, 500, -1), (9, 600, -1), (6, 600, 1)],
            "amount is lower",
        ),  # the highest first, and then the earliest
        ([(1, 500, 1), (9, 600, -1), (6, 600, 1)], "amount is lower"),
        ([(1, 400, -1), (9, 500, -1), (6, 500, -1), (7, 400, 1)], "amount is higher"),
        ([(1, 500, -1), (9, 500, 1), (6, 600, 1)], ""),
    ],
)
def test_silence_needs_others_below_and_above_in_the_orders_in_which_people_sort_and_filter(
    others: list[tuple[int, int, float]], told: str
) -> None:
    """A statement that is cut off after a page, or filtered by ticket or amount, may list all that this ledger has issued."""
    found = _among([(5, 500)], [([(ticket, amount)], minutes) for ticket, amount, minutes in others])
    assert (outcome(found) == [("not_sent", "")]) == (not told)
    assert not told or f"whose {told}, nor others of the same" in str(found.notes[0])


@pytest.mark.parametrize(
    ("others", "told"),
    [  # the doubtful one is 5 at 500 and 7 at 300
        ([([(1, 400), (6, 200)], -1), ([(2, 900), (8, 200)], 1), ([(4, 600)], 1)], ""),
        ([([(1, 400), (6, 200)], -1), ([(2, 900), (4, 200)], 1), ([(3, 600)], 1)], "ticket number is higher"),
        ([([(1, 400), (6, 300)], -1), ([(2, 900), (8, 400)], 1), ([(4, 600)], 1)], "whose amount is lower"),
        ([([(1, 400), (6, 200)], -1), ([(2, 600), (8, 100)], 1), ([(4, 600)], 1)], "total amount is higher"),
        ([([(1, 800), (6, 200)], -1), ([(2, 900), (8, 200)], 1), ([(4, 950)], 1)], "total amount is lower"),
    ],
)
def test_each_charge_of_an_invoice_and_its_total_have_others_below_and_above_them(
    others: list[tuple[list[tuple[int, int]], float]], told: str
) -> None:
    found = _among([(5, 500), (7, 300)], others)
    assert (outcome(found) == [("not_sent", "")]) == (not told)
    assert not told or told in str(found.notes[0])


def _among(doubtful: list[tuple[int, int]], others: list[tuple[list[tuple[int, int]], float]]) -> Decided:
    """What silence says of tickets at these amounts, on a statement that lists all others (tickets and amounts, minutes)."""
    parts = tuple((charge(ticket), "", amount) for ticket, amount in doubtful)
    known = [
        replace(holding(charge(ticket), "issued", f"{at:018}", f"R8{at}", minutes=minutes), amount=amount)
        for at, (charges, minutes) in enumerate(others)
        for ticket, amount in charges
    ]
    lines = [line(one.identity, one.number, amount=one.amount) for one in known]
    brought = evidence(statement(*lines, ours=()), complete=COMPLETE)
    issued = [(one.identity, one.number) for one in known]
    one = replace(attempt(charge(5)), charges=parts)
    return decided([one], brought, around=known, issued=issued)


def test_another_line_of_the_ticket_that_is_none_of_ours_keeps_silence_from_proving_anything() -> None:
    """The carrier may call the doubtful charge by another's word."""
    refund, fare = charge(1, "refund"), charge(1)
    around_it = [
        replace(one, identity=replace(one.identity, charge="refund")) if one.voucher == "invoice" else one
        for one in ours()
    ]
    lines = [line(one.identity, one.number) for one in around_it if one.voucher == "invoice"]

    def silent(*more: StatementLine) -> list[tuple[str, str]]:
        issued = [(one.identity, one.number) for one in around_it if one.voucher == "invoice"]
        brought = evidence(statement(*lines, *more, ours=()), complete=COMPLETE)
        found = decided([attempt(refund)], brought, around=around_it, issued=[*issued, (fare, OTHER)])
        assert outcome(found) or "none of those known here" in str(found.notes[0])
        return outcome(found)

    assert silent() == [("not_sent", "")]
    assert silent(line(fare, OTHER)) == [("not_sent", "")]  # the ticket's fare, as it was issued
    assert silent(line(charge(1, "ancillary", "seat"), OTHER)) == []  # none that we know
    assert silent(line(fare, OTHER, amount=1001)) == []  # not as it was issued
    assert silent(line(fare, OTHER), line(fare, NUMBER)) == []  # one fare is not two vouchers


def test_a_statement_that_lists_nothing_at_all_proves_nothing() -> None:
    empty = replace(statement(), lines=())
    assert outcome(decided([attempt(charge(1))], evidence(empty, complete=COMPLETE))) == []


def test_the_earliest_of_several_statements_bounds_what_silence_proves() -> None:
    brought = evidence(statement(), statement(made=AT), complete=COMPLETE)
    assert outcome(decided([attempt(charge(1))], brought)) == []


@pytest.mark.parametrize("ticket", ["", charge(1).ticket_no])
def test_a_line_that_can_not_be_read_may_be_the_one(ticket: str) -> None:
    brought = evidence(
        statement(misread=[Misread("s.csv, s, row 9", ticket, "B9: is not …")]), complete=COMPLETE
    )
    found = decided([attempt(charge(1))], brought)
    assert outcome(found) == []
    assert [t.code for t in found.troubles] == ["misread"]
    other = evidence(
        statement(misread=[Misread("s.csv, s, row 9", charge(2).ticket_no, "B9: is not …")]),
        complete=COMPLETE,
    )
    assert outcome(decided([attempt(charge(1))], other)) == [("not_sent", "")]


@pytest.mark.parametrize("amount", [1000, None, 777])
def test_an_ancillary_line_without_its_product_settles_nothing(amount: int | None) -> None:
    seat, meal = charge(1, "ancillary", "seat"), charge(1, "ancillary", "meal")
    one, unsaid = attempt(seat), line(seat, product="", amount=amount)
    for unknown in ([one], [attempt(seat), attempt(meal, attempt_id=2)]):
        found = decided(unknown, evidence(statement(unsaid), complete=COMPLETE))
        assert outcome(found) == []  # nor does silence
        assert [t.code for t in found.troubles] == ["ambiguous"]
        assert found.elsewhere == (unsaid,)  # held, whichever it is
    # A person who knows its number says whose it is; then it is no other's.
    found = decided([one], evidence(statement(unsaid), answers=[answer("issued", NUMBER)]))
    assert (outcome(found), found.troubles, found.elsewhere) == ([("issued", NUMBER)], (), ())
    denied = decided([one], evidence(statement(unsaid), answers=[answer("not issued")]))
    assert (outcome(denied), denied.elsewhere) == ([("not_sent", "")], (unsaid,))


@pytest.mark.parametrize(
    ("number", "listed", "amount", "is_ours", "holds"),
    [
        (NUMBER, NUMBER, 1000, True, False),
        (NUMBER, NUMBER, None, True, False),
        (
            NUMBER,
            f"26{NUMBER}",
            1000,
            True,
            True,
        ),  # in the carrier's own way: it may be another's all the same
        (NUMBER, OTHER, 1000, False, True),  # another number as the service gives it
        (NUMBER, f"26{NUMBER}", 777, False, True),
        (NUMBER, f"26{NUMBER}", None, False, True),
    ],
)
def test_an_ancillary_line_without_its_product_is_compared_with_what_was_issued(
    number: str, listed: str, amount: int | None, *, is_ours: bool, holds: bool
) -> None:
    seat, meal = charge(1, "ancillary", "seat"), charge(1, "ancillary", "meal")
    unsaid = line(seat, listed, product="", amount=amount)
    found = decided([], evidence(statement(unsaid, ours=())), issued=[(seat, number)])
    assert found.found == {0: seat if is_ours else None}
    assert found.elsewhere == ((unsaid,) if holds else ())
    # One more of that amount in doubt, and it may be either's.
    doubt = decided([attempt(meal)], evidence(statement(unsaid, ours=())), issued=[(seat, number)])
    assert doubt.found == {0: seat if listed == number else None}
    assert outcome(doubt) == []
    # Two of ours on one voucher: each is on it.
    both = decided([], evidence(statement(unsaid, ours=())), issued=[(seat, number), (meal, number)])
    assert both.elsewhere == (() if listed == number else (unsaid,))


@pytest.mark.parametrize(
    ("changes", "settles"),
    [
        ({"number": f"26{NUMBER}"}, False),
        ({"number": f"26{NUMBER}", "issued": datetime.date(2026, 11, 9)}, False),
        (
            {"number": f"26{NUMBER}", "issued": datetime.date(2026, 11, 10)},
            False,
        ),  # it may be the 9th elsewhere
        ({"number": f"26{NUMBER}", "issued": datetime.date(2026, 11, 11)}, True),
        ({"number": NUMBER}, True),
    ],
)
def test_a_voucher_that_was_reversed_is_not_the_next_one_in_the_carriers_own_way_of_numbering(
    changes: dict[str, Any], *, settles: bool
) -> None:
    one, listed = attempt(charge(1)), replace(line(charge(1)), **changes)
    gone = {charge(1): (OTHER, "2026-11-09T23:00:00.000+00:00")}

    def found(one: Unsettled, *answers: Answer) -> Decided:
        return decide([one], evidence(statement(listed), answers=answers), held(one), {}, gone=gone)

    assert outcome(found(one)) == ([("issued", listed.number)] if settles else [])
    assert settles or f"may be its voucher {OTHER}, that was reversed" in str(found(one).troubles[0].message)
    doubtful = replace(one, times_doubtful=True)  # a wrong clock may have said when it was reversed
    assert bool(found(doubtful).settled) == (listed.number == NUMBER)
    # A person may know that it is the next one.
    assert outcome(found(one, answer("issued", listed.number))) == [("issued", listed.number)]
    other = {charge(2): gone[charge(1)]}
    assert outcome(decide([one], evidence(statement(listed)), held(one), {}, gone=other)) == [
        ("issued", listed.number)
    ]


def test_an_answer_with_a_number_that_is_listed_for_another_ticket_settles_nothing() -> None:
    one = attempt(charge(1))
    for other in (charge(2), charge(1, "refund"), charge(1, "ancillary", "seat")):
        for listed, earlier in (([line(other)], ()), ([], (line(other),))):
            said = evidence(statement(*listed), answers=[answer("issued", NUMBER)])
            found = decide([one], said, held(one), {}, earlier)
            assert outcome(found) == []
            assert f"another request (ticket {other.ticket_no} on a statement) has that number" in str(
                found.troubles[0].message
            )


def test_what_an_earlier_statement_lists_does_not_make_this_one_complete() -> None:
    brought = evidence(statement(ours=["itinerary"]), complete=[replace(COMPLETE[0], kind="invoice")])
    one = attempt(charge(1))
    found = decide([one], brought, held(one), {}, around("invoice"), ours())
    assert outcome(found) == []
    assert [t.code for t in found.troubles] == ["contradiction"]


def test_what_the_ledger_does_not_know_was_issued_elsewhere() -> None:
    one = attempt(charge(1))
    lines = [line(charge(1)), line(charge(2), OTHER), line(charge(2), "179525952880229399")]
    found = decided([one], evidence(statement(*lines)))
    assert found.elsewhere == tuple(lines[1:])
    assert decided([], evidence(statement(line(charge(3)))), issued=[(charge(3), NUMBER)]).elsewhere == ()


def test_a_line_on_two_statements_is_one_line() -> None:
    found = decided(
        [attempt(charge(1))], evidence(statement(line(charge(1))), statement(line(charge(1), place="again")))
    )
    assert outcome(found) == [("issued", NUMBER)]
    assert len(found.lines) == 1 + len(around("invoice", "itinerary"))


def test_a_number_of_another_shape_is_recorded_with_a_warning() -> None:
    found = decided([attempt(charge(1))], evidence(statement(line(charge(1), "INV-1"))))
    assert outcome(found) == [("issued", "INV-1")]
    assert "another shape" in str(found.warnings[0])
    assert decided([attempt(charge(1))], evidence(statement(line(charge(1))))).warnings == ()


def test_statements_that_visibly_lack_something_are_not_complete_whoever_says_so() -> None:
    one = attempt(charge(1))
    issued = [*ours(), holding(charge(5), "issued", OTHER, "R5")]
    lacking = decided([one], evidence(statement(), complete=COMPLETE), around=issued)
    assert outcome(lacking) == []
    assert "lacks 1 requests of that kind (invoice)" in str(lacking.troubles[0].message)
    assert "they lack others of that kind" in str(lacking.notes[0])
    listed = evidence(statement(line(charge(5), OTHER)), complete=COMPLETE)
    assert outcome(decided([one], listed, around=issued, issued=[(charge(5), OTHER)])) == [("not_sent", "")]
    # Half of a request lacks, and what may be too new or too old for the statement does not.
    half = [*issued, holding(charge(6), "issued", OTHER, "R5")]
    assert outcome(decided([one], listed, around=half, issued=[(charge(5), OTHER)])) == []
    for minutes in (-3 * 24 * 60 + 59, 5 * 24 * 60 - 24 * 60 - 59):
        aside = [*ours(), holding(charge(5), "issued", OTHER, "R5", minutes=minutes)]
        assert outcome(decided([one], evidence(statement(), complete=COMPLETE), around=aside)) == [
            ("not_sent", "")
        ]
    unread = decided([one], evidence(replace(statement(), unread=("Page2",)), complete=COMPLETE))
    assert outcome(unread) == []
    assert "Page2" in str(unread.troubles[0].message)
    of_others = evidence(replace(statement(), kinds=frozenset({"itinerary"})), complete=COMPLETE)
    assert outcome(decided([one], of_others)) == []


def test_what_was_issued_before_it_was_asked_for_is_another_voucher() -> None:
    early = line(charge(1), issued=(AT - 2 * DAY).date())
    found = decided([attempt(charge(1))], evidence(statement(early)))
    assert outcome(found) == []
    assert "before it was asked for" in str(found.troubles[0].message)
    assert outcome(
        decided([attempt(charge(1))], evidence(statement(line(charge(1), issued=(AT - DAY).date()))))
    ) == [("issued", NUMBER)]
    doubtful = replace(attempt(charge(1)), first_asked="")  # a wrong clock says when that was
    assert outcome(decided([doubtful], evidence(statement(early)))) == [("issued", NUMBER)]
    again = replace(attempt(charge(1)), first_asked=(AT - 3 * DAY).isoformat())
    assert outcome(decided([again], evidence(statement(early)))) == [("issued", NUMBER)]


def denied(*charges: Identity, number: int = 1, **changes: Any) -> Unsettled:
    """An earlier attempt in doubt, which somebody said was not issued."""
    return replace(attempt(*charges, attempt_id=number, at=AT - 5 * DAY), denial=f"S{number}", **changes)


def test_what_is_listed_of_an_earlier_attempt_said_not_to_be_issued_does_not_contradict_that_the_later_one_was_not() -> (
    None
):
    one = replace(attempt(charge(1), charge(2), charge(3), attempt_id=2), denied=(denied(charge(1)),))
    said = answer("not issued", attempt_id=2)
    shown = line(charge(1), issued=(AT - 5 * DAY).date(), amount=1000)
    brought = evidence(statement(shown), answers=[said])
    found = decided([one], brought)
    assert (outcome(found), found.troubles) == ([("not_sent", "")], ())
    assert found.elsewhere == (shown,)  # so that it is held
    # The statement alone settles nothing, complete or not: it says what to do.
    for complete in ((), COMPLETE):
        alone = decided([one], evidence(statement(shown), complete=complete))
        assert outcome(alone) == []
        assert "It may be that of request R1, attempt 1" in str(alone.troubles[0].message)
        assert "then withdraw S1" in str(alone.troubles[0].message)
    # What was said not to be issued and is listed as something else explains nothing.
    for other, listed in (
        ((), [shown]),
        ((denied(charge(1), voucher="itinerary"),), [shown]),
        ((denied(charge(1)),), [replace(shown, amount=999)]),
        ((denied(charge(1)),), [replace(shown, issued=AT.date())]),  # the later one's day
        ((denied(charge(1)),), [replace(shown, issued=(AT - 8 * DAY).date())]),
        ((denied(charge(1), charge(4)),), [shown]),
        ((denied(charge(1)),), [shown, line(charge(5))]),
        ((denied(charge(1)),), [shown, line(charge(2), OTHER)]),
    ):
        again = decided([replace(one, denied=other)], evidence(statement(*listed), answers=[said]))
        assert outcome(again) == [], (other, listed)
        assert [trouble.code for trouble in again.troubles] == ["contradiction"]
    taken = decided([one], brought, taken={NUMBER: "another request (R9)"})
    assert outcome(taken) == []
    # Each of several, and one of which a charge is not asked for again.
    both = replace(one, denied=(denied(charge(1)), denied(charge(2), charge(4), number=3)))
    listed = [shown, line(charge(2), OTHER), line(charge(4), OTHER)]
    assert outcome(decided([both], evidence(statement(*listed), answers=[said]))) == [("not_sent", "")]
    # Whoever says that it was issued, too, is not believed.
    said_issued = answer("issued", OTHER, attempt_id=2)
    assert outcome(decided([one], evidence(statement(shown), answers=[said_issued]))) == []
    assert outcome(decided([one], evidence(statement(shown), answers=[said, said_issued]))) == []


def test_what_a_statement_showed_once_counts_at_the_next_reconciliation_too() -> None:
    one = attempt(charge(1), charge(2))
    first = decided([one], evidence(statement(line(charge(1)))))
    assert outcome(first) == []
    assert first.elsewhere == (line(charge(1)),)
    denied = decide([one], evidence(answers=[answer("not issued")]), held(one), {}, earlier=first.elsewhere)
    assert outcome(denied) == []
    assert denied.troubles[0].code == "contradiction"
    silent = decided([one], evidence(statement(), complete=COMPLETE), earlier=first.elsewhere)
    assert outcome(silent) == []
    agreed = decide(
        [one], evidence(answers=[answer("issued", NUMBER)]), held(one), {}, earlier=first.elsewhere
    )
    assert outcome(agreed) == [("issued", NUMBER)]
    other = decide([one], evidence(answers=[answer("issued", OTHER)]), held(one), {}, earlier=first.elsewhere)
    assert outcome(other) == []
    whole = statement(line(charge(1)), line(charge(2)))
    assert outcome(decide([one], evidence(whole), held(one), {}, earlier=first.elsewhere)) == [
        ("issued", NUMBER)
    ]


NUMBERS = st.sampled_from([NUMBER, OTHER])
LINES = st.lists(
    st.builds(
        lambda ticket, number, voucher, product: line(charge(ticket), number, voucher=voucher, product=product),
        st.integers(1, 4), NUMBERS, st.sampled_from(["invoice", "itinerary"]), st.just("flight"),
    ),
    max_size=5,
)  # fmt: skip
ANSWERS = st.lists(
    st.one_of(
        st.builds(lambda number, of: answer("issued", number, of), NUMBERS, st.integers(1, 2)),
        st.builds(lambda of: answer("not issued", attempt_id=of), st.integers(1, 2)),
    ),
    max_size=3,
)


@given(lines=LINES, answers=ANSWERS, complete=st.sampled_from([(), COMPLETE]))
def test_nothing_is_settled_against_any_of_the_evidence(lines: Any, answers: Any, complete: Any) -> None:
    attempts = [attempt(charge(1), charge(2)), attempt(charge(3), attempt_id=2)]
    found = decided(attempts, evidence(statement(*lines), answers=answers, complete=complete))
    assert len({one.attempt.attempt_id for one in found.settled}) == len(found.settled)
    issued = [one.number for one in found.settled if one.state == "issued"]
    assert len(set(issued)) == len(issued)
    for one in found.settled:
        identities = {identity for identity, _, _ in one.attempt.charges}
        listed = [each for each in lines if Identity(each.ticket_no, each.charge, each.product) in identities]
        said = [each for each in answers if each.request_id == one.attempt.request_id]
        if one.state == "issued":
            assert all(each.number == one.number and each.voucher == one.attempt.voucher for each in listed)
            assert all((each.resolution, each.number) == ("issued", one.number) for each in said)
            assert listed or said
        else:
            assert listed == []
            assert all(each.resolution == "not issued" for each in said)
            assert said or complete


def test_each_trouble_says_where_it_stands_and_what_was_said() -> None:
    part = statement(line(charge(1)))
    request = "request R1, attempt 1"
    found = decided([attempt(charge(1), charge(2))], evidence(part))
    assert [str(trouble.place) for trouble in found.troubles] == [request]
    two = [attempt(charge(1)), attempt(charge(2), attempt_id=2)]
    found = decided(two, evidence(answers=[answer("issued", NUMBER), answer("issued", NUMBER, 2)]))
    assert [str(trouble.place) for trouble in found.troubles] == [request, "request R2, attempt 1"]
    for said, told in ((answer("not issued"), "says not issued"), (answer("issued", OTHER), f"as {OTHER}")):
        found = decided([attempt(charge(1))], evidence(part, answers=[said]))
        assert str(found.troubles[0].message).endswith(told)
    unread = replace(statement(misread=[Misread("s.csv, row 9", "", "no number")]), unread=("Old",))
    found = decided([], evidence(unread))
    assert [str(trouble.place) for trouble in found.troubles] == ["s.csv, row 9", "s.csv"]
    lacking = decided([], evidence(statement(ours=("invoice",)), statement(ours=()), complete=COMPLETE),
                      around=[replace(one, voucher="invoice") for one in ours()])  # fmt: skip
    assert str(lacking.troubles[0].place) == "s.csv, s.csv"


def test_an_answer_that_agrees_with_the_statement_stands_beside_it_as_evidence() -> None:
    both = line(charge(1)), line(charge(2))
    said = answer("issued", NUMBER)
    (whole,) = decided([attempt(charge(1), charge(2))], evidence(statement(*both), answers=[said])).settled
    assert whole.settled_by == "Wang"
    assert "s.csv, s, row 2" in str(whole.evidence)
    assert "r.xlsx, Unknown, row 2: telephone" in str(whole.evidence)
    # A statement that lists a part of it alone is completed by the answer, and by whoever gave it.
    (part,) = decided([attempt(charge(1), charge(2))], evidence(statement(both[0]), answers=[said])).settled
    assert (part.number, part.settled_by, part.answered) == (NUMBER, "Wang", "telephone")
    assert str(part.evidence) == "r.xlsx, Unknown, row 2: telephone"
    assert decided([attempt(charge(1))], evidence(statement(line(charge(1))))).settled[0].answered == ""


@pytest.mark.parametrize("last", range(8))
def test_an_answer_completes_no_statement_that_contradicts_it_or_other_answers(last: int) -> None:
    number = f"17952588888888888{last}"
    one, part, said = (
        attempt(charge(1), charge(2)),
        line(charge(1), number),
        answer("issued", number),
    )
    assert outcome(decided([one], evidence(statement(part), answers=[said]))) == [("issued", number)]
    for lines, answers in (
        ([part], [said, answer("not issued")]),
        ([part, line(charge(3), number)], [said]),  # the number is of another request's charge, too
        ([replace(part, issued=(AT - datetime.timedelta(days=9)).date())], [said]),
    ):
        found = decided([one], evidence(statement(*lines), answers=answers))
        assert (outcome(found), [trouble.code for trouble in found.troubles]) == ([], ["contradiction"])


def test_why_silence_proves_nothing_is_said_of_what_is_not_listed_alone() -> None:
    one = attempt(charge(1), charge(2))
    listed = statement(line(charge(1)), line(charge(2)))
    for brought in (
        evidence(listed, complete=COMPLETE),
        evidence(statement(line(charge(1))), complete=COMPLETE),
        evidence(statement()),
        evidence(complete=COMPLETE),
    ):
        assert decided([one], brought).notes == ()


def test_what_may_be_bought_beside_a_ticket_says_nothing_of_its_fare() -> None:
    one = attempt(charge(1), voucher="itinerary")
    seat = line(charge(1, "ancillary", "seat"))
    found = decided([one], evidence(statement(seat), answers=[answer("issued", "3" * 20)]))
    assert (outcome(found), found.troubles) == ([("issued", "3" * 20)], ())


def test_several_charges_of_its_ticket_that_are_known_each_explain_their_own_line() -> None:
    one = attempt(charge(1))
    known = [(charge(1, "ancillary", "seat"), NUMBER), (charge(1, "ancillary", "meal"), OTHER)]
    listed = statement(*(line(identity, number) for identity, number in known))
    assert outcome(decided([one], evidence(listed, complete=COMPLETE), issued=known)) == [("not_sent", "")]


def test_a_red_line_of_another_ticket_keeps_nothing_from_being_proved() -> None:
    one, complete = attempt(charge(1)), statement()
    for ticket, settles in ((charge(7).ticket_no, True), (charge(1).ticket_no, False)):
        red = Reversal(NUMBER, "", "invoice", ticket, "ticket_fare", "flight", 1000, "s.csv, s, row 3")
        found = decided([one], evidence(replace(complete, reversals=(red,)), complete=COMPLETE))
        assert outcome(found) == [("not_sent", "")] * settles


def test_a_line_that_an_earlier_statement_showed_too_is_told_once() -> None:
    seats = [attempt(charge(1, "ancillary", p), attempt_id=n) for n, p in ((1, "seat"), (2, "meal"))]
    shown = line(charge(1, "ancillary", ""))
    found = decided(seats, evidence(statement(shown)), earlier=[replace(shown, place="earlier")])
    assert [(trouble.code, trouble.place) for trouble in found.troubles] == [("ambiguous", shown.place)]


def test_what_silence_lacks_to_prove_anything_is_said() -> None:
    one, full = attempt(charge(1)), statement()
    nothing_said = (
        replace(full, said_made=None, made_apart=None)
        if hasattr(full, "made_apart")
        else replace(full, said_made=None)
    )
    for brought, why in (
        (evidence(full, complete=COMPLETE, hours=None), "set settle_after_hours"),
        (evidence(statement(ours=()), complete=COMPLETE), "they list nothing"),
        (evidence(nothing_said, complete=COMPLETE), "does not say when it was made"),
        (evidence(replace(full, kinds=frozenset({"itinerary"})), complete=COMPLETE), "vouchers of another kind"),
        (evidence(full, complete=[replace(COMPLETE[0], kind="itinerary")]), "nobody says that they are complete for this kind"),
    ):  # fmt: skip
        (note,) = map(str, decided([one], brought).notes)
        assert why in note


def test_nothing_is_called_lacking_where_it_is_not_known_that_it_must_be_listed() -> None:
    only_invoices = statement(ours=("invoice",))
    of_invoices = [replace(COMPLETE[0], kind="invoice")]
    assert decided([], evidence(only_invoices, complete=of_invoices)).troubles == ()
    of_itineraries = [replace(COMPLETE[0], kind="itinerary")]
    (trouble,) = decided([], evidence(only_invoices, complete=of_itineraries)).troubles
    assert "3 requests of that kind (itinerary)" in str(trouble.message)
    assert "such as 22222222222222222221" in str(trouble.message)
    for brought in (
        evidence(only_invoices, complete=of_itineraries, hours=None),
        evidence(only_invoices, replace(only_invoices, said_made=None), complete=of_itineraries),
        evidence(complete=of_itineraries),
    ):
        assert decided([], brought).troubles == ()


def test_the_claim_that_proves_it_is_the_one_that_is_told() -> None:
    others = [replace(COMPLETE[0], kind="itinerary", text="itinerary:then")]
    others.append(Complete(AT - 90 * DAY, AT - 80 * DAY, "long ago"))
    (settled,) = decided([attempt(charge(1))], evidence(statement(), complete=[*others, *COMPLETE])).settled
    assert str(settled.evidence).endswith(
        "complete for 2026-11-07..2026-11-14, and which lists 3 others of that kind"
    )


def test_an_itinerary_under_another_number_is_none_of_those_known() -> None:
    known = attempt(charge(1), voucher="itinerary")
    refund = line(charge(1, "refund"), voucher="itinerary", number="2" * 19 + "9")
    for number, settles in (("2" * 19 + "9", True), ("2" * 19 + "8", False)):
        held_as = holding(charge(1, "refund"), "issued", number, "R0", "itinerary")
        brought = evidence(statement(refund), complete=COMPLETE)
        found = decide([known], brought, held(known) | {held_as.identity: held_as}, {}, (), ours())
        assert outcome(found) == [("not_sent", "")] * settles


def test_a_line_without_its_product_is_told_and_leaves_the_others_as_they_are() -> None:
    seat, meal = charge(1, "ancillary", "seat"), charge(1, "ancillary", "meal")
    unsaid = line(seat, OTHER, product="")
    # Another ticket has one of the same amount, and the ticket's other one was issued elsewhere.
    two = [attempt(seat), attempt(charge(2, "ancillary", "seat"), attempt_id=2)]
    elsewhere = replace(holding(meal, "issued", NUMBER, ""), elsewhere=True)
    found = decide(two, evidence(statement(unsaid)), held(*two) | {meal: elsewhere}, {})
    assert (outcome(found), [trouble.code for trouble in found.troubles]) == ([], ["ambiguous"])
    # Beside one that names its product it is of another charge; of which is not said.
    both = [attempt(seat), attempt(meal, attempt_id=2)]
    assert outcome(decided(both, evidence(statement(line(seat), unsaid)))) == [("issued", NUMBER)]
    # What one line speaks of is not left for the next.
    numbered = [(seat, NUMBER), (meal, OTHER)]
    lines = [line(seat, number, product="", amount=1000) for number in (NUMBER, "E-1", "E-2")]
    found = decided([], evidence(statement(*lines)), issued=numbered)
    assert [found.found[at] for at in range(3)] == [seat, meal, None]


def test_of_two_requests_with_one_number_both_places_are_told() -> None:
    two = [attempt(charge(1)), attempt(charge(2), attempt_id=2)]
    by_answer = [answer("issued", NUMBER, place="a"), answer("issued", NUMBER, 2, place="b")]
    for trouble in decided(two, evidence(answers=by_answer)).troubles:
        assert re.findall(r"\b([ab])\)", str(trouble.message)) in (["a", "b"], ["b", "a"])
    listed = decided(two, evidence(statement(line(charge(1))), answers=by_answer[1:]))
    assert outcome(listed) == []
    assert all("s.csv, s, row 2" in str(trouble.message) for trouble in listed.troubles)


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_line_of_its_ticket_is_explained_by_what_this_ledger_itself_issued_alone(
    *, elsewhere: bool
) -> None:
    fare, refund = attempt(charge(1)), charge(1, "refund")
    other = replace(holding(refund, "issued" if elsewhere else "unknown", "", "R2"), elsewhere=elsewhere)
    brought = evidence(statement(line(refund)), complete=COMPLETE)
    found = decide([fare], brought, held(fare) | {refund: other}, {}, (), ours())
    assert outcome(found) == []
    assert "none of those known here" in str(found.notes[0])


def test_a_line_without_its_product_speaks_of_an_ancillary_charge_of_its_ticket_that_is_ours() -> None:
    seat, meal = charge(1, "ancillary", "seat"), charge(1, "ancillary", "meal")
    unsaid = line(seat, product="")

    def about(*known: KnownCharge, lines: Sequence[StatementLine] = (unsaid,)) -> list[Identity | None]:
        return [*matched(lines, {one.identity: one for one in known}).values()]

    ours_as = holding(seat, "issued", NUMBER, "R0")
    assert about(ours_as) == [seat]
    assert about(replace(ours_as, identity=charge(2, "ancillary", "seat"))) == [None]
    assert about(replace(ours_as, identity=charge(1))) == [None]
    assert about(replace(ours_as, elsewhere=True)) == [None]
    assert about(replace(ours_as, amount=999)) == [None]
    both = ours_as, replace(ours_as, identity=meal)  # one invoice of two charges
    assert about(*both, lines=(line(seat), unsaid)) == [seat, meal]


def test_invoices_under_the_carrier_s_own_numbers_agree_with_what_the_ledger_holds() -> None:
    own = [replace(each, number=f"26{each.number}") for each in around("invoice")]
    found = decided([attempt(charge(1))], evidence(statement(*own, ours=()), complete=COMPLETE))
    assert outcome(found) == [("not_sent", "")]


def test_a_number_that_another_request_has_is_no_answer_and_several_may_be_settled_as_not_issued() -> None:
    two = [attempt(charge(1)), attempt(charge(2), attempt_id=2)]
    found = decided(two[:1], evidence(answers=[answer("issued", NUMBER)]), taken={NUMBER: "request R9"})
    assert (outcome(found), "request R9 has that number" in str(found.troubles[0].message)) == ([], True)
    both = decided(two, evidence(answers=[answer("not issued"), answer("not issued", attempt_id=2)]))
    assert (outcome(both), both.warnings) == ([("not_sent", "")] * 2, ())


def test_only_lines_that_may_be_about_what_is_in_doubt_are_asked_about_and_only_what_is_not_ours_is_held() -> (
    None
):
    seat, meal = charge(1, "ancillary", "seat"), charge(1, "ancillary", "meal")
    lounge, other = line(charge(1, "ancillary", "lounge"), OTHER), line(charge(7, "ancillary", ""), OTHER)
    for shown in (lounge, other):
        found = decided([attempt(seat)], evidence(statement(shown)))
        assert (found.troubles, found.elsewhere) == ((), (shown,))
    of_meal = line(meal, product="")
    found = decided([attempt(seat)], evidence(statement(of_meal)), issued=[(meal, NUMBER)])
    assert (found.troubles, found.elsewhere) == ((), ())
    # An invoice of ours under a number of the carrier's own is ours; what was issued elsewhere is shown again.
    assert (
        decided([], evidence(statement(line(charge(3), OTHER))), issued=[(charge(3), NUMBER)]).elsewhere == ()
    )
    elsewhere = replace(holding(charge(3), "issued", OTHER, ""), elsewhere=True)
    again = line(charge(3), OTHER)
    assert decide([], evidence(statement(again, ours=())), {charge(3): elsewhere}, {}).elsewhere == (again,)


def test_a_number_that_is_listed_for_another_ancillary_charge_settles_nothing() -> None:
    seat, meal = charge(1, "ancillary", "seat"), charge(1, "ancillary", "meal")
    for also, issued in (
        (line(charge(1, "ancillary", "lounge")), ()),
        (line(charge(7, "ancillary", "")), ()),
        (line(meal, product=""), [(meal, NUMBER)]),
    ):
        for said in ((), [answer("issued", NUMBER)]):
            found = decided(
                [attempt(seat)], evidence(statement(line(seat), also), answers=said), issued=issued
            )
            assert (outcome(found), [t.code for t in found.troubles]) == ([], ["contradiction"])
