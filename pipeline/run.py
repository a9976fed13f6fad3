"""The flow: workbooks → Table → verdicts → requests → outcomes → result workbook and report.

`check` and `issue` read like that picture; everything else here opens and closes what they need.
Progress goes out as values through a Watch; nothing here prints.
"""

import asyncio
import contextlib
import datetime
import secrets
import signal
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import apsw

from pipeline.account import Account, Doubt, Result, make_account, reason_text
from pipeline.carrier.client import connected
from pipeline.carrier.crypto import Cipher
from pipeline.carrier.replies import Answered, Outcome, interpret
from pipeline.columns import Lang
from pipeline.errors import Declined, InputProblem, LedgerProblem, Stop
from pipeline.holdings import Holdings
from pipeline.ledger import opening, records
from pipeline.ledger.recovery import Recovered, recover
from pipeline.ledger.spill import Spill, spill_path
from pipeline.ledger.writer import Writer
from pipeline.profile import Profile
from pipeline.reading.inputs import workbook_files
from pipeline.reading.tables import read_table
from pipeline.request import Request
from pipeline.results.paths import check_report_path, result_path
from pipeline.results.report import write_report
from pipeline.results.workbook import write_workbook
from pipeline.rules.judging import Verdicts, judge
from pipeline.rules.rule import Terms
from pipeline.sandbox.faults import Faults
from pipeline.sandbox.registry import Registry
from pipeline.sandbox.server import run_forever, serve
from pipeline.sandbox.settings import SandboxSettings
from pipeline.settings import Secrets, is_loopback
from pipeline.splitting import split
from pipeline.submission import Halt, Progress, Submission
from pipeline.table import Table


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
    output: Path | None = None
    report: Path | None = None
    lang: Lang = "en"
    sandbox: bool = False
    statement: Path | None = None  # the sandbox's own statement

    @property
    def terms(self) -> Terms:
        """What the rows are judged by; today is the carrier's day, not this machine's."""
        zone = ZoneInfo(self.profile.carrier.time_zone)
        return Terms(self.as_of or datetime.datetime.now(zone).date(), self.profile)

    @property
    def owner(self) -> opening.Owner:
        """Whose ledger this run uses."""
        agency = self.profile.carrier.agency
        return opening.sandbox_owner(agency) if self.sandbox else opening.Owner(self.profile.carrier.base_url, agency)


@dataclass(frozen=True)
class Plan:
    """What is about to be sent, for the person who says yes: count and total by voucher and market."""

    requests: tuple[Request, ...]
    currency: str
    carrier: str

    def lines(self) -> Iterator[tuple[str, str, int, int]]:
        """(voucher, market, requests, total in minor units) for each kind that there is."""
        kinds = sorted({(request.voucher, request.market) for request in self.requests})
        for voucher, market in kinds:
            amounts = [r.amount for r in self.requests if (r.voucher, r.market) == (voucher, market)]
            yield voucher, market, len(amounts), sum(amounts)


@dataclass(frozen=True)
class Watch:
    """Who follows a run: told what happens as values, asked before anything is sent."""

    note: Callable[[str], None]
    progress: Callable[[Progress], None]
    confirm: Callable[[Plan], bool]


@dataclass(frozen=True)
class Finished:
    """A run's account, the result workbook that was written if any, and what went wrong in writing."""

    account: Account
    workbook: Path | None = None
    problems: tuple[str, ...] = field(default=())

    @property
    def exit_code(self) -> int:
        """The account's, or 3 where a result could not be written (running again is safe)."""
        return max(self.account.exit_code, 3 if self.problems else 0)


# --- the flow -------------------------------------------------------------------------------------


def check(job: Job, watch: Watch) -> Finished:
    """Judge and split; send nothing, write nothing to the ledger."""
    terms, table, _ = _read(job, watch)
    target = result_path(job.output, job.output) if job.output else None
    with _ledger_to_read(job) as ledger:
        holdings = records.holdings(ledger, _tickets(table)) if ledger else Holdings()
        verdicts = judge(table, holdings, terms)
        requests = split(verdicts, holdings, terms)
        about = _about(job, table, ledger, verdicts)
    account = make_account("check", table, verdicts, requests, [], terms=terms, lang=job.lang, **about)
    return _written(account, target, job.report)


