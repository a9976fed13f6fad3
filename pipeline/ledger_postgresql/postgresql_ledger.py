"""What a run asks of a shared ledger, beside what whoever sends does (`worker_turns`)."""

import datetime
import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from pipeline import __version__
from pipeline.ledger.planning import Attempt, Details
from pipeline.ledger_postgresql.evidence_changes import EvidenceChanges
from pipeline.ledger_postgresql.server_schema import about
from pipeline.ledger_postgresql.sqlstates import as_problem
from pipeline.model.message import NOTHING, Message, from_text, message, to_text
from pipeline.model.profile import Terms
from pipeline.model.request import Charge, Request, wire_text
from pipeline.rules.rows import Rows

_TOGETHER = 1000  # requests in one statement at the most, so that neither side has much of a plan in memory


@dataclass(frozen=True)
class PostgresqlLedger(EvidenceChanges):
    """A shared ledger that a run has open; `seal` makes the body that is sent, which workers can't make."""

    _connection: psycopg.Connection
    seal: Callable[[Request], bytes]

    @property
    def ledger_id(self) -> str:
        """The ledger's own ID."""
        return about(self._connection).ledger_id

    @property
    def epoch(self) -> str:
        """The ID of the epoch that attempts belong to now."""
        return about(self._connection).epoch_id

    def lacking(self) -> Message:
        """Why nothing may be sent: what the ledger may lack; nothing where it is complete."""
        with as_problem():
            gap = self._connection.execute(
                "SELECT since, why FROM voucher.gap WHERE closed_at IS NULL ORDER BY since LIMIT 1"
            ).fetchone()
        if gap is None:
            return NOTHING
        return message(
            "this ledger may lack what was issued after {since} ({why})",
            since=gap[0].astimezone(datetime.UTC).isoformat(timespec="milliseconds"),
            why=from_text(gap[1]),
        )

    def begin(self, command: str, terms: Terms, files: Sequence[Path]) -> int:
        """Record a run; its number."""
        names = json.dumps([str(path).encode(errors="replace").decode() for path in files])
        return self._count(
            "SELECT voucher.begin_run(%s, %s, %s, %s)", command, __version__, str(terms.as_of), names
        )

    def plan(self, run: int, requests: Sequence[Request], rows: Rows, details: Details) -> list[Attempt]:
        """Write every request with a new attempt as `planned`, sealed, all of them or none."""
        places = [*zip(rows.file, rows.sheet, rows.row.tolist(), strict=True)]

        def charge_of(request: Request, charge: Charge) -> list[Any]:
            of = charge.identity
            return [
                of.ticket_no, of.charge, of.product, wire_text(charge.wire), charge.amount, *places[charge.row],
                request.content_of(charge), charge.passenger_name, *details(charge.row),
            ]  # fmt: skip

        planned = []
        with as_problem(), self._connection.transaction():
            for first in range(0, len(requests), _TOGETHER):
                together = requests[first : first + _TOGETHER]
                values = [
                    {
                        "request_id": one.request_id, "voucher": one.voucher, "market": one.market, "amount": one.amount,
                        "header": one.header.values, "charges": [charge_of(one, charge) for charge in one.charges],
                    }
                    for one in together
                ]  # fmt: skip
                found = self._connection.execute(
                    "SELECT * FROM voucher.plan(%s, %s, %s)",
                    (run, json.dumps(values, ensure_ascii=False), [self.seal(one) for one in together]),
                ).fetchall()
                planned += [
                    Attempt(attempt_id, attempt, one)
                    for (attempt_id, attempt), one in zip(found, together, strict=True)
                ]
        return planned

    def stop(self, run: int, why: Message) -> None:
        """Have nothing more of a run claimed, by anybody, from when this returns; the first reason is kept."""
        self._one("SELECT voucher.stop_run(%s, %s)", run, to_text(why))

    def lift(self, run: int) -> None:
        """Let a run that was stopped go on."""
        self._one("SELECT voucher.stop_run(%s, '')", run)

    def end(self, run: int, exit_code: int) -> int:
        """Record how a run ended, and forget what was not sent; how many attempts that were. Refused while any of it is being sent."""
        return self._count("SELECT voucher.end_run(%s, %s)", run, exit_code)

    # Workers.

    def sweep(self) -> int:
        """What workers were sending that have been silent for a lease is unknown from now on; how many attempts that were."""
        return self._count("SELECT voucher.sweep()")

    def declare_dead(self, worker: uuid.UUID, by: str, how: str) -> int:
        """Record that somebody has seen a worker dead, and how; what it was sending is unknown then, so many attempts."""
        return self._count("SELECT voucher.declare_dead(%s, %s, %s)", worker, by, how)

    def open_claims(self) -> bool:
        """Let claims be made after a start of the server, where everybody has vouched and a lease has passed; whether they are open."""
        return bool(self._one("SELECT voucher.open_claims()"))

    def _count(self, sql: str, *given: Any) -> int:
        found: int = self._one(sql, *given)
        return found
