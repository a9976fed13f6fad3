"""The file of an itinerary, read by other means: ZIP and XML of the standard library against itinerary-files.md, and ofdkit."""

import base64
import hashlib
import io
import xml.etree.ElementTree as ET
import zipfile
from dataclasses import replace
from datetime import date

import ofdkit
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.sandbox.itinerary import FareParts, Itinerary
from pipeline.sandbox.ofd_file import altered, ofd, packed

NUMBER, RED = "26948731111043132568", "26948731111043132569"
SIGN = "Doc_0/Signs/Sign_0"
ITINERARY = Itinerary(
    NUMBER, "9991234567890", "ZHANG/WEI MR", "远山科技有限公司", "91110000600037341L", "domestic",
    date(2026, 10, 1), date(2026, 11, 20), FareParts.of(1050_00, (850_00, 20_00, 50_00, 30_00, 100_00)),
)  # fmt: skip
#: 900.00 of it have VAT: 825.69 without it, of which 27.52 are for fuel.
MONEY = {
    "Fare": "798.17", "FuelSurcharge": "27.52", "VatRate": "0.09", "VatTaxAmount": "74.31", "CivilAviationDevelopmentFund": "50.00",
    "OtherTaxes": "100.00", "TotalAmount": "1050.00",
}  # fmt: skip


def archive(itinerary: Itinerary = ITINERARY) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(packed(ofd(itinerary))))


def local(tag: str) -> str:
    return tag.rpartition("}")[2]


def named(root: ET.Element, name: str) -> str:
    """The text of the only element of that name."""
    (found,) = (element for element in root.iter() if local(element.tag) == name)
    return found.text or ""


def data(file: zipfile.ZipFile) -> ET.Element:
    """The XBRL, by the way that the facts tell: from OFD.xml to where the attachment lies."""
    document = named(ET.fromstring(file.read("OFD.xml")), "DocRoot")
    listing = f"Doc_0/{named(ET.fromstring(file.read(document)), 'Attachments')}"
    return ET.fromstring(file.read(named(ET.fromstring(file.read(listing)), "FileLoc").lstrip("/")))


def test_it_has_the_parts_of_the_facts() -> None:
    names = archive().namelist()
    assert names[0] == "OFD.xml"
    assert {*names} >= {
        "Doc_0/Document.xml", "Doc_0/Attachs/Attachments.xml", f"Doc_0/Attachs/atr_issuer_{NUMBER}.xml",
        "Doc_0/Tags/CustomTag.xml", "Doc_0/Signs/Signatures.xml", f"{SIGN}/Signature.xml", f"{SIGN}/SignedValue.dat",
    }  # fmt: skip
    assert archive().testzip() is None


def test_its_data_are_those_of_the_facts() -> None:
    root = data(archive())
    for name, value in {
        **MONEY, "ElectronicInvoiceAirTransportReceiptNumber": NUMBER, "ETicketNumber": "9991234567890",
        "PassengerName": "ZHANG/WEI MR", "IssueDate": "2026-11-20", "NameOfPurchaser": "远山科技有限公司",
        "UnifiedSocialCreditCodeOfPurchaser": "91110000600037341L", "MarkingOfDomesticOrInternational": "国内",
        "IssuingStatus": "正常",
    }.items():  # fmt: skip
        assert named(root, name) == value
    (fact,) = (element for element in root.iter() if local(element.tag) == "Fare")
    assert fact.tag.partition("}")[0].endswith("/atr")
    (segment,) = (
        element for element in root.iter() if local(element.tag) == "DetailInformationOfAirTicketTuple"
    )
    assert named(segment, "CarrierDate") == "2026-10-01"
    assert {local(element.tag) for element in segment} >= {
        "DepartureStation",
        "DestinationStation",
        "Flight",
        "Class",
    }
    assert not [element for element in root.iter() if "Original" in element.tag]


def test_a_red_one_names_the_one_that_it_takes_back() -> None:
    red = replace(ITINERARY, number=RED, parts=ITINERARY.parts.negative, red_of=NUMBER)
    root = data(archive(red))
    assert named(root, "ElectronicInvoiceAirTransportReceiptNumber") == RED
    assert named(root, "OriginalElectronicInvoiceAirTransportReceiptNumber") == NUMBER
    assert named(root, "ReasonOfRushRed")
    assert (named(root, "IssuingStatus"), named(root, "TotalAmount")) == ("红冲", "-1050.00")
    assert NUMBER in ofdkit.extract_text(packed(ofd(red)))


