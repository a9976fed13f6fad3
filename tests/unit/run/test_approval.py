"""What one person prepared another approves, or nothing is sent: by the flow itself, whoever calls it."""

import datetime
import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.model.approval import Approval
from pipeline.model.corrections import Corrections
from pipeline.model.errors import InputProblem
from pipeline.model.exit_code import ExitCode
from pipeline.model.job import Job, Task
from pipeline.model.plan_digest import plan_digest
from pipeline.model.profile import ApprovalTerms, Carrier, Profile
from pipeline.reporting.history import history_lines
from pipeline.run.check import check
from pipeline.run.issue import issue
from pipeline.run.profile_check import profile_findings
from pipeline.run.reconcile import reconcile
from pipeline.run.ticket_history import history
from tests.crash.wire_answers import good
from tests.unit.reconciliation.desk import KEYS, PROFILE, ticket, workbook
from tests.unit.run.runs import AS_SENT, Watched, at_address, carrier, fares, job, rows

AT = datetime.datetime(2026, 11, 20, 1, 30, tzinfo=datetime.UTC)
UNASKED = "what one person prepared another approves"


def of_two(profile: Profile) -> Profile:
    return replace(profile, approval=ApprovalTerms(people=2))


def approved(given: Job, by: str = "Wang", **more: Any) -> Job:
    """The run with an approval of the plan that it comes to now."""
    digest = plan_digest(check(given, Watched().watch).result.asked, given.profile, given.owner)
    said = {"proposed_by": "Li", "prepared_by": ("Li", "Chen"), **more}
    return replace(given, approval=Approval(digest, by, AT, **said))


@pytest.fixture
def path(desk: Path) -> Path:
    return workbook(desk / "a.xlsx", *fares(1, 2))


def sent(ledger: Path) -> int:
    return len(rows(ledger, "SELECT 1 FROM attempt")) if ledger.exists() else 0


def test_where_two_are_asked_for_nothing_is_sent_without_an_approval(path: Path, tmp_path: Path) -> None:
    watched = Watched()
    given = job(path, profile=of_two(at_address()), secrets=KEYS, ledger=tmp_path / "l")
    with pytest.raises(
        InputProblem, match=rf"\[approval\]\.people = 2 in the profile.*{UNASKED}.*voucher serve"
    ) as refused:
        issue(given, watched.watch)
    assert refused.value.exit_code == ExitCode.WRONG_USAGE
    assert (watched.asked, (tmp_path / "l").exists()) == ([], False)


@pytest.mark.slow
def test_an_approved_plan_is_sent_and_no_other(path: Path, tmp_path: Path) -> None:
    with carrier() as server:
        profile = of_two(at_address(server.url))
        given = approved(job(path, profile=profile, secrets=KEYS, ledger=tmp_path / "l"))
        changed = replace(given, corrections=Corrections({("a.xlsx", "Tickets", 2): {"amount": "1.00"}}))
        with pytest.raises(InputProblem, match=r"not what Wang said yes to any more"):
            issue(changed, Watched().watch)
        assert sent(tmp_path / "l") == 0
        finished = issue(given, Watched().watch)
        assert [row.status for row in finished.result.rows] == ["issued", "issued"]
        again = issue(given, Watched().watch)  # of which nothing is left to be sent
        assert [row.status for row in again.result.rows] == ["already_issued", "already_issued"]


@pytest.mark.parametrize(
    ("by", "more"),
    [
        ("Li", {}),
        (" li ", {}),
        ("Chen", {}),
        ("", {}),
        ("Wang", {"proposed_by": ""}),
        ("Li", {"proposed_by": "Wang"}),
    ],
)
def test_whoever_had_a_hand_in_it_cannot_approve_it(
    path: Path, tmp_path: Path, by: str, more: dict[str, Any]
) -> None:
    given = approved(job(path, profile=of_two(at_address()), secrets=KEYS, ledger=tmp_path / "l"), by, **more)
    with pytest.raises(InputProblem, match="can't approve it too"):
        issue(given, Watched().watch)
    assert not (tmp_path / "l").exists()


@pytest.mark.slow
def test_what_one_person_sends_is_what_that_person_saw(path: Path, tmp_path: Path) -> None:
    with carrier() as server:
        given = job(path, profile=at_address(server.url), secrets=KEYS, ledger=tmp_path / "l")
        seen = approved(given, "Li", proposed_by="", prepared_by=("Li",))
        workbook(path, *fares(1, 2, 3))
        with pytest.raises(InputProblem, match="not what Li said yes to any more"):
            issue(seen, Watched().watch)
        assert sent(tmp_path / "l") == 0
        workbook(path, *fares(1, 2))
        assert issue(seen, Watched().watch).exit_code == 0


def test_a_sandbox_of_its_own_that_is_thrown_away_needs_nobody(path: Path, tmp_path: Path) -> None:
    profile = of_two(replace(PROFILE, carrier=Carrier()))
    finished = issue(job(path, profile=profile, sandbox=True), Watched().watch)
    assert [row.status for row in finished.result.rows] == ["issued", "issued"]
    with pytest.raises(InputProblem, match=UNASKED):
        issue(job(path, profile=profile, sandbox=True, ledger=tmp_path / "l"), Watched().watch)


