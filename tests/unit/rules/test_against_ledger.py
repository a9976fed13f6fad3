"""Rows whose charge the ledger holds: the ledger decides, whatever today's rules say."""

import dataclasses
import datetime
from collections.abc import Callable
from typing import Any

import pytest

from pipeline.model.message import verbatim
from pipeline.model.profile import Carrier, Profile
from pipeline.model.request import Identity

Judged = Callable[..., Any]
Make = Callable[..., Any]
REFUND = {"charge": "refund", "ticket_status": "refunded", "refund_approved_on": "2026-11-01"}
SEAT = {"charge": "ancillary", "product": "seat", "purchased_on": "2026-11-01"}
MEAL = {**SEAT, "product": "meal"}


def test_an_issued_charge_is_already_issued_with_its_number_and_request(
    judged: Judged, holding: Make, ledger: Make
) -> None:
    found = judged({}, {"ticket_no": "9990000000001"}, holdings=ledger(holding()))
    assert found.statuses == ["already_issued", "ready"]
    first, second = found.result().rows
    assert first.numbers == ("100000000000000001",)
    assert [charge.request_id for charge in first.charges] == ["Rfeedfacefeedface001"]
    assert [(reason.code, reason.message) for reason in first.reasons] == [
        (
            "issued_before",
            "Issued on 2026-11-03 from october.xlsx, Tickets, row 12 (run 7) as 100000000000000001.",
        )
    ]
    assert second.numbers == ()
    assert found.result().exit_code == 0


@pytest.mark.parametrize(
    "cells",
    [
        {"flight_date": "2020-01-01"},
        {"ticket_status": "open"},
        {"ticket_status": "refunded"},
        {"market": ""},
        {"email": "nobody"},
    ],
)
def test_what_is_issued_stays_issued_though_today_s_rules_would_refuse_it(
    judged: Judged, holding: Make, ledger: Make, cells: dict[str, str]
) -> None:
    assert judged(cells, holdings=ledger(holding())).statuses == ["already_issued"]


def test_eligibility_is_no_question_any_more_and_what_can_t_be_read_still_is(
    judged: Judged, holding: Make, ledger: Make
) -> None:
    held = ledger(holding())
    assert judged({"ticket_status": "open", "flight_date": "2020-01-01"}, holdings=held).codes() == {
        "issued_before"
    }
    assert judged({"flight_date": "?"}, holdings=held).codes() == {"bad_date", "issued_before"}


def test_a_profile_that_names_no_code_or_prefix_for_it_does_not_undo_what_is_issued(
    judged: Judged, holding: Make, ledger: Make
) -> None:
    profile = Profile(carrier=Carrier(ticket_prefixes=("784",)))
    assert judged({}, holdings=ledger(holding()), profile=profile).statuses == ["already_issued"]


def test_findings_about_other_rows_keep_their_own_facts_when_a_held_row_is_taken_out(
    judged: Judged, holding: Make, ledger: Make
) -> None:
    old = {"used_on": "2020-03-03"}
    found = judged(
        {**old, "ticket_no": "9990000000001"}, {"used_on": "2019-01-01"}, {"ticket_no": "9990000000002", "used_on": "2018-05-05"},
        holdings=ledger(holding()),
    )  # fmt: skip
    assert found.statuses == ["ineligible", "already_issued", "ineligible"]
    assert "2021-03-03" in found.message("fare_window_closed", 0)
    assert "2019-05-05" in found.message("fare_window_closed", 2)


@pytest.mark.parametrize(
    ("cells", "differing"),
    [
        ({"amount": "1000.01"}, "amount"),
        ({"header_name": "Another Co."}, "header_name"),
        ({"tax_no": "110108600037341"}, "tax_no"),
        ({"header_type": "individual"}, "header_type"),
    ],
)
def test_another_amount_or_buyer_than_was_issued_differs_and_needs_a_person(
    judged: Judged, holding: Make, ledger: Make, cells: dict[str, str], differing: str
) -> None:
    found = judged(cells, holdings=ledger(holding()))
    assert found.statuses == ["already_issued"]
    assert found.codes() == {"differs_from_issued"}
    message = found.message("differs_from_issued")
    for fact in (differing, "2026-11-03", "100000000000000001", "october.xlsx, Tickets, row 12 (run 7)"):
        assert fact in message
    assert found.result().exit_code == 1


