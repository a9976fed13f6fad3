"""What `auto` becomes, by the conditions of an itinerary, by other rows of the input and by the ledger."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from pipeline.model.profile import Profile, Required

Judged = Callable[..., Any]

AUTO = {"voucher": "auto"}
TOO_MUCH = {"amount": "10000.01"}  # ineligible
OPEN = {"ticket_status": "open"}  # waiting
REFUND = {"charge": "refund", "ticket_status": "refunded", "refund_approved_on": "2026-11-01"}
SEAT = {"charge": "ancillary", "product": "seat", "purchased_on": "2026-11-01"}


def test_auto_and_blank_become_an_itinerary_where_its_conditions_hold(judged: Judged) -> None:
    found = judged(AUTO, {"ticket_no": "9990000000001", "voucher": ""})
    assert found.kinds == ["itinerary", "itinerary"]
    assert found.statuses == ["ready", "ready"]


@pytest.mark.parametrize(
    "cells",
    [
        {"email": ""},
        {"flight_date": "2026-05-23"},  # 181 days
        {"flight_date": "", "used_on": "2026-10-01"},
    ],
)
def test_auto_becomes_an_invoice_where_the_itinerary_s_conditions_fail(
    judged: Judged, cells: dict[str, str]
) -> None:
    found = judged({**AUTO, **cells})
    assert found.kinds == ["invoice"]
    assert found.statuses == ["ready"]


def test_auto_is_an_itinerary_on_the_180th_day(judged: Judged) -> None:
    assert judged({**AUTO, "flight_date": "2026-05-24"}).kinds == ["itinerary"]


def test_auto_becomes_an_invoice_where_an_itinerary_needs_a_phone_that_is_not_given(
    judged: Judged, full_profile: Profile
) -> None:
    asked = dataclasses.replace(full_profile, required=Required(itinerary=("phone",)))
    found = judged({**AUTO, "phone": ""}, {**AUTO, "ticket_no": "9990000000001"}, profile=asked)
    assert found.kinds == ["invoice", "itinerary"]
    assert found.statuses == ["ready", "ready"]


@pytest.mark.parametrize("cells", [REFUND, SEAT])
def test_auto_of_any_other_charge_becomes_an_invoice(judged: Judged, cells: dict[str, str]) -> None:
    found = judged({**AUTO, **cells})
    assert found.kinds == ["invoice"]
    assert found.statuses == ["ready"]


def test_auto_goes_with_the_refund_of_its_ticket_as_invoice(judged: Judged) -> None:
    found = judged(AUTO, {**REFUND, **AUTO})
    assert found.kinds == ["invoice", "invoice"]
    assert "voucher_conflict" not in found.codes(0) | found.codes(1)


def test_a_refund_of_another_ticket_or_of_no_readable_ticket_does_not_bind_auto(judged: Judged) -> None:
    found = judged(AUTO, {**REFUND, "ticket_no": "9990000000001"}, {**REFUND, "ticket_no": "x"})
    assert found.kinds[0] == "itinerary"


@pytest.mark.parametrize("state", ["issued", "unknown"])
def test_auto_goes_with_the_refund_that_the_ledger_holds_as_invoice(
    judged: Judged, holding: Callable[..., Any], ledger: Callable[..., Any], state: str
) -> None:
    found = judged(AUTO, holdings=ledger(holding("refund", state=state)))
    assert found.kinds == ["invoice"]
    assert found.statuses == ["ready"]


def test_the_choice_holds_what_was_asked_for_explicitly(judged: Judged) -> None:
    assert judged({"voucher": "invoice"}).kinds == ["invoice"]
    assert judged({"voucher": "itinerary", "flight_date": "2026-05-23"}).kinds == ["itinerary"]


def test_with_the_default_profile_auto_goes_as_an_itinerary(judged: Judged) -> None:
    assert judged(AUTO, profile=Profile()).statuses == ["ready"]


def test_with_the_default_profile_a_fare_that_must_be_an_invoice_has_no_code(judged: Judged) -> None:
    found = judged({**AUTO, "email": ""}, profile=Profile())
    assert found.statuses == ["ineligible"]
    assert found.found() == {("code_not_configured", "charge")}


def test_with_the_default_profile_an_open_auto_fare_waits_whatever_its_flight_date(judged: Judged) -> None:
    found = judged(
        {**AUTO, **OPEN},
        {**AUTO, **OPEN, "ticket_no": "9990000000001", "flight_date": "2026-12-24"},
        {**AUTO, **OPEN, "ticket_no": "9990000000002", "flight_date": ""},
        {**AUTO, **OPEN, "ticket_no": "9990000000003", "flight_date": "2026-01-02"},
        profile=Profile(),
    )
    assert found.statuses == ["waiting"] * 4
    assert all(found.codes(row) == {"ticket_still_open"} for row in range(4))


def test_over_the_limit_auto_still_goes_as_an_itinerary(judged: Judged) -> None:
    found = judged({**AUTO, **TOO_MUCH}, {**AUTO, **TOO_MUCH, "ticket_no": "9990000000001", "email": ""})
    assert found.statuses == ["ready", "ineligible"]
