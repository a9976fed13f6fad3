"""`voucher user ...`: its commands, done."""

import datetime
import sys
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import click

from pipeline.cli.job_options import ledger_job
from pipeline.cli.stderr import asking, reader, teller
from pipeline.cli.stdout import print_lines
from pipeline.messages.translate import rendered
from pipeline.model.errors import InputProblem
from pipeline.model.message import Note, message
from pipeline.page import accounts
from pipeline.page.serve_settings import page_folder
from pipeline.page.visitor import Role
from pipeline.profile_file import load_profile

_LONGEST_LINE = 4_000  # characters of a line on stdin


def add(*, name: str, role: str, lang: Any, **where: Any) -> None:
    """Add somebody."""
    folder = _folder(where)
    kept = accounts.fit_name(name)
    if accounts.any_account(folder) and accounts.found(folder, kept):
        raise accounts.there_already(kept)
    accounts.add(folder, kept, Role.named(role), _password(kept))
    teller(lang)(message("{name} may log in now, as {role}", name=kept, role=Role.named(role).said))


def first_administrator(folder: Path, tell: Note) -> None:
    """Ask whoever starts the page for the first account."""
    tell(
        message(
            "Nobody has an account yet. The first one is an administrator's; others are added by voucher user add."
        )
    )
    name = accounts.fit_name(_asked(message("Name")))
    accounts.add(folder, name, Role.ADMINISTRATOR, _password(name))


def _asked(what: Any) -> str:
    return str(click.prompt(rendered(what, reader().lang), err=True))


def show(*, lang: Any, **where: Any) -> None:
    """Print a line for each."""
    zone = ZoneInfo(load_profile(where["profile"]).carrier.time_zone)
    folder = _folder(where)
    for account in accounts.all_accounts(folder) if accounts.any_account(folder) else []:
        last = account.last_login
        at = f"{datetime.datetime.fromtimestamp(last, zone):%Y-%m-%d %H:%M}" if last else message("never")
        told = message("{name}: {role}, last login: {at}", name=account.name, role=account.role.said, at=at)
        print_lines([rendered(told, lang)])


def password(*, name: str, lang: Any, **where: Any) -> None:
    """Give somebody another password."""
    folder = _folder(where)
    account = accounts.known(folder, name)
    accounts.set_password(folder, name, _password(account.name))
    teller(lang)(
        message("{name} has another password; sessions with the old one have ended", name=account.name)
    )


def remove(*, name: str, lang: Any, **where: Any) -> None:
    """Remove somebody."""
    folder = _folder(where)
    account = accounts.known(folder, name)
    accounts.remove(folder, name)
    teller(lang)(message("{name} is removed, and may not log in any more", name=account.name))


def _folder(where: dict[str, Any]) -> Path:
    return page_folder(ledger_job(where))


def _password(name: str) -> str:
    """A password for somebody: asked for twice and not shown, or a line on stdin."""
    if not asking():
        line = sys.stdin.readline(_LONGEST_LINE) if sys.stdin is not None else ""
        if not line:
            raise InputProblem("No password: there is no terminal to ask on, so give it as a line on stdin")
        typed = line.rstrip("\r\n")
        accounts.check_password(typed, name)
        return typed
    lang = reader().lang
    while True:
        typed = click.prompt(
            rendered(message("Password for {name}", name=name), lang), hide_input=True, err=True,
            confirmation_prompt=rendered(message("The same again"), lang),
        )  # fmt: skip
        try:
            accounts.check_password(typed, name)
        except InputProblem as problem:
            teller(lang)(problem.message)
        else:
            return str(typed)
