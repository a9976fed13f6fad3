"""Itinerary files that are brought to the page settle what they prove, and are kept."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.page.visitor import Role
from tests.acceptance.conftest import Desk
from tests.acceptance.office import LOST_AFTER
from tests.acceptance.page.test_afterwards import done
from tests.acceptance.page.test_month_on_page import upload
from tests.acceptance.page.visiting import Served, serving

TICKET = "9990000000001"


@pytest.fixture
def mailed(
    desk: Desk, sandbox: Callable[..., Any], workbook: Callable[..., Path], tickets: Callable[..., Any]
) -> Iterator[Served]:
    """A page whose ledger has an unknown outcome, and the mails of the carrier's provider."""
    book = workbook(tickets(2))
    with sandbox(
        book, faults=f"{LOST_AFTER}requests = [1]\n", more=["--deliver-to", desk.folder / "mails"]
    ) as carrier:
        profile = desk.profile(carrier.base_url, concurrency=1)
        ledger = desk.folder / "page-test.ledger"
        ran = desk.voucher("issue", book, "--profile", profile, "--ledger", ledger, "--as-of", "2026-11-20")
        assert ran.code == 4, ran.err
    with serving(desk, "--profile", profile, people={"anna": Role.APPROVER}, sandbox=False) as page:
        yield page


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_files_that_are_brought_settle_and_are_kept(desk: Desk, mailed: Served, lang: str) -> None:
    mails = sorted((desk.folder / "mails").glob("*.eml"))
    assert len(mails) == 2
    anna = mailed.logged_in("anna")
    anna.headers = {"Accept-Language": lang}
    came = done(anna, upload(anna, "/reconcile", *mails, page="/reconcile", name="evidence")).said
    assert ("Itinerary files: 2 received" if lang == "en" else "行程单文件：2 已收到") in came
    assert ("1 issued, 0 not issued" if lang == "en" else "1 项已开具，0 项未开具") in came
    assert "itinerary file received" in desk.voucher("history", TICKET, "--ledger", "page-test.ledger").out
    assert len([*(desk.folder / "page-test.ledger.itineraries").rglob("*.ofd")]) == 2
    (desk.folder / "notes.txt").write_text("nothing of ours")
    refused = upload(anna, "/reconcile", desk.folder / "notes.txt", page="/reconcile", name="evidence")
    assert refused.status == 415
