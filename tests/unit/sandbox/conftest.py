"""A real sandbox on loopback, and a caller who seals requests by hand."""

import asyncio
import io
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np
import pandas as pd
import pytest

from pipeline.carrier.crypto import Cipher, Undecryptable
from pipeline.model.columns import BUYER_COLUMNS, COLUMNS, Kind
from pipeline.model.table import Finding, Table
from pipeline.sandbox.carrier_settings import SandboxSettings
from pipeline.sandbox.endpoints import Counts
from pipeline.sandbox.fault_file import Faults
from pipeline.sandbox.server import serve
from pipeline.sandbox.sold_tickets import Registry

API_KEY = "key-of-the-caller"
ENCRYPTION_KEY = "key-of-the-cipher"
TODAY = date(2026, 11, 20)


def make_table(*rows: Mapping[str, Any], findings: Sequence[Finding] = ()) -> Table:
    columns: dict[str, Any] = {
        "file": ["tickets.xlsx"] * len(rows),
        "sheet": ["Tickets"] * len(rows),
        "row": np.arange(2, len(rows) + 2, dtype=np.int64),
    }
    for column in COLUMNS:
        values = [row.get(column.name) for row in rows]
        if column.kind is Kind.MONEY:
            columns[column.name] = np.array([value or 0 for value in values], dtype=np.int64)
        elif column.kind is Kind.DATE:
            columns[column.name] = np.array(values, dtype="datetime64[s]")
        elif column.kind is Kind.CHOICE:
            names = [choice.name for choice in column.choices]
            columns[column.name] = pd.Categorical(values, categories=names)
        else:
            columns[column.name] = pd.Series([value or "" for value in values], dtype="str")
    buyers = pd.DataFrame(columns=["file", *(column.name for column in BUYER_COLUMNS)])
    return Table(pd.DataFrame(columns), pd.DataFrame(), tuple(findings), buyers)


def fare(ticket_no: str = "9991234567890", **changed: Any) -> dict[str, Any]:
    return {
        "ticket_no": ticket_no,
        "passenger_name": "WANG/FANG MS",
        "charge": "ticket_fare",
        "product": "flight",
        "amount": 61725,
        "market": "domestic",
        "ticket_status": "used",
        "flight_date": date(2026, 11, 1),
    } | changed


def refund(ticket_no: str = "9991234567890", **changed: Any) -> dict[str, Any]:
    return fare(
        ticket_no,
        **{
            "charge": "refund",
            "ticket_status": "refunded",
            "flight_date": None,
            "refund_approved_on": date(2026, 11, 1),
        }
        | changed,
    )


def ancillary(ticket_no: str = "9991234567890", **changed: Any) -> dict[str, Any]:
    return fare(
        ticket_no,
        **{"charge": "ancillary", "product": "baggage", "purchased_on": date(2026, 10, 1)} | changed,
    )


FEE_TYPE = {"ticket_fare": "TICKET_FEE", "refund": "REFUND_FEE", "ancillary": "ANCILLARY_FEE"}
PRODUCT_TYPE = {
    "flight": "Flight",
    "baggage": "Baggage",
    "seat": "Seat",
    "upgrade": "Upgrade",
    "meal": "Meal",
    "lounge": "Lounge",
}


def asked(row: Mapping[str, Any], **changed: str) -> dict[str, str]:
    return {
        "ticketNo": row["ticket_no"],
        "psgName": row["passenger_name"],
        "productType": PRODUCT_TYPE[row["product"] or "flight"],
        "feeType": FEE_TYPE[row["charge"]],
    } | changed


def invoice(*elements: Mapping[str, Any], **header: str) -> tuple[str, dict[str, Any]]:
    return "/invoice/issueInvoice", {
        "issueInvoiceInfo": {
            "invoiceHeader": {
                "invoiceHeaderType": "BUSINESS",
                "headerName": "某某科技有限公司",
                "taxNo": "91110000100000000X",
                "telNo": "",
                "email": "",
                "remarks": "",
            }
            | header,
            "ticketFeeList": [element if "ticketNo" in element else asked(element) for element in elements],
        }
    }


def itinerary(ticket_no: str = "9991234567890", **header: str) -> tuple[str, dict[str, Any]]:
    return "/itinerary/issueItinerary", {
        "issueItinerary": {
            "itineraryHeader": {
                "name": "某某科技有限公司",
                "taxNo": "91110000100000000X",
                "email": "books@example.com",
                "phone": "",
                "itineraryHeaderType": "BUSINESS",
            }
            | header,
            "ticketNo": ticket_no,
        }
    }


