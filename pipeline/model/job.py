"""What a run is asked to do, what it tells while it is on, and what it ends in: values only."""

import datetime
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from zoneinfo import ZoneInfo

from pipeline.model import exit_code
from pipeline.model.approval import Approval
from pipeline.model.columns import Lang
from pipeline.model.corrections import NO_CORRECTIONS, Corrections
from pipeline.model.errors import InputProblem
from pipeline.model.evidence import Answer
from pipeline.model.exit_code import ExitCode
from pipeline.model.message import N_, Message, Note
from pipeline.model.plan_digest import plan_digest
from pipeline.model.profile import Owner, Profile, Secrets, Terms, sandbox_owner
from pipeline.model.request import Request
from pipeline.model.result_values import RunOrigin

if TYPE_CHECKING:  # most commands need no numpy, which is much to load
    from pipeline.model.result import RunResult
    from pipeline.model.table import SheetRows

NO_CARRIER = N_(
    "no carrier is named: write its profile with voucher profile new PATH, see with voucher profile check what it lacks, and give it"
    " with --profile or VOUCHER_PROFILE, with its address as base_url under [carrier]; --sandbox needs none"
)


@dataclass(frozen=True)
class Job:
    """What a run is asked to do; the settings are already merged."""

    inputs: tuple[Path, ...]
    profile: Profile
    secrets: Secrets | None  # None: this run sends nothing, or to its own sandbox
    ledger: str | None = None
    new_ledger: bool = False
    as_of: datetime.date | None = None
    buyers: Path | None = None
    columns: Path | None = None  # a team's own mapping of headings and values
    output: Path | None = None
    report: Path | None = None
    lang: Lang = "en"
    sandbox: bool = False
    statement: Path | None = None  # the sandbox's own statement
    deliver_to: Path | None = None  # where the sandbox mails the files of itineraries
    clock_right_by: str = (
        ""  # who says that the clock is right, though the ledger's last entry is of a later time
    )
    operator: str = ""  # who runs it
    corrections: Corrections = NO_CORRECTIONS  # what was corrected on the page
    approval: Approval | None = None  # who answers for what is sent, where that was said on the page
    on_page: bool = False  # begun by the page, not on the command line
    stopped_by_file: Path | None = None  # where the page leaves the name of who has it stop
    began: datetime.datetime = field(
        default_factory=lambda: datetime.datetime.now(datetime.UTC), compare=False
    )

    @property
    def terms(self) -> Terms:
        """What the rows are judged by; today is the carrier's day, not this machine's."""
        return Terms(self.as_of or today(self.profile), self.profile)

    @property
    def owner(self) -> Owner:
        """Whose ledger this run uses. Raises InputProblem where no carrier is named."""
        carrier = self.profile.carrier
        if self.sandbox:
            return sandbox_owner(carrier.agency)
        if not carrier.base_url:
            raise InputProblem(NO_CARRIER)
        return Owner(carrier.base_url, carrier.agency)

    @property
    def origin(self) -> RunOrigin:
        """Where the result comes from."""
        zone = ZoneInfo(self.profile.carrier.time_zone)
        return RunOrigin(
            self.owner if self.names_carrier else None, self.began.astimezone(zone), self.operator
        )

    @property
    def names_carrier(self) -> bool:
        """Whether it is known whose vouchers this run is about."""
        return self.sandbox or bool(self.profile.carrier.base_url)

    @property
    def needs_two(self) -> bool:
        """Whether what is sent needs another person's approval; what nobody keeps needs none."""
        return self.profile.approval.people > 1 and not self.throw_away

    @property
    def throw_away(self) -> bool:
        """Whether the ledger lasts no longer than the run."""
        return self.sandbox and self.ledger is None


@dataclass(frozen=True)
class Task:
    """What `voucher reconcile` is asked to do, beside what every run is.

    `complete`: the kinds and times [KIND:]FROM..TO for which whoever runs this (`by`) says that the statements list
    everything; `made`: when they were made. `answers` are those that were given elsewhere than in the workbooks of `resolved`;
    `itineraries` hold itinerary files.
    """

    job: Job
    by: str
    statements: tuple[Path, ...] = ()
    resolved: tuple[Path, ...] = ()
    complete: tuple[str, ...] = ()
    made: str = ""
    inbox: Path | None = None
    outbox: Path | None = None
    month: str = ""
    answers: tuple[Answer, ...] = ()
    itineraries: tuple[Path, ...] = ()


@dataclass(frozen=True)
class SandboxJob:
    """What `voucher sandbox` is asked to do."""

    profile: Profile
    keys: Secrets
    tickets: tuple[Path, ...]
    port: int
    faults: Path | None
    statement: Path | None
    as_of: datetime.date | None
    columns: Path | None = None
    deliver_to: Path | None = None


@dataclass(frozen=True)
class Plan:
    """What is about to be sent, for the person who says yes; `sheets` is what the tickets were read from."""

    requests: tuple[Request, ...]
    profile: Profile
    carrier: Owner
    sheets: "tuple[SheetRows, ...]" = ()

    @cached_property
    def digest(self) -> str:
        """What is to be sent, as a digest: see plan_digest."""
        return plan_digest(self.requests, self.profile, self.carrier)


@dataclass(frozen=True)
class Progress:
    """How far a submission is: requests by state, and how many there are."""

    total: int
    states: Counter[str]

    @property
    def done(self) -> int:
        """Requests that have their final outcome of this run."""
        return self.states.total()


class Log(Protocol):
    """Takes what happens for machines to read: an event and its facts, none of them a key or about people."""

    def __call__(self, event: str, **facts: object) -> None:
        """Note an event; never raises because it can't be kept."""


def no_log(event: str, **facts: object) -> None:
    """Where nobody asked for a log."""


@dataclass(frozen=True)
class Watch:
    """Who follows a run: told what happens as values, asked before anything is sent."""

    note: Note
    progress: Callable[[Progress], None]
    confirm: Callable[[Plan], bool]
    warn: Note  # what --quiet must not leave out
    log: Log = no_log


@dataclass(frozen=True)
class Finished:
    """A run's result, the result workbook that was written if any, and what went wrong in writing."""

    result: "RunResult"
    workbook: Path | None = None
    problems: tuple[Message, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """What the command ends with."""
        return exit_code.where_written(self.result.exit_code, self.problems)


def today(profile: Profile) -> datetime.date:
    """The carrier's calendar day."""
    return datetime.datetime.now(ZoneInfo(profile.carrier.time_zone)).date()
