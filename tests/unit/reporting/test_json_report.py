"""The report is the contract's JSON, and replaces an earlier one whole or not at all."""

import dataclasses
import datetime
import json
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from pipeline.model.columns import Lang
from pipeline.model.errors import Stop
from pipeline.model.message import verbatim
from pipeline.model.outcome import Outcome
from pipeline.model.result import RowResults, RunResult
from pipeline.reporting import json_report as under_test
from pipeline.reporting.json_report import report, write_report


def each(lines: Iterator[bytes]) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in lines]


def test_the_whole_of_it(mixed: RunResult, tmp_path: Path) -> None:
    write_report(report(mixed, 4), tmp_path / "r.json")
    found = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert list(found) == [
        "version",
        "command",
        "as_of",
        "exit_code",
        "ledger",
        "totals",
        "sheets",
        "requests",
        "rows",
    ]
    assert (found["version"], found["command"], found["as_of"]) == (1, "issue", "2026-11-20")
    assert (found["exit_code"], found["ledger"]) == (4, "/data/ledger.db")
    assert found["totals"] == {
        "rows": 5,
        "issued": 1,
        "invalid": 1,
        "rejected": 1,
        "not_sent": 1,
        "unknown": 1,
    }
    ids = [asked.request.request_id for asked in mixed.requests]
    assert found["requests"][0] == {
        "request": ids[0], "attempt": 1, "voucher": "itinerary", "status": "issued",
        "number": "00012345678901234567", "trace_id": "t-0", "buyer": "Buyer 0", "market": "domestic",
        "amount": "1000.50", "rows": [0],
    }  # fmt: skip
    assert [(asked["status"], asked["number"], asked["trace_id"]) for asked in found["requests"][1:]] == [
        ("rejected", None, "t-1"),
        ("unknown", None, None),
        ("not_sent", None, None),
    ]
    said = {
        "charge": "ticket_fare", "voucher": "invoice", "amount": "1000.50", "status": "rejected", "number": None,
        "request": ids[1],
    }  # fmt: skip
    assert found["rows"][1] == {
        "index": 1, "file": "tickets.xlsx", "sheet": "Tickets", "row": 3, "ticket_no": "9991234567891", **said,
        "reasons": [{"code": "carrier_rejected", "column": "", "message": "The carrier refused it: tax number"}],
        "charges": [{"charge": "ticket_fare", "product": "flight", **{k: v for k, v in said.items() if k != "charge"}}],
    }  # fmt: skip
    invalid = found["rows"][4]
    assert (invalid["status"], invalid["amount"], invalid["request"]) == ("invalid", None, None)
    assert invalid["reasons"][0]["code"] == "bad_amount"
    assert invalid["reasons"][0]["column"] == "amount"


def test_a_check_reports_what_would_be_sent(made: Callable[..., RunResult]) -> None:
    result = made(
        {"ticket_no": "9991234567891", "amount": 1},
        {"amount": 2},
        {"ticket_no": "9991234567892"},
        command="check",
    )
    (asked,) = each(report(result, 0)["requests"])
    assert (asked["status"], asked["attempt"], asked["number"], asked["trace_id"]) == ("ready", 0, None, None)
    assert (asked["rows"], asked["amount"]) == ([0, 1, 2], "1003.50")


BILL = {
    "charge": None, "amount": None, "voucher": None, "fare": 900.0, "airport_fee": 50.0, "seat_fee": 30.0,
    "purchased_on": datetime.date(2026, 10, 1),
}  # fmt: skip
ISSUED = Outcome("issued", number="7")
SAID = ("charge", "voucher", "number", "request")


def test_a_row_of_several_charges_shows_the_first_that_has_a_number(made: Callable[..., RunResult]) -> None:
    result = made(BILL, answers=[Outcome("rejected", "carrier_rejected", detail=verbatim("no")), ISSUED])
    (row,) = each(report(result, 1)["rows"])
    fare, seat = row["charges"]
    assert [fare["charge"], fare["voucher"], fare["status"], fare["number"], fare["amount"]] == [
        "ticket_fare", "itinerary", "rejected", None, "950.00",
    ]  # fmt: skip
    assert [seat["charge"], seat["voucher"], seat["status"], seat["amount"]] == [
        "ancillary", "invoice", "issued", "30.00",
    ]  # fmt: skip
    assert [row[name] for name in SAID] == [seat[name] for name in SAID]
    assert (row["status"], row["amount"]) == ("rejected", "980.00")