def test_several_differences_are_told_together(judged: Judged, holding: Make, ledger: Make) -> None:
    found = judged({"amount": "1", "header_name": "Another Co."}, holdings=ledger(holding()))
    assert found.message("differs_from_issued").endswith(
        "but with other contents: amount was issued as “1,000.00”, this row says “1.00”;"
        " header_name was issued as “Example Trading Co.”, this row says “Another Co.”."
    )
    assert found.message("differs_from_issued", lang="zh") == (
        "已于 2026-11-03 由 october.xlsx，Tickets 第 12 行（第 7 次运行）开具（100000000000000001），但内容不同："
        "金额已开具为“1,000.00”，此行为“1.00”；抬头名称已开具为“Example Trading Co.”，此行为“Another Co.”。"
    )


NO_BUYER = dict.fromkeys(("header_type", "header_name", "tax_no", "phone", "email"), "")


@pytest.mark.parametrize(
    "cells",
    [
        {"amount": "abc"},
        {"amount": "#N/A"},
        {"amount": "", "fare": "some", "airport_fee": "50"},
        {"amount": "abc", "fare": "950", "airport_fee": "60"},
        {"amount": ""},
        {"header_type": "partnership"},
        {"header_name": "#REF!"},
        {"header_name": "Another\nCo."},
        {"tax_no": "1234"},
        {"tax_no": ""},
        {**NO_BUYER, "buyer": "Nobody"},
        NO_BUYER,
    ],
)
def test_what_can_not_be_read_does_not_differ(
    judged: Judged, holding: Make, ledger: Make, cells: dict[str, str]
) -> None:
    found = judged(cells, holdings=ledger(holding()))
    assert found.statuses == ["already_issued"]
    assert "issued_before" in found.codes()
    assert "differs_from_issued" not in found.codes()
    assert found.result().exit_code == 0


def test_beside_what_can_not_be_read_only_the_rest_is_compared(
    judged: Judged, holding: Make, ledger: Make
) -> None:
    held = ledger(holding())
    for cells in ({"amount": "abc"}, {"tax_no": "1234"}):
        found = judged({**cells, "header_name": "Another Co."}, holdings=held)
        (told,) = [r.message for r in found.result().rows[0].reasons if r.code == "differs_from_issued"]
        assert told.endswith(
            "contents: header_name was issued as “Example Trading Co.”, this row says “Another Co.”."
        )
    # A total that can be read is one, whatever its components say; and so is another charge's fee that can't.
    assert "differs_from_issued" in judged({"amount": "1200", "fare": "x"}, holdings=held).codes()
    assert "differs_from_issued" in judged({"amount": "1200", "fare": "900"}, holdings=held).codes()
    bill = {"charge": "", "product": "", "amount": "", "fare": "1200", "seat_fee": "x"}
    assert "differs_from_issued" in judged(bill, holdings=held).codes()


@pytest.mark.parametrize("cells", [{"passenger_name": "ZHANG/WEI"}, {"phone": ""}, {"remarks": "PO 1"}])
def test_what_is_neither_amount_nor_buyer_does_not_differ(
    judged: Judged, holding: Make, ledger: Make, cells: dict[str, str]
) -> None:
    assert judged(cells, holdings=ledger(holding())).codes() == {"issued_before"}


