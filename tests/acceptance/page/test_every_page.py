"""Every page in a real browser: pictures of it, nothing that axe-core finds hard to use, nothing that sticks out, in both languages, light and dark,
wide and narrow."""

import datetime
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pipeline.page.routes import ROUTES
from pipeline.page.visitor import Role
from tests.acceptance.conftest import REPOSITORY, Desk, running_sandbox, write_workbook
from tests.acceptance.office import LOST_AFTER, LOST_BEFORE
from tests.acceptance.page.browser import Window
from tests.acceptance.page.conftest import Browsing
from tests.acceptance.page.test_month_on_page import DEMONSTRATION, digest, sent, settled, today, upload
from tests.acceptance.page.visiting import PASSWORD, Answer, Served, Visit, serving

pytestmark = pytest.mark.slow

SAMPLES = [REPOSITORY / "sample_data" / name for name in ("tickets-2026-10.xlsx", "tickets-2026-10-zh.xlsx")]
LONG = "国内出票明细（含退票与附加服务）上海分公司与杭州分公司合并_2026-10_final_FINAL_reviewed-by-finance-2.xlsx"
ALTERED = '[[fault]]\nkind = "file_altered"\ntickets = ["9990000000004"]\n'
PEOPLE = {"adam": Role.ADMINISTRATOR, "anna": Role.APPROVER, "peter": Role.PREPARER}
#: Rules of axe-core's that look at colours, which costs it three times what all others do.
COLOURS = ("color-contrast", "link-in-text-block")
COLOURS_ALONE = {"runOnly": {"type": "rule", "values": COLOURS}}
ALL_BUT_COLOURS = {"rules": {rule: {"enabled": False} for rule in COLOURS}}
#: Each as (width, dark, options of axe-core, None: it is not asked). Colours are the same at every width and in both languages, nothing but they
#: differs in the dark, and what fits fits there, too. In Chinese other words stand in the same marks: they are looked at where they have least room.
LOOKS: dict[str, tuple[tuple[int, bool, Mapping[str, Any] | None], ...]] = {
    "en": ((1280, False, {}), (1280, True, COLOURS_ALONE), (390, False, ALL_BUT_COLOURS)),
    "zh": ((1280, False, None), (1280, True, None), (390, False, ALL_BUT_COLOURS)),
}
#: Routes that are no pages, but files to save, or the link that opens the page.
NO_PAGES = {
    "/healthz", "/static/{version}/{name}", "/open", "/months/{month}/results/{name}", "/months/{month}/columns.toml",
    "/register/download", "/reconcile/statement.csv", "/reconcile/{work}/{name}", "/register/{work}/{name}", "/ledger/{work}/{name}",
    "/itineraries/{work}/{name}",
}  # fmt: skip


@dataclass
class Office:
    """A page with something on every one of its pages; `pages` are their addresses, by the names of their pictures."""

    served: Served
    pages: dict[str, str]


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """Whoever looks at it changes nothing."""
    tmp_path = tmp_path_factory.mktemp("office")
    desk = Desk(tmp_path)
    day = (datetime.datetime.now(datetime.UTC).date() - datetime.timedelta(days=170)).isoformat()
    rows = [
        {"ticket_no": f"999{number:010}", "flight_date": day, "passenger_name": f"ZHANG/WEI MR {number}"}
        for number in range(1, 9)
    ]
    first = write_workbook(tmp_path / LONG, rows[:4])
    second = write_workbook(tmp_path / "second.xlsx", rows[4:])
    with running_sandbox(
        desk,
        write_workbook(tmp_path / "all.xlsx", rows),
        faults=f"{LOST_AFTER}requests = [1]\n{LOST_BEFORE}requests = [2]\n{ALTERED}",
        more=(*today(), "--deliver-to", tmp_path / "mails"),
    ) as carrier:
        profile = desk.profile(carrier.base_url, concurrency=1, more="[approval]\npeople = 2\n")
        with serving(desk, "--profile", profile, "--new-ledger", people=PEOPLE, sandbox=False) as served:
            mails = tmp_path / "mails"
            yield Office(served, _filled(served, first, second, Path(carrier.statement), mails))


