"""A workbook that is a ZIP archive (.xlsx, .xlsb, .ods): its parts, unpacked within bounds.

What the archive says of itself is not believed: each part is unpacked here first, piece by piece, and
counted. A part that unpacks to more than it declares, or to hundreds of times its size, ends the reading.
"""

import io
import zipfile
import zlib
from collections.abc import Iterator

from pipeline.reading.formats.refusal import Refusal, Seen

#: All parts together, unpacked: a sheet of 1,048,576 rows and 30 columns is some 1.6 GB.
LARGEST_UNPACKED = 4 * 1024**3
#: Sheets as programs write them shrink to a tenth or a thirtieth.
LARGEST_RATIO = 250
RATIO_COUNTS_FROM = 16 * 1024**2
MOST_MEMBERS = 20_000

#: The part that lists the sheets, by which an archive is told to be a workbook of that kind; an .ods has all in one.
OF_XLSX, OF_XLSB, OF_ODS = "xl/workbook.xml", "xl/workbook.bin", "content.xml"

_PACKED_PIECE, _PIECE = 1 << 16, 1 << 20


class Package:
    """The parts of an archive by name; names are looked up without regard to case, as readers do."""

    def __init__(self, content: bytes) -> None:
        """Refuses archives that are cut off, encrypted, ambiguous, or declare too much."""
        self._content = content
        try:
            infos = zipfile.ZipFile(io.BytesIO(content)).infolist()
        except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError, EOFError) as error:
            raise Refusal("damaged", Seen.CUT_OFF) from error
        if len(infos) > MOST_MEMBERS:
            raise Refusal("damaged", Seen.PARTS, count=len(infos))
        self._parts = {_plain(info.filename): info for info in infos}
        if len(self._parts) != len(infos):
            raise Refusal("damaged", Seen.ONE_NAME)
        self._unpacked = 0

    def __contains__(self, name: str) -> bool:
        return _plain(name) in self._parts

    def names(self) -> list[str]:
        """The parts' names in lower case with forward slashes."""
        return list(self._parts)

    def largest(self, ending: str) -> int:
        """How many bytes the largest part whose name ends so declares to have."""
        return max((info.file_size for name, info in self._parts.items() if name.endswith(ending)), default=0)

    def check(self) -> None:
        """Refuse it if what its sheets and texts declare is more than any workbook unpacks to."""
        declared = [info for name, info in self._parts.items() if name.endswith(".xml")]
        for info in declared:
            self._check(info.file_size, info.compress_size)
        self._check(sum(info.file_size for info in declared), len(self._content))

    def pieces(self, name: str) -> Iterator[bytes]:
        """A part's content, unpacked piece by piece and counted."""
        info = self._parts[_plain(name)]
        if info.flag_bits & 1:
            raise Refusal("encrypted")
        self._check(info.file_size, info.compress_size)
        size = 0
        for piece in self._unpack(info):
            size += len(piece)
            if size > info.file_size:
                raise Refusal("damaged", Seen.DECLARES_LESS)
            yield piece
        if size != info.file_size:
            raise Refusal("damaged", Seen.CUT_OFF)
        self._unpacked += size

    def whole(self, name: str, at_most: int) -> bytes:
        """A small part at once."""
        if self._parts[_plain(name)].file_size > at_most:
            raise Refusal("too_large", Seen.LARGE_PART, name=name)
        return b"".join(self.pieces(name))

    def _check(self, size: int, packed: int) -> None:
        if self._unpacked + size > LARGEST_UNPACKED or (
            size > RATIO_COUNTS_FROM and size > LARGEST_RATIO * max(packed, 1)
        ):
            raise Refusal("bomb", Seen.UNPACKS_TO, packed=len(self._content), unpacked=self._unpacked + size)

    def _unpack(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        begin = info.header_offset
        if self._content[begin : begin + 4] != b"PK\x03\x04":
            raise Refusal("damaged", Seen.CUT_OFF)
        lengths = self._content[begin + 26 : begin + 30]
        begin += 30 + int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")
        packed = memoryview(self._content)[begin : begin + info.compress_size]
        if info.compress_type == zipfile.ZIP_STORED:
            for at in range(0, len(packed), _PIECE):
                yield bytes(packed[at : at + _PIECE])
        elif info.compress_type == zipfile.ZIP_DEFLATED:
            yield from _inflated(packed)
        else:
            raise Refusal("damaged", Seen.PACKED_OTHERWISE)


def _inflated(packed: memoryview) -> Iterator[bytes]:
    """What deflated bytes unpack to, never more than a piece at a time."""
    unpacker = zlib.decompressobj(-15)
    try:
        for at in range(0, len(packed), _PACKED_PIECE):
            rest: bytes | memoryview = packed[at : at + _PACKED_PIECE]
            while rest and not unpacker.eof:
                yield unpacker.decompress(rest, _PIECE)
                rest = unpacker.unconsumed_tail
        while piece := unpacker.decompress(b"", _PIECE):
            yield piece
    except zlib.error as error:
        raise Refusal("damaged", Seen.CUT_OFF) from error


def _plain(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()