@pytest.mark.parametrize(("asked", "issued"), [("invoice", "itinerary"), ("itinerary", "invoice")])
def test_the_other_kind_of_voucher_than_the_one_issued_is_a_conflict(
    judged: Judged, holding: Make, ledger: Make, asked: str, issued: str
) -> None:
    found = judged({"voucher": asked}, holdings=ledger(holding(voucher=issued, number="77")))
    assert found.statuses == ["ineligible"]
    assert found.codes() == {"voucher_conflict"}
    assert f"{issued} 77 on 2026-11-03, october.xlsx, Tickets, row 12 (run 7)" in found.message(
        "voucher_conflict"
    )


@pytest.mark.parametrize("issued", ["invoice", "itinerary"])
def test_auto_of_an_issued_fare_is_what_was_issued(
    judged: Judged, holding: Make, ledger: Make, issued: str
) -> None:
    # The e-mail alone would choose one kind for both.
    for email in ("finance@example.com", ""):
        found = judged({"voucher": "auto", "email": email}, holdings=ledger(holding(voucher=issued)))
        assert found.statuses == ["already_issued"]
        assert found.kinds == [issued]


@pytest.mark.parametrize("reason", ["no_answer", "answer_unreadable", "answer_unexplained", "run_killed"])
@pytest.mark.parametrize("voucher", ["invoice", "itinerary", "auto"])
def test_a_charge_in_doubt_stays_unknown_with_its_reason_whatever_the_row_asks_for(
    judged: Judged, holding: Make, ledger: Make, voucher: str, reason: str
) -> None:
    held = holding(state="unknown", number="", reason=reason, detail=verbatim("reset by peer"), amount=5)
    found = judged({"voucher": voucher}, holdings=ledger(held))
    assert found.statuses == ["unknown"]
    assert found.codes() == {reason}
    assert "reset by peer" in found.message(reason)
    assert found.result().exit_code == 4


def test_each_doubt_keeps_its_own_detail(judged: Judged, holding: Make, ledger: Make) -> None:
    doubts = [
        holding(
            "ancillary", product, state="unknown", reason="no_answer", detail=verbatim(f"about the {product}")
        )
        for product in ("seat", "meal")
    ]
    found = judged(MEAL, SEAT, holdings=ledger(*doubts))
    assert found.statuses == ["unknown", "unknown"]
    assert "about the meal" in found.message("no_answer", 0)
    assert "about the seat" in found.message("no_answer", 1)
    assert found.message("no_answer", 1).startswith(
        "In doubt since 2026-11-03, october.xlsx, Tickets, row 12 (run 7): It was sent"
    )
    assert found.message("no_answer", 1, lang="zh").startswith(
        "自 2026-11-03 起结果未知（october.xlsx，Tickets 第 12 行（第 7 次运行））：已发送"
    )


def test_a_charge_that_another_run_has_in_hand_is_not_sent_and_nobody_calls_it_unknown(
    judged: Judged, holding: Make, ledger: Make
) -> None:
    held = holding(state="unknown", reason="run_killed", detail=verbatim("it is being sent"), in_hand=True)
    found = judged({}, holdings=ledger(held))
    assert (found.statuses, found.codes()) == (["not_sent"], {"in_hand"})
    assert found.message("in_hand") == (
        "Asked for from october.xlsx, Tickets, row 12 (run 7). This run did not send it: it is being sent"
    )
    assert found.verdicts.in_doubt == []
    assert found.result().exit_code == 3


def test_what_a_ticket_is_bound_to_by_another_run_at_work_is_not_called_in_doubt(
    judged: Judged, holding: Make, ledger: Make
) -> None:
    held = holding("refund", voucher="invoice", state="unknown", reason="run_killed", in_hand=True)
    found = judged({"voucher": "itinerary"}, holdings=ledger(held))
    assert found.codes() == {"voucher_conflict"}
    assert "that another run is sending now" in found.message("voucher_conflict")


