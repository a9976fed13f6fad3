"""Faults in what the carrier says: whole HTTP answers whose status, envelope or result is wrong.

The expected outcomes are derived from the design ("The promise", points 4 and 5) and the written
interface, row by row, without a look at the program.
"""

import json
from dataclasses import replace
from functools import partial
from typing import Any

from pipeline.model.profile import Answers
from tests.crash.wire_answers import ABSENT, envelope, number_of, result, sealed, yes
from tests.crash.wire_fault import BOTH, UNEXPLAINED, UNREADABLE, Fault, says
from tests.crash.wire_server import Asked, Line

INVOICE, ITINERARY = ("invoice",), ("itinerary",)
BUSY = ("carrier_busy",)
NO = ("carrier_rejected",)
EXPLAINED = Answers(not_processed_codes=(7,), rejected_codes=(8,))
OTHER_TICKET = "9990000000000"


def _busy(line: Line) -> None:
    """Not processed, in an answer of HTTP 200, of the case's second request; of the others a yes."""
    asked = line.read()
    if asked.tickets[0].endswith("1"):
        line.answer(200, envelope("", code=7, message="failed"))
    else:
        line.issue(asked, number_of(asked))
        line.answer(200, yes(asked))


def _no(asked: Asked, number: Any = "", **changes: Any) -> bytes:
    return envelope(sealed(result(asked, number, success=False, **changes)))


def _about(asked: Asked, **changes: Any) -> bytes:
    """A success with something in its result changed."""
    number = changes.pop("number", number_of(asked))
    return envelope(sealed(result(asked, number, **changes)))


def _holding(inner: Any) -> bytes:
    return envelope(sealed(inner))


def _as_is(body: bytes, _: Asked) -> bytes:
    return body


def _holding_data(data: Any, _: Asked) -> bytes:
    return envelope(data)


def _coded(code: int, success: Any, asked: Asked) -> bytes:
    """A result with the request's number, in an envelope with another code than success has."""
    return envelope(sealed(result(asked, number_of(asked), success=success)), code=code)


def _nested(depth: int, place: str, asked: Asked) -> bytes:
    return yes(asked, **{place: "@"}).replace(b'"@"', b"[" * depth + b"]" * depth)


def statuses() -> list[Fault]:
    """HTTP statuses with the page that a proxy or a server puts there."""
    page = b"<html><body>Said by something on the way.</body></html>"

    def with_status(status: int, *expected: Any, **more: Any) -> Fault:
        body = b"" if status in (204, 304) else page
        return says(f"HTTP {status}", lambda _: body, *expected, status=status, vouchers=ITINERARY, **more)

    unknown = [201, 202, 203, 204, 205, 206, 226, 300, 304, 400, 402, 406, 407, 408, 409, 410, 411, 413, 414]
    unknown += [
        415,
        421,
        422,
        423,
        425,
        426,
        428,
        431,
        451,
        499,
        500,
        501,
        502,
        503,
        504,
        505,
        507,
        511,
        520,
        599,
        999,
    ]
    return [
        *(with_status(status, "unknown", UNEXPLAINED) for status in unknown),
        # The request before was accepted: nobody knows who says this now, nor what the carrier has done.
        *(with_status(status, "unknown", UNEXPLAINED, stops=True) for status in (401, 403, 404, 405)),
        with_status(429, "not_sent", BUSY),
        says("HTTP 503, which the profile says is not processed", lambda _: page, "not_sent", BUSY, status=503,
             vouchers=ITINERARY, answers=Answers(not_processed_http=(503,))),
        *(
            says(f"HTTP 429, Retry-After: {wish!r}", lambda _: b"", "not_sent", BUSY, status=429,
                 headers=(f"Retry-After: {wish}",), vouchers=ITINERARY)
            for wish in ("0", "-5", "999999999999999", "Wed, 21 Oct 2099 07:28:00 GMT", "soon", "", "0.01", "9" * 500)
        ),
        # Signals that disagree: the status says no, the body says yes.
        *(
            says(f"HTTP {status} with a success", yes, "unknown", UNEXPLAINED, status=status)
            for status in (201, 206, 302, 400, 401, 403, 404, 405, 407, 409, 429, 500, 502, 503)
        ),
        *(
            says(f"HTTP {status} with a voucher's number, success left out",
                 lambda asked: _about(asked, success=ABSENT), "unknown", UNEXPLAINED, status=status)
            for status in (401, 404, 429)
        ),
        *(
            says(f"HTTP {status} with a result that says yes in an envelope that says 500",
                 lambda asked: yes(asked, code=500), "unknown", UNEXPLAINED, status=status)
            for status in (401, 404, 429)
        ),
        *(
            says(f"HTTP {status} with {what} in an envelope that says 500",
                 partial(_coded, 500, success),
                 "unknown", UNEXPLAINED, status=status)
            for status in (401, 404, 429)
            for what, success in (("a number, success left out,", ABSENT), ("a number, success false,", False))
        ),
        *(
            says(f"HTTP {status} with {what}", partial(_as_is, body), "unknown", UNEXPLAINED, status=status, vouchers=ITINERARY)
            for status in (401, 404, 429)
            for what, body in (("the envelope of a success whose data can't be opened", envelope("A" * 44)),
                               ("code 200 as text", envelope("A" * 44, code="200")),
                               ("message success, code 500", envelope("A" * 44, code=500)))
        ),
        says("HTTP 500 with a refusal", _no, "unknown", UNEXPLAINED, status=500),
    ]  # fmt: skip


