"""What must be so after a run whose disk failed, and after the next one: each check yields what is wrong."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.crash.counting_carrier import Charge, Received
from tests.crash.disk_evidence import Evidence, look
from tests.crash.forked import HUNG, Ran

#: The ledger's name in its folder.
LEDGER = "x.ledger"
#: How a violation begins that is about messages alone.
WORDS = "words:"
#: What may lie in the folder when nothing is under way.
_TIDY = re.compile(
    r"tickets\.csv|carrier\.toml|x\.ledger(\.lock)?|state|report\.json|tickets(\.\d+)?\.result\.xlsx"
)
_FILES = re.compile(r"/desk/|x\.ledger|result\.xlsx|report\.json")
_CURE = re.compile(r"run again|the same command again|check the disk")
_TRACES = ("Traceback", "defect of the program", "Exception ignored", "never retrieved", "cannot rollback")
_KEEP = "keep this line"


@dataclass(frozen=True)
class Scene:
    """A run that has ended, and all there is to judge it by.

    `received` is what the carrier received so far, `now` that of it which came since the disk was prepared;
    `view` is the run's folder, `charges` what it was asked for, `doubtful` those of them that were unknown
    before it; `at` the call that failed, counted from 1, 0 if none did.
    """

    ran: Ran
    received: Sequence[Received]
    now: Sequence[Received]
    view: Path
    charges: frozenset[Charge]
    doubtful: frozenset[Charge]
    at: int
    concurrency: int

    @property
    def refused(self) -> frozenset[Charge]:
        """The charges that the carrier has said no to and not issued since."""
        last = {charge: request.did for request in self.received for charge in request.charges}
        return frozenset(charge for charge in self.charges if last.get(charge) == "refused")

    def of(self, charge: Charge) -> list[Received]:
        """The requests for a charge."""
        return [request for request in self.received if charge in request.charges]

    def numbers(self, charge: Charge) -> list[str]:
        """The numbers that a charge was issued by; more than one is what must never be."""
        return [request.number for request in self.of(charge) if request.number]


def kept_by_hand(ran: Ran) -> set[int]:
    """The attempts whose outcomes went to stderr for a person to keep, for want of a place on disk."""
    lines = [line for line in ran.err.splitlines() if _KEEP in line]
    return {int(found) for line in lines for found in re.findall(r'"attempt_id": (\d+)', line)}


def after_failure(scene: Scene) -> Iterator[str]:
    """What a run whose disk failed may not leave behind, nor say."""
    found = look(scene.view / LEDGER)
    yield from found.damage
    never_sent = {entry["attempt_id"] for entry in found.spill if "never_sent" in entry}
    for charge, times in Counter(c for request in scene.received for c in request.charges).items():
        claims = [a for a in found.of(charge) if a.may_have_left and a.attempt_id not in never_sent]
        if times > len(claims):
            yield f"{charge} was received {times} times and has {len(claims)} claims in the ledger"
    # Whoever waits for the change that failed has nothing under way; everybody else may have.
    late = sum(request.calls >= scene.at for request in scene.now)
    if scene.at and late > scene.concurrency - 1:
        yield f"{late} requests left after the failure"
    yield from _code(scene)
    yield from _said(scene.ran)
    yield from _reported(scene)
    left = [p.name for p in scene.view.iterdir() if p.name.startswith(".") or p.name.endswith(".new")]
    if left:
        yield f"left behind: {left}"


def _code(scene: Scene) -> Iterator[str]:
    """The exit code, against what is so."""
    code = scene.ran.code
    if code == HUNG:
        yield "it did not end"
    elif code not in (0, 1, 2, 3, 4):
        yield f"exit code {code}"
    if code in (0, 1) and not all(map(scene.numbers, scene.charges - scene.refused)):
        yield f"exit code {code}, though not everything was sent"
    if code == 2 and scene.now:
        yield "exit code 2, though something was sent"


def _said(ran: Ran) -> Iterator[str]:
    """What went wrong, in which file, and what to do: all of it on stderr, for a person."""
    if ran.out:
        yield f"{WORDS} on stdout: {ran.out!r}"
    if any(word in ran.err for word in _TRACES):
        yield f"{WORDS} not for a person: {ran.err[-900:]!r}"
    if ran.code not in (2, 3):
        return
    # These stand there whatever happens.
    usual = ("Ledger: ", "Result: ", "A new ledger was begun: ")
    lines = [line for line in ran.err.splitlines() if not line.startswith(usual)]
    if not any(_FILES.search(line) for line in lines):
        yield f"{WORDS} no file is named: {ran.err[-300:]!r}"
    if not _CURE.search("\n".join(lines)):
        yield f"{WORDS} no advice: {ran.err[-300:]!r}"


def _reported(scene: Scene) -> Iterator[str]:
    """What the report claims of each charge, against the carrier's own memory."""
    code = scene.ran.code
    try:
        report = json.loads((scene.view / "report.json").read_text())
    except (OSError, ValueError):
        if code in (0, 1):
            yield f"exit code {code} without a report"
        return
    statuses = {row["status"] for row in report["rows"]}
    least = 4 if "unknown" in statuses else 3 if "not_sent" in statuses else 0
    if report["exit_code"] != code or code < least:
        yield f"exit code {code}, {report['exit_code']} in the report, where rows are {statuses}"
    for row in report["rows"]:
        charge = (row["ticket_no"], row["charge"], row["charges"][0]["product"])
        numbers = scene.numbers(charge)
        said_issued = row["status"] in ("issued", "already_issued")
        doubted = row["status"] == "unknown" and charge in scene.doubtful
        if (said_issued and numbers != [row["number"]]) or (numbers and not said_issued and not doubted):
            yield f"{charge} is reported {row['status']} as {row['number']}, the carrier has {numbers}"


