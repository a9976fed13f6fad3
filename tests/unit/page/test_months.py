"""Months: whoever changed what is judged has prepared it, whatever became of the change."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.model.message import message
from pipeline.page import (
    month_approval,
    month_corrections,
    month_history,
    month_uploads,
    months,
    team_mapping,
)
from pipeline.page.month_corrections import BuyerCorrection, Correction
from pipeline.page.month_uploads import Upload
from pipeline.page.months import Month, Overtaken
from pipeline.page.plan_facts import PlanFacts

PLAN = PlanFacts("2026-11-20", "CNY", 1, "", {}, {}, [], [], [], [], [], [], [], [], 0, "")
CELL = ("tickets.xlsx", "Tickets", 2, "ticket_no")


@pytest.fixture
def month(tmp_path: Path) -> str:
    begun = months.begin(tmp_path, "peter", "November")
    month_uploads.add_upload(tmp_path, begun, Upload(1, "tickets.xlsx", "workbook", 1, 0.0, "peter"))
    return begun


def found(folder: Path, month: str) -> Month:
    standing = months.find(folder, month)
    assert standing
    return standing


def _corrects_and_takes_it_back(folder: Path, month: str) -> None:
    month_corrections.correct(folder, month, [Correction(*CELL, "new", "old")], {"ticket_no": "old"}, "anna")
    month_corrections.correct(folder, month, [Correction(*CELL, "old", "new")], {"ticket_no": "old"}, "anna")


CHANGES: dict[str, Callable[[Path, str], None]] = {
    "corrects a cell and takes it back": _corrects_and_takes_it_back,
    "takes a file out": lambda folder, month: month_uploads.take_out(folder, month, 1, "anna"),
    "brings buyers": lambda folder, month: month_uploads.add_upload(
        folder, month, Upload(2, "buyers.xlsx", "buyers", 1, 0.0, "anna")
    ),
    "corrects a buyer": lambda folder, month: month_corrections.correct_buyer(
        folder, month, BuyerCorrection({"buyer": "ACME"}, {}, {}), "anna"
    ),
    "changes the mapping": lambda folder, month: team_mapping.change(
        folder, found(folder, month), "", "anna", message("any")
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whoever_changes_what_is_judged_prepares_it(change: str, month: str, tmp_path: Path) -> None:
    assert month_approval.preparers(tmp_path, month) == {"peter"}
    CHANGES[change](tmp_path, month)
    assert month_approval.preparers(tmp_path, month) == {"peter", "anna"}


def test_whoever_has_it_judged_again_or_says_nothing_new_prepares_nothing(month: str, tmp_path: Path) -> None:
    months.judge_again(tmp_path, month)
    month_corrections.correct(
        tmp_path, month, [Correction(*CELL, "old", "old")], {"ticket_no": "old"}, "anna"
    )
    month_history.note(tmp_path, month, "anna", message("kept the mapping as the team's"))
    assert month_approval.preparers(tmp_path, month) == {"peter"}


def test_a_cell_says_what_stands_while_the_page_still_shows_what_was_taken_back(
    month: str, tmp_path: Path
) -> None:
    _corrects_and_takes_it_back(tmp_path, month)
    assert month_corrections.corrections(tmp_path, month) == []
    late = [Correction(*CELL, "newer", "new")]  # seen on rows that were judged with the correction in them
    with pytest.raises(Overtaken, match="it says “old” now"):
        month_corrections.correct(tmp_path, month, late, {"ticket_no": "new"}, "peter")
    # Once the month is judged the rows say it themselves, whatever a mapping reads in that column by now.
    standing = months.find(tmp_path, month)
    assert standing
    months.judged(tmp_path, month, standing.version, PLAN)
    month_corrections.correct(
        tmp_path, month, [Correction(*CELL, "newer", "other")], {"ticket_no": "other"}, "peter"
    )
    assert [(one.before, one.value) for one in month_corrections.corrections(tmp_path, month)] == [
        ("other", "newer")
    ]


def test_no_correction_is_kept_of_a_file_that_is_not_there(month: str, tmp_path: Path) -> None:
    month_uploads.take_out(tmp_path, month, 1, "peter")
    with pytest.raises(Overtaken, match="was taken out meanwhile"):
        month_corrections.correct(
            tmp_path, month, [Correction(*CELL, "new", "old")], {"ticket_no": "old"}, "anna"
        )


def test_a_buyer_is_one_however_its_name_is_written(month: str, tmp_path: Path) -> None:
    acme = {"buyer": "ACME", "header_name": "Acme Trading"}
    month_corrections.correct_buyer(tmp_path, month, BuyerCorrection(acme, {}, {}), "anna")
    other = {"buyer": "Acme ", "header_name": "Another"}
    with pytest.raises(Overtaken, match="anna has entered the buyer Acme"):
        month_corrections.correct_buyer(tmp_path, month, BuyerCorrection(other, {}, {}), "peter")
    month_corrections.correct_buyer(tmp_path, month, BuyerCorrection(other, acme, {}), "peter")
    assert [(one["buyer"], one["by"]) for one in month_corrections.buyers(tmp_path, month)] == [
        ("Acme ", "peter")
    ]
