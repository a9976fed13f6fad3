"""A month in a real browser: what people press and type, by mouse and by keyboard, with and without JavaScript, one of them and two."""

import datetime
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from selenium.webdriver.common.keys import Keys

from pipeline.page import month_corrections
from pipeline.page.visitor import Role
from tests.acceptance.conftest import REPOSITORY, Desk, write_workbook
from tests.acceptance.office import LOST_AFTER, LOST_BEFORE, TODAY
from tests.acceptance.page.browser import Window
from tests.acceptance.page.conftest import Browsing
from tests.acceptance.page.test_month_on_page import (
    DEMONSTRATION,
    PEOPLE,
    SAMPLE,
    SLOW,
    carrier_profile,
    fresh_tickets,
    judged,
    today,
)
from tests.acceptance.page.visiting import PASSWORD, serving

TICKET, NUMBER = "9992437029999", '[data-row="5"][data-column="ticket_no"]'
#: The words that are looked for, in each language.
WORDS = {
    "en": {
        "auto": "auto",
        "sort": "amount",
        "question": "Send {} requests to",
        "history": "issued",
        "settled": "1 issued, 0 not issued",
    },
    "zh": {
        "auto": "自动",
        "sort": "金额",
        "question": "把 {} 个请求发送给",
        "history": "开具",
        "settled": "1 项已开具，0 项未开具",
    },
}


def begin(one: Window, *files: Path) -> str:
    """Upload a new month, see it judged, and give its path."""
    one.go("/")
    one.choose_files(*files)
    assert [line.text.splitlines()[0] for line in one.all(".chosen li")] == [file.name for file in files]
    one.press("form[data-upload] button")
    one.until(lambda: one.path.startswith("/months/") and one.state == "checked")
    return one.path


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_month_goes_from_its_files_to_its_vouchers(lang: str, desk: Desk, browsing: Browsing) -> None:
    words = WORDS[lang]
    with serving(desk, *DEMONSTRATION) as page, browsing(page.address, lang=lang) as one:
        one.go(page.link)
        month = begin(one, SAMPLE)
        assert one.totals == {"ready": 72, "invalid": 3, "ineligible": 5}

        # The rows: filtered, searched, sorted by the server.
        one.press(f'.tabs [href="{month}/rows"]')
        one.press('[name=status] [value="failing"]')
        one.press(".filters button")
        one.until(lambda: len(one.all("[data-row-status]")) == 8)
        one.type("[name=q]", "781" + Keys.ENTER)
        one.until(lambda: len(one.all("[data-row-status]")) == 1)
        one.go(f"{month}/rows?status=failing")
        one.driver.find_element("link text", words["sort"]).click()
        one.until(lambda: "sort=amount" in one.path)
        assert [cell.text for cell in one.all("td.number")] == [
            "88.00", "411.00", "792.00", "1,350.00", "1,700.00", "1,760.00", "2,070.00", "2,330.00",
        ]  # fmt: skip

        # A correction by the keyboard alone: judged in its place, what is still wrong beside it, the focus where it was going.
        one.go(f"{month}/rows?status=failing")
        one.mark()
        one.tab_to(NUMBER)
        one.keys("999243702" + Keys.TAB)
        one.until(lambda: "“999243702”" in one.one("#why-5-ticket_no").text)
        assert one.status(5) == "invalid"
        assert one.focused.tag_name == "button"
        one.keys(Keys.TAB, held=Keys.SHIFT)
        one.keys("a", held=Keys.CONTROL)
        one.keys(TICKET, Keys.ENTER)
        one.until(lambda: one.status(5) == "ready")
        assert not one.all("#why-5-ticket_no")
        assert one.focused.get_attribute("data-column") == "ticket_no"
        # A drop-down; the other charge of the ticket is judged with it.
        assert one.status(40) == "ineligible"
        one.choose('[data-row="39"][data-column="voucher"]', words["auto"])
        one.until(lambda: one.status(39) == one.status(40) == "ready")
        assert one.is_marked, "all of it without another page"

        one.press(f'.tabs [href="{month}"]')
        assert one.totals == {"ready": 75, "invalid": 2, "ineligible": 3}
        count = next(word for word in one.one(".lead").text.split() if word.isdigit())
        one.act("send")
        assert words["question"].format(count) in one.text
        assert "CNY" in one.one(".lead").text
        one.act("confirm")
        one.until(lambda: one.state == "sent")
        assert one.totals == {"issued": 75, "invalid": 2, "ineligible": 3}
        one.act("download-result")
        rows = openpyxl.load_workbook(one.downloaded())["Rows"]
        assert TICKET in [cell.value for line in rows.iter_rows() for cell in line]
        assert rows.max_row == 81

        after_it(one, month, words["history"])


