"""Where the time of a round of requests goes: what the sending process and the carrier do between two commits, and what a commit takes.

    python -m tests.benchmarks.sending_rounds ours ADDRESS MONTH.xlsx --sync-ms 5

is `tests.benchmarks.submission` with the same arguments, and prints medians beside, in milliseconds, of all groups in which as many
requests waited as are in flight, by what they waited for:

- `answers`: from the acknowledgement of their `sending` until their answers are handed over (they leave, the carrier answers);
- `next`: from the acknowledgement of the answers until what they came to is handed over, with the next requests' `sending`;
- `commit` of either, from the hand-over to its acknowledgement, and of that `sync`, which is SQLite's COMMIT.
"""

import statistics
import sys
import time
from collections import defaultdict
from typing import Any
from unittest import mock

from pipeline.ledger.attempt_changes import GotAnswer
from pipeline.ledger.group_commit import Writer
from tests.benchmarks import submission

_took: defaultdict[str, list[float]] = defaultdict(list)
_last = {"told": 0.0, "over": 0.0, "whole": "", "before": ""}
_hand_over, _tell = Writer._hand_over, Writer._tell


def _handed_over(writer: Writer) -> None:
    now, waiting = time.perf_counter(), writer._waiting
    whole = writer._requests == writer._in_flight
    kind = "answers" if all(isinstance(change, GotAnswer) for change, _ in waiting) else "next"
    if whole and _last["before"] not in ("", kind):
        _took[kind].append(now - float(_last["told"]))
    _last.update(over=now, whole=kind if whole else "")
    _hand_over(writer)


def _told(writer: Writer, written: Any) -> None:
    now, kind = time.perf_counter(), str(_last["whole"])
    if kind:
        _took[f"commit of {kind}"].append(now - float(_last["over"]))
        _took[f"sync of {kind}"].append(written.seconds)
    _last.update(told=now, before=kind)
    _tell(writer, written)


def main() -> None:
    """Send a month, and print what its rounds took."""
    with mock.patch.object(Writer, "_hand_over", _handed_over), mock.patch.object(Writer, "_tell", _told):
        submission.main()
    for name, took in sorted(_took.items()):
        sys.stdout.write(f"{1000 * statistics.median(took):7.2f} ms {name}, {len(took)} times\n")


if __name__ == "__main__":
    main()
