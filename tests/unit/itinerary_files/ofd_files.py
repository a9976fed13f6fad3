"""Itinerary files for tests, written here: parts as texts, a ZIP around them, and a seal with certificates of its own."""

import base64
import io
import zipfile
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from pipeline import sm2

OFD = 'xmlns:ofd="http://www.ofdspec.org/2016"'
NUMBER, TICKET = "26948731111043132568", "9992400000017"
SM2_WITH_SM3, SM3 = "1.2.156.10197.1.501", "1.2.156.10197.1.401"

XBRL = "Doc_0/Attachs/atr_issuer_26948731111043132568.xml"
TAGS, PAGE, TEMPLATE = (
    "Doc_0/Tags/CustomTag.xml",
    "Doc_0/Pages/Page_0/Content.xml",
    "Doc_0/Tpls/Tpl_0/Content.xml",
)
SIGNATURES, SIGNATURE, VALUE = (
    "Doc_0/Signs/Signatures.xml",
    "Doc_0/Signs/Sign_0/Signature.xml",
    "Doc_0/Signs/Sign_0/SignedValue.dat",
)

#: The published example of the ministry's taxonomy, and who it is for.
FACTS = {
    "ElectronicInvoiceAirTransportReceiptNumber": NUMBER,
    "ETicketNumber": TICKET,
    "PassengerName": "张伟",
    "NameOfPurchaser": "示例贸易有限公司",
    "UnifiedSocialCreditCodeOfPurchaser": "91110000600037341L",
    "Fare": "825.69",
    "FuelSurcharge": "0.00",
    "VatRate": "0.09",
    "VatTaxAmount": "74.31",
    "CivilAviationDevelopmentFund": "50.00",
    "OtherTaxes": "50.00",
    "TotalAmount": "1000.00",
    "IssueDate": "2026-09-08",
}
#: How the page shows them: label, value. Amounts stand below theirs.
LABELS = {
    "发票号码": "ElectronicInvoiceAirTransportReceiptNumber",
    "电子客票号码": "ETicketNumber",
    "购买方名称": "NameOfPurchaser",
    "统一社会信用代码/纳税人识别号": "UnifiedSocialCreditCodeOfPurchaser",
    "填开日期": "IssueDate",
}
AMOUNTS = {
    "票价": "Fare",
    "燃油附加费": "FuelSurcharge",
    "增值税税额": "VatTaxAmount",
    "民航发展基金": "CivilAviationDevelopmentFund",
    "其他税费": "OtherTaxes",
    "合计": "TotalAmount",
}
TAG_NAMES = {
    "发票号码": "ElectronicInvoiceAirTransportReceiptNumber",
    "电子客票号码": "ETicketNumber",
    "购买方名称": "NameOfPurchaser",
    "购买方纳税人识别号": "UnifiedSocialCreditCodeOfPurchaser",
    "价税合计": "TotalAmount",
    "填开日期": "IssueDate",
}


@dataclass(frozen=True)
class Voucher:
    """What a file says: in XBRL, in its tags, on its page."""

    xbrl: dict[str, str] = field(default_factory=lambda: dict(FACTS))
    tags: dict[str, str] = field(
        default_factory=lambda: {tag: FACTS[name] for tag, name in TAG_NAMES.items()}
    )
    page: dict[str, str] = field(default_factory=lambda: dict(FACTS))

    def said(self, **facts: str) -> "Voucher":
        """The same with other facts, everywhere."""
        both = FACTS | facts
        return Voucher(dict(both), {tag: both[name] for tag, name in TAG_NAMES.items()}, dict(both))

    def only(self, **sources: dict[str, str]) -> "Voucher":
        """The same with other facts in one source."""
        return replace(self, **{name: getattr(self, name) | facts for name, facts in sources.items()})


