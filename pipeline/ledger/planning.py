"""Planning: requests, attempts at them and the charges in them, written while nothing is in flight.

Until it is `sending` an attempt holds nothing, and may be forgotten again.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import apsw

from pipeline.ledger.clock import utc_now
from pipeline.model.request import Request, wire_text

_PLAN_REQUESTS = "INSERT INTO request VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
# As a set, for what it gives back: one by one that costs ten times as much.
_PLAN_ATTEMPTS = """
INSERT INTO attempt (request_id, attempt, run, state, planned_at, epoch)
SELECT value, 1 + (SELECT coalesce(max(attempt), 0) FROM attempt WHERE request_id = value), ?2, 'planned', ?3,
       (SELECT max(epoch) FROM epoch)
FROM json_each(?1)
RETURNING request_id, attempt_id, attempt
"""
_CHARGE = (
    "attempt_id", "ticket_no", "charge", "product", "wire", "voucher", "amount", "file", "sheet", "row", "content",
    "passenger_name", "components", "carried",
)  # fmt: skip
_CHARGES = ", ".join(_CHARGE)
_TO_PLAN = f"CREATE TEMP TABLE IF NOT EXISTS charge_to_plan (at INTEGER PRIMARY KEY, {_CHARGES})"
_GATHER = f"INSERT INTO charge_to_plan ({_CHARGES}) VALUES ({', '.join('?' * len(_CHARGE))})"  # noqa: S608 - names of columns, all of them written above
# As a set: a statement by itself costs more than what a row of it does, for it keeps what it may have to undo.
_PLAN_CHARGES = f"INSERT INTO charge ({_CHARGES}) SELECT {_CHARGES} FROM charge_to_plan ORDER BY at"  # noqa: S608 - as above
_TOGETHER = 10_000  # rows in one statement at the most, so that they are gathered in memory

#: By a charge's row: its components and the columns carried along with it, each as a JSON object (charge.components, carried).
Details = Callable[[int], tuple[str, str]]
NO_DETAILS: Details = lambda _row: ("{}", "{}")  # noqa: E731 - a value


@dataclass(frozen=True)
class Attempt:
    """One planned attempt at a request."""

    attempt_id: int
    attempt: int
    request: Request


def plan(
    connection: apsw.Connection,
    run: int,
    requests: Sequence[Request],
    places: Mapping[int, tuple[str, str, int]],
    details: Details = NO_DETAILS,
) -> list[Attempt]:
    """Write all requests and their first attempts of this run as `planned`, in one transaction.

    `places` says where each charge's row stands: file, sheet, row; `details` what it says beside what is asked for. A request that stands among them twice is refused.
    """
    if len({request.request_id for request in requests}) < len(requests):
        raise apsw.ConstraintError("a request stands in a plan twice")
    with connection:
        connection.execute(_TO_PLAN)
        connection.executemany(_PLAN_REQUESTS, map(_request_values, requests))
        numbered = _numbered(connection, run, [request.request_id for request in requests])
        attempts = [Attempt(*numbered[request.request_id], request) for request in requests]
        charges = _charge_values(attempts, places, details)
        while together := list(islice(charges, _TOGETHER)):
            connection.executemany(_GATHER, together)
            connection.execute(_PLAN_CHARGES)
            connection.execute("DELETE FROM charge_to_plan")
    return attempts


def _numbered(
    connection: apsw.Connection, run: int, request_ids: Sequence[str]
) -> dict[str, tuple[int, int]]:
    """New attempts at these requests: each one's ID and number, by the request's ID."""
    planned = connection.execute(_PLAN_ATTEMPTS, (as_json(request_ids), run, utc_now()))
    return {request_id: (attempt_id, attempt) for request_id, attempt_id, attempt in planned}


def as_json(values: Sequence[Any]) -> str:
    """For SQLite to take apart. As they are, not escaped: what is no text (half a character) is refused as it is handed over."""
    return json.dumps(values, ensure_ascii=False)


def _request_values(request: Request) -> tuple[Any, ...]:
    return (request.request_id, request.voucher, request.market, request.amount, *request.header.values)


def _charge_values(
    attempts: Iterable[Attempt], places: Mapping[int, tuple[str, str, int]], details: Details
) -> Iterator[tuple[Any, ...]]:
    for attempt in attempts:
        for charge in attempt.request.charges:
            identity = charge.identity
            # An itinerary's wire names the ticket alone; its fare is held by the charge's identity.
            yield (
                attempt.attempt_id, identity.ticket_no, identity.charge, identity.product, wire_text(charge.wire),
                attempt.request.voucher, charge.amount, *places[charge.row], attempt.request.content_of(charge),
                charge.passenger_name, *details(charge.row),
            )  # fmt: skip


def plan_again(connection: apsw.Connection, attempt_id: int) -> tuple[int, int]:
    """A new planned attempt with the request, charges and run of an ended one."""
    with connection:
        ended: Any = connection.execute(
            "SELECT request_id, run FROM attempt WHERE attempt_id = ?", (attempt_id,)
        ).get
        ((again, attempt),) = _numbered(connection, ended[1], ended[:1]).values()
        rest = ", ".join(_CHARGE[1:])
        connection.execute(
            f"INSERT INTO charge (attempt_id, {rest}) SELECT ?, {rest} FROM charge WHERE attempt_id = ?",  # noqa: S608 - as above
            (again, attempt_id),
        )
    return again, attempt


def drop_planned(connection: apsw.Connection) -> int:
    """Forget what was planned and never sent; how many attempts that were."""
    connection.execute("DELETE FROM attempt WHERE state = 'planned'")
    return connection.changes()
