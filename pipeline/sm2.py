"""SM2 signatures over SM3 (GB/T 32918.2, GB/T 32905), the curve being the one that GB/T 32918.5 recommends.

The arithmetic is Python's own integers; SM3 comes from the OpenSSL that Python is built with. An OpenSSL without SM3 (a FIPS build,
say) is no reason to stop: then every function here that needs it raises NoSM3, and the caller says that seals can't be checked.

Nothing here takes a constant time. That is nothing to a verification, whose inputs are public; `sign` is for the sandbox's test
seal alone, whose key is public too, and must never be given a key that matters.

>>> signature = sign(1, b"an itinerary")
>>> verify(public_key_of(1), b"an itinerary", signature), verify(public_key_of(1), b"another", signature)
(True, False)
"""

import hashlib
import hmac
from collections.abc import Iterator
from functools import lru_cache
from itertools import count

#: The signer's name where none is agreed on (GB/T 35276, 10).
USER_ID = b"1234567812345678"

# GB/T 32918.5, 2: y² = x³ + ax + b over the integers modulo _P; _N is the number of its points. a is -3, which `_doubled` rests on.
_P = 0xFFFFFFFEFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF00000000FFFFFFFFFFFFFFFF
_A = _P - 3
_B = 0x28E9FA9E9D9F5E344D5A9E4BCF6509A7F39789F515AB8F92DDBCBD414D940E93
_N = 0xFFFFFFFEFFFFFFFFFFFFFFFFFFFFFFFF7203DF6B21C6052B53BBF40939D54123
_G = (
    0x32C4AE2C1F1981195F9904466A39C9948FE30BBFF2660BE1715A4589334C74C7,
    0xBC3736A2F4F6779C59BDCEE36B692153D0A9877CC62A474002DF32E52139F0A0,
)
_BYTES = 32
#: Bits that are taken at once: by a point's table of multiples, or by the odd multiples up to 15 alone.
_TABLE_BITS, _ODD_BITS = 4, 5
#: A table costs seven verifications and saves half of each: of so many keys one is kept, from the ninth use on.
_TABLES, _SELDOM = 16, 8

Affine = tuple[int, int]
#: (X, Y, Z) is the point (X/Z², Y/Z³); Z is 0 at infinity.
Jacobian = tuple[int, int, int]
_INFINITY: Jacobian = (1, 1, 0)


class NoSM3(Exception):
    """Python's OpenSSL has no SM3."""


def sm3(data: bytes) -> bytes:
    """The SM3 digest, of 32 bytes. Raises NoSM3."""
    try:
        return hashlib.new("sm3", data).digest()
    except ValueError as error:
        raise NoSM3(str(error)) from None


def verify(public_key: bytes, message: bytes, signature_der: bytes, user_id: bytes = USER_ID) -> bool:
    """Whether a signature (DER: a sequence of r and s) is this key's over this message (GB/T 32918.2, 7).

    `public_key` has 65 bytes: 4, x, y. A key that is not on the curve has signed nothing, and what is not DER is no signature.
    Raises NoSM3.
    """
    point, pair = _point(public_key), _signature(signature_der)
    if point is None or pair is None:
        return False
    r, s = pair
    t = (r + s) % _N
    if not (0 < r < _N and 0 < s < _N and t):
        return False
    x, _, z = _plus(_times_base(s), _times_key(t, point))
    if z == 0:
        return False
    return (_digest(public_key, message, user_id) + x * pow(z, -2, _P) % _P) % _N == r


def sign(private_key: int, message: bytes, user_id: bytes = USER_ID) -> bytes:
    """A test seal's signature, in DER: one message always gets the same one (its nonce is made as RFC 6979, 3.2 has it, with SM3).

    Raises ValueError for a key that is none, and NoSM3.
    """
    digest = _digest(public_key_of(private_key), message, user_id)
    for nonce in _nonces(private_key, digest):
        x, _, z = _times_base(nonce)
        r = (digest + x * pow(z, -2, _P) % _P) % _N
        s = pow(1 + private_key, -1, _N) * (nonce - r * private_key) % _N
        if r and s and r + nonce != _N:
            return _der(0x30, _der(2, _integer(r)) + _der(2, _integer(s)))
    raise AssertionError  # pragma: no cover - nonces do not end


