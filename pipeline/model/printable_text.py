"""Texts that can be printed as they are: without characters that nobody sees, and names without line breaks."""

import re

from pipeline.model.error_cells import no_value

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
    return not (text.isascii() and text.isprintable()) and bool(_UNSEEN.search(text))


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
