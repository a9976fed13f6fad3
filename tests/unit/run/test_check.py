"""`voucher check`: what rows would come to by the ledger that there is, told without a change to anything."""

import json
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest

from pipeline import __version__
from pipeline.ledger import ledger_path
from pipeline.ledger.clock import local_text
from pipeline.model.errors import InputProblem
from pipeline.model.job import Finished, Job
from pipeline.model.message import message
from pipeline.model.outcome import Outcome
from pipeline.model.profile import Carrier, Limits
from pipeline.run.check import check
from tests.unit.reconciliation.desk import PROFILE, ticket, workbook
from tests.unit.run.runs import (
    AS_SENT,
    OWNER,
    Begun,
    Watched,
    at_address,
    earlier,
    fares,
    job,
    ledger_id,
    marked,
)

BUYERS = [
    ("buyer", "header_type", "header_name", "tax_no", "phone", "email"),
    ("ACME", "business", "Acme", "91110000600037341L", "", "a@example.com"),
]
NO_CARRIER = "No profile names a carrier, so no ledger is looked at: what was issued before does not show. voucher profile new PATH writes one, voucher profile check says what it lacks; --sandbox needs none"


def checked(given: Job) -> tuple[Finished, Watched]:
    watched = Watched()
    return check(given, watched.watch), watched


def told(given: Job) -> list[str]:
    """What is noted beside what was read."""
    return [line for line in checked(given)[1].noted if not line.startswith("Read ")]


def statuses(finished: Finished) -> list[str]:
    return [row.status for row in finished.result.rows]


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_rows_are_judged_and_nothing_is_written_that_nobody_asked_for(desk: Path, home: Path) -> None:
    path = workbook(desk / "a.xlsx", *fares(1, 2), *fares(3, passenger_name=""))
    given = job(path, operator="chen")
    finished, watched = checked(given)
    result = finished.result
    assert statuses(finished) == ["ready", "ready", "invalid"]
    assert result.request_totals == {"ready": 1}
    assert (result.command, result.as_of, result.lang, result.ledger, result.ledger_id, result.doubts) == (
        "check", "2026-11-20", "en", "", "", (),
    )  # fmt: skip
    assert result.origin == given.origin
    assert (result.origin.carrier, result.origin.operator) == (OWNER, "chen")
    assert (finished.workbook, finished.problems, finished.exit_code) == (None, (), 1)
    assert (names_in(desk), home.exists()) == (["a.xlsx"], False)
    assert watched.logged == [
        ("run_begins", {"version": __version__, "as_of": "2026-11-20", "sandbox": False, "files": ["a.xlsx"]}),
        ("read", {"file": "a.xlsx", "kind": "tickets", "rows": 3}),
        ("run_ends", {"exit_code": 1, "rows": {"ready": 2, "invalid": 1}, "requests": {"ready": 1}, "unknown": 0,
                      "stopped_early": False, "written": []}),
    ]  # fmt: skip
    assert watched.asked == []


def test_what_is_asked_for_is_written_where_it_is_asked_for(desk: Path) -> None:
    path = workbook(desk / "a.xlsx", *fares(1))
    finished, _ = checked(job(path, lang="zh", output=desk / "checked.xlsx", report=desk / "report.json"))
    assert finished.workbook == desk / "checked.xlsx"
    assert "Summary" in openpyxl.load_workbook(desk / "checked.xlsx").sheetnames
    said = json.loads((desk / "report.json").read_text())
    assert (said["command"], [row["status"] for row in said["rows"]]) == ("check", ["ready"])
    assert finished.result.lang == "zh"
    assert names_in(desk) == ["a.xlsx", "checked.xlsx", "report.json"]
    with pytest.raises(InputProblem, match=r"give -o a name that ends in \.xlsx"):
        checked(job(path, output=desk / "checked.csv"))


def test_rows_are_judged_by_the_carriers_profile(desk: Path) -> None:
    path = workbook(desk / "a.xlsx", *fares(1, amount="60.00"), *fares(2, amount="60.00"))
    small = replace(at_address(), limits=Limits(domestic_invoice_max=100_00))
    finished, _ = checked(job(path, profile=small))
    assert finished.result.request_totals == {"ready": 2}


def test_a_row_that_says_otherwise_than_its_buyer_is_told_of(desk: Path) -> None:
    path = workbook(
        desk / "a.xlsx", *fares(1, buyer="ACME", header_type="", header_name="", tax_no="", email="b@example.com"),
        sheets={"Buyers": BUYERS},
    )  # fmt: skip
    (line,) = [line for line in told(job(path)) if "is not what" in line]
    assert "email in" in line
    assert "the row's own is used" in line


