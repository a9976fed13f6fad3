"""Where results go: never over a file that is there, and known to be writable before anything is sent."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from pipeline.file_reading import WORKBOOK_SUFFIXES
from pipeline.file_writing import PRIVATE, appear, scratch_folder, sync, taken
from pipeline.model.errors import InputProblem
from pipeline.model.message import Message, message, system_error

#: What helps where a name that somebody gave can't be written to.
ANOTHER_FOLDER = message("choose a folder that exists and that you may write to")

#: What a file's name can't hold on some system, and names that Windows keeps for devices, whatever their suffix.
_UNSAFE = re.compile(
    r'[\x00-\x1f\x7f-\x9f<>:"/\\|?*\ud800-\udfff\ufffe\uffff\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]+'
)
_DEVICES = re.compile(r"(?:CON|PRN|AUX|NUL|COM[0-9]|LPT[0-9])(?:\..*)?", re.IGNORECASE)
_NAME = re.compile(r"(?P<stem>.+?)(?P<suffix>(\.result|\.reconciliation)?\.xlsx)", re.IGNORECASE | re.DOTALL)
_NUMBERED = re.compile(r"(?P<stem>.+)\.(?P<number>[2-9]|[1-9][0-9]{1,3})", re.DOTALL)
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,5}$")
_LONGEST_NAME = 150  # bytes: a name has 255, and a number and a suffix may follow


def result_path(output: Path | None, first_input: Path) -> Path:
    """Give the result workbook's path: `output`, or beside the first input file; numbered where taken.

    Raises InputProblem where `output` is no .xlsx name or the folder can't be written to.
    """
    if output is not None:
        return free_path(output)
    result = first_input.name.lower().endswith(".result.xlsx")
    wanted = first_input if result else first_input.with_name(f"{first_input.stem}.result.xlsx")
    return free_path(wanted, message("choose another place with -o"))


def free_path(wanted: Path, cure: Message = ANOTHER_FOLDER) -> Path:
    """Give a workbook's path, numbered where it is taken.

    Raises InputProblem where it is no .xlsx name or the folder can't be written to; `cure` is what helps then.
    """
    if wanted.suffix.lower() != ".xlsx":
        raise InputProblem(
            "{file}: a result is an Excel workbook; give -o a name that ends in .xlsx", file=str(wanted)
        )
    check_folder(wanted, cure)
    return next(path for path in _names(wanted) if not taken(path))


def _names(path: Path) -> Iterator[Path]:
    """A path, then the same with numbers before its suffix; "X.2" beside an "X" is followed by "X.3".

    >>> from itertools import islice
    >>> [path.name for path in islice(_names(Path("october.result.xlsx")), 3)]
    ['october.result.xlsx', 'october.2.result.xlsx', 'october.3.result.xlsx']
    """
    yield path
    match = _NAME.fullmatch(path.name)
    stem, suffix = (match["stem"], match["suffix"]) if match else (path.stem, path.suffix)
    first = 2
    numbered = _NUMBERED.fullmatch(stem)
    if numbered and taken(path.with_name(f"{numbered['stem']}{suffix}")):
        stem, first = numbered["stem"], int(numbered["number"]) + 1
    for number in count(first):
        yield path.with_name(f"{stem}.{number}{suffix}")


def place_new(finished: Path, wanted: Path) -> Path:
    """Let a finished file appear under the first name that is free, never over another; give that name."""
    finished.chmod(PRIVATE)
    sync(finished)
    for path in _names(wanted):
        try:
            appear(finished, path)
        except FileExistsError:
            continue
        sync(path.parent)
        return path
    raise RuntimeError("_names() does not end")


def check_report_path(path: Path) -> None:
    """Check that a report can be written to `path`, in whose place an earlier report may be.

    Raises InputProblem; also for a workbook's name, which may be an input given by mistake.
    """
    if path.suffix.lower() in WORKBOOK_SUFFIXES:
        raise InputProblem(
            "{file}: a report is JSON and would replace this workbook; give a name that ends in .json",
            file=str(path),
        )
    if taken(path) and not path.is_file():
        raise InputProblem(
            "{file}: is not a file that a report could replace; give the name of a file", file=str(path)
        )
    if taken(path) and not _is_report(path):
        raise InputProblem(
            "{file}: is no earlier report and is left as it is; give the report another name", file=str(path)
        )
    check_folder(path)


def _is_report(path: Path) -> bool:
    """Whether a file is empty or begins as our reports do: nothing else is ever replaced by one."""
    try:
        with path.open("rb") as file:
            begins = b"".join(file.read(64).split())
    except OSError:
        return False
    return begins == b"" or begins.startswith(b'{"version":')


def check_folder(path: Path, cure: Message = ANOTHER_FOLDER) -> None:
    """Check that the folder of `path` takes a new file, by making a folder in it for a moment."""
    folder = path.parent
    if not folder.is_dir():
        raise InputProblem(
            "{file}: there is no folder {folder}; create it, or {cure}",
            file=str(path),
            folder=str(folder),
            cure=cure,
        )
    try:
        with scratch_folder(folder):
            pass
        path.exists()
    except OSError as problem:
        raise unwritable(path, problem, cure) from problem


def unwritable(path: Path, problem: OSError, cure: Message = ANOTHER_FOLDER) -> InputProblem:
    """What is said of a place that can't be written to."""
    return InputProblem(
        "{file}: can't be written ({problem}); {cure}",
        file=str(path),
        problem=system_error(problem),
        cure=cure,
    )


def file_name(text: str) -> str:
    """A text that anybody may have typed as a part of a file's name that every system takes; "" where nothing is left of it.

    One that is too long is cut before its suffix.

    >>> file_name("../A/B: Travel*. "), file_name("con"), len(file_name("咨询" * 100).encode())
    ('A_B_ Travel', '_con', 150)
    >>> file_name("咨询" * 100 + ".xlsx")[-7:], len(file_name("咨询" * 100 + ".xlsx").encode())
    ('咨询.xlsx', 149)
    """
    name = _UNSAFE.sub("_", unicodedata.normalize("NFC", text)).strip(" ._")
    stem, suffix = (name[: found.start()], found[0]) if (found := _SUFFIX.search(name)) else (name, "")
    stem = stem.encode()[: _LONGEST_NAME - len(suffix)].decode(errors="ignore").rstrip(" ._")
    name = f"{stem}{suffix}"
    return f"_{name}" if _DEVICES.fullmatch(name) else name
