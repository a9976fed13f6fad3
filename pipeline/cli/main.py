"""The command line: parse, call the flow, exit with its code."""

import contextlib
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import click

from pipeline import __version__, signals
from pipeline.cli.ledger import ledger_commands
from pipeline.cli.notice import listening
from pipeline.cli.options import (
    AS_OF,
    COLUMNS,
    EXIT_CODES,
    LEDGER,
    PATH,
    PROFILE,
    SANDBOX_LEDGER,
    by,
    login,
    options,
)
from pipeline.cli.stderr import LANG, Reader, teller
from pipeline.model.columns import Lang
from pipeline.model.errors import InputProblem, Stop
from pipeline.process_hardening import protect_process
from pipeline.reading.process import ahead

_COMMON = (
    click.option("-o", "--output", type=PATH, help="The result workbook; never overwrites anything."),
    click.option("--report", type=PATH, help="The machine-readable report (JSON); replaces an earlier one."),
    PROFILE,
    LEDGER,
    click.option("--new-ledger", is_flag=True, help="Allow a first ledger for a carrier that is not on loopback."),
    AS_OF,
    click.option("--buyers", type=PATH, metavar="FILE", help="A buyers file kept apart from the tickets."),
    COLUMNS,
    LANG,
    click.option("--sandbox", is_flag=True, help="Send to a sandbox carrier inside this run, not to the real one."),
    click.option("--concurrency", type=click.IntRange(1, 1000), help="Requests in flight; overrides the profile."),
    click.option("--rate", type=click.FloatRange(0, 100_000), help="Requests per second; overrides the profile."),
    click.option(
        "--log-file", type=PATH, metavar="FILE",
        help="A log for machines: one JSON object a line, kept bounded; without keys or anything of people.",
    ),
    click.option("--quiet", is_flag=True, help="Only what needs a person, on stderr."),
    click.option("--verbose", is_flag=True, help="More on stderr."),
)  # fmt: skip
_CLOCK_IS_RIGHT = click.option(
    "--clock-is-right", is_flag=True,
    help="Though the ledger's last entry is of a later time, which then proves nothing.",
)  # fmt: skip
_JUDGING = options(
    click.argument("workbooks", nargs=-1, required=True, type=PATH, metavar="WORKBOOK..."),
    *_COMMON,
    click.option(
        "--sandbox-statement", type=PATH, metavar="FILE",
        help="Where the sandbox keeps what it issued; default with --ledger: beside the ledger.",
    ),
    _CLOCK_IS_RIGHT,
)  # fmt: skip
RECONCILING = options(
    click.argument("workbooks", nargs=-1, type=PATH, metavar="[WORKBOOK]..."),
    click.option("--statement", multiple=True, type=PATH, metavar="FILE", help="A statement of the carrier's."),
    click.option(
        "--statement-complete", multiple=True, metavar="[KIND:]FROM..TO",
        help="You say that the statements list all vouchers of that kind (invoice, itinerary) issued in these days, such as"
        " invoice:2026-10-01..2026-10-31; without KIND: of the kinds in which they agree with the ledger.",
    ),
    click.option(
        "--statement-made", metavar="TIME",
        help="When the statements were made, such as 2026-11-01T09:30 (the carrier's time, or with a zone: +08:00).",
    ),
    click.option(
        "--resolved", multiple=True, type=PATH, metavar="RESULT.xlsx", help="A result whose Unknown sheet was filled in."
    ),
    click.option("--inbox", type=PATH, metavar="DIR", help="A folder that workbooks, statements and results come to."),
    click.option("--outbox", type=PATH, metavar="DIR", help="The folder for what is written; goes with --inbox."),
    click.option("--month", metavar="YYYY-MM", help="Compare the vouchers issued in this month, whatever month their tickets are of."),
    by("Who says so, for the record"),
    _CLOCK_IS_RIGHT,
    *_COMMON,
)  # fmt: skip


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__)
def voucher() -> None:
    """Turn spreadsheets of air tickets into electronic invoices and itineraries, none of them twice."""


