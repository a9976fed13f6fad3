"""The limit of a single invoice."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from pipeline.model.profile import Limits, Profile

Judged = Callable[..., Any]
REFUND = {"charge": "refund", "ticket_status": "refunded", "refund_approved_on": "2026-11-01"}
SEAT = {"charge": "ancillary", "product": "seat", "purchased_on": "2026-11-01"}
ITINERARY = {"voucher": "itinerary"}


@pytest.mark.parametrize("charge", [{}, REFUND, SEAT])
@pytest.mark.parametrize(
    ("market", "amount", "status"),
    [
        ("domestic", "0.01", "ready"),
        ("domestic", "9999.99", "ready"),
        ("domestic", "10000.00", "ready"),
        ("domestic", "10000.01", "ineligible"),
        ("international", "10000.01", "ready"),
        ("international", "100000", "ready"),
        ("international", "100000.01", "ineligible"),
    ],
)
def test_exactly_the_limit_of_its_market_may_be_sent(
    judged: Judged, charge: dict[str, str], market: str, amount: str, status: str
) -> None:
    found = judged({**charge, "market": market, "amount": amount})
    assert found.statuses == [status]
    assert found.codes() == ({"amount_over_limit"} if status == "ineligible" else set())


def test_the_message_says_the_amount_the_market_and_its_own_limit(judged: Judged) -> None:
    found = judged(
        {"amount": "10000.01"},
        {"ticket_no": "9990000000001", "market": "international", "amount": "200000"},
    )
    first, second = (found.message("amount_over_limit", row) for row in (0, 1))
    assert "10,000.01" in first
    assert "domestic" in first
    assert "10,000.00" in first
    assert "200,000.00" in second
    assert "international" in second
    assert "100,000.00" in second
    assert "国内" in found.message("amount_over_limit", 0, "zh")


def test_the_profile_s_limits_hold_in_place_of_the_interface_s(judged: Judged, full_profile: Profile) -> None:
    profile = dataclasses.replace(full_profile, limits=Limits(domestic_invoice_max=50_000))
    rows = [{"amount": "500"}, {"ticket_no": "9990000000001", "amount": "500.01"}]
    assert judged(*rows, profile=profile).statuses == ["ready", "ineligible"]


def test_an_itinerary_has_no_limit(judged: Judged) -> None:
    assert judged({**ITINERARY, "amount": "1000000"}).statuses == ["ready"]


def test_an_unknown_market_has_no_limit_to_break(judged: Judged) -> None:
    assert judged({"market": "", "amount": "1000000"}).codes() == {"missing_value"}


def test_components_over_the_limit_are_over_it_though_each_is_not(judged: Judged) -> None:
    found = judged({"amount": "", "fare": "9000", "other_taxes": "1000.01"})
    assert found.statuses == ["ineligible"]
    assert found.codes() == {"amount_over_limit"}
