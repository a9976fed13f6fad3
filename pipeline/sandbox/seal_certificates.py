"""The certificates of the sandbox's seal (X.509 with SM2 and SM3, GB/T 20518): a test root, and who makes and who sets the seal.

Their keys are made of their names, so that the root is the same wherever a sandbox runs, and anybody can make this seal. It shows
how a seal is checked, and proves nothing: no profile of a real carrier may pin this root.
"""

import base64
import textwrap
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from pipeline import sm2
from pipeline.sandbox import der

#: SM2 with SM3 (GM/T 0006).
SM2_WITH_SM3 = "1.2.156.10197.1.501"

_EC_PUBLIC_KEY, _SM2_CURVE = "1.2.840.10045.2.1", "1.2.156.10197.1.301"
_COUNTRY, _ORGANIZATION, _COMMON_NAME = "2.5.4.6", "2.5.4.10", "2.5.4.3"
_BASIC_CONSTRAINTS, _KEY_USAGE = "2.5.29.19", "2.5.29.15"
_SUBJECT_KEY, _AUTHORITY_KEY = "2.5.29.14", "2.5.29.35"
_BEGINS, _ENDS = datetime(2020, 1, 1, tzinfo=UTC), datetime(2049, 12, 31, tzinfo=UTC)


@dataclass(frozen=True)
class Identity:
    """Whoever has a certificate: a name in it, from which the key is made too, and whether it certifies others."""

    common_name: str
    certifies: bool = False

    @cached_property
    def private_key(self) -> int:
        """A number from 1 to less than the order of the curve. Raises NoSM3."""
        return int.from_bytes(sm2.sm3(b"sandbox seal: " + self.common_name.encode()), "big") >> 1 | 1

    @cached_property
    def public_key(self) -> bytes:
        """The point, uncompressed. Raises NoSM3."""
        return sm2.public_key_of(self.private_key)


ROOT = Identity("Sandbox Seal Test Root", certifies=True)
SEAL_MAKER = Identity("Sandbox Seal Maker (test)")
SEAL_USER = Identity("Sandbox Itinerary Seal (test)")


def certificate(of: Identity) -> bytes:
    """The certificate of one of these in DER, signed by the root. Raises NoSM3."""
    algorithm = der.sequence(der.oid(SM2_WITH_SM3))
    to_sign = der.sequence(
        der.explicit(0, der.integer(2)),  # version 3
        der.integer(int.from_bytes(_key_id(of)[:8], "big")),
        algorithm,
        _name(ROOT),
        der.sequence(der.utc_time(_BEGINS), der.utc_time(_ENDS)),
        _name(of),
        der.sequence(
            der.sequence(der.oid(_EC_PUBLIC_KEY), der.oid(_SM2_CURVE)), der.bit_string(of.public_key)
        ),
        der.explicit(3, der.sequence(*_extensions(of))),
    )
    return der.sequence(to_sign, algorithm, der.bit_string(sm2.sign(ROOT.private_key, to_sign)))


def pem(der_bytes: bytes) -> str:
    """A certificate as text (RFC 7468)."""
    body = "\n".join(textwrap.wrap(base64.b64encode(der_bytes).decode("ascii"), 64))
    return f"-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n"


def _name(of: Identity) -> bytes:
    parts = (
        (_COUNTRY, der.printable_string("CN")),
        (_ORGANIZATION, der.utf8_string("Voucher Pipeline Sandbox")),
        (_COMMON_NAME, der.utf8_string(of.common_name)),
    )
    return der.sequence(*(der.one_of_a_set(der.sequence(der.oid(kind), text)) for kind, text in parts))


def _extensions(of: Identity) -> tuple[bytes, ...]:
    constraints = der.sequence(der.boolean_true()) if of.certifies else der.sequence()
    # RFC 5280, 4.2.1.3: certificates and their lists; or signatures, and those that bind.
    usage = der.bit_string(b"\x06", unused=1) if of.certifies else der.bit_string(b"\xc0", unused=6)
    return (
        _extension(_BASIC_CONSTRAINTS, constraints, critical=True),
        _extension(_KEY_USAGE, usage, critical=True),
        _extension(_SUBJECT_KEY, der.octet_string(_key_id(of))),
        _extension(_AUTHORITY_KEY, der.sequence(der.encoded(0x80, _key_id(ROOT)))),
    )


def _extension(kind: str, value: bytes, *, critical: bool = False) -> bytes:
    marked = (der.boolean_true(),) if critical else ()
    return der.sequence(der.oid(kind), *marked, der.octet_string(value))


def _key_id(of: Identity) -> bytes:
    return sm2.sm3(of.public_key)[:20]
