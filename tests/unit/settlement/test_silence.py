"""When what a statement does not list was not issued."""

import datetime
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pipeline.model.evidence import (
    Complete,
    Misread,
    Reversal,
)
from pipeline.model.settled import Decided
from tests.unit.settlement.weighing import (
    AT,
    COMPLETE,
    DAY,
    HOUR,
    MOMENT,
    NUMBER,
    OTHER,
    around,
    attempt,
    charge,
    decided,
    evidence,
    held,
    holding,
    line,
    ours,
    outcome,
    statement,
    weigh,
)


def test_silence_settles_only_where_the_statement_is_said_to_be_complete() -> None:
    one = attempt(charge(1))
    assert outcome(decided([one], evidence(statement(line(charge(7)))))) == []
    found = decided([one], evidence(statement(line(charge(7))), complete=COMPLETE))
    assert outcome(found) == [("not_sent", "")]
    assert "complete for 2026-11-07..2026-11-14" in str(found.settled[0].evidence)


def test_silence_proves_nothing_of_what_a_file_came_about() -> None:
    one = attempt(charge(1))
    brought = evidence(statement(line(charge(7))), complete=COMPLETE)
    around_it = [*ours()]
    silent = weigh([one], brought, held(one), issued=around_it)
    assert outcome(silent) == [("not_sent", "")]
    filed = weigh([one], brought, held(one), issued=around_it, filed=frozenset({one.attempt_id}))
    assert outcome(filed) == []
    assert "an itinerary file about it came" in str(filed.notes[0])


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
    assert [one.as_of for one in found.settled] == ([made] if settles else [])
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


def test_what_an_earlier_statement_lists_does_not_make_this_one_complete() -> None:
    brought = evidence(statement(ours=["itinerary"]), complete=[replace(COMPLETE[0], kind="invoice")])
    one = attempt(charge(1))
    found = weigh([one], brought, held(one), {}, around("invoice"), ours())
    assert outcome(found) == []
    assert [t.code for t in found.troubles] == ["contradiction"]


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


def test_a_red_line_of_another_ticket_keeps_nothing_from_being_proved() -> None:
    one, complete = attempt(charge(1)), statement()
    for ticket, settles in ((charge(7).ticket_no, True), (charge(1).ticket_no, False)):
        red = Reversal(NUMBER, "", "invoice", ticket, "ticket_fare", "flight", 1000, "s.csv, s, row 3")
        found = decided([one], evidence(replace(complete, reversals=(red,)), complete=COMPLETE))
        assert outcome(found) == [("not_sent", "")] * settles


def test_what_silence_lacks_to_prove_anything_is_said() -> None:
    one, full = attempt(charge(1)), statement()
    nothing_said = replace(full, said_made=None)
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


@pytest.mark.usefixtures("far_off")
def test_when_a_statement_was_made_is_told_in_utc_wherever_this_machine_is() -> None:
    early = evidence(statement(made=AT), complete=COMPLETE)
    (note,) = map(str, decided([attempt(charge(1))], early).notes)
    assert "before the statement was made (2026-11-10 12:00 UTC)" in note


def test_the_claim_that_proves_it_is_the_one_that_is_told() -> None:
    others = [replace(COMPLETE[0], kind="itinerary", text="itinerary:then")]
    others.append(Complete(AT - 90 * DAY, AT - 80 * DAY, "long ago"))
    (settled,) = decided([attempt(charge(1))], evidence(statement(), complete=[*others, *COMPLETE])).settled
    assert str(settled.evidence).endswith(
        "complete for 2026-11-07..2026-11-14, and which lists 3 others of that kind"
    )


def test_invoices_under_the_carrier_s_own_numbers_agree_with_what_the_ledger_holds() -> None:
    own = [replace(each, number=f"26{each.number}") for each in around("invoice")]
    found = decided([attempt(charge(1))], evidence(statement(*own, ours=()), complete=COMPLETE))
    assert outcome(found) == [("not_sent", "")]
