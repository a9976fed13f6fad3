"""The sandbox carrier as a process of its own: every fault of a file, as it looks in the folder that it mails to.

Seen to catch: a fault that befalls another ticket's file or none, a file that is not mailed because its answer was lost, a file fault
that goes unsaid where nothing is mailed.
"""

import io
import stat
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import Desk, running_sandbox, tickets, write_workbook
from tests.conftest import without_privileges
from tests.unit.sandbox.mailed import all_fields, attached, fields, mail

KINDS = (
    "late", "never", "twice", "wrong_buyer", "wrong_amount", "altered", "unsealed", "link_only", "zip", "red",
)  # fmt: skip
#: How many mails there are of a ticket that a fault befalls, if not one.
MAILS = {"never": 0, "twice": 2, "red": 2}
OF_KIND = {kind: f"999{number:010}" for number, kind in enumerate(KINDS, start=1)}
SOUND, LOST = (f"999{len(KINDS) + number:010}" for number in (1, 2))
ALL = sum(MAILS.get(kind, 1) for kind in KINDS) + 2


@dataclass
class Month:
    """What came of a month: its mails by ticket, what the run reported, and what the carrier says that it issued."""

    mails: dict[str, list[bytes]]
    report: dict[str, Any]
    issued: list[dict[str, str]]
    folder: Path


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory) -> Month:
    """A ticket for each fault, a sound one, and one whose answer is lost."""
    desk = Desk(tmp_path_factory.mktemp("desk"))
    folder = desk.folder / "mails"
    october = write_workbook(desk.folder / "october.xlsx", tickets(len(KINDS) + 2, amount=1000))
    faults = [
        f'[[fault]]\nkind = "file_{kind}"\ntickets = ["{ticket}"]\n{"seconds = 1" if kind == "late" else ""}\n'
        for kind, ticket in OF_KIND.items()
    ]
    faults.append(f'[[fault]]\nkind = "reset"\nwhen = "after"\ntickets = ["{LOST}"]\n')
    with running_sandbox(desk, october, faults="".join(faults), more=["--deliver-to", folder]) as carrier:
        profile = desk.profile(carrier.base_url)
        ran = desk.voucher(
            "issue", october, "--profile", profile, "--as-of", "2026-11-20", "--ledger", "october.ledger",
            "--report", "report.json",
        )  # fmt: skip
        assert ran.code == 4, ran.err  # one is unknown
        deadline = time.monotonic() + 30
        while len(list(folder.glob("*.eml"))) < ALL:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    issued = carrier.issued()
    ticket_of = {line["number"]: line["ticket_no"] for line in issued}
    mails: dict[str, list[bytes]] = {}
    for path in sorted(folder.iterdir()):
        mails.setdefault(ticket_of[path.name.partition(".")[0]], []).append(path.read_bytes())
    return Month(mails, desk.report(), issued, desk.folder)


def number(month: Month, ticket: str) -> str:
    """The number under which the carrier issued a ticket's itinerary first."""
    return next(line["number"] for line in month.issued if line["ticket_no"] == ticket)


def file(month: Month, kind: str) -> bytes:
    (one,) = month.mails[OF_KIND[kind]]
    return attached(one)[1]


def test_there_are_as_many_mails_as_the_faults_make(month: Month) -> None:
    counts = {kind: len(month.mails.get(ticket, [])) for kind, ticket in OF_KIND.items()}
    assert counts == {kind: MAILS.get(kind, 1) for kind in KINDS}
    assert sum(map(len, month.mails.values())) == ALL
    assert {stat.S_IMODE(path.stat().st_mode) for path in (month.folder / "mails").iterdir()} == {0o600}
    assert {path.name for path in month.folder.glob("mails.*")} == {
        "mails.seal-root.pem",
        "mails.seal-root.der",
    }


def test_a_sound_file_is_that_of_the_ledger(month: Month) -> None:
    (row,) = (row for row in month.report["rows"] if row["ticket_no"] == SOUND)
    ((content,),) = [month.mails[SOUND]]
    told = fields(attached(content)[1])
    assert row["status"] == "issued"
    assert told["ElectronicInvoiceAirTransportReceiptNumber"] == row["number"]
    assert (told["TotalAmount"], told["NameOfPurchaser"]) == (row["amount"], "Acme Trading Co.")
    assert told["UnifiedSocialCreditCodeOfPurchaser"] == "91110000600037341L"
    assert mail(content)["To"] == "finance@example.com"


def test_a_file_comes_though_its_answer_was_lost(month: Month) -> None:
    (row,) = (row for row in month.report["rows"] if row["ticket_no"] == LOST)
    assert row["status"] == "unknown"
    ((content,),) = [month.mails[LOST]]
    assert fields(attached(content)[1])["ElectronicInvoiceAirTransportReceiptNumber"] == number(month, LOST)


