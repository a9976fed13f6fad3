"""Corrections of rows and buyers on the page: each lands where the person saw it, or nowhere."""

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import openpyxl
import pytest

from pipeline.page import month_corrections, months, work
from pipeline.page.month_corrections import Correction
from pipeline.page.rows_file import CHARGES
from pipeline.page.visitor import Role
from tests.acceptance.conftest import Desk, write_workbook
from tests.acceptance.page.test_month_on_page import (
    DEMONSTRATION,
    SAMPLE,
    digest,
    judged,
    settled,
    state,
    upload,
)
from tests.acceptance.page.visiting import Answer, Served, Visit, serving

PEOPLE = {"anna": Role.APPROVER, "peter": Role.PREPARER, "vera": Role.VIEWER}
ROWS: list[dict[str, Any]] = [
    {"ticket_no": f"99900000000{number:02}", "flight_date": "2026-10-02"} for number in range(10)
]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(Desk(tmp_path_factory.mktemp("desk")), *DEMONSTRATION, people=PEOPLE) as page:
        yield page


def kept(served: Served, month: str) -> list[tuple[str, int, str, str]]:
    """The corrections that stand."""
    found = month_corrections.corrections(served.folder, month.rsplit("/", maxsplit=1)[-1])
    return [(one.file, one.line, one.column, one.value) for one in found]


def options(page: Answer, column: str, row: int = 0) -> dict[str, str]:
    """A drop-down's texts by what each of them says to the server."""
    found = re.search(
        rf'<select [^>]*data-row="{row}" data-column="{column}".*?</select>', page.text, re.DOTALL
    )
    assert found, page.said
    told = re.findall(r'<option value="([^"]*)"( selected)?>([^<]*)<', found[0])
    return {
        html.unescape(value): html.unescape(text) + ("!" if chosen else "") for value, chosen, text in told
    }


@pytest.mark.slow
def test_a_correction_of_a_row_that_stands_elsewhere_by_now_is_not_saved(
    served: Served, tmp_path: Path
) -> None:
    anna = served.logged_in("anna")
    first, second = (
        write_workbook(tmp_path / name, rows)
        for name, rows in (("first.xlsx", ROWS[:4]), ("second.xlsx", ROWS[4:8]))
    )
    month = judged(anna, first, second)
    path = f"{month}/rows/3"
    old = anna.get(path)
    place = re.search(r'data-place="([^"]+)"', old.text)
    assert place
    now = f"{path}/state?{html.unescape(place[1])}"
    assert anna.get(now, Accept="application/json").status == 200
    assert anna.submit(month, f"{month}/take-out", number="1").status == 303
    # While it is judged anew no correction is kept of a file that is not there, which could not be judged.
    fields = {"csrf": old.csrf, **old.hidden(path), "cell.remarks": "mine", "seen.remarks": ""}
    assert anna.post(path, fields).status == 409
    settled(anna, month)
    answer = anna.post(path, fields)
    assert (answer.status, "Another row stands here" in answer.said) == (409, True)
    assert anna.get(now, Accept="application/json").status == 409
    assert anna.post(path, {"csrf": old.csrf, "cell.remarks": "mine", "seen.remarks": ""}).status == 409
    assert kept(served, month) == []
    assert anna.submit(path, path, **{"cell.remarks": "mine"}).status == 303
    assert kept(served, month) == [("second.xlsx", 5, "remarks", "mine")]


@pytest.mark.slow
def test_a_column_that_a_row_has_not_is_refused(served: Served, tmp_path: Path) -> None:
    anna = served.logged_in("anna")
    month = judged(anna, write_workbook(tmp_path / "one.xlsx", ROWS[:1]))
    path = f"{month}/rows/0"
    answer = anna.submit(path, path, **{"cell.nothing": "x", "seen.nothing": "", "cell.remarks": "x"})
    assert answer.status == 400
    assert kept(served, month) == []


@pytest.mark.slow
def test_a_cell_of_several_lines_keeps_them(served: Served, tmp_path: Path) -> None:
    anna = served.logged_in("anna")
    month = judged(anna, write_workbook(tmp_path / "one.xlsx", [ROWS[0] | {"remarks": "first\nsecond"}]))
    path = f"{month}/rows/0"
    page = anna.get(path)
    shown = re.search(r'<textarea [^>]*data-column="remarks"[^>]*>([^<]*)</textarea>', page.text)
    assert shown
    assert shown[1] == "first\nsecond" == page.hidden(path)["seen.remarks"]
    # As a browser sends its forms.
    sent = {name: value.replace("\n", "\r\n") for name, value in page.hidden(path).items()}
    untouched = {"cell.remarks": "first\r\nsecond", "cell.buyer": sent["seen.buyer"]}
    assert anna.post(path, {"csrf": page.csrf, **sent, **untouched}).status == 303
    assert kept(served, month) == []
    assert anna.post(path, {"csrf": page.csrf, **sent, "cell.remarks": "first\r\nthird"}).status == 303
    assert kept(served, month) == [("one.xlsx", 2, "remarks", "first\nthird")]


