"""Whether a result is another than the last time, and whether it may change by itself."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pipeline.model.evidence import Evidence
from pipeline.model.message import NOTHING
from pipeline.model.outcome import Outcome
from pipeline.model.profile import Limits
from pipeline.model.result import RunResult
from pipeline.model.settled import Decided
from pipeline.model.table import Table
from pipeline.reconciliation.inbox import Batch
from pipeline.reconciliation.resubmit import again
from pipeline.reconciliation.result_changes import fates, unfinished
from tests.unit.reconciliation.desk import BY, KEYS, PROFILE, Desk, ticket

Tables = Callable[..., Table]


def result_of(desk: Desk, table: Table, **job: Any) -> RunResult:
    run = desk.run_of(desk.job(**{"secrets": KEYS, **job}))
    (done,) = again(run, [Batch(table)], Evidence((), (), (), None, BY), Decided())
    return done.result


def test_a_digest_changes_with_what_became_of_any_row_and_with_nothing_else(
    desk: Desk, table_of: Tables
) -> None:
    first, second = (
        {"ticket_no": ticket(number), "passenger_name": "", "voucher": "itinerary"} for number in (1, 2)
    )

    def digest(*given: dict[str, Any]) -> str:
        return fates(result_of(desk, table_of(given), secrets=None))

    assert digest(first, second) == digest(first, {**second, "remarks": "again"})
    seen = {
        digest(first),
        digest(first, second),
        digest(first, {**second, "ticket_no": "1"}),
        digest(first, {**second, "ticket_status": "open", "passenger_name": "ZHANG/WEI"}),
    }
    desk.sent(2, Outcome("issued", number="N-02"))
    seen.add(digest(first, {**second, "amount": "10.00"}))
    assert len(seen) == 5


@pytest.mark.parametrize(
    ("changes", "comes_again"),
    [
        ({}, True),  # it waits for keys, or for whatever stopped it
        ({"ticket_status": "open"}, True),
        ({"passenger_name": ""}, False),
        ({"ticket_status": "refunded"}, False),
        ({"flight_date": "2026-12-24"}, True),
        ({"amount": "90000.00"}, True),
        ({"ticket_no": "8881234567890"}, True),
        ({"charge": "ancillary", "product": "meal", "purchased_on": "2026-10-01"}, True),
    ],
)
def test_rows_may_come_to_another_end_by_time_or_by_the_profile(
    desk: Desk, table_of: Tables, changes: dict[str, Any], comes_again: bool
) -> None:
    desk.gap()
    prefixes = replace(PROFILE.carrier, ticket_prefixes=("999",))
    profile = replace(PROFILE, carrier=prefixes, limits=Limits())
    result = result_of(desk, table_of([{"ticket_no": ticket(1), **changes}]), profile=profile)
    assert unfinished(result) is comes_again


def test_a_day_in_a_years_time_is_no_passing_reason_of_another_row(desk: Desk, table_of: Tables) -> None:
    """A row that is invalid for good, though its day passes too, is looked at again: its reasons are told anew."""
    table = table_of([{"ticket_no": ticket(1), "passenger_name": "", "flight_date": "2026-12-24"}])
    result = result_of(desk, table, secrets=None)
    assert unfinished(result)
    assert result.stopped is NOTHING


def test_a_buyer_that_is_not_known_yet_may_come_with_a_file_of_buyers(desk: Desk, table_of: Tables) -> None:
    buyers = [["buyer", "header_type", "header_name"], ["Acme", "individual", "Li Na"]]
    row = dict.fromkeys(("header_type", "header_name", "tax_no", "phone", "email"), "")
    row |= {"ticket_no": ticket(1), "buyer": "Somebody"}
    result = result_of(desk, table_of([row], buyers), secrets=None)
    assert "unknown_buyer" in [reason.code for reason in result.rows[0].reasons]
    assert unfinished(result)
