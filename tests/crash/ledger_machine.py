"""The ledger against a plain model of the promise: random lives of a real ledger file.

Hypothesis makes up the life of one ledger file: runs that plan, claim, answer, end and try again through
the real writer, ledgers that fail under it, processes that are killed and started again, settlements by
hand, and a stranger's connection that tries whatever SQL can be tried. The model below is written from
the design's promise and from interface.md, in plain Python, and shares no code with the ledger. After every step a
second, read-only connection must show exactly what the model says: every row, what is held, what goes
apart, what is doubted, and the history.

Long form, resumable by its range of seeds, 500 examples of 50 steps each:

    python -m tests.crash.ledger_machine --seeds 1..20

A violation is printed with its seed and the shortest life that Hypothesis found to lead there; the same
seed finds it again.

Planted bugs that it was seen to catch, one at a time:

- the database lets `sending` go back to `planned`; holds a charge in two live attempts; forgets equal wire
  codes, the one kind of voucher, the one number, the doubt; or lacks any one of most of its triggers;
- recovery passes over `sending`, calls it not sent, takes the spill file in too late or not at all, forgets
  that a request was never sent, takes in another ledger's outcomes, removes the spill file before its COMMIT
  or not at all, forgets a doubt when it reads an answer;
- the writer acknowledges what a failing ledger did not take, or spills no raw answers; a number that is taken is
  not noticed before it is written;
- what is held leaves out the unknown; charges of a rejected invoice of two are not kept apart; trying again
  takes other charges, or another run; dropping what was planned drops `not_sent` too, or nothing;
- the -wal of a run that was killed is not kept, not missed, or taken for another ledger's; a run's beginning stays in
  the -wal.
"""

import argparse
import asyncio
import atexit
import contextlib
import itertools
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from pipeline.carrier.replies import Answered, Outcome
from pipeline.errors import InputProblem, LedgerProblem
from pipeline.ledger import opening, records, soundness
from pipeline.ledger.clock import utc_now
from pipeline.ledger.lock import RunId
from pipeline.ledger.recovery import recover
from pipeline.ledger.spill import Spill, spill_path
from pipeline.ledger.writer import Again, Change, Ended, GotAnswer, Sending, Writer
from pipeline.request import Charge, Header, Identity, Request

OWNER = opening.Owner("http://127.0.0.1:8080", "DEMO")
STATES = ("planned", "sending", "issued", "rejected", "not_sent", "unknown")
LIVE = ("sending", "issued", "unknown")
NUMBERS = tuple(f"2600{number}" for number in range(1, 13))  # few, so that one comes twice

#: What was done, over all examples of a process; the long form prints it.
DONE: Counter[str] = Counter()


# What is asked for: few tickets, so that requests clash.

TICKETS = tuple(f"999000000000{number}" for number in range(1, 7))
_KINDS = (
    ("ticket_fare", "flight", ("FARE", "Flight")),
    ("refund", "flight", ("REFUND_FEE", "Flight")),
    ("ancillary", "baggage", ("EXTRA", "Baggage")),
    ("ancillary", "seat", ("EXTRA", "Seat")),
    ("ancillary", "seat", ("EXTRA", "SeatSelection")),  # the carrier has renamed its code
    ("ancillary", "meal", ("EXTRA", "Other")),
    ("ancillary", "lounge", ("EXTRA", "Other")),  # on the wire the same as a meal
    ("ancillary", "upgrade", None),  # no code of its own: only the identity holds it
)
_HEADERS = (
    Header("business", "Example Trading Co.", "91110000600037341L", "", "finance@example.com"),
    Header("individual", "ZHANG WEI", "", "+86 10 8520 0000", "", "gate 7"),
)
_HOUSE = (1, 1, 1, 1, 2, 3)  # charges of an invoice


def _pool() -> tuple[Request, ...]:
    """Requests that differ in every way that the ledger tells apart; the same ones in each process."""
    chance = random.Random(20261120)
    pool = [
        Request(
            "itinerary",
            "domestic",
            header,
            (Charge(Identity(ticket, "ticket_fare", "flight"), "", 100_00, 0, None),),
        )
        for ticket in TICKETS
        for header in _HEADERS
    ]
    row = itertools.count(1)
    while len(pool) < 160:
        charges = {}
        for _ in range(chance.choice(_HOUSE)):
            kind, product, wire = chance.choice(_KINDS)
            identity = Identity(chance.choice(TICKETS), kind, product)
            charges[identity] = Charge(identity, "", chance.choice((100_00, 55_50)), next(row), wire)
        market = chance.choice(("domestic", "domestic", "international"))
        pool.append(Request("invoice", market, chance.choice(_HEADERS), tuple(charges.values())))
    return tuple(pool)


POOL = _pool()
PLACES = {
    charge.row: ("tickets.xlsx", "Tickets", charge.row + 2) for request in POOL for charge in request.charges
}

#: Each request as the ledger's row holds it, without its ID.
REQUEST_ROWS = {
    r.request_id: (
        r.voucher, r.market, r.amount, r.header.header_type, r.header.header_name, r.header.tax_no, r.header.phone,
        r.header.email, r.header.remarks,
    )
    for r in POOL
}  # fmt: skip


# The model.


@dataclass
class Tried:
    """An attempt, as the model has it. `detail` None: the ledger's own words, not compared."""

    attempt_id: int
    request: Request
    attempt: int
    run: int
    state: str = "planned"
    reason: str = ""
    number: str = ""
    trace_id: str = ""
    detail: str | None = ""
    was_unknown: bool = False
    answer: Answered | None = None
    settled: tuple[str, str] | None = None  # state, number

    def enter(self, outcome: Outcome, *, any_detail: bool = False) -> None:
        """Take on an outcome; a doubt is remembered whatever comes after it."""
        self.state, self.reason, self.number = outcome.state, outcome.reason, outcome.number
        self.trace_id, self.detail = outcome.trace_id, None if any_detail else outcome.detail
        self.was_unknown = self.was_unknown or outcome.state == "unknown"


def on_the_wire(charge: Charge) -> str:
    return "/".join(charge.wire) if charge.wire else ""


def same_charge(one: Charge, other: Charge) -> bool:
    """Charges are one by their content, or where the carrier could not tell them apart."""
    if one.identity == other.identity:
        return True
    return bool(one.wire) and one.identity.ticket_no == other.identity.ticket_no and one.wire == other.wire


def is_of_the_flight(charge: Charge) -> bool:
    return charge.identity.charge in ("ticket_fare", "refund")