@pytest.mark.parametrize(
    ("cells", "held", "kind"),
    [
        ({**SEAT, "voucher": "itinerary"}, {"charge": "ancillary", "product": "seat"}, "invoice"),
        (
            {"voucher": "invoice"},
            {"voucher": "itinerary", "state": "unknown", "reason": "no_answer"},
            "itinerary",
        ),
        ({"voucher": "itinerary"}, {"state": "unknown", "reason": "run_killed", "in_hand": True}, "invoice"),
        # A conflict says what the row asks for, beside what was issued.
        ({"voucher": "itinerary"}, {}, "itinerary"),
    ],
)
def test_what_the_ledger_decides_is_of_the_kind_that_it_has(
    judged: Judged, holding: Make, ledger: Make, cells: dict[str, str], held: dict[str, Any], kind: str
) -> None:
    found = judged(cells, holdings=ledger(holding(**held)))
    assert found.kinds == [kind]
    assert [row.charges[0].voucher for row in found.result().rows] == [kind]


@pytest.mark.parametrize("status", ["invalid", "waiting"])
def test_a_charge_in_doubt_is_unknown_though_its_row_is_no_good(
    judged: Judged, holding: Make, ledger: Make, status: str
) -> None:
    row = {"passenger_name": ""} if status == "invalid" else {"ticket_status": "open"}
    assert judged(row).statuses == [status]
    found = judged(row, holdings=ledger(holding(state="unknown", reason="no_answer")))
    assert found.statuses == ["unknown"]


@pytest.mark.parametrize("state", ["issued", "unknown"])
def test_a_refund_of_a_ticket_whose_fare_went_as_itinerary_is_a_conflict(
    judged: Judged, holding: Make, ledger: Make, state: str
) -> None:
    fare = holding(voucher="itinerary", state=state, number="20", reason="no_answer")
    found = judged(REFUND, {**SEAT, "ticket_status": "refunded"}, holdings=ledger(fare))
    assert found.statuses == ["ineligible", "ready"]
    assert found.codes(0) == {"voucher_conflict"}
    known = "20 on" if state == "issued" else "in doubt since"
    assert f"itinerary {known} 2026-11-03, october.xlsx, Tickets, row 12 (run 7)." in found.message(
        "voucher_conflict"
    )
    said = "行程单 20（2026-11-03）" if state == "issued" else "行程单（自 2026-11-03 起结果未知）"
    assert f"{said}，october.xlsx，Tickets 第 12 行（第 7 次运行）。" in found.message(
        "voucher_conflict", lang="zh"
    )


def test_auto_of_a_fare_whose_refund_went_as_invoice_is_an_invoice_too(
    judged: Judged, holding: Make, ledger: Make
) -> None:
    auto = {"voucher": "auto"}
    assert judged(auto).kinds == ["itinerary"]
    for state in ("issued", "unknown"):
        found = judged(auto, holdings=ledger(holding("refund", state=state, reason="no_answer")))
        assert (found.statuses, found.kinds) == (["ready"], ["invoice"])


def test_a_refund_agrees_with_what_the_fare_was_issued_as_and_not_with_what_its_row_says_now(
    judged: Judged, holding: Make, ledger: Make
) -> None:
    partly = {"ticket_status": "partly_used"}
    found = judged({**partly, "voucher": "itinerary"}, {**REFUND, **partly}, holdings=ledger(holding()))
    assert found.statuses == ["ineligible", "ready"]
    assert found.codes(1) == set()


def test_a_refund_of_a_ticket_whose_fare_went_as_invoice_may_go(
    judged: Judged, holding: Make, ledger: Make
) -> None:
    assert judged(REFUND, holdings=ledger(holding())).statuses == ["ready"]


def test_an_itinerary_for_a_ticket_whose_refund_went_as_invoice_is_a_conflict(
    judged: Judged, holding: Make, ledger: Make
) -> None:
    found = judged({"voucher": "itinerary"}, holdings=ledger(holding("refund")))
    assert found.statuses == ["ineligible"]
    assert found.codes() == {"voucher_conflict"}


