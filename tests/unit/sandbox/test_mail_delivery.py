"""What the running carrier mails: after its answers, to the end, and where to."""

import asyncio
import csv
import os
import signal
import ssl
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from pipeline.model.errors import InputProblem
from pipeline.sandbox.mail_delivery import delivered_note
from pipeline.sandbox.mail_process import Delivered
from pipeline.sandbox.seal_certificates import ROOT, certificate
from tests.unit.sandbox.mailed import all_fields, attached, fields, mail

TICKETS = [f"9990000000{number:03}" for number in range(1, 31)]


@pytest.fixture
def mails(tmp_path: Path, carrier: Any) -> Path:
    folder = tmp_path / "office" / "mails"
    carrier.changed = {"deliver_to": folder}
    return folder


def children() -> set[int]:
    """The processes that this one has started."""
    found = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {int(number) for path in found for number in path.read_text().split()}


def written(mails: Path) -> list[str]:
    return sorted(path.stem for path in mails.iterdir())


def number_of(answer: Any) -> str:
    return str(answer.result["itineraryResult"]["itineraryNum"])


@pytest.mark.slow
def test_the_file_says_what_was_asked_for_and_answered(carrier: Any, kit: Any, mails: Path) -> None:
    late = datetime(2026, 11, 20, 17, 30, tzinfo=UTC)
    carrier.changed |= {"now": lambda: late, "zone": timezone(timedelta(hours=8))}
    (answer,) = carrier.answers(kit.itinerary(name="甲乙公司", taxNo="91110000600037341L", email="a@b.cn"))
    (path,) = mails.iterdir()
    assert path.name == f"{number_of(answer)}.eml"
    assert mail(path.read_bytes())["To"] == "a@b.cn"
    told = fields(attached(path.read_bytes())[1])
    assert told["ElectronicInvoiceAirTransportReceiptNumber"] == number_of(answer)
    assert (told["ETicketNumber"], told["PassengerName"]) == ("9991234567890", "WANG/FANG MS")
    assert (told["NameOfPurchaser"], told["UnifiedSocialCreditCodeOfPurchaser"]) == (
        "甲乙公司",
        "91110000600037341L",
    )
    assert (told["TotalAmount"], told["CarrierDate"]) == ("617.25", "2026-11-01")
    assert told["IssueDate"] == "2026-11-21"  # there it is the next day
    assert carrier.counts.delivered == Delivered(written=1)


@pytest.mark.slow
def test_its_money_is_that_of_the_books(carrier: Any, kit: Any, mails: Path) -> None:
    carrier.rows = [kit.fare(amount=1000_00, fare=850_00, change_fee=50_00, airport_fee=100_00)]
    carrier.answers(kit.itinerary())
    (told,) = all_fields(mails)
    assert (told["Fare"], told["VatTaxAmount"], told["CivilAviationDevelopmentFund"]) == (
        "825.69",
        "74.31",
        "100.00",
    )


def test_nothing_is_mailed_of_invoices_and_refusals(carrier: Any, kit: Any, mails: Path) -> None:
    carrier.rows = [kit.fare(TICKETS[0]), kit.refund(TICKETS[1])]
    carrier.accepts(kit.invoice(kit.fare(TICKETS[0])), kit.itinerary(TICKETS[1]), kit.itinerary(TICKETS[0]))
    assert written(mails) == []
    assert carrier.counts.delivered == Delivered()


def test_where_no_folder_is_named_nothing_is_started(carrier: Any, kit: Any) -> None:
    before = children()

    async def conversation(caller: Any) -> set[int]:
        await caller.ask(kit.itinerary())
        return children() - before

    assert carrier.talk(conversation) == set()
    assert carrier.counts.delivered is None


