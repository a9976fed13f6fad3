"""What evidence settles is recorded in a real ledger, and what it does not settle is told and changes nothing."""

import datetime
from dataclasses import replace
from typing import Any

import apsw
import pytest

from pipeline.ledger import gaps, reversals, runs, withdrawals
from pipeline.ledger.clock import utc_text
from pipeline.model.errors import LedgerProblem
from pipeline.model.evidence import Complete, Evidence, Misread, Reversal
from pipeline.model.itinerary_file import CheckedFile, ItineraryData, SealStatus
from pipeline.model.job import Job
from pipeline.model.message import verbatim
from pipeline.model.outcome import Outcome
from pipeline.model.places import row_at
from pipeline.reconciliation.itinerary_collection import settle_with_files
from tests.unit.reconciliation.desk import BY, PROFILE, Desk, line, problems, statement


def test_what_answers_settle_is_recorded_with_who_said_it_and_logged(desk: Desk) -> None:
    issued, refused, left = desk.doubt(1), desk.doubt(2), desk.doubt(3)
    answers = (
        desk.answer(issued, " Issued ".strip(), "N-01"),
        desk.answer(refused, "NOT issued", evidence="a mail"),
    )
    decided = desk.settle(*answers)
    assert desk.states() == [("issued", "N-01"), ("not_sent", ""), ("unknown", "")]
    assert [(one.attempt.attempt_id, one.state, one.number) for one in decided.settled] == [
        (issued.attempt_id, "issued", "N-01"),
        (refused.attempt_id, "not_sent", ""),
    ]
    assert (problems(decided), decided.answers) == ([], answers)
    said = "SELECT attempt_id, state, number, settled_by, evidence, answered FROM settlement"
    assert desk.rows(said) == [
        (issued.attempt_id, "issued", "N-01", "Wang", "answered.xlsx, Unknown, row 1: tel.", "tel."),
        (refused.attempt_id, "not_sent", "", "Wang", "answered.xlsx, Unknown, row 2: a mail", "a mail"),
    ]
    assert desk.logged == [
        ("settled", {"request": of.request.request_id, "attempt": 1, "state": state})
        for of, state in ((issued, "issued"), (refused, "not_sent"))
    ]
    assert left.attempt_id == 3


def test_evidence_that_was_withdrawn_settles_nothing_again_and_other_evidence_does(desk: Desk) -> None:
    """By an answer and by a statement; a withdrawn answer is typed anew, what a statement contradicts is not."""
    about = desk.doubt(1)
    other = desk.doubt(2)
    answer, listed = desk.answer(about, "not issued"), statement(line(2, "N-02"))
    desk.settle(answer, statements=listed)
    for entry in ("S1", "S2"):
        withdrawals.withdraw(desk.ledger._connection, entry, withdrawn_by="Li", why="misheard")
    assert desk.states() == [("unknown", ""), ("unknown", "")]
    of_other = desk.answer(other, "issued", "N-02")
    decided = desk.settle(answer, statements=listed)
    assert [(code, place, told.split(";")[0]) for code, place, told in problems(decided)] == [
        ("withdrawn", str(answer.place), f"request {about.request.request_id}, attempt 1: this evidence was withdrawn (S1) and settles it no more"),
        ("withdrawn", "s.csv, row 2", f"request {other.request.request_id}, attempt 1: this evidence was withdrawn (S2) and settles it no more"),
    ]  # fmt: skip
    assert (decided.settled, decided.answers, desk.states()[0][0]) == ((), (), "unknown")
    again = replace(answer, evidence="another call")
    decided = desk.settle(again, of_other, statements=listed)
    assert desk.states() == [("not_sent", ""), ("issued", "N-02")]
    assert decided.answers == (again, of_other)


