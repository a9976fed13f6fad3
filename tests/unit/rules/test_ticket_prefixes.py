"""Tickets of other carriers, by their prefixes."""

import dataclasses
from collections.abc import Callable
from typing import Any

from pipeline.model.profile import Profile

Judged = Callable[..., Any]


def test_only_the_carrier_s_own_prefixes_are_sent_where_it_names_any(
    judged: Judged, full_profile: Profile
) -> None:
    carrier = dataclasses.replace(full_profile.carrier, ticket_prefixes=("999", "784"))
    profile = dataclasses.replace(full_profile, carrier=carrier)
    tickets = ["9991234567890", "7841234567890", "8781234567890"]
    found = judged(*({"ticket_no": ticket} for ticket in tickets), profile=profile)
    assert found.statuses == ["ready", "ready", "ineligible"]
    message = found.message("not_a_carrier_ticket", 2)
    assert "878" in message
    assert "999, 784" in message


def test_a_ticket_number_that_can_t_be_read_has_no_prefix_to_complain_of(
    judged: Judged, full_profile: Profile
) -> None:
    carrier = dataclasses.replace(full_profile.carrier, ticket_prefixes=("999",))
    found = judged({"ticket_no": "878"}, profile=dataclasses.replace(full_profile, carrier=carrier))
    assert found.codes() == {"bad_ticket_no"}
