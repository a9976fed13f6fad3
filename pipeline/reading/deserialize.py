"""What the process that opened a file says of it, taken apart and checked: it may have been taken over by the file.

Whatever its bytes are, they come out as texts, numbers, days and marks of a bounded size, or not at all. So what a hostile file
can reach here is what it could have said in its cells; of what it says of the file only texts of ours are taken for ours.
"""

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from string import Formatter
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from pipeline.model.message import SYSTEM_ERRORS, Fact, Message, SheetName
from pipeline.process_bounds import LENGTH_BYTES
from pipeline.reading.cells_fast import Values
from pipeline.reading.formats.refusal import Seen

#: Positions of all sheets together, which cost 4 bytes each here; the reader refuses a quarter of it (see look, columns).
LARGEST_AREA = 256_000_000
_MOST_READINGS, _MOST_SHEETS, _MOST_MERGED = 4, 20_000, 10_000_000
_FURTHEST = 2**31 - 1
_LONGEST_NAME, _LONGEST_DETAIL = 1_000, 200
#: All that it may say in words of ours.
_OURS = {*Seen, *SYSTEM_ERRORS}


Codes = npt.NDArray[np.int32]
#: A column's values, or those that are new in a piece of it, and the number of the value in each of its rows; None where each row has its
#: own.
Part = tuple[Values, Codes | None]


class NotAnAnswer(ValueError):
    """Bytes that the reader of files does not write."""


def loads(said: Iterable[bytes]) -> dict[str, Any]:
    """The answer (see `pipeline.reading.bounded_child`), of what the reader says until it ends. Raises NotAnAnswer."""
    pieces: dict[int, list[Part]] = {}
    found: dict[str, Any] = {}
    try:
        for one in said:
            end = LENGTH_BYTES + int.from_bytes(one[:LENGTH_BYTES], "little")
            answer, numbers = orjson.loads(memoryview(one)[LENGTH_BYTES:end]), _Numbers(one, end)
            if "piece" in answer:
                pieces[answer["piece"]] = parts = _parts(answer["columns"], numbers)
                for values, _ in parts:
                    values.look()
            else:
                found = _answer(answer, numbers, pieces)
        _check(bool(found))
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise NotAnAnswer(type(error).__name__) from None
    return found


def _answer(answer: Mapping[str, Any], numbers: "_Numbers", pieces: dict[int, list[Part]]) -> dict[str, Any]:
    """What is said at last, with the pieces that came before it."""
    detail = _detail(answer)
    if "readings" not in answer:
        return {"problem": _text(answer["problem"], _LONGEST_DETAIL), "detail": detail}
    readings = [[_sheet(sheet, numbers, pieces) for sheet in sheets] for sheets in answer["readings"]]
    sheets = [sheet for reading in readings for sheet in reading]
    _check(0 < len(readings) <= _MOST_READINGS and len(sheets) <= _MOST_SHEETS)
    _check(sum(sheet["height"] * len(sheet["columns"]) for sheet in sheets) <= LARGEST_AREA)
    return {"readings": readings, "certain": answer["certain"] is True, "detail": detail}


def _detail(answer: Mapping[str, Any]) -> Fact:
    """What was seen in the file: one of our texts with its facts, or else a text of nobody's, which is no message."""
    text = _text(answer.get("detail", ""), _LONGEST_DETAIL)
    if text not in _OURS:
        return text
    facts = answer.get("facts", {})
    _check({name for _, name, _, _ in Formatter().parse(text) if name} == set(facts))
    return Message(text, {name: _fact(name, fact) for name, fact in facts.items()})


def _fact(name: str, fact: Any) -> Fact:
    if fact.__class__ is int:
        return int(fact)
    return (SheetName if name == "sheet" else str)(_text(fact, _LONGEST_DETAIL))


