"""Texts that a cell shows in place of a value: errors, formulas without a result, characters that can't be seen."""

import re

#: Errors as spreadsheet programs show them; in a CSV they are texts like any other.
_ERRORS = re.compile(
    r"#(n/a|ref!|div/0!|name\?|null!|num!|value!|spill!|calc!|field!|getting_data)|err:[0-9]{3}",
    re.IGNORECASE,
)


def no_value(text: str) -> str:
    """The hint (messages/hints.py) about a text that stands for no value: an error, or a formula without its result ("=").

    >>> no_value("#N/A"), no_value("="), no_value("#12")
    ('error_cell', 'no_result', '')
    """
    if text.strip() == "=":
        return "no_result"
    return "error_cell" if _ERRORS.fullmatch(text.strip()) else ""


def name_hint(text: str) -> str:
    r"""The hint about a name: it stands for no value, or a line break in it can be read in two ways.

    >>> name_hint("ACME\nTravel"), name_hint("#N/A"), name_hint("ACME Travel")
    ('line_break', 'error_cell', '')
    """
    if hint := no_value(text):
        return hint
    if len(text.splitlines()) > 1:
        return "line_break"
    return "unseen_characters" if has_unseen(text) else ""


#: Control characters, half characters, those of private use and those that are none; fillers, which are letters that show nothing.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufff0-\uffff\u115f\u1160\u2800\u3164\uffa0"
    "\U000e0000-\U000e00ff\U000e01f0-\U0010ffff]"
)


def has_unseen(text: str) -> bool:
    r"""Whether a text holds a character that can't be printed: nobody means it, and a terminal or a printer may obey it.

    >>> has_unseen("ZHANG\x1b[31m"), has_unseen("\u3164"), has_unseen("ZHANG/WEI\u00a0MR")
    (True, True, False)
    """
    return bool(_UNSEEN.search(text))
