"""Files brought as evidence, told apart by what is in them: statements, our own workbooks with answers, and itinerary files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pipeline.file_reading import WORKBOOK_SUFFIXES
from pipeline.itinerary_files.find_files import may_hold_itineraries
from pipeline.model.errors import InputProblem
from pipeline.reading.heading_meanings import meanings
from pipeline.reading.input_files import read_sheets
from pipeline.reading.previous_result import has_failures
from pipeline.reading.statement import is_statement, known_heading
from pipeline.reading.unknown_answers import answers_of, unknown_sheets


def told_apart(paths: Sequence[Path]) -> tuple[list[Path], list[Path], list[Path]]:
    """(statements, workbooks whose sheet Unknown may hold answers, what holds itinerary files); a file may be both of the first.

    Raises InputProblem for one that is none of them.
    """
    statements, resolved, itineraries = list[Path](), list[Path](), list[Path]()
    for path in paths:
        if path.suffix.lower() not in WORKBOOK_SUFFIXES and may_hold_itineraries(path):
            itineraries.append(path)
            continue
        sheets = read_sheets(path, lambda text: known_heading(text) or meanings(text))
        listed, answered = is_statement(path, sheets, named=True), bool(unknown_sheets(sheets))
        if not (listed or answered):
            raise InputProblem(
                "{file}: is neither a statement of the carrier's nor a result with a sheet Unknown; tickets are uploaded to a month",
                file=path.name,
            )
        statements += [path] * listed
        resolved += [path] * answered
    return statements, resolved, itineraries


def kind_for_month(path: Path) -> Literal["workbook", "statement", "resolved", "answered"]:
    """What a file is to a month, as an inbox tells it: tickets, a statement, a result of ours with answers, or with both.

    What can't be read counts as tickets: whoever reads those says what is wrong with it.
    """
    try:
        sheets = read_sheets(path, known_heading)
        if is_statement(path, sheets):
            return "statement"
        answers = answers_of(path, sheets) if unknown_sheets(sheets) else []
    except InputProblem:
        return "workbook"
    if not answers:
        return "workbook"
    return "answered" if has_failures(sheets) else "resolved"
