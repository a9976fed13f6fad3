"""SM2 signatures: the standard's own example, and OpenSSL's in both directions."""

import hashlib
import subprocess
from pathlib import Path

import pytest

from pipeline import sm2

#: GB/T 32918.5, annex A.2: the key, the message and its signature.
KEY = 0x3945208F7B2144B13F36E38AC6D39F95889393692860B51A42FB81EF4DF7C5B8
PUBLIC = bytes.fromhex(
    "0409F9DF311E5421A150DD7D161E4BC5C672179FAD1833FC076BB08FF356F35020"
    "CCEA490CE26775A52DC6EA718CC1AA600AED05FBF35E084A6632F6072DA9AD13"
)
MESSAGE = b"message digest"
R = bytes.fromhex("F5A03B0648D2C4630EEAC513E1BB81A15944DA3827D5B74143AC7EACEEE720B3")
S = bytes.fromhex("B1B6AA29DF212FD8763182BC0D421CA1BB9038FD1F7F42D4840B69C485BBC1AA")
SIGNATURE = b"\x30\x46\x02\x21\x00" + R + b"\x02\x21\x00" + S
ORDER = 0xFFFFFFFEFFFFFFFFFFFFFFFFFFFFFFFF7203DF6B21C6052B53BBF40939D54123

#: What stands before the 65 bytes of a public key in DER, and the parts of a private one (RFC 5480, RFC 5915).
PUBLIC_HEAD = bytes.fromhex("3059301306072a8648ce3d020106082a811ccf5501822d034200")
PRIVATE_HEAD, PRIVATE_CURVE = (
    bytes.fromhex("30770201010420"),
    bytes.fromhex("a00a06082a811ccf5501822da144034200"),
)


def test_the_example_of_the_standard() -> None:
    assert sm2.public_key_of(KEY) == PUBLIC
    assert sm2.verify(PUBLIC, MESSAGE, SIGNATURE)


@pytest.mark.parametrize("at", range(len(SIGNATURE)))
def test_a_signature_with_one_bit_changed_is_none(at: int) -> None:
    changed = bytearray(SIGNATURE)
    changed[at] ^= 1
    assert not sm2.verify(PUBLIC, MESSAGE, bytes(changed))


def test_a_key_that_comes_up_often_verifies_as_before() -> None:
    for _ in range(2 * sm2._SELDOM):
        assert sm2.verify(PUBLIC, MESSAGE, SIGNATURE)
        assert not sm2.verify(PUBLIC, MESSAGE + b" ", SIGNATURE)
    key, message = 2**255 - 19, b"x"
    signature, public = sm2.sign(key, message), sm2.public_key_of(key)
    assert {sm2.verify(public, message, signature) for _ in range(2 * sm2._SELDOM)} == {True}


def test_it_is_of_one_message_key_and_user() -> None:
    assert not sm2.verify(PUBLIC, MESSAGE + b" ", SIGNATURE)
    assert not sm2.verify(sm2.public_key_of(KEY + 1), MESSAGE, SIGNATURE)
    assert not sm2.verify(PUBLIC, MESSAGE, SIGNATURE, b"ALICE123@YAHOO.COM")


