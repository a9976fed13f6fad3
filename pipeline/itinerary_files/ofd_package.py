"""The parts of an OFD file (GB/T 33190, 7: a ZIP with OFD.xml at its root), within bounds and by their names alone: nothing is unpacked to
disk.

The bounds are far above what an itinerary takes (its page, a font, two pictures: some 30 parts, 200 KB) and were chosen, not found
anywhere. Two parts of one name, in whatever case, are refused: which of them is shown, and which a seal is compared with, depends
on the program.
"""

import io
import posixpath
import stat
import struct
import zipfile
import zlib

from pipeline import sm2
from pipeline.itinerary_files.read_reasons import Reason, Refused, unreadable
from pipeline.model.itinerary_file import FileStatus

LARGEST_FILE = 32 * 1024**2
MOST_PARTS = 1_000
LARGEST_PART = 16 * 1024**2
LARGEST_UNPACKED = 48 * 1024**2
ROOT = "OFD.xml"

_END, _END_BYTES, _COMMENT_BYTES = b"PK\5\6", 22, 65_535
#: Before the end, where there is a second end for packages beyond 4 GB, which may say otherwise.
_LARGE, _LARGE_BYTES = b"PK\6\7", 20
#: What a part takes in the list of parts at most: 46 bytes, its name and more.
_LISTED_BYTES = 1_024
#: A location may stand in a file once and be meant a thousand times.
_LONGEST_LOCATION = 1_024
_ENCRYPTED = 0x1 | 0x40
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGED = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
    OverflowError,
)


class Package:
    """The parts of one file. Raises Refused where it is none, or goes beyond a bound."""

    def __init__(self, content: bytes) -> None:
        if not content:
            raise unreadable(Reason.EMPTY)
        if len(content) > LARGEST_FILE:
            raise unreadable(Reason.BYTES, count=len(content))
        if not content.startswith(b"PK"):
            raise Refused(FileStatus.NOT_AN_ITINERARY, Reason.NOT_OFD)
        _check_list(content)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except _DAMAGED:
            raise unreadable(Reason.CUT_OFF) from None
        self._infos = _checked(self._zip.infolist())
        if ROOT not in self._infos:
            raise Refused(FileStatus.NOT_AN_ITINERARY, Reason.NOT_OFD)
        self._read: dict[str, bytes] = {}
        self._digests: dict[str, bytes] = {}
        self._room = LARGEST_UNPACKED

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all parts."""
        return tuple(self._infos)

    def find(self, location: str, beside: str = ROOT) -> str | None:
        """The name of the part that a location means (GB/T 33190, ST_Loc): from the root, or from the folder of the part that it stands in."""
        if len(location) > _LONGEST_LOCATION:
            return None
        path = posixpath.join("/", posixpath.dirname(beside), location.strip().replace("\\", "/"))
        name = posixpath.normpath(path).lstrip("/")
        return name if name in self._infos else None

    def read(self, name: str) -> bytes:
        """A part's bytes. Raises Refused where it is damaged or too large, or all together are."""
        if name not in self._read:
            self._read[name] = self._unpacked(name)
        return self._read[name]

    def sm3(self, name: str) -> bytes:
        """A part's digest. Raises NoSM3, and what `read` raises."""
        if name not in self._digests:
            self._digests[name] = sm2.sm3(self.read(name))
        return self._digests[name]

    def _unpacked(self, name: str) -> bytes:
        info, most = self._infos[name], min(LARGEST_PART, self._room)
        try:
            with self._zip.open(info) as part:
                content = part.read(most + 1)
        except _DAMAGED:
            raise unreadable(Reason.CUT_OFF) from None
        if len(content) > LARGEST_PART:
            raise unreadable(Reason.UNPACKS, name=name, count=LARGEST_PART)
        if len(content) > self._room:
            raise unreadable(Reason.UNPACKED, count=LARGEST_UNPACKED)
        self._room -= len(content)
        return content


def _check_list(content: bytes) -> None:
    """Refuse a list of parts that is too long before it is read: each part costs a thousand bytes of memory."""
    at = content.rfind(_END, max(0, len(content) - _END_BYTES - _COMMENT_BYTES))
    if at < 0 or at + _END_BYTES > len(content) or content[max(0, at - _LARGE_BYTES) : at].startswith(_LARGE):
        raise unreadable(Reason.CUT_OFF)
    count, size = struct.unpack_from("<HL", content, at + 10)
    if count > MOST_PARTS or size > MOST_PARTS * _LISTED_BYTES:
        raise unreadable(Reason.PARTS, count=count)


def _checked(infos: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
    """The parts by their names. Raises Refused."""
    if len(infos) > MOST_PARTS:
        raise unreadable(Reason.PARTS, count=len(infos))
    end = 0
    for info in sorted(infos, key=lambda info: info.header_offset):
        if info.header_offset < end:
            raise unreadable(Reason.OVERLAP)
        end = info.header_offset + info.compress_size
    parts, seen = dict[str, zipfile.ZipInfo](), set[str]()
    for info in infos:
        name = info.filename.replace("\\", "/")
        if name.casefold() in seen:
            raise unreadable(Reason.ONE_NAME, name=name)
        seen.add(name.casefold())
        _check_part(name, info)
        if not name.endswith("/"):
            parts[name] = info
    return parts


def _check_part(name: str, info: zipfile.ZipInfo) -> None:
    """Refuse a part that no OFD program writes so."""
    if name.startswith("/") or ":" in name or ".." in name.split("/"):
        raise unreadable(Reason.PART_NAME, name=name)
    if stat.S_ISLNK(info.external_attr >> 16):
        raise unreadable(Reason.LINK, name=name)
    if info.flag_bits & _ENCRYPTED:
        raise unreadable(Reason.PASSWORD)
    if info.compress_type not in _METHODS:
        raise unreadable(Reason.PACKED, name=name)
