"""Looks into one given file after another, in a process of its own: `python container_child.py`.

Archives and mails come from anywhere, so they are taken apart here, under bounds of memory and under the eyes of a parent that ends
what says nothing; a file that ends this process costs the parent one finding. It is given no keys, imports nothing but what takes
files apart, and what it says is data only, which the parent checks (`container_process`).

On standard input comes the path of each file, its length in bytes (8 of them) before it. The answer, on standard output, is for each thing
found what is said of it (JSON: `place` within the file, `size`, and `problem`, `reason` and `facts` where there is one) and its
content; at the end of a file, `{}`. Each has its length before it.
"""

import json
import os
import resource
import sys
from pathlib import Path
from typing import BinaryIO

from pipeline.itinerary_files.container_bounds import LARGEST_UNPACKED, MEMORY_BYTES, Refused, Seen
from pipeline.itinerary_files.container_contents import contents
from pipeline.model.itinerary_file import FoundFile
from pipeline.process_bounds import bound, framed, next_of, set_bounds

#: Of all files that one process looks into; how long it may take over one of them is the parent's to see.
PROCESS_SECONDS = 100_000


def _say(out: BinaryIO, found: FoundFile) -> None:
    frame = {"place": found.place, "size": len(found.content)}
    if found.problem:
        frame |= {"problem": found.problem, "reason": found.reason.text, "facts": found.reason.facts}
    out.write(framed(json.dumps(frame).encode()))
    out.write(framed(found.content))
    out.flush()  # it is not silent


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
    out.write(framed(b"{}"))
    out.flush()
    return True


def main() -> None:
    """Set the bounds, and look into each file that is named."""
    set_bounds(PROCESS_SECONDS, 2 * MEMORY_BYTES, MEMORY_BYTES)
    bound(resource.RLIMIT_FSIZE, LARGEST_UNPACKED)  # of what is unpacked to disk
    given, out = sys.stdin.buffer, sys.stdout.buffer
    while named := next_of(given):
        if not _look_into(Path(os.fsdecode(named)), out):
            break
    out.flush()


if __name__ == "__main__":
    main()
