"""A workbook laid out by its reader, python-calamine; an .xlsx while it is looked through.

Both take all of a file's bytes one after the other, and the reader needs no lock of Python's for it. The look is several
times as quick, so that what it refuses never comes to be laid out: the reader makes room for a sheet when it has read it
to its end. What it would cost is bounded by the process all the same (see `child`).
"""

import io
import threading
from typing import Any

from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum


class Workbook:
    """A workbook in its reader's hands, its first visible sheet laid out where that is asked for."""

    def __init__(self, content: bytes, *, first_sheet: bool = False) -> None:
        self._reader = CalamineWorkbook.from_filelike(io.BytesIO(content))
        #: The worksheets by name, and whether each is shown.
        self.worksheets: list[tuple[str, bool]] = [
            (meta.name, meta.visible == SheetVisibleEnum.Visible)
            for meta in self._reader.sheets_metadata
            if meta.typ == SheetTypeEnum.WorkSheet
        ]
        self._laid_out: dict[str, Any] = {}
        for name in [name for name, visible in self.worksheets if visible][: int(first_sheet)]:
            self._laid_out[name] = self._reader.get_sheet_by_name(name)

    def sheet(self, name: str) -> Any:
        """A sheet laid out; it is kept no longer than its taker keeps it."""
        return self._laid_out.pop(name, None) or self._reader.get_sheet_by_name(name)


class Beside(threading.Thread):
    """A workbook that is laid out beside what is done here; nobody has to wait for it."""

    def __init__(self, content: bytes) -> None:
        super().__init__(daemon=True)
        self._content = content
        self._made: Workbook | BaseException | None = None
        self.start()

    def run(self) -> None:
        """Lay it out, or keep what went wrong for whoever asks."""
        try:
            self._made = Workbook(self._content, first_sheet=True)
        except BaseException as error:  # noqa: BLE001 - the reader's panics are of no other class
            self._made = error

    def workbook(self) -> Workbook:
        """The workbook, or what went wrong with it, once it is there."""
        self.join()
        if not isinstance(self._made, Workbook):
            raise self._made or RuntimeError("the thread was not run")
        return self._made
