"""What is known of clocks that were wrong: behind the last entry, corrected, or jumping within a run."""

import datetime
from typing import Any

import apsw
import pytest

from pipeline.ledger import (
    clock,
    reversals,
    runs,
    settlements,
    withdrawals,
)
from pipeline.ledger.settlements import Settlement
from pipeline.model.errors import InputProblem


def at(hours: float) -> str:
    """A time so many hours from now, as the ledger has them."""
    moment = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=hours)
    return moment.isoformat(timespec="milliseconds")


def lasting(book: Any, begun: float, ended: float | None) -> int:
    """A run from one hour (from now) to another."""
    run = runs._begin_run(book.connection, runs.RunStart("issue", "2026-11-20"))
    book.connection.execute(
        "DROP TRIGGER IF EXISTS run_ends_once; UPDATE run SET started_at = ?, ended_at = ? WHERE run = ?",
        (at(begun), None if ended is None else at(ended), run),
    )
    return run


def unknown(book: Any, request: Any, sending: float, ended: float, state: str = "unknown") -> None:
    """An attempt of the book's run, with its times; it begins to be planned when its run begins."""
    (attempt,) = book.plan(request)
    book.connection.execute("DROP TRIGGER IF EXISTS attempt_stays_itself")
    for then in ("sending", state):
        book.connection.execute(
            "UPDATE attempt SET state = ?, planned_at = (SELECT started_at FROM run WHERE run.run = attempt.run),"
            " sending_at = ?, ended_at = iif(state = 'sending', ?, NULL) WHERE attempt_id = ?",
            (then, at(sending), at(ended), attempt.attempt_id),
        )


def doubtful(book: Any) -> list[bool]:
    return [one.times_doubtful for one in settlements.unsettled(book.connection)]


@pytest.mark.parametrize(("ended", "behind"), [(-1, False), (0.07, False), (0.1, True), (20, True)])
def test_a_clock_is_behind_the_last_run_by_more_than_clocks_slip(
    book: Any, ended: float, behind: bool
) -> None:
    lasting(book, -2, ended)
    found = clock.behind(book.connection)
    assert (found is not None) is behind
    assert found is None or found.latest > found.now


def test_what_counts_is_the_latest_time_of_the_last_run_and_its_attempts(book: Any, fare: Any) -> None:
    lasting(book, -9, 50)
    book.run = lasting(book, -2, None)
    assert clock.behind(book.connection) is None
    unknown(book, fare(1), 3, 4)
    found = clock.behind(book.connection)
    assert found is not None
    assert found.latest[:16] == at(4)[:16]


def test_a_ledger_without_runs_has_no_last_entry(book: Any) -> None:
    book.connection.execute("DROP TRIGGER run_remains; DELETE FROM run")
    assert clock.behind(book.connection) is None


