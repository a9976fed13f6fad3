"""The carrier's own preconditions, each with its source in carrier-interface.md.

A refusal is a text for the caller to read. It never repeats a name, an e-mail address or any other
text of the request, so that it may stand in a log; ticket numbers are those of the carrier's books.

Where the interface leaves a reading open, the rule's docstring says "Inferred" and why.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from pipeline.model.money import money_text
from pipeline.sandbox.carrier_settings import SandboxSettings
from pipeline.sandbox.issued_vouchers import FARE_AND_REFUND, Issued
from pipeline.sandbox.sold_tickets import Charge, Registry, plain_ticket_no
from pipeline.sandbox.wire_documents import (
    AskedCharge,
    Buyer,
    InvoiceRequest,
    ItineraryRequest,
    Request,
)

# Inferred: a ticket flown in part and refunded for the rest has a fare for what was flown and a refund for the rest.
_FLOWN = frozenset({"used", "partly_used"})
_GIVEN_BACK = frozenset({"refunded", "partly_used"})
_ITINERARY_AGE = timedelta(days=180)  # Limits, "Flight age for itinerary"
_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+")


@dataclass(frozen=True)
class Refusal:
    """Why a request is not accepted."""

    text: str


@dataclass(frozen=True)
class Books:
    """What the carrier judges a request by."""

    settings: SandboxSettings
    registry: Registry
    issued: Issued


def judge(request: Request, books: Books) -> tuple[Charge, ...] | Refusal:
    """Give the charges that the request's voucher is for, or the first reason against it."""
    if isinstance(request, InvoiceRequest):
        return _judge_invoice(request, books)
    return _judge_itinerary(request, books)


def _judge_invoice(request: InvoiceRequest, books: Books) -> tuple[Charge, ...] | Refusal:
    refusal = _first(_buyer_refusals(request.buyer, books.settings))
    if refusal:
        return refusal
    today = books.settings.as_of()
    charges = []
    for asked in request.charges:
        charge = find_charge(asked, books)
        if isinstance(charge, Refusal):
            return charge
        refusal = _first(_charge_refusals(charge, books.issued, today))
        if refusal:
            return refusal
        charges.append(charge)
    return _first(_invoice_refusals(charges, books.settings)) or tuple(charges)


def _judge_itinerary(request: ItineraryRequest, books: Books) -> tuple[Charge, ...] | Refusal:
    refusal = _first(_buyer_refusals(request.buyer, books.settings)) or _first(
        _address_refusals(request.buyer)
    )
    if refusal:
        return refusal
    ticket_no = plain_ticket_no(request.ticket_no)
    if ticket_no is None or ticket_no not in books.registry:
        return Refusal("The ticket is not known.")
    fares = [charge for charge in books.registry.charges(ticket_no) if charge.key.charge == "ticket_fare"]
    if not fares:
        # Inferred: an itinerary is a payment proof (Terms), and there is nothing paid to prove.
        return Refusal(f"Ticket {ticket_no} has no ticket fare charge.")
    return _first(_itinerary_refusals(fares[0], books.issued, books.settings.as_of())) or tuple(fares)


def _first(texts: Iterator[str]) -> Refusal | None:
    text = next(texts, None)
    return None if text is None else Refusal(text)


def _buyer_refusals(buyer: Buyer, settings: SandboxSettings) -> Iterator[str]:
    """Require a known kind of buyer, a name, and a business's tax number.

    Inferred: the interface leaves open which fields are required; a voucher without these names
    nobody. Its other fields (telephone, remarks, an invoice's e-mail) may be empty strings.
    """
    if buyer.header_type not in _codes(settings.header_type.values()):
        yield "The kind of buyer is not known."
    if not buyer.name.strip():
        yield "The buyer's name is missing."
    if buyer.header_type == settings.header_type.get("business") and not buyer.tax_no.strip():
        yield "The business's tax number is missing."


def _address_refusals(buyer: Buyer) -> Iterator[str]:
    """Issue itinerary, rule 2: the itinerary is sent to the e-mail address, "so that address must be correct".

    Inferred: nothing without an "@" between two parts, or with a space in it, is correct.
    """
    if not _ADDRESS.fullmatch(buyer.email):
        yield "The buyer's e-mail address is missing or not an address."


def find_charge(asked: AskedCharge, books: Books) -> Charge | Refusal:
    """Find the charge in the carrier's books that an element of ticketFeeList asks for.

    Invoice request: ticketNo and psgName ("in the ticket's name format"; inferred: letter by letter
    the ticket's own, but for marks that nobody sees), productType and feeType. Where two charges of a ticket have the same codes,
    the first in the books is meant: on the wire they are one.
    """
    settings = books.settings
    if asked.fee_type not in _codes(settings.fee_type.values()):
        return Refusal("A feeType is not known.")
    if asked.product_type not in _codes(settings.product_type.values()):
        return Refusal("A productType is not known.")
    ticket_no = plain_ticket_no(asked.ticket_no)
    if ticket_no is None or ticket_no not in books.registry:
        return Refusal("A ticket is not known.")
    name = "".join(c for c in asked.passenger_name if unicodedata.category(c) != "Cf")
    if not name.strip() or name != books.registry.passenger_name(ticket_no):
        return Refusal(f"The passenger's name is not that on ticket {ticket_no}.")
    for charge in books.registry.charges(ticket_no):
        codes = settings.fee_type.get(charge.key.charge), settings.product_type.get(charge.key.product)
        if codes == (asked.fee_type, asked.product_type):
            return charge
    return Refusal(f"Ticket {ticket_no} has no such charge.")


