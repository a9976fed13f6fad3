"""A ledger's address with a password in it goes no further than the option that it is given to, and is repeated nowhere."""

from collections.abc import Iterator, Mapping

import click
import pytest

from pipeline.cli.commands import voucher
from tests.acceptance.conftest import Desk

pytestmark = pytest.mark.slow

SECRET = "s3cret-word"
ADDRESS = f"postgresql://chen:{SECRET}@ledger.example/vouchers"
MISTYPED = f"postgresql://ledger.example:{SECRET}/vouchers"  # what libpq takes for a port, and names


def commands(group: click.Group = voucher, *before: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, *before, name)
        else:
            yield (*before, name), command


def needed(command: click.Command) -> list[str]:
    """What it has to be given beside its ledger."""
    given = []
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            given.append("x.xlsx")
        elif parameter.required and isinstance(parameter, click.Option):
            given += [parameter.opts[0], "viewer" if isinstance(parameter.type, click.Choice) else "x.xlsx"]
    return given


WITH_A_LEDGER: Mapping[str, list[str]] = {
    " ".join(name): [*name, *needed(command)]
    for name, command in commands()
    if any(parameter.name == "ledger" for parameter in command.params)
}


def test_every_command_that_has_a_ledger_is_tried() -> None:
    assert {"issue", "reconcile", "serve", "user add", "ledger check", "profile check"} <= set(WITH_A_LEDGER)


@pytest.mark.parametrize("command", WITH_A_LEDGER)
def test_it_is_refused_wherever_a_ledger_is_named_and_never_repeated(desk: Desk, command: str) -> None:
    arguments = WITH_A_LEDGER[command]
    for address, told in ((ADDRESS, "has a password in it"), (MISTYPED, "is not one of a PostgreSQL server")):
        desk.environment.pop("VOUCHER_LEDGER", None)
        ran = [desk.voucher(*arguments, "--ledger", address)]
        desk.environment["VOUCHER_LEDGER"] = address
        ran.append(desk.voucher(*arguments))
        for one in ran:
            assert one.code == 2, one
            assert told in one.err
            assert SECRET not in one.err + one.out
            assert "Traceback" not in one.err
