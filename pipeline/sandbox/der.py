"""ASN.1 values in DER (ITU-T X.690), as far as certificates and seals need them.

>>> sequence(integer(5), oid("1.2.156.10197.1.501")).hex()
'300d02010506082a811ccf55018375'
"""

from datetime import UTC, datetime


def encoded(tag: int, *parts: bytes) -> bytes:
    """One value of this tag: its parts one after another."""
    content = b"".join(parts)
    length = len(content)
    if length < 0x80:
        return bytes((tag, length)) + content
    octets = length.to_bytes((length.bit_length() + 7) // 8, "big")
    return bytes((tag, 0x80 | len(octets))) + octets + content


def sequence(*parts: bytes) -> bytes:
    """A SEQUENCE, or a SEQUENCE OF."""
    return encoded(0x30, *parts)


def one_of_a_set(part: bytes) -> bytes:
    """A SET OF one value."""
    return encoded(0x31, part)


def explicit(number: int, part: bytes) -> bytes:
    """A value under a context tag of its own."""
    return encoded(0xA0 | number, part)


def boolean_true() -> bytes:
    """A BOOLEAN that is true."""
    return encoded(0x01, b"\xff")


def integer(number: int) -> bytes:
    """An INTEGER that is not negative."""
    return encoded(0x02, number.to_bytes(number.bit_length() // 8 + 1, "big"))


def bit_string(octets: bytes, unused: int = 0) -> bytes:
    """A BIT STRING; the last `unused` bits are none of its."""
    return encoded(0x03, bytes((unused,)), octets)


def octet_string(octets: bytes) -> bytes:
    """An OCTET STRING."""
    return encoded(0x04, octets)


def oid(dotted: str) -> bytes:
    """An OBJECT IDENTIFIER."""
    first, second, *rest = map(int, dotted.split("."))
    content = bytearray()
    for arc in (40 * first + second, *rest):
        sevens = [arc & 0x7F]
        while arc := arc >> 7:
            sevens.append(0x80 | arc & 0x7F)
        content += bytes(reversed(sevens))
    return encoded(0x06, bytes(content))


def utf8_string(text: str) -> bytes:
    """A UTF8String."""
    return encoded(0x0C, text.encode())


def printable_string(text: str) -> bytes:
    """A PrintableString."""
    return encoded(0x13, text.encode("ascii"))


def ia5_string(text: str) -> bytes:
    """An IA5String."""
    return encoded(0x16, text.encode("ascii"))


def utc_time(moment: datetime) -> bytes:
    """A UTCTime, of the years 1950 to 2049."""
    return encoded(0x17, moment.astimezone(UTC).strftime("%y%m%d%H%M%SZ").encode("ascii"))


def generalized_time(moment: datetime) -> bytes:
    """A GeneralizedTime, in UTC."""
    return encoded(0x18, moment.astimezone(UTC).strftime("%Y%m%d%H%M%SZ").encode("ascii"))
