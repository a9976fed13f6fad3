"""What a command is asked to print, on stdout."""

import contextlib
from collections.abc import Iterable

import click


def print_lines(lines: Iterable[str | bytes]) -> None:
    """Print lines; whoever reads them may leave before their end (`| head`), which is no failure."""
    with contextlib.suppress(BrokenPipeError):
        for line in lines:
            click.echo(line)