def envelopes() -> list[Fault]:
    """Envelopes whose fields are wrong or disagree with the result in them."""

    def empty(code: Any, message: Any = "failed") -> Any:
        return lambda _: envelope("", code=code, message=message)

    odd_codes = ["200", True, 200.0, None, ABSENT, [200], {"code": 200}, "", "success"]
    odd_messages = [
        "failed",
        "",
        None,
        ABSENT,
        "not success",
        "success, with warnings",
        ["success"],
        200,
        True,
        "成功",
    ]
    odd_data = [ABSENT, None, "", 0, 200, True, [], {}, ["x"]]
    return [
        *(says(f"code {code}", empty(code), "unknown", UNEXPLAINED)
          for code in (0, -1, 1, 201, 400, 404, 429, 500, 2000, 10**400)),
        *(says(f"code {code}", empty(code), "unknown", UNEXPLAINED, stops=True) for code in (401, 403)),
        replace(says("code 7, not processed by the profile", empty(7), "not_sent", BUSY, answers=EXPLAINED), play=_busy, ahead=True),
        says("code 8, rejected by the profile", empty(8), "rejected", NO, answers=EXPLAINED),
        *(says(f"code {code} with a success in it", partial(yes, code=code), "unknown",
               UNEXPLAINED, answers=EXPLAINED) for code in (7, 8, 401, 403, 500, 201, 0)),
        *(says(f"code {code}, message success", empty(code, "success"), "unknown", UNEXPLAINED, answers=EXPLAINED) for code in (7, 401, 403, 500)),
        *(says(f"code {code} with a number in it, success false",
               partial(_coded, code, False),
               "unknown", UNEXPLAINED, answers=EXPLAINED) for code in (7, 8, 401, 500)),
        says("code 500 with a refusal in it", lambda asked: envelope(sealed(result(asked, "", success=False)), code=500,
             message="refused"), "rejected", NO),
        *(says(f"code {code!r} is no number", partial(yes, code=code), "unknown", UNREADABLE)
          for code in odd_codes),
        *(says(f"message {message!r} with a success", partial(yes, message=message),
               "unknown", UNEXPLAINED) for message in odd_messages),
        *(says(f"data {data!r}", partial(_holding_data, data), "unknown", UNREADABLE) for data in odd_data),
        says("data not sealed", lambda asked: envelope(result(asked, number_of(asked))), "unknown", UNREADABLE),
        *(says(f"traceId {trace!r:.20}", partial(yes, trace=trace), "issued")
          for trace in (ABSENT, None, 7, ["t"], "t" * 5000, "\ud800\u0000\n", {"a": [1]})),
    ]  # fmt: skip


