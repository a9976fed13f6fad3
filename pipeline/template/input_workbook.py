"""The blank input workbook: headings, notes, drop-downs and formats, all drawn from `columns`.

A person fills it in, the reader takes it back. Nothing here knows a heading or a permitted value of
its own, so a word that is added to the vocabulary is in the next template too. The same version
writes the same bytes: the copies in templates/ can be compared with what is written today.
"""

import io
from datetime import UTC, datetime
from pathlib import Path

import xlsxwriter

from pipeline.model.columns import (
    BUYER_COLUMNS,
    BUYERS_SHEET,
    TICKET_COLUMNS,
    TICKETS_SHEET,
    Lang,
)
from pipeline.model.errors import InputProblem
from pipeline.model.template_version import PROPERTY, VERSION
from pipeline.template.cell_formats import Drawing
from pipeline.template.example import BUYERS, TICKETS
from pipeline.template.input_sheets import add_input_sheet
from pipeline.template.instructions import TITLE, add_instructions
from pipeline.template.new_file import put_new

# A fixed date in the file's properties: the same version writes the same bytes.
_CREATED = datetime(2026, 1, 1, tzinfo=UTC)
_MODE = 0o644  # colleagues may read it, whatever the person's other files may be


def write_template(path: Path, lang: Lang, *, example: bool = False) -> None:
    """Write the input workbook in `lang` to `path`, whole or not at all, never over a file: blank, or filled in.

    Raises InputProblem where `path` is taken, is not an .xlsx name, or can't be written.
    """
    if path.suffix.lower() != ".xlsx":
        raise InputProblem(
            "{file}: a template is an Excel workbook; give a name that ends in .xlsx", file=str(path)
        )
    put_new(path, _workbook_bytes(lang, example=example), _MODE)


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