def test_a_clock_that_is_behind_is_right_only_where_somebody_says_so(
    book: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lasting(book, -2, 20)
    latest = book.connection.execute("SELECT ended_at FROM run WHERE run = (SELECT max(run) FROM run)").get
    monkeypatch.setattr(clock, "utc_now", lambda: "2026-11-20T10:20:30.000+00:00")
    with pytest.raises(InputProblem) as refused:
        clock.checked(book.connection, "")
    assert str(refused.value) == (
        "This machine's clock says 2026-11-20 10:20 UTC, and the ledger's last entry is of"
        f" {latest[:10]} {latest[11:16]} UTC; nothing was changed. Set the clock right, or say --clock-is-right if that entry"
        " was made by a wrong one"
    )
    assert clock.checked(book.connection, "chen") == (latest, "chen")


def test_a_clock_that_is_not_behind_needs_nobody_to_say_so(book: Any) -> None:
    assert clock.checked(book.connection, "") is None
    assert clock.checked(book.connection, "chen") is None


def test_after_a_correction_the_times_that_the_wrong_clock_wrote_prove_nothing(book: Any, fare: Any) -> None:
    book.run = lasting(book, -9, None)
    unknown(book, fare(1), -8, -8)
    book.connection.execute("UPDATE run SET ended_at = ? WHERE run = ?", (at(-7), book.run))
    book.run = lasting(book, -1, None)
    unknown(book, fare(2), -1, -1)  # by the same wrong clock, that was corrected by a day: it ended late
    unknown(book, fare(3), 20, 20)
    book.connection.execute("UPDATE run SET ended_at = ? WHERE run = ?", (at(21), book.run))
    found = clock.behind(book.connection)
    assert found is not None
    assert doubtful(book) == [False, False, False]
    clock.correct(book.connection, found.latest, "chen")
    assert clock.behind(book.connection) is None
    assert doubtful(book) == [False, True, True]
    book.run = lasting(book, 0, None)
    unknown(book, fare(4), 0.01, 0.01)  # the clock may be right now, or may have been right before
    assert doubtful(book) == [False, True, True, True]
    book.run = lasting(book, 22, None)  # past the entry that was corrected both agree
    unknown(book, fare(5), 22.01, 22.01)
    assert doubtful(book) == [False, True, True, True, False]
    ended = lasting(book, 30, 31)  # and another wrong one later
    assert clock.behind(book.connection) is not None
    assert ended > book.run


def test_a_request_was_first_asked_for_by_an_earlier_attempt_in_doubt_but_for_those_before_a_reversal(
    book: Any, fare: Any
) -> None:
    def settled(state: str, number: str = "") -> None:
        (one,) = settlements.unsettled(book.connection)
        settlements.settle(book.connection, one.attempt_id, Settlement(state, number, "Wang", "telephone"))

    def first_asked() -> str:
        (one,) = settlements.unsettled(book.connection)
        return one.first_asked

    book.run = lasting(book, -10, None)
    unknown(book, fare(1), -9.5, -9.5, "rejected")
    unknown(book, fare(1), -9, -9)
    settled("not_sent")
    unknown(book, fare(1), -8, -8)
    first = book.connection.execute("SELECT sending_at FROM attempt WHERE attempt_id = 2").get
    assert first_asked() == first
    settled("issued", "111111111111111111")
    reversals.reverse(book.connection, reversals.SaidReversed("111111111111111111", "Wang", "telephone"))
    book.connection.execute("UPDATE run SET ended_at = ? WHERE run = ?", (at(-7), book.run))
    book.run = lasting(book, -1, None)
    unknown(book, fare(1), 20, 20)  # by a wrong clock
    last = book.connection.execute("SELECT max(sending_at) FROM attempt").get
    assert first_asked() == last
    settled("not_sent")
    book.connection.execute("UPDATE run SET ended_at = ? WHERE run = ?", (at(21), book.run))
    clock.correct(book.connection, at(21), "chen")
    book.run = lasting(book, 22, None)
    unknown(book, fare(1), 22.01, 22.01)
    assert doubtful(book) == [False]
    assert first_asked() == ""


@pytest.mark.parametrize("later", ["issued", "not_sent"])
def test_an_attempt_in_doubt_again_was_first_asked_for_when_it_was_sent_whatever_became_of_later_ones(
    book: Any, fare: Any, later: str
) -> None:
    def settled(state: str, number: str = "") -> None:
        (one,) = settlements.unsettled(book.connection)
        settlements.settle(book.connection, one.attempt_id, Settlement(state, number, "Wang", "telephone"))

    book.run = lasting(book, -10, None)
    unknown(book, fare(1), -9, -9)
    settled("not_sent")
    book.connection.execute("UPDATE run SET ended_at = ? WHERE run = ?", (at(-7), book.run))
    book.run = lasting(book, -1, None)
    unknown(book, fare(1), 20, 20)  # by a wrong clock
    settled(later, "111111111111111111" if later == "issued" else "")
    book.connection.execute("UPDATE run SET ended_at = ? WHERE run = ?", (at(21), book.run))
    clock.correct(book.connection, at(21), "chen")
    if later == "issued":
        reversals.reverse(book.connection, reversals.SaidReversed("111111111111111111", "Wang", "telephone"))
    withdrawals.withdraw(book.connection, "S1", withdrawn_by="Li", why="misheard")
    (one,) = settlements.unsettled(book.connection)
    assert (one.attempt, one.first_asked) == (1, one.began)


def test_a_run_whose_end_alone_was_written_by_the_wrong_clock_proves_nothing_either(
    book: Any, fare: Any
) -> None:
    book.run = lasting(book, -9, None)
    unknown(book, fare(1), -8, -8)
    book.connection.execute("UPDATE run SET ended_at = ? WHERE run = ?", (at(5), book.run))
    clock.correct(book.connection, at(5), "chen")
    assert doubtful(book) == [True]


@pytest.mark.parametrize(
    ("begun", "sending", "attempt_ended", "ended", "wrong"),
    [
        (-9, -8, -7, -6, False),
        (-9, -8, -7, None, False),
        (-9, -8, -7, -10, True),
        (-9, -10, -7, -6, True),
        (-9, -7, -8, -6, True),
        (-9, -8, -5, -6, True),
    ],
)
def test_a_clock_that_jumped_within_a_run_is_trusted_for_none_of_it(
    book: Any, fare: Any, begun: float, sending: float, attempt_ended: float, ended: float | None, wrong: bool
) -> None:
    book.run = lasting(book, begun, None)
    unknown(book, fare(1), sending, attempt_ended)
    unknown(book, fare(2), -8.5, -8.4)
    if ended is not None:
        book.connection.execute("UPDATE run SET ended_at = ? WHERE run = ?", (at(ended), book.run))
    assert doubtful(book) == [wrong, wrong]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE clock_correction SET latest = '2026'",
        "DELETE FROM clock_correction",
        "INSERT OR REPLACE INTO clock_correction SELECT * FROM clock_correction",
        "INSERT INTO clock_correction VALUES (NULL, '2099', 1, 'x', '2026')",  # not the last run
        "INSERT INTO clock_correction VALUES (NULL, '2026', 2, 'x', '2099')",
        "INSERT INTO clock_correction VALUES (NULL, '2099', 2, '', '2026')",
    ],
)
def test_a_correction_stays(book: Any, statement: str) -> None:
    lasting(book, -2, 3)
    clock.correct(book.connection, at(3), "chen")
    before = list(book.connection.execute("SELECT * FROM clock_correction"))
    with pytest.raises(apsw.ConstraintError):
        book.connection.execute(statement)
    assert list(book.connection.execute("SELECT * FROM clock_correction")) == before