@pytest.mark.slow
@pytest.mark.parametrize(("lang", "word"), [("zh", "自动"), ("en", "auto")])
def test_a_drop_down_that_nobody_touches_says_what_the_cell_says(
    lang: str, word: str, served: Served, tmp_path: Path
) -> None:
    anna = served.logged_in("anna")
    anna.headers = {"Accept-Language": lang}
    rows = [ROWS[0] | {"voucher": "auto"}, ROWS[1] | {"voucher": "nonsense", "buyer": "Nobody Ltd"}]
    month = judged(anna, write_workbook(tmp_path / "one.xlsx", rows))
    path = f"{month}/rows/0"
    voucher = options(anna.get(path), "voucher")
    assert voucher["auto"] == f"{word}!"
    assert len({*voucher.values()}) == len(voucher) == 4, "each once, and none"
    other = anna.get(f"{month}/rows/1")
    assert options(other, "voucher", 1)["nonsense"] == "nonsense!"
    buyers = options(other, "buyer", 1)
    assert {text for text in buyers.values() if text.endswith("!")} == {"Nobody Ltd!"}
    assert {"", "ACME"} < {*buyers}


@pytest.mark.slow
def test_a_buyer_is_not_replaced_by_whoever_did_not_see_it(served: Served, tmp_path: Path) -> None:
    anna, peter = served.logged_in("anna"), served.logged_in("peter")
    month = judged(anna, write_workbook(tmp_path / "one.xlsx", ROWS[:1]))
    path, own = f"{month}/buyers", f"{month}/buyers?buyer=ACME"
    seen = peter.get(own)
    said = seen.hidden(path)
    given = {name.removeprefix("seen."): value for name, value in said.items() if name != "csrf"}
    assert anna.submit(own, path, **given | {"header_name": "Acme of Anna"}).status == 303
    answer = peter.post(path, {"csrf": seen.csrf, **said, **given, "header_name": "Acme of Peter"})
    assert answer.status == 409
    assert "anna has entered the buyer ACME otherwise: it says" in answer.said
    assert "Acme of Anna" in answer.said
    # A new one under a name that there is, in whatever letters.
    answer = peter.submit(path, path, **given | {"buyer": "acme", "header_name": "Another"})
    assert answer.status == 409
    assert [one["header_name"] for one in month_corrections.buyers(served.folder, month.rsplit("/")[-1])] == [
        "Acme of Anna"
    ]
    assert peter.submit(own, path, **given | {"header_name": "Acme of both"}).status == 303
    new = given | {"buyer": "New Ltd", "header_name": "New Ltd"}
    assert peter.submit(path, path, **new).status == 303
    assert [one["header_name"] for one in month_corrections.buyers(served.folder, month.rsplit("/")[-1])] == [
        "Acme of both", "New Ltd",
    ]  # fmt: skip


@pytest.mark.slow
def test_a_correction_is_taken_back_where_it_keeps_a_month_from_being_judged(
    served: Served, tmp_path: Path
) -> None:
    anna = served.logged_in("anna")
    book = write_workbook(tmp_path / "one.xlsx", ROWS[:1])
    month = judged(anna, book)
    # A mapping or another file of that name may leave the row out.
    number = month.rsplit("/")[-1]
    gone = Correction(book.name, "Tickets", 99, "remarks", "mine", "")
    month_corrections.correct(served.folder, number, [gone], {}, "peter")
    anna.submit(month, f"{month}/judge")
    page = anna.until(month, lambda page: "take the correction back" in page.said)
    assert state(page) == "reading"
    assert "take-back" not in served.logged_in("vera").get(month).text
    back = page.hidden(f"{month}/take-back")
    answer = anna.submit(month, f"{month}/take-back", seen="another")
    assert (answer.status, kept(served, month)[0][-1]) == (409, "mine")
    assert anna.submit(month, f"{month}/take-back").status == 303
    assert kept(served, month) == []
    answer = anna.post(f"{month}/take-back", {**back, "csrf": anna.get(month).csrf})
    assert (answer.status, "taken back meanwhile" in answer.said) == (409, True)
    assert state(settled(anna, month)) == "checked"


