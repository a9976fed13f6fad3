"""A request's identity is its content: nothing else changes it, and everything that is asked for does."""

import dataclasses
import hashlib
import json
from typing import Any

import pytest

from pipeline.model.columns import HEADER_FIELDS
from pipeline.model.request import HEADER as ASKED_OF_A_BUYER
from pipeline.model.request import (
    Charge,
    Header,
    Identity,
    Request,
)

HEADER = Header(
    "business", "Example Trading Co.", "91110000600037341L", "13800138000", "a@example.com", "PO 1"
)
FARE = Charge(Identity("9991234567890", "ticket_fare", "flight"), "ZHANG/WEI", 100_000, 0, ("T", "Flight"))
OTHER = Charge(Identity("9991234567891", "ticket_fare", "flight"), "LI/LEI", 50_000, 1, ("T", "Flight"))
REQUEST = Request("invoice", "domestic", HEADER, (FARE, OTHER))


def test_a_header_holds_the_buyer_s_columns_and_the_remarks() -> None:
    assert (*HEADER_FIELDS, "remarks") == ASKED_OF_A_BUYER
    assert HEADER.values == tuple(dataclasses.asdict(HEADER).values())


def test_the_amount_is_the_charges_sum() -> None:
    assert REQUEST.amount == 150_000


def test_the_id_is_the_same_in_every_process_and_version() -> None:
    # Ledgers hold it: a change here would make old and new requests strangers.
    assert REQUEST.request_id == "R3dc6e1437e2da16c42f"
    assert [*map(REQUEST.content_of, REQUEST.charges)] == ["795b2d438b4e1558f9c4", "853239b3698c8dc2a090"]


@pytest.mark.parametrize("text", ["", '"\\/', "\x00\x1f\x7f\n", "示例旅客", "é😀", "\udcff", "],["])
def test_the_id_is_that_of_the_content_as_json(text: str) -> None:
    charges = sorted([(text, "b", text, text, -7), (text, text * 2, "a", text, 10**12)])
    content = [[text, text], [text] * 6, charges]
    digest = hashlib.sha256(json.dumps(content, separators=(",", ":")).encode()).hexdigest()
    asked = tuple(Charge(Identity(*what), name, amount, 0, None) for *what, name, amount in charges[::-1])
    assert Request(text, text, Header(*[text] * 6), asked).request_id == f"R{digest[:19]}"


@pytest.mark.parametrize("text", ["", '"\\/', "\x00\x1f\x7f\n", "示例旅客", "é😀", "\udcff", "],["])
def test_the_digest_of_a_charge_is_that_of_what_is_asked_for_it_as_json(text: str) -> None:
    asked = [text, "m", *[text] * 6, "t", text, "p", text, -7]
    digest = hashlib.sha256(json.dumps(asked, separators=(",", ":")).encode()).hexdigest()
    charge = Charge(Identity("t", text, "p"), text, -7, 0, None)
    assert Request(text, "m", Header(*[text] * 6), (charge,)).content_of(charge) == digest[:20]


@pytest.mark.parametrize(
    "same",
    [
        dataclasses.replace(REQUEST, charges=(OTHER, FARE)),
        dataclasses.replace(REQUEST, charges=(dataclasses.replace(FARE, row=99), OTHER)),
        dataclasses.replace(REQUEST, charges=(dataclasses.replace(FARE, wire=None), OTHER)),
    ],
)
def test_order_place_and_wire_codes_are_not_content(same: Request) -> None:
    assert same.request_id == REQUEST.request_id


@pytest.mark.parametrize(
    "changes",
    [
        {"voucher": "itinerary"},
        {"market": "international"},
        {"charges": (FARE,)},
        *({"header": dataclasses.replace(HEADER, **{name: "x"})} for name in Header.__dataclass_fields__),
        *(
            {"charges": (dataclasses.replace(FARE, **change), OTHER)}
            for change in (
                {"amount": 100_001},
                {"passenger_name": "ZHANG/WEI MR"},
                {"identity": Identity("9991234567899", "ticket_fare", "flight")},
                {"identity": Identity("9991234567890", "refund", "flight")},
                {"identity": Identity("9991234567890", "ticket_fare", "seat")},
            )
        ),
    ],
)
def test_everything_that_is_asked_for_is_content(changes: dict[str, Any]) -> None:
    assert dataclasses.replace(REQUEST, **changes).request_id != REQUEST.request_id


def test_texts_that_run_together_do_not_look_alike() -> None:
    one = dataclasses.replace(REQUEST, header=dataclasses.replace(HEADER, phone="1", email="23"))
    other = dataclasses.replace(REQUEST, header=dataclasses.replace(HEADER, phone="12", email="3"))
    assert one.request_id != other.request_id


def test_amounts_swapped_between_charges_are_another_request() -> None:
    swapped = (dataclasses.replace(FARE, amount=OTHER.amount), dataclasses.replace(OTHER, amount=FARE.amount))
    assert dataclasses.replace(REQUEST, charges=swapped).request_id != REQUEST.request_id
