"""A month on the page, from its files to its vouchers: judged, corrected, sent, stopped, and gone on with after a kill."""

import datetime
import os
import re
import signal
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from pipeline.page import month_corrections, months, work
from pipeline.page.page_database import transaction
from pipeline.page.visitor import Role
from pipeline.page.work_turn import process_of
from tests.acceptance.conftest import REPOSITORY, Desk, write_workbook
from tests.acceptance.page.visiting import Answer, Served, Visit, serving

SAMPLE = REPOSITORY / "sample_data" / "tickets-2026-10-zh.xlsx"
DEMONSTRATION = ("--profile", REPOSITORY / "sample_data" / "sandbox.toml", "--as-of", "2026-11-20")
PEOPLE = {"peter": Role.PREPARER, "anna": Role.APPROVER, "amy": Role.APPROVER}


def upload(
    visit: Visit, path: str, *files: Path, page: str = "/", name: str = "workbooks", **fields: str
) -> Answer:
    """Send files by a form, in its field of this name."""
    mark = uuid.uuid4().hex
    parts = [
        f'--{mark}\r\nContent-Disposition: form-data; name="{one}"\r\n\r\n{value}\r\n'.encode()
        for one, value in {"csrf": visit.get(page).csrf, **fields}.items()
    ]
    for file in files:
        head = f'--{mark}\r\nContent-Disposition: form-data; name="{name}"; filename="{file.name}"\r\n\r\n'
        parts.append(head.encode() + file.read_bytes() + b"\r\n")
    body = b"".join(parts) + f"--{mark}--\r\n".encode()
    return visit.ask("POST", path, body, Content_Type=f"multipart/form-data; boundary={mark}")


def state(page: Answer) -> str:
    found = re.search(r'<main[^>]* data-state="(\w+)"', page.text)
    assert found, page.said
    return found[1]


def totals(page: Answer) -> dict[str, int]:
    return {status: int(rows) for status, rows in re.findall(r'data-total="(\w+)">(\d+)<', page.text)}


def actions(page: Answer) -> set[str]:
    return set(re.findall(r'data-action="([\w-]+)"', page.text))


def settled(visit: Visit, month: str, *during: str) -> Answer:
    """The month's page once it is in none of these states any more."""
    deadline = time.monotonic() + 60
    while state(page := visit.get(month)) in (during or ("reading", "sending")):
        assert time.monotonic() < deadline, page.said
        time.sleep(0.05)
    return page


def judged(visit: Visit, *files: Path) -> str:
    """A month of these files, judged."""
    answer = upload(visit, "/months", *files)
    assert answer.status == 303, answer.said
    settled(visit, answer.location)
    return answer.location


def digest(visit: Visit, page: str) -> str:
    found = re.search(r'name="digest" value="(\w+)"', visit.get(page).text)
    assert found
    return found[1]


def sent(visit: Visit, month: str) -> Answer:
    """Say yes to what would be sent."""
    answer = visit.submit(f"{month}/send", f"{month}/send", digest=digest(visit, f"{month}/send"))
    assert answer.status == 303, answer.said
    return answer


@pytest.fixture
def demonstration(desk: Desk) -> Iterator[Served]:
    with serving(desk, *DEMONSTRATION, people=PEOPLE) as page:
        yield page


