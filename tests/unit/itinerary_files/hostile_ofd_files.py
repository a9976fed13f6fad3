"""Files that mean harm, or look as if they did, and what each is to come to: made here, by code."""

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable

from pipeline import sm2
from tests.unit.itinerary_files.ofd_files import (
    FACTS,
    OFD,
    PAGE,
    SIGNATURE,
    SIGNATURES,
    SIGNER,
    SM2_WITH_SM3,
    SM3,
    TAGS,
    TEMPLATE,
    VALUE,
    XBRL,
    Sealer,
    bits,
    content,
    der,
    document,
    integer,
    itinerary,
    name,
    octets,
    oid,
    parts,
    root,
    sealed,
    sequence,
    signatures_xml,
    text_object,
    xbrl,
    xml,
    zipped,
)

GIB = 1024**3


def plain(**changes: bytes) -> bytes:
    """A whole file with other parts, by short names."""
    named = {
        "page": PAGE,
        "xbrl": XBRL,
        "tags": TAGS,
        "template": TEMPLATE,
        "root": "OFD.xml",
        "document": "Doc_0/Document.xml",
    }
    return zipped(parts() | {named.get(part, part): content for part, content in changes.items()})


def with_seal(**changes: bytes) -> bytes:
    named = {"value": VALUE, "signature": SIGNATURE, "signatures": SIGNATURES}
    return zipped(sealed(parts()) | {named[part]: content for part, content in changes.items()})


def packed_zeros(count: int) -> bytes:
    """So many zero bytes as deflate has them, without being held as they are."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    one = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return one * (count >> 20) + packer.flush()


def by_hand(entries: list[tuple[str, bytes, int, int, int]], **end: int) -> bytes:
    """A ZIP of entries (name, packed bytes, CRC, unpacked size, flags), whatever they say."""
    made, listed = bytearray(), bytearray()
    for entry, packed, crc, size, flags in entries:
        encoded = entry.encode()
        common = struct.pack("<HHHHHIIIHH", 20, flags, 8, 0, 0x5D28, crc, len(packed), size, len(encoded), 0)
        listed += (
            b"PK\1\2"
            + struct.pack("<H", 20)
            + common
            + struct.pack("<HHHII", 0, 0, 0, 0, len(made))
            + encoded
        )
        made += b"PK\3\4" + common + encoded + packed
    count, size = end.get("count", len(entries)), end.get("size", len(listed))
    return (
        bytes(made + listed)
        + b"PK\5\6"
        + struct.pack("<HHHHIIH", 0, 0, count, count, size, end.get("at", len(made)), 0)
    )


def deflated(text: bytes) -> tuple[bytes, int, int]:
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return packer.compress(text) + packer.flush(), zlib.crc32(text), len(text)


def entry(part: str, text: bytes, flags: int = 0) -> tuple[str, bytes, int, int, int]:
    return (part, *deflated(text), flags)


def bomb(part: str) -> bytes:
    """A whole file in which one part unpacks to a GiB and says that it has ten bytes."""
    packed = packed_zeros(GIB)
    return by_hand(
        [*(entry(each, text) for each, text in parts().items() if each != part), (part, packed, 0, GIB, 0)]
    )


def many_bombs() -> bytes:
    """Many parts, each within its bound, all of which the seal covers."""
    zeros = bytes(7 * 1024**2)
    return zipped(sealed(parts() | {f"Doc_0/Res/{at}.ttf": zeros for at in range(8)}))


def laughs(encoding: str) -> bytes:
    entities = "".join(f'<!ENTITY a{at + 1} "{f"&a{at};" * 10}">' for at in range(10))
    text = f'<!DOCTYPE x [<!ENTITY a0 "ha">{entities}]><x>&a10;</x>'
    return text.encode(encoding)


def entry_named(other: str, **fields: int) -> bytes:
    """A whole file and one more entry, of that name and with these fields."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as package:
        for part, text in parts().items():
            package.writestr(part, text)
        info = zipfile.ZipInfo(other)
        for field, value in fields.items():
            setattr(info, field, value)
        package.writestr(info, "x")
    return made.getvalue()


def twice(other: str) -> bytes:
    return by_hand([*(entry(part, text) for part, text in parts().items()), entry(other, b"<x/>")])


def overlapping() -> bytes:
    """Two entries of the list that are one in the package."""
    made = bytearray(
        by_hand(
            [
                *(entry(part, text) for part, text in parts().items()),
                entry("Doc_0/a.xml", b"<x/>"),
                entry("Doc_0/b.xml", b"<x/>"),
            ]
        )
    )
    at = made.rfind(b"PK\1\2")
    first = made.rfind(b"PK\1\2", 0, at)
    made[at + 42 : at + 46] = made[first + 42 : first + 46]
    return bytes(made)


