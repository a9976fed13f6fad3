"""What a team does with its one ledger: check it, back it up, restore it, move it; as commands."""

import contextlib
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import openpyxl
import pytest

from pipeline.ledger.clock import local_text
from pipeline.ledger.schema import VERSION
from tests import next_version
from tests.acceptance.conftest import Desk, running_sandbox, tickets, write_workbook
from tests.conftest import without_privileges
from tests.moved_clock import moved, needs_compiler

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


@pytest.fixture(scope="module")
def left_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The desk's folder as that is left once the carrier is gone."""
    desk = Desk(tmp_path_factory.mktemp("left"))
    everything = write_workbook(desk.folder / "all.xlsx", tickets(60))
    write_workbook(desk.folder / "first.xlsx", tickets(6))
    with running_sandbox(desk, everything) as carrier:
        desk.profile(carrier.base_url)
        assert desk.voucher("issue", "first.xlsx", *ISSUE).code == 0
    return desk.folder


@pytest.fixture
def left(desk: Any, left_once: Path) -> None:
    """The same for what asks no carrier: a copy of that folder."""
    shutil.copytree(left_once, desk.folder, dirs_exist_ok=True)


def test_a_sound_ledger_is_called_so(desk: Any, issued: Any) -> None:
    ran = desk.voucher("ledger", "check", "--ledger", "october.ledger")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "Ledger: october.ledger",
        f"Carrier: {issued.base_url} as agency AGENCY; version {VERSION}; runs: 1",
        "Attempts: 6 issued",
        "Sound: nothing is wrong with it",
    ]


@pytest.mark.slow
def test_whoever_begins_a_ledger_is_told_to_keep_it_even_in_quiet_and_later_runs_are_not(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any
) -> None:
    book = workbook(tickets(1))
    with sandbox(book) as carrier:
        desk.profile(carrier.base_url)
        path = desk.folder / "october.ledger"
        first = desk.voucher("issue", book, *ISSUE, "--quiet")
        assert first.err == (
            f"A new ledger was begun: {path}; keep it, and back it up (voucher ledger backup): it is the memory that keeps anything"
            " from being issued twice\n"
        )
        assert desk.voucher("issue", book, *ISSUE, "--quiet").err == ""
    kept = (
        "issue",
        book,
        *ISSUE[:2],
        "--sandbox",
        "--ledger",
        "s.ledger",
        *ISSUE[4:],
        "--quiet",
        "--lang",
        "zh",
    )
    begun = desk.voucher(*kept)
    assert begun.err == (
        f"已新建台账：{desk.folder / 's.ledger'}；请保管好并备份（voucher ledger backup）：防止重复开具全凭其记录\n"
    )
    assert desk.voucher(*kept).err == ""
    assert (
        desk.voucher("issue", book, *ISSUE[:2], "--sandbox", *ISSUE[4:], "--quiet").err == ""
    )  # thrown away


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


@pytest.mark.slow
def test_a_backup_taken_while_a_run_is_on_knows_what_it_lacks_and_sends_nothing(
    desk: Any, issued: Any
) -> None:
    slow = desk.begin("issue", "all.xlsx", *ISSUE, "--rate", "2")
    desk.during(slow, lambda: len(issued.issued()) >= 8)
    backup = desk.voucher("ledger", "backup", "kept.ledger", "--ledger", "october.ledger")
    assert (backup.code, backup.err) == (0, "Backup: kept.ledger\n")
    at_backup = len(issued.issued())
    desk.during(slow, lambda: len(issued.issued()) >= at_backup + 2)
    slow.send_signal(signal.SIGINT)
    assert slow.end().code == 3
    assert stat.S_IMODE((desk.folder / "kept.ledger").stat().st_mode) == 0o600

    restored = (*ISSUE[:3], "kept.ledger", *ISSUE[4:])
    looked = desk.voucher("ledger", "check", "--ledger", "kept.ledger")
    assert looked.code == 3
    assert "Gap: it may lack what was issued after" in looked.out
    assert "Sound but for what it may lack" in looked.out
    # What it holds is shown as issued; what it lacks is not sent.
    assert desk.voucher("issue", "first.xlsx", *restored).code == 0
    ran = desk.voucher("issue", "all.xlsx", *restored)
    assert ran.code == 2
    assert "may lack what was issued after" in ran.err
    assert "voucher ledger close-gap" in ran.err
    assert "complete statement" in ran.err
    assert issued.twice() == []

    said = desk.voucher(
        "ledger", "close-gap", *restored[2:4], "--by", "chen", "--evidence", "statement of 21 Nov", "--yes"
    )
    assert said.code == 0
    assert desk.voucher("ledger", "close-gap", *restored[2:4], "--by", "x", "--evidence", "x").code == 2
    assert "Gap" not in desk.voucher("ledger", "check", "--ledger", "kept.ledger").out


