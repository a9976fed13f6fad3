"""Vouchers that the carrier has reversed (red invoices): then, and only then, their charges may be issued again.

A reversal is a record beside what it is about: the attempt stays issued, what a statement showed stays shown, and neither
holds its charges any more, which the database sees to (`reversal_lets_go`). The number is never another attempt's.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import apsw

from pipeline.ledger.clock import utc_now
from pipeline.model.errors import InputProblem
from pipeline.model.message import Message, said, to_text
from pipeline.model.request import Identity

#: Why a reversal can't be recorded.
Against = Literal["recorded_already", "not_issued", "of_both_kinds", "red_is_issued", "was_withdrawn"]
_STANDING = """
SELECT reversal, voucher, reversed_at, attempt_id, run IS NOT NULL
FROM reversal WHERE number = ? AND withdrawn = 0 ORDER BY reversal
"""
_ISSUED = """
SELECT request.voucher, attempt_id FROM attempt JOIN request USING (request_id) WHERE state = 'issued' AND number = ?1
UNION ALL
SELECT DISTINCT voucher, NULL FROM elsewhere WHERE number = ?1 AND live = 1
"""
_CHARGES = """
SELECT ticket_no, charge, product, amount FROM charge WHERE attempt_id = ?1
UNION
SELECT ticket_no, charge, product, coalesce(amount, 0) FROM elsewhere WHERE number = ?2 AND voucher = ?3 AND withdrawn = 0
AND (?1 IS NULL OR ticket_no IN (SELECT ticket_no FROM charge WHERE attempt_id = ?1))
ORDER BY 1, 2, 3
"""


@dataclass(frozen=True)
class Reversed:
    """A voucher that was reversed, with the charges that it lets go (amounts in minor units).

    `entry` is how the history names the record; `at` is when it was recorded (UTC, ISO 8601).
    `by_red_line`: a run found it on a statement; else a person said so.
    """

    entry: str
    voucher: str
    number: str
    at: str
    charges: tuple[tuple[Identity, int], ...]
    by_red_line: bool


@dataclass(frozen=True)
class SaidReversed:
    """What is said of a voucher that the carrier has reversed, and by whom.

    `voucher` (invoice, itinerary) is needed only where both kinds have the number; `red_number` is that of what reversed it, "" where
    it is not known.
    """

    number: str
    reversed_by: str
    evidence: str | Message
    voucher: str = ""
    red_number: str = ""


def reverse(connection: apsw.Connection, said_of: SaidReversed, run: int | None = None) -> Reversed:
    """Record that the carrier has reversed a voucher, and let its charges go; `run` where a run found it out.

    Raises InputProblem if the ledger does not hold the number as issued, or has it as reversed already, or knows `red_number` as
    a voucher's; with a run, also if its reversal was withdrawn.
    """
    number, voucher, red_number = said_of.number, said_of.voucher, said_of.red_number
    with connection:
        before = [one for one in standing(connection, [number]) if voucher in ("", one.voucher)]
        if before:
            raise refused("recorded_already", number, entry=before[0].entry)
        found = _issued(connection, number)
        kinds = [kind for kind in found if voucher in ("", kind)]
        if len(kinds) != 1:
            raise refused("of_both_kinds" if kinds else "not_issued", number)
        check_red(connection, number, red_number)
        if run is not None and (entry := _withdrawn(connection, number, kinds[0])):
            raise refused("was_withdrawn", number, entry=entry)
        connection.execute(
            "INSERT INTO reversal (run, voucher, number, attempt_id, red_number, reversed_by, evidence, reversed_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                run,
                kinds[0],
                number,
                found[kinds[0]],
                red_number,
                said_of.reversed_by,
                to_text(said(said_of.evidence)),
                utc_now(),
            ),
        )
    return next(one for one in standing(connection, [number]) if one.voucher == kinds[0])


def refused(against: Against, number: str, *, entry: str = "", red_number: str = "") -> InputProblem:
    """That the reversal of a voucher can't be recorded, and why; `entry` is the record that is in its way."""
    match against:
        case "recorded_already":
            return InputProblem(
                "{number}: its reversal is recorded already ({entry}); nothing was changed",
                number=number,
                entry=entry,
            )
        case "not_issued":
            return InputProblem(
                "{number}: no voucher of this number is held as issued, so there is nothing to let go;"
                " check the number (voucher history, voucher ledger export)",
                number=number,
            )
        case "of_both_kinds":
            return InputProblem(
                "{number}: is the number of an invoice and of an itinerary; say which with --voucher",
                number=number,
            )
        case "red_is_issued":
            return InputProblem(
                "{red_number} can't be the number of what reversed {number}: the ledger knows it as that"
                " of a voucher; nothing was changed. Ask the carrier for the red voucher's number, or"
                " leave it out",
                red_number=red_number,
                number=number,
            )
        case "was_withdrawn":
            return InputProblem(
                "reverses {number}, and that reversal was withdrawn ({entry}); nothing was changed. If"
                " the carrier has reversed it after all: voucher ledger reverse",
                number=number,
                entry=entry,
            )


