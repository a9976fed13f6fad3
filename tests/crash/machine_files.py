"""The folder of a life, and the empty ledger that each life begins with."""

import atexit
import shutil
import tempfile
from pathlib import Path

from pipeline.ledger import opening
from pipeline.model.profile import Owner

OWNER = Owner("http://127.0.0.1:8080", "DEMO")
_EMPTY: list[Path] = []


def fast_folder() -> str | None:
    """Memory, where there is some: what a sync is for is not tested here."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def empty_ledger() -> Path:
    """A new ledger, made once a process as the program makes it, and copied for each example."""
    if not _EMPTY:
        folder = Path(tempfile.mkdtemp(prefix="ledger-", dir=fast_folder()))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        connection, lock = opening.open_for_run(folder / "empty.ledger", OWNER, may_create=True)
        connection.close()
        lock.close()
        _EMPTY.append(folder / "empty.ledger")
    return _EMPTY[0]
