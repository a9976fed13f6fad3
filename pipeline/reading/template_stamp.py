"""Which version of our template a workbook was made from, by its sheet of instructions.

>>> version_of("Template version 1"), version_of("模板版本 1"), version_of("Template version two")
('1', '1', '')
"""

import re
from collections.abc import Sequence
from typing import Any

from pipeline.messages.translate import in_every_language
from pipeline.model.message import Message, message
from pipeline.model.template_version import STAMP, VERSION

_TOP = 5  # rows
_STAMP = re.compile("|".join(words.format(version="([0-9]{1,6})") for words in in_every_language(STAMP)))


def version_of(cell: Any) -> str:
    """The version that a cell's mark names, "" where it is none."""
    match = _STAMP.fullmatch(cell.strip()) if isinstance(cell, str) else None
    return next(filter(None, match.groups())) if match else ""


def made_from(rows: Sequence[Sequence[Any]]) -> str:
    """The version of the template whose instructions stand in these rows, "" where they are no such sheet."""
    return next((found for row in rows[:_TOP] for cell in row[:1] if (found := version_of(cell))), "")


def newer(version: str) -> tuple[Message, ...]:
    """What to tell of a workbook made from a template that this program does not know yet; nothing else."""
    if int(version) <= int(VERSION):
        return ()
    return (
        message(
            "was made from template version {version}, and this program knows version {known}; update the program if"
            " anything is read wrongly",
            version=version,
            known=VERSION,
        ),
    )
