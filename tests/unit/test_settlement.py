"""What evidence settles, and what it does not: a contradiction settles nothing."""

import datetime
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.evidence import Answer, Complete, Misread, Statement, StatementLine, Unsettled
from pipeline.holdings import Holding
from pipeline.request import Identity
from pipeline.settlement import Decided, Evidence, decide

NUMBER = "179525952880229397"
OTHER = "179525952880229398"
AT = datetime.datetime(2026, 11, 10, 12, tzinfo=datetime.UTC)


def charge(ticket: int, name: str = "ticket_fare", product: str = "flight") -> Identity:
    return Identity(f"999{ticket:010}", name, product)


def attempt(
    *charges: Identity, voucher: str = "invoice", attempt_id: int = 1, at: datetime.datetime = AT
) -> Unsettled:
    parts = tuple((identity, f"{identity.charge}/{identity.product}", 1000) for identity in charges)
    text = at.isoformat(timespec="milliseconds")
    return Unsettled(
        attempt_id, f"R{attempt_id}", 1, voucher, "domestic", "Acme", 1000 * len(parts), "no_answer", "", "", text, text,
        "october.xlsx, Tickets, row 2", parts,
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


def statement(
    *lines: StatementLine,
    made: datetime.datetime = AT + datetime.timedelta(days=9),
    misread: Sequence[Misread] = (),
) -> Statement:
    return Statement("s.csv", "0" * 64, made, tuple(lines) or (line(charge(99), "1" * 18),), tuple(misread))


COMPLETE = Complete(
    AT - datetime.timedelta(days=3), AT + datetime.timedelta(days=5), "2026-11-07..2026-11-14"
)


def answer(state: str, number: str = "", attempt_id: int = 1, **changes: Any) -> Answer:
    return replace(
        Answer("L", f"R{attempt_id}", 1, state, number, "Wang", "telephone", "r.xlsx, Unknown, row 2"),
        **changes,
    )


def evidence(
    *statements: Statement,
    answers: Sequence[Answer] = (),
    complete: Complete | None = None,
    hours: float | None = 24,
) -> Evidence:
    after = None if hours is None else datetime.timedelta(hours=hours)
    return Evidence(tuple(statements), tuple(answers), complete, after, "cron")


def held(*attempts: Unsettled, issued: Sequence[tuple[Identity, str]] = ()) -> dict[Identity, Holding]:
    def holding(identity: Identity, state: str, number: str, request: str) -> Holding:
        return Holding(
            identity,
            "",
            "invoice",
            state,
            number,
            1000,
            "business",
            "Acme",
            "",
            request,
            1,
            1,
            AT.isoformat(),
            "",
            "",
            "f",
            "s",
            2,
        )

    found = {i: holding(i, "unknown", "", one.request_id) for one in attempts for i, _, _ in one.charges}
    return found | {identity: holding(identity, "issued", number, "R0") for identity, number in issued}


def decided(attempts: Sequence[Unsettled], brought: Evidence, **more: Any) -> Decided:
    taken = more.pop("taken", {})
    return decide(attempts, brought, held(*attempts, **more), taken)


def outcome(found: Decided) -> list[tuple[str, str]]:
    return [(one.state, one.number) for one in found.settled]


def test_a_request_that_is_listed_whole_under_one_number_is_issued() -> None:
    one = attempt(charge(1), charge(2))
    found = decided([one], evidence(statement(line(charge(1)), line(charge(2)))))
    assert outcome(found) == [("issued", NUMBER)]
    assert found.settled[0].settled_by == "cron"
    assert "s.csv" in found.settled[0].evidence
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
    assert seen in found.troubles[0].message


def test_a_number_that_another_request_has_settles_nothing() -> None:
    one = attempt(charge(1))
    found = decided([one], evidence(statement(line(charge(1)))), taken={NUMBER: True})
    assert outcome(found) == []
    assert "another request of this ledger" in found.troubles[0].message
    two = [attempt(charge(1)), attempt(charge(2), attempt_id=2)]
    said = evidence(answers=[answer("issued", NUMBER), answer("issued", NUMBER, 2)])
    assert outcome(decided(two, said)) == []
    assert len(decided(two, said).troubles) == 2


@pytest.mark.parametrize(
    ("answers", "lines", "complete", "settled"),
    [
        ([answer("issued", NUMBER)], [], None, [("issued", NUMBER)]),
        ([answer("not issued")], [], None, [("not_sent", "")]),
        ([answer("未开具")], [], None, [("not_sent", "")]),
        ([answer("not issued"), answer("not issued", place="again")], [], None, [("not_sent", "")]),
        ([answer("issued", NUMBER)], [line(charge(1))], None, [("issued", NUMBER)]),
        ([answer("not issued")], [], COMPLETE, [("not_sent", "")]),
        # and those that contradict each other
        ([answer("not issued")], [line(charge(1))], None, []),
        ([answer("issued", OTHER)], [line(charge(1))], None, []),
        ([answer("issued", NUMBER)], [], COMPLETE, []),
        ([answer("issued", NUMBER), answer("not issued")], [], None, []),
        ([answer("issued", NUMBER), answer("issued", OTHER)], [], None, []),
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
    assert (one.settled_by, one.evidence) == ("Wang", "r.xlsx, Unknown, row 2: telephone")


def test_silence_settles_only_where_the_statement_is_said_to_be_complete() -> None:
    one = attempt(charge(1))
    assert outcome(decided([one], evidence(statement(line(charge(7)))))) == []
    found = decided([one], evidence(statement(line(charge(7))), complete=COMPLETE))
    assert outcome(found) == [("not_sent", "")]
    assert "complete for 2026-11-07..2026-11-14" in found.settled[0].evidence


DAY = datetime.timedelta(days=1)
MOMENT = datetime.timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("complete", "made", "hours", "settles"),
    [
        (COMPLETE, AT + DAY, 24, True),
        (COMPLETE, AT + DAY - MOMENT, 24, False),  # made too soon
        (COMPLETE, AT + DAY, None, False),  # the profile does not say how soon
        (replace(COMPLETE, until=AT + DAY), AT + 9 * DAY, 24, True),
        (replace(COMPLETE, until=AT + DAY - MOMENT), AT + 9 * DAY, 24, False),
        (replace(COMPLETE, since=AT), AT + 9 * DAY, 24, True),
        (replace(COMPLETE, since=AT + MOMENT), AT + 9 * DAY, 24, False),
        (replace(COMPLETE, until=AT), AT, 0, True),
    ],
)
def test_the_moments_between_which_silence_is_evidence(
    complete: Complete, made: datetime.datetime, hours: Any, settles: bool
) -> None:
    found = decided([attempt(charge(1))], evidence(statement(made=made), complete=complete, hours=hours))
    assert outcome(found) == ([("not_sent", "")] if settles else [])


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


def test_an_ancillary_line_without_its_product_is_matched_by_its_amount_or_not_at_all() -> None:
    seat, meal = charge(1, "ancillary", "seat"), charge(1, "ancillary", "meal")
    one = attempt(seat)
    unsaid = line(seat, product="")
    assert outcome(decided([one], evidence(statement(unsaid)))) == [("issued", NUMBER)]
    both = [attempt(seat), attempt(meal, attempt_id=2)]
    found = decided(both, evidence(statement(unsaid), complete=COMPLETE))
    assert outcome(found) == []  # it may be either, so that silence proves nothing of the other
    assert [t.code for t in found.troubles] == ["ambiguous"]
    assert found.elsewhere == (unsaid,)  # held, whichever it is
    assert outcome(decided([one], evidence(statement(replace(unsaid, amount=None))))) == []
    other_amount = decided([one], evidence(statement(replace(unsaid, amount=777)), complete=COMPLETE))
    assert outcome(other_amount) == []


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
    assert len(found.lines) == 1


def test_a_number_of_another_shape_is_recorded_with_a_warning() -> None:
    found = decided([attempt(charge(1))], evidence(statement(line(charge(1), "INV-1"))))
    assert outcome(found) == [("issued", "INV-1")]
    assert "another shape" in found.warnings[0]
    assert decided([attempt(charge(1))], evidence(statement(line(charge(1))))).warnings == ()


def test_statements_that_visibly_lack_something_are_not_complete_whoever_says_so() -> None:
    one = attempt(charge(1))
    issued = list(held(issued=[(charge(5), OTHER)]).values())
    lacking = decide([one], evidence(statement(), complete=COMPLETE), held(one), {}, issued=issued)
    assert outcome(lacking) == []
    assert "lacks 1 charges" in lacking.troubles[0].message
    listed = statement(line(charge(5), OTHER))
    whole = held(one, issued=[(charge(5), OTHER)])
    assert outcome(decide([one], evidence(listed, complete=COMPLETE), whole, {}, issued=issued)) == [
        ("not_sent", "")
    ]
    unread = decided([one], evidence(replace(statement(), unread=("Page2",)), complete=COMPLETE))
    assert outcome(unread) == []
    assert "Page2" in unread.troubles[0].message
    of_others = evidence(replace(statement(), kinds=frozenset({"itinerary"})), complete=COMPLETE)
    assert outcome(decided([one], of_others)) == []


def test_what_was_issued_before_it_was_asked_for_is_another_voucher() -> None:
    early = line(charge(1), issued=(AT - 2 * DAY).date())
    found = decided([attempt(charge(1))], evidence(statement(early)))
    assert outcome(found) == []
    assert "before it was asked for" in found.troubles[0].message
    assert outcome(
        decided([attempt(charge(1))], evidence(statement(line(charge(1), issued=(AT - DAY).date()))))
    ) == [("issued", NUMBER)]


def test_what_a_statement_showed_once_counts_at_the_next_reconciliation_too() -> None:
    one = attempt(charge(1), charge(2))
    first = decided([one], evidence(statement(line(charge(1)))))
    assert outcome(first) == []
    assert first.elsewhere == (line(charge(1)),)
    denied = decide([one], evidence(answers=[answer("not issued")]), held(one), {}, earlier=first.elsewhere)
    assert outcome(denied) == []
    assert denied.troubles[0].code == "contradiction"
    silent = decide([one], evidence(statement(), complete=COMPLETE), held(one), {}, earlier=first.elsewhere)
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


@given(lines=LINES, answers=ANSWERS, complete=st.sampled_from([None, COMPLETE]))
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
