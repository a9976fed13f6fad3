"""The ledger's export for auditors holds everything that a real ledger file holds, as it is, in either language."""

import datetime
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from pipeline.ledger import export as auditing
from pipeline.ledger import runs
from pipeline.model.errors import InputProblem
from pipeline.model.job import Job
from pipeline.model.profile import Profile
from pipeline.reporting import links
from pipeline.reporting.audit_workbook import SHEET_COLUMNS, SHEETS
from pipeline.reporting.words_audit import heading
from pipeline.run.ledger_export import exported
from tests.unit.reporting.told_ledger import HEADER, TICKET, ancillaries, being_told, fare

Rows = list[dict[str, Any]]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Path]:
    """A ledger whose third run is on."""
    with being_told(tmp_path / "a.ledger"):
        yield tmp_path / "a.ledger"


def export(ledger: Path, lang: Any = "en", zone: str = "UTC", name: str = "audit.xlsx") -> Path:
    return exported(Job((), Profile(), None, ledger=str(ledger)), ledger.parent / name, lang, zone)


def read(path: Path) -> dict[str, Rows]:
    book = openpyxl.load_workbook(path)
    found = {}
    for sheet in book:
        headings, *lines = sheet.iter_rows(values_only=True)
        found[sheet.title] = [dict(zip(headings, line, strict=True)) for line in lines]
    return found


@pytest.fixture
def sheets(ledger: Path) -> dict[str, Rows]:
    return read(export(ledger))


def test_every_attempt_stands_on_a_row_with_its_request_and_its_evidence(sheets: dict[str, Rows]) -> None:
    epoch = next(row["value"] for row in sheets["Ledger"] if row["fact"] == "Ledger ID")
    lost, refused, issued = sheets["Requests"]
    times = [name for name in lost if name.endswith("(UTC)")]
    assert times == [
        f"{name} (UTC)" for name in ("planned_at", "sending_at", "answered_at", "ended_at", "settled_at")
    ]
    at = [[row.pop(name) for name in times] for row in (lost, refused, issued)]
    assert [[moment is not None for moment in row] for row in at] == [
        [True, True, False, True, True], [True, True, True, True, False], [True, True, True, True, False],
    ]  # fmt: skip
    today = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    assert all(abs(today - moment) < datetime.timedelta(minutes=5) for row in at for moment in row if moment)
    header = {
        "header_type": "business", "header_name": HEADER.header_name, "tax_no": HEADER.tax_no, "phone": HEADER.phone,
        "email": HEADER.email, "remarks": "=1+1",
    }  # fmt: skip
    assert lost == header | {
        "request": fare().request_id, "attempt": 1, "run": 1, "voucher": "invoice", "market": "domestic", "amount": 617.25,
        "charges": 1, "state": "not_sent", "number": None, "reason_code": "no_answer", "detail": "the connection broke",
        "reason": "It was sent, but no answer came back: the connection broke", "http_status": None, "trace_id": None,
        "entry": "S1", "settled_as": "not issued", "settled_by": "chen", "evidence": "not on october.csv", "epoch_id": epoch,
    }  # fmt: skip
    assert refused == header | {
        "request": ancillaries().request_id, "attempt": 1, "run": 1, "voucher": "invoice", "market": "international",
        "amount": 111.0, "charges": 2, "state": "rejected", "number": None, "reason_code": "carrier_rejected",
        "detail": "too late [31m", "reason": "The carrier refused it: too late [31m", "http_status": 200, "trace_id": "t-2",
        "entry": None, "settled_as": None, "settled_by": None, "evidence": None, "epoch_id": epoch,
    }  # fmt: skip
    assert issued == header | {
        "request": fare().request_id, "attempt": 2, "run": 2, "voucher": "invoice", "market": "domestic", "amount": 617.25,
        "charges": 1, "state": "issued", "number": "017952583360393196", "reason_code": None, "detail": None, "reason": None,
        "http_status": 200, "trace_id": "t-1", "entry": None, "settled_as": None, "settled_by": None, "evidence": None, "epoch_id": epoch,
    }  # fmt: skip


