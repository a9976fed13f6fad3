"""What the process that opens a file hands to the other, as bytes that hold data only: pieces of a long sheet's rows, and the answer.

Each of them is the length of a JSON text (8 bytes), the text, and then, in the order in which it speaks of them, numbers of 4 bytes each:
of a column the number of the value in each row, of a currency the rows and columns of what is shown in it. In JSON a
text and a number are themselves; of anything else a kind and a text:

    ["date", "2026-10-01"], ["datetime", …], ["time", …], ["timedelta", seconds], ["mark", "#N/A"], ["float", "inf"]

`pipeline.reading.deserialize` reads it, and takes nothing for granted.
"""

import datetime
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from pipeline.process_bounds import LENGTH_BYTES
from pipeline.reading.formats.columnar import Part


def dumps(answer: Mapping[str, Any]) -> Iterator[bytes]:
    """The bytes of an answer (see `pipeline.reading.bounded_child`), or of a piece that comes before it, one after the other."""
    numbers: list[bytes] = []
    if "readings" in answer:
        readings = [[_sheet(sheet, numbers) for sheet in sheets] for sheets in answer["readings"]]
        answer = {**answer, "readings": readings}
    elif "columns" in answer:
        answer = {**answer, "columns": _columns(answer["columns"], numbers)}
    try:
        text = orjson.dumps(answer)
    except TypeError:  # half a character, which UTF-8 does not have: of a name as the system has it
        text = orjson.dumps(_whole(answer))
    yield len(text).to_bytes(LENGTH_BYTES, "little")
    yield text
    yield from numbers


def _sheet(sheet: Mapping[str, Any], numbers: list[bytes]) -> dict[str, Any]:
    currencies = [(signs, _apart(places, numbers)) for signs, places in sheet.get("currencies", {}).items()]
    return {**sheet, "currencies": currencies, "columns": _columns(sheet["columns"], numbers)}


def _columns(columns: Iterable[Part], numbers: list[bytes]) -> list[tuple[Sequence[Any], int | None]]:
    return [(_values(values), _apart(codes, numbers)) for values, codes in columns]


def _apart(codes: bytes | None, numbers: list[bytes]) -> int | None:
    """Put numbers behind the text; how many there are of them stands in it."""
    if codes is None:
        return None
    numbers.append(codes)
    return len(codes) // 4


def _values(values: Sequence[Any]) -> Sequence[Any]:
    kinds = set(map(type, values))
    if kinds <= {str, float} and (
        float not in kinds or math.isfinite(sum([v for v in values if v.__class__ is float]))
    ):
        return values  # as nearly every column is
    return [_value(value) for value in values]


def _value(value: Any) -> Any:
    if isinstance(value, str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, datetime.timedelta):
        return ["timedelta", str(value / datetime.timedelta(microseconds=1))]
    if isinstance(value, bytes):
        return ["mark", value.decode("ascii", "replace")]
    if isinstance(value, float):
        return ["float", str(value)]
    return [type(value).__name__, value.isoformat()]


def _whole(value: Any) -> Any:
    """The same with “?” for half a character."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, Mapping):
        return {name: _whole(one) for name, one in value.items()}
    return [_whole(one) for one in value] if isinstance(value, Sequence) else value
