"""What a team does with its one ledger: check it, back it up, restore it, move it; as commands."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import openpyxl
import pytest

ISSUE = ("--profile", "carrier.toml", "--ledger", "october.ledger", "--as-of", "2026-11-20")


@pytest.fixture
def issued(desk: Any, sandbox: Any, workbook: Any, tickets: Any) -> Any:
    """A carrier that knows 60 tickets, and a ledger with the first 6 of them issued."""
    everything = workbook(tickets(60), name="all.xlsx")
    workbook(tickets(6), name="first.xlsx")
    with sandbox(everything) as carrier:
        desk.profile(carrier.base_url)
        assert desk.voucher("issue", "first.xlsx", *ISSUE).code == 0
        yield carrier


def test_a_sound_ledger_is_called_so(desk: Any, issued: Any) -> None:
    ran = desk.voucher("ledger", "check", "--ledger", "october.ledger")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "Ledger: october.ledger",
        f"Carrier: {issued.base_url} as agency AGENCY; version 3; runs: 1",
        "Attempts: 6 issued",
        "Sound: nothing is wrong with it",
    ]


def test_a_damaged_file_is_no_traceback(desk: Any, issued: Any) -> None:
    path = desk.folder / "october.ledger"
    data = bytearray(path.read_bytes())
    for page in range(4, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = b"\xa5" * 64
    path.write_bytes(data)
    for command in (["ledger", "check", *ISSUE[2:4]], ["issue", "first.xlsx", *ISSUE]):
        ran = desk.voucher(*command)
        assert ran.code == 3
        assert "Traceback" not in ran.err
        assert "WRONG: the file is damaged" in ran.out or "damaged" in ran.err or "malformed" in ran.err
    assert len(issued.issued()) == 6


def test_a_backup_taken_while_a_run_is_on_knows_what_it_lacks_and_sends_nothing(
    desk: Any, issued: Any
) -> None:
    slow = desk.start("issue", "all.xlsx", *ISSUE, "--rate", "2")
    desk.during(slow, lambda: len(issued.issued()) >= 8)
    backup = desk.voucher("ledger", "backup", "kept.ledger", "--ledger", "october.ledger")
    assert (backup.code, backup.err) == (0, "Backup: kept.ledger\n")
    at_backup = len(issued.issued())
    desk.during(slow, lambda: len(issued.issued()) >= at_backup + 2)
    slow.send_signal(signal.SIGINT)
    slow.communicate(timeout=60)
    assert stat.S_IMODE((desk.folder / "kept.ledger").stat().st_mode) == 0o600

    restored = (*ISSUE[:3], "kept.ledger", *ISSUE[4:])
    looked = desk.voucher("ledger", "check", "--ledger", "kept.ledger")
    assert looked.code == 0
    assert "Gap: it may lack what was issued after" in looked.out
    # What it holds is shown as issued; what it lacks is not sent.
    assert desk.voucher("issue", "first.xlsx", *restored).code == 0
    ran = desk.voucher("issue", "all.xlsx", *restored)
    assert ran.code == 2
    assert "may lack what was issued after" in ran.err
    assert "voucher ledger close-gap" in ran.err
    assert "complete statement" in ran.err
    assert issued.twice() == []

    said = desk.voucher(
        "ledger", "close-gap", *restored[2:4], "--by", "chen", "--evidence", "statement of 21 Nov"
    )
    assert said.code == 0
    assert desk.voucher("ledger", "close-gap", *restored[2:4], "--by", "x", "--evidence", "x").code == 2
    assert "Gap" not in desk.voucher("ledger", "check", "--ledger", "kept.ledger").out


@pytest.mark.usefixtures("issued")
def test_a_backup_goes_into_a_folder_under_its_time_and_over_nothing(desk: Any) -> None:
    (desk.folder / "backups").mkdir()
    where = ("--ledger", "october.ledger")
    assert desk.voucher("ledger", "backup", "backups", *where).code == 0
    (kept,) = (desk.folder / "backups").iterdir()
    assert kept.name.startswith("october.2")
    assert kept.suffix == ".ledger"
    for target, told in ((kept, "exists already"), ("nowhere/kept.ledger", "choose a folder that exists")):
        before = kept.read_bytes()
        ran = desk.voucher("ledger", "backup", target, *where)
        assert ran.code in (2, 3)
        assert told in ran.err
        assert kept.read_bytes() == before
    assert desk.voucher("ledger", "backup", "x.ledger", "--ledger", "no.ledger").code == 2


def test_a_ledger_whose_wal_is_lost_can_be_used_after_its_gap_is_settled(desk: Any, issued: Any) -> None:
    slow = desk.start("issue", "all.xlsx", *ISSUE, "--rate", "4")
    desk.during(slow, lambda: len(issued.issued()) >= 9)
    slow.kill()
    slow.communicate()
    (desk.folder / "october.ledger-wal").unlink()
    refused = desk.voucher("issue", "all.xlsx", *ISSUE)
    assert refused.code == 2
    assert "voucher ledger mark-gap" in refused.err
    marked = desk.voucher("ledger", "mark-gap", "--ledger", "october.ledger", "--why", "the disk was changed")
    assert marked.code == 0, marked.err
    ran = desk.voucher("issue", "all.xlsx", *ISSUE)
    assert ran.code == 2
    assert "may lack what was issued after" in ran.err
    assert "the disk was changed" in ran.err
    assert issued.twice() == []


def test_a_move_of_the_carrier_is_recorded_and_the_ledger_goes_along(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any
) -> None:
    book = workbook(tickets(3))
    with sandbox(book) as carrier:
        desk.profile(carrier.base_url)
        assert desk.voucher("issue", book, *ISSUE).code == 0
    with sandbox(book) as carrier:  # the same carrier at another address
        desk.profile(carrier.base_url)
        refused = desk.voucher("issue", book, *ISSUE)
        assert refused.code == 2
        assert "voucher ledger move-carrier" in refused.err
        moved = desk.voucher(
            "ledger", "move-carrier", *ISSUE[:4], "--by", "chen", "--why", "new host, letter of 1 Nov"
        )
        assert moved.code == 0, moved.err
        assert f"belongs to {carrier.base_url}" in moved.err
        ran = desk.voucher("issue", book, *ISSUE)
        assert ran.code == 0
        assert "already_issued         3" in ran.err
        assert len(carrier.issued()) == 3
        again = desk.voucher("ledger", "move-carrier", *ISSUE[:4], "--by", "chen", "--why", "again")
        assert again.code == 2


def test_a_ledger_in_its_default_place_is_found_at_the_new_address(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any
) -> None:
    book = workbook(tickets(2))
    run = ("issue", book, "--profile", "carrier.toml", "--as-of", "2026-11-20")
    with sandbox(book) as carrier:
        desk.profile(carrier.base_url)
        assert desk.voucher(*run).code == 0
    (old,) = (desk.folder / ".local/share/voucher-pipeline").glob("*.ledger")
    with sandbox(book) as carrier:
        desk.profile(carrier.base_url)
        moved = desk.voucher(
            "ledger", "move-carrier", "--profile", "carrier.toml", "--ledger", old, "--why", "new host"
        )
        assert moved.code == 0, moved.err
        assert not old.exists()
        ran = desk.voucher(*run)
        assert ran.code == 0
        assert "already_issued         2" in ran.err


@pytest.mark.usefixtures("issued")
def test_a_trials_ledger_never_becomes_a_real_one(desk: Any) -> None:
    desk.profile("https://carrier.invalid", name="real.toml")
    ran = desk.voucher(
        "ledger", "move-carrier", "--profile", "real.toml", "--ledger", "october.ledger", "--why", "go live"
    )
    assert ran.code == 2
    assert "ledger of a trial" in ran.err


def test_an_older_ledger_is_upgraded_by_the_first_run_and_says_so(
    desk: Any, workbook: Any, tickets: Any
) -> None:
    old = desk.folder / "october.ledger"
    old.write_bytes((Path(__file__).parents[1] / "unit/ledger/version-1.ledger").read_bytes())
    profile = desk.profile("http://127.0.0.1:18080")
    book = workbook(tickets(1))
    checked = desk.voucher("ledger", "check", "--ledger", old)
    assert (checked.code, "version 1" in checked.out) == (0, True)
    assert desk.voucher("ledger", "backup", "b.ledger", "--ledger", old).code == 0
    ran = desk.voucher("issue", book, "--profile", profile, *ISSUE[2:])
    assert ran.code == 1  # it was issued to another buyer then
    assert "already_issued         1" in ran.err
    assert "upgraded from version 1 to 3" in ran.err
    assert (desk.folder / "october.ledger.version-1").exists()


def test_no_ledger_command_makes_a_ledger(desk: Any) -> None:
    for command in (
        ["check"],
        ["backup", "b.ledger"],
        ["export", "e.xlsx"],
        ["mark-gap", "--since", "2026-11-20", "--why", "x"],
        ["close-gap", "--evidence", "x"],
        ["move-carrier", "--why", "x"],
    ):
        ran = desk.voucher("ledger", *command, "--ledger", "none.ledger")
        assert ran.code == 2
        assert "there is no ledger" in ran.err
        assert not list(desk.folder.iterdir())


@pytest.mark.usefixtures("issued")
def test_a_real_carriers_ledger_never_becomes_a_trials(desk: Any) -> None:
    other = desk.folder / "real.ledger"
    desk.profile("https://carrier.invalid", name="real.toml")
    made = desk.voucher(
        "issue", "first.xlsx", "--profile", "real.toml", "--ledger", other, "--new-ledger", *ISSUE[4:], "--rate", "100"
    )  # fmt: skip
    assert made.code == 3, made.err  # nobody is there; the ledger is
    for trial in (["--profile", "carrier.toml"], ["--profile", "real.toml", "--sandbox"]):
        ran = desk.voucher("ledger", "move-carrier", *trial, "--ledger", other, "--why", "x")
        assert ran.code == 2
        assert "ledger of a real carrier" in ran.err
    assert "carrier.invalid" in desk.voucher("ledger", "check", "--ledger", other).out


def test_a_move_to_an_address_that_has_a_ledger_changes_nothing(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any
) -> None:
    book = workbook(tickets(2))
    run = ("issue", book, "--profile", "carrier.toml", "--as-of", "2026-11-20")
    found = []
    for code in (0, 1):  # the second time the carrier, which is the same one, refuses what it issued already
        with sandbox(book) as carrier:
            desk.profile(carrier.base_url)
            assert desk.voucher(*run).code == code
            found.append(carrier.base_url)
    old, new = sorted(
        (desk.folder / ".local/share/voucher-pipeline").glob("*.ledger"),
        key=lambda path: path.stat().st_mtime,
    )
    ran = desk.voucher("ledger", "move-carrier", "--profile", "carrier.toml", "--ledger", old, "--why", "x")
    assert ran.code == 2
    assert "two memories of what was issued" in ran.err
    assert found[0] in desk.voucher("ledger", "check", "--ledger", old).out
    assert found[1] in desk.voucher("ledger", "check", "--ledger", new).out


@pytest.mark.usefixtures("issued")
@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["mark-gap", "--since", "0001-01-01", "--why", "x"], "not a day on which this ledger was used"),
        (["mark-gap", "--since", "2999-01-01", "--why", "x"], "not a day on which this ledger was used"),
        (["close-gap", "--by", " ", "--evidence", "x"], "is empty"),
        (["close-gap", "--by", "chen", "--evidence", "x"], "has no gap to close"),
    ],
)
def test_what_can_not_be_meant_is_not_recorded(desk: Any, command: list[str], told: str) -> None:
    ran = desk.voucher("ledger", *command, "--ledger", "october.ledger")
    assert ran.code == 2
    assert told in ran.err
    assert "Gap" not in desk.voucher("ledger", "check", "--ledger", "october.ledger").out


@pytest.mark.usefixtures("issued")
def test_check_says_that_a_ledger_may_lack_something(desk: Any) -> None:
    marked = desk.voucher("ledger", "mark-gap", "--ledger", "october.ledger", "--why", "an older copy")
    assert marked.code == 0, marked.err  # since the last run that it knows
    ran = desk.voucher("check", "all.xlsx", *ISSUE)
    assert ran.code == 0
    assert "This ledger may lack what was issued after 20" in ran.err
    assert "close-gap" in ran.err


@pytest.mark.usefixtures("issued")
def test_an_older_copy_under_the_ledgers_name_sends_nothing(desk: Any, issued: Any) -> None:
    ledger = desk.folder / "october.ledger"
    older = ledger.read_bytes()
    assert desk.voucher("issue", "all.xlsx", *ISSUE, "--rate", "100").code == 0
    ledger.write_bytes(older)
    for command in (["issue", "all.xlsx"], ["check", "all.xlsx"]):
        ran = desk.voucher(*command, *ISSUE)
        assert ran.code == 2
        assert "does not know the last run on this ledger" in ran.err
    assert desk.voucher("ledger", "mark-gap", *ISSUE[2:4], "--why", "restored by hand").code == 0
    ran = desk.voucher("issue", "all.xlsx", *ISSUE)
    assert (ran.code, "may lack" in ran.err) == (2, True)
    assert issued.twice() == []


@pytest.mark.usefixtures("issued")
def test_a_damaged_page_is_told_as_that_by_every_command(desk: Any) -> None:
    path = desk.folder / "october.ledger"
    whole = path.read_bytes()
    data = bytearray(whole)
    for page in range(2, len(data) // 4096):  # the tables' definitions stay
        data[page * 4096 : page * 4096 + 4096] = b"\xa5" * 4096
    path.write_bytes(data)
    for command in (
        ["issue", "first.xlsx", *ISSUE],
        ["check", "first.xlsx", *ISSUE],
        ["history", "9990000000001", *ISSUE[:4]],
        ["ledger", "check", *ISSUE[2:4]],
    ):
        ran = desk.voucher(*command)
        assert ran.code == 3, ran.err
        assert "october.ledger: the ledger is damaged" in ran.err
        assert "restore its backup" in ran.err


def test_a_folder_is_no_ledger(desk: Any, workbook: Any, tickets: Any) -> None:
    (desk.folder / "ledgers").mkdir()
    desk.profile("http://127.0.0.1:1")
    for command in (["issue", workbook(tickets(1)), "--profile", "carrier.toml"], ["ledger", "check"]):
        ran = desk.voucher(*command, "--ledger", "ledgers")
        assert ran.code == 2
        assert "ledgers: is a folder; name the ledger's file in it" in ran.err


@pytest.mark.usefixtures("issued")
def test_a_backup_onto_a_full_disk_names_the_disk(desk: Any) -> None:
    command = "ulimit -f 40; exec python -m pipeline ledger backup full.ledger --ledger october.ledger"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=desk.folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 3
    assert "full.ledger: can't be written" in done.stderr
    assert not (desk.folder / "full.ledger").exists()


def test_the_export_is_made_while_a_run_is_on_and_does_not_hold_it_up(desk: Any, issued: Any) -> None:
    slow = desk.start("issue", "all.xlsx", *ISSUE, "--rate", "2")
    desk.during(slow, lambda: len(issued.issued()) >= 8)
    ran = desk.voucher("ledger", "export", "audit.xlsx", *ISSUE[:4])
    assert (ran.code, ran.out, ran.err) == (0, "", "Export: audit.xlsx\n")
    assert slow.poll() is None
    slow.send_signal(signal.SIGINT)
    assert slow.wait(timeout=60) == 3
    slow.communicate()
    found = openpyxl.load_workbook(desk.folder / "audit.xlsx")
    headings, *rows = found["Requests"].iter_rows(values_only=True)
    assert "sending_at (Asia/Shanghai)" in headings
    states = [row[headings.index("state")] for row in rows]
    assert states.count("issued") >= 8
    assert "planned" in states
    numbers = {line["number"] for line in issued.issued()}
    assert {row[headings.index("number")] for row in rows} - {None} <= numbers
    assert stat.S_IMODE((desk.folder / "audit.xlsx").stat().st_mode) == 0o600
    assert not list(desk.folder.glob(".voucher-*"))


@pytest.mark.usefixtures("issued")
def test_an_export_takes_a_free_name_and_speaks_chinese(desk: Any) -> None:
    for name in ("audit.xlsx", "audit.2.xlsx"):
        ran = desk.voucher("ledger", "export", "audit.xlsx", *ISSUE[2:4], "--lang", "zh")
        assert (ran.code, ran.err) == (0, f"已导出：{name}\n")
    ran = desk.voucher("ledger", "export", "audit.csv", *ISSUE[2:4], "--lang", "zh")
    assert (ran.code, "名称须以 .xlsx 结尾" in ran.err) == (2, True)


@pytest.mark.usefixtures("issued")
def test_an_export_onto_a_full_disk_names_the_disk_and_leaves_nothing(desk: Any) -> None:
    command = "ulimit -f 40; exec python -m pipeline ledger export full.xlsx --ledger october.ledger"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=desk.folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 3
    assert "full.xlsx: can't be written" in done.stderr
    assert not (desk.folder / "full.xlsx").exists()
    assert not list(desk.folder.glob(".voucher-*"))
