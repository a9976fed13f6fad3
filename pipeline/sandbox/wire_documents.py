"""The request documents that the carrier understands, and the result documents it answers with.

Field names and types are those of carrier-interface.md, "Resources and their fields". Which fields
are required is not shown there; this carrier takes the documents exactly as they are shown: every
field present, none beside them.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

#: Text of an accepted request. Source: Invoice result, "states that the request was received".
RECEIVED = "The invoice request was received."

_TEXT_SHOWN = 40


class MalformedError(ValueError):
    """A request that is not what the interface shows; the text says where, and quotes no values."""


@dataclass(frozen=True, repr=False)
class Buyer:
    """The buyer of either document, whose headers name the same things differently."""

    header_type: str
    name: str
    tax_no: str
    email: str


@dataclass(frozen=True)
class AskedCharge:
    """One element of ticketFeeList."""

    ticket_no: str
    passenger_name: str = field(repr=False)
    product_type: str
    fee_type: str


@dataclass(frozen=True)
class InvoiceRequest:
    """An invoice request document."""

    buyer: Buyer
    charges: tuple[AskedCharge, ...]

    @property
    def ticket_nos(self) -> tuple[str, ...]:
        """The ticket numbers as they were asked for."""
        return tuple(asked.ticket_no for asked in self.charges)


@dataclass(frozen=True)
class ItineraryRequest:
    """An itinerary request document."""

    buyer: Buyer
    ticket_no: str

    @property
    def ticket_nos(self) -> tuple[str, ...]:
        """The ticket number as it was asked for."""
        return (self.ticket_no,)


Request = InvoiceRequest | ItineraryRequest


def read_json(encoded: bytes, what: str) -> object:
    """One JSON value from UTF-8 bytes, its object names unique. Raises MalformedError."""
    try:
        text = encoded.decode("utf-8")
        value: object = json.loads(text, object_pairs_hook=_unique_names)
        if "\\u" in text:  # an escape may name half a character, which no UTF-8 text can hold
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except MalformedError:
        raise
    except (ValueError, RecursionError):
        raise MalformedError(f"{what} is not JSON in UTF-8") from None
    return value


def read_invoice(plaintext: bytes) -> InvoiceRequest:
    """Source: carrier-interface.md, "Invoice request (plaintext, before encryption)"."""
    root = _root(plaintext, "issueInvoiceInfo", ("invoiceHeader", "ticketFeeList"))
    header = _texts(
        root["invoiceHeader"],
        "invoiceHeader",
        ("invoiceHeaderType", "headerName", "taxNo", "telNo", "email", "remarks"),
    )
    elements = root["ticketFeeList"]
    if not isinstance(elements, list) or not elements:
        raise MalformedError("ticketFeeList must be an array of at least one charge")
    asked = []
    for ordinal, element in enumerate(elements):
        fields = _texts(
            element, f"ticketFeeList[{ordinal}]", ("ticketNo", "psgName", "productType", "feeType")
        )
        asked.append(
            AskedCharge(fields["ticketNo"], fields["psgName"], fields["productType"], fields["feeType"])
        )
    buyer = Buyer(header["invoiceHeaderType"], header["headerName"], header["taxNo"], header["email"])
    return InvoiceRequest(buyer, tuple(asked))


def read_itinerary(plaintext: bytes) -> ItineraryRequest:
    """Source: carrier-interface.md, "Itinerary request (plaintext, before encryption)"."""
    root = _root(plaintext, "issueItinerary", ("itineraryHeader", "ticketNo"))
    header = _texts(
        root["itineraryHeader"],
        "itineraryHeader",
        ("name", "taxNo", "email", "phone", "itineraryHeaderType"),
    )
    ticket_no = root["ticketNo"]
    if not isinstance(ticket_no, str):
        raise MalformedError("issueItinerary.ticketNo must be a string")
    buyer = Buyer(header["itineraryHeaderType"], header["name"], header["taxNo"], header["email"])
    return ItineraryRequest(buyer, ticket_no)


def invoice_result(*, success: bool, err_info: str, invoice_id: str) -> dict[str, object]:
    """Source: carrier-interface.md, "Invoice result (decrypted data)"."""
    return {"success": success, "errInfo": err_info, "invoiceId": invoice_id}


def itinerary_result(*, ticket_no: str, itinerary_num: str, success: bool) -> dict[str, object]:
    """Source: carrier-interface.md, "Itinerary result (decrypted data)"."""
    return {"itineraryResult": {"ticketNo": ticket_no, "itineraryNum": itinerary_num, "success": success}}


def result(request: Request, *, success: bool, text: str, number: str) -> dict[str, object]:
    """Make the result document of a request. An itinerary's has no place for the text."""
    if isinstance(request, InvoiceRequest):
        return invoice_result(success=success, err_info=text, invoice_id=number)
    return itinerary_result(ticket_no=request.ticket_no, itinerary_num=number, success=success)


def _root(plaintext: bytes, name: str, fields: tuple[str, ...]) -> Mapping[str, object]:
    document = _object(read_json(plaintext, "the decrypted document"), "the document", (name,))
    return _object(document[name], name, fields)


def _object(value: object, where: str, fields: tuple[str, ...]) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise MalformedError(f"{where} must be an object")
    for name in fields:
        if name not in value:
            raise MalformedError(f"{where} lacks {name}")
    for name in sorted(value.keys() - set(fields)):
        raise MalformedError(f"{where} has an unknown field: {name[:_TEXT_SHOWN]!a}")
    return value


def _texts(value: object, where: str, fields: tuple[str, ...]) -> dict[str, str]:
    texts = {}
    for name, text in _object(value, where, fields).items():
        if not isinstance(text, str):
            raise MalformedError(f"{where}.{name} must be a string")
        texts[name] = text
    return texts


def _unique_names(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise MalformedError(f"a field is given twice: {name[:_TEXT_SHOWN]!a}")
        found[name] = value
    return found
