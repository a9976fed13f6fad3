"""Who is using a ledger, as that run says it in a file beside it: for whoever finds it locked.

The lock itself says nothing of who has it. The file is a courtesy: it is there while the run is on, nothing is decided by it,
and where it can't be written or read, nothing is told.
"""

import contextlib
import datetime
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from pipeline.file_writing import PRIVATE
from pipeline.model.message import NOTHING, Message, Private, message
from pipeline.model.quoting import one_line

_LONGEST = 2000


@dataclass(frozen=True)
class InUse:
    """A run that has the lock: who began it and when (UTC, ISO 8601), whether on the page, and its process."""

    person: str
    since: str
    on_page: bool
    process: int


def in_use_path(ledger: Path) -> Path:
    """The file beside the ledger."""
    return ledger.with_name(f"{ledger.name}.in-use")


def note(ledger: Path, run: InUse) -> None:
    """Say who has the lock."""
    with contextlib.suppress(OSError):
        file = os.open(in_use_path(ledger), os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_NOFOLLOW, PRIVATE)
        with open(file, "w", encoding="utf-8") as opened:  # noqa: PTH123 - a descriptor
            json.dump(asdict(run), opened)


def clear(ledger: Path) -> None:
    """Nobody has it any more."""
    with contextlib.suppress(OSError):
        in_use_path(ledger).unlink(missing_ok=True)


def _noted(ledger: Path) -> InUse:
    with in_use_path(ledger).open(encoding="utf-8") as file:
        return InUse(**json.loads(file.read(_LONGEST)))


def was_killed(ledger: Path) -> bool:
    """Whether the run that says that it has the lock is gone: then what commits its changes has it, for a moment."""
    try:
        os.kill(_noted(ledger).process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError, ValueError, TypeError):
        return False
    return False


def told(ledger: Path) -> Message:
    """Who has the lock, in brackets; nothing where that is not known, or the process that said so is gone."""
    try:
        run = _noted(ledger)
        since = datetime.datetime.fromisoformat(run.since).astimezone()
        os.kill(run.process, 0)
    except (OSError, OverflowError, ValueError, TypeError):
        return NOTHING
    facts = {
        "person": Private(one_line(run.person)) if run.person else message("somebody"),
        "since": f"{since:%Y-%m-%d %H:%M}",
        "process": f"{run.process}",
    }
    if run.on_page:
        return message(" (by {person}, on the page, since {since}; process {process})", **facts)
    return message(" (by {person}, on the command line, since {since}; process {process})", **facts)
