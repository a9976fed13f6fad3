"""How long the ledger's disk takes to keep something for good: every request waits for it once (`submission/request_sender.py`)."""

import os
import statistics
import tempfile
import time
from pathlib import Path

_APPENDS = 20
_LONGEST = 1.0  # seconds in all, on a disk that is slow
_PAGE = bytes(4096)

#: What SQLite calls for the ledger, where there is it.
_sync = getattr(os, "fdatasync", os.fsync)


def sync_seconds(folder: Path) -> float:
    """The median of some appends to a new file there, each put on the disk; the file is gone afterwards.

    Raises OSError where nothing can be written.
    """
    took: list[float] = []
    # Under a name: of a file that has none some file systems sync nothing.
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".sync-time-", buffering=0) as file:
        while len(took) < _APPENDS and sum(took) < _LONGEST:
            begun = time.perf_counter()
            file.write(_PAGE)
            _sync(file.fileno())
            took.append(time.perf_counter() - begun)
    return statistics.median(took)
