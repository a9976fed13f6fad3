"""Values that go from one process of ours to another, over a pipe or a socket: pickled, each with its length before it."""

import pickle
import struct
from collections.abc import Iterator
from typing import Any

#: So many bytes are read at once.
PIECE = 1 << 16
_LENGTH = struct.Struct("!Q")


def packed(value: object) -> bytes:
    """A value as it goes over; what has names for its parts goes without, for to look its class up takes longer than all in it."""
    data = pickle.dumps(tuple(value) if isinstance(value, tuple) else value, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(data)) + data


def taken(came: bytearray) -> Iterator[Any]:
    """Take the values that have come whole out of what has come."""
    while len(came) >= _LENGTH.size:
        end = _LENGTH.size + _LENGTH.unpack_from(came)[0]
        if len(came) < end:
            return
        value = pickle.loads(came[_LENGTH.size : end])  # noqa: S301 - a process of ours wrote it
        del came[:end]
        yield value
