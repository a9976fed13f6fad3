"""Texts of files within our messages: a quoted cell or name is short, and a message is one line that is read."""

_QUOTED, _QUOTED_END = 80, 20
#: Characters of one message; whatever a file says of itself, a line stays one that is read.
LONGEST, _END = 400, 140


def quoted(text: str) -> str:
    r"""A cell or a name, as a message quotes it: on one line, and cut in its middle.

    >>> quoted("PO\n7"), len(quoted("x" * 5_000))
    ('PO 7', 80)
    """
    return _cut(" ".join(text.splitlines()), _QUOTED, _QUOTED_END)


def bounded(line: str) -> str:
    """A message, cut in its middle: what it is about stands at the beginning, and the cure at the end."""
    return _cut(line, LONGEST, _END)


def _cut(line: str, longest: int, end: int) -> str:
    return line if len(line) <= longest else f"{line[: longest - end - 3]} … {line[-end:]}"