voucher.add_command(ledger_commands)


@voucher.command(epilog="Example: voucher template tickets.xlsx --lang zh")
@click.argument("path", type=PATH, metavar="PATH.xlsx")
@click.option("--example", is_flag=True, help="Filled in with one row for each kind of charge.")
@LANG
def template(path: Path, lang: Lang, *, example: bool) -> None:
    """Write the blank input workbook, or a filled-in example of it."""
    from pipeline.template import write_template  # noqa: PLC0415 - start-up

    write_template(path, lang, example=example)
    teller(lang)(f"Template: {path}")


@voucher.command(epilog=f"Example: voucher check october.xlsx --profile carrier.toml{EXIT_CODES}")
@_JUDGING
def check(**given: Any) -> None:
    """Judge and split the workbooks; send nothing."""
    with ahead(given["workbooks"]) as begun:
        from pipeline import run  # noqa: PLC0415 - start-up
        from pipeline.cli.console import Terminal  # noqa: PLC0415 - likewise
        from pipeline.reporting.event_log import logged  # noqa: PLC0415 - likewise

        terminal = Terminal(quiet=given["quiet"], verbose=given["verbose"], lang=given["lang"])
        with terminal.watch(yes=True) as seen, logged(given["log_file"], "check", seen) as watch:
            finished = run.check(_job(given, needs_keys=None), watch, begun)
    terminal.finish(finished)
    sys.exit(finished.exit_code)


@voucher.command(
    epilog=f"Example: voucher issue october.xlsx --profile carrier.toml --report report.json{EXIT_CODES}"
)
@_JUDGING
@click.option("-y", "--yes", is_flag=True, help="Send without asking; without a terminal it never asks.")
def issue(*, yes: bool, **given: Any) -> None:
    """Judge, split, submit, and write the result workbook."""
    with ahead(given["workbooks"]) as begun:
        from pipeline import run  # noqa: PLC0415 - start-up
        from pipeline.cli.console import Terminal  # noqa: PLC0415 - likewise
        from pipeline.reporting.event_log import logged  # noqa: PLC0415 - likewise

        terminal = Terminal(quiet=given["quiet"], verbose=given["verbose"], lang=given["lang"])
        with terminal.watch(yes=yes) as seen, logged(given["log_file"], "issue", seen) as watch:
            finished = run.issue(_job(given, needs_keys=True), watch, begun)
    terminal.finish(finished)
    sys.exit(finished.exit_code)


@voucher.command(
    epilog="Example: voucher reconcile --inbox in --outbox out --profile carrier.toml\n\n"
    f"Example: voucher reconcile october.xlsx --statement november.csv --month 2026-11{EXIT_CODES}"
)
@RECONCILING
def reconcile(**given: Any) -> None:
    """Settle unknown outcomes from evidence, try again what may be, compare; made for cron.

    Tickets come as WORKBOOKs or by the inbox; statements of the carrier and answers in a result's Unknown sheet are the
    evidence. Quiet where nothing needs a person.
    """
    from pipeline import run  # noqa: PLC0415 - start-up
    from pipeline.cli.console import Terminal  # noqa: PLC0415 - likewise
    from pipeline.reporting.event_log import logged  # noqa: PLC0415 - likewise

    terminal = Terminal(
        quiet=given["quiet"] or not (given["verbose"] or listening()),
        verbose=given["verbose"],
        lang=given["lang"],
        cells=False,
    )
    click.get_current_context().find_root().ensure_object(Reader).cells = False
    with terminal.watch(yes=True) as seen, logged(given["log_file"], "reconcile", seen) as watch:
        finished = run.reconcile(_task(given), watch)
    terminal.finish_reconciled(finished)
    sys.exit(finished.exit_code)


