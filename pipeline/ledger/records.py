"""What the ledger knows, and the changes that are made while nothing is in flight."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import apsw

from pipeline.carrier.replies import Answered, Outcome
from pipeline.holdings import Doubts, Holding, Holdings, Refusal, place_of
from pipeline.ledger import elsewhere
from pipeline.ledger.clock import utc_now
from pipeline.ledger.lock import LastRun, Phase
from pipeline.request import Charge, Header, Identity, Request, wire_text

_ASKED = "CREATE TEMP TABLE IF NOT EXISTS asked (ticket_no TEXT PRIMARY KEY) WITHOUT ROWID"

# CROSS JOIN: SQLite goes through what is asked for first, and looks each ticket up. Left to its own judgement it went
# through every charge of the ledger instead (sqlite.org/optoverview.html, manual control of query plans).
_HELD = """
SELECT charge.ticket_no, charge.charge, charge.product, charge.wire, charge.voucher, attempt.state, attempt.number,
       charge.amount, request.header_type, request.header_name, request.tax_no, attempt.request_id, attempt.attempt,
       attempt.run, coalesce(attempt.ended_at, attempt.sending_at), attempt.reason, attempt.detail,
       charge.file, charge.sheet, charge.row
FROM asked CROSS JOIN charge USING (ticket_no) CROSS JOIN attempt USING (attempt_id) CROSS JOIN request USING (request_id)
WHERE charge.live = 1
"""

#: Of each charge, by what the carrier was told it is: whether any attempt was a no to an invoice of
#: several, and whether any attempt was ever unknown.
_PAST = """
SELECT charge.ticket_no, charge.charge, charge.product, charge.wire,
       max(attempt.state = 'rejected' AND (SELECT count(*) FROM charge AS c WHERE c.attempt_id = attempt.attempt_id) > 1),
       max(attempt.was_unknown)
FROM asked CROSS JOIN charge USING (ticket_no) CROSS JOIN attempt USING (attempt_id)
WHERE attempt.state = 'rejected' OR attempt.was_unknown
GROUP BY 1, 2, 3, 4
"""

#: Of each charge, its last attempt (the row of the greatest ID: sqlite.org/lang_select.html, bare columns).
_LAST = """
SELECT charge.ticket_no, charge.charge, charge.product, charge.content, attempt.detail, attempt.request_id,
       attempt.state, max(attempt.attempt_id)
FROM asked CROSS JOIN charge USING (ticket_no) CROSS JOIN attempt USING (attempt_id)
WHERE attempt.state <> 'planned' GROUP BY 1, 2, 3
"""

# As sets: a statement by itself costs many times what a row of it does (each keeps what it may have to undo). What a row
# is goes as JSON, of which `->>` gives each value as it was.
_PLAN_REQUESTS = f"""
INSERT INTO request SELECT {", ".join(f"value ->> {at}" for at in range(10))} FROM json_each(?) WHERE true
ON CONFLICT DO NOTHING
"""  # noqa: S608 - numbers alone
_PLAN_ATTEMPTS = """
INSERT INTO attempt (request_id, attempt, run, state, planned_at)
SELECT value, 1 + (SELECT coalesce(max(attempt), 0) FROM attempt WHERE request_id = value), ?2, 'planned', ?3
FROM json_each(?1)
RETURNING request_id, attempt_id, attempt
"""
_CHARGE = (
    "attempt_id", "ticket_no", "charge", "product", "wire", "voucher", "amount", "file", "sheet", "row", "content",
)  # fmt: skip
_PLAN_CHARGES = f"""
INSERT INTO charge ({", ".join(_CHARGE)})
SELECT {", ".join(f"value ->> {at}" for at in range(len(_CHARGE)))} FROM json_each(?)
"""  # noqa: S608 - names of columns, all of them written above
_TOGETHER = 10_000  # rows in one statement at the most, so that no text of them grows too large

_HISTORY = """
SELECT attempt.sending_at, attempt.answered_at, attempt.ended_at, attempt.planned_at, attempt.state, attempt.request_id,
       attempt.attempt, attempt.run, charge.voucher, charge.charge, charge.product, charge.amount, attempt.number,
       attempt.trace_id, attempt.reason, attempt.detail, attempt.http_status, charge.file, charge.sheet, charge.row,
       request.header_name, settlement.state AS settled_as, settlement.settled_by, settlement.evidence, settlement.settled_at
