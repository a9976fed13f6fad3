"""What each answer means: one table, and for every line of it what the promise demands."""

import json
from typing import Any

import pytest

from pipeline.carrier.crypto import Cipher
from pipeline.carrier.replies import Answered, Lost, NotSent, Outcome, Reply, interpret
from pipeline.profile import Answers
from pipeline.request import Charge, Header, Identity, Request

KEY = "key string"
CIPHER = Cipher(KEY)
HEADER = Header("business", "Example Trading Co.", "91110000600037341L", "", "finance@example.com")
CHARGE = Charge(
    Identity("9991234567890", "ticket_fare", "flight"), "ZHANG/WEI", 100_000, 0, ("FARE", "Flight")
)
INVOICE = Request("invoice", "domestic", HEADER, (CHARGE,))
ITINERARY = Request("itinerary", "domestic", HEADER, (CHARGE,))
NUMBER, LONG_NUMBER = "123456789012345678", "12345678901234567890"

ANSWERS = Answers(
    not_processed_http=(429, 503),
    not_processed_codes=(5001,),
    rejected_codes=(4001,),
    key_refused_codes=(401, 403),
)


def envelope(
    data: Any = None, *, code: Any = 200, message: Any = "success", status: int = 200, **more: Any
) -> Answered:
    sealed = data if isinstance(data, str) else CIPHER.seal(json.dumps(data).encode())
    document = {"code": code, "message": message, "data": sealed, "traceId": "trace-1", **more}
    return Answered(status, json.dumps(document).encode())


def invoice_result(**fields: Any) -> dict[str, Any]:
    return {"success": True, "errInfo": "request received", "invoiceId": NUMBER, **fields}


def itinerary_result(**fields: Any) -> dict[str, Any]:
    result = {"ticketNo": "999-1234567890", "itineraryNum": LONG_NUMBER, "success": True, **fields}
    return {"itineraryResult": result}


def said(reply: Reply, request: Request = INVOICE, *, doubted: bool = False) -> tuple[str, str]:
    outcome = interpret(reply, request, CIPHER, ANSWERS, doubted=doubted)
    return outcome.state, outcome.reason


def test_an_invoice_is_issued_when_every_signal_agrees() -> None:
    assert interpret(envelope(invoice_result()), INVOICE, CIPHER, ANSWERS) == Outcome(
        "issued", number=NUMBER, trace_id="trace-1"
    )


@pytest.mark.parametrize("ticket_no", ["9991234567890", "999-1234567890", 9991234567890])
def test_an_itinerary_is_issued_when_it_is_about_the_ticket_asked_for(ticket_no: Any) -> None:
    outcome = interpret(envelope(itinerary_result(ticketNo=ticket_no)), ITINERARY, CIPHER, ANSWERS)
    assert outcome == Outcome("issued", number=LONG_NUMBER, trace_id="trace-1")


@pytest.mark.parametrize(
    ("field", "value"), [("invoiceId", 123456789012345678), ("invoiceId", f" {NUMBER} ")]
)
def test_a_number_keeps_every_digit(field: str, value: Any) -> None:
    assert interpret(envelope(invoice_result(**{field: value})), INVOICE, CIPHER, ANSWERS).number == NUMBER
    long = interpret(envelope(itinerary_result(itineraryNum=int(LONG_NUMBER))), ITINERARY, CIPHER, ANSWERS)
    assert long.number == LONG_NUMBER


UNKNOWN = {
    "not JSON": Answered(200, b"<html>"),
    "empty": Answered(200, b""),
    "not UTF-8": Answered(200, b"\xff\xfe"),
    "a list": Answered(200, b"[]"),
    "a bare string": Answered(200, b'"ok"'),
    "nested beyond sense": Answered(200, b"[" * 100_000),
    "no code": Answered(200, b'{"message":"success"}'),
    "code as text": envelope(invoice_result(), code="200"),
    "code true": envelope(invoice_result(), code=True),
    "no data": Answered(200, b'{"code":200,"message":"success"}'),
    "data null": Answered(200, b'{"code":200,"message":"success","data":null}'),
    "data empty": envelope(""),
    "data not Base64": envelope("***"),
    "data of another key": envelope(Cipher("another").seal(b'{"success":true}')),
    "data decrypts to nonsense": envelope(CIPHER.seal(b"\x00\x01nonsense")),
    "data is a list": envelope([1]),
    "no success": envelope({"invoiceId": NUMBER}),
    "success as text": envelope(invoice_result(success="true")),
    "success as number": envelope(invoice_result(success=1)),
    "success null": envelope(invoice_result(success=None)),
    "no number": envelope({"success": True, "errInfo": ""}),
    "number empty": envelope(invoice_result(invoiceId="")),
    "number blank": envelope(invoice_result(invoiceId="  ")),
    "number null": envelope(invoice_result(invoiceId=None)),
    "number a list": envelope(invoice_result(invoiceId=[NUMBER])),
    "number true": envelope(invoice_result(invoiceId=True)),
    "an itinerary's answer": envelope(itinerary_result()),
    "number null as text": envelope(invoice_result(invoiceId="null")),
    "number zero": envelope(invoice_result(invoiceId=0)),
    "number with a control character": envelope(invoice_result(invoiceId="12\x0034")),
    "a no that brings a number": envelope(invoice_result(success=False)),
    "a no of an itinerary that brings a number": envelope({"success": False, **itinerary_result()}),
    "rejected code that brings a number": envelope(invoice_result(success=False), code=4001),
    "says yes and no": envelope(CIPHER.seal(b'{"success":true,"invoiceId":"1","success":false}')),
    "two codes": Answered(200, b'{"code":500,"code":200,"message":"success"}'),
    "message disagrees": envelope(invoice_result(), message="failed"),
    "no message": envelope(invoice_result(), message=None),
    "unexplained code": envelope("", code=9999),
    "unexplained code, says success": envelope(invoice_result(), code=9999),
    "rejected code, says success": envelope(invoice_result(), code=4001),
    "not processed code, says success": envelope(invoice_result(), code=5001),
    "key refused code, says success": envelope(invoice_result(), code=401),
    **{
        f"HTTP {status}": Answered(status, b"")
        for status in (199, 201, 202, 204, 206, 301, 302, 303, 307, 308)
    },
    **{f"HTTP {status}": Answered(status, b"") for status in (400, 402, 406, 408, 409, 500, 501, 502, 504)},
    **{
        f"HTTP {status}, says success": envelope(invoice_result(), status=status)
        for status in (201, 401, 404, 429, 500)
    },
    "HTTP 404, envelope says 200": envelope("", status=404),
    "HTTP 500, result says no": envelope(invoice_result(success=False, invoiceId=""), status=500),
}


