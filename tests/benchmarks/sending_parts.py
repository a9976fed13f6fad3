"""What sending a request is made of: the least processor time of each part by itself, in microseconds a request.

python -m tests.benchmarks.sending_parts MONTH.xlsx     # README.md adds them up
"""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar, cast

import apsw

from pipeline.carrier.client import connected
from pipeline.carrier.crypto import Cipher
from pipeline.carrier.documents import PATHS, request_body
from pipeline.carrier.key_redaction import Concealed
from pipeline.carrier.replies import Before, interpret
from pipeline.ledger import attempt_changes
from pipeline.ledger.attempt_changes import Change, Ended, GotAnswer, Sending
from pipeline.ledger.commit_process import Written
from pipeline.ledger.group_commit import group_commit
from pipeline.ledger.lock import Named
from pipeline.ledger.planning import Attempt
from pipeline.ledger.session import file_to_write
from pipeline.ledger.spill import Spill
from pipeline.model.job import Job, Watch
from pipeline.model.outcome import Answered, Outcome, Reply
from pipeline.model.profile import Secrets
from pipeline.pickled_values import PIECE, packed, taken
from pipeline.reading.tickets import read_table
from pipeline.submission.batch import judged
from pipeline.submission.charge_details import charge_details
from pipeline.submission.event_loop import event_loop
from pipeline.submission.recovered_answers import meaning
from pipeline.submission.sending_run import Run, send
from tests.benchmarks.carrier import answering, processor_a_request
from tests.benchmarks.submission import job_of
from tests.benchmarks.timing import KEYS, ROUNDS, python

_IN_FLIGHT = 64
Made = TypeVar("Made")
_KEYS = Secrets(KEYS["VOUCHER_API_KEY"], KEYS["VOUCHER_ENCRYPTION_KEY"])
_WATCH = Watch(lambda _: None, lambda _: None, lambda _: True, lambda _: None)


class _Parts(dict[str, float]):
    """The least that each part took so far, in seconds."""

    def of(self, name: str, part: Callable[[], Made]) -> Made:
        begun = time.process_time()
        made = part()
        self[name] = min(time.process_time() - begun, self.get(name, 1e9))
        return made


def _posted(job: Job, attempts: Sequence[Attempt], bodies: Sequence[bytes]) -> list[Reply]:
    """The replies to prepared bodies, by our own client and as many lanes as are in flight."""
    replies: dict[int, Reply] = {}

    async def post_all() -> None:
        queue = iter(enumerate(zip(attempts, bodies, strict=True)))

        async def lane() -> None:
            for at, (attempt, body) in queue:
                replies[at], connection = await client.post(PATHS[attempt.request.voucher], body)
                connection.give_back()

        async with (
            connected(job.profile, job.profile.carrier.base_url, _KEYS.api_key) as client,
            asyncio.TaskGroup() as lanes,
        ):
            for _ in range(_IN_FLIGHT):
                lanes.create_task(lane())

    with event_loop() as runner:
        runner.run(post_all())
    return [replies[at] for at in range(len(bodies))]


def _understood(job: Job, attempts: Sequence[Attempt], replies: Sequence[Reply]) -> list[Outcome]:
    """What the replies mean, as they are kept and interpreted within a run."""
    cipher, concealed = Cipher(_KEYS.encryption_key), Concealed(_KEYS.api_key, _KEYS.encryption_key)
    outcomes = []
    for attempt, reply in zip(attempts, replies, strict=True):
        concealed.answer(cast("Answered", reply))
        before = Before(accepted=True)
        outcome = interpret(reply, attempt.request.asked, cipher, job.profile.answers, before)
        outcomes.append(concealed.outcome(outcome))
    return outcomes


def _handed_over(
    attempts: Sequence[Attempt], replies: Sequence[Reply], outcomes: Sequence[Outcome], folder: Path
) -> None:
    """All changes handed over and acknowledged, by as many lanes as are in flight: what it takes of the sending process."""
    (folder / "named").touch()
    ours, its = socket.socketpair()
    with its:
        process = subprocess.Popen(python("-m", __spec__.name, "--acknowledge"), stdin=its.fileno())

    async def hand_over() -> None:
        queue = iter(zip(attempts, replies, outcomes, strict=True))

        async def lane() -> None:
            for attempt, reply, outcome in queue:
                answer = GotAnswer(attempt.attempt_id, cast("Answered", reply))
                for done in writer.commit_together(answer, Sending(attempt.attempt_id)):
                    await done
                writer.commit(Ended(attempt.attempt_id, outcome))

        with Spill(folder / "spill", "", _IN_FLIGHT) as spill:
            async with (
                group_commit(ours, Named(folder / "named"), spill, _IN_FLIGHT) as writer,
                asyncio.TaskGroup() as lanes,
            ):
                for _ in range(_IN_FLIGHT):
                    lanes.create_task(lane())

    with event_loop() as runner:
        runner.run(hand_over())
    process.wait()


