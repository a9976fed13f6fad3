import base64
import json
from pathlib import Path

import pytest

from pipeline.carrier.crypto import Cipher, Undecryptable, derive_key


def test_every_vector_of_a_real_jdk(vectors_path: Path) -> None:
    vectors = json.loads(vectors_path.read_text(encoding="utf-8"))
    assert len(vectors) == 60
    for vector in vectors:
        plaintext = vector["plaintext"].encode()
        assert derive_key(vector["key_string"]).hex() == vector["aes_key_hex"]
        cipher = Cipher(vector["key_string"])
        assert cipher.seal(plaintext) == vector["base64"]
        assert cipher.open(vector["base64"]) == plaintext


@pytest.mark.parametrize(
    "sealed",
    [
        "",
        "no Base64!",
        "AAAA",
        Cipher("another key").seal(b"{}"),
        Cipher("k").seal(b"x" * 40)[:-24] + "=" * 0,
    ],
)
def test_what_was_not_sealed_with_this_key_is_refused(sealed: str) -> None:
    with pytest.raises(Undecryptable):
        Cipher("key").open(sealed)


def test_a_broken_text_leaves_nothing_for_the_next() -> None:
    cipher = Cipher("key")
    sealed = cipher.seal(b"{}")
    for broken in (
        "AAAA",
        sealed[:20] + "AA==",
        cipher.seal(b"x" * 16)[:-4],
        Cipher("another key").seal(b"{}"),
    ):
        with pytest.raises(Undecryptable):
            cipher.open(broken)
        assert cipher.open(sealed) == b"{}"


@pytest.mark.parametrize("text", [b"x" * 13 + b"\1\2\3", bytes((17,)) * 32, bytes(16), b"x" * 15 + b"\x20"])
def test_what_ends_in_no_padding_is_refused(text: bytes) -> None:
    sealed = base64.b64decode(Cipher("key").seal(text))[:-16]  # without the block that is padding alone
    with pytest.raises(Undecryptable):
        Cipher("key").open(base64.b64encode(sealed).decode())


def test_line_breaks_in_base64_are_passed_over() -> None:
    sealed = Cipher("key").seal(b"a text that takes more than one block")
    assert Cipher("key").open(sealed[:20] + "\r\n" + sealed[20:]) == b"a text that takes more than one block"


def test_the_key_is_not_in_the_repr() -> None:
    assert "secret" not in repr(Cipher("secret"))
