"""What each itinerary file comes to, and which of them prove an outcome."""

import datetime
from dataclasses import replace
from typing import Any

import pytest

from pipeline.model.file_status import needs_person
from pipeline.model.itinerary_file import (
    CheckedFile,
    CollectedFile,
    EarlierFile,
    FieldSource,
    FileStatus,
    ItineraryData,
    KnownVoucher,
    SealStatus,
)
from pipeline.model.message import Message, message
from pipeline.settlement.itinerary_matching import InLedger, evidence_of, match_files, plain

DAY = datetime.date(2026, 11, 20)
TICKET, NUMBER, OTHER = "9990000000001", "20261120000000000001", "20261120000000000002"
DATA = ItineraryData(
    NUMBER, (TICKET,), "Acme Trading Co.", "91110000600037341L", total=1000_00, issued_on=DAY,
    sources={"number": FieldSource.XBRL, "tickets": FieldSource.XBRL},
)  # fmt: skip
KNOWN = KnownVoucher(
    7, "R1", 1, "itinerary", "issued", NUMBER, TICKET, "Acme Trading Co.", "91110000600037341L", 1000_00, DAY, DAY
)  # fmt: skip
IN_DOUBT = replace(KNOWN, state="unknown", number="", last=None)
BUYERS = frozenset({plain("Acme Trading Co."), plain("91110000600037341L")})


def file(content: str = "a", seal: SealStatus = SealStatus.NONE, **changes: Any) -> CheckedFile:
    return CheckedFile(("mail.eml", f"{content}.ofd"), content * 64, replace(DATA, **changes), seal)


def ledger(*vouchers: KnownVoucher, **more: Any) -> InLedger:
    by_ticket: dict[str, list[KnownVoucher]] = {}
    for one in vouchers:
        by_ticket.setdefault(one.ticket_no, []).append(one)
    return InLedger({one.number: one for one in vouchers if one.number}, by_ticket, buyers=BUYERS, **more)


def told(
    *files: CheckedFile, known: InLedger, roots: bool = False, **unproven: Message
) -> list[CollectedFile]:
    return match_files(files, known, unproven, roots=roots)


def statuses(*files: CheckedFile, known: InLedger) -> list[str]:
    return [one.status.value for one in told(*files, known=known)]


@pytest.mark.parametrize("seal", [seal for seal in SealStatus if seal is not SealStatus.BROKEN])
def test_what_says_all_that_was_asked_for_is_received_under_any_seal_that_is_not_broken(
    seal: SealStatus,
) -> None:
    (found,) = told(file(seal=seal), known=ledger(KNOWN))
    assert (found.status, found.of, found.reasons, found.new) == (FileStatus.RECEIVED, KNOWN, (), True)


def test_a_broken_seal_is_an_alteration_of_what_it_is_about() -> None:
    (found,) = told(file(seal=SealStatus.BROKEN), known=ledger(KNOWN))
    assert (found.status, found.of) == (FileStatus.ALTERED, KNOWN)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"number": OTHER}, f"number: the ledger has “{NUMBER}”, the file “{OTHER}”"),
        ({"tickets": ("9990000000002",)}, f"ticket_no: the ledger has “{TICKET}”, the file “9990000000002”"),
        ({"buyer_name": "Other Co."}, "header_name: the ledger has “Acme Trading Co.”, the file “Other Co.”"),
        (
            {"buyer_tax_no": "91310000132207927C"},
            "tax_no: the ledger has “91110000600037341L”, the file “91310000132207927C”",
        ),
        ({"total": 999_00}, "amount: the ledger has “1,000.00”, the file “999.00”"),
        (
            {"issued_on": DAY - datetime.timedelta(days=2)},
            "issued_on: the ledger has “2026-11-20”, the file “2026-11-18”",
        ),
        (
            {"issued_on": DAY + datetime.timedelta(days=2)},
            "issued_on: the ledger has “2026-11-20”, the file “2026-11-22”",
        ),
    ],
)
def test_what_says_something_else_differs_with_both_values(changes: dict[str, Any], said: str) -> None:
    (found,) = told(file(**changes), known=ledger(KNOWN))
    assert (found.status, [str(reason) for reason in found.reasons]) == (FileStatus.DIFFERS, [said])


