"""Which files a run reads, and each file's cells by way of the child process."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.file_reading import WORKBOOK_SUFFIXES, is_background, is_ours
from pipeline.model.errors import InputProblem
from pipeline.model.message import (
    N_,
    Fact,
    Joined,
    Message,
    Note,
    SheetName,
    joined,
    message,
    system_error,
)
from pipeline.reading.child_process import Ended, Opening, problem
from pipeline.reading.deserialize import NotAnAnswer, loads
from pipeline.reading.encoding_by_headings import confirmed
from pipeline.reading.formats.column_letters import column_letters
from pipeline.reading.formats.refusal import Seen
from pipeline.reading.heading_meanings import meanings
from pipeline.reading.sheet import Sheet

#: What is told of a file that is not read, by the code that the process which opened it gives.
_CURES = {
    "encrypted": N_("{file}: is protected by a password; open it, remove the password and save it again"),
    "damaged": N_(
        "{file}: can't be read as a workbook ({detail}); open it in the spreadsheet program and save it as .xlsx"
    ),
    "swallowed": N_(
        "{file}: {detail}; take that quotation mark and the one that ends the cell out in a text editor, or write each twice within"
        " quotation marks, and run it again"
    ),
    "parted": N_(
        "{file}: {detail}; put that amount in quotation marks in a text editor, or write it like 1234.50, and run it again"
    ),
    "encoding": N_(
        "{file}: is a text in an encoding that can't be told: it is not UTF-8 ({detail}), and nothing that is known in it tells whether it is"
        " GB18030 or Big5; save it as “CSV UTF-8” or as .xlsx"
    ),
    "excel_95": N_(
        "{file}: is a workbook of Excel 95 or older, whose texts are in an encoding that it does not name; open it in the"
        " spreadsheet program, see that its texts are right, and save it as .xlsx"
    ),
    "web_page": N_(
        "{file}: is a web page, not a workbook; open it in the spreadsheet program and save it as .xlsx"
    ),
    "other": N_(
        "{file}: is {detail}, not a workbook; open it in the spreadsheet program and save it as .xlsx, or export it again"
        " as .xlsx"
    ),
    "no_workbook": N_(
        "{file}: is an archive without a workbook in it; if it holds workbooks, unpack them and give those"
    ),
    "macros": N_("{file}: holds macros, which are not read here; save it as .xlsx, which leaves them out"),
    "entities": N_(
        "{file}: can't be read as a workbook (its XML declares entities of its own, which no spreadsheet program"
        " writes); open it in the spreadsheet program and save it as .xlsx"
    ),
    "bomb": N_(
        "{file}: is not read, because it would take up far more room than any workbook ({detail}); open it in the"
        " spreadsheet program and save it as .xlsx"
    ),
    "far_away": N_(
        "{file}: is not read, because a cell far from the others would make it too large ({detail}); go to the last cell"
        " with Ctrl+End, delete the rows and columns between it and your data, and save it"
    ),
    "too_large": N_("{file}: is too large to be read ({detail}); split it into smaller workbooks"),
    "empty": N_("{file}: is empty; there is nothing to read"),
    "no_file": N_("{file}: is not a file but a pipe or a device; save the workbook as a file and give that"),
    "unreadable": N_("{file}: can't be read ({detail}); check the path and its permissions"),
}
_NAMED = 3
#: What lies beside workbooks by right, and holds no table of tickets: settings, reports and ledgers of ours; papers,
#: pictures and shortcuts. To tell of it at every run would teach people not to read the line that tells of tickets.
_BESIDE = re.compile(
    r".*\.(toml|json|log|pem|ledger(\W.*)?|pdf|ofd|docx?|pptx?|jpe?g|png|gif|lnk|url)",
    re.IGNORECASE | re.DOTALL,
)


def _inside(folder: Path, note: Note) -> list[Path]:
    """A folder's own workbooks, none for what is no folder; what else is in it and may hold tickets is noted."""
    if not folder.is_dir():
        return []
    inside = sorted(folder.iterdir(), key=lambda path: (path.stem, path.suffix))
    for path in inside:
        # Left out without a word it would be missed by nobody until the month is closed.
        if path.suffix.lower() == ".xlsm" or (
            path.suffix.lower() in WORKBOOK_SUFFIXES and not path.is_file() and not path.is_dir()
        ):
            raise InputProblem(
                "{file}: can't be read as a workbook; save it as .xlsx, or take it out of the folder",
                file=str(path),
            )
    folders = [path for path in inside if path.is_dir()]
    files = [path for path in inside if path not in set(folders) and not is_ours(path)]
    others = [
        path
        for path in files
        if path.suffix.lower() not in WORKBOOK_SUFFIXES
        and not is_background(path)
        and not _BESIDE.fullmatch(path.name)
    ]
    if others:
        note(
            message(
                "{folder}: what is no workbook is not read ({names}); save what holds tickets as .xlsx",
                folder=str(folder),
                names=_first(others),
            )
        )
    note_folders(folder, folders, note)
    return [
        path
        for path in files
        if path.suffix.lower() in WORKBOOK_SUFFIXES and not path.name.startswith(("~$", ".~"))
    ]