def acknowledge() -> None:
    """Acknowledge every group that comes at standard input, written or not."""
    with socket.socket(fileno=os.dup(0)) as channel:
        channel.sendall(packed(Written()))
        came = bytearray()
        while data := channel.recv(PIECE):
            came += data
            for _, last in taken(came):
                if last:
                    channel.sendall(packed(Written()))


def _recorded(
    connection: apsw.Connection,
    attempts: Sequence[Attempt],
    replies: Sequence[Reply],
    outcomes: Sequence[Outcome],
) -> None:
    """All changes, as those of all that are in flight come together: answers with the next `sending` and the outcomes before."""
    by_id = {attempt.attempt_id: outcome for attempt, outcome in zip(attempts, outcomes, strict=True)}
    answers: list[Change] = []
    ended: list[Change] = []
    for first in range(0, len(attempts) + 2 * _IN_FLIGHT, _IN_FLIGHT):
        here = range(first, max(first, min(first + _IN_FLIGHT, len(attempts))))
        _committed(connection, [*ended, *answers, *(Sending(attempts[at].attempt_id) for at in here)])
        asked = [cast("GotAnswer", change).attempt_id for change in answers]
        ended = [Ended(attempt_id, by_id[attempt_id]) for attempt_id in asked]
        answers = [GotAnswer(attempts[at].attempt_id, cast("Answered", replies[at])) for at in here]


def _committed(connection: apsw.Connection, group: Sequence[Change]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    if not attempt_changes.write_as_sets(connection, [change.plain() for change in group]):
        raise RuntimeError("the ledger refused a change")
    connection.execute("COMMIT")


def _measure(parts: _Parts, address: str, month: Path, folder: Path, *, whole: bool) -> int:
    """One round, on a ledger of its own: the parts one after the other, or the whole."""
    given = Namespace(
        address=address, ca_file=None, in_flight=_IN_FLIGHT, rate=0.0, packed=False, month=month
    )
    job = job_of(given, folder)
    with file_to_write(job, _WATCH, meaning(job, _KEYS)) as ledger:
        rows = judged(ledger, read_table([month]), job)
        run = Run("issue", job, ledger, ledger.begin("issue", job.terms, [month]), _KEYS, _WATCH)
        of_rows = rows.verdicts.rows
        attempts = ledger.plan(run.number, rows.requests, of_rows, charge_details(rows.table, of_rows))
        if whole:
            with ledger.committing() as channel:
                parts.of(
                    "the whole, everything on, without the process that commits",
                    lambda: send(run, channel, attempts, rows.table, rows.holdings.doubts),
                )
        else:
            cipher = Cipher(_KEYS.encryption_key)
            bodies = parts.of(
                "documents made and sealed",
                lambda: [request_body(attempt.request, job.profile, cipher) for attempt in attempts],
            )
            replies = parts.of("prepared bodies posted by our client", lambda: _posted(job, attempts, bodies))
            outcomes = parts.of("answers interpreted", lambda: _understood(job, attempts, replies))
            parts.of("changes handed over", lambda: _handed_over(attempts, replies, outcomes, folder))
            parts.of("the ledger", lambda: _recorded(ledger._connection, attempts, replies, outcomes))
        ledger.end(run.number, 0)
    return len(attempts)


def main() -> None:
    """Some rounds; the least of each part."""
    if sys.argv[1:] == ["--acknowledge"]:
        acknowledge()
        return
    month, parts = Path(sys.argv[1]).resolve(), _Parts()
    with tempfile.TemporaryDirectory(prefix="sending-parts-") as folder:
        with answering(Path(folder)) as address:
            for round_ in range(2 * ROUNDS):
                place = Path(folder) / str(round_)
                place.mkdir()
                count = _measure(parts, address, month, place, whole=bool(round_ % 2))
        carrier = processor_a_request(Path(folder))
    for name, seconds in parts.items():
        sys.stdout.write(f"{1e6 * seconds / count:7.1f} µs {name}\n")
    sys.stdout.write(f"{carrier:7.1f} µs the carrier beside them, the mean of all rounds\n")


if __name__ == "__main__":
    main()
