"""`voucher template`."""

from pathlib import Path

from pipeline.cli.stderr import teller
from pipeline.model.columns import Lang
from pipeline.model.message import message
from pipeline.template.input_workbook import write_template


def template(path: Path, lang: Lang, *, example: bool) -> None:
    """Write it, and say where."""
    write_template(path, lang, example=example)
    teller(lang)(message("Template: {file}", file=str(path)))
