"""Which files a run reads, and each file's cells by way of the child process."""

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import InputProblem
from pipeline.reading import child

SUFFIXES = (".xlsx", ".xls", ".xlsb", ".ods", ".csv")
TIME_SECONDS = 600

_CURES = {
    "encrypted": "is protected by a password; open it, remove the password and save it again",
    "damaged": "can't be read as a workbook ({detail}); open it in the spreadsheet program and save it as .xlsx",
    "not_utf8": "is not UTF-8 text ({detail}); save it as “CSV UTF-8” or as .xlsx",
    "web_page": "is a web page, not a workbook; open it in the spreadsheet program and save it as .xlsx",
    "too_large": "is too large to be read; split it into smaller workbooks",
    "empty": "is empty; there is nothing to read",
    "unreadable": "can't be read ({detail}); check the path and its permissions",
}


@dataclass(frozen=True)
class Sheet:
    """One sheet's cells as they stand; `first_row` and `first_column` count from 0."""

    name: str
    visible: bool
    first_row: int
    first_column: int
    rows: list[list[Any]]


def is_ours(path: Path) -> bool:
    """Whether a file's name is that of a result workbook, or of a sandbox's statement."""
    return path.name.lower().endswith((".result.xlsx", ".statement.csv"))


def _inside(folder: Path) -> list[Path]:
    """A folder's own workbooks, none for what is no folder."""
    if not folder.is_dir():
        return []
    for path in folder.iterdir():
        # Left out without a word it would be missed by nobody until the month is closed.
        if path.suffix.lower() == ".xlsm" or (path.suffix.lower() in SUFFIXES and not path.exists()):
            raise InputProblem(
                f"{path}: can't be read as a workbook; save it as .xlsx, or take it out of the folder"
            )
    return sorted(
        (
            path
            for path in folder.iterdir()
            if path.is_file()
            and path.suffix.lower() in SUFFIXES
            and not is_ours(path)
            and not path.name.startswith(("~$", ".~"))
        ),
        key=lambda path: (path.stem, path.suffix),
    )


def workbook_files(inputs: Sequence[Path]) -> list[Path]:
    """The files behind the given files and folders, each once, folders in name order.

    A folder leaves out earlier results and the lock files of spreadsheet programs. Raises
    InputProblem for a path that does not exist, is of no known type, or a folder with nothing in it.
    """
    found: list[Path] = []
    for given in inputs:
        try:
            inside, is_folder = _inside(given), given.is_dir()
        except OSError as error:
            raise InputProblem(f"{given}: can't be read ({error.strerror}); check the path") from None
        if is_folder:
            if not inside:
                raise InputProblem(f"{given}: the folder holds no workbook ({' '.join(SUFFIXES)})")
            found += inside
        elif not given.exists():
            raise InputProblem(f"{given}: there is no such file; check the path")
        elif given.suffix.lower() not in SUFFIXES:
            raise InputProblem(f"{given}: is not a workbook ({' '.join(SUFFIXES)}); save it as .xlsx")
        else:
            found.append(given)
    once: dict[Path, Path] = {}
    for path in found:
        once.setdefault(path.resolve(), path)
    return list(once.values())


def read_sheets(path: Path) -> list[Sheet]:
    """All sheets of one workbook, read by the child process.

    Raises InputProblem naming the file and the cure.
    """
    command = [sys.executable, "-P", child.__file__, str(path.resolve())]
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter and script, no shell
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIME_SECONDS,
            check=False,
            # It reads files of unknown origin, so it knows no keys.
            env={name: value for name, value in os.environ.items() if not name.startswith("VOUCHER_")},
        )
    except subprocess.TimeoutExpired:
        raise InputProblem(f"{path}: took longer than {TIME_SECONDS} seconds to read; split it") from None
    if done.returncode != 0:
        cure = "too_large" if done.returncode < 0 else "damaged"
        raise InputProblem(
            f"{path}: {_CURES[cure].format(detail=f'the reader ended with {done.returncode}')}"
        )
    answer = pickle.loads(done.stdout)  # noqa: S301 - written by our own child process
    if "problem" in answer:
        raise InputProblem(f"{path}: {_CURES[answer['problem']].format(detail=answer['detail'])}")
    return [Sheet(**sheet) for sheet in answer["sheets"]]
