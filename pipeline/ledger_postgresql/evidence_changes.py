"""What is noted of runs in a shared ledger, and what people and statements say of its attempts and vouchers.

Each is one function in the database (sql/evidence_functions.sql), which looks for what is against it while nobody else can change that,
and gives it back as facts; the sentences are those of the ledger of one machine.
"""

import datetime
import itertools
import json
from collections.abc import Iterable, Mapping
from typing import Any

from pipeline.ledger import carrier_move, issued_elsewhere, received_files, reversals, withdrawals
from pipeline.ledger.clock import utc_text
from pipeline.ledger.gaps import Gap
from pipeline.ledger.inbox_files import Handled
from pipeline.ledger.judgements import Judgement
from pipeline.ledger.reversals import Reversed, SaidReversed
from pipeline.ledger.run_people import RunPerson, named
from pipeline.ledger.settlements import NotSettled, Settlement
from pipeline.ledger.withdrawals import HeldBy, Withdrawn
from pipeline.ledger_postgresql.server_connection import LedgerConnection
from pipeline.ledger_postgresql.server_schema import About, about
from pipeline.ledger_postgresql.sqlstates import as_problem
from pipeline.model.errors import InputProblem
from pipeline.model.evidence import StatementLine
from pipeline.model.itinerary_file import CollectedFile
from pipeline.model.message import Message, Term, from_text, message, said, to_text
from pipeline.model.places import about as at_place
from pipeline.model.profile import Owner, Profile
from pipeline.model.request import Identity

_HOUR = 3600  # seconds
_TOGETHER = 10_000  # judgements in one statement at the most, so that neither side has much of them in memory


class EvidenceChanges:
    """A shared ledger's notes and evidence."""

    _connection: LedgerConnection

    @property
    def name(self) -> str:
        """What messages call it: its address, without a user."""
        return self._connection.name

    def note_people(self, run: int, people: Iterable[RunPerson]) -> None:
        """Record who had a hand in a run that is on."""
        values = [[one.role, one.person, one.plan, one.at] for one in named(people)]
        self._one("SELECT voucher.note_people(%s, %s)", run, _json(values))

    def note_judgements(self, run: int, made: Iterable[Judgement]) -> None:
        """Record how rows were judged, where that is new."""
        rest, before = iter(made), None
        with as_problem(), self._connection.transaction():
            while together := [*itertools.islice(rest, _TOGETHER)]:
                before = self._one("SELECT voucher.note_judgements(%s, %s, %s)", run, _json(together), before)

    def note_handled(self, run: int, handled: Handled) -> None:
        """Note that a file was dealt with by a run."""
        of = handled
        self._one(
            "SELECT voucher.note_handled(%s, %s, %s, %s, %s, %s, %s)",
            run, of.sha256, of.kind, of.name, of.result, of.fates, of.unfinished,
        )  # fmt: skip

    def note_files(self, run: int, collected: Iterable[CollectedFile]) -> None:
        """Note what itinerary files came to, where that is new."""
        values = [received_files.noted(one) for one in collected if one.new]
        self._one("SELECT voucher.note_files(%s, %s)", run, _json(values))

    def settle(self, attempt_id: int, settlement: Settlement) -> None:
        """Settle an unknown attempt, and record that.

        Raises NotSettled where it is not unknown any more or its number is another's, and for evidence that nothing was issued where the
        sender was not seen to end, and that is about a time no `settle_after` later than the sending: the request may still be on its way.
        """
        of = settlement
        values = {
            "state": of.state, "number": of.number, "settled_by": of.settled_by, "evidence": to_text(said(of.evidence)),
            "answered": of.answered,
        }  # fmt: skip
        against = self._one(
            "SELECT voucher.settle(%s, %s, coalesce(%s, clock_timestamp()))",
            attempt_id,
            _json(values),
            of.as_of,
        )
        if against is not None:
            raise NotSettled(_not_settled(against))

    def hold_elsewhere(self, run: int, lines: Iterable[tuple[StatementLine, str]], found_by: str) -> None:
        """Hold the charges of these statement lines, each with its code for the carrier."""
        values = [issued_elsewhere.shown(line, wire) for line, wire in lines]
        self._one("SELECT voucher.hold_elsewhere(%s, %s, %s)", run, _json(values), found_by)

    def reverse(self, said_of: SaidReversed, run: int | None = None) -> Reversed:
        """Record that the carrier has reversed a voucher, and let its charges go. Raises InputProblem where it can't have been."""
        of = said_of
        values = {
            "number": of.number, "voucher": of.voucher, "red_number": of.red_number, "reversed_by": of.reversed_by,
            "evidence": to_text(said(of.evidence)),
        }  # fmt: skip
        done = self._one("SELECT voucher.reverse(%s, %s)", _json(values), run)
        if against := done.get("refused"):
            entry = done.get("entry", "")
            raise reversals.refused(against, of.number, entry=entry, red_number=of.red_number)
        return Reversed(
            done["entry"], done["voucher"], of.number, utc_text(_time(done["at"])),
            tuple((Identity(*charge), amount) for *charge, amount in done["charges"]),
            run is not None,
        )  # fmt: skip

    def withdraw(self, entry: str, *, withdrawn_by: str, why: str) -> Withdrawn:
        """Withdraw an entry as the history names it. Raises InputProblem, with nothing changed, where that can't be."""
        name, kind, number = withdrawals.entry_of(entry)
        done = self._one("SELECT voucher.withdraw(%s, %s, %s, %s)", kind, number, withdrawn_by, why)
        if "refused" in done:
            raise _not_withdrawn(name, done)
        if kind == "settlement":
            return Withdrawn(name, kind, withdrawals.about(done["request_id"], done["attempt"]))
        return Withdrawn(name, kind, done["number"])

    def mark_gap(self, since: str, why: Message) -> None:
        """Record that what was issued after `since` (UTC, ISO 8601) may be missing: nothing is claimed from when this returns."""
        self._one("SELECT voucher.mark_gap(%s::timestamptz, %s)", since, to_text(why))

    def close_gaps(self, closed_by: str, evidence: Message) -> list[Gap]:
        """Record what shows that nothing is missing any more, which begins an epoch; the gaps that this closes."""
        with as_problem():
            closed = self._connection.execute(
                "SELECT since, why FROM voucher.close_gaps(%s, %s) ORDER BY since",
                (closed_by, to_text(evidence)),
            ).fetchall()
        return [Gap(utc_text(since), from_text(why)) for since, why in closed]

    def deny_gap(self, why: Message, said_by: str, evidence: Message) -> None:
        """Record a gap from what is known until, and in the same change that nothing is missing."""
        self._one("SELECT voucher.deny_gap(%s, %s, %s)", to_text(why), said_by, to_text(evidence))

    def move(self, to: Owner, moved_by: str, why: str) -> None:
        """Let it belong to the carrier at its new address; nothing but that where it belongs to it already.

        Raises InputProblem while a run is on, which goes on sending to the old one, and where something else is against it.
        """
        found = about(self._connection)
        old = Owner(found.base_url, found.agency)
        if old == to:
            return
        if against := carrier_move.obstacle(old, to):
            raise InputProblem(at_place(self.name, against))
        done = self._one(
            "SELECT voucher.move_carrier(%s, %s, %s, %s)",
            [old.base_url, old.agency], [to.base_url, to.agency], moved_by, why,
        )  # fmt: skip
        if done.get("refused") == "run_is_on":
            raise InputProblem(
                "{path}: a run is on that began at {since} UTC; let it end before the ledger moves",
                path=self.name,
                since=_minute(_time(done["since"])),
            )
        if done.get("refused"):  # by somebody else, since it was looked at
            self.move(to, moved_by, why)

    def _one(self, sql: str, *given: Any) -> Any:
        with as_problem():
            row = self._connection.execute(sql, given).fetchone()
        return row[0] if row else None