def note_folders(folder: Path, inside: Sequence[Path], note: Note) -> None:
    """Tell that the folders in a folder are not looked into, if there are any: tickets may lie there."""
    if told := [path for path in inside if not is_background(path)]:
        note(
            message(
                "{folder}: the folders in it are not looked into ({names}); put what is to be read into {folder} itself, or"
                " give such a folder by itself",
                folder=str(folder),
                names=_first(told),
            )
        )


def _first(paths: Sequence[Path]) -> Joined | Message:
    """The names of the first few, and how many more there are."""
    named = joined(path.name for path in paths[:_NAMED])
    more = len(paths) - _NAMED
    return message("{first} and {count} more", first=named, count=more) if more > 0 else named


def workbook_files(inputs: Sequence[Path], note: Note = lambda _told: None) -> list[Path]:
    """The files behind the given files and folders, each once, folders in name order.

    A folder leaves out earlier results and the lock files of spreadsheet programs; its folders and files that are no
    workbooks are noted. Raises InputProblem for a path that does not exist, is of no known type, or a folder with
    nothing in it.
    """
    found: list[Path] = []
    for given in inputs:
        try:
            inside, is_folder = _inside(given, note), given.is_dir()
        except OSError as error:
            raise InputProblem(
                "{file}: can't be read ({problem}); check the path",
                file=str(given),
                problem=system_error(error),
            ) from None
        if is_folder:
            if not inside:
                raise InputProblem(
                    "{folder}: the folder holds no workbook ({suffixes})",
                    folder=str(given),
                    suffixes=" ".join(WORKBOOK_SUFFIXES),
                )
            found += inside
        elif not given.exists():
            raise InputProblem("{file}: there is no such file; check the path", file=str(given))
        elif given.suffix.lower() not in WORKBOOK_SUFFIXES:
            raise InputProblem(
                "{file}: is not a workbook ({suffixes}); save it as .xlsx",
                file=str(given),
                suffixes=" ".join(WORKBOOK_SUFFIXES),
            )
        else:
            found.append(given)
    once: dict[Path, Path] = {}
    for path in found:
        once.setdefault(path.resolve(), path)
    return list(once.values())


def read_sheets(
    path: Path, known: Callable[[str], object] = meanings, begun: Opening | None = None
) -> list[Sheet]:
    """All sheets of one workbook, read by the child process; of a hidden sheet one cell alone.

    `known` says whether a text is a word that stands in such workbooks, which confirms a file's encoding; a team
    has some of its own (ColumnMap.knows). `begun` may be a child that reads the file already. Raises InputProblem naming
    the file and the cure.
    """
    whole = path.resolve()
    opening = begun if begun and begun.path == whole else Opening(whole)
    return sheets_of(path, _answer(opening), known)


def _answer(opening: Opening) -> dict[str, Any]:
    """What the child process says of the file, as values; taken apart as it comes."""
    try:
        return loads(opening.said())
    except Ended as ended:
        return ended.problem
    except NotAnAnswer:
        return problem("damaged", Seen.NO_ANSWER)


def sheets_of(
    path: Path, answer: Mapping[str, Any], known: Callable[[str], object] = meanings
) -> list[Sheet]:
    """The sheets that the child process handed over, or InputProblem for what it could not read."""
    if "readings" not in answer:
        raise not_read(path, answer["problem"], answer["detail"])
    readings = [[Sheet.handed_over(sheet) for sheet in sheets] for sheets in answer["readings"]]
    if answer["certain"]:
        return readings[0]
    at = confirmed(readings, known)
    if at is None:
        raise not_read(path, "encoding", answer["detail"])
    return readings[at]


def not_read(path: Path, code: str, detail: Fact = "") -> InputProblem:
    """The error for a file that is not read, with its cure."""
    return InputProblem(Message(_CURES.get(code, _CURES["damaged"]), {"file": str(path), "detail": detail}))


def refuse_far(path: Path, sheets: Sequence[Sheet]) -> None:
    """Raise InputProblem where cells were left out because they stand far from all others: here each may be evidence."""
    for sheet in sheets:
        if sheet.far:
            seen = Message(Seen.FAR_CELLS, {"sheet": SheetName(sheet.name), "cells": far_cells(sheet)})
            raise not_read(path, "far_away", seen)


def far_cells(sheet: Sheet) -> str:
    """The first of the cells that stand far from all others, as the spreadsheet program names them."""
    named = [f"{column_letters(column)}{row + 1}" for row, column in sheet.far[:_NAMED]]
    return ", ".join(named) + (" …" if len(sheet.far) > _NAMED else "")
