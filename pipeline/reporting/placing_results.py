"""Putting results in their places: under a free name, or over an earlier report."""

from pathlib import Path

from pipeline.files import PRIVATE, appear, sync
from pipeline.reporting.output_paths import names


def place_new(finished: Path, wanted: Path) -> Path:
    """Let a finished file appear under the first name that is free, never over another; give that name."""
    finished.chmod(PRIVATE)
    sync(finished)
    for path in names(wanted):
        try:
            appear(finished, path)
        except FileExistsError:
            continue
        sync(path.parent)
        return path
    raise RuntimeError("names() does not end")


def place_over(finished: Path, path: Path) -> None:
    """Put a finished file in the place of an earlier one."""
    finished.chmod(PRIVATE)
    sync(finished)
    finished.replace(path)
    sync(path.parent)