def test_an_ancillary_charge_binds_its_ticket_to_nothing(judged: Judged, holding: Make, ledger: Make) -> None:
    found = judged({"voucher": "itinerary"}, {**SEAT}, holdings=ledger(holding("ancillary", "seat")))
    assert found.statuses == ["ready", "already_issued"]


def test_an_issued_fare_in_the_input_and_its_refund_do_not_agree_by_what_the_row_says_now(
    judged: Judged, holding: Make, ledger: Make
) -> None:
    partly = {"ticket_status": "partly_used"}
    found = judged(
        {**partly, "voucher": "auto"}, {**REFUND, **partly}, holdings=ledger(holding(voucher="itinerary"))
    )
    assert found.statuses == ["already_issued", "ineligible"]
    (told,) = found.result().rows[1].reasons  # once, by what was issued
    assert told.code == "voucher_conflict"
    assert "itinerary 100000000000000001 on 2026-11-03" in told.message


@pytest.mark.parametrize(("state", "status"), [("issued", "already_issued"), ("unknown", "unknown")])
def test_of_identical_rows_of_a_held_charge_the_first_has_what_became_of_it_and_the_others_repeat_it(
    judged: Judged, holding: Make, ledger: Make, state: str, status: str
) -> None:
    found = judged({}, {}, {"amount": "10"}, {}, holdings=ledger(holding(state=state)))
    assert found.statuses == [status, "repeated", status, "repeated"]
    result = found.result()
    assert found.codes(1) == found.codes(3) == {"repeated_charge"}
    assert dict(result.repeats) == {1: 0, 3: 0}
    first, second = ([charge.request_id for charge in row.charges] for row in result.rows[:2])
    assert first == second != []
    assert result.rows[1].numbers == result.rows[0].numbers
    tally = result.columns.charges.tallies()
    assert (tally[status][0], tally["repeated"]) == (2, (2, 0))


def test_a_held_row_that_asks_for_the_other_voucher_or_can_t_be_read_repeats_nothing(
    judged: Judged, holding: Make, ledger: Make
) -> None:
    held = ledger(holding(voucher="itinerary"))
    assert judged({}, {}, holdings=held).statuses == ["ineligible"] * 2
    held = ledger(holding())
    assert judged({}, {"flight_date": "?"}, holdings=held).statuses == ["already_issued"] * 2


def _one_service_code(profile: Profile) -> Profile:
    products = {**profile.codes.product_type, "seat": "Service", "meal": "Service"}
    return dataclasses.replace(profile, codes=dataclasses.replace(profile.codes, product_type=products))


@pytest.mark.parametrize(("state", "status"), [("issued", "already_issued"), ("unknown", "unknown")])
def test_a_charge_is_held_by_equal_wire_codes_too(
    judged: Judged, holding: Make, ledger: Make, full_profile: Profile, state: str, status: str
) -> None:
    seat = holding("ancillary", "seat", wire="ANCILLARY_FEE/Service", state=state, reason="no_answer")
    profile = _one_service_code(full_profile)
    assert judged(MEAL, holdings=ledger(seat), profile=profile).statuses == [status]
    assert judged(MEAL, holdings=ledger(seat), profile=full_profile).statuses == ["ready"]


def test_wire_codes_of_another_ticket_hold_nothing(
    judged: Judged, holding: Make, ledger: Make, full_profile: Profile
) -> None:
    identity = Identity("9990000000001", "ancillary", "seat")
    seat = holding("ancillary", "seat", identity=identity, wire="ANCILLARY_FEE/Service")
    assert judged(MEAL, holdings=ledger(seat), profile=_one_service_code(full_profile)).statuses == ["ready"]


def test_a_charge_without_codes_is_not_held_by_another_without_codes(
    judged: Judged, holding: Make, ledger: Make
) -> None:
    found = judged(MEAL, holdings=ledger(holding("ancillary", "seat", wire="")), profile=Profile())
    assert found.codes() == {"code_not_configured"}


def test_a_row_whose_ticket_can_t_be_read_is_held_by_nothing(
    judged: Judged, holding: Make, ledger: Make
) -> None:
    assert judged({"ticket_no": "12"}, holdings=ledger(holding())).statuses == ["invalid"]


