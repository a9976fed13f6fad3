"""A writer whose ledger fails in the middle of things: nobody is told yes, nothing half is left, nothing is lost."""

import asyncio
import threading
from typing import Any

import apsw
import pytest

from pipeline.ledger import attempt_changes
from pipeline.ledger import attempts as records
from pipeline.ledger.attempt_changes import (
    Again,
    Ended,
    GotAnswer,
    Sending,
)
from pipeline.model.errors import LedgerProblem
from pipeline.model.outcome import Answered, Outcome


class Broken:
    """A connection whose ledger fails at certain statements."""

    def __init__(self, connection: apsw.Connection, *statements: str) -> None:
        self._connection = connection
        self._statements = statements

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, sql: str, *bindings: Any) -> Any:
        if sql in self._statements:
            raise apsw.IOError(f"disk I/O error at {sql}")
        return self._connection.execute(sql, *bindings)


def unwritable(book: Any, why: str) -> str:
    return (
        f"{book.path}: the ledger can't be written ({why}); free disk space or mend the disk, then run again"
    )


def texts(results: list[Any]) -> set[str]:
    assert all(isinstance(result, LedgerProblem) for result in results)
    return {str(result) for result in results}


def test_a_failure_within_a_group_undoes_all_of_it(
    book: Any, fare: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, three = (attempt.attempt_id for attempt in book.plan(*map(fare, (1, 2, 3))))
    book.write(Sending(one), Sending(two))
    real = records.record_outcome

    def fails_at_the_second(connection: apsw.Connection, attempt_id: int, outcome: Outcome) -> Outcome:
        if attempt_id == two:
            raise apsw.IOError("disk I/O error")
        return real(connection, attempt_id, outcome)

    monkeypatch.setattr(records, "record_outcome", fails_at_the_second)
    yes = Outcome("issued", number="1", trace_id="t")
    no = Outcome("rejected", "carrier_rejected")
    # The last is refused, so that each is written alone.
    results = book.write(Ended(one, yes), Ended(two, no), Sending(three), Sending(99))
    assert texts(results) == {unwritable(book, "disk I/O error")}
    assert book.connection.get_autocommit()  # no transaction is left open
    assert book.states() == {one: "sending", two: "sending", three: "planned"}
    assert [(entry["attempt_id"], entry.get("state")) for entry in book.kept()] == [
        (one, "issued"), (two, "rejected"), (three, None), (99, None),
    ]  # fmt: skip


@pytest.mark.parametrize("statement", ["_GOT_ANSWER", "_ENDED", "_SENDING"])
def test_a_failure_in_a_group_that_is_written_as_sets_undoes_all_of_it(
    book: Any, fare: Any, statement: str
) -> None:
    one, two, three = (attempt.attempt_id for attempt in book.plan(*map(fare, (1, 2, 3))))
    book.write(Sending(one), Sending(two))
    broken = Broken(book.connection, getattr(attempt_changes, statement))
    results = book.write(
        Ended(one, Outcome("issued", number="1")),
        GotAnswer(two, Answered(200, b"{}")),
        Sending(three),
        connection=broken,
    )
    (told,) = texts(results)
    assert told.startswith(f"{book.path}: the ledger can't be written (disk I/O error at")
    assert book.connection.get_autocommit()
    assert book.states() == {one: "sending", two: "sending", three: "planned"}
    assert [entry["attempt_id"] for entry in book.kept()] == [one, two, three]


@pytest.mark.parametrize("statement", ["BEGIN IMMEDIATE", "COMMIT"])
def test_after_a_failure_nothing_more_is_written(book: Any, fare: Any, statement: str) -> None:
    one, two = (attempt.attempt_id for attempt in book.plan(fare(1), fare(2)))

    async def run() -> tuple[list[Any], list[Any]]:
        async with book.writer(Broken(book.connection, statement)) as writer:
            return await book.together(writer, Sending(one)), await book.together(
                writer, Sending(two), Again(one)
            )

    failed, after = asyncio.run(run())
    told = {unwritable(book, f"disk I/O error at {statement}")}
    assert (texts(failed), texts(after)) == (told, told)
    assert book.connection.get_autocommit()
    assert book.states() == {one: "planned", two: "planned"}
    assert [entry["attempt_id"] for entry in book.kept()] == [one, two]
    assert all(entry["never_sent"] for entry in book.kept())


def test_a_transaction_that_can_not_even_be_undone_is_told_and_spilled(book: Any, fare: Any) -> None:
    (attempt,) = book.plan(fare(1))
    broken = Broken(book.connection, "COMMIT", "ROLLBACK")
    results = book.write(Sending(attempt.attempt_id), connection=broken)
    assert texts(results) == {unwritable(book, "disk I/O error at COMMIT")}
    assert [entry["attempt_id"] for entry in book.kept()] == [attempt.attempt_id]
    book.connection.execute("ROLLBACK")
    assert book.states() == {attempt.attempt_id: "planned"}


def test_outcomes_that_the_ledger_refuses_are_spilled_and_the_rest_is_written(book: Any, fare: Any) -> None:
    one, two = (attempt.attempt_id for attempt in book.plan(fare(1), fare(2)))
    yes = Outcome("issued", number="1", trace_id="t")
    answer, ended, refused, sent = book.write(
        GotAnswer(one, Answered(200, b"{}")), Ended(one, yes), Sending(99), Sending(two)
    )
    assert texts([answer, ended, refused]) == {
        f"attempt {number} is not in the ledger any more, or has ended there: another program has changed the ledger"
        " during this run. Keep this run's result workbook, and look the ledger over: voucher ledger check"
        for number in (one, 99)
    }
    assert sent is None
    assert book.states() == {one: "planned", two: "sending"}
    assert [(entry["attempt_id"], "body" in entry, entry.get("number")) for entry in book.kept()] == [
        (one, True, None),
        (one, False, "1"),
    ]


def test_a_refusal_is_told_with_the_rule(book: Any, fare: Any) -> None:
    one, same = (attempt.attempt_id for attempt in book.plan(fare(1), fare(1, remarks="again")))
    done, refused = book.write(Sending(one), Sending(same))
    assert done is None
    (told,) = texts([refused])
    assert told == "the ledger refused a change: the charge is in a live attempt already"
    assert book.kept() == []


@pytest.mark.parametrize("statement", ["COMMIT", ""])
def test_a_writer_knows_whether_its_ledger_failed(book: Any, fare: Any, statement: str) -> None:
    (attempt,) = book.plan(fare(1))

    async def run() -> tuple[bool, bool]:
        async with book.writer(Broken(book.connection, statement)) as writer:
            before = writer.failed
            await book.together(writer, Sending(attempt.attempt_id))
        return before, writer.failed

    assert asyncio.run(run()) == (False, bool(statement))


def test_whoever_does_not_wait_any_more_is_passed_over(book: Any, fare: Any) -> None:
    attempts = book.plan(fare(1), fare(2))

    async def run() -> tuple[Any, ...]:
        async with book.writer() as writer:
            first, second = (writer.commit(Sending(attempt.attempt_id)) for attempt in attempts)
            first.cancel()
            return await asyncio.wait_for(asyncio.gather(first, second, return_exceptions=True), 20)

    cancelled, done = asyncio.run(run())
    assert isinstance(cancelled, asyncio.CancelledError)
    assert done is None
    assert set(book.states().values()) == {"sending"}


@pytest.mark.parametrize(
    ("taken", "told"), [(False, "No such file or directory"), (True, "another file has taken")]
)
def test_a_ledger_that_lost_its_name_is_named(book: Any, fare: Any, taken: bool, told: str) -> None:
    (attempt,) = book.plan(fare(1))
    path = book.path

    def lose() -> None:
        path.rename(path.with_name("elsewhere"))
        if taken:
            path.write_bytes(b"")

    async def run() -> Any:
        async with book.writer() as writer:
            lose()
            return await book.together(writer, Sending(attempt.attempt_id))

    (text,) = texts(asyncio.run(run()))
    assert text.startswith(f"{path}: the ledger is not under its name any more ({told}")
    assert book.states() == {attempt.attempt_id: "planned"}


def test_closing_waits_for_all_that_was_asked_for_before(book: Any, fare: Any) -> None:
    """While one change is being written the next and the closing queue up together."""
    one, two = (attempt.attempt_id for attempt in book.plan(fare(1), fare(2)))
    writing, go_on = threading.Event(), threading.Event()

    def hold() -> bool:
        writing.set()
        return not go_on.wait(20)

    async def run() -> list[Any]:
        async with book.writer() as writer:
            first = writer.commit(Sending(one))
            await asyncio.to_thread(writing.wait, 20)
            second = writer.commit(Sending(two))
            closed = asyncio.ensure_future(writer.settled())
            still_waiting = not (await asyncio.wait({closed}, timeout=0.2))[0]
            go_on.set()
            assert still_waiting
            await asyncio.wait_for(closed, 20)
            return list(await asyncio.wait_for(asyncio.gather(first, second), 20))

    book.connection.set_commit_hook(hold)
    assert asyncio.run(run()) == [None, None]
    book.connection.set_commit_hook(None)
    assert set(book.states().values()) == {"sending"}