def at_the_end(scene: Scene, by_hand: set[int]) -> Iterator[str]:
    """What must be so once the same command has run with the disk in order."""
    found = look(scene.view / LEDGER)
    yield from found.damage
    kept = [attempt.charges for attempt in found.attempts if attempt.attempt_id in by_hand]
    doubtful = scene.doubtful.union(*kept)
    for charge in sorted(scene.charges):
        yield from _settled(scene, found, charge, may_be_unknown=charge in doubtful)
    left = Counter(attempt.state for attempt in found.attempts)
    if left["planned"] or left["sending"]:
        yield f"left in the ledger: {dict(left)}"
    wanted = 4 if left["unknown"] else 1 if scene.refused else 0  # a no that came only now stands
    if scene.ran.code != wanted:
        yield f"the run with the disk in order ended with {scene.ran.code}: {scene.ran.err[-600:]!r}"
    untidy = sorted(path.name for path in scene.view.iterdir() if not _TIDY.fullmatch(path.name))
    if untidy:
        yield f"left behind: {untidy}"


def _settled(scene: Scene, found: Evidence, charge: Charge, *, may_be_unknown: bool) -> Iterator[str]:
    """One charge: issued once by the number that the ledger has, refused, or unknown where that is all right."""
    state, number = next(((a.state, a.number) for a in reversed(found.of(charge)) if a.live), ("", ""))
    numbers = scene.numbers(charge)
    if len(numbers) > 1:
        yield f"{charge} was issued twice: {numbers}"
    elif not (state == "issued" and [number] == numbers):
        accepted = (state == "unknown" and may_be_unknown) or (not state and charge in scene.refused)
        if not accepted:
            yield f"{charge} is {state!r} as {number!r} in the ledger, the carrier has {numbers}"
    noted = any(attempt.state == "rejected" for attempt in found.of(charge))
    said_no = any(request.did == "refused" for request in scene.of(charge))
    if said_no and not noted and not may_be_unknown:
        yield f"{charge} was refused, and the ledger does not know"