def issue(job: Job, watch: Watch) -> Finished:
    """The main job: judge, split, submit, write the result workbook."""
    terms, table, first = _read(job, watch)
    target = result_path(job.output, first)
    keys = job.secrets or _sandbox_keys()
    with _ledger_to_write(job, watch, keys) as ledger:
        holdings = records.holdings(ledger.connection, _tickets(table))
        verdicts = judge(table, holdings, terms)
        requests = split(verdicts, holdings, terms)
        if requests and not watch.confirm(Plan(tuple(requests), terms.profile.carrier.currency, str(job.owner))):
            raise Declined("Nothing was sent.")
        run = ledger.begin("issue", terms, [str(path) for path in job.inputs])
        sent = _submit(job, ledger, run, requests, table, holdings, keys, watch)
        about = _about(job, table, ledger.connection, verdicts, sent)
        account = make_account("issue", table, verdicts, requests, sent.results, terms=terms, lang=job.lang, **about)
        ledger.end(run, account.exit_code)
    return _written(account, target, job.report)


def history(job: Job, tickets: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Everything the ledger knows of these tickets, by ticket, in time order."""
    path = _ledger_path(job)
    connection = opening.open_for_reading(path, None if job.ledger else job.owner)
    if connection is None:
        raise InputProblem(f"{path}: there is no ledger; name one with --ledger")
    with contextlib.closing(connection):
        return {ticket: records.history(connection, ticket) for ticket in tickets}


# --- its parts ------------------------------------------------------------------------------------


def _read(job: Job, watch: Watch) -> tuple[Terms, Table, Path]:
    """The terms, the Table and the first file; whatever can be refused early is refused here."""
    if job.report:
        check_report_path(job.report)
    paths = workbook_files(job.inputs)
    table = read_table(paths, job.buyers)
    for note in table.notes:
        watch.note(note)
    count = "1 workbook" if len(paths) == 1 else f"{len(paths)} workbooks"
    watch.note(f"Read {len(table)} rows from {count}")
    return job.terms, table, paths[0]


def _tickets(table: Table) -> list[str]:
    found: list[str] = table.frame["ticket_no"].unique().tolist()
    return [ticket for ticket in found if ticket]


def _written(account: Account, target: Path | None, report: Path | None) -> Finished:
    """Write what is asked for; a failure of one does not lose the other, and the ledger has it all."""
    problems, workbook = [], None
    if target is not None:
        try:
            workbook = write_workbook(account, target)
        except Stop as problem:
            problems.append(str(problem))
    finished = Finished(account, workbook, tuple(problems))
    if report is not None:
        try:
            write_report(account, finished.exit_code, report)
        except Stop as problem:
            finished = replace(finished, problems=(*finished.problems, str(problem)))
    return finished


def _about(
    job: Job, table: Table, ledger: apsw.Connection | None, verdicts: Verdicts, sent: "Sent | None" = None
) -> dict[str, Any]:
    """The account's remaining fields, and the doubts: of earlier runs from the ledger, of this one from memory."""
    wanted = sorted({(h.request_id, h.attempt) for h in verdicts.held.values() if h.state == "unknown"})
    doubts = [
        Doubt(
            d.request_id, d.attempt, d.voucher, d.market, d.header_name, d.amount,
            reason_text(d.reason or "run_killed", "", job.lang, {"detail": d.detail}), d.trace_id, d.charges,
        )
        for d in (records.in_doubt(ledger, wanted) if ledger else [])
    ]  # fmt: skip
    for result in sent.results if sent else []:
        if result.outcome.state == "unknown":
            request, outcome = result.request, result.outcome
            doubts.append(
                Doubt(
                    request.request_id, result.attempt, request.voucher, request.market, request.header.header_name,
                    request.amount, reason_text(outcome.reason, "", job.lang, {"detail": outcome.detail}),
                    outcome.trace_id, tuple((charge.identity, charge.amount) for charge in request.charges),
                )
            )  # fmt: skip
    return {
        "doubts": doubts,
        "ledger": _ledger_name(job) if ledger else "",
        "ledger_id": records.ledger_id(ledger) if ledger else "",
        "stopped": sent.stopped if sent else "",
        "notes": table.notes,
    }


# --- the ledger -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class OpenLedger:
    """The ledger of a run that sends."""

    path: Path
    connection: apsw.Connection

    def begin(self, command: str, terms: Terms, names: list[str]) -> int:
        """Record the run; its number."""
        with _as_problem(self.path):
            return records.begin_run(self.connection, command, version("voucher-pipeline"), str(terms.as_of), names)

    def end(self, run: int, exit_code: int) -> None:
        """Record how it ended and forget what was not sent. A ledger that has failed is left alone."""
        with contextlib.suppress(apsw.Error):
            records.drop_planned(self.connection)
            records.end_run(self.connection, run, exit_code)


@contextlib.contextmanager
def _as_problem(path: Path) -> Iterator[None]:
    try:
        yield
    except apsw.Error as error:
        raise LedgerProblem(
            f"{path}: the ledger can't be written ({error}); free disk space or mend the disk, then run again"
        ) from None


def _ledger_path(job: Job) -> Path:
    return opening.ledger_path(job.ledger) if job.ledger else opening.default_path(job.owner)


def _ledger_name(job: Job) -> str:
    return "" if job.sandbox and not job.ledger else str(_ledger_path(job))


@contextlib.contextmanager
def _ledger_to_read(job: Job) -> Iterator[apsw.Connection | None]:
    """The ledger for `check`, None where there is none; a sandbox of its own has none."""
    connection = None if job.sandbox and not job.ledger else opening.open_for_reading(_ledger_path(job), job.owner)
    try:
        yield connection
    finally:
        if connection is not None:
            connection.close()


@contextlib.contextmanager
def _ledger_to_write(job: Job, watch: Watch, keys: Secrets) -> Iterator[OpenLedger]:
    """The ledger for `issue`: locked, in order, and a throw-away one for a sandbox run without --ledger."""
    with contextlib.ExitStack() as stack:
        if job.sandbox and not job.ledger:
            path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="voucher-"))) / "sandbox.ledger"
            watch.note("Sandbox: nothing reaches a real carrier; the ledger is thrown away after this run")
        else:
            path = _ledger_path(job)
            watch.note(f"Ledger: {path}")
        may_create = job.sandbox or job.new_ledger or is_loopback(job.profile.carrier.base_url)
        connection, lock = opening.open_for_run(path, job.owner, may_create=may_create)
        stack.callback(lock.close)
        stack.callback(connection.close)
        with _as_problem(path):
            found = recover(connection, path, _meaning(job.profile, keys))
        for line in _recovered_lines(found):
            watch.note(line)
        yield OpenLedger(path, connection)