FROM charge JOIN attempt USING (attempt_id) JOIN request USING (request_id) LEFT JOIN settlement USING (attempt_id)
WHERE charge.ticket_no = ? ORDER BY attempt.attempt_id, charge.charge, charge.product
"""


@dataclass(frozen=True)
class Attempt:
    """One planned attempt at a request."""

    attempt_id: int
    attempt: int
    request: Request


@dataclass(frozen=True)
class Interrupted:
    """An attempt that an earlier run left in `sending`, with the raw answer if it was recorded."""

    attempt_id: int
    request: Request
    answer: Answered | None
    doubted: bool


@dataclass(frozen=True)
class InDoubt:
    """An attempt whose outcome is unknown, with all that was in it, for the Unknown sheet."""

    request_id: str
    attempt: int
    voucher: str
    market: str
    header_name: str
    amount: int
    reason: str
    detail: str
    trace_id: str
    at: str
    place: str  # of its first charge
    charges: tuple[tuple[Identity, int], ...]


def ledger_id(connection: apsw.Connection) -> str:
    """The ledger's own ID."""
    found: str = connection.execute("SELECT ledger_id FROM ledger").get
    return found


def _ask(connection: apsw.Connection, tickets: Iterable[str]) -> None:
    connection.execute(_ASKED)
    connection.execute("DELETE FROM asked")
    connection.executemany("INSERT OR IGNORE INTO asked VALUES (?)", ((ticket,) for ticket in tickets))


def holdings(connection: apsw.Connection, tickets: Iterable[str]) -> Holdings:
    """What is known of these tickets' charges; an attempt still `sending` counts as unknown.

    Everything is asked as one set, so the time grows with the tickets asked for, not with the ledger.
    """
    with connection:
        _ask(connection, tickets)
        shown = elsewhere.of_asked(connection)
        held = {holding.identity: holding for holding in shown}
        for row in connection.execute(_HELD):
            identity, rest = Identity(*row[:3]), list(row[3:])
            if rest[2] == "sending":
                rest[2], rest[12], rest[13] = ("unknown", "run_killed", "that run is still on, or was killed")
            held[identity] = Holding(identity, *rest)
        past = list(connection.execute(_PAST))
    doubted = [(Identity(*row[:3]), row[3]) for row in past if row[5]]
    return Holdings(
        held,
        frozenset(Identity(*row[:3]) for row in past if row[4]),
        Doubts(
            frozenset(identity for identity, _ in doubted),
            frozenset((identity.ticket_no, wire) for identity, wire in doubted if wire),
        ),
        _of_both_kinds([*held.values(), *shown]),
    )


def _of_both_kinds(known: Iterable[Holding]) -> frozenset[str]:
    """Tickets whose fare and refund went on both kinds of voucher, as only the carrier can have it."""
    kinds: dict[str, set[str]] = {}
    for holding in known:
        if holding.identity.charge in ("ticket_fare", "refund"):
            kinds.setdefault(holding.identity.ticket_no, set()).add(holding.voucher)
    return frozenset(ticket for ticket, found in kinds.items() if len(found) > 1)


def refusals(connection: apsw.Connection, tickets: Iterable[str]) -> dict[Identity, Refusal]:
    """The charges of these tickets whose last attempt the carrier refused."""
    with connection:
        _ask(connection, tickets)
        last = list(connection.execute(_LAST))
    return {Identity(*row[:3]): Refusal(row[3], row[4], row[5]) for row in last if row[6] == "rejected"}


def begin_run(
    connection: apsw.Connection, command: str, version: str, as_of: str, names: Sequence[str]
) -> int:
    """Record a run; its number. `runs.begin` is the way in, which brings it into the file itself."""
    connection.execute(
        "INSERT INTO run (command, version, as_of, files, started_at) VALUES (?, ?, ?, ?, ?)",
        (command, version, as_of, json.dumps(list(names), ensure_ascii=False), utc_now()),
    )
    return connection.last_insert_rowid()


def last_run(connection: apsw.Connection, phase: Phase) -> LastRun | None:
    """The last run that the ledger knows, to be noted beside it; None where it knows none."""
    row: Any = connection.execute(
        "SELECT ledger_id, run, started_at FROM ledger, run WHERE run = (SELECT max(run) FROM run)"
    ).get
    return None if row is None else LastRun(row[0], row[1], row[2], phase)


