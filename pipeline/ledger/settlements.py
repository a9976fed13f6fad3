"""Unknown outcomes, and the evidence that settles them.

The database refuses a settlement of anything but an unknown attempt, a second one while one stands, evidence that was
withdrawn, and a number that another attempt has or that was reversed; a settlement and the state that follows from it are
one change.
"""

import datetime
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import apsw

from pipeline.ledger import clock, reversals
from pipeline.ledger.clock import utc_now
from pipeline.model.errors import LedgerProblem
from pipeline.model.evidence import Unsettled
from pipeline.model.message import NOTHING, Message, from_text, message, said, to_text
from pipeline.model.places import held_at
from pipeline.model.request import Identity

_ATTEMPTS = """
SELECT attempt_id, request_id, attempt, voucher, market, header_name, request.amount, reason, detail, trace_id,
       sending_at, coalesce(ended_at, sending_at), run, epoch_id, header_type, tax_no, {denial}
FROM attempt JOIN epoch USING (epoch) JOIN request USING (request_id) {which} ORDER BY attempt_id
"""
_UNKNOWN = _ATTEMPTS.format(denial="''", which="WHERE state = 'unknown'")
_NAMED = _ATTEMPTS.format(
    denial="''", which="WHERE (request_id, attempt) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))"
)
#: The attempts at charges of one that a standing settlement calls not issued.
_DENIED = _ATTEMPTS.format(
    denial="'S' || settlement",
    which="""JOIN settlement USING (attempt_id) WHERE settlement.state = 'not_sent' AND settlement.withdrawn = 0 AND attempt_id IN (
    SELECT same.attempt_id FROM charge JOIN charge AS same USING (ticket_no, charge, product) WHERE charge.attempt_id = ?
)""",
)
_CALLED_NOT_ISSUED = """
SELECT ticket_no, charge, product, 'S' || settlement, request_id, attempt
FROM settlement JOIN attempt USING (attempt_id) JOIN charge USING (attempt_id)
WHERE settlement.state = 'not_sent' AND settlement.withdrawn = 0 AND ticket_no IN (SELECT value FROM json_each(?)) ORDER BY settlement
"""
_CHARGES = """
SELECT ticket_no, charge, product, wire, amount, file, sheet, row FROM charge WHERE attempt_id = ? ORDER BY 1, 2, 3
"""
#: When an attempt was sent, and the earlier ones at its charges that were in doubt too, but for those that a voucher followed
#: before it which was reversed since. Later ones don't count: a withdrawal may have put it in doubt again after them.
_ASKED = """
SELECT DISTINCT asked.sending_at, asked.run
FROM charge JOIN charge AS same USING (ticket_no, charge, product) JOIN attempt AS asked ON asked.attempt_id = same.attempt_id
WHERE charge.attempt_id = ? AND asked.was_unknown = 1 AND asked.attempt_id <= charge.attempt_id AND NOT EXISTS (
    SELECT 1 FROM charge AS gone JOIN attempt USING (attempt_id)
    WHERE (gone.ticket_no, gone.charge, gone.product) = (same.ticket_no, same.charge, same.product)
      AND gone.attempt_id >= asked.attempt_id AND gone.attempt_id < charge.attempt_id AND attempt.state = 'issued' AND gone.live = 0
)
"""


@dataclass(frozen=True)
class Known:
    """What the ledger says of an attempt that somebody gives an answer about. `epoch`: the ID of the epoch that it is of; `entry`: the
    settlement that stands, "" for none.
    """

    attempt_id: int
    epoch: str
    state: str
    number: str
    entry: str


@dataclass(frozen=True)
class Settlement:
    """What an unknown attempt is settled as: issued under a number, or not_sent; with the evidence, and who says so.

    `answered` is the evidence as a person typed it, "" where a statement alone says it. `as_of` is the moment that the evidence is about:
    when a statement was made; None: now, as a person's answer is.
    """

    state: str
    number: str
    settled_by: str
    evidence: str | Message
    answered: str = ""
    as_of: datetime.datetime | None = None


class NotSettled(LedgerProblem):
    """Evidence does not settle an attempt, and why; nothing was changed, and others may be settled."""


def unsettled(connection: apsw.Connection) -> list[Unsettled]:
    """Every attempt whose outcome is unknown, in the order in which they were made."""
    return [
        replace(one, denied=tuple(_attempts(connection, _DENIED, one.attempt_id)))
        for one in _attempts(connection, _UNKNOWN)
    ]


def called_not_issued(connection: apsw.Connection, tickets: Iterable[str]) -> dict[Identity, Message]:
    """The charges of these tickets that a standing settlement calls not issued, with what to do where they were issued after all."""
    return {
        Identity(*row[:3]): message(
            "{entry} says that it was not issued (request {request}, attempt {attempt}). If this is its voucher, withdraw that (voucher"
            " ledger withdraw {entry}), and reconcile with this statement again",
            entry=row[3], request=row[4], attempt=row[5],
        )
        for row in connection.execute(_CALLED_NOT_ISSUED, (json.dumps([*tickets]),))
    }  # fmt: skip