@pytest.mark.parametrize(
    "changes",
    [
        {"buyer_name": "ACME　TRADING CO."},
        {"issued_on": DAY + datetime.timedelta(days=1)},
        {"issued_on": None},
        {"tickets": ("9990000000009", TICKET)},
    ],
)
def test_spelling_a_day_of_the_time_zones_and_a_day_that_is_not_said_differ_in_nothing(
    changes: dict[str, Any],
) -> None:
    assert statuses(file(**changes), known=ledger(KNOWN)) == ["received"]


def test_the_number_ties_a_file_before_its_ticket_and_nothing_else_does() -> None:
    other = replace(KNOWN, attempt_id=8, number=OTHER, ticket_no="9990000000002", request_id="R2")
    (found,) = told(file(tickets=("9990000000002",)), known=ledger(KNOWN, other))
    assert found.of == KNOWN
    # Buyer, amount and day as they are, and another ticket and number: none of the ledger's.
    assert statuses(file(number=OTHER, tickets=("9990000000009",)), known=ledger(KNOWN)) == ["unknown_ticket"]


def test_the_same_number_again_is_a_duplicate_be_it_the_same_file_or_another() -> None:
    first, same, other = told(file(), file(), file("b"), known=ledger(KNOWN))
    assert [first.status, same.status, other.status] == ["received", "duplicate", "duplicate"]
    assert [first.same, same.same, other.same] == [False, True, False]
    assert [first.new, same.new, other.new] == [True, False, True]
    before = EarlierFile("a" * 64, FileStatus.RECEIVED, 7)
    known = ledger(KNOWN, received={NUMBER: before}, noted={"a" * 64: before})
    again, another = told(file(), file("b"), known=known)
    assert [(one.status, one.same, one.new) for one in (again, another)] == [
        ("duplicate", True, False),
        ("duplicate", False, True),
    ]


def test_what_is_noted_of_a_content_already_is_nothing_new_until_it_comes_to_something_else() -> None:
    noted = EarlierFile("a" * 64, FileStatus.DIFFERS, 7)
    known = ledger(KNOWN, noted={"a" * 64: noted})
    assert [one.new for one in told(file(total=1), known=known)] == [False]
    assert [one.new for one in told(file(), known=known)] == [True]
    # Twice in what was given is once, too.
    assert [one.new for one in told(file(total=2), file(total=2), known=ledger(KNOWN))] == [True, False]


def test_a_red_file_and_a_new_number_for_its_ticket() -> None:
    red = file("b", number="20261120000000000009", red_of=NUMBER)
    found = told(red, file("c", number=OTHER), known=ledger(KNOWN))
    assert [one.status for one in found] == ["red", "differs"]
    assert str(found[0].reasons[0]) == f"takes back {NUMBER}"
    # The ledger knows of the reversal, and of what was issued instead.
    gone, new = replace(KNOWN, state="reversed"), replace(KNOWN, attempt_id=8, number=OTHER)
    late, second = told(file(), file("c", number=OTHER), known=ledger(gone, new))
    assert [late.status, second.status, second.of] == ["differs", "received", new]
    assert "was reversed by the carrier" in str(late.reasons[0])


def test_another_buyer_s_file_is_foreign_where_the_ticket_is_none_of_the_ledger_s() -> None:
    strange = {"number": OTHER, "tickets": ("9990000000009",), "buyer_name": "Other", "buyer_tax_no": None}
    assert statuses(file(**strange), known=ledger(KNOWN)) == ["foreign"]
    assert statuses(file(**{**strange, "tickets": (TICKET,)}), known=ledger(KNOWN)) == ["differs"]


def test_a_ticket_with_an_invoice_differs_and_one_with_several_vouchers_is_unclear() -> None:
    invoice = replace(KNOWN, voucher="invoice", number="201795259528738290")
    assert statuses(file(), known=InLedger({}, {TICKET: [invoice]})) == ["differs"]
    second = replace(KNOWN, attempt_id=8, number=OTHER, ticket_no="9990000000002")
    both = file(number="20261120000000000009", tickets=(TICKET, "9990000000002"))
    assert statuses(both, known=ledger(KNOWN, second)) == ["unclear"]


