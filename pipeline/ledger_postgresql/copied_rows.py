"""What two ledgers hold, compared: how many rows each table has, and a digest of them in the order of their keys."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pipeline.model.errors import LedgerProblem


@dataclass(frozen=True)
class TableDigest:
    """How many rows, and the SHA-256 of them, each as JSON on a line of its own, bytes as hexadecimal digits."""

    rows: int
    sha256: str


class Digesting:
    """Digests of tables, made of the rows as they go by."""

    def __init__(self) -> None:
        self.tables: dict[str, TableDigest] = {}

    def through(self, table: str, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """The same rows; the table's digest is known when they are at their end."""
        count, digest = 0, hashlib.sha256()
        for row in rows:
            count += 1
            digest.update(json.dumps(row, ensure_ascii=False, default=bytes.hex).encode() + b"\n")
            yield row
        self.tables[table] = TableDigest(count, digest.hexdigest())

    def of(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Read rows to their end, for their digest."""
        for _ in self.through(table, rows):
            pass


def check_same(name: str, wanted: dict[str, TableDigest], found: dict[str, TableDigest]) -> None:
    """Raise LedgerProblem where the copy called `name` does not hold what was copied."""
    for table, digest in wanted.items():
        if digest != found[table]:
            raise LedgerProblem(
                "{path}: does not hold what was copied into it ({table}: {found} rows, of {wanted}, or other ones); both ledgers stay as they"
                " were. Run the same command again",
                path=name,
                table=table,
                found=found[table].rows,
                wanted=digest.rows,
            )
