"""What comes after a month on the page: unknown outcomes answered, statements, the register, histories, deadlines, runs, the ledger."""

import contextlib
import datetime
import hashlib
import os
import re
import time
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import openpyxl
import pytest

from pipeline.ledger.in_use import InUse
from pipeline.ledger.lock import Lock
from pipeline.messages.translate import heading
from pipeline.page.page_database import transaction
from pipeline.page.visitor import Role
from tests.acceptance.conftest import Desk, Sandbox, write_workbook
from tests.acceptance.office import LOST_AFTER, LOST_BEFORE, TODAY
from tests.acceptance.page.test_month_on_page import judged, settled, totals, upload
from tests.acceptance.page.visiting import Answer, Served, Visit, serving

PEOPLE = {"vera": Role.VIEWER, "peter": Role.PREPARER, "anna": Role.APPROVER, "adam": Role.ADMINISTRATOR}
TICKET = "9990000000001"


@dataclass
class After:
    """A page whose ledger has vouchers and two unknown outcomes: the carrier issued the first of them, and not the second."""

    page: Served
    carrier: Sandbox
    desk: Desk
    common: tuple[str | Path, ...]

    def visit(self, name: str, lang: str = "en") -> Visit:
        visit = self.page.logged_in(name)
        visit.headers = {"Accept-Language": lang}
        return visit

    def issued_number(self, ticket: str) -> str:
        (number,) = {line["number"] for line in self.carrier.issued() if line["ticket_no"] == ticket}
        return number

    def history(self, ticket: str) -> str:
        """What the command says of a ticket."""
        return self.desk.voucher("history", ticket, *self.common).out


@pytest.fixture
def after(
    desk: Desk, sandbox: Callable[..., Any], workbook: Callable[..., Path], tickets: Callable[..., Any]
) -> Iterator[After]:
    book = workbook(tickets(4))
    faults = f"{LOST_AFTER}requests = [1]\n{LOST_BEFORE}requests = [2]\n"
    with sandbox(book, faults=faults) as carrier:
        profile = desk.profile(carrier.base_url, more="[reconcile]\nsettle_after_hours = 0\n", concurrency=1)
        common = ("--profile", profile, "--ledger", desk.folder / "page-test.ledger")
        ran = desk.voucher("issue", book, *common, "--as-of", "2026-11-20")
        assert ran.code == 4, ran.err
        with serving(desk, "--profile", profile, people=PEOPLE, sandbox=False) as page:
            yield After(page, carrier, desk, common)


def unknowns(visit: Visit) -> dict[str, dict[str, str]]:
    """The hidden fields of each form, by the ticket in it."""
    page = visit.get("/unknown").text
    found = {}
    for section in page.split('<section class="card"')[1:]:
        ticket = re.search(r"/tickets/(\d{13})", section)
        hidden = dict(re.findall(r'type="hidden" name="(ledger|request|attempt)" value="([^"]*)"', section))
        if ticket:
            found[ticket[1]] = hidden
    return found


def done(visit: Visit, answer: Answer) -> Answer:
    """The page of what was begun, when it has ended."""
    assert answer.status == 303, answer.said
    deadline = time.monotonic() + 60
    while "data-live" in (page := visit.get(answer.location)).text:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return page


def answering(visit: Visit, ticket: str, *files: Path, **said: str) -> Answer:
    given = {"resolution": "not issued", "number": "", "who": "Ms Li", "evidence": "telephone", **said}
    return upload(visit, "/unknown", *files, page="/unknown", name="file", **unknowns(visit)[ticket], **given)