@dataclass
class Model:
    """The promise in plain Python: which states there are, who may be sent, what is remembered."""

    attempts: dict[int, Tried] = field(default_factory=dict)
    runs: dict[int, tuple[bool, int | None]] = field(default_factory=dict)  # ended, exit code
    requests: dict[str, Request] = field(default_factory=dict)

    def of(self, *states: str) -> list[Tried]:
        return [tried for tried in self.attempts.values() if tried.state in states]

    def plan(self, attempt_id: int, request: Request, run: int) -> Tried:
        assert attempt_id not in self.attempts, "an attempt's ID is given twice"
        self.requests.setdefault(request.request_id, request)
        same = [
            tried.attempt
            for tried in self.attempts.values()
            if tried.request.request_id == request.request_id
        ]
        tried = Tried(attempt_id, request, 1 + max(same, default=0), run)
        self.attempts[attempt_id] = tried
        return tried

    def may_be_sent(self, tried: Tried) -> bool:
        """Planned, by a run that is on, and none of its charges in a live attempt, this one included."""
        mine = tried.request.charges
        theirs = [
            (other.request.voucher, charge) for other in self.of(*LIVE) for charge in other.request.charges
        ]
        return (
            tried.state == "planned"
            and not self.runs[tried.run][0]
            and not any(same_charge(one, other) for one, other in itertools.combinations(mine, 2))
            and not any(same_charge(charge, other) for charge in mine for _, other in theirs)
            and not any(
                voucher != tried.request.voucher and charge.identity.ticket_no == other.identity.ticket_no
                for charge in mine
                for voucher, other in theirs
                if is_of_the_flight(charge) and is_of_the_flight(other)
            )
        )

    def is_taken(self, number: str) -> bool:
        return any(other.number == number for other in self.of("issued"))

    def ends(self, tried: Tried, outcome: Outcome, *, any_detail: bool = False) -> Tried:
        """An outcome of an attempt that is being sent; a number that is another's makes it unknown."""
        assert tried.state == "sending"
        if outcome.state == "issued" and self.is_taken(outcome.number):
            outcome = Outcome("unknown", "answer_unexplained", trace_id=outcome.trace_id)
            any_detail = True
        tried.enter(outcome, any_detail=any_detail)
        return tried

    def settle(self, tried: Tried, state: str, number: str) -> None:
        tried.state, tried.number, tried.settled = state, number, (state, number)

    def drop_planned(self) -> None:
        self.attempts = {key: tried for key, tried in self.attempts.items() if tried.state != "planned"}

    def end_runs(self) -> None:
        self.runs = {run: (True, code) for run, (_, code) in self.runs.items()}

    def doubted(self) -> list[Charge]:
        """Charges that ever had an unknown attempt."""
        return [
            charge
            for tried in self.attempts.values()
            if tried.was_unknown
            for charge in tried.request.charges
        ]

    def is_doubted(self, request: Request) -> bool:
        """Whether a no to this request may be the carrier's way to say that it did this already."""
        return any(
            same_charge(charge, other) for charge, other in itertools.product(request.charges, self.doubted())
        )

    def apart(self) -> set[Identity]:
        several = [tried for tried in self.of("rejected") if len(tried.request.charges) > 1]
        return {charge.identity for tried in several for charge in tried.request.charges}

    def recover(self, spilled: Sequence["Spilled"]) -> dict[int, bool]:
        """A start: the spill file, then what was being sent, then what was planned, then the runs.

        Of each attempt whose answer is read: whether a charge of it was ever in doubt.
        """
        doubts = {}
        for entry in spilled:
            tried = self.attempts.get(entry.attempt_id)
            if tried is None or tried.state != "sending":
                continue
            if isinstance(entry.what, Answered):
                tried.answer = entry.what
            elif entry.what is None:
                self.ends(tried, Outcome("not_sent", "run_stopped"), any_detail=True)
            else:
                self.ends(tried, entry.what)
        for tried in sorted(self.of("sending"), key=lambda tried: tried.attempt_id):
            if tried.answer is None:
                self.ends(tried, Outcome("unknown", "run_killed"), any_detail=True)
            else:
                before = self.is_doubted(tried.request)
                doubts[tried.attempt_id] = before
                self.ends(tried, read(tried.answer, doubted=before))
        self.drop_planned()
        self.end_runs()
        return doubts


@dataclass(frozen=True)
class Spilled:
    """A line of the spill file: a raw answer, an outcome, or (None) that it was never sent."""

    attempt_id: int
    what: Answered | Outcome | None


def answer_of(outcome: Outcome) -> Answered:
    """A raw answer that says so, in a language of these tests' own."""
    text = json.dumps([outcome.state, outcome.reason, outcome.number, outcome.trace_id, outcome.detail])
    return Answered(
        200 if outcome.state in ("issued", "rejected") else 503, text.encode(), "7" if outcome.detail else ""
    )


def read(answer: Answered, *, doubted: bool) -> Outcome:
    """What such an answer means; a no is no proof where it may mean "issued already"."""
    state, reason, number, trace_id, detail = json.loads(answer.body)
    if state == "rejected" and doubted:
        return Outcome("unknown", "answer_unexplained", trace_id=trace_id, detail="refused, but doubted")
    return Outcome(state, reason, number, trace_id, detail)


# The file beside the model.

_TIMES = ("planned_at", "sending_at", "answered_at", "ended_at")
Rows = dict[str, list[tuple[Any, ...]]]


class Look:
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


def check_rows(model: Model, rows: Rows, look: Look) -> dict[int, dict[str, Any]]:
    """Compare all attempts, charges, requests, runs and settlements; the attempts as found."""
    found = {row["attempt_id"]: row for row in look.named(rows, "attempt")}
    assert found.keys() == model.attempts.keys()
    for key, tried in model.attempts.items():
        _check_attempt(tried, found[key])
    charges = {
        (tried.attempt_id, *(c.identity.ticket_no, c.identity.charge, c.identity.product), on_the_wire(c),
         tried.request.voucher, c.amount, *PLACES[c.row], int(tried.state in LIVE))
        for tried in model.attempts.values()
        for c in tried.request.charges
    }  # fmt: skip
    assert set(rows["charge"]) == charges
    assert len(rows["charge"]) == len(charges)
    assert {row[0]: row[1:] for row in rows["request"]} == {key: REQUEST_ROWS[key] for key in model.requests}
    assert {
        row["run"]: (row["ended_at"] is not None, row["exit_code"]) for row in look.named(rows, "run")
    } == model.runs
    assert {row["attempt_id"]: (row["state"], row["number"]) for row in look.named(rows, "settlement")} == {
        tried.attempt_id: tried.settled for tried in model.attempts.values() if tried.settled
    }
    return found


def _check_attempt(tried: Tried, row: dict[str, Any]) -> None:
    expected = (
        tried.request.request_id, tried.attempt, tried.run, tried.state, tried.reason, tried.number, tried.trace_id,
        row["detail"] if tried.detail is None else tried.detail, int(tried.was_unknown), tried.answer,
    )  # fmt: skip
    answer = (
        None if row["answer"] is None else Answered(row["http_status"], row["answer"], row["retry_after"])
    )
    seen = (
        row["request_id"], row["attempt"], row["run"], row["state"], row["reason"], row["number"], row["trace_id"],
        row["detail"], row["was_unknown"], answer,
    )  # fmt: skip
    assert seen == expected, f"attempt {tried.attempt_id}: the ledger has {seen}, the model {expected}"
    there = tuple(row[name] is not None for name in _TIMES)
    assert there == (
        True,
        tried.state != "planned",
        answer is not None,
        tried.state not in ("planned", "sending"),
    )
    times = [row[name] for name in _TIMES if row[name] is not None]
    assert times == sorted(times), f"attempt {tried.attempt_id}: times run backwards: {times}"


def check_holdings(model: Model, look: Look, found: dict[int, dict[str, Any]]) -> None:
    """What the rules are told: held charges with all that is said of them, apart, doubted."""
    told = records.holdings(look.connection, TICKETS)
    held = {}
    for tried in model.of(*LIVE):
        row, request, killed = found[tried.attempt_id], tried.request, tried.state == "sending"
        for charge in request.charges:
            held[charge.identity] = (
                on_the_wire(charge), request.voucher, "issued" if tried.state == "issued" else "unknown", tried.number,
                charge.amount, request.header.header_type, request.header.header_name, request.header.tax_no,
                request.request_id, tried.attempt, tried.run, row["ended_at"] or row["sending_at"],
                "run_killed" if killed else tried.reason, *PLACES[charge.row],
            )  # fmt: skip
    seen = {
        identity: (
            h.wire, h.voucher, h.state, h.number, h.amount, h.header_type, h.header_name, h.tax_no, h.request_id,
            h.attempt, h.run, h.at, h.reason, h.file, h.sheet, h.row,
        )
        for identity, h in told.held.items()
    }  # fmt: skip
    assert seen == held
    assert told.apart == model.apart()
    assert told.doubts.identities == {charge.identity for charge in model.doubted()}
    assert told.doubts.wires == {
        (charge.identity.ticket_no, code) for charge in model.doubted() if (code := on_the_wire(charge))
    }


