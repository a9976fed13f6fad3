"""What is said to be missing is what a run would miss: the rules and the settings are asked, too."""

import dataclasses
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.model.exit_code import ExitCode
from pipeline.model.known_charges import KnownCharges
from pipeline.model.profile import Carrier, Codes, Profile, Submission, Terms
from pipeline.model.table import Table
from pipeline.rules.judge import judge
from pipeline.run.profile_check import Finding, disk_finding, findings, key_findings, profile_findings

CARRIER = Carrier(base_url="https://carrier.example", agency="AGENCY")
CHARGES = {
    "ticket_fare": {},
    "refund": {"charge": "refund", "ticket_status": "refunded", "refund_approved_on": "2026-11-01"},
    **{
        product: {"charge": "ancillary", "product": product, "purchased_on": "2026-11-01"}
        for product in ("baggage", "seat", "upgrade", "meal", "lounge")
    },
}
KEYS = [
    (section.name, key) for section in dataclasses.fields(Codes) for key in getattr(Codes(), section.name)
]


def without(profile: Profile, *missing: tuple[str, str]) -> Profile:
    sections = {
        field.name: {
            key: "" if (field.name, key) in missing else code
            for key, code in getattr(profile.codes, field.name).items()
        }
        for field in dataclasses.fields(Codes)
    }
    return dataclasses.replace(profile, carrier=CARRIER, codes=Codes(**sections))


def said(found: list[Finding]) -> dict[str, ExitCode]:
    return {str(one.said): one.exit_code for one in found}


@pytest.mark.slow
@pytest.mark.parametrize("missing", KEYS, ids=" ".join)
def test_a_charge_is_said_not_to_be_sent_where_the_rules_refuse_it(
    missing: tuple[str, str], full_profile: Profile, table_of: Callable[..., Table], terms: Terms
) -> None:
    profile = without(full_profile, missing)
    told = [str(one.said) for one in profile_findings(profile) if one.exit_code == ExitCode.NEEDS_PERSON]
    for name, cells in CHARGES.items():
        verdicts = judge(table_of([cells]), KnownCharges(), Terms(terms.as_of, profile))
        refused = any(finding.code == "code_not_configured" for finding in verdicts.findings)
        buyers = "Invoices and itineraries: business: not sent without [codes.header_type] business"
        alone = f"Invoices: {name}: not sent without [codes.{missing[0]}] {missing[1]}"
        assert (alone in told or buyers in told) is refused
    individual = {"voucher": "itinerary", "header_type": "individual"}
    verdicts = judge(table_of([individual]), KnownCharges(), Terms(terms.as_of, profile))
    refused = any(finding.code == "code_not_configured" for finding in verdicts.findings)
    assert any("individual: not sent" in line for line in told) is refused


def test_a_profile_that_lacks_nothing_is_told_line_by_line(full_profile: Profile) -> None:
    found = said(list(profile_findings(without(full_profile))))
    assert set(found.values()) == {ExitCode.DONE}
    assert list(found) == [
        "Carrier: https://carrier.example as agency AGENCY",
        *(f"Invoices: {name}: can be sent" for name in CHARGES),
        "Invoices and itineraries: business: can be sent",
        "Invoices and itineraries: individual: can be sent",
    ]


@pytest.mark.parametrize(
    ("carrier", "needs"),
    [
        (Carrier(), ["Carrier: base_url is missing", "Agency: DEMO is the example's"]),
        (Carrier(base_url="https://carrier.example"), ["Agency: DEMO is the example's"]),
        (Carrier(agency="AGENCY"), ["Carrier: base_url is missing"]),
        (Carrier(base_url="http://127.0.0.1:8080"), []),  # a sandbox
    ],
)
def test_an_address_and_an_agency_are_asked_for(
    full_profile: Profile, carrier: Carrier, needs: list[str]
) -> None:
    found = profile_findings(dataclasses.replace(full_profile, carrier=carrier))
    told = [str(one.said) for one in found if one.exit_code]
    assert len(told) == len(needs)
    assert all(line.startswith(start) for line, start in zip(told, needs, strict=True))


