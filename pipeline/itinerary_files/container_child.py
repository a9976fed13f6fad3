"""Looks into one given file after another, in a process of its own: `python container_child.py`.

Archives and mails come from anywhere, so they are taken apart here, under bounds of memory and under the eyes of a parent that ends
what says nothing; a file that ends this process costs the parent one finding. It is given no keys, imports nothing but what takes
files apart, and what it says is data only, which the parent checks (`container_process`).

On standard input comes the length in bytes (4 of them) and the path of each file; the answer, on standard output, is one frame for each thing
found and one empty frame at the end: the length (4) and the text (JSON: `place` within the file, `size`, and `problem`, `reason` and `facts` where there
is one), then so many bytes of content.
"""

import json
import os
import resource
import struct
import sys
from pathlib import Path
from typing import BinaryIO

from pipeline.itinerary_files.container_bounds import LARGEST_UNPACKED, MEMORY_BYTES, Refused, Seen
from pipeline.itinerary_files.container_contents import contents
from pipeline.model.itinerary_file import FoundFile

LENGTH = struct.Struct("<I")
#: Of the largest frame's text: places are names that are cut, no more than MOST_DEPTH of them.
LARGEST_TEXT = 1 << 16


def set_bounds() -> None:
    """From here on this process has its bounds."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _bound(resource.RLIMIT_FSIZE, LARGEST_UNPACKED)  # of what is unpacked to disk
    if sys.platform == "linux":  # macOS accepts these limits and does not keep them
        _bound(resource.RLIMIT_AS, 2 * MEMORY_BYTES)
        _bound(resource.RLIMIT_DATA, MEMORY_BYTES)


def _bound(what: int, most: int) -> None:
    """Set a bound, or keep one that is stricter already."""
    _, hard = resource.getrlimit(what)
    least = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (least, least))


def _say(out: BinaryIO, found: FoundFile) -> None:
    frame = {"place": found.place, "size": len(found.content)}
    if found.problem:
        frame |= {"problem": found.problem, "reason": found.reason.text, "facts": found.reason.facts}
    text = json.dumps(frame).encode()
    out.write(LENGTH.pack(len(text)) + text)
    out.write(found.content)


def _look_into(path: Path, out: BinaryIO) -> bool:
    """Say what is found in one file; False where memory ran out, whereupon the parent ends this process."""
    try:
        with path.open("rb") as file:
            for found in contents(file, ()):
                _say(out, found)
    except MemoryError:
        _say(out, Refused(Seen.MEMORY).found(()))
        return False
    except OSError:
        _say(out, Refused(Seen.UNREADABLE).found(()))
    except Exception:  # noqa: BLE001 - a file that nobody thought of costs no other
        _say(out, Refused(Seen.ENDED).found(()))
    out.write(LENGTH.pack(0))
    out.flush()
    return True


def main() -> None:
    """Set the bounds, and look into each file that is named."""
    set_bounds()
    given, out = sys.stdin.buffer, sys.stdout.buffer
    while length := given.read(LENGTH.size):
        if not _look_into(Path(os.fsdecode(given.read(*LENGTH.unpack(length)))), out):
            break
    out.flush()


if __name__ == "__main__":
    main()
