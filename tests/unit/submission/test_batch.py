"""A table's way with a real ledger and a carrier: what its rows are judged by, what is sent of them, kept of them, and told."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from pipeline.ledger import commit_process
from pipeline.ledger.settlements import Settlement
from pipeline.ledger.settlements import settle as record
from pipeline.messages.reason_rendering import reason_text
from pipeline.model.message import NOTHING, Message, message
from pipeline.model.outcome import Outcome
from pipeline.model.profile import Carrier
from pipeline.model.request import Identity
from pipeline.model.result import RunResult
from pipeline.model.result_values import UnknownAttempt
from pipeline.model.table import Table
from pipeline.splitting import Judged
from pipeline.submission.batch import judged, submitted
from pipeline.submission.sending_run import Sent
from tests.conftest import AS_OF
from tests.crash.wire_answers import envelope, good, number_of, result, sealed
from tests.crash.wire_server import Asked, Line, Server, told
from tests.unit.reconciliation.desk import KEYS, PROFILE, Desk, ticket

Tables = Callable[..., Table]
#: A row as `Desk.sent` has asked for it.
AS_SENT = {"voucher": "itinerary", "passenger_name": "ZHANG/WEI", "amount": "10.00", "header_type": "individual", "header_name": "Li Na",
           "tax_no": "", "phone": "", "email": "l@example.com"}  # fmt: skip


def fares(*numbers: int, **changes: Any) -> list[dict[str, Any]]:
    return [{"ticket_no": ticket(number), **changes} for number in numbers]


def itineraries(*numbers: int, **changes: Any) -> list[dict[str, Any]]:
    return fares(*numbers, **{**AS_SENT, **changes})


def fare(number: int) -> Identity:
    return Identity(ticket(number), "ticket_fare", "flight")


def states(rows: Judged) -> list[str]:
    return [str(status) for status in rows.verdicts.status]


def asked_for(rows: Judged) -> list[list[str]]:
    """The tickets of each request."""
    return [[charge.identity.ticket_no for charge in request.charges] for request in rows.requests]


def no(asked: Asked) -> bytes:
    return envelope(sealed(result(asked, "", success=False)))


def saying(answer: Callable[[Asked], bytes], status: int = 200) -> Callable[[Line], None]:
    """A carrier that issues nothing, and says this."""

    def talk(line: Line) -> None:
        line.answer(status, answer(line.read()))

    return told([talk] * 100)


def sent(
    desk: Desk,
    rows: Judged,
    talk: Callable[[Line], None] | None = None,
    held_up: Message = NOTHING,
    unclear: dict[str, Message] | None = None,
    **job: Any,
) -> tuple[RunResult, Sent, list[Asked]]:
    """What came of the rows, and what the carrier was asked."""
    with closing(Server(talk or told([good] * 100))) as carrier:
        profile = replace(PROFILE, carrier=Carrier(base_url=carrier.url))
        run = replace(desk.run_of(desk.job(**{"profile": profile, "secrets": KEYS, **job})), command="issue")
        return (*submitted(run, rows, held_up, unclear or {}), carrier.log.asked)


def of_rows(result: RunResult) -> list[tuple[str, str]]:
    """How each row ended, and the reason without the cure."""
    return [(row.status, row.reasons[0].message if row.reasons else "") for row in result.rows]


def test_rows_are_judged_by_the_job_and_by_what_the_ledger_holds_of_their_tickets(
    desk: Desk, table_of: Tables
) -> None:
    desk.sent(1, Outcome("issued", number="N-01"))
    rows = judged(desk.ledger, table_of(itineraries(1, 2)), desk.job())
    assert states(rows) == ["already_issued", "ready"]
    assert asked_for(rows) == [[ticket(2)]]
    assert [known.number for known in rows.holdings.held.values()] == ["N-01"]
    assert len(rows.table) == 2
    table = table_of(itineraries(2))
    late = desk.job(as_of=AS_OF.replace(year=2028))
    assert states(judged(desk.ledger, table, late)) == ["ineligible"]
    assert states(
        judged(
            desk.ledger, table, desk.job(profile=replace(PROFILE, carrier=Carrier(ticket_prefixes=("888",))))
        )
    ) == ["ineligible"]


def test_what_the_carrier_refused_is_repeated_for_whoever_asks_for_it_and_not_by_itself(
    desk: Desk, table_of: Tables
) -> None:
    desk.sent(1, Outcome("rejected", "carrier_rejected"))
    table = table_of(itineraries(1, 2))
    assert states(judged(desk.ledger, table, desk.job())) == ["ready", "ready"]
    rows = judged(desk.ledger, table, desk.job(), by_itself=True)
    assert states(rows) == ["rejected", "ready"]
    assert asked_for(rows) == [[ticket(2)]]
    refused = table_of(itineraries(1, amount="11.00"))
    assert states(judged(desk.ledger, refused, desk.job(), by_itself=True)) == ["ready"], "it has changed"


def test_charges_that_were_refused_together_go_one_by_one(desk: Desk, table_of: Tables) -> None:
    table = table_of(fares(1, 2))
    rows = judged(desk.ledger, table, desk.job())
    assert asked_for(rows) == [[ticket(1), ticket(2)]]
    outcome, _, _ = sent(desk, rows, saying(no))
    assert [row.status for row in outcome.rows] == ["rejected", "rejected"]
    assert asked_for(judged(desk.ledger, table, desk.job())) == [[ticket(1)], [ticket(2)]]


def test_what_is_in_doubt_is_told_with_all_that_was_in_it(desk: Desk, table_of: Tables) -> None:
    """In the job's language, and since a day where the carrier is."""
    doubt = Outcome("unknown", "no_answer", trace_id="t-1", detail=message("no answer in time"))
    about = desk.sent(1, doubt, "2026-11-19T20:00:00.000+00:00")
    desk.doubt(2)
    rows = judged(desk.ledger, table_of(itineraries(1)), desk.job(lang="zh"))
    (told_of,) = rows.doubts
    assert told_of.reason.message.startswith(
        "自 2026-11-20 起结果未知（o.xlsx，Tickets 第 1 行（第 1 次运行））："
    )
    assert told_of == UnknownAttempt(
        desk.ledger.epoch, about.request.request_id, 1, "itinerary", "domestic", "Li Na", 1000, told_of.reason, "t-1", ((fare(1), 1000),)
    )  # fmt: skip
    _, outcome, asked = sent(desk, rows)
    assert (outcome, asked) == (Sent(), [])


