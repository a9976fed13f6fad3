"""Opens one workbook, in a process of its own: `python bounded_child.py PATH [exactly]`.

Files come from anywhere, and a broken or hostile one can take all memory or abort the process that
opens it; so this script runs apart, under limits that it sets itself, and hands over plain cells.
It imports nothing of the package but `reading.formats`, its bounds and what a message is, so that nothing but the parsers is at stake
and it starts fast.

Asked to look exactly, it takes longer over an .xlsx and sees also a far-away cell that stands in the midst of a
near row; the parent asks so where a first reading came to its end by a signal.

It is a boundary, not only a bound: it is given no keys, and what it says is data only (`formats.serialize`), which the
parent checks (`deserialize`). So whoever takes it over by a file can say wrong values, as the file could, and no more.

It answers on standard output, the length in bytes (8 of them) before each thing that it says: pieces of a long sheet, `{"piece": number,
"columns": […]}`, and at last `{"readings": [[sheet, …], …], "certain": …}` or `{"problem": code, "detail": text, "facts": {…}}` (see
`formats.refusal`), or both where no reading is certain. There is one certain reading, or one for each encoding that a text may be in. A
sheet is a dict of `name`, `visible`, `first_row`, `first_column` (both from 0), `merged` and `currencies` (see `look`), `height` (in rows),
`pieces`, the numbers of those that hold its first rows, and `columns`, what is below them (see `columnar`), whose values are str, float,
bool-as-text, datetime, date, time, timedelta or bytes. "" is a blank cell. Bytes are no value: an error's text (b"#N/A"), or b"=" for a
formula whose result was never stored. Of a hidden sheet that holds anything one cell is handed over, and how many of its rows hold a
ticket's number (`hidden_tickets`); of one that is shown which rows are hidden or filtered out (`hidden_rows`, see `look`), and where the
filled cells stood that are left out because they are far from all others (`far`, as row and column).
"""

import gc
import os
import stat
import sys
from itertools import count
from pathlib import Path
from typing import Any

from pipeline import process_bounds
from pipeline.process_bounds import LENGTH_BYTES, OUT_OF_MEMORY
from pipeline.reading.formats import detect
from pipeline.reading.formats.columnar import Columns, Part
from pipeline.reading.formats.refusal import EXACTLY, Refusal, Seen
from pipeline.reading.formats.serialize import dumps

#: Of addresses, whatever the file. Of data, what a small file may cost, and so much more for each of its bytes: a program that
#: packs a cell into two bytes has it laid out in a hundred.
MEMORY_BYTES = 6 * 1024**3
SMALLEST_DATA, DATA_OF_A_BYTE = 384 * 1024**2, 400
CPU_SECONDS = 600
LARGEST_FILE = 1024**3


def read(path: Path, exactly: bool = False) -> dict[str, Any]:
    """The file's sheets, or what is wrong with it."""
    try:
        seen = path.stat()
        if not stat.S_ISREG(seen.st_mode):
            return Refusal("no_file").answer()
        if seen.st_size > LARGEST_FILE:
            return Refusal("too_large", Seen.BYTES, count=seen.st_size).answer()
        return detect.readings(path.read_bytes(), path, exactly)
    except Refusal as refusal:
        return refusal.answer()
    except OSError as error:
        return Refusal("unreadable", error.strerror or str(error)).answer()
    except MemoryError:
        return Refusal("too_large", Seen.MEMORY).answer()


def set_bounds(size: int) -> None:
    """From here on this process has its bounds, for a file of so many bytes."""
    data = min(SMALLEST_DATA + DATA_OF_A_BYTE * size, MEMORY_BYTES)
    process_bounds.set_bounds(CPU_SECONDS, MEMORY_BYTES, data)


def _say(what: dict[str, Any]) -> None:
    """Write an answer, or a piece that comes before it, and before it how many bytes it has."""
    said = [*dumps(what)]
    sys.stdout.buffer.write(sum(map(len, said)).to_bytes(LENGTH_BYTES, "little"))
    sys.stdout.buffer.writelines(said)
    sys.stdout.flush()


def main() -> None:
    """Set the bounds, read, hand over."""
    path = Path(sys.argv[1])
    set_bounds(path.stat().st_size if path.is_file() else 0)
    gc.disable()  # cells are many, and hold nothing that could hold them
    numbers = count()

    def hand_over(columns: list[Part]) -> int:
        number = next(numbers)
        _say({"piece": number, "columns": columns})
        return number

    Columns.hand_over = hand_over
    result = read(path, exactly=EXACTLY in sys.argv[2:])
    try:
        _say(result)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    os._exit(
        0
    )  # what was refused may still be being laid out (see `formats/calamine.py`); nobody waits for that


if __name__ == "__main__":
    main()