def _meaning(profile: Profile, keys: Secrets) -> Callable[[records.Interrupted, Answered], Outcome]:
    """How recovery reads an answer that an earlier run recorded and did not come to interpret."""
    cipher = Cipher(keys.encryption_key)
    return lambda left, answer: interpret(answer, left.request, cipher, profile.answers, doubted=left.doubted)


def _recovered_lines(found: Recovered) -> Iterator[str]:
    if found.spilled:
        yield f"Taken in from the spill file of an earlier run: {found.spilled} outcomes"
    if found.answered:
        yield f"An earlier run was killed after the carrier answered: {found.answered} answers read from the ledger"
    if found.unknown:
        yield f"An earlier run was killed while sending: {found.unknown} requests are now unknown and wait for evidence"


# --- sending --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sent:
    """What sending came to, and why it stopped early if it did."""

    results: list[Result]
    stopped: str = ""


def _sandbox_keys() -> Secrets:
    """Keys for a run with its own sandbox: made up, shared by its two sides, and gone afterwards."""
    return Secrets(secrets.token_urlsafe(24), secrets.token_urlsafe(24))


@contextlib.asynccontextmanager
async def _carrier(job: Job, table: Table, keys: Secrets) -> AsyncIterator[str]:
    """The base_url to send to: the profile's, or that of a sandbox for the length of this run."""
    if not job.sandbox:
        yield job.profile.carrier.base_url
        return
    profile, terms = job.profile, job.terms
    statement = job.statement or (Path(f"{_ledger_path(job)}.statement.csv") if job.ledger else None)
    settings = _sandbox_settings(profile, keys, lambda: terms.as_of, statement)
    async with serve(settings, Registry.from_table(table)) as base_url:
        yield base_url


