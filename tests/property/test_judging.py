"""The judgement holds its promises for any table, however wild its cells."""

import dataclasses
import datetime
import random
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.model.columns import COLUMNS, LANGS
from pipeline.model.known_charges import KnownCharge, KnownCharges
from pipeline.model.profile import Terms
from pipeline.model.request import Identity
from pipeline.reading import amount_cells, cells, ticket_number
from pipeline.reporting.build_result import RunFacts, make_result
from pipeline.rules.judge import Verdicts, judge
from pipeline.splitting import Judged, split

#: The fixtures that these tests use give functions and values that no test changes.
SETTINGS = settings(
    max_examples=min(60, settings().max_examples),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
NAMES = [column.name for column in COLUMNS]

#: Cells as the reader's child process hands them over: never an int, a bool or None.
WILD = st.one_of(
    st.text(max_size=20),
    st.floats(allow_nan=False),  # pandas takes NaN for a blank cell, and no spreadsheet writes one
    st.dates(),
    st.datetimes(),
    st.times(),
    st.timedeltas(),
    st.sampled_from(
        [
            "",
            " ",
            "NA",
            "TRUE",
            "0",
            "-1",
            "9" * 40,
            "1e9",
            "\x00",
            "\ud800",
            "{}",
            "{column}",
            "=1+1",
            "合计",
        ]
    ),
)
#: Cells that mean something in some column, and near misses.
TAME = st.sampled_from([
    "", "999-1234567890", 9991234567891.0, 991234567890.0, "12", "ticket_fare", "退票费", "ancillary", "flight", "seat",
    "餐食", "1000", 10000.01, "0.005", "-3", "1,234.50", "domestic", "国际", "open", "used", "refunded", "2026-11-20",
    "2026-11-21", "2025-11-19", "03/04/2026", datetime.date(2026, 10, 1), "invoice", "itinerary", "auto", "企业",
    "individual", "91110000600037341L", "91110000600037341K", "a@example.com", "a@", "13800138000", "Umbrella",
])  # fmt: skip
#: Rows that are good but for a few cells, so that all of the rules are reached.
ROWS = st.lists(
    st.dictionaries(st.sampled_from(NAMES), st.one_of(TAME, WILD), max_size=4), min_size=1, max_size=8
)

STATUSES = {"ready", "invalid", "ineligible", "waiting", "already_issued", "unknown", "repeated"}


def _held(draw: Callable[..., Any]) -> KnownCharges:
    """A ledger that may hold the charges that rows are about."""
    held = {}
    for charge, product in (("ticket_fare", "flight"), ("refund", "flight"), ("ancillary", "seat")):
        if draw(st.integers(0, 3)) == 0:
            identity = Identity("9991234567890", charge, product)
            state, voucher = (
                draw(st.sampled_from(["issued", "unknown"])),
                draw(st.sampled_from(["invoice", "itinerary"])),
            )
            held[identity] = KnownCharge(
                identity, "", voucher, state, "1", 100_000, "business", "Example Trading Co.", "91110000600037341L", "R1",
                1, 1, "2026-11-02T16:30:00Z", "no_answer", "reset", "october.xlsx", "Tickets", 2,
            )  # fmt: skip
    return KnownCharges(held)


def _found(verdicts: Verdicts, row: int) -> set[tuple[str, str]]:
    return {(f.code, f.column) for f in verdicts.findings if row in f.rows.tolist()}


@SETTINGS
@given(rows=ROWS, data=st.data())
def test_any_cells_are_judged_into_a_status_of_the_contract_and_told_in_both_languages(
    table_of: Callable[..., Any], terms: Terms, rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    table, holdings = table_of(rows), _held(data.draw)
    verdicts = judge(table, holdings, terms)
    assert set(verdicts.status) <= STATUSES
    requests = split(verdicts, holdings, terms)
    assert {c.row for r in requests for c in r.charges} == {
        n for n, s in enumerate(verdicts.status) if s == "ready"
    }
    for lang in LANGS:
        result = make_result(RunFacts("check", terms, lang), Judged(table, holdings, verdicts, requests))
        assert [row.status for row in result.rows] == verdicts.status.tolist()
        one_by_one = dataclasses.replace(result, rows=tuple(result.rows))
        assert (result.totals, result.exit_code) == (one_by_one.totals, one_by_one.exit_code)
        assert result.columns.charges.tallies() == one_by_one.columns.charges.tallies()
        assert {code: rows.tolist() for code, rows in result.columns.having.items()} == {
            code: rows.tolist() for code, rows in one_by_one.columns.having.items()
        }
        for row in result.rows:
            needs_reason = row.status in {"invalid", "ineligible", "waiting", "unknown"}
            assert row.reasons or not needs_reason
            assert all(reason.message and reason.cure for reason in row.reasons)


@SETTINGS
@given(rows=ROWS, data=st.data())
def test_a_row_with_any_finding_is_never_ready_and_one_without_always(
    table_of: Callable[..., Any], terms: Terms, rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    verdicts = judge(table_of(rows), _held(data.draw), terms)
    for row, status in enumerate(verdicts.status):
        if row in verdicts.held:
            assert status in {"already_issued", "unknown", "ineligible", "repeated"}
        else:
            assert (status == "ready") == (not _found(verdicts, row))


def _readable(name: str, value: Any) -> bool:
    """Whether one cell can be read, by the reader's own functions for single cells."""
    if isinstance(value, str) and not value.strip():
        return True
    read: dict[str, Callable[[Any], Any]] = {
        "ticket": ticket_number.ticket_no, "money": amount_cells.amount if name == "amount" else amount_cells.money, "date": cells.day,
        "choice": lambda value: cells.choice(name, value), "text": cells.text,
    }  # fmt: skip
    try:
        read[next(column.kind for column in COLUMNS if column.name == name)](value)
    except cells.Unreadable:
        return False
    return True


@SETTINGS
@given(
    name=st.sampled_from(NAMES), value=WILD, other=st.dictionaries(st.sampled_from(NAMES), WILD, max_size=3)
)
def test_a_row_with_a_cell_that_can_t_be_read_is_invalid_and_never_ready(
    table_of: Callable[..., Any], terms: Terms, name: str, value: Any, other: dict[str, Any]
) -> None:
    row = {**other, name: value}
    verdicts = judge(table_of([{"ticket_no": "9990000000001"}, row]), KnownCharges(), terms)
    assert verdicts.status[0] == "ready"
    unreadable = {column for column, cell in row.items() if not _readable(column, cell)}
    if unreadable:
        assert verdicts.status[1] == "invalid"
        assert unreadable <= {column for code, column in _found(verdicts, 1) if code.startswith("bad_")}


@SETTINGS
@given(rows=ROWS, seed=st.integers())
def test_the_order_of_rows_with_tickets_of_their_own_does_not_matter(
    table_of: Callable[..., Any], terms: Terms, rows: list[dict[str, Any]], seed: int
) -> None:
    rows = [{**row, "ticket_no": f"999{number:010}"} for number, row in enumerate(rows)]
    order = list(range(len(rows)))
    random.Random(seed).shuffle(order)
    straight = judge(table_of(rows), KnownCharges(), terms)
    turned = judge(table_of([rows[number] for number in order]), KnownCharges(), terms)
    for at, number in enumerate(order):
        assert turned.status[at] == straight.status[number]
        assert turned.rows.voucher[at] == straight.rows.voucher[number]
        assert _found(turned, at) == _found(straight, number)


@SETTINGS
@given(rows=st.lists(st.dictionaries(st.sampled_from(NAMES), TAME, max_size=3), min_size=2, max_size=8))
def test_no_charge_is_ready_twice(
    table_of: Callable[..., Any], terms: Terms, rows: list[dict[str, Any]]
) -> None:
    verdicts = judge(table_of(rows), KnownCharges(), terms)
    found = verdicts.rows
    ready = [
        (found.ticket_no[row], terms.profile.wire(found.charge[row], found.product[row]))
        for row, status in enumerate(verdicts.status)
        if status == "ready"
    ]
    assert len(ready) == len(set(ready))


@SETTINGS
@given(rows=st.lists(st.dictionaries(st.sampled_from(NAMES), TAME, max_size=3), min_size=2, max_size=8))
def test_a_ticket_s_fare_and_refund_are_never_ready_as_two_kinds(
    table_of: Callable[..., Any], terms: Terms, rows: list[dict[str, Any]]
) -> None:
    verdicts = judge(table_of(rows), KnownCharges(), terms)
    found = verdicts.rows
    kinds: dict[str, set[str]] = {}
    for row, status in enumerate(verdicts.status):
        if status == "ready" and found.charge[row] != "ancillary":
            kinds.setdefault(found.ticket_no[row], set()).add(found.voucher[row])
    assert all(len(kind) == 1 for kind in kinds.values())


@SETTINGS
@given(
    days=st.integers(-400, 800),
    charge=st.sampled_from(["invoice", "itinerary", "ancillary", "refund"]),
    as_of=st.dates(datetime.date(2023, 12, 25), datetime.date(2025, 3, 10)),
)
def test_a_day_decides_as_the_calendar_says(
    table_of: Callable[..., Any], terms: Terms, days: int, charge: str, as_of: datetime.date
) -> None:
    day = as_of - datetime.timedelta(days=days)
    try:
        year_later = day.replace(year=day.year + 1)
    except ValueError:
        year_later = datetime.date(day.year + 1, 2, 28)
    row: dict[str, Any] = {"flight_date": day, "voucher": charge}
    long_ago = {"flight_date": "2020-01-01", "voucher": "invoice"}
    expected = "ready" if as_of <= year_later else "ineligible"
    if charge == "itinerary":
        expected = "ready" if days <= 180 else "ineligible"
    if charge == "ancillary":
        row = {**long_ago, "charge": "ancillary", "product": "seat", "purchased_on": day}
    if charge == "refund":
        row = {**long_ago, "charge": "refund", "ticket_status": "refunded", "refund_approved_on": day}
        expected = "ready" if days >= 0 else "waiting"
    elif days < 0:
        expected = "invalid"
    verdicts = judge(table_of([row]), KnownCharges(), Terms(as_of, terms.profile))
    assert verdicts.status.tolist() == [expected]
