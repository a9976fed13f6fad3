"""A ledger in a run, and evidence that is brought to it."""

import datetime
from dataclasses import dataclass, field, replace
from typing import Any

from pipeline.ledger import planning
from pipeline.ledger.session import OpenLedger
from pipeline.model.evidence import Answer, Evidence, Statement, StatementLine
from pipeline.model.job import Job, Watch
from pipeline.model.message import from_text, verbatim
from pipeline.model.outcome import Outcome
from pipeline.model.places import row_at
from pipeline.model.profile import Codes, Profile, Secrets
from pipeline.model.request import Charge, Header, Identity, Request
from pipeline.model.settled import Decided
from pipeline.reconciliation.record_settlements import settle
from pipeline.submission.sending import Run

PROFILE = Profile(
    codes=Codes(
        fee_type={"ticket_fare": "FARE", "ancillary": "EXTRA"},
        product_type={"flight": "Flight", "seat": "Seat"},
    )
)


def in_words(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(str(from_text(value)) if isinstance(value, str) else value for value in row)


@dataclass
class Desk:
    """A ledger in a run, and what is brought to it."""

    ledger: OpenLedger
    run: int
    logged: list[tuple[str, dict[str, object]]] = field(default_factory=list)

    def sent(
        self, ticket: int, outcome: Outcome, at: str = "2026-11-20T00:00:00.000+00:00"
    ) -> planning.Attempt:
        """An attempt that ended so, then."""
        identity = Identity(f"999{ticket:010}", "ticket_fare", "flight")
        charge = Charge(identity, "ZHANG/WEI", 1000, ticket, ("F", "P"))
        header = Header("individual", "Li Na", "", "", "l@example.com")
        request = Request("itinerary", "domestic", header, (charge,))
        connection, places = self.ledger.connection, {ticket: ("o.xlsx", "Tickets", ticket)}
        (attempt,) = planning.plan(connection, self.run, [request], places)
        of = attempt.attempt_id
        connection.execute(
            "UPDATE attempt SET state = 'sending', sending_at = ? WHERE attempt_id = ?", (at, of)
        )
        connection.execute(
            "UPDATE attempt SET state = ?, reason = ?, number = ?, ended_at = ? WHERE attempt_id = ?",
            (outcome.state, outcome.reason, outcome.number, at, of),
        )
        return attempt

    def doubt(self, ticket: int) -> planning.Attempt:
        return self.sent(ticket, Outcome("unknown", "no_answer"))

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
        evidence = Evidence((), answers, (), None, "Night Shift")
        watch = Watch(
            lambda _: None, lambda _: None, lambda _: True, lambda _: None,
            lambda event, **facts: self.logged.append((event, facts)),
        )  # fmt: skip
        run = Run("reconcile", Job((), PROFILE, None), self.ledger, self.run, Secrets("", ""), watch)
        return settle(run, replace(evidence, **given))

    def rows(self, sql: str) -> list[Any]:
        """The rows of a query, with messages in words."""
        return [in_words(row) for row in self.ledger.connection.execute(sql)]

    def states(self) -> list[tuple[str, str]]:
        return self.rows("SELECT state, number FROM attempt ORDER BY attempt_id")


def line(ticket: int, number: str, **changes: Any) -> StatementLine:
    plain = StatementLine(
        "itinerary", number, f"999{ticket:010}", "ticket_fare", "flight", 1000, None, "Li Na", verbatim(f"s.csv, row {ticket}"), "s.csv",
    )  # fmt: skip
    return replace(plain, **changes)


def statement(*lines: StatementLine, **given: Any) -> tuple[Statement]:
    return (Statement("s.csv", "0" * 64, datetime.datetime.now(datetime.UTC), lines, **given),)


def problems(decided: Decided) -> list[tuple[str, str, str]]:
    return [(one.code, str(one.place), str(one.message)) for one in decided.troubles]
