"""What is asked of a shared ledger, and what a run changes in it, beside what whoever sends does (`worker_turns`)."""

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import psycopg

from pipeline import __version__
from pipeline.ledger import export
from pipeline.ledger.fetched_ledger import Connection, fetched_ledger
from pipeline.ledger.ledger_file import as_problem as fetched_as_problem
from pipeline.ledger.opening import check_owner
from pipeline.ledger.operations import LedgerToChange, RunLedger
from pipeline.ledger.part import EVERYTHING, Part
from pipeline.ledger.planning import Attempt, Details
from pipeline.ledger.read_ledger import LedgerCopy
from pipeline.ledger.recovery import Meaning
from pipeline.ledger.run_people import RunPerson
from pipeline.ledger_postgresql.evidence_changes import EvidenceChanges
from pipeline.ledger_postgresql.part_reading import begin_moment, fetch
from pipeline.ledger_postgresql.server_connection import LedgerConnection, connect
from pipeline.ledger_postgresql.shared_recovery import read_answers
from pipeline.ledger_postgresql.shared_writer import SharedWriter
from pipeline.ledger_postgresql.sqlstates import ServerAway, as_problem
from pipeline.model.errors import InputProblem
from pipeline.model.message import NOTHING, Message, Note
from pipeline.model.profile import Owner, Terms
from pipeline.model.request import Charge, Request, wire_text

if TYPE_CHECKING:  # who plans nothing needs no numpy, which is much to load
    from pipeline.rules.rows import Rows

_TRIES = 4  # at a plan that meets another one
_TOGETHER = 1000  # requests in one statement at the most, so that neither side has much of a plan in memory


def no_seal(_request: Request) -> bytes:
    """For whoever has no keys: nothing can be planned. Raises InputProblem."""
    raise InputProblem(
        "Planning on a shared ledger takes the keys, for what is sent is sealed there: set VOUCHER_API_KEY and VOUCHER_ENCRYPTION_KEY"
    )


def no_sender() -> SharedWriter:
    """For whoever has it open for no run: nothing is sent."""
    raise TypeError("nothing is sent but by a run")


@dataclass(frozen=True)
class PostgresqlLedger(EvidenceChanges, RunLedger, LedgerToChange):
    """A shared ledger that is open, for looking, for a run or for a change.

    `seal` makes the body that is sent, which workers can't make. `sender` is the worker that issues its run: the same at each call, from
    the first one until the ledger is closed, for a run lives as long as its issuer is heard, whatever is judged or written meanwhile.
    `invited`: so many workers at the most are invited to what is planned.
    """

    hears_senders: ClassVar[bool] = True

    _connection: LedgerConnection
    seal: Callable[[Request], bytes] = no_seal
    sender: Callable[[], SharedWriter] = no_sender
    invited: int = 0

    @contextlib.contextmanager
    def _part(self, part: Part) -> Iterator[Connection]:
        with fetched_as_problem(self.name), fetched_ledger() as fetched:
            with as_problem():
                fetch(self._connection, part, fetched)
            yield fetched.connection

    def as_of_now(self) -> None:
        """What is asked from here on is answered as of one moment, whatever a run does meanwhile."""
        with as_problem():
            begin_moment(self._connection)

    def doubt(self) -> Message:
        """Nothing: an older copy of it is told by workers that remember more, and claims are shut until all have vouched."""
        return NOTHING

    @property
    def outcomes_wait(self) -> bool:
        """Whether outcomes wait in a file beside it: they lie with the worker that has them, which takes them in itself."""
        return False

    @contextlib.contextmanager
    def as_copy(self, scratch: Path, wanted: Path) -> Iterator[LedgerCopy]:  # noqa: ARG002 - SQLite finds a place of its own
        """All of it as of one moment."""
        with self._part(EVERYTHING) as connection:
            yield LedgerCopy(export.about(connection), connection)

    def begin(self, command: str, terms: Terms, files: Sequence[Path]) -> int:
        """Record a run; its number. Raises InputProblem where the ledger has moved to another carrier's address since it was opened."""
        carrier = terms.profile.carrier
        owner = Owner(carrier.base_url, carrier.agency)
        names = json.dumps([str(path).encode(errors="replace").decode() for path in files])
        given = (command, __version__, str(terms.as_of), names, [owner.base_url, owner.agency])
        while (run := self._one("SELECT voucher.begin_run(%s, %s, %s, %s, %s)", *given)) is None:
            check_owner(self.name, self.owner, owner)
        made: int = run
        return made

    def plan(self, run: int, requests: Sequence[Request], rows: "Rows", details: Details) -> list[Attempt]:
        """Write every request with a new attempt as `planned`, sealed, and invite workers to them, all of that or nothing."""
        places = [*zip(rows.file, rows.sheet, rows.row.tolist(), strict=True)]

        def charge_of(request: Request, charge: Charge) -> list[Any]:
            of = charge.identity
            return [
                of.ticket_no, of.charge, of.product, wire_text(charge.wire), charge.amount, *places[charge.row],
                request.content_of(charge), charge.passenger_name, *details(charge.row),
            ]  # fmt: skip

        with as_problem():
            for _ in range(_TRIES):  # another run may plan the same request at this very moment
                with contextlib.suppress(psycopg.errors.UniqueViolation, psycopg.errors.DeadlockDetected):
                    return self._planned(run, requests, charge_of)
            return self._planned(run, requests, charge_of)

    def _planned(
        self, run: int, requests: Sequence[Request], charge_of: Callable[[Request, Charge], list[Any]]
    ) -> list[Attempt]:
        planned = []
        with self._connection.transaction():
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
            if most := min(len(requests), self.invited):
                from pipeline.ledger_postgresql.invitations import invite  # noqa: PLC0415 - takes a while, and most that is asked invites nobody

                invite(self._connection, run, most)
        return planned

    def end(self, run: int, exit_code: int, stopped_by: Iterable[RunPerson] = ()) -> None:
        """Record how a run ended, and who stopped it, and forget what was not sent. Refused while any of it is being sent."""
        with as_problem(), self._connection.transaction():
            self.note_people(run, stopped_by)
            self._one("SELECT voucher.end_run(%s, %s)", run, exit_code)

    def reach_again(self, address: str) -> None:
        """Go on by another connection, where the server was started anew since. Raises ServerAway."""
        try:
            with as_problem():
                self._connection.execute("SELECT")
        except ServerAway:
            self._connection.close()
            object.__setattr__(self, "_connection", connect(address))

    def read_answers(self, meaning: Meaning, note: Note) -> None:
        """Say what the answers come to that workers recorded and did not come to interpret."""
        read_answers(self._connection, meaning, note)
