"""How wide a text is on a terminal or in a cell, whose characters are as wide as Latin ones."""

import unicodedata


def is_wide(character: str) -> bool:
    """Whether a character is as wide as two Latin ones, as Chinese ones are (UAX #11)."""
    return unicodedata.east_asian_width(character) in "WF"


def cells_wide(text: str) -> int:
    """A text's width in Latin characters.

    >>> cells_wide("票号 A1")
    7
    """
    return len(text) if text.isascii() else sum(2 if is_wide(character) else 1 for character in text)
