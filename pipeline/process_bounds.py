"""What a process that reads files from anywhere sets itself, and what it and its parent agree on: bounds, exit code, length of answers.

It loads nothing but the standard library's smallest, so that such a process starts fast.
"""

import resource
import sys
from typing import BinaryIO

#: The process's exit code, where it ran out of memory and can say nothing any more.
OUT_OF_MEMORY = 3
#: Of the number before each thing that is said, which says how many bytes come.
LENGTH_BYTES = 8


def framed(thing: bytes) -> bytes:
    """A thing that is said, with its length before it."""
    return len(thing).to_bytes(LENGTH_BYTES, "little") + thing


def next_of(source: BinaryIO) -> bytes | None:
    """The next thing that is said there; None at its end."""
    length = source.read(LENGTH_BYTES)
    return source.read(int.from_bytes(length, "little")) if len(length) == LENGTH_BYTES else None


def set_bounds(cpu_seconds: int, memory_bytes: int, data_bytes: int) -> None:
    """From here on this process has its bounds: no core dump, processor time, and on Linux addresses and data."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    bound(resource.RLIMIT_CPU, cpu_seconds)
    if sys.platform == "linux":  # macOS accepts the limit and does not keep it
        bound(resource.RLIMIT_AS, memory_bytes)
        bound(resource.RLIMIT_DATA, data_bytes)


def bound(what: int, most: int) -> None:
    """Set a bound, or keep one that is stricter already."""
    _, hard = resource.getrlimit(what)
    least = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (least, least))
