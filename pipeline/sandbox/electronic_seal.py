"""The electronic seal of an itinerary file: GB/T 38540, version 4, with SM2 and SM3.

A seal is an object of its own that its maker has signed; whoever sets it signs it together with the digest of the file's
Signature.xml, which lists the digests of all parts. Source: GB/T 38540-2020, 6.1 and 7.1; the structures as they are read in
public samples.
"""

import struct
import zlib
from datetime import UTC, datetime
from functools import cache

from pipeline import sm2
from pipeline.sandbox import der
from pipeline.sandbox.seal_certificates import SEAL_MAKER, SEAL_USER, SM2_WITH_SM3, certificate

#: SM3 (GM/T 0006).
SM3 = "1.2.156.10197.1.401"
#: How large the seal is on the page, in millimetres.
WIDTH, HEIGHT = 30, 20

_VERSION = 4
_TYPE_OF_ORGANISATION = 1
_LIST_OF_CERTIFICATES = 1
_MADE, _ENDS = datetime(2020, 1, 1, tzinfo=UTC), datetime(2049, 12, 31, tzinfo=UTC)
_PIXELS = 6  # a millimetre
_RED, _CLEAR = b"\xc8\x10\x10\xff", b"\0\0\0\0"


@cache
def seal() -> bytes:
    """The seal itself (SESeal), as Seal.esl holds it. Raises NoSM3."""
    info = der.sequence(
        der.sequence(der.ia5_string("ES"), der.integer(_VERSION), der.ia5_string("SANDBOX")),
        der.ia5_string("SANDBOX-ITINERARY-SEAL"),
        der.sequence(
            der.integer(_TYPE_OF_ORGANISATION),
            der.utf8_string("沙箱测试章（无效）"),
            der.integer(_LIST_OF_CERTIFICATES),
            der.sequence(der.octet_string(_user_certificate())),
            *map(der.generalized_time, (_MADE, _MADE, _ENDS)),
        ),
        der.sequence(
            der.ia5_string("png"), der.octet_string(_picture()), der.integer(WIDTH), der.integer(HEIGHT)
        ),
    )
    return der.sequence(
        info,
        der.octet_string(certificate(SEAL_MAKER)),
        der.oid(SM2_WITH_SM3),
        der.bit_string(sm2.sign(SEAL_MAKER.private_key, info)),
    )


def signed_value(signature_xml: bytes, where: str, moment: datetime) -> bytes:
    """The seal set on a file (SES_Signature): SignedValue.dat. `where` is the path of Signature.xml in it. Raises NoSM3."""
    to_sign = der.sequence(
        der.integer(_VERSION),
        seal(),
        der.generalized_time(moment),
        der.bit_string(sm2.sm3(signature_xml)),
        der.ia5_string(where),
    )
    return der.sequence(
        to_sign,
        der.octet_string(_user_certificate()),
        der.oid(SM2_WITH_SM3),
        der.bit_string(sm2.sign(SEAL_USER.private_key, to_sign)),
    )


@cache
def _user_certificate() -> bytes:
    return certificate(SEAL_USER)


def _picture() -> bytes:
    """An empty red oval, as PNG."""
    width, height = WIDTH * _PIXELS, HEIGHT * _PIXELS
    rows = bytearray()
    for row in range(height):
        rows.append(0)  # no filter
        for column in range(width):
            outside = ((2 * column + 1) / width - 1) ** 2 + ((2 * row + 1) / height - 1) ** 2
            rows += _RED if 0.85 < outside < 1 else _CLEAR
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)  # 8 bits each of red, green, blue, alpha
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(rows), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
