"""Work that the page begins, when it is stopped, fails, is killed, or meets a run on the command line; and what is begun beside it."""

import concurrent.futures
import os
import re
import signal
import stat
import time
from collections.abc import Callable
from io import BytesIO
from typing import Any

import openpyxl
import pytest

from pipeline.page import work
from pipeline.page.visitor import Role
from pipeline.page.work_turn import process_of
from tests.acceptance.conftest import REPOSITORY, Desk
from tests.acceptance.page.test_month_on_page import (
    DEMONSTRATION,
    PEOPLE,
    SAMPLE,
    SLOW,
    actions,
    carrier_profile,
    digest,
    fresh_tickets,
    judged,
    sent,
    settled,
    state,
    today,
    totals,
    upload,
)
from tests.acceptance.page.visiting import Answer, Served, page_folder, serving

SLOWER = SLOW.replace("0.3", "1.5")


def sending(page: Served) -> work.Work:
    (found,) = [one for one in work.on(page.folder) if one.kind == "send"]
    return found


@pytest.mark.slow
def test_stopping_twice_and_ending_the_server_waits_for_the_answers(
    desk: Desk, sandbox: Callable[..., Any]
) -> None:
    tickets = fresh_tickets(desk, 12)
    with sandbox(tickets, faults=SLOWER, more=today()) as carrier:
        profile = carrier_profile(desk, carrier.base_url)
        with serving(desk, *profile, people=PEOPLE, sandbox=False) as page:
            anna = page.logged_in("anna")
            month = judged(anna, tickets)
            sent(anna, month)
            desk.during(page.process, lambda: len(carrier.issued()) >= 2)
            csrf = anna.get(month).csrf
            assert anna.post(f"{month}/stop", {"csrf": csrf}).status == 303
            standing = anna.get(month)
            assert ("stop" in actions(standing), "It is stopping" in standing.said) == (False, True)
            assert anna.post(f"{month}/stop", {"csrf": csrf}).status == 303
        with serving(desk, *profile, sandbox=False) as page:
            stopped = settled(page.logged_in("anna"), month)
            assert state(stopped) == "stopped"
            assert "unknown" not in totals(stopped)
            assert totals(stopped)["issued"] == len(carrier.issued())


@pytest.mark.slow
def test_a_signal_after_the_sending_loses_nothing_of_its_result(
    desk: Desk, sandbox: Callable[..., Any]
) -> None:
    tickets = fresh_tickets(desk, 40)
    with (
        sandbox(tickets, more=today()) as carrier,
        serving(desk, *carrier_profile(desk, carrier.base_url), people=PEOPLE, sandbox=False) as page,
    ):
        anna = page.logged_in("anna")
        month = judged(anna, tickets)
        sent(anna, month)
        begun = sending(page)
        desk.during(page.process, lambda: len(carrier.issued()) == 40)
        time.sleep(0.05)  # until the last answer is in: from here on it writes
        while work.find(page.folder, begun.id).is_on:
            if process := process_of(page.folder, begun.id):
                os.kill(process, signal.SIGTERM)
            time.sleep(0.02)
        ended = work.find(page.folder, begun.id)
        assert (str(ended.problem), len(ended.files)) == ("", 1)
        done = settled(anna, month)
        assert state(done) in ("sent", "stopped")
        assert totals(done) == {"issued": 40}


@pytest.mark.slow
def test_a_plan_whose_sending_could_not_begin_is_judged_anew(desk: Desk, sandbox: Callable[..., Any]) -> None:
    tickets = fresh_tickets(desk, 8)
    with (
        sandbox(tickets, faults=SLOWER, more=today()) as carrier,
        serving(desk, *carrier_profile(desk, carrier.base_url), people=PEOPLE, sandbox=False) as page,
    ):
        anna = page.logged_in("anna")
        month = judged(anna, tickets)
        issue = (
            "issue",
            tickets,
            "--profile",
            desk.folder / "carrier.toml",
            "--ledger",
            page.ledger,
            "--yes",
        )
        terminal = desk.begin(*issue, "--new-ledger")
        desk.during(terminal, carrier.issued)
        sent(anna, month)
        page_after = settled(anna, month, "sending")
        assert "on the command line" in page_after.said
        assert "sending asked for by anna, and not begun" in page_after.said
        assert "began to send the plan" not in page_after.said
        # What was looked at counts no more: it is judged anew by itself.
        by_itself = anna.until(
            month, lambda answer: state(answer) == "checked" and "issued" in str(totals(answer))
        )
        assert "on the command line" in by_itself.said
        assert terminal.end().code == 0
        anna.submit(month, f"{month}/judge")
        again = settled(anna, month)
        assert (totals(again), "on the command line" in again.said) == ({"already_issued": 8}, False)


