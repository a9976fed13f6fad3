r"""Names, numbers and addresses as they are sent: without what only a spreadsheet's cell has.

Nothing here changes what is written, only how: characters that nobody sees, full-width forms where the carrier
knows the plain ones, and line breaks where a name can be read in one way only.

>>> one_line("甲\n公司"), one_line("ZHANG/\nSAN"), one_line("ACME\nTravel")
('甲公司', 'ZHANG/SAN', 'ACME\nTravel')
>>> half_width("ａ＠example.com\u200b")
'a@example.com'
"""

import re
import unicodedata

import numpy as np

from pipeline.model.printable_text import has_unseen
from pipeline.model.table import Indices, Texts
from pipeline.rules.buyer_formats import is_tax_no

_BREAK = re.compile(r"\s*[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]\s*")
#: Zero-width spaces, and marks of direction that come along when text is copied from elsewhere.
UNSEEN = re.compile("[\u200b\u2060\ufeff\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_HALF_WIDTH = {full: full - 0xFEE0 for full in range(0xFF01, 0xFF5F)} | {0x3000: " "}


def one_line(name: str) -> str:
    """A name without the line breaks at which no letters are lost or joined.

    Chinese is written without spaces, and a slash joins a passenger's names; anywhere else a line break may stand
    for a space or for nothing, so it stays, and is refused.
    """
    if name.isprintable():  # as nearly every name is, and they are many
        return name
    seen = _BREAK.sub(_joint, UNSEEN.sub("", name)).replace("\t", " ").strip()
    return seen if any(unicodedata.category(c) != "Cf" for c in seen) else ""


def _joint(found: re.Match[str]) -> str:
    around = found.string[max(found.start() - 1, 0) : found.start()] + found.string[found.end() :][:1]
    return "" if any(c == "/" or unicodedata.east_asian_width(c) in "WF" for c in around) else "\n"


def half_width(text: str) -> str:
    """A number or an address in plain characters, without those that nobody sees."""
    if text.isascii():
        return text
    return UNSEEN.sub("", text).translate(_HALF_WIDTH).strip()


def address(text: str) -> str:
    """An e-mail address in plain characters, with the full stops that a domain name has.

    >>> address("ａ@example。com")
    'a@example.com'
    """
    name, at, domain = half_width(text).rpartition("@")
    return name + at + (domain.replace("\u3002", ".").replace("\uff61", ".") if at else domain)


def tax_no(text: str) -> str:
    """A tax number in capitals without the spaces and hyphens that people group it by.

    >>> tax_no("9111 0000 6000 3734 1l"), tax_no("91110000-60003734-1L"), tax_no("9111-x")
    ('91110000600037341L', '91110000600037341L', '9111-X')
    """
    whole = "".join(half_width(text).split()).upper()
    ungrouped = whole.replace("-", "")
    return ungrouped if ungrouped != whole and is_tax_no(ungrouped) else whole


def unprintable(values: Texts) -> Indices:
    """The texts with a character that nobody can see, a line break among them: as good as no name has one."""
    texts: list[str] = values.tolist()
    joined = "".join(texts)
    if joined.isprintable() and not has_unseen(joined):
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero([not text.isprintable() or has_unseen(text) for text in texts])


def names(values: Texts) -> Texts:
    """Names, each on one line where that can be done."""
    odd = unprintable(values)
    if not len(odd):
        return values
    written = values.copy()
    written[odd] = [one_line(values[at]) for at in odd.tolist()]
    return written
