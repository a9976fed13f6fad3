"""Opens one workbook, in a process of its own: `python child.py PATH`.

Files come from anywhere, and a broken or hostile one can take all memory or abort the process that
opens it; so this script runs apart, under limits that it sets itself, and hands over plain cells.
It imports nothing of the package, so that nothing but the parser is at stake and it starts fast.

It writes one pickle to standard output: `{"sheets": [...]}` or `{"problem": code, "detail": text}`.
A sheet is a dict of `name`, `visible`, `first_row`, `first_column` (both from 0) and `rows`, a list of
lists of str, float, bool-as-text, datetime, date, time or timedelta; "" is a blank cell.
"""

import csv
import io
import pickle
import resource
import sys
from pathlib import Path
from typing import Any

MEMORY_BYTES = 6 * 1024**3
LARGEST_FILE = 1024**3
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def _plain(value: Any) -> Any:
    """A cell as the parent expects it: a checkbox becomes its word, so that it can't pass for 1."""
    return str(value).upper() if isinstance(value, bool) else value


def _spreadsheet(content: bytes, path: Path) -> dict[str, Any]:
    """The sheets of an .xlsx, .xls, .xlsb or .ods file, told apart by content."""
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetVisibleEnum  # noqa: PLC0415 - CSV needs none of it

    try:
        try:
            workbook = CalamineWorkbook.from_filelike(io.BytesIO(content))
        except CalamineError:
            workbook = CalamineWorkbook.from_path(str(path))  # which tells a password from damage
        sheets = []
        for meta in workbook.sheets_metadata:
            if str(meta.typ) != "SheetTypeEnum.WorkSheet":
                continue
            sheet = workbook.get_sheet_by_name(meta.name)
            start = sheet.start or (0, 0)
            sheets.append(
                {
                    "name": meta.name,
                    "visible": meta.visible == SheetVisibleEnum.Visible,
                    "first_row": start[0],
                    "first_column": start[1],
                    "rows": [[_plain(cell) for cell in row] for row in sheet.to_python(skip_empty_area=True)],
                }
            )
    except PasswordError:
        return {"problem": "encrypted", "detail": ""}
    except CalamineError as error:
        return {
            "problem": "encrypted" if "encrypt" in str(error).lower() else "damaged",
            "detail": str(error),
        }
    return {"sheets": sheets}


def _separated(content: bytes, name: str) -> dict[str, Any]:
    """The one sheet of a CSV file in UTF-8, with or without BOM."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return {"problem": "not_utf8", "detail": f"byte {error.start + 1}"}
    if "\x00" in text:
        return {"problem": "damaged", "detail": "it holds NUL bytes"}
    csv.field_size_limit(32_767)  # what a spreadsheet's own cell holds at most
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        # A quoted line break makes one record of several lines; the spreadsheet program counts records too.
        rows = list(reader)
    except csv.Error as error:
        return {"problem": "damaged", "detail": f"line {reader.line_num}: {error}"}
    return {"sheets": [{"name": name, "visible": True, "first_row": 0, "first_column": 0, "rows": rows}]}


def read(path: Path) -> dict[str, Any]:
    """The file's sheets, or what is wrong with it."""
    if path.stat().st_size > LARGEST_FILE:
        return {"problem": "too_large", "detail": ""}
    content = path.read_bytes()
    if not content.strip():
        return {"problem": "empty", "detail": ""}
    if content.startswith((b"PK\x03\x04", _OLE)):
        return _spreadsheet(content, path)
    if content.lstrip(b"\xef\xbb\xbf \r\n\t")[:5].lower() in (b"<html", b"<!doc", b"<tabl", b"<?xml"):
        return {"problem": "web_page", "detail": ""}
    return _separated(content, path.stem)


def main() -> None:
    """Set the bounds, read, hand over."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":  # macOS accepts the limit and does not keep it
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    try:
        result = read(Path(sys.argv[1]))
    except OSError as error:
        result = {"problem": "unreadable", "detail": error.strerror or str(error)}
    except MemoryError:
        result = {"problem": "too_large", "detail": ""}
    pickle.dump(result, sys.stdout.buffer, protocol=pickle.HIGHEST_PROTOCOL)


if __name__ == "__main__":
    main()