@pytest.mark.usefixtures("left")
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


@pytest.mark.slow
def test_a_ledger_whose_wal_is_lost_can_be_used_after_its_gap_is_settled(desk: Any, issued: Any) -> None:
    slow = desk.begin("issue", "all.xlsx", *ISSUE, "--rate", "4")
    desk.during(slow, lambda: len(issued.issued()) >= 9)
    slow.kill()
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


@pytest.mark.slow
def test_a_ledger_moved_without_its_lock_sends_nothing_until_somebody_says_what_is_missing(
    desk: Any, issued: Any
) -> None:
    moved = desk.folder / "new disk" / "october.ledger"
    moved.parent.mkdir()
    (desk.folder / "october.ledger").rename(moved)
    run = ("issue", "all.xlsx", *ISSUE[:3], moved, *ISSUE[4:])
    refused = desk.voucher(*run)
    assert refused.code == 2
    assert "its last run is not noted beside it (october.ledger.lock)" in refused.err
    assert "voucher ledger mark-gap --nothing-missing; else: voucher ledger mark-gap" in refused.err
    assert len(issued.issued()) == 6
    for reading in (["history", "9990000000001"], ["ledger", "check"]):  # they tell it, and go on
        looked = desk.voucher(*reading, "--ledger", moved)
        assert looked.code == (3 if reading[0] == "ledger" else 0)
        assert "Sound" not in looked.out
        assert "its last run is not noted beside it" in looked.err
    checked = desk.voucher("check", "first.xlsx", *run[2:])
    assert (checked.code, "already_issued         6" in checked.err) == (0, True)
    assert "its last run is not noted beside it" in checked.err
    assert desk.voucher("ledger", "backup", "b.ledger", "--ledger", moved).code == 0
    mark = ("ledger", "mark-gap", "--ledger", moved, "--by", "chen", "--why", "the old disk was full")
    both = desk.voucher(*mark, "--nothing-missing", "--since", "2026-11-20", "--lang", "zh")
    assert "--since 说明缺少什么，--nothing-missing 说明没有缺少" in both.err
    assert both.code == 2
    said = desk.voucher(*mark, "--nothing-missing")
    assert said.code == 0, said.err
    assert "recorded: nothing is missing (the old disk was full)" in said.err
    assert desk.voucher(*mark, "--nothing-missing").code == 2  # there is nothing to say any more
    assert desk.voucher(*run).code == 0
    assert len(issued.issued()) == 60
    assert issued.twice() == []
    assert desk.voucher("ledger", "export", "audit.xlsx", "--ledger", moved).code == 0
    cells = {
        cell.value
        for sheet in openpyxl.load_workbook(desk.folder / "audit.xlsx")
        for row in sheet
        for cell in row
    }
    assert {"chen", "nothing is missing: the old disk was full"} <= cells


@pytest.mark.usefixtures("left")
def test_a_backup_of_a_ledger_that_may_lack_something_lacks_it_too(desk: Any) -> None:
    (desk.folder / "october.ledger.lock").unlink()
    assert desk.voucher("ledger", "backup", "b.ledger", *ISSUE[2:4]).code == 0
    looked = desk.voucher("ledger", "check", "--ledger", "b.ledger")
    gap = re.search(
        r"what was issued after (.+?) \(it is a backup of what may be an older copy\)", looked.out
    )
    assert gap
    with contextlib.closing(apsw.Connection(str(desk.folder / "b.ledger"))) as backup:
        assert gap[1] == local_text(backup.execute("SELECT max(ended_at) FROM run").get)