def test_the_ledger_decides_on_any_day(
    judged: Judged, holding: Make, ledger: Make, as_of: datetime.date
) -> None:
    later = as_of + datetime.timedelta(days=2000)
    assert judged({}, as_of=later).statuses == ["ineligible"]
    assert judged({}, as_of=later, holdings=ledger(holding())).statuses == ["already_issued"]


def test_what_a_statement_alone_shows_is_held_with_a_reason_of_its_own(
    judged: Any, holding: Any, ledger: Any
) -> None:
    known = holding(
        elsewhere=True, issued_at="2026-10-05", amount=1, header_name="Another", file="s.csv, s, row 3"
    )
    found = judged({}, holdings=ledger(known))
    assert found.statuses == ["already_issued"]
    assert found.codes(0) == {"issued_elsewhere"}
    assert "100000000000000001" in found.message("issued_elsewhere", 0)
    other_kind = judged({"voucher": "itinerary"}, holdings=ledger(known))
    assert other_kind.statuses == ["ineligible"]
    assert "s.csv, s, row 3" in other_kind.message("voucher_conflict", 0)
    assert "2026-10-05" in other_kind.message("voucher_conflict", 0)


def test_an_ancillary_that_a_statement_does_not_name_may_be_any_of_the_ticket(
    judged: Any, holding: Any, ledger: Any
) -> None:
    seat = {"charge": "ancillary", "product": "seat", "purchased_on": "2026-11-01"}
    known = ledger(holding("ancillary", "", elsewhere=True))
    assert judged(seat, {**seat, "product": "meal"}, {}, holdings=known).statuses == [
        "already_issued", "already_issued", "ready"
    ]  # fmt: skip


def test_where_statements_show_both_kinds_of_a_ticket_neither_is_asked_for(
    judged: Any, holding: Any, ledger: Any
) -> None:
    known = dataclasses.replace(
        ledger(holding(elsewhere=True)), both_kinds=frozenset({holding().identity.ticket_no})
    )
    refund = {**REFUND, "ticket_status": "partly_used"}
    found = judged({}, refund, holdings=known)
    assert found.statuses == ["already_issued", "ineligible"]
    assert found.codes(1) == {"voucher_conflict"}
    assert judged({}, refund, holdings=ledger(holding(elsewhere=True))).statuses[1] != "ineligible"
    # A fare that is issued already says what its ticket is like any other row.
    assert judged({}, REFUND, holdings=ledger(holding())).codes(1) == {"status_conflict"}


FARE_BEFORE = {"identity": Identity("9991234567890", "ticket_fare", "flight")}
REFUND_BEFORE = {"identity": Identity("9991234567890", "refund", "flight")}


@pytest.mark.parametrize(
    ("cells", "before", "told"),
    [
        (REFUND, FARE_BEFORE, True),
        ({}, REFUND_BEFORE, True),
        (REFUND | {"ticket_status": "partly_used"}, FARE_BEFORE, False),
        (REFUND, FARE_BEFORE | {"state": "unknown"}, False),
        (REFUND, REFUND_BEFORE, False),
        (SEAT, FARE_BEFORE, False),
        (REFUND | {"amount": "0"}, FARE_BEFORE, False),
        (REFUND | {"ticket_no": "9990000000001"}, FARE_BEFORE, False),
    ],
)
def test_a_refund_of_a_ticket_whose_fare_was_issued_before_is_told(
    judged: Judged, holding: Make, ledger: Make, cells: dict[str, str], before: dict[str, Any], told: bool
) -> None:
    notes = [str(note) for note in judged(cells, holdings=ledger(holding(**before))).verdicts.notes]
    line = "The fare was issued before of tickets whose refund is here, or the other way round: 9991234567890 (tickets: 1)."
    assert [note.partition(" Where")[0] for note in notes] == [line] * told
