"""The main job as a user does it: workbook in, vouchers issued, result workbook and report out."""

import hashlib
import re
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tests.acceptance.conftest import BUYERS, write_workbook

REPOSITORY = Path(__file__).parents[2]


def statuses(report: dict[str, Any]) -> list[str]:
    return [row["status"] for row in report["rows"]]


def codes(row: dict[str, Any]) -> list[str]:
    return [reason["code"] for reason in row["reasons"]]


def records(path: Path, name: str) -> list[dict[str, Any]]:
    """The rows of a result's sheet, by its headings."""
    headings, *rows = openpyxl.load_workbook(path)[name].iter_rows(values_only=True)
    return [dict(zip(map(str, headings), row, strict=True)) for row in rows]


def vouchers(path: Path) -> list[dict[str, Any]]:
    """What stands on Invoices and on Itineraries, by the number of the voucher; the tickets of each in order."""
    rows = [row for sheet in ("Invoices", "Itineraries") for row in records(path, sheet)]
    return sorted(
        ({**row, "tickets": sorted(row.get("tickets", "").split(", "))} for row in rows),
        key=lambda row: str(row.get("number") or row["number (the carrier's request ID)"]),
    )


def test_the_sample_month_runs_against_the_sandbox_inside(desk: Any) -> None:
    samples = shutil.copytree(
        REPOSITORY / "sample_data", desk.folder / "month", ignore=shutil.ignore_patterns("*.result*")
    )
    arguments = [
        "--sandbox",
        "--profile",
        samples / "sandbox.toml",
        "--as-of",
        "2026-11-20",
        "--report",
        "report.json",
    ]
    ran = desk.voucher("issue", samples, *arguments)
    assert ran.code == 1, ran.err
    assert ran.out == ""
    report = desk.report()
    assert report["totals"] == {"rows": 200, "issued": 182, "invalid": 6, "ineligible": 10, "waiting": 2}
    assert (report["exit_code"], report["version"], report["as_of"]) == (1, 1, "2026-11-20")
    assert report["ledger"] == ""  # it was thrown away
    assert (samples / "tickets-2026-10.result.xlsx").exists()


def test_a_month_of_200_rows_prints_on_15_pages_at_most(desk: Any, converted: Any) -> None:
    samples = [
        shutil.copy(path, desk.folder)
        for path in (REPOSITORY / "sample_data").glob("tickets-2026-10*.xlsx")
        if ".result" not in path.name
    ]
    profile = REPOSITORY / "sample_data" / "sandbox.toml"
    ran = desk.voucher(
        "issue", *samples, "--sandbox", "--profile", profile, "--as-of", "2026-11-20", "-o", "month.xlsx"
    )
    assert ran.code == 1, ran.err
    assert len(records(desk.folder / "month.xlsx", "Rows")) == 200
    printed = converted(desk.folder / "month.xlsx", "pdf").read_bytes()
    assert 7 <= len(re.findall(rb"/Type */Page\b", printed)) <= 15


def test_a_second_run_sends_nothing_and_shows_the_earlier_numbers(desk: Any) -> None:
    sample = shutil.copy(REPOSITORY / "sample_data" / "tickets-2026-10.xlsx", desk.folder / "tickets.xlsx")
    profile = REPOSITORY / "sample_data" / "sandbox.toml"
    arguments = ["--sandbox", "--profile", profile, "--as-of", "2026-11-20", "--ledger", "L"]
    assert desk.voucher("issue", sample, *arguments, "--report", "1.json").code == 1
    statement = (desk.folder / "L.statement.csv").read_bytes()
    assert desk.voucher("issue", sample, *arguments, "--report", "2.json").code == 1
    assert (desk.folder / "L.statement.csv").read_bytes() == statement
    first, second = desk.report("1.json"), desk.report("2.json")
    assert second["requests"] == []
    assert first["totals"]["issued"] == second["totals"]["already_issued"] == 110
    assert [row["number"] for row in first["rows"]] == [row["number"] for row in second["rows"]]
    once, again = (vouchers(desk.folder / name) for name in ("tickets.result.xlsx", "tickets.2.result.xlsx"))
    assert {(row["status"], row["run"]) for row in once} == {("issued", 1)}
    assert again == [{**row, "status": "already_issued"} for row in once]
    assert desk.voucher("check", sample, *arguments, "-o", "3.xlsx").code == 1
    assert vouchers(desk.folder / "3.xlsx") == again
    # months later, when today's rules would refuse most of it, the ledger still decides
    later = desk.voucher(
        "check",
        sample,
        "--sandbox",
        "--profile",
        profile,
        "--as-of",
        "2028-01-01",
        "--ledger",
        "L",
        "--report",
        "3.json",
    )
    assert later.code == 1
    assert desk.report("3.json")["totals"]["already_issued"] == 110