@pytest.mark.slow
def test_an_unknown_outcome_is_answered_with_who_says_so_and_a_file(after: After, tmp_path: Path) -> None:
    anna, vera = after.visit("anna"), after.visit("vera")
    first, second = sorted(unknowns(anna))
    assert (first, second) == (TICKET, "9990000000002")
    assert "resolution" not in vera.get("/unknown").text
    letter = tmp_path / "letter <1>.pdf"
    letter.write_bytes(b"%PDF issued")
    number = after.issued_number(first)
    answer = answering(anna, first, letter, resolution="issued", number=f" {number} ", evidence="her letter")
    came = done(anna, answer).said
    assert "1 issued, 0 not issued" in came
    assert "--resolved" not in came
    told = after.history(first)
    assert f"settled as issued under {number} by Ms Li (anna): said on the page: her letter; letter" in told
    assert hashlib.sha256(b"%PDF issued").hexdigest() in told
    kept = [path for path in (after.page.folder / "evidence").rglob("*") if path.is_file()]
    assert [(path.read_bytes(), path.stat().st_mode & 0o777) for path in kept] == [(b"%PDF issued", 0o600)]

    assert [*unknowns(anna)] == [second]
    done(anna, answering(anna, second))
    assert "settled as not issued by Ms Li (anna): said on the page: telephone" in after.history(second)
    assert "There is none" in anna.get("/unknown").said


@pytest.mark.slow
def test_what_was_settled_shows_in_every_month_that_was_in_doubt(after: After) -> None:
    anna = after.visit("anna")
    month = judged(anna, after.desk.folder / "tickets.xlsx")
    assert totals(anna.get(month))["unknown"] == 2
    number = after.issued_number(TICKET)
    done(anna, answering(anna, TICKET, resolution="issued", number=number))
    page = anna.until(month, lambda answer: totals(answer).get("unknown") == 1)
    assert totals(page)["already_issued"] == 3


@pytest.mark.slow
def test_an_answer_that_contradicts_what_stands_is_told_and_changes_nothing(after: After) -> None:
    anna = after.visit("anna")
    fields = unknowns(anna)[TICKET]
    done(anna, answering(anna, TICKET))
    before = after.history(TICKET)
    given = {"resolution": "issued", "number": "20260000000000000001", "who": "Wang", "evidence": "mail"}
    answer = upload(anna, "/unknown", page="/reconcile", name="file", **fields, **given)
    assert "is not unknown any more: it is not issued" in done(anna, answer).said
    assert after.history(TICKET) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"resolution": ""}, "Say whether it was issued or not"),
        ({"resolution": "issued"}, "the voucher's number is needed"),
        ({"number": "1234567890"}, "clear one of them"),
        ({"who": ""}, "says so"),
        ({"evidence": ""}, "Say what shows it"),
        ({"attempt": "x"}, "not as it was shown"),
    ],
)
def test_an_answer_that_lacks_something_is_none(after: After, said: dict[str, str], words: str) -> None:
    anna = after.visit("anna")
    given = {**unknowns(anna)[TICKET], "resolution": "not issued", "who": "Li", "evidence": "tel.", **said}
    answer = upload(anna, "/unknown", page="/unknown", name="file", **given)
    assert answer.status == 400
    assert words in answer.said
    assert len(unknowns(anna)) == 2


@pytest.mark.slow
def test_only_an_approver_answers_and_reconciles(after: After) -> None:
    peter = after.visit("peter")
    assert peter.submit("/account", "/unknown", resolution="not issued").status == 403
    assert peter.submit("/account", "/reconcile").status == 403


@pytest.mark.slow
def test_statements_and_answered_results_are_told_apart_and_weighed(after: After) -> None:
    anna = after.visit("anna", "zh")
    listed = after.desk.folder / "march.csv"
    listed.write_bytes(after.carrier.statement.read_bytes())
    before = len(after.carrier.issued())
    answer = upload(
        anna, "/reconcile", listed, page="/reconcile", name="evidence",
        **{"from": f"{TODAY - datetime.timedelta(days=1)}", "to": f"{TODAY}"},
    )  # fmt: skip
    came = done(anna, answer)
    assert "已开具" in came.said
    link = re.search(r'href="(/reconcile/\d+/[^"]+\.xlsx)"', came.text)
    assert link, came.said
    book = openpyxl.load_workbook(BytesIO(anna.get(link[1]).body))
    assert "Agreed" in book.sheetnames
    assert [*unknowns(anna)] == ["9990000000002"]
    assert len(after.carrier.issued()) == before, "a reconciliation on the page sends nothing"
    # The workbook's Unknown sheet, answered, is brought back.
    sheet = book["Unknown"]
    at = {cell.value: cell.column for cell in sheet[1]}
    for name, text in {"resolution": "not issued", "resolved_by": "Wang", "evidence": "mail"}.items():
        sheet.cell(2, at[heading(name, "zh")], text)
    book.save(after.desk.folder / "answered.xlsx")
    answer = upload(
        anna, "/reconcile", after.desk.folder / "answered.xlsx", page="/reconcile", name="evidence"
    )
    done(anna, answer)
    assert unknowns(anna) == {}
    assert "settled as not issued by Wang: answered.xlsx, Unknown, row 2: mail" in after.history(
        "9990000000002"
    )


