"""A ledger's file that is changed outside any run; each change is noted beside it when it is done."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.ledger import (
    attempts,
    carrier_move,
    gaps,
    handover,
    ledger_path,
    opening,
    reversals,
    runs,
    whole_ledger,
    withdrawals,
)
from pipeline.ledger.clock import utc_now
from pipeline.ledger.gaps import Gap
from pipeline.ledger.ledger_file import LedgerFile, as_problem
from pipeline.ledger.ledger_path import path_for
from pipeline.ledger.lock import Lock
from pipeline.ledger.opening import OpenOptions
from pipeline.ledger.operations import LedgerToChange
from pipeline.ledger.reversals import Reversed, SaidReversed
from pipeline.ledger.spill import set_aside, spill_path
from pipeline.ledger.withdrawals import Withdrawn
from pipeline.model.errors import InputProblem
from pipeline.model.job import Job
from pipeline.model.message import Message
from pipeline.model.profile import Owner


@dataclass(frozen=True)
class FileToChange(LedgerFile, LedgerToChange):
    """An open and locked ledger, in which no run is on."""

    lock: Lock

    def mark_gap(self, since: str, why: Message) -> Path | None:
        """Record that what was issued after `since` may be missing; where its spill file was put aside, if it had one."""
        with self._change():
            with self._connection:
                gaps.mark_gap(self._connection, since, why)
            return set_aside(self.path)

    def close_gaps(self, closed_by: str, evidence: Message) -> list[Gap]:
        """Record what shows that nothing is missing any more; the gaps that this closes."""
        with self._change(closes_gap=True):
            return gaps.close_gaps(self._connection, closed_by, evidence)

    def deny_gap(self, why: Message, said_by: str, evidence: Message) -> None:
        """Record a gap from what is known until, and in the same change that nothing is missing."""
        with self._change(), self._connection:
            gaps.mark_gap(self._connection, runs.known_until(self._connection) or utc_now(), why)
            gaps.close_gaps(self._connection, said_by, evidence)

    def withdraw(self, entry: str, *, withdrawn_by: str, why: str) -> Withdrawn:
        """Withdraw an entry as the history names it. Raises InputProblem, with nothing changed, where that can't be."""
        with self._change():
            return withdrawals.withdraw(self._connection, entry, withdrawn_by=withdrawn_by, why=why)

    def reverse(self, said: SaidReversed) -> Reversed:
        """Record that the carrier has reversed a voucher. Raises InputProblem where it can't have been."""
        with self._change():
            return reversals.reverse(self._connection, said)

    def name_after_move(self, to: Owner) -> Path:
        """Where it is to lie when it belongs to `to`: in its default place, if it lies in one; else where it is."""
        with as_problem(self.path):
            names = carrier_move.default_names(self._connection, self.owner)
        return ledger_path.default_path(to) if self.path in names else self.path

    def check_at_rest(self) -> None:
        """Raise InputProblem if it has files beside it that hold what its last run left."""
        with as_problem(self.path):
            carrier_move.check_at_rest(self.path, self._connection)

    def move(self, to: Owner, moved_by: str, why: str) -> None:
        """Let it belong to the carrier at its new address, and close it; nothing but that where it belongs to it already."""
        with self._change():
            if self.owner != to:
                carrier_move.move(self._connection, to, moved_by, why)
        self._connection.close()

    # Copied to where it goes on.

    @property
    def successor(self) -> str:
        """Where it was copied to, and goes on; "" where it goes on itself."""
        with as_problem(self.path):
            return handover.successor_of(self._connection)

    def check_copyable(self) -> None:
        """Raise InputProblem where something in it, or beside it, is not settled by itself: a run, outcomes that wait, or a gap."""
        with as_problem(self.path):
            if (
                spill_path(self.path).exists()
                or attempts.unfinished(self._connection)
                or (runs.begun_and_not_ended(self._connection) is not None)
            ):
                raise InputProblem(
                    "{path}: its last run did not end; before the ledger is copied, let a run put it in order (voucher issue with any"
                    " workbook, or voucher reconcile)",
                    path=self.name,
                )
        if gap := self.lacking():
            raise InputProblem(
                "{path}: {lacking}; before it is copied, that is settled: voucher ledger close-gap",
                path=self.name,
                lacking=gap,
            )

    def rows(self, table: str, columns: Sequence[str], key: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """All rows of a table, in the order of its key, but for what says that the ledger was copied."""
        with as_problem(self.path):
            yield from whole_ledger.rows(self._connection, table, columns, key)

    def hand_over(self, to: str) -> None:
        """Close it for good: what it holds goes on at `to`."""
        self.mark_gap(utc_now(), handover.copied_to(to))

    @contextlib.contextmanager
    def _change(self, *, closes_gap: bool = False) -> Iterator[None]:
        with as_problem(self.path):
            runs.begin_change(self._connection, self.lock, closes_gap=closes_gap)
            yield
            runs.end_change(self._connection, self.lock)


@contextlib.contextmanager
def file_to_change(job: Job, options: OpenOptions) -> Iterator[FileToChange]:
    """The ledger's file, whosever it is, locked for a change; a missing one is an error."""
    connection, lock = opening.open_for_run(path_for(job), None, options, may_create=False)
    with contextlib.closing(lock), contextlib.closing(connection), as_problem(path_for(job)):
        yield FileToChange(path_for(job).resolve(), connection, lock)
