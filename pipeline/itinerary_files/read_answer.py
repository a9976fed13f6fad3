"""What the process that reads itinerary files says of one, taken apart and checked: it may have been taken over by a file.

Whatever its bytes are, they come out as the values of a ReadFile, of bounded size, or not at all.
"""

import datetime
import re
from collections.abc import Callable, Mapping
from string import Formatter
from typing import Any

import orjson

from pipeline.itinerary_files.read_reasons import FIELD_WORDS, SOURCE_WORDS, Reason
from pipeline.itinerary_files.source_fields import AMOUNTS, MOST_TICKETS
from pipeline.model.itinerary_file import FieldSource, FileStatus, ItineraryData, ReadFile, SealStatus
from pipeline.model.message import Fact, Message, Private

_PROBLEMS = (FileStatus.ALTERED, FileStatus.NOT_AN_ITINERARY, FileStatus.UNREADABLE, FileStatus.UNCLEAR)
_WITH_DATA = (None, FileStatus.ALTERED, FileStatus.UNCLEAR)
_LONGEST, _MOST_MESSAGES, _LARGEST = 500, 20, 10**13


class NotAnAnswer(ValueError):
    """Bytes that the reader of files does not write."""


def read_file(said: bytes) -> ReadFile:
    """The file that was read. Raises NotAnAnswer."""
    try:
        answer = orjson.loads(said)
        problem = answer.get("problem")
        _check(problem is None or problem in _PROBLEMS)
        reasons = _messages(answer.get("reasons", []))
        _check(bool(reasons) == (problem is not None))
        return ReadFile(
            _data(answer) if problem in _WITH_DATA else None,
            SealStatus(answer.get("seal", SealStatus.NONE)),
            None if problem is None else FileStatus(problem),
            reasons,
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise NotAnAnswer(str(error)) from None


_MONEY = re.compile(r"-?[0-9,]{1,20}(\.[0-9]{2})?")


def _data(answer: Mapping[str, Any]) -> ItineraryData:
    said, sources = answer["data"], answer["sources"]
    values = {name: _VALUES[name](value) for name, value in said.items()}
    _check(values.keys() == sources.keys())
    notes = _messages(answer["notes"])
    return ItineraryData(**values, sources={n: FieldSource(s) for n, s in sources.items()}, notes=notes)


def _messages(said: Any) -> tuple[Message, ...]:
    _check(isinstance(said, list) and len(said) <= _MOST_MESSAGES)
    return tuple(_message(Reason(text), facts) for text, facts in said)


def _message(reason: Reason, facts: Mapping[str, Any]) -> Message:
    """A text of ours with its facts, which are all at their places."""
    _check({name for _, name, _, _ in Formatter().parse(reason) if name} == set(facts))
    of_money = reason in (Reason.SUM, Reason.NET) or facts.get("field") in AMOUNTS
    return Message(reason, {name: _fact(name, fact, of_money=of_money) for name, fact in facts.items()})


def _fact(name: str, fact: Any, *, of_money: bool) -> Fact:
    if name == "field":
        return Message(FIELD_WORDS[_text(fact)])
    if name in ("source", "other_source"):
        return Message(SOURCE_WORDS[FieldSource(fact)])
    if fact.__class__ is int:
        return _whole(fact)
    # An amount names nobody; what else a file says may.
    return _text(fact) if of_money and _MONEY.fullmatch(_text(fact)) else Private(_text(fact))


def _digits(count: int) -> Callable[[Any], str]:
    def digits(text: Any) -> str:
        _check(text.__class__ is str and len(text) == count and text.isascii() and text.isdigit())
        return str(text)

    return digits


def _tickets(said: Any) -> tuple[str, ...]:
    _check(isinstance(said, list) and 0 < len(said) <= MOST_TICKETS)
    return tuple(map(_digits(13), said))


def _whole(number: Any) -> int:
    _check(number.__class__ is int and abs(number) <= _LARGEST)
    return int(number)


def _text(text: Any) -> str:
    _check(text.__class__ is str)
    return str(text)[:_LONGEST]


_VALUES: Mapping[str, Callable[[Any], Any]] = {
    "number": _digits(20),
    "tickets": _tickets,
    "buyer_name": _text,
    "buyer_tax_no": _text,
    "issued_on": datetime.date.fromisoformat,
    "red_of": _digits(20),
} | dict.fromkeys((name for name in AMOUNTS if name != "net"), _whole)


def _check(fits: bool) -> None:
    if not fits:
        raise ValueError
