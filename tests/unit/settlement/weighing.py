"""Attempts in doubt, statements and answers, and what they come to."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pipeline.model.evidence import (
    Answer,
    Complete,
    Evidence,
    Misread,
    Statement,
    StatementLine,
    Unsettled,
)
from pipeline.model.known_charges import KnownCharge
from pipeline.model.request import Identity
from pipeline.model.settled import Decided
from pipeline.settlement.decide import InLedger, decide

NUMBER = "179525952880229397"


OTHER = "179525952880229398"


AT = datetime.datetime(2026, 11, 10, 12, tzinfo=datetime.UTC)


def charge(ticket: int, name: str = "ticket_fare", product: str = "flight") -> Identity:
    return Identity(f"{9_990_000_000_000 + ticket}", name, product)


def attempt(
    *charges: Identity, voucher: str = "invoice", attempt_id: int = 1, at: datetime.datetime = AT
) -> Unsettled:
    parts = tuple((identity, f"{identity.charge}/{identity.product}", 1000) for identity in charges)
    text = at.isoformat(timespec="milliseconds")
    return Unsettled(
        attempt_id, f"R{attempt_id}", 1, voucher, "domestic", "Acme", 1000 * len(parts), "no_answer", "", "", text, text,
        "october.xlsx, Tickets, row 2", parts, times_doubtful=False, epoch="L", header_type="business", tax_no="",
        first_asked=text,
    )  # fmt: skip


def line(identity: Identity, number: str = NUMBER, **changes: Any) -> StatementLine:
    plain = StatementLine(
        "invoice",
        number,
        identity.ticket_no,
        identity.charge,
        identity.product,
        1000,
        None,
        "Acme",
        "s.csv, s, row 2",
        "s.csv",
    )
    return replace(plain, **changes)


#: Invoices and itineraries of ours around the attempts: (ticket, number, minutes after them).
AROUND = {
    "invoice": ((charge(-91), "1" * 17 + "1", -1), (charge(92), "1" * 17 + "2", 0), (charge(93), "1" * 17 + "3", 1)),
    "itinerary": ((charge(-94), "2" * 19 + "1", -1), (charge(95), "2" * 19 + "2", 0), (charge(96), "2" * 19 + "3", 1)),
}  # fmt: skip


def around(*kinds: str) -> list[StatementLine]:
    """The lines of a statement that lists ours of these kinds."""
    return [line(of, number, voucher=kind) for kind in kinds for of, number, _ in AROUND[kind]]


def statement(
    *lines: StatementLine,
    made: datetime.datetime = AT + datetime.timedelta(days=9),
    misread: Sequence[Misread] = (),
    ours: Sequence[str] = ("invoice", "itinerary"),
) -> Statement:
    return Statement("s.csv", "0" * 64, made, (*lines, *around(*ours)), tuple(misread), said_made=made)


COMPLETE = (
    Complete(AT - datetime.timedelta(days=3), AT + datetime.timedelta(days=5), "2026-11-07..2026-11-14"),
)


def answer(state: str, number: str = "", attempt_id: int = 1, **changes: Any) -> Answer:
    return replace(
        Answer("L", f"R{attempt_id}", 1, state, number, "Wang", "telephone", "r.xlsx, Unknown, row 2"),
        **changes,
    )


def evidence(
    *statements: Statement,
    answers: Sequence[Answer] = (),
    complete: Sequence[Complete] = (),
    hours: float | None = 24,
) -> Evidence:
    after = None if hours is None else datetime.timedelta(hours=hours)
    return Evidence(tuple(statements), tuple(answers), tuple(complete), after, "cron")


def held(*attempts: Unsettled, issued: Sequence[tuple[Identity, str]] = ()) -> dict[Identity, KnownCharge]:
    found = {i: holding(i, "unknown", "", one.request_id) for one in attempts for i, _, _ in one.charges}
    found |= {one.identity: one for one in ours()}
    return found | {identity: holding(identity, "issued", number, "R0") for identity, number in issued}


def holding(
    identity: Identity, state: str, number: str, request: str, voucher: str = "invoice", minutes: float = 0
) -> KnownCharge:
    return KnownCharge(
        identity, "", voucher, state, number, 1000, "business", "Acme", "", request, 1, 1,
        (AT + datetime.timedelta(minutes=minutes)).isoformat(), "", "", "f", "s", 2, market="domestic",
    )  # fmt: skip


def ours(**changes: Any) -> list[KnownCharge]:
    return [
        replace(holding(of, "issued", number, f"R{number}", kind, minutes), **changes)
        for kind, three in AROUND.items()
        for of, number, minutes in three
    ]


def decided(attempts: Sequence[Unsettled], brought: Evidence, **more: Any) -> Decided:
    taken, issued, earlier = more.pop("taken", {}), more.pop("around", ours()), more.pop("earlier", ())
    return weigh(attempts, brought, held(*attempts, **more), taken, earlier, issued)


def weigh(
    attempts: Sequence[Unsettled],
    brought: Evidence,
    known: Mapping[Identity, KnownCharge],
    taken: Mapping[str, str] | None = None,
    earlier: Sequence[StatementLine] = (),
    issued: Sequence[KnownCharge] = (),
    gone: Mapping[Identity, tuple[str, str]] | None = None,
    filed: frozenset[int] = frozenset(),
) -> Decided:
    return decide(attempts, brought, InLedger(known, taken or {}, earlier, issued, gone or {}, filed))


def outcome(found: Decided) -> list[tuple[str, str]]:
    return [(one.state, one.number) for one in found.settled]


DAY = datetime.timedelta(days=1)


HOUR = datetime.timedelta(hours=1)


MOMENT = datetime.timedelta(milliseconds=1)