@pytest.mark.slow
@pytest.mark.usefixtures("left")
@needs_compiler
def test_a_copy_made_while_the_clock_is_ahead_lacks_what_came_after_what_it_knows(desk: Any) -> None:
    ahead = replace(desk, environment={**desk.environment, **moved(48)})
    assert ahead.voucher("ledger", "backup", "b.ledger", *ISSUE[2:4]).code == 0
    later = replace(ahead, environment={**ahead.environment, next_version.LATER: "1"})
    assert later.voucher("issue", "first.xlsx", *ISSUE).code == 0
    for copy in ("b.ledger", f"october.ledger.version-{VERSION}"):
        with contextlib.closing(apsw.Connection(str(desk.folder / copy))) as made:
            since, known = made.execute("SELECT since, (SELECT max(ended_at) FROM run) FROM gap").get
            assert since == known, copy


@pytest.mark.slow
def test_a_folder_put_back_from_last_night_sends_nothing_until_its_gap_is_settled(
    desk: Any, issued: Any
) -> None:
    books = desk.folder / "books"
    books.mkdir()
    for found in desk.folder.glob("october.ledger*"):
        found.rename(books / found.name)
    shutil.copytree(books, desk.folder / "last night")
    run = ("issue", "all.xlsx", *ISSUE[:3], books / "october.ledger", *ISSUE[4:])
    assert desk.voucher(*run).code == 0
    shutil.rmtree(books)
    (desk.folder / "last night").rename(books)
    refused = desk.voucher(*run)
    assert refused.code == 2
    assert "was put back from an earlier time" in refused.err
    assert ".local/state/voucher-pipeline/" in refused.err
    assert "voucher ledger mark-gap" in refused.err
    assert issued.twice() == []
    where = run[4:6]
    checked = desk.voucher("history", "9990000000001", *where)
    assert (checked.code, "was put back" in checked.err) == (0, True)
    nothing = desk.voucher("ledger", "mark-gap", "--nothing-missing", *where, "--why", "it looks well")
    assert nothing.code == 2
    assert "was put back" in nothing.err
    assert desk.voucher("ledger", "mark-gap", *where, "--why", "put back").code == 0
    assert desk.voucher(*run).code == 2
    statement = desk.voucher("reconcile", "--statement", issued.statement, *run[2:])
    assert statement.code in (0, 1), statement.err
    closed = desk.voucher("ledger", "close-gap", *where, "--evidence", "statement")
    assert (closed.code, "has recorded nothing" in closed.err) == (0, False)
    assert "; charges held since as a statement showed them: " in closed.err
    assert desk.voucher(*run).code in (0, 1)
    assert issued.twice() == []
    assert len(issued.issued()) == 60


@pytest.mark.usefixtures("left")
def test_a_ledger_where_nobody_may_write_is_read_and_nothing_is_put_beside_it(desk: Any) -> None:
    kept = desk.folder / "kept"
    kept.mkdir()
    shutil.copy(desk.folder / "october.ledger", kept)
    kept.chmod(0o555)
    said = []
    try:
        for command in (("history", "9990000000001"), ("ledger", "check")):
            asked = [
                *without_privileges(),
                sys.executable,
                "-m",
                "pipeline",
                *command,
                "--ledger",
                "kept/october.ledger",
            ]
            ran = subprocess.run(asked, cwd=desk.folder, capture_output=True, text=True, check=False)
            said.append((ran.returncode, ran.stdout))
            assert "so that it may be an older copy" in ran.stderr
    finally:
        kept.chmod(0o755)
    (history, told), (check, looked) = said
    assert (history, "issued as" in told) == (0, True)
    assert (check, "6 issued" in looked) == (3, True)
    assert [left.name for left in kept.iterdir()] == ["october.ledger"]


