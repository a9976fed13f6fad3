"""Evidence and notes, asked of both ledgers: what they come to, what is refused and in which words, and what the database itself refuses."""

import re
from collections.abc import Callable
from typing import Any

import apsw
import psycopg
import pytest

from pipeline.ledger.attempt_changes import Ended
from pipeline.ledger.inbox_files import Handled
from pipeline.ledger.judgements import Judgement
from pipeline.ledger.reversals import SaidReversed
from pipeline.ledger.run_people import RunPerson
from pipeline.ledger.settlements import Settlement
from pipeline.ledger.withdrawals import Withdrawn
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.evidence import StatementLine
from pipeline.model.itinerary_file import CheckedFile, CollectedFile, FileStatus, ItineraryData, KnownVoucher
from pipeline.model.message import message, to_text, verbatim
from pipeline.model.outcome import Outcome
from pipeline.model.profile import Owner
from pipeline.model.request import Identity
from tests.contract.ledgers import OWNER, Ledger, Shared, charge, invoice, issued, itinerary

pytestmark = pytest.mark.slow

LOST = Outcome("unknown", "no_answer", "", "T7", verbatim("timeout"))
LISTED = Settlement("issued", "N1", "chen", "the statement")
NOT_ISSUED = Settlement("not_sent", "", "chen", "row 2: the carrier's letter", "the carrier's letter")
REFUSED_BY_THE_DATABASE = (apsw.ConstraintError, psycopg.Error)


def line(
    number: str = "E1", kind: str = "ticket_fare", ticket: int = 1, voucher: str = "invoice"
) -> StatementLine:
    return StatementLine(
        voucher,
        number,
        f"999{ticket:010}",
        kind,
        "flight",
        100_00,
        None,
        "Example",
        verbatim("row 2"),
        "s.csv",
    )


def hold(ledger: Ledger, *lines: StatementLine) -> None:
    ledger.operations.hold_elsewhere(ledger.run, [(one, "FARE/Flight") for one in lines], "chen")


def one_issued(ledger: Ledger, number: str = "N1", ticket: int = 1) -> int:
    ledger.plan(invoice(charge(ticket)))
    (attempt,) = ledger.claim(1)
    ledger.record(Ended(attempt, issued(number)))
    return attempt


def one_unknown(ledger: Ledger, ticket: int = 1) -> int:
    """What a dead sender left."""
    ledger.plan(invoice(charge(ticket)))
    (attempt,) = ledger.claim(1)
    ledger.record(Ended(attempt, LOST))
    ledger.sender_dies()
    return attempt


def withdraw(ledger: Ledger, entry: str) -> Withdrawn:
    done: Withdrawn = ledger.change(lambda it: it.withdraw(entry, withdrawn_by="li", why="a mistake"))
    return done


def reverse(ledger: Ledger, number: str, voucher: str = "", red: str = "") -> Any:
    return ledger.change(lambda it: it.reverse(SaidReversed(number, "li", "their mail", voucher, red)))


def refused(problem: str, change: Callable[[], object]) -> None:
    with pytest.raises(InputProblem, match=re.escape(problem)):
        change()


def held(ledger: Ledger) -> list[tuple[Any, ...]]:
    """Which attempts hold their charges."""
    return ledger.rows("SELECT attempt_id FROM charge WHERE live ORDER BY attempt_id")


# --- evidence is withdrawn -------------------------------------------------------------------------


def test_what_was_settled_as_issued_is_unknown_again_when_that_is_withdrawn(ledger: Ledger) -> None:
    attempt = one_unknown(ledger)
    ledger.operations.settle(attempt, LISTED)
    assert withdraw(ledger, " s1 ") == Withdrawn(
        "S1", "settlement", message("{request}, {attempt}", request=invoice(charge(1)).request_id, attempt=1)
    )
    assert ledger.rows("SELECT state, number, reason, trace_id, was_unknown FROM attempt") == [
        ("unknown", "", "no_answer", "T7", True)
    ]
    assert held(ledger) == [(attempt,)]
    assert ledger.rows("SELECT settlement, withdrawn FROM settlement") == [(1, True)]
    assert ledger.rows("SELECT settlement, elsewhere, reversal, withdrawn_by, why FROM withdrawal") == [
        (1, None, None, "li", "a mistake")
    ]
    with pytest.raises(LedgerProblem):  # a statement shows the same under any name
        ledger.operations.settle(attempt, Settlement("issued", "N1", "wang", "another copy of the statement"))
    ledger.operations.settle(attempt, Settlement("issued", "N2", "chen", "the next statement"))
    assert ledger.rows("SELECT state, number FROM attempt") == [("issued", "N2")]


