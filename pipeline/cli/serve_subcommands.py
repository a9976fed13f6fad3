"""How a person types `voucher serve` and `voucher user ...`: options and help; `serve_command` and `user_command` do them."""

import click

from pipeline.cli.lazy_command import LazyCommand
from pipeline.cli.options import LEDGER, OF_LEDGER, PATH, PROFILE
from pipeline.cli.stderr import LANG, LANG_OF_ALL

_LISTEN = "127.0.0.1:8750"
_ROLES = ("viewer", "preparer", "approver", "administrator")
_NAME = click.argument("name", metavar="NAME")


@click.command(
    cls=LazyCommand,
    done_by="pipeline.cli.serve_command:serve",
    epilog="Example: voucher serve --profile carrier.toml --open\n\nExample: voucher serve --profile carrier.toml --listen 0.0.0.0:8443"
    " --certificate page.pem --key page.key",
)
@click.option(
    "--listen",
    default=_LISTEN,
    show_default=True,
    metavar="HOST:PORT",
    help="Where to listen; port 0: any free one.",
)
@click.option(
    "--certificate", type=PATH, metavar="FILE", help="The certificate (PEM, with its chain), for https."
)
@click.option(
    "--key", type=PATH, metavar="FILE", help="The key of the certificate (PEM, without a passphrase)."
)
@click.option(
    "--behind-proxy",
    metavar="HOST[,HOST]...",
    help="A proxy stands before it that speaks https; the host names that it is called by.",
)
@click.option("--open", "open_browser", is_flag=True, help="Open the page in the browser.")
@click.option(
    "--sandbox",
    is_flag=True,
    help="A demonstration with a sample month: everything is sent to a sandbox carrier.",
)
@click.option(
    "--new-ledger", is_flag=True, help="Allow a first ledger for a carrier that is not on loopback."
)
@PROFILE
@LEDGER
@click.option(
    "--as-of",
    "as_of",
    expose_value=True,
    type=click.DateTime(["%Y-%m-%d"]),
    help="With --sandbox: the day that the rules are judged on.",
)
@click.option(
    "--keep-days",
    type=click.IntRange(1, 10_000),
    default=400,
    show_default=True,
    metavar="N",
    help="Months that nobody has changed for so long are taken out with their files; their vouchers stay in the ledger.",
)
@LANG
def serve() -> None:
    """Serve the page: months uploaded, corrected, approved, sent and downloaded in a browser, until Ctrl-C.

    On this machine alone it is opened by a link that it prints. To be reached from other machines it needs a certificate, or a proxy
    that has one, and accounts (`voucher user add`).
    """


@click.group(name="user", epilog="Example: voucher user add zhangwei --role preparer --profile carrier.toml")
@LANG_OF_ALL
def user_commands() -> None:
    """The page's accounts: who may log in, and what they may do."""


@user_commands.command(
    cls=LazyCommand,
    done_by="pipeline.cli.user_command:add",
    epilog="Example: voucher user add zhangwei --role preparer --profile carrier.toml",
)
@_NAME
@click.option(
    "--role",
    required=True,
    type=click.Choice(_ROLES),
    help="What they may do; each also what those before it may.",
)
@OF_LEDGER
def add() -> None:
    """Add somebody; the password is asked for, or a line on stdin where there is no terminal.

    A viewer sees all but how the ledger stands, a preparer uploads and corrects, an approver approves, sends, reconciles and answers for
    unknown outcomes, an administrator answers for the ledger.
    """


@user_commands.command(
    name="list",
    cls=LazyCommand,
    done_by="pipeline.cli.user_command:show",
    epilog="Example: voucher user list --profile carrier.toml",
)
@OF_LEDGER
def show() -> None:
    """List who has an account, with the role and the last login."""


@user_commands.command(
    cls=LazyCommand,
    done_by="pipeline.cli.user_command:password",
    epilog="Example: voucher user password zhangwei --profile carrier.toml",
)
@_NAME
@OF_LEDGER
def password() -> None:
    """Give somebody another password, and end their sessions."""


@user_commands.command(
    cls=LazyCommand,
    done_by="pipeline.cli.user_command:remove",
    epilog="Example: voucher user remove zhangwei --profile carrier.toml",
)
@_NAME
@OF_LEDGER
def remove() -> None:
    """Remove somebody, and end their sessions."""
