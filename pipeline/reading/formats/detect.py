"""What a file is, told by its content; its extension is not asked."""

from pathlib import Path
from typing import Any

from pipeline.reading.formats import csv_text
from pipeline.reading.formats.compound import SIGNATURE
from pipeline.reading.formats.refusal import Refusal

_ARCHIVE = (b"PK\x03\x04", b"PK\x05\x06")
_OTHERS = {
    b"%PDF": "a PDF document",
    b"{\\rtf": "a text document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"Rar!": "an archive",
    b"7z\xbc\xaf": "an archive",
    b"\x1f\x8b": "an archive",
    b"ID;P": "a SYLK file",
    b"SQLite format 3": "a database",
}
#: The first records of Excel's files before 1997, which came without a compound file around them.
_BEFORE_1997 = (b"\x09\x00\x04\x00", b"\x09\x02\x06\x00", b"\x09\x04\x06\x00", b"\x09\x08\x08\x00")


def readings(content: bytes, path: Path, exactly: bool = False) -> dict[str, Any]:
    """The file's sheets; see `child` for the shape."""
    if not content.strip(b" \t\r\n\xef\xbb\xbf"):
        raise Refusal("empty")
    if content.startswith((*_ARCHIVE, SIGNATURE)):
        from pipeline.reading.formats import workbook  # noqa: PLC0415 - text needs no workbook reader

        return {"readings": [workbook.sheets(content, exactly)], "certain": True, "detail": ""}
    if content.startswith(_BEFORE_1997):
        raise Refusal("other", "an Excel file from before 1997")
    for beginning, kind in _OTHERS.items():
        if content.startswith(beginning):
            raise Refusal("other", kind)
    _refuse_markup(csv_text.start_of(content))
    return csv_text.readings(content, path.stem)


def _refuse_markup(start: str) -> None:
    """No table of separated values begins with a tag, nor like a mail."""
    if "urn:schemas-microsoft-com:office:spreadsheet" in start and start.startswith("<?xml"):
        raise Refusal("other", "an “XML Spreadsheet 2003”")
    if start.startswith("<") or start.lower().startswith("mime-version:"):
        raise Refusal("web_page")
