"""What is compared after everything was settled and sent: of which days, with which tickets, and several batches as one result."""

import datetime
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.ledger.planning import Attempt
from pipeline.model.errors import LedgerProblem
from pipeline.model.evidence import Complete, Evidence, Statement
from pipeline.model.message import Message, message, verbatim
from pipeline.model.outcome import Outcome
from pipeline.model.profile import Carrier, Codes
from pipeline.model.settled import Decided
from pipeline.model.table import SheetRows, Table
from pipeline.reconciliation.comparison_inputs import compared
from pipeline.reconciliation.inbox import Batch
from pipeline.reconciliation.resubmit import Again, again
from pipeline.settlement.compare import Period
from pipeline.settlement.reconciliation_result import Reconciliation
from tests.committing import nothing_is_kept
from tests.unit.reconciliation.desk import BY, KEYS, PROFILE, Desk, line, statement, ticket

Tables = Callable[..., Table]
TOKYO = replace(PROFILE, carrier=Carrier(time_zone="Asia/Tokyo", currency="JPY"))
NIGHT = datetime.datetime(
    2026, 11, 4, 15, 30, tzinfo=datetime.UTC
)  # the day after it in Tokyo, and not yet in Shanghai


def day(text: str) -> datetime.date:
    return datetime.date.fromisoformat(f"2026-{text}")


def claim(first: str, until: str, kind: str = "") -> Complete:
    since, end = (datetime.datetime.fromisoformat(f"2026-{text}T00:00+08:00") for text in (first, until))
    return Complete(since, end, f"{first}..{until}", kind)


def issued(desk: Desk, number: int, at: str = "2026-11-05T00:00:00.000+00:00") -> Attempt:
    return desk.sent(number, Outcome("issued", number=f"N-{number:02}"), at)


def found(
    desk: Desk,
    *statements: Statement,
    done: tuple[Again, ...] = (),
    complete: tuple[Complete, ...] = (),
    answers: tuple[Any, ...] = (),
    job: dict[str, Any] | None = None,
    month: str = "",
    decided: Decided | None = None,
) -> Reconciliation:
    evidence = Evidence(statements, answers, complete, None, BY)
    decided = decided or desk.settle(*answers, statements=statements, complete=complete)
    return compared(desk.task(job=job, month=month), desk.ledger, evidence, decided, done)


def kinds(said: Reconciliation) -> list[tuple[str, str]]:
    return [(entry.kind, entry.ticket_no) for entry in said.entries]


def batches(desk: Desk, *tables: Table, **job: Any) -> tuple[Again, ...]:
    run = desk.run_of(desk.job(**{"secrets": KEYS, "sandbox": True, **job}))
    named = [Batch(table, Path(f"{at}.xlsx"), f"{at:064}") for at, table in enumerate(tables)]
    return tuple(again(run, named, Evidence((), (), (), None, BY), Decided()))


@pytest.mark.parametrize(
    ("profile", "complete", "month", "period"),
    [
        (PROFILE, (), "", Period(day("11-03"), day("11-04"), said=False)),
        (TOKYO, (), "", Period(day("11-03"), day("11-05"), said=False)),
        (PROFILE, (claim("11-02", "11-05"), claim("10-30", "11-01", "invoice")), "", Period(day("10-30"), day("11-04"))),
        (PROFILE, (claim("11-02", "11-05"),), "2026-10", Period(day("10-01"), day("10-31"))),
    ],
)  # fmt: skip
def test_what_is_compared_is_of_the_month_else_of_the_days_claimed_else_of_those_listed(
    desk: Desk, profile: Any, complete: tuple[Complete, ...], month: str, period: Period
) -> None:
    (brought,) = statement(line(1, "N-01", issued=day("11-03")), line(2, "N-02", issued=NIGHT))
    said = found(desk, brought, complete=complete, month=month, job={"profile": profile})
    assert (said.period, said.month, said.statements) == (period, bool(month), (brought,))
    assert said.decided.lines == brought.lines


def test_what_the_ledger_issued_on_these_days_where_the_carrier_is_and_is_not_listed_is_missed(
    desk: Desk,
) -> None:
    """What was issued on other days is not; nor is anything where nobody brought a statement."""
    for number, at in enumerate(("02T15:59:59.999", "02T16:00:00.000", "04T15:59:59.999", "04T16:00:00.000")):
        issued(desk, number, f"2026-11-{at}+00:00")
    (brought,) = statement(line(8, "N-08", issued=day("11-03")), line(9, "N-09", issued=day("11-04")))
    missed = [one for one in kinds(found(desk, brought)) if one[0] == "not_on_statement"]
    assert missed == [("not_on_statement", ticket(1)), ("not_on_statement", ticket(2))]
    assert kinds(found(desk, month="2026-11")) == []


