"""Itinerary files that are brought to the page: collected, shown with what is missing, on their tickets, and kept through a kill."""

import contextlib
import os
import re
import shutil
import signal
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import openpyxl
import pytest

from pipeline.ledger.in_use import InUse
from pipeline.ledger.lock import Lock
from pipeline.page import month_uploads, work
from pipeline.page.work_turn import process_of
from tests.acceptance.conftest import Desk, Sandbox, running_sandbox, tickets, write_workbook
from tests.acceptance.office import LOST_AFTER, TODAY
from tests.acceptance.page.test_afterwards import PEOPLE, done, unknowns
from tests.acceptance.page.test_month_on_page import judged, settled, totals, upload
from tests.acceptance.page.visiting import Answer, Served, Visit, serving

GOOD, ALTERED, ZIPPED, NEVER, LOST = (f"999{number:010}" for number in range(1, 6))
FAULTS = f"""
[[fault]]
kind = "file_altered"
tickets = ["{ALTERED}"]
[[fault]]
kind = "file_zip"
tickets = ["{ZIPPED}"]
[[fault]]
kind = "file_never"
tickets = ["{NEVER}"]
{LOST_AFTER}tickets = ["{LOST}"]
"""
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


class Mailed:
    """A page whose ledger issued five itineraries, the outcome of one unknown; and the mails, by their tickets."""

    def __init__(self, page: Served, desk: Desk, carrier: Sandbox) -> None:
        self.page, self.desk = page, desk
        numbers = {line["ticket_no"]: line["number"] for line in carrier.issued()}
        self.numbers = numbers
        self.mails = {
            ticket: path
            for ticket, number in numbers.items()
            if (path := desk.folder / "mails" / f"{number}.eml").exists()
        }

    def visit(self, name: str, lang: str = "en") -> Visit:
        visit = self.page.logged_in(name)
        visit.headers = {"Accept-Language": lang}
        return visit

    def picture(self) -> Path:
        path = self.desk.folder / "receipt <1>.png"
        path.write_bytes(PICTURE)
        return path

    def archive(self, *tickets: str) -> Path:
        path = self.desk.folder / "mails & co.zip"
        with zipfile.ZipFile(path, "w") as made:
            for ticket in tickets:
                made.write(self.mails[ticket], self.mails[ticket].name)
        return path


@pytest.fixture(scope="module")
def issued(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Sandbox]:
    desk = Desk(tmp_path_factory.mktemp("issued"))
    book = write_workbook(desk.folder / "may.xlsx", tickets(5))
    with running_sandbox(desk, book, faults=FAULTS, more=["--deliver-to", desk.folder / "mails"]) as carrier:
        profile = desk.profile(carrier.base_url)
        given = ("--profile", profile, "--ledger", desk.folder / "page-test.ledger", "--as-of", "2026-11-20")
        ran = desk.voucher("issue", book, *given, "--new-ledger")
        assert ran.code == 4, ran.err
    return desk.folder, carrier


@pytest.fixture
def mailed(issued: tuple[Path, Sandbox], tmp_path: Path) -> Iterator[Mailed]:
    folder, carrier = issued
    desk = Desk(tmp_path / "desk")
    shutil.copytree(folder, desk.folder)
    with serving(desk, "--profile", desk.folder / "carrier.toml", people=PEOPLE, sandbox=False) as page:
        yield Mailed(page, desk, carrier)


def brought(visit: Visit, *files: Path, page: str = "/itineraries") -> Answer:
    return upload(visit, page, *files, page=page, name="files" if page == "/itineraries" else "evidence")


def headline(page: Answer) -> str:
    found = re.search(r"<p[^>]* data-headline>([^<]*)</p>", page.text)
    assert found, page.said
    return found[1]


def counts(page: Answer) -> dict[str, int]:
    return {status: int(number) for status, number in re.findall(r'data-files="(\w+)">(\d+)<', page.text)}


def missing(page: Answer) -> list[str]:
    return re.findall(r'data-missing="(\d{13})"', page.text)


