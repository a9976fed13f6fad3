"""Everything that can be wrong with a ledger, looked for in all of it: `voucher ledger check`.

Reading only, in one transaction, so that a run that is on does not disturb it. The time it takes grows
with the ledger; `opening` looks at what must be right before each run, whose time does not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from pipeline.ledger import schema
from pipeline.ledger.gaps import Gap, open_gap
from pipeline.ledger.runs import begun_and_not_ended
from pipeline.model.message import N_, Fact, Message, joined, message

#: What must not be there, by SQL that finds it: the rules that triggers enforce, looked at from outside.
_MUST_NOT_BE = {
    N_("a charge that is held, or not held, against the state of its attempt"): """
        SELECT ticket_no, attempt_id FROM charge JOIN attempt USING (attempt_id)
        WHERE live <> (state IN ('sending', 'issued', 'unknown') AND NOT EXISTS (
            SELECT 1 FROM reversal WHERE reversal.attempt_id = attempt.attempt_id AND withdrawn = 0))""",
    N_("a charge in two live attempts"): """
        SELECT ticket_no || ' ' || charge || '/' || product FROM charge
        WHERE live = 1 GROUP BY ticket_no, charge, product HAVING count(*) > 1""",
    N_("a ticket with both kinds of voucher for its fare and refund"): """
        SELECT ticket_no FROM charge WHERE live = 1 AND charge IN ('ticket_fare', 'refund')
        GROUP BY ticket_no HAVING count(DISTINCT voucher) > 1""",
    N_("a number that two requests have"): """
        SELECT number FROM attempt WHERE state = 'issued' GROUP BY number HAVING count(*) > 1""",
    N_("an attempt at nothing"): """
        SELECT NULL, attempt_id FROM attempt
        WHERE NOT EXISTS (SELECT 1 FROM charge WHERE charge.attempt_id = attempt.attempt_id)""",
    N_("an attempt whose charges are not its request's total"): """
        SELECT NULL, attempt_id FROM attempt JOIN request USING (request_id)
        WHERE request.amount <> (SELECT sum(amount) FROM charge WHERE charge.attempt_id = attempt.attempt_id)""",
    N_("an attempt that ended without a time"): """
        SELECT NULL, attempt_id FROM attempt
        WHERE state NOT IN ('planned', 'sending') AND ended_at IS NULL""",
    N_("a settlement that its attempt does not follow"): """
        SELECT NULL, attempt_id FROM settlement JOIN attempt USING (attempt_id)
        WHERE withdrawn = 0 AND (settlement.state <> attempt.state OR settlement.number <> attempt.number)""",
    N_("a withdrawn settlement that its attempt still follows"): """
        SELECT NULL, attempt_id FROM attempt
        WHERE state <> 'unknown' AND EXISTS (SELECT 1 FROM settlement WHERE settlement.attempt_id = attempt.attempt_id)
          AND NOT EXISTS (SELECT 1 FROM settlement WHERE settlement.attempt_id = attempt.attempt_id AND withdrawn = 0)""",
    N_("an entry marked as withdrawn, or not, against what is recorded"): """
        SELECT 'S' || settlement FROM settlement
        WHERE withdrawn <> EXISTS (SELECT 1 FROM withdrawal WHERE withdrawal.settlement = settlement.settlement)
        UNION ALL SELECT 'E' || elsewhere FROM elsewhere
        WHERE withdrawn <> EXISTS (SELECT 1 FROM withdrawal WHERE withdrawal.elsewhere = elsewhere.elsewhere)
        UNION ALL SELECT 'R' || reversal FROM reversal
        WHERE withdrawn <> EXISTS (SELECT 1 FROM withdrawal WHERE withdrawal.reversal = reversal.reversal)""",
    N_("what a statement showed that is held, or not held, against what is recorded"): """
        SELECT 'E' || elsewhere FROM elsewhere
        WHERE live <> (withdrawn = 0 AND NOT EXISTS (
            SELECT 1 FROM reversal
            WHERE reversal.number = elsewhere.number AND reversal.voucher = elsewhere.voucher AND reversal.withdrawn = 0
            AND (attempt_id IS NULL OR ticket_no IN (SELECT ticket_no FROM charge WHERE attempt_id = reversal.attempt_id))))""",
    N_("a reversal of what is not issued"): """
        SELECT 'R' || reversal FROM reversal LEFT JOIN attempt USING (attempt_id)
        WHERE withdrawn = 0 AND attempt_id IS NOT NULL AND (attempt.state IS NOT 'issued' OR attempt.number IS NOT reversal.number)""",
    N_("an itinerary that two files are received for"): """
        SELECT number FROM received_file WHERE status = 'received' GROUP BY number HAVING count(DISTINCT sha256) > 1""",
    N_("a file received for what was not issued under its number"): """
        SELECT NULL, attempt_id FROM received_file JOIN attempt USING (attempt_id)
        WHERE status = 'received' AND attempt.number <> received_file.number AND NOT EXISTS (
            SELECT 1 FROM settlement
            WHERE settlement.attempt_id = attempt.attempt_id AND settlement.number = received_file.number AND withdrawn = 1)""",
    N_("an attempt of an epoch that is not there"): """
        SELECT NULL, attempt_id FROM attempt WHERE epoch NOT IN (SELECT epoch FROM epoch)""",
    N_("a doubt that is not remembered"): """
        SELECT NULL, attempt_id FROM attempt LEFT JOIN settlement USING (attempt_id)
        WHERE was_unknown = 0 AND (attempt.state = 'unknown' OR settlement.attempt_id IS NOT NULL)""",
    N_("a charge that was sent though a statement had shown it as issued elsewhere"): """
        SELECT DISTINCT charge.ticket_no, attempt_id
        FROM elsewhere JOIN charge USING (ticket_no) JOIN attempt USING (attempt_id)
        WHERE attempt.state <> 'planned' AND attempt.run >= elsewhere.run AND elsewhere.live = 1 AND NOT EXISTS (
            SELECT 1 FROM reversal WHERE reversal.number = elsewhere.number AND reversal.voucher = elsewhere.voucher
        ) AND (
            (elsewhere.charge = charge.charge AND elsewhere.product IN (charge.product, ''))
            OR (elsewhere.wire = charge.wire AND charge.wire <> '')
            OR (elsewhere.voucher <> charge.voucher AND elsewhere.charge IN ('ticket_fare', 'refund')
                AND charge.charge IN ('ticket_fare', 'refund'))
        )""",
}
_SHOWN = 5


@dataclass(frozen=True)
class Looked:
    """What a ledger holds, and what is wrong with it (nothing, if it is sound)."""

    version: int
    base_url: str
    agency: str
    runs: int
    states: dict[str, int]
    open_since: str | None  # a run that has not ended: on now, or killed
    gap: Gap | None
    wrong: tuple[Message, ...]


def look(connection: apsw.Connection) -> Looked:
    """Look at all of a ledger that is open for reading."""
    connection.execute("BEGIN")
    try:
        base_url, agency = connection.execute("SELECT base_url, agency FROM ledger").get
        return Looked(
            version=connection.pragma("user_version"),
            base_url=base_url,
            agency=agency,
            runs=connection.execute("SELECT count(*) FROM run").get,
            states=dict(
                connection.execute("SELECT state, count(*) FROM attempt GROUP BY state ORDER BY state")
            ),
            open_since=begun_and_not_ended(connection),
            gap=open_gap(connection),
            wrong=tuple(_wrong(connection)),
        )
    finally:
        connection.execute("COMMIT")


def _wrong(connection: apsw.Connection) -> Iterator[Message]:
    """Line by line; SQLite's own check of the file first."""
    for (line,) in connection.execute("PRAGMA integrity_check"):
        if line != "ok":
            yield message("the file is damaged: {line}", line=line)
    for name in schema.differences(connection):
        yield message("the ledger's rules were changed: {name}", name=name)
    for table, row, other, _ in connection.execute("PRAGMA foreign_key_check"):
        yield message(
            "{table} {row} refers to a {other} that is not there", table=table, row=str(row), other=other
        )
    for what, query in _MUST_NOT_BE.items():
        if found := sorted(map(_place, connection.execute(query)), key=str):
            yield message("{what}: {found}", what=Message(what), found=_first(found))


def _place(row: Sequence[Any]) -> Fact:
    """What a query has found: an attempt, a ticket of one, or a name as it is."""
    match row:
        case (None, int(attempt)):
            return message("attempt {attempt}", attempt=attempt)
        case (str(ticket), int(attempt)):
            return message("{ticket} of attempt {attempt}", ticket=ticket, attempt=attempt)
        case _:
            return str(row[0])


def _first(found: Sequence[Fact]) -> Fact:
    """The first of what was found, and how many more there are."""
    first, more = joined(found[:_SHOWN]), len(found) - _SHOWN
    return first if more <= 0 else message("{first} and {more} more", first=first, more=more)