@pytest.mark.usefixtures("left")
def test_a_backup_goes_into_a_folder_that_is_there(desk: Any) -> None:
    ran = desk.voucher("ledger", "backup", "nowhere/copy.ledger", "--ledger", "october.ledger")
    assert (ran.code, "there is no folder nowhere; create it" in ran.err) == (2, True)


def test_a_second_place_for_the_note_of_the_last_run_must_be_there(desk: Any, issued: Any) -> None:
    desk.environment["VOUCHER_WITNESS"] = "nowhere"
    refused = desk.voucher("issue", "all.xlsx", *ISSUE)
    assert (refused.code, "VOUCHER_WITNESS: there is no folder nowhere" in refused.err) == (2, True)
    looked = desk.voucher("ledger", "check", *ISSUE[2:4])
    assert (looked.code, "VOUCHER_WITNESS: there is no folder nowhere" in looked.err) == (3, True)
    (desk.folder / "nowhere").write_text("a file")
    assert len(issued.issued()) == 6


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.usefixtures("left")
def test_a_trials_ledger_never_becomes_a_real_one(desk: Any) -> None:
    desk.profile("https://carrier.invalid", name="real.toml")
    ran = desk.voucher(
        "ledger", "move-carrier", "--profile", "real.toml", "--ledger", "october.ledger", "--why", "go live"
    )
    assert ran.code == 2
    assert "ledger of a trial" in ran.err


@pytest.mark.slow
@pytest.mark.usefixtures("left")
def test_an_older_ledger_is_upgraded_by_the_first_run_and_says_so(desk: Any) -> None:
    old = desk.folder / "october.ledger"
    later = replace(desk, environment={next_version.LATER: "1"})
    before = old.read_bytes()
    checked = later.voucher("ledger", "check", "--ledger", old)
    assert (checked.code, f"version {VERSION}" in checked.out, "Sound" in checked.out) == (0, True, True)
    assert later.voucher("ledger", "export", "audit.xlsx", "--ledger", old).code == 0
    assert "issued" in later.voucher("history", "999-0000000001", "--ledger", old).out
    assert later.voucher("ledger", "backup", "b.ledger", "--ledger", old).code == 0
    assert old.read_bytes() == before  # looking changes nothing
    ran = later.voucher("issue", "first.xlsx", *ISSUE)
    assert (ran.code, "already_issued         6" in ran.err) == (0, True)
    assert f"upgraded from version {VERSION} to {VERSION + 1}" in ran.err
    refused = desk.voucher("issue", "first.xlsx", *ISSUE)
    assert refused.code == 2
    assert f"version is {VERSION + 1}, this program's {VERSION}; update the program" in refused.err
    copy = desk.folder / f"october.ledger.version-{VERSION}"
    marked = desk.voucher("ledger", "check", "--ledger", copy)
    assert (marked.code, "(it is a copy made before an upgrade); nothing is sent" in marked.out) == (3, True)
    for at, name in enumerate((copy, "b.ledger")):
        place = desk.folder / f"later-{at}"
        place.mkdir()
        (desk.folder / name).rename(place / old.name)
        again = later.voucher("issue", "all.xlsx", *ISSUE[:3], place / old.name, *ISSUE[4:])
        assert (again.code, "may lack what was issued after" in again.err) == (2, True)


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


@pytest.mark.usefixtures("left")
def test_a_real_carriers_ledger_never_becomes_a_trials(desk: Any) -> None:
    other = desk.folder / "real.ledger"
    desk.profile("https://carrier.invalid", name="real.toml")
    for box in ("in", "out"):
        (desk.folder / box).mkdir()
    boxes = (
        "--inbox",
        "in",
        "--outbox",
        "out",
    )  # with nothing in it: the ledger is begun, and nobody is asked
    made = desk.voucher(
        "reconcile", *boxes, "--profile", "real.toml", "--ledger", other, "--new-ledger", *ISSUE[4:]
    )
    assert made.code == 0, made.err
    for trial in (["--profile", "carrier.toml"], ["--profile", "real.toml", "--sandbox"]):
        ran = desk.voucher("ledger", "move-carrier", *trial, "--ledger", other, "--why", "x")
        assert ran.code == 2
        assert "ledger of a real carrier" in ran.err
    assert "carrier.invalid" in desk.voucher("ledger", "check", "--ledger", other).out