def after_it(one: Window, month: str, word: str) -> None:
    """What comes after a month: the history of a ticket, what is unknown, the register."""
    one.go(f"/tickets/{TICKET}")
    assert word in one.one(".history").text
    one.go("/unknown")
    assert one.one(".notice.good")
    one.go(month)
    one.act("download-register")
    one.until(lambda: len([*one.downloads.glob("*.xlsx")]) == 2)


@pytest.mark.slow
def test_the_whole_way_is_gone_by_the_keyboard_alone(desk: Desk, browsing: Browsing) -> None:
    with serving(desk, *DEMONSTRATION, people=PEOPLE) as page, browsing(page.address) as one:
        one.log_in("anna", PASSWORD)
        one.keys(Keys.TAB)
        assert one.focused.get_attribute("class") == "skip"
        one.keys(Keys.ENTER)
        assert one.focused.tag_name == "main"
        one.choose_files(SAMPLE)  # the system's dialogue is not the page's
        one.press_by_keys("form[data-upload] button")
        one.until(lambda: one.path.startswith("/months/") and one.state == "checked")
        one.press_by_keys(".steps a")
        one.until(lambda: "status=failing" in one.path)
        one.tab_to('[data-row="39"][data-column="voucher"]')
        one.keys("auto" + Keys.TAB)
        one.until(lambda: one.status(39) == "ready")
        one.press_by_keys(".tabs a")
        one.press_by_keys("[data-action=send]")
        one.press_by_keys("[data-action=confirm]")
        one.until(lambda: one.state == "sent")
        one.press_by_keys("[data-action=download-result]")
        assert one.downloaded()


@pytest.mark.slow
def test_files_are_dropped_chosen_one_after_another_and_taken_out_and_their_upload_is_seen(
    desk: Desk, browsing: Browsing, tmp_path: Path
) -> None:
    office = tmp_path / "office" / "十月"
    office.mkdir(parents=True)
    for name in (SAMPLE.name, f"~${SAMPLE.name}", "month.result.xlsx"):
        (office / name).write_bytes(SAMPLE.read_bytes())
    (office / "notes.txt").write_text("not a workbook")
    other = REPOSITORY / "sample_data" / "tickets-2026-10.xlsx"
    with serving(desk, *DEMONSTRATION, people=PEOPLE) as page, browsing(page.address) as one:
        one.log_in("peter", PASSWORD)
        one.choose_files(other)
        one.choose_files(tmp_path / "office", selector="[data-folder]")
        one.until(lambda: len(one.all(".chosen li")) == 2)
        assert [line.text.splitlines()[0] for line in one.all(".chosen li")] == [other.name, SAMPLE.name]
        one.press(".chosen li input")
        one.until(lambda: len(one.all(".chosen li")) == 1)
        one.driver.execute_script(_DROP, "dropped.csv", "ticket_no,passenger_name\n")
        one.until(lambda: len(one.all(".chosen li")) == 2)
        one.press(".chosen li:last-child input")
        one.keep_what_is_said(".upload-progress p")
        one.press("form[data-upload] button")
        one.until(lambda: one.path.startswith("/months/"))
        assert one.said == ["0 % uploaded", "Uploaded; its page follows."]
        one.until(lambda: one.state == "checked")
        assert one.totals["ready"] == 72
        # What the server does not take is said, and can be mended.
        one.go("/")
        one.driver.execute_script(_DROP, "letter.docx", "x")
        one.press("form[data-upload] button")
        one.until(lambda: "letter.docx: is not a workbook" in one.one(".upload-progress p").text)
        assert one.one("form[data-upload] button").is_enabled()