def entries(more: int, **end: int) -> bytes:
    return by_hand(
        [entry(part, text) for part, text in parts().items()]
        + [(f"x{at}", b"", 0, 0, 0) for at in range(more)],
        **end,
    )


def listed_alone(count: int) -> bytes:
    """A list of entries of which none is there; the end says that it is one."""
    one = (
        b"PK\1\2"
        + struct.pack("<HHHHHHIIIHHHHHII", 20, 20, 0, 8, 0, 0x5D28, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)
        + b"x"
    )
    return b"PK" + one * count + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(one) * count, 2, 0)


def wrong_crc() -> bytes:
    entry_of = [entry(part, text) for part, text in parts().items()]
    part, packed, crc, size, flags = entry_of[0]
    return by_hand([(part, packed, crc ^ 1, size, flags), *entry_of[1:]])


def second_end() -> bytes:
    whole = plain()
    at = whole.rfind(b"PK\5\6")
    large = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 10**6, 10**6, 10**8, 0)
    locator = b"PK\6\7" + struct.pack("<IQI", 0, at, 1)
    return whole[:at] + large + locator + whole[at:]


def nested(depth: int, tag: str = "a") -> bytes:
    return (f"<{tag}>" * depth + f"</{tag}>" * depth).encode()


def key_of(point: bytes) -> bytes:
    """A seal by a certificate with a key that is no point of the curve."""
    certificate = SIGNER.certificate.replace(sm2.public_key_of(SIGNER.key), point)
    return sealed(parts(), Sealer(listed=(certificate,)))[VALUE].replace(SIGNER.certificate, certificate)


def certificate_with(part: bytes) -> bytes:
    """A seal whose certificate has something else for its algorithm."""
    certificate = sequence(sequence(integer(1), part), sequence(oid(SM2_WITH_SM3)), bits(b"x"))
    to_sign = sequence(integer(4), sequence(), integer(1), bits(b"x"), octets(b""))
    return sequence(to_sign, octets(certificate), oid(SM2_WITH_SM3), bits(b"x"))


def many_references(count: int) -> bytes:
    covered = "".join(
        f'<ofd:Reference FileRef="/{PAGE}"><ofd:CheckValue>AAAA</ofd:CheckValue></ofd:Reference>'
        for _ in range(count)
    )
    references = f'<ofd:References CheckMethod="{SM3}">{covered}</ofd:References>'
    return xml(
        f"<ofd:Signature {OFD}>{references}<ofd:SignedValue>/{VALUE}</ofd:SignedValue></ofd:Signature>"
    )


def long_chain_of_tags() -> bytes:
    """Tags in each other, each of which refers to all texts below it."""
    refs = "<ObjectRef>7</ObjectRef>" * 20_000
    return f"<eInvoice>{'<合计>' * 60}{refs}{'</合计>' * 60}</eInvoice>".encode()


def more_facts(more: bytes, spaces: bytes = b"") -> bytes:
    """The XBRL with more elements at its end, and more namespaces at its beginning."""
    made = xbrl(FACTS).replace(b"<xbrli:xbrl ", b"<xbrli:xbrl " + spaces + b" ")
    return made.replace(b"</xbrli:xbrl>", more + b"</xbrli:xbrl>")


def tickets_in(count: int) -> bytes:
    return more_facts(
        b"".join(b"<atr:ETicketNumber>999%010d</atr:ETicketNumber>" % at for at in range(count))
    )


def long_space() -> bytes:
    return more_facts(b"<z:Fare/>" * 40_000, b'xmlns:z="' + b"/" * (10 * 1024**2) + b'"')


def many_documents(documents: int, elements: int) -> bytes:
    """Documents of tags, each of which has as many elements as a single one may have, in each other as deep as they may be."""
    tags = f"<x>{'<合计>' * 60}{'<a/>' * elements}{'</合计>' * 60}</x>".encode()
    return zipped(parts() | {f"Doc_0/{at}/CustomTag.xml": tags for at in range(documents)})


def used_again_and_again(text: bytes) -> bytes:
    """A page that is listed 20 times and has a template 20 times."""
    pages = b'<ofd:Page ID="1" BaseLoc="Pages/Page_0/Content.xml"/>' * 19 + b'<ofd:Page ID="1"'
    return plain(
        document=document(1).replace(b'<ofd:Page ID="1"', pages),
        page=content([], '<ofd:Template TemplateID="2"/>' * 20),
        template=text,
    )


