"""What may name somebody, made fit to be passed on: names, telephone numbers, e-mail addresses and tax numbers.

>>> masked_name("Zhang Wei"), masked_name("张伟"), masked_name("")
('Z***', '张***', '')
>>> Masks(["张伟", "ZHANG/WEI MR"]).text("CC 7: 张伟, Wei Zhang, +86 10 8520 0000, a@example.com")
'CC 7: ***, ***, ***, ***'
"""

import functools
import re
from collections.abc import Iterable, Iterator

_IN_PLACE = "***"
_TITLE = re.compile(r" (?:MR|MRS|MS|MISS|MSTR|CHD|INF|DR)$", re.IGNORECASE)
#: What has the form of an e-mail address, a tax number (GB 32100: 15 to 20 digits and capitals), or a telephone number.
_FORMS = re.compile(
    r"[^\s@<>,;，；]+@[^\s@<>,;，；]+|(?<![0-9A-Za-z])(?=[0-9A-Za-z]*\d{6})[0-9A-Za-z]{15,20}(?![0-9A-Za-z])"
    r"|(?<![0-9A-Za-z])\+?\d[\d ()-]{8,}\d(?![0-9A-Za-z])"
)


def masked_name(name: str) -> str:
    """The first character of a name: nobody can be told by it."""
    return f"{name[0]}{_IN_PLACE}" if name else ""


def masked_number(number: str) -> str:
    """A tax number by its last four characters, as receipts show a card's."""
    return f"{_IN_PLACE}{number[-4:]}" if len(number) > 2 * 4 else _IN_PLACE * bool(number)


class Masks:
    """Texts without these names and numbers, in whatever case, and without anything of such a form."""

    def __init__(self, known: Iterable[str]) -> None:
        self._known = {way.lower() for each in known for way in _ways(each) if len(way) > 1}
        self._lengths = sorted({len(way) for way in self._known}, reverse=True)
        self.text = functools.lru_cache(maxsize=50_000)(self._text)

    def _text(self, text: str) -> str:
        low = text.lower()
        if len(low) != len(
            text
        ):  # a few letters have no small one of their own: which stands where can't be told
            return _IN_PLACE
        kept, at = [], 0
        while at < len(text):
            # By hashing each part of a length that a name has: there may be a hundred thousand names.
            length = next((n for n in self._lengths if low[at : at + n] in self._known), 0)
            kept.append(_IN_PLACE if length else text[at])
            at += length or 1
        return _FORMS.sub(_IN_PLACE, "".join(kept))


def _ways(name: str) -> Iterator[str]:
    """A name as it is, and a passenger's (SURNAME/GIVEN TITLE) as people write it."""
    yield name
    family, slash, given = _TITLE.sub("", name).partition("/")
    if slash and family and given:
        yield from (f"{family}/{given}", f"{family} {given}", f"{given} {family}", f"{family}{given}")