_DROP = """
const files = new DataTransfer();
files.items.add(new File([arguments[1]], arguments[0]));
document.querySelector(".drop").dispatchEvent(new DragEvent("drop", {dataTransfer: files, bubbles: true, cancelable: true}));
"""


@pytest.mark.slow
def test_two_people_see_each_others_changes_and_replace_none_in_silence(
    desk: Desk, browsing: Browsing
) -> None:
    profile = (REPOSITORY / "sample_data" / "sandbox.toml").read_text() + "\n[approval]\npeople = 2\n"
    (desk.folder / "two.toml").write_text(profile)
    given = ("--profile", desk.folder / "two.toml", "--as-of", "2026-11-20")
    with (
        serving(desk, *given, people=PEOPLE) as page,
        browsing(page.address) as peter,
        browsing(page.address, lang="zh") as amy,
    ):
        peter.come_in(page.logged_in("peter"))
        amy.come_in(page.logged_in("amy"))
        month = begin(peter, SAMPLE)
        assert peter.actions == {"propose"}
        amy.go(month)
        rows = f"{month}/rows?status=failing"
        peter.go(rows)
        # What Anna corrects, over the wire, Amy sees on the overview, and Peter is told of.
        anna = page.logged_in("anna")
        path = f"{month}/rows/5"
        anna.submit(path, path, **{"cell.ticket_no": "9992437021111", "seen.ticket_no": "182412774069"})
        amy.until(lambda: amy.totals.get("ready") == 73)
        peter.until(lambda: peter.one("[data-follow] .notice").is_displayed())
        # Peter changes the same cell, which says something else on his page.
        peter.type(NUMBER, TICKET + Keys.TAB)
        peter.until(lambda: "anna has changed this cell meanwhile" in peter.text)
        assert peter.one(NUMBER).get_attribute("value") == "9992437021111"
        assert f"your “{TICKET}” was not saved" in peter.text
        peter.press(".why.bad button")
        peter.until(lambda: peter.one(NUMBER).get_attribute("value") == TICKET and not peter.all(".why.bad"))
        assert "peter changed it from “182412774069”" in peter.text

        peter.go(month)
        assert peter.totals["ready"] == 73
        peter.act("propose")
        peter.until(lambda: peter.state == "proposed")
        amy.until(lambda: amy.state == "proposed")
        amy.act("approve")
        amy.until(lambda: amy.state == "approved")
        peter.until(lambda: peter.state == "approved")
        assert "send" not in peter.actions
        amy.act("send")
        amy.act("confirm")
        amy.until(lambda: amy.state == "sent")
        peter.until(lambda: peter.state == "sent")
        assert amy.totals == {"issued": 73, "invalid": 2, "ineligible": 5}


MANY = 40  # requests of 0.3 s, two at once


@pytest.fixture
def slow_carrier(desk: Desk, sandbox: Callable[..., Any]) -> Iterator[Any]:
    """A carrier that takes its time, and what a page is told of it."""
    with sandbox(fresh_tickets(desk, MANY), faults=SLOW, more=today()) as carrier:
        yield carrier


def send(one: Window, month: str) -> None:
    one.go(month)
    one.act("send")
    one.act("confirm")
    one.until(lambda: one.state == "sending")


@pytest.mark.slow
def test_a_sending_is_followed_as_it_goes_and_stopped(
    desk: Desk, slow_carrier: Any, browsing: Browsing
) -> None:
    given = carrier_profile(desk, slow_carrier.base_url)
    with (
        serving(desk, *given, people=PEOPLE, sandbox=False) as page,
        browsing(page.address) as one,
        browsing(page.address, lang="zh") as other,
    ):
        one.come_in(page.logged_in("anna"))
        other.come_in(page.logged_in("peter"))
        month = judged(page.logged_in("peter"), desk.folder / "month.xlsx")
        send(one, month)
        one.mark()
        seen = set[str]()
        one.until(lambda: seen.add(one.one("[data-progress-text]").text) or len(seen) > 2)
        assert one.is_marked, "followed without another page"
        assert f"of {MANY} requests" in max(seen)
        other.go(month)
        assert other.state == "sending"
        assert "stop" not in other.actions
        one.act("stop")
        one.until(lambda: one.state == "stopped")
        other.until(lambda: other.state == "stopped")
        assert one.totals["issued"] == len(slow_carrier.issued()) < MANY
        assert "stopped by anna" in one.text


