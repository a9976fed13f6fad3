"""What each answer means: one table, and for every line of it what the promise demands."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pipeline.carrier.crypto import Cipher
from pipeline.carrier.replies import Before, interpret, is_the_services_own
from pipeline.model.message import Message
from pipeline.model.outcome import Answered, Lost, NotSent, Outcome, Reply
from pipeline.model.profile import Answers
from pipeline.model.request import (
    Asked,
    Charge,
    Header,
    Identity,
    Request,
)

KEY = "key string"
CIPHER = Cipher(KEY)
HEADER = Header("business", "Example Trading Co.", "91110000600037341L", "", "finance@example.com")
CHARGE = Charge(
    Identity("9991234567890", "ticket_fare", "flight"), "ZHANG/WEI", 100_000, 0, ("FARE", "Flight")
)
INVOICE = Request("invoice", "domestic", HEADER, (CHARGE,)).asked
ITINERARY = Request("itinerary", "domestic", HEADER, (CHARGE,)).asked
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


def said(reply: Reply, request: Asked = INVOICE, *, doubted: bool = False) -> tuple[str, str]:
    outcome = interpret(reply, request, CIPHER, ANSWERS, Before(doubted=doubted))
    return outcome.state, outcome.reason


def test_an_invoice_is_issued_when_every_signal_agrees() -> None:
    assert interpret(envelope(invoice_result()), INVOICE, CIPHER, ANSWERS) == Outcome(
        "issued", number=NUMBER, trace_id="trace-1"
    )


@pytest.mark.parametrize("message", ["Success", " SUCCESS", "success\n"])
def test_a_success_in_other_letters_is_one(message: str) -> None:
    assert said(envelope(invoice_result(), message=message)) == ("issued", "")


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
    "busy, and success": envelope("", code=5001),
    "key refused, and success": envelope("", code=401),
    "not there, and success": envelope("", code=9999, status=404),
    "too many, and success as text": envelope("", code="200", message="busy", status=429),
    "too many, and code 200 alone": envelope("", message="busy", status=429),
    "too many, and a yes without a number": envelope(
        {"success": True}, code=9999, message="busy", status=429
    ),
    "too many, and a number": envelope({"invoiceId": NUMBER}, code=9999, message="busy", status=429),
    "sealed in UTF-16": envelope(CIPHER.seal(json.dumps(invoice_result()).encode("utf-16"))),
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


def test_the_ticket_that_an_itinerary_is_about_is_told_whole() -> None:
    other = "9991234567891 " * 12 + "."
    outcome = interpret(envelope(itinerary_result(ticketNo=other)), ITINERARY, CIPHER, ANSWERS)
    assert str(outcome.detail) == f"the answer is about another ticket ({other})"


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
        (
            envelope("", code=4001, message="far too late " * 15),
            INVOICE,
            f"code 4001: {'far too late ' * 15}".rstrip(),
        ),
        (
            envelope(itinerary_result(success=False, itineraryNum="")),
            ITINERARY,
            "code 200: success, and it gives no reason",
        ),
        (
            envelope(invoice_result(success=False, invoiceId="", errInfo=" "), code=9999),
            INVOICE,
            "code 9999: success, and it gives no reason",
        ),
        (
            envelope(invoice_result(success=False, invoiceId="", errInfo=""), message="too late"),
            INVOICE,
            "code 200: too late",
        ),
        (
            envelope(itinerary_result(success=False, itineraryNum="", ticketNo="", errInfo="not used")),
            ITINERARY,
            "not used",
        ),
    ],
)
def test_a_no_is_the_carriers_own_word(reply: Answered, request_: Asked, words: str) -> None:
    outcome = interpret(reply, request_, CIPHER, ANSWERS)
    assert (outcome.state, outcome.reason, str(outcome.detail)) == ("rejected", "carrier_rejected", words)


@pytest.mark.parametrize(
    "reply", [envelope(invoice_result(success=False, invoiceId="")), envelope("", code=4001)]
)
def test_a_no_after_a_doubt_may_mean_issued_already(reply: Answered) -> None:
    assert said(reply)[0] == "rejected"
    assert said(reply, doubted=True) == ("unknown", "answer_unexplained")


def test_a_doubt_does_not_touch_a_yes_or_nothing_sent() -> None:
    assert said(envelope(invoice_result()), doubted=True)[0] == "issued"
    assert said(NotSent(Message("refused")), doubted=True)[0] == "not_sent"


#: What refuses key or address, and what is seen of it afterwards.
REFUSALS = {
    "HTTP 401": Answered(401, b""),
    "HTTP 403": Answered(403, b"forbidden"),
    "HTTP 404": Answered(404, b"<html>"),
    "HTTP 405": Answered(405, b""),
    "code 401: bad key": Answered(200, b'{"code":401,"message":"bad key","data":"","traceId":"t"}'),
}


@pytest.mark.parametrize("seen", REFUSALS)
def test_once_key_and_address_were_accepted_their_refusal_proves_nothing_and_stops_the_run(seen: str) -> None:
    before = interpret(REFUSALS[seen], INVOICE, CIPHER, ANSWERS)
    assert (before.state, before.stop) == ("not_sent", True)
    after = interpret(REFUSALS[seen], INVOICE, CIPHER, ANSWERS, Before(accepted=True))
    assert (after.state, after.reason, after.stop) == ("unknown", "answer_unexplained", True)
    assert after.trace_id == before.trace_id == ("t" if seen.startswith("code") else "")
    assert str(after.detail).startswith(f"{seen}, though key and address were accepted before in this run")
    assert "check" not in str(after.detail)


def test_acceptance_changes_nothing_else() -> None:
    for reply in (
        NotSent(Message("refused")),
        Lost(Message("no answer in time")),
        Answered(429, b""),
        Answered(502, b""),
        envelope("", code=5001, message="busy"),
    ):
        assert interpret(reply, INVOICE, CIPHER, ANSWERS, Before(accepted=True)) == interpret(
            reply, INVOICE, CIPHER, ANSWERS
        )
    for reply in (envelope(invoice_result()), envelope(invoice_result(success=False, invoiceId=""))):
        assert interpret(reply, INVOICE, CIPHER, ANSWERS, Before(accepted=True)) == interpret(
            reply, INVOICE, CIPHER, ANSWERS
        )


@pytest.mark.parametrize(
    ("reply", "own"),
    [
        (envelope(invoice_result()), True),
        (envelope(invoice_result(success=False, invoiceId="")), True),
        (envelope(invoice_result(), code=9999), True),
        (envelope(invoice_result(), status=401), False),
        (envelope(invoice_result(), code=401), False),
        (envelope(Cipher("another").seal(b'{"success":true}')), False),
        (envelope("", code=9999), False),
        (Answered(200, b"<html>"), False),
        (Answered(200, b"[]"), False),
        (NotSent(Message("refused")), False),
        (Lost(Message("no answer in time")), False),
    ],
)
def test_only_a_result_that_opens_with_our_key_is_the_services_own(reply: Reply, own: bool) -> None:
    assert is_the_services_own(reply, CIPHER, ANSWERS) is own


@pytest.mark.parametrize(
    "reply",
    [
        envelope(Cipher("another").seal(b'{"success":true}')),
        envelope("", code=400, message="the body can't be decrypted"),
        envelope(CIPHER.seal(b"\x00\x01nonsense")),
    ],
)
def test_before_anything_is_accepted_an_envelope_that_does_not_open_stops_the_run(reply: Reply) -> None:
    first = interpret(reply, INVOICE, CIPHER, ANSWERS)
    assert (first.state, first.stop) == ("unknown", True)
    assert str(first.detail).endswith(
        "(nothing was accepted in this run before): check VOUCHER_ENCRYPTION_KEY"
    )
    later = interpret(reply, INVOICE, CIPHER, ANSWERS, Before(accepted=True))
    assert (later.state, later.reason, later.stop) == (first.state, first.reason, False)
    assert "VOUCHER" not in str(later.detail)


@pytest.mark.parametrize(
    ("reply", "reason", "stops", "retry_after"),
    [
        (NotSent(Message("the connection was refused")), "carrier_unreachable", False, None),
        (Answered(404, b"<html>"), "carrier_unreachable", True, None),
        (Answered(405, b""), "carrier_unreachable", True, None),
        (Answered(401, b""), "key_refused", True, None),
        (Answered(403, b"forbidden"), "key_refused", True, None),
        (envelope("", code=401, message="bad key"), "key_refused", True, None),
        (Answered(429, b""), "carrier_busy", False, None),
        (Answered(429, b"", "7"), "carrier_busy", False, 7.0),
        (Answered(503, b"", "Wed, 21 Oct 2026 07:28:00 GMT"), "carrier_busy", False, None),
        (envelope("", code=5001, message="come back later"), "carrier_busy", False, None),
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
    assert said(Lost(Message("no answer in time"))) == ("unknown", "no_answer")
    assert said(Lost(Message("the answer broke off"), readable=False)) == ("unknown", "answer_unreadable")


def test_the_carriers_words_are_made_safe_to_show() -> None:
    result = invoice_result(success=False, invoiceId="", errInfo="a\x00b\r\nc\ud800d" + "x" * 1000)
    outcome = interpret(envelope(result), INVOICE, CIPHER, ANSWERS)
    detail = str(outcome.detail)
    assert detail.startswith("a b c d")
    assert len(detail) <= 300
    detail.encode()


TRACE = "trace-1"
BARE = {"success": True, "errInfo": "", "invoiceId": ""}
REFUSED = invoice_result(success=False, invoiceId="", errInfo="too late")
SPEECHLESS = {"success": False}
CHECK_KEY = "the key or the agency is refused; check VOUCHER_API_KEY, and agency in the profile"
GONE = "HTTP 404: the address is wrong; check base_url in the profile"
CONTRADICTED = "though the answer says success or brings a number"


def told(outcome: Outcome) -> Outcome:
    """An outcome with its detail as it is read in English."""
    return replace(outcome, detail=str(outcome.detail))


def unexplained(detail: str, trace: str = TRACE) -> Outcome:
    return Outcome("unknown", "answer_unexplained", trace_id=trace, detail=detail)


def unreadable(detail: str, trace: str = TRACE) -> Outcome:
    return Outcome("unknown", "answer_unreadable", trace_id=trace, detail=detail)


def rejected(detail: str) -> Outcome:
    return Outcome("rejected", "carrier_rejected", trace_id=TRACE, detail=detail)


def sealed_under(data: Any, **more: Any) -> Answered:
    """An envelope whose data is this very value, sealed or not."""
    document = {"code": 200, "message": "success", "data": data, "traceId": TRACE, **more}
    return Answered(200, json.dumps(document).encode())


#: Whole outcomes: state, reason, trace, words and whether the run stops, one for each way through.
MEANINGS: dict[str, tuple[Reply, Asked, Outcome]] = {
    "not sent": (
        NotSent(Message("the connection\nwas refused")),
        INVOICE,
        Outcome("not_sent", "carrier_unreachable", detail="the connection was refused"),
    ),
    "lost": (
        Lost(Message("no answer\nin time")),
        INVOICE,
        Outcome("unknown", "no_answer", detail="no answer in time"),
    ),
    "lost, unreadable": (Lost(Message("not\nHTTP"), readable=False), INVOICE, unreadable("not HTTP", "")),
    "wrong address": (
        Answered(404, b"<html>"),
        INVOICE,
        Outcome("not_sent", "carrier_unreachable", detail=GONE, stop=True),
    ),
    "wrong address, a JSON list": (
        Answered(404, b"[200]"),
        INVOICE,
        Outcome("not_sent", "carrier_unreachable", detail=GONE, stop=True),
    ),
    "wrong address, the result says no": (
        envelope(REFUSED, code=9999, message="no such page", status=404),
        INVOICE,
        Outcome("not_sent", "carrier_unreachable", detail=GONE, stop=True),
    ),
    "wrong address, the envelope says yes": (
        envelope("", status=404),
        INVOICE,
        unexplained("HTTP 404, though the answer says success", ""),
    ),
    "wrong address, the result says yes": (
        envelope(invoice_result(), code=9999, status=404),
        INVOICE,
        unexplained("HTTP 404, though the answer says success", ""),
    ),
    "wrong address, an itinerary's result says yes": (
        envelope(itinerary_result(), code=9999, status=404),
        ITINERARY,
        unexplained("HTTP 404, though the answer says success", ""),
    ),
    "busy, the result says yes": (
        envelope(invoice_result(), code=9999, status=429),
        INVOICE,
        unexplained("HTTP 429, though the answer says success", ""),
    ),
    "refused key by status": (
        Answered(403, b""),
        INVOICE,
        Outcome("not_sent", "key_refused", detail=f"HTTP 403: {CHECK_KEY}", stop=True),
    ),
    "busy by status": (
        Answered(503, b"", "7"),
        INVOICE,
        Outcome("not_sent", "carrier_busy", detail="HTTP 503", retry_after=7.0),
    ),
    "another status": (Answered(500, b""), INVOICE, unexplained("HTTP 500", "")),
    "not JSON": (Answered(200, b"<html>"), INVOICE, unreadable("the answer is not JSON", "")),
    "not an object": (Answered(200, b"[]"), INVOICE, unreadable("the answer is not a JSON object", "")),
    "a code that is text": (
        envelope(REFUSED, code="200"),
        INVOICE,
        unreadable("the envelope has no numeric code"),
    ),
    "a code that is true": (
        envelope(REFUSED, code=True),
        INVOICE,
        unreadable("the envelope has no numeric code"),
    ),
    "data is null": (sealed_under(None), INVOICE, unreadable("the envelope holds no data")),
    "data is empty": (sealed_under(""), INVOICE, unreadable("the envelope holds no data")),
    "data is a number": (sealed_under(5), INVOICE, unreadable("the envelope holds no data")),
    "data is empty, for an itinerary": (
        sealed_under(""),
        ITINERARY,
        unreadable("the envelope holds no data"),
    ),
    "data of another key": (
        sealed_under(Cipher("another").seal(b"{}")),
        INVOICE,
        unreadable("the data can't be decrypted with our key"),
    ),
    "data not JSON": (
        sealed_under(CIPHER.seal(b"nonsense")),
        INVOICE,
        unreadable("the decrypted data is not JSON"),
    ),
    "data a list": (
        sealed_under(CIPHER.seal(b"[]")),
        INVOICE,
        unreadable("the decrypted data is not a JSON object"),
    ),
    "neither yes nor no": (
        envelope({"invoiceId": NUMBER}),
        INVOICE,
        unreadable("the result says neither yes nor no, or both"),
    ),
    "yes inside, no outside": (
        envelope({"success": False, **itinerary_result()}),
        ITINERARY,
        unreadable("the result says neither yes nor no, or both"),
    ),
    "refused": (envelope(REFUSED), INVOICE, rejected("too late")),
    "refused by a code that nobody explained": (envelope(REFUSED, code=9999), INVOICE, rejected("too late")),
    "refused without words": (envelope(SPEECHLESS, message="no"), INVOICE, rejected("code 200: no")),
    "refused without words by a code that nobody explained": (
        envelope(SPEECHLESS, code=9999, message="no"),
        INVOICE,
        rejected("code 9999: no"),
    ),
    "refused by its code": (envelope("", code=4001, message="no"), INVOICE, rejected("code 4001: no")),
    "refused by its code, without a message": (
        Answered(200, b'{"code":4001,"data":"","traceId":"trace-1"}'),
        INVOICE,
        rejected("code 4001: "),
    ),
    "refused by its code, says yes": (
        envelope(BARE, code=4001),
        INVOICE,
        unexplained(f"code 4001: success, {CONTRADICTED}"),
    ),
    "refused key by code": (
        envelope("", code=401, message="bad key"),
        INVOICE,
        Outcome(
            "not_sent", "key_refused", trace_id=TRACE, detail=f"code 401: bad key: {CHECK_KEY}", stop=True
        ),
    ),
    "busy by code": (
        envelope("", code=5001, message="busy"),
        INVOICE,
        Outcome("not_sent", "carrier_busy", trace_id=TRACE, detail="code 5001: busy"),
    ),
    "a code that nobody explained": (envelope("", code=9999), INVOICE, unexplained("code 9999: success")),
    "a code that nobody explained, neither yes nor no": (
        envelope({"errInfo": "hm"}, code=9999),
        INVOICE,
        unexplained("code 9999: success"),
    ),
    "the message disagrees": (
        envelope(invoice_result(), message="failed"),
        INVOICE,
        unexplained("code 200: failed, though the result says success"),
    ),
    "another ticket": (
        envelope(itinerary_result(ticketNo="999\n1")),
        ITINERARY,
        unexplained("the answer is about another ticket (999 1)"),
    ),
    "no ticket": (
        envelope({"itineraryResult": {"success": True, "itineraryNum": LONG_NUMBER}}),
        ITINERARY,
        unexplained("the answer is about another ticket ()"),
    ),
    "no number": (envelope(BARE), INVOICE, unexplained("success without a number")),
    "a number that is a fraction": (
        envelope(invoice_result(invoiceId=1.5)),
        INVOICE,
        unexplained("success without a number"),
    ),
    "no trace": (envelope(BARE, traceId=None), INVOICE, unexplained("success without a number", "")),
}


@pytest.mark.parametrize(("reply", "request_", "outcome"), MEANINGS.values(), ids=MEANINGS)
def test_an_outcome_says_all_that_is_known(reply: Reply, request_: Asked, outcome: Outcome) -> None:
    assert told(
        interpret(reply, request_, CIPHER, ANSWERS, Before(accepted=outcome.state != "not_sent"))
    ) == told(outcome)


def test_a_doubted_no_keeps_its_trace_and_the_carriers_words() -> None:
    assert told(interpret(envelope(REFUSED), INVOICE, CIPHER, ANSWERS, Before(doubted=True))) == unexplained(
        "the carrier refused it (too late), and an earlier attempt is unknown: it may be issued already"
    )


def test_an_outcome_says_nothing_unless_told() -> None:
    bare = Outcome("issued")
    assert (bare.reason, bare.number, bare.trace_id, str(bare.detail), bare.stop, bare.retry_after) == (
        *("", "", "", ""),
        False,
        None,
    )


@pytest.mark.parametrize("status", [401, 403, 404, 405, 429])
@pytest.mark.parametrize(
    "spoilt",
    [
        lambda body: body + b"\n{}",
        lambda body: b"\xef\xbb\xbf" + body,
        lambda body: body.replace(TRACE.encode(), "成功".encode("gbk")),
        lambda body: body.replace(b"{", b'{"code": 200, ', 1),
        lambda body: b"[" + body + b"]",
        lambda body: body.replace(TRACE.encode(), b"\t"),
        lambda body: body[:40],
        lambda body: body.decode().encode("utf-16"),
    ],
    ids=["more behind it", "BOM", "GBK", "a field twice", "a list", "a tab in a text", "cut off", "UTF-16"],
)
def test_a_yes_that_is_no_clean_json_is_no_proof_of_a_no_either(
    status: int, spoilt: Callable[[bytes], bytes]
) -> None:
    body = json.dumps({"code": 200, "message": "success", "data": "x", "traceId": TRACE}).encode()
    assert said(Answered(status, spoilt(body))) == ("unknown", "answer_unexplained")


@pytest.mark.parametrize("status", [404, 429])
@pytest.mark.parametrize(
    "page",
    [
        b"",
        b"Too Many Requests",
        b"<script>$.ajax({'code': 200, \"success\": f})</script>",
        b'\r\n <p>"success"</p> ',
    ],
)
def test_a_page_of_something_on_the_way_says_nothing_of_success(status: int, page: bytes) -> None:
    assert said(Answered(status, page))[0] == "not_sent"


def test_no_other_status_proves_anything() -> None:
    explained = {200, 404, 405, *ANSWERS.key_refused_codes, *ANSWERS.not_processed_http}
    for status in set(range(1000)) - explained:
        assert said(Answered(status, b"")) == ("unknown", "answer_unexplained")


@pytest.mark.parametrize("number", ["1", "A-1/2.3_4", "7" * 100, "0" * 99 + "1"])
def test_what_may_be_a_number(number: str) -> None:
    assert interpret(envelope(invoice_result(invoiceId=number)), INVOICE, CIPHER, ANSWERS).number == number


@pytest.mark.parametrize("number", ["7" * 101, "-12", "/12", "0000", "none", "12 34", "１２"])
def test_what_is_no_number(number: str) -> None:
    outcome = interpret(envelope(invoice_result(invoiceId=number)), INVOICE, CIPHER, ANSWERS)
    assert (outcome.state, outcome.number) == ("unknown", "")


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        *(("0", 0.0), ("999999", 999_999.0), (" 7 ", 7.0)),
        *((text, None) for text in ("1000000", "-1", "7.5", "1e3", "nan", "soon", "٣")),
    ],
)
def test_retry_after_in_seconds_alone(header: str, seconds: float | None) -> None:
    assert interpret(Answered(429, b"", header), INVOICE, CIPHER, ANSWERS).retry_after == seconds


def test_words_are_cut_and_made_safe_character_by_character() -> None:
    result = invoice_result(success=False, invoiceId="", errInfo="a\x7fb\ufffec\uffffd" + "x" * 400)
    assert str(interpret(envelope(result), INVOICE, CIPHER, ANSWERS).detail) == "a b c d" + "x" * 293


@pytest.mark.parametrize("named", ["999-1234567890", "9991234567890", "", None])
def test_a_no_that_names_this_ticket_or_none_is_a_no(named: Any) -> None:
    refused = itinerary_result(success=False, itineraryNum="", ticketNo=named)
    assert said(envelope(refused), ITINERARY) == ("rejected", "carrier_rejected")


def test_a_no_about_another_ticket_is_no_answer_to_this_request() -> None:
    refused = itinerary_result(success=False, itineraryNum="", ticketNo="999-0000000000")
    assert told(interpret(envelope(refused), ITINERARY, CIPHER, ANSWERS)) == unexplained(
        "the answer is about another ticket (999-0000000000)"
    )


def test_an_itinerarys_yes_beside_a_status_that_says_not_processed_is_unknown() -> None:
    yes = {"itineraryResult": {"success": True}}
    reply = envelope(yes, code=9999, message="busy", status=429)
    assert said(reply, ITINERARY) == ("unknown", "answer_unexplained")
