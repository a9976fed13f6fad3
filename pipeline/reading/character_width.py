"""Texts with one width for all characters, full-width forms as the plain ones, and without those that nobody sees."""

import unicodedata

_HYPHENS = str.maketrans("\u2010\u2011\u2013", "---")


def one_width(text: str) -> str:
    """A text without full-width forms and invisible characters. The number of a footnote stays what it is, and no digit.

    >>> one_width("９９９－１\u200b２"), one_width("１０①")
    ('999-12', '10①')
    """
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFKC", text)
    if any(map(_is_numbered, text)):
        plain = "".join(c if _is_numbered(c) else unicodedata.normalize("NFKC", c) for c in text)
    return visible(plain.translate(_HYPHENS))


def _is_numbered(character: str) -> bool:
    """Whether it is no digit but has one in it: ① or ²."""
    return (
        not character.isascii()
        and not character.isdecimal()
        and any(map(str.isdecimal, unicodedata.normalize("NFKC", character)))
    )


def visible(text: str) -> str:
    """A text without the characters that nobody sees, such as a zero-width space.

    >>> visible("1\u200b2")
    '12'
    """
    if text.isprintable():  # as nearly every text is, and cells are many
        return text
    return "".join(c for c in text if unicodedata.category(c) != "Cf")
