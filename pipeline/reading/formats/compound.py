"""A compound file: the archive of its own kind that .xls files are, and what a password makes of an .xlsx.

It is a small file system: sectors, a table that chains them, and a directory of streams.
"""

import struct

from pipeline.reading.formats.refusal import Refusal

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LAST = 0xFFFF_FFFA  # from here on a sector number means that there is none
_BROKEN = "it is cut off, or its parts do not fit together"


class Compound:
    """The streams of a compound file, by name."""

    def __init__(self, content: bytes) -> None:
        """Refuses what is cut off or chained in a circle."""
        self._content = content
        if len(content) < 512:
            raise Refusal("damaged", _BROKEN)
        shift, mini_shift = struct.unpack_from("<HH", content, 30)
        if shift not in (9, 12) or mini_shift > shift:
            raise Refusal("damaged", _BROKEN)
        self._size, self._mini_size = 1 << shift, 1 << mini_shift
        _, directory, _, self._cutoff, mini_table, _, next_list, _ = struct.unpack_from("<8I", content, 44)
        self._table = self._chain_table(next_list)
        self._entries = self._directory(self._chain(directory))
        self._mini_table = _numbers(self._chain(mini_table)) if mini_table < _LAST else ()
        root = self._entries.get("", (0, 0))
        self._mini = self._chain(root[0])[: root[1]] if root[1] else b""

    def names(self) -> list[str]:
        """The names of all streams and folders, whatever folder they are in."""
        return [name for name in self._entries if name]

    def stream(self, name: str) -> bytes:
        """A stream's content."""
        start, size = self._entries[name]
        if size >= self._cutoff:
            return self._chain(start)[:size]
        found, seen = [], 0
        while start < _LAST and seen <= len(self._mini_table):
            found.append(self._mini[start * self._mini_size : (start + 1) * self._mini_size])
            start = _next(self._mini_table, start)
            seen += 1
        return b"".join(found)[:size]

    def _sector(self, number: int) -> bytes:
        begin = (number + 1) * self._size
        if begin >= len(self._content):
            raise Refusal("damaged", _BROKEN)
        return self._content[begin : begin + self._size]

    def _chain_table(self, next_list: int) -> tuple[int, ...]:
        """Which sector follows which: listed in the header, and from there in sectors that are a chain too."""
        listed = list(struct.unpack_from("<109I", self._content, 76))
        most = len(self._content) // self._size + 1
        while next_list < _LAST and len(listed) <= most + 109:
            *more, next_list = _numbers(self._sector(next_list))
            listed += more
        used = [number for number in listed if number < _LAST][:most]
        return _numbers(b"".join(map(self._sector, used)))

    def _chain(self, start: int) -> bytes:
        """The sectors of a stream, one after the other."""
        found: list[bytes] = []
        while start < _LAST:
            if len(found) > len(self._table):
                raise Refusal("damaged", _BROKEN)
            found.append(self._sector(start))
            start = _next(self._table, start)
        return b"".join(found)

    def _directory(self, content: bytes) -> dict[str, tuple[int, int]]:
        """Where each stream begins and how long it is; the root's, under no name, holds the small streams."""
        found: dict[str, tuple[int, int]] = {}
        for at in range(0, len(content) - 127, 128):
            length, kind = struct.unpack_from("<HB", content, at + 64)
            start, size = struct.unpack_from("<II", content, at + 116)
            name = content[at : at + max(min(length, 64) - 2, 0)].decode("utf-16-le", errors="replace")
            if kind == 5:
                found[""] = (start, size)
            elif kind:
                found.setdefault(name, (start, size))
        return found


def _numbers(content: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(content) // 4}I", content[: len(content) // 4 * 4])


def _next(table: tuple[int, ...], number: int) -> int:
    if number >= len(table):
        raise Refusal("damaged", _BROKEN)
    return table[number]