def test_what_came_of_rows_is_told_with_what_it_belongs_to(desk: Desk, table_of: Tables) -> None:
    rows = judged(desk.ledger, table_of(itineraries(1, 2)), desk.job())
    result, outcome, asked = sent(desk, rows, lang="zh")
    numbers = [number_of(one) for one in asked]
    assert sorted(each.tickets for each in asked) == [(ticket(1),), (ticket(2),)]
    assert [(row.status, row.charges[0].number) for row in result.rows] == [
        ("issued", number) for number in sorted(numbers)
    ]
    assert [one.outcome.state for one in outcome.results] == ["issued", "issued"]
    assert (result.command, result.as_of, result.lang) == ("issue", str(AS_OF), "zh")
    assert (result.ledger, result.ledger_id) == (str(desk.ledger.path), desk.ledger.ledger_id)
    assert (result.doubts, str(result.stopped), outcome.ledger_failed) == ((), "", False)


def test_a_ledger_that_is_thrown_away_is_not_told_of(desk: Desk, table_of: Tables) -> None:
    rows = judged(desk.ledger, table_of(itineraries(1)), desk.job())
    result, _, asked = sent(desk, rows, sandbox=True, ledger=None)
    assert [row.status for row in result.rows] == ["issued"]
    assert (result.ledger, asked) == ("", [])


def test_what_is_in_doubt_after_this_run_is_told_with_all_that_was_in_it(
    desk: Desk, table_of: Tables
) -> None:
    rows = judged(desk.ledger, table_of(itineraries(1)), desk.job())
    result, _, _ = sent(desk, rows, saying(lambda _: b"", 502), lang="zh")
    assert [row.status for row in result.rows] == ["unknown"]
    (told_of,) = result.doubts
    assert told_of == UnknownAttempt(
        desk.ledger.epoch, rows.requests[0].request_id, 1, "itinerary", "domestic", "Li Na", 1000,
        reason_text("answer_unexplained", "", "zh", {"detail": message("HTTP {status}", status=502)}), "", ((fare(1), 1000),)
    )  # fmt: skip


def test_a_no_to_what_was_in_doubt_before_leaves_it_in_doubt(desk: Desk, table_of: Tables) -> None:
    about = desk.doubt(1)
    record(desk.ledger._connection, about.attempt_id, Settlement("not_sent", "", "Wang", "a letter"))
    rows = judged(desk.ledger, table_of(itineraries(1, 2)), desk.job())
    result, _, _ = sent(desk, rows, saying(no))
    assert [row.status for row in result.rows] == ["unknown", "rejected"]


