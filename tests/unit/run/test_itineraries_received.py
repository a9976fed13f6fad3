"""Which itineraries have come as files, as it stands: as the ledger has them, beside a run that is on."""

import datetime
from pathlib import Path

import pytest

from pipeline.model.errors import InputProblem
from pipeline.model.outcome import Outcome
from pipeline.reporting.words_collection import headline
from pipeline.run.itineraries_received import itineraries_received
from tests.unit.reconciliation.desk import ticket
from tests.unit.run.runs import AT, earlier, job

ISSUED = Outcome("issued", number="2" * 20)


def test_what_was_issued_and_has_not_come_is_told_with_its_days(tmp_path: Path) -> None:
    with earlier(tmp_path / "a.ledger", ends=False) as before:
        before.sent(ISSUED, 1)
        before.sent(Outcome("issued", number="3" * 20), 2, kind="invoice")
        before.sent(Outcome("unknown", "no_answer"), 3)
        day = datetime.date.fromisoformat(AT[:10]) + datetime.timedelta(days=10)
        found = itineraries_received(job(ledger=tmp_path / "a.ledger", as_of=day))
    assert found
    assert found.issued == 1
    assert [(one.ticket_no, one.days, one.status) for one in found.not_received] == [
        (ticket(1), 9, "missing")  # its day began where the carrier is
    ]
    assert str(headline(found)) == "1 itinerary issued, 0 received, 1 missing for 9 days"


def test_of_a_month_alone_where_one_is_named(tmp_path: Path) -> None:
    with earlier(tmp_path / "a.ledger") as before:
        before.sent(ISSUED, 1)
    asked = job(ledger=tmp_path / "a.ledger")
    counts = [
        found.issued
        for month in (AT[:7], "2001-01")
        if (found := itineraries_received(asked, month)) is not None
    ]
    assert counts == [1, 0]
    with pytest.raises(InputProblem, match="is not a month"):
        itineraries_received(asked, "2026-13")


def test_without_a_ledger_there_is_nothing_to_tell(tmp_path: Path) -> None:
    assert itineraries_received(job(ledger=tmp_path / "none.ledger")) is None