@pytest.mark.slow
def test_the_sample_month_is_judged_corrected_sent_and_its_result_downloaded(demonstration: Served) -> None:
    anna = demonstration.logged_in("anna")
    month = judged(anna, SAMPLE)
    page = anna.get(month)
    assert state(page) == "checked"
    assert totals(page) == {"ready": 72, "invalid": 3, "ineligible": 5}
    assert {"send"} <= actions(page)

    failing = anna.get(f"{month}/rows?status=failing").text
    row = re.findall(r'data-row="(\d+)" data-column="ticket_no"', failing)[0]
    path = f"{month}/rows/{row}"
    answer = anna.submit(path, path, **{"cell.ticket_no": "9992437029999", "seen.ticket_no": "182412774069"})
    assert answer.status == 303
    page = settled(anna, month)
    assert totals(page) == {"ready": 73, "invalid": 2, "ineligible": 5}
    assert f'data-row-status="{row}" data-status="ready"' in anna.get(path).text

    sent(anna, month)
    page = settled(anna, month)
    assert state(page) == "sent"
    assert totals(page) == {"issued": 73, "invalid": 2, "ineligible": 5}
    link = re.search(r'data-action="download-result" href="([^"]+)"', page.text)
    assert link
    result = anna.get(link[1])
    assert result.headers["Content-Disposition"].startswith("attachment")
    book = openpyxl.load_workbook(BytesIO(result.body))
    numbers = {line[0]: line for line in book["Rows"].iter_rows(values_only=True)}
    assert len(numbers) > 1
    told = [cell.value for line in book["Rows"].iter_rows() for cell in line]
    assert "9992437029999" in told, "the correction is in the result"
    # What the carrier of the demonstration says of it can be had, and brought to the month.
    assert 'href="/reconcile/statement.csv"' in anna.get("/reconcile").text
    listed = demonstration.ledger.with_name("listed.csv")
    listed.write_bytes(anna.get("/reconcile/statement.csv").body)
    assert upload(anna, f"{month}/files", listed, page=month).status == 303
    page = anna.until(month, lambda answer: re.search(r'href="(/reconcile/\d+)"', answer.text))
    link = re.search(r'href="(/reconcile/\d+)"', page.text)
    assert link
    assert "Agreed" in anna.until(link[1], lambda answer: "data-live" not in answer.text).said
    # Judged again, nothing is left to be sent, and nothing is sent twice.
    anna.submit(month, f"{month}/judge")
    page = settled(anna, month)
    assert totals(page) == {"already_issued": 73, "invalid": 2, "ineligible": 5}
    assert "send" not in actions(page)


@pytest.mark.slow
def test_a_correction_never_replaces_what_somebody_else_wrote_meanwhile(demonstration: Served) -> None:
    anna, peter = demonstration.logged_in("anna"), demonstration.logged_in("peter")
    month = judged(anna, SAMPLE)
    path = f"{month}/rows/5"
    page = peter.get(path)
    said = {"cell.ticket_no": "9992437029999", "seen.ticket_no": "182412774069"}
    assert anna.submit(path, path, **said).status == 303
    seen = {"csrf": page.csrf, **page.hidden(path), **said}
    answer = peter.post(path, {**seen, "cell.ticket_no": "9992437028888"})
    assert answer.status == 409
    both = {
        **seen,
        "cell.ticket_no": "9992437028888",
        "cell.remarks": "x",
        "seen.remarks": "",
    }
    assert peter.post(path, both).status == 409  # all of a form or none
    assert "anna has changed this cell meanwhile: it says “9992437029999” now" in answer.said
    assert [
        one.value for one in month_corrections.corrections(demonstration.folder, month.rsplit("/")[-1])
    ] == ["9992437029999"]


@pytest.mark.slow
def test_what_was_not_looked_at_is_not_sent(demonstration: Served) -> None:
    anna = demonstration.logged_in("anna")
    month = judged(anna, SAMPLE)
    before = digest(anna, f"{month}/send")
    path = f"{month}/rows/5"
    anna.submit(path, path, **{"cell.ticket_no": "9992437029998", "seen.ticket_no": "182412774069"})
    settled(anna, month)
    answer = anna.submit(f"{month}/send", f"{month}/send", digest=before)
    assert answer.status == 409
    assert "The plan has changed" in answer.said
    assert state(anna.get(month)) == "checked"