@pytest.mark.slow
def test_a_move_to_an_address_that_has_a_ledger_changes_nothing(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any
) -> None:
    book = workbook(tickets(2))
    run = ("issue", book, "--profile", "carrier.toml", "--as-of", "2026-11-20")
    found = []
    # The second time the carrier, which is the same one, refuses what it issued already.
    for code, more in ((0, ()), (1, ("--new-ledger",))):
        with sandbox(book) as carrier:
            desk.profile(carrier.base_url)
            assert desk.voucher(*run, *more).code == code
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


@pytest.mark.usefixtures("left")
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


@pytest.mark.usefixtures("left")
def test_check_says_that_a_ledger_may_lack_something(desk: Any) -> None:
    marked = desk.voucher("ledger", "mark-gap", "--ledger", "october.ledger", "--why", "an older copy")
    assert marked.code == 0, marked.err  # since the last run that it knows
    ran = desk.voucher("check", "all.xlsx", *ISSUE)
    assert ran.code == 0
    assert "This ledger may lack what was issued after 20" in ran.err
    assert "close-gap" in ran.err


@pytest.mark.slow
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


@pytest.mark.usefixtures("left")
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


@pytest.mark.slow
@pytest.mark.usefixtures("left")
def test_a_backup_onto_a_full_disk_names_the_disk(desk: Any) -> None:
    command = "ulimit -f 80; exec python -m pipeline ledger backup full.ledger --ledger october.ledger"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", command], cwd=desk.folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 3
    assert "full.ledger: can't be written" in done.stderr
    assert not (desk.folder / "full.ledger").exists()


@pytest.mark.slow
def test_the_export_is_made_while_a_run_is_on_and_does_not_hold_it_up(desk: Any, issued: Any) -> None:
    slow = desk.begin("issue", "all.xlsx", *ISSUE, "--rate", "2")
    desk.during(slow, lambda: len(issued.issued()) >= 8)
    ran = desk.voucher("ledger", "export", "audit.xlsx", *ISSUE[:4])
    assert (ran.code, ran.out, ran.err) == (0, "", "Export: audit.xlsx\n")
    assert not slow.has_ended()
    slow.send_signal(signal.SIGINT)
    assert slow.end().code == 3
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


@pytest.mark.slow
@pytest.mark.usefixtures("left")
def test_an_export_takes_a_free_name_and_speaks_chinese(desk: Any) -> None:
    for name in ("audit.xlsx", "audit.2.xlsx"):
        ran = desk.voucher("ledger", "export", "audit.xlsx", *ISSUE[2:4], "--lang", "zh")
        assert (ran.code, ran.err) == (0, f"已导出：{name}\n")
    ran = desk.voucher("ledger", "export", "audit.csv", *ISSUE[2:4], "--lang", "zh")
    assert (ran.code, "名称须以 .xlsx 结尾" in ran.err) == (2, True)


@pytest.mark.slow
@pytest.mark.usefixtures("left")
def test_an_export_onto_a_full_disk_names_the_disk_and_leaves_nothing(desk: Any) -> None:
    command = "ulimit -f 80; exec python -m pipeline ledger export full.xlsx --ledger october.ledger"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", command], cwd=desk.folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 3
    assert "full.xlsx: can't be written" in done.stderr
    assert not (desk.folder / "full.xlsx").exists()
    assert not list(desk.folder.glob(".voucher-*"))


