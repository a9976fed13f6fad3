"""The run that options ask for: an option goes before the profile, and keys are asked for where something is to be sent."""

import datetime
import sys
from pathlib import Path
from typing import Any

import pytest

from pipeline.cli import job_options
from pipeline.cli.job_options import job_from
from pipeline.cli.options import login
from pipeline.model.errors import InputProblem
from pipeline.model.job import NO_CARRIER, Job
from pipeline.model.profile import Carrier, Profile, Secrets, Submission

CARRIER = Carrier(base_url="https://carrier.example")
#: What click hands over where nobody says anything.
NOTHING_SAID: dict[str, Any] = {
    "workbooks": (), "profile": None, "concurrency": None, "rate": None, "sandbox": False, "sandbox_statement": None,
    "ledger": None, "new_ledger": False, "as_of": None, "buyers": None, "columns": None, "output": None, "report": None, "lang": "en",
}  # fmt: skip


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "carrier.toml"
    path.write_text(
        f'[carrier]\nbase_url = "{CARRIER.base_url}"\n[submission]\nconcurrency = 3\nrate_per_second = 7\n'
        "response_timeout_seconds = 9\n"
    )
    return path


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> Secrets:
    monkeypatch.setenv("VOUCHER_API_KEY", "key")
    monkeypatch.setenv("VOUCHER_ENCRYPTION_KEY", "other")
    return Secrets("key", "other")


@pytest.fixture
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VOUCHER_API_KEY")
    monkeypatch.setitem(sys.modules, "keyring", None)


def test_nothing_is_asked_for_where_nothing_is_said() -> None:
    assert job_from(NOTHING_SAID, needs_keys=None) == Job((), Profile(), None, operator=login())


def test_every_option_is_taken(profile: Path, keys: Secrets) -> None:
    given = {
        "workbooks": (Path("a.xlsx"), Path("b.xlsx")), "profile": profile, "ledger": "a.ledger", "new_ledger": True,
        "as_of": datetime.datetime.fromisoformat("2026-11-20T09:00"), "buyers": Path("buyers.xlsx"), "columns": Path("map.toml"),
        "output": Path("o.xlsx"), "report": Path("r.json"), "lang": "zh",
    }  # fmt: skip
    assert job_from(NOTHING_SAID | given, needs_keys=True) == Job(
        inputs=(Path("a.xlsx"), Path("b.xlsx")),
        profile=Profile(
            carrier=CARRIER,
            submission=Submission(concurrency=3, rate_per_second=7, response_timeout_seconds=9),
        ),
        secrets=keys,
        ledger="a.ledger",
        new_ledger=True,
        as_of=datetime.date(2026, 11, 20),
        buyers=Path("buyers.xlsx"),
        columns=Path("map.toml"),
        output=Path("o.xlsx"),
        report=Path("r.json"),
        lang="zh",
        operator=login(),
    )


@pytest.mark.parametrize(
    ("given", "concurrency", "rate"),
    [({"concurrency": 5}, 5, 7), ({"rate": 0}, 3, 0), ({"rate": 2.5}, 3, 2.5)],
)
def test_an_option_goes_before_the_profile_and_leaves_the_rest_of_it(
    profile: Path, given: dict[str, Any], concurrency: int, rate: float
) -> None:
    job = job_from(NOTHING_SAID | {"profile": profile} | given, needs_keys=None)
    assert job.profile.submission == Submission(
        concurrency=concurrency, rate_per_second=rate, response_timeout_seconds=9
    )


@pytest.mark.usefixtures("no_keys")
def test_a_sandbox_needs_neither_carrier_nor_keys_and_may_keep_a_statement() -> None:
    given = NOTHING_SAID | {"sandbox": True, "sandbox_statement": Path("s.csv")}
    assert job_from(given, needs_keys=True) == Job(
        (), Profile(), None, sandbox=True, statement=Path("s.csv"), operator=login()
    )


def test_a_sandbox_takes_no_keys_that_are_there() -> None:
    assert job_from(NOTHING_SAID | {"sandbox": True}, needs_keys=True).secrets is None


def test_a_sandboxs_statement_goes_with_a_sandbox(profile: Path) -> None:
    with pytest.raises(InputProblem, match="--sandbox-statement goes with --sandbox"):
        job_from(NOTHING_SAID | {"profile": profile, "sandbox_statement": Path("s.csv")}, needs_keys=None)


def test_a_folder_for_mails_goes_with_a_sandbox(profile: Path) -> None:
    mails = {"deliver_to": Path("mails")}
    with pytest.raises(InputProblem, match="--deliver-to goes with --sandbox"):
        job_from(NOTHING_SAID | {"profile": profile} | mails, needs_keys=None)
    assert job_from(NOTHING_SAID | {"sandbox": True} | mails, needs_keys=True).deliver_to == Path("mails")


@pytest.mark.parametrize("needs_keys", [True, False])
def test_where_something_may_be_sent_a_carrier_is_named(needs_keys: bool) -> None:
    with pytest.raises(InputProblem) as refused:
        job_from(NOTHING_SAID, needs_keys=needs_keys)
    assert str(refused.value) == NO_CARRIER


@pytest.mark.usefixtures("no_keys")
def test_keys_that_are_not_set_are_asked_for_only_where_something_is_sent(profile: Path) -> None:
    given = NOTHING_SAID | {"profile": profile}
    with pytest.raises(InputProblem, match="VOUCHER_API_KEY not set"):
        job_from(given, needs_keys=True)
    assert job_from(given, needs_keys=False).secrets is None
    assert job_from(given, needs_keys=None).secrets is None


def test_keys_are_not_read_where_nobody_needs_them(profile: Path, keys: Secrets) -> None:
    given = NOTHING_SAID | {"profile": profile}
    assert job_from(given, needs_keys=False).secrets == keys
    assert job_from(given, needs_keys=None).secrets is None


@pytest.mark.parametrize(
    ("given", "by"),
    [
        ({"clock_is_right": True, "by": "chen"}, "chen"),
        ({"clock_is_right": True}, "whoever is logged in"),
        ({"clock_is_right": False, "by": "chen"}, ""),
        ({"by": "chen"}, ""),
    ],
)
def test_who_says_that_the_clock_is_right(
    given: dict[str, Any], by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_options, "login", lambda: "whoever is logged in")
    assert job_from(NOTHING_SAID | given, needs_keys=None).clock_right_by == by


def test_in_a_container_without_users_the_option_itself_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_options, "login", str)
    assert (
        job_from(NOTHING_SAID | {"clock_is_right": True}, needs_keys=None).clock_right_by
        == "--clock-is-right"
    )


def test_who_runs_it_is_whoever_is_named_or_else_the_login_name() -> None:
    assert job_from(NOTHING_SAID | {"by": "Li Na"}, needs_keys=None).operator == "Li Na"
    assert job_from(NOTHING_SAID, needs_keys=None).operator == login()