@pytest.mark.slow
def test_what_was_mailed_is_tied_to_its_tickets_and_what_has_not_come_is_named(mailed: Mailed) -> None:
    anna = mailed.visit("anna")
    assert headline(anna.get("/itineraries")) == (
        "4 itineraries issued, 0 received, 4 missing, the longest for 0 days"
    )
    came = done(
        anna, brought(anna, mailed.mails[GOOD], mailed.archive(ALTERED, ZIPPED, LOST), mailed.picture())
    )
    # What the ledger did not know of is issued: its file says so.
    assert headline(came) == "5 itineraries issued, 3 received, 1 altered, 1 missing for 0 days"
    assert counts(came) == {"received": 3, "altered": 1, "not_an_itinerary": 1}
    assert re.findall(r'data-odd="(\w+)"', came.text) == ["altered"]
    assert "Settled by evidence: 1 itinerary was issued" in came.said
    assert sorted(missing(came)) == [ALTERED, NEVER]
    assert f"mails &amp; co.zip / {mailed.mails[ALTERED].name} / " in came.text
    link = re.search(r'href="(/itineraries/\d+/itineraries\.xlsx)"', came.text)
    assert link, came.said
    book = openpyxl.load_workbook(BytesIO(anna.get(link[1]).body))
    assert book.sheetnames[:3] == ["Summary", "Files", "Missing"]
    assert len([*book["Files"].rows]) == 1 + 5
    # The first page of them says the same from now on; each ticket shows its file.
    standing = anna.get("/itineraries")
    assert (headline(standing), missing(standing)) == (headline(came), missing(came))
    assert unknowns(anna) == {}
    good, altered, never = (anna.get(f"/tickets/{ticket}") for ticket in (GOOD, ALTERED, NEVER))
    assert re.findall(r'data-file="(\w+)"', good.text) == ["received"]
    assert f"{mailed.numbers[GOOD]} intact" in good.said
    assert "data-awaited" not in good.text
    assert re.findall(r'data-(?:file|awaited)="(\w+)"', altered.text) == [mailed.numbers[ALTERED], "altered"]
    assert re.findall(r'data-(?:file|awaited)="(\w+)"', never.text) == [mailed.numbers[NEVER]]
    # Who did it is in the ledger, and the originals are in the archive.
    assert "begun: anna" in anna.get("/runs").said
    kept = [*(mailed.desk.folder / "page-test.ledger.itineraries").rglob("*.ofd")]
    assert len(kept) == 4


@pytest.mark.slow
def test_it_is_said_in_chinese_and_the_same_files_change_nothing(mailed: Mailed) -> None:
    anna = mailed.visit("anna", "zh")
    done(anna, brought(anna, mailed.mails[GOOD]))
    came = done(anna, brought(anna, mailed.mails[GOOD]))
    assert headline(came) == "已开具行程单 4 张：1 已收到、未收到 3（最长 0 天）"
    assert counts(came) == {"duplicate": 1}
    assert "data-odd" not in came.text, "the same file once more needs nobody"
    assert "行程单文件" in came.said


@pytest.mark.slow
def test_a_month_of_issuing_alone_is_shown_where_it_is_asked_for(mailed: Mailed) -> None:
    vera = mailed.visit("vera")
    assert headline(vera.get(f"/itineraries?month={TODAY:%Y-%m}")).startswith("4 itineraries issued")
    assert headline(vera.get("/itineraries?month=2001-01")) == "0 itineraries issued, 0 received"
    for nonsense in ("2026-13", "x", "2026"):
        assert vera.get(f"/itineraries?month={nonsense}").status == 400


@pytest.mark.slow
def test_only_an_approver_brings_files_and_everybody_sees_what_they_came_to(mailed: Mailed) -> None:
    for name in ("vera", "peter"):
        visit = mailed.visit(name)
        assert 'name="files"' not in visit.get("/itineraries").text
        assert upload(visit, "/itineraries", mailed.mails[GOOD], page="/account", name="files").status == 403
        assert visit.submit("/account", "/itineraries/1/again").status == 403
    assert work.latest(mailed.page.folder, "collect") == []
    anna = mailed.visit("anna")
    answer = brought(anna, mailed.mails[GOOD])
    done(anna, answer)
    vera = mailed.visit("vera")
    assert counts(vera.get(answer.location)) == {"received": 1}
    assert f"{answer.location}/again" not in vera.get(answer.location).text