def end_open_runs(connection: apsw.Connection) -> None:
    """Mark runs that were killed as ended; they have no exit code."""
    connection.execute("UPDATE run SET ended_at = ? WHERE ended_at IS NULL", (utc_now(),))


def end_run(connection: apsw.Connection, run: int, exit_code: int | None) -> None:
    """Record how a run ended."""
    connection.execute(
        "UPDATE run SET ended_at = ?, exit_code = ? WHERE run = ?", (utc_now(), exit_code, run)
    )


def plan(
    connection: apsw.Connection,
    run: int,
    requests: Sequence[Request],
    places: Mapping[int, tuple[str, str, int]],
) -> list[Attempt]:
    """Write all requests and their first attempts of this run as `planned`, in one transaction.

    `places` says where each charge's row stands: file, sheet, row. A request that stands among them twice is refused.
    """
    attempts = []
    with connection:
        for begin in range(0, len(requests), _TOGETHER):
            some = requests[begin : begin + _TOGETHER]
            connection.execute(_PLAN_REQUESTS, (_as_json([*map(_request_values, some)]),))
            numbered = _numbered(connection, run, [request.request_id for request in some])
            attempts += [Attempt(*numbered[request.request_id], request) for request in some]
        charges = _charge_values(attempts, places)
        while together := list(islice(charges, _TOGETHER)):
            connection.execute(_PLAN_CHARGES, (_as_json(together),))
    return attempts


def _numbered(
    connection: apsw.Connection, run: int, request_ids: Sequence[str]
) -> dict[str, tuple[int, int]]:
    """New attempts at these requests: each one's ID and number, by the request's ID."""
    planned = connection.execute(_PLAN_ATTEMPTS, (_as_json(request_ids), run, utc_now()))
    return {request_id: (attempt_id, attempt) for request_id, attempt_id, attempt in planned}


def _as_json(values: Sequence[Any]) -> str:
    """For SQLite to take apart. As they are, not escaped: what is no text (half a character) is refused as it is handed over."""
    return json.dumps(values, ensure_ascii=False)


def _request_values(request: Request) -> tuple[Any, ...]:
    h = request.header
    header = (h.header_type, h.header_name, h.tax_no, h.phone, h.email, h.remarks)
    return (request.request_id, request.voucher, request.market, request.amount, *header)


def _charge_values(
    attempts: Iterable[Attempt], places: Mapping[int, tuple[str, str, int]]
) -> Iterator[tuple[Any, ...]]:
    for attempt in attempts:
        for charge in attempt.request.charges:
            identity = charge.identity
            # An itinerary's wire names the ticket alone; its fare is held by the charge's identity.
            yield (
                attempt.attempt_id, identity.ticket_no, identity.charge, identity.product, wire_text(charge.wire),
                attempt.request.voucher, charge.amount, *places[charge.row], attempt.request.content_of(charge),
            )  # fmt: skip


def _request_of(connection: apsw.Connection, request_id: str, attempt_id: int) -> Request:
    """A request as far as an answer to it has to be understood; passengers are not kept."""
    row: Any = connection.execute("SELECT * FROM request WHERE request_id = ?", (request_id,)).get
    charges = tuple(
        Charge(Identity(*found[:3]), "", found[3], -1, _wire_of(found[4]))
        for found in connection.execute(
            "SELECT ticket_no, charge, product, amount, wire FROM charge WHERE attempt_id = ?", (attempt_id,)
        )
    )
    return Request(row[1], row[2], Header(*row[4:]), charges)


def _wire_of(text: str) -> tuple[str, str] | None:
    """A code whose text is this one."""
    fee_type, _, product_type = text.partition("/")
    return (fee_type, product_type) if text else None


def unfinished(connection: apsw.Connection) -> bool:
    """Whether an earlier run left anything that is to be put in order."""
    found: int = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM attempt WHERE state = 'planned' OR state = 'sending')"
    ).get
    return bool(found)


def interrupted(connection: apsw.Connection) -> list[Interrupted]:
    """What an earlier run left in `sending`."""
    left = list(
        connection.execute(
            "SELECT attempt_id, request_id, http_status, answer, retry_after FROM attempt WHERE state = 'sending'"
        )
    )
    found = []
    for attempt_id, request_id, status, answer, retry_after in left:
        request = _request_of(connection, request_id, attempt_id)
        raw = None if answer is None else Answered(status, bytes(answer), retry_after or "")
        doubts = holdings(connection, [c.identity.ticket_no for c in request.charges]).doubts
        found.append(Interrupted(attempt_id, request, raw, doubts.about(request)))
    return found


