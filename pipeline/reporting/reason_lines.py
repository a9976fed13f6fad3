"""The reasons that apply to a row or a request as the lines of one cell."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pipeline.messages.translate import rendered
from pipeline.model.columns import Lang
from pipeline.model.places import about
from pipeline.model.result_values import ReasonText

#: Of a sheet that has none of the input's columns.
NO_LETTERS: Mapping[str, str] = MappingProxyType({})


def reason_lines(
    reasons: Sequence[ReasonText], lang: Lang, letters: Mapping[str, str] = NO_LETTERS, line: int = 0
) -> str:
    """Every reason that applies to a row, its own status's first: its cell, what is said of it, and its code.

    `letters` are those of the columns on the sheet that says so, and `line` is the row's number there: who reads it
    looks for the cell where they are.
    """

    def said(reason: ReasonText) -> str:
        if reason.column not in letters:
            return reason.message
        return rendered(about(f"{letters[reason.column]}{line}", reason.message), lang)

    return "\n".join(f"{said(reason)} [{reason.code}]" for reason in reasons)
