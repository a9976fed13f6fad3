"""`voucher user ...`, and the first account at the first start."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.page import accounts
from pipeline.page.visitor import Role
from tests.acceptance.conftest import Desk
from tests.acceptance.page.visiting import PASSWORD, add_accounts, made_certificate, page_folder

OTHER = "quite other words, as many"


@pytest.fixture
def ledger(desk: Desk) -> Path:
    return desk.folder / "office.ledger"


def told(desk: Desk, typed: str, *arguments: str | Path) -> tuple[int, str, str]:
    """Run `voucher user` with a line on stdin; its exit code, stdout and stderr."""
    command = [
        sys.executable,
        "-m",
        "pipeline",
        "user",
        *map(str, arguments),
        "--ledger",
        str(desk.folder / "office.ledger"),
    ]
    ran = subprocess.run(
        command,
        check=False,
        input=typed,
        env=desk.environ(),
        cwd=desk.folder,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return ran.returncode, ran.stdout, ran.stderr


@pytest.mark.slow
def test_the_life_of_an_account(desk: Desk, ledger: Path) -> None:
    code, out, err = told(desk, f"{PASSWORD}\n", "add", "张伟", "--role", "administrator")
    assert (code, out) == (0, "")
    assert "张伟 may log in now, as administrator" in err
    assert (
        told(desk, PASSWORD, "add", "li.na", "--role", "preparer", "--lang", "zh")[2]
        == "li.na 现在可以登录，角色为 经办人\n"
    )
    _, out, _ = told(desk, "", "list")
    assert out.splitlines() == [
        "li.na: preparer, last login: never",
        "张伟: administrator, last login: never",
    ]
    folder = page_folder(ledger)
    assert accounts.with_password(folder, "张伟", PASSWORD)
    assert told(desk, f"{OTHER}\r\n", "password", "LI.NA")[0] == 0
    assert accounts.with_password(folder, "li.na", OTHER)
    accounts.connected(folder).execute("UPDATE account SET last_login = 1763600000.0")
    assert "li.na: preparer, last login: 2025-11-20 08:53" in told(desk, "", "list")[1]
    assert told(desk, "", "remove", "li.na")[0] == 0
    assert [account.name for account in accounts.all_accounts(folder)] == ["张伟"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "arguments", "said"),
    [
        ("", ("add", "anna", "--role", "viewer"), "give it as a line on stdin"),
        ("short\n", ("add", "anna", "--role", "viewer"), "12 to 128 characters"),
        (PASSWORD, ("add", "a\u202eb", "--role", "viewer"), "can't be seen"),
        (PASSWORD, ("add", "anna", "--role", "king"), "king"),
        (PASSWORD, ("add", "anna"), "--role"),
        (PASSWORD, ("add", "Adam", "--role", "viewer"), "there is such an account already"),
        (PASSWORD, ("password", "nobody"), "no such account"),
        ("", ("remove", "nobody"), "no such account"),
        ("", ("remove", "adam"), "last administrator"),
    ],
)
def test_what_can_not_be_done_is_said_and_done_is_nothing(
    desk: Desk, ledger: Path, typed: str, arguments: tuple[str, ...], said: str
) -> None:
    add_accounts(page_folder(ledger), adam=Role.ADMINISTRATOR, vera=Role.VIEWER)
    code, out, err = told(desk, typed, *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err
    assert [account.name for account in accounts.all_accounts(page_folder(ledger))] == ["adam", "vera"]


@pytest.mark.slow
def test_where_nobody_has_an_account_the_list_is_empty_and_makes_nothing(desk: Desk, ledger: Path) -> None:
    assert told(desk, "", "list") == (0, "", "")
    assert told(desk, "", "remove", "anna")[0] == 2
    assert not page_folder(ledger).exists()


def dialog(desk: Desk, answers: Sequence[tuple[str, str]], *arguments: str | Path) -> tuple[int, str]:
    """Run a command at a terminal, answering each question when it is asked ("": SIGTERM); its exit code, and what it showed."""
    ours, theirs = pty.openpty()
    there = replace(desk, environment={**desk.environment, "TERM": "xterm", "COLUMNS": "150"})
    run = there.begin(*arguments, terminal=os.ttyname(theirs))
    shown, at, deadline = "", 0, time.monotonic() + 30
    left = list(answers)
    while (not run.has_ended() or select.select([ours], [], [], 0)[0]) and time.monotonic() < deadline:
        if select.select([ours], [], [], 0.05)[0]:
            shown += os.read(ours, 65536).decode()
        if left and left[0][0] in shown[at:]:
            at = len(shown)
            time.sleep(0.1)  # what is typed before the echo is off is thrown away
            _, answer = left.pop(0)
            if answer:
                os.write(ours, f"{answer}\n".encode())
            else:
                run.send_signal(signal.SIGTERM)
    if left:
        run.send_signal(signal.SIGKILL)
    code = run.wait()
    for end in (ours, theirs):
        os.close(end)
    assert not left, shown
    return code, shown


@pytest.mark.slow
def test_a_password_is_asked_for_twice_and_not_shown(desk: Desk, ledger: Path) -> None:
    asked, again = "Password for anna", "The same again"
    answers = [
        (asked, "short"),
        (again, "short"),
        (asked, PASSWORD),
        (again, OTHER),
        (asked, PASSWORD),
        (again, PASSWORD),
    ]
    code, shown = dialog(desk, answers, "user", "add", "anna", "--role", "viewer", "--ledger", ledger)
    assert code == 0, shown
    assert accounts.with_password(page_folder(ledger), "anna", PASSWORD)
    assert "12 to 128 characters" in shown
    assert PASSWORD not in shown
    assert OTHER not in shown


@pytest.mark.slow
def test_the_first_start_for_the_office_asks_for_the_first_administrator(desk: Desk, ledger: Path) -> None:
    pem, key = made_certificate(desk.folder, "page")
    answers = [
        ("Name", "adam"),
        ("Password for adam", PASSWORD),
        ("The same again", PASSWORD),
        ("served on", ""),
    ]
    code, shown = dialog(
        desk,
        answers,
        "serve",
        "--sandbox",
        "--listen",
        "0.0.0.0:0",
        "--certificate",
        pem,
        "--key",
        key,
        "--ledger",
        ledger,
    )
    assert code == 0, shown
    assert "Nobody has an account yet" in shown
    assert re.search(r"served on https://pay.office:\d+", shown)
    [adam] = accounts.all_accounts(page_folder(ledger))
    assert (adam.name, adam.role) == ("adam", Role.ADMINISTRATOR)


def test_the_keys_are_needed_for_a_real_carrier_and_never_told(desk: Desk, ledger: Path) -> None:
    profile = desk.profile("http://127.0.0.1:1")
    without = replace(desk, environment={"VOUCHER_API_KEY": "", "VOUCHER_ENCRYPTION_KEY": ""})
    ran = without.voucher("serve", "--profile", profile, "--ledger", ledger, "--listen", "127.0.0.1:0")
    assert ran.code == 2
    assert "VOUCHER_API_KEY" in ran.err
    ran = desk.voucher("serve", "--ledger", ledger)
    assert ran.code == 2
    assert "no carrier is named" in ran.err
