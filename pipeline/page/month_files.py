"""A month's uploads: taken as they come, bounded, under names of our making, and noted once they lie on disk whole."""

import asyncio
import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

from aiohttp import BodyPartReader, web

from pipeline.file_reading import WORKBOOK_SUFFIXES
from pipeline.file_writing import PRIVATE, private_folder
from pipeline.itinerary_files.find_files import may_hold_itineraries
from pipeline.model.message import message
from pipeline.page import month_uploads, months
from pipeline.page.month_uploads import Upload
from pipeline.page.page_database import transaction
from pipeline.page.refused import Refused
from pipeline.page.uploads import MOST_UPLOADED, parts, piece_of, take
from pipeline.reporting.output_paths import file_name

_LONGEST_FIELD = 10_000  # bytes
#: What files a form takes: workbooks; workbooks, archives and mails; or any.
Takes = Literal["workbooks", "evidence", "anything"]


@dataclass
class Form:
    """A form with files: its fields, and the files in a folder of their own, by the name that each is to have."""

    folder: Path
    fields: dict[str, str] = field(default_factory=dict)
    files: dict[str, Path] = field(default_factory=dict)

    def keep(self, pages: Path, month: str, kind: str, by: str, reconcile_in: str = "") -> None:
        """Move the files into a month's folder and note them, all or none; a name that is there already gets a number.

        Raises Overtaken while the month is being sent.
        """
        to = months.folder_of(pages, month)
        with transaction(pages):  # nobody else takes the same number or name meanwhile
            for name, file in self.files.items():
                names = {one.name.casefold() for one in month_uploads.uploads(pages, month)}
                number = 1 + max((int(one.name) for one in (to / "uploads").iterdir()), default=0)
                size = file.stat().st_size
                upload = Upload(number, _free(name, names), kind, size, time.time(), by, reconcile_in)
                month_uploads.add_upload(pages, month, upload)
                path = upload.path(to)
                private_folder(path.parent)
                file.replace(path)


@contextlib.asynccontextmanager
async def received(
    request: web.Request, pages: Path, name: str, takes: Takes = "workbooks"
) -> AsyncIterator[Form]:
    """The fields and files of a form, while they are worked with; `name` is that of its files.

    Raises Refused for no file, or one that is not taken; a form that takes anything may have none.
    """
    form = Form(await asyncio.to_thread(_scratch, pages))
    try:
        await _take_all(request, form, name, takes)
        yield form
    finally:
        await asyncio.to_thread(shutil.rmtree, form.folder, ignore_errors=True)


async def _take_all(request: web.Request, form: Form, name: str, takes: Takes) -> None:
    left, number = MOST_UPLOADED, 0
    async for part in parts(request):
        if part.name != name or not part.filename:
            form.fields[part.name or ""] = await _text(part)
            continue
        number += 1
        safe = _safe(part.filename, number)
        if safe.startswith("~$"):  # the lock file of a spreadsheet program, which comes with a folder
            await part.release()
            continue
        if takes == "workbooks" and not is_workbook(safe):
            raise _no_workbook(safe)
        path = form.folder / str(number)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE), "wb") as file:
            left = await take(part, file, left)
            await asyncio.to_thread(os.fsync, file.fileno())
        if takes == "evidence" and not (
            is_workbook(safe) or await asyncio.to_thread(may_hold_itineraries, path)
        ):
            raise _no_evidence(safe)
        form.files[_free(safe, {taken.casefold() for taken in form.files})] = path
    if not form.files and takes != "anything":
        raise Refused(400, message("No file was chosen: choose one or more workbooks."))


def is_workbook(name: str) -> bool:
    """Whether a file is a workbook, by its name."""
    return Path(name).suffix.lower() in WORKBOOK_SUFFIXES


def _scratch(pages: Path) -> Path:
    private_folder(pages / "coming")
    return Path(tempfile.mkdtemp(dir=pages / "coming"))


async def _text(part: BodyPartReader) -> str:
    text = b""
    while piece := await piece_of(part, _LONGEST_FIELD):
        text += piece
        if len(text) > _LONGEST_FIELD:
            raise Refused(413, message("A field of the form is too long."))
    return text.decode("utf-8", "replace").strip()


def _safe(name: str, number: int) -> str:
    """A name that somebody's browser gave, as one that every system takes; of a folder's file its own name alone."""
    last = PurePosixPath(name.replace("\\", "/")).name
    return file_name(last) or f"{number}.xlsx"


def _free(name: str, taken: set[str]) -> str:
    """The name, with a number where it is taken: what a message names is one file."""
    stem, suffix = Path(name).stem, Path(name).suffix
    free, number = name, 2
    while free.casefold() in taken:
        free, number = f"{stem} ({number}){suffix}", number + 1
    return free


def _no_workbook(name: str) -> Refused:
    return Refused(
        415,
        message(
            "{file}: is not a workbook ({suffixes}); save it as .xlsx",
            file=name,
            suffixes=" ".join(WORKBOOK_SUFFIXES),
        ),
    )


def _no_evidence(name: str) -> Refused:
    return Refused(
        415,
        message(
            "{file}: is neither a workbook ({suffixes}) nor an itinerary file (.ofd, alone, in a .zip or in a mail)",
            file=name,
            suffixes=" ".join(WORKBOOK_SUFFIXES),
        ),
    )