@pytest.mark.slow
def test_a_plan_is_seen_request_by_request_with_its_digest(served: Served) -> None:
    vera, anna = served.logged_in("vera"), served.logged_in("anna")
    month = judged(anna, SAMPLE, SAMPLE.with_name("tickets-2026-10.xlsx"))
    plan = digest(anna, f"{month}/send")
    for page in (month, f"{month}/send"):
        assert f'href="{month}/requests"' in anna.get(page).text
    found = list[str]()
    for number in range(1, 4):
        page = vera.get(f"{month}/requests?page={number}")
        assert f"Plan {plan[:12]}" in page.said
        found += re.findall(r'<td class="ticket"><a href="/tickets/(\d+)"', page.text)
        if 'rel="next"' not in page.text:
            break
    standing = months.find(served.folder, month.rsplit("/")[-1])
    assert standing
    assert standing.plan
    assert len(found) == standing.plan.tallies["ready"][0] > CHARGES, "more than a screen of them"
    assert f"{standing.plan.request_count} requests with {len(found)} charges" in page.said
    assert f"request {standing.plan.request_count} of {standing.plan.request_count}" in page.said


@pytest.mark.slow
def test_what_presses_is_seen_by_reason_and_by_voucher(served: Served) -> None:
    vera, anna = served.logged_in("vera"), served.logged_in("anna")
    month = judged(anna, SAMPLE)
    page = vera.get(month)
    links = re.findall(
        r'href="(/months/\w+/rows\?reason=\w+)">[^<]+</a></th><td class="number">(\d+)<', page.text
    )
    assert links
    for link, rows in links:
        shown = vera.get(link).text
        assert len(re.findall("data-row-status=", shown)) == min(int(rows), 50)
    standing = months.find(served.folder, month.rsplit("/")[-1])
    assert standing
    assert standing.plan
    assert standing.plan.vouchers
    for _, charges, *_ in standing.plan.vouchers:
        assert re.search(rf'<td class="number spare">{charges}</td>', page.text)


@pytest.mark.slow
def test_headings_that_can_not_be_looked_at_are_looked_at_again_when_somebody_asks(
    served: Served, tmp_path: Path
) -> None:
    anna = served.logged_in("anna")
    (tmp_path / "broken.xlsx").write_bytes(b"PK\x03\x04 and nothing more")
    month = upload(anna, "/months", tmp_path / "broken.xlsx").location
    anna.until(month, lambda page: "alert" in page.text)

    def last_survey(visit: Visit) -> int:
        visit.until(f"{month}/columns", lambda page: "data-live" not in page.text)
        (one,) = work.of_month(
            served.folder, month.rsplit("/")[-1], "survey"
        )  # of those that ended the last is kept
        return one.id

    first = last_survey(anna)
    assert last_survey(anna) == first
    page = anna.get(f"{month}/columns")
    assert "broken.xlsx" in page.said
    assert anna.submit(f"{month}/columns", f"{month}/columns", do="look").status == 303
    assert last_survey(anna) > first


BACKWARDS = "\u202e"  # what comes after it is shown from right to left


@pytest.mark.slow
def test_no_page_shows_a_name_that_turns_its_text_around(served: Served, tmp_path: Path) -> None:
    anna = served.logged_in("anna")
    bad = f"x{BACKWARDS}slx"
    cells = {"passenger_name": bad, "remarks": f"a\n{bad}", bad: bad}
    rows = [ROWS[0] | cells, ROWS[1] | cells | {"voucher": bad, "buyer": bad, "ticket_no": bad}]
    book = write_workbook(tmp_path / "book.xlsx", rows)
    made = openpyxl.load_workbook(book)
    made["Tickets"].title = bad
    made["Buyers"].append([bad] * 6)
    made.save(tmp_path / f"{bad}.xlsx")
    month = upload(anna, "/months", tmp_path / f"{bad}.xlsx", title=bad).location
    settled(anna, month)
    row = f"{month}/rows/1"
    anna.submit(row, row, **{"cell.remarks": f"{bad} too"})
    settled(anna, month)
    anna.until(f"{month}/columns", lambda page: "data-live" not in page.text)
    seen = set[str]()
    for path in (
        "",
        "/rows",
        "/rows/0",
        "/rows/1",
        "/requests",
        "/buyers",
        f"/buyers?buyer={quote(bad)}",
        "/columns",
        "/send",
    ):
        page = anna.get(f"{month}{path}")
        assert page.status == 200
        text = re.sub(r' value="[^"]*"|<textarea[^>]*>[^<]*', "", page.text)
        if BACKWARDS in page.text:
            seen.add(path)
        assert BACKWARDS not in text, (path, text[text.index(BACKWARDS) - 200 :][:300])
    assert seen >= {"/rows/1", f"/buyers?buyer={quote(bad)}"}, "what a form sends back is what the cell says"
    assert BACKWARDS in anna.get(row).hidden(row)["seen.remarks"]
    assert BACKWARDS not in anna.get(f"/tickets?number={quote(bad)}").text.replace(f'value="{bad}"', "")
