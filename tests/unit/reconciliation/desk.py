"""A desk with a real ledger in a run, what is brought to it - workbooks, statements, answers -, and what is told there."""

import csv
import datetime
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import openpyxl

from pipeline.ledger import gaps, planning, runs
from pipeline.ledger.inbox_files import Handled
from pipeline.ledger.session import OpenLedger
from pipeline.model.evidence import Answer, Evidence, Statement, StatementLine
from pipeline.model.job import Job, Task, Watch
from pipeline.model.message import from_text, to_text, verbatim
from pipeline.model.outcome import Outcome
from pipeline.model.places import row_at
from pipeline.model.profile import Carrier, Codes, Profile, Secrets
from pipeline.model.request import Charge, Header, Identity, Request
from pipeline.model.settled import Decided
from pipeline.model.table import Table
from pipeline.reconciliation.comparison_inputs import compared
from pipeline.reconciliation.inbox import Batch
from pipeline.reconciliation.record_settlements import settle
from pipeline.reconciliation.resubmit import Again, again
from pipeline.settlement.reconciliation_result import Reconciliation
from pipeline.submission.sending_run import Run
from tests.conftest import AS_OF, GOOD
from tests.crash.wire_server import API_KEY, ENCRYPTION_KEY, Line, Server

PROFILE = Profile(
    codes=Codes(
        fee_type={"ticket_fare": "FARE", "ancillary": "EXTRA"},
        product_type={"flight": "Flight", "seat": "Seat"},
        header_type={"business": "BUSINESS", "individual": "PERSONAL"},
    )
)
KEYS = Secrets(API_KEY, ENCRYPTION_KEY)
BY = "Night Shift"
HEADINGS = ("voucher", "number", "ticket_no", "charge", "product", "amount", "issued_at", "buyer")


def in_words(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(str(from_text(value)) if isinstance(value, str) else value for value in row)


def ticket(number: int) -> str:
    return f"999{number:010}"


@dataclass
class Desk:
    """A ledger in a run, and what is brought to it."""

    ledger: OpenLedger
    run: int
    logged: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    noted: list[str] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)

    @property
    def watch(self) -> Watch:
        return Watch(
            lambda said: self.noted.append(str(said)),
            lambda _: None,
            lambda _: True,
            lambda said: self.warned.append(str(said)),
            lambda event, **facts: self.logged.append((event, facts)),
        )

    def job(self, *inputs: Path, profile: Profile = PROFILE, **changes: Any) -> Job:
        given: dict[str, Any] = {"ledger": str(self.ledger.path), "as_of": AS_OF, **changes}
        return Job(inputs, profile, given.pop("secrets", None), **given)

    def task(self, *inputs: Path, job: Mapping[str, Any] | None = None, **given: Any) -> Task:
        return Task(self.job(*inputs, **(job or {})), BY, **given)

    def run_of(self, job: Job) -> Run:
        return Run("reconcile", job, self.ledger, self.run, job.secrets or Secrets("", ""), self.watch)

    def sent(
        self, number: int, outcome: Outcome, at: str = "2026-11-20T00:00:00.000+00:00"
    ) -> planning.Attempt:
        """An attempt that ended so, then."""
        identity = Identity(ticket(number), "ticket_fare", "flight")
        charge = Charge(identity, "ZHANG/WEI", 1000, number, ("F", "P"))
        header = Header("individual", "Li Na", "", "", "l@example.com")
        request = Request("itinerary", "domestic", header, (charge,))
        connection, places = self.ledger._connection, {number: ("o.xlsx", "Tickets", number)}
        (attempt,) = planning.plan(connection, self.run, [request], places)
        of = attempt.attempt_id
        connection.execute(
            "UPDATE attempt SET state = 'sending', sending_at = ? WHERE attempt_id = ?", (at, of)
        )
        connection.execute(
            "UPDATE attempt SET state = ?, reason = ?, number = ?, trace_id = ?, detail = ?, ended_at = ? WHERE attempt_id = ?",
            (
                outcome.state,
                outcome.reason,
                outcome.number,
                outcome.trace_id,
                to_text(outcome.detail),
                at,
                of,
            ),
        )
        return attempt

    def doubt(self, number: int) -> planning.Attempt:
        return self.sent(number, Outcome("unknown", "no_answer"))

    def answer(self, about: planning.Attempt, resolution: str, number: str = "", **changes: Any) -> Answer:
        place = row_at("answered.xlsx", "Unknown", about.attempt_id)
        said = Answer(
            self.ledger.epoch,
            about.request.request_id,
            about.attempt,
            resolution,
            number,
            "Wang",
            "tel.",
            place,
        )
        return replace(said, **changes)

    def settle(self, *answers: Answer, **given: Any) -> Decided:
        evidence = Evidence((), answers, (), None, BY)
        return settle(self.run_of(Job((), PROFILE, None)), replace(evidence, **given))

    def rows(self, sql: str) -> list[Any]:
        """The rows of a query, with messages in words."""
        return [in_words(row) for row in self.ledger._connection.execute(sql)]

    def states(self) -> list[tuple[str, str]]:
        return self.rows("SELECT state, number FROM attempt ORDER BY attempt_id")

    def gap(self, since: str = "2026-11-01T00:00:00.000+00:00") -> None:
        """The ledger was put back and may lack what was issued since then; the run is another one."""
        gaps.mark_gap(self.ledger._connection, since, verbatim("a copy was put back"))
        self.run = runs.begin(
            self.ledger._connection, self.ledger.lock, runs.RunStart("reconcile", str(AS_OF))
        )


