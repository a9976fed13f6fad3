"""Group commit, and what is left when the ledger's file fails."""

import asyncio
import contextlib
import errno
import json
import socket
import time
from pathlib import Path
from typing import Any

import apsw
import pytest

import pipeline.ledger.group_commit
from pipeline.ledger import attempts as records
from pipeline.ledger import opening
from pipeline.ledger.attempt_changes import (
    Again,
    Ended,
    GotAnswer,
    Sending,
)
from pipeline.ledger.commit_process import Written
from pipeline.ledger.group_commit import Writer, group_commit
from pipeline.ledger.lock import Named
from pipeline.ledger.recovery import recover
from pipeline.ledger.spill import Spill, spill_path, spilled
from pipeline.model.errors import LedgerProblem
from pipeline.model.outcome import Answered, Outcome
from pipeline.pickled_values import packed, taken
from tests.committing import writer_by


def seen_by_another(book: Any, query: str) -> list[Any]:
    """What is on disk, as a connection of its own sees it."""
    other = apsw.Connection(str(book.path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return list(other.execute(query))
    finally:
        other.close()


def never(_left: records.Interrupted, _answer: Answered) -> Outcome:
    raise AssertionError("there was no answer to interpret")


def test_an_acknowledged_change_is_on_disk(book: Any, fare: Any) -> None:
    attempts = book.plan(*(fare(number) for number in range(50)))
    results = book.write(*(Sending(attempt.attempt_id) for attempt in attempts))
    assert results == [None] * 50
    assert seen_by_another(book, "SELECT state, count(*) FROM attempt GROUP BY 1") == [("sending", 50)]
    book.write(GotAnswer(attempts[0].attempt_id, Answered(200, b"raw")))
    book.write(Ended(attempts[0].attempt_id, Outcome("issued", number="1", trace_id="t")))
    assert seen_by_another(book, "SELECT state, number, answer FROM attempt WHERE attempt_id = 1") == [
        ("issued", "1", b"raw")
    ]


def test_when_all_is_settled_what_was_handed_in_last_is_on_disk_too(book: Any, fare: Any) -> None:
    first, second = book.plan(*(fare(number) for number in range(2)))

    async def run() -> bool:
        async with book.writer() as writer:
            await writer.commit(Sending(first.attempt_id))
            await asyncio.sleep(0.05)  # nothing waits then
            last = writer.commit(Sending(second.attempt_id))
            await writer.settled()
            return bool(last.done())

    assert asyncio.run(run())
    assert set(book.states().values()) == {"sending"}


def test_where_nothing_was_handed_in_all_is_settled(book: Any) -> None:
    ours, its = socket.socketpair()

    async def run() -> None:
        with Spill(spill_path(book.path), opening.ledger_id(book.connection), 0) as spill:
            writer = Writer(ours, Named(book.path), spill, in_flight=0)
            async with asyncio.timeout(1):
                await writer.settled()
            writer.close()

    with its:
        asyncio.run(run())


def test_changes_that_wait_together_share_a_transaction(book: Any, fare: Any) -> None:
    attempts = book.plan(*(fare(number) for number in range(100)))
    with book.commits() as commits:
        book.write(*(Sending(attempt.attempt_id) for attempt in attempts))
    assert len(commits) <= 10


@pytest.mark.slow
@pytest.mark.parametrize(("commit_seconds", "least", "most"), [(0.2, 1, 1), (0.0, 4, 8)])
def test_on_a_slow_disk_alone_those_that_keep_coming_share_a_commit(
    book: Any, fare: Any, commit_seconds: float, least: int, most: int
) -> None:
    attempts = book.plan(*(fare(number) for number in range(12)))
    commits: list[float] = []

    def committed() -> bool:
        time.sleep(commit_seconds)
        commits.append(time.monotonic())
        return False

    async def one(writer: Writer, at: int) -> None:
        await asyncio.sleep(0.01 * at)
        await writer.commit(Sending(attempts[at].attempt_id))

    async def run() -> None:
        with Spill(spill_path(book.path), opening.ledger_id(book.connection), 12) as spill:
            async with writer_by(book.connection, spill, 12) as writer:
                for at in (8, 9):  # by which it sees what disk it is
                    await writer.commit(Sending(attempts[at].attempt_id))
                commits.clear()
                async with asyncio.TaskGroup() as lanes:
                    for at in range(8):
                        lanes.create_task(one(writer, at))

    book.connection.set_commit_hook(committed)
    asyncio.run(run())
    assert least <= len(commits) <= most
    assert set(book.states().values()) == {"sending", "planned"}


@pytest.mark.slow
def test_what_comes_while_a_group_is_written_shares_the_next(book: Any, fare: Any) -> None:
    attempts = book.plan(*(fare(number) for number in range(6)))
    commits: list[bool] = []

    def committed() -> bool:
        time.sleep(0.2)
        commits.append(True)
        return False

    async def run() -> None:
        async with book.writer() as writer:
            for attempt in attempts:  # all of them within the first one's commit
                writer.commit(Sending(attempt.attempt_id))
                await asyncio.sleep(0.005)

    book.connection.set_commit_hook(committed)
    asyncio.run(run())
    assert len(commits) == 2


def test_when_all_there_are_wait_nobody_else_is_waited_for(book: Any, fare: Any) -> None:
    attempts = book.plan(*(fare(number) for number in range(6)))

    async def run() -> None:
        with Spill(spill_path(book.path), opening.ledger_id(book.connection), 2) as spill:
            async with writer_by(book.connection, spill, 2) as writer:
                writer._took(60.0)
                writer._took(60.0)  # by which it would wait for a quarter of a minute
                await asyncio.gather(*(writer.commit(Sending(attempts[at].attempt_id)) for at in (0, 1)))

    asyncio.run(asyncio.wait_for(run(), 14))
    assert list(book.states().values()).count("sending") == 2


@pytest.mark.parametrize(
    ("commit_seconds", "parts"),
    [(60.0, [(16, False), (16, False), (8, True)]), (0.0, [(20, True), (20, True)])],
    ids=["slow disk", "fast disk"],
)
def test_a_slow_disks_group_is_handed_over_while_it_comes_up(
    tmp_path: Path, commit_seconds: float, parts: list[tuple[int, bool]]
) -> None:
    (tmp_path / "named").touch()
    ours, its = socket.socketpair()
    its.sendall(packed(Written()))

    async def run(spill: Spill) -> list[tuple[int, bool]]:
        async with group_commit(ours, Named(tmp_path / "named"), spill, 40) as writer:
            writer._took(commit_seconds)
            writer._took(commit_seconds)
            done = [writer.commit(Sending(number)) for number in range(40)]
            found = [(len(changes), last) for changes, last in taken(bytearray(its.recv(1 << 16)))]
            its.sendall(packed(Written()) * sum(last for _, last in found))
            assert await asyncio.gather(*done) == [None] * 40
            return found

    with its, Spill(tmp_path / "spill", "", 40) as spill:
        assert asyncio.run(asyncio.wait_for(run(spill), 14)) == parts


def groups(its: socket.socket) -> list[tuple[list[tuple[str, int]], bool]]:
    """What has been said to the process: of each part the changes, and whether it is the last of its group."""
    with contextlib.suppress(BlockingIOError):
        return [
            ([(kind, attempt_id) for kind, attempt_id, *_ in changes], last)
            for changes, last in taken(bytearray(its.recv(1 << 16, socket.MSG_DONTWAIT)))
        ]
    return []


def test_changes_for_which_one_request_waits_go_to_disk_in_one_group(tmp_path: Path) -> None:
    """On a fast disk a half of four is handed over: with the second request's changes, and with all of them."""
    (tmp_path / "named").touch()
    ours, its = socket.socketpair()
    its.sendall(packed(Written()))
    answer = Answered(200, b"")

    async def run(spill: Spill) -> None:
        async with group_commit(ours, Named(tmp_path / "named"), spill, 4) as writer:
            one = writer.commit_together(GotAnswer(1, answer), Sending(3))
            assert groups(its) == []
            two = writer.commit_together(GotAnswer(2, answer), Sending(4))
            assert groups(its) == [([("answered", 1), ("sending", 3), ("answered", 2), ("sending", 4)], True)]
            its.sendall(packed(Written(results=[None, LedgerProblem("refused"), None, None])))
            told = await asyncio.gather(*one, *two, return_exceptions=True)
            assert [str(each) for each in told] == ["None", "refused", "None", "None"]

    with its, Spill(tmp_path / "spill", "", 4) as spill:
        asyncio.run(asyncio.wait_for(run(spill), 14))


_LATER = 0.4  # seconds


@pytest.mark.parametrize("way", ["request", "soon", "settled", "alone"])
def test_an_outcome_goes_to_disk_with_a_request_or_soon_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setattr(pipeline.ledger.group_commit, "_LATER", _LATER)
    (tmp_path / "named").touch()
    ours, its = socket.socketpair()
    its.sendall(packed(Written()))
    outcome = Outcome("issued", number="7")

    async def run(spill: Spill) -> None:
        async with group_commit(ours, Named(tmp_path / "named"), spill, 4) as writer:
            done = writer.commit(Ended(1, outcome))
            await asyncio.sleep(_LATER / 8)
            assert groups(its) == []  # nobody waits for it
            expected = [("ended", 1)]
            if way == "request":
                writer.commit(Sending(2))
                expected.append(("sending", 2))
            elif way == "soon":
                writer.soon()
            waiting = asyncio.create_task(writer.settled()) if way == "settled" else None
            await asyncio.sleep(2 * _LATER if way == "alone" else _LATER / 8)
            assert groups(its) == [(expected, True)]
            its.sendall(packed(Written()))
            assert await done == outcome
            if waiting:
                await waiting
            # So it is with the next, too, and with what waits when a group is on disk.
            writer.commit(Sending(3))
            await asyncio.sleep(_LATER / 8)
            assert groups(its) == [([("sending", 3)], True)]
            done = writer.commit(Ended(4, outcome))
            its.sendall(packed(Written()))
            await asyncio.sleep(_LATER / 8)
            assert groups(its) == [([("ended", 4)], False)]  # it is written, and not committed
            await asyncio.sleep(_LATER)
            assert groups(its) == [([], True)]
            its.sendall(packed(Written()))
            assert await done == outcome

    with its, Spill(tmp_path / "spill", "", 4) as spill:
        asyncio.run(asyncio.wait_for(run(spill), 14))


def test_what_nobody_waits_for_is_done_when_what_is_waiting_was_handed_over(tmp_path: Path) -> None:
    (tmp_path / "named").touch()
    ours, its = socket.socketpair()
    its.sendall(packed(Written()))
    came: list[bytes] = []

    async def run(spill: Spill) -> None:
        async with group_commit(ours, Named(tmp_path / "named"), spill, 2) as writer:
            writer._took(2.0)
            writer._took(2.0)  # by which it waits for both
            one = writer.commit(Sending(1))
            writer.meanwhile(lambda: came.append(its.recv(1 << 16)))
            await asyncio.sleep(0.01)
            assert not came
            two = writer.commit(Sending(2))
            assert not came  # whoever hands over goes on first
            await asyncio.sleep(0)
            assert [last for _, last in taken(bytearray(came[0]))] == [False, True]
            its.sendall(packed(Written()))
            await asyncio.gather(one, two)

    with its, Spill(tmp_path / "spill", "", 2) as spill:
        asyncio.run(asyncio.wait_for(run(spill), 14))
    assert len(came) == 1


def test_a_refused_change_does_not_take_the_others_with_it(book: Any, fare: Any) -> None:
    one, same, other = book.plan(fare(1), fare(1, remarks="again"), fare(2))
    results = book.write(Sending(one.attempt_id), Sending(same.attempt_id), Sending(other.attempt_id))
    assert [type(result) for result in results] == [type(None), LedgerProblem, type(None)]
    assert book.states() == {
        one.attempt_id: "sending",
        same.attempt_id: "planned",
        other.attempt_id: "sending",
    }


def test_sending_what_is_not_there_is_refused(book: Any) -> None:
    (result,) = book.write(Sending(99))
    assert isinstance(result, LedgerProblem)


def test_a_new_attempt_has_the_charges_of_the_ended_one(book: Any, several: Any) -> None:
    (attempt,) = book.plan(several(1, 2))
    book.write(Sending(attempt.attempt_id))
    book.write(Ended(attempt.attempt_id, Outcome("not_sent", "carrier_busy")))
    ((again, number),) = book.write(Again(attempt.attempt_id))
    assert number == 2
    assert book.write(Sending(again)) == [None]
    assert seen_by_another(
        book, f"SELECT ticket_no, live FROM charge WHERE attempt_id = {again} ORDER BY 1"
    ) == [
        ("9990000000001", 1),
        ("9990000000002", 1),
    ]


def fail_commits(book: Any) -> None:
    """From now on no transaction commits, as on a full disk."""
    book.connection.set_commit_hook(lambda: True)


def test_when_the_ledger_fails_nobody_is_told_yes_and_outcomes_are_spilled(book: Any, fare: Any) -> None:
    one, two, three = book.plan(fare(1), fare(2), fare(3))
    book.write(Sending(one.attempt_id), Sending(two.attempt_id))
    fail_commits(book)
    results = book.write(
        GotAnswer(one.attempt_id, Answered(200, b"raw", "")),
        Ended(two.attempt_id, Outcome("issued", number="222", trace_id="t")),
        Sending(three.attempt_id),
    )
    assert all(isinstance(result, LedgerProblem) for result in results)
    assert book.states() == {1: "sending", 2: "sending", 3: "planned"}
    assert [entry["attempt_id"] for entry in book.kept()] == [1, 2, 3]

    book.connection.set_commit_hook(None)
    asked = []

    def meaning(left: records.Interrupted, answer: Answered) -> Outcome:
        asked.append((left.attempt_id, answer))
        return Outcome("issued", number="111")

    found = recover(book.connection, book.path, book.lock, meaning)
    assert (found.spilled, found.answered, found.unknown) == (3, 1, 0)
    assert asked == [(1, Answered(200, b"raw"))]
    assert seen_by_another(book, "SELECT attempt_id, state, number FROM attempt") == [
        (1, "issued", "111"), (2, "issued", "222"),
    ]  # fmt: skip
    assert not spill_path(book.path).exists()
    assert recover(book.connection, book.path, book.lock, never).spilled == 0  # again changes nothing


def test_sending_that_may_have_been_committed_is_known_not_to_have_left(book: Any, fare: Any) -> None:
    """A failed COMMIT may still have reached the disk; the spill says that the request did not leave."""
    (attempt,) = book.plan(fare(1))
    fail_commits(book)
    book.write(Sending(attempt.attempt_id))
    book.connection.set_commit_hook(None)
    book.state(attempt.attempt_id, "sending")  # as if the failed commit had reached the disk after all
    recover(book.connection, book.path, book.lock, never)
    assert book.states() == {attempt.attempt_id: "not_sent"}


def test_recovery_turns_sending_into_unknown_and_never_back(book: Any, fare: Any) -> None:
    one, two, three = book.plan(fare(1), fare(2), fare(3))
    book.state(one.attempt_id, "sending")
    book.state(two.attempt_id, "sending")
    records.record_answer(book.connection, two.attempt_id, Answered(200, b"yes"))
    found = recover(
        book.connection, book.path, book.lock, lambda _left, _answer: Outcome("rejected", "carrier_rejected")
    )
    assert book.states() == {one.attempt_id: "unknown", two.attempt_id: "rejected"}
    assert (found.unknown, found.answered) == (1, 1)
    assert three.attempt_id not in book.states()


def test_a_spill_of_another_ledger_is_refused(book: Any) -> None:
    with Spill(spill_path(book.path), "another", 1) as spill:
        spill.ended(1, Outcome("issued", number="1"))
    with pytest.raises(LedgerProblem, match="another ledger"):
        recover(book.connection, book.path, book.lock, never)
    assert spill_path(book.path).exists()


def test_the_spills_space_is_on_disk_before_it_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "a.spill"
    with Spill(path, "id", 3) as spill:
        reserved = path.stat()
        assert reserved.st_size >= 3 * 64 * 1024 * 4 // 3
        assert reserved.st_blocks * 512 >= reserved.st_size
        assert reserved.st_mode & 0o777 == 0o600
        for attempt_id in range(3):
            spill.answer(attempt_id, Answered(200, b"\xff" * 64 * 1024))
        assert path.stat().st_size == reserved.st_size
    assert len(list(spilled(path, "id"))) == 3


def test_an_unused_spill_file_goes(tmp_path: Path) -> None:
    with Spill(tmp_path / "a.spill", "id", 1):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_line_cut_off_by_a_crash_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.spill"
    whole = json.dumps({"ledger_id": "id", "attempt_id": 1, "never_sent": True}).encode()
    path.write_bytes(whole + b"\n" + whole[:20] + b"\0" * 100)
    assert [entry["attempt_id"] for entry in spilled(path, "id")] == [1]


def test_no_room_for_the_spill_stops_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.write", full)
    with pytest.raises(LedgerProblem, match=r"no room.*No space left"):
        Spill(tmp_path / "a.spill", "id", 1)
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []


def test_an_answer_that_the_ledger_refuses_is_spilled(book: Any, fare: Any) -> None:
    """As where another run, let in by a deleted lock file, has called this attempt unknown meanwhile."""
    first, second = book.plan(fare(1), fare(2))
    book.state(first.attempt_id, "sending")
    book.state(second.attempt_id, "sending")
    book.state(first.attempt_id, "unknown")
    results = book.write(
        GotAnswer(first.attempt_id, Answered(200, b"yes")),
        Ended(first.attempt_id, Outcome("issued", number="1")),
        Ended(second.attempt_id, Outcome("issued", number="2")),
    )
    assert [isinstance(result, LedgerProblem) for result in results] == [True, True, False]
    assert book.states() == {first.attempt_id: "unknown", second.attempt_id: "issued"}
    assert [(entry["attempt_id"], entry.get("number")) for entry in book.kept()] == [
        (first.attempt_id, None),
        (first.attempt_id, "1"),
    ]


def test_a_defect_in_the_writer_leaves_nobody_waiting(
    book: Any, fare: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (attempt,) = book.plan(fare(1))
    book.state(attempt.attempt_id, "sending")
    book.state(attempt.attempt_id, "unknown")

    def broken(*_: object) -> None:
        raise TypeError("a defect")

    monkeypatch.setattr(Spill, "ended", broken)
    results = book.write(Ended(attempt.attempt_id, Outcome("issued", number="1")), Again(attempt.attempt_id))
    assert all(isinstance(result, LedgerProblem) for result in results)
    assert "TypeError: a defect" in str(results[0])
