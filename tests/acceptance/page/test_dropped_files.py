"""Files dropped onto a month are told apart: tickets for its rows, statements and answered results for a reconciliation."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from pipeline.messages.translate import heading
from pipeline.page import month_approval, month_uploads, work
from tests.acceptance.conftest import Desk, Sandbox, write_workbook
from tests.acceptance.office import LOST_AFTER, LOST_BEFORE
from tests.acceptance.page.test_afterwards import PEOPLE, done, unknowns
from tests.acceptance.page.test_month_on_page import judged, settled, totals, upload
from tests.acceptance.page.visiting import Answer, Served, Visit, serving

FIRST, SECOND = "9990000000001", "9990000000002"


class Dropping:
    """A page whose ledger has two unknown outcomes; the carrier issued the first of them, and not the second; and a month of their tickets."""

    def __init__(self, page: Served, carrier: Sandbox, result: Path, tickets: Path) -> None:
        self.page, self.carrier, self.result = page, carrier, result
        self.month = judged(self.visit("peter"), tickets)

    def visit(self, name: str) -> Visit:
        return self.page.logged_in(name)

    def kinds(self) -> dict[str, str]:
        told = month_uploads.uploads(self.page.folder, self.month.rpartition("/")[2])
        return {one.name: one.kind for one in told}

    def dropped(self, name: str, *files: Path, **fields: str) -> tuple[Visit, Answer]:
        """Who dropped them, and the month's page when it stands still again."""
        visit = self.visit(name)
        answer = upload(visit, f"{self.month}/files", *files, page=self.month, **fields)
        assert answer.status == 303, answer.said
        return visit, self.still(visit)

    def still(self, visit: Visit) -> Answer:
        """The month's page when nothing is done about it any more."""
        visit.until("/runs", lambda _: not work.on(self.page.folder))
        return settled(visit, self.month)

    def answered(self, name: str, *, failing: bool = False) -> Path:
        """The result with an answer about the second, and without its Failures unless they are to be there."""
        book = openpyxl.load_workbook(self.result)
        sheet = book["Unknown"]
        at = {cell.value: cell.column for cell in sheet[1]}
        row = next(row for row in range(2, sheet.max_row + 1) if self.is_second(sheet, row))
        for column, text in {"resolution": "not issued", "resolved_by": "Wang", "evidence": "mail"}.items():
            sheet.cell(row, at[heading(column, "en")], text)
        if not failing:
            book["Failures"].delete_rows(2, book["Failures"].max_row)
        path = self.result.with_name(name)
        book.save(path)
        return path

    @staticmethod
    def is_second(sheet: Any, row: int) -> bool:
        return any(SECOND in str(cell.value) for cell in sheet[row])


@pytest.fixture
def dropping(
    desk: Desk, sandbox: Callable[..., Any], workbook: Callable[..., Path], tickets: Callable[..., Any]
) -> Iterator[Dropping]:
    rows = tickets(4)
    carrier_has, book = workbook(rows), desk.folder / "may.xlsx"
    write_workbook(book, [*rows, {"ticket_no": "12"}])
    faults = f"{LOST_AFTER}requests = [1]\n{LOST_BEFORE}requests = [2]\n"
    with sandbox(carrier_has, faults=faults) as carrier:
        profile = desk.profile(carrier.base_url, more="[reconcile]\nsettle_after_hours = 0\n", concurrency=1)
        given = ("--profile", profile, "--ledger", desk.folder / "page-test.ledger", "--as-of", "2026-11-20")
        ran = desk.voucher("issue", book, *given, "-o", desk.folder / "may.result.xlsx")
        assert ran.code == 4, ran.err
        with serving(desk, "--profile", profile, people=PEOPLE, sandbox=False) as page:
            yield Dropping(page, carrier, desk.folder / "may.result.xlsx", book)


def statement(dropping: Dropping, name: str = "from the carrier.csv") -> Path:
    path = dropping.result.with_name(name)
    path.write_bytes(dropping.carrier.statement.read_bytes())
    return path


@pytest.mark.slow
def test_a_statement_dropped_by_an_approver_is_reconciled_with_and_its_month_judged_again(
    dropping: Dropping,
) -> None:
    anna = dropping.visit("anna")
    assert totals(anna.get(dropping.month)) == {"already_issued": 2, "unknown": 2, "invalid": 1}
    issued = len(dropping.carrier.issued())
    anna, page = dropping.dropped("anna", statement(dropping))
    assert dropping.kinds() == {"may.xlsx": "workbook", "from the carrier.csv": "statement"}
    assert totals(page) == {"already_issued": 3, "unknown": 1, "invalid": 1}
    assert [*unknowns(anna)] == [SECOND]
    assert "a statement of the carrier's" in page.said
    link = re.search(r'href="(/reconcile/\d+)"', page.text)
    assert link
    assert "1 issued, 0 not issued" in anna.get(link[1]).said
    assert len(dropping.carrier.issued()) == issued, "nothing is sent"


@pytest.mark.slow
def test_whoever_brings_a_statement_has_not_prepared_the_month(dropping: Dropping) -> None:
    dropping.dropped("anna", statement(dropping))
    assert month_approval.preparers(dropping.page.folder, dropping.month.rpartition("/")[2]) == {"peter"}
    dropping.dropped("anna", dropping.answered("both.xlsx", failing=True))
    assert month_approval.preparers(dropping.page.folder, dropping.month.rpartition("/")[2]) == {
        "peter",
        "anna",
    }


@pytest.mark.slow
def test_what_a_preparer_brings_is_kept_until_an_approver_reconciles_with_it(dropping: Dropping) -> None:
    peter, page = dropping.dropped("peter", statement(dropping))
    assert dropping.kinds()["from the carrier.csv"] == "statement"
    assert "reconciling takes an approver" in page.said
    assert "/reconcile/" not in page.text
    assert f'action="{dropping.month}/reconcile"' not in page.text
    assert peter.submit(dropping.month, f"{dropping.month}/reconcile", number="2").status == 403
    anna = dropping.visit("anna")
    assert (
        "1 issued, 0 not issued"
        in done(anna, anna.submit(dropping.month, f"{dropping.month}/reconcile", number="2")).said
    )
    page = dropping.still(anna)
    assert totals(page)["unknown"] == 1
    assert "reconciling takes an approver" not in page.said
    for number in ("1", "7", "x", "9" * 5000):
        assert anna.submit(dropping.month, f"{dropping.month}/reconcile", number=number).status == 404


@pytest.mark.slow
@pytest.mark.parametrize(("failing", "kind"), [(False, "resolved"), (True, "answered")])
def test_answers_in_a_result_are_recorded_and_its_failures_are_tickets(
    dropping: Dropping, failing: bool, kind: str
) -> None:
    anna, page = dropping.dropped("anna", dropping.answered("mine.xlsx", failing=failing))
    assert dropping.kinds()["mine.xlsx"] == kind
    assert [*unknowns(anna)] == [FIRST]
    assert totals(page)["ready"] == 1
    assert totals(page)["invalid"] == 1 + failing


@pytest.mark.slow
def test_a_result_without_answers_and_what_is_said_to_be_tickets_are_tickets(dropping: Dropping) -> None:
    _, page = dropping.dropped("anna", dropping.result)
    assert dropping.kinds()["may.result.xlsx"] == "workbook"
    assert totals(page)["invalid"] == 2
    dropping.dropped("anna", statement(dropping), kind="workbook")
    assert dropping.kinds()["from the carrier.csv"] == "workbook"
    assert "/reconcile/" not in page.text