@pytest.mark.slow
def test_who_is_at_a_terminal_is_told_who_sends_on_the_page(desk: Desk, sandbox: Callable[..., Any]) -> None:
    tickets = fresh_tickets(desk, 8)
    with (
        sandbox(tickets, faults=SLOWER, more=today()) as carrier,
        serving(desk, *carrier_profile(desk, carrier.base_url), people=PEOPLE, sandbox=False) as page,
    ):
        anna = page.logged_in("anna")
        month = judged(anna, tickets)
        sent(anna, month)
        desk.during(page.process, carrier.issued)
        ran = desk.voucher(
            "issue", tickets, "--profile", desk.folder / "carrier.toml", "--ledger", page.ledger, "--yes"
        )
        assert (ran.code, "by anna, on the page" in ran.err) == (3, True)


@pytest.mark.slow
def test_a_month_without_workbooks_or_with_a_broken_ledger_says_so_and_is_judged_again(desk: Desk) -> None:
    with serving(desk, *DEMONSTRATION, people=PEOPLE) as page:
        anna = page.logged_in("anna")
        month = judged(anna, SAMPLE)
        anna.submit(month, f"{month}/take-out", number="1")
        told = anna.until(month, lambda answer: 'role="alert"' in answer.text)
        assert "No workbook with tickets was uploaded yet" in told.said
        assert (state(told), totals(told), f'action="{month}/judge"' in told.text) == ("reading", {}, True)

        page.ledger.write_bytes(b"no ledger " * 1000)
        month = upload(anna, "/months", SAMPLE).location
        told = anna.until(month, lambda answer: 'role="alert"' in answer.text)
        assert (state(told), totals(told), f'action="{month}/judge"' in told.text) == ("reading", {}, True)
        page.ledger.unlink()
        anna.submit(month, f"{month}/judge")
        assert totals(settled(anna, month))["ready"] == 72


@pytest.mark.slow
def test_a_ledger_that_is_missing_is_told_on_every_page_and_is_no_sign_that_nothing_was_issued(
    desk: Desk, sandbox: Callable[..., Any]
) -> None:
    tickets = fresh_tickets(desk, 3)
    with (
        sandbox(tickets, more=today()) as carrier,
        serving(desk, *carrier_profile(desk, carrier.base_url), people=PEOPLE, sandbox=False) as page,
    ):
        anna = page.logged_in("anna")
        month = judged(anna, tickets)
        assert "None yet" in anna.get("/runs").said
        assert anna.get("/tickets/9990000000001").status == 200
        sent(anna, month)
        settled(anna, month)
        away = page.ledger.rename(desk.folder / "away")
        for path in ("/unknown", "/tickets/9990000000001", "/itineraries", "/runs"):
            told = anna.get(path)
            assert (told.status, "there is no ledger, though one had this name" in told.said) == (
                400,
                True,
            ), path
        anna.submit(month, f"{month}/judge")
        told = anna.until(month, lambda answer: 'role="alert"' in answer.text)
        assert ("one had this name" in told.said, totals(told)) == (True, {})
        assert "Say what the headings mean" not in told.said, "no fault of the file"
        away.rename(page.ledger)
        anna.submit(month, f"{month}/judge")
        assert totals(settled(anna, month)) == {"already_issued": 3}


@pytest.mark.slow
def test_what_is_sent_goes_by_the_profile_that_the_page_was_started_with(
    desk: Desk, sandbox: Callable[..., Any]
) -> None:
    tickets = fresh_tickets(desk, 3)
    with (
        sandbox(tickets, more=today()) as carrier,
        serving(desk, *carrier_profile(desk, carrier.base_url), people=PEOPLE, sandbox=False) as page,
    ):
        anna = page.logged_in("anna")
        month = judged(anna, tickets)
        desk.profile("http://127.0.0.1:1")
        sent(anna, month)
        assert totals(settled(anna, month)) == {"issued": 3}


@pytest.mark.slow
def test_registers_are_made_beside_each_other(desk: Desk) -> None:
    with serving(desk, people=PEOPLE) as page:
        anna = page.logged_in("anna")
        with concurrent.futures.ThreadPoolExecutor(3) as threads:
            answers = [*threads.map(lambda _: anna.get("/register/download"), range(3))]
        assert [answer.status for answer in answers] == [
            303
        ] * 3  # to the page of each: the ledger has no voucher


@pytest.mark.slow
def test_nothing_is_begun_by_a_server_that_ends(desk: Desk, sandbox: Callable[..., Any]) -> None:
    tickets = fresh_tickets(desk, 3)
    with (
        sandbox(tickets, faults=SLOW.replace("0.3", "8") + 'when = "after"\n', more=today()) as carrier,
        serving(desk, *carrier_profile(desk, carrier.base_url), people=PEOPLE, sandbox=False) as page,
    ):
        anna = page.logged_in("anna")
        month = judged(anna, tickets)
        sent(anna, month)
        desk.during(page.process, carrier.issued)  # the answers come 8 seconds after it
        os.kill(page.process.pid, signal.SIGTERM)
        desk.during(page.process, lambda: "Ending" in page.process.told())
        time.sleep(0.2)
        late = anna.get("/register/download")
        assert (late.status, "voucher serve is ending" in late.said) == (409, True)


