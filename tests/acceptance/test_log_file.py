"""The log of a run holds what a machine wants to know, no key, and nothing of people.

Seen to catch: a carrier's trace ID as it came; what stopped a run with its message; a file's whole path; an
outcome's detail; who settled what.
"""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import Desk, write_workbook
from tests.acceptance.office import at_rest
from tests.acceptance.test_secrets import (
    BUYER,
    BUYERS,
    DAY,
    EMAIL,
    FAULTS,
    KEYS,
    PASSENGER,
    PHONE,
    leaks,
    nasty_carrier,
    rows,
    told_of_people,
)

TAX_NO = "91110000600037341L"
PEOPLE = [
    BUYER,
    EMAIL,
    PHONE,
    PASSENGER,
    TAX_NO,
    "CANARY",
    "Canary",
    "auditor.canary",
    "1234.56",
    "999000000000",
]


def events(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize(
    "echo",
    [
        pytest.param(False, id=""),
        pytest.param(True, id="while a carrier sends everything back"),
    ],
)
def test_no_key_and_nothing_of_people_is_in_the_log_of_a_month_of_faults(tmp_path: Path, echo: bool) -> None:
    folder = tmp_path / "CANARY folder"
    folder.mkdir()
    desk = Desk(folder, dict(KEYS))
    month = [
        row | {"amount": "1234.56", "remarks": f"CANARY {at}"} for at, row in enumerate(rows(len(FAULTS)))
    ]
    with nasty_carrier(*FAULTS, echo=echo) as carrier:
        profile = desk.profile(carrier.base_url, concurrency=1)
        write_workbook(
            folder / "month.xlsx", month, (*BUYERS, ("CANARY Ltd", "business", "CANARY Ltd", TAX_NO, "", ""))
        )
        where: list[str | Path] = ["--profile", profile, "--ledger", "L", *DAY, "--log-file", "log"]
        assert desk.voucher("issue", "month.xlsx", *where).code == 4
        (folder / "statement.csv").write_text(
            "voucher,number,ticket_no,charge,amount,buyer\n"
            f"invoice,201111111111111234,9990000000003,ticket_fare,1234.56,{BUYER}\n"
            f"invoice,,9990000000004,ticket_fare,1234.56,{BUYER}\n"
        )
        (folder / "in").mkdir()
        (folder / "out").mkdir()
        (folder / "in" / "bad.csv").write_text(f"ticket_no,amount,amount\n{BUYER},1,1\n")
        shutil.copy(folder / "month.xlsx", folder / "in" / "again.xlsx")
        at_rest(*(folder / "in").iterdir())
        reconcile = [
            "reconcile",
            *where,
            "--inbox",
            folder / "in",
            "--outbox",
            folder / "out",
            "--by",
            "auditor.canary",
        ]
        assert desk.voucher(*reconcile, "--statement", "statement.csv").code == 4
        (folder / "doubled.csv").write_text(f"ticket_no,amount,amount\n{BUYER},1,1\n")
        assert desk.voucher("check", "doubled.csv", *where).code == 2
    told = events(folder / "log")
    kinds = [line["event"] for line in told]
    assert {
        "run_begins",
        "read",
        "file_left",
        "ledger_taken",
        "settled",
        "request_ended",
        "compared",
        "run_ends",
    } <= {*kinds}
    assert {len(line["ledger_id"]) > 8 for line in told if line["event"] == "ledger_taken"} == {True}
    assert (kinds[-1], told[-1]["error"], told[-1]["exit_code"]) == ("stopped", "InputProblem", 2)
    text = (folder / "log").read_text(encoding="utf-8")
    assert [where for where in leaks(folder) if where[0].startswith("log")] == []
    assert told_of_people(text) == []
    assert [one for one in PEOPLE if one in text] == []
    assert str(folder) not in text


@pytest.mark.slow
def test_the_log_follows_a_run_from_its_beginning_to_its_end(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any
) -> None:
    path = workbook([*tickets(3), {"ticket_no": "9990000000900", "ticket_status": "open"}])
    busy = '[[fault]]\nkind = "http"\nstatus = 429\nfirst = 1\n'
    with sandbox(path, faults=busy) as carrier:
        profile = desk.profile(carrier.base_url, concurrency=1)
        ran = desk.voucher("issue", path, "--profile", profile, *DAY, "--ledger", "L", "--log-file", "log")
        assert ran.code == 1, ran.err
    told = events(desk.folder / "log")
    assert [line["event"] for line in told] == [
        "run_begins", "read", "ledger_taken", *["request_ended"] * 4, "run_ends",
    ]  # fmt: skip
    assert {line["command"] for line in told} == {"issue"}
    assert [line["run"] for line in told] == [None, None, *[1] * 6]
    assert (told[0]["as_of"], told[0]["files"]) == ("2026-11-20", ["tickets.xlsx"])
    assert (told[1]["file"], told[1]["rows"]) == ("tickets.xlsx", 4)
    first, second, *others = told[3:7]
    assert (first["attempt"], first["state"], first["reason"]) == (1, "not_sent", "carrier_busy")
    assert (second["attempt"], second["state"], second["reason"]) == (2, "issued", "")
    assert first["request"] == second["request"]
    assert {line["voucher"] for line in others} == {"itinerary"}
    assert all(re.fullmatch("[0-9a-f]{32}", line["trace_id"]) for line in (second, *others))
    end = told[-1]
    assert (end["exit_code"], end["rows"]) == (1, {"issued": 3, "waiting": 1})
    assert end["written"] == ["tickets.result.xlsx"]


@pytest.mark.slow
def test_a_log_that_goes_away_while_requests_are_out_stops_nothing_and_is_told_once(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any
) -> None:
    path = workbook(tickets(8))
    (desk.folder / "logs").mkdir()
    with sandbox(path, faults='[[fault]]\nkind = "latency"\nseconds = 0.5\nfirst = 4\n') as carrier:
        profile = desk.profile(carrier.base_url, concurrency=2)
        run = desk.begin(
            "issue", path, "--profile", profile, *DAY, "--ledger", "L", "--log-file", "logs/log", "--quiet"
        )
        desk.during(run, carrier.issued)
        shutil.rmtree(desk.folder / "logs")
        ran = run.end()
        assert ran.code == 0, ran.err
        assert len(carrier.issued()) == 8
    assert ran.err.count("the log can't be written") == 1
    assert len(ran.err.splitlines()) == 2  # and that a ledger was begun


@pytest.mark.parametrize("place", ["tickets.xlsx", "carrier.toml", "nowhere/log"])
def test_what_is_no_log_is_left_as_it_is_and_nothing_is_sent(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any, place: str
) -> None:
    path = workbook(tickets(1))
    with sandbox(path) as carrier:
        profile = desk.profile(carrier.base_url)
        before = {file.name: file.read_bytes() for file in (path, profile)}
        ran = desk.voucher("issue", path, "--profile", profile, *DAY, "--ledger", "L", "--log-file", place)
        assert ran.code == 2
        assert place in ran.err
        assert {file.name: file.read_bytes() for file in (path, profile)} == before
        assert carrier.issued() == []
