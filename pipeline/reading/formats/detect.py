"""What a file is, told by its content; its extension is not asked."""

from importlib import import_module
from pathlib import Path
from typing import Any

from pipeline.reading.formats import csv_text, text_encodings
from pipeline.reading.formats.refusal import Refusal, Seen

#: What reads a workbook, by the file's first bytes: an archive, or a compound file. It is loaded where a file is of that kind:
#: a text needs none, and few files need what takes a compound file apart.
_READERS = {
    b"PK\x03\x04": "pipeline.reading.formats.zip_workbook",
    b"PK\x05\x06": "pipeline.reading.formats.zip_workbook",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "pipeline.reading.formats.xls_or_encrypted",
}
_OTHERS = {
    b"%PDF": Seen.PDF,
    b"{\\rtf": Seen.TEXT_DOCUMENT,
    b"\x89PNG": Seen.PICTURE,
    b"\xff\xd8\xff": Seen.PICTURE,
    b"GIF8": Seen.PICTURE,
    b"Rar!": Seen.ARCHIVE,
    b"7z\xbc\xaf": Seen.ARCHIVE,
    b"\x1f\x8b": Seen.ARCHIVE,
    b"ID;P": Seen.SYLK,
    b"SQLite format 3": Seen.DATABASE,
}
#: The first records of Excel's files before 1997, which came without a compound file around them.
_BEFORE_1997 = (b"\x09\x00\x04\x00", b"\x09\x02\x06\x00", b"\x09\x04\x06\x00", b"\x09\x08\x08\x00")


def readings(content: bytes, path: Path, exactly: bool = False) -> dict[str, Any]:
    """The file's sheets; see `child` for the shape."""
    if not content.strip(b" \t\r\n\xef\xbb\xbf"):
        raise Refusal("empty")
    for beginning, reader in _READERS.items():
        if content.startswith(beginning):
            sheets = import_module(reader).sheets(content, exactly)
            return {"readings": [sheets], "certain": True}
    if content.startswith(_BEFORE_1997):
        raise Refusal("other", Seen.BEFORE_1997)
    for beginning, kind in _OTHERS.items():
        if content.startswith(beginning):
            raise Refusal("other", kind)
    _refuse_markup(text_encodings.start_of(content))
    return csv_text.readings(content, path.stem)


def _refuse_markup(start: str) -> None:
    """No table of separated values begins with a tag, nor like a mail."""
    if "urn:schemas-microsoft-com:office:spreadsheet" in start and start.startswith("<?xml"):
        raise Refusal("other", Seen.XML_2003)
    if start.startswith("<") or start.lower().startswith("mime-version:"):
        raise Refusal("web_page")
