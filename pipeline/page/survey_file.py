"""What a month's files are read as, kept in the month's folder from the process that has found it out: for the mapping assistant.

It holds samples of cells, as the uploads do.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from pipeline.file_writing import PRIVATE, scratch_folder
from pipeline.model.message import from_data, to_data
from pipeline.model.survey import Answer, Entry, HeadingUse, Lack, Question, SheetUse, Survey, ValueUse

_NAME = "survey.json"


def write(folder: Path, version: int, survey: Survey) -> None:
    """Keep the survey of a version of the month, in place of an earlier one."""
    kept = {
        "version": version,
        "sheets": [{**asdict(use), "notes": [to_data(note) for note in use.notes]} for use in survey.sheets],
        "problems": [to_data(problem) for problem in survey.problems],
        "questions": [
            {
                "asked": to_data(question.asked),
                "answers": [
                    {"said": to_data(answer.said), "entries": [asdict(entry) for entry in answer.entries]}
                    for answer in question.answers
                ],
            }
            for question in survey.questions
        ],
        "entries": [asdict(entry) for entry in survey.entries],
    }
    with scratch_folder(folder) as scratch:
        made = scratch / _NAME
        made.touch(PRIVATE)
        made.write_bytes(orjson.dumps(kept))
        made.replace(folder / _NAME)


def read(folder: Path, version: int) -> Survey | None:
    """The survey of that version; None where it was not made yet."""
    try:
        kept = orjson.loads((folder / _NAME).read_bytes())
    except FileNotFoundError:
        return None
    if kept["version"] != version:
        return None
    return Survey(
        [_sheet(use) for use in kept["sheets"]],
        [from_data(problem) for problem in kept["problems"]],
        [
            Question(
                from_data(question["asked"]),
                tuple(
                    Answer(from_data(answer["said"]), _entries(answer["entries"]))
                    for answer in question["answers"]
                ),
            )
            for question in kept["questions"]
        ],
        _entries(kept["entries"]),
    )


def _sheet(use: dict[str, Any]) -> SheetUse:
    return SheetUse(
        **use
        | {
            "headings": tuple(
                HeadingUse(**one | {"may_mean": tuple(one["may_mean"]), "samples": tuple(one["samples"])})
                for one in use["headings"]
            ),
            "values": tuple(ValueUse(**one | {"close": tuple(one["close"])}) for one in use["values"]),
            "notes": tuple(from_data(note) for note in use["notes"]),
            "lacks": tuple(Lack(**one) for one in use["lacks"]),
        }
    )


def _entries(kept: list[dict[str, Any]]) -> tuple[Entry, ...]:
    return tuple(Entry(tuple(one["section"]), one["key"], one["value"]) for one in kept)
