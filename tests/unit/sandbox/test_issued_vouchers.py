"""The carrier's memory and its statement."""

import csv
import resource
import stat
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from pipeline.model.errors import InputProblem
from pipeline.sandbox.issued_vouchers import Issued
from pipeline.sandbox.sold_tickets import Charge, ChargeKey, Registry

HEADER = "voucher,number,ticket_no,charge,amount,issued_at,product,buyer,original_number\n"
SHANGHAI = timezone(timedelta(hours=8))
FARE, REFUND = (
    Charge(ChargeKey("9990000000001", charge, "flight"), amount, "domestic", "used", None, None, None, None)
    for charge, amount in (("ticket_fare", 617_25), ("refund", 5_00))
)


def _now() -> datetime:
    return datetime(2026, 11, 20, 9, 30, 15, 999, tzinfo=SHANGHAI)


@pytest.fixture
def statement(tmp_path: Path, carrier: Any) -> Path:
    path = tmp_path / "statement.csv"
    carrier.changed = {"statement": path, "now": _now}
    return path


def _size(statement: Path) -> int:
    return statement.stat().st_size


def _lines(statement: Path) -> list[dict[str, str]]:
    with statement.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_statement_has_a_line_for_each_charge(carrier: Any, kit: Any, statement: Path) -> None:
    carrier.rows = [
        kit.fare("9990000000001"),
        kit.refund("9990000000002", amount=7),
        kit.ancillary("9990000000003", product="seat", amount=100_000),
    ]
    one, two, three = carrier.rows
    by_itinerary, by_invoice = carrier.answers(
        kit.itinerary("9990000000001"), kit.invoice(two, three, headerName='甲,"乙"\r\n丙\r丁')
    )
    number = by_itinerary.result["itineraryResult"]["itineraryNum"]
    invoice_id = by_invoice.result["invoiceId"]
    assert statement.read_text(encoding="utf-8").startswith(HEADER)
    shared = {"issued_at": "2026-11-20T09:30:15+08:00", "original_number": ""}
    both = {"voucher": "invoice", "number": invoice_id, "buyer": '甲,"乙" 丙 丁'} | shared
    assert _lines(statement) == [
        {
            "voucher": "itinerary",
            "number": number,
            "ticket_no": one["ticket_no"],
            "charge": "ticket_fare",
            "amount": "617.25",
            "product": "flight",
            "buyer": "某某科技有限公司",
        }
        | shared,
        both | {"ticket_no": two["ticket_no"], "charge": "refund", "amount": "0.07", "product": "flight"},
        both
        | {"ticket_no": three["ticket_no"], "charge": "ancillary", "amount": "1000.00", "product": "seat"},
    ]


@pytest.mark.parametrize("name", ["甲\r乙", "甲\n乙", '"', "\x00", "=1+1", "\u2028甲", "甲" * 200_000])
def test_any_buyer_takes_one_line_that_can_be_read_again(
    carrier: Any, kit: Any, statement: Path, name: str
) -> None:
    carrier.rows = [kit.fare(), kit.ancillary()]
    fare, bag = (kit.invoice(row, headerName=name) for row in carrier.rows)
    assert carrier.accepts(fare) == [True]
    assert statement.read_bytes().count(b"\n") == 2
    assert carrier.accepts(fare, bag) == [False, True]


def test_what_is_refused_is_not_in_the_statement(carrier: Any, kit: Any, statement: Path) -> None:
    carrier.answers(kit.invoice(kit.refund()), kit.itinerary("9990000000000"))
    assert statement.read_text(encoding="utf-8") == HEADER


def test_it_is_written_before_the_answer_leaves(carrier: Any, kit: Any, statement: Path) -> None:
    async def ask(caller: Any) -> tuple[str, list[dict[str, str]]]:
        answer = await caller.ask(kit.invoice(kit.fare()))
        return answer.result["invoiceId"], _lines(statement)

    number, lines = carrier.talk(ask)
    assert [line["number"] for line in lines] == [number]


def test_only_its_owner_may_read_it(carrier: Any, statement: Path) -> None:
    carrier.answers()
    assert stat.S_IMODE(statement.stat().st_mode) == 0o600


@pytest.mark.slow
def test_a_carrier_started_again_remembers(carrier: Any, kit: Any, statement: Path) -> None:
    carrier.rows = [kit.fare("9990000000001"), kit.fare("9990000000002"), kit.ancillary("9990000000003")]
    one, two, three = carrier.rows
    carrier.answers(kit.invoice(one), kit.itinerary("9990000000002"), kit.invoice(three))
    before = statement.read_bytes()
    assert (
        carrier.accepts(
            kit.invoice(one),
            kit.itinerary("9990000000001"),
            kit.invoice(two),
            kit.itinerary("9990000000002"),
            kit.invoice(three),
        )
        == [False] * 5
    )
    assert statement.read_bytes() == before

    carrier.rows = [kit.fare("9990000000004")]
    assert carrier.accepts(kit.invoice(carrier.rows[0])) == [True]
    assert statement.read_bytes().startswith(before)
    assert len({line["number"] for line in _lines(statement)}) == 4


def test_without_a_statement_a_carrier_started_again_has_forgotten(carrier: Any, kit: Any) -> None:
    assert carrier.accepts(kit.invoice(kit.fare())) == [True]
    assert carrier.accepts(kit.invoice(kit.fare())) == [True]


