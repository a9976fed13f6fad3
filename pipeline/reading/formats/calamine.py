"""A workbook laid out by its reader, python-calamine; an .xlsx while it is looked through.

Both take all of a file's bytes one after the other, and the reader needs no lock of Python's for it. The look is several
times as quick, so that what it refuses never comes to be laid out: the reader makes room for a sheet when it has read it
to its end. What it would cost is bounded by the process all the same (see `child`).
"""

import io
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

Made = TypeVar("Made")


class Workbook:
    """A workbook in its reader's hands; laid out is the sheet of that name, or the first visible one, where that is asked for."""

    def __init__(self, content: bytes, *, first_sheet: bool = False, laid_out: str = "") -> None:
        self._reader = CalamineWorkbook.from_filelike(io.BytesIO(content))
        #: The worksheets by name, and whether each is shown.
        self.worksheets: list[tuple[str, bool]] = [
            (meta.name, meta.visible == SheetVisibleEnum.Visible)
            for meta in self._reader.sheets_metadata
            if meta.typ == SheetTypeEnum.WorkSheet
        ]
        self._laid_out: dict[str, Any] = {}
        first = [name for name, visible in self.worksheets if visible][: int(first_sheet)]
        for name in first or [name for name, _ in self.worksheets if name == laid_out]:
            self._laid_out[name] = self._reader.get_sheet_by_name(name)

    def sheet(self, name: str) -> Any:
        """A sheet laid out; it is kept no longer than its taker keeps it."""
        return self._laid_out.pop(name, None) or self._reader.get_sheet_by_name(name)


class Beside(threading.Thread, Generic[Made]):
    """What is made of a workbook beside what is done here; nobody has to wait for it."""

    def __init__(self, make: Callable[[], Made]) -> None:
        super().__init__(daemon=True)
        self._make = make
        self._made: list[Made] = []
        self._problem: BaseException = RuntimeError("the thread was not run")
        self.start()

    def run(self) -> None:
        """Make it, or keep what went wrong for whoever asks."""
        try:
            self._made.append(self._make())
        except BaseException as error:  # noqa: BLE001 - the reader's panics are of no other class
            self._problem = error

    def made(self) -> Made:
        """What is made, or what went wrong with it, once it is there."""
        self.join()
        if not self._made:
            raise self._problem
        return self._made[0]
