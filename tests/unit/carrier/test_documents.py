import json
from dataclasses import replace

import pytest

from pipeline.carrier.crypto import Cipher
from pipeline.carrier.documents import (
    invoice_document,
    itinerary_document,
    parsed,
    request_body,
)
from pipeline.model.profile import Profile
from pipeline.model.request import (
    Charge,
    Header,
    Identity,
    Request,
)

HEADER = Header(
    "business", "示例贸易有限公司", "91110000600037341L", "+86 10 8520 0000", "finance@example.com", "10月"
)
FARE = Charge(
    Identity("9991234567890", "ticket_fare", "flight"), "ZHANG/WEI MR", 100_000, 0, ("TICKET_FARE", "Flight")
)
REFUND = Charge(Identity("9991234567891", "refund", "flight"), "LI/NA MS", 5_000, 1, ("REFUND_FEE", "Flight"))


def test_the_invoice_document_has_the_exact_names(full_profile: Profile) -> None:
    assert invoice_document(Request("invoice", "domestic", HEADER, (FARE, REFUND)), full_profile) == {
        "issueInvoiceInfo": {
            "invoiceHeader": {
                "invoiceHeaderType": "BUSINESS",
                "headerName": "示例贸易有限公司",
                "taxNo": "91110000600037341L",
                "telNo": "+86 10 8520 0000",
                "email": "finance@example.com",
                "remarks": "10月",
            },
            "ticketFeeList": [
                {
                    "ticketNo": "9991234567890",
                    "psgName": "ZHANG/WEI MR",
                    "productType": "Flight",
                    "feeType": "TICKET_FARE",
                },
                {
                    "ticketNo": "9991234567891",
                    "psgName": "LI/NA MS",
                    "productType": "Flight",
                    "feeType": "REFUND_FEE",
                },
            ],
        }
    }


def test_the_itinerary_document_has_the_exact_names(full_profile: Profile) -> None:
    hyphened = replace(full_profile, carrier=replace(full_profile.carrier, ticket_no_hyphen=True))
    assert itinerary_document(Request("itinerary", "domestic", HEADER, (FARE,)), hyphened) == {
        "issueItinerary": {
            "itineraryHeader": {
                "name": "示例贸易有限公司",
                "taxNo": "91110000600037341L",
                "email": "finance@example.com",
                "phone": "+86 10 8520 0000",
                "itineraryHeaderType": "BUSINESS",
            },
            "ticketNo": "999-1234567890",
        }
    }


def test_the_body_is_one_json_string_of_base64(full_profile: Profile) -> None:
    cipher = Cipher("key")
    request = Request("invoice", "domestic", HEADER, (FARE,))
    sealed = json.loads(request_body(request, full_profile, cipher))
    assert isinstance(sealed, str)
    plaintext = cipher.open(sealed)
    assert "示例贸易有限公司".encode() in plaintext
    assert json.loads(plaintext) == invoice_document(request, full_profile)


def test_a_charge_without_codes_is_never_written(full_profile: Profile) -> None:
    with pytest.raises(ValueError, match="no wire codes"):
        invoice_document(Request("invoice", "domestic", HEADER, (replace(FARE, wire=None),)), full_profile)


@pytest.mark.parametrize("space", ["", " "])  # with any, orjson would not have written it so
def test_long_numbers_stay_exact(space: str) -> None:
    number = 12345678901234567890123
    assert parsed(f'{{"n":{space}{number}}}'.encode()) == {"n": number}


@pytest.mark.parametrize(
    "text", [b'{"n":1,"n":1}', b'[{"n":"a","n":"b"}]', b'{"n":1}}', b"", b"\xff", b"[" * 100_000]
)
def test_what_says_two_things_or_nothing_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - json's own, or ours
        parsed(text)


@pytest.mark.parametrize("depth", [100, 300])
def test_what_orjson_reads_and_does_not_write_is_read(depth: int) -> None:
    text = b'{"a":' * depth + b"1" + b"}" * depth
    assert parsed(text) == json.loads(text)


def test_a_request_is_known_by_its_content() -> None:
    request = Request("invoice", "domestic", HEADER, (FARE, REFUND))
    moved = Request("invoice", "domestic", HEADER, (replace(REFUND, row=40), replace(FARE, row=41)))
    assert request.request_id == moved.request_id
    others = [
        replace(request, voucher="itinerary"),
        replace(request, market="international"),
        replace(request, header=replace(HEADER, email="other@example.com")),
        replace(request, header=replace(HEADER, remarks="")),
        replace(request, charges=(FARE,)),
        replace(request, charges=(replace(FARE, amount=100_001), REFUND)),
        replace(request, charges=(replace(FARE, passenger_name="ZHANG/WEI"), REFUND)),
    ]
    assert len({request.request_id, *(other.request_id for other in others)}) == len(others) + 1
