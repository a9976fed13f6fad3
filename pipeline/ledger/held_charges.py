"""What the ledger knows of charges: of some tickets, before anything is planned; of a time, to compare with a statement."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import apsw

from pipeline.ledger import clock, issued_elsewhere
from pipeline.model.known_charges import (
    Doubts,
    KnownCharge,
    KnownCharges,
    Refusal,
)
from pipeline.model.message import NOTHING, from_text, message
from pipeline.model.request import Identity

_ASKED = "CREATE TEMP TABLE IF NOT EXISTS asked (ticket_no TEXT PRIMARY KEY) WITHOUT ROWID"

_STILL_SENDING = message("that run is still on, or was killed")
_IN_HAND = message("another run of this ledger is sending it now")

#: A charge as KnownCharge has it.
_KNOWN = """
SELECT charge.ticket_no, charge.charge, charge.product, charge.wire, charge.voucher, attempt.state, attempt.number,
       charge.amount, request.header_type, request.header_name, request.tax_no, attempt.request_id, attempt.attempt,
       attempt.run, coalesce(attempt.ended_at, attempt.sending_at), attempt.reason, attempt.detail,
       charge.file, charge.sheet, charge.row
"""

# CROSS JOIN: SQLite goes through what is asked for first, and looks each ticket up. Left to its own judgement it went
# through every charge of the ledger instead (sqlite.org/optoverview.html, manual control of query plans).
_HELD = f"""{_KNOWN}
FROM asked CROSS JOIN charge USING (ticket_no) CROSS JOIN attempt USING (attempt_id) CROSS JOIN request USING (request_id)
WHERE charge.live = 1
"""

#: What the carrier has reversed since is issued no more (`reversals`).
_BETWEEN = f"""{_KNOWN}, request.market
FROM attempt JOIN charge USING (attempt_id) JOIN request USING (request_id)
WHERE attempt.state = 'issued' AND attempt.ended_at >= ? AND attempt.ended_at < ? AND charge.live = 1
"""

#: Of each charge, by what the carrier was told it is: whether any attempt was a no to an invoice of
#: several, and whether any attempt was ever unknown. Of one whose voucher was reversed nothing is left in doubt.
_PAST = """
SELECT charge.ticket_no, charge.charge, charge.product, charge.wire,
       max(attempt.state = 'rejected' AND (SELECT count(*) FROM charge AS c WHERE c.attempt_id = attempt.attempt_id) > 1),
       max(attempt.was_unknown)
FROM asked CROSS JOIN charge USING (ticket_no) CROSS JOIN attempt USING (attempt_id)
WHERE (attempt.state = 'rejected' OR attempt.was_unknown) AND NOT (attempt.state = 'issued' AND charge.live = 0)
GROUP BY 1, 2, 3, 4
"""

#: Of each charge, its last attempt (the row of the greatest ID: sqlite.org/lang_select.html, bare columns).
_LAST = """
SELECT charge.ticket_no, charge.charge, charge.product, charge.content, attempt.detail, attempt.state,
       charge.live, attempt.number, max(attempt.attempt_id)
FROM asked CROSS JOIN charge USING (ticket_no) CROSS JOIN attempt USING (attempt_id)
WHERE attempt.state <> 'planned' GROUP BY 1, 2, 3
"""


def _ask(connection: apsw.Connection, tickets: Iterable[str]) -> None:
    connection.execute(_ASKED)
    connection.execute("DELETE FROM asked")
    connection.executemany("INSERT OR IGNORE INTO asked VALUES (?)", ((ticket,) for ticket in tickets))


def holdings(connection: apsw.Connection, tickets: Iterable[str], *, heard: bool = False) -> KnownCharges:
    """What is known of these tickets' charges; an attempt still `sending` counts as unknown.

    `heard`: whoever sends is heard, so that such an attempt is in hand, and not what a killed run left. Everything is asked as one set, so
    the time grows with the tickets asked for, not with the ledger.
    """
    with connection:
        _ask(connection, tickets)
        shown = issued_elsewhere.of_asked(connection)
        held = {holding.identity: holding for holding in shown}
        for row in connection.execute(_HELD):
            identity, rest = Identity(*row[:3]), list(row[3:])
            rest[13] = from_text(rest[13])
            sending = rest[2] == "sending"
            if sending:
                rest[2], rest[12], rest[13] = "unknown", "run_killed", _IN_HAND if heard else _STILL_SENDING
            known = KnownCharge(identity, *rest)
            held[identity] = replace(known, in_hand=True) if heard and sending else known
        past = list(connection.execute(_PAST))
    doubted = [(Identity(*row[:3]), row[3]) for row in past if row[5]]
    return KnownCharges(
        held,
        frozenset(Identity(*row[:3]) for row in past if row[4]),
        Doubts(
            frozenset(identity for identity, _ in doubted),
            frozenset((identity.ticket_no, wire) for identity, wire in doubted if wire),
        ),
        _of_both_kinds([*held.values(), *shown]),
    )


def _of_both_kinds(known: Iterable[KnownCharge]) -> frozenset[str]:
    """Tickets whose fare and refund went on both kinds of voucher, as only the carrier can have it."""
    kinds: dict[str, set[str]] = {}
    for holding in known:
        if holding.identity.charge in ("ticket_fare", "refund"):
            kinds.setdefault(holding.identity.ticket_no, set()).add(holding.voucher)
    return frozenset(ticket for ticket, found in kinds.items() if len(found) > 1)


def refusals(connection: apsw.Connection, tickets: Iterable[str]) -> dict[Identity, Refusal]:
    """The charges of these tickets whose last attempt the carrier refused, or whose voucher it reversed after that.

    Somebody had a reason to have it reversed: that it may be issued again does not say that it is to be.
    """
    with connection:
        _ask(connection, tickets)
        last = list(connection.execute(_LAST))
        found = issued_elsewhere.reversed_of_asked(connection)
    # What was asked for such a charge is not known, so that no row of it is another one.
    known = {identity: Refusal("", NOTHING, number) for identity, number in found}
    for *charge, content, detail, state, live, number, _ in last:
        identity = Identity(*charge)
        known.pop(identity, None)
        if state == "rejected":
            known[identity] = Refusal(content, from_text(detail))
        elif state == "issued" and not live:
            known[identity] = Refusal(content, NOTHING, number)
    return known


def issued_between(connection: apsw.Connection, since: str, until: str) -> dict[Identity, KnownCharge]:
    """The charges that were issued from `since` on and before `until` (UTC, ISO 8601), by what they are.

    As fast in an old ledger as in a new one.
    """
    rows: list[Any] = list(connection.execute(_BETWEEN, (since, until)))
    doubtful = clock.doubtful_runs(connection, (row[13] for row in rows))
    return {
        Identity(*row[:3]): replace(
            KnownCharge(Identity(*row[:3]), *[*row[3:16], NOTHING, *row[17:20]]),
            market=row[20],
            times_doubtful=row[13] in doubtful,
        )
        for row in rows
    }
