"""A ledger's file in which all happened that can: by chance, over some runs, through the ledger's own moves and refusals."""

import contextlib
import datetime
import random
from pathlib import Path
from typing import Any

import apsw

from pipeline.ledger import (
    attempts,
    gaps,
    inbox_files,
    issued_elsewhere,
    judgements,
    opening,
    received_files,
    reversals,
    run_people,
    runs,
    settlements,
    withdrawals,
)
from pipeline.ledger import planning as planning_of
from pipeline.ledger.clock import utc_text
from pipeline.ledger.inbox_files import Handled
from pipeline.ledger.judgements import Judgement
from pipeline.ledger.reversals import SaidReversed
from pipeline.ledger.run_people import RunPerson
from pipeline.ledger.settlements import Settlement
from pipeline.model.errors import InputProblem
from pipeline.model.evidence import StatementLine
from pipeline.model.itinerary_file import CheckedFile, CollectedFile, FileStatus, ItineraryData, SealStatus
from pipeline.model.message import message, verbatim
from pipeline.model.outcome import Answered, Outcome
from pipeline.model.request import Charge, Header, Identity, Request
from tests.contract.ledgers import OWNER, WIRE

TICKETS = [f"999{number:010}" for number in range(40)]
BUYERS = [
    Header("business", f"Trading {number} 有限公司", f"9111000060003734{number}L", "", "finance@example.com")
    for number in range(4)
]
ZONE = "Asia/Shanghai"
RUNS = 7
_PEOPLE = ("chen", "li", "wang")


