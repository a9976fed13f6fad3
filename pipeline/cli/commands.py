"""The commands and their options; what each does is in a module of its own, `<command>_command.py`."""

import click

from pipeline import __version__
from pipeline.cli.lazy_command import LazyCommand, ReadingCommand
from pipeline.cli.ledger_subcommands import ledger_commands
from pipeline.cli.options import (
    AS_OF,
    BUYERS,
    COLUMNS,
    EXIT_CODES,
    LEDGER,
    OF_LEDGER,
    PATH,
    PROFILE,
    SANDBOX_LEDGER,
    by,
    options,
)
from pipeline.cli.serve_subcommands import serve, user_commands
from pipeline.cli.stderr import LANG, LANG_OF_ALL
from pipeline.handbook import TOPICS

_COMMON = (
    click.option("-o", "--output", type=PATH, metavar="PATH", help="The result workbook; never overwrites anything."),
    click.option("--report", type=PATH, metavar="PATH", help="The machine-readable report (JSON); replaces an earlier one."),
    PROFILE,
    LEDGER,
    click.option("--new-ledger", is_flag=True, help="Allow a first ledger for a carrier that is not on loopback."),
    AS_OF,
    BUYERS,
    COLUMNS,
    LANG,
    click.option("--sandbox", is_flag=True, help="Send to a sandbox carrier inside this run, not to the real one."),
    click.option("--concurrency", type=click.IntRange(1, 1000), metavar="N", help="Requests in flight; overrides the profile."),
    click.option("--rate", type=click.FloatRange(0, 100_000), metavar="N", help="Requests per second; overrides the profile."),
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
_RECONCILING = options(
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
@LANG_OF_ALL
def voucher() -> None:
    """Turn spreadsheets of air tickets into electronic invoices and itineraries, none of them twice."""


voucher.add_command(ledger_commands)
voucher.add_command(serve)
voucher.add_command(user_commands)


@voucher.command(
    cls=LazyCommand,
    done_by="pipeline.cli.template_command:template",
    epilog="Example: voucher template tickets.xlsx --lang zh",
)
@click.argument("path", type=PATH, metavar="PATH.xlsx")
@click.option("--example", is_flag=True, help="Filled in with one row for each kind of charge.")
@LANG
def template() -> None:
    """Write the blank input workbook, or a filled-in example of it."""


@voucher.command(
    cls=LazyCommand,
    done_by="pipeline.cli.columns_command:columns",
    epilog="Example: voucher columns october.xlsx -o map.toml",
)
@click.argument("workbooks", nargs=-1, required=True, type=PATH, metavar="WORKBOOK...")
@click.option(
    "-o",
    "--output",
    type=PATH,
    metavar="MAP.toml",
    help="Write the mapping, to be corrected and given as --columns; on a terminal it asks where it is unsure. Never overwrites.",
)
@BUYERS
@COLUMNS
@PROFILE
@LANG
def columns() -> None:
    """Say for every sheet what its headings and values are read as; send nothing.

    Each heading with what it is taken for and some of its values, what is missing, and suggestions for headings and values that
    are not known.
    """


@voucher.command(
    cls=ReadingCommand,
    done_by="pipeline.cli.check_command:check",
    epilog=f"Example: voucher check october.xlsx --profile carrier.toml\n\n{EXIT_CODES}",
)
@_JUDGING
def check() -> None:
    """Judge and split the workbooks; send nothing."""


@voucher.command(
    cls=ReadingCommand,
    done_by="pipeline.cli.issue_command:issue",
    epilog=f"Example: voucher issue october.xlsx --profile carrier.toml --report report.json\n\n{EXIT_CODES}",
)
@_JUDGING
@click.option(
    "--deliver-to",
    type=PATH,
    metavar="FOLDER",
    help="With --sandbox: where it mails the itineraries' files, as .eml.",
)
@click.option("-y", "--yes", is_flag=True, help="Send without asking; without a terminal it never asks.")
def issue() -> None:
    """Judge, split, submit, and write the result workbook."""


@voucher.command(
    cls=LazyCommand,
    done_by="pipeline.cli.merge_command:merge",
    epilog="Example: voucher merge october.xlsx october.result.xlsx october.2.result.xlsx -o fixed.xlsx",
)
@click.argument("original", type=PATH, metavar="ORIGINAL")
@click.argument("results", nargs=-1, required=True, type=PATH, metavar="RESULT...")
@click.option(
    "-o",
    "--output",
    required=True,
    type=PATH,
    metavar="FIXED.xlsx",
    help="The merged workbook; never overwrites anything.",
)
@COLUMNS
@PROFILE
@LANG
def merge() -> None:
    """Put the corrections of results' Failures into a copy of the original workbook.

    What stands on the sheets Failures and Buyers of all rounds goes into the cells that it came from; everything else of the
    workbook stays as it was. A later run's result wins over an earlier one's.
    """


@voucher.command(
    cls=LazyCommand,
    done_by="pipeline.cli.reconcile_command:reconcile",
    epilog="Example: voucher reconcile --inbox in --outbox out --profile carrier.toml\n\n"
    f"Example: voucher reconcile october.xlsx --statement november.csv --month 2026-11\n\n{EXIT_CODES}",
)
@_RECONCILING
def reconcile() -> None:
    """Settle unknown outcomes from evidence, try again what may be, compare; made for cron.

    Tickets come as WORKBOOKs or by the inbox; statements of the carrier and answers in a result's Unknown sheet are the
    evidence. Quiet where nothing needs a person.
    """


@voucher.command(
    cls=LazyCommand,
    done_by="pipeline.cli.history_command:history",
    epilog="Example: voucher history 999-1234567890 --ledger october.ledger",
)
@click.argument("tickets", nargs=-1, required=True, metavar="TICKET_NO...")
@OF_LEDGER
@click.option(
    "--json", "as_json", is_flag=True, help="For programs: one JSON object, by ticket; times in UTC."
)
def history() -> None:
    """Show everything that the ledger knows of a ticket, in time order.

    Every judgement, attempt, answer and settlement, and what a statement showed. Times are the carrier's (the profile's
    time_zone), or UTC where no profile is given. A run may be on.
    """


@voucher.command(
    cls=LazyCommand,
    done_by="pipeline.cli.register_command:register",
    epilog="Example: voucher register --month 2026-10 -o october.xlsx --profile carrier.toml",
)
@click.option(
    "--month",
    metavar="YYYY-MM",
    help="Vouchers issued in this month, where the carrier is; default: all of them.",
)
@click.option("--split-by", type=click.Choice(["buyer"]), help="A workbook for each buyer, in a folder.")
@click.option(
    "--masked",
    is_flag=True,
    help="Mask names, telephone numbers, e-mail addresses and tax numbers, so that it can be passed on.",
)
@click.option(
    "-o",
    "--output",
    type=PATH,
    metavar="PATH_OR_FOLDER",
    help="The workbook, or the folder for it; default: a name of its own in the working folder.",
)
@OF_LEDGER
def register() -> None:
    """Write the register of vouchers of a month: one line a charge.

    Charges that were issued, reversed, or whose outcome is unknown, and those that a statement alone shows, with totals by buyer
    and by cost centre. Nothing is overwritten: where a name is taken, a number is added. Times are the carrier's (the profile's
    time_zone), or UTC where no profile is given. A run may be on.
    """


@voucher.command(
    cls=LazyCommand,
    done_by="pipeline.cli.collect_command:collect",
    epilog="Example: voucher collect mails --month 2026-10 -o files.xlsx --profile carrier.toml\n\n"
    "Exit codes: 0 every itinerary has its file, or is not late; 1 something needs a person; 2 wrong usage; 3 stopped early, run the"
    " same command again.",
)
@click.argument("paths", nargs=-1, type=PATH, metavar="[PATH]...")
@click.option(
    "--mailbox",
    metavar="URL",
    help="New mails of a mailbox, imaps://USER@HOST/FOLDER; they are not marked as read.",
)
@click.option(
    "--archive",
    type=PATH,
    metavar="DIR",
    envvar="VOUCHER_ARCHIVE",
    help="The folder in which the files are kept; env VOUCHER_ARCHIVE; default: the profile's, or one beside the ledger.",
)
@click.option(
    "--month",
    metavar="YYYY-MM",
    help="Only itineraries issued in this month, where the carrier is, count as missing: the month of issuing, not that of the tickets.",
)
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Only itineraries issued on this day or later count as missing, whenever their tickets were sold.",
)
@click.option(
    "--verify",
    type=PATH,
    metavar="DIR",
    help="Only compare an archive with what the ledger has of it; nothing is collected.",
)
@click.option(
    "-o", "--output", type=PATH, metavar="RESULT.xlsx", help="The result workbook; never overwrites anything."
)
@click.option(
    "--report", type=PATH, metavar="PATH", help="The machine-readable report (JSON); replaces an earlier one."
)
@PROFILE
@LEDGER
@SANDBOX_LEDGER
@AS_OF
@by("Who brings the files, for the record")
@_CLOCK_IS_RIGHT
@LANG
@click.option("--quiet", is_flag=True, help="Only what needs a person, on stderr.")
def collect() -> None:
    """Collect mailed itinerary files: keep them, tie each to its ticket, say which have not come.

    PATH is a file (.ofd, .zip, .eml, .mbox) or a folder of them; they are recognised by their content. A file of a request whose
    outcome is unknown settles it, as a statement does. Running it again with the same files is safe.
    """


@voucher.group(name="profile", epilog="Example: voucher profile check --profile carrier.toml")
@LANG_OF_ALL
def profile_commands() -> None:
    """Write a carrier profile, and see what it lacks, before the first real run."""


@profile_commands.command(
    cls=LazyCommand,
    done_by="pipeline.cli.profile_command:new",
    epilog="Example: voucher profile new carrier.toml",
)
@click.argument("path", type=PATH, metavar="PATH")
@LANG
def new() -> None:
    """Write a carrier profile to fill in, with every key explained.

    On a terminal it asks for what only you and the carrier know; Enter leaves an answer for later. No file is overwritten.
    """


@profile_commands.command(
    name="check",
    cls=LazyCommand,
    done_by="pipeline.cli.profile_command:check",
    epilog="Example: voucher profile check --profile carrier.toml",
)
@PROFILE
@LEDGER
@LANG
def check_profile() -> None:
    """Say what a profile, the keys and the connection lack; no request is sent.

    It tells, too, how long the ledger's disk takes to keep something for good, and what that makes of the requests in flight.

    Exit codes: 0 all there; 1 something is missing; 2 wrong usage or unreadable profile; 3 the carrier can't be reached.
    """


@voucher.command(
    cls=LazyCommand,
    done_by="pipeline.cli.worker_command:worker",
    epilog="Example: voucher worker --ledger postgresql://ledger.example/vouchers --profile carrier.toml",
)
@PROFILE
@LEDGER
@click.option(
    "--concurrency",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Requests in flight from here at the most.",
)
@click.option("--once", is_flag=True, help="End when nothing is left to be sent.")
@click.option("--quiet", is_flag=True, help="Only what needs a person, on stderr.")
@LANG
def worker() -> None:
    """Take part in the sending of a ledger that several machines share, until Ctrl-C.

    It sends what voucher issue and voucher reconcile have planned there, wherever they run; requests under way are finished before it ends.
    It takes the keys, as voucher issue does.
    """


@voucher.command(
    cls=LazyCommand,
    done_by="pipeline.cli.sandbox_command:sandbox",
    epilog="Example: voucher sandbox --port 8080 --tickets october.xlsx --profile sample_data/sandbox.toml",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    default=8080,
    show_default=True,
    help="0: any free port.",
)
@click.option(
    "--tickets",
    multiple=True,
    type=PATH,
    metavar="WORKBOOK",
    help="Workbooks whose tickets the carrier knows.",
)
@click.option(
    "--faults",
    type=PATH,
    metavar="FILE.toml",
    help="Faults to show: latency, refusals, resets, garbage, wrong files.",
)
@click.option(
    "--statement", type=PATH, metavar="FILE.csv", help="Keep what is issued here, also over restarts."
)
@click.option(
    "--deliver-to",
    type=PATH,
    metavar="FOLDER",
    help="Mail the file (OFD) of every itinerary that is issued into this folder, as .eml.",
)
@COLUMNS
@PROFILE
@AS_OF
@LANG
def sandbox() -> None:
    """Run the sandbox carrier: the issuing service itself, on loopback, until Ctrl-C.

    Its keys are VOUCHER_API_KEY and VOUCHER_ENCRYPTION_KEY, as for the client; its codes, agency and
    limits are the profile's.
    """


@voucher.command(
    name="help",
    cls=LazyCommand,
    done_by="pipeline.cli.help_command:show",
    epilog="Example: voucher help first-run",
)
@click.argument("topic", required=False, type=click.Choice(TOPICS), metavar="[TOPIC]")
@LANG
def show_help() -> None:
    """Show a page of the handbook; without a topic, list the pages."""