@dataclass
class Answer:
    """What came back: nothing (`error`), or a status and what could be made of the body."""

    error: Exception | None = None
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    envelope: dict[str, Any] = field(default_factory=dict)
    plaintext: bytes | None = None

    @property
    def result(self) -> dict[str, Any]:
        assert self.plaintext is not None, self
        return dict(json.loads(self.plaintext))

    @property
    def accepted(self) -> bool:
        assert (self.status, self.envelope["code"], self.envelope["message"]) == (200, 200, "success")
        result = self.result
        return bool(result.get("itineraryResult", result)["success"])


class Caller:
    """Speaks to a running sandbox."""

    def __init__(self, base_url: str, session: aiohttp.ClientSession) -> None:
        self.base_url = base_url
        self.session = session
        self.cipher = Cipher(ENCRYPTION_KEY)

    async def ask(self, request: tuple[str, Any]) -> Answer:
        path, document = request
        sealed = self.cipher.seal(json.dumps(document, ensure_ascii=False).encode())
        return await self.post(path, json.dumps(sealed).encode())

    async def post(
        self, path: str, body: bytes, headers: Mapping[str, str] | None = None, **changed: str
    ) -> Answer:
        if headers is None:
            headers = {"Content-Type": "application/json", "agency": "DEMO", "APIKEY": API_KEY} | changed
        try:
            async with self.session.post(
                self.base_url + path, data=io.BytesIO(body), headers=headers, allow_redirects=False
            ) as response:
                answer = Answer(None, response.status, dict(response.headers), await response.text())
        except aiohttp.ClientError as error:
            return Answer(error)
        try:
            envelope = json.loads(answer.text)
            answer.envelope = envelope if isinstance(envelope, dict) else {}
            answer.plaintext = self.cipher.open(answer.envelope["data"])
        except (ValueError, KeyError, Undecryptable):
            pass
        return answer


class Carrier:
    """A sandbox to be: tickets, settings and faults; each `talk` is one life of it."""

    def __init__(self) -> None:
        self.rows: list[Mapping[str, Any]] = [fare()]
        self.changed: dict[str, Any] = {}
        self.faults = Faults()
        self.counts = Counts()

    def settings(self) -> SandboxSettings:
        plain: dict[str, Any] = {
            "agency": "DEMO",
            "api_key": API_KEY,
            "encryption_key": ENCRYPTION_KEY,
            "as_of": lambda: TODAY,
            "fee_type": FEE_TYPE,
            "product_type": PRODUCT_TYPE,
            "header_type": {"business": "BUSINESS", "individual": "INDIVIDUAL"},
            "domestic_invoice_max": 1_000_000,
            "international_invoice_max": 10_000_000,
        }
        return SandboxSettings(**plain | self.changed)

    def talk(self, conversation: Callable[[Caller], Awaitable[Any]]) -> Any:
        async def life() -> Any:
            registry = Registry.from_table(make_table(*self.rows))
            async with (
                serve(self.settings(), registry, self.faults, counts=self.counts) as base_url,
                aiohttp.ClientSession() as session,
            ):
                return await conversation(Caller(base_url, session))

        return asyncio.run(life())

    def answers(self, *requests: tuple[str, Any]) -> list[Answer]:
        """One after the other, in one life."""

        async def conversation(caller: Caller) -> list[Answer]:
            return [await caller.ask(request) for request in requests]

        return list(self.talk(conversation))

    def accepts(self, *requests: tuple[str, Any]) -> list[bool]:
        return [answer.accepted for answer in self.answers(*requests)]

    def refusal(self, request: tuple[str, Any]) -> str:
        (answer,) = self.answers(request)
        assert not answer.accepted
        assert answer.result["invoiceId"] == ""
        return str(answer.result["errInfo"])

    def fault_file(self, path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8")
        self.faults = Faults.load(path)


class Kit:
    """The documents and rows above, for tests that can't import this file."""

    today = TODAY
    api_key = API_KEY
    encryption_key = ENCRYPTION_KEY
    table = staticmethod(make_table)
    fare = staticmethod(fare)
    refund = staticmethod(refund)
    ancillary = staticmethod(ancillary)
    asked = staticmethod(asked)
    invoice = staticmethod(invoice)
    itinerary = staticmethod(itinerary)


@pytest.fixture
def carrier() -> Carrier:
    return Carrier()


@pytest.fixture
def kit() -> type[Kit]:
    return Kit
