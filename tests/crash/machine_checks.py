"""The ledger's file beside the model: every row, what is held, apart and doubted, and the history."""

from operator import attrgetter
from pathlib import Path
from typing import Any

import apsw

from pipeline.ledger import held_charges, ticket_rows
from pipeline.model.message import from_text, to_text, verbatim
from pipeline.model.outcome import Answered
from tests.crash.machine_model import Model, Tried
from tests.crash.machine_pool import PLACES, REQUEST_ROWS, TICKETS, on_the_wire

TIMES = ("planned_at", "sending_at", "answered_at", "ended_at")
Rows = dict[str, list[tuple[Any, ...]]]


class Prescan:
    """A second, read-only connection: what the file says, for whoever looks."""

    def __init__(self, path: Path) -> None:
        connection = self.connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        self._tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        ]
        self._columns = {
            name: tuple(column[1] for column in connection.execute(f"PRAGMA table_info({name})"))
            for name in self._tables
        }

    def everything(self) -> Rows:
        """Every row of every table, whichever tables there are."""
        return {name: list(self.connection.execute(f"SELECT * FROM {name}")) for name in self._tables}

    def named(self, rows: Rows, table: str) -> list[dict[str, Any]]:
        columns = self._columns[table]
        return [dict(zip(columns, row, strict=True)) for row in rows[table]]


#: What is kept of a charge beside what is asked for: the machine's have no passenger, components or columns of their own.
NO_DETAILS = ("", "{}", "{}")


def check_rows(model: Model, rows: Rows, look: Prescan) -> dict[int, dict[str, Any]]:
    """Compare all attempts, charges, requests, runs and settlements; the attempts as found."""
    found = {row["attempt_id"]: row for row in look.named(rows, "attempt")}
    _same("attempts", set(found), set(model.attempts))
    for key, tried in model.attempts.items():
        _check_attempt(tried, found[key])
    charges = {
        (tried.attempt_id, *(c.identity.ticket_no, c.identity.charge, c.identity.product), on_the_wire(c),
         tried.request.voucher, c.amount, *PLACES[c.row], tried.request.content_of(c), *NO_DETAILS, int(tried.live))
        for tried in model.attempts.values()
        for c in tried.request.charges
    }  # fmt: skip
    _same("charges", sorted(rows["charge"]), sorted(charges))
    requests = {key: REQUEST_ROWS[key] for key in model.requests}
    _same("requests", {row[0]: row[1:] for row in rows["request"]}, requests)
    runs = {row["run"]: (row["ended_at"] is not None, row["exit_code"]) for row in look.named(rows, "run")}
    _same("runs", runs, model.runs)
    given = [
        (row["attempt_id"], row["state"], row["number"], row["withdrawn"])
        for row in look.named(rows, "settlement")
    ]
    settled = [
        (tried.attempt_id, *state_and_number, withdrawn)
        for tried in model.attempts.values()
        for withdrawn, all_of_it in enumerate(([tried.settled] if tried.settled else [], tried.withdrawn))
        for state_and_number in all_of_it
    ]
    _same("settlements", sorted(given), sorted(settled))
    shown = [
        (s.run, *(s.identity.ticket_no, s.identity.charge, s.identity.product), s.wire, s.voucher, s.number)
        for s in model.shown
    ]
    _same("shown by statements", [row[1:8] for row in rows["elsewhere"]], shown)
    marks = [(int(not s.withdrawn and not s.reversed), int(s.withdrawn)) for s in model.shown]
    _same("held by statements", [row[-2:] for row in rows["elsewhere"]], marks)
    reversals = [
        (row["number"], row["red_number"], bool(row["withdrawn"])) for row in look.named(rows, "reversal")
    ]
    _same("reversals", reversals, model.reversals)
    _same("epochs", {row["epoch"] for row in look.named(rows, "attempt")} - {1}, set())
    for table in ("judgement", "handled"):  # one of each run
        _same(table, [row["run"] for row in look.named(rows, table)], sorted(model.runs))
    return found


def _same(what: str, seen: object, expected: object) -> None:
    """No rewriting of asserts reaches this module, so the difference is told here."""
    assert seen == expected, f"{what}: the ledger has {seen}, the model {expected}"


