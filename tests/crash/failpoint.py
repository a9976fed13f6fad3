"""The failing system calls of `failpoint.c`: built with the C compiler, and chosen by environment.

The library is preloaded into the real program, so what fails or dies is a call of the program itself, of
SQLite or of the event loop - nothing of the program is replaced.
"""

import hashlib
import os
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("failpoint.c")


def compiled(folder: Path, source: Path = SOURCE) -> Path:
    """Build the library in a folder, or take the one that was built there from the same source."""
    library = folder / f"{source.stem}-{hashlib.sha256(source.read_bytes()).hexdigest()[:16]}.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        building = library.with_suffix(f".{os.getpid()}")
        command = ["cc", "-O2", "-shared", "-fPIC", "-o", str(building), str(source), "-ldl"]
        subprocess.run(command, check=True, capture_output=True, text=True)
        building.replace(library)  # two that build at once both end with a whole library
    return library


def environment(
    library: Path,
    folder: Path,
    at: int,
    what: str,
    *,
    forever: bool = False,
    only: str = "",
    log: Path | None = None,
) -> dict[str, str]:
    """Return what to add to the environment of the program under test; `at` 0 only counts."""
    return {
        "LD_PRELOAD": str(library),
        "FAILPOINT_FOLDER": str(folder.resolve()),
        "FAILPOINT_ONLY": only,
        "FAILPOINT_AT": str(at),
        "FAILPOINT_WHAT": what,
        "FAILPOINT_FOREVER": "1" if forever else "",
        "FAILPOINT_LOG": "" if log is None else str(log),
    }
