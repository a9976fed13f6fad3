"""Itinerary files that the sandbox carrier mails: kept, tied to their tickets, settled by, missed; by real commands and real files."""

import datetime
import json
import os
import re
import shutil
import signal
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import apsw
import openpyxl
import pytest

from pipeline.sandbox.seal_certificates import Identity, certificate, pem
from tests.acceptance.conftest import Desk, running_sandbox, write_workbook
from tests.acceptance.conftest import tickets as some_tickets
from tests.acceptance.office import answered, at_rest
from tests.conftest import needs_tool
from tests.unit.itinerary_files import imap_server
from tests.unit.itinerary_files.ofd_files import Voucher, parts, zipped

#: What befalls the file of the ticket of that number.
FAULTS = {
    1: "file_never", 2: "file_twice", 3: "file_wrong_buyer", 4: "file_altered", 5: "file_unsealed", 6: "file_link_only",
    7: "file_zip", 8: "file_red", 9: "file_wrong_amount",
}  # fmt: skip
LOST = 10  # its answer is, and its file comes
COUNT = 11
#: What each itinerary comes to by its file.
STATES = {"received": 6, "altered": 1, "differs": 2, "missing": 2}
LATER = "2036-01-01"


def ticket(number: int) -> str:
    return f"999{number:010}"


def fault_file() -> str:
    told = [
        f'[[fault]]\nkind = "{kind}"\ntickets = ["{ticket(number)}"]\n' for number, kind in FAULTS.items()
    ]
    return "\n".join([*told, f'[[fault]]\nkind = "reset"\nwhen = "after"\ntickets = ["{ticket(LOST)}"]\n'])