def silence(desk: Desk) -> tuple[Any, dict[str, Any]]:
    """(an attempt in doubt; evidence whose silence proves that it was not issued)."""
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    sent = [utc_text(now + datetime.timedelta(hours=ticket)) for ticket in range(5)]
    for ticket in (1, 3, 4):
        desk.sent(ticket, Outcome("issued", number=f"N-0{ticket}"), sent[ticket])
    about = desk.sent(2, Outcome("unknown", "no_answer"), sent[2])
    (listed,) = statement(*(line(ticket, f"N-0{ticket}") for ticket in (1, 3, 4)))
    silent: dict[str, Any] = {
        "statements": (replace(listed, written=now + 9 * day, said_made=now + 9 * day),),
        "complete": (Complete(now - day, now + 4 * day, "these days"),),
        "settle_after": day,
    }
    return about, silent


def test_silence_settles_what_nobody_answers_and_nothing_that_an_answer_leaves_open(desk: Desk) -> None:
    about, silent = silence(desk)
    lacking = desk.settle(desk.answer(about, "issued"), **silent)
    assert (lacking.settled, [code for code, _, _ in problems(lacking)]) == ((), ["incomplete"])
    assert "an answer about it lacks something" in "".join(map(str, lacking.notes))
    assert [(one.state, one.settled_by) for one in desk.settle(**silent).settled] == [("not_sent", BY)]
    assert desk.states()[3] == ("not_sent", "")


@pytest.mark.parametrize(
    "doubtful",
    [
        {"answers": ["issued"]},  # and no number yet
        {"answers": ["issued?"]},
        {"misread": (Misread(verbatim("s.csv, row 2"), "9990000000001", verbatim("“?” is no amount")),)},
    ],
)
def test_not_issued_settles_nothing_while_something_else_may_say_issued(
    desk: Desk, doubtful: dict[str, Any]
) -> None:
    about = desk.doubt(1)
    others = [
        desk.answer(about, said, place=row_at("li.xlsx", "Unknown", 2))
        for said in doubtful.get("answers", ())
    ]
    statements = statement(misread=doubtful.get("misread", ()))
    decided = desk.settle(desk.answer(about, "not issued"), *others, statements=statements)
    assert decided.settled == ()
    assert "contradiction" in [code for code, _, _ in problems(decided)]
    assert desk.states() == [("unknown", "")]


def test_what_may_say_issued_keeps_nobody_from_saying_under_which_number(desk: Desk) -> None:
    about = desk.doubt(1)
    half = desk.answer(about, "issued", place=row_at("li.xlsx", "Unknown", 2))
    desk.settle(desk.answer(about, "issued", "N-01"), half)
    assert desk.states() == [("issued", "N-01")]


def test_silence_settles_nothing_about_which_a_file_came_now_or_another_night(desk: Desk) -> None:
    _, silent = silence(desk)
    (doubtful,) = [one.attempt_id for one in desk.ledger.unsettled()]
    assert desk.settle(**silent, filed=frozenset({doubtful})).settled == ()
    desk.ledger._connection.execute(
        "INSERT INTO received_file (run, sha256, status, attempt_id, number, ticket_no, seal, place, archived, reasons, received_at)"
        " SELECT run, hex(zeroblob(32)), 'unclear', attempt_id, '', '', 'none', 'a.ofd', '', '', ended_at FROM attempt"
        " WHERE attempt_id = ?",
        (doubtful,),
    )
    assert desk.settle(**silent).settled == ()


def test_files_that_are_weighed_beside_a_silent_statement_are_heard(desk: Desk) -> None:
    _, silent = silence(desk)
    evidence = replace(Evidence((), (), (), None, BY), **silent)
    data = ItineraryData("2" * 20, (desk.ledger.unsettled()[0].charges[0][0].ticket_no,))
    file = CheckedFile(("a.ofd",), "a" * 64, data, SealStatus.NONE)
    run = desk.run_of(Job((), PROFILE, None))
    decided, (collected,) = settle_with_files(run, evidence, [file], ())
    assert decided.settled == ()
    assert collected.of is not None
    assert settle_with_files(run, evidence, [], ())[0].settled == ()  # nor when the file is gone