class Life:
    """One ledger's, drawn by a seed."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path = path
        self.chance = random.Random(seed)
        self.last_number = 0

    def lived(self) -> None:
        """Write it, in good order at its end."""
        self.connection, self.lock = opening.open_for_run(self.path, OWNER, may_create=True)
        with contextlib.closing(self.lock), contextlib.closing(self.connection):
            for at in range(RUNS):
                # A wrong clock had written what came before.
                corrected = ("2099-01-01T00:00:00.000+00:00", "chen") if at == RUNS - 2 else None
                self._run(corrected)
                if at == RUNS - 1:
                    self._chain()
                self._afterwards()

    def _run(self, corrected: tuple[str, str] | None) -> None:
        start = runs.RunStart(self.chance.choice(["issue", "reconcile"]), "2026-11-20", ["五月 “1”.xlsx"])
        run = runs.begin(self.connection, self.lock, start, corrected)
        people = [RunPerson("sent", self.chance.choice(_PEOPLE)), RunPerson("approved", "zhao", "ab" * 32)]
        run_people.note(self.connection, run, people)
        judgements.note(self.connection, run, [self._judgement() for _ in range(20)])
        self._send(run)
        for _ in range(6):
            self._evidence(run)
        for kind in ("tickets", "statement", "resolved"):
            one = Handled(
                self._sha(), kind, f"{kind}.xlsx", "", self.chance.choice(["", "named"]), self._yes()
            )
            inbox_files.record(self.connection, run, one)
        runs.end(self.connection, self.lock, run, self.chance.choice([0, 1, 4]))

    def _send(self, run: int) -> None:
        wanted = {one.request_id: one for one in (self._request() for _ in range(14))}
        places = {0: ("tickets.xlsx", "Tickets", self.chance.randrange(2, 90))}
        planned = planning_of.plan(
            self.connection, run, [*wanted.values()], places, lambda _: ('{"fare": 100}', '{"部门": "A"}')
        )
        for one in planned:
            with contextlib.suppress(apsw.ConstraintError):  # held by another: it is dropped at the end
                self.connection.execute(
                    "UPDATE attempt SET state = 'sending', sending_at = ? WHERE attempt_id = ?",
                    (self._now(), one.attempt_id),
                )
                attempts.record_answer(self.connection, one.attempt_id, Answered(200, b"\x00answer\xff"))
                attempts.record_outcome(self.connection, one.attempt_id, self._outcome())

    def _chain(self) -> None:
        """In a run of its own: what is in doubt, was denied before together with another charge, which was in doubt before that."""
        first, second = (self._charge(one, "ticket_fare") for one in TICKETS[30:32])
        run = runs.begin(self.connection, self.lock, runs.RunStart("issue", "2026-11-20"))
        for charges in ((second,), (first, second), (first,)):
            request = Request("invoice", "domestic", BUYERS[0], charges)
            (one,) = planning_of.plan(self.connection, run, [request], {0: ("tickets.xlsx", "Tickets", 2)})
            self.connection.execute(
                "UPDATE attempt SET state = 'sending', sending_at = ? WHERE attempt_id = ?",
                (utc_text(datetime.datetime.now(datetime.UTC)), one.attempt_id),
            )
            attempts.record_outcome(self.connection, one.attempt_id, Outcome("unknown", "no_answer"))
            if charges != (first,):
                settlements.settle(
                    self.connection, one.attempt_id, Settlement("not_sent", "", "li", "letter")
                )
        runs.end(self.connection, self.lock, run, 4)

    def _now(self) -> str:
        slipped = self.chance.random() < 0.06  # a clock that was put back
        moment = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=3 if slipped else 0)
        return utc_text(moment)

    def _request(self) -> Request:
        header = self.chance.choice(BUYERS)
        tickets = self.chance.sample(TICKETS[:30], self.chance.choice([1, 1, 2, 4]))
        if len(tickets) == 1 and self._yes():
            return Request("itinerary", "domestic", header, (self._charge(tickets[0], "ticket_fare"),))
        kind = self.chance.choice(["ticket_fare", "ancillary", "refund"])
        return Request("invoice", "domestic", header, tuple(self._charge(one, kind) for one in tickets))

    def _charge(self, ticket: str, kind: str) -> Charge:
        product = self.chance.choice(["baggage", "seat"]) if kind == "ancillary" else "flight"
        return Charge(Identity(ticket, kind, product), "张/伟", 100_00, 0, (WIRE[kind], product.title()))

    def _outcome(self) -> Outcome:
        state = self.chance.choice(
            ["issued", "issued", "issued", "rejected", "not_sent", "unknown", "unknown"]
        )
        if state == "issued":
            return Outcome("issued", number=self._number())
        return Outcome(state, "no_answer", detail=message("seen: {what}", what="“no”"))

    def _number(self) -> str:
        self.last_number += 1
        return f"N{self.last_number:05}"

    def _evidence(self, run: int) -> None:
        """Something that somebody says, or a statement or a file shows: whether it can be or not."""
        unknown = settlements.unsettled(self.connection)
        numbers = self._numbers()
        with contextlib.suppress(apsw.ConstraintError, InputProblem):
            match self.chance.randrange(5):
                case 0 if unknown:
                    number = self.chance.choice(["", self._number()])
                    said = Settlement(
                        "issued" if number else "not_sent", number, "li", "letter", self._words()
                    )
                    settlements.settle(self.connection, self.chance.choice(unknown).attempt_id, said)
                case 1 if numbers:
                    number = self.chance.choice(numbers)
                    said_of = SaidReversed(
                        number, "li", "red line", "", self.chance.choice(["", f"E{number}"])
                    )
                    reversals.reverse(self.connection, said_of, run)
                case 2 if numbers:
                    self._file(run, self.chance.choice([*numbers, "", self._number()]))
                case _:
                    number = self.chance.choice([*numbers, self._number()])
                    line = StatementLine(
                        self.chance.choice(["invoice", "itinerary"]), number, self.chance.choice(TICKETS[:30]), "ticket_fare",
                        "flight", 100_00, datetime.date(2026, 11, 20), "Acme", message("s.csv, row {row}", row=run), "s.csv",
                    )  # fmt: skip
                    issued_elsewhere.record(
                        self.connection, run, [(line, (self._yes() and "FARE/Flight") or "")], "li"
                    )

    def _file(self, run: int, number: str) -> None:
        one = file_about(number, self.chance.choice(TICKETS), self._sha(), archived=f"2026-11/{number}.ofd")
        of = received_files.known(self.connection, [one], ZONE).by_number.get(number)
        status = "received" if of else self.chance.choice(["unknown_ticket", "differs"])
        received_files.note(self.connection, run, [CollectedFile(one, FileStatus(status), of=of)])

    def _afterwards(self) -> None:
        """What is said outside runs."""
        for kind, table in (("S", "settlement"), ("E", "elsewhere"), ("R", "reversal")):
            last: Any = self.connection.execute(f"SELECT max({table}) FROM {table}").get
            if last and self.chance.random() < 0.6:
                with contextlib.suppress(InputProblem, apsw.ConstraintError):
                    entry = f"{kind}{self.chance.randint(1, last)}"
                    withdrawals.withdraw(self.connection, entry, withdrawn_by="wang", why="misheard")
        if self.chance.random() < 0.3:
            gaps.mark_gap(self.connection, self._now(), verbatim("it is a backup"))
            gaps.close_gaps(self.connection, "chen", verbatim("the statement"))

    def _numbers(self) -> list[str]:
        found = self.connection.execute(
            "SELECT number FROM attempt WHERE state = 'issued' UNION SELECT number FROM elsewhere ORDER BY 1"
        )
        return [number for (number,) in found]

    def _judgement(self) -> Judgement:
        status = self.chance.choice(["ready", "waiting"])
        return Judgement(
            self.chance.choice(TICKETS), "ticket_fare", "flight", "invoice", 100_00, status, "ticket_still_open", "a.xlsx", "Tickets", 2
        )  # fmt: skip

    def _sha(self) -> str:
        return f"{self.chance.randrange(30):064x}"

    def _words(self) -> str:
        return self.chance.choice(["", "letter of the carrier", "telephone"])

    def _yes(self) -> bool:
        return self.chance.random() < 0.5


def file_about(number: str, ticket: str, sha256: str, archived: str = "") -> CheckedFile:
    """An itinerary file."""
    buyer = BUYERS[0]
    data = ItineraryData(number, (ticket,), buyer.header_name, buyer.tax_no, total=100_00)
    return CheckedFile(("mail.eml", "a.ofd"), sha256, data, SealStatus.NONE, archived=archived)
