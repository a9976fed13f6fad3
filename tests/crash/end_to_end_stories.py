"""What the lives of the end-to-end harness are about: a beginning that leads into a dangerous neighbourhood, and what is likely then.

A beginning is what could happen to anybody, with much left to chance: how many rows, which faults, how long people wait. After it
come random steps, of which each life has some more often and others seldom, and at the end all is made good (`Life.make_good`).
"""

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.crash import end_to_end_evidence as evidence
from tests.crash.end_to_end_carrier import FAULTS
from tests.crash.end_to_end_life import DOUBTFUL, Life

#: Chances of each thing that may happen next.
_CHOICES = {
    "issue": 6, "statement": 4, "answers": 3, "copy": 3, "put back": 1, "wait": 4, "correct": 1, "more": 3, "inbox": 1,
    "reverse": 1, "reverse by mistake": 0.3, "mistake": 0.5, "notice": 0.5, "same again": 0.3, "upgrade": 0.3, "export": 0.5,
    "care": 0.5,
}  # fmt: skip
#: What is added while outcomes are unknown, where there are copies, and where one was put back.
_IN_DOUBT = {"statement": 7, "answers": 5}
_WITH_COPIES = {"put back": 3}
_PUT_BACK = {"issue": 12, "care": 8}
#: Without an answer, though it was issued; or without one, because it was not.
_LOST, _NOTHING = {"closed, and issued": 1.0}, {"closed": 1.0}


@dataclass(frozen=True)
class Story:
    """What a life is about: its beginning, what happens more often in it, and how likely a run is struck by a fault nearly always."""

    begin: Callable[[Life], None]
    more: Mapping[str, float] = field(default_factory=dict)
    struck: float = 0.3
    killed: float = 0.15
    clock: float = 0.07
    steps: tuple[int, int] = (3, 11)


def lived(life: Life, story: Story) -> None:
    """A whole life. Raises Wrong."""
    office, rng = life.office, life.rng
    life.struck, life.killed, life.clock = story.struck, story.killed, story.clock
    story.begin(life)
    choices = {
        name: weight * rng.choice((0.2, 1, 3)) * story.more.get(name, 1) for name, weight in _CHOICES.items()
    }
    steps: dict[str, Callable[[], object]] = {
        "issue": life.issue, "statement": life.statement, "answers": life.answers, "copy": life.copy,
        "put back": life.put_back, "wait": lambda: office.wait(rng.choice((0.5, 3, 12, 24, 60))),
        "correct": life.correct, "more": life.more, "inbox": life.inbox, "reverse": life.reverse,
        "reverse by mistake": life.reverse_by_mistake, "mistake": life.mistake, "notice": life.notice,
        "same again": life.same_again, "upgrade": life.upgrade, "export": life.export, "care": life.care,
    }  # fmt: skip
    for _ in range(rng.randrange(*story.steps)):
        steps[_next(life, choices)]()
    life.make_good()


def _next(life: Life, choices: Mapping[str, float]) -> str:
    office = life.office
    now = dict(choices)
    for added, applies in (
        (_IN_DOUBT, office.unknown()),
        (_WITH_COPIES, office.copies),
        (_PUT_BACK, office.put_back),
    ):
        for name, weight in added.items() if applies else ():
            now[name] += weight
    return life.rng.choices(list(now), weights=list(now.values()))[0]


# -- beginnings


def _months(life: Life) -> None:
    """A month, or two at once."""
    office, rng = life.office, life.rng
    office.add_workbook(office.month(rng.randrange(5, 26)))
    if rng.random() < 0.4:
        office.add_workbook(office.month(rng.randrange(5, 16)))


def _anything(life: Life) -> None:
    """A carrier that says things twice, or something in front of it that answers in its place, one request at a time."""
    rng = life.rng
    _months(life)
    twice = {name: rng.choice((0.1, 0.3)) for name in FAULTS if "twice" in name}
    in_front = {"in front, and issued": rng.choice((0.1, 0.3))}
    for _ in range(2):
        life.issue(everything=True, faults=rng.choice((twice, twice, in_front, {})), error=0.0, concurrency=1)


def _evidence(life: Life) -> None:
    """A first run in doubt, and two statements."""
    office, rng = life.office, life.rng
    _months(life)
    issued = [name for name in DOUBTFUL if FAULTS[name][0]]
    life.issue(
        faults={rng.choice(DOUBTFUL + issued * 2): 1.0}, only=rng.choice(("", "", "invoice", "itinerary"))
    )
    for hours in (rng.choice((0, 2, 26)), 24):
        office.wait(office.hours + hours)
        life.statement(alone=True)


