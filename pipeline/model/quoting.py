"""Texts of files within our messages: a quoted cell or name is short, and a message is one line that is read."""

_QUOTED, _QUOTED_END = 80, 20
#: Characters of one message; whatever a file says of itself, a line stays one that is read.
LONGEST, _END = 400, 140


def one_line(text: str) -> str:
    r"""A text as part of one line of a terminal, which no character of it drives.

    >>> one_line("two\nlines\x1b[31m")
    'two lines [31m'
    """
    return (
        text if text.isprintable() else " ".join("".join(c if c.isprintable() else " " for c in text).split())
    )


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
