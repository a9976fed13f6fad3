"""The request and result documents, with the exact field names of carrier-interface.md.

>>> body(b'{"a":1}', Cipher("xXP"))[:1]
b'"'
"""

import json
from typing import Any

import orjson

from pipeline.carrier.crypto import Cipher
from pipeline.model.profile import Profile
from pipeline.model.request import Request

#: Paths of the two operations, relative to the profile's base_url (carrier-interface.md, Endpoints).
PATHS = {"invoice": "/invoice/issueInvoice", "itinerary": "/itinerary/issueItinerary"}


def wire_ticket_no(digits: str, *, hyphen: bool) -> str:
    """A ticket number as this carrier writes it.

    >>> wire_ticket_no("9991234567890", hyphen=True)
    '999-1234567890'
    """
    return f"{digits[:3]}-{digits[3:]}" if hyphen else digits


def invoice_document(request: Request, profile: Profile) -> dict[str, Any]:
    """The invoice request document of an invoice request; one ticketFeeList element a charge."""
    header = request.header
    hyphen = profile.carrier.ticket_no_hyphen
    fees = []
    for charge in request.charges:
        if charge.wire is None:
            raise ValueError(f"no wire codes for {charge.identity}; the rules let it through")
        fee_type, product_type = charge.wire
        fees.append(
            {
                "ticketNo": wire_ticket_no(charge.identity.ticket_no, hyphen=hyphen),
                "psgName": charge.passenger_name,
                "productType": product_type,
                "feeType": fee_type,
            }
        )
    return {
        "issueInvoiceInfo": {
            "invoiceHeader": {
                "invoiceHeaderType": profile.codes.header_type[header.header_type],
                "headerName": header.header_name,
                "taxNo": header.tax_no,
                "telNo": header.phone,
                "email": header.email,
                "remarks": header.remarks,
            },
            "ticketFeeList": fees,
        }
    }


def itinerary_document(request: Request, profile: Profile) -> dict[str, Any]:
    """The itinerary request document of an itinerary request."""
    header = request.header
    (charge,) = request.charges
    return {
        "issueItinerary": {
            "itineraryHeader": {
                "name": header.header_name,
                "taxNo": header.tax_no,
                "email": header.email,
                "phone": header.phone,
                "itineraryHeaderType": profile.codes.header_type[header.header_type],
            },
            "ticketNo": wire_ticket_no(charge.identity.ticket_no, hyphen=profile.carrier.ticket_no_hyphen),
        }
    }


def body(plaintext: bytes, cipher: Cipher) -> bytes:
    """The HTTP body: one JSON string literal holding the sealed plaintext."""
    return orjson.dumps(cipher.seal(plaintext))


def request_body(request: Request, profile: Profile, cipher: Cipher) -> bytes:
    """The HTTP body that asks for this request."""
    make = invoice_document if request.voucher == "invoice" else itinerary_document
    return body(orjson.dumps(make(request, profile)), cipher)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a field stands twice")
    return fields


_DECODER = json.JSONDecoder(object_pairs_hook=_once)  # json.loads would make one for each text


def parsed(text: bytes) -> Any:
    """JSON as Python values; whole numbers of any length stay exact.

    Raises ValueError if it is not JSON in UTF-8, or names a field twice and so says two things at once. By itself orjson would take
    the last of two, and a 20-digit number as a float; what it writes as it stood there has neither.
    """
    try:
        value = orjson.loads(text)
        if orjson.dumps(value) == text:
            return value
    except (ValueError, TypeError):  # TypeError: more deeply nested than it writes
        pass
    try:
        # Not json's own guess: it would read UTF-16 as well.
        return _DECODER.decode(text.decode("utf-8"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
