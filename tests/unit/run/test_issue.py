"""`voucher issue`: who is asked for what and when, what is recorded of the run, and how it ends."""

import json
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest

from pipeline import __version__
from pipeline.ledger import attempts
from pipeline.model.errors import Declined, InputProblem
from pipeline.model.job import Finished, Job
from pipeline.model.outcome import Answered, Outcome
from pipeline.model.profile import Carrier, Owner
from pipeline.model.table import SheetRows
from pipeline.reporting import result_workbook
from pipeline.run.issue import issue
from tests.committing import nothing_is_kept
from tests.crash.wire_answers import envelope, sealed
from tests.unit.reconciliation.desk import KEYS, PROFILE, ticket, workbook
from tests.unit.run.runs import (
    AS_SENT,
    Begun,
    Watched,
    at_address,
    carrier,
    earlier,
    fares,
    job,
    ledger_id,
    marked,
    rows,
)

DONE = Outcome("issued", number="N-01")
SANDBOX = replace(PROFILE, carrier=Carrier())


def ran(given: Job, watched: Watched | None = None) -> Finished:
    return issue(given, (watched or Watched()).watch)


def itineraries(*numbers: int) -> list[dict[str, object]]:
    return [{**row, **AS_SENT} for row in fares(*numbers)]


def test_what_is_ready_is_sent_and_every_row_has_its_result(desk: Path, tmp_path: Path) -> None:
    path, ledger = (
        workbook(desk / "a.xlsx", *fares(1, 2), *fares(3, passenger_name="")),
        tmp_path / "a.ledger",
    )
    watched = Watched()
    with carrier() as server:
        given = job(path, profile=at_address(server.url), secrets=KEYS, ledger=ledger, report=desk / "r.json")
        finished = ran(given, watched)
        (asked,) = server.log.asked
    owner = Owner(server.url, "DEMO")
    assert asked.tickets == (ticket(1), ticket(2))
    assert [row.status for row in finished.result.rows] == ["issued", "issued", "invalid"]
    assert finished.result.command == "issue"
    assert (finished.exit_code, finished.workbook) == (1, desk / "a.result.xlsx")
    assert "Summary" in openpyxl.load_workbook(desk / "a.result.xlsx").sheetnames
    assert [row["status"] for row in json.loads((desk / "r.json").read_text())["rows"]] == [
        "issued",
        "issued",
        "invalid",
    ]
    (plan,) = watched.asked
    assert [(request.voucher, request.amount) for request in plan.requests] == [("invoice", 2000_00)]
    assert (plan.profile, plan.carrier) == (given.profile, owner)
    assert plan.sheets == (SheetRows("a.xlsx", "Tickets", 3),)
    assert rows(ledger, "SELECT command, as_of, files, exit_code FROM run") == [
        ("issue", "2026-11-20", f'["{path}"]', 1)
    ]
    assert rows(ledger, "SELECT state FROM attempt") == [("issued",)]
    ((request, attempt, trace),) = rows(ledger, "SELECT request_id, attempt, trace_id FROM attempt")
    assert watched.logged == [
        ("run_begins", {"version": __version__, "as_of": "2026-11-20", "sandbox": False, "files": ["a.xlsx"]}),
        ("read", {"file": "a.xlsx", "kind": "tickets", "rows": 3}),
        ("ledger_taken", {"run": 1, "ledger_id": ledger_id(ledger)}),
        ("request_ended", {"request": request, "attempt": attempt, "voucher": "invoice", "state": "issued", "reason": "",
                           "trace_id": trace}),
        ("run_ends", {"exit_code": 1, "rows": {"issued": 2, "invalid": 1}, "requests": {"issued": 1}, "unknown": 0,
                      "stopped_early": False, "written": ["a.result.xlsx"]}),
    ]  # fmt: skip
    assert watched.noted[:2] == ["Read 3 rows from 1 workbook", f"Ledger: {ledger}"]


def test_the_result_goes_where_it_is_wanted_and_that_is_looked_at_first(desk: Path, tmp_path: Path) -> None:
    path, ledger = workbook(desk / "a.xlsx", *fares(1, passenger_name="")), tmp_path / "a.ledger"
    assert ran(job(path, ledger=ledger, secrets=KEYS, output=desk / "out.xlsx")).workbook == desk / "out.xlsx"
    ledger.unlink()
    with pytest.raises(InputProblem, match=r"give -o a name that ends in \.xlsx"):
        ran(job(path, ledger=ledger, secrets=KEYS, output=desk / "out.csv"))
    assert not ledger.exists()


def test_a_trial_needs_no_keys_and_leaves_no_ledger(desk: Path, home: Path) -> None:
    path, watched = workbook(desk / "a.xlsx", *fares(1)), Watched()
    finished = ran(job(path, profile=SANDBOX, sandbox=True), watched)
    assert ([row.status for row in finished.result.rows], finished.exit_code) == (["issued"], 0)
    assert watched.facts("run_begins")["sandbox"] is True
    assert not list(home.rglob("*.ledger"))


