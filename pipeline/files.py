"""Files that appear whole or not at all, and never over another."""

import os
from pathlib import Path

#: Readable by nobody but the person whose file it is.
PRIVATE = 0o600


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
