"""What is shown of the requests whose outcome is unknown, and of the runs: as the ledger has them, beside a run that is on."""

from pathlib import Path

from pipeline.model.message import Message
from pipeline.model.outcome import Outcome
from pipeline.run.past_runs import past_runs
from pipeline.run.unknown_outcomes import unknown_outcomes
from tests.unit.reconciliation.desk import ticket
from tests.unit.run.runs import AT, earlier, job, marked

UNKNOWN = Outcome("unknown", "no_answer")


def test_each_is_told_with_what_was_in_it_and_since_when(tmp_path: Path) -> None:
    told = list[Message]()
    with earlier(tmp_path / "a.ledger") as before:
        before.sent(UNKNOWN, 1, 2, kind="invoice")
        before.sent(Outcome("issued", number="2" * 20), 3)
    found = unknown_outcomes(job(ledger=tmp_path / "a.ledger"), told.append)
    (one,) = found.attempts
    assert [identity.ticket_no for identity, _, _ in one.charges] == [ticket(1), ticket(2)]
    assert (one.began, one.attempt, found.in_flight, told) == (AT, 1, 0, [])


def test_what_is_in_flight_is_counted_and_not_called_unknown(tmp_path: Path) -> None:
    with earlier(tmp_path / "a.ledger", ends=False) as before:
        before.sent(None, 1)
        found = unknown_outcomes(job(ledger=tmp_path / "a.ledger"), print)
    assert (found.attempts, found.in_flight) == ((), 1)


def test_a_gap_is_told_and_a_ledger_that_is_not_there_has_none(tmp_path: Path) -> None:
    told = list[str]()
    assert unknown_outcomes(job(ledger=tmp_path / "a.ledger"), print).attempts == ()
    assert past_runs(job(ledger=tmp_path / "a.ledger"), 5) == []
    with earlier(tmp_path / "a.ledger"):
        pass
    marked(tmp_path / "a.ledger")
    unknown_outcomes(job(ledger=tmp_path / "a.ledger"), lambda said: told.append(str(said)))
    assert "a copy was put back" in told[0]


def test_the_last_runs_are_told_the_newest_first(tmp_path: Path) -> None:
    for _ in range(3):
        with earlier(tmp_path / "a.ledger"):
            pass
    with earlier(tmp_path / "a.ledger", ends=False):
        found = past_runs(job(ledger=tmp_path / "a.ledger"), 2)
    assert [(one.run, one.command, one.files) for one, _ in found] == [
        (4, "issue", ("october.xlsx",)), (3, "issue", ("october.xlsx",)),
    ]  # fmt: skip
    assert [one.exit_code for one, _ in found] == [None, 0]
    assert found[0][0].ended_at is None
