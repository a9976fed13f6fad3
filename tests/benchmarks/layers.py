"""What the time goes into, layer by layer, of a profile that py-spy took.

    py-spy record --rate 200 --format raw --output send.raw -- \\
        python -m tests.benchmarks.submission ours ADDRESS MONTH.xlsx
    python -m tests.benchmarks.layers sending send.raw
    py-spy record --rate 200 --format raw --output check.raw -- \\
        python -m pipeline check MONTH.xlsx --profile sample_data/sandbox.toml
    python -m tests.benchmarks.layers checking check.raw

ADDRESS is what `python -m tests.benchmarks.carrier` prints. A sample counts for the innermost frame that is of a layer.
"""

import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

#: Of each kind of profile: the frame in which it begins, and the layers' frames, the first that fits.
_LAYERS = {
    "sending": (
        r"sending\.py|ledger/writer\.py",  # the writer may have a thread of its own
        (
            ("the ledger", r"pipeline/ledger/"),
            ("documents, encryption, answers", r"pipeline/carrier/(?!client)|Crypto/"),
            ("aiohttp", r"aiohttp|yarl|multidict|pipeline/carrier/client"),
            ("the flow", r"pipeline/"),
            ("the event loop", r"asyncio|uvloop|runners"),
        ),
    ),
    "checking": (
        r"",
        (
            ("waiting for the reading process", r"communicate|_communicate|select"),
            ("imports", r"importlib"),
            ("cells to a Table", r"pipeline/reading/"),
            ("judging", r"pipeline/rules/"),
            ("splitting", r"pipeline/splitting"),
            ("the rest", r""),
        ),
    ),
}


def shares(kind: str, lines: Sequence[str]) -> Counter[str]:
    """Samples by layer."""
    begins, layers = _LAYERS[kind]
    found: Counter[str] = Counter()
    for line in lines:
        stack, _, count = line.rpartition(" ")
        if re.search(begins, stack):
            frames = stack.split(";")[::-1]
            named = (name for frame in frames for name, of in layers if of and re.search(of, frame))
            found[next(named, layers[-1][0])] += int(count)
    return found


def main() -> None:
    """Print each layer's share."""
    found = shares(sys.argv[1], Path(sys.argv[2]).read_text().splitlines())
    for name, samples in found.most_common():
        sys.stdout.write(f"{100 * samples / found.total():5.1f} %  {name}\n")


if __name__ == "__main__":
    main()
