"""Which file something was read from: its content and when it was last written, both taken before the reading."""

import datetime
import hashlib
from dataclasses import dataclass
from pathlib import Path

from pipeline.file_reading import check_regular, said_by
from pipeline.reading.bounded_child import LARGEST_FILE
from pipeline.reading.input_files import not_read


@dataclass(frozen=True)
class Origin:
    """A file's content as a digest, and when it was last written (UTC); equal where nobody wrote to it meanwhile."""

    sha256: str
    made: datetime.datetime


def origin_of(path: Path) -> Origin:
    """The file as it is now. Raises InputProblem where it can't be read."""
    try:
        check_regular(path, LARGEST_FILE)
        written = path.stat().st_mtime
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise not_read(path, "unreadable", said_by(error)) from None
    return Origin(digest, datetime.datetime.fromtimestamp(written, datetime.UTC))