def _copies(life: Life) -> None:
    """A copy is put back that lacks what was issued since."""
    _months(life)
    life.issue()
    life.copy(life.rng.choice(("file", "folder", "snapshot", "")))
    for step in (life.more, life.issue, life.put_back):
        step()


def _alike(life: Life, *kinds: str) -> None:
    """Months in which all rows are alike, so that whatever a statement leaves out, others like it stand on it."""
    life.office.alike = kinds
    life.office.hours = life.rng.choice((0, 0, 2))


def _days(life: Life) -> None:
    """Requests near midnight, of which some stand in the carrier's books with the other day's date; then a statement of one day."""
    office, rng = life.office, life.rng
    _alike(life, rng.choice(("itinerary", "invoice")))
    office.hours = 0
    after = rng.random() < 0.5
    # What did not answer has a clock that is behind where the days begin, and ahead where they end.
    office.carrier.drift = datetime.timedelta(minutes=-28 if after else 28)
    life.midnight(rng.uniform(1, 25) if after else -rng.uniform(1, 25))
    office.add_workbook(office.month(rng.randrange(8, 16)))
    clock = rng.choice((0.0, 0.0, rng.uniform(-50, 50)))
    for _ in range(rng.choice((1, 2))):
        life.issue(everything=True, faults={"closed, and issued": 0.3}, error=clock, concurrency=1)
        life.more(4)
    office.wait(30)
    life.issue(everything=True, faults={}, error=0.0)
    day = office.carrier.vouchers[0].at if office.carrier.vouchers else office.now()
    first = day.astimezone(evidence.CHINA).date()
    last = office.now().astimezone(evidence.CHINA).date() - datetime.timedelta(days=1)
    days = (first, last) if after else (first, first)
    if days[0] <= days[1]:
        life.statement(evidence.days_statement(office, life.name(), *days), alone=True, quietly=True)
    office.carrier.drift = datetime.timedelta()
    life.issue(everything=True, faults={}, error=0.0)


def _kinds(life: Life) -> None:
    """One kind of voucher is in doubt, and a statement comes that is complete for the other one."""
    office, rng = life.office, life.rng
    _alike(life, "invoice", "itinerary")
    office.add_workbook(office.month(rng.randrange(10, 18)))
    doubtful, other = rng.choice((("invoice", "itinerary"), ("itinerary", "invoice")))
    # Nothing of that kind is known to be issued, or something is, by which the ledger can tell that a statement lacks it.
    known = rng.random() < 0.5
    first = {"closed, and issued": 0.5 if known else 1.0}
    then = first if not known and rng.random() < 0.7 else {}
    life.issue(faults=first, only=doubtful, error=0.0, concurrency=1)
    office.wait(rng.choice((1, 20)))
    life.more(rng.randrange(4, 10))
    life.issue(everything=True, faults=then, only=doubtful, error=0.0)
    office.wait(office.hours + 26)
    given = evidence.kind_statement(office, life.name(), other, more=known and rng.random() < 0.8)
    life.statement(given, alone=rng.random() < 0.7, quietly=True)
    life.issue(everything=True, faults={}, error=0.0)


def _clocks(life: Life) -> None:
    """A run by a clock that is ahead, which is set right afterwards; then a statement of days on which it was not."""
    office, rng = life.office, life.rng
    _alike(life, rng.choice(("itinerary", "invoice")))
    office.add_workbook(office.month(rng.randrange(4, 8)))
    life.issue(faults={}, error=0.0)
    office.wait(1)
    life.more(rng.randrange(3, 7))
    office.wrong_clock = True
    hours = rng.choice((26, 30, 34, 50))
    life.issue(everything=True, faults=_LOST, error=hours * 3600.0)
    for wait in (rng.uniform(18, 22), rng.uniform(10, 20), hours):
        office.wait(wait)
        life.more(rng.randrange(4, 7))
        life.told(life.issue(everything=True, faults={}, error=0.0))
        life.issue(everything=True, faults={}, error=0.0)
    office.wait(office.hours + 26)
    today = office.now().astimezone(evidence.CHINA).date()
    first = (office.start + datetime.timedelta(days=rng.choice((1, 1, 2)))).astimezone(evidence.CHINA).date()
    life.statement(evidence.days_statement(office, life.name(), first, today), alone=True, quietly=True)
    life.issue(everything=True, faults={}, error=0.0)


