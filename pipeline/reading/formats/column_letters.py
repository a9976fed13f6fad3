"""Columns by their letters, as spreadsheet programs and .xlsx files name them."""

from functools import lru_cache


def column_letters(column: int) -> str:
    """A column's letters, from position 0.

    >>> column_letters(0), column_letters(27), column_letters(16383)
    ('A', 'AB', 'XFD')
    """
    found = ""
    column += 1
    while column > 0:
        column, rest = divmod(column - 1, 26)
        found = chr(65 + rest) + found
    return found


@lru_cache(1_000)
def column_of(name: bytes) -> int:
    """The position of a column, from its letters.

    >>> column_of(b"A"), column_of(b"xfd")
    (0, 16383)
    """
    position = 0
    for letter in name.upper():
        position = position * 26 + letter - 64
    return position - 1