def documents() -> list[Fault]:
    """Bodies that are no JSON object, or one that says two things."""

    def twice(name: str, value: str) -> Any:
        return lambda asked: yes(asked)[:-1] + f', "{name}": {value}}}'.encode()

    bodies: dict[str, Any] = {
        "an empty body": b"", "white space": b" \r\n ", "a page": b"<html></html>", "a JSON array": b"[]",
        "a JSON number": b"200", "a JSON string": b'"success"', "null": b"null", "NaN": b"NaN", "not UTF-8": b'{"code": 200, "message": "\xff\xfe"}',
        "code NaN": b'{"code": NaN, "message": "success"}', "code Infinity": b'{"code": Infinity}', "60,000 brackets": b"[" * 60_000,
        "nested objects": b'{"a":' * 12_000, "a code of 5,000 digits": b'{"code": ' + b"9" * 5000 + b"}", "a body of zero bytes": bytes(500),
        "single quotes": b"{'code': 200}", "a comment": b'{"code": 200} // success',
    }  # fmt: skip
    return [
        *(says(name, partial(_as_is, body), "unknown", UNREADABLE, vouchers=ITINERARY) for name, body in bodies.items()),
        says("a success inside an array", lambda asked: b"[" + yes(asked) + b"]", "unknown", UNREADABLE),
        says("two successes one after the other", lambda asked: yes(asked) * 2, "unknown", UNREADABLE),
        says("a success cut by one", lambda asked: yes(asked)[:-1], "unknown", UNREADABLE),
        says("a success and a word", lambda asked: yes(asked) + b"x", "unknown", UNREADABLE),
        says("code twice", twice("code", "500"), "unknown", UNREADABLE),
        says("code twice the same", twice("code", "200"), "unknown", UNREADABLE),
        says("message twice", twice("message", '"failed"'), "unknown", UNREADABLE),
        says("data twice", twice("data", '""'), "unknown", UNREADABLE),
        says("a BOM before a success", lambda asked: b"\xef\xbb\xbf" + yes(asked), "issued", UNREADABLE, lenient=True),
        says("a success in UTF-16", lambda asked: yes(asked).decode().encode("utf-16"), "issued", UNREADABLE, lenient=True),
        says("white space around a success", lambda asked: b"\r\n " + yes(asked) + b"\n", "issued"),
        *(says(f"a success with {depth} brackets in {place}",
               partial(_nested, depth, place),
               "issued" if place == "trace" else "unknown", UNEXPLAINED + UNREADABLE, lenient=True, vouchers=ITINERARY)
          for place in ("trace", "message") for depth in (90, 200, 240, 300, 400, 490, 600, 900, 950, 1200, 3000, 9000)),
        says("a success with a field more", lambda asked: yes(asked)[:-1] + b', "extra": {"a": [1, 2.5, null]}}', "issued"),
        says("a success at the bound", lambda asked: yes(asked).ljust(64 * 1024), "issued"),
    ]  # fmt: skip