@voucher.command(epilog="Example: voucher history 999-1234567890 --ledger october.ledger")
@click.argument("tickets", nargs=-1, required=True, metavar="TICKET_NO...")
@PROFILE
@LEDGER
@SANDBOX_LEDGER
@LANG
@click.option(
    "--json", "as_json", is_flag=True, help="For programs: one JSON object, by ticket; times in UTC."
)
def history(
    tickets: tuple[str, ...], profile: Path | None, lang: Lang, *, as_json: bool, **given: Any
) -> None:
    """Show everything that the ledger knows of a ticket, in time order.

    Every judgement, attempt, answer and settlement, and what a statement showed. Times are the carrier's (the profile's
    time_zone), or UTC where no profile is given. A run may be on.
    """
    from pipeline import run  # noqa: PLC0415 - start-up
    from pipeline.model.job import Job  # noqa: PLC0415 - likewise
    from pipeline.reporting.history import history_json, history_lines  # noqa: PLC0415 - likewise
    from pipeline.settings import load_profile  # noqa: PLC0415 - likewise

    digits = [_ticket_digits(ticket) for ticket in tickets]
    job = Job((), load_profile(profile), None, **given)
    known = run.history(job, digits, teller(lang))
    if as_json:
        click.echo(history_json(known, lang))
        return
    for line in history_lines(known, lang, job.profile.carrier.time_zone if profile else "UTC"):
        click.echo(line)


@voucher.command(
    epilog="Example: voucher sandbox --port 8080 --tickets october.xlsx --profile sample_data/sandbox.toml"
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="0: any free port."
)
@click.option(
    "--tickets",
    multiple=True,
    type=PATH,
    metavar="WORKBOOK",
    help="Workbooks whose tickets the carrier knows.",
)
@click.option(
    "--faults", type=PATH, metavar="FILE.toml", help="Faults to show: latency, refusals, resets, garbage."
)
@click.option(
    "--statement", type=PATH, metavar="FILE.csv", help="Keep what is issued here, also over restarts."
)
@COLUMNS
@PROFILE
@AS_OF
@LANG
def sandbox(**given: Any) -> None:
    """Run the sandbox carrier: the issuing service itself, on loopback, until Ctrl-C.

    Its keys are VOUCHER_API_KEY and VOUCHER_ENCRYPTION_KEY, as for the client; its codes, agency and
    limits are the profile's.
    """
    import asyncio  # noqa: PLC0415 - start-up

    from pipeline.model.job import SandboxJob  # noqa: PLC0415 - likewise
    from pipeline.settings import load_profile, load_secrets  # noqa: PLC0415 - likewise
    from pipeline.submission import sandbox_carrier  # noqa: PLC0415 - likewise

    profile, keys = load_profile(given["profile"]), load_secrets()
    as_of = given["as_of"].date() if given["as_of"] else None
    carrier = SandboxJob(
        profile,
        keys,
        given["tickets"],
        given["port"],
        given["faults"],
        given["statement"],
        as_of,
        given["columns"],
    )
    tell = teller(given["lang"])
    tell(asyncio.run(sandbox_carrier.sandbox(carrier, tell)))


def _ticket_digits(text: str) -> str:
    from pipeline.reading.cells import Unreadable, ticket_no  # noqa: PLC0415 - start-up

    try:
        return ticket_no(text)
    except Unreadable:
        raise InputProblem(
            f"{text}: is not a ticket number of 13 digits; enter them as on the ticket"
        ) from None