def in_flight(connection: apsw.Connection) -> int:
    """How many attempts are `sending`: of the run that is on, or of one that was killed."""
    found: int = connection.execute("SELECT count(*) FROM attempt WHERE state = 'sending'").get
    return found


def contents(connection: apsw.Connection, wanted: Iterable[tuple[str, int]]) -> list[Unsettled]:
    """The attempts of these (request, attempt) pairs, unknown or still `sending`, with all that is in them, in the order of the pairs."""
    found = _attempts(connection, _NAMED, json.dumps(sorted(wanted)))
    return sorted(found, key=lambda one: (one.request_id, one.attempt))


def _attempts(connection: apsw.Connection, sql: str, *given: int | str) -> list[Unsettled]:
    found = []
    rows: list[Any] = list(connection.execute(sql, given))
    asked = {row[0]: list[Any](connection.execute(_ASKED, row[:1])) for row in rows}
    doubtful = clock.doubtful_runs(connection, (run for times in asked.values() for _, run in times))
    for row in rows:
        values, (run, epoch, header_type, tax_no, denial) = list[Any](row[:12]), row[12:]
        values[8] = from_text(values[8])
        charges: list[Any] = list(connection.execute(_CHARGES, (values[0],)))
        file, sheet, line = charges[0][5:]
        parts = tuple((Identity(*charge[:3]), charge[3], charge[4]) for charge in charges)
        place = held_at(file, sheet, line, run)
        times = asked[row[0]]
        first_asked = "" if any(of in doubtful for _, of in times) else min(times, default=("",))[0]
        found.append(
            Unsettled(  # type: ignore[misc]
                *values,
                place=place,
                charges=parts,
                times_doubtful=run in doubtful,
                epoch=epoch,
                header_type=header_type,
                tax_no=tax_no,
                first_asked=first_asked,
                denial=denial,
            )
        )
    return found


def known(connection: apsw.Connection, request_id: str, attempt: int) -> Known | None:
    """The attempt of that number at a request; None where there is no such attempt.

    An answer is about it only if it names its epoch too: another history may have given out the same number.
    """
    row: Any = connection.execute(
        "SELECT attempt_id, epoch_id, state, number,"
        " coalesce((SELECT 'S' || settlement FROM settlement WHERE settlement.attempt_id = attempt.attempt_id AND withdrawn = 0), '')"
        " FROM attempt JOIN epoch USING (epoch) WHERE request_id = ? AND attempt = ?",
        (request_id, attempt),
    ).get
    return None if row is None else Known(*row)


def withdrawn_before(connection: apsw.Connection, attempt_id: int, settlement: Settlement) -> str:
    """The entry that was withdrawn and stands in the way of settling an attempt so; "" where none does.

    What was withdrawn is settled again only by somebody's answer with other words (`answered`) or another name; a
    statement alone ("") never says it again, for it is the same statement under any file's name.
    """
    rows: Any = connection.execute(
        "SELECT settlement, settled_by, answered FROM settlement WHERE attempt_id = ? AND state = ? AND number = ?"
        " AND withdrawn = 1 ORDER BY settlement DESC",
        (attempt_id, settlement.state, settlement.number),
    )
    by, answered = _plain(settlement.settled_by), _plain(settlement.answered)
    for entry, before, typed in list(rows):
        same = (_plain(before), _plain(typed)) == (by, answered)
        if not settlement.answered or same:
            return f"S{entry}"
    return ""


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def number_taken(connection: apsw.Connection, number: str) -> Message:
    """What has this number, for a message: another request that is issued, or a reversal; nothing where nothing has."""
    found: str | None = connection.execute(
        "SELECT request_id FROM attempt WHERE state = 'issued' AND number = ?", (number,)
    ).get
    if found:
        return message("another request ({request_id})", request_id=found)
    return message("a voucher that was reversed") if reversals.names(connection, number) else NOTHING


def settle(connection: apsw.Connection, attempt_id: int, settlement: Settlement) -> None:
    """Settle an unknown attempt, and record that."""
    of = settlement
    with connection:
        connection.execute(
            "INSERT INTO settlement (attempt_id, state, number, settled_by, evidence, settled_at, answered)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                attempt_id,
                of.state,
                of.number,
                of.settled_by,
                to_text(said(of.evidence)),
                utc_now(),
                of.answered,
            ),
        )
        connection.execute(
            "UPDATE attempt SET state = ?, number = ? WHERE attempt_id = ?", (of.state, of.number, attempt_id)
        )
