"""A real ledger file with a bit of everything that can be told of a ticket."""

import contextlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import apsw

from pipeline.ledger import (
    attempts,
    carrier_move,
    gaps,
    inbox_files,
    issued_elsewhere,
    judgements,
    opening,
    planning,
    received_files,
    reversals,
    run_people,
    runs,
    settlements,
)
from pipeline.ledger.inbox_files import Handled
from pipeline.ledger.judgements import Judgement
from pipeline.ledger.run_people import RunPerson
from pipeline.ledger.settlements import Settlement
from pipeline.ledger.withdrawals import withdraw
from pipeline.model.evidence import StatementLine
from pipeline.model.itinerary_file import (
    CheckedFile,
    CollectedFile,
    FileStatus,
    ItineraryData,
    SealStatus,
)
from pipeline.model.message import message, verbatim
from pipeline.model.outcome import Answered, Outcome
from pipeline.model.profile import Owner
from pipeline.model.request import (
    Charge,
    Header,
    Identity,
    Request,
)

OWNER = Owner("http://127.0.0.1:8080", "DEMO")
TICKET = "9990000000001"
FARE = Identity(TICKET, "ticket_fare", "flight")
HEADER = Header(
    "business", "Example Trading Co.", "91110000600037341L", "+86 10 8520 0000", "finance@example.com", "=1+1"
)
PLACES = {row: ("tickets.xlsx", "Tickets", row) for row in range(20)}
WAITING = Judgement(
    *FARE.__getstate__(), "invoice", 617_25, "waiting", "ticket_still_open", "tickets.xlsx", "Tickets", 2
)  # type: ignore[attr-defined]
#: Of a plan that was approved long before it was sent.
PLAN, APPROVED = "ab12" * 16, "2020-01-01T08:30:00.000+00:00"
HANDS = [
    RunPerson("approved", "qian", PLAN, APPROVED), RunPerson("prepared", "zhao", at=APPROVED),
    RunPerson("proposed", "zhao", at=APPROVED), RunPerson("sent", "sun"), RunPerson("reconciled", " "),
]  # fmt: skip


def fare(row: int = 2, amount: int = 617_25) -> Request:
    return Request(
        "invoice", "domestic", HEADER, (Charge(FARE, "ZHANG/WEI", amount, row, ("FARE", "Flight")),)
    )


def ancillaries() -> Request:
    """One invoice of two charges of the ticket."""
    charges = (
        Charge(Identity(TICKET, "ancillary", product), "ZHANG/WEI", 55_50, row, ("EXTRA", product.title()))
        for row, product in ((3, "seat"), (4, "meal"))
    )
    return Request("invoice", "international", HEADER, tuple(charges))


def _a_moment() -> None:
    """What comes next has a time of its own, which the ledger notes in milliseconds."""
    time.sleep(0.002)


def sent(
    connection: apsw.Connection, run: int, request: Request, outcome: Outcome, status: int | None = None
) -> int:
    _a_moment()
    (attempt,) = planning.plan(connection, run, [request], PLACES)
    connection.execute(
        "UPDATE attempt SET state = 'sending', sending_at = planned_at WHERE attempt_id = ?",
        (attempt.attempt_id,),
    )
    if status is not None:
        attempts.record_answer(connection, attempt.attempt_id, Answered(status, b"sealed", ""))
    attempts.record_outcome(connection, attempt.attempt_id, outcome)
    return attempt.attempt_id


@contextmanager
def being_told(path: Path) -> Iterator[apsw.Connection]:
    """The ledger while its third run is on: judged, lost, settled, refused, issued, and issued elsewhere."""
    connection, lock = opening.open_for_run(path, OWNER, may_create=True)
    with contextlib.closing(lock), contextlib.closing(connection):
        _a_moment()
        run = runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20", ["tickets.xlsx"]))
        run_people.note(connection, run, HANDS)
        _a_moment()
        judgements.note(connection, run, [WAITING])
        lost = sent(
            connection, run, fare(), Outcome("unknown", "no_answer", detail=message("the connection broke"))
        )
        refused = Outcome("rejected", "carrier_rejected", trace_id="t-2", detail=verbatim("too late\x1b[31m"))
        sent(connection, run, ancillaries(), refused, 200)
        _a_moment()
        run_people.note(connection, run, [RunPerson("stopped", "sun")])
        runs.end(connection, lock, run, 4)
        _a_moment()
        run = runs.begin(connection, lock, runs.RunStart("reconcile", "2026-11-21", ["october.csv"]))
        _a_moment()
        settlements.settle(connection, lost, Settlement("not_sent", "", "chen", "not on october.csv"))
        _a_moment()
        line = StatementLine(
            "itinerary",
            "20179525833603931965",
            TICKET,
            "ancillary",
            "",
            None,
            None,
            "Acme",
            "october.csv, row 7",
            "october.csv",
        )
        dated = replace(line, charge="refund", product="flight", number="77", voucher="invoice", amount=5_00)
        others = [replace(dated, ticket_no="9990000000003", number=number) for number in ("88", "89")]
        issued_elsewhere.record(connection, run, [(line, ""), (dated, "REFUND_FEE/Flight")], "chen")
        issued_elsewhere.record(connection, run, [(other, "REFUND_FEE/Flight") for other in others], "chen")
        reversals.reverse(
            connection, reversals.SaidReversed("88", "li", "november.csv, row 2", red_number="90")
        )
        withdraw(connection, "E4", withdrawn_by="li", why="another agency's")
        _a_moment()
        judgements.note(connection, run, [WAITING._replace(status="ready", reasons="", row=5)])
        sent(connection, run, fare(5), Outcome("issued", number="017952583360393196", trace_id="t-1"), 200)
        inbox_files.record(
            connection, run, Handled("ab12", "statement", "october.csv", "", "", unfinished=False)
        )
        _a_moment()
        data = ItineraryData("2" * 20, (TICKET,), total=617_25)
        file = CheckedFile(("a.eml", "b.ofd"), "ab" * 32, data, SealStatus.NONE, archived="2026-11/b.ofd")
        odd = CollectedFile(file, FileStatus.DIFFERS, (message("the seal does not fit the file"),))
        received_files.note(connection, run, [odd])
        _a_moment()
        runs.end(connection, lock, run, 0)
        _a_moment()
        carrier_move.move(connection, Owner("http://127.0.0.1:9090", "DEMO"), "chen", "new port")
        _a_moment()
        gaps.mark_gap(connection, "2026-11-21T00:00:00.000+00:00", verbatim("restored copy"))
        _a_moment()
        gaps.close_gaps(connection, "li", verbatim("nothing after the 20th"))
        _a_moment()
        runs.begin(connection, lock, runs.RunStart("issue", "2026-11-22", ["other.xlsx"]))
        yield connection