@pytest.mark.parametrize("market", ["domestic", "international", ""])
def test_another_reader_reads_its_page(market: str) -> None:
    with ofdkit.open(packed(ofd(replace(ITINERARY, market=market)))) as document:
        text = document.text()
        assert document.warnings == []
        assert (document.pages[0].width, document.pages[0].height) == (210, 140)
        # Nothing reaches over the page's edge.
        assert all(
            run.x >= 0 and 0 <= run.y < 140 and run.x + run.width < 210 for run in document.pages[0].runs
        )
    for shown in (
        "电子发票（航空运输电子客票行程单）", NUMBER, "9991234567890", "ZHANG/WEI MR", "远山科技有限公司", "91110000600037341L",
        "798.17", "27.52", "74.31", "50.00", "100.00", "1050.00", "2026年11月20日", "没有任何效力",
    ):  # fmt: skip
        assert shown in text


def test_another_reader_follows_its_tags_to_the_page() -> None:
    invoice = ofdkit.extract_invoice(packed(ofd(ITINERARY)))
    assert invoice is not None
    assert invoice.sources == ["custom_tags"]
    assert (invoice.invoice_number, invoice.issue_date) == (NUMBER, "2026-11-20")
    assert (invoice.buyer.name, invoice.buyer.tax_id) == ("远山科技有限公司", "91110000600037341L")
    assert (invoice.amount_without_tax, invoice.tax_amount, invoice.total_amount) == (
        "975.69",
        "74.31",
        "1050.00",
    )
    assert invoice.warnings == []


def digests(file: zipfile.ZipFile) -> dict[str, str]:
    signature = ET.fromstring(file.read(f"{SIGN}/Signature.xml"))
    (references,) = (element for element in signature.iter() if local(element.tag) == "References")
    assert references.attrib == {"CheckMethod": "1.2.156.10197.1.401"}
    return {reference.attrib["FileRef"].lstrip("/"): reference[0].text or "" for reference in references}


def sm3(part: bytes) -> str:
    return base64.b64encode(hashlib.new("sm3", part).digest()).decode()


def test_its_seal_covers_every_part_but_itself() -> None:
    file = archive()
    assert digests(file) == {
        name: sm3(file.read(name))
        for name in file.namelist()
        if name not in {f"{SIGN}/Signature.xml", f"{SIGN}/SignedValue.dat"}
    }
    signature = ET.fromstring(file.read(f"{SIGN}/Signature.xml"))
    assert named(signature, "SignatureMethod") == "1.2.156.10197.1.501"
    for name in ("SignedValue", "BaseLoc"):
        assert named(signature, name).lstrip("/") in file.namelist()
    listed = ET.fromstring(file.read(named(ET.fromstring(file.read("OFD.xml")), "Signatures")))
    assert [one.attrib["BaseLoc"] for one in listed.iter() if local(one.tag) == "Signature"] == [
        f"/{SIGN}/Signature.xml"
    ]


def test_an_altered_one_has_another_amount_than_was_sealed() -> None:
    dearer = replace(ITINERARY, parts=FareParts.of(1060_00))
    file = zipfile.ZipFile(io.BytesIO(packed(altered(ITINERARY, dearer))))
    assert named(data(file), "TotalAmount") == "1060.00"
    assert "1050.00" in ofdkit.extract_text(io.BytesIO(packed(altered(ITINERARY, dearer))))
    wrong = [name for name, digest in digests(file).items() if digest != sm3(file.read(name))]
    assert wrong == [f"Doc_0/Attachs/atr_issuer_{NUMBER}.xml"]


def test_an_unsealed_one_names_no_seal() -> None:
    parts = ofd(ITINERARY, sealed=False)
    assert not [name for name in parts if "Sign" in name]
    assert b"Signatures" not in parts["OFD.xml"]
    assert NUMBER in ofdkit.extract_text(packed(parts))


@given(st.text(max_size=30), st.text(max_size=10))
def test_whatever_the_names_it_can_be_read(buyer: str, passenger: str) -> None:
    parts = ofd(replace(ITINERARY, buyer_name=buyer, passenger_name=passenger), sealed=False)
    for name, part in parts.items():
        assert name.endswith(".xml")
        ET.fromstring(part)
    (page,) = (ET.fromstring(parts[name]) for name in parts if name.endswith("Content.xml"))
    for code in (element for element in page.iter() if local(element.tag) == "TextCode"):
        assert len(code.attrib.get("DeltaX", "").split()) == len(code.text or "") - 1


def test_a_name_stays_as_it_was_asked_for() -> None:
    name = 'A & B <甲>　乙  "Söhne"𠮷'
    assert named(data(archive(replace(ITINERARY, buyer_name=name))), "NameOfPurchaser") == name
    assert (
        ofdkit.extract_invoice(packed(ofd(replace(ITINERARY, buyer_name="A & B <甲>")))).buyer.name
        == "A & B <甲>"
    )  # type: ignore[union-attr]
