"""What a worker's turns cost a shared ledger's server, without a carrier: claims, answers and outcomes of requests of one charge each.

    python -m tests.benchmarks.shared_turns --requests 4000 --group 32 [--functions]

It prints processor time and time by the clock of a request, of the server and of the thread that makes the turns; with `--functions`, which takes
time itself, what of that each function of the ledger has for itself.
"""

import argparse
import itertools
import json
import secrets
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg

from pipeline.ledger.attempt_changes import Change, Ended, GotAnswer
from pipeline.ledger_postgresql import server_schema
from pipeline.ledger_postgresql.server_connection import connect
from pipeline.ledger_postgresql.worker_turns import Claimed, Worker
from pipeline.model.outcome import Answered, Outcome
from pipeline.model.profile import Owner
from tests.benchmarks.shared_ledger import SETTINGS, own_programs, processor
from tests.postgresql_server import server

_OWNER = ("http://127.0.0.1", "BENCHMARK")
_ANSWER = Answered(
    200, b'{"code":200,"message":"success","data":"' + b"A" * 172 + b'","traceId":"0000000000"}'
)
_BY_FUNCTION = (
    "SELECT funcname, calls, self_time * 1000 FROM pg_stat_user_functions ORDER BY self_time DESC LIMIT 12"
)


def _planned(count: int) -> Iterator[tuple[list[dict[str, Any]], list[bytes]]]:
    """Requests, a thousand at once, and their sealed bodies."""
    header = ["business", "示例第1贸易有限公司", "91110000600037341L", "010-55550000", "invoices@buyer1.example.com", ""]  # fmt: skip
    for first in range(0, count, 1000):
        requests = [
            {
                "request_id": f"{at:064x}", "voucher": "invoice", "market": "domestic", "amount": 100000, "header": header,
                "charges": [
                    [
                        f"999{at * 7919 % 9999999967:010}", "ticket_fare", "flight", "TICKET_FARE/Flight", 100000, "month.xlsx", "Tickets",
                        at + 2, f"{at:064x}", "ZHANG/WEI MR", "{}", "{}",
                    ]
                ],
            }
            for at in range(first, min(count, first + 1000))
        ]  # fmt: skip
        yield requests, [b'{"data":"' + secrets.token_hex(330).encode() + b'"}' for _ in requests]


def _sent(worker: Worker, run: int, group: int) -> None:
    """Claim, answer and end all of a run, so many of each in a turn."""
    numbers = itertools.count(10**17)
    changes: list[Change] = []
    answered: Sequence[Claimed] = ()
    while True:
        claimed = worker.turn(changes, run, group).claimed
        ended = [
            Ended(one.attempt_id, Outcome("issued", number=str(next(numbers)), trace_id="0000000000"))
            for one in answered
        ]
        changes, answered = [*ended, *(GotAnswer(one.attempt_id, _ANSWER) for one in claimed)], claimed
        if not changes:
            return


def _begun(connection: psycopg.Connection, count: int) -> tuple[Worker, int]:
    """A worker, and the run that it is to send."""
    worker = Worker(connection)
    run: Any = connection.execute(
        "SELECT voucher.begin_run('issue', '1', '2026-11-20', '[]', %s)", ([*_OWNER],)
    ).fetchone()
    connection.execute("SELECT voucher.open_run(%s, %s, 0, 0)", (run[0], worker.worker))
    with connection.transaction():
        for requests, bodies in _planned(count):
            connection.execute("SELECT voucher.plan(%s, %s, %s)", (run[0], json.dumps(requests), bodies))
    return worker, run[0]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=4000)
    parser.add_argument("--group", type=int, default=32)
    parser.add_argument("--functions", action="store_true")
    given = parser.parse_args()
    more = ("-c", "track_functions=all") if given.functions else ()
    with (
        server(own_programs(), *SETTINGS, *more) as own,
        connect(own.url(own.new_database())) as connection,
    ):
        server_schema.prepare(connection, Owner(*_OWNER), server_schema.Bounds())
        worker, run = _begun(connection, given.requests)
        begun, of_server, of_worker = (
            time.perf_counter(),
            processor(own.process_id),
            time.process_time(),
        )
        _sent(worker, run, given.group)
        took = {
            "by the clock": time.perf_counter() - begun,
            "server's processor": processor(own.process_id) - of_server,
            "worker's processor": time.process_time() - of_worker,
        }
        time.sleep(2 if given.functions else 0)  # until the server's counts are in
        found = connection.execute(_BY_FUNCTION.encode()).fetchall()
    each = 1e6 / given.requests
    lines = [f"{name}: {each * seconds:.0f} µs a request" for name, seconds in took.items()]
    lines += [
        f"{name}: {calls} calls, {taken / given.requests:.0f} µs a request" for name, calls, taken in found
    ]
    sys.stdout.write("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
