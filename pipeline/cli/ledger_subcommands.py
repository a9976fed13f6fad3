"""How a person types what each `voucher ledger ...` is given: its arguments, options and help; `ledger_command` does it."""

import click

from pipeline.cli.copy_subcommand import copy_to
from pipeline.cli.lazy_command import LazyCommand
from pipeline.cli.options import OF_LEDGER, PATH, WHY, by, said
from pipeline.cli.shared_ledger_subcommands import SHARED
from pipeline.cli.stderr import LANG_OF_ALL

_TIMES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"]


@click.group(name="ledger", epilog="Example: voucher ledger check --profile carrier.toml")
@LANG_OF_ALL
def ledger_commands() -> None:
    """Look the ledger over, back it up, export it for auditors, move it with its carrier, mend its memory."""


@ledger_commands.command(
    cls=LazyCommand,
    done_by="pipeline.cli.ledger_command:check",
    epilog="Example: voucher ledger check --profile carrier.toml",
)
@OF_LEDGER
def check() -> None:
    """Look at all of the ledger.

    Exit code 3 if anything is wrong with it, or it may lack something: a gap is open, or it may be an older copy. A run may be on.
    """


@ledger_commands.command(
    cls=LazyCommand,
    done_by="pipeline.cli.ledger_command:backup",
    epilog="Example: voucher ledger backup /backups --profile carrier.toml",
)
@click.argument("path", type=PATH, metavar="PATH")
@OF_LEDGER
def backup() -> None:
    """Copy the ledger to a file or into a folder.

    In a folder its name has the time. A run may be on.

    The copy knows that it lacks what is issued from now on: after restoring it nothing is sent until
    `voucher ledger close-gap`.
    """


@ledger_commands.command(
    cls=LazyCommand,
    done_by="pipeline.cli.ledger_export_command:export",
    epilog="Example: voucher ledger export audit-2026.xlsx --profile carrier.toml --lang zh",
)
@click.argument("path", type=PATH, metavar="OUT.xlsx")
@OF_LEDGER
def export() -> None:
    """Write all requests with their evidence to a workbook, for auditors.

    Nothing is overwritten: where the name is taken, a number is added. Times are the carrier's (the profile's time_zone), or
    UTC where no profile is given. The workbook names buyers; keep it as the ledger is kept. A run may be on.
    """


@ledger_commands.command(
    cls=LazyCommand,
    done_by="pipeline.cli.ledger_command:move_carrier",
    name="move-carrier",
    epilog='Example: voucher ledger move-carrier --profile carrier.toml --ledger october.ledger --why "new host name"',
)
@OF_LEDGER
@by("Who says so")
@WHY
@click.option("-y", "--yes", is_flag=True, help="Move without asking; without a terminal it never asks.")
def move_carrier() -> None:
    """Follow the carrier to its new address.

    The new address is the profile's (base_url, agency); the move is recorded in the ledger.
    Name the ledger with --ledger. One in its default place is renamed to the new address's default.
    """


@ledger_commands.command(
    cls=LazyCommand,
    done_by="pipeline.cli.ledger_command:mark_gap",
    name="mark-gap",
    epilog='Example: voucher ledger mark-gap --ledger restored.ledger --since 2026-11-20 --why "restored copy"',
)
@OF_LEDGER
@by("Who says so")
@click.option(
    "--since",
    type=click.DateTime(_TIMES),
    help="From when on vouchers may be missing, your local time; default: the start of a run whose -wal is lost.",
)
@click.option(
    "--nothing-missing",
    is_flag=True,
    help="Say that nothing is missing: the ledger was moved, it is used nowhere else, and this is its latest state.",
)
@WHY
def mark_gap() -> None:
    """Say that the ledger may lack something.

    Nothing is sent until close-gap.
    For a ledger that was restored from a plain copy, whose -wal is lost for good, or that was moved without its .lock.
    """


@ledger_commands.command(
    cls=LazyCommand,
    done_by="pipeline.cli.ledger_command:close_gap",
    name="close-gap",
    epilog='Example: voucher ledger close-gap --ledger restored.ledger --evidence "statement of 21 Nov: nothing after the 20th"',
)
@OF_LEDGER
@by("Who compared")
@said("--evidence", "What the carrier's complete statement over that time showed.")
@click.option("-y", "--yes", is_flag=True, help="Close it though no statement was compared, without asking.")
def close_gap() -> None:
    """Say that the ledger lacks nothing after all.

    The carrier's complete statement over the time showed that; it is recorded in the ledger.
    If the statement shows vouchers that `voucher history` does not, don't: they would be issued again.
    Where voucher reconcile was given no statement since, or could not read all of one, it says so, and asks; without a terminal
    it closes nothing then, unless --yes is said.
    """


@ledger_commands.command(
    cls=LazyCommand,
    done_by="pipeline.cli.ledger_command:withdraw",
    epilog='Example: voucher ledger withdraw S12 --profile carrier.toml --why "the statement of the wrong month"',
)
@click.argument("entry", metavar="ENTRY")
@OF_LEDGER
@by("Who says so")
@WHY
def withdraw() -> None:
    """Say that evidence was given by mistake.

    ENTRY is its name in `voucher history`: a settlement (S12), what a statement showed (E7), a reversal (R3). It stays in
    the ledger, marked. A request whose settlement is withdrawn is unknown again, and takes other evidence.
    """


@ledger_commands.command(
    cls=LazyCommand,
    done_by="pipeline.cli.ledger_command:reverse",
    epilog='Example: voucher ledger reverse 26110000000000000001 --profile carrier.toml --evidence "red invoice of 3 Dec"',
)
@click.argument("number", metavar="NUMBER")
@OF_LEDGER
@by("Who says so")
@said("--evidence", "What shows that the carrier has reversed it.")
@click.option(
    "--red-number", default="", metavar="NUMBER", help="The number of what reversed it, where it is known."
)
@click.option(
    "--voucher", type=click.Choice(["invoice", "itinerary"]), default=None,
    help="The kind of voucher, where both have that number.",
)  # fmt: skip
def reverse() -> None:
    """Say that the carrier has reversed a voucher (red invoice).

    Its charges may then be issued again, by `voucher issue`, under a new number. If it was not reversed, they would be
    issued twice: ask the carrier first.
    """


for _command in (*SHARED, copy_to):
    ledger_commands.add_command(_command)
