"""What lies in a ZIP archive: each part unpacked piece by piece, counted, and never put under its own name.

An archive that is itself a document (OFD, a workbook, an OpenDocument file) is not taken apart.
"""

import contextlib
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO

from pipeline.itinerary_files import container_bounds as bounds
from pipeline.itinerary_files.container_bounds import Budget, Refused, Seen
from pipeline.itinerary_files.shown_names import shown_name
from pipeline.model.itinerary_file import FoundFile

#: What stands at an archive's beginning: a part; where it is empty, or one of several, their ends.
MAGIC = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
#: The part by which a document is known. OFD: GB/T 33190, 7.1.
_DOCUMENT_PARTS = frozenset(("ofd.xml", "[content_types].xml", "mimetype", "meta-inf/manifest.mf"))
#: What systems put beside people's files.
_OF_SYSTEMS = ("__macosx/", ".ds_store", "thumbs.db", "desktop.ini")
_NO_ARCHIVE = (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError, EOFError, OSError)
_NO_PART = (*_NO_ARCHIVE, RuntimeError, zlib.error)
_ENCRYPTED = 0x41  # APPNOTE 4.4.4: bit 0, and bit 6 (strong encryption)
_LOCAL_HEADER = 30  # APPNOTE 4.3.7, without name and extra field
_PIECE = 1 << 18


def opened(file: IO[bytes]) -> zipfile.ZipFile:
    """The archive's list of parts. Raises Refused for what is damaged."""
    try:
        return zipfile.ZipFile(file)
    except _NO_ARCHIVE:
        raise Refused(Seen.DAMAGED_ARCHIVE) from None


def is_document(archive: zipfile.ZipFile) -> bool:
    """Whether its parts are those of one document."""
    return any(name.casefold() in _DOCUMENT_PARTS for name in archive.namelist())


def zip_parts(
    archive: zipfile.ZipFile, place: tuple[str, ...], budget: Budget
) -> Iterator[tuple[str, IO[bytes]] | FoundFile]:
    """Each part's name for people and its content, or the finding about one that is not unpacked.

    A content is gone when the next part is asked for. Raises Refused where nothing of it is read.
    """
    parts = [
        info for info in archive.infolist() if not info.filename.endswith("/") and not _is_of_system(info)
    ]
    _check_apart(archive)
    if parts and all(info.flag_bits & _ENCRYPTED for info in parts):
        raise Refused(Seen.ENCRYPTED)
    budget.count_parts(len(parts))
    for number, info in enumerate(parts, 1):
        name = _name(info) or f"#{number}"
        try:
            _check(info)
            with _unpacked(archive, info, budget) as content:
                yield name, content
        except bounds.Exhausted:
            raise
        except Refused as refused:
            yield refused.found((*place, name))


def _is_of_system(info: zipfile.ZipInfo) -> bool:
    name = info.filename.casefold()
    return name.startswith(_OF_SYSTEMS[0]) or name.rpartition("/")[2] in _OF_SYSTEMS[1:]


def _check_apart(archive: zipfile.ZipFile) -> None:
    """Refuse an archive in which parts share bytes: by that a small file unpacks to any size, each part within its bounds."""
    end = 0
    for info in sorted(archive.infolist(), key=lambda info: info.header_offset):
        if info.header_offset < end:
            raise Refused(Seen.OVERLAPPING)
        end = info.header_offset + _LOCAL_HEADER + info.compress_size
    if end > archive.start_dir:
        raise Refused(Seen.OVERLAPPING)


def _check(info: zipfile.ZipInfo) -> None:
    """Raise Refused for what is not to be unpacked, by what the archive says of it."""
    if info.flag_bits & _ENCRYPTED:
        raise Refused(Seen.ENCRYPTED)
    if stat.S_ISLNK(info.external_attr >> 16):
        raise Refused(Seen.LINK)
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Refused(Seen.PACKED_OTHERWISE)
    if (
        info.file_size > bounds.RATIO_COUNTS_FROM
        and info.file_size > bounds.LARGEST_RATIO * info.compress_size
    ):
        raise Refused(Seen.RATIO, most=bounds.LARGEST_RATIO)


@contextlib.contextmanager
def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: Budget) -> Iterator[IO[bytes]]:
    """A part's content, on disk where it is large; no more than it declares. Raises Refused."""
    with tempfile.SpooledTemporaryFile(max_size=bounds.LARGEST_FILE) as content:
        try:
            with archive.open(info) as packed:
                while piece := packed.read(_PIECE):
                    budget.count_unpacked(len(piece))
                    content.write(piece)
        except _NO_PART:
            raise Refused(Seen.DAMAGED_PART) from None
        content.seek(0)
        yield content


def _name(info: zipfile.ZipInfo) -> str:
    """A part's name. Where it is not said to be UTF-8, zipfile takes it for code page 437; Chinese programs write GBK."""
    if info.flag_bits & 0x800:
        return shown_name(info.filename.encode("utf-8", "surrogatepass"))
    return shown_name(info.orig_filename.encode("cp437", "replace"))
