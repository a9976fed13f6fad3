"""How a person types what is done with a ledger that several machines share; `shared_ledger_command` does it."""

import click

from pipeline.cli.lazy_command import LazyCommand
from pipeline.cli.options import LEDGER, PROFILE, by, options, said
from pipeline.cli.stderr import LANG

_SERVER = options(PROFILE, LEDGER, LANG)
_SECONDS = click.FloatRange(0, 86_400, min_open=True)


@click.command(
    cls=LazyCommand,
    done_by="pipeline.cli.shared_ledger_command:prepare",
    epilog="Example: voucher ledger prepare --ledger postgresql://ledger.example/vouchers --profile carrier.toml",
)
@_SERVER
@click.option(
    "--send-within", type=_SECONDS, default=20, show_default=True, metavar="SECONDS",
    help="What a worker has claimed it sends within this time, or not at all.",
)  # fmt: skip
@click.option(
    "--lease", type=_SECONDS, default=60, show_default=True, metavar="SECONDS",
    help="A worker that is silent for so long claims nothing more, and what it was sending is unknown.",
)  # fmt: skip
@click.option(
    "--settle-after-hours", type=click.FloatRange(0, 100_000, min_open=True), metavar="HOURS",
    help="How long after its sending a request counts as not issued by evidence, where nobody saw its worker end; default: the profile's"
    " settle_after_hours, or 24.",
)  # fmt: skip
@click.option("--sql", is_flag=True, help="Print what makes the ledger, for psql; nothing is done.")
def prepare() -> None:
    """Make a new ledger that several machines share.

    The database has to be there, and hold none. The ledger belongs to the profile's carrier; whoever is named in the address owns it.
    It is made whole or not at all.
    """


@click.command(
    cls=LazyCommand,
    done_by="pipeline.cli.shared_ledger_command:workers",
    epilog="Example: voucher ledger workers --ledger postgresql://ledger.example/vouchers",
)
@_SERVER
@click.option("--all", "everybody", is_flag=True, help="Those that have left or are dead, too.")
def workers() -> None:
    """Show who takes part in the sending.

    Times are the carrier's (the profile's time_zone), or UTC where no profile is given.
    """


@click.command(
    cls=LazyCommand,
    done_by="pipeline.cli.shared_ledger_command:declare_dead",
    name="declare-dead",
    epilog='Example: voucher ledger declare-dead 7f3a91bd --ledger postgresql://ledger.example/vouchers --how "its machine was scrapped"',
)
@click.argument("worker", metavar="WORKER")
@_SERVER
@by("Who saw it")
@said("--how", "How it was seen, for whoever audits the ledger.")
@click.option("-y", "--yes", is_flag=True, help="Say so without being asked.")
def declare_dead() -> None:
    """Say that a worker was seen dead: its process is gone, or its machine is off.

    WORKER is the beginning of its ID, as `voucher ledger workers` shows it. What it was sending is unknown then, and evidence that
    nothing of it was issued counts at once. Silence is no death: a process that was stopped can go on, and send.
    """


@click.command(
    cls=LazyCommand,
    done_by="pipeline.cli.shared_ledger_command:vouch",
    epilog='Example: voucher ledger vouch 7f3a91bd --ledger postgresql://ledger.example/vouchers --why "power cut, same disk"',
)
@click.argument("workers", nargs=-1, metavar="[WORKER]...")
@_SERVER
@by("Who says so")
@click.option(
    "--why",
    default="",
    metavar="TEXT",
    help="From what you know it, for whoever audits the ledger; goes with WORKER.",
)
@click.option("-y", "--yes", is_flag=True, help="Say so without being asked.")
def vouch() -> None:
    """Say that the ledger lacks nothing after its server was started anew.

    Nothing is sent from then on until every worker that was at work has found what it had been told; those that run do so by
    themselves. Without WORKER it shows whom the ledger waits for. For those that are not heard any more a person says it, by their
    IDs: the server has the very files with which it ended, and no older copy.

    Exit code 3 while nothing may be sent.
    """


SHARED = (prepare, workers, declare_dead, vouch)