@pytest.mark.parametrize("reply", UNKNOWN.values(), ids=UNKNOWN)
def test_whatever_is_not_proved_is_unknown(reply: Answered) -> None:
    assert said(reply)[0] == "unknown"


@pytest.mark.parametrize(
    "result",
    [
        itinerary_result(ticketNo="9991234567891"),
        itinerary_result(ticketNo=""),
        itinerary_result(ticketNo=None),
        itinerary_result(itineraryNum=""),
        {"itineraryResult": [True]},
        {"success": True, "itineraryNum": LONG_NUMBER},
        invoice_result(),
    ],
)
def test_an_itinerary_needs_its_own_ticket_and_number(result: dict[str, Any]) -> None:
    assert said(envelope(result), ITINERARY)[0] == "unknown"


@pytest.mark.parametrize(
    ("reply", "request_", "words"),
    [
        (
            envelope(invoice_result(success=False, invoiceId="", errInfo="over the limit")),
            INVOICE,
            "over the limit",
        ),
        (
            envelope(invoice_result(success=False, invoiceId="", errInfo="no"), message="failed"),
            INVOICE,
            "no",
        ),
        (envelope(invoice_result(success=False, invoiceId="", errInfo="no"), code=9999), INVOICE, "no"),
        (envelope("", code=4001, message="window closed"), INVOICE, "code 4001: window closed"),
        (envelope(itinerary_result(success=False, itineraryNum="")), ITINERARY, "code 200: success"),
        (
            envelope(itinerary_result(success=False, itineraryNum="", ticketNo="", errInfo="not used")),
            ITINERARY,
            "not used",
        ),
    ],
)
def test_a_no_is_the_carriers_own_word(reply: Answered, request_: Request, words: str) -> None:
    outcome = interpret(reply, request_, CIPHER, ANSWERS)
    assert (outcome.state, outcome.reason, outcome.detail) == ("rejected", "carrier_rejected", words)


@pytest.mark.parametrize(
    "reply", [envelope(invoice_result(success=False, invoiceId="")), envelope("", code=4001)]
)
def test_a_no_after_a_doubt_may_mean_issued_already(reply: Answered) -> None:
    assert said(reply)[0] == "rejected"
    assert said(reply, doubted=True) == ("unknown", "answer_unexplained")


def test_a_doubt_does_not_touch_a_yes_or_nothing_sent() -> None:
    assert said(envelope(invoice_result()), doubted=True)[0] == "issued"
    assert said(NotSent("refused"), doubted=True)[0] == "not_sent"


@pytest.mark.parametrize(
    ("reply", "reason", "stops", "retry_after"),
    [
        (NotSent("the connection was refused"), "carrier_unreachable", False, None),
        (Answered(404, b"<html>"), "carrier_unreachable", True, None),
        (Answered(405, b""), "carrier_unreachable", True, None),
        (Answered(401, b""), "key_refused", True, None),
        (Answered(403, b"forbidden"), "key_refused", True, None),
        (envelope("", code=401, message="bad key"), "key_refused", True, None),
        (Answered(429, b""), "carrier_busy", False, None),
        (Answered(429, b"", "7"), "carrier_busy", False, 7.0),
        (Answered(503, b"", "Wed, 21 Oct 2026 07:28:00 GMT"), "carrier_busy", False, None),
        (envelope("", code=5001), "carrier_busy", False, None),
    ],
)
def test_what_proves_that_nothing_was_issued(
    reply: Reply, reason: str, stops: bool, retry_after: float | None
) -> None:
    outcome = interpret(reply, INVOICE, CIPHER, ANSWERS)
    assert (outcome.state, outcome.reason, outcome.stop, outcome.retry_after) == (
        "not_sent",
        reason,
        stops,
        retry_after,
    )


def test_by_default_only_429_says_not_processed() -> None:
    for status in (500, 502, 503, 504):
        assert interpret(Answered(status, b""), INVOICE, CIPHER, Answers()).state == "unknown"
    assert interpret(Answered(429, b""), INVOICE, CIPHER, Answers()).state == "not_sent"


def test_silence_and_noise_after_sending() -> None:
    assert said(Lost("no answer in time")) == ("unknown", "no_answer")
    assert said(Lost("the answer broke off", readable=False)) == ("unknown", "answer_unreadable")


def test_the_carriers_words_are_made_safe_to_show() -> None:
    result = invoice_result(success=False, invoiceId="", errInfo="a\x00b\r\nc\ud800d" + "x" * 1000)
    outcome = interpret(envelope(result), INVOICE, CIPHER, ANSWERS)
    assert outcome.detail.startswith("a b c d")
    assert len(outcome.detail) <= 300
    outcome.detail.encode()
