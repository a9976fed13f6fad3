"""A writer whose ledger fails in the middle of things: nobody is told yes, nothing half is left, nothing is lost."""

import asyncio
import threading
from typing import Any, cast

import apsw
import pytest

from pipeline.carrier.replies import Answered, Outcome
from pipeline.errors import LedgerProblem
from pipeline.ledger import records
from pipeline.ledger.spill import Spill, spill_path, spilled
from pipeline.ledger.writer import Again, Change, Ended, GotAnswer, Sending, Writer


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


def write(book: Any, *groups: list[Change], connection: Any = None) -> list[list[Any]]:
    """Commit one group after the other; each change's acknowledgement or problem."""

    async def run() -> list[list[Any]]:
        with Spill(spill_path(book.path), records.ledger_id(book.connection), 4) as spill:
            writer = Writer(cast("apsw.Connection", connection or book.connection), spill)
            try:
                return [
                    await asyncio.wait_for(
                        asyncio.gather(*(writer.commit(change) for change in group), return_exceptions=True),
                        20,
                    )
                    for group in groups
                ]
            finally:
                await asyncio.wait_for(writer.close(), 20)

    return asyncio.run(run())


def kept(book: Any) -> list[dict[str, Any]]:
    return list(spilled(spill_path(book.path), records.ledger_id(book.connection)))


def texts(results: list[Any]) -> set[str]:
    assert all(isinstance(result, LedgerProblem) for result in results)
    return {str(result) for result in results}


