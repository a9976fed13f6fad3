"""Opens one workbook, in a process of its own: `python child.py PATH [exactly]`.

Files come from anywhere, and a broken or hostile one can take all memory or abort the process that
opens it; so this script runs apart, under limits that it sets itself, and hands over plain cells.
It imports nothing of the package but `reading.formats`, so that nothing but the parsers is at stake
and it starts fast.

Asked to look exactly, it takes longer over an .xlsx and sees also a far-away cell that stands in the midst of a
near row; the parent asks so where a first reading came to its end by a signal.

It writes one pickle to standard output: `{"readings": [[sheet, …], …], "certain": …}` or `{"problem": code,
"detail": text}`. There is one certain reading, or one for each encoding that a text may be in. A sheet is a dict of `name`, `visible`,
`first_row`, `first_column` (both from 0), `merged` and `foreign` (see `look`), `height` (in rows) and `columns` (see
`columns`), whose values are str, float, bool-as-text, datetime, date, time, timedelta or bytes. "" is a blank cell. Bytes
are no value: an error's text (b"#N/A"), or b"=" for a formula whose result was never stored. Of a hidden sheet that holds
anything one cell is handed over.
"""

import gc
import os
import pickle
import resource
import stat
import sys
from pathlib import Path
from typing import Any

MEMORY_BYTES = 6 * 1024**3
CPU_SECONDS = 600
LARGEST_FILE = 1024**3
EXACTLY = "exactly"


def read(path: Path, exactly: bool = False) -> dict[str, Any]:
    """The file's sheets, or what is wrong with it."""
    from pipeline.reading.formats import kinds  # noqa: PLC0415 - once the bounds are set
    from pipeline.reading.formats.refusal import Refusal  # noqa: PLC0415

    try:
        seen = path.stat()
        if not stat.S_ISREG(seen.st_mode):
            return {"problem": "no_file", "detail": ""}
        if seen.st_size > LARGEST_FILE:
            return {"problem": "too_large", "detail": f"it has {seen.st_size} bytes"}
        return kinds.readings(path.read_bytes(), path, exactly)
    except Refusal as refusal:
        return {"problem": refusal.code, "detail": refusal.detail}
    except OSError as error:
        return {"problem": "unreadable", "detail": error.strerror or str(error)}
    except MemoryError:
        return {"problem": "too_large", "detail": "it takes more memory than the reader may have"}


def set_bounds() -> None:
    """From here on this process has its bounds."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    if sys.platform == "linux":  # macOS accepts the limit and does not keep it
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def main() -> None:
    """Set the bounds, read, hand over."""
    set_bounds()
    gc.disable()  # cells are many, and hold nothing that could hold them
    sys.path.insert(0, str(Path(__file__).parents[2]))
    result = read(Path(sys.argv[1]), exactly=EXACTLY in sys.argv[2:])
    handing_over = pickle.Pickler(sys.stdout.buffer, protocol=pickle.HIGHEST_PROTOCOL)
    # It takes no note of each cell, as if the same might come again, and a fifth of the time.
    handing_over.fast = True
    handing_over.dump(result)
    sys.stdout.flush()
    os._exit(0)  # what was refused may still be being laid out (see `laying`); nobody waits for that


if __name__ == "__main__":
    main()