def long_location() -> bytes:
    location = b"Tpls/" + b"./" * (7 * 1024**2)
    pages = b'<ofd:Page ID="1" BaseLoc="Pages/Page_0/Content.xml"/>' * 19 + b'<ofd:Page ID="1"'
    return plain(
        document=document(1).replace(b'<ofd:Page ID="1"', pages).replace(b"Tpls/", location),
        page=content([], '<ofd:Template TemplateID="2"/>' * 20),
    )


def page_of(count: int, text: str) -> bytes:
    return content(
        [text_object(at, text, (at % 200, at % 250, 1, 1)) for at in range(count)],
        '<ofd:Template TemplateID="2"/>',
    )


UNREADABLE, ALTERED = "unreadable", "altered"
#: Each file: what it comes to (a problem, or None for one that is taken as it is), and a word of the reason.
HOSTILE: dict[str, tuple[Callable[[], bytes], str | None, str]] = {
    "bomb of a page": (lambda: bomb(PAGE), UNREADABLE, "unpacks to more than"),
    "bomb of an attachment": (lambda: bomb(XBRL), UNREADABLE, "unpacks to more than"),
    "many bombs": (many_bombs, UNREADABLE, "its parts unpack to more than"),
    "larger than any": (lambda: b"PK\3\4" + bytes(33 * 1024**2), UNREADABLE, "it has 34"),
    "external entity": (lambda: plain(root=b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'), UNREADABLE, "document type"),
    "external entity in UTF-16": (lambda: plain(xbrl='<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'.encode("utf-16")), UNREADABLE, "document type"),
    "document type elsewhere": (lambda: plain(page=b'<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd"><x/>'), UNREADABLE, "document type"),
    "parameter entities": (lambda: plain(tags=b'<!DOCTYPE x [<!ENTITY % p "<!ENTITY q \'1\'>"> %p;]><x>&q;</x>'), UNREADABLE, "document type"),
    "laughs": (lambda: plain(page=laughs("utf-8")), UNREADABLE, "document type"),
    "laughs in UTF-16": (lambda: plain(xbrl=laughs("utf-16")), UNREADABLE, "document type"),
    "laughs in a template": (lambda: plain(template=laughs("utf-16-le")), UNREADABLE, "document type"),
    "quadratic entity": (lambda: plain(xbrl=b'<!DOCTYPE x [<!ENTITY a "' + b"a" * 100_000 + b'">]><x>' + b"&a;" * 100_000 + b"</x>"), UNREADABLE, "document type"),
    "entities without a declaration": (lambda: plain(page=b"<x>&nbsp;</x>"), None, ""),
    "traversal": (lambda: entry_named("../../etc/cron.d/x"), UNREADABLE, "leads out of the file"),
    "traversal of Windows": (lambda: entry_named("..\\..\\x.exe"), UNREADABLE, "leads out of the file"),
    "traversal within": (lambda: entry_named("Doc_0/../../x"), UNREADABLE, "leads out of the file"),
    "absolute": (lambda: entry_named("/etc/passwd"), UNREADABLE, "leads out of the file"),
    "drive": (lambda: entry_named("C:/x"), UNREADABLE, "leads out of the file"),
    "link": (lambda: entry_named("Doc_0/link", external_attr=(stat.S_IFLNK | 0o777) << 16), UNREADABLE, "is a link"),
    "encrypted": (lambda: by_hand([entry(part, text, 1) for part, text in parts().items()]), UNREADABLE, "password"),
    "encrypted strongly": (lambda: by_hand([entry(part, text, 0x41) for part, text in parts().items()]), UNREADABLE, "password"),
    "one name twice": (lambda: twice(XBRL), UNREADABLE, "have the name"),
    "one name in two cases": (lambda: twice(XBRL.upper()), UNREADABLE, "have the name"),
    "one name with two slashes": (lambda: twice(XBRL.replace("/", "\\")), UNREADABLE, "have the name"),
    "60,000 entries": (lambda: entries(60_000), UNREADABLE, "it holds"),
    "60,000 entries, said to be one": (lambda: entries(60_000, count=1), UNREADABLE, "it holds"),
    "600,000 entries of a list alone": (lambda: listed_alone(600_000), UNREADABLE, "it holds"),
    "a list of entries that is none": (lambda: entries(0, at=10**9), UNREADABLE, "lie over each other|do not fit"),
    "a list of entries longer than the file": (lambda: entries(0, size=900_000), UNREADABLE, "do not fit together"),
    "a second end": (second_end, UNREADABLE, "do not fit together"),
    "two entries in one": (overlapping, UNREADABLE, "lie over each other"),
    "wrong CRC": (wrong_crc, UNREADABLE, "do not fit together"),
    "cut off": (lambda: plain()[:-30], UNREADABLE, "do not fit together"),
    "cut off within": (lambda: plain()[:500], UNREADABLE, "do not fit together"),
    "LZMA": (lambda: entry_named("Doc_0/x", compress_type=zipfile.ZIP_LZMA), UNREADABLE, "packed in a way"),
    "no method": (lambda: entry_named("Doc_0/x").replace(b"PK\1\2\x14\x03\x14\0\0\0\0\0", b"PK\1\2\x14\x03\x14\0\0\0\x63\0"), UNREADABLE, "packed in a way"),
    "names without end": (lambda: entry_named("x" * 65_000), None, ""),
    "names that are none": (lambda: entry_named("Doc_0/\x00\x1b[31m\u202e"), None, ""),
    "5,000 pages": (lambda: plain(document=document(5_000)), UNREADABLE, "it has 5"),
    "one page 20 times": (lambda: plain(document=document(1).replace(b'<ofd:Page ID="1"', b'<ofd:Page ID="1" BaseLoc="Pages/Page_0/Content.xml"/>' * 19 + b'<ofd:Page ID="1"'), page=page_of(3_000, "1.00")), UNREADABLE, "its pages hold more than"),
    "a template of itself": (lambda: plain(template=content([], '<ofd:Template TemplateID="2"/>' * 30)), None, ""),
    "nested": (lambda: plain(page=nested(100_000)), UNREADABLE, "nested deeper"),
    "nested in the list": (lambda: plain(root=nested(65)), UNREADABLE, "nested deeper"),
    "a million elements": (lambda: plain(xbrl=b"<x>" + b"<a/>" * 1_000_000 + b"</x>"), UNREADABLE, "nested deeper"),
    "a huge attribute": (lambda: plain(page=b'<x a="' + b"a" * (15 * 1024**2) + b'"/>'), None, ""),
    "a huge text": (lambda: plain(page=content([text_object(1, "1" * (10 * 1024**2), (1, 1, 1, 1))])), None, ""),
    "100,000 attributes": (lambda: plain(page=b"<x " + b" ".join(b'a%d="1"' % at for at in range(100_000)) + b"/>"), None, ""),
    "namespaces within namespaces": (lambda: plain(xbrl=b"".join(b'<a xmlns:n%d="u">' % at for at in range(63)) + b"<b/>" * 1000 + b"</a>" * 63), None, ""),
    "digits without end": (lambda: plain(page=page_of(20_000, "1" * 100)), ALTERED, "in its tags"),
    "labels without end": (lambda: plain(page=page_of(20_000, "购买方名称:合计" * 10)), ALTERED, ""),
    "boxes that are none": (lambda: plain(page=page_of(9, "1.00").replace(b'Boundary="1 1 1 1"', b'Boundary="nan inf 1e999 -1e999"')), None, ""),
    "amounts beyond all": (lambda: plain(xbrl=xbrl(FACTS | {"Fare": "1E999999999", "TotalAmount": "NaN", "OtherTaxes": "9" * 100_000})), None, ""),
    "tickets beyond all": (lambda: plain(xbrl=xbrl(FACTS | {"ETicketNumber": "9992400000017/" + "/".join(["9999999"] * 10_000)})), None, ""),
    "one field 40,000 times": (lambda: plain(xbrl=xbrl(FACTS).replace(b"</xbrli:xbrl>", b"".join(b"<atr:Fare>%d</atr:Fare>" % at for at in range(40_000)) + b"</xbrli:xbrl>")), ALTERED, "the fare is"),
    "20,000 tickets": (lambda: plain(xbrl=tickets_in(20_000)), UNREADABLE, "more than 100 tickets"),
    "101 tickets": (lambda: plain(xbrl=tickets_in(101)), UNREADABLE, "more than 100 tickets"),
    "a namespace without end": (lambda: plain(xbrl=long_space()), None, ""),
    "60,000 namespaces": (lambda: plain(xbrl=more_facts(b"", b" ".join(b'xmlns:n%d="u"' % at for at in range(60_000)))), UNREADABLE, "holds more"),
    "20 documents of tags": (lambda: many_documents(20, 40_000), UNREADABLE, "holds more"),
    "a template 400 times": (lambda: used_again_and_again(b"<x>" + b"<a/>" * 45_000 + b"</x>"), UNREADABLE, "its pages hold more than"),
    "a location without end": (long_location, None, ""),
    "blanks without end": (lambda: plain(page=content([text_object(1, "购买方名称:" + " " * 700 + "x" * 250, (1, 1, 1, 1))])), None, ""),
    "accents without end": (lambda: plain(page=page_of(2_000, "\u0301\u0316" * 500)), ALTERED, "in its tags"),
    "a missing part with a long name": (lambda: with_seal(signatures=xml(f'<ofd:Signatures {OFD}><ofd:Signature BaseLoc="{"x" * 2 * 1024**2}"/></ofd:Signatures>')), ALTERED, "is missing"),
    "tags in tags": (lambda: plain(tags=long_chain_of_tags()), None, ""),
    "a lone surrogate": (lambda: plain(tags=b"<x>&#xD800;</x>"), None, ""),
    "an unknown encoding": (lambda: plain(root=b'<?xml version="1.0" encoding="UTF-7"?><x/>'), UNREADABLE, "not well-formed"),
    "no document": (lambda: plain(root=root().replace(b"Doc_0/Document.xml", b"../../../etc/passwd")), UNREADABLE, "is missing"),
    "a document that is its own list": (lambda: plain(root=root().replace(b"Doc_0/Document.xml", b"OFD.xml")), None, ""),
    "DER within DER": (lambda: with_seal(value=_der_in_der(5_000)), ALTERED, "can't be read"),
    "DER of an absurd length": (lambda: with_seal(value=b"\x30\x84\xff\xff\xff\xff" + bytes(100)), ALTERED, "can't be read"),
    "DER of no length": (lambda: with_seal(value=b"\x30\x80" + integer(4) * 2 + b"\0\0"), ALTERED, "can't be read"),
    "DER of 100,000 values": (lambda: with_seal(value=sequence(*[integer(1)] * 100_000)), ALTERED, "can't be read"),
    "DER of 15 MB": (lambda: with_seal(value=octets(bytes(15 * 1024**2))), ALTERED, "can't be read"),
    "DER with a long tag": (lambda: with_seal(value=b"\x3f" + b"\xff" * 1000), ALTERED, "can't be read"),
    "a version without end": (lambda: with_seal(value=sequence(sequence(der(2, b"\x7f" * 100_000)), octets(b""))), ALTERED, "can't be read"),
    "an OID without end": (lambda: with_seal(value=certificate_with(sequence(der(6, b"\xff" * 100_000)))), ALTERED, "can't be read"),
    "a certificate of 1 MB": (lambda: with_seal(value=certificate_with(octets(bytes(10**6)))), ALTERED, "can't be read"),
    "a certificate of another": (lambda: with_seal(value=certificate_with(name("x"))), ALTERED, "can't be read"),
    "a point off the curve": (lambda: with_seal(value=key_of(b"\4" + b"\1" * 64)), ALTERED, "can't be read|was not set"),
    "a point of zeros": (lambda: with_seal(value=key_of(b"\4" + bytes(64))), ALTERED, "can't be read|was not set"),
    "a point at infinity": (lambda: with_seal(value=key_of(bytes(65))), ALTERED, "can't be read|was not set"),
    "40,000 references": (lambda: with_seal(signature=many_references(10_000)), ALTERED, "was not set"),
    "a seal that is its own list": (lambda: with_seal(signatures=xml(f'<ofd:Signatures {OFD}><ofd:Signature BaseLoc="/{SIGNATURES}"/></ofd:Signatures>')), ALTERED, "can't be read"),
    "a thousand seals": (lambda: with_seal(signatures=signatures_xml(1_000)), ALTERED, "can't be read"),
    "seals that are no XML": (lambda: with_seal(signatures=b"<x"), UNREADABLE, "not well-formed"),
    "a program": (lambda: b"\x7fELF" + bytes(1000), "not_an_itinerary", "not an OFD"),
    "another archive": (lambda: zipped({"a.txt": b"x"}), "not_an_itinerary", "not an OFD"),
    "nothing": (lambda: b"", UNREADABLE, "empty"),
    "a good one at last": (itinerary, None, ""),
}  # fmt: skip


def _der_in_der(depth: int) -> bytes:
    """Sequences in each other, made from within: of each only what stands before the next, backwards."""
    heads, length = list[bytes](), 0
    for _ in range(depth):
        heads.append(der(0x30, bytes(length))[: len(der(0x30, bytes(length))) - length])
        length += len(heads[-1])
    return b"".join(reversed(heads))
