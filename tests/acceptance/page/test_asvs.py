"""That the list of ASVS.md is whole and names tests that are there; and what of it no other test shows."""

import re
from pathlib import Path

import pytest

from pipeline.page.routes import ROUTES, Route
from pipeline.page.visitor import Role
from tests.acceptance.conftest import KEYS, Desk, write_workbook
from tests.acceptance.page.test_month_on_page import judged
from tests.acceptance.page.visiting import serving
from tests.catalogue import TEMPLATES

TESTS = Path(__file__).parents[2]
LIST = Path(__file__).with_name("ASVS.md").read_text(encoding="utf-8")
#: How many requirements of level 1 and 2 each section has in ASVS 4.0.3 (3.6 is of level 3 alone; 4.1.4 was taken out).
SECTIONS = {
    "2.1": 12, "2.2": 3, "2.3": 3, "2.4": 5, "2.5": 7, "2.6": 3, "2.7": 6, "2.8": 6, "2.9": 3, "2.10": 4,
    "3.1": 1, "3.2": 4, "3.3": 4, "3.4": 5, "3.5": 3, "3.7": 1,
    "4.1": 4, "4.2": 2, "4.3": 3,
}  # fmt: skip


def test_the_list_has_every_requirement_once() -> None:
    numbers = re.findall(r"^\| (\d+\.\d+)\.\d+ \|", LIST, re.MULTILINE)
    assert {section: numbers.count(section) for section in SECTIONS} == SECTIONS
    assert (
        len(numbers) == sum(SECTIONS.values()) == len(set(re.findall(r"^\| ([\d.]+) \|", LIST, re.MULTILINE)))
    )


def test_every_test_that_it_names_is_there() -> None:
    last, named = "", 0
    for name in re.findall(r"`((?:unit|acceptance)/[\w/]+|test_\w+)`", LIST.partition("\n## ")[2]):
        if "/" in name:
            folder, _, stem = name.rpartition("/")
            last = (TESTS / folder / f"test_{stem}.py").read_text(encoding="utf-8")
        else:
            assert f"\ndef {name}(" in last, name
            named += 1
    assert named > 40


def test_every_requirement_has_a_test_or_a_reason() -> None:
    for number, reason in re.findall(r"^\| ([\d.]+) \|[^|]+\| (.+) \|$", LIST, re.MULTILINE):
        assert "`test_" in reason or len(reason) > 10, number


def test_password_fields_are_for_password_managers() -> None:
    fields = [
        field for path in TEMPLATES.glob("*.html")
        for field in re.findall(r'<input[^>]*type="password"[^>]*>', path.read_text(encoding="utf-8"))
    ]  # fmt: skip
    assert len(fields) == 4
    for field in fields:
        assert re.search(r'autocomplete="(current|new)-password"', field)
        assert "onpaste" not in field
        assert "maxlength" not in field


def _path(route: Route, month: str) -> str:
    """The address of a route, with a month that is there, its first row, and what is made first."""
    places = {
        "month": month,
        "row": "0",
        "work": "1",
        "name": "page.js",
        "version": "1",
        "ticket": "9990000000001",
    }
    return route.path.format(**places)


@pytest.mark.slow
def test_no_key_is_in_a_page_or_a_file(desk: Desk) -> None:
    profile = desk.profile("http://127.0.0.1:1")
    with serving(
        desk, "--profile", profile, "--new-ledger", people={"adam": Role.ADMINISTRATOR}, sandbox=False
    ) as page:
        visit = page.logged_in("adam")
        month = judged(visit, write_workbook(desk.folder / "may.xlsx", [{"ticket_no": "9990000000001"}]))
        backup = visit.submit("/ledger", "/ledger/backup").location
        page_of_backup = visit.until(backup, lambda answer: "data-live" not in answer.text).text
        paths = ["/no-such-page", *re.findall(r'href="(/ledger/\d+/[^"]+)"', page_of_backup)]
        paths += [_path(route, month.rpartition("/")[2]) for route in ROUTES if route.method == "GET"]
        answers = [visit.get(path) for path in paths]
        assert all(answer.status < 500 for answer in answers)
        pages = [f"{answer.headers}{answer.body!r}" for answer in answers]
        files = [path.read_bytes() for path in desk.folder.rglob("*") if path.is_file()]
        told = page.process.told()
    for key in KEYS.values():
        assert key not in told
        assert not [text for text in pages if key in text]
        assert not [content for content in files if key.encode() in content]


@pytest.mark.slow
def test_no_token_stands_in_an_address(desk: Desk) -> None:
    with serving(desk, people={"adam": Role.ADMINISTRATOR}) as page:
        visit = page.visit()
        answer = visit.log_in("adam")
        [session] = visit.cookies.values()
        assert session not in answer.location
        for path in ("/", "/account"):
            assert session not in visit.get(path).text
        assert not re.search(r'(?:href|action|src)="[^"]*(?:csrf|token|session)', visit.get("/").text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["__Host-voucher-session", "voucher-session", "session", "voucher-session-1"]
)
def test_a_cookie_of_another_name_is_none(desk: Desk, name: str) -> None:
    with serving(desk, people={"adam": Role.ADMINISTRATOR}) as page:
        visit = page.logged_in("adam")
        [session] = visit.cookies.values()
        visit.cookies = {name: session}
        assert visit.get("/").location == "/login"
