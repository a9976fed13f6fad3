"""The team's own mapping of headings and values: what new months begin with, and who saved it."""

import time
from dataclasses import dataclass
from pathlib import Path

from pipeline.model.message import Message, message
from pipeline.page import months
from pipeline.page.page_database import connected, transaction
from pipeline.run.column_survey import write_mapping

#: A month's mapping, in its folder.
NAME = "columns.toml"


@dataclass(frozen=True)
class TeamMapping:
    """The text of its file, the title of the month that it was made for, when it was saved (seconds since 1970), and by whom."""

    text: str
    month: str
    at: float
    by: str


def present(folder: Path) -> TeamMapping | None:
    """The one that there is."""
    line = connected(folder).execute("SELECT text, month, at, by FROM team_mapping").fetchone()
    return TeamMapping(*line) if line else None


def of_month(folder: Path, month: str) -> str:
    """A month's own mapping, "" where it has none."""
    try:
        return (months.folder_of(folder, month) / NAME).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


def keep(folder: Path, month: months.Month, by: str) -> None:
    """Keep a month's mapping as the team's, in place of an earlier one."""
    if text := of_month(folder, month.id):
        with transaction(folder) as connection:
            connection.execute(
                "INSERT OR REPLACE INTO team_mapping VALUES (1, ?, ?, ?, ?)",
                (text, month.title, time.time(), by),
            )
        months.note(folder, month.id, by, message("kept the mapping as the team's"))


def forget(folder: Path) -> None:
    """New months begin with none."""
    connected(folder).execute("DELETE FROM team_mapping")


def begin_with(folder: Path, month: str, by: str) -> None:
    """Let a new month begin with the team's mapping, if there is one."""
    if team := present(folder):
        change(
            folder,
            month,
            team.text,
            by,
            message("the mapping is the team's, which {person} saved", person=team.by),
        )


def change(folder: Path, month: str, text: str, by: str, said: Message) -> None:
    """Give a month another mapping, or none (""); it has to be judged anew. Raises Overtaken while it is being sent."""
    path = months.folder_of(folder, month) / NAME
    with transaction(folder):
        months.changed(folder, month, by)
        if text:
            write_mapping(text, path, replacing=True)
        else:
            path.unlink(missing_ok=True)
    months.note(folder, month, by, said)