def test_a_statement_without_dates_misses_nothing_and_that_is_told(desk: Desk) -> None:
    issued(desk, 1)
    (brought,) = statement(line(2, "N-02"))
    decided = replace(desk.settle(statements=(brought,)), notes=(Message("as before"),))
    said = found(desk, brought, decided=decided)
    assert (said.period, kinds(said)) == (None, [("not_ours", ticket(2))])
    first, second = map(str, said.notes)
    assert first == "as before"
    assert second.startswith("The statement has no dates, so what is missing on it can't be told")
    for dated in (
        found(desk, brought, decided=decided, month="2026-11"),
        found(desk, *statement(), decided=decided),
        found(desk, decided=decided),
    ):
        assert list(map(str, dated.notes)) == ["as before"]


def test_what_is_listed_in_the_workbooks_or_in_doubt_is_looked_up_whenever_it_was_issued(
    desk: Desk, table_of: Tables
) -> None:
    for number in (1, 2, 4):
        issued(desk, number, "2026-10-05T00:00:00.000+00:00")
    desk.doubt(3)
    done = batches(desk, table_of([{"ticket_no": ticket(2), "voucher": "itinerary"}]), secrets=None)
    (brought,) = statement(line(1, "N-01", issued=day("11-03")))
    assert kinds(found(desk, brought, done=done)) == [
        ("agreed", ticket(1)),
        ("differing", ticket(2)),
        ("unknown", ticket(3)),
    ]


def test_what_a_statement_is_said_to_list_of_a_kind_is_missed_on_it_though_it_shows_none(desk: Desk) -> None:
    issued(desk, 1)
    (brought,) = statement(kinds=frozenset({"invoice"}))
    for kind, missed in (("itinerary", [("not_on_statement", ticket(1))]), ("invoice", [])):
        assert kinds(found(desk, brought, complete=(claim("11-01", "11-20", kind),))) == missed


def test_of_a_month_what_was_issued_in_it_where_the_carrier_is_and_what_is_open_remains(desk: Desk) -> None:
    late = datetime.datetime(2026, 10, 31, 15, 30, tzinfo=datetime.UTC)
    desk.doubt(3)
    (brought,) = statement(line(1, "N-01", issued=late), line(2, "N-02", issued=day("11-03")))
    every = [("not_ours", ticket(1)), ("not_ours", ticket(2)), ("unknown", ticket(3))]
    assert kinds(found(desk, brought)) == every
    assert kinds(found(desk, brought, month="2026-11")) == every[1:]
    assert kinds(found(desk, brought, month="2026-11", job={"profile": TOKYO})) == every


def test_every_doubt_of_the_ledger_is_told_with_the_answer_that_did_not_settle_it(desk: Desk) -> None:
    attempt = desk.sent(
        1,
        Outcome("unknown", "answer_unexplained", trace_id="t-1", detail=verbatim("what?")),
        "2026-11-04T15:30:00.000+00:00",
    )
    killed = desk.sent(2, Outcome("unknown"))
    answer = desk.answer(attempt, "perhaps", "N-01")
    said = found(desk, answers=(answer,), job={"profile": TOKYO, "lang": "zh"})
    first, second = said.result.doubts
    assert (first.epoch, first.request_id, first.attempt) == (answer.ledger_id, answer.request_id, 1)
    assert (first.voucher, first.market, first.header_name) == ("itinerary", "domestic", "Li Na")
    assert (first.amount, first.trace_id, first.typed) == (1000, "t-1", answer.typed)
    assert first.charges == ((attempt.request.charges[0].identity, 1000),)
    assert first.reason.code == "answer_unexplained"
    assert "2026-11-05" in first.reason.message, "the day in Tokyo"
    assert "o.xlsx，Tickets 第 1 行" in first.reason.message
    assert "what?" in first.reason.message
    assert (second.request_id, second.reason.code) == (killed.request.request_id, "run_killed")
    assert second.typed == ("", "", "", "")


@pytest.mark.parametrize("gap", [False, True])
def test_what_the_ledger_may_lack_is_told(desk: Desk, gap: bool) -> None:
    if gap:
        desk.gap()
    assert bool(found(desk).lacking) is gap


def test_of_one_batch_the_result_is_its_own(desk: Desk, table_of: Tables) -> None:
    (one,) = batches(desk, table_of([{"ticket_no": ticket(1)}]))
    said = found(desk, done=(one,))
    assert said.result == one.result
    assert said.result.table is one.result.table


