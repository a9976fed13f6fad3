"""The data of an itinerary for machines: XBRL as the ministry's accounting data standard for e-vouchers has it.

Elements and their meaning: itinerary-files.md. What no workbook has is made up (the route) or left out (the identity document). The
address of the standard's schema is not known: there is no schemaRef.
"""

from collections.abc import Iterator

from pipeline.sandbox.itinerary import VAT_PERCENT, Itinerary, amount_text
from pipeline.sandbox.xml_text import document, element, text

ISSUER = "沙箱航空（测试）"
STATUSES = {False: "正常", True: "红冲"}
MARKETS = {"domestic": "国内", "international": "国际"}
#: Made up: a route and a flight for each market.
ROUTES = {"domestic": ("北京首都", "上海虹桥", "ZZ1001"), "international": ("北京首都", "东京羽田", "ZZ2001")}
CABIN = "Y"
RED_REASON = "开票有误"

_NAMESPACES = {
    "xmlns:xbrli": "http://www.xbrl.org/2003/instance",
    "xmlns:iso4217": "http://www.xbrl.org/2003/iso4217",
    "xmlns:atr": "http://xbrl.mof.gov.cn/taxonomy/2021-11-30/atr",
}
_MONEY = frozenset((
    "Fare", "FuelSurcharge", "VatTaxAmount", "CivilAviationDevelopmentFund", "OtherTaxes", "TotalAmount",
))  # fmt: skip


def xbrl(itinerary: Itinerary) -> bytes:
    """The document."""
    day = element("xbrli:period", element("xbrli:instant", itinerary.issued_on.isoformat()))
    issuer = element("xbrli:entity", element("xbrli:identifier", text(ISSUER), scheme="urn:sandbox"))
    facts = "".join(_fact(name, value) for name, value in _facts(itinerary) if value)
    return document(
        element(
            "xbrli:xbrl",
            element("xbrli:context", issuer, day, id="issued"),
            element("xbrli:unit", element("xbrli:measure", "iso4217:CNY"), id="CNY"),
            element("xbrli:unit", element("xbrli:measure", "xbrli:pure"), id="pure"),
            facts,
            _segment(itinerary),
            **_NAMESPACES,
        )
    )


def _facts(itinerary: Itinerary) -> Iterator[tuple[str, str]]:
    parts = itinerary.parts
    yield "PassengerName", itinerary.passenger_name
    yield "ElectronicInvoiceAirTransportReceiptNumber", itinerary.number
    yield "IssuingStatus", STATUSES[bool(itinerary.red_of)]
    yield "MarkingOfDomesticOrInternational", MARKETS.get(itinerary.market, "")
    yield "Fare", amount_text(parts.fare)
    yield "FuelSurcharge", amount_text(parts.fuel)
    yield "VatRate", f"0.{VAT_PERCENT:02d}"
    yield "VatTaxAmount", amount_text(parts.vat)
    yield "CivilAviationDevelopmentFund", amount_text(parts.fund)
    yield "OtherTaxes", amount_text(parts.other_taxes)
    yield "TotalAmount", amount_text(parts.total)
    yield "ETicketNumber", itinerary.ticket_no
    yield "IssueParty", ISSUER
    yield "IssueDate", itinerary.issued_on.isoformat()
    yield "NameOfSeller", ISSUER
    yield "NameOfPurchaser", itinerary.buyer_name
    yield "UnifiedSocialCreditCodeOfPurchaser", itinerary.buyer_tax_no
    if itinerary.red_of:
        yield "OriginalElectronicInvoiceAirTransportReceiptNumber", itinerary.red_of
        yield "ReasonOfRushRed", RED_REASON


def _fact(name: str, value: str) -> str:
    unit = {"unitRef": "CNY"} if name in _MONEY else {"unitRef": "pure"} if name == "VatRate" else {}
    decimals = {"decimals": 2} if unit else {}
    return element(f"atr:{name}", text(value), contextRef="issued", **unit, **decimals)


def _segment(itinerary: Itinerary) -> str:
    start, end, flight = ROUTES.get(itinerary.market, ROUTES["domestic"])
    told = {"DepartureStation": start, "DestinationStation": end, "Flight": flight, "Class": CABIN}
    if itinerary.flight_date:
        told["CarrierDate"] = itinerary.flight_date.isoformat()
    return element(
        "atr:DetailInformationOfAirTicketTuple", *(_fact(name, value) for name, value in told.items())
    )
