"""The mapping assistant: what files are read as, what somebody says of it, for the month and for the team."""

import re
import time
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from pipeline.page.visitor import Role
from tests.acceptance.conftest import BUYERS, Desk
from tests.acceptance.page.test_month_on_page import judged, settled, state, totals, upload
from tests.acceptance.page.visiting import Answer, Served, Visit, serving

PEOPLE = {"vera": Role.VIEWER, "peter": Role.PREPARER, "paul": Role.PREPARER}
GOOD = {
    "ticket_no": "9991234567890",
    "passenger_name": "ZHANG/WEI MR",
    "Sorte": "ticket_fare",
    "amount": 1000,
    "market": "domestic",
    "ticket_status": "geflogen",
    "flight_date": "2026-10-01",
    "buyer": "ACME",
    "<b>x": "<script>",
}


def strange(folder: Path, rows: int = 2, name: str = "strange.xlsx", **changes: str) -> Path:
    """A workbook with a heading and a value that nobody knows; `changes` are headings by the ones that they stand for."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Tickets"
    sheet.append([changes.get(heading, heading) for heading in GOOD])
    for number in range(rows):
        sheet.append([*{**GOOD, "ticket_no": f"999000000{number:04}"}.values()])
    other = book.create_sheet("Buyers")
    for line in BUYERS:
        other.append(list(line))
    book.save(folder / name)
    return folder / name


@pytest.fixture
def page(desk: Desk) -> Iterator[Served]:
    with serving(desk, "--as-of", "2026-11-20", people=PEOPLE) as served:
        yield served


def shown(visit: Visit, month: str) -> Answer:
    """The assistant, when the headings were looked at."""
    deadline = time.monotonic() + 60
    while "data-live" in (answer := visit.get(f"{month}/columns")).text:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert answer.status == 200, answer.said
    assert "data-sheet" in answer.text, answer.said
    return answer


def fields(page: Answer) -> dict[str, str]:
    """What the form says as it is shown, by field."""
    found = {}
    for name, options in re.findall(r'<select name="([^"]+)".*?>(.*?)</select>', page.text, re.DOTALL):
        chosen = re.search(r'value="([^"]*)" selected', options)
        found[name] = chosen[1] if chosen else ""
    version = re.search(r'name="version" value="(\d+)"', page.text)
    assert version
    return {**found, "version": version[1]}


def field_of(page: Answer, label: str) -> str:
    found = re.search(rf'<select name="([^"]+)" aria-label="What {re.escape(label)} means"', page.text)
    assert found, page.said
    return found[1]


def say(visit: Visit, month: str, **said: str) -> Answer:
    """Fill the form in as it is shown, with these changes by what they are about, and save it."""
    page = shown(visit, month)
    given = {**fields(page), **{field_of(page, label): value for label, value in said.items()}}
    return visit.post(f"{month}/columns", {"csrf": page.csrf, "do": "save", **given})


def press(visit: Visit, month: str, do: str, seen: Answer | None = None) -> Answer:
    """Press one of the buttons about the mapping as a whole, as the page was when it was seen."""
    page = seen or visit.get(f"{month}/columns")
    form = page.text.rpartition("<form")[2] if 'name="team"' in page.text else ""
    hidden = dict(re.findall(r'type="hidden" name="(version|team)" value="([^"]*)"', form))
    return visit.post(f"{month}/columns", {"csrf": page.csrf, "do": do, **hidden})


def toml(visit: Visit, month: str) -> Mapping[str, Any]:
    answer = visit.get(f"{month}/columns.toml")
    assert answer.headers["Content-Disposition"].startswith("attachment")
    return tomllib.loads(answer.text)


@pytest.mark.slow
def test_what_a_heading_and_a_value_mean_is_said_once_and_the_month_is_judged_anew(
    page: Served, desk: Desk
) -> None:
    peter = page.logged_in("peter")
    month = judged(peter, strange(desk.folder))
    assert totals(peter.get(month)) == {"invalid": 2}
    seen = shown(peter, month)
    assert "Sorte" in seen.said
    assert "<script>" not in seen.text.partition("<main")[2]
    answer = say(peter, month, Sorte="charge", geflogen="used")
    assert answer.status == 303, answer.said
    assert totals(settled(peter, month)) == {"ready": 2}
    kept = toml(peter, month)
    assert kept["headings"]["Sorte"] == "charge"
    assert kept["values"]["ticket_status"]["geflogen"] == "used"
    # What is said a second time is said in its place, though the mapping has the word as it folds it.
    assert say(peter, month, Sorte="-").status == 303
    assert totals(settled(peter, month)) == {"invalid": 2}
    assert [text for word, text in toml(peter, month)["headings"].items() if word.casefold() == "sorte"] == [
        ""
    ]


@pytest.mark.slow
def test_a_month_that_can_not_be_read_leads_to_the_assistant_which_cures_it(page: Served, desk: Desk) -> None:
    peter = page.logged_in("peter")
    odd = strange(
        desk.folder, ticket_no="Beleg", passenger_name="Wer", amount="Summe", market="Wo", ticket_status="Stand",
        flight_date="Tag", buyer="An",
    )  # fmt: skip
    month = upload(peter, "/months", odd).location
    deadline = time.monotonic() + 60
    while "Say what the headings mean" not in (seen := peter.get(month)).said:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert state(seen) == "reading"
    assert f'href="{month}/columns"' in seen.text
    assert "--columns" not in seen.said
    assert "strange.xlsx: holds buyers, but no tickets that can be read. Say under Columns" in seen.said
    assert str(desk.folder) not in seen.text
    said = {
        "Beleg": "ticket_no", "Wer": "passenger_name", "Sorte": "charge", "Summe": "amount", "Wo": "market",
        "Stand": "ticket_status", "Tag": "flight_date", "An": "buyer",
    }  # fmt: skip
    assert say(peter, month, **said).status == 303
    assert totals(settled(peter, month)) == {"invalid": 2}
    assert say(peter, month, geflogen="used").status == 303
    assert totals(settled(peter, month)) == {"ready": 2}


@pytest.mark.slow
def test_new_months_begin_with_the_teams_mapping_and_say_who_saved_it(page: Served, desk: Desk) -> None:
    peter, vera = page.logged_in("peter"), page.logged_in("vera")
    month = judged(peter, strange(desk.folder))
    say(peter, month, Sorte="charge", geflogen="used")
    settled(peter, month)
    assert press(peter, month, "keep").status == 303
    other = judged(page.logged_in("paul"), strange(desk.folder, 3, "december.xlsx"))
    assert totals(peter.get(other)) == {"ready": 3}
    assert "which peter saved from strange.xlsx on" in vera.get(f"{other}/columns").said
    assert "<select" in vera.get(f"{other}/columns").text
    assert "Save, and judge" not in vera.get(f"{other}/columns").said
    assert vera.submit("/account", f"{other}/columns", do="remove").status == 403
    press(peter, other, "remove")
    assert totals(settled(peter, other)) == {"invalid": 3}
    assert peter.get(f"{other}/columns.toml").status == 404
    press(peter, other, "take")
    assert totals(settled(peter, other)) == {"ready": 3}
    press(peter, other, "forget")
    assert "The team has no mapping" in peter.get(f"{other}/columns").said


@pytest.mark.slow
def test_what_somebody_else_changed_meanwhile_is_not_overwritten(page: Served, desk: Desk) -> None:
    peter, paul = page.logged_in("peter"), page.logged_in("paul")
    month = judged(peter, strange(desk.folder))
    seen = shown(paul, month)
    say(peter, month, Sorte="charge")
    shown(peter, month)
    late = paul.post(f"{month}/columns", {"csrf": seen.csrf, "do": "save", **fields(seen)})
    assert (late.status, "nothing was saved" in late.said) == (409, True)
    assert toml(peter, month)["headings"]["Sorte"] == "charge"


@pytest.mark.slow
def test_what_the_team_or_the_month_has_is_not_replaced_by_a_press_on_an_old_page(
    page: Served, desk: Desk
) -> None:
    peter, paul = page.logged_in("peter"), page.logged_in("paul")
    month = judged(peter, strange(desk.folder))
    other = judged(peter, strange(desk.folder, name="other.xlsx"))
    say(peter, month, Sorte="charge")
    say(peter, other, geflogen="used")
    seen, of_other = shown(paul, month), shown(paul, other)
    say(peter, month, geflogen="used")
    newer = toml(peter, month)
    for do in ("remove", "keep"):
        assert press(paul, month, do, seen).status == 409, do
    assert toml(peter, month) == newer
    assert press(peter, month, "keep").status == 303
    # The team has a mapping now, which paul's page of the other month does not show.
    for do in ("keep", "take", "forget"):
        assert press(paul, other, do, of_other).status == 409, do
    assert "which peter saved from strange.xlsx on" in paul.get(f"{other}/columns").said
    assert toml(peter, other) != newer
    assert press(paul, other, "forget").status == 303
    told = peter.get(other).said
    assert "paul : removed the team's mapping, which peter saved from strange.xlsx" in told


@pytest.mark.slow
def test_the_assistant_speaks_chinese(page: Served, desk: Desk) -> None:
    peter = page.logged_in("peter")
    peter.headers = {"Accept-Language": "zh"}
    month = judged(peter, strange(desk.folder))
    assert "未知" in shown(peter, month).said
