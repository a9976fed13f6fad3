"""Single cells, but for amounts (amount_cells.py): what a person may have typed, as the value that it can only mean, or a refusal.

Nothing is guessed. A number that a spreadsheet has already spoilt (a lost leading zero, digits beyond
the fifteenth) is refused rather than repaired. A refusal that has a likely cause names it: its text is
the code of a slip (messages/likely_mistakes.py).

>>> day("2026年3月5日"), day("05MAR26")
(datetime.date(2026, 3, 5), datetime.date(2026, 3, 5))
"""

from collections.abc import Mapping
from typing import Any

from pipeline.model.error_cells import no_value
from pipeline.model.shown_cells import shown
from pipeline.reading.cell_words import CHOICE_WORDS, folded
from pipeline.reading.date_cells import day
from pipeline.reading.unreadable import Unreadable

__all__ = ["Unreadable", "choice", "day", "text", "value"]


def value(cell: Any) -> Any:
    """The cell if it holds a value at all: no error of the spreadsheet's, no formula without its result."""
    if isinstance(cell, bytes):
        raise Unreadable("no_result" if cell == b"=" else "error_cell")
    if isinstance(cell, str) and cell.lstrip()[:1] in "#Ee=" and (slip := no_value(cell)):
        raise Unreadable(slip)
    return cell


def text(value: Any) -> str:
    """A cell as text: spaces at the ends taken away, whatever their width."""
    return shown(value).replace("\u00a0", " ").replace("\u3000", " ").strip()


def choice(column: str, value: Any, words: Mapping[str, str] | None = None) -> str:
    """The name of a choice, from any of its words; `words` in place of the vocabulary's."""
    try:
        return (words or CHOICE_WORDS[column])[folded(shown(value))]
    except KeyError:
        raise Unreadable("") from None