@pytest.mark.slow
def test_no_file_and_too_large_a_field_are_told(mailed: Mailed) -> None:
    anna = mailed.visit("anna")
    answer = brought(anna)
    assert (answer.status, "No file was chosen" in answer.said) == (400, True)
    assert "200 MB together" in anna.get("/itineraries").said


@pytest.mark.slow
def test_itinerary_files_are_weighed_with_statements_and_alone_are_a_collection(mailed: Mailed) -> None:
    anna = mailed.visit("anna")
    listed = mailed.desk.folder / "listed.csv"
    shutil.copy(mailed.desk.folder / "carrier.statement.csv", listed)
    answer = brought(anna, listed, mailed.mails[GOOD], page="/reconcile")
    came = done(anna, answer)
    assert answer.location.startswith("/reconcile/")
    assert "Itinerary files: 1 received" in came.said
    assert headline(anna.get("/itineraries")).startswith("5 itineraries issued, 1 received")
    # What is neither is refused by its name.
    answer = brought(anna, mailed.archive(ZIPPED), page="/reconcile")
    assert counts(done(anna, answer)) == {"received": 1}
    assert answer.location.startswith("/itineraries/")
    packed = mailed.archive()
    with zipfile.ZipFile(packed, "a") as made:
        made.write(listed, listed.name)
    answer = brought(anna, packed, page="/reconcile")
    assert "/ listed.csv: was not read. A statement, or tickets, in an archive" in done(anna, answer).said
    answer = brought(anna, mailed.picture(), page="/reconcile")
    assert (answer.status, "is neither a workbook" in answer.said) == (415, True)
    assert upload(anna, "/months", mailed.mails[GOOD]).status == 415, "no month is made of mails"


@pytest.mark.slow
def test_dropped_onto_a_month_they_are_collected_and_the_month_is_judged_again(mailed: Mailed) -> None:
    anna, peter = mailed.visit("anna"), mailed.visit("peter")
    month = judged(peter, mailed.desk.folder / "may.xlsx")
    assert totals(peter.get(month)) == {"already_issued": 4, "unknown": 1}
    # What a preparer brings waits for an approver.
    upload(peter, f"{month}/files", mailed.mails[LOST], page=month)
    page = settled(peter, month)
    (brought_, *others) = month_uploads.uploads(mailed.page.folder, month.rpartition("/")[2], "itineraries")
    assert (brought_.name, others) == (mailed.mails[LOST].name, [])
    assert "that takes an approver" in page.said
    assert work.latest(mailed.page.folder, "collect") == []
    answer = anna.submit(month, f"{month}/reconcile", number=str(brought_.number))
    assert counts(done(anna, answer)) == {"received": 1}
    page = anna.until(month, lambda page: totals(page) == {"already_issued": 5})
    assert f'href="{answer.location}"' in page.text
    # What an approver brings is collected at once.
    answer = upload(anna, f"{month}/files", mailed.mails[GOOD], page=month)
    assert answer.status == 303, answer.said
    anna.until(
        "/itineraries",
        lambda page: headline(page).startswith("5 itineraries issued, 2 received"),
    )


@pytest.mark.slow
def test_files_are_not_lost_when_their_work_is_killed(mailed: Mailed) -> None:
    anna = mailed.visit("anna")
    with contextlib.closing(Lock(mailed.page.ledger)) as held:
        held.used_by(InUse("peter", "2026-11-20T01:00:00+00:00", on_page=True, process=os.getpid()))
        answer = brought(anna, mailed.mails[GOOD])
        anna.until(answer.location, lambda page: "what was brought is kept" in page.said)
        (begun,) = work.latest(mailed.page.folder, "collect")
        assert anna.submit("/itineraries", f"{answer.location}/again").status == 409
        os.kill(process_of(mailed.page.folder, begun.id) or 0, signal.SIGKILL)
        killed = anna.until(answer.location, lambda page: "data-live" not in page.text)
    assert "The files that were brought are kept" in killed.said
    mailed.mails[GOOD].unlink()
    again = anna.submit(answer.location, f"{answer.location}/again")
    assert counts(done(anna, again)) == {"received": 1}
