"""The files of these tests, read by a program of other making (ofdkit), which knows nothing of XBRL and seals."""

import ofdkit

from pipeline.itinerary_files.ofd_package import Package
from pipeline.itinerary_files.ofd_parts import Parts
from pipeline.itinerary_files.source_fields import tag_fields
from tests.unit.itinerary_files.ofd_files import FACTS, NUMBER, Voucher, itinerary

#: As the ministry's tags of e-invoices are called, which ofdkit knows.
TAGS = {
    "InvoiceNo": NUMBER,
    "IssueDate": FACTS["IssueDate"],
    "BuyerName": FACTS["NameOfPurchaser"],
    "BuyerTaxID": FACTS["UnifiedSocialCreditCodeOfPurchaser"],
    "TaxInclusiveTotalAmount": "¥1000.00",
    "TaxTotalAmount": "¥74.31",
}


def test_the_page_reads_as_it_does_to_another() -> None:
    package = itinerary(Voucher(tags={}))
    theirs = [line.split() for line in ofdkit.extract_text(package).splitlines() if line]
    ours = [line.replace(":", ": ").split() for line in Parts(Package(package)).pages().text.splitlines()]
    assert ours == theirs
    assert len(ours) == 8


def test_tags_read_as_they_do_to_another() -> None:
    package = itinerary(Voucher(tags=TAGS))
    theirs = ofdkit.extract_invoice(package)
    parts = Parts(Package(package))
    ours = tag_fields(parts.tags(), parts.pages().by_id).values
    assert theirs
    assert theirs.buyer
    assert (ours["number"], ours["buyer_name"], ours["buyer_tax_no"]) == (
        theirs.invoice_number,
        theirs.buyer.name,
        theirs.buyer.tax_id,
    )
    assert (ours["total"], ours["vat"]) == (100000, 7431)
    assert (theirs.total_amount, theirs.tax_amount) == ("1000.00", "74.31")
    assert str(ours["issued_on"]) == theirs.issue_date
