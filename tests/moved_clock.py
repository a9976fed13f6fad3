"""Commands whose clock is moved: `moved_clock.c`, built with the C compiler and preloaded into the program."""

import hashlib
import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

_SOURCE = Path(__file__).with_name("moved_clock.c")

#: Moving the clock takes a C compiler.
needs_compiler = pytest.mark.usefixtures("compiler")


@cache
def library() -> Path:
    """The library, built where it is not yet."""
    digest = hashlib.sha256(_SOURCE.read_bytes()).hexdigest()[:16]
    built = Path(tempfile.gettempdir()) / f"moved-clock-{os.getuid()}-{digest}.so"
    if not built.exists():
        building = built.with_suffix(f".{os.getpid()}")
        command = ["cc", "-O2", "-shared", "-fPIC", "-o", str(building), str(_SOURCE), "-ldl"]
        subprocess.run(command, check=True, capture_output=True, text=True)
        building.replace(built)  # two that build at once both end with a whole library
    return built


def moved(hours: float) -> dict[str, str]:
    """What to add to a command's environment so that its clock is so many hours ahead; negative: behind."""
    return {"LD_PRELOAD": str(library()), "MOVED_CLOCK": str(int(hours * 3600))}