def test_every_kind_of_charge_is_issued_by_a_carrier_in_another_process(
    desk: Any, sandbox: Any, workbook: Any
) -> None:
    refund = {
        "charge": "refund",
        "ticket_status": "refunded",
        "refund_approved_on": "2026-11-01",
        "voucher": "auto",
    }
    seat = {"charge": "ancillary", "product": "seat", "purchased_on": "2026-09-01", "voucher": "auto"}
    rows = [
        {"ticket_no": "999-1000000001"},
        {"ticket_no": "9991000000002", "voucher": "invoice"},
        {"ticket_no": "9991000000003", "voucher": "invoice", "amount": 9000},
        {"ticket_no": "9991000000004", "voucher": "invoice", "amount": 9000.01, "buyer": "Li Na"},
        {"ticket_no": "9991000000005", "voucher": "invoice", "market": "international", "amount": 100000},
        {"ticket_no": "9991000000006", **refund},
        {"ticket_no": "9991000000006", **seat, "ticket_status": "refunded"},
        {"ticket_no": "9991000000001", **seat, "product": "baggage"},
    ]
    path = workbook(rows)
    with sandbox(path) as carrier:
        profile = desk.profile(carrier.base_url)
        ran = desk.voucher(
            "issue", path, "--profile", profile, "--as-of", "2026-11-20", "--report", "report.json"
        )
        assert ran.code == 0, ran.err
        report = desk.report()
        assert statuses(report) == ["issued"] * 8
        assert {(line["ticket_no"], line["charge"], line["number"]) for line in carrier.issued()} == {
            (row["ticket_no"], row["charge"], row["number"]) for row in report["rows"]
        }
    requests = {tuple(request["rows"]): request for request in report["requests"]}
    assert set(requests) == {
        (0,),
        (1, 2),
        (3,),
        (4,),
        (5, 6, 7),
    }  # fares alone; refund and ancillaries together
    assert requests[1, 2]["amount"] == "10000.00"
    assert len(requests[(0,)]["number"]) == 20
    assert len(requests[1, 2]["number"]) == 18
    again = desk.voucher(
        "issue", path, "--profile", profile, "--as-of", "2026-11-20", "--report", "again.json"
    )
    assert again.code == 0  # the carrier is gone and nothing is left to ask of it
    assert statuses(desk.report("again.json")) == ["already_issued"] * 8
    told = desk.voucher("history", "999-1000000001", "--profile", profile)
    assert told.code == 0
    assert requests[(0,)]["number"] in told.out
    assert "tickets.xlsx, Tickets, row 2" in told.out


@pytest.mark.slow
def test_of_a_ticket_used_here_and_refunded_there_nothing_is_sent_until_its_rows_agree(
    desk: Any, sandbox: Any, workbook: Any
) -> None:
    one, other = "9991000000001", "9991000000002"
    refund = {
        "charge": "refund", "amount": 200, "ticket_status": "refunded", "refund_approved_on": "2026-11-01",
        "voucher": "invoice", "flight_date": "2026-12-24",
    }  # fmt: skip
    sold = {"ticket_no": one, "voucher": "invoice"}
    first = workbook([sold, {"ticket_no": other, **refund}], name="sold.xlsx")
    second = workbook([{"ticket_no": one, **refund}], name="back.xlsx")
    partly = workbook(
        [{**sold, "ticket_status": "部分使用"}, {"ticket_no": one, **refund, "ticket_status": "partly_used"}],
        name="partly.xlsx",
    )
    with sandbox(partly) as carrier:
        given = ["--profile", desk.profile(carrier.base_url), "--ledger", "L", "--as-of", "2026-11-20"]
        ran = desk.voucher("issue", first, second, *given, "--report", "1.json", "-o", "1.xlsx")
        assert carrier.issued() == []
        rows = desk.report("1.json")["rows"]
        assert [(row["status"], codes(row)) for row in (rows[0], rows[2])] == [
            ("ineligible", ["status_conflict"])
        ] * 2
        assert "back.xlsx, Tickets, row 2" in rows[0]["reasons"][0]["message"]
        assert rows[1]["status"] == "rejected"  # sent: a flight to come is nothing against a refund
        assert ran.code == 1, ran.err
        ran = desk.voucher("issue", partly, *given, "--report", "2.json", "-o", "2.xlsx")
        assert (ran.code, statuses(desk.report("2.json"))) == (0, ["issued", "issued"]), ran.err
        assert sorted(line["charge"] for line in carrier.issued()) == ["refund", "ticket_fare"]


