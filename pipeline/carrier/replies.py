"""What an answer of the carrier means: the only place that decides it.

The promise rests on this page. A yes needs every signal to agree: HTTP 200, envelope code 200 with
message "success", a result that decrypts, success true, its number, and for an itinerary the ticket
that was asked for. A no needs the carrier's own decrypted word, or a code that the profile explains.
"Nothing was issued" needs proof that nothing was processed. Everything else is unknown.

Sources: carrier-interface.md, Response envelope, Invoice result, Itinerary result, Errors; design,
"The promise", points 4 and 5; what the interface leaves open is in the profile's [answers].
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pipeline.carrier.crypto import Cipher, Undecryptable
from pipeline.carrier.documents import parsed
from pipeline.model.message import N_, NOTHING, Message, Private, message, verbatim
from pipeline.model.outcome import Answered, Lost, NotSent, Outcome, Reply
from pipeline.model.profile import Answers
from pipeline.model.request import Asked

_NUMBER = re.compile(r"(?=.*[1-9])[0-9A-Za-z][0-9A-Za-z._/-]{0,99}")
#: In an answer that is no JSON object, and no page either, whose scripts may have such words: what an envelope that says yes has.
_YES = re.compile(rb'(?i)"success"|"code"\s*:\s*"?200\b')
_UNSAFE = re.compile(r"[\s\x00-\x1f\x7f\ufffe\uffff\ud800-\udfff]+")
_DETAIL_LENGTH = 300
_OK = message("HTTP {status}", status=200)
_WRONG_ADDRESS = (404, 405)
#: What a person looks at first where every request is refused, by the reason.
_CHECK = {
    "carrier_unreachable": N_("{answer}: the address is wrong; check base_url in the profile"),
    "key_refused": N_(
        "{answer}: the key or the agency is refused; check VOUCHER_API_KEY, and agency in the profile"
    ),
}


def _clean(text: Any) -> str:
    """The carrier's words as one line that is safe to show."""
    words = str(text)
    if not words.isprintable() or "  " in words:  # most are safe as they came
        words = _UNSAFE.sub(" ", words)
    return words.strip()[:_DETAIL_LENGTH]


def _seconds(retry_after: str) -> float | None:
    """Retry-After in seconds; its date form is passed over, the backoff serves there too."""
    return float(retry_after) if re.fullmatch(r"[0-9]{1,6}", retry_after.strip()) else None


@dataclass(slots=True)  # not frozen, as that takes several times as long, for each request
class Before:
    """What was before a reply.

    `doubted`: one of its request's charges had an unknown attempt, so that a no may mean "issued
    already" and is unknown (the promise, point 4). `accepted`: the service has taken key and address in this run
    (`is_the_services_own`), so that their refusal comes from something in front of it, and proves nothing.
    """

    doubted: bool = False
    accepted: bool = False


_NOTHING = Before()


def interpret(
    reply: Reply, asked: Asked, cipher: Cipher, answers: Answers, before: Before = _NOTHING
) -> Outcome:
    """What a reply means to a request that asked for this."""
    match reply:
        case NotSent(detail, too_late):
            return Outcome("not_sent", "run_stopped" if too_late else "carrier_unreachable", detail=detail)
        case Lost(detail, readable):
            return Outcome("unknown", "no_answer" if readable else "answer_unreadable", detail=detail)
        case Answered():
            outcome = _answered(reply, asked, cipher, answers)
    if outcome.state == "rejected" and before.doubted:
        detail = message(
            "the carrier refused it ({answer}), and an earlier attempt is unknown: it may be issued already",
            answer=outcome.detail,
        )
        return Outcome("unknown", "answer_unexplained", trace_id=outcome.trace_id, detail=detail)
    if before.accepted:
        return _after_acceptance(outcome)
    opens = outcome.state != "unknown" or _opens(reply, cipher, answers)
    return _before_acceptance(outcome, opens=opens)


def _before_acceptance(outcome: Outcome, *, opens: bool | None) -> Outcome:
    """What an answer means as long as every request may fare the same for a reason of ours; says what to look at."""
    if opens is False:
        detail = message(
            "{answer} (nothing was accepted in this run before): check VOUCHER_ENCRYPTION_KEY",
            answer=outcome.detail,
        )
        return replace(outcome, detail=detail, stop=True)
    if outcome.state == "not_sent" and outcome.stop:
        return replace(outcome, detail=Message(_CHECK[outcome.reason], {"answer": outcome.detail}))
    return outcome


def _after_acceptance(outcome: Outcome) -> Outcome:
    """What an answer means once key and address are known to be right: their refusal is no word of the service's."""
    if outcome.state != "not_sent" or not outcome.stop:
        return outcome
    detail = message(
        "{answer}, though key and address were accepted before in this run: something on the way may have said it",
        answer=outcome.detail,
    )
    return Outcome("unknown", "answer_unexplained", trace_id=outcome.trace_id, detail=detail, stop=True)


