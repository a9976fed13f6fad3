"""`voucher reconcile`: what the evidence settles and what is sent again, with nobody at the keyboard, and what is recorded of it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from pipeline import __version__
from pipeline.ledger import attempts
from pipeline.model.errors import InputProblem
from pipeline.model.evidence import Answer
from pipeline.model.job import Task
from pipeline.model.outcome import Answered, Outcome
from pipeline.model.places import row_at
from pipeline.model.profile import Carrier, Owner, sandbox_owner
from pipeline.reporting import result_workbook
from pipeline.run.reconcile import reconcile
from pipeline.settlement.reconciliation_result import Reconciled
from tests.committing import nothing_is_kept
from tests.crash.wire_answers import envelope, sealed
from tests.unit.reconciliation.desk import (
    BY,
    KEYS,
    PROFILE,
    answers_file,
    line,
    statement_file,
    ticket,
    workbook,
)
from tests.unit.run.runs import (
    AS_SENT,
    OWNER,
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

SANDBOX = {"profile": replace(PROFILE, carrier=Carrier()), "sandbox": True}
UNKNOWN = Outcome("unknown", "no_answer")


def ran(
    *inputs: Path, watched: Watched | None = None, by: dict[str, Any] | None = None, **given: Any
) -> Reconciled:
    return reconcile(Task(job(*inputs, **given), BY, **(by or {})), (watched or Watched()).watch)


def itineraries(*numbers: int) -> list[dict[str, object]]:
    return [{**row, **AS_SENT} for row in fares(*numbers)]


def number(of: int) -> str:
    """An itinerary's."""
    return f"2{of:019}"


def statuses(done: Reconciled) -> list[str]:
    return [row.status for row in done.said.result.rows]


def doubtful(path: Path, url: str = OWNER.base_url) -> Path:
    """A ledger in which two outcomes are unknown."""
    with earlier(path, Owner(url, "DEMO")) as before:
        before.sent(UNKNOWN, 1)
        before.sent(UNKNOWN, 2)
    return path


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return doubtful(tmp_path / "a.ledger")


def answer(path: Path, of: int, ledger: str = "") -> Answer:
    """That the request with this ticket was issued."""
    ((request,),) = rows(path, f"SELECT request_id FROM attempt JOIN charge USING (attempt_id) WHERE ticket_no = '{ticket(of)}'")  # fmt: skip
    place = row_at("answered.xlsx", "Unknown", of)
    return Answer(ledger or ledger_id(path), request, 1, "issued", number(of), "Wang", "tel.", place)


@pytest.mark.slow
def test_what_the_evidence_shows_is_settled_and_what_is_left_is_sent(desk: Path, tmp_path: Path) -> None:
    """One by a statement, one by an answer, one that was never asked for, and one that a person has to see to."""
    book = workbook(desk / "a.xlsx", *itineraries(1, 2, 3), *fares(4, passenger_name=""))
    listed, watched = statement_file(desk / "s.csv", line(1, number(1))), Watched()
    with carrier() as server:
        ledger = doubtful(tmp_path / "a.ledger", server.url)
        answered = answers_file(desk / "answered.xlsx", answer(ledger, 2))
        done = ran(
            book, watched=watched, secrets=KEYS, ledger=ledger, report=desk / "r.json", profile=at_address(server.url),
            by={"statements": (listed,), "resolved": (answered,)},
        )  # fmt: skip
        (asked,) = server.log.asked
    assert asked.tickets == (ticket(3),)
    assert statuses(done) == ["already_issued", "already_issued", "issued", "invalid"]
    assert (done.exit_code, done.workbook) == (1, desk / "a.reconciliation.xlsx")
    assert "Summary" in openpyxl.load_workbook(desk / "a.reconciliation.xlsx").sheetnames
    assert json.loads((desk / "r.json").read_text())["exit_code"] == 1
    assert rows(ledger, "SELECT state, number FROM attempt WHERE run = 1") == [
        ("issued", number(1)), ("issued", number(2)),
    ]  # fmt: skip
    assert rows(ledger, "SELECT command, as_of, files, exit_code FROM run WHERE run = 2") == [
        ("reconcile", "2026-11-20", json.dumps([str(book)]), 1)
    ]
    assert rows(ledger, "SELECT settled_by FROM settlement ORDER BY settlement") == [(BY,), ("Wang",)]
    assert watched.facts("run_begins") == {
        "version": __version__, "as_of": "2026-11-20", "sandbox": False, "files": ["a.xlsx", "s.csv", "answered.xlsx"],
    }  # fmt: skip
    assert [facts for event, facts in watched.logged if event == "read"] == [
        {"file": "a.xlsx", "kind": "tickets", "rows": 4},
        {"file": "s.csv", "kind": "statement", "rows": 1},
        {"file": "", "kind": "resolved", "rows": 1},
    ]
    assert watched.facts("ledger_taken") == {"run": 2, "ledger_id": ledger_id(ledger)}
    assert watched.facts("request_ended")["state"] == "issued"
    assert watched.facts("compared")["settled"] == 2
    end = watched.facts("run_ends")
    assert (end["exit_code"], end["written"]) == (1, ["a.reconciliation.xlsx"])
    assert watched.noted[:2] == ["Read 4 rows from 1 workbook", f"Ledger: {ledger}"]
    assert watched.asked == []