def test_an_answer_that_was_withdrawn_is_given_again_in_other_words_alone(ledger: Ledger) -> None:
    attempt = one_unknown(ledger)
    ledger.operations.settle(attempt, NOT_ISSUED)
    assert held(ledger) == []
    withdraw(ledger, "S1")
    assert held(ledger) == [(attempt,)]
    with pytest.raises(LedgerProblem):
        ledger.operations.settle(attempt, NOT_ISSUED)
    ledger.operations.settle(attempt, Settlement("not_sent", "", "chen", "row 3: their mail", "their mail"))
    assert ledger.states() == {attempt: "not_sent"}
    assert ledger.rows("SELECT withdrawn FROM settlement ORDER BY settlement") == [(True,), (False,)]


def test_what_is_held_by_another_attempt_by_now_is_not_held_again(ledger: Ledger) -> None:
    first = one_unknown(ledger)
    ledger.operations.settle(first, NOT_ISSUED)
    second = one_issued(ledger)
    asked = f"request {invoice(charge(1)).request_id}, attempt 2"
    refused(
        f"S1: ticket 9990000000001 is held by another attempt, {asked} (issued)",
        lambda: withdraw(ledger, "S1"),
    )
    assert ledger.states() == {first: "not_sent", second: "issued"}
    assert ledger.rows("SELECT count(*) FROM withdrawal") == [(0,)]
    reverse(ledger, "N1")
    withdraw(ledger, "S1")
    assert ledger.states() == {first: "unknown", second: "issued"}
    assert held(ledger) == [(first,)]


def test_an_entry_is_there_and_is_withdrawn_once(ledger: Ledger) -> None:
    hold(ledger, line())
    for entry in ("X1", "S0", "S", "E1x", "S1 S2"):
        refused(f"{entry}: is not the name of an entry", lambda entry=entry: withdraw(ledger, entry))
    for entry in ("S1", "E2", "R1"):
        refused(f"{entry}: there is no such entry", lambda entry=entry: withdraw(ledger, entry))
    assert withdraw(ledger, "E1") == Withdrawn("E1", "elsewhere", "E1")
    refused("E1: is withdrawn already", lambda: withdraw(ledger, "E1"))
    assert ledger.rows("SELECT count(*) FROM withdrawal") == [(1,)]


# --- a voucher is reversed -------------------------------------------------------------------------


def test_a_reversed_vouchers_charges_may_be_issued_again(ledger: Ledger) -> None:
    first = one_issued(ledger)
    done = reverse(ledger, "N1", red="RED1")
    assert (done.entry, done.voucher, done.number) == ("R1", "invoice", "N1")
    assert ledger.rows("SELECT attempt_id, red_number, reversed_by, evidence FROM reversal") == [
        (first, "RED1", "li", to_text(verbatim("their mail")))
    ]
    assert done.charges == ((Identity("9990000000001", "ticket_fare", "flight"), 100_00),)
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", done.at)
    assert held(ledger) == []
    second = one_issued(ledger, "N2")
    assert ledger.states() == {first: "issued", second: "issued"}
    assert held(ledger) == [(second,)]


@pytest.mark.parametrize("number", ["N1", "RED1"])
def test_its_number_and_the_red_one_are_never_another_attempts(ledger: Ledger, number: str) -> None:
    one_issued(ledger)
    reverse(ledger, "N1", red="RED1")
    ledger.plan(invoice(charge(2)))
    (second,) = ledger.claim(1)
    said = (
        message("the answer brings number {number}, which the carrier has reversed", number="RED1")
        if number == "RED1"
        else message(
            "the answer brings number {number}, which request {request_id} has already",
            number="N1",
            request_id=invoice(charge(1)).request_id,
        )
    )
    assert ledger.record(Ended(second, issued(number))) == [
        Outcome("unknown", "answer_unexplained", detail=said)
    ]
    with pytest.raises(LedgerProblem):
        ledger.operations.settle(second, Settlement("issued", number, "chen", "the statement"))
    assert ledger.states()[second] == "unknown"


def test_what_statements_showed_alone_is_reversed_and_its_number_stays_its_own(ledger: Ledger) -> None:
    hold(ledger, line())
    done = reverse(ledger, "E1")
    assert done.entry == "R1"
    assert ledger.rows("SELECT attempt_id FROM reversal") == [(None,)]
    assert done.charges == ((Identity("9990000000001", "ticket_fare", "flight"), 100_00),)
    assert ledger.rows("SELECT live, withdrawn FROM elsewhere") == [(False, False)]
    hold(ledger, line("E1", "refund"))  # shown later, under that number
    assert ledger.rows("SELECT live FROM elsewhere ORDER BY elsewhere") == [(False,), (False,)]
    (attempt,) = ledger.plan(invoice(charge(1)))
    assert ledger.claim(1) == [attempt]
    (recorded,) = ledger.record(Ended(attempt, issued("E1")))
    said = message("the answer brings number {number}, which the carrier has reversed", number="E1")
    assert recorded == Outcome("unknown", "answer_unexplained", detail=said)


