"""Where requests stand on their sheets."""

from dataclasses import replace

from pipeline.model.result import RunResult
from pipeline.reporting.links import AllRequests


def test_requests_of_earlier_runs_stand_behind_those_of_this_one(mixed: RunResult) -> None:
    own = [one for one in mixed.requests if one.request.voucher == "invoice"]
    assert own
    before = [
        replace(own[0], status="already_issued", number=number, attempt=attempt)
        for number, attempt in (
            ("N-01", 1),
            ("N-02", 0),
        )  # the second is known of a statement alone: it has no ID
    ]
    found = AllRequests(replace(mixed, issued_before=before), "invoice")
    assert [*found] == [*own, *before]
    assert [one.request_id for one in found] == found.ids
    assert [one.request for one in found] == found.asked
    assert not {*AllRequests(mixed, "itinerary").ids} & {*found.ids}