@pytest.mark.slow
def test_a_reconciliation_compares_and_sends_nothing(path: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "l"
    with carrier() as server:
        one = job(workbook(path.with_name("b.xlsx"), *fares(1)), profile=at_address(server.url), secrets=KEYS, ledger=ledger)  # fmt: skip
        issue(one, Watched().watch)
        asked = len(server.log.asked)
        given = job(path, profile=of_two(at_address(server.url)), ledger=ledger)
        done = reconcile(Task(given, "Li"), Watched().watch)
        assert len(server.log.asked) == asked
    assert [row.status for row in done.said.result.rows] == ["already_issued", "not_sent"]
    assert UNASKED in str(done.said.result.stopped)
    assert "voucher serve" in done.said.result.rows[1].reasons[0].message
    assert done.exit_code == ExitCode.STOPPED  # as of any run that left rows unsent
    assert sent(ledger) == 1
    issued = reconcile(Task(replace(given, inputs=one.inputs), "Li"), Watched().watch)
    assert (issued.exit_code, str(issued.said.result.stopped)) == (ExitCode.DONE, "")


def test_the_profile_check_says_it(full_profile: Profile) -> None:
    told = [str(one.said) for one in profile_findings(of_two(full_profile))]
    assert [line for line in told if "Approval" in line] == [
        "Approval: what one person prepared another approves; both do so on the page (voucher serve), and nothing is sent elsewhere"
    ]
    assert not any("Approval" in str(one.said) for one in profile_findings(full_profile))


# --- who had a hand in it ----------------------------------------------------------------------------


def hands(ledger: Path) -> list[tuple[Any, ...]]:
    return rows(ledger, "SELECT run, role, person, plan FROM run_person ORDER BY run_person")


@pytest.mark.slow
def test_who_prepared_approved_and_sent_is_recorded_with_the_run_and_told_of_its_tickets(
    path: Path, tmp_path: Path
) -> None:
    ledger = tmp_path / "l"
    with carrier() as server:
        profile = of_two(at_address(server.url))
        given = approved(
            job(path, profile=profile, secrets=KEYS, ledger=ledger, operator="Zhao"), prepared_by=("Li", "Chen", "Li"),
            proposed_at=AT - datetime.timedelta(hours=1),
        )  # fmt: skip
        issue(given, Watched().watch)
        reconcile(Task(replace(given, inputs=(), operator="cron"), "cron"), Watched().watch)
    assert given.approval is not None
    plan = given.approval.digest
    assert hands(ledger) == [
        (1, "prepared", "Li", ""), (1, "prepared", "Chen", ""), (1, "proposed", "Li", ""), (1, "approved", "Wang", plan),
        (1, "sent", "Zhao", ""), (2, "reconciled", "cron", ""),
    ]  # fmt: skip
    at = dict(rows(ledger, "SELECT role, noted_at FROM run_person WHERE run = 1"))
    assert at["approved"] == "2026-11-20T01:30:00.000+00:00"
    assert at["prepared"] == at["proposed"] == "2026-11-20T00:30:00.000+00:00"
    known = history(given, [ticket(1)], lambda _: None)
    told = [line.split("  ")[2] for line in history_lines(known, "en", "Asia/Shanghai") if " by " in line]
    assert told == [
        "prepared by Li (run 1)", "prepared by Chen (run 1)", "proposed for approval by Li (run 1)",
        f"approved by Wang (run 1; plan {plan})", "sending begun by Zhao (run 1)",
    ]  # fmt: skip


@pytest.mark.parametrize("named", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_who_stopped_a_run_on_the_page_is_recorded(desk: Path, tmp_path: Path, *, named: bool) -> None:
    ledger, stopped_by = tmp_path / "l", tmp_path / "stopped-by"

    def ended() -> list[tuple[Any, ...]]:
        return rows(ledger, "SELECT run FROM run WHERE ended_at IS NOT NULL")

    def stops(line: Any) -> None:
        if named and not ended():
            stopped_by.write_text("Qian\n", encoding="utf-8")
        if not ended():  # the first run
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.2)
        good(line)

    itineraries = workbook(desk / "b.xlsx", *({**row, **AS_SENT} for row in fares(1, 2, 3)))
    with carrier(stops) as server:
        profile = at_address(server.url)
        profile = replace(profile, submission=replace(profile.submission, concurrency=1))
        given = job(
            itineraries, profile=profile, secrets=KEYS, ledger=ledger, operator="Zhao", stopped_by_file=stopped_by
        )  # fmt: skip
        finished = issue(given, Watched().watch)
        assert [row.status for row in finished.result.rows].count("issued") == 1
        (desk / "b.result.xlsx").unlink()
        stopped_by.write_text("Sun\n", encoding="utf-8")  # too late for that run, and this one is not stopped
        assert issue(given, Watched().watch).exit_code == 0
    assert hands(ledger) == [
        (1, "sent", "Zhao", ""), *([(1, "stopped", "Qian", "")] if named else []), (2, "sent", "Zhao", ""),
    ]  # fmt: skip