def public_key_of(private_key: int) -> bytes:
    """The public key, of 65 bytes: 4, x, y. Raises ValueError for a number that is no private key (GB/T 32918.1, 6.1)."""
    if not 0 < private_key < _N - 1:
        raise ValueError("a private key lies between 1 and n - 2")
    x, y, z = _times_base(private_key)
    back = pow(z, -1, _P)
    return b"\4" + _bytes(x * back**2 % _P) + _bytes(y * back**3 % _P)


def _digest(public_key: bytes, message: bytes, user_id: bytes) -> int:
    """What is signed: SM3 over the message, and before it over who signs it on which curve (GB/T 32918.2, 5.5)."""
    who = (len(user_id) * 8).to_bytes(2, "big") + user_id
    curve = b"".join(map(_bytes, (_A, _B, *_G)))
    return int.from_bytes(sm3(sm3(who + curve + public_key[1:]) + message), "big")


def _nonces(private_key: int, digest: int) -> Iterator[int]:
    """RFC 6979, 3.2, steps b to h."""
    seed = _bytes(private_key) + _bytes(digest % _N)
    value, key = b"\1" * _BYTES, b"\0" * _BYTES
    for mark in (b"\0", b"\1"):
        key = hmac.digest(key, value + mark + seed, "sm3")
        value = hmac.digest(key, value, "sm3")
    while True:
        value = hmac.digest(key, value, "sm3")
        if 0 < (nonce := int.from_bytes(value, "big")) < _N:
            yield nonce
        key = hmac.digest(key, value + b"\0", "sm3")
        value = hmac.digest(key, value, "sm3")


def _point(public_key: bytes) -> Affine | None:
    if len(public_key) != 1 + 2 * _BYTES or public_key[0] != 4:
        return None
    x, y = (int.from_bytes(half, "big") for half in (public_key[1:33], public_key[33:]))
    on_curve = x < _P and y < _P and (y * y - (x * x + _A) * x - _B) % _P == 0
    return (x, y) if on_curve else None


def _signature(der: bytes) -> tuple[int, int] | None:
    """The r and s of a signature, where it is written as DER has it: in one way only."""
    try:
        first = 4 + der[3]
        r, s = (int.from_bytes(part, "big") for part in (der[4:first], der[first + 2 :]))
    except IndexError:
        return None
    if r.bit_length() > 256 or s.bit_length() > 256:
        return None
    return (r, s) if der == _der(0x30, _der(2, _integer(r)) + _der(2, _integer(s))) else None


def _der(tag: int, value: bytes) -> bytes:
    """A short value in DER: one of less than 128 bytes."""
    return bytes((tag, len(value))) + value