def _check_attempt(tried: Tried, row: dict[str, Any]) -> None:
    expected = (
        tried.request.request_id, tried.attempt, tried.run, tried.state, tried.reason, tried.number,
        tried.trace_id, row["detail"] if tried.detail is None else tried.detail, int(tried.was_unknown),
        tried.answer,
    )  # fmt: skip
    answer = (
        None if row["answer"] is None else Answered(row["http_status"], row["answer"], row["retry_after"])
    )
    seen = (
        row["request_id"], row["attempt"], row["run"], row["state"], row["reason"], row["number"],
        row["trace_id"], row["detail"], row["was_unknown"], answer,
    )  # fmt: skip
    _same(f"attempt {tried.attempt_id}", seen, expected)
    there = tuple(row[name] is not None for name in TIMES)
    has_ended = tried.state not in ("planned", "sending")
    _same(
        f"times of attempt {tried.attempt_id}",
        there,
        (True, tried.state != "planned", answer is not None, has_ended),
    )
    times = [row[name] for name in TIMES if row[name] is not None]
    assert times == sorted(times), f"attempt {tried.attempt_id}: times run backwards: {times}"


def check_holdings(model: Model, look: Prescan, found: dict[int, dict[str, Any]]) -> None:
    """What the rules are told: held charges with all that is said of them, apart, doubted."""
    told = held_charges.holdings(look.connection, TICKETS)
    found_at = [
        row for (row,) in look.connection.execute("SELECT found_at FROM elsewhere ORDER BY elsewhere")
    ]
    held: dict[Any, tuple[Any, ...]] = {
        s.identity: (
            s.wire, s.voucher, "issued", s.number, 0, "", "Acme", "", "", 0, 0, at, "", to_text(verbatim("october.csv, row 2")), "", 0,
        )
        for s, at in zip(model.shown, found_at, strict=True)
        if not s.withdrawn and not s.reversed
    }  # fmt: skip
    for tried in filter(attrgetter("live"), model.attempts.values()):
        row, request, killed = found[tried.attempt_id], tried.request, tried.state == "sending"
        for charge in request.charges:
            held[charge.identity] = (
                on_the_wire(charge), request.voucher, "issued" if tried.state == "issued" else "unknown",
                tried.number, charge.amount, request.header.header_type, request.header.header_name,
                request.header.tax_no, request.request_id, tried.attempt, tried.run,
                row["ended_at"] or row["sending_at"], "run_killed" if killed else tried.reason,
                *PLACES[charge.row],
            )  # fmt: skip
    seen = {
        identity: (
            h.wire, h.voucher, h.state, h.number, h.amount, h.header_type, h.header_name, h.tax_no,
            h.request_id, h.attempt, h.run, h.at, h.reason, h.file, h.sheet, h.row,
        )
        for identity, h in told.held.items()
    }  # fmt: skip
    _same("held", seen, held)
    _same("apart", told.apart, model.apart())
    _same("doubted", told.doubts.identities, {charge.identity for charge in model.doubted()})
    wires = {(charge.identity.ticket_no, code) for charge in model.doubted() if (code := on_the_wire(charge))}
    _same("doubted on the wire", told.doubts.wires, wires)


def check_history(model: Model, look: Prescan, found: dict[int, dict[str, Any]], ticket: str) -> None:
    """Everything of a ticket, attempt by attempt."""
    expected = [
        (
            tried.attempt_id, charge.identity.charge, charge.identity.product, tried.state,
            tried.request.request_id, tried.attempt, tried.run, tried.request.voucher, charge.amount,
            tried.number, tried.trace_id, tried.reason, from_text(found[tried.attempt_id]["detail"]),
            tried.request.header.header_name, *PLACES[charge.row],
            int(bool(tried.settled or tried.withdrawn)), *(found[tried.attempt_id][name] for name in TIMES),
        )
        for tried in model.attempts.values()
        for charge in tried.request.charges
        if charge.identity.ticket_no == ticket
    ]  # fmt: skip
    names = (
        "charge", "product", "state", "request_id", "attempt", "run", "voucher", "amount", "number",
        "trace_id", "reason", "detail", "header_name", "file", "sheet", "row", "settled", *TIMES,
    )  # fmt: skip
    seen = [tuple(event[name] for name in names) for event in ticket_rows.attempts(look.connection, ticket)]
    _same(f"history of {ticket}", seen, [row[1:] for row in sorted(expected)])