def check_red(connection: apsw.Connection, number: str, red_number: str) -> None:
    """Raise InputProblem if what is said to have reversed a voucher is itself a voucher that was issued to somebody."""
    found: int = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM attempt WHERE state = 'issued' AND number = ?1)"
        " OR EXISTS (SELECT 1 FROM elsewhere WHERE number = ?1 AND withdrawn = 0)",
        (red_number,),
    ).get
    if found:
        raise refused("red_is_issued", number, red_number=red_number)


def _withdrawn(connection: apsw.Connection, number: str, voucher: str) -> str:
    """The withdrawn reversal of a voucher, "" for none: a statement goes on listing its red line."""
    found: Any = connection.execute(
        "SELECT max(reversal) FROM reversal WHERE number = ? AND voucher = ? AND withdrawn = 1",
        (number, voucher),
    ).get
    return f"R{found}" if found else ""


def standing(connection: apsw.Connection, numbers: Iterable[str]) -> list[Reversed]:
    """The reversals of these numbers, but for those that were withdrawn."""
    found = []
    for number in numbers:
        for reversal, voucher, at, attempt_id, by_run in list[Any](connection.execute(_STANDING, (number,))):
            charges = connection.execute(_CHARGES, (attempt_id, number, voucher))
            parts = tuple((Identity(*charge[:3]), charge[3]) for charge in charges)
            found.append(Reversed(f"R{reversal}", voucher, number, at, parts, bool(by_run)))
    return found


def names(connection: apsw.Connection, number: str) -> bool:
    """Whether a number is that of a voucher that was reversed, or of what reversed it."""
    found: int = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM reversal WHERE number = ?1 AND withdrawn = 0)"
        " OR EXISTS (SELECT 1 FROM reversal WHERE red_number = ?1 AND withdrawn = 0)",
        (number,),
    ).get
    return bool(found)


def red(connection: apsw.Connection, number: str) -> tuple[str, str] | None:
    """(entry, the number that it reverses) of a reversal whose red voucher has this number; None where none has."""
    found: Any = connection.execute(
        "SELECT 'R' || reversal, number FROM reversal WHERE red_number = ? AND withdrawn = 0", (number,)
    ).get
    return found  # type: ignore[no-any-return]


def charges_of(connection: apsw.Connection, number: str) -> dict[Identity, int]:
    """The charges of a voucher that is held as issued, in minor units (0: not known); none of a number that is not."""
    found: dict[Identity, int] = {}
    for kind, attempt_id in _issued(connection, number).items():
        for row in connection.execute(_CHARGES, (attempt_id, number, kind)):
            found[Identity(*row[:3])] = row[3]
    return found


def _issued(connection: apsw.Connection, number: str) -> dict[str, int | None]:
    """The kinds of voucher that are held as issued under a number, each with its attempt; None: statements alone show it."""
    found: dict[str, int | None] = {}
    for kind, attempt_id in connection.execute(_ISSUED, (number,)):
        found[kind] = attempt_id or found.get(kind)
    return found


def by_charge(connection: apsw.Connection) -> dict[Identity, Reversed]:
    """The charges of vouchers that were reversed, each with the last of its reversals."""
    rows = connection.execute("SELECT DISTINCT number FROM reversal WHERE withdrawn = 0")
    found = standing(connection, [number for (number,) in rows])
    return {
        identity: one
        for one in sorted(found, key=lambda one: int(one.entry[1:]))
        for identity, _ in one.charges
    }