@pytest.mark.slow
def test_files_of_no_known_kind_and_unreadable_ones_are_told_with_their_cure(
    demonstration: Served, tmp_path: Path
) -> None:
    anna = demonstration.logged_in("anna")
    (tmp_path / "letter.docx").write_bytes(b"x")
    answer = upload(anna, "/months", tmp_path / "letter.docx")
    assert answer.status == 415
    assert "letter.docx: is not a workbook" in answer.said
    (tmp_path / "broken.xlsx").write_bytes(b"PK\x03\x04 and nothing more")
    answer = upload(anna, "/months", tmp_path / "broken.xlsx")
    assert answer.status == 303
    deadline = time.monotonic() + 30
    while "alert" not in (page := anna.get(answer.location)).text:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert state(page) == "reading"
    assert "broken.xlsx" in page.said
    again = upload(anna, f"{answer.location}/files", SAMPLE, page=answer.location)
    assert again.status == 303
    assert anna.submit(answer.location, f"{answer.location}/take-out", number="1").status == 303
    assert totals(settled(anna, answer.location))["ready"] == 72


@pytest.mark.slow
def test_two_people_are_asked_where_the_profile_says_so(desk: Desk) -> None:
    profile = (REPOSITORY / "sample_data" / "sandbox.toml").read_text() + "\n[approval]\npeople = 2\n"
    (desk.folder / "two.toml").write_text(profile)
    given = ("--profile", desk.folder / "two.toml", "--as-of", "2026-11-20")
    with serving(desk, *given, people=PEOPLE) as page:
        peter, anna, amy = (page.logged_in(name) for name in ("peter", "anna", "amy"))
        month = judged(peter, SAMPLE)
        assert actions(peter.get(month)) == {"propose"}
        assert actions(anna.get(month)) == {"propose"}
        plan = digest(peter, month)
        assert anna.submit(month, f"{month}/approve", digest=plan).status == 409
        # Anna corrects, so that only Amy is left to approve; what was proposed before counts no more.
        assert peter.submit(month, f"{month}/propose", digest=plan).status == 303
        path = f"{month}/rows/5"
        anna.submit(path, path, **{"cell.ticket_no": "9992437029998", "seen.ticket_no": "182412774069"})
        assert state(settled(peter, month)) == "checked"
        plan = digest(peter, month)
        peter.submit(month, f"{month}/propose", digest=plan)
        assert state(peter.get(month)) == "proposed"
        assert "approve" not in actions(anna.get(month))
        answer = anna.submit(month, f"{month}/approve", digest=plan)
        assert (answer.status, "You prepared this month yourself" in answer.said) == (409, True)
        assert amy.submit(month, f"{month}/approve", digest=plan).status == 303
        assert state(amy.get(month)) == "approved"
        sent(amy, month)
        assert totals(settled(amy, month)) == {"issued": 73, "invalid": 2, "ineligible": 5}


@pytest.mark.slow
def test_whoever_approves_or_sends_is_told_of_rows_that_may_have_their_voucher(desk: Desk) -> None:
    (desk.folder / "two.toml").write_text(
        (REPOSITORY / "sample_data" / "sandbox.toml").read_text() + "\n[approval]\npeople = 2\n"
    )
    tickets = write_workbook(desk.folder / "listed.xlsx", [{"发票号码": "25117000000123456789"}])
    with serving(desk, *DEMONSTRATION[2:], "--profile", desk.folder / "two.toml", people=PEOPLE) as page:
        peter, amy = page.logged_in("peter"), page.logged_in("amy")
        month = judged(peter, tickets)
        plan = digest(peter, month)
        peter.submit(month, f"{month}/propose", digest=plan)
        assert "or it is issued twice" in notices(amy.get(month)), "where she approves"
        amy.submit(month, f"{month}/approve", digest=plan)
        assert "or it is issued twice" in notices(amy.get(f"{month}/send"))


def notices(page: Answer) -> str:
    return " ".join(re.findall(r'<p class="notice warning">(.*?)</p>', page.text))


# --- a carrier that takes its time -----------------------------------------------------------------

SLOW = """[[fault]]
kind = "latency"
seconds = 0.3
"""


