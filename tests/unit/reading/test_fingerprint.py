"""Which file something was read from: its content, and when it was last written."""

import datetime
import hashlib
import os
import re
from pathlib import Path

import pytest

from pipeline.model.errors import InputProblem
from pipeline.reading.bounded_child import LARGEST_FILE
from pipeline.reading.fingerprint import Origin, origin_of


def test_a_files_content_and_time_are_known_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "october.csv"
    path.write_bytes(b"ticket_no\n" * 100_000)
    os.utime(path, (0, 1_700_000_000))
    made = datetime.datetime(2023, 11, 14, 22, 13, 20, tzinfo=datetime.UTC)
    assert origin_of(path) == Origin(hashlib.sha256(b"ticket_no\n" * 100_000).hexdigest(), made)
    assert origin_of(path).made.utcoffset() == datetime.timedelta()


def test_what_is_no_file_or_never_ends_is_refused_by_its_name(tmp_path: Path) -> None:
    pipe, large = tmp_path / "pipe", tmp_path / "large"
    os.mkfifo(pipe)
    with large.open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    for path, told in (
        (tmp_path, "Is a directory"),
        (tmp_path / "none", "No such file or directory"),
        (large, f"it has {LARGEST_FILE + 1:,} bytes"),
        (pipe, "it is not a file but a pipe or a device"),
    ):
        with pytest.raises(InputProblem, match=f"{re.escape(str(path))}.*{told}"):
            origin_of(path)