def test_a_number_of_another_ticket_on_a_statement_is_no_attempts(ledger: Ledger) -> None:
    hold(ledger, line("E1", ticket=2))
    ledger.plan(invoice(charge(1)))
    (attempt,) = ledger.claim(1)
    (recorded,) = ledger.record(Ended(attempt, issued("E1")))
    said = message(
        "the answer brings number {number}, which a statement showed for ticket {ticket_no}",
        number="E1",
        ticket_no="9990000000002",
    )
    assert recorded == Outcome("unknown", "answer_unexplained", detail=said)
    withdraw(ledger, "E1")
    ledger.operations.settle(attempt, Settlement("issued", "E1", "chen", "the next statement"))
    assert ledger.states() == {attempt: "issued"}


def test_what_can_not_be_reversed_is_told_why(ledger: Ledger) -> None:
    one_issued(ledger)
    one_issued(ledger, "N2", ticket=2)
    hold(ledger, line("N1", voucher="itinerary"), line("E1", ticket=3))
    refused("N9: no voucher of this number is held as issued", lambda: reverse(ledger, "N9"))
    refused("N1: is the number of an invoice and of an itinerary", lambda: reverse(ledger, "N1"))
    for red in ("N2", "E1"):
        refused(
            f"{red} can't be the number of what reversed N1",
            lambda red=red: reverse(ledger, "N1", "invoice", red),
        )
    assert reverse(ledger, "N1", "invoice").entry == "R1"
    refused("N1: its reversal is recorded already (R1)", lambda: reverse(ledger, "N1"))
    refused("N1: its reversal is recorded already (R1)", lambda: reverse(ledger, "N1", "invoice"))
    assert ledger.rows("SELECT count(*) FROM reversal") == [(1,)]


def test_a_reversal_that_is_withdrawn_holds_again_and_only_a_person_says_it_again(ledger: Ledger) -> None:
    attempt = one_issued(ledger)
    hold(ledger, line("N1"))
    reverse(ledger, "N1")
    assert ledger.rows("SELECT live FROM elsewhere") == [(False,)]
    assert withdraw(ledger, "R1") == Withdrawn("R1", "reversal", "N1")
    assert held(ledger) == [(attempt,)]
    assert ledger.rows("SELECT live FROM elsewhere") == [(True,)]
    red_line = SaidReversed("N1", "chen", message("row {row}", row=7))
    refused(
        "reverses N1, and that reversal was withdrawn (R1)",
        lambda: ledger.operations.reverse(red_line, ledger.run),
    )
    assert reverse(ledger, "N1").entry == "R2"
    assert held(ledger) == []


def test_a_run_that_finds_a_reversal_records_itself_with_it(ledger: Ledger) -> None:
    one_issued(ledger)
    done = ledger.operations.reverse(SaidReversed("N1", "chen", message("row {row}", row=7)), ledger.run)
    assert done.entry == "R1"
    said = to_text(message("row {row}", row=7))
    assert ledger.rows("SELECT run, attempt_id, evidence FROM reversal") == [(ledger.run, 1, said)]


def test_what_was_issued_anew_since_stands_in_the_way_of_withdrawing_its_reversal(ledger: Ledger) -> None:
    one_issued(ledger)
    reverse(ledger, "N1")
    one_issued(ledger, "N2")
    refused("R1: ticket 9990000000001 is held by another attempt", lambda: withdraw(ledger, "R1"))
    assert ledger.rows("SELECT withdrawn FROM reversal") == [(False,)]


def test_what_was_reversed_had_been_issued_whatever_the_evidence(ledger: Ledger) -> None:
    attempt = one_unknown(ledger)
    ledger.operations.settle(attempt, LISTED)
    reverse(ledger, "N1")
    refused("was issued as N1, which the carrier has reversed since (R1)", lambda: withdraw(ledger, "S1"))
    withdraw(ledger, "R1")
    withdraw(ledger, "S1")
    assert ledger.states() == {attempt: "unknown"}


# --- what statements show --------------------------------------------------------------------------


def test_what_a_statement_showed_is_held_once_until_it_is_withdrawn(ledger: Ledger) -> None:
    hold(ledger, line(), line())
    hold(ledger, line())
    assert ledger.rows("SELECT elsewhere, live FROM elsewhere") == [(1, True)]
    ledger.plan(invoice(charge(1)))
    assert ledger.claim(1) == []
    withdraw(ledger, "E1")
    hold(ledger, line())  # it is shown anew
    assert ledger.rows("SELECT live, withdrawn FROM elsewhere ORDER BY elsewhere") == [
        (False, True),
        (True, False),
    ]
    ((last,),) = ledger.rows("SELECT max(elsewhere) FROM elsewhere")
    withdraw(ledger, f"E{last}")
    planned = ledger.plan(invoice(charge(1)))
    assert ledger.claim(1) == planned


