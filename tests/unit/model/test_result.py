"""A run's result: statuses after sending, numbers, reasons in order, totals, exit codes."""

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pipeline.model.known_charges import KnownCharge, KnownCharges
from pipeline.model.message import verbatim
from pipeline.model.outcome import Outcome, Result
from pipeline.model.profile import Terms
from pipeline.model.request import Charge, Header, Identity, Request
from pipeline.model.result import RunResult
from pipeline.model.result_values import RequestResult, RowResult
from pipeline.model.status import STATUS
from pipeline.reporting.build_result import RunFacts, make_result
from pipeline.reporting.links import Places
from pipeline.rules.judge import judge
from pipeline.splitting import Judged, split

ITINERARY = {"voucher": "itinerary"}

#: A row and what sending it comes to (None: it is not sent), by the status that it ends in.
ENDS: dict[str, tuple[dict[str, str], Outcome | None]] = {
    "issued": (ITINERARY, Outcome("issued", number="42", trace_id="T1")),
    "rejected": (
        ITINERARY,
        Outcome("rejected", "carrier_rejected", detail=verbatim("no such ticket"), trace_id="T2"),
    ),
    "not_sent": (ITINERARY, Outcome("not_sent", "carrier_busy", detail=verbatim("HTTP 429"))),
    "unknown": (ITINERARY, Outcome("unknown", "no_answer", detail=verbatim("reset"))),
    "invalid": ({"passenger_name": ""}, None),
    "ineligible": ({"amount": "20000"}, None),
    "waiting": ({"ticket_status": "open"}, None),
    "already_issued": ({"ticket_no": "9990000000099"}, None),
}
HELD = Identity("9990000000099", "ticket_fare", "flight")
SHOWN = Identity("9990000000098", "ticket_fare", "flight")


def request_ids(row: RowResult) -> tuple[str, ...]:
    """Every request, in the order of the charges, each once."""
    return tuple(dict.fromkeys(charge.request_id for charge in row.charges if charge.request_id))


def _held(amount: int = 100_000) -> KnownCharges:
    return KnownCharges({
        HELD: KnownCharge(
            HELD, "", "invoice", "issued", "77", amount, "business", "Example Trading Co.", "91110000600037341L",
            "R7", 1, 3, "2026-11-02T16:30:00Z", "", "", "october.xlsx", "Tickets", 12,
        )
    })  # fmt: skip


@pytest.fixture
def result(table_of: Callable[..., Any], terms: Terms) -> Callable[..., RunResult]:
    """What became of rows that end in these statuses."""

    def result(
        ends: Sequence[str],
        holdings: KnownCharges | None = None,
        lang: str = "en",
        stopped: str = "",
        command: str = "issue",
    ) -> RunResult:
        rows = [{"ticket_no": f"999{n:010}", **ENDS[end][0]} for n, end in enumerate(ends)]
        table, held = table_of(rows), holdings or _held()
        verdicts = judge(table, held, terms)
        requests = split(verdicts, held, terms)
        outcomes = {n: ENDS[end][1] for n, end in enumerate(ends)}
        results = [
            Result(r, 2, outcome) for r in requests if (outcome := outcomes[r.charges[0].row]) is not None
        ]
        if command == "check":
            results = []
        facts = RunFacts(command, terms, lang, "l", "i", stopped)
        return make_result(facts, Judged(table, held, verdicts, requests), results)

    return result


@pytest.mark.parametrize("end", ENDS)
def test_each_end_is_its_status_and_nothing_else(result: Any, end: str) -> None:
    made = result([end])
    assert [row.status for row in made.rows] == [end]
    assert made.totals == {end: 1}


EXIT_CODES = {
    "issued": 0, "already_issued": 0, "invalid": 1, "ineligible": 1, "waiting": 1, "rejected": 1, "not_sent": 3,
    "unknown": 4,
}  # fmt: skip


@pytest.mark.parametrize(
    "ends", [*((end,) for end in ENDS), *itertools.combinations(ENDS, 2), tuple(ENDS)], ids="-".join
)
def test_the_highest_exit_code_that_applies_wins(result: Any, ends: tuple[str, ...]) -> None:
    assert result(ends).exit_code == max(EXIT_CODES[end] for end in ends)