def xml(text: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'.encode()


def xbrl(facts: dict[str, str], taxonomy: str = "2023-12-31/atr") -> bytes:
    said = "".join(f'<atr:{name} contextRef="now">{value}</atr:{name}>' for name, value in facts.items())
    segment = "<atr:DetailInformationOfAirTicketTuple><atr:Flight>XX1234</atr:Flight></atr:DetailInformationOfAirTicketTuple>"
    spaces = f'xmlns:xbrli="http://www.xbrl.org/2003/instance" xmlns:atr="http://xbrl.mof.gov.cn/taxonomy/{taxonomy}"'
    return xml(f"<xbrli:xbrl {spaces}>{said}{segment}</xbrli:xbrl>")


def custom_tag(tags: dict[str, str]) -> bytes:
    """Tags whose values are texts of the page; of the page's texts the labelled ones have IDs from 100."""
    refs = "".join(
        f'<ofd:{tag}><ofd:ObjectRef PageRef="1">{200 + at}</ofd:ObjectRef></ofd:{tag}>'
        for at, tag in enumerate(tags)
    )
    return xml(f"<ofd:eInvoice {OFD}>{refs}</ofd:eInvoice>")


def text_object(number: int, text: str, box: tuple[float, float, float, float]) -> str:
    boundary = " ".join(map(str, box))
    code = f'<ofd:TextCode X="0" Y="3">{text}</ofd:TextCode>'
    return f'<ofd:TextObject ID="{number}" Boundary="{boundary}" Font="3" Size="3">{code}</ofd:TextObject>'


def page(voucher: Voucher) -> bytes:
    objects = list[str]()
    for at, name in enumerate(name for name in LABELS.values() if name in voucher.page):
        objects.append(text_object(100 + at, voucher.page[name], (60, 20 + 6 * at, 80, 4)))
    for at, name in enumerate(name for name in AMOUNTS.values() if name in voucher.page):
        objects.append(text_object(120 + at, f"CNY {voucher.page[name]}", (10 + 30 * at, 70, 25, 4)))
    # What tags refer to lies far off the page.
    for at, value in enumerate(voucher.tags.values()):
        objects.append(text_object(200 + at, value, (10, 500 + 10 * at, 80, 4)))
    return content(objects, '<ofd:Template TemplateID="2"/>')


def template() -> bytes:
    objects = [text_object(10, "电子发票(航空运输电子客票行程单)", (60, 5, 90, 6))]
    objects += [
        text_object(20 + at, f"{label}:", (10, 20 + 6 * at, 49.8, 4)) for at, label in enumerate(LABELS)
    ]
    objects += [text_object(40 + at, label, (10 + 30 * at, 62, 25, 4)) for at, label in enumerate(AMOUNTS)]
    return content(objects)


def content(objects: list[str], before: str = "") -> bytes:
    layer = f'<ofd:Content><ofd:Layer ID="9">{"".join(objects)}</ofd:Layer></ofd:Content>'
    return xml(f"<ofd:Page {OFD}>{before}{layer}</ofd:Page>")


def document(pages: int = 1, *, lists: str = "") -> bytes:
    listed = "".join(
        f'<ofd:Page ID="{at + 1}" BaseLoc="Pages/Page_{at}/Content.xml"/>' for at in range(pages)
    )
    template_page = '<ofd:TemplatePage ID="2" BaseLoc="Tpls/Tpl_0/Content.xml"/>'
    common = (
        "<ofd:CommonData><ofd:MaxUnitID>300</ofd:MaxUnitID><ofd:PageArea><ofd:PhysicalBox>0 0 210 140</ofd:PhysicalBox>"
        f"</ofd:PageArea>{template_page}</ofd:CommonData>"
    )
    return xml(f"<ofd:Document {OFD}>{common}<ofd:Pages>{listed}</ofd:Pages>{lists}</ofd:Document>")


LISTS = "<ofd:Attachments>Attachs/Attachments.xml</ofd:Attachments><ofd:CustomTags>Tags/CustomTags.xml</ofd:CustomTags>"


def root(more: str = "") -> bytes:
    info = "<ofd:DocInfo><ofd:DocID>1234567890abcdef1234567890abcdef</ofd:DocID></ofd:DocInfo>"
    return xml(
        f'<ofd:OFD {OFD} DocType="OFD" Version="1.1"><ofd:DocBody>{info}<ofd:DocRoot>Doc_0/Document.xml</ofd:DocRoot>{more}</ofd:DocBody></ofd:OFD>'
    )


def parts(voucher: Voucher | None = None) -> dict[str, bytes]:
    """The parts of a file without a seal."""
    voucher = voucher or Voucher()
    attachment = f'<ofd:Attachment ID="1" Name="atr" Format="xml"><ofd:FileLoc>{XBRL.rsplit("/", maxsplit=1)[-1]}</ofd:FileLoc></ofd:Attachment>'
    tags = '<ofd:CustomTag TypeID="0"><ofd:FileLoc>CustomTag.xml</ofd:FileLoc></ofd:CustomTag>'
    return {
        "OFD.xml": root(),
        "Doc_0/Document.xml": document(lists=LISTS),
        "Doc_0/Attachs/Attachments.xml": xml(f"<ofd:Attachments {OFD}>{attachment}</ofd:Attachments>"),
        XBRL: xbrl(voucher.xbrl),
        "Doc_0/Tags/CustomTags.xml": xml(f"<ofd:CustomTags {OFD}>{tags}</ofd:CustomTags>"),
        TAGS: custom_tag(voucher.tags),
        TEMPLATE: template(),
        PAGE: page(voucher),
    }


def zipped(parts: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in parts.items():
            package.writestr(zipfile.ZipInfo(name, (2026, 9, 8, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


# DER, written.


def der(tag: int, *contents: bytes) -> bytes:
    content = b"".join(contents)
    if len(content) < 0x80:
        return bytes((tag, len(content))) + content
    length = len(content).to_bytes((len(content).bit_length() + 7) // 8, "big")
    return bytes((tag, 0x80 | len(length))) + length + content


def integer(number: int) -> bytes:
    return der(2, number.to_bytes(number.bit_length() // 8 + 1, "big"))


def oid(text: str) -> bytes:
    first, second, *rest = map(int, text.split("."))
    content = bytearray()
    for number in (first * 40 + second, *rest):
        groups = [number & 0x7F]
        while number := number >> 7:
            groups.insert(0, number & 0x7F | 0x80)
        content += bytes(groups)
    return der(6, bytes(content))


def sequence(*values: bytes) -> bytes:
    return der(0x30, *values)


def octets(content: bytes) -> bytes:
    return der(4, content)


def bits(content: bytes) -> bytes:
    return der(3, b"\0", content)


def generalized(text: str) -> bytes:
    return der(0x18, text.encode())


def name(text: str) -> bytes:
    return sequence(der(0x31, sequence(oid("2.5.4.3"), der(0x0C, text.encode()))))


@dataclass(frozen=True)
class Issued:
    """A certificate and its key."""

    key: int
    subject: str
    certificate: bytes


_AUTHORITY = der(
    0xA3, sequence(sequence(oid("2.5.29.19"), der(1, b"\xff"), octets(sequence(der(1, b"\xff")))))
)


@cache
def issued(
    key: int, subject: str, by: "Issued | None" = None, *, authority: bool = False, ends: str = "2036"
) -> Issued:
    """A certificate for a key; without an issuer a root's."""
    issuer_key, issuer = (by.key, by.subject) if by else (key, subject)
    algorithm = sequence(oid(SM2_WITH_SM3))
    public = sequence(
        sequence(oid("1.2.840.10045.2.1"), oid("1.2.156.10197.1.301")), bits(sm2.public_key_of(key))
    )
    validity = sequence(der(0x17, b"240101000000Z"), generalized(f"{ends}0101000000Z"))
    signed = sequence(
        der(0xA0, integer(2)), integer(key), algorithm, name(issuer), validity, name(subject), public,
        _AUTHORITY if authority or by is None else b"",
    )  # fmt: skip
    return Issued(key, subject, sequence(signed, algorithm, bits(sm2.sign(issuer_key, signed))))


ROOT = issued(11, "Test root")
MAKER = issued(12, "Test maker", ROOT)
SIGNER = issued(13, "Test tax office", ROOT)


@dataclass(frozen=True)
class Sealer:
    """How a seal is set."""

    signer: Issued = SIGNER
    maker: Issued = MAKER
    listed: tuple[bytes, ...] | None = None
    by_digest: bool = False
    version: int = 4
    moment: str = "20260908120000Z"
    method: str = SM3
    algorithm: str = SM2_WITH_SM3
    stamp_annot: bool = True
    leaves_out: tuple[str, ...] = ()
    #: Changes of what is signed, after it was signed.
    tampering: dict[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        return id(self)


@cache
def stamp(sealer: Sealer) -> bytes:
    certificates = (sealer.signer.certificate,) if sealer.listed is None else sealer.listed
    kind, listed = 1, [octets(one) for one in certificates]
    if sealer.by_digest:
        kind = 2
        listed = [sequence(der(0x13, b"1"), octets(sm2.sm3(one))) for one in certificates]
    about = sequence(
        integer(1), der(0x0C, "测试专用章".encode()), integer(kind), sequence(*listed),
        generalized("20240101000000Z"), generalized("20240101000000Z"), generalized("20340101000000Z"),
    )  # fmt: skip
    header = sequence(der(0x16, b"ES"), integer(sealer.version), der(0x16, b"test"))
    picture = sequence(der(0x16, b"png"), octets(b"\x89PNG" + b"\0" * 2000), integer(40), integer(30))
    info = sequence(header, der(0x16, b"11010000000001"), about, picture)
    signed = sm2.sign(sealer.maker.key, info)
    info = sealer.tampering.get("info", lambda whole: whole)(info)
    return sequence(info, octets(sealer.maker.certificate), oid(SM2_WITH_SM3), bits(signed))


def signed_value(sealer: Sealer, sealed: bytes) -> bytes:
    to_sign = sequence(
        integer(sealer.version), stamp(sealer), generalized(sealer.moment), bits(sm2.sm3(sealed)), der(0x16, f"/{SIGNATURE}".encode()),
    )  # fmt: skip
    signature = sm2.sign(sealer.signer.key, to_sign)
    to_sign = sealer.tampering.get("to_sign", lambda whole: whole)(to_sign)
    return sequence(to_sign, octets(sealer.signer.certificate), oid(sealer.algorithm), bits(signature))


def references(covered: dict[str, bytes], sealer: Sealer) -> str:
    said = "".join(
        f'<ofd:Reference FileRef="/{part}"><ofd:CheckValue>{base64.b64encode(sm2.sm3(content)).decode()}</ofd:CheckValue></ofd:Reference>'
        for part, content in covered.items()
        if part not in sealer.leaves_out
    )
    return f'<ofd:References CheckMethod="{sealer.method}">{said}</ofd:References>'


def signature_xml(covered: dict[str, bytes], sealer: Sealer, value: str) -> bytes:
    annot = '<ofd:StampAnnot ID="1" PageRef="1" Boundary="150 100 40 30"/>' if sealer.stamp_annot else ""
    info = f"<ofd:Provider ProviderName='test'/><ofd:SignatureMethod>{sealer.algorithm}</ofd:SignatureMethod>"
    return xml(
        f"<ofd:Signature {OFD}><ofd:SignedInfo>{info}{references(covered, sealer)}{annot}</ofd:SignedInfo>"
        f"<ofd:SignedValue>/{value}</ofd:SignedValue></ofd:Signature>"
    )


def signatures_xml(count: int, kind: str = "Seal") -> bytes:
    entries = "".join(
        f'<ofd:Signature ID="{at + 1}" Type="{kind}" BaseLoc="Sign_{at}/Signature.xml"/>'
        for at in range(count)
    )
    return xml(f"<ofd:Signatures {OFD}><ofd:MaxSignId>{count}</ofd:MaxSignId>{entries}</ofd:Signatures>")


def sealed(parts: dict[str, bytes], *sealers: Sealer, kind: str = "Seal") -> dict[str, bytes]:
    """The parts with seals, each set over all that was there before it, and over Signatures.xml as it was then."""
    made = dict(parts) | {"OFD.xml": root(f"<ofd:Signatures>{SIGNATURES}</ofd:Signatures>")}
    for at, sealer in enumerate(sealers or (Sealer(),)):
        made[SIGNATURES] = signatures_xml(at + 1, kind)
        folder = f"Doc_0/Signs/Sign_{at}"
        signature = signature_xml(made, sealer, f"{folder}/SignedValue.dat")
        made[f"{folder}/Signature.xml"] = signature
        made[f"{folder}/SignedValue.dat"] = signed_value(sealer, signature)
    return made


def itinerary(voucher: Voucher | None = None, *sealers: Sealer, seal: bool = True) -> bytes:
    """A whole file."""
    return zipped(sealed(parts(voucher), *sealers) if seal else parts(voucher))
