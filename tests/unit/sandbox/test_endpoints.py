"""The carrier's door: headers, bodies, envelopes, and what it says of itself in the log."""

import asyncio
import json
import logging
from typing import Any

import pytest

from pipeline.carrier.crypto import Cipher

INVOICE = "/invoice/issueInvoice"


def _post(carrier: Any, body: bytes, headers: Any = None, path: str = INVOICE, **changed: str) -> Any:
    return carrier.talk(lambda caller: caller.post(path, body, headers, **changed))


def _body(kit: Any, request: Any) -> bytes:
    sealed = Cipher(kit.encryption_key).seal(json.dumps(request[1]).encode())
    return json.dumps(sealed).encode()


def test_an_envelope_has_the_four_fields(carrier: Any, kit: Any) -> None:
    first, second, malformed = carrier.answers(
        kit.invoice(kit.fare()), kit.invoice(kit.fare()), (INVOICE, {})
    )
    for answer in (first, second, malformed):
        assert answer.headers["Content-Type"].startswith("application/json")
        assert answer.envelope.keys() == {"code", "message", "data", "traceId"}
        assert type(answer.envelope["code"]) is int
    assert len({answer.envelope["traceId"] for answer in (first, second, malformed)}) == 3
    assert (first.envelope["code"], first.envelope["message"]) == (200, "success")
    assert (second.envelope["code"], second.envelope["message"]) == (200, "success")


@pytest.mark.parametrize(
    "changed",
    [
        {"agency": "OTHER"},
        {"agency": ""},
        {"agency": "DÉMO"},
        {"APIKEY": "key-of-the-callex"},
        {"APIKEY": ""},
        {"APIKEY": "key-of-the-cipher"},
    ],
)
def test_a_wrong_agency_or_key_is_401(carrier: Any, kit: Any, changed: Any) -> None:
    answer = _post(carrier, _body(kit, kit.invoice(kit.fare())), **changed)
    assert (answer.status, answer.envelope["code"], answer.envelope["data"]) == (401, 401, "")
    assert carrier.counts.unauthorised == 1
    assert carrier.counts.issued == 0


@pytest.mark.parametrize("lacking", ["agency", "APIKEY"])
def test_a_missing_header_is_401_even_where_the_setting_is_blank(
    carrier: Any, kit: Any, lacking: str
) -> None:
    carrier.changed = {"agency": "", "api_key": ""}
    headers = {"Content-Type": "application/json", "agency": "", "APIKEY": ""}
    del headers[lacking]
    answer = _post(carrier, _body(kit, kit.invoice(kit.fare())), headers)
    assert answer.status == 401


def test_the_key_is_asked_before_the_body(carrier: Any) -> None:
    assert _post(carrier, b"nonsense", APIKEY="wrong").status == 401


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "body is not JSON"),
        (b"nonsense", "body is not JSON"),
        (b"\xff", "body is not JSON"),
        (b'{"issueInvoiceInfo":{}}', "one JSON string"),
        (b'"not sealed"', "decrypted"),
        (b'""', "decrypted"),
        ('"密文"'.encode(), "decrypted"),
        (json.dumps(Cipher("another key").seal(b"{}")).encode(), "decrypted"),
        (json.dumps(Cipher("key-of-the-cipher").seal(b"{")).encode(), "document is not JSON"),
        (json.dumps(Cipher("key-of-the-cipher").seal(b"\xff")).encode(), "document is not JSON"),
        (json.dumps(Cipher("key-of-the-cipher").seal(b"{}")).encode(), "issueInvoiceInfo"),
    ],
)
def test_a_request_that_is_not_understood_is_400(carrier: Any, body: bytes, said: str) -> None:
    answer = _post(carrier, body)
    assert (answer.status, answer.envelope["code"], answer.envelope["data"]) == (200, 400, "")
    assert said in answer.envelope["message"]
    assert carrier.counts.malformed == 1


@pytest.mark.parametrize(
    ("content_type", "code"),
    [("application/json", 200), ("application/json; charset=utf-8", 200), ("text/plain", 400)],
)
def test_the_content_type_is_json(carrier: Any, kit: Any, content_type: str, code: int) -> None:
    answer = _post(carrier, _body(kit, kit.invoice(kit.fare())), **{"Content-Type": content_type})
    assert (answer.status, answer.envelope["code"]) == (200, code)


def test_each_operation_wants_its_own_document(carrier: Any, kit: Any) -> None:
    (_, invoice), (path, _) = kit.invoice(kit.fare()), kit.itinerary()
    (answer,) = carrier.answers((path, invoice))
    assert answer.envelope["code"] == 400


def test_other_addresses_and_methods_are_not_there(carrier: Any, kit: Any) -> None:
    body = _body(kit, kit.invoice(kit.fare()))
    assert _post(carrier, body, path="/invoice/issueinvoice").status == 404

    async def get(caller: Any) -> int:
        async with caller.session.get(caller.base_url + INVOICE) as response:
            return int(response.status)

    assert carrier.talk(get) == 405


def test_of_many_at_once_one_gets_the_charge(carrier: Any, kit: Any, tmp_path: Any) -> None:
    carrier.changed = {"statement": tmp_path / "statement.csv"}
    carrier.fault_file(tmp_path / "faults.toml", '[[fault]]\nkind = "latency"\nseconds = 0.02')
    requests = [kit.invoice(kit.fare()), kit.itinerary()] * 10

    async def crowd(caller: Any) -> Any:
        return await asyncio.gather(*map(caller.ask, requests))

    assert sum(answer.accepted for answer in carrier.talk(crowd)) == 1
    assert (carrier.counts.received, carrier.counts.issued, carrier.counts.refused) == (20, 1, 19)


@pytest.mark.slow
def test_a_large_request_is_read(carrier: Any, kit: Any) -> None:
    carrier.rows = [kit.fare(f"999{n:010d}", amount=1) for n in range(8_000)]
    assert carrier.accepts(kit.invoice(*carrier.rows)) == [True]


@pytest.mark.slow
def test_the_log_names_no_person_and_no_key(
    carrier: Any, kit: Any, caplog: pytest.LogCaptureFixture, tmp_path: Any
) -> None:
    carrier.fault_file(tmp_path / "faults.toml", '[[fault]]\nkind = "nonsense"\nrequests = [5]')
    secrets = {"headerName": "SECRET-NAME", "taxNo": "SECRET-TAX", "email": "SECRET@example.com"}
    with caplog.at_level(logging.DEBUG, "pipeline.sandbox"):
        carrier.answers(
            kit.invoice(kit.fare(), **secrets),
            kit.invoice(kit.fare(), **secrets),
            kit.invoice(kit.asked(kit.fare(), psgName="SECRET-PASSENGER", feeType="SECRET-FEE")),
            kit.invoice(kit.asked(kit.fare(), psgName="SECRET-PASSENGER")),
            kit.itinerary(email="SECRET@example.com"),
            (INVOICE, {"issueInvoiceInfo": "SECRET"}),
        )
        _post(carrier, b"{}", APIKEY="SECRET-KEY")
    logged = [record.getMessage() for record in caplog.records]
    for words in ("issued", "refused", "already", "fault: nonsense", "malformed", "wrong agency"):
        assert any(words in line for line in logged), words
    assert "SECRET" not in caplog.text
    assert "WANG" not in caplog.text
    assert kit.api_key not in caplog.text


def test_the_repr_of_the_settings_holds_no_secret(carrier: Any, kit: Any) -> None:
    shown = repr(carrier.settings())
    assert "DEMO" in shown
    assert kit.api_key not in shown
    assert kit.encryption_key not in shown
