"""A ticket's history tells everything once, in time order, to people in their language and to programs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.ledger import (
    run_people,
    ticket_rows,
)
from pipeline.messages.reasons import REASON
from pipeline.messages.translate import translated
from pipeline.reporting.history import Recorded, history_json, history_lines
from tests.unit.reporting.told_ledger import PLAN, TICKET, ancillaries, being_told, fare

FARE, OTHERS = fare().request_id, ancillaries().request_id


@pytest.fixture
def known(tmp_path: Path) -> Iterator[dict[str, Recorded]]:
    with being_told(tmp_path / "a.ledger") as connection:
        yield {
            ticket: Recorded(
                ticket_rows.attempts(connection, ticket),
                ticket_rows.judgements(connection, ticket),
                ticket_rows.issued_elsewhere(connection, ticket),
                ticket_rows.settlements(connection, ticket),
                ticket_rows.reversals(connection, ticket),
                run_people.of_ticket(connection, ticket),
                ticket_rows.received_files(connection, ticket),
            )
            for ticket in (TICKET, "9990000000002")
        }


def said(known: Any, lang: Any = "en") -> list[str]:
    """The lines without their times."""
    return [line[23:] if line.startswith("  ") else line for line in history_lines(known, lang, "UTC")]


def test_everything_is_told_once_and_in_order(known: Any) -> None:
    assert said(known) == [
        "999-0000000001 (times: UTC)",
        "prepared by zhao (run 1)",
        "proposed for approval by zhao (run 1)",
        f"approved by qian (run 1; plan {PLAN})",
        "sending begun by sun (run 1)",
        "judged waiting: ticket_fare 617.25 as invoice; the ticket is not used yet (run 1; tickets.xlsx, Tickets, row 2)",
        (f"sending ticket_fare 617.25 as invoice for Example Trading Co. (request {FARE}, attempt 1, run 1; tickets.xlsx,"
        " Tickets, row 2)"),
        f"unknown: It was sent, but no answer came back: the connection broke (request {FARE}, attempt 1)",
        (f"sending ancillary/meal 55.50, ancillary/seat 55.50 as invoice for Example Trading Co. (request {OTHERS}, attempt 1,"
        " run 1; tickets.xlsx, Tickets, row 4, tickets.xlsx, Tickets, row 3)"),
        f"answered with HTTP 200 (request {OTHERS}, attempt 1)",
        f"rejected: The carrier refused it: too late [31m, trace t-2 (request {OTHERS}, attempt 1)",
        "stopped by sun (run 1)",
        f"settled as not issued by chen: not on october.csv (request {FARE}, attempt 1; S1)",
        ("issued elsewhere: the carrier's statement lists ancillary as itinerary 20179525833603931965, Acme"
        " (october.csv, row 7; found by chen, run 2; E1)"),
        ("issued elsewhere: the carrier's statement lists refund 5.00 as invoice 77, Acme"
        " (october.csv, row 7; found by chen, run 2; E2)"),
        "judged ready: ticket_fare 617.25 as invoice (run 2; tickets.xlsx, Tickets, row 5)",
        (f"sending ticket_fare 617.25 as invoice for Example Trading Co. (request {FARE}, attempt 2, run 2; tickets.xlsx,"
        " Tickets, row 5)"),
        f"answered with HTTP 200 (request {FARE}, attempt 2)",
        f"issued as 017952583360393196, trace t-1 (request {FARE}, attempt 2)",
        ("itinerary file differs: a.eml/b.ofd, number 22222222222222222222, seal none: the seal does not fit the file, kept as 2026-11/b.ofd"
        " (abababababab; run 2)"),
        "999-0000000002: the ledger knows nothing of it",
    ]  # fmt: skip


def test_in_chinese_everything_is_told_in_chinese(known: Any) -> None:
    lines = said(known, "zh")
    assert lines[:8] == [
        "999-0000000001（时间：UTC）",
        "由 zhao 准备（第 1 次运行）",
        "由 zhao 提交批准（第 1 次运行）",
        f"由 qian 批准（第 1 次运行；计划 {PLAN}）",
        "由 sun 开始发送（第 1 次运行）",
        "判定为待条件满足：机票款 617.25，发票；客票尚未使用（第 1 次运行；tickets.xlsx，Tickets，第 2 行）",
        f"发送：机票款 617.25，发票，购买方 Example Trading Co.（请求 {FARE}，第 1 次，第 1 次运行；tickets.xlsx，Tickets，第 2 行）",
        f"结果未知：已发送但未收到答复：连接中断（请求 {FARE}，第 1 次）",
    ]
    assert "由 chen 认定为未开具：not on october.csv" in lines[12]
    assert lines[13].startswith("他处已开具：承运人账单列有 附加服务，行程单 20179525833603931965，Acme（")
    assert (
        lines[-2]
        == "行程单文件不一致：a.eml/b.ofd，号码 22222222222222222222，签章无：签章与文件不符，存档为 2026-11/b.ofd（abababababab；第 2 次运行）"
    )
    assert lines[-3] == f"已开具，号码 017952583360393196，跟踪号 t-1（请求 {FARE}，第 2 次）"
    assert lines[-1] == "999-0000000002：台账中没有任何记录"


def test_programs_get_the_same_as_values(known: Any) -> None:
    told = json.loads(history_json(known, "en"))
    assert list(told) == [TICKET, "9990000000002"]
    assert told["9990000000002"] == []
    events = told[TICKET]
    assert [event["text"] for event in events] == said(known)[1:-1]
    hands = [events.pop(at) for at in (10, 3, 2, 1, 0)]
    assert [event["event"] for event in hands] == ["stopped", "sent", "approved", "proposed", "prepared"]
    assert {name: hands[2][name] for name in ("run", "person", "plan")} == {
        "run": 1,
        "person": "qian",
        "plan": PLAN,
    }
    assert (hands[0]["person"], "plan" in hands[0]) == ("sun", False)
    assert [event["event"] for event in events] == [
        "judged", "sending", "unknown", "sending", "answered", "rejected", "settled", "issued_elsewhere",
        "issued_elsewhere", "judged", "sending", "answered", "issued", "file",
    ]  # fmt: skip
    assert all(event["at"].endswith("+00:00") for event in events)
    for event in events:
        for name in ("at", "text"):
            del event[name]
    row = {"file": "tickets.xlsx", "sheet": "Tickets", "row": 2}
    charge = {"charge": "ticket_fare", "product": "flight", "amount": "617.25"}
    attempt = {"request": FARE, "attempt": 1}
    assert events[0] == {
        "event": "judged", "run": 1, "voucher": "invoice", "status": "waiting", "reasons": ["ticket_still_open"],
    } | charge | row  # fmt: skip
    assert events[1] == {
        "event": "sending", "run": 1, "voucher": "invoice", "buyer": "Example Trading Co.", "charges": [charge | row],
    } | attempt  # fmt: skip
    assert events[2] == {
        "event": "unknown", "number": "", "reason": "no_answer", "detail": "the connection broke", "trace_id": "",
    } | attempt  # fmt: skip
    assert [part["product"] for part in events[3]["charges"]] == ["meal", "seat"]
    assert events[4] == {"event": "answered", "request": OTHERS, "attempt": 1, "http_status": 200}
    assert events[6] == {
        "event": "settled", "settled_as": "not_sent", "settled_by": "chen", "evidence": "not on october.csv", "number": "",
        "entry": "S1",
    } | attempt  # fmt: skip
    assert events[7] == {
        "event": "issued_elsewhere", "run": 2, "charge": "ancillary", "product": "", "voucher": "itinerary",
        "number": "20179525833603931965", "buyer": "Acme", "issued_at": "", "evidence": "october.csv, row 7",
        "found_by": "chen", "amount": None, "entry": "E1",
    }  # fmt: skip
    assert events[8]["amount"] == "5.00"
    assert events[12]["number"] == "017952583360393196"
    assert events[13] == {
        "event": "file", "run": 2, "status": "differs", "number": "2" * 20, "seal": "none", "place": "a.eml/b.ofd",
        "archived": "2026-11/b.ofd", "sha256": "ab" * 32, "detail": "the seal does not fit the file", "request": "", "attempt": 0,
    }  # fmt: skip


def attempt(**changes: Any) -> dict[str, Any]:
    """An attempt as ticket_rows.attempts has it."""
    return {
        "sending_at": "2026-11-20T16:30:00.000+00:00", "answered_at": "2026-11-20T16:30:00.000+00:00",
        "ended_at": "2026-11-20T16:30:00.000+00:00", "planned_at": "2026-11-20T16:30:00.000+00:00", "state": "issued",
        "request_id": "R1", "attempt": 1, "run": 1, "voucher": "invoice", "charge": "ticket_fare", "product": "flight",
        "amount": 1_00, "number": "7", "trace_id": "", "reason": "", "detail": "", "http_status": 200, "file": "t.xlsx",
        "sheet": "S", "row": 2, "header_name": "Acme", "settled": 0,
    } | changes  # fmt: skip


def firsts(recorded: Recorded) -> list[str]:
    """The first word of each event."""
    return [line.split()[2] for line in list(history_lines({TICKET: recorded}, "en", "UTC"))[1:]]


def test_times_are_those_of_the_zone_that_is_named() -> None:
    recorded = {TICKET: Recorded([attempt()])}
    heading, first, *_ = history_lines(recorded, "en", "Asia/Shanghai")
    assert heading == "999-0000000001 (times: Asia/Shanghai)"
    assert first.startswith("  2026-11-21 00:30:00  sending ")
    assert list(history_lines(recorded, "en", "UTC"))[1].startswith("  2026-11-20 16:30:00  sending ")
    (event, *_), *_ = json.loads(history_json(recorded, "en")).values()
    assert event["at"] == "2026-11-20T16:30:00.000+00:00"


def test_what_happened_in_one_moment_is_told_as_it_followed() -> None:
    settlement = {
        "settlement": 1, "request_id": "R1", "attempt": 1, "state": "issued", "number": "7", "settled_by": "chen",
        "evidence": "x", "settled_at": attempt()["ended_at"], "withdrawn": 0,
    }  # fmt: skip
    assert firsts(Recorded([attempt(settled=1)], settlements=[settlement])) == [
        "sending",
        "answered",
        "unknown",
        "settled",
    ]


def test_an_attempt_is_told_in_order_though_the_clock_was_set_back() -> None:
    back = attempt(answered_at="2026-11-20T15:00:00.000+00:00", ended_at="2026-11-20T15:00:01.000+00:00")
    assert firsts(Recorded([back])) == ["sending", "answered", "issued"]


def test_what_is_planned_or_under_way_is_told_as_that() -> None:
    nothing = {"answered_at": None, "ended_at": None, "http_status": None, "number": ""}
    assert firsts(Recorded([attempt(state="planned", sending_at=None, **nothing)])) == ["planned"]
    assert firsts(Recorded([attempt(state="sending", **nothing)])) == ["sending"]


def test_words_of_a_later_program_are_told_as_they_are() -> None:
    row = {
        "judged_at": "2026-11-20T16:30:00.000+00:00", "run": 1, "ticket_no": TICKET, "charge": "lounge_day", "product": "",
        "voucher": "", "amount": 0, "status": "deferred", "reasons": "too_new bad_amount", "file": "f", "sheet": "s", "row": 2,
    }  # fmt: skip
    (_, judged, *_, ended) = history_lines(
        {TICKET: Recorded([attempt(state="rejected", reason="too_new", detail="why", number="")], [row])},
        "en",
        "UTC",
    )
    assert judged.endswith(
        "judged deferred: lounge_day; too_new; an amount is not above zero with two decimals at most (run 1; f, s, row 2)"
    )
    assert ended.endswith("rejected: too_new why (request R1, attempt 1)")


@pytest.mark.parametrize("code", sorted(REASON))
def test_every_reason_has_its_words_in_both_languages(code: str) -> None:
    assert REASON[code].short.isascii()
    assert not translated(REASON[code].short, "zh").isascii()
