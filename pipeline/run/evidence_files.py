"""Files brought as evidence, told apart by what is in them: carrier's statements, and our own workbooks with answers."""

from collections.abc import Sequence
from pathlib import Path

from pipeline.model.errors import InputProblem
from pipeline.reading.heading_meanings import meanings
from pipeline.reading.input_files import read_sheets
from pipeline.reading.statement import is_statement, known_heading
from pipeline.reading.unknown_answers import unknown_sheets


def told_apart(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """(statements, workbooks whose sheet Unknown may hold answers); a file may be both. Raises InputProblem for one that is neither."""
    statements, resolved = list[Path](), list[Path]()
    for path in paths:
        sheets = read_sheets(path, lambda text: known_heading(text) or meanings(text))
        listed, answered = is_statement(path, sheets), bool(unknown_sheets(sheets))
        if not (listed or answered):
            raise InputProblem(
                "{file}: is neither a statement of the carrier's nor a result with a sheet Unknown; tickets are uploaded to a month",
                file=path.name,
            )
        statements += [path] * listed
        resolved += [path] * answered
    return statements, resolved
