"""What each status is, against the contract's tables."""

from pipeline.messages.reasons import REASON
from pipeline.model.status import STATUS, STATUS_OF, WORST


def test_a_row_of_several_charges_shows_the_worst_of_their_statuses() -> None:
    assert WORST == (
        "unknown", "not_sent", "rejected", "invalid", "ineligible", "waiting", "ready", "issued", "already_issued",
        "repeated",
    )  # fmt: skip


def test_a_worse_status_never_ends_a_run_better() -> None:
    codes = [STATUS[name].exit_code for name in WORST]
    assert codes == [4, 3, 1, 1, 1, 1, 0, 0, 0, 0]


def test_every_reason_code_leads_to_one_status_and_has_its_texts() -> None:
    assert sum(len(status.codes) for status in STATUS.values()) == len(STATUS_OF)
    assert set(STATUS_OF) == set(REASON)
