"""What the readers of single cells share: the refusal, and one width for all characters."""

import unicodedata


class Unreadable(ValueError):
    """A cell that can't be read; its text is a hint's code (reasons.HINTS), a slip's (slips.SLIPS) or ""."""


_HYPHENS = str.maketrans("\u2010\u2011\u2013", "---")


def one_width(text: str) -> str:
    """A text without full-width forms and invisible characters.

    >>> one_width("９９９－１\u200b２")
    '999-12'
    """
    if text.isascii():
        return text
    return visible(unicodedata.normalize("NFKC", text).translate(_HYPHENS))


def visible(text: str) -> str:
    """A text without the characters that nobody sees, such as a zero-width space.

    >>> visible("1\u200b2")
    '12'
    """
    if text.isprintable():  # as nearly every text is, and cells are many
        return text
    return "".join(c for c in text if unicodedata.category(c) != "Cf")