def fresh_tickets(desk: Desk, count: int) -> Path:
    """So many tickets that were used a few days ago: a real carrier's month is judged on the day of today."""
    day = (datetime.datetime.now(datetime.UTC).date() - datetime.timedelta(days=5)).isoformat()
    rows: list[Mapping[str, Any]] = [
        {"ticket_no": f"999{number:010}", "flight_date": day} for number in range(1, count + 1)
    ]
    return write_workbook(desk.folder / "month.xlsx", rows)


def carrier_profile(desk: Desk, base_url: str) -> tuple[Any, ...]:
    return "--profile", desk.profile(base_url, concurrency=2, response_timeout=20), "--new-ledger"


def today() -> tuple[str, str]:
    return "--as-of", datetime.datetime.now(datetime.UTC).date().isoformat()


@pytest.mark.slow
def test_a_run_goes_on_when_the_server_is_killed_and_is_found_by_the_next(
    desk: Desk, sandbox: Callable[..., Any]
) -> None:
    tickets = fresh_tickets(desk, 12)
    with sandbox(tickets, faults=SLOW, more=today()) as carrier:
        with serving(
            desk, *carrier_profile(desk, carrier.base_url), people=PEOPLE, sandbox=False, killed=True
        ) as page:
            anna = page.logged_in("anna")
            month = judged(anna, tickets)
            sent(anna, month)
            desk.during(page.process, lambda: len(carrier.issued()) >= 2)
            os.kill(page.process.pid, signal.SIGKILL)
        with serving(desk, *carrier_profile(desk, carrier.base_url), sandbox=False) as page:
            anna = page.logged_in("anna")
            assert state(anna.get(month)) == "sending"
            assert totals(settled(anna, month)) == {"issued": 12}
        assert len(carrier.issued()) == 12
        assert carrier.twice() == []


@pytest.mark.slow
def test_a_stopped_month_says_what_was_not_sent_and_is_gone_on_with(
    desk: Desk, sandbox: Callable[..., Any]
) -> None:
    tickets = fresh_tickets(desk, 12)
    with (
        sandbox(tickets, faults=SLOW, more=today()) as carrier,
        serving(desk, *carrier_profile(desk, carrier.base_url), people=PEOPLE, sandbox=False) as page,
    ):
        anna, peter = page.logged_in("anna"), page.logged_in("peter")
        month = judged(anna, tickets)
        sent(anna, month)
        desk.during(page.process, lambda: len(carrier.issued()) >= 2)
        assert peter.submit(month, f"{month}/stop").status == 403
        again = page.logged_in("amy")
        pressed = again.post(f"{month}/send", {"csrf": again.get(month).csrf, "digest": ""})
        assert [(one.status, one.location) for one in (pressed, again.get(f"{month}/send"))] == [
            (303, month)
        ] * 2, "she sees it being sent"
        assert "stop" in actions(anna.get(month))
        path = f"{month}/rows/0"
        late = peter.submit(path, path, **{"cell.remarks": "x", "seen.remarks": ""})
        assert (late.status, "is being sent" in late.said) == (409, True)
        assert anna.submit(month, f"{month}/stop").status == 303
        stopped = settled(anna, month)
        assert state(stopped) == "stopped"
        first = totals(stopped)
        assert first["issued"] == len(carrier.issued()) < 12
        assert first["not_sent"] == 12 - first["issued"]
        assert f"{first['not_sent']} rows were not sent: why stands beside each" in stopped.said
        assert ("correct them" in stopped.said, "is sent next: judge again" in stopped.said) == (False, True)
        assert "The run stopped early: interrupted" in stopped.said
        for said in ("began to send the plan", "sending begun by anna", "stopped by anna"):
            assert said in stopped.said
        told = desk.voucher("history", "9990000000001", "--ledger", page.ledger)
        for said in ("prepared by anna", "approved by anna", "begun by anna", "stopped by anna"):
            assert said in told.out
        anna.submit(month, f"{month}/judge")
        settled(anna, month)
        sent(anna, month)
        assert totals(settled(anna, month)) == {
            "issued": 12 - first["issued"], "already_issued": first["issued"],
        }  # fmt: skip
        assert (len(carrier.issued()), carrier.twice()) == (12, [])