def test_a_ledger_that_takes_no_settlement_is_named(desk: Desk) -> None:
    about = desk.doubt(1)
    to_refuse = (apsw.SQLITE_INSERT, "settlement")
    desk.ledger._connection.authorizer = lambda *asked: (
        apsw.SQLITE_DENY if asked[:2] == to_refuse else apsw.SQLITE_OK
    )
    with pytest.raises(LedgerProblem, match="can't be read or written") as told:
        desk.settle(desk.answer(about, "not issued"))
    assert str(told.value).startswith(f"{desk.ledger.path}: ")
    assert desk.states() == [("unknown", "")]


def test_what_the_carrier_issued_elsewhere_is_held_with_its_code(desk: Desk) -> None:
    seat = line(1, "N-01", charge="ancillary", product="seat", voucher="invoice")
    decided = desk.settle(statements=statement(seat, line(2, "N-02")))
    assert (decided.lines, decided.elsewhere) == ((seat, line(2, "N-02")),) * 2
    held = desk.rows("SELECT run, ticket_no, product, wire, number, evidence, found_by FROM elsewhere")
    assert held == [
        (desk.run, "9990000000001", "seat", "EXTRA/Seat", "N-01", "s.csv, row 1", "Night Shift"),
        (desk.run, "9990000000002", "flight", "FARE/Flight", "N-02", "s.csv, row 2", "Night Shift"),
    ]


@pytest.mark.parametrize("gap", [False, True])
def test_lines_of_an_odd_number_hold_where_the_ledger_may_lack_something(desk: Desk, gap: bool) -> None:
    desk.sent(1, Outcome("issued", number="N-01"))
    if gap:
        connection = desk.ledger._connection
        gaps.mark_gap(connection, "2026-11-01T00:00:00.000+00:00", "a copy was put back")
        desk.run = runs.begin(connection, desk.ledger.lock, runs.RunStart("reconcile", "2026-11-20"))
    odd = (line(1, "1"), line(2, "2"))
    desk.settle(statements=statement(set_aside=odd))
    assert desk.rows("SELECT ticket_no FROM elsewhere") == ([("9990000000002",)] if gap else [])


@pytest.mark.parametrize("by_answer", [False, True])
def test_a_number_that_another_has_settles_nothing(desk: Desk, by_answer: bool) -> None:
    """One of our own, one that a statement showed for another ticket, and one that reversed a voucher."""
    desk.sent(9, Outcome("issued", number="N-09"))
    desk.sent(8, Outcome("issued", number="N-08"))
    desk.settle(statements=statement(line(7, "N-07")))
    reversals.reverse(
        desk.ledger._connection,
        reversals.SaidReversed("N-08", "Li", "letter", voucher="itinerary", red_number="R-08"),
    )
    for ticket, number in enumerate(("N-09", "N-07", "R-08"), start=1):
        about = desk.doubt(ticket)
        if by_answer:
            decided = desk.settle(desk.answer(about, "issued", number))
        else:
            decided = desk.settle(statements=statement(line(ticket, number)))
        assert decided.settled == (), number
        assert "contradiction" in [code for code, _, _ in problems(decided)], number
        # What a statement showed once is weighed with whatever comes later, and with nothing.
        later = desk.settle()
        assert later.settled == (), number
        assert by_answer or "contradiction" in [code for code, _, _ in problems(later)], number
    assert [state for state, _ in desk.states()[2:]] == ["unknown"] * 3


def red(ticket: int, original: str, number: str = "R-01") -> Reversal:
    return Reversal(
        original,
        number,
        "itinerary",
        f"999{ticket:010}",
        "ticket_fare",
        "flight",
        1000,
        row_at("s.csv", "s", ticket),
    )


def test_a_red_line_of_what_is_settled_just_now_is_recorded_after_it(desk: Desk) -> None:
    desk.doubt(1)
    decided = desk.settle(statements=statement(line(1, "N-01"), reversals=(red(1, "N-01"),)))
    assert desk.states() == [("issued", "N-01")]
    assert desk.rows("SELECT number, red_number, run, reversed_by FROM reversal") == [
        ("N-01", "R-01", desk.run, "Night Shift")
    ]
    assert problems(decided) == []
    assert "N-01 was reversed by the carrier" in "".join(map(str, decided.notes))


