"""Without a profile no carrier is made up: nothing is sent, and nobody's ledger is taken for its own."""

from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import write_workbook

COMMANDS = [
    ("issue", "t.xlsx"),
    ("issue", "t.xlsx", "--ledger", "L", "--new-ledger"),
    ("reconcile", "t.xlsx"),
    ("reconcile", "--month", "2026-10"),
    ("history", "9991234567890"),
    ("ledger", "check"),
    ("ledger", "move-carrier", "--why", "new"),
]

#: What is named to whoever has no profile.
WAYS_OUT = ("voucher profile new PATH", "voucher profile check", "--sandbox")


def _left(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("profile", ["", '[carrier]\nagency = "AGENCY"\n'], ids=["none", "no address"])
def test_what_needs_a_carrier_says_how_to_name_one(desk: Any, command: tuple[str, ...], profile: str) -> None:
    write_workbook(desk.folder / "t.xlsx", [{}])
    more: tuple[str, ...] = ()
    if profile:
        (desk.folder / "p.toml").write_text(profile)
        more = ("--profile", "p.toml")
    before = _left(desk.folder)
    ran = desk.voucher(*command, *more)
    assert (ran.code, len(ran.err.splitlines())) == (2, 1), ran.err
    assert "no carrier is named" in ran.err
    assert "--profile" in ran.err
    assert "base_url" in ran.err
    assert all(way in ran.err for way in WAYS_OUT)
    assert _left(desk.folder) == before


def test_a_check_judges_without_one_and_says_what_it_does_not_see(desk: Any) -> None:
    write_workbook(desk.folder / "t.xlsx", [{"charge": "refund", "ticket_status": "refunded", "voucher": "invoice",
                                             "refund_approved_on": "2026-10-02"}])  # fmt: skip
    ran = desk.voucher("check", "t.xlsx", "--as-of", "2026-11-20")
    assert ran.code == 0, ran.err
    assert "no ledger is looked at" in ran.err
    assert "no ledger yet" not in ran.err
    assert all(way in ran.err for way in WAYS_OUT)
    assert _left(desk.folder) == ["t.xlsx"]


@pytest.mark.slow
def test_a_sandbox_and_a_ledger_that_is_named_need_none(desk: Any, sandbox: Any, workbook: Any) -> None:
    book = workbook([{}])
    assert desk.voucher("issue", book, "--sandbox", "--as-of", "2026-11-20").code == 0
    with sandbox(book) as carrier:
        common = ("--ledger", "L", "--as-of", "2026-11-20")
        ran = desk.voucher("issue", book, "--profile", desk.profile(carrier.base_url), *common)
        assert ran.code == 0, ran.err
    desk.voucher("check", book, *common, "--report", "r.json")
    assert [row["status"] for row in desk.report("r.json")["rows"]] == ["already_issued"]
    assert "999-1234567890" in desk.voucher("history", "9991234567890", "--ledger", "L").out
