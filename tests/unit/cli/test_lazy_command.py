"""Commands are declared in one place and done in another: the two fit together, and only what is called is loaded."""

import inspect
from collections.abc import Iterator
from importlib import import_module

import click
import pytest

from pipeline.cli.commands import voucher
from pipeline.cli.lazy_command import LazyCommand, ReadingCommand
from pipeline.cli.main import READING


def declared(command: click.Command = voucher) -> Iterator[LazyCommand]:
    """Every command that does something."""
    if isinstance(command, click.Group):
        for below in command.commands.values():
            yield from declared(below)
    else:
        assert isinstance(command, LazyCommand), command.name
        yield command


@pytest.mark.parametrize("command", list(declared()), ids=lambda command: command.done_by)
def test_what_does_a_command_takes_what_its_command_line_gives(command: LazyCommand) -> None:
    module, _, name = command.done_by.partition(":")
    begun = ["begun"] if isinstance(command, ReadingCommand) else []
    given = {*(parameter.name for parameter in command.params), *begun}
    parameters = inspect.signature(getattr(import_module(module), name)).parameters.values()
    taken = {one.name for one in parameters if one.kind is not inspect.Parameter.VAR_KEYWORD}
    assert taken - given == set()
    assert given - taken == set() or len(taken) < len(parameters)  # the rest goes into **given


@pytest.mark.parametrize("command", list(declared()), ids=lambda command: command.done_by)
def test_an_option_says_what_is_to_be_given(command: LazyCommand) -> None:
    """In its own word: click's names of types (TEXT, INTEGER RANGE) say less, and would be translated."""
    plain = (click.Choice, click.DateTime)
    options = [of for of in command.params if isinstance(of, click.Option) and not of.is_flag]
    assert [of.opts for of in options if of.metavar is None and not isinstance(of.type, plain)] == []


@pytest.mark.parametrize("command", list(declared()), ids=lambda command: command.done_by)
def test_a_command_says_in_a_line_what_it_does(command: LazyCommand) -> None:
    assert (command.help or "").split("\n")[0].endswith((".", "cron."))


def test_a_workbook_is_begun_to_be_read_for_the_commands_that_read_one() -> None:
    assert set(READING) == {name for name, one in voucher.commands.items() if isinstance(one, ReadingCommand)}
