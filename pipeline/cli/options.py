"""Options that several commands share."""

import getpass
from collections.abc import Callable
from pathlib import Path

import click

from pipeline.cli.stderr import LANG, reader
from pipeline.messages.translate import rendered
from pipeline.model.message import message
from pipeline.model.server_address import checked_ledger

Command = Callable[..., None]

PATH = click.Path(path_type=Path)
EXIT_CODES = (
    "Exit codes: 0 all issued (check: ready); 1 something needs a person; 2 wrong usage or unreadable"
    " input, nothing was sent; 3 stopped early, run the same command again; 4 an outcome is unknown."
)


def options(*decorators: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Several options as one decorator, so that commands share them in one order."""

    def apply(command: Command) -> Command:
        for decorate in reversed(decorators):
            command = decorate(command)
        return command

    return apply


PROFILE = click.option(
    "--profile",
    type=PATH,
    metavar="PATH",
    envvar="VOUCHER_PROFILE",
    help="The carrier profile (TOML); env VOUCHER_PROFILE.",
)


def ledger_given(_context: click.Context, _parameter: click.Parameter, text: str | None) -> str | None:
    """A ledger's path or address; one that may have a password in it goes no further, and is repeated nowhere."""
    return None if text is None else checked_ledger(text)


LEDGER = click.option(
    "--ledger", metavar="PATH_OR_URL", envvar="VOUCHER_LEDGER", callback=ledger_given,
    help="The ledger, a file or postgresql://host/database; env VOUCHER_LEDGER; default: a file of this carrier's in the per-user data folder.",
)  # fmt: skip
BUYERS = click.option(
    "--buyers", type=PATH, metavar="FILE", envvar="VOUCHER_BUYERS",
    help="A buyers file kept apart from the tickets; env VOUCHER_BUYERS.",
)  # fmt: skip
COLUMNS = click.option(
    "--columns", type=PATH, metavar="MAP.toml", help="A team's own mapping of headings and values to ours."
)
AS_OF = click.option(
    "--as-of", type=click.DateTime(["%Y-%m-%d"]),
    help="The day that the rules are judged on; default: today in the carrier's time zone.",
)  # fmt: skip
SANDBOX_LEDGER = click.option("--sandbox", is_flag=True, help="The ledger is one of a sandbox run.")
#: Which ledger, of commands that are about one alone.
OF_LEDGER = options(PROFILE, LEDGER, SANDBOX_LEDGER, LANG)


def login() -> str:
    """Who is at the keyboard, as the system knows them."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container without users
        return ""


def by(help_text: str) -> Callable[[Command], Command]:
    """Who says so: `--by`, by default who is logged in."""
    return click.option(
        "--by",
        default=login,
        required=True,
        callback=filled,
        help=f"{help_text}; default: your login name.",
        metavar="NAME",
    )


def said(option: str, help_text: str) -> Callable[[Command], Command]:
    """A few words that have to be given, for whoever audits the ledger."""
    return click.option(option, metavar="TEXT", required=True, callback=filled, help=help_text)


def filled(_context: click.Context, _parameter: click.Parameter, text: str) -> str:
    """A text that says something."""
    if not text.strip():
        raise click.BadParameter(rendered(message("is empty; say it in a few words"), reader().lang))
    return text.strip().encode(errors="replace").decode()


WHY = said("--why", "Why, for whoever audits the ledger.")
