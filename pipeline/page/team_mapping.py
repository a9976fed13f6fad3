"""The team's own mapping of headings and values: what new months begin with, and who saved it."""

import time
from dataclasses import dataclass
from pathlib import Path

from pipeline.model.message import Message, message
from pipeline.page import month_history, months
from pipeline.page.months import Month, Overtaken
from pipeline.page.page_database import connected, transaction
from pipeline.run.column_survey import write_mapping

#: A month's mapping, in its folder.
NAME = "columns.toml"


MONTH_CHANGED = message(
    "The files, their corrections or the mapping were changed since you looked at this, and nothing was saved. Look at it again."
)


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


def keep(folder: Path, month: Month, by: str, seen: str) -> None:
    """Keep a month's mapping as the team's, in place of the one that was seen (`stamp`). Raises Overtaken where either is another now."""
    with transaction(folder) as connection:
        _check_month(folder, month)
        _check_team(folder, seen)
        if not (text := of_month(folder, month.id)):
            return
        connection.execute(
            "INSERT OR REPLACE INTO team_mapping VALUES (1, ?, ?, ?, ?)",
            (text, month.title, time.time(), by),
        )
    month_history.note(folder, month.id, by, message("kept the mapping as the team's"))


def forget(folder: Path, month: Month, by: str, seen: str) -> None:
    """New months begin with none; the month on whose page that was said notes it. Raises Overtaken where the team's is another now."""
    with transaction(folder) as connection:
        team = _check_team(folder, seen)
        connection.execute("DELETE FROM team_mapping")
    if team:
        said = message("removed the team's mapping, which {person} saved from {month}", person=team.by, month=team.month)  # fmt: skip
        month_history.note(folder, month.id, by, said)


def take(folder: Path, month: Month, by: str, seen: str) -> None:
    """Give a month the team's mapping in place of its own. Raises Overtaken where either is another than was seen."""
    if team := _check_team(folder, seen):
        change(
            folder,
            month,
            team.text,
            by,
            message("the mapping is the team's, which {person} saved", person=team.by),
        )


def begin_with(folder: Path, month: str, by: str) -> None:
    """Let a new month begin with the team's mapping, if there is one."""
    begun = months.find(folder, month)
    if begun:
        take(folder, begun, by, stamp(present(folder)))


def stamp(team: TeamMapping | None) -> str:
    """What is another as soon as the team's mapping is."""
    return str(team.at) if team else ""


def _check_team(folder: Path, seen: str) -> TeamMapping | None:
    """The team's mapping, if it is the one that was seen. Raises Overtaken where it is another."""
    team = present(folder)
    if stamp(team) != seen:
        raise Overtaken(
            "The team's mapping was changed since you looked at it, and nothing was done. Look at it again."
        )
    return team


def _check_month(folder: Path, month: Month) -> None:
    standing = months.find(folder, month.id)
    if standing is None or standing.version != month.version:
        raise Overtaken(MONTH_CHANGED)


def change(folder: Path, month: Month, text: str, by: str, said: Message) -> None:
    """Give a month another mapping, or none (""); it has to be judged anew. Raises Overtaken where it has changed, or is being sent."""
    path = months.folder_of(folder, month.id) / NAME
    with transaction(folder):
        _check_month(folder, month)
        months.changed(folder, month.id, by)
        if text:
            write_mapping(text, path, replacing=True)
        else:
            path.unlink(missing_ok=True)
    month_history.note(folder, month.id, by, said)
