"""A few kill points of the sweep, the real process among them, and the checks seen to fail."""

import random
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.crash import kill_checks
from tests.crash.counting_carrier import Received
from tests.crash.disk_evidence import Attempt, Evidence
from tests.crash.forked import plain
from tests.crash.kill_checks import Story
from tests.crash.kill_points import (
    UNDISTURBED,
    Call,
    Disturbance,
    Office,
    Point,
    Totals,
    disturbances,
    forking_office,
    sweep,
)
from tests.crash.kill_workload import workload

pytestmark = pytest.mark.usefixtures("compiler")

FARE = ("9990000010017", "ticket_fare", "flight")
SENT = Attempt(2, 2, "issued", "", "17", sent=True, answered=True, charges=frozenset({FARE}))
GIVEN = Received(frozenset({FARE}), "issued", "17", "")


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    with forking_office(tmp_path_factory.mktemp("kill-points")) as found:
        yield found


@pytest.mark.parametrize("seed", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_a_killed_run_that_is_run_again_issues_nothing_twice_and_loses_nothing(
    office: Office, seed: int
) -> None:
    office.totals = Totals()
    sweep(office, seed, 4)
    assert office.totals.violations == []
    assert office.totals.kills.total() >= 3


@pytest.mark.slow
def test_the_program_as_a_process_of_its_own_is_killed_and_ends_like_a_forked_run(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = replace(workload(2), concurrency=1)
    forked = Point(office, work.at(900_001), "forked")
    forked.run(UNDISTURBED)
    # The process that commits is another one, which goes on to its end: it has neither these calls nor this end.
    calls = [
        call for call in forked.calls() if call.kind not in ("WAL while sending", "ledger while sending")
    ]
    monkeypatch.setattr(office, "run", plain)
    point = Point(office, work.at(900_002), "plain")
    answers_in = next(number for number, call in enumerate(calls, 1) if call.kind == "receive") + 12
    assert point.run(Disturbance(answers_in, "kill")).code == -signal.SIGKILL
    assert _file_calls(point.calls()) == _file_calls(calls)[: len(_file_calls(point.calls()))]
    point.end()
    assert point.wrong == []


def test_a_run_killed_while_its_new_ledger_has_two_names_is_run_again(office: Office) -> None:
    work = replace(workload(2), ledger="none")
    counting = Point(office, work.at(900_003), "counting")
    counting.run(UNDISTURBED)
    named = next(call.number for call in counting.calls() if call.name == "link")
    point = Point(office, work.at(900_004), "two-names")
    assert point.run(Disturbance(named + 1, "kill")).code == -signal.SIGKILL
    assert point.ledger.stat().st_nlink == 2
    point.end()
    assert point.wrong == []


def _file_calls(calls: list[Call]) -> list[tuple[str, str]]:
    """Which calls on which files; how an answer comes in pieces differs from run to run."""
    return [(call.name, call.kind) for call in calls if call.target != "socket"]


def test_a_seed_and_point_name_the_same_disturbances_again() -> None:
    calls = [Call(1, "before", "unlink", "x"), Call(2, "sending", "connect", "socket")]
    calls += [Call(n, "sending", "pwrite64", "office.ledger-wal") for n in range(3, 30)]
    calls += [Call(30, "after", "unlink", "office.ledger.spill"), Call(31, "after", "rename", "report.json")]
    assert disturbances(calls, random.Random("7/3")) == disturbances(calls, random.Random("7/3"))


@pytest.mark.parametrize(
    ("attempts", "received", "code", "told"),
    [
        ([SENT], [GIVEN], 0, None),
        ([SENT], [GIVEN, replace(GIVEN, number="18")], 0, "was issued 2 times"),
        ([SENT], [GIVEN, replace(GIVEN, did="busy", number="")], 0, "has it as sent 1 times"),
        ([replace(SENT, state="not_sent", number="")], [GIVEN], 4, "would let it be sent again"),
        ([replace(SENT, number="99")], [GIVEN], 0, "which no such request was given"),
        ([replace(SENT, answered=False)], [GIVEN], 0, "without the carrier's raw answer"),
        ([replace(SENT, state="sending", number="")], [GIVEN], 4, "is still sending"),
        ([replace(SENT, state="unknown", reason="run_killed")], [GIVEN], 4, "though its raw answer"),
        ([replace(SENT, state="unknown", answered=False, run=3)], [GIVEN], 4, "its run was not killed"),
        ([replace(SENT, state="rejected")], [GIVEN], 1, "ended as rejected"),
        ([], [], 4, "ended as missing"),
        ([SENT], [GIVEN], 1, "the last run ended with 1"),
    ],
)
def test_the_checks_tell_what_is_wrong(
    attempts: list[Attempt], received: list[Received], code: int, told: str | None
) -> None:
    found, story = Evidence((1, 2), tuple(attempts)), Story(1, [FARE], Evidence(), {2})
    wrong = [
        *kill_checks.always(found, received, story),
        *kill_checks.at_the_end(found, received, story, code),
    ]
    if told is None:
        assert wrong == []
    assert told is None or any(told in line for line in wrong), wrong


def test_more_doubts_than_were_in_flight_and_an_earlier_run_that_changed_are_told() -> None:
    doubt = replace(SENT, state="unknown", reason="run_killed", number="", answered=False)
    other = replace(doubt, attempt_id=3, charges=frozenset({("9990000010025", "ticket_fare", "flight")}))
    story = Story(1, [FARE], Evidence((1,), (replace(SENT, attempt_id=1),)), {2})
    found = Evidence((1, 2), (replace(SENT, attempt_id=1, number="1"), doubt, other))
    wrong = [*kill_checks.always(found, [], story), *kill_checks.at_the_end(found, [], story, 4)]
    assert any("2 attempts of run 2 are unknown, with 1 in flight" in line for line in wrong)
    assert any("attempt 1 of an earlier run has changed" in line for line in wrong)


def test_a_half_written_result_under_its_name_is_told(tmp_path: Path) -> None:
    (tmp_path / "tickets.result.xlsx").write_bytes(b"PK\x03\x04")
    (tmp_path / "report.json").write_text('{"version": 1,')
    assert len(list(kill_checks.files(tmp_path))) == 2