def _signature(r: int, s: int) -> bytes:
    numbers = (number.to_bytes(number.bit_length() // 8 + 1, "big") for number in (r, s))
    both = b"".join(bytes((2, len(number))) + number for number in numbers)
    return bytes((0x30, len(both))) + both


R_NUMBER, S_NUMBER = int.from_bytes(R, "big"), int.from_bytes(S, "big")


@pytest.mark.parametrize(
    "signature",
    [
        b"",
        b"\x30",
        SIGNATURE[:-1],
        SIGNATURE + b"\0",
        R + S,
        b"\x30\x80" + SIGNATURE[2:],
        b"\x30\x82\xff\xff" + SIGNATURE[2:],
        b"\x30\x47\x02\x22\x00\x00" + R + b"\x02\x21\x00" + S,  # an integer longer than it need be
        b"\x30\x44\x02\x20" + R + b"\x02\x20" + S,  # negative ones
        b"\x30\xff\x02\xff" + b"\x7f" * 255 + b"\x02\x01\x01",
        _signature(0, S_NUMBER),
        _signature(R_NUMBER, 0),
        _signature(R_NUMBER + ORDER, S_NUMBER),
        _signature(R_NUMBER, S_NUMBER + ORDER),
        _signature(R_NUMBER, ORDER - R_NUMBER),  # r + s = 0
    ],
)  # fmt: skip
def test_what_is_no_signature(signature: bytes) -> None:
    assert not sm2.verify(PUBLIC, MESSAGE, signature)


def _near() -> tuple[int, int]:
    """A point of the curve whose x is small, so that x + p has 32 bytes too."""
    for x in range(100):
        square = (x * x * x + sm2._A * x + sm2._B) % sm2._P
        y = pow(square, (sm2._P + 1) // 4, sm2._P)
        if y * y % sm2._P == square:
            return x, y
    raise AssertionError


NEAR = _near()


@pytest.mark.parametrize(
    "key",
    [
        b"",
        PUBLIC[1:],
        PUBLIC[:-1],
        PUBLIC[:33] + b"\0" + PUBLIC[33:],
        b"\x02" + PUBLIC[1:33],  # a point in its short form
        b"\x05" + PUBLIC[1:],
        PUBLIC[:-1] + b"\x14",  # not on the curve
        b"\4" + b"\0" * 64,
        b"\4" + b"\xff" * 64,
        b"\4" + (sm2._P + NEAR[0]).to_bytes(32, "big") + NEAR[1].to_bytes(32, "big"),  # x is not reduced
    ],
)
def test_what_is_no_public_key_has_signed_nothing(key: bytes) -> None:
    assert sm2._point(key) is None
    assert not sm2.verify(key, MESSAGE, SIGNATURE)


def test_a_signature_whose_points_come_to_infinity() -> None:
    t = 12345  # s·G + t·P = 0 where s = -t·d
    s = -t * KEY % ORDER
    assert not sm2.verify(PUBLIC, MESSAGE, _signature((t - s) % ORDER, s))


def test_a_signature_whose_points_are_one_and_the_same() -> None:
    t = 12345  # s·G = t·P where s = t·d; with a message for it, it would be a good one
    s = t * KEY % ORDER
    r = (t - s) % ORDER
    point = sm2._times_base(2 * s % ORDER)
    assert sm2._affine(
        [sm2._plus(sm2._times_base(s), sm2._times(t, sm2._affine([sm2._times_base(KEY)])[0]))]
    ) == sm2._affine([point])
    assert not sm2.verify(PUBLIC, MESSAGE, _signature(r, s))


@pytest.mark.parametrize("key", [0, ORDER - 1, ORDER, -1])
def test_what_is_no_private_key(key: int) -> None:
    with pytest.raises(ValueError, match="private key"):
        sm2.sign(key, b"")


@pytest.mark.parametrize("key", [1, 2, 3, ORDER - 2, KEY])
def test_what_is_signed_is_verified_and_the_same_each_time(key: int) -> None:
    public = sm2.public_key_of(key)
    made = [sm2.sign(key, text) for text in (b"a", b"a", b"b")]
    assert made[0] == made[1] != made[2]
    assert sm2.verify(public, b"a", made[0])
    assert not sm2.verify(public, b"b", made[0])


def test_an_openssl_without_sm3_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str, _data: bytes) -> None:
        raise ValueError("unsupported hash type " + name)

    monkeypatch.setattr(hashlib, "new", none)
    with pytest.raises(sm2.NoSM3, match="sm3"):
        sm2.verify(PUBLIC, MESSAGE, SIGNATURE)


def openssl(*words: str | Path) -> bool:
    """Whether OpenSSL's command says yes."""
    return subprocess.run(["openssl", *words], capture_output=True, check=False).returncode == 0


@pytest.mark.usefixtures("openssl")
@pytest.mark.parametrize(
    ("key", "message", "user"),
    [(KEY, MESSAGE, sm2.USER_ID), (1, b"\0" * 1000, b"A"), (ORDER - 2, b".", sm2.USER_ID), (2**200 + 7, b"x" * 70_000, b"ALICE")],
)  # fmt: skip
def test_as_openssl_has_it(tmp_path: Path, key: int, message: bytes, user: bytes) -> None:
    text, ours, theirs = (tmp_path / name for name in ("text", "ours", "theirs"))
    private, public = tmp_path / "private.der", tmp_path / "public.der"
    point = sm2.public_key_of(key)
    text.write_bytes(message)
    public.write_bytes(PUBLIC_HEAD + point)
    private.write_bytes(PRIVATE_HEAD + key.to_bytes(32, "big") + PRIVATE_CURVE + point)
    ours.write_bytes(sm2.sign(key, message, user))
    how = ("-rawin", "-digest", "sm3", "-pkeyopt", f"distid:{user.decode()}", "-in", text)

    public_key = ("-verify", "-pubin", "-keyform", "DER", "-inkey", public)
    assert openssl("pkeyutl", *public_key, *how, "-sigfile", ours)
    text.write_bytes(message + b"!")
    assert not openssl("pkeyutl", *public_key, *how, "-sigfile", ours)

    text.write_bytes(message)
    assert openssl("pkeyutl", "-sign", "-keyform", "DER", "-inkey", private, *how, "-out", theirs)
    assert sm2.verify(point, message, theirs.read_bytes(), user)
    assert not sm2.verify(point, message + b"!", theirs.read_bytes(), user)
