"""What a defect of ours leaves on stderr for whoever mends it."""

import contextlib
import traceback

import click

from pipeline.carrier.key_redaction import Concealed
from pipeline.secret_keys import known_keys


def print_defect() -> None:
    """The traceback, for whoever mends it; without the keys, which a message in it may quote."""
    text = Concealed(*known_keys()).text(traceback.format_exc())
    text = "".join(c if c.isprintable() or c == "\n" else " " for c in text)
    with contextlib.suppress(OSError, ValueError):
        click.echo(text, err=True, nl=False)
