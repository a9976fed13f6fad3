"""Files that appear whole or not at all, readable by nobody but the person whose run it is."""

import os
from pathlib import Path

from pipeline.results.paths import names

PRIVATE = 0o600


def sync(path: Path) -> None:
    """Have a file or folder on disk before going on."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def place_new(finished: Path, wanted: Path) -> Path:
    """Let a finished file appear under the first name that is free, never over another; give that name."""
    finished.chmod(PRIVATE)
    sync(finished)
    for path in names(wanted):
        try:
            _appear(finished, path)
        except FileExistsError:
            continue
        sync(path.parent)
        return path
    raise RuntimeError("names() does not end")


def _appear(finished: Path, path: Path) -> None:
    """Give the file a second name; FileExistsError where something has it."""
    try:
        os.link(finished, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links, such as a memory stick's
        path.touch(PRIVATE, exist_ok=False)
        finished.replace(path)


def place_over(finished: Path, path: Path) -> None:
    """Put a finished file in the place of an earlier one."""
    finished.chmod(PRIVATE)
    sync(finished)
    finished.replace(path)
    sync(path.parent)
