"""What lies on the disk after a run: the ledger as the next run will find it, and its spill file.

The ledger is read from a copy of its files, so that looking changes nothing that a restart finds; by plain
SQL, so that the program's own reading is not what is believed.
"""

import contextlib
import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from pipeline.ledger.spill import spill_path, spilled
from tests.crash.counting_carrier import Charge

_ATTEMPTS = """
SELECT attempt_id, run, state, reason, number, sending_at IS NOT NULL AS sent, answer IS NOT NULL AS answered,
       (SELECT json_group_array(json_array(ticket_no, charge, product)) FROM charge WHERE charge.attempt_id = attempt.attempt_id)
FROM attempt ORDER BY attempt_id
"""


@dataclass(frozen=True)
class Attempt:
    """An attempt as it stands in the ledger."""

    attempt_id: int
    run: int
    state: str
    reason: str
    number: str
    sent: bool
    answered: bool
    charges: frozenset[Charge]

    @property
    def live(self) -> bool:
        """Whether it holds its charges."""
        return self.state in ("sending", "issued", "unknown")

    @property
    def may_have_left(self) -> bool:
        """Whether its request may have been sent, as the ledger has it."""
        return self.state not in ("planned", "not_sent") or (
            self.state == "not_sent" and self.reason != "run_stopped"
        )


@dataclass(frozen=True)
class Evidence:
    """A ledger at one moment, and what was spilled beside it."""

    runs: tuple[int, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    damage: tuple[str, ...] = ()
    spill: tuple[dict[str, Any], ...] = ()

    def of(self, charge: Charge) -> list[Attempt]:
        """A charge's attempts, in time order."""
        return [attempt for attempt in self.attempts if charge in attempt.charges]


def look(ledger: Path) -> Evidence:
    """Read ledger and spill file without touching them; nothing where there is no ledger yet."""
    if not ledger.exists():
        return Evidence()
    with tempfile.TemporaryDirectory(prefix="evidence-") as folder:
        for path in (ledger, Path(f"{ledger}-wal")):
            if path.exists():
                shutil.copy(path, folder)
        with contextlib.closing(apsw.Connection(f"{folder}/{ledger.name}")) as connection:
            damage = [str(row[0]) for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
            damage += [f"foreign key of {row[0]}" for row in connection.execute("PRAGMA foreign_key_check")]
            attempts = tuple(_attempt(*row) for row in connection.execute(_ATTEMPTS))
            runs = tuple(row[0] for row in connection.execute("SELECT run FROM run"))
            ledger_id: str = connection.execute("SELECT ledger_id FROM ledger").get
    return Evidence(runs, attempts, tuple(damage), tuple(spilled(spill_path(ledger), ledger_id)))


def _attempt(
    attempt_id: int, run: int, state: str, reason: str, number: str, sent: int, answered: int, charges: str
) -> Attempt:
    those = frozenset((ticket, charge, product) for ticket, charge, product in json.loads(charges))
    return Attempt(attempt_id, run, state, reason, number, bool(sent), bool(answered), those)
