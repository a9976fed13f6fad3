"""ASN.1 as DER has it (X.690, 10), read strictly: one way to write each length, nothing left over, nothing cut off.

Of the library at hand for this (asn1crypto, 105 KB) a seal would use the reading of tags and lengths alone: a seal's structures
are not in it. So they are read here. What is signed is always the bytes as they stand; nothing is written anew.
"""

import datetime
from typing import NamedTuple

BOOLEAN, INTEGER, BIT_STRING, OCTET_STRING, OID, UTC_TIME, GENERALIZED_TIME, SEQUENCE = (
    0x01,
    0x02,
    0x03,
    0x04,
    0x06,
    0x17,
    0x18,
    0x30,
)
#: A tag that its context gives a meaning, with values in it.
CONTEXT = 0xA0
#: Values in one sequence: a certificate has some ten extensions.
_MOST = 200


class NotDer(ValueError):
    """The bytes are not DER, or not the values that were expected."""


class Der(NamedTuple):
    """A value: its tag, its content, and all its bytes."""

    tag: int
    content: bytes
    whole: bytes

    def expect(self, tag: int) -> "Der":
        """Itself, if it has that tag."""
        if self.tag != tag:
            raise NotDer
        return self

    def values(self, least: int = 0) -> "list[Der]":
        """The values of a sequence or set, of which there are at least so many."""
        found, at = list[Der](), 0
        while at < len(self.content):
            found.append(one := _one(self.content, at))
            at += len(one.whole)
            if len(found) > _MOST:
                raise NotDer
        if not self.tag & 0x20 or len(found) < least:
            raise NotDer
        return found

    def number(self) -> int:
        """An integer of at most 32 bytes, and no more bytes than it needs."""
        content = self.expect(INTEGER).content
        long = len(content) > 1 and content[0] in (0, 0xFF) and (content[0] ^ content[1]) < 0x80
        if not 0 < len(content) <= 33 or long:
            raise NotDer
        return int.from_bytes(content, "big", signed=True)

    def bits(self) -> bytes:
        """A bit string of whole bytes."""
        content = self.expect(BIT_STRING).content
        if not content or content[0] != 0:
            raise NotDer
        return content[1:]

    def oid(self) -> str:
        """An object identifier, with points."""
        content = self.expect(OID).content
        if not 0 < len(content) <= 32 or content[-1] & 0x80:
            raise NotDer
        numbers, number = list[int](), 0
        for byte in content:
            number = number << 7 | byte & 0x7F
            if not byte & 0x80:
                numbers.append(number)
                number = 0
        first = min(numbers[0] // 40, 2)
        return ".".join(map(str, (first, numbers[0] - 40 * first, *numbers[1:])))

    def time(self) -> datetime.datetime:
        """A moment, in UTC; a two-digit year below 50 is of this century (RFC 5280, 4.1.2.5)."""
        text = self.content.decode("ascii", "replace")
        if self.tag == UTC_TIME and text[:2].isdigit():
            text = ("20" if int(text[:2]) < 50 else "19") + text
        elif self.tag != GENERALIZED_TIME:
            raise NotDer
        try:
            return datetime.datetime.strptime(
                text[:14] + text[14:].lstrip(".0123456789"), "%Y%m%d%H%M%SZ"
            ).replace(tzinfo=datetime.UTC)
        except ValueError:
            raise NotDer from None


def read(content: bytes) -> Der:
    """The one value that the bytes are. Raises NotDer."""
    one = _one(content, 0)
    if len(one.whole) != len(content):
        raise NotDer
    return one


def _one(content: bytes, at: int) -> Der:
    if at + 2 > len(content) or content[at] & 0x1F == 0x1F:
        raise NotDer
    begin, length = at + 2, content[at + 1]
    if length & 0x80:
        size = length & 0x7F
        begin += size
        length = int.from_bytes(content[at + 2 : begin], "big")
        # Indefinite (0), longer than any file, longer than it need be.
        if not 1 <= size <= 4 or length < 0x80 or length.bit_length() <= 8 * (size - 1):
            raise NotDer
    end = begin + length
    if end > len(content):
        raise NotDer
    return Der(content[at], content[begin:end], content[at:end])