def check_history(model: Model, look: Look, found: dict[int, dict[str, Any]], ticket: str) -> None:
    """Everything of a ticket, attempt by attempt."""
    expected = [
        (
            tried.attempt_id, charge.identity.charge, charge.identity.product, tried.state, tried.request.request_id, tried.attempt,
            tried.run, tried.request.voucher, charge.amount, tried.number, tried.trace_id, tried.reason,
            found[tried.attempt_id]["detail"], tried.request.header.header_name, *PLACES[charge.row],
            tried.settled[0] if tried.settled else None, *(found[tried.attempt_id][name] for name in _TIMES),
        )
        for tried in model.attempts.values()
        for charge in tried.request.charges
        if charge.identity.ticket_no == ticket
    ]  # fmt: skip
    names = (
        "charge", "product", "state", "request_id", "attempt", "run", "voucher", "amount", "number", "trace_id", "reason",
        "detail", "header_name", "file", "sheet", "row", "settled_as", *_TIMES,
    )  # fmt: skip
    seen = [tuple(event[name] for name in names) for event in records.history(look.connection, ticket)]
    assert seen == [row[1:] for row in sorted(expected)]


# What a stranger may try.


@dataclass(frozen=True)
class Target:
    """What an illegal change is aimed at; `dice` makes its own small choices."""

    model: Model
    tried: Tried
    dice: int
    either: str  # OR REPLACE, OR IGNORE, ...

    def pick(self, *choices: Any) -> Any:
        return choices[self.dice % len(choices)]

    @property
    def at(self) -> str:
        return f"WHERE attempt_id = {self.tried.attempt_id}"

    @property
    def charge(self) -> Charge:
        return self.tried.request.charges[self.dice % len(self.tried.request.charges)]

    @property
    def this_charge(self) -> str:
        i = self.charge.identity
        return (
            f"{self.at} AND ticket_no = '{i.ticket_no}' AND charge = '{i.charge}' AND product = '{i.product}'"
        )


Illegal = Callable[[Target], list[str] | None]
_ATTEMPT = "attempt (attempt_id, request_id, attempt, run, state, planned_at)"
_CHARGE = "charge (attempt_id, ticket_no, charge, product, wire, voucher, amount, file, sheet, row, live)"
_SENT = "state = 'sending', sending_at = '2026-11-20T00:00:00.000+00:00'"


def _identity_of_an_attempt(t: Target) -> list[str]:
    name = t.pick("attempt_id", "rowid", "_rowid_", "oid", "attempt", "run")
    return [f"UPDATE {t.either} attempt SET {name} = {t.pick(1, 2, 3, 5, 7, 11, 99)} + {name} {t.at}"]


def _request_of_an_attempt(t: Target) -> list[str]:
    other = t.pick(
        "'nobody'", "(SELECT max(request_id) FROM request)", "(SELECT min(request_id) FROM request)"
    )
    return [f"UPDATE {t.either} attempt SET request_id = {other} || '', attempt = attempt + 50 {t.at}"]


def _column_of_an_outcome(t: Target) -> list[str]:
    """Without a change of state, so never legal."""
    change = t.pick(
        "number = number || '9'", "reason = reason || 'x'", "detail = detail || 'x'", "trace_id = trace_id || 'x'",
        "was_unknown = 1 - was_unknown", "sending_at = coalesce(sending_at, '') || 'x'", "ended_at = coalesce(ended_at, '') || 'x'",
        "planned_at = planned_at || 'x'", "sending_at = NULL, planned_at = 'x'", "number = '26001', detail = detail || 'x'",
        "state = state",
    )  # fmt: skip
    return [f"UPDATE {t.either} attempt SET {change} {t.at}"]


def _raw_answer(t: Target) -> list[str] | None:
    if t.tried.state == "sending" and t.tried.answer is None:
        return None
    column = t.pick("answer = x'00'", "http_status = 418", "retry_after = 'x'", "answered_at = 'x'")
    if t.tried.state == "sending" and column.startswith("answered_at"):
        return None  # the same answer may be taken in again from the spill file, later
    if t.tried.answer is not None and t.pick(0, 1, 0):
        column = "answer = NULL, http_status = NULL, retry_after = NULL, answered_at = NULL"
    return [f"UPDATE {t.either} attempt SET {column} {t.at}"]


def _settled_with_less(t: Target) -> list[str] | None:
    """Out of the unknown with its doubt, answer or time of sending changed on the way."""
    if t.tried.state != "unknown":
        return None
    extra = t.pick("was_unknown = 0", "answer = x'01', http_status = 200", "sending_at = 'x'", "number = '9'")
    evidence = (
        f"INSERT INTO settlement VALUES ({t.tried.attempt_id}, 'not_sent', '', 'somebody', 'why', 'now')"
    )
    return [evidence, f"UPDATE {t.either} attempt SET state = 'not_sent', ended_at = 'x', {extra} {t.at}"]


def _delete(t: Target) -> list[str] | None:
    if (what := t.pick("attempt", "settlement", "others", "others")) == "attempt":
        return None if t.tried.state == "planned" else [f"DELETE FROM attempt {t.at}"]
    if what == "settlement":
        return [f"DELETE FROM settlement {t.at}"] if t.tried.settled else None
    others = (
        f"DELETE FROM charge {t.at}",
        f"DELETE FROM charge {t.this_charge}",
        f"DELETE FROM request WHERE request_id = '{t.tried.request.request_id}'",
        f"DELETE FROM run WHERE run = {t.tried.run}",
        "DELETE FROM ledger",
    )
    return [t.pick(*others)]


def _attempt_over_another(t: Target) -> list[str]:
    key = t.pick(t.tried.attempt_id, "NULL")
    number = t.tried.attempt if key == "NULL" else t.tried.attempt + t.pick(0, 70, 0)
    values = f"VALUES ({key}, '{t.tried.request.request_id}', {number}, {t.tried.run}, 'planned', 'x')"
    upsert = t.pick(
        "",
        " ON CONFLICT DO UPDATE SET number = '9'",
        " ON CONFLICT (attempt_id) DO UPDATE SET state = 'planned'",
        "",
    )
    return [f"INSERT {'' if upsert else t.either} INTO {_ATTEMPT} {values}{upsert}"]


_BLANK = {
    "answer": "x'00'", "http_status": "200", "was_unknown": "1", "number": "'9'", "detail": "'x'", "reason": "'x'",
    "trace_id": "'x'", "sending_at": "'x'", "ended_at": "'x'", "answered_at": "'x'", "retry_after": "'x'",
}  # fmt: skip


def _attempt_begun_wrong(t: Target) -> list[str]:
    """At no request, in no run or one that has ended, not blank, or not planned."""
    ended = [key for key, (is_over, _) in t.model.runs.items() if is_over]
    row = {
        "request_id": f"'{t.tried.request.request_id}'", "attempt": str(900 + t.dice % 50), "run": str(max(t.model.runs)),
        "state": "'planned'", "planned_at": "'x'",
    }  # fmt: skip
    match t.pick("request", "run", "ended run", "blank", "state", "blank"):
        case "request":
            row["request_id"] = "'nobody'"
        case "run":
            row["run"] = "4711"
        case "ended run":
            row["run"] = str(ended[t.dice % len(ended)]) if ended else "4711"
        case "blank":
            name = t.pick(*_BLANK)
            row[name] = _BLANK[name]
        case _:
            row["state"] = f"'{t.pick(*STATES[1:])}'"
            row |= t.pick({}, {"sending_at": "'x'"}, {"sending_at": "'x'", "number": "'9'"}, {})
    return [f"INSERT {t.either} INTO attempt ({', '.join(row)}) VALUES ({', '.join(row.values())})"]


def _charge_added(t: Target) -> list[str] | None:
    """To an attempt that is under way or ended, to none, live, of another kind of voucher, or one that is there."""
    i, voucher = t.charge.identity, t.tried.request.voucher
    attempt_id, product, live, either, upsert = t.tried.attempt_id, "new", 0, t.either, ""
    match t.pick("live", "voucher", "over", "over", "upsert", "none", "late"):
        case "live":
            live = 1
        case "voucher":
            voucher = "itinerary" if voucher == "invoice" else "invoice"
        case "over":
            product, either = i.product, t.either or "OR REPLACE"
        case "upsert":
            product, either = i.product, ""
            upsert = f" ON CONFLICT DO UPDATE SET {t.pick('amount = amount + 1', 'live = 1 - live')}"
        case "none":
            attempt_id = 99999
        case _:
            if t.tried.state == "planned":
                return None
    values = (
        f"{attempt_id}, '{i.ticket_no}', '{i.charge}', '{product}', '', '{voucher}', {t.charge.amount + 1}"
    )
    return [f"INSERT {either} INTO {_CHARGE} VALUES ({values}, '', '', 1, {live}){upsert}"]