def test_each_charge_is_kept_with_its_row_and_what_the_row_says_beside_it(
    desk: Desk, table_of: Tables
) -> None:
    table = table_of(
        [*itineraries(1, own="Desk 7"), *itineraries(2, own="Desk 8", fare="8.00", fuel_surcharge="2.00")]
    )
    sent(desk, judged(desk.ledger, table, desk.job()))
    assert desk.ledger._connection.execute(
        "SELECT run, ticket_no, file, sheet, row, components, carried FROM charge JOIN attempt USING (attempt_id) ORDER BY ticket_no"
    ).fetchall() == [
        (desk.run, ticket(1), "tickets.xlsx", "Tickets", 2, "{}", '{"own": "Desk 7"}'),
        (
            desk.run,
            ticket(2),
            "tickets.xlsx",
            "Tickets",
            3,
            '{"fare": 800, "fuel_surcharge": 200}',
            '{"own": "Desk 8"}',
        ),
    ]


def test_how_rows_were_judged_is_kept_of_each_ticket(desk: Desk, table_of: Tables) -> None:
    """Not of what has no ticket, nor of what repeats another row."""
    table = table_of(
        [
            *itineraries(1),
            *itineraries(2, passenger_name="", flight_date="2026-12-24"),
            *itineraries(1),
            *fares(0, ticket_no=""),
            *fares(3, charge="ancillary", product="seat", purchased_on="2026-10-01", ticket_status="open"),
        ]
    )
    sent(desk, judged(desk.ledger, table, desk.job()), held_up=message("not now"))
    columns = "run, ticket_no, charge, product, voucher, amount, status, reasons, file, sheet, row"
    assert desk.ledger._connection.execute(f"SELECT {columns} FROM judgement ORDER BY row").fetchall() == [
        (
            desk.run,
            ticket(1),
            "ticket_fare",
            "flight",
            "itinerary",
            1000,
            "ready",
            "",
            "tickets.xlsx",
            "Tickets",
            2,
        ),
        (
            desk.run,
            ticket(2),
            "ticket_fare",
            "flight",
            "itinerary",
            1000,
            "invalid",
            "missing_value date_in_future",
            "tickets.xlsx",
            "Tickets",
            3,
        ),
        (
            desk.run,
            ticket(3),
            "ancillary",
            "seat",
            "invoice",
            100000,
            "waiting",
            "ticket_still_open",
            "tickets.xlsx",
            "Tickets",
            6,
        ),
    ]


def test_where_nothing_may_be_sent_every_request_says_why(desk: Desk, table_of: Tables) -> None:
    rows = judged(desk.ledger, table_of(itineraries(1, 2)), desk.job())
    result, outcome, asked = sent(desk, rows, held_up=message("not now"))
    assert of_rows(result) == [("not_sent", "The run stopped before this row was sent: not now")] * 2
    assert [(one.request.request_id, one.attempt) for one in outcome.results] == [
        (one.request_id, 0) for one in rows.requests
    ]
    assert (str(outcome.stopped), str(result.stopped)) == ("not now", "not now")
    assert (asked, desk.states()) == ([], [])


def test_where_there_is_nothing_to_send_nothing_is_begun(
    desk: Desk, table_of: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commit_process, "committing", None)
    rows = judged(desk.ledger, table_of(itineraries(1, passenger_name="")), desk.job())
    assert sent(desk, rows)[1] == Sent()


def test_what_has_nothing_to_send_is_not_held_up(desk: Desk, table_of: Tables) -> None:
    rows = judged(desk.ledger, table_of(itineraries(1, passenger_name="")), desk.job())
    result, outcome, _ = sent(desk, rows, held_up=message("not now"))
    assert [row.status for row in result.rows] == ["invalid"]
    assert (outcome, str(result.stopped)) == (Sent(), "")


def test_what_is_not_clear_of_a_ticket_keeps_its_request_back_and_no_other(
    desk: Desk, table_of: Tables
) -> None:
    """Of several tickets of one request the first is told."""
    rows = judged(desk.ledger, table_of([*fares(3, 2, 1), *itineraries(4)]), desk.job())
    unclear = {ticket(number): message("what is {number}?", number=number) for number in (2, 3)}
    result, outcome, asked = sent(desk, rows, unclear=unclear)
    kept = ("not_sent", "The run stopped before this row was sent: what is 2?")
    assert of_rows(result) == [kept, kept, kept, ("issued", "")]
    assert [one.tickets for one in asked] == [(ticket(4),)]
    assert [(one.request.request_id, one.attempt) for one in outcome.results] == [
        (rows.requests[1].request_id, 1),
        (rows.requests[0].request_id, 0),
    ]
    assert str(result.stopped) == ""


def test_why_a_run_stopped_is_told(desk: Desk, table_of: Tables) -> None:
    rows = judged(desk.ledger, table_of(itineraries(1, 2)), desk.job())
    result, outcome, asked = sent(desk, rows, saying(lambda _: b"{}", 401))
    assert result.stopped == outcome.stopped
    assert str(result.stopped).startswith("HTTP 401: the key or the agency is refused")
    assert [row.status for row in result.rows] == ["not_sent", "not_sent"]
    assert len(asked) == 1