def _epochs(life: Life) -> None:
    """What was asked of a lost attempt is answered after a backup was put back, when the same is in doubt again."""
    office, rng = life.office, life.rng
    _months(life)
    life.issue(faults={}, everything=True, error=0.0)
    life.copy(rng.choice(("backup", "backup", "file", "folder")))
    life.more()
    lost = {"closed": rng.choice((0.5, 1.0))}
    life.issue(everything=True, faults=lost, error=0.0, concurrency=1)
    life.put_back()
    for _ in range(3):
        life.told(life.run("reconcile", quietly=True))
        life.settle()
        if not office.has_gap():
            break
    life.issue(
        everything=True, faults={"closed, and issued": rng.choice((0.5, 1.0))}, error=0.0, concurrency=1
    )
    life.old_answers()
    life.issue(everything=True, faults={}, error=0.0)


def _reversals(life: Life) -> None:
    """Vouchers of several charges are taken back, whole and in part; what is free then is issued again, now and then in doubt."""
    office, rng = life.office, life.rng
    _months(life)
    life.issue(faults={}, everything=True, error=0.0)
    for _ in range(rng.choice((2, 3, 4))):
        office.wait(rng.choice((1, 30)))
        life.reverse()
        faults = rng.choice(({}, _LOST, _NOTHING, {"refused": 0.5}))
        life.issue(everything=True, faults=faults, error=0.0, concurrency=1)
        if rng.random() < 0.5:
            life.settle()


def _mistakes(life: Life) -> None:
    """Somebody answers the wrong way round; it is issued again, which the carrier refuses; then they notice."""
    office, rng = life.office, life.rng
    office.carrier.refuses_again = True
    _months(life)
    life.issue(
        everything=True,
        faults={rng.choice(("closed, and issued", "unreadable, and issued", "closed")): 0.7},
        error=0.0,
    )
    life.mistake()
    office.wait(rng.choice((0, 1, 80)))
    if rng.random() < 0.6:
        for _ in range(rng.choice((1, 2))):
            life.issue(everything=True, faults={}, error=0.0)
        life.correct()
        life.issue(everything=True, faults={}, error=0.0)
    life.notice()
    life.same_again()
    life.issue(everything=True, faults={}, error=0.0)


def _kills(life: Life) -> None:
    """Runs are killed in the midst of sending, and run again."""
    office, rng = life.office, life.rng
    office.add_workbook(office.month(rng.randrange(2, 5)))
    life.issue(faults={}, error=0.0)
    for _ in range(rng.choice((2, 3))):
        life.more(rng.randrange(4, 10))
        for _ in range(rng.choice((1, 2))):
            life.issue(
                everything=True, error=0.0, concurrency=rng.choice((1, 4)), killed_at=rng.randrange(1, 30)
            )


def _upgrades(life: Life) -> None:
    """A ledger of an older version is upgraded, and the copy beside it is used by mistake."""
    office = life.office
    _months(life)
    life.issue(error=0.0)
    life.care()
    life.upgrade()
    life.more()
    life.issue(everything=True, faults={}, error=0.0)
    office.copies = [copy for copy in office.copies if copy.name.startswith("upgrade")]
    life.put_back()


#: By name; a life's seed says which it is.
STORIES = {
    "evidence": Story(_evidence, {"statement": 4, "answers": 3, "wait": 2, "copy": 0.1}, struck=0.6),
    "copies": Story(_copies, {"copy": 3, "put back": 3, "more": 3, "issue": 2}, struck=0.1),
    "kinds": Story(_kinds, {"statement": 3, "copy": 0.2}),
    "mistakes": Story(_mistakes, {"mistake": 8, "notice": 4, "same again": 3, "answers": 2, "copy": 0.2}, struck=0.6),
    "reversals": Story(_reversals, {"reverse": 8, "reverse by mistake": 3, "statement": 2, "copy": 0.3}),
    "epochs": Story(_epochs, {"copy": 2, "put back": 2, "answers": 6, "issue": 2}, struck=0.5),
    "days": Story(_days, {"statement": 2, "copy": 0.2}, steps=(1, 6)),
    "anything": Story(_anything),
    "clocks": Story(_clocks, {"statement": 2, "copy": 0.3}, clock=0.3, steps=(1, 6)),
    "doubts in copies": Story(_copies, {"copy": 3, "put back": 3, "answers": 6, "issue": 2}, struck=0.5),
    "kills": Story(_kills, {"issue": 3, "more": 2}, killed=0.6),
    "upgrades": Story(_upgrades, {"upgrade": 8, "copy": 1, "put back": 3}, struck=0.2),
}  # fmt: skip