@pytest.mark.parametrize(
    ("ends", "code"), [(["issued"], 3), (["issued", "rejected"], 3), (["issued", "unknown"], 4)]
)
def test_a_run_that_stopped_early_ends_in_3_unless_an_outcome_is_unknown(
    result: Any, ends: list[str], code: int
) -> None:
    assert result(ends, stopped="interrupted").exit_code == code


@pytest.mark.parametrize(
    ("ends", "code"),
    [(["issued"], 0), (["issued", "already_issued"], 0), (["issued", "waiting"], 1), (["already_issued"], 0)],
)
def test_a_check_is_well_where_every_row_is_ready_or_issued_before(
    result: Any, ends: list[str], code: int
) -> None:
    made = result(ends, command="check")
    assert made.exit_code == code
    assert {row.status for row in made.rows} <= {"ready", "already_issued", "waiting"}
    assert all(request.status == "ready" and request.attempt == 0 for request in made.requests)


def test_a_row_that_differs_from_what_was_issued_needs_a_person(result: Any) -> None:
    made = result(["issued", "already_issued"], _held(amount=1))
    assert made.totals == {"issued": 1, "already_issued": 1}
    assert made.exit_code == 1


def test_totals_are_in_the_contract_s_order_and_add_up_to_the_rows(result: Any) -> None:
    ends = [
        "unknown",
        "waiting",
        "issued",
        "not_sent",
        "issued",
        "invalid",
        "rejected",
        "already_issued",
        "ineligible",
    ]
    made = result(ends)
    assert list(made.totals.items()) == [
        ("issued", 2), ("already_issued", 1), ("invalid", 1), ("ineligible", 1), ("waiting", 1), ("rejected", 1),
        ("not_sent", 1), ("unknown", 1),
    ]  # fmt: skip
    assert sum(made.totals.values()) == len(made.rows) == len(ends)
    assert [row.index for row in made.rows] == list(range(len(ends)))
    assert [row.row for row in made.rows] == list(range(2, 2 + len(ends)))


def by_column(result: RunResult) -> dict[str, Any]:
    """All that a result says by column, as plain values."""
    columns = result.columns
    charges = columns.charges
    return {
        "totals": result.totals,
        "requests": result.request_totals,
        "exit_code": result.exit_code,
        "tallies": charges.tallies(),
        "having": {code: rows.tolist() for code, rows in sorted(columns.having.items())},
        **{name: getattr(columns, name).tolist() for name in ("status", "failed", "last_day", "first")},
        **{name: [*getattr(columns, name)] for name in ("numbers", "request_ids")},
        **{f"charge's {name}": getattr(charges, name).tolist() for name in CHARGES_BY_COLUMN},
    }


CHARGES_BY_COLUMN = ("line", "voucher", "amount", "status", "number", "request_id", "last_day")


@pytest.mark.slow
def test_what_is_said_by_column_is_what_the_rows_say_one_by_one(result: Any) -> None:
    for ends in (*((end,) for end in ENDS), tuple(ENDS), tuple(ENDS) * 2):
        made = result(ends, stopped="interrupted" if len(ends) > 8 else "")
        one_by_one = dataclasses.replace(made, rows=tuple(made.rows), requests=tuple(made.requests))
        assert by_column(made) == by_column(one_by_one)
        assert made.columns.status.tolist() == [row.status for row in made.rows]
        assert made.columns.failed.tolist() == [
            row.index for row in made.rows if any(STATUS[charge.status].failure for charge in row.charges)
        ]
    nothing = by_column(dataclasses.replace(made, rows=(), requests=(), stopped=""))
    assert (nothing["totals"], nothing["exit_code"], nothing["numbers"], nothing["last_day"]) == (
        {},
        0,
        [],
        [],
    )


