"""Certificates of SM2 keys (GB/T 20518, as RFC 5280): read as far as a seal needs it, and followed up to a pinned root.

A certificate is revoked by lists and services on the network, which are not asked.
"""

import base64
import datetime
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from pipeline import sm2
from pipeline.itinerary_files import der
from pipeline.itinerary_files.der import NotDer

SM2_WITH_SM3 = "1.2.156.10197.1.501"
_EC_KEY, _SM2_CURVE = "1.2.840.10045.2.1", "1.2.156.10197.1.301"
_BASIC_CONSTRAINTS = "2.5.29.19"
_DEEPEST = 5
_LARGEST = 64 * 1024
_PEM = re.compile(rb"-----BEGIN CERTIFICATE-----\s*([A-Za-z0-9+/=\s]+?)\s*-----END CERTIFICATE-----")


@dataclass(frozen=True)
class Certificate:
    """What of a certificate is needed. `key` has 65 bytes; it is empty for a key that is not SM2."""

    whole: bytes
    signed: bytes
    signature: bytes
    algorithm: str
    issuer: bytes
    subject: bytes
    begins: datetime.datetime
    ends: datetime.datetime
    key: bytes
    may_issue: bool


@lru_cache(maxsize=64)
def certificate(content: bytes) -> Certificate:
    """A certificate in DER. Raises NotDer."""
    if len(content) > _LARGEST:
        raise NotDer
    signed, algorithm, signature = der.read(content).expect(der.SEQUENCE).values(3)[:3]
    parts = signed.expect(der.SEQUENCE).values(6)
    if parts[0].tag == der.CONTEXT:  # its version
        del parts[0]
    _, _, issuer, validity, subject, key = (part.expect(tag) for part, tag in zip(parts, _TAGS, strict=False))
    begins, ends = (each.time() for each in validity.values(2)[:2])
    kind, bits = key.values(2)[:2]
    curve = [each.oid() for each in kind.values(1) if each.tag == der.OID]
    return Certificate(
        content,
        signed.whole,
        signature.bits(),
        algorithm.values(1)[0].oid(),
        issuer.whole,
        subject.whole,
        begins,
        ends,
        bits.bits() if curve == [_EC_KEY, _SM2_CURVE] else b"",
        _may_issue(parts[6:]),
    )


_TAGS = (der.INTEGER, der.SEQUENCE, der.SEQUENCE, der.SEQUENCE, der.SEQUENCE, der.SEQUENCE)


def _may_issue(rest: list[der.Der]) -> bool:
    """Whether its basic constraints say that it may issue others."""
    for part in rest:
        if part.tag != der.CONTEXT + 3:
            continue
        for extension in part.values(1)[0].values():
            name, *_, value = extension.values(2)
            if name.oid() == _BASIC_CONSTRAINTS:
                constraints = der.read(value.expect(der.OCTET_STRING).content).values()
                return (
                    bool(constraints)
                    and constraints[0].tag == der.BOOLEAN
                    and constraints[0].content == b"\xff"
                )
    return False


def root_certificates(content: bytes) -> tuple[bytes, ...]:
    """The certificates in a file, as DER: one in DER, or any number in PEM. Raises NotDer for anything else."""
    found = [base64.b64decode(text) for text in _PEM.findall(content)] or [content]
    for each in found:
        certificate(each)
    return tuple(found)


@lru_cache(maxsize=256)
def signed_by(key: bytes, signed: bytes, signature: bytes) -> bool:
    """Whether a key has signed this; remembered, because all files of one issuer have one seal. Raises NoSM3."""
    return sm2.verify(key, signed, signature)


def is_trusted(first: Certificate, others: Iterable[Certificate], roots: Iterable[bytes]) -> bool:
    """Whether a certificate is a pinned one, or issued by one, over others that may issue. Raises NoSM3.

    Whoever is pinned is trusted, be it a root or an authority below one: files bring the certificates of their signers alone.
    """
    pinned = [certificate(root) for root in roots]
    at = first
    for _ in range(_DEEPEST):
        if any(at.whole == root.whole for root in pinned):
            return True
        if at.algorithm != SM2_WITH_SM3:
            return False
        issuers = [
            one for one in (*pinned, *(one for one in others if one.may_issue)) if one.subject == at.issuer
        ]
        above = next((one for one in issuers if signed_by(one.key, at.signed, at.signature)), None)
        if above is None:
            return False
        at = above
    return False


def all_valid(certificates: Iterable[Certificate], at: datetime.datetime) -> bool:
    """Whether all were valid at a moment."""
    return all(one.begins <= at <= one.ends for one in certificates)