@contextlib.contextmanager
def _stoppable(halt: Halt) -> Iterator[None]:
    """Ctrl-C and SIGTERM stop sending and wait for what is in flight; a second one stops waiting."""
    loop = asyncio.get_running_loop()

    def interrupted() -> None:
        if halt.reason:
            halt.abandon()
        else:
            halt.stop("interrupted")

    caught = (signal.SIGINT, signal.SIGTERM)
    for number in caught:
        loop.add_signal_handler(number, interrupted)
    try:
        yield
    finally:
        for number in caught:
            loop.remove_signal_handler(number)


def _submit(  # noqa: PLR0913 - where the flow's parts meet
    job: Job,
    ledger: OpenLedger,
    run: int,
    requests: Sequence[Request],
    table: Table,
    holdings: Holdings,
    keys: Secrets,
    watch: Watch,
) -> Sent:
    """Plan all requests in the ledger and send them; every request has a result afterwards."""
    if not requests:
        return Sent([])
    frame = table.frame
    places = dict(enumerate(zip(frame["file"], frame["sheet"], frame["row"].tolist(), strict=True)))
    with _as_problem(ledger.path):
        attempts = records.plan(ledger.connection, run, requests, places)
    in_flight = min(job.profile.submission.concurrency, len(attempts))
    spill = Spill(spill_path(ledger.path.resolve()), records.ledger_id(ledger.connection), in_flight)

    async def send() -> Sent:
        halt = Halt()
        writer = Writer(ledger.connection, spill)
        try:
            with _stoppable(halt):
                async with (
                    _carrier(job, table, keys) as base_url,
                    connected(job.profile, base_url, keys.api_key, direct=job.sandbox) as client,
                ):
                    submission = Submission(
                        client, writer, Cipher(keys.encryption_key), job.profile, halt, holdings.doubted, watch.progress
                    )
                    results = await submission.submit(attempts)
        finally:
            await writer.close()
        return Sent(results, halt.reason)

    with spill, asyncio.Runner(loop_factory=_loop_factory()) as runner:
        sent = runner.run(send())
    for line in spill.failed:
        watch.note(f"Could not be kept on disk; keep this line for reconciling: {line}")
    return sent


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's event loop where it installs, else the standard one."""
    try:
        import uvloop  # noqa: PLC0415 - not there on every platform
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


# --- the sandbox carrier --------------------------------------------------------------------------


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


async def sandbox(job: SandboxJob, note: Callable[[str], None]) -> str:
    """Serve until Ctrl-C or SIGTERM; a closing line with what was counted."""
    registry = Registry.from_table(read_table(workbook_files(job.tickets))) if job.tickets else Registry([])
    zone = ZoneInfo(job.profile.carrier.time_zone)
    settings = _sandbox_settings(
        job.profile, job.keys, lambda: job.as_of or datetime.datetime.now(zone).date(), job.statement
    )
    faults = Faults.load(job.faults) if job.faults else Faults()
    if not job.tickets:
        note("The sandbox carrier knows no tickets and refuses every request; name some with --tickets")

    def ready(base_url: str) -> None:
        note(f"Sandbox carrier on {base_url} as agency {job.profile.carrier.agency}; Ctrl-C ends it")

    counts = await run_forever(settings, registry, faults, port=job.port, ready=ready)
    return f"Requests: {counts.received} received, {counts.issued} issued, {counts.refused} refused"


def _sandbox_settings(
    profile: Profile, keys: Secrets, as_of: Callable[[], datetime.date], statement: Path | None
) -> SandboxSettings:
    """The sandbox's answers to what the interface leaves open: those of the profile."""
    return SandboxSettings(
        agency=profile.carrier.agency,
        api_key=keys.api_key,
        encryption_key=keys.encryption_key,
        as_of=as_of,
        fee_type=profile.codes.fee_type,
        product_type=profile.codes.product_type,
        header_type=profile.codes.header_type,
        domestic_invoice_max=profile.limits.domestic_invoice_max,
        international_invoice_max=profile.limits.international_invoice_max,
        statement=statement,
    )
