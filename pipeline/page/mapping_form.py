"""The mapping assistant's form: what may be said of a survey of a month's files, and the lines of a mapping that what was said makes.

Every heading, and every value that is not known, has one field though it stands on several sheets, which a mapping does not tell apart.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from pipeline.model.columns import COLUMN
from pipeline.model.survey import Entry, HeadingUse, Question, SheetUse, Survey, ValueUse
from pipeline.reading.cell_words import folded

#: What a heading's field says where it is carried along, and not read.
CARRIED = "-"
#: Uses of a sheet whose headings a mapping may say something of.
_READ = ("tickets", "buyers", "unheaded", "unreadable")


@dataclass(frozen=True)
class SheetForm:
    """A sheet as the form shows it: its headings and unknown values, each with the name of its field; "" where one above has it."""

    use: SheetUse
    headings: tuple[tuple[HeadingUse, str], ...]
    values: tuple[tuple[ValueUse, str], ...]


def present(one: HeadingUse) -> str:
    """What a heading's field says before anybody changes it; "" where it is not certain."""
    return "" if one.may_mean else one.column or CARRIED


class MappingForm:
    """The form of a survey."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        headings = [one for use in survey.sheets if use.use in _READ for one in use.headings]
        values = [
            one
            for use in survey.sheets
            for one in use.values
            if not one.choice and COLUMN[one.column].choices
        ]
        self._headings = {folded(one.heading): one for one in reversed(headings)}
        self._values = {(one.column, folded(one.text)): one for one in reversed(values)}
        self._of_heading = {key: f"heading.{number}" for number, key in enumerate(self._headings)}
        self._of_value = {key: f"value.{number}" for number, key in enumerate(self._values)}

    @cached_property
    def sheets(self) -> list[SheetForm]:
        """The sheets in their order."""
        left = {*self._of_heading.values(), *self._of_value.values()}

        def once(field: str) -> str:
            new = field if field in left else ""
            left.discard(field)
            return new

        return [
            SheetForm(
                use,
                tuple(
                    (one, once(self._of_heading[folded(one.heading)]) if use.use in _READ else "")
                    for one in use.headings
                ),
                tuple(
                    (value, once(self._of_value[key]))
                    for value in use.values
                    if (key := (value.column, folded(value.text))) in self._of_value
                ),
            )
            for use in self.survey.sheets
        ]

    @cached_property
    def questions(self) -> list[tuple[str, Question]]:
        """The questions that no heading's and no value's field answers, each with the name of its field."""
        return [
            (f"question.{number}", question)
            for number, question in enumerate(self.survey.questions)
            if not self._has_field(question)
        ]

    def _has_field(self, question: Question) -> bool:
        entries = [entry for answer in question.answers for entry in answer.entries]
        of_values = all(entry.section[0] == "values" for entry in entries)
        unsure = {key for key, one in self._headings.items() if one.may_mean}
        of_one = (
            len({folded(entry.key) for entry in entries}) == 1
            and {folded(entry.key) for entry in entries} <= unsure
        )
        return of_values or (of_one and all(entry.section == ("headings",) for entry in entries))

    def said(self, fields: Mapping[str, str]) -> tuple[list[Entry], list[Question]]:
        """The lines that somebody's fields make beside those that are certain, and the questions that they leave open."""
        found = list[Entry]()
        for key, field in self._of_heading.items():
            one, given = self._headings[key], fields.get(field, "")
            if given and given != present(one) and (given == CARRIED or given in COLUMN):
                found.append(Entry(("headings",), one.heading, "" if given == CARRIED else given))
        for (column, key), field in self._of_value.items():
            given = fields.get(field, "")
            if given in {choice.name for choice in COLUMN[column].choices}:
                found.append(Entry(("values", column), self._values[column, key].text, given))
        for field, question in self.questions:
            answers = {str(number): answer for number, answer in enumerate(question.answers)}
            if chosen := answers.get(fields.get(field, "")):
                found += chosen.entries
        lines = [self._as_there(entry) for entry in found]
        named = {(entry.section, folded(entry.key)) for entry in found}
        left = [
            question
            for question in self.survey.questions
            if not any(
                (entry.section, folded(entry.key)) in named
                for answer in question.answers
                for entry in answer.entries
            )
        ]
        return lines, left

    def _as_there(self, entry: Entry) -> Entry:
        """The line under the names that its section and its key have in the mapping already, where they have any: one word is one line."""
        section, key = entry.section, entry.key
        for one in self.survey.entries:
            if tuple(map(folded, one.section)) == tuple(map(folded, entry.section)):
                section = one.section
                key = one.key if folded(one.key) == folded(entry.key) else key
        return Entry(section, key, entry.value)