@pytest.mark.slow
def test_answers_wait_for_no_mail_and_at_the_end_all_are_written(carrier: Any, kit: Any, mails: Path) -> None:
    """The process that mails is stopped, which nothing but its own work can tell from being slow."""
    carrier.rows = [kit.fare(ticket) for ticket in TICKETS]
    before = children()

    async def conversation(caller: Any) -> list[str]:
        (process,) = children() - before
        os.kill(process, signal.SIGSTOP)
        try:
            async with asyncio.timeout(20):
                answers = [await caller.ask(kit.itinerary(ticket)) for ticket in TICKETS]
            assert written(mails) == []
        finally:
            os.kill(process, signal.SIGCONT)
        return [number_of(answer) for answer in answers]

    numbers = carrier.talk(conversation)
    assert written(mails) == numbers
    assert [told["ETicketNumber"] for told in all_fields(mails)] == TICKETS
    assert children() == before


@pytest.mark.slow
def test_the_process_that_mails_has_no_keys(
    carrier: Any, kit: Any, mails: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen from outside: its memory is closed to others, its environment is what was handed to it."""
    monkeypatch.setenv("VOUCHER_API_KEY", "canary-of-the-environment")
    (tmp := mails.parent.parent / "bin").mkdir()
    python = tmp / "python"
    python.write_text(f'#!/bin/sh\nenv > {tmp}/environment\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o700)
    monkeypatch.setattr("sys.executable", str(python))
    carrier.answers(kit.itinerary())
    environment = (tmp / "environment").read_text()
    assert "PATH=" in environment
    assert "VOUCHER_" not in environment
    assert len(written(mails)) == 1


@pytest.mark.slow
def test_a_reversal_mails_the_red_one(carrier: Any, kit: Any, mails: Path) -> None:
    async def conversation(caller: Any) -> tuple[str, str]:
        number = number_of(await caller.ask(kit.itinerary()))
        async with caller.session.post(
            f"{caller.base_url}/sandbox/reverse", json={"number": number}
        ) as answer:
            return number, (await answer.json())["number"]

    number, red = carrier.talk(conversation)
    first, second = all_fields(mails)
    assert first["ElectronicInvoiceAirTransportReceiptNumber"] == number
    assert second["ElectronicInvoiceAirTransportReceiptNumber"] == red
    assert second["OriginalElectronicInvoiceAirTransportReceiptNumber"] == number
    assert (first["TotalAmount"], second["TotalAmount"]) == ("617.25", "-617.25")


@pytest.mark.slow
def test_of_what_an_earlier_carrier_issued_no_red_one_is_mailed(
    carrier: Any, kit: Any, mails: Path, tmp_path: Path
) -> None:
    """The statement does not have the buyer's address."""
    carrier.changed |= {"statement": tmp_path / "statement.csv"}
    (answer,) = carrier.answers(kit.itinerary())

    async def reverse(caller: Any) -> int:
        order = {"number": number_of(answer)}
        async with caller.session.post(f"{caller.base_url}/sandbox/reverse", json=order) as reversed_:
            return int(reversed_.status)

    assert carrier.talk(reverse) == 200
    assert written(mails) == [number_of(answer)]


@pytest.mark.slow
def test_red_afterwards_is_reversed_in_the_books_too(
    carrier: Any, kit: Any, mails: Path, tmp_path: Path
) -> None:
    carrier.changed |= {"statement": tmp_path / "statement.csv"}
    carrier.fault_file(tmp_path / "faults.toml", '[[fault]]\nkind = "file_red"\nfirst = 1')
    once, again = carrier.answers(kit.itinerary(), kit.itinerary())
    assert once.accepted
    assert again.accepted
    first, red, second = all_fields(mails)
    assert red["OriginalElectronicInvoiceAirTransportReceiptNumber"] == number_of(once)
    assert [told["TotalAmount"] for told in (first, red, second)] == ["617.25", "-617.25", "617.25"]
    with (tmp_path / "statement.csv").open(encoding="utf-8", newline="") as file:
        lines = [(line["number"], line["amount"], line["original_number"]) for line in csv.DictReader(file)]
    assert lines == [
        (number_of(once), "617.25", ""),
        (red["ElectronicInvoiceAirTransportReceiptNumber"], "-617.25", number_of(once)),
        (number_of(again), "617.25", ""),
    ]


@pytest.mark.slow
def test_a_mail_that_is_late_beyond_the_end_is_told(
    carrier: Any, kit: Any, mails: Path, tmp_path: Path
) -> None:
    carrier.rows = [kit.fare(ticket) for ticket in TICKETS[:2]]
    carrier.fault_file(
        tmp_path / "faults.toml", '[[fault]]\nkind = "file_late"\nseconds = 3600\nrequests = [2]'
    )
    carrier.answers(*map(kit.itinerary, TICKETS[:2]))
    assert [told["ETicketNumber"] for told in all_fields(mails)] == TICKETS[:1]
    assert carrier.counts.delivered == Delivered(written=1, not_due=1)


@pytest.mark.slow
def test_the_root_of_the_seal_lies_beside_the_folder(carrier: Any, kit: Any, mails: Path) -> None:
    for _ in range(2):  # a second life finds it there
        carrier.answers(kit.itinerary())
        assert {path.name for path in mails.parent.iterdir()} == {
            "mails",
            "mails.seal-root.pem",
            "mails.seal-root.der",
        }
        der = (mails.parent / "mails.seal-root.der").read_bytes()
        assert der == certificate(ROOT)
        assert ssl.PEM_cert_to_DER_cert((mails.parent / "mails.seal-root.pem").read_text()) == der
    assert len(written(mails)) == 2


def occupied(folder: Path) -> Path:
    folder.parent.mkdir()
    folder.write_text("a file")
    return folder


def below_a_file(folder: Path) -> Path:
    folder.parent.write_text("a file")
    return folder.parent


def root_taken(folder: Path) -> Path:
    folder.mkdir(parents=True)
    taken = folder.with_name("mails.seal-root.pem")
    taken.mkdir()
    return taken


@pytest.mark.parametrize("spoil", [occupied, below_a_file, root_taken])
def test_a_folder_that_can_not_be_used_is_told_before_anything_is_issued(
    carrier: Any, mails: Path, spoil: Any
) -> None:
    named = spoil(mails)
    before = children()

    async def nobody(_: Any) -> None:
        raise AssertionError

    with pytest.raises(InputProblem) as caught:
        carrier.talk(nobody)
    assert str(caught.value).startswith(f"{named}: no mails can be put there (")
    assert str(caught.value).endswith("): choose another folder with --deliver-to")
    assert children() == before


def test_a_process_that_ends_early_is_told_and_answers_go_on(carrier: Any, kit: Any, mails: Path) -> None:
    carrier.rows = [kit.fare(ticket) for ticket in TICKETS]
    before = children()

    async def conversation(caller: Any) -> list[bool]:
        for process in children() - before:
            os.kill(process, signal.SIGKILL)
        return [(await caller.ask(kit.itinerary(ticket))).accepted for ticket in TICKETS]

    assert all(carrier.talk(conversation))
    assert carrier.counts.delivered == Delivered(failed=1, problem="it ended early")
    assert written(mails) == []


TOLD = (
    (Delivered(written=1), "1 mail written to mails"),
    (Delivered(written=1200), "1,200 mails written to mails"),
    (Delivered(written=2, not_due=3), "2 mails written to mails; 3 were not due yet"),
    (
        Delivered(written=2, failed=1, problem="No space left on device"),
        "1 mail could not be written to mails (No space left on device); make room there, or choose another folder with --deliver-to",
    ),
)


@pytest.mark.parametrize(("delivered", "said"), TOLD)
def test_what_was_mailed_is_said(delivered: Delivered, said: str) -> None:
    assert str(delivered_note(delivered, Path("mails"))) == said
