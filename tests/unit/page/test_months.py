"""Months: whoever changed what is judged has prepared it, whatever became of the change."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.model.message import message
from pipeline.page import months, team_mapping
from pipeline.page.months import Correction, Month, Upload

CELL = ("tickets.xlsx", "Tickets", 2, "ticket_no")


@pytest.fixture
def month(tmp_path: Path) -> str:
    begun = months.begin(tmp_path, "peter", "November")
    months.add_upload(tmp_path, begun, Upload(1, "tickets.xlsx", "workbook", 1, 0.0, "peter"))
    return begun


def found(folder: Path, month: str) -> Month:
    standing = months.find(folder, month)
    assert standing
    return standing


def _corrects_and_takes_it_back(folder: Path, month: str) -> None:
    months.correct(folder, month, [Correction(*CELL, "new", "old")], {"ticket_no": "old"}, "anna")
    months.correct(folder, month, [Correction(*CELL, "old", "new")], {"ticket_no": "old"}, "anna")


CHANGES: dict[str, Callable[[Path, str], None]] = {
    "corrects a cell and takes it back": _corrects_and_takes_it_back,
    "takes a file out": lambda folder, month: months.take_out(folder, month, 1, "anna"),
    "brings buyers": lambda folder, month: months.add_upload(
        folder, month, Upload(2, "buyers.xlsx", "buyers", 1, 0.0, "anna")
    ),
    "corrects a buyer": lambda folder, month: months.correct_buyer(folder, month, {"buyer": "ACME"}, "anna"),
    "changes the mapping": lambda folder, month: team_mapping.change(
        folder, found(folder, month), "", "anna", message("any")
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whoever_changes_what_is_judged_prepares_it(change: str, month: str, tmp_path: Path) -> None:
    assert months.preparers(tmp_path, month) == {"peter"}
    CHANGES[change](tmp_path, month)
    assert months.preparers(tmp_path, month) == {"peter", "anna"}


def test_whoever_has_it_judged_again_or_says_nothing_new_prepares_nothing(month: str, tmp_path: Path) -> None:
    months.judge_again(tmp_path, month)
    months.correct(tmp_path, month, [Correction(*CELL, "old", "old")], {"ticket_no": "old"}, "anna")
    months.note(tmp_path, month, "anna", message("kept the mapping as the team's"))
    assert months.preparers(tmp_path, month) == {"peter"}