def test_what_was_issued_before_is_listed_with_its_rows(table_of: Any, terms: Terms) -> None:
    table = table_of(
        [{"ticket_no": HELD.ticket_no}, {"ticket_no": SHOWN.ticket_no}, {"ticket_no": HELD.ticket_no}]
    )
    own = next(iter(_held().held.values()))
    shown = dataclasses.replace(
        own, identity=SHOWN, number="88", request_id="", attempt=0, run=0, elsewhere=True
    )
    held = KnownCharges({HELD: own, SHOWN: shown})
    verdicts = judge(table, held, terms)
    assert verdicts.issued_before == [("R7", 1)]
    header = Header("business", "Example Trading Co.", "91110000600037341L", "", "")
    request = Request("invoice", "domestic", header, (Charge(HELD, "LI/NA", 100_000, 0, None),))
    before = RequestResult(request, (), 1, "already_issued", "77", "t", None, 3)
    judged = Judged(table, held, verdicts, [], (), [before])
    made = make_result(RunFacts("issue", terms, "en"), judged)
    assert made.requests[:] == []
    first, second = made.issued_before
    assert first == dataclasses.replace(before, rows=(0, 2))
    assert (second.number, second.rows, second.run, second.request_id, second.request.amount) == (
        "88", (1,), 0, "", 100_000,
    )  # fmt: skip
    assert second.request.header.header_name == "Example Trading Co."
    places = Places(made)
    assert (places.requests[request.request_id], len(places.requests)) == ("internal:'Invoices'!A2", 2)


def test_a_row_of_several_charges_is_by_column_what_it_is_by_itself(table_of: Any, terms: Terms) -> None:
    bill = {
        "charge": "",
        "product": "",
        "amount": "",
        "fare": "900",
        "seat_fee": "20",
        "meal_fee": "30",
        "purchased_on": "2026-10-01",
    }
    table = table_of([
        bill, {**bill, "ticket_no": "9990000000001", "purchased_on": "2020-01-01"}, {"ticket_no": "9990000000002"},
        {**bill, "ticket_no": "9990000000099", "purchased_on": "", "voucher": "auto"},
    ])  # fmt: skip
    verdicts = judge(table, _held(), terms)
    requests = split(verdicts, _held(), terms)
    outcomes = itertools.cycle([ENDS["issued"][1], ENDS["rejected"][1], ENDS["unknown"][1]])
    results = [
        Result(request, 1, outcome) for request, outcome in zip(requests, outcomes, strict=False) if outcome
    ]
    made = make_result(
        RunFacts("issue", terms, "en"), Judged(table, KnownCharges(), verdicts, requests), results
    )
    assert [len(row.charges) for row in made.rows] == [3, 3, 1, 3]
    assert len({row.status for row in made.rows}) > 1
    one_by_one = dataclasses.replace(made, rows=tuple(made.rows), requests=tuple(made.requests))
    assert by_column(made) == by_column(one_by_one)
    assert [[*made.columns.numbers], [*made.columns.request_ids]] == [
        [row.numbers for row in made.rows], [request_ids(row) for row in made.rows]
    ]  # fmt: skip
    assert made.columns.last_day.tolist() == [
        min((charge.last_day for charge in row.charges if charge.last_day), default=None) for row in made.rows
    ]
    assert made.columns.status.tolist() == [row.status for row in made.rows]


def test_a_row_is_made_when_it_is_looked_at_and_the_same_every_time(result: Any) -> None:
    made = result(["issued", "invalid"])
    assert made.rows[1] is made.rows[-1]
    assert [row.index for row in made.rows[:1]] == [0]
    with pytest.raises(IndexError):
        _ = made.rows[2]


def test_an_issued_row_has_its_number_and_its_request_s_id(result: Any) -> None:
    made = result(["invalid", "issued"])
    (request,) = made.requests
    invalid, issued = made.rows
    assert (issued.numbers, request_ids(issued)) == (("42",), (request.request.request_id,))
    assert (invalid.numbers, request_ids(invalid)) == ((), ())
    assert (request.status, request.number, request.trace_id, request.attempt) == ("issued", "42", "T1", 2)
    assert request.reason is None
    assert issued.reasons == ()


