"""The documents are taken exactly as the interface shows them."""

import copy
import json
from typing import Any

import pytest

from pipeline.sandbox.wire_documents import (
    MalformedError,
    read_invoice,
    read_itinerary,
    read_json,
)

MISSING = object()


def _changed(document: Any, path: list[Any], value: Any) -> bytes:
    changed = copy.deepcopy(document)
    place = changed
    for step in path[:-1]:
        place = place[step]
    if value is MISSING:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(changed).encode()


HEADER = ["issueInvoiceInfo", "invoiceHeader"]
ELEMENT = ["issueInvoiceInfo", "ticketFeeList", 0]
INVOICE_FIELDS = [
    *([*HEADER, name] for name in ("invoiceHeaderType", "headerName", "taxNo", "telNo", "email", "remarks")),
    *([*ELEMENT, name] for name in ("ticketNo", "psgName", "productType", "feeType")),
]
BUYER = ["issueItinerary", "itineraryHeader"]
ITINERARY_FIELDS = [
    *([*BUYER, name] for name in ("name", "taxNo", "email", "phone", "itineraryHeaderType")),
    ["issueItinerary", "ticketNo"],
]


@pytest.mark.parametrize("path", INVOICE_FIELDS)
@pytest.mark.parametrize("value", [MISSING, None, 7, True, [], {}])
def test_every_invoice_field_is_a_string(kit: Any, path: list[Any], value: Any) -> None:
    _, document = kit.invoice(kit.fare())
    with pytest.raises(MalformedError, match=path[-1]):
        read_invoice(_changed(document, path, value))


@pytest.mark.parametrize("path", ITINERARY_FIELDS)
@pytest.mark.parametrize("value", [MISSING, None, 7, True, [], {}])
def test_every_itinerary_field_is_a_string(kit: Any, path: list[Any], value: Any) -> None:
    _, document = kit.itinerary()
    with pytest.raises(MalformedError, match=path[-1]):
        read_itinerary(_changed(document, path, value))


@pytest.mark.parametrize(
    "path", [["extra"], ["issueInvoiceInfo", "extra"], [*HEADER, "extra"], [*ELEMENT, "extra"]]
)
def test_an_invoice_has_no_other_fields(kit: Any, path: list[Any]) -> None:
    _, document = kit.invoice(kit.fare())
    with pytest.raises(MalformedError, match="extra"):
        read_invoice(_changed(document, path, ""))


@pytest.mark.parametrize("path", [["extra"], ["issueItinerary", "extra"], [*BUYER, "extra"]])
def test_an_itinerary_has_no_other_fields(kit: Any, path: list[Any]) -> None:
    _, document = kit.itinerary()
    with pytest.raises(MalformedError, match="extra"):
        read_itinerary(_changed(document, path, ""))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["issueInvoiceInfo"], []),
        (["issueInvoiceInfo"], MISSING),
        (HEADER, "BUSINESS"),
        (["issueInvoiceInfo", "ticketFeeList"], {}),
        (["issueInvoiceInfo", "ticketFeeList"], []),
        (ELEMENT, "9991234567890"),
    ],
)
def test_objects_and_arrays_are_what_they_are(kit: Any, path: list[Any], value: Any) -> None:
    _, document = kit.invoice(kit.fare())
    with pytest.raises(MalformedError):
        read_invoice(_changed(document, path, value))


@pytest.mark.parametrize(
    "encoded",
    [
        b"",
        b"{",
        b"NaN,",
        b'"\xff"',
        '{"a":1}'.encode("utf-16"),
        b'{"a":1,"a":2}',
        b'"\\ud800"',
        b"[" * 100_000,
        b"1" * 5_000,
    ],
)
def test_what_is_not_one_json_text_in_utf_8_is_malformed(encoded: bytes) -> None:
    with pytest.raises(MalformedError):
        read_json(encoded, "it")


def test_escaped_characters_are_characters() -> None:
    assert read_json(b'"\\ud83d\\ude00\\u5b57"', "it") == "😀字"


def test_a_malformed_document_is_not_quoted(kit: Any) -> None:
    _, document = kit.invoice(kit.fare())
    with pytest.raises(MalformedError) as caught:
        read_invoice(_changed(document, [*HEADER, "x\ny" * 100], "secret"))
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 120


def test_the_repr_of_a_request_names_nobody(kit: Any) -> None:
    request = read_invoice(json.dumps(kit.invoice(kit.fare(), email="me@example.com")[1]).encode())
    assert "WANG" not in repr(request)
    assert "example.com" not in repr(request)