def _charge_changed(t: Target) -> list[str]:
    change = t.pick(
        "live = 1 - live", "amount = amount + 1", "ticket_no = ticket_no || '0'", "charge = 'refund', product = product || 'x'",
        "wire = wire || 'x'", "wire = '', amount = amount + 1", "voucher = voucher || 'x'", "row = row + 1", "file = file || 'x'",
        "sheet = sheet || 'x'", "attempt_id = attempt_id + 1",
    )  # fmt: skip
    return [f"UPDATE {t.either} charge SET {change} {t.pick(t.at, t.this_charge)}"]


def _sent_in_part(t: Target) -> list[str] | None:
    """A planned attempt goes out with a charge less, or one more, than its request asked for."""
    if t.tried.state != "planned":
        return None
    i = t.charge.identity
    fewer = f"DELETE FROM charge {t.this_charge}"
    more = (
        f"INSERT INTO {_CHARGE} VALUES ({t.tried.attempt_id}, '{i.ticket_no}', 'ancillary', 'new', '',"
        f" '{t.tried.request.voucher}', 100, '', '', 1, 0)"
    )
    return [t.pick(fewer, more), f"UPDATE {t.either} attempt SET {_SENT} {t.at}"]


def _request_changed(t: Target) -> list[str]:
    change = t.pick(
        "amount = amount + 1", "header_name = header_name || 'x'", "tax_no = tax_no || 'x'", "voucher = iif(voucher = 'invoice', 'itinerary', 'invoice')",
        "market = market || 'x'", "email = email || 'x'", "remarks = remarks || 'x'", "request_id = request_id || 'x'",
        "phone = phone || 'x'", "header_type = header_type || 'x'", "request_id = (SELECT min(request_id) FROM request)",
    )  # fmt: skip
    return [f"UPDATE {t.either} request SET {change} WHERE request_id = '{t.tried.request.request_id}'"]


def _request_over_another(t: Target) -> list[str]:
    values = f"'{t.tried.request.request_id}', 'invoice', 'domestic', 1, 'business', 'Somebody Else', '', '', '', ''"
    upsert = t.pick("", " ON CONFLICT DO UPDATE SET amount = amount + 1", "")
    return [f"INSERT {'' if upsert else t.either} INTO request VALUES ({values}){upsert}"]


def _run_changed(t: Target) -> list[str] | None:
    run, (ended, _) = t.tried.run, t.model.runs[t.tried.run]
    change = t.pick(
        "ended_at = NULL", "exit_code = coalesce(exit_code, 0) + 1", "run = run + 100", "started_at = 'x'", "as_of = 'x'",
        "files = '[1]'", "command = 'x'", "version = 'x'", "rowid = 4711",
    )  # fmt: skip
    if change.startswith("ended_at") and not ended:
        change = "run = run + 100"
    over = f"INSERT {t.either} INTO run VALUES ({run}, 'x', 'x', 'x', 'x', 'x', {t.pick('NULL', chr(39) + 'x' + chr(39))}, NULL)"
    begun_ended = "INSERT INTO run VALUES (4711, 'x', 'x', 'x', 'x', 'x', 'x', 0)"
    return [t.pick(f"UPDATE {t.either} run SET {change} WHERE run = {run}", over, begun_ended)]


def _evidence(t: Target) -> list[str] | None:
    """Evidence for what is not in doubt, a second time, of nobody, changed, or that no attempt can follow."""
    key, unknown = t.tried.attempt_id, t.tried.state == "unknown"
    taken = next((other.number for other in t.model.of("issued")), "")
    good = f"INSERT {t.either} INTO settlement VALUES ({key}, 'not_sent', '', 'somebody', 'why', 'now')"
    bad = [
        f"INSERT {t.either} INTO settlement VALUES ({key}, 'not_sent', '', '', 'why', 'now')",
        f"INSERT {t.either} INTO settlement VALUES ({key}, 'not_sent', '', 'somebody', '', 'now')",
        f"INSERT {t.either} INTO settlement VALUES ({key}, 'issued', '', 'somebody', 'why', 'now')",
        f"INSERT {t.either} INTO settlement VALUES ({key}, 'not_sent', '9', 'somebody', 'why', 'now')",
        f"INSERT {t.either} INTO settlement VALUES ({key}, '{t.pick('unknown', 'planned', 'rejected', 'sending')}', '', 'somebody', 'why', 'now')",
    ]
    if taken:
        bad.append(
            f"INSERT {t.either} INTO settlement VALUES ({key}, 'issued', '{taken}', 'somebody', 'why', 'now')"
        )
    if t.tried.settled:
        return [
            t.pick(
                f"UPDATE {t.either} settlement SET evidence = 'other' {t.at}",
                f"UPDATE {t.either} settlement SET settled_by = 'x', state = 'issued', number = '9' {t.at}",
                good,
                f"UPDATE {t.either} settlement SET rowid = 4711 {t.at}",
            )
        ]
    return [t.pick(*bad)] if unknown else [t.pick(good, *bad)]


def _evidence_twice(t: Target) -> list[str] | None:
    """The second evidence is refused before the attempt follows the first."""
    if t.tried.state != "unknown":
        return None
    first = f"INSERT INTO settlement VALUES ({t.tried.attempt_id}, 'not_sent', '', 'somebody', 'why', 'now')"
    second = f"INSERT {t.either or 'OR REPLACE'} INTO settlement VALUES ({t.tried.attempt_id}, 'issued', '77', 'another', 'why', 'now')"
    upsert = f"INSERT INTO settlement VALUES ({t.tried.attempt_id}, 'issued', '77', 'x', 'y', 'z') ON CONFLICT DO UPDATE SET state = 'issued', number = '77'"
    return [first, t.pick(second, upsert)]


def _evidence_not_followed(t: Target) -> list[str] | None:
    """The attempt goes another way than its evidence says."""
    if t.tried.state != "unknown":
        return None
    evidence = t.pick(
        f"INSERT INTO settlement VALUES ({t.tried.attempt_id}, 'not_sent', '', 'somebody', 'why', 'now')",
        f"INSERT INTO settlement VALUES ({t.tried.attempt_id}, 'issued', '77', 'somebody', 'why', 'now')",
    )
    wrong = t.pick(
        "'rejected', number = ''",
        "'issued', number = '78'",
        "'planned', number = ''",
        "'sending', number = ''",
        "'rejected', number = '77'",
    )
    return [evidence, f"UPDATE {t.either} attempt SET state = {wrong}, ended_at = 'x' {t.at}"]


def _ledger_row(t: Target) -> list[str]:
    return [
        t.pick(
            f"UPDATE {t.either} ledger SET base_url = 'http://127.0.0.1:9'",
            f"UPDATE {t.either} ledger SET agency = 'OTHER'",
            f"UPDATE {t.either} ledger SET ledger_id = 'other'",
            f"UPDATE {t.either} ledger SET created_at = 'x'",
            f"UPDATE {t.either} ledger SET only_row = 2",
            f"INSERT {t.either} INTO ledger VALUES (1, 'other', 'http://127.0.0.1:9', 'DEMO', 'x')",
            f"INSERT {t.either} INTO ledger VALUES (2, 'other', 'http://127.0.0.1:9', 'DEMO', 'x')",
            "INSERT INTO ledger VALUES (1, 'other', '', '', '') ON CONFLICT DO UPDATE SET base_url = 'http://127.0.0.1:9'",
        )
    ]