@pytest.mark.slow
def test_an_open_page_finds_its_sending_again_when_the_server_was_killed(
    desk: Desk, slow_carrier: Any, browsing: Browsing
) -> None:
    given = carrier_profile(desk, slow_carrier.base_url)
    with serving(desk, *given, people=PEOPLE, sandbox=False, killed=True) as page:
        with browsing(page.address) as one:
            one.come_in(page.logged_in("anna"))
            month = judged(page.logged_in("peter"), desk.folder / "month.xlsx")
            send(one, month)
            desk.during(page.process, lambda: len(slow_carrier.issued()) >= 2)
            os.kill(page.process.pid, signal.SIGKILL)
            one.mark()
            before = len(slow_carrier.issued())
            where = page.address.removeprefix("http://")
            with serving(desk, *given, sandbox=False, listen=where):
                assert one.state == "sending"
                one.until(lambda: one.state == "sent")
                assert not one.is_marked
                assert one.totals == {"issued": MANY}
        assert before < MANY
        assert (len(slow_carrier.issued()), slow_carrier.twice()) == (MANY, [])


@pytest.mark.slow
def test_the_same_month_works_by_forms_alone(desk: Desk, browsing: Browsing) -> None:
    """In one language: nothing that is looked at here is a word."""
    with (
        serving(desk, *DEMONSTRATION, people=PEOPLE) as page,
        browsing(page.address, lang="zh", script=False) as one,
    ):
        one.log_in("anna", PASSWORD)
        one.choose_files(SAMPLE)
        one.press("form[data-upload] button")
        one.until(lambda: one.path.startswith("/months/") and one.state == "checked")  # it loads itself again
        month = one.path
        one.press(".steps a")
        one.type(NUMBER, TICKET)
        one.press('[data-of="5"] form button')
        one.until(lambda: one.path == f"{month}/rows/5")
        one.until(lambda: one.go(f"{month}/rows/5") or one.status(5) == "ready")
        one.go(f"{month}/rows?q={TICKET}&sort=amount&desc=1")
        assert len(one.all("[data-row-status]")) == 1
        # What somebody else changed meanwhile is told, with the way back.
        one.go(f"{month}/rows/17")
        anna, path = page.logged_in("amy"), f"{month}/rows/16"
        one.go(path)
        seen = one.one('[name="seen.used_on"]').get_attribute("value")
        anna.submit(path, path, **{"cell.used_on": "2026-09-29", "seen.used_on": seen})
        one.type('[data-column="used_on"]', "2026-09-30")
        one.press("form[data-correct] button")
        one.until(lambda: "2026-09-29" in one.text and one.all(".problem"))
        one.press(f'main [href="{path}"]')
        assert one.one('[data-column="used_on"]').get_attribute("value") == "2026-09-29"
        one.go(month)
        one.until(lambda: one.state == "checked")
        one.act("send")
        one.act("confirm")
        one.until(lambda: one.state == "sent")
        assert one.totals["issued"] == 74
        one.act("download-result")
        assert openpyxl.load_workbook(one.downloaded())["Rows"].max_row == 81


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_comes_after_a_month_is_done_by_hand(
    lang: str, desk: Desk, sandbox: Callable[..., Any], browsing: Browsing
) -> None:
    """Two unknown outcomes, the first of which was issued, are answered and reconciled; deadlines, runs and the ledger are looked at."""
    book = write_workbook(desk.folder / "tickets.xlsx", [{"ticket_no": f"999{at:010}"} for at in range(1, 5)])
    flown = TODAY - datetime.timedelta(days=170)
    later = [{"ticket_no": "9990000000071", "flight_date": f"{flown}", "voucher": "itinerary"}]
    later_book = write_workbook(desk.folder / "later.xlsx", later)
    with sandbox(book, faults=f"{LOST_AFTER}requests = [1]\n{LOST_BEFORE}requests = [2]\n") as carrier:
        profile = desk.profile(carrier.base_url, more="[reconcile]\nsettle_after_hours = 0\n", concurrency=1)
        given = ("--profile", profile)
        ran = desk.voucher(
            "issue", book, *given, "--ledger", desk.folder / "page-test.ledger", "--as-of", "2026-11-20"
        )
        assert ran.code == 4, ran.err
        with (
            serving(desk, *given, people={"adam": Role.ADMINISTRATOR}, sandbox=False) as page,
            browsing(page.address, lang=lang) as one,
        ):
            month = judged(page.logged_in("adam"), later_book)
            one.come_in(page.logged_in("adam"))
            one.press('nav [href="/deadlines"]')
            one.press(f'[data-last-day="{TODAY + datetime.timedelta(days=10)}"] a')
            one.until(lambda: one.path.startswith(f"{month}/rows?day=") and one.all("[data-row-status]"))

            one.press('nav [href="/unknown"]')
            (number,) = {line["number"] for line in carrier.issued() if line["ticket_no"] == "9990000000001"}
            first = "[data-unknown]:has(a[href$='9990000000001'])"
            one.press(f"{first} [value=issued]")
            one.type(f"{first} [name=number]", number)
            one.type(f"{first} [name=who]", "Li")
            one.type(f"{first} [name=evidence]", "her e-mail")
            one.press(f"{first} button")
            one.until(lambda: one.path.startswith("/reconcile/") and one.all("[data-exit]"))
            assert WORDS[lang]["settled"] in one.text

            one.press('nav [href="/reconcile"]')
            one.driver.execute_script(_DROP, "march.csv", carrier.statement.read_text())
            one.until(lambda: one.all(".chosen li"))
            for name, day in (("from", TODAY - datetime.timedelta(days=1)), ("to", TODAY)):
                one.driver.execute_script(
                    "document.querySelector(arguments[0]).value = arguments[1]", f"[name={name}]", f"{day}"
                )
            one.press("form[data-upload] button")
            one.until(lambda: one.path.startswith("/reconcile/") and one.all("[data-exit]"))
            assert one.all("[data-lines] li")
            assert one.all('main a[href$=".xlsx"]')
            one.press('nav [href="/unknown"]')
            assert [card.get_attribute("data-attempt") for card in one.all("[data-unknown]")] == ["1"]
            assert "9990000000002" in str(one.one("[data-unknown] details").get_attribute("innerHTML"))

            one.press('nav [href="/runs"]')
            one.until(lambda: len(one.all("[data-run]")) == len(one.all("[data-work]")) + 1 == 3)
            one.press('nav [href="/ledger"]')
            one.press('[action="/ledger/check"] button')
            one.until(lambda: one.path.startswith("/ledger/") and one.all('[data-exit="0"]'))