# --- notes -----------------------------------------------------------------------------------------


def test_a_judgement_is_noted_where_it_differs_from_the_last_of_its_charge(ledger: Ledger) -> None:
    fare = Judgement(
        "9990000000001",
        "ticket_fare",
        "flight",
        "invoice",
        100_00,
        "waiting",
        "ticket_still_open",
        "a.xlsx",
        "S",
        2,
    )
    other = fare._replace(ticket_no="9990000000002", row=3)
    again = fare._replace(row=9)
    note = ledger.operations.note_judgements
    for _ in range(2):
        note(ledger.run, iter([fare, other]))
    note(ledger.run, [other._replace(status="ready", reasons="")])
    note(ledger.run, [fare, other, again])
    note(ledger.run, [])
    assert ledger.rows("SELECT ticket_no, status, row, amount, run FROM judgement ORDER BY judgement") == [
        (fare.ticket_no, "waiting", 2, 100_00, ledger.run),
        (other.ticket_no, "waiting", 3, 100_00, ledger.run),
        (other.ticket_no, "ready", 3, 100_00, ledger.run),
        (other.ticket_no, "waiting", 3, 100_00, ledger.run),
        (fare.ticket_no, "waiting", 9, 100_00, ledger.run),
    ]


def test_who_had_a_hand_in_a_run_is_noted_and_whoever_has_no_name_is_nobody(ledger: Ledger) -> None:
    at = "2026-11-20T01:02:03.456+00:00"
    people = [
        RunPerson("approved", "Li\nWei", "digest", at),
        RunPerson("stopped", " \n"),
        RunPerson("sent", "chen"),
    ]
    ledger.operations.note_people(ledger.run, people)
    assert ledger.rows("SELECT run, role, person, plan FROM run_person ORDER BY run_person") == [
        (ledger.run, "approved", "Li Wei", "digest"), (ledger.run, "sent", "chen", ""),
    ]  # fmt: skip
    assert ledger.rows(f"SELECT count(*) FROM run_person WHERE noted_at = '{at}'") == [(1,)]


def test_a_file_of_the_inbox_is_noted_in_its_epoch(ledger: Ledger) -> None:
    ledger.operations.note_handled(
        ledger.run, Handled("a" * 64, "tickets", "a.xlsx", "a.result.xlsx", "f", True)
    )
    assert ledger.rows("SELECT run, epoch, sha256, kind, name, result, fates, unfinished FROM handled") == [
        (ledger.run, 1, "a" * 64, "tickets", "a.xlsx", "a.result.xlsx", "f", True)
    ]


def itinerary_file(content: str, status: FileStatus, of: int | None, number: str = "N1") -> CollectedFile:
    data = ItineraryData(number=number, tickets=("9990000000001",), total=100_00)
    checked = CheckedFile(("mail.eml", "a.ofd"), content * 64, data, "valid", archived="2026-11/a.ofd")
    known = None
    if of is not None:
        known = KnownVoucher(
            of, "R", 1, "itinerary", "issued", number, "9990000000001", "B", "", 100_00, None, None
        )
    return CollectedFile(checked, status, of=known)


def one_itinerary(ledger: Ledger) -> int:
    ledger.plan(itinerary(1))
    (attempt,) = ledger.claim(1)
    ledger.record(Ended(attempt, issued("N1")))
    return attempt


def test_what_itinerary_files_came_to_is_noted_all_of_it_or_nothing(ledger: Ledger) -> None:
    attempt = one_itinerary(ledger)
    note = ledger.operations.note_files
    first = itinerary_file("a", FileStatus("received"), attempt)
    note(ledger.run, [first, itinerary_file("b", FileStatus("duplicate"), attempt)])
    with pytest.raises(LedgerProblem):  # one file of each number
        note(
            ledger.run,
            [
                itinerary_file("c", FileStatus("unclear"), None),
                itinerary_file("d", FileStatus("received"), attempt),
            ],
        )
    assert ledger.rows(
        "SELECT run, sha256, status, attempt_id, number, ticket_no, total, place FROM received_file ORDER BY 2"
    ) == [
        (ledger.run, "a" * 64, "received", attempt, "N1", "9990000000001", 100_00, "mail.eml/a.ofd"),
        (ledger.run, "b" * 64, "duplicate", attempt, "N1", "9990000000001", 100_00, "mail.eml/a.ofd"),
    ]


# --- gaps and moves --------------------------------------------------------------------------------