@pytest.mark.slow
def test_tickets_are_no_evidence_and_half_a_period_is_none(after: After) -> None:
    anna = after.visit("anna")
    book = after.desk.folder / "tickets.xlsx"
    answer = upload(anna, "/reconcile", book, page="/reconcile", name="evidence")
    assert "is neither a statement" in done(anna, answer).said
    answer = upload(anna, "/reconcile", book, page="/reconcile", name="evidence", **{"from": "2026-11-01"})
    assert (answer.status, "both the first and the last" in answer.said) == (400, True)


@pytest.mark.slow
def test_the_register_is_downloaded_whole_split_and_masked(after: After) -> None:
    vera = after.visit("vera")
    page = vera.get("/register")
    assert 'data-action="download-register"' in page.text
    whole = vera.get("/register/download")
    assert whole.headers["Content-Disposition"].startswith("attachment")
    told = [
        str(cell.value)
        for sheet in openpyxl.load_workbook(BytesIO(whole.body))
        for row in sheet.iter_rows()
        for cell in row
    ]
    assert {"9990000000003", "Acme Trading Co."} <= {*told}
    masked = vera.get(f"/register/download?masked=1&month={TODAY:%Y-%m}")
    told = [
        str(cell.value)
        for sheet in openpyxl.load_workbook(BytesIO(masked.body))
        for row in sheet.iter_rows()
        for cell in row
    ]
    assert "Acme Trading Co." not in told
    split = vera.get("/register/download?split=1")
    assert zipfile.ZipFile(BytesIO(split.body)).namelist()
    empty = vera.get("/register/download?month=2020-01")
    assert "The ledger has no voucher of 2020-01" in vera.get(empty.location).said
    assert vera.get("/register/download?month=../x").status == 400
    assert vera.get("/register/1/..%2f1.lock").status == 404


@pytest.mark.slow
@pytest.mark.parametrize(("lang", "said"), [("en", "issued as"), ("zh", "已开具")])
def test_a_tickets_history_is_found_by_its_number(after: After, lang: str, said: str) -> None:
    vera = after.visit("vera", lang)
    assert vera.get("/tickets?number=999-0000000003").location == "/tickets/9990000000003"
    assert vera.get("/tickets/999-0000000003").location == "/tickets/9990000000003"
    page = vera.get("/tickets/9990000000003")
    assert said in page.said
    assert re.findall(r'data-event="(\w+)"', page.text)[-1] == "issued"
    assert vera.get("/tickets/9990000009999").status == 200
    assert vera.get("/tickets/12").status == 404
    assert vera.get("/tickets?number=%3Cb%3E").status == 404


@pytest.mark.slow
def test_runs_are_shown_with_how_they_ended_and_who_did_what_on_the_page(after: After) -> None:
    anna = after.visit("anna")
    done(anna, answering(anna, TICKET))
    page = after.visit("vera").get("/runs")
    assert re.findall(r'data-run="(\d+)"', page.text) == ["2", "1"]
    assert "anna reconciliation" in page.said
    assert "reconciliation begun: anna" in page.said, "as the ledger has it"
    assert "tickets.xlsx" in page.said