def _filled(served: Served, first: Path, second: Path, statement: Path, mails: Path) -> dict[str, str]:
    adam, anna, peter = (served.logged_in(name) for name in PEOPLE)

    def begun(*files: Path, title: str = "") -> str:
        month = upload(peter, "/months", *files, title=title).location
        settled_or_told(peter, month)
        return month

    def approved(month: str) -> str:
        plan = digest(peter, month)
        assert peter.submit(month, f"{month}/propose", digest=plan).status == 303
        assert anna.submit(month, f"{month}/approve", digest=plan).status == 303
        return month

    month_sent = approved(begun(first))
    sent(anna, month_sent)
    settled(anna, month_sent)
    mixed = begun(*SAMPLES, title="十月，上海分公司")
    row = f"{mixed}/rows/125"
    peter.submit(row, row, **{"cell.ticket_no": "9992437029999", "seen.ticket_no": "182412774069"})
    settled(peter, mixed)
    strange = first.with_name("another agency's list.csv")
    strange.write_text("甲,乙,丙\n9990000000001,ZHANG/WEI,100\n", encoding="utf-8")
    work = {
        "collected": upload(adam, "/itineraries", *_brought(mails), page="/itineraries", name="files"),
        "reconciled": upload(adam, "/reconcile", statement, page="/reconcile", name="evidence"),
        "registered": adam.get("/register/download?month=2001-01"),  # of a month without any
        "ledger-checked": adam.submit("/ledger", "/ledger/check"),
    }
    unread = begun(strange)
    return {
        "months": "/", "account": "/account", "no-page": "/months/none", "deadlines": "/deadlines", "unknown": "/unknown",
        "reconcile": "/reconcile", "itineraries": "/itineraries", "register": "/register", "runs": "/runs", "ledger": "/ledger", "tickets": "/tickets?number=12",
        "ticket": "/tickets/9990000000002", "ticket-file": "/tickets/9990000000004", "ticket-unknown": "/tickets/9990000000001", "ticket-none": "/tickets/9991111111111",
        "month-sent": month_sent, "month-mixed": mixed, "month-unread": unread, "rows": f"{mixed}/rows",
        "rows-to-correct": f"{mixed}/rows?status=failing", "rows-none": f"{mixed}/rows?q=nobody", "row": row,
        "row-wrong": f"{mixed}/rows/136", "row-sent": f"{month_sent}/rows/1", "buyers": f"{mixed}/buyers", "requests": f"{mixed}/requests",
        "columns": f"{mixed}/columns", "columns-unread": f"{unread}/columns",
        "send": f"{approved(begun(second, title='November'))}/send",
    } | {name: _ended(adam, answer) for name, answer in work.items()}  # fmt: skip


def _brought(mails: Path) -> list[Path]:
    """Two of three mails, in an archive of a long name, and a picture."""
    wanted, _, altered = sorted(mails.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    archive, picture = mails.with_name(LONG.replace(".xlsx", ".zip")), mails.with_name("登机牌 <1>.png")
    with zipfile.ZipFile(archive, "w") as made:
        for mail in (wanted, altered):
            made.write(mail, mail.name)
    picture.write_bytes(b"\x89PNG\r\n\x1a\n")
    return [archive, picture]


def settled_or_told(visit: Visit, month: str) -> None:
    """Wait until a month is judged, or it is told why it can't be."""
    visit.until(month, lambda page: 'data-state="reading"' not in page.text or "alert" in page.text)


def _ended(visit: Visit, answer: Answer) -> str:
    """The page of what was begun, when it has ended."""
    assert answer.status == 303, answer.said
    visit.until(answer.location, lambda page: "data-live" not in page.text)
    return answer.location


def looked_at(one: Window, name: str, lang: str) -> list[str]:
    """What is wrong with the page that is open, however it is looked at; pictures of it are kept."""
    wrong = []
    for width, dark, options in LOOKS[lang]:
        one.look(width, dark=dark)
        how = f"{name}-{lang}-{width}-{'dark' if dark else 'light'}"
        one.shoot(how)
        found = [*one.sideways(), *(one.hard_to_use(options) if options is not None else ())]
        wrong += [f"{how}: {each}" for each in found]
    return wrong


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_page_is_usable_for_everybody_and_fits_its_screen(
    lang: str, office: Office, browsing: Browsing
) -> None:
    wanted = {route.path for route in ROUTES if route.method == "GET" and not route.background} - NO_PAGES
    with browsing(office.served.address, lang=lang) as one:
        one.go("/login")
        wrong = looked_at(one, "login", lang)
        one.log_in("adam", PASSWORD)
        seen = {"/login"}
        for name, path in office.pages.items():
            one.go(path)
            wrong += looked_at(one, name, lang)
            plain = path.partition("?")[0]
            seen |= {route for route in wanted if re.fullmatch(re.sub(r"{\w+}", "[^/]+", route), plain)}
        one.go(office.pages["month-mixed"])
        one.print(f"month-mixed-{lang}")
        one.go(office.pages["rows-to-correct"])
        one.print(f"rows-to-correct-{lang}")
    assert wrong == []
    assert seen == wanted, "a page that is not looked at"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_page_that_is_new_is_usable_as_well(lang: str, desk: Desk, browsing: Browsing) -> None:
    with serving(desk, *DEMONSTRATION) as served, browsing(served.address, lang=lang) as one:
        one.go("/")
        wrong = looked_at(one, "link", lang)
        one.go(served.link)
        one.choose_files(*SAMPLES)
        wrong += looked_at(one, "months-demonstration", lang)
        for name, path in {"unknown": "/unknown", "runs": "/runs", "deadlines": "/deadlines"}.items():
            one.go(path)
            wrong += looked_at(one, f"{name}-empty", lang)
    assert wrong == []