@pytest.mark.slow
def test_the_charges_of_a_refused_invoice_go_one_to_a_request_from_then_on(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any
) -> None:
    path = workbook([{**row, "voucher": "invoice"} for row in tickets(2)])
    with sandbox(path, faults='[[fault]]\nkind = "refuse"\nmessage = "no"\nrequests = [1]\n') as carrier:
        given = [path, "--profile", desk.profile(carrier.base_url), "--ledger", "L", "--as-of", "2026-11-20"]
        assert desk.voucher("issue", *given, "--report", "1.json").code == 1
        for command in ("check", "issue"):
            desk.voucher(command, *given, "--report", "2.json")
            assert [asked["rows"] for asked in desk.report("2.json")["requests"]] == [[0], [1]]
        assert len(desk.report("1.json")["requests"]) == 1
        assert carrier.twice() == []


def test_a_buyers_file_kept_apart_is_asked_for_the_buyers_of_the_rows(desk: Any, tickets: Any) -> None:
    path = write_workbook(desk.folder / "tickets.xlsx", [{**tickets(1)[0], "buyer": "Li Na"}], buyers=())
    book = openpyxl.Workbook()
    for line in BUYERS:
        book.active.append(line)
    book.save(desk.folder / "buyers.xlsx")
    profile = desk.profile("http://127.0.0.1:1")
    check = ["check", path, "--profile", profile, "--as-of", "2026-11-20", "--report", "r.json"]
    assert desk.voucher(*check).code == 1
    assert desk.voucher(*check, "--buyers", "buyers.xlsx").code == 0
    assert [asked["buyer"] for asked in desk.report("r.json")["requests"]] == ["Li Na"]
    desk.environment["VOUCHER_BUYERS"] = "buyers.xlsx"
    assert desk.voucher(*check).code == 0
    assert "buyer is missing" not in desk.voucher("columns", path).out
    # What the command says goes before the environment.
    assert "there is no such buyers file" in desk.voucher(*check, "--buyers", "gone.xlsx").err


@pytest.mark.parametrize(
    ("day", "code"),
    [("2026-09-30", "date_in_future"), ("2027-03-31", "flight_too_old_for_itinerary"), ("2026-10-01", "")],
)
def test_the_rules_judge_on_the_day_that_is_given(
    desk: Any, workbook: Any, tickets: Any, day: str, code: str
) -> None:
    ran = desk.voucher("check", workbook(tickets(1)), "--sandbox", "--as-of", day, "--report", "r.json")
    (row,) = desk.report("r.json")["rows"]
    assert (ran.code, codes(row)) == ((1, [code]) if code else (0, []))
    assert desk.report("r.json")["as_of"] == day


@pytest.mark.slow
def test_a_carrier_that_is_down_loses_nothing(desk: Any, sandbox: Any, workbook: Any, tickets: Any) -> None:
    path = workbook(tickets(3))
    with sandbox(path) as carrier:
        base_url = carrier.base_url
    profile = desk.profile(base_url)
    ran = desk.voucher(
        "issue", path, "--profile", profile, "--as-of", "2026-11-20", "--report", "report.json"
    )
    assert ran.code == 3, ran.err
    assert [(row["status"], *codes(row)) for row in desk.report()["rows"]] == [
        ("not_sent", "carrier_unreachable")
    ] * 3
    with sandbox(path, port=int(base_url.rsplit(":", 1)[1])):
        ran = desk.voucher(
            "issue", path, "--profile", profile, "--as-of", "2026-11-20", "--report", "report.json"
        )
    assert ran.code == 0, ran.err
    assert statuses(desk.report()) == ["issued"] * 3


