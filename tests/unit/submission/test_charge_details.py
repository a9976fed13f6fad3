"""What the ledger keeps of a row beside what is asked for: components that add up, and columns carried along."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from pipeline.model.table import Table
from pipeline.rules.rows import resolve
from pipeline.submission.charge_details import charge_details

BILL = {"charge": "", "product": "", "amount": "", "voucher": ""}
FARE = {"fare": "800", "airport_fee": "50", "change_fee": "100"}


@pytest.fixture
def kept(
    table_of: Callable[..., Table],
) -> Callable[..., Sequence[tuple[str, dict[str, int], dict[str, str]]]]:
    """By charge of these rows: which it is, its components, and what is carried along."""

    def found(*cells: Mapping[str, Any]) -> Sequence[tuple[str, dict[str, int], dict[str, str]]]:
        table = table_of(cells, ())
        rows = resolve(table)
        details = charge_details(table, rows)
        each = ((rows.charge[at], *map(json.loads, details(at))) for at in range(len(rows)))
        return [(charge, parts, carried) for charge, parts, carried in each]

    return found


def test_components_are_those_of_which_the_amount_is_made(kept: Any) -> None:
    of_fare = {"fare": 800_00, "airport_fee": 50_00, "change_fee": 100_00}
    partly = {"ticket_status": "partly_used", "refund_fee": "200"}
    assert [each[:2] for each in kept(BILL | FARE | partly)] == [
        ("ticket_fare", of_fare),
        ("refund", {"refund_fee": 200_00}),
    ]
    refunded = BILL | {"ticket_status": "refunded", "refund_fee": "200", "change_fee": "10"}
    assert [each[:2] for each in kept(refunded)] == [("refund", {"refund_fee": 200_00, "change_fee": 10_00})]
    assert [each[:2] for each in kept(BILL | {"fare": "10", "seat_fee": "20"})] == [
        ("ticket_fare", {"fare": 10_00}),
        ("ancillary", {}),
    ]
    assert kept({"amount": "1000", "fare": "900"})[0][1] == {}  # they don't add up
    assert kept({})[0][1] == {}


def test_own_columns_go_along_as_texts_but_for_identity_documents(kept: Any) -> None:
    own = {
        "成本中心": " C1 ",
        "ref": 7.0,
        "blank": "",
        "身份证号": "110101199001011234",
        "Passport No": "E1",
        "long": "x" * 500,
    }
    ((_, _, carried),) = kept(own)
    assert carried == {"成本中心": "C1", "ref": "7", "long": "x" * 199 + "…"}
    assert [each[2].get("ref") for each in kept({"ref": "a"}, {"ref": ""}, {"ref": "b"})] == ["a", None, "b"]