def record_answer(connection: apsw.Connection, attempt_id: int, answer: Answered) -> None:
    """The raw answer of an attempt that is `sending`, as it came, the first time that it is recorded.

    `connection.changes()` is 0 if the attempt is not `sending`, or has its answer already.
    """
    connection.execute(
        "UPDATE attempt SET http_status = ?, answer = ?, retry_after = ?, answered_at = ?"
        " WHERE attempt_id = ? AND state = 'sending' AND answer IS NULL",
        (answer.http_status, answer.body, answer.retry_after, utc_now(), attempt_id),
    )


def as_recorded(connection: apsw.Connection, attempt_id: int, outcome: Outcome) -> Outcome:
    """What the ledger makes of an outcome.

    A number that another attempt has already is no number of this one: an answer that was meant for
    another request, perhaps. Then the outcome is unknown.
    """
    if outcome.state != "issued":
        return outcome
    taken: Any = connection.execute(
        "SELECT request_id FROM attempt WHERE number = ? AND state = 'issued' AND attempt_id <> ?",
        (outcome.number, attempt_id),
    ).get
    if not taken:
        return outcome
    detail = f"the answer brings number {outcome.number}, which request {taken} has already"
    return Outcome("unknown", "answer_unexplained", trace_id=outcome.trace_id, detail=detail)


def record_outcome(connection: apsw.Connection, attempt_id: int, outcome: Outcome) -> Outcome:
    """How an attempt that is `sending` ended, as it is recorded; `connection.changes()` is 0 if it is not."""
    outcome = as_recorded(connection, attempt_id, outcome)
    values = (outcome.state, outcome.reason, outcome.number, outcome.trace_id, outcome.detail, utc_now())
    connection.execute(
        "UPDATE attempt SET state = ?, reason = ?, number = ?, trace_id = ?, detail = ?, ended_at = ?"
        " WHERE attempt_id = ? AND state = 'sending'",
        (*values, attempt_id),
    )
    return outcome


def state_of(connection: apsw.Connection, attempt_id: int) -> str | None:
    """The state of an attempt, None where there is no such attempt."""
    found: str | None = connection.execute(
        "SELECT state FROM attempt WHERE attempt_id = ?", (attempt_id,)
    ).get
    return found


def number_of(connection: apsw.Connection, attempt_id: int) -> str:
    """The voucher number of an attempt that was issued, else ""."""
    found: str = connection.execute("SELECT number FROM attempt WHERE attempt_id = ?", (attempt_id,)).get
    return found


def drop_planned(connection: apsw.Connection) -> int:
    """Forget what was planned and never sent; how many attempts that were."""
    connection.execute("DELETE FROM attempt WHERE state = 'planned'")
    return connection.changes()


def in_doubt(connection: apsw.Connection, wanted: Iterable[tuple[str, int]]) -> list[InDoubt]:
    """The unknown attempts among these (request, attempt) pairs, with their contents."""
    found = []
    for request_id, number in wanted:
        row: Any = connection.execute(
            "SELECT attempt_id, voucher, market, header_name, request.amount, reason, detail, trace_id,"
            " coalesce(ended_at, sending_at), run FROM attempt JOIN request USING (request_id) WHERE request_id = ? AND attempt = ?",
            (request_id, number),
        ).get
        attempt_id, voucher, market, header_name, amount, reason, detail, trace_id, at, run = row
        charges: list[Any] = list(
            connection.execute(
                "SELECT ticket_no, charge, product, amount, file, sheet, row FROM charge WHERE attempt_id = ?"
                " ORDER BY 1, 2, 3",
                (attempt_id,),
            )
        )
        parts = tuple((Identity(*charge[:3]), charge[3]) for charge in charges)
        file, sheet, line = charges[0][4:]
        place = place_of(file, sheet, line, run)
        found.append(
            InDoubt(
                request_id,
                number,
                voucher,
                market,
                header_name,
                amount,
                reason,
                detail,
                trace_id,
                at,
                place,
                parts,
            )
        )
    return found


def history(connection: apsw.Connection, ticket_no: str) -> list[dict[str, Any]]:
    """Every attempt at every charge of a ticket, in time order."""
    cursor = connection.execute(_HISTORY, (ticket_no,))
    return [dict(zip((column[0] for column in cursor.get_description()), row, strict=True)) for row in cursor]


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
