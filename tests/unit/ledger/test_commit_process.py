"""The process that commits, as a process of its own: with its keys, its lock, its signals, its end."""

import asyncio
import fcntl
import os
import re
import resource
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from pipeline.ledger import commit_process, in_use, opening
from pipeline.ledger.attempt_changes import Ended, GotAnswer, Sending
from pipeline.ledger.commit_process import Part, Written, committing
from pipeline.ledger.group_commit import Writer, group_commit
from pipeline.ledger.lock import Lock, Named
from pipeline.ledger.spill import Spill, spill_path
from pipeline.model.errors import LedgerInUse, LedgerProblem
from pipeline.model.message import message
from pipeline.model.outcome import Answered, Outcome
from pipeline.pickled_values import packed, taken

ISSUED = Outcome("issued", number="1", trace_id="t")


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Gives the process that was begun last."""
    begun: list[Any] = []
    started = commit_process._started

    def noted(*given: Any) -> Any:
        begun.append(started(*given))
        return begun[-1]

    monkeypatch.setattr(commit_process, "_started", noted)
    return lambda: begun[-1]


@pytest.fixture
def committer(book: Any) -> Any:
    return commit_process._Committer(book.connection, Named(book.path))


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch) -> list[list[Any]]:
    """The sets of changes that are written, each by its attempts."""
    sets: list[list[Any]] = []
    write_as_sets = commit_process.attempt_changes.write_as_sets

    def noted(connection: Any, changes: Any) -> bool:
        sets.append([attempt_id for _, attempt_id, *_ in changes])
        return write_as_sets(connection, changes)

    monkeypatch.setattr(commit_process.attempt_changes, "write_as_sets", noted)
    return sets


def written(book: Any, work: Callable[[Writer], Awaitable[Any]], in_flight: int = 4) -> Any:
    """What comes of some work with a writer by a process of its own."""

    async def run(channel: Any, spill: Spill) -> Any:
        async with asyncio.timeout(20), group_commit(channel, Named(book.path), spill, in_flight) as writer:
            return await work(writer)

    with (
        committing(Named(book.path), book.lock) as channel,
        Spill(spill_path(book.path), opening.ledger_id(book.connection), 4) as spill,
    ):
        return asyncio.run(run(channel, spill))


async def at_once(writer: Writer, *changes: Any) -> list[Any]:
    return await asyncio.gather(*map(writer.commit, changes), return_exceptions=True)


def test_a_change_that_the_process_acknowledges_is_on_disk(book: Any, fare: Any, process: Any) -> None:
    one, two = (attempt.attempt_id for attempt in book.plan(fare(1), fare(2)))

    async def work(writer: Writer) -> None:
        assert await at_once(writer, Sending(one), Sending(two)) == [None, None]
        assert book.states() == {one: "sending", two: "sending"}
        assert await writer.commit(GotAnswer(one, Answered(200, b"raw"))) is None
        ended, unknown = await at_once(writer, Ended(one, ISSUED), Sending(99))
        assert (ended, "attempt 99" in str(unknown), writer.failed) == (ISSUED, True, False)

    written(book, work)
    assert book.states() == {one: "issued", two: "sending"}
    assert process().poll() == 0


def test_it_has_no_keys_and_is_no_reading_for_others(
    book: Any, process: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOUCHER_API_KEY", "key-4711")

    async def work(_: Writer) -> None:
        found = Path(f"/proc/{process().pid}")
        if os.getuid() == 0:  # else its environment can't even be read
            assert b"key-4711" not in (found / "environ").read_bytes()
        assert (found / "environ").stat().st_uid == 0  # not dumpable
        (cores,) = re.findall(r"Max core file size +(\w+)", (found / "limits").read_text())
        assert cores == "0"

    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    try:
        written(book, work)
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))


def test_signals_to_all_of_a_service_do_not_end_it(book: Any, fare: Any, process: Any) -> None:
    (attempt,) = book.plan(fare(1))

    async def work(writer: Writer) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process().send_signal(number)
        assert os.getsid(process().pid) != os.getsid(0)  # nor does the terminal's end
        await asyncio.sleep(0.05)
        assert await writer.commit(Sending(attempt.attempt_id)) is None

    written(book, work)
    assert process().poll() == 0


@pytest.mark.parametrize("busy", [False, True])
def test_when_it_is_killed_nobody_is_told_yes_and_all_is_spilled(
    book: Any, fare: Any, process: Any, busy: bool
) -> None:
    one, two = (attempt.attempt_id for attempt in book.plan(fare(1), fare(2)))

    async def work(writer: Writer) -> list[Any]:
        assert await writer.commit(Sending(one)) is None
        process().send_signal(signal.SIGSTOP if busy else signal.SIGKILL)
        answers = asyncio.ensure_future(at_once(writer, Ended(one, ISSUED), Sending(two)))
        await asyncio.sleep(0.1)
        process().kill()
        found = await answers
        assert writer.failed
        return [*found, *await at_once(writer, GotAnswer(one, Answered(200, b"late")))]

    results = written(book, work)
    assert {str(result) for result in results} == {
        f"{book.path}: the process that writes the ledger was ended from outside, perhaps for lack of memory or disk space; run the same command again"
    }
    assert book.states() == {one: "sending", two: "planned"}
    kept = [(entry["attempt_id"], entry.get("number"), entry.get("never_sent")) for entry in book.kept()]
    assert kept == [(one, "1", None), (two, None, True), (one, None, None)]


def test_where_it_can_not_begin_nothing_may_be_sent(book: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(_: Writer) -> None:
        raise AssertionError

    monkeypatch.setattr(commit_process, "_RUN", "raise SystemExit(1)")
    with pytest.raises(LedgerProblem, match="was ended from outside"):
        written(book, never)
    monkeypatch.undo()
    monkeypatch.setattr(commit_process.sys, "executable", str(book.path.with_name("none")))
    with pytest.raises(LedgerProblem, match="No such file or directory"):
        written(book, never)
    monkeypatch.undo()
    book.path.rename(book.path.with_name("elsewhere"))
    book.path.write_bytes(b"another file")
    with pytest.raises(LedgerProblem, match=r"^[^ ]*: is not a ledger"):
        written(book, never)


def test_no_other_run_begins_before_it_has_ended(book: Any, fare: Any, process: Any) -> None:
    """The process that sends is killed: its lock, closed, stands for that."""
    (attempt,) = book.plan(fare(1))
    with committing(Named(book.path), book.lock) as channel:
        its = process()
        its.send_signal(signal.SIGSTOP)
        try:
            book.lock.close()
            with pytest.raises(LedgerInUse):
                Lock(book.path)
            with (
                book.path.open() as file,
                pytest.raises(BlockingIOError),
            ):  # whatever becomes of the lock file
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            its.send_signal(signal.SIGCONT)
        channel.close()
        its.wait(20)
        book.lock = Lock(book.path)
    assert book.states() == {attempt.attempt_id: "planned"}


def test_it_ends_when_the_process_that_sends_is_gone(book: Any, process: Any) -> None:
    with committing(Named(book.path), book.lock) as channel:
        channel.close()
        deadline = time.monotonic() + 20
        while process().poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert process().returncode == 0


@pytest.mark.slow
def test_a_run_waits_for_what_a_killed_one_left_to_be_committed(book: Any, process: Any) -> None:
    """The process that sends is gone, and the one that commits is not yet."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    in_use.note(book.path, in_use.InUse("chen", "2026-11-20T00:00:00+00:00", on_page=False, process=gone.pid))
    with committing(Named(book.path), book.lock) as channel:
        book.lock.close()
        its = process()
        its.send_signal(signal.SIGSTOP)
        channel.close()
        threading.Timer(0.3, its.send_signal, (signal.SIGCONT,)).start()
        book.lock = Lock(book.path)
        its.wait(20)
    assert its.returncode == 0


