"""The mark of a template: which version of it a filled-in workbook was made from.

It stands on the sheet of instructions, where people and the reader see it, and in the workbook's properties.

>>> stamp("en"), version_of(stamp("zh")), version_of("Template version two")
('Template version 1', '1', '')
"""

import re
from collections.abc import Sequence
from typing import Any

from pipeline.model.columns import Lang
from pipeline.model.message import Message, message

#: Rises when a filled-in template would be read differently from before.
VERSION = "1"
#: The workbook's custom property that holds VERSION.
PROPERTY = "Voucher template version"

_WORDS: dict[Lang, str] = {"en": "Template version {}", "zh": "模板版本 {}"}
_TOP = 5  # rows
_STAMP = re.compile("|".join(words.format("([0-9]{1,6})") for words in _WORDS.values()))


def stamp(lang: Lang) -> str:
    """The mark as it stands on the sheet of instructions."""
    return _WORDS[lang].format(VERSION)


def version_of(cell: Any) -> str:
    """The version that a cell's mark names, "" where it is none."""
    match = _STAMP.fullmatch(cell.strip()) if isinstance(cell, str) else None
    return (match[1] or match[2]) if match else ""


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