@pytest.mark.slow
def test_the_rows_of_several_batches_are_numbered_through(desk: Desk, table_of: Tables) -> None:
    def row(number: int, **changes: Any) -> dict[str, Any]:
        return {"ticket_no": ticket(number), **changes}

    tables = [
        table_of([row(1, passenger_name=""), row(2), row(2)]),
        table_of([row(3, passenger_name="")]),
        table_of([row(4), row(5, voucher="itinerary"), row(4)]),
    ]
    hidden = [SheetRows(f"{at}.xlsx", "Tickets", 1, 1) for at in range(3)]
    warned = [message("hidden: {count} rows", count=at) for at in range(3)]
    tables = [
        replace(one, sheets=(seen,), warnings=(told,))
        for one, seen, told in zip(tables, hidden, warned, strict=True)
    ]
    done = batches(desk, *tables)
    said = found(desk, done=done, job={"profile": TOKYO, "lang": "zh"})
    result = said.result
    assert [(one.index, one.ticket_no, one.status) for one in result.rows] == [
        (0, ticket(1), "invalid"), (1, ticket(2), "issued"), (2, ticket(2), "repeated"),
        (3, ticket(3), "invalid"),
        (4, ticket(4), "issued"), (5, ticket(5), "issued"), (6, ticket(4), "repeated"),
    ]  # fmt: skip
    assert [(one.rows, one.status) for one in result.requests] == [
        ((1,), "issued"), ((4,), "issued"), ((5,), "issued"),
    ]  # fmt: skip
    assert result.repeats == {2: 1, 6: 4}
    assert (result.table.sheets, result.notes) == (tuple(hidden), tuple(warned))
    assert (len(result.table), result.doubts, bool(result.stopped)) == (0, (), False)
    told = (result.command, result.as_of, result.lang, result.currency, result.ledger, result.ledger_id)
    assert told == ("reconcile", "2026-11-20", "zh", "JPY", str(desk.ledger.path), desk.ledger.ledger_id)
    assert result.columns.totals == {"issued": 3, "repeated": 2, "invalid": 2}
    assert kinds(said) == [
        *(("not_covered", ticket(number)) for number in (2, 4, 5)),
        *(("to_issue", ticket(number)) for number in (1, 3)),
    ]


def test_without_a_batch_there_are_no_rows_and_a_ledger(desk: Desk) -> None:
    for job, path in (({}, str(desk.ledger.path)), ({"sandbox": True, "ledger": None}, "")):
        result = found(desk, job=job).result
        assert (list(result.rows), list(result.requests), len(result.table)) == ([], [], 0)
        assert (result.ledger, result.ledger_id, result.exit_code) == (path, desk.ledger.ledger_id, 0)


def test_what_stopped_any_batch_is_told(desk: Desk, table_of: Tables) -> None:
    desk.gap()
    tables = [
        table_of([{"ticket_no": ticket(number), "passenger_name": name}])
        for number, name in enumerate(("", "A", ""))
    ]
    done = batches(desk, *tables)
    assert [bool(one.result.stopped) for one in done] == [False, True, False]
    assert found(desk, done=done).result.stopped == done[1].result.stopped


@pytest.mark.slow
def test_what_was_issued_before_is_told_of_every_batch(desk: Desk, table_of: Tables) -> None:
    for number in (1, 2):
        issued(desk, number)
    tables = [
        table_of([{"ticket_no": ticket(number + 6)}, {"ticket_no": ticket(number), "voucher": "itinerary"}])
        for number in (1, 2)
    ]
    said = found(desk, done=batches(desk, *tables), job={"operator": "li"}).result
    assert [(one.number, one.rows) for one in said.issued_before] == [("N-01", (1,)), ("N-02", (3,))]
    assert said.origin.operator == "li"


@pytest.mark.slow
def test_after_a_failed_ledger_what_is_known_is_told_without_asking_it(desk: Desk, table_of: Tables) -> None:
    doubts = [desk.doubt(1), desk.doubt(2)]
    tables = [
        table_of([{"ticket_no": ticket(number), "voucher": "itinerary", "amount": "10.00"}, {"ticket_no": ticket(number + 7)}])
        for number in (1, 2)
    ]  # fmt: skip
    (first,) = batches(desk, tables[0])
    with nothing_is_kept():
        (last,) = batches(desk, tables[1])
    assert (first.ledger_failed, last.ledger_failed) == (False, True)
    decided = desk.settle()
    desk.ledger._connection.close()
    (brought,) = statement(line(5, "N-05", issued=day("11-03")))
    for done in ((first, last), (last,)):
        said = found(desk, brought, done=done, decided=decided, month="2026-11")
        told = {one.request_id for one in said.result.doubts}
        assert told == {one.request.request_id for one in doubts[2 - len(done) :]}
        assert (said.decided, said.statements) == (decided, (brought,))
        assert said.period == Period(day("11-01"), day("11-30"))
        assert (said.entries, len(said.result.rows)) == ((), 2 * len(done))
    with pytest.raises(LedgerProblem, match=str(desk.ledger.path)):
        found(desk, done=(first,), decided=decided)


def test_what_the_profile_lacks_for_any_batch_is_told_once(desk: Desk, table_of: Tables) -> None:
    tables = [table_of([{"ticket_no": ticket(number)}]) for number in (1, 2)]
    profile = replace(PROFILE, codes=Codes())
    done = batches(desk, *tables, profile=profile)
    assert found(desk, done=done).result.lacking == ("[codes.fee_type] ticket_fare",)
