"""A machine without a network: run in a network namespace of its own, in which not even loopback is up.

    unshare -rn python -m tests.crash.wire_nowhere

Prints what a request to a carrier comes to there.
"""

import asyncio
import socket
import tempfile
from pathlib import Path

from pipeline.ledger import opening
from pipeline.ledger.spill import Spill, spill_path
from pipeline.model.profile import Profile
from pipeline.submission.graceful_stop import Halt
from tests.committing import writer_by
from tests.crash.wire_bench import SHORT, opened, request_of, submitted
from tests.crash.wire_faults import brisk


def main() -> None:
    """One request to an address that there is no way to."""
    with socket.socket() as looking:
        print(f"errno {looking.connect_ex(('127.0.0.1', 9))}")  # noqa: T201 - read by the test
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as book, brisk():
        attempts = book.plan([request_of("itinerary", 1)])

        async def work() -> None:
            with Spill(spill_path(book.path), opening.ledger_id(book.connection), 1) as spill:
                async with writer_by(book.connection, spill, 1) as writer:
                    (result,) = await submitted(
                        writer, "http://127.0.0.1:9", Profile(submission=SHORT), attempts, Halt()
                    )
            print(result.outcome.state, result.outcome.reason, result.attempt)  # noqa: T201 - likewise

        asyncio.run(work())
        (rows,) = book.rows().values()
        print(*(row.state for row in rows))  # noqa: T201 - likewise


if __name__ == "__main__":
    main()
