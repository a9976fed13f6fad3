"""How a person types `voucher ledger copy-to`; `copy_command` does it."""

import click

from pipeline.cli.lazy_command import LazyCommand
from pipeline.cli.options import OF_LEDGER, ledger_given


@click.command(
    cls=LazyCommand,
    name="copy-to",
    done_by="pipeline.cli.copy_command:copy_to",
    epilog="Example: voucher ledger copy-to --profile carrier.toml postgresql://ledger.example/vouchers",
)
@click.argument("target", metavar="LEDGER", callback=ledger_given)
@OF_LEDGER
def copy_to() -> None:
    """Copy the whole ledger into an empty one, which goes on in its place.

    From a file to a ledger that several machines share, which `voucher ledger prepare` has made, or back from that to a new file. No run
    may be on, nothing of one be left over, no gap be open, and every worker have left or been declared dead; what is unknown may stay
    unknown.

    Both are compared, row by row, before the old ledger is closed for good: it can be read from then on, and nothing is sent with it any
    more. If the command is cut off, run it again.
    """