def is_the_services_own(reply: Reply, cipher: Cipher, answers: Answers) -> bool:
    """Whether an answer shows that key and address are right: a result that opens with our key, and no refusal of the key."""
    return isinstance(reply, Answered) and _opens(reply, cipher, answers) is True


def _opens(answer: Answered, cipher: Cipher, answers: Answers) -> bool | None:
    """Whether an envelope takes our key and holds a result that opens with it; None where it is no envelope at all."""
    try:
        envelope = parsed(answer.body) if answer.http_status == 200 else None
    except ValueError:
        return None
    if not isinstance(envelope, dict) or not isinstance(envelope.get("code"), int):
        return None
    return (
        envelope["code"] not in answers.key_refused_codes
        and _result(envelope.get("data"), cipher)[0] is not None
    )


def _answered(answer: Answered, asked: Asked, cipher: Cipher, answers: Answers) -> Outcome:
    """By the HTTP status first: only a 200 can hold an answer of the service itself."""
    status = answer.http_status
    if status != 200 and _claims_success(answer, asked, cipher):
        detail = message("HTTP {status}, though the answer says success", status=status)
        return Outcome("unknown", "answer_unexplained", detail=detail)
    detail = _OK if status == 200 else message("HTTP {status}", status=status)
    if status in _WRONG_ADDRESS:
        return Outcome("not_sent", "carrier_unreachable", detail=detail, stop=True)
    if status in answers.key_refused_codes:
        return Outcome("not_sent", "key_refused", detail=detail, stop=True)
    if status in answers.not_processed_http:
        return Outcome("not_sent", "carrier_busy", detail=detail, retry_after=_seconds(answer.retry_after))
    if status != 200:
        return Outcome("unknown", "answer_unexplained", detail=detail)
    return _envelope(answer, asked, cipher, answers)


def _claims_success(answer: Answered, asked: Asked, cipher: Cipher) -> bool:
    """Whether an answer's body says yes, or brings a number, whatever its status says."""
    try:
        envelope = parsed(answer.body)
    except ValueError:
        envelope = None
    if not isinstance(envelope, dict):
        body = answer.body.replace(b"\0", b"")  # it may be in UTF-16
        return not body.lstrip().startswith(b"<") and _YES.search(body) is not None
    result, _ = _result(envelope.get("data"), cipher)
    if envelope.get("code") in (200, "200") or _says_success(envelope):
        return True
    return result is not None and (_success(result, asked.voucher) is True or _has_number(result))


def _envelope(  # noqa: PLR0911 - one return for each thing that an envelope can mean
    answer: Answered, asked: Asked, cipher: Cipher, answers: Answers
) -> Outcome:
    """By the envelope: its code, then the result inside it."""
    try:
        envelope = parsed(answer.body)
    except ValueError:
        return Outcome("unknown", "answer_unreadable", detail=message("the answer is not JSON"))
    if not isinstance(envelope, dict):
        return Outcome("unknown", "answer_unreadable", detail=message("the answer is not a JSON object"))
    code = envelope.get("code")
    trace = _clean(envelope.get("traceId") or "")
    if isinstance(code, bool) or not isinstance(code, int):
        return Outcome(
            "unknown", "answer_unreadable", trace_id=trace, detail=message("the envelope has no numeric code")
        )
    result, problem = _result(envelope.get("data"), cipher)
    accepted = None if result is None else _success(result, asked.voucher)
    if code != 200:
        said = _said(envelope)
        return _other_code(code, _Signals(said, trace, accepted, result, _says_success(envelope)), answers)
    if result is None:
        return Outcome("unknown", "answer_unreadable", trace_id=trace, detail=problem)
    if accepted is False and _names_another(result, asked):
        return _about_another(_inner(result, asked.voucher), trace)
    if accepted is False:
        return Outcome(
            "rejected",
            "carrier_rejected",
            trace_id=trace,
            detail=_refusal(result, _said(envelope), silent=_says_success(envelope)),
        )
    if accepted is None:
        return Outcome(
            "unknown",
            "answer_unreadable",
            trace_id=trace,
            detail=message("the result says neither yes nor no, or both"),
        )
    if not _says_success(envelope):
        detail = message("{answer}, though the result says success", answer=_said(envelope))
        return Outcome("unknown", "answer_unexplained", trace_id=trace, detail=detail)
    return _accepted(result, asked, trace)


def _said(envelope: Mapping[str, Any]) -> Message:
    """An envelope's own words, with its code."""
    words = Private(_clean(envelope.get("message", "")), whole=True)
    return message("code {code}: {words}", code=envelope["code"], words=words)


def _result(data: Any, cipher: Cipher) -> tuple[Mapping[str, Any] | None, Message]:
    """The decrypted result document, or None and what is wrong with it."""
    if not isinstance(data, str) or not data:
        return None, message("the envelope holds no data")
    try:
        result = parsed(cipher.open(data))
    except Undecryptable:
        return None, message("the data can't be decrypted with our key")
    except ValueError:
        return None, message("the decrypted data is not JSON")
    if not isinstance(result, dict):
        return None, message("the decrypted data is not a JSON object")
    return result, NOTHING