@pytest.mark.slow
def test_a_cell_of_several_lines_is_left_as_it_is_by_whoever_corrects_another(
    desk: Desk, browsing: Browsing
) -> None:
    book = write_workbook(
        desk.folder / "month.xlsx",
        [{"ticket_no": "12", "remarks": "first\nsecond", "flight_date": "2026-10-02"}],
    )
    cells = {name: f'[data-row="0"][data-column="{name}"]' for name in ("ticket_no", "remarks")}
    with serving(desk, *DEMONSTRATION, people=PEOPLE) as page:
        month = judged(page.logged_in("peter"), book)
        for script in (True, False):
            with browsing(page.address, script=script) as one:
                one.come_in(page.logged_in("peter"))
                one.go(f"{month}/rows/0")
                one.type(cells["ticket_no"], f"999243702999{int(script)}" + Keys.ENTER)
                one.until(lambda: one.go(f"{month}/rows/0") or one.status(0) == "ready")
                assert one.one(cells["remarks"]).get_attribute("value") == "first\nsecond"
                assert "first" not in str(one.all(".hint")), "not corrected"
        kept = month_corrections.corrections(page.folder, month.rsplit("/")[-1])
        assert [(one.column, one.value) for one in kept] == [("ticket_no", "9992437029990")]


@pytest.mark.slow
def test_a_cell_that_is_corrected_again_before_the_first_answer_says_what_was_typed_last(
    desk: Desk, browsing: Browsing
) -> None:
    with serving(desk, *DEMONSTRATION, people=PEOPLE) as page, browsing(page.address) as one:
        one.come_in(page.logged_in("peter"))
        month = judged(page.logged_in("peter"), SAMPLE)
        one.go(f"{month}/rows?status=failing")
        one.driver.execute_script(_ANSWERED_LATE)
        one.type(NUMBER, "9992437021111" + Keys.TAB)
        one.type(NUMBER, TICKET + Keys.TAB)
        one.until(lambda: one.status(5) == "ready")
        assert (one.one(NUMBER).get_attribute("value"), one.all(".why.bad")) == (TICKET, [])
        kept = month_corrections.corrections(page.folder, month.rsplit("/")[-1])
        assert [(one.column, one.value) for one in kept] == [("ticket_no", TICKET)]


