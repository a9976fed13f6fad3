r"""Texts made fit for the cells that they go into.

Cells come from anywhere, so a text may hold what a workbook can't: such characters make a file that
does not open. Nothing else of a text is changed.

>>> fit("bell\x07 and \ufffe, line\r\nbreak")
'bell and , line\nbreak'
"""

import re

#: What a cell holds at most, in UTF-16 units; a longer text is cut, and ends in "…".
LONGEST = 32_767

_UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def fit(text: str) -> str:
    """A text without control characters, non-characters and lone surrogates, cut to a cell's length."""
    if text.isprintable() and 2 * len(text) <= LONGEST:  # as nearly all are
        return text
    if _UNFIT.search(text):
        text = _UNFIT.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    if 2 * len(text) > LONGEST:
        units = text.encode("utf-16-le")
        if len(units) > 2 * LONGEST:
            return units[: 2 * (LONGEST - 1)].decode("utf-16-le", errors="ignore") + "…"
    return text