def test_a_failure_within_a_group_undoes_all_of_it(
    book: Any, fare: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, three = (attempt.attempt_id for attempt in book.plan(*map(fare, (1, 2, 3))))
    write(book, [Sending(one), Sending(two)])
    real = records.record_outcome

    def fails_at_the_second(connection: apsw.Connection, attempt_id: int, outcome: Outcome) -> Outcome:
        if attempt_id == two:
            raise apsw.IOError("disk I/O error")
        return real(connection, attempt_id, outcome)

    monkeypatch.setattr(records, "record_outcome", fails_at_the_second)
    yes = Outcome("issued", number="1", trace_id="t")
    (results,) = write(
        book, [Ended(one, yes), Ended(two, Outcome("rejected", "carrier_rejected")), Sending(three)]
    )
    assert texts(results) == {unwritable(book, "disk I/O error")}
    assert book.connection.get_autocommit()  # no transaction is left open
    assert book.states() == {one: "sending", two: "sending", three: "planned"}
    assert [(entry["attempt_id"], entry.get("state")) for entry in kept(book)] == [
        (one, "issued"), (two, "rejected"), (three, None),
    ]  # fmt: skip


@pytest.mark.parametrize("statement", ["BEGIN IMMEDIATE", "COMMIT"])
def test_after_a_failure_nothing_more_is_written(book: Any, fare: Any, statement: str) -> None:
    one, two = (attempt.attempt_id for attempt in book.plan(fare(1), fare(2)))
    broken = Broken(book.connection, statement)
    failed, after = write(book, [Sending(one)], [Sending(two), Again(one)], connection=broken)
    told = {unwritable(book, f"disk I/O error at {statement}")}
    assert (texts(failed), texts(after)) == (told, told)
    assert book.connection.get_autocommit()
    assert book.states() == {one: "planned", two: "planned"}
    assert [entry["attempt_id"] for entry in kept(book)] == [one, two]
    assert all(entry["never_sent"] for entry in kept(book))


def test_a_transaction_that_can_not_even_be_undone_is_told_and_spilled(book: Any, fare: Any) -> None:
    (attempt,) = book.plan(fare(1))
    broken = Broken(book.connection, "COMMIT", "ROLLBACK")
    (results,) = write(book, [Sending(attempt.attempt_id)], connection=broken)
    assert texts(results) == {unwritable(book, "disk I/O error at COMMIT")}
    assert [entry["attempt_id"] for entry in kept(book)] == [attempt.attempt_id]
    book.connection.execute("ROLLBACK")
    assert book.states() == {attempt.attempt_id: "planned"}


def test_outcomes_that_the_ledger_refuses_are_spilled_and_the_rest_is_written(book: Any, fare: Any) -> None:
    one, two = (attempt.attempt_id for attempt in book.plan(fare(1), fare(2)))
    yes = Outcome("issued", number="1", trace_id="t")
    ((answer, ended, refused, sent),) = write(
        book, [GotAnswer(one, Answered(200, b"{}")), Ended(one, yes), Sending(99), Sending(two)]
    )
    assert texts([answer, ended, refused]) == {
        f"attempt {number} is not in the ledger any more, or has ended there" for number in (one, 99)
    }
    assert sent is None
    assert book.states() == {one: "planned", two: "sending"}
    assert [(entry["attempt_id"], "body" in entry, entry.get("number")) for entry in kept(book)] == [
        (one, True, None),
        (one, False, "1"),
    ]


def test_a_refusal_is_told_with_the_rule(book: Any, fare: Any) -> None:
    one, same = (attempt.attempt_id for attempt in book.plan(fare(1), fare(1, remarks="again")))
    ((done, refused),) = write(book, [Sending(one), Sending(same)])
    assert done is None
    (told,) = texts([refused])
    assert told == "the ledger refused a change: the charge is in a live attempt already"
    assert kept(book) == []


def test_more_than_fit_into_one_group_are_all_written(book: Any, fare: Any) -> None:
    attempts = [attempt.attempt_id for attempt in book.plan(*map(fare, range(1, 1101)))]
    commits = 0

    def count() -> bool:
        nonlocal commits
        commits += 1
        return False

    book.connection.set_commit_hook(count)
    (results,) = write(book, [Sending(attempt_id) for attempt_id in attempts])
    book.connection.set_commit_hook(None)
    assert results == [None] * 1100
    assert set(book.states().values()) == {"sending"}
    assert commits >= 3  # 512 at the most go together


@pytest.mark.parametrize("statement", ["COMMIT", ""])
def test_a_writer_knows_whether_its_ledger_failed(book: Any, fare: Any, statement: str) -> None:
    (attempt,) = book.plan(fare(1))

    async def run() -> tuple[bool, bool]:
        with Spill(spill_path(book.path), records.ledger_id(book.connection), 1) as spill:
            writer = Writer(cast("apsw.Connection", Broken(book.connection, statement)), spill)
            before = writer.failed
            await asyncio.gather(writer.commit(Sending(attempt.attempt_id)), return_exceptions=True)
            await writer.close()
            return before, writer.failed

    assert asyncio.run(run()) == (False, bool(statement))


def test_whoever_does_not_wait_any_more_is_passed_over(book: Any, fare: Any) -> None:
    attempts = book.plan(fare(1), fare(2))

    async def run() -> tuple[Any, ...]:
        with Spill(spill_path(book.path), records.ledger_id(book.connection), 4) as spill:
            writer = Writer(book.connection, spill)
            first, second = (
                asyncio.ensure_future(writer.commit(Sending(attempt.attempt_id))) for attempt in attempts
            )
            await asyncio.sleep(0)
            first.cancel()
            done = await asyncio.wait_for(asyncio.gather(first, second, return_exceptions=True), 20)
            await writer.close()
            return done

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
        with Spill(spill_path(path), records.ledger_id(book.connection), 1) as spill:
            writer = Writer(book.connection, spill)
            lose()
            try:
                return await asyncio.gather(
                    writer.commit(Sending(attempt.attempt_id)), return_exceptions=True
                )
            finally:
                await writer.close()

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
        with Spill(spill_path(book.path), records.ledger_id(book.connection), 4) as spill:
            writer = Writer(book.connection, spill)
            assert writer._thread.daemon  # it keeps no program alive
            first = asyncio.ensure_future(writer.commit(Sending(one)))
            await asyncio.to_thread(writing.wait, 20)
            second = asyncio.ensure_future(writer.commit(Sending(two)))
            await asyncio.sleep(0)
            closed = asyncio.ensure_future(writer.close())
            still_waiting = not (await asyncio.wait({closed}, timeout=0.2))[0]
            go_on.set()
            assert still_waiting
            await asyncio.wait_for(closed, 20)
            return list(await asyncio.wait_for(asyncio.gather(first, second), 20))

    book.connection.set_commit_hook(hold)
    assert asyncio.run(run()) == [None, None]
    book.connection.set_commit_hook(None)
    assert set(book.states().values()) == {"sending"}