def test_every_charge_stands_with_where_it_came_from(sheets: dict[str, Rows]) -> None:
    told = [
        (row["product"], row["amount"], row["state"], row["held"], row["attempt"], row["row"])
        for row in sheets["Charges"]
    ]
    assert told == [
        ("flight", 617.25, "not_sent", "no", 1, 2), ("meal", 55.5, "rejected", "no", 1, 4),
        ("seat", 55.5, "rejected", "no", 1, 3), ("flight", 617.25, "issued", "yes", 2, 5),
    ]  # fmt: skip
    assert sheets["Charges"][3] == {
        "ticket_no": TICKET, "charge": "ticket_fare", "product": "flight", "voucher": "invoice", "amount": 617.25,
        "state": "issued", "number": "017952583360393196", "held": "yes", "carrier's code": "FARE/Flight",
        "request": fare().request_id, "attempt": 2, "run": 2, "file": "tickets.xlsx", "sheet": "Tickets", "row": 5,
        "passenger_name": "ZHANG/WEI", "components": None, "columns carried along": None,
    }  # fmt: skip


def test_what_was_issued_elsewhere_judged_run_handled_mended_and_moved_is_there(
    sheets: dict[str, Rows],
) -> None:
    one, other, *_ = sheets["Issued elsewhere"]
    assert (one["number"], one["product"], one["amount"], one["evidence"], one["found_by"], one["run"]) == (
        "20179525833603931965", None, None, "october.csv, row 7", "chen", 2,
    )  # fmt: skip
    assert (other["charge"], other["amount"]) == ("refund", 5.0)
    assert [(row["status"], row["reason"], row["reason_code"]) for row in sheets["Judgements"]] == [
        ("waiting", "the ticket is not used yet", "ticket_still_open"), ("ready", None, None),
    ]  # fmt: skip
    assert [(row["command"], row["files"], row["exit_code"]) for row in sheets["Runs"]] == [
        ("issue", "tickets.xlsx", 4), ("reconcile", "october.csv", 0), ("issue", "other.xlsx", None),
    ]  # fmt: skip
    ((handled),) = sheets["Files"]
    assert (handled["name"], handled["kind"], handled["sha256"], handled["unfinished"]) == (
        "october.csv", "statement", "ab12", "no",
    )  # fmt: skip
    move, gap, epoch = sheets["Gaps and moves"]
    assert (move["what"], move["why"], move["noted_by"]) == ("Move of the carrier", "new port", "chen")
    assert (move["from"], move["to"]) == ("http://127.0.0.1:8080 DEMO", "http://127.0.0.1:9090 DEMO")
    assert (gap["what"], gap["why"], gap["closed_by"]) == ("Gap", "restored copy", "li")
    assert (epoch["what"], epoch["why"], len(epoch["to"])) == ("New epoch", "restored copy", 32)
    assert [one["entry"] for one in (one, other)] == ["E1", "E2"]
    assert [row["held"] for row in sheets["Issued elsewhere"]] == ["yes", "yes", "no", "no"]
    ((reversal),) = sheets["Reversals"]
    assert (reversal["entry"], reversal["voucher"], reversal["number"], reversal["red_number"]) == (
        "R1", "invoice", "88", "90",
    )  # fmt: skip
    assert (reversal["reversed_by"], reversal["evidence"], reversal["in_force"]) == (
        "li", "november.csv, row 2", "yes",
    )  # fmt: skip
    ((withdrawal),) = sheets["Withdrawals"]
    assert (withdrawal["entry"], withdrawal["number"], withdrawal["withdrawn_by"], withdrawal["why"]) == (
        "E4", "89", "li", "another agency's",
    )  # fmt: skip
    assert (str(gap["since (UTC)"]), gap["evidence"]) == ("2026-11-21 00:00:00", "nothing after the 20th")


def test_the_first_sheet_says_whose_ledger_it_is(ledger: Path, sheets: dict[str, Rows]) -> None:
    facts = {row["fact"]: row["value"] for row in sheets["Ledger"]}
    assert facts["Ledger"] == str(ledger)
    assert facts["Carrier"] == "http://127.0.0.1:9090 as agency DEMO"
    assert facts["Attempts"] == "1 issued, 1 not_sent, 1 rejected"
    assert facts["Times on the sheets"] == "UTC"
    assert list(sheets) == list(SHEETS)