def test_without_workbooks_and_keys_the_evidence_is_weighed(desk: Path, ledger: Path) -> None:
    """A doubt that is left stands beside the comparison, with the answer that settled nothing."""
    listed = statement_file(desk / "s.csv", line(1, number(1)), line(7, number(7)))
    vague = replace(answer(ledger, 2), resolution="perhaps")
    answered = answers_file(desk / "answered.xlsx", vague)
    done = ran(ledger=ledger, output=desk / "out.xlsx", by={"statements": (listed,), "resolved": (answered,)})
    assert rows(ledger, "SELECT state FROM attempt") == [("issued",), ("unknown",)]
    assert [doubt.typed[0] for doubt in done.said.result.doubts] == ["perhaps"]
    assert [one.name for one in done.said.statements] == ["s.csv"]
    assert [one.ticket_no for one in done.said.of("not_ours")] == [ticket(7)]
    assert (done.exit_code, done.workbook) == (4, desk / "out.xlsx")


def test_evidence_about_another_ledger_is_refused_and_changes_nothing(desk: Path, ledger: Path) -> None:
    answered = answers_file(desk / "answered.xlsx", answer(ledger, 1, "another"))
    with pytest.raises(InputProblem, match="is an answer about another ledger"):
        ran(ledger=ledger, by={"resolved": (answered,)})
    assert len(rows(ledger, "SELECT * FROM run")) == 1


def test_a_place_that_can_not_be_written_to_is_refused_before_the_ledger_is_touched(
    desk: Path, ledger: Path
) -> None:
    with pytest.raises(InputProblem, match=r"give -o a name that ends in \.xlsx"):
        ran(ledger=ledger, output=desk / "out.csv")
    assert len(rows(ledger, "SELECT * FROM run")) == 1


@pytest.fixture
def boxes(desk: Path) -> dict[str, Path]:
    found = {name: desk / name for name in ("inbox", "outbox")}
    for folder in found.values():
        folder.mkdir()
    return found


def test_what_the_inbox_holds_is_dealt_with_once(desk: Path, ledger: Path, boxes: dict[str, Path]) -> None:
    book = workbook(boxes["inbox"] / "a.xlsx", *fares(9, passenger_name=""))
    listed = statement_file(boxes["inbox"] / "s.csv", line(1, number(1)))
    answered = answers_file(boxes["inbox"] / "t.xlsx", answer(ledger, 2), tickets=fares(7, passenger_name=""))
    (boxes["inbox"] / "letter.pdf").touch()
    named = workbook(desk / "named.xlsx", *fares(8, passenger_name=""))
    done = ran(named, ledger=ledger, by=boxes)
    assert statuses(done) == ["invalid"] * 3
    assert rows(ledger, "SELECT state, number FROM attempt") == [("issued", number(1)), ("issued", number(2))]
    assert rows(ledger, "SELECT files FROM run WHERE run = 2") == [
        (json.dumps([str(path) for path in (named, book, answered, listed, answered)]),)
    ]
    assert [one.path.name for one in done.said.unread] == ["letter.pdf"]
    assert done.results == {path: boxes["outbox"] / f"{path.stem}.result.xlsx" for path in (book, answered)}
    assert (done.workbook or desk).parent == boxes["outbox"]
    again = ran(ledger=ledger, by=boxes)
    assert (again.results, again.said.statements, statuses(again)) == ({}, (), [])
    assert rows(ledger, "SELECT exit_code FROM run WHERE run > 1") == [(1,), (1,)]


