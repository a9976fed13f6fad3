"""Files that are read whole: none that never ends, and none that is too large."""

import errno
import stat
from pathlib import Path

#: A profile, a mapping or a list of faults takes some kilobytes.
SETTINGS_BYTES = 1_000_000


def check_regular(path: Path, most: int) -> None:
    """Raise OSError for what is no file (a folder, a pipe, a device: they may never end), or larger than so many bytes."""
    seen = path.stat()
    if stat.S_ISDIR(seen.st_mode):
        raise IsADirectoryError(errno.EISDIR, "Is a directory", str(path))
    if not stat.S_ISREG(seen.st_mode):
        raise OSError(errno.EINVAL, "it is not a file but a pipe or a device", str(path))
    if seen.st_size > most:
        raise OSError(errno.EFBIG, f"it has {seen.st_size} bytes", str(path))


def settings_text(path: Path) -> str:
    """The text of a small file in UTF-8, its mark taken away. Raises OSError and UnicodeDecodeError."""
    check_regular(path, SETTINGS_BYTES)
    return path.read_text(encoding="utf-8-sig")
