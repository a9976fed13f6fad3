"""Where the time of a round of requests goes: what the sending process and the carrier do between two commits, and what a commit takes.

    python -m tests.benchmarks.sending_rounds ours ADDRESS MONTH.xlsx --sync-ms 5

is `tests.benchmarks.submission` with the same arguments, and prints medians beside, in milliseconds, of all groups in which as many
requests waited as are in flight, with the group before them, too:

- `work`: from the acknowledgement of a group until the next one is handed over: it is made out what the answers mean, the next requests
  leave, the carrier answers;
- `commit`: from the hand-over to its acknowledgement, and of that `sync`, which is SQLite's COMMIT.
"""

import statistics
import sys
import time
from collections import defaultdict
from typing import Any
from unittest import mock

from pipeline.ledger.group_commit import Writer
from tests.benchmarks import submission

_took: defaultdict[str, list[float]] = defaultdict(list)
_last: dict[str, Any] = {"told": 0.0, "over": 0.0, "whole": False, "before": False}
_hand_over, _tell = Writer._hand_over, Writer._tell


def _handed_over(writer: Writer) -> None:
    now, whole = time.perf_counter(), writer._requests == writer._in_flight
    if whole and _last["before"]:
        _took["work"].append(now - _last["told"])
    _last.update(over=now, whole=whole)
    _hand_over(writer)


def _told(writer: Writer, written: Any) -> None:
    now = time.perf_counter()
    if _last["whole"]:
        _took["commit"].append(now - _last["over"])
        _took["sync"].append(written.seconds)
    _last.update(told=now, before=_last["whole"])
    _tell(writer, written)


def main() -> None:
    """Send a month, and print what its rounds took."""
    with mock.patch.object(Writer, "_hand_over", _handed_over), mock.patch.object(Writer, "_tell", _told):
        submission.main()
    for name, took in sorted(_took.items()):
        sys.stdout.write(f"{1000 * statistics.median(took):7.2f} ms {name}, {len(took)} times\n")


if __name__ == "__main__":
    main()
