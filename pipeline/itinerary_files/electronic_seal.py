"""One electronic seal in its ASN.1 form (GB/T 38540, SES version 4): whether it was set on a text, with a seal that is its maker's.

    SES_Signature: toSign, cert, signatureAlgID, signature, [0] timeStamp
    toSign:        version, eseal, timeInfo, dataHash, propertyInfo, [0] extDatas
    eseal:         eSealInfo, cert, signAlgID, signedValue                     (signed by the seal's maker: eSealInfo)
    eSealInfo:     header (ID, version, vendor), esID, property, picture, [0] extDatas
    property:      type, name, certListType, certList, createDate, validStart, validEnd

Version 1 (GM/T 0031) is another structure and not checked. The time stamp is not looked at, and the path that `propertyInfo` names
is not compared: the hash ties the seal to its text.
"""

import datetime
from dataclasses import dataclass

from pipeline import sm2
from pipeline.itinerary_files import der
from pipeline.itinerary_files.certificates import (
    SM2_WITH_SM3,
    Certificate,
    all_valid,
    certificate,
    is_trusted,
    signed_by,
)
from pipeline.itinerary_files.der import Der, NotDer
from pipeline.itinerary_files.read_reasons import Reason

_VERSION = 4
#: Most of a seal is its picture, of some 20 KB.
_LARGEST = 2 * 1024**2
_CERTIFICATES, _DIGESTS = 1, 2


class Unsupported(Exception):
    """A seal of another kind, by its name."""


class Broken(Exception):
    """A seal that is not what it should be, and why."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Seal:
    """A seal that was set on this text: by a trusted signer, or by anybody; `dated` where all was valid on the day that it gives."""

    trusted: bool
    dated: bool


@dataclass(frozen=True)
class _Stamp:
    """What was set: by whom it may be set, who made it, from when to when it may be used."""

    list_kind: int
    listed: tuple[bytes, ...]
    maker: Certificate
    begins: datetime.datetime
    ends: datetime.datetime


def checked_seal(content: bytes, sealed: bytes, roots: tuple[bytes, ...]) -> Seal:
    """The seal (SignedValue.dat) on a text (Signature.xml). Raises Broken, Unsupported, NotDer and NoSM3."""
    to_sign, signer_cert, algorithm, signature = _parts(content)
    _, stamp_der, moment, data_hash = to_sign.values(5)[:4]
    if algorithm.oid() != SM2_WITH_SM3:
        raise Unsupported(algorithm.oid())
    signer = certificate(signer_cert.expect(der.OCTET_STRING).content)
    if not signer.key:
        raise Unsupported("SM2")
    if data_hash.bits() != sm2.sm3(sealed) or not sm2.verify(signer.key, to_sign.whole, signature.bits()):
        raise Broken(Reason.SEAL_SIGNATURE)
    stamp = _stamp(stamp_der)
    _check_signer(stamp, signer)
    at = moment.time()
    makers = (stamp.maker,)
    return Seal(
        trusted=is_trusted(signer, makers, roots) and is_trusted(stamp.maker, (), roots),
        dated=all_valid((signer,), at) and stamp.begins <= at <= stamp.ends,
    )


def _parts(content: bytes) -> list[Der]:
    """What is signed, the signer's certificate, the algorithm, the signature. Raises Unsupported for another version."""
    if len(content) > _LARGEST:
        raise NotDer
    parts = der.read(content).expect(der.SEQUENCE).values(2)
    inner = parts[0].expect(der.SEQUENCE).values(1)
    version = inner[0].number()
    if version < _VERSION or len(parts) < 4:
        raise Unsupported(f"SES {version}")
    return parts[:4]


def _stamp(content: Der) -> _Stamp:
    """The stamp, once its maker's signature has been checked."""
    info, maker_cert, algorithm, signed = content.expect(der.SEQUENCE).values(4)[:4]
    maker = certificate(maker_cert.expect(der.OCTET_STRING).content)
    if algorithm.oid() != SM2_WITH_SM3 or not maker.key:
        raise Unsupported(algorithm.oid())
    if not signed_by(maker.key, info.whole, signed.bits()):
        raise Broken(Reason.SEAL_MAKER)
    _, _, about = info.values(4)[:3]
    _, _, kind, listed, _, begins, ends = about.values(7)[:7]
    list_kind = kind.number()
    if list_kind == _DIGESTS:
        listed_bytes = tuple(each.values(2)[1].content for each in listed.values())
    else:
        listed_bytes = tuple(each.expect(der.OCTET_STRING).content for each in listed.values())
    return _Stamp(list_kind, listed_bytes, maker, begins.time(), ends.time())


def _check_signer(stamp: _Stamp, signer: Certificate) -> None:
    """The signer's certificate is one that the stamp names; by a digest other than SM3 that can't be told."""
    if stamp.list_kind == _DIGESTS:
        if sm2.sm3(signer.whole) not in stamp.listed:
            raise Unsupported("certDigestList")
    elif signer.whole not in stamp.listed:
        raise Broken(Reason.SEAL_SIGNER)


__all__ = ["Broken", "NotDer", "Seal", "Unsupported", "checked_seal"]