def test_a_late_one_comes_a_second_after_it_was_issued(month: Month) -> None:
    late = number(month, OF_KIND["late"])
    issued_at = int(late[2:]) / 100_000_000  # the carrier's numbers are made of the time
    assert (
        month.folder / "mails" / f"{late}.eml"
    ).stat().st_mtime >= issued_at + 0.98  # a file's time is that of the last tick


def test_one_that_comes_twice_is_the_same(month: Month) -> None:
    first, second = month.mails[OF_KIND["twice"]]
    assert first == second


@pytest.mark.parametrize(
    ("kind", "name", "differs"),
    [
        ("wrong_buyer", "NameOfPurchaser", lambda found: found != "Acme Trading Co."),
        ("wrong_amount", "TotalAmount", lambda found: found == "1010.00"),
        ("altered", "TotalAmount", lambda found: found == "1010.00"),
        ("unsealed", "TotalAmount", lambda found: found == "1000.00"),
        ("late", "TotalAmount", lambda found: found == "1000.00"),
    ],
)
def test_a_fault_is_in_the_file_that_it_befalls(
    month: Month, kind: str, name: str, differs: Callable[[str], bool]
) -> None:
    told = fields(file(month, kind))
    assert differs(told[name]), told[name]
    assert told["ETicketNumber"] == OF_KIND[kind]
    with zipfile.ZipFile(io.BytesIO(file(month, kind))) as archive:
        assert ("Doc_0/Signs/Signatures.xml" in archive.namelist()) == (kind != "unsealed")


def test_a_link_and_a_zip(month: Month) -> None:
    ((link,),) = [month.mails[OF_KIND["link_only"]]]
    assert list(mail(link).iter_attachments()) == []
    assert "https://sandbox.invalid/" in mail(link).get_content()
    with zipfile.ZipFile(io.BytesIO(file(month, "zip"))) as archive:
        (inside,) = archive.namelist()
        assert fields(archive.read(inside))["ETicketNumber"] == OF_KIND["zip"]


def test_a_red_one_names_the_first_and_stands_in_the_statement(month: Month) -> None:
    first, red = (fields(attached(content)[1]) for content in month.mails[OF_KIND["red"]])
    lines = [line for line in month.issued if line["ticket_no"] == OF_KIND["red"]]
    assert [line["amount"] for line in lines] == ["1000.00", "-1000.00"]
    assert red["OriginalElectronicInvoiceAirTransportReceiptNumber"] == lines[0]["number"]
    assert red["ElectronicInvoiceAirTransportReceiptNumber"] == lines[1]["number"]
    assert first["ElectronicInvoiceAirTransportReceiptNumber"] == lines[0]["number"]


def test_a_fault_of_files_without_a_folder_for_them_is_an_error(desk: Desk) -> None:
    (desk.folder / "faults.toml").write_text('[[fault]]\nkind = "file_zip"\n')
    ran = desk.voucher(
        "sandbox", "--port", "0", "--faults", "faults.toml", "--profile", desk.profile("http://127.0.0.1:1")
    )
    assert ran.code == 2
    assert "faults.toml: kind file_zip is about mailed files" in ran.err
    assert "--deliver-to" in ran.err


@pytest.mark.slow
def test_a_folder_that_takes_no_mails_is_told_before_anything_is_issued(desk: Desk) -> None:
    profile = desk.profile("http://127.0.0.1:1")
    (mails := desk.folder / "mails").mkdir(mode=0o500)
    command = [*without_privileges(), sys.executable, "-m", "pipeline", "sandbox", "--port", "0"]
    ran = subprocess.run(
        [*command, "--profile", profile, "--deliver-to", mails],
        cwd=desk.folder, env=desk.environ(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"{mails}: no mails can be put there (Permission denied): choose another folder" in ran.stderr


@pytest.mark.slow
def test_a_run_with_its_own_sandbox_mails_what_it_issues(desk: Desk) -> None:
    october = write_workbook(desk.folder / "october.xlsx", tickets(3))
    profile = desk.profile("http://127.0.0.1:1")
    command = ("issue", october, "--profile", profile, "--as-of", "2026-11-20", "--report", "report.json")
    ran = desk.voucher(*command, "--sandbox", "--deliver-to", "mails")
    assert ran.code == 0, ran.err
    assert "3 mails written to mails" in ran.err
    told = {one["ElectronicInvoiceAirTransportReceiptNumber"] for one in all_fields(desk.folder / "mails")}
    assert told == {row["number"] for row in desk.report()["rows"]}
    refused = desk.voucher(*command, "--deliver-to", "mails")
    assert refused.code == 2
    assert "--deliver-to goes with --sandbox" in refused.err
