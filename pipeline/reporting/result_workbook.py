"""The result workbook: written beside its place, read again, and only then given its name."""

import errno
import io
import traceback
import zipfile
from collections.abc import Callable, Collection
from pathlib import Path

import openpyxl
import xlsxwriter
from xlsxwriter.exceptions import XlsxWriterException

from pipeline.file_reading import Irregular, said_by
from pipeline.file_writing import scratch_folder
from pipeline.messages.translate import rendered
from pipeline.model.columns import RESULT_SHEETS
from pipeline.model.errors import Stop
from pipeline.model.message import Note, message
from pipeline.model.result import RunResult
from pipeline.reporting.links import Places
from pipeline.reporting.output_paths import place_new
from pipeline.reporting.sheet_buyers import add_buyers
from pipeline.reporting.sheet_failures import add_failures
from pipeline.reporting.sheet_requests import add_invoices, add_itineraries
from pipeline.reporting.sheet_rows import add_all_rows
from pipeline.reporting.sheet_summary import TITLE, add_summary
from pipeline.reporting.sheet_unknown import add_unknown
from pipeline.reporting.xlsx.book import Book, Cover
from pipeline.reporting.xlsx.splice import fits, put_in_rows

#: In the order of RESULT_SHEETS; then Buyers.
_SHEETS = (add_summary, add_invoices, add_itineraries, add_failures, add_unknown, add_all_rows, add_buyers)


def try_out(note: Note) -> None:
    """Try how rows are written, before anything is sent: the workbook must not fail for it afterwards."""
    if not fits():
        note(
            message(
                "This version of XlsxWriter writes a sheet in another way than is known here: the result workbook takes longer"
            )
        )


def write_workbook(result: RunResult, path: Path) -> Path:
    """Write the result workbook; give the path that it has, which is another where `path` was taken.

    Raises Stop where it can't be written; nothing is left behind then.
    """

    def fill(book: Book) -> None:
        places = Places(result)
        for add in _SHEETS:
            add(book, result, places)

    return write_book(
        path, Cover(rendered(TITLE, result.lang), result.lang, result.origin.is_sandbox), RESULT_SHEETS, fill
    )


def write_book(path: Path, cover: Cover, sheets: Collection[str], fill: Callable[[Book], None]) -> Path:
    """Write a workbook with these sheets, whole or not at all; give the path that it has."""
    try:
        with scratch_folder(path.parent) as folder:
            finished = folder / "result.xlsx"
            _write(finished, str(folder), cover, fill)
            _check(finished, sheets)
            return place_new(finished, path)
    except (OSError, XlsxWriterException) as problem:
        _forget(problem)
        cause = problem.args[0] if isinstance(problem, XlsxWriterException) and problem.args else problem
        reason = said_by(cause) if isinstance(cause, OSError) else str(cause)
        raise Stop(
            "{file}: the result workbook can't be written ({problem}); nothing is lost, the ledger has it all: make"
            " room or choose another place, and run the same command again",
            file=str(path),
            problem=reason,
        ) from problem


def _forget(problem: BaseException | None) -> None:
    """Let go of what a failed writing holds, here and now: its archive would complain at the program's end."""
    while problem is not None:
        traceback.clear_frames(problem.__traceback__)
        problem = problem.__context__


def _write(path: Path, folder: str, cover: Cover, fill: Callable[[Book], None]) -> None:
    """Write every sheet but for its rows, then the rows."""
    # A file that can't be written would be closed, and complain, only when it is forgotten: so both are in memory.
    package, content = io.BytesIO(), io.BytesIO()
    with xlsxwriter.Workbook(package, {"constant_memory": True, "tmpdir": folder}) as workbook:
        workbook.set_properties({"title": cover.shown, "author": "Voucher Pipeline"})
        book = Book(workbook, cover)
        fill(book)
        if not book.spliced:
            book.write_rows()
    if book.spliced:
        put_in_rows(package, book.rows, book.cells, content, folder)
    else:
        content = package
    path.write_bytes(content.getbuffer())


def _check(path: Path, sheets: Collection[str]) -> None:
    """Open the file again: one that does not open, or lacks a sheet, must never be given its name."""
    try:
        with zipfile.ZipFile(path) as package:
            damaged = package.testzip()
        book = openpyxl.load_workbook(path, read_only=True)
    except Exception as problem:  # what openpyxl raises depends on what is damaged
        raise Irregular(errno.EIO, path, message("it does not open after it was written")) from problem
    book.close()
    if damaged or not set(book.sheetnames) >= set(sheets):
        said = message("it is damaged: {what}", what=str(damaged or book.sheetnames))
        raise Irregular(errno.EIO, path, said)