@pytest.mark.parametrize(
    "problem", [FileStatus.UNREADABLE, FileStatus.LINK_ONLY, FileStatus.NOT_AN_ITINERARY]
)
def test_what_has_no_data_stays_what_it_is(problem: FileStatus) -> None:
    why = message("is encrypted")
    empty = CheckedFile(("a.zip",), "0" * 64, None, SealStatus.NONE, problem, (why,))
    (found,) = told(empty, known=ledger(KNOWN))
    assert (found.status, found.reasons, found.of) == (problem, (why,), None)


@pytest.mark.parametrize("problem", [FileStatus.ALTERED, FileStatus.UNCLEAR])
def test_what_the_reader_found_wrong_stays_and_is_tied_to_its_itinerary(problem: FileStatus) -> None:
    (found,) = told(replace(file(), problem=problem), known=ledger(KNOWN))
    assert (found.status, found.of) == (problem, KNOWN)


# --- evidence about unknown outcomes


@pytest.mark.parametrize("seal", [SealStatus.NONE, SealStatus.INTACT, SealStatus.VALID, SealStatus.PARTIAL])
def test_a_file_that_says_all_that_was_asked_for_is_a_statement_s_line(seal: SealStatus) -> None:
    proof = evidence_of([file(seal=seal)], ledger(IN_DOUBT), roots=False)
    (line,) = proof.lines
    assert (line.voucher, line.number, line.ticket_no, line.charge, line.product, line.amount, line.issued) == (
        "itinerary", NUMBER, TICKET, "ticket_fare", "flight", 1000_00, DAY,
    )  # fmt: skip
    assert str(line.place) == f"itinerary file a.ofd (aaaaaaaaaaaa, seal: {seal})"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"buyer_name": None}, "it does not say header_name"),
        ({"buyer_tax_no": None, "total": None}, "it does not say tax_no, amount"),
        ({"sources": {"number": FieldSource.PAGE}}, "its number and ticket stand on the page alone"),
    ],
)
def test_a_file_that_says_less_proves_nothing_and_why(changes: dict[str, Any], why: str) -> None:
    one, known = file(**changes), ledger(IN_DOUBT)
    proof = evidence_of([one], known, roots=False)
    assert proof.lines == ()
    assert str(proof.unproven[one.sha256]).startswith(why)
    (found,) = match_files([one], known, proof.unproven, roots=False)
    assert (found.status, found.of) == (FileStatus.UNCLEAR, IN_DOUBT)
    assert why in str(found.reasons[0])


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"buyer_name": None}, "it does not say header_name"),
        ({"buyer_tax_no": None, "total": None}, "it does not say tax_no, amount"),
        ({"number": None}, "it does not say number"),
    ],
)
def test_a_file_that_says_less_is_not_the_one_that_was_received_and_keeps_no_other_from_it(
    changes: dict[str, Any], why: str
) -> None:
    if "number" in changes:
        known = ledger(replace(KNOWN, number=""))
        (found,) = told(file("a", **changes), known=known)
        assert (found.status, str(found.reasons[0])) == (FileStatus.UNCLEAR, why)
        return
    less, whole = told(file("a", **changes), file("b"), known=ledger(KNOWN))
    assert (less.status, str(less.reasons[0]), less.of) == (FileStatus.UNCLEAR, why, KNOWN)
    assert whole.status is FileStatus.RECEIVED


def test_where_the_profile_names_roots_only_a_valid_seal_is_received() -> None:
    files = [file("a", SealStatus.INTACT), file("b", SealStatus.NONE), file("c", SealStatus.VALID)]
    found = told(*files, known=ledger(KNOWN), roots=True)
    assert [one.status.value for one in found] == ["unclear", "unclear", "received"]


