"""Texts that a cell shows in place of a value: errors, and formulas without a result."""

import re

#: Errors as spreadsheet programs show them; in a CSV they are texts like any other.
_ERRORS = re.compile(
    r"#(n/a|ref!|div/0!|name\?|null!|num!|value!|spill!|calc!|field!|getting_data)|err:[0-9]{3}",
    re.IGNORECASE,
)


def no_value(text: str) -> str:
    """The hint (messages/likely_mistakes.py) about a text that stands for no value: an error, or a formula without its result ("=").

    >>> no_value("#N/A"), no_value("="), no_value("#12")
    ('error_cell', 'no_result', '')
    """
    if text.strip() == "=":
        return "no_result"
    return "error_cell" if _ERRORS.fullmatch(text.strip()) else ""