FAULTS = [
    ("http", "before", "status = 403", "not_sent", "key_refused", 3),
    ("reset", "before", "", "unknown", "no_answer", 4),
    ("reset", "after", "", "unknown", "no_answer", 4),
    ("refuse", "before", "", "rejected", "carrier_rejected", 1),
]  # fmt: skip
MORE_FAULTS = [
    ("http", "before", "status = 500", "unknown", "answer_unexplained", 4),
    ("undecryptable", "after", "", "unknown", "answer_unreadable", 4),
    ("http", "after", "status = 500", "unknown", "answer_unexplained", 4),
    ("http", "before", "status = 302", "unknown", "answer_unexplained", 4),
    ("http", "before", "status = 404", "not_sent", "carrier_unreachable", 3),
    ("envelope", "before", 'code = 9999\nmessage = "busy"', "unknown", "answer_unexplained", 4),
    ("close", "after", "", "unknown", "no_answer", 4),
    ("garbage", "after", "", "unknown", "answer_unreadable", 4),
    ("nonsense", "after", "", "unknown", "answer_unreadable", 4),
    ("wrong_ticket", "after", "", "unknown", "answer_unexplained", 4),
    ("truncated", "after", "", "unknown", "answer_unreadable", 4),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "when", "more", "status", "code", "exit_code"),
    [*FAULTS, *(pytest.param(*fault, marks=pytest.mark.slow) for fault in MORE_FAULTS)],
)
def test_a_fault_ends_as_the_promise_says_and_is_never_sent_again_in_doubt(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any,
    kind: str, when: str, more: str, status: str, code: str, exit_code: int,
) -> None:  # fmt: skip
    path = workbook(tickets(2))
    timing = f'when = "{when}"\n' if kind != "refuse" else ""
    fault = f'[[fault]]\nkind = "{kind}"\n{timing}tickets = ["9990000000001"]\n{more}\n'
    with sandbox(path, faults=fault) as carrier:
        profile = desk.profile(carrier.base_url, concurrency=1)
        arguments = ["--profile", profile, "--as-of", "2026-11-20", "--report", "report.json"]
        ran = desk.voucher("issue", path, *arguments)
        assert ran.code == exit_code, ran.err
        row, other = desk.report()["rows"]
        assert (row["status"], *codes(row)) == (status, code)
        # What every request may meet, as a wrong key, ends the run where nothing was accepted in it before.
        stops = exit_code == 3 or kind in ("envelope", "undecryptable", "nonsense")
        assert other["status"] == ("not_sent" if stops else "issued")
        issued = [line for line in carrier.issued() if line["ticket_no"] == "9990000000001"]
        again = desk.voucher("issue", path, *arguments)
        assert again.code == exit_code
        assert carrier.twice() == []
        if status == "unknown":
            assert [line for line in carrier.issued() if line["ticket_no"] == "9990000000001"] == issued
            assert (desk.report()["rows"][0]["status"], codes(desk.report()["rows"][0])) == (
                "unknown",
                [code],
            )
            sheet = openpyxl.load_workbook(desk.folder / "tickets.2.result.xlsx")["Unknown"]
            assert sheet.max_row == 2


def test_a_busy_carrier_is_asked_again_within_the_run(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any
) -> None:
    path = workbook(tickets(2))
    fault = '[[fault]]\nkind = "http"\nstatus = 429\nretry_after = 0\nfirst = 2\n'
    with sandbox(path, faults=fault) as carrier:
        profile = desk.profile(carrier.base_url, concurrency=2)
        ran = desk.voucher(
            "issue", path, "--profile", profile, "--as-of", "2026-11-20", "--report", "report.json"
        )
        assert ran.code == 0, ran.err
        # Which requests are answered so is not certain: one may be asked again before the other is sent.
        assert sum(request["attempt"] for request in desk.report()["requests"]) == 4
        assert len(carrier.issued()) == 2


def test_a_wrong_key_stops_the_run(desk: Any, sandbox: Any, workbook: Any, tickets: Any) -> None:
    path = workbook(tickets(30))
    with sandbox(path) as carrier:
        desk.environment["VOUCHER_API_KEY"] = "another"
        profile = desk.profile(carrier.base_url, concurrency=2)
        ran = desk.voucher(
            "issue", path, "--profile", profile, "--as-of", "2026-11-20", "--report", "report.json"
        )
        assert ran.code == 3
        found = {code for row in desk.report()["rows"] for code in codes(row)}
        assert found == {"key_refused", "run_stopped"}
        assert statuses(desk.report()) == ["not_sent"] * 30
        assert carrier.issued() == []


