"""Planning: requests, attempts at them and the charges in them, written while nothing is in flight.

Until it is `sending` an attempt holds nothing, and may be forgotten again.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import apsw
import orjson

from pipeline.ledger.clock import utc_now
from pipeline.model.request import HEADER, Request, wire_text


def _values(count: int) -> str:
    """The values of an array that json_each gives, as columns."""
    return ", ".join(f"value ->> {at}" for at in range(count))


_CHARGE = (
    "attempt_id", "ticket_no", "charge", "product", "wire", "voucher", "amount", "file", "sheet", "row", "content",
    "passenger_name", "components", "carried",
)  # fmt: skip
# As sets: a statement by itself costs more than what a row of it does, for it keeps what it may have to undo.
_PLAN_REQUESTS = f"INSERT INTO request SELECT {_values(4 + len(HEADER))} FROM json_each(?) WHERE true ON CONFLICT DO NOTHING"  # noqa: S608 - numbers
_PLAN_ATTEMPTS = """
INSERT INTO attempt (attempt_id, request_id, attempt, run, state, planned_at, epoch)
SELECT ?4 + key, value, 1 + (SELECT coalesce(max(attempt), 0) FROM attempt WHERE request_id = value), ?2, 'planned', ?3,
       (SELECT max(epoch) FROM epoch)
FROM json_each(?1)
"""
_PLAN_CHARGES = f"INSERT INTO charge ({', '.join(_CHARGE)}) SELECT {_values(len(_CHARGE))} FROM json_each(?)"  # noqa: S608 - names of columns, all of them written above
_TOGETHER = 2_000  # requests in one statement, which are gathered in memory

#: By a charge's row: its components and the columns carried along with it, each as a JSON object (charge.components, carried).
Details = Callable[[int], tuple[str, str]]
NO_DETAILS: Details = lambda _row: ("{}", "{}")  # noqa: E731 - a value


@dataclass(frozen=True)
class Attempt:
    """One planned attempt at a request."""

    attempt_id: int
    attempt: int
    request: Request


class _Together(NamedTuple):
    """Some requests, their attempts and charges, each as a JSON array; the first attempt's ID, which the others follow."""

    requests: str
    request_ids: str
    charges: str
    first: int


def plan(
    connection: apsw.Connection,
    run: int,
    requests: Sequence[Request],
    places: Mapping[int, tuple[str, str, int]],
    details: Details = NO_DETAILS,
) -> list[Attempt]:
    """Write all requests and their first attempts of this run as `planned`, in one transaction.

    `places` says where each charge's row stands: file, sheet, row; `details` what it says beside what is asked for. A request that stands
    among them twice is refused.

    SQLite is at some in a thread of its own while the next are made here; it lets Python go on as long as a statement takes.
    """
    now = utc_now()
    with connection, ThreadPoolExecutor(1) as writing:
        first = 1 + connection.execute("SELECT coalesce(max(attempt_id), 0) FROM attempt").get
        written: Future[None] | None = None
        for start in range(0, len(requests), _TOGETHER):
            some = [requests[at] for at in range(start, min(start + _TOGETHER, len(requests)))]
            together = _together(some, first + start, places, details)
            if written:
                written.result()
            written = writing.submit(_write, connection, run, now, together)
        if written:
            written.result()
        planned: Any = connection.execute(
            "SELECT request_id, attempt_id, attempt FROM attempt WHERE attempt_id >= ?", (first,)
        )
        numbered = {request_id: (attempt_id, attempt) for request_id, attempt_id, attempt in planned}
        if len(numbered) < len(requests):
            raise apsw.ConstraintError("a request stands in a plan twice")
    return [Attempt(*numbered[request.request_id], request) for request in requests]


def _together(
    requests: Sequence[Request], first: int, places: Mapping[int, tuple[str, str, int]], details: Details
) -> _Together:
    charges = [
        values
        for at, request in enumerate(requests, first)
        for values in _charge_values(at, request, places, details)
    ]
    return _Together(
        as_json([_request_values(request) for request in requests]),
        as_json([request.request_id for request in requests]),
        as_json(charges),
        first,
    )


def _write(connection: apsw.Connection, run: int, now: str, together: _Together) -> None:
    connection.execute(_PLAN_REQUESTS, (together.requests,))
    connection.execute(_PLAN_ATTEMPTS, (together.request_ids, run, now, together.first))
    connection.execute(_PLAN_CHARGES, (together.charges,))


def as_json(values: Sequence[Any]) -> str:
    """For SQLite to take apart. What is no text (half a character) is refused as it is handed over."""
    try:
        return orjson.dumps(values).decode()
    except orjson.JSONEncodeError:
        return json.dumps(values, ensure_ascii=False)


def _request_values(request: Request) -> tuple[Any, ...]:
    return (request.request_id, request.voucher, request.market, request.amount, *request.header.values)


def _charge_values(
    attempt_id: int, request: Request, places: Mapping[int, tuple[str, str, int]], details: Details
) -> Iterator[tuple[Any, ...]]:
    for charge in request.charges:
        identity = charge.identity
        # An itinerary's wire names the ticket alone; its fare is held by the charge's identity.
        yield (
            attempt_id, identity.ticket_no, identity.charge, identity.product, wire_text(charge.wire),
            request.voucher, charge.amount, *places[charge.row], request.content_of(charge),
            charge.passenger_name, *details(charge.row),
        )  # fmt: skip


def plan_again(connection: apsw.Connection, attempt_id: int) -> tuple[int, int]:
    """A new planned attempt with the request, charges and run of an ended one."""
    with connection:
        ended: Any = connection.execute(
            "SELECT request_id, run FROM attempt WHERE attempt_id = ?", (attempt_id,)
        ).get
        connection.execute(_PLAN_ATTEMPTS, (as_json(ended[:1]), ended[1], utc_now(), None))
        again = connection.last_insert_rowid()
        attempt: int = connection.execute("SELECT attempt FROM attempt WHERE attempt_id = ?", (again,)).get
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