@pytest.mark.slow
def test_more_than_the_channel_holds_goes_over_it_while_the_event_loop_goes_on(
    book: Any, fare: Any, process: Any
) -> None:
    ids = [attempt.attempt_id for attempt in book.plan(*map(fare, range(1, 41)))]
    large = [GotAnswer(each, Answered(200, os.urandom(64 * 1024))) for each in ids]

    async def work(writer: Writer) -> None:
        await at_once(writer, *map(Sending, ids))
        process().send_signal(signal.SIGSTOP)
        answers = asyncio.ensure_future(at_once(writer, *large))
        await asyncio.sleep(0.1)
        assert not answers.done()
        process().send_signal(signal.SIGCONT)
        assert await answers == [None] * 40

    written(book, work, in_flight=100)
    (kept,) = book.connection.execute("SELECT count(*) FROM attempt WHERE length(answer) = 65536")
    assert kept == (40,)


def test_what_a_process_that_fails_and_ends_had_is_spilled_once(
    book: Any, fare: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its end is seen while what it could not take is still being spilled."""
    (attempt,) = book.plan(fare(1))
    never_sent, spilled = Spill.never_sent, []

    def slowly(spill: Spill, attempt_id: int) -> None:
        spilled.append(attempt_id)
        time.sleep(0.2)
        never_sent(spill, attempt_id)

    monkeypatch.setattr(Spill, "never_sent", slowly)
    ours, its = socket.socketpair()
    its.sendall(packed(Written()))

    async def run(spill: Spill) -> BaseException | None:
        async with asyncio.timeout(20), group_commit(ours, Named(book.path), spill, 4) as writer:
            done = writer.commit(Sending(attempt.attempt_id))
            await asyncio.sleep(0.05)
            its.recv(1 << 16)
            its.sendall(packed(Written(message("no room"))))
            its.close()
            await asyncio.wait({done})
            return done.exception()

    with Spill(spill_path(book.path), opening.ledger_id(book.connection), 4) as spill:
        told = asyncio.run(run(spill))
    assert (type(told), str(told)) == (LedgerProblem, "no room")
    assert [entry["attempt_id"] for entry in book.kept()] == spilled == [attempt.attempt_id]


@pytest.mark.parametrize("committed", [0, 1, 2])
def test_two_halves_are_with_the_process_at_once_and_each_is_told_what_became_of_it(
    book: Any, fare: Any, committed: int
) -> None:
    ids = [attempt.attempt_id for attempt in book.plan(fare(1), fare(2))]
    ours, its = socket.socketpair()
    its.settimeout(10)
    its.sendall(packed(Written()))

    async def run(spill: Spill) -> list[BaseException | None]:
        async with asyncio.timeout(20), group_commit(ours, Named(book.path), spill, 2) as writer:
            done = [writer.commit(Sending(attempt_id)) for attempt_id in ids]
            with its:
                came, parts = bytearray(), list[Any]()
                while len(parts) < len(ids):  # nobody has told it yet what became of the first
                    came += its.recv(1 << 16)
                    parts += taken(came)
                assert parts == [([("sending", attempt_id)], True) for attempt_id in ids]
                its.sendall(packed(Written()) * committed)
            await asyncio.wait(done)
            return [each.exception() for each in done]

    with Spill(spill_path(book.path), opening.ledger_id(book.connection), 2) as spill:
        told = asyncio.run(run(spill))
    assert [type(each) for each in told] == [type(None)] * committed + [LedgerProblem] * (2 - committed)
    assert sorted(entry["attempt_id"] for entry in book.kept()) == ids[committed:]


def test_what_became_of_two_groups_is_told_in_their_order_if_it_comes_at_once(book: Any, fare: Any) -> None:
    one, two = (attempt.attempt_id for attempt in book.plan(fare(1), fare(2)))
    ours, its = socket.socketpair()
    its.sendall(packed(Written()))

    async def run(spill: Spill) -> list[Any]:
        async with asyncio.timeout(20), group_commit(ours, Named(book.path), spill, 2) as writer:
            done = [writer.commit(Sending(one)), writer.commit(Sending(two))]
            its.sendall(packed(Written(results=[LedgerProblem("refused")])) + packed(Written()))
            return await asyncio.gather(*done, return_exceptions=True)

    with its, Spill(spill_path(book.path), opening.ledger_id(book.connection), 2) as spill:
        refused, taken_ = asyncio.run(run(spill))
    assert (str(refused), taken_) == ("refused", None)


def test_what_has_come_of_a_group_is_written_at_once_and_in_one(
    book: Any, fare: Any, together: list[list[Any]]
) -> None:
    ids = [attempt.attempt_id for attempt in book.plan(*map(fare, range(1, 6)))]

    def part(*some: int, last: bool = False) -> bytes:
        return packed(Part([Sending(each).plain() for each in some], last))

    ours, its = socket.socketpair()
    ours.settimeout(10)
    # Two parts of the first group, and half of another's value, which is whole before the first group's last one comes.
    ours.sendall(packed(Named(book.path)) + part(ids[0]) + part(ids[1]) + part(ids[2])[:9])
    process = threading.Thread(target=commit_process.serve, args=(its, opening.open_beside))
    process.start()
    try:
        assert Written(*one(ours)) == Written()
        deadline = time.monotonic() + 10
        while together != [ids[:2]]:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        ours.sendall(part(ids[2])[9:] + part(ids[3], last=True) + part(ids[4], last=True))
        assert [Written(*one(ours)).results for _ in range(2)] == [None, None]
    finally:
        ours.close()
        process.join(20)
    assert together == [ids[:2], ids[2:4], ids[4:]]
    assert set(book.states().values()) == {"sending"}


def one(channel: socket.socket) -> Any:
    """The next value that comes over a channel."""
    came = bytearray()
    while not (values := list(taken(came))):
        came += channel.recv(1)
    return values[0]


def test_after_a_group_with_a_refused_change_the_next_is_written_as_sets_again(
    book: Any, committer: Any, fare: Any
) -> None:
    (attempt,) = book.plan(fare(1))
    committer.add([Sending(99).plain()])
    refused = committer.written()
    committer.add([Sending(attempt.attempt_id).plain()])
    assert (len(refused.results or ()), committer.written().results) == (1, None)


def sent(committer: Any, *ids: int) -> Any:
    """What becomes of the `sending` of attempts, as a group."""
    committer.add([Sending(each).plain() for each in ids])
    return committer.written()


def on_disk(book: Any) -> set[int]:
    """The attempts whose `sending` another connection sees."""
    with closing(apsw.Connection(str(book.path), flags=apsw.SQLITE_OPEN_READONLY)) as other:
        return {each for (each,) in other.execute("SELECT attempt_id FROM attempt WHERE state = 'sending'")}


def test_a_sending_that_comes_twice_is_refused_the_second_time(book: Any, committer: Any, fare: Any) -> None:
    (attempt,) = book.plan(fare(1))
    first, second = sent(committer, attempt.attempt_id, attempt.attempt_id).results
    assert (first, "an attempt can't change" in str(second)) == (None, True)


def test_a_ledger_that_fails_before_a_group_has_come_takes_nothing_of_it(
    book: Any, committer: Any, fare: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = (attempt.attempt_id for attempt in book.plan(fare(1), fare(2)))

    def full(*_: Any) -> bool:
        raise apsw.FullError("FullError: database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(commit_process.attempt_changes, "write_as_sets", full)
        committer.add([Sending(one).plain()])
        committer.write()
    failure = sent(committer, two).failure
    assert "can't be written" in str(failure)
    assert (on_disk(book), book.connection.in_transaction) == (set(), False)
