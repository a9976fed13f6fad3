"""What lies on the disk after a run: the ledger's attempts and the spill file, read from copies."""

import contextlib
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from pipeline.ledger.spill import spill_path, spilled
from tests.crash.counting_carrier import Charge

LEDGER = "x.ledger"


@dataclass(frozen=True)
class Attempt:
    """An attempt as the ledger has it."""

    attempt_id: int
    state: str
    reason: str
    number: str
    answered: bool
    charges: frozenset[Charge]

    @property
    def may_have_left(self) -> bool:
        """Whether its request may have been sent, as the ledger has it."""
        return self.state not in ("planned", "not_sent") or (
            self.state == "not_sent" and self.reason != "run_stopped"
        )


@dataclass(frozen=True)
class Evidence:
    """What lies on the disk, looked at in a copy so that looking changes nothing."""

    attempts: tuple[Attempt, ...]
    spill: tuple[dict[str, Any], ...]
    problems: tuple[str, ...]

    def of(self, charge: Charge) -> list[Attempt]:
        """A charge's attempts, in time order."""
        return [attempt for attempt in self.attempts if charge in attempt.charges]

    def live(self, charge: Charge) -> tuple[str, str]:
        """The state and number that a charge is held by."""
        held = [a for a in self.of(charge) if a.state in ("sending", "issued", "unknown")]
        return (held[-1].state, held[-1].number) if held else ("", "")


def look(desk: Path) -> Evidence:
    """Read ledger and spill file without touching them."""
    if not (desk / LEDGER).exists():
        return Evidence((), (), ())
    with tempfile.TemporaryDirectory(prefix="disk-errors-") as folder:
        for path in desk.glob(f"{LEDGER}*"):
            if not path.name.endswith(("-shm", ".lock")):
                shutil.copy(path, folder)
        copy = Path(folder) / LEDGER
        with contextlib.closing(apsw.Connection(str(copy))) as connection:
            rows = list(connection.execute("SELECT * FROM pragma_integrity_check"))
            problems = [str(row[0]) for row in rows if row[0] != "ok"]
            problems += [f"foreign key: {row}" for row in connection.execute("PRAGMA foreign_key_check")]
            charges: dict[int, set[Charge]] = {}
            for attempt_id, *charge in connection.execute(
                "SELECT attempt_id, ticket_no, charge, product FROM charge"
            ):
                charges.setdefault(attempt_id, set()).add((charge[0], charge[1], charge[2]))
            attempts = tuple(
                Attempt(attempt_id, state, reason, number, bool(answered), frozenset(charges[attempt_id]))
                for attempt_id, state, reason, number, answered in connection.execute(
                    "SELECT attempt_id, state, reason, number, answer IS NOT NULL FROM attempt ORDER BY 1"
                )
            )
            ledger_id: str = connection.execute("SELECT ledger_id FROM ledger").get
        return Evidence(attempts, tuple(spilled(spill_path(copy), ledger_id)), tuple(problems))
