"""`voucher columns`."""

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from pipeline.cli.stderr import asking, say, teller
from pipeline.cli.stdout import print_lines
from pipeline.file_writing import taken
from pipeline.messages.translate import rendered
from pipeline.model.columns import Lang
from pipeline.model.errors import InputProblem
from pipeline.model.job import Job
from pipeline.model.message import counted, message
from pipeline.model.survey import Entry, Question, SheetUse, Survey
from pipeline.profile_file import load_profile
from pipeline.reporting.columns_file_text import mapping_text
from pipeline.reporting.survey_text import survey_lines
from pipeline.run.column_survey import surveyed, write_mapping


def columns(
    *, workbooks: tuple[Path, ...], output: Path | None, profile: Path | None, lang: Lang, **given: Any
) -> None:
    """Print what the workbooks are read as; ask about what is not certain where a mapping is to be written."""
    if output is not None and taken(output):
        raise InputProblem(
            "{file}: is there already, and a mapping may hold somebody's corrections; give another name",
            file=str(output),
        )
    job = Job(workbooks, load_profile(profile), None, **given)
    survey = surveyed(job)
    print_lines(survey_lines(survey, lang))
    tell = teller(lang)
    if output is None:
        if survey.questions:
            tell(
                counted(
                    "{count} thing is not certain; -o MAP.toml writes a mapping in which to say it",
                    "{count} things are not certain; -o MAP.toml writes a mapping in which to say them",
                    len(survey.questions),
                )
            )
        return
    survey, answered, left = _asked(job, survey, lang) if asking() else (survey, [], survey.questions)
    write_mapping(mapping_text(survey, answered, left, lang), output)
    tell(
        counted(
            "Mapping: {path} ({count} thing is not certain)",
            "Mapping: {path} ({count} things are not certain)",
            len(left),
            path=str(output),
        )
        if left
        else message("Mapping: {path}", path=str(output))
    )


def _asked(job: Job, survey: Survey, lang: Lang) -> tuple[Survey, list[Entry], list[Question]]:
    """The survey after all questions that there are, the lines that the answers say, and the questions that were left open.

    An answer may lead to more: what is found in a column that is known now, or on a sheet that can be read now.
    """
    said, left, asked = list[Entry](), list[Question](), list[Question]()
    while new := [question for question in survey.questions if not _among(question, asked)]:
        for question in new:
            chosen = _ask(question, lang)
            said += chosen
            left += [] if chosen else [question]
        asked += new
        if not said:
            break
        before, survey = survey, surveyed(job, said)
        if readable := [
            use for use in survey.sheets if _unreadable(use, before) and not _unreadable(use, survey)
        ]:
            print_lines(["", *survey_lines(replace(survey, sheets=readable, problems=()), lang)])
    return survey, said, left


def _among(question: Question, asked: Sequence[Question]) -> bool:
    """Whether it was asked already, if of fewer rows."""
    return any(question.answers == one.answers for one in asked)


def _unreadable(use: SheetUse, survey: Survey) -> bool:
    """Whether the sheet can't be read in that survey."""
    return any((one.file, one.sheet, one.use) == (use.file, use.sheet, "unreadable") for one in survey.sheets)


def _ask(question: Question, lang: Lang) -> tuple[Entry, ...]:
    """What the answer of the person at the keyboard says; nothing where it is left open."""
    say("")
    say(rendered(question.asked, lang))
    for number, answer in enumerate(question.answers, start=1):
        say(f"  {number}  {rendered(answer.said, lang)}")

    def chosen(typed: str) -> int:
        with contextlib.suppress(ValueError):
            if 0 <= int(typed) <= len(question.answers):
                return int(typed)
        raise click.UsageError(rendered(message("that is none of these numbers"), lang))

    number = click.prompt(
        rendered(message("A number, or 0 to leave it open"), lang), default="0", value_proc=chosen, err=True
    )
    return question.answers[number - 1].entries if number else ()
