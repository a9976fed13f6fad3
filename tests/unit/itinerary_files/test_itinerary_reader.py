"""What is read of an itinerary file: its fields by the order of trust, and what makes it altered, unclear or no itinerary."""

import datetime
from typing import Any

import orjson
import pytest

from pipeline.itinerary_files.itinerary_reader import read_itinerary
from pipeline.itinerary_files.read_answer import read_file
from pipeline.model.itinerary_file import FieldSource, FileStatus, ItineraryData, ReadFile, SealStatus
from tests.unit.itinerary_files.ofd_files import (
    FACTS,
    NUMBER,
    PAGE,
    TAG_NAMES,
    TAGS,
    TICKET,
    XBRL,
    Voucher,
    content,
    document,
    itinerary,
    parts,
    root,
    text_object,
    xbrl,
    xml,
    zipped,
)


def read(package: bytes, roots: tuple[bytes, ...] = ()) -> ReadFile:
    return read_file(orjson.dumps(read_itinerary(package, roots)))


def data_of(package: bytes) -> ItineraryData:
    read_of_it = read(package)
    assert read_of_it.data
    return read_of_it.data


def said(package: bytes) -> list[str]:
    return [str(reason) for reason in read(package).reasons]


def test_every_field_of_a_whole_file() -> None:
    file = read(itinerary(seal=False))
    assert (file.problem, file.reasons, file.seal) == (None, (), SealStatus.NONE)
    assert file.data == ItineraryData(
        number=NUMBER,
        tickets=(TICKET,),
        buyer_name="示例贸易有限公司",
        buyer_tax_no="91110000600037341L",
        fare=82569,
        fuel=0,
        vat=7431,
        fund=5000,
        other_taxes=5000,
        total=100000,
        issued_on=datetime.date(2026, 9, 8),
        sources=dict.fromkeys(
            ("number", "tickets", "buyer_name", "buyer_tax_no", "fare", "fuel", "vat", "fund", "other_taxes", "total", "issued_on"),
            FieldSource.XBRL,
        ),
    )  # fmt: skip


def test_what_a_source_lacks_comes_from_the_next() -> None:
    less = Voucher(
        xbrl={"Fare": "825.69", "ETicketNumber": TICKET},
        tags={tag: FACTS[name] for tag, name in TAG_NAMES.items() if tag != "填开日期"},
    )
    found = data_of(itinerary(less, seal=False))
    assert found.number == NUMBER
    assert found.issued_on == datetime.date(2026, 9, 8)
    assert found.total == 100000
    assert (found.vat, found.fund, found.fuel) == (7431, 5000, 0)
    assert {name: found.sources[name] for name in ("fare", "number", "issued_on", "vat")} == {
        "fare": FieldSource.XBRL,
        "number": FieldSource.CUSTOM_TAG,
        "issued_on": FieldSource.PAGE,
        "vat": FieldSource.PAGE,
    }


def test_a_page_alone_is_read() -> None:
    bare = {name: part for name, part in parts().items() if "Attachs" not in name and "Tags" not in name}
    found = data_of(zipped(bare))
    assert set(found.sources.values()) == {FieldSource.PAGE}
    assert (found.number, found.tickets, found.total) == (NUMBER, (TICKET,), 100000)
    assert (found.buyer_name, found.buyer_tax_no) == ("示例贸易有限公司", "91110000600037341L")


@pytest.mark.parametrize(
    ("source", "change", "words"),
    [
        ("page", {"TotalAmount": "1001.00"}, "the total is 1,000.00 in its XBRL data, and 1,001.00 in its page's text"),
        ("page", {"ETicketNumber": "9992400000018"}, f"the ticket number is {TICKET} in its XBRL data, and 9992400000018 in its page's text"),
        ("page", {"IssueDate": "2026年09月09日"}, "the date of issue is 2026-09-08 in its XBRL data, and 2026-09-09 in its page's text"),
        ("page", {"NameOfPurchaser": "另一公司"}, "the buyer's name is 示例贸易有限公司 in its XBRL data, and 另一公司 in its page's text"),
        ("tags", {"发票号码": "26948731111043132569"}, f"the itinerary's number is {NUMBER} in its XBRL data, and 26948731111043132569 in its tags"),
        ("tags", {"购买方纳税人识别号": "91110000600037341M"}, "the buyer's tax number is 91110000600037341L in its XBRL data"),
        ("tags", {"价税合计": "¥999.00"}, "the total is 1,000.00 in its XBRL data, and 999.00 in its tags"),
        ("xbrl", {"TotalAmount": "1000.01"}, "its amounts come to 1,000.00, and its total is 1,000.01"),
    ],
)  # fmt: skip
def test_sources_that_disagree_are_an_altered_file(source: str, change: dict[str, str], words: str) -> None:
    # Where the page or a tag is changed, the old value must not stand in the other; the page's texts of the tags are far off.
    package = itinerary(Voucher().only(**{source: change}), seal=False)
    if source == "page":
        package = itinerary(Voucher(tags={}).only(page=change), seal=False)
    file = read(package)
    assert file.problem is FileStatus.ALTERED
    assert file.data
    assert any(one.startswith(words) for one in map(str, file.reasons)), file.reasons