def line(number: int, voucher_number: str, **changes: Any) -> StatementLine:
    plain = StatementLine(
        "itinerary", voucher_number, ticket(number), "ticket_fare", "flight", 1000, None, "Li Na", verbatim(f"s.csv, row {number}"), "s.csv",
    )  # fmt: skip
    return replace(plain, **changes)


def statement(*lines: StatementLine, **given: Any) -> tuple[Statement]:
    return (Statement("s.csv", "0" * 64, datetime.datetime.now(datetime.UTC), lines, **given),)


def old(path: Path, seconds: float = 3600) -> Path:
    """A file that was last written to some time ago, so that nobody is taken to be writing to it."""
    written = path.stat().st_mtime - seconds
    os.utime(path, (written, written))
    return path


def workbook(
    path: Path, *rows: Mapping[str, Any], sheets: Mapping[str, Sequence[Sequence[Any]]] | None = None
) -> Path:
    """Rows of tickets that are GOOD with these changes, and other sheets as they are."""
    book = openpyxl.Workbook()
    book.active.title = "Tickets"
    names = list(dict.fromkeys([*GOOD, *(name for row in rows for name in row)]))
    if rows:
        book.active.append(names)
    for row in rows:
        book.active.append([{**GOOD, **row}.get(name, "") for name in names])
    for name, lines in (sheets or {}).items():
        sheet = book.create_sheet(name)
        for cells in lines:
            sheet.append(list(cells))
    book.save(path)
    return old(path)


def statement_file(path: Path, *lines: StatementLine, above: Sequence[Sequence[str]] = ()) -> Path:
    """A statement as a text that lists these lines; what stands above its headings, too."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerows([*above, HEADINGS])
        for one in lines:
            amount = "" if one.amount is None else f"{one.amount / 100:.2f}"
            charge = (one.charge, one.product, amount, one.issued_text, one.buyer)
            writer.writerow([one.voucher, one.number, one.ticket_no, *charge])
    return old(path)


def problems(decided: Decided) -> list[tuple[str, str, str]]:
    return [(one.code, str(one.place), str(one.message)) for one in decided.troubles]


UNKNOWN = ("ledger", "request", "attempt", "resolution", "number", "resolved_by", "evidence")


def answers_file(path: Path, *answers: Answer, tickets: Sequence[Mapping[str, Any]] = ()) -> Path:
    """A workbook in whose sheet Unknown these answers were filled in, beside rows of tickets."""
    lines = [(one.ledger_id, one.request_id, one.attempt, *one.typed) for one in answers]
    return workbook(path, *tickets, sheets={"Unknown": [UNKNOWN, *lines]})


@contextmanager
def refusing() -> Iterator[Profile]:
    """A carrier that refuses the key, as the profile names it."""

    def talk(to: Line) -> None:
        while to.waits():
            to.read()
            to.answer(401, b"{}")

    server = Server(talk)
    try:
        yield replace(PROFILE, carrier=Carrier(base_url=server.url))
    finally:
        server.close()


Tables = Callable[..., Table]
NO_EVIDENCE = Evidence((), (), (), None, BY)


def batch(
    desk: Desk, table: Table, path: Path | None, before: Handled | None = None, sha256: str = "a" * 64
) -> Again:
    """A batch tried again without keys: nothing of it is sent."""
    run = desk.run_of(desk.job())
    (done,) = again(run, [Batch(table, path, sha256, before)], NO_EVIDENCE, Decided())
    return done


def said_of(desk: Desk, done: Sequence[Again] = (), *statements: Statement, **settled: Any) -> Reconciliation:
    evidence = replace(NO_EVIDENCE, statements=statements)
    decided = desk.settle(statements=statements, **settled)
    return compared(desk.task(), desk.ledger, evidence, decided, done)


def unready(table_of: Tables, number: int = 1, **changes: Any) -> Table:
    return table_of([{"ticket_no": ticket(number), "ticket_status": "open", **changes}])


def settled(table_of: Tables, number: int = 1) -> Table:
    return table_of([{"ticket_no": ticket(number), "ticket_status": "refunded"}])