@pytest.mark.slow
def test_numbers_are_never_given_twice(carrier: Any, kit: Any) -> None:
    carrier.rows = [kit.fare(f"999{n:010d}") for n in range(200)]
    halves = [
        *carrier.answers(*(kit.invoice(row) for row in carrier.rows)),
        *carrier.answers(*(kit.invoice(row) for row in carrier.rows)),
    ]
    assert len({answer.result["invoiceId"] for answer in halves}) == 400


def test_a_number_in_the_statement_is_passed_over(kit: Any) -> None:
    charges = list(Registry.from_table(kit.table(kit.fare())).charges("9991234567890"))
    with Issued(None, _now) as issued:
        number = issued.issue("invoice", charges, "")
        issued._serial = int(number) + 10**15  # a clock that is days behind
        taken = str(issued._serial + 1)
        issued._numbers.add(taken)
        assert int(issued.issue("invoice", charges, "")) == int(taken) + 1


@pytest.mark.parametrize(
    "line",
    [
        "invoice,1,9991234567890,ticket_fare,1.00,2026-11-20T09:30:15+08:00,flight",
        "receipt,1,9991234567890,ticket_fare,1.00,2026-11-20T09:30:15+08:00,flight,甲",
        "invoice,,9991234567890,ticket_fare,1.00,2026-11-20T09:30:15+08:00,flight,甲",
        "invoice,1,999,ticket_fare,1.00,2026-11-20T09:30:15+08:00,flight,甲",
        "invoice,1,9991234567890,fare,1.00,2026-11-20T09:30:15+08:00,flight,甲",
        "invoice,1,9991234567890,ticket_fare,1.00,2026-11-20T09:30:15+08:00,,甲",
        "invoice,1,9991234567890,ticket_fare,1.00,2026-11-20T09:30:15+08:00,flight," + "甲" * 200_000,
    ],
)
def test_a_line_that_is_not_its_own_stops_it(carrier: Any, statement: Path, line: str) -> None:
    statement.write_text(f"{HEADER}{line}\n", encoding="utf-8")
    with pytest.raises(InputProblem, match=r"statement\.csv: line 2 .*correct or delete"):
        carrier.answers()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"voucher,number\n", "line 1"),
        (b"\xff\n", "UTF-8"),
        (HEADER.encode() + b"invoice,1,999", "cut short"),
    ],
)
def test_another_file_stops_it_and_is_left_alone(
    carrier: Any, statement: Path, content: bytes, said: str
) -> None:
    statement.write_bytes(content)
    with pytest.raises(InputProblem, match=said):
        carrier.answers()
    assert statement.read_bytes() == content


def test_an_empty_statement_is_a_new_one(carrier: Any, kit: Any, statement: Path) -> None:
    statement.touch()
    assert carrier.accepts(kit.invoice(kit.fare())) == [True]
    assert statement.read_text(encoding="utf-8").startswith(HEADER)


def test_a_statement_that_cannot_be_written_stops_it(carrier: Any, tmp_path: Path) -> None:
    for path in (tmp_path / "missing" / "statement.csv", tmp_path, Path("/dev/full")):
        carrier.changed = {"statement": path}
        with pytest.raises(InputProblem, match="choose another path"):
            carrier.answers()


def test_a_full_disk_issues_nothing_and_spoils_nothing(carrier: Any, kit: Any, statement: Path) -> None:
    carrier.rows = [kit.fare("9990000000001"), kit.fare("9990000000002"), kit.ancillary("9990000000003")]
    one, two, three = map(kit.invoice, carrier.rows)

    async def fill(caller: Any) -> list[Any]:
        issued = await caller.ask(one)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (_size(statement) + 20, hard))
        try:
            failed = await caller.ask(two)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        return [issued, failed, await caller.ask(two), await caller.ask(three)]

    issued, failed, again, other = carrier.talk(fill)
    assert failed.status == 500
    assert [answer.accepted for answer in (issued, again, other)] == [True] * 3
    assert [line["ticket_no"][-1] for line in _lines(statement)] == ["1", "2", "3"]
    assert carrier.counts.issued == 3


def test_the_time_of_issue_has_an_offset_unless_it_is_told_otherwise(
    carrier: Any, kit: Any, tmp_path: Path
) -> None:
    carrier.changed = {"statement": tmp_path / "statement.csv"}
    carrier.answers(kit.invoice(kit.fare()))
    (line,) = _lines(tmp_path / "statement.csv")
    issued_at = datetime.fromisoformat(line["issued_at"])
    assert abs(datetime.now(UTC) - issued_at) < timedelta(minutes=1)
    assert issued_at.date() >= date(2026, 1, 1)


def test_a_voucher_that_is_reversed_has_red_lines_and_its_charges_are_free_also_after_a_restart(
    statement: Path,
) -> None:
    with Issued(statement, _now) as issued:
        number = issued.issue("invoice", [FARE, REFUND], "Acme")
        red = issued.reverse(number)
        with pytest.raises(KeyError):
            issued.reverse(number)
        assert not issued.holds(FARE.key)
        assert issued.voucher_of_ticket(FARE.key.ticket_no) is None
    with Issued(statement, _now) as issued:
        assert not issued.holds(REFUND.key)
        again = issued.issue("itinerary", [FARE], "Acme")
        assert len({number, red, again}) == 3
    told = [(line["number"], line["amount"], line["original_number"]) for line in _lines(statement)]
    assert told == [
        (number, "617.25", ""), (number, "5.00", ""), (red, "-617.25", number), (red, "-5.00", number), (again, "617.25", ""),
    ]  # fmt: skip
