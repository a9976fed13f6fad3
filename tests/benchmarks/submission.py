"""Sending: everything on, against a bare loop that posts prepared bodies to the same carrier.

    python -m tests.benchmarks.submission ours ADDRESS MONTH.xlsx --in-flight 64
    python -m tests.benchmarks.submission bare ADDRESS MONTH.xlsx --in-flight 64

Each prints the seconds that its requests took, the processor time of its own process meanwhile, and that of its children beside it;
and its rate, requests a second, which is that of the eight tenths in the middle: in the others not all that may be in flight are, as
connections are made one after the other, and at the end there are no more requests.
`--sync-ms 5` makes every sync of the disk last that much longer (slow_sync.c, for every process that it starts as well), `--ca-file`
names the certificate of a carrier over https. `ours` is `sending_run.send` with a real ledger, from the planned attempts to their
results: document, encryption, synced `sending`, the post, the raw answer on disk, the outcome on disk; it prints the time of a sync
in its ledger's folder, too. `bare` has its bodies ready and looks at no answer; it runs in uvloop, as the program does.

What can be had at N in flight where a request waits for two syncs (`most_a_second`), one after the other: of its `sending`, together with
the outcome of the request before it, and of its answer. So it was until 2026-11-29, and 0.85 of that is what is wanted. A sync takes S and writes whatever was waiting when it began; there is one at
a time; and the loop does R requests a second by itself, here the bare loop's number, in which the carrier's answers are. Between
the two syncs the request is with the loop. What an answer means is made out when its sync is over, before the outcome can be written: it
takes the loop t. Then the disk

- waits for it: all N go to the disk together and to the loop together, and a round takes 2 S + N / R; or
- writes a group of the others meanwhile: thirds take turns, of which one is with the loop. What comes in while a sync goes on waits for
  its end, so that a round is as long as three syncs, and the disk waits before each of them for what a third's answers mean: 3 S + N t.
  Or it does not wait, and then those outcomes wait for one sync more: 4 S.

Ways in between are no better: where of N changes d are taken on from one group to the next while the disk waits g for
them, there are at most (N + d) / 3 (S + g) requests a second, with d at most R g; that rises or falls with g all the way, so that one of
its ends is the best. No request comes faster than the loop, so that there are at most

    min(R, N / (2 S + min(N / R, S + min(S, N t))))

A carrier that answers after a makes N / R the sum a + N / R, and the third sync the larger of S and a.

Since then a request waits for one (`most_with_one_sync`): its `sending` goes to disk with the answer to the one before it. Either all N
go to the disk together and then to the loop, S + N / R, or two halves take turns, and a round is two syncs long: there are at most

    min(R, N / min(2 S, S + N / R))
"""

import argparse
import asyncio
import itertools
import math
import os
import resource
import ssl
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import uvloop

from pipeline.carrier.crypto import Cipher
from pipeline.carrier.documents import PATHS, request_body
from pipeline.carrier.key_redaction import Concealed
from pipeline.carrier.replies import Before, interpret
from pipeline.ledger.planning import Attempt
from pipeline.ledger.session import OpenLedger, file_to_write
from pipeline.ledger.sync_time import sync_seconds
from pipeline.model.job import Job, Watch
from pipeline.model.outcome import Answered
from pipeline.model.profile import Secrets
from pipeline.profile_file import load_profile
from pipeline.reading.tickets import read_table
from pipeline.submission.batch import judged
from pipeline.submission.charge_details import charge_details
from pipeline.submission.recovered_answers import meaning
from pipeline.submission.sending_run import Run, send
from tests.benchmarks.carrier import answering, most_in_a_second
from tests.benchmarks.months import AS_OF, write_month
from tests.benchmarks.timing import KEYS, REPOSITORY, ROUNDS, Line, Took, alternating, python, run
from tests.crash.failpoint import compiled
from tests.crash.wire_unreached import certificate

#: One charge to an invoice, so that a month of N rows is N requests.
_SINGLE = 1
_IN_FLIGHT = 64
_LOOKED_AT = 2_000  # answers, for how long it takes to make out what one means
_MODULE = "tests.benchmarks.submission"
#: How much longer a sync takes than the disk's own, in milliseconds.
_DISKS = {"0": "the disk as it is", "5": "every sync 5 ms longer", "20": "every sync 20 ms longer"}


