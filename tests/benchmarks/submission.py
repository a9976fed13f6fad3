"""Sending: everything on, against a bare loop that posts prepared bodies to the same carrier.

    python -m tests.benchmarks.submission ours ADDRESS MONTH.xlsx --in-flight 64
    python -m tests.benchmarks.submission bare ADDRESS MONTH.xlsx --in-flight 64

Each prints the seconds that its requests took. `ours` is `sending.send` with a real ledger, from the planned attempts
to their results: document, encryption, synced `sending`, the post, the raw answer on disk, the outcome on disk.
`bare` has its bodies ready and looks at no answer.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from pipeline.bookkeeping import ledger_to_write
from pipeline.carrier.crypto import Cipher
from pipeline.carrier.documents import PATHS, request_body
from pipeline.issuing import judged
from pipeline.job import Job, Watch
from pipeline.reading.tables import read_table
from pipeline.sending import send
from pipeline.settings import Secrets, load_profile
from tests.benchmarks.months import AS_OF
from tests.benchmarks.timing import KEYS, REPOSITORY

#: One charge to an invoice, so that a month of N rows is N requests.
_SINGLE = 1


def _job(address: str, month: Path, folder: Path, in_flight: int, rate: float) -> Job:
    profile = load_profile(REPOSITORY / "sample_data" / "sandbox.toml")
    profile = replace(
        profile,
        carrier=replace(profile.carrier, base_url=address),
        limits=replace(profile.limits, max_charges_per_invoice=_SINGLE),
        submission=replace(profile.submission, concurrency=in_flight, rate_per_second=rate),
    )
    return Job((month,), profile, None, ledger=str(folder / "benchmark.ledger"), as_of=AS_OF)


def _ours(job: Job, month: Path) -> tuple[int, float]:
    keys = Secrets(KEYS["VOUCHER_API_KEY"], KEYS["VOUCHER_ENCRYPTION_KEY"])
    watch = Watch(lambda _: None, lambda _: None, lambda _: True, print)
    with ledger_to_write(job, watch, keys) as ledger:
        rows = judged(ledger, read_table([month]), job)
        run = ledger.begin("issue", job.terms, [month])
        attempts = ledger.plan(run, rows.requests, rows.verdicts.rows)
        begun = time.perf_counter()
        sent = send(job, ledger, attempts, rows.table, rows.holdings, keys, watch)
        seconds = time.perf_counter() - begun
        ledger.end(run, 0)
    states = {result.outcome.state for result in sent.results}
    if states != {"issued"}:
        raise RuntimeError(f"not all were issued: {states} {sent.stopped}")
    return len(attempts), seconds


def _bare(job: Job, month: Path) -> tuple[int, float]:
    import aiohttp  # noqa: PLC0415 - this side alone
    import uvloop  # noqa: PLC0415 - likewise

    keys = Secrets(KEYS["VOUCHER_API_KEY"], KEYS["VOUCHER_ENCRYPTION_KEY"])
    watch = Watch(lambda _: None, lambda _: None, lambda _: True, print)
    with ledger_to_write(job, watch, keys) as ledger:
        requests = judged(ledger, read_table([month]), job).requests
    cipher = Cipher(keys.encryption_key)
    ready = [(PATHS[r.voucher], request_body(r, job.profile, cipher)) for r in requests]
    headers = {"Content-Type": "application/json", "agency": "SANDBOX", "APIKEY": keys.api_key}

    async def post_all() -> None:
        queue = iter(ready)
        connector = aiohttp.TCPConnector(limit=job.profile.submission.concurrency)
        async with aiohttp.ClientSession(job.profile.carrier.base_url, connector=connector) as session:

            async def work() -> None:
                for path, body in queue:
                    async with session.post(path, data=body, headers=headers) as response:
                        await response.read()

            async with asyncio.TaskGroup() as group:
                for _ in range(job.profile.submission.concurrency):
                    group.create_task(work())

    begun = time.perf_counter()
    uvloop.run(post_all())
    return len(ready), time.perf_counter() - begun


def main() -> None:
    """Send a month one way or the other, and print how long it took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("side", choices=("ours", "bare"))
    parser.add_argument("address")
    parser.add_argument("month", type=Path)
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--rate", type=float, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="submission-", dir=given.month.parent) as folder:
        job = _job(given.address, given.month, Path(folder), given.in_flight, given.rate)
        count, seconds = (_ours if given.side == "ours" else _bare)(job, given.month)
    sys.stdout.write(f"requests={count}\nseconds={seconds:.4f}\n")


if __name__ == "__main__":
    main()
