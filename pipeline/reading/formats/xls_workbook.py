"""The sheets of an .xls as plain cells, and those of a workbook that a compound file keeps encrypted.

xlrd takes the cells out: it is slower than python-calamine, and right in any code page.
"""

from functools import partial
from typing import Any

from pipeline.reading.formats import compound, workbook, xls_prescan


def sheets(content: bytes, exactly: bool = False) -> list[dict[str, Any]]:
    """The worksheets in their order; see `child` for their shape, and for when to look exactly."""
    stream = compound.workbook_stream(content)
    if stream is None:
        return workbook.sheets(compound.decrypted(content), exactly)
    if xls_prescan.is_encrypted(stream):
        stream = compound.workbook_stream(compound.decrypted(content)) or stream
    return workbook.taken_out(partial(xls_prescan.Workbook, stream), xls_prescan.looks(stream))
