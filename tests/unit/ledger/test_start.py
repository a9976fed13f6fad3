"""What a start looks at takes no longer in an old ledger: no statement of it reads a whole table."""

import re
from pathlib import Path
from typing import Any

import apsw
import pytest

from pipeline.ledger import (
    clock,
    epochs,
    files_match,
    gaps,
    held_charges,
    inbox_files,
    issued_elsewhere,
    judgements,
    last_run_witness,
    older_copy,
    opening,
    reversals,
    runs,
    settlements,
)
from pipeline.ledger.recovery import recover
from pipeline.ledger.settlements import Settlement

from .conftest import OWNER, write_used_ledger

#: Tables that grow with the years.
_GROWING = (
    "attempt",
    "charge",
    "request",
    "run",
    "settlement",
    "elsewhere",
    "judgement",
    "handled",
    "reversal",
)
#: Indexes of what is open alone, which does not grow.
_OF_OPEN = ("attempt_open", "run_open", "gap_open")


def plans_of(connection: apsw.Connection, work: Any) -> dict[str, list[str]]:
    """Every statement that `work` runs, with SQLite's plan for it."""
    seen: dict[str, int] = {}

    def note(_cursor: apsw.Cursor, sql: str, bindings: Any) -> bool:
        seen.setdefault(sql, len(bindings or ()))
        return True

    connection.exec_trace = note
    work()
    connection.exec_trace = None
    found = {}
    for sql, count in seen.items():
        if sql.lstrip().split()[0].upper() in ("SELECT", "UPDATE", "DELETE", "INSERT"):
            plan = connection.execute(f"EXPLAIN QUERY PLAN {sql}", [None] * count)
            found[sql] = [str(row[3]) for row in plan]
    return found


def test_no_statement_at_the_start_of_a_run_reads_a_whole_table(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    write_used_ledger(path)
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)

    def start() -> None:
        runs.begun_and_not_ended(connection)
        older_copy.doubt(path, connection, last_run_witness.places())
        recover(connection, path, lock, lambda *_: None)  # type: ignore[arg-type, return-value]
        gaps.open_gap(connection)
        held_charges.holdings(connection, ["9990000000001"])
        held_charges.refusals(connection, ["9990000000001"])
        settlements.unsettled(connection)
        settlements.known(connection, "R1", 1)
        settlements.number_taken(connection, "1")
        clock.behind(connection)
        epochs.of_ledger(connection)
        settlements.withdrawn_before(connection, 1, Settlement("issued", "1", "li", "seen", "seen"))
        reversals.standing(connection, ["1"])
        issued_elsewhere.lines_of(connection, ["9990000000001", "1"])
        issued_elsewhere.other_ticket(connection, "1", 1)
        reversals.check_red(connection, "1", "2")
        reversals.red(connection, "1")
        inbox_files.last(connection, "0", "tickets")
        judgements.note(connection, 1, [])
        runs.end(connection, lock, runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20")), 0)

    found = plans_of(connection, start)
    connection.close()
    lock.close()
    assert len(found) >= 20
    whole = {
        sql: line
        for sql, plan in found.items()
        for line in plan
        # By an index too: it is as long as its table.
        # Those that refer to a new run are looked for only while a foreign key is open (sqlite.org/foreignkeys.html, 4.2).
        if not sql.startswith("INSERT INTO run ")
        and line.split()[:2] in [["SCAN", table] for table in _GROWING]
        and line.split()[-1] not in _OF_OPEN
    }
    assert whole == {}


def test_what_is_looked_at_before_opening_are_two_small_tables(
    book: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def note(_cursor: apsw.Cursor, sql: str, _bindings: Any) -> bool:
        seen.append(" ".join(re.findall(r"\w+", sql)))
        return True

    class Traced(apsw.Connection):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            self.exec_trace = note

    monkeypatch.setattr(apsw, "Connection", Traced)
    files_match.check_memory(book.path, None)
    assert [sql for sql in seen if "_check" in sql] == ["pragma quick_check ledger", "pragma quick_check run"]
