"""An itinerary file: a ZIP of parts (OFD, GB/T 33190), with the data attached as XBRL, and sealed.

    OFD.xml                           the way in
    Doc_0/Document.xml                the document: its page, attachments and tags
    Doc_0/PublicRes.xml               the font
    Doc_0/Pages/Page_0/Content.xml    what people see
    Doc_0/Attachs/Attachments.xml     names the data: atr_issuer_<number>.xml
    Doc_0/Tags/CustomTags.xml         names what of the page is what: CustomTag.xml
    Doc_0/Signs/Signatures.xml        names the seal's folder
    Doc_0/Signs/Sign_0/               Signature.xml lists the digest of every other part; SignedValue.dat seals it; Seal.esl

It is written from itinerary-files.md alone and shares nothing with what reads such files.
"""

import base64
import io
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime

from pipeline import sm2
from pipeline.sandbox.electronic_seal import HEIGHT as SEAL_HEIGHT
from pipeline.sandbox.electronic_seal import SM3, seal, signed_value
from pipeline.sandbox.electronic_seal import WIDTH as SEAL_WIDTH
from pipeline.sandbox.itinerary import Itinerary
from pipeline.sandbox.itinerary_page import (
    FONT_ID,
    HEIGHT,
    OFD,
    PAGE_ID,
    WIDTH,
    content,
    custom_tag,
    last_id,
)
from pipeline.sandbox.itinerary_xbrl import xbrl
from pipeline.sandbox.seal_certificates import SM2_WITH_SM3
from pipeline.sandbox.xml_text import document, element

Parts = dict[str, bytes]

_DOCUMENT = "Doc_0/Document.xml"
_ATTACHMENTS, _TAGS, _SIGNATURES = (
    f"Doc_0/{name}" for name in ("Attachs/Attachments.xml", "Tags/CustomTags.xml", "Signs/Signatures.xml")
)
_SIGN = "Doc_0/Signs/Sign_0"


def ofd(itinerary: Itinerary, *, sealed: bool = True) -> Parts:
    """The parts of an itinerary's file, by their paths in it. Raises NoSM3 where they are to be sealed."""
    data = f"Doc_0/Attachs/atr_issuer_{itinerary.number}.xml"
    parts = {
        "OFD.xml": _way_in(itinerary, sealed=sealed),
        _DOCUMENT: _document(itinerary),
        "Doc_0/PublicRes.xml": _fonts(),
        "Doc_0/Pages/Page_0/Content.xml": content(itinerary),
        _ATTACHMENTS: _attachments(data),
        data: xbrl(itinerary),
        _TAGS: _tags(),
        "Doc_0/Tags/CustomTag.xml": custom_tag(itinerary),
    }
    return _sealed(parts) if sealed else parts


def packed(parts: Mapping[str, bytes]) -> bytes:
    """The parts as one file; the same parts are always the same bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, part)
    return file.getvalue()


def altered(itinerary: Itinerary, another: Itinerary) -> Parts:
    """The file of an itinerary whose data were replaced by another's after it was sealed; the page and its tags are the first one's."""
    name = f"Doc_0/Attachs/atr_issuer_{itinerary.number}.xml"
    return ofd(itinerary) | {name: xbrl(another)}


def _way_in(itinerary: Itinerary, *, sealed: bool) -> bytes:
    info = element(
        "ofd:DocInfo",
        element("ofd:DocID", itinerary.number.rjust(32, "0")),
        element("ofd:Title", "电子发票（航空运输电子客票行程单）"),
        element("ofd:CreationDate", itinerary.issued_on.isoformat()),
        element("ofd:Creator", "Voucher Pipeline sandbox"),
    )
    signatures = (element("ofd:Signatures", _SIGNATURES),) if sealed else ()
    body = element("ofd:DocBody", info, element("ofd:DocRoot", _DOCUMENT), *signatures)
    return document(element("ofd:OFD", body, **OFD, DocType="OFD", Version="1.1"))


def _document(itinerary: Itinerary) -> bytes:
    return document(
        element(
            "ofd:Document",
            element(
                "ofd:CommonData",
                element("ofd:MaxUnitID", str(last_id(itinerary))),
                element("ofd:PageArea", element("ofd:PhysicalBox", f"0 0 {WIDTH} {HEIGHT}")),
                element("ofd:PublicRes", "PublicRes.xml"),
            ),
            element("ofd:Pages", element("ofd:Page", ID=PAGE_ID, BaseLoc="Pages/Page_0/Content.xml")),
            element("ofd:Attachments", "Attachs/Attachments.xml"),
            element("ofd:CustomTags", "Tags/CustomTags.xml"),
            **OFD,
        )
    )


def _fonts() -> bytes:
    font = element("ofd:Font", ID=FONT_ID, FontName="宋体", FamilyName="SimSun")
    return document(element("ofd:Res", element("ofd:Fonts", font), **OFD, BaseLoc="Res"))


def _attachments(data: str) -> bytes:
    name = data.rpartition("/")[2]
    attached = element(
        "ofd:Attachment", element("ofd:FileLoc", f"/{data}"), ID=1, Name=name, Format="xml", Visible="false"
    )
    return document(element("ofd:Attachments", attached, **OFD))


def _tags() -> bytes:
    tag = element("ofd:CustomTag", element("ofd:FileLoc", "CustomTag.xml"), TypeID="eInvoice")
    return document(element("ofd:CustomTags", tag, **OFD))


def _sealed(parts: Parts) -> Parts:
    """The parts and their seal, which covers every part but itself."""
    signature = element("ofd:Signature", ID=1, Type="Seal", BaseLoc=f"/{_SIGN}/Signature.xml")
    signatures = document(element("ofd:Signatures", element("ofd:MaxSignId", "1"), signature, **OFD))
    covered = parts | {_SIGNATURES: signatures, f"{_SIGN}/Seal.esl": seal()}
    moment = datetime.now(UTC)
    listed = _signature(covered, moment)
    return covered | {
        f"{_SIGN}/Signature.xml": listed,
        f"{_SIGN}/SignedValue.dat": signed_value(listed, f"/{_SIGN}/Signature.xml", moment),
    }


def _signature(covered: Parts, moment: datetime) -> bytes:
    references = (
        element("ofd:Reference", element("ofd:CheckValue", _digest(part)), FileRef=f"/{name}")
        for name, part in covered.items()
    )
    place = f"{WIDTH - SEAL_WIDTH - 12} {HEIGHT - SEAL_HEIGHT - 17} {SEAL_WIDTH} {SEAL_HEIGHT}"
    signed = element(
        "ofd:SignedInfo",
        element("ofd:Provider", ProviderName="sandbox", Version="1.0", Company="Voucher Pipeline sandbox"),
        element("ofd:SignatureMethod", SM2_WITH_SM3),
        element("ofd:SignatureDateTime", moment.strftime("%Y%m%d%H%M%SZ")),
        element("ofd:References", *references, CheckMethod=SM3),
        element("ofd:StampAnnot", ID=1, PageRef=PAGE_ID, Boundary=place),
        element("ofd:Seal", element("ofd:BaseLoc", f"/{_SIGN}/Seal.esl")),
    )
    value = element("ofd:SignedValue", f"/{_SIGN}/SignedValue.dat")
    return document(element("ofd:Signature", signed, value, **OFD))


def _digest(part: bytes) -> str:
    return base64.b64encode(sm2.sm3(part)).decode("ascii")