@pytest.mark.slow
def test_another_port_or_name_of_a_carrier_on_loopback_begins_no_second_ledger(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any
) -> None:
    book = workbook(tickets(2))
    run = ("issue", book, "--profile", "carrier.toml", "--as-of", "2026-11-20")
    with sandbox(book) as carrier:
        desk.profile(carrier.base_url)
        assert desk.voucher(*run).code == 0
        (first,) = (desk.folder / ".local/share/voucher-pipeline").glob("*.ledger")
        desk.profile(carrier.base_url.replace("127.0.0.1", "localhost"))
        for where in ((), ("--ledger", "other.ledger")):
            refused = desk.voucher(*run, *where)
            assert refused.code == 2
            found = first.relative_to(desk.folder)  # the line is long, and says it from the working folder
            assert f"{found} may be of the same carrier ({carrier.base_url} as agency AGENCY)" in refused.err
            assert "--new-ledger" in refused.err
        assert len(carrier.issued()) == 2
        trial = desk.voucher(*run, "--ledger", "trial.ledger", "--sandbox")
        assert trial.code == 0, trial.err
        begun = desk.voucher(*run, "--ledger", "other.ledger", "--new-ledger")
        assert "other.ledger" in begun.err
        assert (desk.folder / "other.ledger").exists()
        again = desk.voucher(*run, "--ledger", "other.ledger")
        assert again.code == begun.code, "one that was begun is asked about no more"


def test_a_first_ledger_of_a_carrier_that_is_not_on_loopback_is_asked_for(
    desk: Any, workbook: Any, tickets: Any
) -> None:
    profile = desk.profile("https://carrier.invalid")
    refused = desk.voucher("issue", workbook(tickets(1)), "--profile", profile, *ISSUE[2:])
    assert (refused.code, "say --new-ledger" in refused.err) == (2, True)
    assert not (desk.folder / "october.ledger").exists()


def test_no_first_ledger_is_begun_by_itself_in_a_folder_that_is_not_there(
    desk: Any, workbook: Any, tickets: Any
) -> None:
    profile = desk.profile("http://127.0.0.1:9")  # on loopback, where one is begun elsewhere
    run = ("issue", workbook(tickets(1)), "--profile", profile, "--ledger", "disk/books/o.ledger", *ISSUE[4:])
    refused = desk.voucher(*run)
    assert (refused.code, "say --new-ledger" in refused.err) == (2, True)
    assert not (desk.folder / "disk").exists()


def test_no_second_ledger_is_begun_by_itself_where_one_lay(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any
) -> None:
    """As where a disk is not mounted: the folder that it is mounted at is there, and empty."""
    book = workbook(tickets(2))
    (desk.folder / "disk").mkdir()
    with sandbox(book) as carrier:
        profile = desk.profile(carrier.base_url)
        run = ("issue", book, "--profile", profile, "--ledger", "disk/o.ledger", *ISSUE[4:])
        assert desk.voucher(*run).code == 0
        (desk.folder / "disk").rename(desk.folder / "unmounted")
        (desk.folder / "disk").mkdir()
        refused = desk.voucher(*run)
        assert refused.code == 2
        assert "disk/o.ledger: there is no ledger any more, though one lay there" in refused.err
        assert "mount its disk, then run again" in refused.err
        checked = desk.voucher("check", *run[1:6], *ISSUE[4:])
        assert (checked.code, "there is no ledger any more" in checked.err) == (2, True)
        assert [*(desk.folder / "disk").iterdir()] == []
        (desk.folder / "disk").rmdir()
        (desk.folder / "unmounted").rename(desk.folder / "disk")
        assert desk.voucher(*run).code == 0
        assert len(carrier.issued()) == 2


@pytest.mark.slow
def test_a_sandbox_run_of_its_own_leaves_no_note_of_itself(desk: Any, workbook: Any, tickets: Any) -> None:
    desk.environment["XDG_STATE_HOME"] = str(desk.folder / "state")
    assert desk.voucher("issue", workbook(tickets(1)), "--sandbox", *ISSUE[4:]).code in (0, 1)
    assert not (desk.folder / "state").exists()


@pytest.mark.usefixtures("left")
def test_nothing_missing_closes_no_gap(desk: Any) -> None:
    assert desk.voucher("ledger", "backup", "b.ledger", *ISSUE[2:4]).code == 0
    said = desk.voucher(
        "ledger", "mark-gap", "--nothing-missing", "--ledger", "b.ledger", "--why", "it looks well"
    )
    assert said.code == 2
    assert "has a gap, which only the carrier's statement can close: voucher ledger close-gap" in said.err
    assert "Gap: it may lack" in desk.voucher("ledger", "check", "--ledger", "b.ledger").out
