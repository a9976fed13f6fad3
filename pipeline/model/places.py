"""Where something stands in a workbook, as messages name it: never more than a line, whatever file and sheet are called."""

from pipeline.model.message import Fact, Message, SheetName, message
from pipeline.model.quoting import quoted


def on_sheet(file: str, sheet: str) -> Message:
    """A sheet of a file, or of a workbook's path."""
    return message("{file}, sheet {sheet}", file=file, sheet=SheetName(sheet))


def about(place: Fact, note: Fact) -> Message:
    """What is to be told of a place."""
    return message("{place}: {note}", place=place, note=note)


def row_at(file: str, sheet: str, row: int) -> Message:
    """A row, as the spreadsheet program counts."""
    return message("{file}, {sheet}, row {row}", file=quoted(file), sheet=SheetName(sheet), row=int(row))


def held_at(file: str, sheet: str, row: int, run: int) -> Message:
    """A workbook row of an earlier run."""
    return message("{place} (run {run})", place=row_at(file, sheet, row), run=run)