def most_a_second(rate: float, sync: float, making_out: float, in_flight: int = _IN_FLIGHT) -> float:
    """The most requests a second that the loop's own rate, and the seconds of a sync and of an answer, allow: see above."""
    others = sync + min(sync, in_flight * making_out)
    return min(rate, in_flight / (2 * sync + min(in_flight / rate, others)))


def most_with_one_sync(rate: float, sync: float, in_flight: int = _IN_FLIGHT) -> float:
    """The most requests a second where each waits for one sync: see above."""
    return min(rate, in_flight / min(2 * sync, sync + in_flight / rate))


def measured(folder: Path, rows: int = 20_000, rounds: int = ROUNDS) -> list[Line]:
    """The figures of sending: its processor time and its rate over http and https, to a slow carrier, at a bounded rate."""
    many = write_month(folder / f"{rows}.xlsx", rows, 3_000)
    few = write_month(folder / f"{rows // 4}-more.xlsx", rows // 4, 3_000)
    pem = certificate(folder, "IP:127.0.0.1")
    return [
        *_without_delay(folder, many, rows, rounds, None, 1.6),
        *_without_delay(folder, many, rows, rounds, pem, 1.5),
        _to_a_slow_carrier(folder, few, rows // 4, rounds),
        _to_a_slow_carrier(folder, many, rows, 2),
        _at_a_rate(folder, few, rows // 4),
    ]


def _without_delay(
    folder: Path, month: Path, rows: int, rounds: int, pem: Path | None, most: float
) -> list[Line]:
    """Processor time against the bare loop's, and the rate on each disk against its bound."""
    scheme = "https" if pem else "http"
    secure = ("--ca-file", f"{pem}.crt") if pem else ()
    took: defaultdict[str, list[Took]] = defaultdict(list)

    def turn(name: str, side: str, *more: str) -> float:
        took[name].append(_sent(side, address, month, *secure, *more))
        return took[name][-1].figure("rate")

    def median(name: str, figure: str) -> float:
        return statistics.median(each.figure(figure) for each in took[name])

    with answering(folder, tls=pem) as address:
        ours_by_disk = {ms: lambda _, ms=ms: turn(ms, "ours", "--sync-ms", ms) for ms in _DISKS}
        found = alternating({"bare": lambda _: turn("bare", "bare"), **ours_by_disk}, rounds)
    ours, children, bare = (
        1e6 * median(name, figure) / rows
        for name, figure in (("0", "processor"), ("0", "children"), ("bare", "processor"))
    )
    lines = [
        Line(
            f"processor time of the sending process, {rows:,} requests over {scheme}", "that of a bare aiohttp loop",
            f"≤ {most} ×", ours / bare, ours <= most * bare,
            f"{ours:.0f} µs a request, and {children:.0f} µs of its children : {bare:.0f} µs",
        )
    ]  # fmt: skip
    bare = found["bare"]
    for ms, disk in _DISKS.items():
        sync, making_out = median(ms, "sync"), median(ms, "making_out")
        bound, reached = most_a_second(bare.median, sync, making_out), found[ms].median
        one = most_with_one_sync(bare.median, sync)
        lines.append(
            Line(
                f"requests a second over {scheme}, {_IN_FLIGHT} in flight, {disk}",
                "min(R, N / (2 S + min(N / R, S + min(S, N t))))",
                "≥ 0.85 ×", reached / bound, reached >= 0.85 * bound,
                f"{reached:,.0f}/s ({found[ms].spread}), {median(ms, 'seconds'):.2f} s : {bound:,.0f}/s; S {1000 * sync:.2f} ms,"
                f" t {1e6 * making_out:.1f} µs; one sync a request {one:,.0f}/s; R {bare.median:,.0f}/s ({bare.spread}), {median('bare', 'seconds'):.2f} s",
            )
        )  # fmt: skip
    return lines


def _sent(side: str, address: str, month: Path, *more: str) -> Took:
    return run(python("-m", _MODULE, side, address, month, *more), month.parent)


def _seconds(side: str, address: str, month: Path, *more: str) -> float:
    return _sent(side, address, month, *more).figure("seconds")


def _to_a_slow_carrier(folder: Path, month: Path, rows: int, rounds: int) -> Line:
    """To one that answers after 200 ms; the bare loop beside it shows what can be had here."""
    with answering(folder, wait=0.2) as address:
        sides = {side: lambda _, side=side: _seconds(side, address, month) for side in ("bare", "ours")}
        found = alternating(sides, rounds)
    least, ours, bare = math.ceil(rows / _IN_FLIGHT) * 0.2, found["ours"], found["bare"]
    return Line(
        f"{rows:,} requests to a carrier that answers after 200 ms, {_IN_FLIGHT} in flight",
        f"{least / 0.2:.0f} waves of 0.2 s", "≤ 1.03 ×", ours.median / least, ours.median <= 1.03 * least,
        f"{ours.median:.2f} s ({ours.spread}) : {least:.2f} s; the bare loop {bare.median:.2f} s ({bare.spread})",
    )  # fmt: skip


def _at_a_rate(folder: Path, month: Path, rows: int) -> Line:
    """At 100 a second: how many came in all, and the most within any one second, by the carrier's own count."""
    allowed = 100
    with answering(folder, wait=0.2) as address:
        took = _seconds("ours", address, month, "--rate", str(allowed))
    # The first leaves at once, and the last is answered 0.2 s after it left.
    ratio, most = (rows - 1) / (took - 0.2) / allowed, most_in_a_second(folder)
    return Line(
        "the same at `rate_per_second` 100", "the allowed rate", "0.98 to 1.00, never above", ratio,
        0.98 <= ratio <= 1.0 and most <= allowed, f"{took:.2f} s; at most {most} within any second",
    )  # fmt: skip


def job_of(given: argparse.Namespace, folder: Path) -> Job:
    """The job that sends a month by these settings, with a ledger in this folder."""
    profile = load_profile(REPOSITORY / "sample_data" / "sandbox.toml")
    limits = profile.limits if given.packed else replace(profile.limits, max_charges_per_invoice=_SINGLE)
    profile = replace(
        profile,
        carrier=replace(profile.carrier, base_url=given.address, ca_file=given.ca_file),
        limits=limits,
        submission=replace(profile.submission, concurrency=given.in_flight, rate_per_second=given.rate),
    )
    return Job((given.month,), profile, None, ledger=str(folder / "benchmark.ledger"), as_of=AS_OF)


class _Done:
    """How many requests were done when."""

    def __init__(self) -> None:
        self._seen: list[tuple[int, float]] = []

    def note(self, done: int) -> None:
        """So many are done now."""
        self._seen.append((done, time.perf_counter()))

    def rate(self, of: int) -> float:
        """Requests a second of the eight tenths in the middle."""
        first, *_, last = [one for one in self._seen if 0.1 * of <= one[0] <= 0.9 * of]
        return (last[0] - first[0]) / (last[1] - first[1])


def _processor(whose: int) -> float:
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime


def _ours(job: Job, month: Path) -> dict[str, float]:
    keys = Secrets(KEYS["VOUCHER_API_KEY"], KEYS["VOUCHER_ENCRYPTION_KEY"])
    done = _Done()
    watch = Watch(lambda _: None, lambda now: done.note(now.done), lambda _: True, print)
    with file_to_write(job, watch, meaning(job, keys)) as ledger:
        table = read_table([month])
        times = [time.perf_counter()]
        rows = judged(ledger, table, job)
        times.append(time.perf_counter())
        run = Run("issue", job, ledger, ledger.begin("issue", job.terms, [month]), keys, watch)
        of_rows = rows.verdicts.rows
        before = {whose: _processor(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)}
        with ledger.committing() as channel:
            attempts = ledger.plan(run.number, rows.requests, of_rows, charge_details(rows.table, of_rows))
            times.append(time.perf_counter())
            sync = sync_seconds(ledger.path.parent)
            before[resource.RUSAGE_SELF] = _processor(resource.RUSAGE_SELF)
            begun = time.perf_counter()
            sent = send(run, channel, attempts, rows.table, rows.holdings.doubts)
            seconds = time.perf_counter() - begun
            processor = _processor(resource.RUSAGE_SELF) - before[resource.RUSAGE_SELF]
        ledger.end(run.number, 0)
        making_out = _making_out(ledger, attempts, job, keys)
    states = {result.outcome.state for result in sent.results}
    if states != {"issued"}:
        raise RuntimeError(f"not all were issued: {states} {sent.stopped}")
    return {
        "requests": len(attempts),
        "seconds": seconds,
        "rate": done.rate(len(attempts)),
        "processor": processor,
        "children": _processor(resource.RUSAGE_CHILDREN) - before[resource.RUSAGE_CHILDREN],
        "sync": sync,
        "making_out": making_out,
        "judging": times[1] - times[0],
        "planning": times[2] - times[1],
    }


def _making_out(ledger: OpenLedger, attempts: Sequence[Attempt], job: Job, keys: Secrets) -> float:
    """The least seconds that the loop takes for what an answer means: of the answers of this run, as they came."""
    came = dict(ledger._connection.execute("SELECT attempt_id, answer FROM attempt"))
    answers = [(Answered(200, came[attempt.attempt_id]), attempt.request.asked) for attempt in attempts]
    cipher, concealed = Cipher(keys.encryption_key), Concealed(keys.api_key, keys.encryption_key)
    took = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        for answer, asked in answers[:_LOOKED_AT]:
            concealed.outcome(interpret(answer, asked, cipher, job.profile.answers, Before(accepted=True)))
        took.append(time.perf_counter() - begun)
    return min(took) / len(answers[:_LOOKED_AT])


def _bare(job: Job, month: Path) -> dict[str, float]:
    import aiohttp  # noqa: PLC0415 - this side alone

    keys = Secrets(KEYS["VOUCHER_API_KEY"], KEYS["VOUCHER_ENCRYPTION_KEY"])
    watch = Watch(lambda _: None, lambda _: None, lambda _: True, print)
    with file_to_write(job, watch, meaning(job, keys)) as ledger:
        requests = judged(ledger, read_table([month]), job).requests
    cipher = Cipher(keys.encryption_key)
    ready = [(PATHS[r.voucher], request_body(r, job.profile, cipher)) for r in requests]
    headers = {"Content-Type": "application/json", "agency": "SANDBOX", "APIKEY": keys.api_key}
    carrier, in_flight = job.profile.carrier, job.profile.submission.concurrency
    verify = ssl.create_default_context(cafile=carrier.ca_file) if carrier.ca_file else True
    done, count = _Done(), itertools.count(1)

    async def post_all() -> None:
        queue = iter(ready)
        connector = aiohttp.TCPConnector(limit=in_flight, ssl=verify)
        async with aiohttp.ClientSession(carrier.base_url, connector=connector) as session:

            async def work() -> None:
                for path, body in queue:
                    async with session.post(path, data=body, headers=headers) as response:
                        await response.read()
                    done.note(next(count))

            async with asyncio.TaskGroup() as group:
                for _ in range(in_flight):
                    group.create_task(work())

    before, begun = _processor(resource.RUSAGE_SELF), time.perf_counter()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(post_all())
    return {
        "requests": len(ready),
        "seconds": time.perf_counter() - begun,
        "rate": done.rate(len(ready)),
        "processor": _processor(resource.RUSAGE_SELF) - before,
    }


def _slow_down(milliseconds: str, folder: Path) -> None:
    """Begin anew with a slow disk under this process and all that it starts."""
    library = compiled(folder, Path(__file__).with_name("slow_sync.c"))
    slow = {"LD_PRELOAD": str(library), "SLOW_SYNC_MS": milliseconds}
    os.execve(sys.executable, sys.orig_argv, {**os.environ, **slow})


def main() -> None:
    """Send a month one way or the other, and print how long it took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("side", choices=("ours", "bare"))
    parser.add_argument("address")
    parser.add_argument("month", type=Path)
    parser.add_argument("--in-flight", type=int, default=_IN_FLIGHT)
    parser.add_argument("--rate", type=float, default=0)
    parser.add_argument("--sync-ms", default="0")
    parser.add_argument("--ca-file", default="")
    parser.add_argument(
        "--packed", action="store_true", help="with the profile's limits, not a request a row"
    )
    given = parser.parse_args()
    if float(given.sync_ms) and "SLOW_SYNC_MS" not in os.environ:
        _slow_down(given.sync_ms, given.month.parent)
    with tempfile.TemporaryDirectory(prefix="submission-", dir=given.month.parent) as folder:
        figures = (_ours if given.side == "ours" else _bare)(job_of(given, Path(folder)), given.month)
    sys.stdout.write("".join(f"{name}={figure:.6f}\n" for name, figure in figures.items()))


if __name__ == "__main__":
    main()
