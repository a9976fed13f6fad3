"""The promise held against what a carrier received and a ledger's file, after a kill and at the end."""

import json
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.crash.counting_carrier import Charge, Received
from tests.crash.disk_evidence import Evidence


@dataclass
class Story:
    """One point as it went: which ledger runs were killed, and how many were in flight at the most."""

    concurrency: int
    wanted: Sequence[Charge]
    earlier: Evidence
    killed: set[int] = field(default_factory=set)


def always(found: Evidence, received: Sequence[Received], story: Story) -> Iterator[str]:
    """What holds at every moment, right after a kill too."""
    yield from (f"the ledger is damaged: {what}" for what in found.damage)
    yield from _carriers_side(found, received)
    numbers = {(request.number, request.charges) for request in received}
    earlier = {attempt.attempt_id: attempt for attempt in story.earlier.attempts}
    for attempt in found.attempts:
        if attempt.attempt_id in earlier:
            if attempt != earlier[attempt.attempt_id]:
                yield f"attempt {attempt.attempt_id} of an earlier run has changed"
        elif attempt.state == "issued" and (attempt.number, attempt.charges) not in numbers:
            yield f"attempt {attempt.attempt_id} has number {attempt.number}, which no such request was given"
        elif attempt.state in ("issued", "rejected") and not attempt.answered:
            yield f"attempt {attempt.attempt_id} is {attempt.state} without the carrier's raw answer"


def _carriers_side(found: Evidence, received: Sequence[Received]) -> Iterator[str]:
    """Nothing was issued twice; whatever arrived was on disk as sent; whatever was issued is held."""
    issued = Counter(charge for request in received if request.number for charge in request.charges)
    yield from (f"{charge} was issued {times} times" for charge, times in issued.items() if times > 1)
    sent = Counter(attempt.charges for attempt in found.attempts if attempt.sent)
    for charges, times in Counter(request.charges for request in received).items():
        if times > sent[charges]:
            yield f"{sorted(charges)} arrived {times} times, and the ledger has it as sent {sent[charges]} times"
    live = {c for a in found.attempts if a.live for c in a.charges}
    for charge in sorted(issued.keys() - live):
        yield f"{charge} was issued, and the ledger would let it be sent again"


def at_the_end(found: Evidence, received: Sequence[Received], story: Story, code: int) -> Iterator[str]:
    """What holds once an undisturbed run has ended."""
    yield from _open_ends(found, received, story)
    states = {c: a.state for a in found.attempts for c in a.charges}  # of its last attempt
    refused = {c for r in received if r.did == "refused" for c in r.charges}
    worst = 0
    for charge in story.wanted:
        state = states.get(charge, "missing")
        worst = max(worst, {"issued": 0, "rejected": 1}.get(state, 4))
        if state not in ("issued", "rejected", "unknown") or (state == "rejected" and charge not in refused):
            yield f"{charge} ended as {state}"
    if code != worst:
        yield f"the last run ended with {code}, where the ledger says {worst}"


def _open_ends(found: Evidence, received: Sequence[Received], story: Story) -> Iterator[str]:
    """Every attempt has ended; in doubt are only those that were in flight, or whose answer was no use."""
    useless = {r.charges for r in received if r.did == "issued" and r.answer in ("lost", "unreadable")}
    earlier = {attempt.attempt_id for attempt in story.earlier.attempts}
    doubts: Counter[int] = Counter()
    for attempt in (attempt for attempt in found.attempts if attempt.attempt_id not in earlier):
        if attempt.state in ("planned", "sending"):
            yield f"attempt {attempt.attempt_id} is still {attempt.state}"
        if attempt.reason == "run_killed" and attempt.answered:
            yield f"attempt {attempt.attempt_id} is in doubt though its raw answer is in the ledger"
        if attempt.state != "unknown" or attempt.charges in useless:
            continue
        doubts[attempt.run] += 1
        if attempt.run not in story.killed or attempt.reason != "run_killed":
            yield f"attempt {attempt.attempt_id} is unknown ({attempt.reason}) and its run was not killed"
    for run, count in doubts.items():
        if count > story.concurrency:
            yield f"{count} attempts of run {run} are unknown, with {story.concurrency} in flight at the most"


def files(folder: Path) -> Iterator[str]:
    """Results are whole under their names, or absent."""
    for path in folder.glob("*.xlsx"):
        try:
            with zipfile.ZipFile(path) as package:
                whole = package.testzip() is None and "xl/workbook.xml" in package.namelist()
        except (OSError, zipfile.BadZipFile):
            whole = False
        if not whole:
            yield f"{path.name} is half-written"
    for path in folder.glob("*.json"):
        try:
            json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            yield f"{path.name} is half-written"
