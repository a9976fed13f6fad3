"""What a process that does a piece of the page's work is given, and where it tells how far it is."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from pipeline.file_writing import private_folder
from pipeline.model.job import Job, Plan, Progress, Watch
from pipeline.model.message import Message, to_text
from pipeline.page import months, work
from pipeline.page.page_database import transaction
from pipeline.page.serve_settings import ServeSettings

_PROGRESS_EVERY = 0.25  # seconds
_MOST_NOTES = 200


@dataclass
class Teller:
    """What the work says while it is on, kept in the page's database. `files` are what it has written."""

    folder: Path
    number: int
    notes: list[str] = field(default_factory=list)
    files: tuple[str, ...] = ()
    _told_at: float = 0.0

    def note(self, said: Message) -> None:
        """A line for people, once: what waits says the same again."""
        if len(self.notes) < _MOST_NOTES and to_text(said) not in self.notes:
            self.notes.append(to_text(said))
            self._set("notes", orjson.dumps(self.notes).decode())

    def progress(self, seen: Progress) -> None:
        """How far the sending is; not more often than anybody looks."""
        if time.monotonic() - self._told_at >= _PROGRESS_EVERY or seen.done == seen.total:
            self._told_at = time.monotonic()
            self._set("progress", orjson.dumps([seen.total, seen.states]).decode())

    def _set(self, column: str, value: str) -> None:
        with transaction(self.folder) as connection:
            connection.execute(f"UPDATE work SET {column} = ? WHERE id = ?", (value, self.number))  # noqa: S608 - names of ours


@dataclass(frozen=True)
class WorkTask:
    """The work that is to be done: what it was begun with, for which job, and who is told."""

    work: work.Work
    asked: Mapping[str, Any]
    job: Job
    teller: Teller
    settings: ServeSettings

    @property
    def folder(self) -> Path:
        """The page's folder."""
        return self.settings.folder

    @property
    def month(self) -> str:
        """The month's ID."""
        return self.work.month or ""

    @property
    def month_folder(self) -> Path:
        """The month's own folder."""
        return months.folder_of(self.folder, self.month)

    def watch(self, confirm: Callable[[Plan], bool]) -> Watch:
        """Who follows the run."""
        return Watch(self.teller.note, self.teller.progress, confirm, self.teller.note)

    @property
    def results(self) -> Path:
        """The folder of what it writes, where it is about no month; made where it is not there."""
        folder = work.results(self.folder, self.work.id)
        private_folder(folder)
        return folder