@pytest.mark.slow
def test_a_killed_run_is_told_and_what_it_left_in_doubt_is_never_sent_again(
    desk: Desk, sandbox: Callable[..., Any]
) -> None:
    tickets = fresh_tickets(desk, 12)
    with (
        sandbox(tickets, faults=SLOW, more=today()) as carrier,
        serving(desk, *carrier_profile(desk, carrier.base_url), people=PEOPLE, sandbox=False) as page,
    ):
        anna = page.logged_in("anna")
        month = judged(anna, tickets)
        sent(anna, month)
        desk.during(page.process, lambda: len(carrier.issued()) >= 2)
        (running,) = [one for one in work.on(page.folder) if one.kind == "send"]
        os.kill(process_of(page.folder, running.id) or 0, signal.SIGKILL)
        page_after = settled(anna, month)
        assert "The process was ended from outside" in page_after.said
        # What was looked at counts no more: it is judged anew by itself, and what is unknown shows.
        assert totals(page_after)["unknown"] >= 1
        in_doubt = anna.get("/unknown")
        assert (
            "of every request the ledger knows" in in_doubt.said,
            'href="/reconcile"' in in_doubt.text,
        ) == (False, True)
        sent(anna, month)
        settled(anna, month)
        assert carrier.twice() == []


@pytest.mark.slow
def test_rows_issued_earlier_with_another_amount_are_told_as_something_to_look_at(
    demonstration: Served, desk: Desk
) -> None:
    anna = demonstration.logged_in("anna")
    book = write_workbook(desk.folder / "month.xlsx", [{"ticket_no": f"999{n:010}"} for n in (1, 2)])
    month = judged(anna, book)
    sent(anna, month)
    assert totals(settled(anna, month)) == {"issued": 2}
    changed = openpyxl.load_workbook(book)
    sheet = changed.active
    amount = next(cell.column for cell in sheet[1] if cell.value == "amount")
    sheet.cell(2, amount).value = 7
    changed.save(desk.folder / "changed.xlsx")
    again = judged(anna, desk.folder / "changed.xlsx")
    page = anna.get(again)
    assert totals(page) == {"already_issued": 2}
    assert "1 row was issued earlier with another amount or buyer" in page.said
    link = f"{again}/rows?reason=differs_from_issued"
    assert f'href="{link}"' in page.text
    assert len(re.findall(r"data-row-status=", anna.get(link).text)) == 1


@pytest.mark.slow
def test_a_demonstration_has_the_sample_month_in_it(desk: Desk) -> None:
    with serving(desk) as page:
        visit = page.local()
        (month,) = re.findall(r'href="(/months/\w+)"', visit.get("/").text)
        assert totals(settled(visit, month)) == {"ready": 110, "waiting": 2, "invalid": 3, "ineligible": 5}


@pytest.mark.slow
def test_months_that_nobody_changed_are_taken_out_after_the_stated_time(demonstration: Served) -> None:
    anna = demonstration.logged_in("anna")
    month = judged(anna, SAMPLE)
    folder = demonstration.folder / "months" / month.rsplit("/")[-1]
    assert folder.is_dir()
    assert months.forget_old(demonstration.folder, 1) == []
    with transaction(demonstration.folder) as connection:
        for table, column in (("month", "made_at"), ("change", "at")):
            connection.execute(f"UPDATE {table} SET {column} = {column} - 3 * 86400")
    assert months.forget_old(demonstration.folder, 4) == []
    assert "tickets-2026-10-zh.xlsx" in months.forget_old(demonstration.folder, 2)
    assert not folder.exists()
    assert anna.get(month).status == 404