def seals() -> list[Fault]:
    """Data that can't be opened, or that is no result document when it is."""

    def data(name: str, value: str) -> Fault:
        return says(name, lambda _: envelope(value), "unknown", UNREADABLE, vouchers=ITINERARY)

    def inside(name: str, plain: bytes) -> Fault:
        return says(name, lambda _: envelope(sealed(plain)), "unknown", UNREADABLE)

    def resealed(name: str, change: Any, state: str = "unknown", **more: Any) -> Fault:
        return says(
            name,
            lambda asked: envelope(change(asked)),
            state,
            UNREADABLE if state == "unknown" else (),
            **more,
        )

    return [
        data("data not Base64", "this is not Base64!"), data("data of 15 bytes", "AAAAAAAAAAAAAAAAAAAA"),
        data("data of 20 bytes", "AAAAAAAAAAAAAAAAAAAAAAAAAAA="), data("data of 32 zero bytes", "A" * 43 + "="),
        data("data in hexadecimal", "ab" * 32), data("data not ASCII", "数据"), data("data of lone surrogates", "\ud800\ud801"),
        data("data of white space", " \n "), data("data with a wrong ending", "AAAAAAAAAAAAAAAAAAAAAAA=="),
        resealed("data sealed with another key", lambda asked: sealed(result(asked, number_of(asked)), "another key")),
        resealed("data sealed twice", lambda asked: sealed(sealed(result(asked, number_of(asked))).encode())),
        resealed("data without its last block", lambda asked: sealed(result(asked, number_of(asked)))[:-24]),
        resealed("data in two lines", lambda asked: "\r\n".join((sealed(result(asked, number_of(asked)))[:76],
                 sealed(result(asked, number_of(asked)))[76:])), "issued"),
        inside("sealed nonsense", b"this is not JSON"), inside("sealed nothing", b""), inside("a sealed array", b"[]"),
        inside("a sealed string", b'"success"'), inside("a sealed number", b"1"), inside("a sealed null", b"null"),
        inside("sealed bytes that are no UTF-8", b'{"success": true, "invoiceId": "\xff"}'), inside("a sealed empty object", b"{}"),
        inside("60,000 sealed brackets", b"[" * 20_000),
        resealed("a sealed success in UTF-16",
                 lambda asked: sealed(json.dumps(result(asked, number_of(asked))).encode("utf-16"))),
        resealed("success twice in the result", lambda asked: sealed(
            json.dumps(result(asked, number_of(asked))).replace('"success": true', '"success": false, "success": true').encode())),
        resealed("number twice in the result", lambda asked: sealed(
            json.dumps(result(asked, number_of(asked)))
            .replace('"invoiceId"', '"invoiceId": "55", "invoiceId"').replace('"itineraryNum"', '"itineraryNum": "55", "itineraryNum"').encode())),
    ]  # fmt: skip


def results() -> list[Fault]:
    """Result documents that contradict themselves or are about something else."""
    return [
        says("a refusal", _no, "rejected", NO),
        says("a refusal without a number field", lambda asked: _no(asked, ABSENT), "rejected", NO),
        says("a refusal with the number null", lambda asked: _no(asked, None), "rejected", NO),
        says("a refusal with another message", lambda asked: envelope(sealed(result(asked, "", success=False)), message="refused"), "rejected", NO),
        says("a refusal that brings a number", lambda asked: _no(asked, number_of(asked)), "unknown", UNREADABLE + UNEXPLAINED),
        *(says(f"success {value!r}", partial(_about, success=value), "unknown", UNREADABLE + UNEXPLAINED)
          for value in (ABSENT, None, "true", "false", 1, 0, [], [True], {}, "")),
        says("success without a result object", lambda _: _holding({"success": True}), "unknown", UNREADABLE + UNEXPLAINED),
        says("itineraryResult null", lambda _: _holding({"itineraryResult": None}), "unknown", UNREADABLE, vouchers=ITINERARY),
        says("itineraryResult a list", lambda asked: _holding({"itineraryResult": [result(asked, number_of(asked))]}), "unknown", UNREADABLE, vouchers=ITINERARY),
        says("success outside, refusal inside", lambda asked: _holding({"success": True, **result(asked, "", success=False)}), "unknown",
             UNREADABLE + UNEXPLAINED, vouchers=ITINERARY),
        says("refusal outside, success inside", lambda asked: _holding({"success": False, **result(asked, number_of(asked))}), "unknown",
             UNREADABLE + UNEXPLAINED, vouchers=ITINERARY),
        says("an invoice's success for an itinerary", lambda asked: _holding({"success": True, "errInfo": "", "invoiceId": number_of(asked)}),
             "unknown", UNREADABLE + UNEXPLAINED, vouchers=ITINERARY),
        says("an invoice's refusal for an itinerary", lambda _: _holding({"success": False, "errInfo": "no", "invoiceId": ""}),
             "unknown", UNREADABLE + UNEXPLAINED, vouchers=ITINERARY),
        says("an itinerary's success for an invoice", lambda asked: _holding({"itineraryResult": {"ticketNo": asked.tickets[0], "itineraryNum": number_of(asked), "success": True}}),
             "unknown", UNREADABLE + UNEXPLAINED, vouchers=INVOICE),
        says("an itinerary's refusal for an invoice", lambda asked: _holding({"itineraryResult": {"ticketNo": asked.tickets[0], "itineraryNum": "", "success": False}}),
             "unknown", UNREADABLE + UNEXPLAINED, vouchers=INVOICE),
        # An answer about another ticket belongs to another request: its yes is no yes of ours, its no no no of ours.
        says("another ticket's success", lambda asked: _about(asked, ticket=OTHER_TICKET), "unknown", UNEXPLAINED, vouchers=ITINERARY),
        says("another ticket's refusal", lambda asked: _no(asked, ticket=OTHER_TICKET), "unknown", UNEXPLAINED + UNREADABLE, vouchers=ITINERARY),
        *(says(f"ticketNo {ticket!r}", partial(_about, ticket=ticket), "unknown", UNEXPLAINED, vouchers=ITINERARY)
          for ticket in (ABSENT, "", 0, True, [], "999")),
        says("the ticket with a hyphen", lambda asked: _about(asked, ticket=f"{asked.tickets[0][:3]}-{asked.tickets[0][3:]}"), "issued", vouchers=ITINERARY),
        says("the ticket as a number", lambda asked: _about(asked, ticket=int(asked.tickets[0])), "issued", lenient=True, vouchers=ITINERARY),
        says("the ticket and one digit more", lambda asked: _about(asked, ticket=asked.tickets[0] + "1"), "unknown", UNEXPLAINED, vouchers=ITINERARY),
    ]  # fmt: skip