def test_gaps_are_closed_together_and_an_epoch_begins(ledger: Ledger) -> None:
    since = "2026-11-20T00:00:00.000+00:00", "2026-11-21T00:00:00.000+00:00"
    for at in reversed(since):
        ledger.change(lambda it, at=at: it.mark_gap(at, verbatim(f"of {at}")))
    assert ledger.rows("SELECT count(*) FROM epoch") == [(1,)]
    closed = ledger.change(lambda it: it.close_gaps("li", verbatim("the statement")))
    assert [(gap.since, str(gap.why)) for gap in closed] == [(at, f"of {at}") for at in since]
    assert ledger.rows("SELECT closed_by FROM gap") == [("li",), ("li",)]
    assert ledger.rows("SELECT count(DISTINCT epoch_id), max(epoch) FROM epoch") == [(2, 2)]
    assert ledger.change(lambda it: it.close_gaps("li", verbatim("again"))) == []
    ledger.change(lambda it: it.deny_gap(verbatim("not noted"), "li", verbatim("nothing is missing")))
    assert ledger.rows("SELECT count(*) FROM gap WHERE closed_at IS NULL") == [(0,)]
    assert ledger.rows("SELECT count(DISTINCT epoch_id), max(epoch) FROM epoch") == [(3, 3)]


def test_a_ledger_follows_its_carrier(ledger: Ledger) -> None:
    to = Owner("http://127.0.0.1:8081", "DEMO2")
    ledger.force(
        "INSERT INTO carrier_move (from_base_url, from_agency, to_base_url, to_agency, moved_by, why, moved_at)"
        " VALUES ('x', 'y', 'z', 'a', 'me', 'none of its own', '2026-11-20T00:00:00.000+00:00')"
    )
    with pytest.raises(REFUSED_BY_THE_DATABASE):
        ledger.force("UPDATE ledger SET base_url = 'https://elsewhere.example'")
    with pytest.raises(REFUSED_BY_THE_DATABASE):
        ledger.force("UPDATE ledger SET ledger_id = 'other'")
    said = f"'{OWNER.base_url}', '{OWNER.agency}', 'https://carrier.example', 'DEMO', 'me', 'not done', '2026-11-20T00:00:00.000+00:00'"
    ledger.force(
        "INSERT INTO carrier_move (from_base_url, from_agency, to_base_url, to_agency, moved_by, why, moved_at)"
        f" VALUES ({said})"
    )
    with pytest.raises(REFUSED_BY_THE_DATABASE):
        ledger.force("UPDATE ledger SET base_url = 'https://elsewhere.example'")
    ledger.owner = to
    ledger.change(lambda it: it.move(to, "li", "their letter"))
    ledger.change(lambda it: it.move(to, "li", "again"))  # it belongs to it already
    assert ledger.rows("SELECT base_url, agency FROM ledger") == [(to.base_url, to.agency)]
    assert ledger.rows(
        "SELECT from_base_url, from_agency, to_base_url, to_agency, moved_by, why FROM carrier_move WHERE move > 2"
    ) == [(OWNER.base_url, OWNER.agency, to.base_url, to.agency, "li", "their letter")]


# --- what the database itself refuses --------------------------------------------------------------


def full(ledger: Ledger) -> None:
    """Some of everything: see the ways in `ILLEGAL` to break it. Run 1 has ended, run 2 is on."""
    one_unknown(ledger, 1)
    ledger.operations.settle(1, NOT_ISSUED)
    one_issued(ledger, "N2", 2)
    one_unknown(ledger, 3)
    ledger.operations.settle(3, Settlement("issued", "N3", "chen", "the statement"))
    ledger.plan(itinerary(4))
    ledger.record(Ended(*ledger.claim(1), issued("N4")))
    hold(ledger, line("E1", ticket=8), line("E2", ticket=9), line("E3", ticket=7))
    person = RunPerson("sent", "chen")
    ledger.operations.note_people(ledger.run, [person])
    ledger.operations.note_judgements(
        ledger.run, [Judgement("9990000000001", "refund", "flight", "invoice", 1, "ready", "", "a", "S", 2)]
    )
    ledger.operations.note_handled(ledger.run, Handled("a" * 64, "tickets", "a.xlsx", "", "", False))
    ledger.operations.note_files(ledger.run, [itinerary_file("a", FileStatus("received"), 4, "N4")])
    reverse(ledger, "N2", red="RED2")
    withdraw(ledger, "S2")
    withdraw(ledger, "E2")
    reverse(ledger, "E3")
    one_unknown(ledger, 5)
    ledger.operations.settle(5, NOT_ISSUED)
    withdraw(ledger, "S3")
    ledger.operations.settle(5, Settlement("not_sent", "", "chen", "row 3: their mail", "their mail"))
    one_unknown(ledger, 6)
    ledger.operations.settle(6, Settlement("issued", "N6", "chen", "the statement"))
    reverse(ledger, "N6")
    ledger.change(lambda it: it.mark_gap("2026-11-20T00:00:00.000+00:00", verbatim("a copy")))
    ledger.change(lambda it: it.close_gaps("li", verbatim("the statement")))


