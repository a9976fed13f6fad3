"""A compound file: the archive of its own kind that .xls files are, and what a password makes of an .xlsx.

olefile takes it apart, msoffcrypto-tool takes the encryption off. Programs embed whole workbooks in a workbook, as storages
of their own; the file's own workbook is a stream of the root. xlrd takes its cells out: it is slower than python-calamine,
and right in any code page.
"""

import io
from typing import Any

import msoffcrypto
import olefile

from pipeline.reading.formats import workbook, xls_prescan, zip_workbook
from pipeline.reading.formats.refusal import Refusal, Seen

_ENCRYPTED_PACKAGE = "encryptedpackage"
#: Excel encrypts with it where a workbook's structure is protected and nobody gave a password; every program tries it.
_DEFAULT_PASSWORD = "VelvetSweatshop"  # noqa: S105 - in Microsoft's own documents ([MS-OFFCRYPTO], 2.3.7)


def sheets(content: bytes, exactly: bool = False) -> list[dict[str, Any]]:
    """The worksheets in their order; see `child` for their shape, and for when to look exactly."""
    stream = workbook_stream(content)
    if stream is None:
        return zip_workbook.sheets(decrypted(content), exactly)
    if xls_prescan.is_encrypted(stream):
        stream = workbook_stream(decrypted(content)) or stream
    book = xls_prescan.Workbook(stream)
    return workbook.taken_out(lambda: book, book.looks)


def workbook_stream(content: bytes) -> bytes | None:
    """The records of an .xls file; None where an encrypted workbook of another kind is inside.

    Raises Refusal for what holds neither, is broken or holds macros.
    """
    try:
        with olefile.OleFileIO(io.BytesIO(content)) as storage:
            paths = [[part.lower() for part in path] for path in storage.listdir(storages=True)]
            found = next((name for name in ("workbook", "book") if [name] in paths), "")
            stream: bytes = storage.openstream(found).read() if found else b""
    except Exception as error:  # of a broken file olefile raises whatever it stumbles over
        raise Refusal("damaged", Seen.CUT_OFF) from error
    if any(part.startswith("_vba_project") for path in paths for part in path):
        raise Refusal("macros")
    if not found and [_ENCRYPTED_PACKAGE] not in paths:
        raise Refusal("no_workbook")
    return stream if found else None


def decrypted(content: bytes) -> bytes:
    """A file without the encryption that needs no password of its owner's. Raises Refusal for any other."""
    made = io.BytesIO()
    try:
        file = msoffcrypto.OfficeFile(io.BytesIO(content))
        more: dict[str, bool] = (
            {"verify_password": True} if file.format == "ooxml" else {}
        )  # else it always does
        file.load_key(password=_DEFAULT_PASSWORD, **more)
        file.decrypt(made)
    except Exception as error:
        raise Refusal("encrypted") from error
    return made.getvalue()