@pytest.mark.slow
def test_the_ledger_is_looked_over_copied_and_its_gap_marked_and_closed(after: After, tmp_path: Path) -> None:
    adam = after.visit("adam")
    checked = done(adam, adam.submit("/ledger", "/ledger/check"))
    assert "Sound: nothing is wrong with it" in checked.said
    made = done(adam, adam.submit("/ledger", "/ledger/backup"))
    link = re.search(r'href="(/ledger/\d+/[^"]+\.ledger)"', made.text)
    assert link
    assert after.visit("anna").get(link[1]).status == 403
    copy = tmp_path / "copy.ledger"
    copy.write_bytes(adam.get(link[1]).body)
    ran = after.desk.voucher("ledger", "check", "--ledger", copy)
    assert "it is a backup" in ran.out
    assert ran.code == 3

    since = f"{datetime.datetime.now(ZoneInfo('Asia/Shanghai')):%Y-%m-%dT%H:%M}"
    marked = adam.submit("/ledger", "/ledger/gap", step="mark", why="a copy was put back", since=since)
    assert "nothing is sent until" in done(adam, marked).said
    assert "a copy was put back (adam)" in after.visit("vera").get("/unknown").said
    refused = done(adam, adam.submit("/ledger", "/ledger/gap/close", evidence="the statement of today"))
    assert "No statement was reconciled with since the gap was found" in refused.said
    assert "Nothing was changed" in refused.said
    closed = adam.submit("/ledger", "/ledger/gap/close", evidence="the statement of today", anyway="1")
    assert "may be used for sending again" in done(adam, closed).said
    assert adam.submit("/ledger", "/ledger/gap", step="mark", why=" ").status == 400


@pytest.mark.slow
def test_the_last_days_of_all_months_are_shown_with_their_rows(after: After) -> None:
    peter = after.visit("peter")
    flown = TODAY - datetime.timedelta(days=170)
    rows = [
        {"ticket_no": f"999000000{number:04}", "flight_date": f"{flown}", "voucher": "itinerary"}
        for number in (71, 72)
    ]
    month = judged(peter, write_workbook(after.desk.folder / "later.xlsx", rows))
    page = after.visit("vera").get("/deadlines")
    day = f"{TODAY + datetime.timedelta(days=10)}"
    assert re.findall(r'data-last-day="([^"]+)"', page.text) == [day]
    assert f"{day} 10 later.xlsx 2 2,000.00" in page.said
    link = re.search(rf'href="({month}/rows\?day={day})"', page.text)
    assert link
    assert "2 rows" in peter.get(link[1]).said
    settled(peter, month)


@pytest.mark.slow
def test_evidence_that_is_brought_while_the_ledger_is_used_waits_and_is_weighed(after: After) -> None:
    anna = after.visit("anna")
    first, second = sorted(unknowns(anna))
    listed = after.desk.folder / "march.csv"
    listed.write_bytes(after.carrier.statement.read_bytes())
    with contextlib.closing(Lock(after.page.ledger)) as held:
        held.used_by(InUse("peter", "2026-11-20T01:00:00+00:00", on_page=True, process=os.getpid()))
        with ThreadPoolExecutor() as both:  # each is waited for by the server for some seconds
            begun = [
                both.submit(answering, anna, second),
                both.submit(upload, anna, "/reconcile", listed, page="/reconcile", name="evidence"),
            ]
        brought = [one.result() for one in begun]
        waiting = anna.until(brought[0].location, lambda page: "what was brought is kept" in page.said)
        assert "by peter, on the page, since" in waiting.said
        assert sorted(unknowns(anna)) == [first, second]
    for answer in brought:
        done(anna, answer)
    assert unknowns(anna) == {}


@pytest.mark.slow
def test_of_evidence_that_could_not_be_taken_nothing_stays_behind(after: After) -> None:
    anna = after.visit("anna")
    with transaction(after.page.folder) as connection:
        connection.execute("CREATE TRIGGER full BEFORE INSERT ON work BEGIN SELECT raise(ABORT, 'no'); END")
    try:
        listed = after.desk.folder / "march.csv"
        listed.write_bytes(after.carrier.statement.read_bytes())
        answer = upload(anna, "/reconcile", listed, page="/reconcile", name="evidence")
        assert answer.status == 409
    finally:
        with transaction(after.page.folder) as connection:
            connection.execute("DROP TRIGGER full")
    assert [*(after.page.folder / "evidence").rglob("*")] == []