_AT = "'2026-11-20T00:00:00.000+00:00'"
_SETTLES = (
    "INSERT INTO settlement (attempt_id, state, number, settled_by, answered, evidence, withdrawn, settled_at{as_of})"
    " VALUES (%s, {at}{at_of})"
)
_SHOWS = (
    "INSERT INTO elsewhere (run, ticket_no, charge, product, wire, voucher, number, buyer, issued_at, evidence, found_by, found_at, live,"
    " withdrawn) VALUES (%s, {at}, %s)"
)
_REVERSES = (
    "INSERT INTO reversal (run, voucher, number, attempt_id, red_number, reversed_by, evidence, reversed_at, withdrawn)"
    " VALUES (%s, {at}, %s)"
)
_WITHDRAWS = "INSERT INTO withdrawal (settlement, elsewhere, reversal, withdrawn_by, why, withdrawn_at) VALUES (%s, {at})"
_FILE = (
    "INSERT INTO received_file (run, sha256, status, attempt_id, number, ticket_no, seal, place, archived, reasons, received_at)"
    " VALUES ({run}, '%s', %s, 'p', '', '', {at})"
)
_JUDGED = "INSERT INTO judgement (run, ticket_no, charge, product, voucher, amount, status, reasons, file, sheet, row, judged_at) VALUES (%s, 't', 'c', 'p', 'v', 1, 's', '', 'f', 's', 2, {at})"
_HANDLED = "INSERT INTO handled (run, epoch, sha256, kind, name, result, fates, unfinished, handled_at) VALUES (%s, 'n', '', '', false, {at})"
_PERSON = "INSERT INTO run_person (run, role, person, plan, noted_at) VALUES (%s, '', {at})"
_ATTEMPT = "UPDATE attempt SET state = '%s', number = '%s' WHERE attempt_id = %s"
#: Attempt 1 is settled as not issued (S1); 2 was issued as N2, which RED2 reversed (R1); 3 was settled as issued under N3 (S2, withdrawn), and
#: is unknown; 4 is an itinerary, issued as N4, whose file a… came; 5 was settled as not issued twice (S3, withdrawn, and S4); 6 was settled as
#: issued under N6 (S5), which was reversed (R3). E1 stands, E2 is withdrawn, E3 is reversed (R2). Gap 1 is closed.
ILLEGAL = [
    # A state is undone by a withdrawal alone, and is given by evidence that stands.
    _ATTEMPT % ("unknown", "", 1), _ATTEMPT % ("unknown", "", 2), _ATTEMPT % ("unknown", "", 4), _ATTEMPT % ("unknown", "", 5), _ATTEMPT % ("issued", "N3", 3),
    _ATTEMPT % ("not_sent", "", 3), _ATTEMPT % ("planned", "", 1), "UPDATE attempt SET was_unknown = false WHERE attempt_id = 3",
    # Charges are held as their attempt lives, and its voucher is not reversed.
    "UPDATE charge SET live = true WHERE attempt_id = 1", "UPDATE charge SET live = true WHERE attempt_id = 2",
    "UPDATE charge SET live = false WHERE attempt_id = 3", "UPDATE charge SET live = false WHERE attempt_id = 4",
    # Settlements: of what is unknown, once, not as was withdrawn, under a number of their own; they stay.
    _SETTLES % "1, 'not_sent', '', 'x', 'y', 'z', false", _SETTLES % "2, 'issued', 'N7', 'x', 'y', 'z', false",
    _SETTLES % "3, 'issued', 'N3', 'x', '', 'z', false", _SETTLES % "3, 'issued', '', 'x', 'y', 'z', false",
    _SETTLES % "3, 'not_sent', 'N7', 'x', 'y', 'z', false", _SETTLES % "3, 'not_sent', '', '', 'y', 'z', false",
    _SETTLES % "3, 'not_sent', '', 'x', 'y', '', false", _SETTLES % "3, 'unknown', '', 'x', 'y', 'z', false",
    _SETTLES % "3, 'not_sent', '', 'x', 'y', 'z', true",
    *(_SETTLES % f"3, 'issued', '{number}', 'x', 'y', 'z', false" for number in ("N2", "RED2", "N4", "E1", "E3")),
    "UPDATE settlement SET withdrawn = true WHERE settlement = 1", "UPDATE settlement SET withdrawn = false WHERE settlement = 2",
    "UPDATE settlement SET evidence = 'other' WHERE settlement = 1", "DELETE FROM settlement",
    # What statements show: once, holding its charge until that is reversed or withdrawn; it stays.
    _SHOWS % ("{run}, '9990000000008', 'ticket_fare', 'flight', '', 'invoice', 'E1', '', '', 'x', 'x'", "true, false"),
    _SHOWS % ("{run}, '9990000000006', 'ticket_fare', 'flight', '', 'invoice', 'E6', '', '', 'x', 'x'", "false, false"),
    _SHOWS % ("{run}, '9990000000006', 'ticket_fare', 'flight', '', 'invoice', 'E6', '', '', 'x', 'x'", "false, true"),
    _SHOWS % ("{run}, '9990000000006', 'ticket_fare', 'flight', '', 'invoice', 'E3', '', '', 'x', 'x'", "true, false"),
    _SHOWS % ("1, '9990000000006', 'ticket_fare', 'flight', '', 'invoice', 'E6', '', '', 'x', 'x'", "true, false"),
    _SHOWS % ("{run}, '9990000000006', 'fare', 'flight', '', 'invoice', 'E6', '', '', 'x', 'x'", "true, false"),
    _SHOWS % ("{run}, '9990000000006', 'refund', 'flight', '', 'paper', 'E6', '', '', 'x', 'x'", "true, false"),
    _SHOWS % ("{run}, '9990000000006', 'refund', 'flight', '', 'invoice', '', '', '', 'x', 'x'", "true, false"),
    _SHOWS % ("{run}, '9990000000006', 'refund', 'flight', '', 'invoice', 'E6', '', '', '', 'x'", "true, false"),
    _SHOWS % ("{run}, '9990000000006', 'refund', 'flight', '', 'invoice', 'E6', '', '', 'x', ''", "true, false"),
    _SHOWS % ("{run}, '9990000000006', 'ticket_fare', 'flight', '', 'invoice', 'E3', '', '', 'x', 'x'", "false, true"),
    "UPDATE elsewhere SET live = false WHERE elsewhere = 1", "UPDATE elsewhere SET live = false, withdrawn = true WHERE elsewhere = 1",
    "UPDATE elsewhere SET live = true, withdrawn = false WHERE elsewhere = 2", "UPDATE elsewhere SET live = true WHERE elsewhere = 3",
    "UPDATE elsewhere SET number = 'E9'", "DELETE FROM elsewhere",
    # Reversals: of what is issued, once, by what is no voucher, and by a run only where none was withdrawn; they stay.
    _REVERSES % ("NULL, 'invoice', 'N2', 2, '', 'x', 'x'", "false"), _REVERSES % ("NULL, 'invoice', 'N4', 4, '', 'x', 'x'", "false"),
    _REVERSES % ("NULL, 'itinerary', 'N4', 2, '', 'x', 'x'", "false"), _REVERSES % ("NULL, 'itinerary', 'N4', NULL, '', 'x', 'x'", "false"),
    _REVERSES % ("NULL, 'invoice', 'N3', 3, '', 'x', 'x'", "false"), _REVERSES % ("NULL, 'invoice', 'E2', NULL, '', 'x', 'x'", "false"),
    _REVERSES % ("NULL, 'itinerary', 'N4', 4, 'N2', 'x', 'x'", "false"), _REVERSES % ("NULL, 'itinerary', 'N4', 4, 'E1', 'x', 'x'", "false"),
    _REVERSES % ("NULL, 'itinerary', 'N4', 4, 'N4', 'x', 'x'", "false"), _REVERSES % ("NULL, 'itinerary', 'N4', 4, '', '', 'x'", "false"),
    _REVERSES % ("NULL, 'itinerary', 'N4', 4, '', 'x', ''", "false"), _REVERSES % ("NULL, 'itinerary', 'N4', 4, '', 'x', 'x'", "true"),
    _REVERSES % ("1, 'itinerary', 'N4', 4, '', 'x', 'x'", "false"),
    "UPDATE reversal SET withdrawn = true", "UPDATE reversal SET red_number = 'RED3'", "DELETE FROM reversal",
    # Withdrawals: of one thing that is there, once, by somebody, for a reason; they stay.
    _WITHDRAWS % "2, NULL, NULL, 'x', 'x'", _WITHDRAWS % "NULL, 2, NULL, 'x', 'x'", _WITHDRAWS % "9, NULL, NULL, 'x', 'x'",
    _WITHDRAWS % "NULL, 9, NULL, 'x', 'x'", _WITHDRAWS % "NULL, NULL, 9, 'x', 'x'", _WITHDRAWS % "NULL, NULL, NULL, 'x', 'x'",
    _WITHDRAWS % "1, 1, NULL, 'x', 'x'", _WITHDRAWS % "NULL, NULL, 1, '', 'x'", _WITHDRAWS % "NULL, NULL, 1, 'x', ''",
    _WITHDRAWS % "5, NULL, NULL, 'x', 'x'",
    "UPDATE withdrawal SET why = 'other'", "DELETE FROM withdrawal",
    # Files: one of each number, of an itinerary that is issued under it, whole; a content once; they stay.
    _FILE % ("b" * 64, "'received', 4, 'N4', '', 'valid'"), _FILE % ("b" * 64, "'received', 2, 'N2', '', 'valid'"),
    _FILE % ("b" * 64, "'received', NULL, 'E1', '', 'valid'"), _FILE % ("b" * 64, "'received', 4, 'N9', '', 'valid'"),
    _FILE % ("b" * 64, "'received', 4, '', '', 'valid'"), _FILE % ("a" * 64, "'received', 4, 'N4', '', 'valid'"),
    _FILE % ("b" * 63, "'unclear', NULL, '', '', 'none'"), _FILE % ("B" * 64, "'unclear', NULL, '', '', 'none'"),
    _FILE % ("b" * 64, "'lost', NULL, '', '', 'none'"), _FILE % ("b" * 64, "'unclear', NULL, '', '', 'red'"),
    _FILE % ("b" * 64, "'unclear', 99, '', '', 'none'"), (_FILE % ("b" * 64, "'unclear', NULL, '', '', 'none'")).replace("{run}", "1"),
    "UPDATE received_file SET status = 'differs'", "DELETE FROM received_file",
    # Notes: by a run that is on, in its epoch; they stay.
    _JUDGED % 1, _JUDGED % 99, "UPDATE judgement SET status = 'invalid'", "DELETE FROM judgement",
    _HANDLED % f"1, 2, '{'b' * 64}', 'tickets'", _HANDLED % f"{{run}}, 1, '{'b' * 64}', 'tickets'",
    _HANDLED % f"{{run}}, 2, '{'b' * 64}', 'mail'", "UPDATE handled SET name = 'b'", "DELETE FROM handled",
    _PERSON % "1, 'sent', 'x'", _PERSON % "{run}, 'sent', ''", _PERSON % "{run}, 'paid', 'x'", "UPDATE run_person SET person = 'x'",
    "DELETE FROM run_person",
    # Gaps and epochs: a gap is closed once, which begins an epoch; none begins otherwise while one is open, nor again.
    "INSERT INTO gap (since, why, found_at, closed_at, closed_by, evidence) VALUES ({at}, 'x', {at}, {at}, 'x', 'x')",
    "INSERT INTO gap (since, why, found_at) VALUES ({at}, '', {at})", "UPDATE gap SET evidence = 'other'", "UPDATE gap SET closed_at = NULL",
    "DELETE FROM gap", "INSERT INTO epoch (epoch_id, why, begun_at) SELECT epoch_id, 'x', {at} FROM epoch",
    "UPDATE epoch SET why = 'x'", "DELETE FROM epoch",
    "DELETE FROM ledger", "DELETE FROM run",
]  # fmt: skip
_TABLES = (
    "attempt", "charge", "settlement", "elsewhere", "reversal", "withdrawal", "received_file", "judgement", "handled", "run_person", "gap",
    "epoch", "run", "ledger", "carrier_move", "clock_correction",
)  # fmt: skip