def check_settle_after(profile: Profile, ledger: About) -> None:
    """Raise InputProblem where the profile takes silence for a proof sooner than the ledger does, which would refuse it every time."""
    hours, needed = profile.reconcile.settle_after_hours, ledger.settle_after / _HOUR
    if hours is not None and hours < needed:
        raise InputProblem(
            "settle_after_hours in the profile is {hours}, and this ledger takes nothing for a proof that nothing was issued before {needed} hours;"
            " set it to {needed}, or to more",
            hours=f"{hours:g}",
            needed=f"{needed:g}",
        )


def _json(values: Any) -> str:
    return json.dumps(values, ensure_ascii=False)


def _time(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text).astimezone(datetime.UTC)


def _minute(time: datetime.datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M}"


def _not_settled(against: Mapping[str, Any]) -> Message:
    """Why evidence settles nothing."""
    if against["refused"] == "not_unknown":
        number = against["number"]
        state = message("issued as {number}", number=number) if number else Term(against["state"], "status")
        return message("is not unknown any more: it is {state}; this evidence changes nothing", state=state)
    if against["refused"] == "number_taken":
        return message(
            "{number} is another voucher's by now; this evidence changes nothing", number=against["number"]
        )
    times = {
        "as_of": _minute(_time(against["as_of"])),
        "since": _minute(_time(against["from"]) + datetime.timedelta(minutes=1)),
    }
    if against["refused"] == "too_early":
        return message(
            "is not settled as not issued yet: its sender had not ended by {as_of} UTC, which this evidence is of. Bring evidence of {since} UTC or"
            " later",
            **times,
        )
    return message(
        "is not settled as not issued yet: worker {worker} ({machine}), which was sending it, was not seen to end, and this evidence is of"
        " {as_of} UTC. Bring evidence of {since} UTC or later; or, if that worker has ended: voucher ledger declare-dead {worker} --how HOW",
        worker=against["worker"],
        machine=against["machine"],
        **times,
    )


def _not_withdrawn(name: str, against: Mapping[str, Any]) -> InputProblem:
    """Why an entry can't be withdrawn."""
    match against["refused"]:
        case "missing":
            return withdrawals.missing(name)
        case "withdrawn_already":
            return withdrawals.withdrawn_already(name)
        case "reversed_since":
            asked = against["request_id"], against["attempt"]
            return withdrawals.reversed_since(name, asked, against["number"], against["reversal"])
        case _:
            return withdrawals.held_by_another(name, HeldBy(*(against[of] for of in HeldBy._fields)))