def numbers() -> list[Fault]:
    """Successes whose number is none, or an odd one."""
    none = [
        ABSENT,
        None,
        "",
        " ",
        "0",
        "0000",
        0,
        False,
        True,
        [],
        ["1"],
        {},
        1.5,
        -7,
        "无",
        "null",
        "N/A",
        "x" * 200,
        "1\n2",
        "<b>1</b>",
    ]
    odd = ["INV-2026/11.7_a", "7", "A1", "0000000000000000000" + "9"]
    return [
        *(says(f"number {number!r:.30}", partial(_about, number=number), "unknown", UNEXPLAINED + UNREADABLE, vouchers=BOTH)
          for number in none),
        says("a number of 5,000 digits", lambda asked: _about(asked, number=int("9" * 4000)), "unknown", UNEXPLAINED),
        says("the number as a JSON number", lambda asked: _about(asked, number=int(number_of(asked))), "issued"),
        says("the number in spaces", lambda asked: _about(asked, number=f" {number_of(asked)} "), "issued", lenient=True),
        *(says(f"a number of unusual shape, {number}", partial(_oddly, number), "issued",
               number=partial(_odd_number, number)) for number in odd),
        says("a number that another request has", lambda asked: _about(asked, number=_neighbour(asked)), "unknown", UNEXPLAINED),
    ]  # fmt: skip


def _odd_number(start: str, asked: Asked) -> str:
    """A number that begins so, and is this request's alone."""
    return f"{start}{asked.tickets[0][-7:]}{asked.voucher[1]}"


def _oddly(start: str, asked: Asked) -> bytes:
    return _about(asked, number=_odd_number(start, asked))


def _neighbour(asked: Asked) -> str:
    """The number of the good request before this one: tickets of one case count up from 0."""
    before = Asked(asked.voucher, (str(int(asked.tickets[0]) - 1),), b"", 0)
    return number_of(before)


def faults() -> list[Fault]:
    """All of them."""
    return [*statuses(), *envelopes(), *documents(), *seals(), *results(), *numbers()]
