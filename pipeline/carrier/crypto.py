"""Payload encryption, as carrier-interface.md ("Payload encryption") has it.

AES in ECB mode with PKCS5 padding, Base64 around it, and a 128-bit key drawn from Java's SHA1PRNG
generator seeded with the key string. That generator, asked for its first 20 bytes or fewer, gives
SHA-1 of SHA-1 of the seed.

>>> cipher = Cipher("b空✈ü字字空Xé-✈符ñ单o发")
>>> cipher.seal(b"")
'UiuEarpjunEQv/at4j80CA=='
>>> cipher.open('UiuEarpjunEQv/at4j80CA==')
b''
"""

import base64
import binascii
import hashlib

from Crypto.Cipher import AES
from Crypto.Util.Padding import pad, unpad

_KEY_BYTES = 16  # carrier-interface.md, Limits: AES key length 128 bits


class Undecryptable(ValueError):
    """A text that is not Base64 of something sealed with this key."""


def derive_key(key_string: str) -> bytes:
    """The 16-byte AES key that SHA1PRNG, seeded with the key string's UTF-8 bytes, gives.

    >>> derive_key("xXP").hex()
    'cbad09d059b28a49a7a8290d38bac536'
    """
    # The interface prescribes SHA-1 here; it stretches a key and protects nothing by itself.
    state = hashlib.sha1(key_string.encode(), usedforsecurity=False).digest()
    return hashlib.sha1(state, usedforsecurity=False).digest()[:_KEY_BYTES]


class Cipher:
    """Seals request documents and opens answers with one key.

    One AES object serves all calls: ECB keeps no state between them, and making a new one costs
    three times as much as using it. An instance is not safe across threads.
    """

    def __init__(self, key_string: str) -> None:
        self._aes = AES.new(derive_key(key_string), AES.MODE_ECB)

    def __repr__(self) -> str:
        return "Cipher(…)"

    def seal(self, plaintext: bytes) -> str:
        """Plaintext bytes (UTF-8 JSON) as Base64 text of the ciphertext."""
        return base64.b64encode(self._aes.encrypt(pad(plaintext, AES.block_size))).decode("ascii")

    def open(self, sealed: str) -> bytes:
        """The plaintext of a sealed text.

        Line breaks inside the Base64 are passed over, as MIME encoders write them. Raises
        Undecryptable if the text is not Base64, not whole blocks, or wrongly padded.
        """
        try:
            ciphertext = base64.b64decode("".join(sealed.split()), validate=True)
            return unpad(self._aes.decrypt(ciphertext), AES.block_size)
        except (binascii.Error, ValueError) as error:
            raise Undecryptable(str(error)) from None
