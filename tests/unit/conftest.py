"""What unit tests of several rooms share."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.reading import bounded_child, input_files
from pipeline.reading.formats.serialize import dumps


class _Here:
    """A file read in this process."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def said(self) -> Iterator[bytes]:
        yield b"".join(dumps(bounded_child.read(self._path)))


@pytest.fixture
def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read by what reads them, without a process of its own for each, nor its bounds: what it says is the same."""
    monkeypatch.setattr(input_files, "Opening", _Here)


@pytest.fixture
def far_off(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This machine is in another time zone than anybody who is spoken of."""
    with monkeypatch.context() as changed:
        changed.setenv("TZ", "America/St_Johns")
        time.tzset()
        yield
    time.tzset()
