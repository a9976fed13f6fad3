"""Reads one itinerary file after another, in a process of its own, under bounds that it sets itself.

On standard input come, each with its length before it, the pinned root certificates (first how many), then files; for each file it
answers on standard output, with the length before it, what `itinerary_reader.py` says, as JSON. It ends with its input.

It is given no keys and opens no file, so that whoever takes it over by a file finds none; but what it says of the files behind that one is
his. That is the price of many files a second: a process for each would cost more than the reading.

A file has so much processor time, after which the process is ended by a signal; one that runs out of memory ends itself. The parent
starts another.
"""

import gc
import os
import signal
import sys

import orjson

from pipeline.itinerary_files.itinerary_reader import read_itinerary
from pipeline.itinerary_files.read_reasons import FILE_SECONDS
from pipeline.process_bounds import OUT_OF_MEMORY, framed, next_of, set_bounds

#: Of addresses and of data: far more than the largest file takes that is read (see ofd_package.py).
MEMORY_BYTES, DATA_BYTES = 1024**3, 320 * 1024**2
#: Of all files that one process reads.
PROCESS_SECONDS = 100_000


def main() -> None:
    """Set the bounds; read file after file."""
    set_bounds(PROCESS_SECONDS, MEMORY_BYTES, DATA_BYTES)
    source, answers = sys.stdin.buffer, sys.stdout.buffer
    roots = tuple(next_of(source) or b"" for _ in range(int.from_bytes(next_of(source) or b"", "little")))
    gc.freeze()
    try:
        while (content := next_of(source)) is not None:
            signal.setitimer(signal.ITIMER_PROF, FILE_SECONDS)  # SIGPROF ends the process, whatever it is in
            answer = orjson.dumps(read_itinerary(content, roots))
            signal.setitimer(signal.ITIMER_PROF, 0)
            answers.write(framed(answer))
            answers.flush()
    except MemoryError:
        os._exit(OUT_OF_MEMORY)


if __name__ == "__main__":
    main()