def _success(result: Mapping[str, Any], voucher: str) -> bool | None:
    """The result's own yes or no, None where it says neither or both: a no that comes with a number."""
    inner = _inner(result, voucher)
    success = inner.get("success")
    if not isinstance(success, bool) or result.get("success", success) is not success:
        return None
    return None if not success and _has_number(result) else success


def _says_success(envelope: Mapping[str, Any]) -> bool:
    said = envelope.get("message", "")
    return said == "success" or _clean(said).casefold() == "success"


def _has_number(result: Mapping[str, Any]) -> bool:
    """Whether a result brings a voucher's number, for an invoice or an itinerary."""
    inner = result.get("itineraryResult")
    numbers = [result.get("invoiceId"), inner.get("itineraryNum") if isinstance(inner, dict) else None]
    return any(number not in (None, "") for number in numbers)


def _inner(result: Mapping[str, Any], voucher: str) -> Mapping[str, Any]:
    """Where a result document says what came of the request; empty where it does not."""
    inner = result.get("itineraryResult") if voucher == "itinerary" else result
    return inner if isinstance(inner, dict) else {}


def _refusal(result: Mapping[str, Any], said: Message, *, silent: bool) -> Message:
    """The carrier's words about a refusal, wherever it put them; `silent`: the envelope says none, only that it is a success."""
    inner = result.get("itineraryResult")
    texts = [result.get("errInfo"), inner.get("errInfo") if isinstance(inner, dict) else None]
    if words := [text for text in texts if isinstance(text, str) and text.strip()]:
        return verbatim(_clean(words[0]))
    return message("{answer}, and it gives no reason", answer=said) if silent else said


@dataclass(frozen=True)
class _Signals:
    """What an envelope says beside its code: in words, by its result (yes, no or neither), and whether it calls itself a success."""

    said: Message
    trace: str
    accepted: bool | None
    result: Mapping[str, Any] | None
    succeeded: bool


def _other_code(code: int, signals: _Signals, answers: Answers) -> Outcome:
    """An envelope code other than 200: as the profile explains it, unless the result contradicts."""
    said, trace, result = signals.said, signals.trace, signals.result
    nothing_processed = code in answers.key_refused_codes or code in answers.not_processed_codes
    if (
        signals.accepted is True
        or (signals.succeeded and nothing_processed)  # it would be sent again
        or (result is not None and _has_number(result))
    ):
        detail = message("{answer}, though the answer says success or brings a number", answer=said)
        return Outcome("unknown", "answer_unexplained", trace_id=trace, detail=detail)
    if code in answers.key_refused_codes:
        return Outcome("not_sent", "key_refused", trace_id=trace, detail=said, stop=True)
    if code in answers.not_processed_codes:
        return Outcome("not_sent", "carrier_busy", trace_id=trace, detail=said)
    if code in answers.rejected_codes:
        return Outcome("rejected", "carrier_rejected", trace_id=trace, detail=said)
    if signals.accepted is False and result is not None:
        return Outcome(
            "rejected",
            "carrier_rejected",
            trace_id=trace,
            detail=_refusal(result, said, silent=signals.succeeded),
        )
    return Outcome("unknown", "answer_unexplained", trace_id=trace, detail=said)


def _accepted(result: Mapping[str, Any], asked: Asked, trace: str) -> Outcome:
    """A yes, if it names its number and (an itinerary) the ticket that was asked for."""
    if asked.voucher == "invoice":
        number = _number(result.get("invoiceId"))
    else:
        inner = result["itineraryResult"]
        number = _number(inner.get("itineraryNum"))
        answered = re.sub(r"[^0-9]", "", str(inner.get("ticketNo", "")))
        if answered != asked.tickets[0]:
            return _about_another(inner, trace)
    if not number:
        return Outcome(
            "unknown", "answer_unexplained", trace_id=trace, detail=message("success without a number")
        )
    return Outcome("issued", number=number, trace_id=trace)


def _names_another(result: Mapping[str, Any], asked: Asked) -> bool:
    """Whether a no names a ticket that this request did not ask for; it need not name any."""
    named = _inner(result, asked.voucher).get("ticketNo")
    return named not in (None, "") and re.sub(r"[^0-9]", "", str(named)) not in asked.tickets


def _about_another(inner: Mapping[str, Any], trace: str) -> Outcome:
    named = Private(_clean(inner.get("ticketNo", "")), whole=True)
    detail = message("the answer is about another ticket ({ticket_no})", ticket_no=named)
    return Outcome("unknown", "answer_unexplained", trace_id=trace, detail=detail)


def _number(value: Any) -> str:
    """A voucher's number as text, "" for what is none; a JSON number is exact here.

    The interface shows 18 and 20 digits ("in the observed shape"), so other shapes are taken too.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    return value.strip() if isinstance(value, str) and _NUMBER.fullmatch(value.strip()) else ""