@pytest.fixture(scope="module")
def issued(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A desk on which a month was issued, one outcome of it unknown, and the files were mailed."""
    desk = Desk(tmp_path_factory.mktemp("issued"))
    workbook = write_workbook(desk.folder / "tickets.xlsx", some_tickets(COUNT))
    more = ["--deliver-to", desk.folder / "mails"]
    with running_sandbox(desk, workbook, faults=fault_file(), more=more) as carrier:
        profile = desk.profile(carrier.base_url)
        ran = desk.voucher(
            "issue",
            workbook,
            "--profile",
            profile,
            "--ledger",
            "a.ledger",
            "--new-ledger",
            "--as-of",
            "2026-11-20",
        )
        assert ran.code == 4, ran.err
    assert len([*(desk.folder / "mails").iterdir()]) == COUNT + 1  # one never, one twice, one red
    return desk.folder


@pytest.fixture
def desk(issued: Path, tmp_path: Path) -> Desk:
    """The same desk for each test, and the noting of its last run with it."""
    shutil.copytree(issued, tmp_path / "desk")
    return Desk(tmp_path / "desk")


def collect(desk: Desk, *more: str | Path, code: int = 1, where: str | Path = "mails") -> dict[str, Any]:
    ran = desk.voucher(
        "collect", where, "--profile", "carrier.toml", "--ledger", "a.ledger", "--report", "files.json", *more
    )
    assert ran.code == code, ran.err
    report: dict[str, Any] = json.loads((desk.folder / "files.json").read_text())
    return report | {"said": ran.err}


def by_ticket(report: dict[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for file in report["files"]:
        found.setdefault("".join(file["tickets"]) or file["place"][-1], []).append(file["status"])
    return found


def rows(desk: Desk, query: str) -> list[tuple[Any, ...]]:
    with closing(apsw.Connection(str(desk.folder / "a.ledger"), flags=apsw.SQLITE_OPEN_READONLY)) as ledger:
        return list(ledger.execute(query))


def archived(desk: Desk) -> list[Path]:
    return sorted((desk.folder / "a.ledger.itineraries").rglob("*.ofd"))


def verify(desk: Desk) -> tuple[int, str]:
    ran = desk.voucher(
        "collect", "--verify", "a.ledger.itineraries", "--profile", "carrier.toml", "--ledger", "a.ledger"
    )
    return ran.code, ran.err


@pytest.mark.slow
def test_each_file_comes_to_one_status_and_each_itinerary_is_received_or_missing(desk: Desk) -> None:
    report = collect(desk, "--as-of", LATER, "-o", "files.xlsx")
    assert report["itineraries"] == {"issued": COUNT, **STATES}
    found = by_ticket(report)
    assert {name: sorted(statuses) for name, statuses in found.items() if name.startswith("999")} == {
        ticket(2): ["duplicate", "received"],
        ticket(3): ["differs"],
        ticket(4): ["altered"],
        ticket(5): ["received"],
        ticket(7): ["received"],
        ticket(8): ["received", "red"],
        ticket(9): ["differs"],
        ticket(10): ["received"],
        ticket(11): ["received"],
    }
    assert [
        status for name, statuses in found.items() if not name.startswith("999") for status in statuses
    ] == ["link_only"]
    said = {
        file["tickets"][0]: str(file["reasons"]) for file in report["files"] if file["status"] == "differs"
    }
    assert "header_name: the ledger has “Acme Trading Co.”" in said[ticket(3)]
    assert "tax_no" in said[ticket(3)]
    assert "amount: the ledger has “1,000.00”, the file “1,010.00”" in said[ticket(9)]
    assert {(one["ticket_no"], one["status"]) for one in report["missing"]} == {
        (ticket(1), "missing"), (ticket(3), "differs"), (ticket(4), "altered"), (ticket(6), "missing"), (ticket(9), "differs"),
    }  # fmt: skip
    assert (
        f"{COUNT} itineraries issued, 6 received, 1 altered, 2 differs, 2 missing, the longest for"
        in report["said"]
    )
    assert "2 itineraries are missing for 3 days or more" in report["said"]
    book = openpyxl.load_workbook(desk.folder / "files.xlsx")
    assert book.sheetnames == ["Summary", "Files", "Missing"]
    assert book["Files"].max_row == 1 + len(report["files"])
    assert book["Missing"].max_row == 1 + 5


@pytest.mark.slow
def test_a_file_settles_an_unknown_outcome_and_its_words_are_its_evidence(desk: Desk) -> None:
    assert rows(desk, "SELECT count(*) FROM attempt WHERE state = 'unknown'") == [(1,)]
    report = collect(desk)
    (settled,) = report["settled"]
    assert settled["status"] == "issued"
    assert rows(desk, "SELECT state, number FROM attempt WHERE was_unknown = 1") == [
        ("issued", settled["number"])
    ]
    told = desk.voucher("history", ticket(LOST), "--ledger", "a.ledger").out
    assert f"settled as issued under {settled['number']}" in told
    assert "seal: intact" in told
    assert "itinerary file received: " in told
    assert desk.voucher("ledger", "check", "--ledger", "a.ledger").code == 0


@pytest.mark.slow
def test_collecting_again_finds_the_same_and_notes_nothing_twice(desk: Desk) -> None:
    first = collect(desk)
    noted, kept = rows(desk, "SELECT * FROM received_file"), archived(desk)
    again = collect(desk)
    assert again["itineraries"] == first["itineraries"]
    assert Counter(file["status"] for file in again["files"]) == {
        "duplicate": 7, "differs": 2, "altered": 1, "red": 1, "link_only": 1,
    }  # fmt: skip
    assert all(file["same"] for file in again["files"] if file["status"] == "duplicate")
    assert (rows(desk, "SELECT * FROM received_file"), archived(desk)) == (noted, kept)


@pytest.mark.slow
def test_what_is_missing_needs_a_person_only_when_it_is_late_and_of_the_time_that_is_asked_for(
    desk: Desk,
) -> None:
    number = rows(
        desk, f"SELECT number FROM attempt JOIN charge USING (attempt_id) WHERE ticket_no = '{ticket(11)}'"
    )[0][0]
    mail = f"mails/{number}.eml"
    report = collect(desk, where=mail, code=0)
    assert report["itineraries"] == {
        "issued": COUNT - 1,
        "received": 1,
        "missing": COUNT - 2,
    }  # one is unknown
    assert f"{COUNT - 2} itineraries were issued less than 3 days ago" in report["said"]
    collect(desk, "--as-of", LATER, where=mail, code=1)
    collect(desk, "--as-of", LATER, "--month", "2026-01", where=mail, code=0)
    collect(desk, "--as-of", LATER, "--since", "2035-01-01", where=mail, code=0)


@pytest.mark.slow
def test_an_archive_is_what_was_mailed_and_is_checked_later(desk: Desk) -> None:
    report = collect(desk)
    kept = archived(desk)
    assert {path.stat().st_mode & 0o777 for path in kept} == {0o600}
    assert sorted({file["archived"] for file in report["files"] if file["archived"]}) == [
        path.relative_to(desk.folder / "a.ledger.itineraries").as_posix() for path in kept
    ]

    whole = (0, f"Archive a.ledger.itineraries: {len(kept)} files are as they were kept\n")
    assert verify(desk) == whole
    kept[0].write_bytes(kept[0].read_bytes()[:-1] + b"x")
    kept[1].unlink()
    strange = kept[2].parent / "strange.ofd"
    strange.write_bytes(b"")
    code, said = verify(desk)
    assert code == 1
    again = "(collect its mail again, and it is put back)"
    assert f"changed since it was kept {again}: {kept[0].parent.name}/{kept[0].name}" in said
    assert f"missing in the archive {again}: {kept[1].parent.name}/{kept[1].name}" in said
    assert "in the archive, and not in the ledger (move it out, and collect it from there)" in said
    # The cures are of use.
    strange.rename(desk.folder / "mails" / "strange.ofd")
    again = collect(desk)
    assert again["said"].count("missing or damaged, and put back as it was kept") == 1
    assert all(path.name in again["said"] for path in kept[:2])
    assert verify(desk) == whole
    assert archived(desk) == kept
    assert [path.name for path in strange.parent.glob("*.damaged")] == [f"{kept[0].name}.damaged"]


@pytest.mark.slow
def test_an_archive_is_mended_by_the_mails_whatever_was_collected_before(desk: Desk) -> None:
    """Also where the archive itself was collected while a file in it was damaged."""
    number = rows(
        desk, f"SELECT number FROM attempt JOIN charge USING (attempt_id) WHERE ticket_no = '{ticket(11)}'"
    )[0][0]
    mail = f"mails/{number}.eml"
    collect(desk, where=mail, code=0)
    (kept,) = archived(desk)
    content = kept.read_bytes()
    kept.write_bytes(content + b"x")
    collect(desk, where="a.ledger.itineraries")
    assert verify(desk)[0] == 1
    for lose in (None, kept.unlink):
        if lose:
            lose()
        said = collect(desk, where=mail, code=0)["said"]
        assert "put back as it was kept (what is damaged lies beside it, as .damaged): " in said
        assert kept.name in said
        assert verify(desk) == (0, "Archive a.ledger.itineraries: 2 files are as they were kept\n")
        assert kept.read_bytes() == content
        assert "put back" not in collect(desk, where=mail, code=0)["said"]
    assert [path.read_bytes() for path in kept.parent.glob("*.damaged")] == [content + b"x"]


@pytest.mark.slow
def test_under_the_roots_that_the_profile_names_only_a_valid_seal_proves(desk: Desk) -> None:
    (root,) = desk.folder.glob("mails.seal-root.pem")
    profile = (desk.folder / "carrier.toml").read_text()
    other = desk.folder / "other.pem"
    other.write_text(pem(certificate(Identity("Other Root", certifies=True))))
    (desk.folder / "carrier.toml").write_text(f'{profile}\n[itinerary_files]\nseal_roots = ["{other}"]\n')
    report = collect(desk)
    assert report["settled"] == []
    assert by_ticket(report)[ticket(LOST)] == ["unclear"]
    (why,) = [file["reasons"] for file in report["files"] if file["tickets"] == [ticket(LOST)]]
    assert "its seal is intact, and the profile names whose seals are valid" in str(why)
    (desk.folder / "carrier.toml").write_text(f'{profile}\n[itinerary_files]\nseal_roots = ["{root}"]\n')
    report = collect(desk)
    assert len(report["settled"]) == 1
    assert by_ticket(report)[ticket(LOST)] == ["received"]
    assert {file["seal"] for file in report["files"] if file["tickets"] == [ticket(LOST)]} == {"valid"}


@pytest.mark.slow
def test_another_ledger_s_files_are_foreign_or_of_an_unknown_ticket(desk: Desk) -> None:
    other = [("Li Na", 20), ("ACME", 21)]
    for buyer, number in other:
        workbook = write_workbook(
            desk.folder / f"{number}.xlsx", [{"ticket_no": ticket(number), "buyer": buyer}]
        )
        with running_sandbox(desk, workbook) as carrier:
            profile = desk.profile(carrier.base_url, name=f"{number}.toml")
            ran = desk.voucher(
                "issue",
                workbook,
                "--profile",
                profile,
                "--ledger",
                f"{number}.ledger",
                "--new-ledger",
                "--as-of",
                "2026-11-20",
            )
            assert ran.code == 0, ran.err
        report = desk.voucher(
            "collect", "mails", "--profile", profile, "--ledger", f"{number}.ledger", "--report", "o.json"
        )
        assert report.code == 1
        found = by_ticket(json.loads((desk.folder / "o.json").read_text()))
        assert found[ticket(11)] == ["foreign" if buyer == "Li Na" else "unknown_ticket"]


@pytest.mark.slow
def test_what_is_no_itinerary_and_what_can_t_be_read_are_told(desk: Desk) -> None:
    folder = desk.folder / "others"
    folder.mkdir()
    (folder / "a.txt").write_text("something else")
    (folder / "b.zip").write_bytes(b"PK\x03\x04 cut off")
    report = collect(desk, where="others")
    assert {file["place"][0]: file["status"] for file in report["files"]} == {
        "a.txt": "not_an_itinerary",
        "b.zip": "unreadable",
    }
    (folder / "b.zip").unlink()
    assert collect(desk, "--month", "2026-01", where="others", code=0)["itineraries"]["issued"] == 0


@pytest.mark.slow
def test_killed_between_archive_and_ledger_nothing_is_lost(desk: Desk) -> None:
    """A thousand other files are still to be read when the itineraries are in the archive."""
    for number in range(1000):
        (desk.folder / "mails" / f"zz{number:04}.txt").write_text(f"another {number}")
    process = desk.start("collect", "mails", "--profile", "carrier.toml", "--ledger", "a.ledger")
    desk.during(process, lambda: archived(desk))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    kept = archived(desk)
    assert kept
    assert rows(desk, "SELECT count(*) FROM received_file") == [(0,)]
    report = collect(desk)
    assert report["itineraries"]["received"] == 6
    assert {*kept} <= {*archived(desk)}
    assert desk.voucher("ledger", "check", "--ledger", "a.ledger").code == 0
    assert verify(desk)[0] == 0


@pytest.mark.slow
def test_the_register_tells_when_a_file_came_where_it_lies_and_its_seal(desk: Desk) -> None:
    collect(desk)
    ran = desk.voucher("register", "--profile", "carrier.toml", "--ledger", "a.ledger", "-o", "r.xlsx")
    assert ran.code == 0, ran.err
    headings, *lines = openpyxl.load_workbook(desk.folder / "r.xlsx")["Register"].iter_rows(values_only=True)
    assert headings[-3:] == ("received_on", "itinerary_file", "seal")
    told = {line[headings.index("ticket_no")]: line[-3:] for line in lines}
    assert told[ticket(1)] == (None, None, None)
    assert told[ticket(5)][2] == "none"
    assert (desk.folder / "a.ledger.itineraries" / told[ticket(5)][1]).is_file()
    assert told[ticket(7)][2] == "intact"


@pytest.mark.slow
def test_in_chinese_all_is_chinese(desk: Desk) -> None:
    report = collect(desk, "--lang", "zh", "-o", "z.xlsx", "--as-of", LATER)
    assert f"已开具行程单 {COUNT} 张：6 已收到" in report["said"]
    book = openpyxl.load_workbook(desk.folder / "z.xlsx")
    assert [cell.value for cell in book["Files"][1]][:4] == ["状态", "原因", "行程单号码", "票号"]
    assert {row[0] for row in book["Files"].iter_rows(min_row=2, values_only=True)} == {
        "已收到", "不一致", "被改动", "重复", "红字", "仅有链接",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Nothing to collect"),
        (("missing",), "there is no such file"),
        (("mails", "--month", "2026-13"), "is not a month"),
        (("mails", "--month", "2026-10", "--since", "2026-10-01"), "--month and --since"),
        (("--verify", "nowhere"), "there is no such folder"),
        (("mails", "--archive", "carrier.toml"), "carrier.toml is no folder; name another place"),
        (("mails", "--verify", "mails"), "leave out PATH"),
        (("--verify", "mails", "-o", "files.xlsx", "--report", "files.json"), "leave out --output, --report"),
        (("--verify", "mails", "--month", "2026-10"), "leave out --month"),
    ],
)
def test_wrong_usage_is_told_and_changes_nothing(desk: Desk, arguments: tuple[str, ...], said: str) -> None:
    ran = desk.voucher("collect", *arguments, "--profile", "carrier.toml", "--ledger", "a.ledger")
    assert (ran.code, said in ran.err) == (2, True), ran.err
    assert rows(desk, "SELECT count(*) FROM received_file") == [(0,)]
    assert rows(desk, "SELECT count(*) FROM run WHERE ended_at IS NULL") == [(0,)], "none is taken for killed"


def test_a_ledger_that_is_not_there_is_not_begun(desk: Desk) -> None:
    ran = desk.voucher("collect", "mails", "--profile", "carrier.toml", "--ledger", "no.ledger")
    assert ran.code == 2
    assert "there is no ledger" in ran.err
    assert not (desk.folder / "no.ledger").exists()


# --- the inbox of reconcile takes them, too


def reconcile(desk: Desk, *more: str | Path) -> tuple[int, str]:
    for name in ("in", "out"):
        (desk.folder / name).mkdir(exist_ok=True)
    at_rest(*(desk.folder / "in").iterdir())
    ran = desk.voucher(
        "reconcile", "--inbox", "in", "--outbox", "out", "--profile", "carrier.toml", "--ledger", "a.ledger", "--report", "files.json", *more
    )  # fmt: skip
    return ran.code, ran.err


@pytest.mark.slow
def test_an_inbox_takes_files_settles_by_them_and_tells_each_once(desk: Desk) -> None:
    shutil.copytree(desk.folder / "mails", desk.folder / "in")
    (desk.folder / "in" / "notes.txt").write_text("nothing of ours")
    code, said = reconcile(desk)
    assert code == 1, said
    assert "Itinerary files: 1 altered, 2 differs, 1 link_only, 6 received, 1 red" in said
    assert re.search(rf"{ticket(9)} \([^)]+\): differs: amount", said)
    assert "notes.txt: is no workbook" in said
    report = desk.report("files.json")
    assert [one["status"] for one in report["settled"]] == ["issued"]
    assert Counter(one["status"] for one in report["files"]) == {
        "received": 6, "duplicate": 1, "differs": 2, "altered": 1, "red": 1, "link_only": 1,
    }  # fmt: skip
    assert len(archived(desk)) == 10
    (desk.folder / "in" / "notes.txt").unlink()
    noted = rows(desk, "SELECT * FROM received_file")
    assert reconcile(desk)[0] == 0
    assert rows(desk, "SELECT * FROM received_file") == noted


@pytest.mark.slow
def test_a_file_against_an_answer_settles_nothing(desk: Desk) -> None:
    result = answered(desk.folder / "tickets.result.xlsx", "not issued")
    shutil.copytree(desk.folder / "mails", desk.folder / "in")
    code, said = reconcile(desk, "--resolved", result)
    assert code == 4, said
    assert rows(desk, "SELECT count(*) FROM attempt WHERE state = 'unknown'") == [(1,)]
    assert "the statement lists it as" in said
    report = desk.report("files.json")
    assert report["settled"] == []
    assert Counter(one["status"] for one in report["files"])["unclear"] == 1
    # Nor is it received as something that was issued elsewhere, another night.
    collected = collect(desk)
    assert by_ticket(collected)[ticket(LOST)] == [
        "received"
    ]  # nothing speaks against it any more: the answer was not recorded


def forged(desk: Desk, number: str) -> Path:
    """A file without a seal that says of the ticket in doubt what was asked for, under another number."""
    ((name, tax_no, amount),) = rows(
        desk,
        "SELECT header_name, tax_no, request.amount FROM request JOIN attempt USING (request_id) WHERE was_unknown",
    )
    total = f"{amount // 100}.{amount % 100:02}"
    zero = dict.fromkeys(
        ("FuelSurcharge", "VatTaxAmount", "CivilAviationDevelopmentFund", "OtherTaxes"), "0.00"
    )
    day = datetime.datetime.now(ZoneInfo("Asia/Shanghai")).date()
    said = Voucher().said(
        ElectronicInvoiceAirTransportReceiptNumber=number, ETicketNumber=ticket(LOST), NameOfPurchaser=name,
        UnifiedSocialCreditCodeOfPurchaser=tax_no, Fare=total, TotalAmount=total, IssueDate=str(day), **zero,
    )  # fmt: skip
    path = desk.folder / "mails" / "forged.ofd"
    path.write_bytes(zipped(parts(said)))
    return path


@pytest.mark.slow
def test_a_forged_file_beside_the_good_one_settles_nothing_and_is_not_remembered(desk: Desk) -> None:
    path = forged(desk, "26" * 10)
    report = collect(desk)
    assert report["settled"] == []
    assert by_ticket(report)[ticket(LOST)] == ["unclear", "unclear"]
    (why,) = {str(one["reasons"]) for one in report["files"] if one["tickets"] == [ticket(LOST)]}
    assert "it is listed under several numbers: " in why
    assert "itinerary file forged.ofd" in why
    assert rows(desk, "SELECT count(*) FROM elsewhere") == [(0,)]
    path.unlink()
    report = collect(desk)
    assert [one["status"] for one in report["settled"]] == ["issued"]
    assert report["settled"][0]["number"] != "26" * 10
    assert by_ticket(report)[ticket(LOST)] == ["received"]


@pytest.mark.slow
def test_a_forged_file_stands_in_the_way_of_a_statement_only_while_it_is_there(desk: Desk) -> None:
    forged(desk, "26" * 10).rename(desk.folder / "forged.ofd")
    statement = desk.folder / "statement.csv"
    number = "2" * 20
    statement.write_text(
        f"type,ticket_no,charge,product,number\nitinerary,{ticket(LOST)},ticket_fare,flight,{number}\n"
    )
    (desk.folder / "in").mkdir()
    shutil.copy(desk.folder / "forged.ofd", desk.folder / "in")
    code, said = reconcile(desk, "--statement", statement)
    assert code == 4, said
    assert f"it is listed under several numbers: {number} (statement.csv" in said
    assert "forged.ofd" in said
    (desk.folder / "in" / "forged.ofd").unlink()
    reconcile(desk, "--statement", statement)
    assert rows(desk, "SELECT state, number FROM attempt WHERE was_unknown = 1") == [("issued", number)]


@pytest.mark.slow
def test_a_mailbox_is_read_once_and_what_it_holds_is_collected(desk: Desk) -> None:
    needs_tool("dovecot", imap_server.PROGRAM.exists())
    needs_tool("openssl", shutil.which("openssl"))
    needs_tool("root, as whom dovecot is started,", os.geteuid() == 0)
    mails = sorted((desk.folder / "mails").iterdir())
    with imap_server.running() as server:
        profile = (desk.folder / "carrier.toml").read_text()
        (desk.folder / "carrier.toml").write_text(
            profile.replace("[carrier]", f'[carrier]\nca_file = "{server.ca_file}"')
        )
        server.deliver(*(mail.read_bytes() for mail in mails[:-1]))
        ran = desk.voucher(
            "collect", "--mailbox", server.url(), "--profile", "carrier.toml", "--ledger", "a.ledger"
        )
        assert (ran.code, ran.out) == (2, ""), "no password is known"
        assert "VOUCHER_MAILBOX_PASSWORD" in ran.err
        desk.environment["VOUCHER_MAILBOX_PASSWORD"] = imap_server.PASSWORD

        def collected() -> dict[str, Any]:
            report = collect(desk, "--mailbox", server.url(), where="none")
            assert imap_server.PASSWORD not in report["said"]
            return report

        (desk.folder / "none").mkdir()
        first = collected()["files"]
        assert len(first) == len(mails) - 1
        assert collected()["files"] == []
        server.deliver(mails[-1].read_bytes())
        (last,) = collected()["files"]
    # Which ticket's mail is the last is by chance: they are named by numbers given to requests that came at once.
    assert Counter(file["status"] for file in [*first, last]) == Counter(
        received=6, duplicate=1, red=1, differs=2, altered=1, link_only=1
    )