class _Numbers:
    """The numbers behind the text, taken in their order."""

    def __init__(self, said: bytes, begin: int) -> None:
        self._all = np.frombuffer(said, dtype=np.int32, offset=begin)
        self._at = 0

    def take(self, count: Any) -> Codes:
        """The next ones."""
        taken = self._all[self._at : self._at + _whole(count)]
        self._at += count
        _check(len(taken) == count)
        return taken


def _sheet(sheet: Mapping[str, Any], numbers: _Numbers, pieces: dict[int, list[Part]]) -> dict[str, Any]:
    height = _whole(sheet["height"])
    currencies = {
        _text(signs, _LONGEST_NAME): _below(_FURTHEST, numbers.take(count))
        for signs, count in sheet["currencies"]
    }
    _check(all(len(places) % 2 == 0 for places in currencies.values()))
    above, last = (
        [pieces.pop(number) for number in sheet.get("pieces", [])],
        _parts(sheet["columns"], numbers),
    )
    columns = [
        _column([parts[at] for parts in (*above, last) if at < len(parts)], height) for at in range(len(last))
    ]
    merged = sheet.get("merged", [])
    hidden, far = sheet.get("hidden_rows", []), sheet.get("far", [])
    _check(max(map(len, (merged, hidden, far))) <= _MOST_MERGED and height * len(columns) <= LARGEST_AREA)
    return {
        "name": _text(sheet["name"], _LONGEST_NAME),
        "visible": sheet["visible"] is True,
        "first_row": _whole(sheet["first_row"]),
        "first_column": _whole(sheet["first_column"]),
        "height": height,
        "columns": columns,
        "merged": [tuple(map(_whole, corners)) for corners in merged if len(corners) == 4],
        "currencies": currencies,
        "hidden_rows": [tuple(map(_whole, ends)) for ends in hidden if len(ends) == 2],
        "far": [tuple(map(_whole, place)) for place in far if len(place) == 2],
        "hidden_tickets": _whole(sheet.get("hidden_tickets", 0)),
    }


def _parts(columns: Any, numbers: _Numbers) -> list[Part]:
    """What one thing that is said holds of each column."""
    return [(_values(values), None if count is None else numbers.take(count)) for values, count in columns]


def _values(values: Any) -> Values:
    _check(isinstance(values, list))
    if set(map(type, values)) <= {str, float}:
        return Values(values)
    return Values([value if value.__class__ in (str, float) else _value(value) for value in values])


def _column(parts: Sequence[Part], height: int) -> Part:
    """A column of its parts, one below the other."""
    values, codes = Values(), list[Codes]()
    for its_values, its_codes in parts:
        begin = len(values)
        values.add(its_values)
        if its_codes is None:
            codes.append(np.arange(begin, len(values), dtype=np.int32))
        else:
            codes.append(_below(len(values), its_codes))
    _check(sum(map(len, codes)) <= height)
    return values, np.concatenate(codes)


def _below(bound: int, numbers: Codes) -> Codes:
    """Numbers, each from 0 and below a bound."""
    _check(bool(((numbers >= 0) & (numbers < bound)).all()))
    return numbers


def _value(value: Any) -> Any:
    """A value that JSON has no word for."""
    kind, text = value
    return _KINDS[kind](_text(text, _LONGEST_NAME))


_KINDS: Mapping[str, Callable[[str], Any]] = {
    "date": datetime.date.fromisoformat,
    "datetime": datetime.datetime.fromisoformat,
    "time": datetime.time.fromisoformat,
    "timedelta": lambda text: datetime.timedelta(microseconds=float(text)),
    "mark": lambda text: text.encode(),
    "float": float,
}


def _whole(number: Any) -> int:
    _check(number.__class__ is int and 0 <= number <= _FURTHEST)
    return int(number)


def _text(text: Any, longest: int) -> str:
    _check(text.__class__ is str)
    return str(text)[:longest]


def _check(fits: bool) -> None:
    if not fits:
        raise ValueError
