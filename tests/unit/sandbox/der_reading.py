"""ASN.1 values taken apart, for tests: what was written is read by other means."""

from collections.abc import Iterator
from typing import NamedTuple


class Value(NamedTuple):
    tag: int
    content: bytes
    whole: bytes

    def parts(self) -> list["Value"]:
        return list(values(self.content))


def values(data: bytes) -> Iterator[Value]:
    place = 0
    while place < len(data):
        first, start = data[place + 1], place + 2
        if first >= 0x80:
            start += first & 0x7F
            first = int.from_bytes(data[place + 2 : start], "big")
        assert start + first <= len(data)
        yield Value(data[place], data[start : start + first], data[place : start + first])
        place = start + first
