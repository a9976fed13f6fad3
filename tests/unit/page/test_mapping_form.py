"""The mapping assistant's form: which fields a survey has, and which lines of a mapping what is typed there makes."""

from pathlib import Path

import pytest

from pipeline.model.message import Private, SheetName, Term, counted, message
from pipeline.model.survey import Answer, Entry, HeadingUse, Lack, Question, SheetUse, Survey, ValueUse
from pipeline.page import survey_file
from pipeline.page.mapping_form import CARRIED, MappingForm, present

HEADINGS = ("headings",)


def _heading_question(heading: str, *columns: str) -> Question:
    return Question(
        message("Which column is {cell} “{heading}”?", cell="B1", heading=Private(heading)),
        (
            *(Answer(Term(column), (Entry(HEADINGS, heading, column),)) for column in columns),
            Answer(message("carried along"), (Entry(HEADINGS, heading, ""),)),
        ),
    )


MARKET = Question(
    counted("{count} row of {sheet}", "{count} rows of {sheet}", 3, sheet=SheetName("国际票")),
    tuple(Answer(Term(name, "choice"), (Entry(("sheets", "国际票"), "market", name),)) for name in ("domestic", "international")),
)  # fmt: skip
USED = Question(message("?"), (Answer(Term("used"), (Entry(("values", "ticket_status"), "Flown", "used"),)),))
SURVEY = Survey(
    [
        SheetUse(
            "a.xlsx", "国际票", "tickets", 1, 3,
            (
                HeadingUse("A1", "Number", "ticket_no", samples=("1",)),
                HeadingUse("B1", "Price", "", ("fare", "amount")),
                HeadingUse("C1", "Note"),
            ),
            (ValueUse("ticket_status", "Flown", 2), ValueUse("market", "国内", 1, "domestic")),
            (message("a note of {file}", file="a.xlsx"),),
            (Lack("market", 3, 2, "missing"),),
        ),
        SheetUse("a.xlsx", "B", "tickets", 1, 1, (HeadingUse("A1", "NUMBER", "ticket_no"),), (ValueUse("ticket_status", "flown", 1),)),
        SheetUse("a.xlsx", "C", "left_out", headings=(HeadingUse("A1", "Hotel"),)),
    ],
    [message("a problem")],
    [_heading_question("Price", "fare", "amount"), MARKET, USED],
    [Entry(HEADINGS, "number", "ticket_no"), Entry(("sheets", "国际票"), "skip", False)],
)  # fmt: skip


@pytest.fixture
def form() -> MappingForm:
    return MappingForm(SURVEY)


def _field(form: MappingForm, cell: str, sheet: int = 0) -> str:
    (field,) = [field for one, field in form.sheets[sheet].headings if one.cell == cell]
    return field


def test_a_heading_and_a_value_have_one_field_on_whatever_sheets_they_stand(form: MappingForm) -> None:
    assert _field(form, "A1")
    assert _field(form, "A1", 1) == ""
    assert _field(form, "A1", 2) == ""
    assert [bool(field) for _, field in form.sheets[0].values] == [True]
    assert [field for _, field in form.sheets[1].values] == [""]


def test_only_what_no_other_field_answers_is_asked(form: MappingForm) -> None:
    assert [question for _, question in form.questions] == [MARKET]


def test_what_is_left_as_it_was_says_nothing_and_leaves_every_question_open(form: MappingForm) -> None:
    given = {field: present(one) for sheet in form.sheets for one, field in sheet.headings if field}
    assert form.said(given) == ([], list(SURVEY.questions))
    assert form.said({}) == ([], list(SURVEY.questions))


def test_each_field_makes_its_line_under_the_name_that_is_there_already(form: MappingForm) -> None:
    value = form.sheets[0].values[0][1]
    question = form.questions[0][0]
    given = {_field(form, "A1"): CARRIED, _field(form, "B1"): "fare", value: "used", question: "1"}
    lines, left = form.said(given)
    assert lines == [
        Entry(HEADINGS, "number", ""), Entry(HEADINGS, "Price", "fare"), Entry(("values", "ticket_status"), "Flown", "used"),
        Entry(("sheets", "国际票"), "market", "international"),
    ]  # fmt: skip
    assert left == []


@pytest.mark.parametrize("given", ["no_column", "7", "", "²"])
def test_what_the_form_does_not_offer_says_nothing(form: MappingForm, given: str) -> None:
    fields = [_field(form, "B1"), form.sheets[0].values[0][1], form.questions[0][0]]
    assert form.said(dict.fromkeys(fields, given)) == ([], list(SURVEY.questions))


def test_a_survey_is_read_back_as_it_was_kept_if_it_is_of_that_version(tmp_path: Path) -> None:
    assert survey_file.read(tmp_path, 3) is None
    survey_file.write(tmp_path, 3, SURVEY)
    kept = survey_file.read(tmp_path, 3)
    assert kept is not None
    assert (list(kept.sheets), list(kept.problems), list(kept.questions), list(kept.entries)) == (
        list(SURVEY.sheets), list(SURVEY.problems), list(SURVEY.questions), list(SURVEY.entries),
    )  # fmt: skip
    assert survey_file.read(tmp_path, 4) is None
    assert (tmp_path / "survey.json").stat().st_mode & 0o777 == 0o600
