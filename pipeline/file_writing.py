"""Files that appear whole or not at all, and never over another."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pipeline.signals import put_off

#: Readable by nobody but the person whose file it is.
PRIVATE = 0o600


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


def taken(path: Path) -> bool:
    """Whether a name is in use, be it by a link that leads nowhere."""
    return os.path.lexists(path)


def place_over(finished: Path, path: Path) -> None:
    """Put a finished file in the place of an earlier one."""
    finished.chmod(PRIVATE)
    sync(finished)
    finished.replace(path)
    sync(path.parent)
