"""Files that are read whole, none that never ends; and files that appear whole or not at all, and never over another.

>>> from itertools import islice
>>> [path.name for path in islice(names(Path("october.result.xlsx")), 3)]
['october.result.xlsx', 'october.2.result.xlsx', 'october.3.result.xlsx']
"""

import contextlib
import errno
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from pipeline.model.message import Message, message, system_error
from pipeline.signals import put_off

#: Readable by nobody but the person whose file it is.
PRIVATE = 0o600
#: Workbooks, by the ends of their names.
WORKBOOK_SUFFIXES = (".xlsx", ".xls", ".xlsb", ".ods", ".csv", ".tsv")
#: A profile, a mapping or a list of faults takes some kilobytes.
SETTINGS_BYTES = 1_000_000
_NAME = re.compile(r"(?P<stem>.+?)(?P<suffix>(\.result|\.reconciliation)?\.xlsx)", re.IGNORECASE | re.DOTALL)
_NUMBERED = re.compile(r"(?P<stem>.+)\.(?P<number>[2-9]|[1-9][0-9]{1,3})", re.DOTALL)


class Irregular(OSError):
    """A file that can't be used though the system finds nothing wrong with it; `said` is why, in words of ours."""

    def __init__(self, number: int, path: Path, said: Message) -> None:
        super().__init__(number, str(said), str(path))
        self.said = said


def check_regular(path: Path, most: int) -> None:
    """Raise OSError for what is no file (a folder, a pipe, a device: they may never end), or larger than so many bytes."""
    seen = path.stat()
    if stat.S_ISDIR(seen.st_mode):
        raise IsADirectoryError(errno.EISDIR, "Is a directory", str(path))
    if not stat.S_ISREG(seen.st_mode):
        raise Irregular(errno.EINVAL, path, message("it is not a file but a pipe or a device"))
    if seen.st_size > most:
        raise Irregular(errno.EFBIG, path, message("it has {count} bytes", count=seen.st_size))


def said_by(error: OSError) -> Message:
    """What is wrong with a file, for a message."""
    return error.said if isinstance(error, Irregular) else system_error(error)


def settings_text(path: Path) -> str:
    """The text of a small file in UTF-8, its mark taken away. Raises OSError and UnicodeDecodeError."""
    check_regular(path, SETTINGS_BYTES)
    return path.read_text(encoding="utf-8-sig")


def toml_problem(error: Exception) -> Message:
    """Where a text is not TOML, for a message: what the reader says of it is in English alone."""
    if isinstance(error, UnicodeDecodeError):
        return message("byte {byte} is not UTF-8", byte=error.start + 1)
    if place := re.search(r"at line (\d+), column (\d+)\)$", str(error)):
        return message("line {line}, column {column}", line=place[1], column=place[2])
    return message("near its end something is not finished, or a key stands twice")


@contextlib.contextmanager
def scratch_folder(folder: Path) -> Iterator[Path]:
    """A folder in that one for files half made, which is gone afterwards, whenever the program is interrupted. Raises OSError."""
    with put_off():
        made = tempfile.TemporaryDirectory(prefix=".voucher-", dir=folder)
    try:
        yield Path(made.name)
    finally:
        with put_off():
            made.cleanup()


def sync(path: Path) -> None:
    """Have a file or folder on disk before going on."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def private_folder(path: Path) -> None:
    """Make a folder and those above it that are missing, each open to nobody else."""
    if not path.is_dir():
        private_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)
        sync(path.parent)


def appear(finished: Path, path: Path) -> None:
    """Let a finished file appear under this name; FileExistsError where something has it.

    The name it was made under may remain; removing it is the caller's.
    """
    try:
        os.link(finished, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links, such as a memory stick's
        path.touch(PRIVATE, exist_ok=False)
        finished.replace(path)


def names(path: Path) -> Iterator[Path]:
    """A path, then the same with numbers before its suffix; "X.2" beside an "X" is followed by "X.3"."""
    yield path
    match = _NAME.fullmatch(path.name)
    stem, suffix = (match["stem"], match["suffix"]) if match else (path.stem, path.suffix)
    first = 2
    numbered = _NUMBERED.fullmatch(stem)
    if numbered and taken(path.with_name(f"{numbered['stem']}{suffix}")):
        stem, first = numbered["stem"], int(numbered["number"]) + 1
    for number in count(first):
        yield path.with_name(f"{stem}.{number}{suffix}")


def taken(path: Path) -> bool:
    """Whether a name is in use, be it by a link that leads nowhere."""
    return os.path.lexists(path)


def place_new(finished: Path, wanted: Path) -> Path:
    """Let a finished file appear under the first name that is free, never over another; give that name."""
    finished.chmod(PRIVATE)
    sync(finished)
    for path in names(wanted):
        try:
            appear(finished, path)
        except FileExistsError:
            continue
        sync(path.parent)
        return path
    raise RuntimeError("names() does not end")


def place_over(finished: Path, path: Path) -> None:
    """Put a finished file in the place of an earlier one."""
    finished.chmod(PRIVATE)
    sync(finished)
    finished.replace(path)
    sync(path.parent)