def test_a_red_line_is_recorded_before_anything_is_weighed(desk: Desk) -> None:
    desk.sent(1, Outcome("issued", number="N-01"))
    decided = desk.settle(statements=statement(line(1, "N-01"), reversals=(red(1, "N-01"),)))
    assert [number for (number,) in desk.rows("SELECT number FROM reversal")] == ["N-01"]
    assert (problems(decided), decided.lines) == ([], ())
    assert "N-01 was reversed by the carrier" in "".join(map(str, decided.notes))
    again = desk.doubt(1)
    assert desk.settle(desk.answer(again, "issued", "R-01")).settled == (), "a red voucher's number"
    ours = desk.settle(statements=statement(line(1, "R-01")))
    assert "contradiction" in [code for code, _, _ in problems(ours)]


@pytest.mark.parametrize("listed", ["N-02", "X-02"])
def test_a_red_line_under_a_number_that_is_listed_too_is_believed_nowhere(desk: Desk, listed: str) -> None:
    """Be it a voucher of ours or none."""
    desk.sent(1, Outcome("issued", number="N-01"))
    desk.sent(2, Outcome("issued", number="N-02"))
    told = problems(desk.settle(statements=statement(line(2, listed), reversals=(red(1, "N-01", listed),))))
    assert [(code, "under which a voucher is listed, too" in problem) for code, _, problem in told] == [
        ("reversal", True)
    ]
    assert desk.rows("SELECT 1 FROM reversal") == []


def test_what_may_be_a_reversed_voucher_under_another_number_is_asked_about(desk: Desk) -> None:
    desk.sent(1, Outcome("issued", number="N-01"))
    desk.settle(statements=statement(reversals=(red(1, "N-01"),)))
    desk.doubt(1)
    decided = desk.settle(statements=statement(line(1, "26N-01")))
    ((code, _, problem),) = problems(decided)
    assert (code, "which may be its voucher N-01, that was reversed" in problem) == ("contradiction", True)
    assert decided.settled == ()


@pytest.mark.parametrize(
    ("written", "made", "told"),
    [
        (1, None, True),  # nobody says when it was made
        (1, 1, True),
        (1, -1, False),
        (-1, None, False),
        (-1, 1, False),  # the file can't be older than what it says
    ],
)
def test_a_reversed_voucher_that_a_later_statement_lists_with_no_red_line_is_told(
    desk: Desk, written: int, made: int | None, told: bool
) -> None:
    desk.sent(1, Outcome("issued", number="N-01"))
    said = reversals.SaidReversed("N-01", "Li", "letter", red_number="R-01")
    at = datetime.datetime.fromisoformat(reversals.reverse(desk.ledger._connection, said).at)
    hour = datetime.timedelta(hours=1)
    (listed,) = statement(line(1, "N-01"), said_made=None if made is None else at + made * hour)
    listed = replace(listed, written=at + written * hour)
    decided = desk.settle(statements=(listed,))
    cure = "If R1 is the mistake: voucher ledger withdraw R1"
    assert [(code, place, cure in problem) for code, place, problem in problems(decided)] == (
        [("contradiction", "s.csv, row 1", True)] * told
    )
    assert decided.lines == ()  # it is compared with nothing, and holds nothing, either way
    assert desk.rows("SELECT 1 FROM elsewhere") == []
    # The red line may stand on another of the carrier's statements.
    (other,) = statement(reversals=(red(1, "N-01"),))
    assert problems(desk.settle(statements=(listed, other))) == []


def test_a_reversal_that_a_red_line_showed_stands_where_a_later_statement_has_no_such_line(
    desk: Desk,
) -> None:
    desk.sent(1, Outcome("issued", number="N-01"))
    desk.settle(statements=statement(reversals=(red(1, "N-01"),)))
    decided = desk.settle(statements=statement(line(1, "N-01")))
    assert (problems(decided), decided.lines) == ([], ())