def _everything_at_once(t: Target) -> list[str] | None:
    """Statements that a slip of the hand makes: without a WHERE."""
    ended = any(tried.state in ("issued", "rejected", "not_sent") for tried in t.model.attempts.values())
    statements = [
        "UPDATE charge SET live = 1 - live",
        "DELETE FROM charge",
        "DELETE FROM request",
        "UPDATE request SET amount = 0",
    ]
    if ended:
        statements += [
            "DELETE FROM attempt",
            f"UPDATE {t.either} attempt SET state = 'unknown', number = ''",
            "UPDATE attempt SET was_unknown = 0",
        ]
    return [t.pick(*statements)]


ILLEGAL: tuple[Illegal, ...] = (
    _identity_of_an_attempt, _request_of_an_attempt, _column_of_an_outcome, _raw_answer, _settled_with_less, _delete,
    _attempt_over_another, _attempt_begun_wrong, _charge_added, _charge_changed, _sent_in_part, _request_changed,
    _request_over_another, _run_changed, _evidence, _evidence_twice, _evidence_not_followed, _ledger_row, _everything_at_once,
)  # fmt: skip
#: OR FAIL and OR IGNORE keep what they have done, OR REPLACE deletes, OR ROLLBACK ends a transaction.
EITHER = ("", "OR REPLACE", "OR REPLACE", "OR IGNORE", "OR FAIL", "OR ROLLBACK")


# The machine.


def _mixed(number: int) -> int:
    """A drawn number spread over 64 bits, so that every choice made of it is likely to be each of its values."""
    number = (number + 1) * 0x9E3779B97F4A7C15 % 2**64
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    return number ^ number >> 31


def _parts(number: int, *sizes: int) -> list[int]:
    """One number as several choices: drawing is what takes Hypothesis its time."""
    number, parts = _mixed(number), []
    for size in sizes:
        number, part = divmod(number, size)
        parts.append(part)
    return parts


def _several(number: int) -> list[int]:
    """One number as one to five."""
    return [number + place for place in range(1 + _mixed(number) % 5)]


_ONE = st.integers(0, 2**24 - 1)  # of more bits, Hypothesis draws small numbers rather than large ones
#: How a ledger fails under the writer. The last one is the failed COMMIT that did reach the disk.
FAILURES = (ITS_NAME_IS_GONE, CAN_NOT_BE_WRITTEN, COMMIT_IS_REFUSED, COMMIT_FAILS_LATE) = (
    "its name is gone", "it can't be written", "COMMIT is refused", "COMMIT fails, and is on the disk",
)  # fmt: skip


@dataclass
class Running:
    """A run that is on."""

    run: int
    spill: Spill
    writer: Writer


