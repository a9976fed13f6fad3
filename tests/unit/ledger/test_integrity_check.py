"""The full check finds what is wrong, also what the database's own rules would have refused."""

from typing import Any

import pytest

from pipeline.ledger import gaps, issued_elsewhere, runs
from pipeline.ledger.integrity_check import look
from pipeline.model.evidence import StatementLine
from pipeline.model.message import verbatim

from .conftest import OWNER


@pytest.fixture
def kept(book: Any, fare: Any, several: Any) -> Any:
    """A ledger with six attempts: issued (three), in doubt, settled as issued, rejected."""
    attempts = book.plan(fare(1), fare(2), fare(3), several(4, 5), fare(6), fare(7))
    for attempt in attempts:
        book.state(attempt.attempt_id, "sending")
    for attempt in attempts[:3]:
        book.state(attempt.attempt_id, "issued", f"N{attempt.attempt_id}")
    book.state(attempts[3].attempt_id, "unknown")
    book.state(attempts[4].attempt_id, "unknown")
    book.connection.execute(
        "INSERT INTO settlement (attempt_id, state, number, settled_by, evidence, settled_at) VALUES (?, 'issued', 'N5', 'chen', 'statement', 'now')",
        (attempts[4].attempt_id,),
    )
    book.state(attempts[4].attempt_id, "issued", "N5")
    book.state(attempts[5].attempt_id, "rejected")
    return book


def test_a_sound_ledger_is_told_with_what_it_holds(kept: Any) -> None:
    looked = look(kept.connection)
    assert looked.wrong == ()
    assert (looked.base_url, looked.agency, looked.runs) == (OWNER.base_url, OWNER.agency, 1)
    assert looked.states == {"issued": 4, "rejected": 1, "unknown": 1}
    assert looked.open_since is not None
    assert looked.gap is None
    gaps.mark_gap(kept.connection, "2026-11-20", verbatim("restored"))
    looked = look(kept.connection)
    assert (looked.open_since, looked.gap) == (None, gaps.Gap("2026-11-20", verbatim("restored")))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE attempt SET number = 'N1' WHERE attempt_id = 2", "a number that two requests have: N1"),
        (
            "UPDATE charge SET live = 0 WHERE attempt_id = 3",
            "a charge that is held, or not held, against the state of its attempt: 9990000000003 of attempt 3",
        ),
        (
            "UPDATE charge SET live = 1 WHERE attempt_id = 6",
            "a charge that is held, or not held, against the state of its attempt: 9990000000007 of attempt 6",
        ),
        (
            "UPDATE charge SET amount = 1 WHERE attempt_id = 3",
            "an attempt whose charges are not its request's total: attempt 3",
        ),
        ("DELETE FROM charge WHERE attempt_id = 3", "an attempt at nothing: attempt 3"),
        (
            "UPDATE charge SET ticket_no = '9990000000001' WHERE attempt_id = 2",
            "a charge in two live attempts: 9990000000001 ticket_fare/flight",
        ),
        (
            "UPDATE charge SET ticket_no = '9990000000001', charge = 'refund', voucher = 'itinerary' WHERE attempt_id = 2",
            "a ticket with both kinds of voucher for its fare and refund: 9990000000001",
        ),
        (
            "UPDATE attempt SET ended_at = NULL WHERE attempt_id = 1",
            "an attempt that ended without a time: attempt 1",
        ),
        (
            "UPDATE attempt SET was_unknown = 0 WHERE attempt_id = 4",
            "a doubt that is not remembered: attempt 4",
        ),
        (
            "UPDATE attempt SET was_unknown = 0 WHERE attempt_id = 5",
            "a doubt that is not remembered: attempt 5",
        ),
        (
            "UPDATE settlement SET number = 'other'",
            "a settlement that its attempt does not follow: attempt 5",
        ),
        ("UPDATE attempt SET run = 77 WHERE attempt_id = 1", "attempt 1 refers to a run that is not there"),
        ("DROP INDEX elsewhere_once", "the ledger's rules were changed: index elsewhere_once"),
        (
            "UPDATE attempt SET number = '' WHERE attempt_id = 1",
            "the file is damaged: CHECK constraint failed",
        ),
        *(
            (
                f"INSERT INTO elsewhere VALUES (1, 1, '{shown}', 'E1', NULL, '', '', 'statement.csv', 'chen', 'now', 1, 0)",
                f"a charge that was sent though a statement had shown it as issued elsewhere: {attempt}",
            )
            for shown, attempt in (
                ("9990000000007', 'ticket_fare', 'flight', '', 'invoice", "9990000000007 of attempt 6"),
                ("9990000000007', 'ticket_fare', '', '', 'invoice", "9990000000007 of attempt 6"),
                (
                    "9990000000007', 'ancillary', 'meal', 'FARE/Flight', 'invoice",
                    "9990000000007 of attempt 6",
                ),
                ("9990000000005', 'refund', 'flight', '', 'itinerary", "9990000000005 of attempt 4"),
            )
        ),
        (
            "INSERT INTO judgement VALUES (1, 77, '1', '', '', '', 0, '', '', '', '', 2, 'now')",
            "judgement 1 refers to a run that is not there",
        ),
        (
            "INSERT INTO handled VALUES (1, 77, 1, '1', 'tickets', '', '', '', 0, 'now')",
            "handled 1 refers to a run that is not there",
        ),
        (
            "INSERT INTO handled VALUES (1, 1, 1, '1', 'letter', '', '', '', 0, 'now')",
            "the file is damaged: CHECK constraint failed in handled",
        ),
    ],
)
def test_what_is_wrong_is_named(kept: Any, change: str, told: str) -> None:
    """Somebody has taken the database's own rules away and changed something."""
    connection = kept.connection
    rules = connection.execute(
        "SELECT type || ' ' || name FROM sqlite_schema WHERE type = 'trigger'"
        " OR name IN ('number_once', 'charge_live_once', 'charge_live_once_on_the_wire')"
    ).fetchall()
    for (rule,) in rules:
        connection.execute(f"DROP {rule}")
    connection.execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")
    connection.execute(change)
    connection.execute("PRAGMA ignore_check_constraints = OFF")
    wrong = [str(line) for line in look(connection).wrong]
    assert any(line.startswith(told) for line in wrong), wrong


def test_what_a_statement_shows_later_is_nothing_wrong(kept: Any) -> None:
    """The carrier lists what an earlier run was refused: it was sent before anybody knew."""
    runs._end_run(kept.connection, kept.run, 4)
    later = runs._begin_run(kept.connection, runs.RunStart("reconcile", "2026-11-21"))
    for number, kind, voucher in ((7, "ticket_fare", "invoice"), (1, "refund", "itinerary")):
        line = StatementLine(
            voucher,
            f"E{number}",
            f"999000000000{number}",
            kind,
            "flight",
            None,
            None,
            "",
            "s.csv, row 2",
            "s.csv",
        )
        issued_elsewhere.record(kept.connection, later, [(line, "")], "chen")
    assert look(kept.connection).wrong == ()


def test_of_many_wrongs_some_are_shown(kept: Any) -> None:
    connection = kept.connection
    for (trigger,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {trigger}")
    connection.execute("UPDATE charge SET amount = amount + 1")
    (line,) = [line for line in map(str, look(connection).wrong) if "request's total" in line]
    assert line.count("attempt ") == 6  # five of them after the sentence's own
    assert line.endswith(" and 1 more")
