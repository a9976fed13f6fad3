"""`voucher help`."""

import sys

import click

from pipeline.cli.stdout import print_lines
from pipeline.handbook import TOPICS, page, title
from pipeline.model.columns import Lang


def show(*, topic: str | None, lang: Lang) -> None:
    """Show a page, at a terminal by its pager; without a topic, the list of them."""
    if topic is None:
        width = max(map(len, TOPICS))
        print_lines(f"voucher help {each:{width}}  {title(each, lang)}" for each in TOPICS)
    elif sys.stdout.isatty():
        click.echo_via_pager(page(topic, lang))
    else:
        print_lines([page(topic, lang).rstrip("\n")])