@pytest.fixture
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)


@pytest.mark.usefixtures("no_keyring")
@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (("s3cret", "s3cret"), {"found in the environment": 2}),
        (("s3cret", ""), {"found in the environment": 1, "missing; put the key": 1}),
        (("s3cret ", ""), {"found in the environment": 1, "missing; put the key": 1}),
        (("s3cret ", "s3cret"), {"found in the environment": 2, "can't be sent in a header": 1}),
        (("s3cret", "s3\ncret"), {"found in the environment": 2, "holds line breaks": 1}),
    ],
)
def test_keys_are_found_or_not_and_never_shown(
    monkeypatch: pytest.MonkeyPatch, keys: tuple[str, str], told: dict[str, int]
) -> None:
    for name, key in zip(("VOUCHER_API_KEY", "VOUCHER_ENCRYPTION_KEY"), keys, strict=True):
        monkeypatch.setenv(name, key)
    found = list(key_findings())
    assert len(found) == sum(told.values())
    for words, count in told.items():
        those = [one for one in found if words in str(one.said)]
        assert len(those) == count
        wanted = ExitCode.DONE if words.startswith("found") else ExitCode.NEEDS_PERSON
        assert {one.exit_code for one in those} == {wanted}
    assert "s3" not in repr(found)


def test_without_an_address_nothing_is_connected_to() -> None:
    assert not any("Connection" in str(one.said) for one in findings(Profile()))


def test_where_nobody_answers_a_run_would_stop(
    monkeypatch: pytest.MonkeyPatch, full_profile: Profile
) -> None:
    monkeypatch.setenv("VOUCHER_API_KEY", "s3cret")
    monkeypatch.setenv("VOUCHER_ENCRYPTION_KEY", "s3cret")
    carrier = Carrier(base_url="http://127.0.0.1:1")
    *_, last, _disk = findings(dataclasses.replace(full_profile, carrier=carrier))
    assert str(last.said) == "Connection: the connection was refused or could not be made"
    assert last.exit_code == ExitCode.STOPPED


def disk(profile: Profile, ledger: object) -> str:
    found = disk_finding(profile, str(ledger))
    assert found.exit_code == ExitCode.DONE
    return str(found.said)


def test_a_sync_is_timed_where_the_ledger_lies_and_nothing_is_left_there(
    tmp_path: Path, full_profile: Profile
) -> None:
    (folder := tmp_path / "ledgers").mkdir()
    told = disk(full_profile, folder / "x.ledger")
    where = f"in {re.escape(str(folder))}, where the ledger lies; every request waits for one;"
    assert re.match(rf"Disk: a sync takes [0-9]+\.[0-9] ms {where}", told)
    assert not list(folder.iterdir())


def test_no_more_in_flight_is_asked_for_than_a_profile_takes(tmp_path: Path, full_profile: Profile) -> None:
    most = dataclasses.replace(full_profile, submission=Submission(concurrency=1000))
    assert disk(most, tmp_path / "x.ledger").endswith(": concurrency = 1000")


def test_a_disk_that_is_not_there_or_can_t_be_written_is_no_failure(
    tmp_path: Path, full_profile: Profile
) -> None:
    missing = disk(full_profile, tmp_path / "nowhere" / "x.ledger")
    start = "Disk: the time of a sync can't be measured in"
    assert missing == f"{start} {tmp_path / 'nowhere'}, where the ledger is to lie: No such file or directory"
    assert disk(full_profile, "/proc/x.ledger").startswith(f"{start} /proc, where the ledger is to lie: ")


def test_a_ledger_that_can_t_be_one_needs_somebody(full_profile: Profile) -> None:
    found = disk_finding(full_profile, "other://host/ledger")
    assert (found.exit_code, "only a file" in str(found.said)) == (ExitCode.NEEDS_PERSON, True)
