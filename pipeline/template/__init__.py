"""The blank input workbook: headings, notes, drop-downs and formats, all drawn from `columns`.

A person fills it in, the reader takes it back. Nothing here knows a heading or a permitted value of
its own, so a word that is added to the vocabulary is in the next template too. The same version
writes the same bytes: the copies in templates/ can be compared with what is written today.
"""

import io
from datetime import UTC, datetime
from pathlib import Path

import xlsxwriter

from pipeline.files import appear, scratch_folder
from pipeline.model.columns import (
    BUYER_COLUMNS,
    BUYERS_SHEET,
    TICKET_COLUMNS,
    TICKETS_SHEET,
    Lang,
)
from pipeline.model.errors import InputProblem
from pipeline.model.message import system_error
from pipeline.model.template_version import PROPERTY, VERSION
from pipeline.template.example import BUYERS, TICKETS
from pipeline.template.instructions import TITLE, add_instructions
from pipeline.template.looks import Drawing
from pipeline.template.sheets import add_input_sheet

# A fixed date in the file's properties: the same version writes the same bytes.
_CREATED = datetime(2026, 1, 1, tzinfo=UTC)
_MODE = 0o644


def write_template(path: Path, lang: Lang, *, example: bool = False) -> None:
    """Write the input workbook in `lang` to `path`, whole or not at all, never over a file: blank, or filled in.

    Raises InputProblem where `path` is taken, is not an .xlsx name, or can't be written.
    """
    if path.suffix.lower() != ".xlsx":
        raise InputProblem(
            "{file}: a template is an Excel workbook; give a name that ends in .xlsx", file=str(path)
        )
    try:
        _put(path, _workbook_bytes(lang, example=example))
    except FileExistsError as problem:
        raise InputProblem(
            "{file}: exists already and is left as it is; choose another name, or move it away",
            file=str(path),
        ) from problem
    except OSError as problem:
        raise InputProblem(
            "{file}: can't be written ({problem}); choose a folder that exists and that you may write to",
            file=str(path),
            problem=system_error(problem),
        ) from problem


def _put(path: Path, content: bytes) -> None:
    """Let `path` appear with all its content at once; FileExistsError if it exists by then."""
    with scratch_folder(path.parent) as folder:
        finished = folder / "template.xlsx"
        finished.write_bytes(content)
        finished.chmod(_MODE)  # colleagues may read it, whatever the person's other files may be
        appear(finished, path)


def _workbook_bytes(lang: Lang, *, example: bool) -> bytes:
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as book:
        drawing = Drawing(book, lang)
        book.set_properties({"title": drawing.said(TITLE), "author": "Voucher Pipeline", "created": _CREATED})
        book.set_custom_property(PROPERTY, VERSION, "text")
        for name, columns, rows in (
            (TICKETS_SHEET, TICKET_COLUMNS, TICKETS),
            (BUYERS_SHEET, BUYER_COLUMNS, BUYERS),
        ):
            add_input_sheet(drawing, name, columns, rows if example else ())
        add_instructions(drawing)
    return stream.getvalue()