def test_a_file_that_is_being_read_already_is_not_read_twice(desk: Path) -> None:
    path = workbook(desk / "a.xlsx", *fares(1))
    begun = Begun(path)
    check(job(path), Watched().watch, begun)
    assert begun.asked == 1


# --- by what the ledger holds ----------------------------------------------------------------------


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A ledger in which something was issued, something is in doubt, and an invoice of two charges was refused."""
    with earlier(tmp_path / "a.ledger") as before:
        before.sent(Outcome("issued", number="N-01"), 1)
        before.sent(Outcome("unknown", "no_answer", trace_id="t-2", detail=message("time-out")), 2)
        before.sent(Outcome("rejected", "carrier_rejected"), 3, 4, kind="invoice")
    return tmp_path / "a.ledger"


def test_what_earlier_runs_came_to_shows(desk: Path, ledger: Path) -> None:
    """A day of a doubt is the carrier's; what was refused together would be asked for one by one."""
    held = [{**row, **AS_SENT} for row in fares(1, 2)]
    refused = [{**row, **AS_SENT, "voucher": "invoice"} for row in fares(3, 4)]
    path, before = workbook(desk / "b.xlsx", *held, *refused), ledger.read_bytes()
    finished, watched = checked(job(path, ledger=ledger))
    result = finished.result
    assert statuses(finished) == ["already_issued", "unknown", "ready", "ready"]
    assert result.rows[0].numbers == ("N-01",)
    assert [(one.number, one.run, one.rows) for one in result.issued_before] == [("N-01", 1, (0,))]
    assert result.request_totals == {"ready": 2}
    assert (result.ledger, result.ledger_id) == (str(ledger), ledger_id(ledger))
    (doubt,) = result.doubts
    assert (doubt.trace_id, [identity.ticket_no for identity, _ in doubt.charges]) == ("t-2", [ticket(2)])
    assert "In doubt since 2026-11-20, october.xlsx, Tickets, row 2 (run 1)" in doubt.reason.message
    assert "time-out" in doubt.reason.message
    assert watched.noted == ["Read 4 rows from 1 workbook"]
    assert ledger.read_bytes() == before
    (unknown,) = checked(job(path, ledger=ledger, lang="zh"))[0].result.doubts
    assert unknown.reason.message != doubt.reason.message


def test_of_a_ledger_that_may_lack_something_that_is_told(desk: Path, ledger: Path) -> None:
    path = workbook(desk / "b.xlsx", *fares(9))
    given = job(path, ledger=marked(ledger))
    lacking = f"This ledger may lack what was issued after {local_text('2026-11-01')} (a copy was put back): nothing is sent until voucher ledger close-gap"
    assert told(given) == [lacking]


def test_of_a_ledger_that_may_be_an_older_copy_that_is_told(desk: Path, ledger: Path) -> None:
    path = workbook(desk / "b.xlsx", *fares(9))
    ledger.with_name("a.ledger.lock").unlink()
    (line,) = told(job(path, ledger=ledger))
    assert line.startswith(f"{ledger}: its last run is not noted beside it (a.ledger.lock)")


def test_where_there_is_no_ledger_that_is_told(desk: Path, tmp_path: Path) -> None:
    path = workbook(desk / "b.xlsx", *fares(1))
    own = ledger_path.default_path(OWNER)
    missing = "There is no ledger yet ({}): what was issued before does not show"
    assert told(job(path)) == [missing.format(own)]
    assert told(job(path, ledger=tmp_path / "gone.ledger")) == [missing.format(tmp_path / "gone.ledger")]
    with earlier(own):
        pass
    assert told(job(path)) == []


def test_without_a_carrier_only_a_named_ledger_is_looked_at(desk: Path, ledger: Path, tmp_path: Path) -> None:
    nobody = replace(PROFILE, carrier=Carrier())
    path = workbook(desk / "b.xlsx", *[{**row, **AS_SENT} for row in fares(1)])
    assert told(job(path, profile=nobody)) == [NO_CARRIER]
    finished, watched = checked(job(path, profile=nobody, ledger=ledger))
    assert (statuses(finished), watched.noted) == (["already_issued"], ["Read 1 rows from 1 workbook"])
    gone = tmp_path / "gone.ledger"
    assert told(job(path, profile=nobody, ledger=gone)) == [
        f"There is no ledger yet ({gone}): what was issued before does not show"
    ]


def test_a_trial_with_a_ledger_of_its_own_needs_none(desk: Path) -> None:
    path = workbook(desk / "b.xlsx", *fares(1))
    assert told(job(path, profile=replace(PROFILE, carrier=Carrier()), sandbox=True)) == []
