"""Which pieces of work go on beside each other: told by locks that die with their processes, so that a kill leaves nothing to put right.

It imports little, as a process that waits for its turn has nothing else in memory.
"""

import fcntl
import os
import time
from pathlib import Path
from typing import Any

from pipeline.file_writing import PRIVATE, private_folder
from pipeline.page.page_database import connected

#: What only reads: as many at a time as there are cores. What sends or settles never waits.
READING = ("judge", "survey", "result", "register")
_OFTEN = 0.1  # seconds
_EARLIER = f"""
SELECT earlier.id FROM work AS earlier JOIN work AS one ON earlier.id < one.id
WHERE one.id = ? AND earlier.ended_at IS NULL AND one.kind IN {READING} AND earlier.kind IN {READING}
"""  # noqa: S608 - constants


def taken_lock(folder: Path, number: int) -> int:
    """The file descriptor of the work's lock, taken. Raises BlockingIOError while its process lives."""
    private_folder(folder / "work")
    file = os.open(folder / "work" / f"{number}.lock", os.O_RDWR | os.O_CREAT, PRIVATE)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        raise
    return file


def is_there(folder: Path, number: int) -> bool:
    """Whether the process that does a piece of work is there, or is about to be."""
    try:
        os.close(taken_lock(folder, number))
    except BlockingIOError:
        return True
    return False


def process_of(folder: Path, number: int) -> int | None:
    """The ID of the process that does a piece of work, None where it is gone, or not there yet."""
    if not is_there(folder, number):
        return None
    return int(connected(folder).execute("SELECT pid FROM work WHERE id = ?", (number,)).get or 0) or None


def wait_for_turn(folder: Path, number: int) -> None:
    """Wait while as many that were begun before go on as there are cores, if it is one of those that do."""
    cores = len(os.sched_getaffinity(0))
    while True:
        earlier: list[Any] = connected(folder).execute(_EARLIER, (number,)).fetchall()
        if sum(is_there(folder, one) for (one,) in earlier) < cores:
            return
        time.sleep(_OFTEN)