@pytest.mark.parametrize(
    ("end", "code", "detail"),
    [
        ("rejected", "carrier_rejected", "no such ticket"),
        ("not_sent", "carrier_busy", "HTTP 429"),
        ("unknown", "no_answer", "reset"),
    ],
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_came_of_sending_is_the_row_s_reason_and_the_request_s(
    result: Any, end: str, code: str, detail: str, lang: str
) -> None:
    made = result([end], lang=lang)
    (reason,) = made.rows[0].reasons
    assert reason.code == code
    assert detail in reason.message
    assert made.requests[0].reason == reason
    assert made.rows[0].numbers == ()


def test_every_row_of_an_invoice_has_the_invoice_s_fate(table_of: Any, terms: Terms) -> None:
    table = table_of(
        [{"ticket_no": f"999{n:010}"} for n in range(3)]
        + [{"ticket_no": "9990000000009", "remarks": "other"}]
    )
    verdicts = judge(table, KnownCharges(), terms)
    requests = split(verdicts, KnownCharges(), terms)
    outcomes = [Outcome("issued", number="1"), Outcome("rejected", "carrier_rejected", detail=verbatim("no"))]
    results = [Result(request, 1, outcome) for request, outcome in zip(requests, outcomes, strict=True)]
    made = make_result(
        RunFacts("issue", terms, "en"), Judged(table, KnownCharges(), verdicts, requests), results
    )
    assert [(row.status, row.numbers) for row in made.rows] == [("issued", ("1",))] * 3 + [("rejected", ())]


def test_of_an_invoice_that_was_not_sent_what_another_run_issued_meanwhile_is_issued_already(
    table_of: Any, terms: Terms
) -> None:
    table = table_of([{"ticket_no": HELD.ticket_no}, {"ticket_no": "9990000000001"}])
    requests = split(judge(table, KnownCharges(), terms), KnownCharges(), terms)
    (one,) = requests
    results = [Result(one, 1, Outcome("not_sent", "in_hand", detail=verbatim("in hand")))]
    judged = Judged(table, _held(), judge(table, _held(), terms), requests)
    made = make_result(RunFacts("issue", terms, "en"), judged, results)
    assert [(row.status, row.numbers) for row in made.rows] == [("already_issued", ("77",)), ("not_sent", ())]
    assert [[reason.code for reason in row.reasons] for row in made.rows] == [["issued_before"], ["in_hand"]]
    assert {code: at.tolist() for code, at in made.columns.having.items()} == {
        "issued_before": [0],
        "in_hand": [1],
    }
    assert [request_ids(row) for row in made.rows] == [("R7",), (one.request_id,)]


def test_reasons_are_those_of_the_row_s_status_first_in_both_languages(table_of: Any, terms: Terms) -> None:
    table = table_of([{"amount": "20000", "ticket_status": "open", "phone": "12", "tax_no": "1"}])
    verdicts = judge(table, KnownCharges(), terms)
    for lang in ("en", "zh"):
        made = make_result(RunFacts("check", terms, lang), Judged(table, KnownCharges(), verdicts, []))
        codes = [reason.code for reason in made.rows[0].reasons]
        assert codes == ["bad_tax_no", "bad_phone", "amount_over_limit", "ticket_still_open"]


def test_what_can_t_be_read_is_shown_as_it_was_seen_and_has_no_amount(table_of: Any, terms: Terms) -> None:
    table = table_of([{"ticket_no": " 99-1 ", "charge": "gift", "amount": "ten"}])
    verdicts = judge(table, KnownCharges(), terms)
    made = make_result(RunFacts("check", terms, "en"), Judged(table, KnownCharges(), verdicts, []))
    (row,) = made.rows
    assert (row.ticket_no, row.charges[0].charge, row.amount) == ("99-1", "gift", None)


def test_a_ticket_number_that_is_a_number_is_shown_as_the_spreadsheet_shows_it(
    table_of: Any, terms: Terms
) -> None:
    table = table_of([{"ticket_no": 991234567890.0}])
    verdicts = judge(table, KnownCharges(), terms)
    made = make_result(RunFacts("check", terms, "en"), Judged(table, KnownCharges(), verdicts, []))
    assert made.rows[0].ticket_no == "991234567890"


def test_the_result_says_what_it_was_judged_by(result: Any) -> None:
    made = result(["issued"], lang="zh")
    assert (made.command, made.as_of, made.lang, made.currency) == ("issue", "2026-11-20", "zh", "CNY")
    assert (made.ledger, made.ledger_id) == ("l", "i")
    assert made.notes == ()
