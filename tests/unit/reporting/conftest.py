"""Accounts of small workbooks, made by the real reader and judge, with answers made by hand."""

import dataclasses
import datetime
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from pipeline.messages.reason_rendering import reason_text
from pipeline.model.columns import Lang
from pipeline.model.known_charges import KnownCharges
from pipeline.model.message import verbatim
from pipeline.model.outcome import Outcome, Result
from pipeline.model.profile import Profile, Terms
from pipeline.model.result import RunResult
from pipeline.model.result_values import UnknownAttempt
from pipeline.profile_file import load_profile
from pipeline.reading.tickets import read_table
from pipeline.reporting.build_result import RunFacts, make_result
from pipeline.rules.judge import judge
from pipeline.splitting import Judged, split

SAMPLES = Path(__file__).parents[3] / "sample_data"
DAY = datetime.date(2026, 10, 1)
BUYER = ["A", "business", "ACME Travel", "91110000600037341L", "13800138000", "a@example.com"]
TICKET = {
    "ticket_no": "9991234567890", "passenger_name": "ZHANG/WEI", "charge": "ticket_fare", "amount": 1000.5,
    "market": "domestic", "ticket_status": "used", "flight_date": DAY, "voucher": "invoice", "buyer": "A",
}  # fmt: skip

Row = Mapping[str, Any]


@pytest.fixture(autouse=True)
def _read_here(read_here: None) -> None:
    """None of these is about how a file is read."""


def workbook(path: Path, rows: Sequence[Row]) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Tickets"
    headings = list(dict.fromkeys(name for row in ({}, *rows) for name in {**TICKET, **row}))
    sheet.append(headings)
    for number, row in enumerate(rows, start=2):
        for column, name in enumerate(headings, start=1):
            cell = sheet.cell(number, column)
            cell.value = {**TICKET, **row}.get(name)
            if isinstance(cell.value, str):
                cell.data_type = "s"  # "=1+1" is a text here
    buyers = book.create_sheet("Buyers")
    buyers.append(["buyer", "header_type", "header_name", "tax_no", "phone", "email"])
    buyers.append(BUYER)
    book.save(path)
    return path


def result_of(
    path: Path,
    answers: Sequence[Outcome] = (),
    lang: Lang = "en",
    command: str = "issue",
    *,
    profile: Profile | None = None,
    **about: Any,
) -> RunResult:
    """The result of a workbook; the requests get these answers in turn, none of them where there are none."""
    table = read_table([path])
    terms = Terms(datetime.date(2026, 11, 20), profile or load_profile(SAMPLES / "sandbox.toml"))
    verdicts = judge(table, KnownCharges(), terms)
    requests = split(verdicts, KnownCharges(), terms)
    results = [
        Result(request, 1, answers[index % len(answers)]) for index, request in enumerate(requests) if answers
    ]
    doubts = [
        UnknownAttempt(
            "L-1", request.request_id, 1, request.voucher, request.market, request.header.header_name, request.amount,
            reason_text(result.outcome.reason, "", lang, {"detail": result.outcome.detail}),
            result.outcome.trace_id, tuple((charge.identity, charge.amount) for charge in request.charges),
        )
        for result in results
        if (request := result.request) and result.outcome.state == "unknown"
    ]  # fmt: skip
    about = {"ledger": "/data/ledger.db", "ledger_id": "L-1", **about}
    judged = Judged(table, KnownCharges(), verdicts, requests)
    return make_result(RunFacts(command, terms, lang, **about), judged, results, doubts)


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., RunResult]:
    """The result of the given rows (what they change in a row that may be sent)."""

    def make(*rows: Row, answers: Sequence[Outcome] = (), **about: Any) -> RunResult:
        return result_of(workbook(tmp_path / "tickets.xlsx", rows), answers, **about)

    return make


@pytest.fixture
def result_of_file() -> Callable[..., RunResult]:
    """The result of any file."""
    return result_of


ANSWERS = (
    Outcome("issued", number="00012345678901234567", trace_id="t-0"),
    Outcome("rejected", "carrier_rejected", trace_id="t-1", detail=verbatim("tax number")),
    Outcome("unknown", "no_answer", trace_id="", detail=verbatim("nothing within 60 s")),
    Outcome("not_sent", "carrier_unreachable", detail=verbatim("connection refused")),
)


def four_buyers() -> list[Row]:
    """Rows that become four requests, the first an itinerary, for ANSWERS in turn; then one that can't be read."""
    names = ["ITIN/ONE", "REJECTED/ONE", "UNKNOWN/ONE", "UNSENT/ONE"]
    rows: list[Row] = [
        {
            "ticket_no": f"999123456789{index}", "passenger_name": name, "header_type": "business", "buyer": None,
            "header_name": f"Buyer {index}", "tax_no": BUYER[3], "email": BUYER[5], "cost centre": f"c{index}",
            "voucher": "itinerary" if index == 0 else "invoice",
        }
        for index, name in enumerate(names)
    ]  # fmt: skip
    return [*rows, {"ticket_no": "9991234567894", "amount": "abc", "cost centre": "c4"}]


@pytest.fixture
def mixed(made: Callable[..., RunResult]) -> RunResult:
    """One row of each: issued, rejected, unknown, not_sent, invalid."""
    return made(*four_buyers(), answers=ANSWERS)


@pytest.fixture
def mixed_zh(tmp_path: Path) -> RunResult:
    return result_of(workbook(tmp_path / "tickets.xlsx", four_buyers()), ANSWERS, "zh")


@pytest.fixture
def sample() -> Callable[[Lang], RunResult]:
    names = {"en": "tickets-2026-10.xlsx", "zh": "tickets-2026-10-zh.xlsx"}
    return lambda lang: result_of(SAMPLES / names[lang], ANSWERS, lang)


@pytest.fixture
def with_cells() -> Callable[[RunResult, str, Any], RunResult]:
    """The result with one input cell of its first row replaced, by what no file on disk can hold."""

    def replaced(result: RunResult, column: str, value: Any) -> RunResult:
        cells = result.table.cells.copy()
        cells[column] = cells[column].astype(object) if column in cells else ""
        cells.loc[0, column] = value
        return dataclasses.replace(result, table=dataclasses.replace(result.table, cells=cells))

    return replaced