def refused_by_the_database(ledger: Ledger, statement: str) -> bool:
    try:
        ledger.force(statement)
    except apsw.ConstraintError:
        return True
    except psycopg.Error as error:
        if (error.sqlstate or "").startswith(("VP", "23")):
            return True
        raise
    return False


def test_the_database_itself_refuses_what_would_undo_or_forge_evidence(ledger: Ledger) -> None:
    full(ledger)
    dialect = {"at": _AT, "run": ledger.run, "as_of": "", "at_of": ""}
    if isinstance(ledger, Shared):
        dialect |= {"as_of": ", as_of", "at_of": f", {_AT}"}
    before = {table: ledger.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in _TABLES}
    taken = [each for each in ILLEGAL if not refused_by_the_database(ledger, each.format(**dialect))]
    assert taken == []
    assert {table: ledger.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in _TABLES} == before


def test_the_database_lets_no_correction_of_a_clock_be_changed(ledger: Ledger) -> None:
    made = "INSERT INTO clock_correction (latest, last_run, corrected_by, corrected_at) VALUES ('2026-11-21T00:00:00.000+00:00', %s, '%s', %s)"
    assert refused_by_the_database(ledger, made % (ledger.run, "", _AT))
    assert refused_by_the_database(ledger, made % (99, "li", _AT))
    assert refused_by_the_database(ledger, made % (ledger.run, "li", "'2026-11-22T00:00:00.000+00:00'"))
    ledger.force(made % (ledger.run, "li", _AT))
    assert refused_by_the_database(ledger, "UPDATE clock_correction SET corrected_by = 'x'")
    assert refused_by_the_database(ledger, "DELETE FROM clock_correction")
