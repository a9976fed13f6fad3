"""Evidence that was given by mistake is withdrawn: it stays as it was given, marked, and counts no more.

What follows is done by the database together with the withdrawal: an attempt whose settlement is withdrawn is unknown
again and its charges are held; what a statement showed holds its charge no longer; a reversed voucher is issued after all.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import apsw

from pipeline.ledger.clock import utc_now
from pipeline.model.errors import InputProblem
from pipeline.model.message import Message, Term, message

#: An entry is named by its kind's letter and its number there.
_KINDS = {"S": "settlement", "E": "elsewhere", "R": "reversal"}
_SETTLEMENT = """
SELECT attempt_id, settlement.state, settlement.number, request_id, attempt, withdrawn
FROM settlement JOIN attempt USING (attempt_id) WHERE settlement = ?
"""
#: Where charges of an attempt are held by another one, so that they can't be held by this one too.
_HELD_BY_ANOTHER = """
SELECT other.ticket_no, request_id, attempt, state, number
FROM charge JOIN charge AS other USING (ticket_no) JOIN attempt ON attempt.attempt_id = other.attempt_id
WHERE charge.attempt_id = ?1 AND other.attempt_id <> ?1 AND other.live = 1 AND (
    (other.charge = charge.charge AND other.product = charge.product)
    OR (other.wire = charge.wire AND charge.wire <> '')
    OR (other.voucher <> charge.voucher AND other.charge IN ('ticket_fare', 'refund')
        AND charge.charge IN ('ticket_fare', 'refund'))
)
ORDER BY other.attempt_id LIMIT 1
"""


class Entry(NamedTuple):
    """An entry as it is named: what it is (settlement, elsewhere, reversal), and its number there."""

    name: str
    kind: str
    number: int


class HeldBy(NamedTuple):
    """A ticket that another attempt holds; `number` is that attempt's, "" where it is not issued."""

    ticket: str
    request_id: str
    attempt: int
    state: str
    number: str


@dataclass(frozen=True)
class Withdrawn:
    """An entry that counts no more. `kind`: settlement, elsewhere or reversal.

    `what` names what it was about: the request and attempt of a settlement, the number of the others.
    """

    entry: str
    kind: str
    what: str | Message


def withdraw(connection: apsw.Connection, entry: str, *, withdrawn_by: str, why: str) -> Withdrawn:
    """Withdraw an entry (S12, E7, R3) as the history names it.

    Raises InputProblem, with nothing changed, for an entry that is not there or is withdrawn already, and where it can't
    be undone because others have gone on from it.
    """
    name, kind, number = entry_of(entry)
    with connection:
        row: Any = connection.execute(f"SELECT withdrawn FROM {kind} WHERE {kind} = ?", (number,)).get  # noqa: S608 - one of three names
        if row is None:
            raise missing(name)
        if row:
            raise withdrawn_already(name)
        what = _OF_KIND[kind](connection, name, number)
        connection.execute(
            f"INSERT INTO withdrawal ({kind}, withdrawn_by, why, withdrawn_at) VALUES (?, ?, ?, ?)",  # noqa: S608 - likewise
            (number, withdrawn_by, why, utc_now()),
        )
    return Withdrawn(name, kind, what)


def entry_of(text: str) -> Entry:
    """The entry that somebody names. Raises InputProblem for what is no such name."""
    found = re.fullmatch(r"([SER])([1-9][0-9]{0,17})", text.strip().upper())
    if found is None:
        raise InputProblem(
            "{entry}: is not the name of an entry; voucher history shows them, such as S12 or E7", entry=text
        )
    return Entry(found[0], _KINDS[found[1]], int(found[2]))


def missing(name: str) -> InputProblem:
    """That there is no entry of this name."""
    return InputProblem(
        "{name}: there is no such entry in this ledger; voucher history shows them", name=name
    )


def withdrawn_already(name: str) -> InputProblem:
    """That an entry was withdrawn before."""
    return InputProblem("{name}: is withdrawn already; nothing was changed", name=name)


def reversed_since(name: str, asked: tuple[str, int], number: str, reversal: str) -> InputProblem:
    """That what an entry settles (a request, an attempt) was issued for certain, as its voucher was reversed."""
    return InputProblem(
        "{name}: says that request {request_id}, attempt {attempt} was issued as {number}, which"
        " the carrier has reversed since ({reversal}), so it was issued; nothing was changed. If"
        " the reversal is the mistake, withdraw {reversal}",
        name=name,
        request_id=asked[0],
        attempt=asked[1],
        number=number,
        reversal=reversal,
    )


def _settlement(connection: apsw.Connection, name: str, settlement: int) -> Message:
    attempt_id, state, number, request_id, attempt, _ = connection.execute(_SETTLEMENT, (settlement,)).get
    reversal: Any = connection.execute(
        "SELECT 'R' || reversal FROM reversal WHERE attempt_id = ? AND withdrawn = 0", (attempt_id,)
    ).get
    if reversal is not None:
        raise reversed_since(name, (request_id, attempt), number, reversal)
    if state == "not_sent":
        _check_free(connection, name, attempt_id)
    return about(request_id, attempt)


def about(request_id: str, attempt: int) -> Message:
    """What a settlement was about."""
    return message("{request}, {attempt}", request=request_id, attempt=attempt)


def _check_free(connection: apsw.Connection, name: str, attempt_id: int) -> None:
    """Raise InputProblem if a charge of this attempt is held by another one: in two it would be held in neither for sure."""
    held: Any = connection.execute(_HELD_BY_ANOTHER, (attempt_id,)).get
    if held is not None:
        raise held_by_another(name, HeldBy(*held))


def held_by_another(name: str, by: HeldBy) -> InputProblem:
    """That an entry can't be withdrawn, for what would be held again is held by another attempt."""
    if by.state == "issued":
        cure = message(
            "If the carrier has issued both, have {number} reversed and record that (voucher ledger reverse"
            " {number}), then withdraw {name}",
            number=by.number,
            name=name,
        )
    else:
        cure = message(
            "Settle that attempt first (voucher reconcile, with the carrier's statement); if it was not"
            " issued, withdraw {name} then",
            name=name,
        )
    return InputProblem(
        "{name}: ticket {ticket} is held by another attempt, request {request_id}, attempt"
        " {attempt} ({state}), so that this one can't hold it again; nothing was changed. {cure}",
        name=name,
        ticket=by.ticket,
        request_id=by.request_id,
        attempt=by.attempt,
        state=Term(by.state, "status"),
        cure=cure,
    )


def _elsewhere(connection: apsw.Connection, _name: str, elsewhere: int) -> str:
    number: str = connection.execute("SELECT number FROM elsewhere WHERE elsewhere = ?", (elsewhere,)).get
    return number


def _reversal(connection: apsw.Connection, name: str, reversal: int) -> str:
    number, attempt_id = connection.execute(
        "SELECT number, attempt_id FROM reversal WHERE reversal = ?", (reversal,)
    ).get
    if attempt_id is not None:
        _check_free(connection, name, attempt_id)
    return str(number)


_OF_KIND: Mapping[str, Callable[[apsw.Connection, str, int], str | Message]] = {
    "settlement": _settlement,
    "elsewhere": _elsewhere,
    "reversal": _reversal,
}