def test_in_chinese_every_heading_and_word_is_chinese(ledger: Path) -> None:
    found = read(export(ledger, "zh", "Asia/Shanghai"))
    for sheet, name in list(SHEETS.items())[1:]:
        assert list(found[sheet][0]) == [
            heading(column, "zh")
            + ("（Asia/Shanghai）" if column.endswith("_at") or column == "since" else "")
            for column in SHEET_COLUMNS[name]
        ]
        assert not any(title.isascii() for title in found[sheet][0] if title != "SHA-256")
        assert not any(set(title) & set(":()") for title in found[sheet][0])
    row = found["Requests"][0]
    assert (row["状态"], row["认定结果"], row["国内/国际"]) == (
        "未发送",
        "未开具",
        "国内",
    )
    assert row["原因"] == "已发送但未收到答复：连接中断"
    assert found["Judgements"][0]["状态"] == "待条件满足"
    assert found["Judgements"][0]["原因"] == "客票尚未使用"
    assert found["Gaps and moves"][1]["事项"] == "缺口"
    assert str(found["Gaps and moves"][1]["起始时间（Asia/Shanghai）"]) == "2026-11-21 08:00:00"


def test_no_text_is_a_formula_and_no_number_loses_a_digit(ledger: Path) -> None:
    sheet = openpyxl.load_workbook(export(ledger))["Requests"]
    cells = {sheet.cell(1, column).value: sheet.cell(4, column) for column in range(1, sheet.max_column + 1)}
    assert (cells["remarks"].data_type, cells["remarks"].value) == ("s", "=1+1")
    assert (cells["number"].data_type, cells["number"].value) == ("s", "017952583360393196")
    assert (cells["phone"].data_type, cells["amount"].data_type) == ("s", "n")
    assert sheet.freeze_panes == "B2"
    assert sheet.auto_filter.ref == f"A1:{sheet.cell(4, sheet.max_column).coordinate}"


def test_it_is_private_takes_a_free_name_and_leaves_nothing_else(ledger: Path) -> None:
    before = sorted(path.name for path in ledger.parent.iterdir())
    ledger.with_name("audit.xlsx").write_text("mine")
    first, second = export(ledger), export(ledger)
    assert [first.name, second.name] == ["audit.2.xlsx", "audit.3.xlsx"]
    assert ledger.with_name("audit.xlsx").read_text() == "mine"
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    after = sorted(path.name for path in ledger.parent.iterdir())
    assert after == sorted([*before, "audit.xlsx", "audit.2.xlsx", "audit.3.xlsx"])


@pytest.mark.parametrize(
    ("name", "told"),
    [("audit.csv", "ends in .xlsx"), ("audit", "ends in .xlsx"), ("no/audit.xlsx", "there is no folder")],
)
def test_a_place_that_will_not_do_is_named_before_anything_is_written(
    ledger: Path, name: str, told: str
) -> None:
    with pytest.raises(InputProblem, match=told):
        export(ledger, name=name)


def test_a_full_sheet_goes_on_in_the_next(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "ROOM", 2)
    found = read(export(ledger))
    assert [len(found[name]) for name in ("Charges", "Charges 2", "Requests", "Requests 2")] == [2, 2, 2, 1]


def test_rows_are_read_as_they_are_asked_for(ledger: Path) -> None:
    """However large the ledger, its rows are not in memory together: what comes meanwhile is still found."""
    with being_told(ledger.with_name("b.ledger")) as connection:
        rows = auditing.rows(connection, "runs")
        assert next(rows)["run"] == 1
        run = runs._begin_run(connection, runs.RunStart("issue", "2026-11-23"))
        assert [row["run"] for row in rows] == [2, 3, run]
        for sheet in ("requests", "charges", "elsewhere", "judgements", "runs", "files"):
            plan = connection.execute(f"EXPLAIN QUERY PLAN {auditing._QUERIES[sheet]}").fetchall()
            assert not any("TEMP B-TREE" in row[3] for row in plan), (sheet, plan)


def test_the_raw_answer_is_in_no_cell(ledger: Path) -> None:
    found = read(export(ledger))
    assert "sealed" not in str([row for sheet, rows in found.items() if sheet != "Ledger" for row in rows])