#: What is wrong, what stands in its place, and what the last lines name; the exit code.
WRONG = [
    ({"VOUCHER_API_KEY": "another"}, "", ["VOUCHER_API_KEY", "agency"], 3),
    ({"VOUCHER_ENCRYPTION_KEY": "another"}, "", ["VOUCHER_ENCRYPTION_KEY"], 4),
    ({}, "/elsewhere", ["base_url"], 3),
]  # fmt: skip


@pytest.mark.parametrize("lang", ["en", pytest.param("zh", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("environment", "path", "named", "exit_code"), WRONG)
def test_what_is_wrong_with_every_request_is_named_after_the_first_with_its_cure(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any,
    environment: dict[str, str], path: str, named: list[str], exit_code: int, lang: str,
) -> None:  # fmt: skip
    book = workbook(tickets(5))
    with sandbox(book) as carrier:
        desk.environment.update(environment)
        profile = desk.profile(carrier.base_url + path, concurrency=1)
        arguments = ["--profile", profile, "--as-of", "2026-11-20", "--report", "report.json", "--lang", lang]
        ran = desk.voucher("issue", book, *arguments, "--new-ledger")
        assert ran.code == exit_code, ran.err
        assert sorted(statuses(desk.report())) == sorted(
            ["unknown" if exit_code == 4 else "not_sent", *["not_sent"] * 4]
        )
        last = ran.err.strip().splitlines()[-4:]
        assert all(any(name in line for line in last) for name in named), ran.err
        assert any(("请检查" if lang == "zh" else "check") in line for line in last), ran.err
        assert carrier.issued() == []


#: The fifth to the eighth request are issued at once and answered when it is too late for any test.
ANSWERED_LATE = """
[[fault]]
kind = "latency"
seconds = 20
when = "after"
requests = [5, 6, 7, 8]
"""


@pytest.mark.parametrize("sign", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_an_interrupted_run_waits_for_what_is_in_flight_and_the_next_one_goes_on(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any, sign: signal.Signals
) -> None:
    path = workbook(tickets(60))
    with sandbox(path, faults='[[fault]]\nkind = "latency"\nseconds = 0.4\nfirst = 12\n') as carrier:
        profile = desk.profile(carrier.base_url, concurrency=4)
        arguments = ["issue", path, "--profile", profile, "--as-of", "2026-11-20", "--report", "report.json"]
        run = desk.begin(*arguments)
        desk.during(run, lambda: len(carrier.issued()) >= 4)
        run.send_signal(sign)
        ran = run.end()
        assert ran.code == 3, ran.err
        found = statuses(desk.report())
        assert set(found) == {"issued", "not_sent"}
        assert found.count("issued") == len(carrier.issued())
        assert (desk.folder / "tickets.result.xlsx").exists()
        assert desk.voucher(*arguments).code == 0
        assert carrier.twice() == []
        assert len(carrier.issued()) == 60


@pytest.mark.parametrize(
    "seconds", [0.2, *(pytest.param(each / 40, marks=pytest.mark.slow) for each in range(7))]
)
def test_an_interruption_after_the_last_answer_costs_no_result_and_no_exit_code(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any, seconds: float
) -> None:
    """The result of many rows takes a while to be made."""
    path = workbook([*tickets(4), *(row | {"amount": "0"} for row in tickets(2004)[4:])])
    with sandbox(path, faults='[[fault]]\nkind = "reset"\nwhen = "after"\nrequests = [2]\n') as carrier:
        profile = desk.profile(carrier.base_url, concurrency=4)
        arguments = ["issue", path, "--profile", profile, "--as-of", "2026-11-20", "--report", "report.json"]
        run = desk.begin(*arguments)
        desk.during(run, lambda: len(carrier.issued()) == 4)
        time.sleep(seconds)
        run.send_signal(signal.SIGTERM)
        time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        ran = run.end()
        assert ran.code == 4, ran.err
        assert set(statuses(desk.report())) == {"issued", "unknown", "invalid"}
        assert (desk.folder / "tickets.result.xlsx").exists()


def test_a_killed_run_leaves_doubts_that_are_not_sent_again(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any
) -> None:
    path = workbook(tickets(60))
    with sandbox(path, faults=ANSWERED_LATE) as carrier:
        profile = desk.profile(carrier.base_url, concurrency=4)
        arguments = ["issue", path, "--profile", profile, "--as-of", "2026-11-20", "--report", "report.json"]
        run = desk.begin(*arguments)
        desk.during(run, lambda: len(carrier.issued()) >= 8)
        run.kill()
        ran = desk.voucher(*arguments)
        assert ran.code == 4, ran.err
        report = desk.report()
        assert 1 <= report["totals"]["unknown"] <= 4
        unknown = [row for row in report["rows"] if row["status"] == "unknown"]
        assert {code for row in unknown for code in codes(row)} == {"run_killed"}
        assert carrier.twice() == []
        shown = {
            row["ticket_no"]
            for row in report["rows"]
            if row["status"] in ("issued", "already_issued", "unknown")
        }
        assert shown >= {line["ticket_no"] for line in carrier.issued()}
        looked = desk.voucher("check", *arguments[1:])
        assert looked.code == 4


def test_check_sends_nothing_and_writes_nothing_it_is_not_asked_for(
    desk: Any, workbook: Any, tickets: Any
) -> None:
    path = workbook([*tickets(2), {"ticket_no": "12"}])
    before = sorted(found.name for found in desk.folder.rglob("*"))
    ran = desk.voucher("check", path, "--as-of", "2026-11-20")
    assert ran.code == 1
    assert sorted(found.name for found in desk.folder.rglob("*")) == before
    assert "ready" in ran.err
    asked = desk.voucher("check", path, "--as-of", "2026-11-20", "--report", "report.json", "-o", "out.xlsx")
    assert asked.code == 1
    assert statuses(desk.report()) == ["ready", "ready", "invalid"]
    assert [request["status"] for request in desk.report()["requests"]] == ["ready", "ready"]
    assert (desk.folder / "out.xlsx").exists()
    assert desk.voucher("check", workbook(tickets(2)), "--as-of", "2026-11-20").code == 0


def test_secrets_are_nowhere(desk: Any, sandbox: Any, workbook: Any, tickets: Any) -> None:
    path = workbook(tickets(4))
    fault = '[[fault]]\nkind = "garbage"\nwhen = "after"\nfirst = 2\n'
    with sandbox(path, faults=fault) as carrier:
        arguments = ["--profile", desk.profile(carrier.base_url), "--ledger", "a.ledger", "--verbose"]
        ran = desk.voucher("issue", path, *arguments, "--as-of", "2026-11-20", "--report", "report.json")
    assert ran.code == 4
    everything = {found: found.read_bytes() for found in desk.folder.rglob("*") if found.is_file()}
    for name, content in {**everything, "stderr": ran.err.encode(), "stdout": ran.out.encode()}.items():
        for secret in (b"canary-api-key", b"canary-encryption-key"):
            assert secret not in content, name
    for book in desk.folder.glob("*.result.xlsx"):
        cells = [
            str(cell.value)
            for sheet in openpyxl.load_workbook(book)
            for row in sheet.iter_rows()
            for cell in row
        ]
        assert not [cell for cell in cells if "canary" in cell]
    assert "finance@example.com" not in ran.err
    assert "ZHANG" not in ran.err


def test_inputs_are_never_changed(desk: Any, workbook: Any, tickets: Any) -> None:
    path = workbook(tickets(2))
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    assert desk.voucher("issue", path, "--sandbox", "--as-of", "2026-11-20", "-o", path).code == 0
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    assert (desk.folder / "tickets.2.xlsx").exists()


@pytest.mark.slow
@pytest.mark.parametrize("stderr", ["closed", "full"])
def test_a_run_that_nobody_listens_to_ends_as_it_should(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any, stderr: str
) -> None:
    path = workbook(tickets(20))
    with sandbox(path, faults='[[fault]]\nkind = "latency"\nseconds = 0.1\nevery = 1\n') as carrier:
        arguments = [
            "issue",
            path,
            "--profile",
            desk.profile(carrier.base_url, concurrency=4),
            "--as-of",
            "2026-11-20",
        ]
        with Path("/dev/full").open("w") as full:
            listener = full if stderr == "full" else None
            process = desk.start(*arguments, "--report", "report.json", stderr=listener)
        if stderr == "closed":
            process.stderr.close()
        process.stdout.read()
        process.stdout.close()
        assert process.wait(timeout=60) == 0
        assert statuses(desk.report()) == ["issued"] * 20
        assert len(carrier.issued()) == 20


def test_a_terminal_that_closes_is_an_interrupt(desk: Any, sandbox: Any, workbook: Any, tickets: Any) -> None:
    path = workbook(tickets(40))
    with sandbox(path, faults='[[fault]]\nkind = "latency"\nseconds = 0.3\nevery = 1\n') as carrier:
        arguments = [
            "issue",
            path,
            "--profile",
            desk.profile(carrier.base_url, concurrency=4),
            "--as-of",
            "2026-11-20",
        ]
        run = desk.begin(*arguments, "--report", "report.json")
        desk.during(run, carrier.issued)
        run.send_signal(signal.SIGHUP)
        assert run.end().code == 3
        assert set(statuses(desk.report())) == {"issued", "not_sent"}
        assert statuses(desk.report()).count("issued") == len(carrier.issued())


def test_a_report_replaces_nothing_but_a_report(desk: Any, workbook: Any, tickets: Any) -> None:
    path = workbook(tickets(1))
    arguments = ["issue", path, "--sandbox", "--ledger", "L", "--as-of", "2026-11-20"]
    assert desk.voucher(*arguments, "--report", "r.json").code == 0
    assert desk.voucher(*arguments, "--report", "r.json").code == 0
    before = (desk.folder / "L").read_bytes()
    ran = desk.voucher(*arguments, "--report", "L")
    assert (ran.code, (desk.folder / "L").read_bytes()) == (2, before)
    assert "is no earlier report" in ran.err


def test_a_ledger_with_a_second_name_is_refused(desk: Any, workbook: Any, tickets: Any) -> None:
    arguments = ["issue", workbook(tickets(1)), "--sandbox", "--as-of", "2026-11-20"]
    assert desk.voucher(*arguments, "--ledger", "L").code == 0
    (desk.folder / "M").hardlink_to(desk.folder / "L")
    ran = desk.voucher(*arguments, "--ledger", "M")
    assert ran.code == 2
    assert "second name" in ran.err


def test_after_a_run_all_is_in_the_one_file(desk: Any, workbook: Any, tickets: Any) -> None:
    arguments = ["issue", workbook(tickets(3)), "--sandbox", "--as-of", "2026-11-20", "--report", "r.json"]
    assert desk.voucher(*arguments, "--ledger", "L").code == 0
    shutil.copy(desk.folder / "L", desk.folder / "copy")
    alone = (
        "--nothing-missing",
        "--why",
        "moved",
        "--ledger",
        "copy",
    )  # for its last run is noted beside it no more
    assert desk.voucher("ledger", "mark-gap", *alone).code == 0
    assert desk.voucher(*arguments, "--ledger", "copy").code == 0
    assert statuses(desk.report("r.json")) == ["already_issued"] * 3


@pytest.mark.slow
def test_a_killed_runs_ledger_without_its_wal_is_refused(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any
) -> None:
    path = workbook(tickets(40))
    with sandbox(path, faults=ANSWERED_LATE) as carrier:
        profile = desk.profile(carrier.base_url, concurrency=4)
        arguments = ["issue", path, "--profile", profile, "--as-of", "2026-11-20", "--report", "report.json"]
        run = desk.begin(*arguments, "--ledger", "old")
        desk.during(run, lambda: len(carrier.issued()) >= 8)
        run.kill()
        (desk.folder / "old").rename(desk.folder / "new")
        assert desk.voucher("check", *arguments[1:], "--ledger", "new").code == 2
        refused = desk.voucher(*arguments, "--ledger", "new")
        assert refused.code == 2
        assert "new-wal" in refused.err
        for end in ("-wal", ".lock"):
            (desk.folder / f"old{end}").rename(desk.folder / f"new{end}")
        assert desk.voucher(*arguments, "--ledger", "new").code == 4
        assert carrier.twice() == []
        assert desk.voucher(*arguments, "--ledger", "new").code == 4  # whole, and it stays so