@pytest.mark.slow
def test_a_result_is_written_as_it_stands_without_sending(desk: Desk) -> None:
    with serving(desk, *DEMONSTRATION, people={**PEOPLE, "vera": Role.VIEWER}) as page:
        anna, vera = page.logged_in("anna"), page.logged_in("vera")
        month = judged(anna, SAMPLE)
        assert f"{month}/result" not in vera.get(month).text
        sent(anna, month)
        first = newest_result(settled(anna, month))
        assert anna.submit(month, f"{month}/result").status == 303
        told = anna.until(month, lambda answer: newest_result(answer) != first)
        assert "written by anna" in told.said
        assert newest_result(told).endswith(".2.result.xlsx")
        book = openpyxl.load_workbook(BytesIO(vera.get(newest_result(told)).body))
        assert "already_issued" in {cell.value for line in book["Rows"].iter_rows() for cell in line}
        assert state(told) == "sent"


@pytest.mark.slow
def test_a_result_is_there_to_download_whatever_fails_after_it(desk: Desk) -> None:
    with serving(desk, *DEMONSTRATION, people=PEOPLE) as page:
        anna = page.logged_in("anna")
        month = judged(anna, SAMPLE)
        rows = page.folder / month.strip("/") / "rows.sqlite"
        rows.unlink()
        (rows / "in the way").mkdir(parents=True)  # so that the rows can't be written
        sent(anna, month)
        told = anna.until(month, lambda answer: 'role="alert"' in answer.text)
        assert "rows.sqlite" in told.said
        assert openpyxl.load_workbook(BytesIO(anna.get(newest_result(told)).body))["Rows"].max_row > 1
        (rows / "in the way").rmdir()
        rows.rmdir()
        anna.submit(month, f"{month}/judge")
        again = settled(anna, month)
        assert totals(again)["already_issued"] == 72
        assert newest_result(again) == newest_result(told)


def newest_result(page: Answer) -> str:
    found = re.search(r'data-action="download-result" href="([^"]+)"', page.text)
    assert found
    return found[1]


def test_what_a_kill_left_of_an_upload_is_taken_out(desk: Desk) -> None:
    coming = page_folder(desk.folder / "page-test.ledger") / "coming"
    coming.mkdir(parents=True)
    (coming / "half").touch()
    with serving(desk):
        assert not coming.exists()


def test_two_people_need_accounts(desk: Desk) -> None:
    profile = (REPOSITORY / "sample_data" / "sandbox.toml").read_text() + "\n[approval]\npeople = 2\n"
    (desk.folder / "two.toml").write_text(profile)
    ran = desk.voucher("serve", "--sandbox", "--profile", desk.folder / "two.toml", "--listen", "127.0.0.1:0")
    assert (ran.code, "voucher user add NAME --role" in ran.err) == (2, True)


@pytest.mark.slow
def test_what_was_proposed_is_sent_by_one_where_one_is_enough_again(desk: Desk) -> None:
    one = (REPOSITORY / "sample_data" / "sandbox.toml").read_text()
    path = desk.folder / "people.toml"
    path.write_text(one + "\n[approval]\npeople = 2\n")
    given = ("--profile", path, "--as-of", "2026-11-20")
    with serving(desk, *given, people=PEOPLE) as page:
        peter = page.logged_in("peter")
        month = judged(peter, SAMPLE)
        peter.submit(month, f"{month}/propose", digest=digest(peter, month))
    path.write_text(one)
    with serving(desk, *given) as page:
        anna = page.logged_in("anna")
        assert actions(anna.get(month)) == {"send"}
        sent(anna, month)
        assert state(settled(anna, month)) == "sent"


def test_a_browser_that_goes_on_keeps_the_server_from_nothing(desk: Desk) -> None:
    browser, opened = desk.folder / "browser", desk.folder / "opened"
    browser.write_text(
        f'#!/bin/sh\nprintf %s "$1" > {opened}.part\nmv {opened}.part {opened}\nexec sleep 60\n'
    )
    browser.chmod(browser.stat().st_mode | stat.S_IXUSR)
    desk.environment["BROWSER"] = f"{browser} %s"
    with serving(desk, "--open") as page:
        desk.during(page.process, opened.exists)
        assert opened.read_text().endswith(page.link)
        begun = time.monotonic()
    assert time.monotonic() - begun < 30