def _job(given: dict[str, Any], *, needs_keys: bool | None) -> Any:
    """The run that the options ask for: options, then environment, then profile; `needs_keys` as in `_secrets`."""
    from pipeline.model.job import NO_CARRIER, Job  # noqa: PLC0415 - start-up
    from pipeline.settings import load_profile  # noqa: PLC0415 - likewise

    profile = load_profile(given["profile"])
    if needs_keys is not None and not given["sandbox"] and not profile.carrier.base_url:
        raise InputProblem(NO_CARRIER)
    submission = profile.submission
    if given["concurrency"] is not None:
        submission = replace(submission, concurrency=given["concurrency"])
    if given["rate"] is not None:
        submission = replace(submission, rate_per_second=given["rate"])
    if given["sandbox_statement"] and not given["sandbox"]:
        raise InputProblem("--sandbox-statement goes with --sandbox")
    return Job(
        inputs=given["workbooks"],
        profile=replace(profile, submission=submission),
        secrets=None if needs_keys is None or given["sandbox"] else _secrets(needed=needs_keys),
        ledger=given["ledger"],
        new_ledger=given["new_ledger"],
        as_of=given["as_of"].date() if given["as_of"] else None,
        buyers=given["buyers"],
        columns=given["columns"],
        output=given["output"],
        report=given["report"],
        lang=given["lang"],
        sandbox=given["sandbox"],
        statement=given["sandbox_statement"],
        clock_right_by=(given.get("by") or login() or "--clock-is-right")
        if given.get("clock_is_right")
        else "",
    )


def _secrets(*, needed: bool) -> Any:
    """The keys; None where they are not set and nothing is sent. What a killed run left may take them to be read."""
    from pipeline.settings import load_secrets  # noqa: PLC0415 - start-up

    try:
        return load_secrets()
    except InputProblem:
        if needed:
            raise
        return None


def _task(given: dict[str, Any]) -> Any:
    """What a reconciliation is asked to do."""
    from pipeline.model.job import Task  # noqa: PLC0415 - start-up

    sends = bool(given["workbooks"] or given["inbox"])
    return Task(
        job=_job(given | {"sandbox_statement": None}, needs_keys=sends),
        by=given["by"],
        statements=given["statement"],
        resolved=given["resolved"],
        complete=given["statement_complete"],
        made=given["statement_made"] or "",
        inbox=given["inbox"],
        outbox=given["outbox"],
        month=given["month"] or "",
    )


def _print_defect() -> None:
    """The traceback, for whoever mends it; without the keys, which a message in it may quote."""
    from pipeline.carrier.redaction import Concealed  # noqa: PLC0415 - start-up
    from pipeline.settings import known_keys  # noqa: PLC0415 - likewise

    text = Concealed(*known_keys()).text(traceback.format_exc())
    text = "".join(c if c.isprintable() or c == "\n" else " " for c in text)
    with contextlib.suppress(OSError, ValueError):
        click.echo(text, err=True, nl=False)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command; every way it can end is an exit code of interface.md, and none a traceback."""
    protect_process()  # before any key is read
    reader = Reader()
    signals.heed()
    try:
        code = _ended(arguments, reader)
    except (click.Abort, KeyboardInterrupt):
        signals.let_finish()
        reader.stopped("Interrupted. Running the same command again is safe.")
        code = 3
    _leave(code)


def _leave(code: int) -> NoReturn:
    """Exit with this code, here and now: all is closed, and to take a month of rows apart again takes its time.

    And where an interruption came while Python ran a text as code, as it does for every dataclass that is imported, it
    would end the process by SIGINT, whatever is made of the exception (PyRun_String, _Py_UnhandledKeyboardInterrupt).
    """
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def _ended(arguments: Sequence[str] | None, reader: Reader) -> int:  # noqa: PLR0911 - one for each way
    """Run a command to its end and say how it ended; the exit code. Raises what an interruption raises."""
    try:
        try:
            code = voucher.main(arguments, prog_name="voucher", standalone_mode=False, obj=reader)
        finally:
            signals.let_finish()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    except Stop as stop:
        reader.stopped(stop.message)
        return stop.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except BrokenPipeError:
        # Whoever read what `history` prints has left (`| head`); nothing to tell them.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except click.Abort:
        raise
    except OSError as error:
        what, seen = error.filename or "a file", error.strerror or error
        reader.stopped(f"{what} can't be read or written: {seen}. Running the same command again is safe.")
        return 3
    except Exception:  # noqa: BLE001 - a defect of ours is no finding about rows (1): the run stopped early
        _print_defect()
        reader.stopped(
            "This is a defect of the program; please report it. Running the same command again is safe."
        )
        return 3
    return code if isinstance(code, int) else 0