def test_two_values_in_one_source_are_an_altered_file() -> None:
    twice = parts() | {
        XBRL: xbrl(FACTS).replace(b"</xbrli:xbrl>", b"<atr:TotalAmount>9.00</atr:TotalAmount></xbrli:xbrl>")
    }
    assert said(zipped(twice))[0] == "the total is 1,000.00 in its XBRL data, and 9.00 in its XBRL data"


@pytest.mark.parametrize(
    "page",
    [
        {"NameOfPurchaser": "示例贸易"},  # broken off at the end of its line
        {"NameOfPurchaser": "示例贸易 有限公司"},
        {"UnifiedSocialCreditCodeOfPurchaser": "91110000600037341l"},
        {"UnifiedSocialCreditCodeOfPurchaser": "9111**********341L"},
        {"ETicketNumber": "999-2400000017"},
        {"ETicketNumber": "999 2400000017"},
        {"IssueDate": "2026年9月8日"},
        {"TotalAmount": "1,000.00"},
    ],
)
def test_other_ways_to_write_a_value_are_no_disagreement(page: dict[str, str]) -> None:
    file = read(itinerary(Voucher(tags={}).only(page=page), seal=False))
    assert (file.problem, file.reasons) == (None, ())


def test_a_value_on_the_page_ends_before_the_next_label() -> None:
    line = content(
        [
            text_object(
                1,
                "行程单 电子客票号码: 999-2400000017 国内国际标识: 国内 填开日期:9月8日",
                (1, 1, 190, 4),
            )
        ]
    )
    found = data_of(zipped({"OFD.xml": root(), "Doc_0/Document.xml": document(), PAGE: line}))
    assert (found.tickets, found.issued_on, found.notes) == ((TICKET,), None, ())


def test_what_stands_anywhere_on_the_page_is_no_disagreement() -> None:
    """No airline's page was to be had: what is read below a label may be another amount."""
    for name, other in (
        ("TotalAmount", "1001.00"),
        ("IssueDate", "2026-09-09"),
        ("NameOfPurchaser", "另一公司"),
    ):
        file = read(itinerary(Voucher().only(page={name: other}), seal=False))
        assert (file.problem, file.reasons) == (None, ())


def test_a_conjunction_set_has_all_its_numbers() -> None:
    file = read(itinerary(Voucher(tags={}).only(xbrl={"ETicketNumber": "999-2400000016/017"}), seal=False))
    assert file.data
    assert file.data.tickets == ("9992400000016", "9992400000017")
    assert file.problem is None


@pytest.mark.parametrize("net", ["825.69", "925.69"])
def test_the_amount_of_tags_is_without_vat(net: str) -> None:
    file = read(itinerary(Voucher(tags={"合计金额": net, "合计税额": "74.31"}), seal=False))
    assert (file.problem, file.reasons) == (None, ())


def test_an_amount_of_tags_that_is_not_what_the_rest_comes_to() -> None:
    assert said(itinerary(Voucher(tags={"合计金额": "1000.00"}), seal=False)) == [
        "without VAT it comes to 1,000.00 in its tags, and its amounts to 825.69"
    ]


def test_a_yuan_sign_alone_is_no_value() -> None:
    file = read(itinerary(Voucher().only(tags={"价税合计": "¥"}), seal=False))
    assert (file.problem, file.data and file.data.notes) == (None, ())


