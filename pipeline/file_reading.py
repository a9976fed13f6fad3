"""Files that are read whole, none that never ends: what may be read, how much of it, and what is wrong with it in words."""

import errno
import re
import stat
from pathlib import Path

from pipeline.model.message import Message, message, system_error

#: Workbooks, by the ends of their names.
WORKBOOK_SUFFIXES = (".xlsx", ".xls", ".xlsb", ".ods", ".csv", ".tsv")
#: A profile, a mapping or a list of faults takes some kilobytes.
SETTINGS_BYTES = 1_000_000
#: A reconciliation's number may stand behind that word: earlier versions put it there.
_OURS = re.compile(
    r"(\.result\.xlsx|(^|\.)reconciliation(\.[0-9]+)?\.xlsx|\.statement\.csv)\Z", re.IGNORECASE
)


def is_ours(path: Path) -> bool:
    """Whether a file's name is that of a result, of a reconciliation, or of a sandbox's statement."""
    return _OURS.search(path.name) is not None


def is_background(path: Path) -> bool:
    """Whether a file or folder is a hidden one, a spreadsheet program's lock, or what Windows keeps in a folder for itself."""
    return path.name.startswith((".", "~$")) or path.name.lower() in ("thumbs.db", "desktop.ini")


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
