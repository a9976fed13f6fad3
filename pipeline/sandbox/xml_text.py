"""XML as text, for parts whose bytes are signed as they are written."""

import re
from xml.sax.saxutils import escape, quoteattr

# XML 1.0, 2.2: what no document can hold, in any way.
_IMPOSSIBLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_BREAKS = re.compile("[\t\n\r]+")


def element(name: str, *content: str, **attributes: object) -> str:
    """One element around what is XML already.

    >>> element("a", text("1 < 2"), ID=7)
    '<a ID="7">1 &lt; 2</a>'
    """
    given = "".join(f" {key}={quoteattr(str(value))}" for key, value in attributes.items())
    return f"<{name}{given}>{''.join(content)}</{name}>"


def text(said: str) -> str:
    """A text as content."""
    return escape(one_line(said))


def one_line(said: str) -> str:
    """A text on one line and without what XML can't hold; its other blanks stay as they are."""
    return _IMPOSSIBLE.sub("", _BREAKS.sub(" ", said))


def document(root: str) -> bytes:
    """A whole document in UTF-8."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{root}\n'.encode()