def test_nothing_is_sent_when_somebody_says_no(desk: Path, tmp_path: Path) -> None:
    path, ledger, watched = workbook(desk / "a.xlsx", *fares(1)), tmp_path / "a.ledger", Watched(answer=False)
    with pytest.raises(Declined, match=r"^Nothing was sent\.$"):
        ran(job(path, secrets=KEYS, ledger=ledger), watched)
    assert rows(ledger, "SELECT * FROM run") == []
    assert not (desk / "a.result.xlsx").exists()


def test_nobody_is_asked_where_nothing_is_to_be_sent(desk: Path, tmp_path: Path) -> None:
    with earlier(tmp_path / "a.ledger") as before:
        before.sent(DONE, 1)
    path, watched = workbook(desk / "a.xlsx", *itineraries(1)), Watched(answer=False)
    finished = ran(job(path, secrets=KEYS, ledger=marked(before.path)), watched)
    assert ([row.status for row in finished.result.rows], finished.exit_code) == (["already_issued"], 0)
    assert watched.asked == []


def test_a_gap_is_told_before_anybody_is_asked(desk: Path, tmp_path: Path) -> None:
    with earlier(tmp_path / "a.ledger"):
        pass
    path, watched = workbook(desk / "a.xlsx", *itineraries(1, 2)), Watched()
    with pytest.raises(InputProblem, match="so that the 2 requests of this run may be issued already"):
        ran(job(path, secrets=KEYS, ledger=marked(tmp_path / "a.ledger")), watched)
    assert watched.asked == []
    assert len(rows(tmp_path / "a.ledger", "SELECT * FROM run")) == 1


def test_a_row_that_says_otherwise_than_its_buyer_is_told_of_before_anybody_is_asked(
    desk: Path, tmp_path: Path
) -> None:
    path = workbook(
        desk / "a.xlsx", *fares(1, buyer="ACME", header_type="", header_name="", tax_no="", email="b@example.com"),
        sheets={"Buyers": [("buyer", "header_type", "header_name", "tax_no", "phone", "email"),
                           ("ACME", "business", "Acme", "91110000600037341L", "", "a@example.com")]},
    )  # fmt: skip
    watched = Watched(answer=False)
    with pytest.raises(Declined):
        ran(job(path, secrets=KEYS, ledger=tmp_path / "a.ledger"), watched)
    assert ["the row's own is used" in line for line in watched.noted].count(True) == 1


def test_another_version_of_what_writes_workbooks_is_told_before_anything_is_sent(
    desk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(result_workbook, "fits", lambda: False)
    path, watched = workbook(desk / "a.xlsx", *fares(1, passenger_name="")), Watched()
    ran(job(path, secrets=KEYS, ledger=tmp_path / "a.ledger"), watched)
    assert ["This version of XlsxWriter" in line for line in watched.noted].count(True) == 1


def test_a_file_that_is_being_read_already_is_not_read_twice(desk: Path) -> None:
    path = workbook(desk / "a.xlsx", *fares(1, passenger_name=""))
    begun = Begun(path)
    issue(job(path, profile=SANDBOX, sandbox=True), Watched().watch, begun)
    assert begun.asked == 1


def test_an_answer_that_a_killed_run_left_is_read_by_the_keys(desk: Path, tmp_path: Path) -> None:
    with earlier(tmp_path / "a.ledger", ends=False) as before:
        before.sent(None, 1)
        said = {
            "itineraryResult": {
                "ticketNo": ticket(1),
                "itineraryNum": "20000000000000000001",
                "success": True,
            }
        }
        attempts.record_answer(before.connection, 1, Answered(200, envelope(sealed(said))))
    path = workbook(desk / "a.xlsx", *itineraries(1))
    finished = ran(job(path, secrets=KEYS, ledger=before.path))
    ((row,),) = [finished.result.rows]
    assert (row.status, row.numbers) == ("already_issued", ("20000000000000000001",))


def test_a_run_whose_ledger_fails_is_left_for_the_next_start_to_end(desk: Path, tmp_path: Path) -> None:
    path, ledger = workbook(desk / "a.xlsx", *fares(1)), tmp_path / "a.ledger"
    with nothing_is_kept():
        finished = ran(job(path, profile=SANDBOX, sandbox=True, ledger=ledger))
    assert "the ledger can't be written" in str(finished.result.stopped)
    assert (finished.exit_code, finished.workbook) == (3, desk / "a.result.xlsx")
    assert rows(ledger, "SELECT ended_at, exit_code FROM run") == [(None, None)]
    assert ran(job(path, profile=SANDBOX, sandbox=True, ledger=ledger)).exit_code == 0
    assert rows(ledger, "SELECT exit_code FROM run") == [(None,), (0,)]