def test_what_was_reversed_and_its_red_file_need_nobody_once_the_ledger_has_it() -> None:
    gone = replace(KNOWN, state="reversed")
    red, again = file("r", number=OTHER, red_of=NUMBER), file("a")
    earlier = {NUMBER: EarlierFile(again.sha256, FileStatus.RECEIVED, 1)}
    found = told(red, again, file("b"), known=ledger(gone, received=earlier))
    assert [(one.status.value, one.done, needs_person(one)) for one in found] == [
        ("red", True, False), ("differs", True, False), ("differs", False, True),
    ]  # fmt: skip
    (red_before,) = told(red, known=ledger(KNOWN))
    assert needs_person(red_before)


def test_what_may_be_anybodys_passes_and_what_a_valid_seal_is_on_does_not() -> None:
    for seal, passes in ((SealStatus.NONE, True), (SealStatus.INTACT, True), (SealStatus.VALID, False)):
        proof = evidence_of([file(seal=seal)], ledger(IN_DOUBT), roots=False)
        assert proof.passing == (frozenset({proof.lines[0].content}) if passes else frozenset())


@pytest.mark.parametrize("changes", [{}, {"buyer_name": None}, {"total": 1}])
def test_whatever_it_proves_a_file_says_that_there_is_something_of_an_attempt_in_doubt(
    changes: dict[str, Any],
) -> None:
    assert evidence_of([file(**changes)], ledger(IN_DOUBT), roots=True).filed == {IN_DOUBT.attempt_id}
    assert evidence_of([file(**changes)], ledger(KNOWN), roots=True).filed == frozenset()


def test_where_the_profile_names_roots_only_a_valid_seal_proves() -> None:
    files = [file("a", SealStatus.INTACT), file("b", SealStatus.VALID)]
    proof = evidence_of(files, ledger(IN_DOUBT), roots=True)
    assert [line.place.facts["file"] for line in proof.lines] == ["b.ofd"]
    assert [*proof.unproven] == ["a" * 64]


@pytest.mark.parametrize(
    "changes",
    [
        {"total": 1},
        {"buyer_name": "Other"},
        {"issued_on": DAY - datetime.timedelta(days=9)},
        {"red_of": OTHER},
    ],
)
def test_a_file_that_says_something_else_or_takes_back_proves_nothing(changes: dict[str, Any]) -> None:
    assert evidence_of([file(seal=SealStatus.VALID, **changes)], ledger(IN_DOUBT), roots=False).lines == ()


def test_an_altered_file_proves_nothing() -> None:
    altered = replace(file(seal=SealStatus.VALID), problem=FileStatus.ALTERED)
    broken = file(seal=SealStatus.BROKEN)
    assert evidence_of([altered, broken], ledger(IN_DOUBT), roots=False).lines == ()


def test_an_unknown_ticket_is_held_by_a_valid_seal_alone() -> None:
    strange = {"number": OTHER, "tickets": ("9990000000009",)}
    files = [
        file("a", **strange),
        file("b", SealStatus.INTACT, **strange),
        file("c", SealStatus.VALID, **strange),
    ]
    lines = evidence_of(files, ledger(KNOWN), roots=True).lines
    assert [(line.ticket_no, line.place.facts["file"]) for line in lines] == [("9990000000009", "c.ofd")]


def test_what_was_issued_later_than_the_doubt_began_may_be_it() -> None:
    assert evidence_of(
        [file(issued_on=DAY + datetime.timedelta(days=5))], ledger(IN_DOUBT), roots=False
    ).lines


def test_a_ticket_whose_voucher_was_reversed_is_tied_to_the_one_that_stands() -> None:
    gone, new = replace(KNOWN, state="reversed"), replace(KNOWN, attempt_id=8, number=OTHER)
    (found,) = told(file(number="20261120000000000009"), known=ledger(gone, new))
    assert (found.status, found.of) == (FileStatus.DIFFERS, new)


def test_what_the_reader_can_t_tell_proves_nothing() -> None:
    unclear = replace(file(seal=SealStatus.VALID), problem=FileStatus.UNCLEAR)
    assert evidence_of([unclear], ledger(IN_DOUBT), roots=False).lines == ()