@pytest.mark.slow
@pytest.mark.parametrize("typed_by_then", [6, len(TICKET)])
def test_a_row_that_is_shown_anew_leaves_what_is_being_typed(
    desk: Desk, browsing: Browsing, typed_by_then: int
) -> None:
    with serving(desk, *DEMONSTRATION, people=PEOPLE) as page, browsing(page.address) as one:
        one.come_in(page.logged_in("peter"))
        month = judged(page.logged_in("peter"), SAMPLE)
        one.go(f"{month}/rows?status=failing")
        one.driver.execute_script(_ANSWERED_LATE)
        one.type(NUMBER, "9992437021111" + Keys.TAB)
        one.type(NUMBER, TICKET[:typed_by_then])
        one.until(
            lambda: (
                one.driver.execute_script("return document.getElementById('told').textContent")
                == "Row 7: ready"
            )
        )
        one.keys(*TICKET[typed_by_then:], Keys.TAB)
        one.until(lambda: "peter changed it" in one.text and one.one(NUMBER).get_attribute("value") == TICKET)
        one.until(
            lambda: (
                [kept.value for kept in month_corrections.corrections(page.folder, month.rsplit("/")[-1])]
                == [TICKET]
            )
        )


#: What is saved is answered later than somebody types.
_ANSWERED_LATE = """
const ask = window.fetch;
window.fetch = async (address, given) => {
  const answer = await ask(address, given);
  if (given.method === "POST") await new Promise((done) => setTimeout(done, 1000));
  return answer;
};
"""


@pytest.mark.slow
def test_a_correction_that_is_judged_late_says_so(desk: Desk, browsing: Browsing) -> None:
    with serving(desk, *DEMONSTRATION, people=PEOPLE) as page, browsing(page.address) as one:
        one.come_in(page.logged_in("peter"))
        month = judged(page.logged_in("peter"), SAMPLE)
        one.go(f"{month}/rows?status=failing")
        one.driver.execute_script(_NOT_JUDGED)
        one.type(NUMBER, TICKET + Keys.TAB)
        one.until(
            lambda: "It is saved; the month is still being judged." in one.one('[data-of="5"] .saving').text
        )
        one.press('[data-of="5"] .saving a')
        one.until(lambda: one.all("[data-row-status]") and not one.all('[data-of="5"] .saving a'))


#: The server says that the month is not judged yet, whenever it is asked, and time flies.
_NOT_JUDGED = """
const ask = window.fetch;
window.fetch = (address, given) =>
  String(address).includes("/state?") ? Promise.resolve(new Response('{"judged": false}')) : ask(address, given);
const began = Date.now();
Date.now = () => began + (performance.now() * 20);
"""


@pytest.mark.slow
def test_a_file_that_falls_beside_its_place_leaves_the_page_as_it_is(desk: Desk, browsing: Browsing) -> None:
    with serving(desk, *DEMONSTRATION, people=PEOPLE) as page, browsing(page.address) as one:
        one.come_in(page.logged_in("peter"))
        for event in ("dragover", "drop"):
            assert one.driver.execute_script(_BESIDE, event), event
        assert not one.all(".chosen li")


_BESIDE = """
const files = new DataTransfer();
files.items.add(new File(["x"], "dropped.csv"));
const fallen = new DragEvent(arguments[0], {dataTransfer: files, bubbles: true, cancelable: true});
document.querySelector("h1").dispatchEvent(fallen);
return fallen.defaultPrevented;
"""