def test_a_file_that_is_left_is_told_of(ledger: Path, boxes: dict[str, Path]) -> None:
    watched, path = Watched(), boxes["inbox"] / "letter.pdf"
    path.touch()
    ran(ledger=ledger, by=boxes, watched=watched)
    assert watched.facts("file_left") == {"file": "letter.pdf", "because": "not a workbook"}


def test_a_trial_needs_no_keys(desk: Path) -> None:
    """It has some made up, whatever keys there are: no real carrier's are its business."""
    book = workbook(desk / "a.xlsx", *fares(1))
    assert statuses(ran(book, **SANDBOX)) == ["issued"]


def test_without_keys_nothing_is_sent(desk: Path, ledger: Path) -> None:
    book = workbook(desk / "a.xlsx", *fares(5))
    with pytest.raises(InputProblem, match="VOUCHER_API_KEY and VOUCHER_ENCRYPTION_KEY are needed to send"):
        ran(book, ledger=ledger)


def test_an_answer_that_a_killed_run_left_is_read_by_the_keys(ledger: Path) -> None:
    with earlier(ledger, ends=False) as before:
        before.sent(None, 3)
        said = {
            "itineraryResult": {
                "ticketNo": ticket(3),
                "itineraryNum": number(3),
                "success": True,
            }
        }
        attempts.record_answer(before.connection, 3, Answered(200, envelope(sealed(said))))
    with pytest.raises(InputProblem, match="reading the answer takes the keys"):
        ran(ledger=ledger)
    ran(ledger=ledger, secrets=KEYS)
    assert rows(ledger, "SELECT number FROM attempt WHERE attempt_id = 3") == [(number(3),)]


def test_an_answer_that_a_killed_trial_left_can_not_be_read_any_more_and_holds_nothing_up(
    tmp_path: Path,
) -> None:
    """The keys of that trial are gone; there are none that anybody could set."""
    with earlier(tmp_path / "a.ledger", sandbox_owner("DEMO"), ends=False) as before:
        before.sent(None, 3)
        attempts.record_answer(before.connection, 1, Answered(200, envelope(sealed({}))))
    ran(ledger=before.path, **SANDBOX)
    assert rows(before.path, "SELECT state, reason FROM attempt") == [("unknown", "answer_unreadable")]


def test_where_the_ledger_may_lack_something_that_is_said_and_nothing_is_sent(
    desk: Path, ledger: Path
) -> None:
    book = workbook(desk / "a.xlsx", *fares(5))
    done = ran(book, ledger=marked(ledger), secrets=KEYS)
    assert str(done.said.lacking).startswith("this ledger may lack what was issued after 2026-11-01")
    assert (statuses(done), done.exit_code) == (["not_sent"], 4)


def test_another_version_of_what_writes_workbooks_is_told(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(result_workbook, "fits", lambda: False)
    watched = Watched()
    ran(ledger=ledger, watched=watched)
    assert ["This version of XlsxWriter" in line for line in watched.noted].count(True) == 1


@pytest.mark.slow
def test_a_run_whose_ledger_fails_is_left_for_the_next_start_and_so_are_the_files(
    tmp_path: Path, boxes: dict[str, Path]
) -> None:
    book, ledger = workbook(boxes["inbox"] / "a.xlsx", *fares(1)), tmp_path / "a.ledger"
    with nothing_is_kept():
        done = ran(ledger=ledger, by=boxes, **SANDBOX)
    assert "the ledger can't be written" in str(done.said.result.stopped)
    assert done.results == {book: boxes["outbox"] / "a.result.xlsx"}
    assert rows(ledger, "SELECT ended_at, exit_code FROM run") == [(None, None)]
    again = ran(ledger=ledger, by=boxes, **SANDBOX)
    assert statuses(again) == ["issued"]
    assert rows(ledger, "SELECT exit_code FROM run") == [(None,), (0,)]


def test_an_answer_that_stands_in_no_workbook_settles_like_one_that_does(ledger: Path, desk: Path) -> None:
    done = ran(by={"answers": (answer(ledger, 1),)}, ledger=ledger, output=desk / "r.xlsx")
    assert done.exit_code == 4  # the other is unknown still
    assert rows(ledger, "SELECT state, settled_by, answered FROM settlement") == [("issued", "Wang", "tel.")]