class LedgerMachine(RuleBasedStateMachine):
    """One ledger file's life. Every rule ends with the comparison of the file and the model."""

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.trail: list[str] = []
        self.loop = asyncio.new_event_loop()
        self.folder = Path(tempfile.mkdtemp(prefix="ledger-", dir=_fast_folder()))
        self.lives = self.age = 0
        self.salt = 0
        self.running: Running | None = None
        self.failure = ""
        self.is_sound = True
        self.spilled: list[Spilled] = []
        self.rows: Rows = {}
        self.times: dict[int, tuple[Any, ...]] = {}
        self.doubts: dict[int, bool] = {}
        self.older: bytes | None = None
        self.path = self._next_folder() / "test.ledger"
        shutil.copyfile(_empty_ledger(), self.path)
        with self._told():
            self._open()
            self._compare()

    # A process's life: it opens the ledger, puts it in order, runs, ends or is killed.

    def _next_folder(self) -> Path:
        self.lives += 1
        folder = self.folder / str(self.lives)
        folder.mkdir()
        return folder

    def _open(self) -> None:
        """As `issue` begins: open, recover. Then the two other connections."""
        self.connection, self.lock = opening.open_for_run(self.path, OWNER, may_create=False)
        self._recover()
        self.look = Look(self.path)
        self.stranger = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE)
        self.older = self.path.read_bytes()
        self.age = 0

    def _recover(self) -> None:
        self.doubts = self.model.recover(self.spilled)
        recover(self.connection, self.path, self._meaning, self.lock)
        self.spilled.clear()
        assert not spill_path(self.path).exists(), "the spill file is still there"

    def _meaning(self, left: records.Interrupted, answer: Answered) -> Outcome:
        """How an answer on disk is read; what recovery says of its request must be so."""
        tried = self.model.attempts[left.attempt_id]
        expected = sorted(
            (c.identity.ticket_no, c.identity.charge, c.identity.product, c.amount)
            for c in tried.request.charges
        )
        seen = sorted(
            (c.identity.ticket_no, c.identity.charge, c.identity.product, c.amount)
            for c in left.request.charges
        )
        assert (seen, left.request.voucher, left.request.header) == (
            expected,
            tried.request.voucher,
            tried.request.header,
        )
        if left.attempt_id in self.doubts:  # not in a recovery that comes to nothing
            assert left.doubted == self.doubts[left.attempt_id], f"doubt of attempt {left.attempt_id}"
        DONE["answers read by recovery"] += 1
        return read(answer, doubted=left.doubted)

    def _close(self) -> None:
        if self.running is not None:
            self.loop.run_until_complete(self.running.writer.close())
            self.running.spill.close()
            self.running = None
        self.look.connection.close()
        self.stranger.close()
        self.connection.set_commit_hook(None)
        self.connection.set_wal_hook(None)
        self.connection.close()
        self.lock.close()
        self.failure = ""

    def teardown(self) -> None:
        try:
            if not self.is_sound:
                return  # the violation is on its way already
            with self._told():
                looked = soundness.look(self.look.connection)
                assert looked.wrong == ()
                for ticket in TICKETS:
                    self._compare(ticket, every=True)
        finally:
            with contextlib.suppress(*() if self.is_sound else (apsw.Error,)):
                self._close()
            self.loop.run_until_complete(self.loop.shutdown_default_executor())
            self.loop.close()
            shutil.rmtree(self.folder)

    # Comparing.

    def _compare(self, ticket: str = TICKETS[0], *, every: bool = False) -> None:
        before, self.rows = self.rows, self.look.everything()
        found = check_rows(self.model, self.rows, self.look)
        DONE["comparisons"] += 1
        if self.rows == before and not every:
            return  # nothing has changed, so what is told of it has not either
        check_holdings(self.model, self.look, found)
        check_history(self.model, self.look, found, ticket)
        times = {
            key: (row["planned_at"], row["sending_at"], row["state"], row["ended_at"])
            for key, row in found.items()
        }
        for key, (planned, sending, state, ended) in times.items():
            was = self.times.get(key, (planned, None, "planned", None))
            assert was[0] == planned
            assert was[1] in (None, sending), "the time of sending has changed"
            assert was[3] == ended or was[2] != state, "the time of ending has changed"
        self.times = times

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """What went before is told with a violation, in words."""
        try:
            yield
        except (AssertionError, apsw.Error, LedgerProblem, InputProblem) as error:
            self.is_sound = False
            error.add_note("What was done:\n  " + "\n  ".join(self.trail))
            raise

    @contextlib.contextmanager
    def _step(self, what: str) -> Iterator[None]:
        DONE["steps"] += 1
        DONE[what] += 1
        self.age += 1
        with self._told():
            yield
            self._compare(TICKETS[DONE["steps"] % len(TICKETS)])

    def _say(self, line: str) -> None:
        self.trail.append(line)

    def _chosen(self, number: int, *states: str) -> Tried | None:
        found = [tried for tried in self.model.of(*states) if tried.attempt_id > 0]
        return found[-1 - number % len(found)] if found else None

    def _new(self, number: int) -> int:
        """A number made of all that were drawn up to this one.

        Hypothesis likes to try a life again with a small change; so everything is another after it.
        """
        self.salt = _mixed(self.salt + number)
        return self.salt

    def _any(self, number: int) -> Tried:
        """An attempt; first by its state, so that the rare ones are met as often as the others."""
        states = [state for state in STATES if self.model.of(state)]
        tried = self._chosen(number // len(states), states[number % len(states)])
        assert tried
        return tried

    # Runs.

    @precondition(lambda self: self.running is None)
    @rule(number=_ONE)
    def begin(self, number: int) -> None:
        """A run begins and plans, with room for what may have to be spilled."""
        with self._step("runs begun"):
            opening.keep_wal(self.connection, keep=True)
            run = records.begin_run(self.connection, "issue", "0", "2026-11-20", ["tickets.xlsx"])
            self.lock.run = RunId(
                records.ledger_id(self.connection), run, records.started_at(self.connection, run)
            )
            assert run not in self.model.runs
            self.model.runs[run] = (False, None)
            spill = Spill(spill_path(self.path), records.ledger_id(self.connection), 1)

            async def writer() -> Writer:
                return Writer(self.connection, spill)

            self.running = Running(run, spill, self.loop.run_until_complete(writer()))
            self._say(f"run {run} begins")
            self._plan(run, number)

    begin_soon = begin  # under several names, rules are chosen so many times as often
    begin_at_once = begin

    @precondition(lambda self: self.running is not None and not self.failure)
    @rule(number=_ONE)
    def plan(self, number: int) -> None:
        assert self.running
        with self._step("plans"):
            self._plan(self.running.run, number)

    def _plan(self, run: int, number: int) -> None:
        found = [self._wanted(_mixed(each)) for each in _several(self._new(number))]
        requests = list({request.request_id: request for request in found}.values())
        attempts = records.plan(self.connection, run, requests, PLACES)
        assert [attempt.request for attempt in attempts] == requests
        for attempt in attempts:
            tried = self.model.plan(attempt.attempt_id, attempt.request, run)
            assert attempt.attempt == tried.attempt
            self._say(f"planned: {attempt.attempt_id} = {_shown(attempt.request)}")

    def _wanted(self, number: int) -> Request:
        """What somebody asks for: often what came to nothing before, also after a doubt."""
        number, kind = divmod(number, 3)
        again = self._chosen(number, "not_sent", "rejected") if kind == 0 else None
        return again.request if again else POOL[number % len(POOL)]

    @precondition(lambda self: self.running is not None and not self.failure)
    @rule(number=_ONE)
    def write(self, number: int) -> None:
        """Changes through the writer, all waiting at once: those that may be, and those that must be refused."""
        with self._step("writes"):
            changes, expected = [], []
            for each in _several(self._new(number)):
                change = self._change(each)
                if change is not None:
                    changes.append(change)
                    expected.append(self._applied(change))
            for change, result, wanted in zip(changes, self._commit(changes), expected, strict=True):
                self._check_written(change, result, wanted)

    write_more = write
    write_still_more = write
    write_on_and_on = write

    def _change(self, number: int) -> Change | None:
        """Something that may come next for some attempt, whether or not the ledger may take it."""
        kind, which, what, code = _parts(number, 12, 64, 10, 64)
        planned, sending = self._chosen(which, "planned"), self._chosen(which, "sending")
        if kind == 0:
            ended = self._chosen(which, "not_sent", "not_sent", "rejected", "issued", "unknown")
            return Again(ended.attempt_id) if ended else None
        if planned and (sending is None or kind <= 6):
            return Sending(planned.attempt_id)
        if sending is None:
            return None
        outcome = _outcome(what, code)
        if sending.answer is None and kind <= 8:
            return GotAnswer(sending.attempt_id, answer_of(outcome))
        if sending.answer is not None:
            outcome = read(sending.answer, doubted=self.model.is_doubted(sending.request))
        return Ended(sending.attempt_id, outcome)

    def _applied(self, change: Change) -> Any:
        """The change in the model: what the writer must acknowledge, False where it must refuse."""
        tried = self.model.attempts[change.attempt_id]
        match change:
            case Sending():
                if not self.model.may_be_sent(tried):
                    DONE["claims refused"] += 1
                    return False
                tried.state = "sending"
                return None
            case GotAnswer(_, answer):
                tried.answer = answer
                return None
            case Ended(_, outcome):
                return self.model.ends(tried, outcome)
            case Again():
                if self.model.runs[tried.run][0]:
                    return False
                return self.model.plan(-len(self.model.attempts) - 1, tried.request, tried.run)

    def _commit(self, changes: Sequence[Change]) -> list[Any]:
        assert self.running
        writer = self.running.writer

        async def all_at_once() -> list[Any]:
            return await asyncio.gather(*map(writer.commit, changes), return_exceptions=True)

        results = self.loop.run_until_complete(all_at_once())
        for change, result in zip(changes, results, strict=True):
            self._say(f"{change} -> {result}")
        return results

    def _check_written(self, change: Change, result: Any, expected: Any) -> None:
        if expected is False:
            assert isinstance(result, LedgerProblem), f"{change} must be refused, and came to {result}"
        elif isinstance(change, Again):
            assert isinstance(result, tuple), f"{change} came to {result}"
            self.model.attempts.pop(expected.attempt_id)
            assert result[0] not in self.model.attempts
            assert result[1] == expected.attempt
            expected.attempt_id = result[0]
            self.model.attempts[result[0]] = expected
        elif isinstance(change, Ended):
            assert isinstance(result, Outcome), f"{change} came to {result}"
            assert (result.state, result.number) == (expected.state, expected.number)
        else:
            assert result is None, f"{change} came to {result}"
        if expected is not False:
            DONE[
                f"written: {type(change).__name__} {getattr(expected, 'state', '') if isinstance(change, Ended) else ''}".strip()
            ] += 1

    @precondition(lambda self: self.running is not None and self.age > 8)
    @rule(code=st.integers(0, 4))
    def end(self, code: int) -> None:
        """A run ends well; or it ends after its ledger failed, which is left to the next start to put in order."""
        assert self.running
        with self._step("runs ended"):
            run, failed = self.running.run, self.failure
            self._stop_writing()
            self._heal()
            self._say(f"run {run} ends with {code} {failed and f'({failed})'}")
            if not failed:
                records.drop_planned(self.connection)
                records.end_run(self.connection, run, code)
                self.lock.run = None
                opening.keep_wal(self.connection, keep=False)
                self.model.runs[run] = (True, code)
                self.model.drop_planned()
            self._compare()
            self._close()
            assert Path(f"{self.path}-wal").exists() == bool(failed), (
                "the -wal stays with a run that has not ended"
            )
            self._open()

    def _stop_writing(self) -> None:
        assert self.running
        self.loop.run_until_complete(self.running.writer.close())
        self.running.spill.close()
        self.running = None

    # Failing.

    @precondition(lambda self: self.running is not None and self.age > 6)
    @rule(number=_ONE, way=st.sampled_from(FAILURES))
    def fail(self, number: int, way: str) -> None:
        """The ledger fails under the writer: nothing is acknowledged any more, what is known is spilled."""
        with self._step("writes spilled"):
            found = [
                change for each in _several(self._new(number)) if (change := self._to_spill(each)) is not None
            ]
            changes = list({change.attempt_id: change for change in found}.values())
            if not self.failure and changes:
                way = self._break(way, changes)
                if way == COMMIT_FAILS_LATE:
                    changes = changes[:1]
            for change, result in zip(changes, self._commit(changes), strict=True):
                assert isinstance(result, LedgerProblem), (
                    f"{change} was acknowledged by a ledger that fails: {result}"
                )
                self._expect_spilled(change)

    def _to_spill(self, number: int) -> Change | None:
        """What may come next, as far as it has not been spilled already."""
        change = self._change(number)
        said = [entry.what for entry in self.spilled if change and entry.attempt_id == change.attempt_id]
        if not said or change is None or isinstance(change, Again):
            return change
        answers = [what for what in said if isinstance(what, Answered)]
        if len(said) == len(answers) and isinstance(change, Ended):
            return Ended(
                change.attempt_id,
                read(
                    answers[0], doubted=self.model.is_doubted(self.model.attempts[change.attempt_id].request)
                ),
            )
        return None

    def _break(self, way: str, changes: Sequence[Change]) -> str:
        """Let the ledger fail from now on, at these changes first."""
        if way == COMMIT_FAILS_LATE:
            expected = False if isinstance(changes[0], Again) else self._applied(changes[0])
            way = COMMIT_IS_REFUSED if expected is False else way
        self.failure = way
        self._say(f"the ledger fails: {way}")
        DONE[way] += 1
        match way:
            case "its name is gone":
                self.path.rename(self.path.with_name("elsewhere"))
            case "it can't be written":
                self.connection.execute("PRAGMA query_only = ON")
            case "COMMIT is refused":
                self.connection.set_commit_hook(lambda: True)
            case _:
                self.connection.set_wal_hook(_fails_after_the_commit)
        return way

    def _expect_spilled(self, change: Change) -> None:
        match change:
            case Sending():
                self.spilled.append(Spilled(change.attempt_id, None))
            case GotAnswer(_, answer):
                self.spilled.append(Spilled(change.attempt_id, answer))
            case Ended(_, outcome):
                self.spilled.append(Spilled(change.attempt_id, outcome))

    def _heal(self) -> None:
        """Whatever it was is over."""
        self._put_back()
        self.connection.execute("PRAGMA query_only = OFF")
        self.connection.set_commit_hook(None)
        self.connection.set_wal_hook(None)
        self.failure = ""

    def _put_back(self) -> None:
        if (elsewhere := self.path.with_name("elsewhere")).exists():
            elsewhere.rename(self.path)

    # Dying.

    @precondition(lambda self: self.age > 9)  # a life of no steps shows little
    @rule(number=_ONE)
    def kill(self, number: int) -> None:
        """The process dies: only what is on the disk goes on. Then a start, and what may go wrong with it."""
        uncommitted, torn, way = _parts(self._new(number), 2, 3, len(_STARTS))
        with self._step("kills"):
            if uncommitted and not self.failure:
                self.connection.execute("BEGIN IMMEDIATE")
                self.connection.execute(
                    "INSERT INTO run (command, version, as_of, files, started_at) VALUES ('', '', '', '', '')"
                )
            self._die(torn * 17)
            self._say("killed" + (", in a transaction" if uncommitted else ""))
            # The first of them, from there on, that what was left allows.
            way %= 5 if self.spilled else len(_STARTS)
            for start in (*_STARTS[way:], *_STARTS[:way]):
                if start(self):
                    break
            self._open()

    def _die(self, torn: int = 0) -> None:
        """Go on with a copy of the files as they are now, `torn` times 251 bytes that are no frame behind the -wal."""
        folder = self._next_folder()
        for name in ("test.ledger", "test.ledger-wal", "test.ledger.spill", "test.ledger.lock", "elsewhere"):
            found = self.path.with_name(name)
            if found.exists():
                shutil.copyfile(found, folder / name.replace("elsewhere", "test.ledger"))
        if (wal := folder / "test.ledger-wal").exists() and torn:
            with wal.open("ab") as file:
                file.write(bytes(range(251)) * torn)
        if not self.connection.get_autocommit():
            self.connection.execute("ROLLBACK")
        if self.running is not None:
            self._stop_writing()
        self._close()
        self.path = folder / "test.ledger"

    def _start_as_it_is(self) -> bool:
        return True

    def _copied(self, *ends: str) -> Path:
        """A copy of some of the ledger's files in a folder of their own."""
        path = self._next_folder() / "test.ledger"
        for end in ends:
            if (found := Path(f"{self.path}{end}")).exists():
                shutil.copyfile(found, f"{path}{end}")
        return path

    def _a_run_is_open(self) -> bool:
        return not all(ended for ended, _ in self.model.runs.values())

    def _start_without_its_wal(self) -> bool:
        """What a run that was killed has issued stands in the -wal: without it nothing may begin."""
        if not self._a_run_is_open():
            return False
        self._refused_opening(self._copied(""))
        return True

    def _start_with_an_older_ledger(self) -> bool:
        """A spill file that speaks of attempts which the ledger beside it has never had."""
        assert self.older is not None
        if all(entry.what is None for entry in self.spilled):
            return False
        older = self._copied(".spill")
        older.write_bytes(self.older)
        self._refused_recovery(older)
        return True

    def _start_with_an_older_ledger_and_this_wal(self) -> bool:
        """SQLite would mix the two; the lock file tells whose the -wal is."""
        assert self.older is not None
        wal = Path(f"{self.path}-wal")
        if not wal.exists() or not wal.stat().st_size or not self._a_run_is_open():
            return False
        older = self._copied("-wal", ".lock")
        older.write_bytes(self.older)
        self._refused_opening(older)
        return True

    def _start_with_a_foreign_spill(self) -> bool:
        if not self.spilled:
            return False
        other = self._copied("", "-wal", ".lock", ".spill")
        text = spill_path(other).read_bytes()
        mine = json.loads(text.split(b"\n", 1)[0])["ledger_id"]
        spill_path(other).write_bytes(text.replace(mine.encode(), b"f" * len(mine)))
        self._refused_recovery(other)
        return True

    def _refused_opening(self, path: Path) -> None:
        try:
            opening.open_for_run(path, OWNER, may_create=True)
        except InputProblem:
            DONE["openings refused"] += 1
        else:
            raise AssertionError("a ledger is opened that lacks what its killed run issued")

    def _refused_recovery(self, path: Path) -> None:
        connection, lock = opening.open_for_run(path, OWNER, may_create=False)
        before = list(connection.execute("SELECT * FROM attempt"))
        try:
            recover(connection, path, self._meaning, lock)
        except LedgerProblem:
            DONE["spill files refused"] += 1
        else:
            raise AssertionError("a spill file is taken in by a ledger that it is not of")
        finally:
            after = list(connection.execute("SELECT * FROM attempt"))
            connection.close()
            lock.close()
        assert after == before
        assert spill_path(path).exists()

    def _start_and_die_before_recovery(self) -> bool:
        self.connection, self.lock = opening.open_for_run(self.path, OWNER, may_create=False)
        self._die_again()
        return True

    def _start_and_fail_in_recovery(self) -> bool:
        """Its COMMIT does not come through: then nothing of it has happened."""
        self.connection, self.lock = opening.open_for_run(self.path, OWNER, may_create=False)
        self.connection.set_commit_hook(lambda: True)
        with contextlib.suppress(apsw.ConstraintError):
            recover(self.connection, self.path, self._meaning, self.lock)
            assert not self.spilled, "the spill file was taken in without a COMMIT"
        self._die_again()
        return True

    def _start_and_die_after_recovery(self) -> bool:
        """Killed between recovery's COMMIT and the end of the spill file: it is taken in twice."""
        if not self.spilled:
            return False
        kept, spilled = spill_path(self.path).read_bytes(), list(self.spilled)
        self.connection, self.lock = opening.open_for_run(self.path, OWNER, may_create=False)
        self._recover()
        spill_path(self.path).write_bytes(kept)
        self.spilled = spilled
        self._die_again()
        return True

    def _die_again(self) -> None:
        self.look, self.stranger = Look(self.path), apsw.Connection(":memory:")
        self._die()

    # Settling.

    @precondition(lambda self: not self.failure and self.model.of("unknown"))
    @rule(number=_ONE)
    def settle(self, number: int) -> None:
        """A person's answer to an attempt in doubt: the evidence and what it says, in one transaction."""
        with self._step("settlements"):
            which, state, code = _parts(self._new(number), 64, 2, 64)
            tried = self._chosen(which, "unknown")
            assert tried
            issued = NUMBERS[code % len(NUMBERS)] if state else ""
            new = "issued" if state else "not_sent"
            self._say(f"settled: {tried.attempt_id} as {new} {issued}")
            legal = not self.model.is_taken(issued)
            try:
                with self.stranger:
                    self._settle(tried.attempt_id, new, issued)
            except apsw.ConstraintError:
                assert not legal
            else:
                assert legal, f"number {issued} is given twice"
                self.model.settle(tried, new, issued)

    def _settle(self, attempt_id: int, state: str, number: str) -> None:
        now = _now()
        self.stranger.execute(
            "INSERT INTO settlement VALUES (?, ?, ?, 'somebody', 'the statement of May', ?)",
            (attempt_id, state, number, now),
        )
        self.stranger.execute(
            "UPDATE attempt SET state = ?, number = ?, ended_at = ? WHERE attempt_id = ?",
            (state, number, now, attempt_id),
        )

    # A stranger with SQL.

    @precondition(lambda self: not self.failure and self.model.attempts)
    @rule(number=_ONE)
    def move_by_hand(self, number: int) -> None:
        """Any state to any other by raw SQL, in every way of resolving conflicts: only what is legal is taken."""
        with self._step("moves by hand"):
            for each in _several(self._new(number)):
                which, state, either, code, switches = _parts(each, 64, len(STATES), len(EITHER), 64, 8)
                self._switch(switches)
                self._move_by_hand(self._any(which), STATES[state], EITHER[either], code)

    def _move_by_hand(self, tried: Tried, new: str, either: str, code: int) -> None:
        old = tried.state
        number = ("", *NUMBERS)[code % (1 + len(NUMBERS))] if new == "issued" or code % 8 == 0 else ""
        changes = {"state": new, "number": number, "sending_at" if new == "sending" else "ended_at": _now()}
        columns = ", ".join(f"{name} = :{name}" for name in changes)
        legal = self._is_legal(tried, new, number)
        DONE[f"{old} to {new}: {'taken' if legal else 'refused'}"] += 1
        self._say(f"by hand: {tried.attempt_id}, {old} -> {new} {number}, {either}")
        statement = f"UPDATE {either} attempt SET {columns} WHERE attempt_id = :key"
        refused = self._is_refused([statement], {**changes, "key": tried.attempt_id})
        assert refused != legal, (
            f"attempt {tried.attempt_id}, {old} to {new}: {'refused' if refused else 'taken'}"
        )
        if legal:
            tried.state, tried.number = new, number
            tried.was_unknown = tried.was_unknown or new == "unknown"

    def _is_legal(self, tried: Tried, new: str, number: str) -> bool:
        if tried.state == "planned":
            return new == "sending" and number == "" and self.model.may_be_sent(tried)
        if tried.state == "sending" and new == "issued":
            return number != "" and not self.model.is_taken(number)
        return tried.state == "sending" and new in ("rejected", "not_sent", "unknown") and number == ""

    @precondition(lambda self: not self.failure and self.model.attempts)
    @rule(number=_ONE)
    def tamper(self, number: int) -> None:
        """Illegal changes of every other kind: each is refused, and the file is as before."""
        with self._step("tampering"):
            for each in _several(self._new(number)):
                what, which, dice, either, switches = _parts(each, len(ILLEGAL), 64, 27720, len(EITHER), 8)
                statements = self._aimed(ILLEGAL[what], which, dice, EITHER[either])
                if statements is None:
                    continue
                self._switch(switches)
                DONE["illegal changes"] += 1
                DONE[f"illegal: {ILLEGAL[what].__name__.strip('_')}"] += 1
                self._say(f"tampering: {statements}, switches {switches}")
                assert self._is_refused(statements), f"taken: {statements}"
            now = self.look.everything()
            for table, rows in self.rows.items():
                assert now[table] == rows, f"{table} has changed"

    tamper_more = tamper

    def _aimed(self, illegal: Illegal, which: int, dice: int, either: str) -> list[str] | None:
        """The change, aimed at this attempt or else at the newest that it can be aimed at."""
        for tried in (self._any(which), *reversed(self.model.attempts.values())):
            if (statements := illegal(Target(self.model, tried, dice, either))) is not None:
                return statements
        return None

    def _switch(self, switches: int) -> None:
        """What any connection may set for itself."""
        for bit, name in enumerate(("foreign_keys", "recursive_triggers", "ignore_check_constraints")):
            self.stranger.execute(f"PRAGMA {name} = {switches >> bit & 1}")

    def _is_refused(self, statements: list[str], values: dict[str, Any] | None = None) -> bool:
        """Whether the database refuses the last of these statements, or one before it."""
        try:
            if len(statements) > 1:
                self.stranger.execute("BEGIN IMMEDIATE")
            for statement in statements:
                self.stranger.execute(statement, values)
        except apsw.ConstraintError:
            return True
        else:
            return False
        finally:
            if not self.stranger.get_autocommit():
                self.stranger.execute("ROLLBACK")


_STARTS: tuple[Callable[[LedgerMachine], bool], ...] = (
    LedgerMachine._start_as_it_is,
    LedgerMachine._start_with_an_older_ledger,
    LedgerMachine._start_with_a_foreign_spill,
    LedgerMachine._start_and_die_after_recovery,
    LedgerMachine._start_with_an_older_ledger_and_this_wal,
    LedgerMachine._start_without_its_wal,
    LedgerMachine._start_and_fail_in_recovery,
    LedgerMachine._start_and_die_before_recovery,
)


def _outcome(what: int, code: int) -> Outcome:
    """An outcome as `interpret` gives them."""
    trace = f"t{code % 3}"
    match what:
        case 0 | 1:
            return Outcome("issued", number=NUMBERS[code % len(NUMBERS)], trace_id=trace)
        case 2 | 3 | 4:
            return Outcome("rejected", "carrier_rejected", trace_id=trace, detail="not on this ticket")
        case 5 | 6 | 7:
            return Outcome("not_sent", "carrier_busy", detail="HTTP 429")
        case _:
            return Outcome("unknown", "no_answer", detail="nothing within 60 s")


def _shown(request: Request) -> str:
    charges = ", ".join(
        f"{c.identity.ticket_no[-1]} {c.identity.charge} {on_the_wire(c)} {c.amount}" for c in request.charges
    )
    return f"{request.request_id} {request.voucher} of {charges}"


def _now() -> str:
    return utc_now()


def _fails_after_the_commit(*_: object) -> int:
    raise apsw.IOError("the disk says no, when it is written already")


def _fast_folder() -> str | None:
    """Memory, where there is some: what a sync is for is not tested here."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


_EMPTY: list[Path] = []


def _empty_ledger() -> Path:
    """A new ledger, made once a process as the program makes it, and copied for each example."""
    if not _EMPTY:
        folder = Path(tempfile.mkdtemp(prefix="ledger-", dir=_fast_folder()))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        connection, lock = opening.open_for_run(folder / "empty.ledger", OWNER, may_create=True)
        connection.close()
        lock.close()
        _EMPTY.append(folder / "empty.ledger")
    return _EMPTY[0]


def live(examples: int, number: int, *, shorten: bool = True) -> None:
    """So many ledgers' lives, made up from a seed. Raises at the first violation, made short."""
    run_state_machine_as_test(
        seed(number)(LedgerMachine),
        settings=settings(
            max_examples=examples,
            stateful_step_count=50,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink) if shorten else (Phase.generate,),
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            print_blob=False,
        ),
    )


def _tell(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - a command


def main() -> int:
    """Live through ranges of seeds; 1 if there was a violation."""
    parser = argparse.ArgumentParser(
        description="Random lives of a ledger file, compared with a plain model."
    )
    parser.add_argument("--seeds", default="1..20", metavar="A..B", help="the range of seeds, both included")
    parser.add_argument("--examples", type=int, default=500, help="examples of each seed")
    parser.add_argument("--as-found", action="store_true", help="a violation as it was found, not made short")
    options = parser.parse_args()
    first, _, last = options.seeds.partition("..")
    violations = 0
    for number in range(int(first), int(last or first) + 1):
        began = time.monotonic()
        try:
            live(options.examples, number, shorten=not options.as_found)
        except Exception as error:  # noqa: BLE001 - told, and the other seeds still tried
            violations += 1
            _tell("\n".join([f"seed {number}: VIOLATION {error!r}", *getattr(error, "__notes__", ())]))
        else:
            _tell(f"seed {number}: {options.examples} examples in {time.monotonic() - began:.0f} s")
    _tell(", ".join(f"{what} {count}" for what, count in sorted(DONE.items())) + f"; violations {violations}")
    return int(violations > 0)


if __name__ == "__main__":
    sys.exit(main())
