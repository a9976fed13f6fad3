"""Answers are read back from the Unknown sheet of either language, wherever its columns stand by now."""

from pathlib import Path
from typing import Any

import openpyxl
import pytest

from pipeline.model.errors import InputProblem
from pipeline.model.evidence import Answer
from pipeline.model.places import row_at
from pipeline.reading.unknown_answers import read_answers

pytestmark = pytest.mark.usefixtures("read_here")

EN = ("ledger", "request", "attempt", "tickets", "resolution", "number", "resolved_by", "evidence")
ZH = ("台账", "请求", "次数", "客票明细", "处理结果", "凭证号码", "处理人", "依据")
GIVEN = ("L1", "R1", 2, "9991234567890 1,000.00", "issued", "179525952880229397", "Wang", "by telephone")


def workbook(path: Path, headings: Any, *rows: Any, sheet: str = "Unknown") -> Path:
    book = openpyxl.Workbook()
    book.active.title = sheet
    for row in (headings, *rows):
        book.active.append(list(row))
    book.save(path)
    return path


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("headings", [EN, ZH])
def test_an_answer_with_its_place(tmp_path: Path, headings: Any, order: int) -> None:
    path = workbook(tmp_path / "r.xlsx", headings[::order], GIVEN[::order])
    assert read_answers(path) == [
        Answer(
            "L1",
            "R1",
            2,
            "issued",
            "179525952880229397",
            "Wang",
            "by telephone",
            row_at("r.xlsx", "Unknown", 2),
        )
    ]


def test_lines_without_an_answer_are_none(tmp_path: Path) -> None:
    blank = (*GIVEN[:4], None, None, None, None)
    assert read_answers(workbook(tmp_path / "r.xlsx", EN, blank, blank)) == []


@pytest.mark.parametrize(
    ("row", "seen"),
    [
        ((*GIVEN[:4], None, "179525952880229397", None, None), "no resolution"),
        ((*GIVEN[:5], 179525952880229397.0, "Wang", "why"), "spoilt by the spreadsheet"),
        *(
            (("L1", "R1", spoilt, *GIVEN[3:]), "attempt is not as the result had it (“")
            for spoilt in ("x", None, 1.5, -1, 0)
        ),
        (("L1", None, *GIVEN[2:]), "request is blank; restore that cell"),
    ],
)
def test_an_answer_that_can_not_be_read_stands_for_itself(tmp_path: Path, row: Any, seen: str) -> None:
    wrong, good = read_answers(workbook(tmp_path / "r.xlsx", EN, row, GIVEN))
    assert seen in str(wrong.problem)
    assert str(wrong.place).endswith("row 2")
    assert (good.problem, good.typed) == (None, GIVEN[4:])


@pytest.mark.parametrize("attempt", [2, "2", "2.0"])
def test_an_attempt_that_was_saved_as_text_is_read(tmp_path: Path, attempt: Any) -> None:
    (answer,) = read_answers(workbook(tmp_path / "r.xlsx", EN, ("L1", "R1", attempt, *GIVEN[3:])))
    assert (answer.attempt, answer.problem) == (2, None)


def test_another_workbook_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputProblem, match="no sheet Unknown"):
        read_answers(workbook(tmp_path / "r.xlsx", EN, GIVEN, sheet="Rows"))
    with pytest.raises(InputProblem, match="no sheet Unknown"):
        read_answers(workbook(tmp_path / "r.xlsx", EN[1:], GIVEN[1:]))
