"""`voucher columns`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from pipeline.cli.stderr import asking, say, teller
from pipeline.cli.stdout import print_lines
from pipeline.files import taken
from pipeline.messages.translate import rendered
from pipeline.model.columns import Lang
from pipeline.model.errors import InputProblem
from pipeline.model.job import Job
from pipeline.model.message import counted, message
from pipeline.model.survey import Entry, Question
from pipeline.reporting.mapping_file import mapping_text
from pipeline.reporting.survey_text import survey_lines
from pipeline.run.column_survey import surveyed, write_mapping
from pipeline.settings import load_profile


def columns(
    *, workbooks: tuple[Path, ...], output: Path | None, profile: Path | None, lang: Lang, **given: Any
) -> None:
    """Print what the workbooks are read as; ask about what is not certain where a mapping is to be written."""
    if output is not None and taken(output):
        raise InputProblem(
            "{file}: is there already, and a mapping may hold somebody's corrections; give another name",
            file=str(output),
        )
    survey = surveyed(Job(workbooks, load_profile(profile), None, **given))
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
    answered, left = _ask(survey.questions, lang) if asking() else ([], survey.questions)
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


def _ask(questions: Sequence[Question], lang: Lang) -> tuple[list[Entry], list[Question]]:
    """The lines of the mapping that the answers say, and the questions that were left open."""
    said, left = list[Entry](), list[Question]()
    for question in questions:
        say("")
        say(rendered(question.asked, lang))
        for number, answer in enumerate(question.answers, start=1):
            say(f"  {number}  {rendered(answer.said, lang)}")
        chosen = click.prompt(
            rendered(message("A number, or 0 to leave it open"), lang),
            type=click.IntRange(0, len(question.answers)),
            default=0,
            err=True,
        )
        if chosen:
            said += question.answers[chosen - 1].entries
        else:
            left.append(question)
    return said, left