def _integer(number: int) -> bytes:
    return number.to_bytes(number.bit_length() // 8 + 1, "big")


def _bytes(number: int) -> bytes:
    return number.to_bytes(_BYTES, "big")


def _times_base(factor: int) -> Jacobian:
    """A multiple of the base point."""
    return _times_by_table(factor, _G)


def _times_key(factor: int, key: Affine) -> Jacobian:
    """A multiple of a public key; of one that comes up often, as the signer of most files does, by a table."""
    return _times_by_table(factor, key) if next(_uses(key)) >= _SELDOM else _times(factor, key)


@lru_cache(maxsize=_TABLES)
def _uses(_key: Affine) -> Iterator[int]:
    return count()


def _times_by_table(factor: int, point: Affine) -> Jacobian:
    total = _INFINITY
    for multiples in _multiples(point):
        if digit := factor & ((1 << _TABLE_BITS) - 1):
            total = _plus_affine(total, multiples[digit - 1])
        factor >>= _TABLE_BITS
    return total


@lru_cache(maxsize=_TABLES + 1)
def _multiples(of_point: Affine) -> list[list[Affine]]:
    """For each digit of a factor, which has `_TABLE_BITS` bits, the point times each value of the digit at its place."""
    points: list[Jacobian] = []
    place: Jacobian = (*of_point, 1)
    for _ in range(0, 256, _TABLE_BITS):
        point = place
        for _ in range((1 << _TABLE_BITS) - 1):
            points.append(point)
            point = _plus(point, place)
        place = point
    flat, row = _affine(points), (1 << _TABLE_BITS) - 1
    return [flat[at : at + row] for at in range(0, len(flat), row)]


def _affine(points: list[Jacobian]) -> list[Affine]:
    """The points, none of them at infinity, with one inversion for all of them (Montgomery's trick)."""
    products = [1]
    for _, _, z in points:
        products.append(products[-1] * z % _P)
    back, made = pow(products[-1], -1, _P), list[Affine]()
    for (x, y, z), before in zip(reversed(points), reversed(products[:-1]), strict=True):
        inverse = back * before % _P
        back = back * z % _P
        square = inverse * inverse % _P
        made.append((x * square % _P, y * square * inverse % _P))
    return made[::-1]


def _times(factor: int, point: Affine) -> Jacobian:
    """A multiple of any point: by the factor's non-adjacent form, whose digits are odd and seldom."""
    twice, odd = _doubled((*point, 1)), list[Jacobian]([(*point, 1)])
    for _ in range((1 << (_ODD_BITS - 2)) - 1):
        odd.append(_plus(odd[-1], twice))
    multiples = _affine(odd)
    total = _INFINITY
    for digit in reversed(_digits(factor)):
        total = _doubled(total)
        if digit:
            x, y = multiples[abs(digit) >> 1]
            total = _plus_affine(total, (x, y) if digit > 0 else (x, _P - y))
    return total


def _digits(factor: int) -> list[int]:
    """The factor as a sum of digit × 2ⁿ, the digits 0 or odd."""
    digits, whole = list[int](), 1 << _ODD_BITS
    while factor:
        digit = 0
        if factor & 1:
            digit = factor & (whole - 1)
            digit -= whole if digit >= whole >> 1 else 0
            factor -= digit
        digits.append(digit)
        factor >>= 1
    return digits


def _doubled(point: Jacobian) -> Jacobian:
    """Twice a point (explicit-formulas database, dbl-2001-b). No point of the curve has y = 0: its order is odd."""
    x, y, z = point
    square, fourth = z * z % _P, y * y % _P
    beta = x * fourth % _P
    alpha = 3 * (x - square) * (x + square) % _P
    new = (alpha * alpha - 8 * beta) % _P
    return new, (alpha * (4 * beta - new) - 8 * fourth * fourth) % _P, 2 * y * z % _P


def _plus_affine(point: Jacobian, other: Affine) -> Jacobian:
    """The sum of a point and another whose Z is 1 (madd-2004-hmv); not of one and itself or its negative, which factors below n never ask."""
    x1, y1, z1 = point
    if z1 == 0:
        return (*other, 1)
    square = z1 * z1 % _P
    across = (other[0] * square - x1) % _P
    up = (other[1] * square * z1 - y1) % _P
    squared = across * across % _P
    cubed, along = squared * across % _P, x1 * squared % _P
    new = (up * up - cubed - 2 * along) % _P
    return new, (up * (along - new) - y1 * cubed) % _P, z1 * across % _P


def _plus(one: Jacobian, other: Jacobian) -> Jacobian:
    """The sum of two points (add-1998-cmo-2)."""
    (x1, y1, z1), (x2, y2, z2) = one, other
    if z1 == 0 or z2 == 0:
        return other if z1 == 0 else one
    square1, square2 = z1 * z1 % _P, z2 * z2 % _P
    u1, s1 = x1 * square2 % _P, y1 * square2 * z2 % _P
    across = (x2 * square1 - u1) % _P
    up = (y2 * square1 * z1 - s1) % _P
    if across == 0:
        return _INFINITY if up else _doubled(one)
    squared = across * across % _P
    cubed, along = squared * across % _P, u1 * squared % _P
    new = (up * up - cubed - 2 * along) % _P
    return new, (up * (along - new) - s1 * cubed) % _P, z1 * z2 * across % _P