def test_a_red_voucher_names_the_one_that_it_takes_back() -> None:
    facts = {name: f"-{value}" for name, value in FACTS.items() if name in ("Fare", "VatTaxAmount", "CivilAviationDevelopmentFund", "OtherTaxes", "TotalAmount")}  # fmt: skip
    original = {"OriginalElectronicInvoiceAirTransportReceiptNumber": "26948731111043132500"}
    red = read(itinerary(Voucher().said(**facts, **original), seal=False))
    assert red.problem is None
    assert red.data
    assert (red.data.red_of, red.data.total) == ("26948731111043132500", -100000)
    nameless = read(itinerary(Voucher().said(**facts), seal=False))
    assert nameless.problem is FileStatus.UNCLEAR
    assert "which itinerary it takes back" in str(nameless.reasons[0])


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"ElectronicInvoiceAirTransportReceiptNumber": "AIR000000000001"}, "it says no number of 20 digits"),
        ({"ETicketNumber": "12"}, "it says no ticket number of 13 digits"),
    ],
)
def test_without_number_or_ticket_it_is_unclear(facts: dict[str, str], words: str) -> None:
    file = read(itinerary(Voucher().said(**facts), seal=False))
    assert file.problem is FileStatus.UNCLEAR
    assert [str(reason) for reason in file.reasons] == [words]
    assert file.data
    assert any("not understood" in str(note) for note in file.data.notes)


def test_malformed_names_in_tags_are_noted_and_read() -> None:
    odd = '<:eInvoice xmlns:=""><:发票号码>26948731111043132568</:发票号码><合计>7.00</合计></:eInvoice>'
    file = read(zipped(parts() | {TAGS: odd.encode()}))
    assert file.problem is FileStatus.ALTERED
    assert "7.00 in its tags" in str(file.reasons[0])
    assert file.data
    assert "has names that XML does not allow" in str(file.data.notes[0])


def test_tags_that_are_no_xml_are_noted_and_left_out() -> None:
    file = read(zipped(parts() | {TAGS: b"<eInvoice><a></eInvoice>"}))
    assert (file.problem, file.reasons) == (None, ())
    assert file.data
    assert [str(note) for note in file.data.notes] == [f"its part {TAGS} is not well-formed and is left out"]


@pytest.mark.parametrize("taxonomy", ["2021-11-30/atr", "2023-12-31/atr", "2031-01-01/atr/"])
def test_any_version_of_the_taxonomy(taxonomy: str) -> None:
    assert data_of(zipped(parts() | {XBRL: xbrl(FACTS, taxonomy)})).sources["total"] is FieldSource.XBRL


def test_another_taxonomy_is_none_of_ours() -> None:
    rail = {XBRL: xbrl(FACTS, "2023-12-31/rai"), PAGE: content([]), TAGS: xml("<eInvoice/>")}
    file = read(zipped(parts() | rail))
    assert (
        data_of(zipped(parts() | {XBRL: xbrl(FACTS, "2023-12-31/rai")})).sources["total"]
        is not FieldSource.XBRL
    )
    assert file.problem is FileStatus.NOT_AN_ITINERARY


def test_another_document_is_no_itinerary() -> None:
    other = {
        "OFD.xml": root(),
        "Doc_0/Document.xml": document(),
        PAGE: content([text_object(1, "电子发票", (1, 1, 9, 9))]),
    }
    file = read(zipped(other))
    assert (file.problem, file.data) == (FileStatus.NOT_AN_ITINERARY, None)
    assert str(file.reasons[0]) == "it is an OFD file, but not an itinerary"


def test_xbrl_that_no_list_names_is_found() -> None:
    unlisted = parts() | {"Doc_0/Document.xml": document()}
    assert data_of(zipped(unlisted)).sources["total"] is FieldSource.XBRL


def test_a_location_is_from_the_root_or_from_its_folder() -> None:
    for location in ("/Doc_0/Attachs/x.xml", "x.xml", "../Attachs/x.xml", "..\\Attachs\\x.xml"):
        listed = f"<Attachments><Attachment><FileLoc>{location}</FileLoc></Attachment></Attachments>"
        moved = parts() | {"Doc_0/Attachs/Attachments.xml": xml(listed), "Doc_0/Attachs/x.xml": xbrl(FACTS)}
        del moved[XBRL]
        assert data_of(zipped(moved)).sources["total"] is FieldSource.XBRL


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_any_encoding_that_xml_names_itself(encoding: str) -> None:
    text = xbrl(FACTS).decode().replace(' encoding="UTF-8"', "").encode(encoding)
    assert data_of(zipped(parts() | {XBRL: text})).buyer_name == "示例贸易有限公司"


def test_no_fact_of_the_file_is_taken_for_words_of_ours() -> None:
    said_of_it: Any = read(
        itinerary(Voucher(tags={}).only(page={"NameOfPurchaser": "{field}"}), seal=False)
    ).reasons
    assert str(said_of_it[0]).endswith("and {field} in its page's text")
