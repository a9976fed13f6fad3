"""Who did what to a month, as its page tells it."""

import time
from pathlib import Path

from pipeline.model.message import Message, from_text, to_text
from pipeline.page.page_database import connected, transaction


def note(folder: Path, month: str, by: str, said: Message) -> None:
    """Note who did what to a month."""
    with transaction(folder):
        note_within(folder, month, by, said)


def note_within(folder: Path, month: str, by: str, said: Message) -> None:
    """The same within a transaction."""
    connected(folder).execute(
        "INSERT INTO change VALUES (?, ?, ?, ?)", (month, time.time(), by, to_text(said))
    )


def changes(folder: Path, month: str) -> list[tuple[float, str, Message]]:
    """(when, who, what) of the last changes, the newest first."""
    found = connected(folder).execute(
        "SELECT at, by, said FROM change WHERE month = ? ORDER BY rowid DESC LIMIT 50", (month,)
    )
    return [(at, by, from_text(said)) for at, by, said in found]