def _charge_refusals(charge: Charge, issued: Issued, today: date) -> Iterator[str]:
    """Hold any charge of an invoice against what it must satisfy by itself."""
    ticket = f"Ticket {charge.key.ticket_no}"
    if issued.holds(charge.key):
        # Inferred from Issue itinerary, rule 6, and Terms: a correction is a red invoice, not a second one.
        yield f"{ticket}: the charge was issued already."
    if charge.key.charge in FARE_AND_REFUND and issued.voucher_of_ticket(charge.key.ticket_no) == "itinerary":
        # Issue invoice, rule 2; Limits, "Voucher per ticket fare".
        yield f"{ticket}: its voucher is an itinerary; it can't be invoiced too."
    if charge.ticket_status not in (*_FLOWN, *_GIVEN_BACK):
        # Limits, "Ticket eligibility for invoicing".
        yield f"{ticket} is neither used nor refunded."
    if charge.key.charge == "ticket_fare":
        yield from _fare_refusals(charge, ticket, today)
    elif charge.key.charge == "refund":
        yield from _refund_refusals(charge, ticket, today)
    else:
        yield from _ancillary_refusals(charge, ticket, today)


def _fare_refusals(charge: Charge, ticket: str, today: date) -> Iterator[str]:
    """Terms, "Ticket fare charge"; Limits, "Time to request ticket fare charge".

    Inferred: a use that is yet to come is no use.
    """
    if charge.ticket_status not in _FLOWN or charge.used_on is None or charge.used_on > today:
        yield f"{ticket} has not been used."
    elif today > year_after(charge.used_on):
        yield f"{ticket} was used more than one year ago."


def _refund_refusals(charge: Charge, ticket: str, today: date) -> Iterator[str]:
    """Terms, "Refund charge"; Limits, "Time to request refund charge"."""
    if charge.ticket_status not in _GIVEN_BACK:
        yield f"{ticket} has not been refunded."
    elif charge.refund_approved_on is None or charge.refund_approved_on > today:
        yield f"{ticket}: its refund has not been approved."


def _ancillary_refusals(charge: Charge, ticket: str, today: date) -> Iterator[str]:
    """Terms, "Ancillary service charge"; Limits, "Time to request ancillary charge".

    Inferred: a purchase that is yet to come, or of which no date is known, is no purchase.
    """
    if charge.purchased_on is None or charge.purchased_on > today:
        yield f"{ticket}: the product has not been bought."
    elif today > year_after(charge.purchased_on):
        yield f"{ticket}: the product was bought more than one year ago."


def _invoice_refusals(charges: Sequence[Charge], settings: SandboxSettings) -> Iterator[str]:
    """Hold the charges of an invoice against what they must satisfy together."""
    if len({charge.key for charge in charges}) < len(charges):
        # Inferred, as for a charge issued already: one charge, one invoice.
        yield "The same charge stands in the request twice."
    if len({charge.key.charge == "ticket_fare" for charge in charges}) > 1:
        # Issue invoice, rule 3; Limits, "Ticket fare charge with other charges".
        yield "Ticket fare charges can't be invoiced together with other charges."
    markets = {charge.market for charge in charges}
    if len(markets) > 1:
        # Inferred: Limits knows a domestic invoice and an international one, and no limit for a mixed one.
        yield "Domestic and international tickets can't share an invoice."
    limit = {
        "domestic": settings.domestic_invoice_max,  # Limits, "Maximum amount of a single domestic invoice"
        "international": settings.international_invoice_max,  # Limits, likewise
    }.get(markets.pop())
    total = sum(charge.amount for charge in charges)
    if limit is None:
        yield "Whether the tickets are domestic or international is not known."
    elif total > limit:
        yield f"The total of {money_text(total)} is over the limit of {money_text(limit)}."


def _itinerary_refusals(fare: Charge, issued: Issued, today: date) -> Iterator[str]:
    """Issue itinerary, rules 3, 4 and 6; Limits, "Flight age for itinerary".

    Inferred: a flight or a use that is yet to come leaves the ticket unused.
    """
    ticket = f"Ticket {fare.key.ticket_no}"
    voucher = issued.voucher_of_ticket(fare.key.ticket_no)
    if voucher == "invoice":
        yield f"{ticket}: its voucher is an invoice; it can't have an itinerary too."
    if voucher == "itinerary":
        yield f"{ticket}: its itinerary was issued already."
    to_come = (fare.flight_date or date.max) > today or (fare.used_on or date.max) > today
    if fare.ticket_status not in _FLOWN or fare.flight_date is None or to_come:
        yield f"{ticket} has not been used."
    elif today - fare.flight_date > _ITINERARY_AGE:
        yield f"{ticket}: its flight is more than 180 days ago."


def year_after(day: date) -> date:
    """Give the last day of "within one year after" a day: the same day a year later.

    >>> year_after(date(2024, 2, 29))
    datetime.date(2025, 2, 28)
    """
    try:
        return day.replace(year=day.year + 1)
    except ValueError:  # only 29 February has no such day
        return day.replace(year=day.year + 1, day=28)


def _codes(configured: Iterable[str]) -> frozenset[str]:
    """Leave the codes that are on the wire at all: a blank one is a charge that this carrier does not issue."""
    return frozenset(code for code in configured if code)