@pytest.mark.parametrize("command", ["check", "issue"])
def test_a_row_of_several_charges_shows_its_first_where_none_or_all_have_a_number(
    made: Callable[..., RunResult], command: str
) -> None:
    result = made(BILL, answers=[ISSUED] if command == "issue" else [], command=command)
    (row,) = each(report(result, 0)["rows"])
    assert [charge["charge"] for charge in row["charges"]] == ["ticket_fare", "ancillary"]
    assert [row[name] for name in SAID] == [row["charges"][0][name] for name in SAID]
    assert (row["voucher"], row["amount"]) == ("itinerary", "980.00")


def test_a_row_of_several_charges_is_never_blank_where_it_is_invalid(made: Callable[..., RunResult]) -> None:
    (row,) = each(report(made({**BILL, "seat_fee": "x"}), 1)["rows"])
    assert (row["status"], row["charge"], row["voucher"]) == ("invalid", "ticket_fare", "itinerary")
    assert all(charge["charge"] and charge["voucher"] for charge in row["charges"])


def test_it_replaces_an_earlier_one_and_is_private(mixed: RunResult, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text("an earlier one")
    write_report(report(mixed, 4), path)
    assert json.loads(path.read_text("utf-8"))["version"] == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(found.name for found in tmp_path.iterdir()) == ["r.json", "tickets.xlsx"]


def test_an_earlier_one_stays_where_the_new_one_can_not_be_written(
    mixed: RunResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "r.json"
    path.write_text("an earlier one")
    monkeypatch.setattr(under_test, "place_over", full)
    with pytest.raises(Stop, match=r"r\.json: .*No space left on device"):
        write_report(report(mixed, 4), path)
    assert path.read_text() == "an earlier one"
    assert sorted(found.name for found in tmp_path.iterdir()) == ["r.json", "tickets.xlsx"]


def test_half_a_character_does_not_stop_it(mixed: RunResult, tmp_path: Path) -> None:
    rows = (dataclasses.replace(mixed.rows[0], file="a\udcff.xlsx"), *mixed.rows[1:])
    write_report(report(dataclasses.replace(mixed, rows=rows), 4), tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text("utf-8"))["rows"][0]["file"] == "a?.xlsx"


def test_a_link_stays_a_link(mixed: RunResult, tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "r.json")
    write_report(report(mixed, 4), tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "r.json").exists()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_made_by_column_says_what_each_says_by_itself(
    lang: Lang,
    sample: Callable[[Lang], RunResult],
    made: Callable[..., RunResult],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(under_test, "_BLOCK", 2)
    free = {"ticket_no": "9991234567897", "amount": "0"}
    for result in (
        sample(lang),
        made({}, {"amount": "7.05", "header_name": "欧阳"}, free, {"charge": "?"}, BILL, command="check"),
        made({**BILL, "fare": None, "airport_fee": None, "lounge_fee": 70.0}, command="check"),
        made({}, answers=[Outcome("issued", number="1" * 18)]),
    ):
        by_itself = [under_test._row(row) | under_test._repeats(result, row.index) for row in result.rows]
        requests = [under_test._request(one) for one in result.requests]
        said = report(result, 1)
        assert [*said["rows"]] == [*map(orjson.dumps, by_itself)]
        assert [*said["requests"]] == [*map(orjson.dumps, requests)]


def test_a_file_s_name_may_hold_a_percent_sign(made: Callable[..., RunResult]) -> None:
    result = made({}, command="check")
    names = np.array(["100 % of May %d.xlsx"], dtype=object)
    rows = RowResults(
        dataclasses.replace(result.columns, file=names), lambda _: result.rows.__getitem__, "en"
    )
    (row,) = each(report(dataclasses.replace(result, rows=rows), 0)["rows"])
    assert row["file"] == names[0]


def test_a_charge_that_a_statement_alone_shows_is_of_no_request(made: Callable[..., RunResult]) -> None:
    result = made({}, command="check")
    charges = dataclasses.replace(result.columns.charges, request_ids=[""])
    rows = RowResults(
        dataclasses.replace(result.columns, charges=charges), lambda _: result.rows.__getitem__, "en"
    )
    (row,) = each(report(dataclasses.replace(result, rows=rows), 0)["rows"])
    assert [row["request"], row["charges"][0]["request"]] == [None, None]


def test_each_row_and_request_is_a_line_of_its_own(mixed: RunResult, tmp_path: Path) -> None:
    write_report(report(mixed, 4), tmp_path / "r.json")
    lines = (tmp_path / "r.json").read_text("utf-8").splitlines()
    assert sum(line.startswith('  {"index":') for line in lines) == len(mixed.rows)
    assert sum(line.startswith('  {"request":') for line in lines) == len(mixed.requests)
