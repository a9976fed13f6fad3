"""A register made fit to be passed on (`--masked`), or left as it is: one place says what of it is masked, and how.

>>> masks = Masks(["张伟", "ZHANG/WEI MR"])
>>> masks.name("Zhang Wei"), masks.name("张伟"), masks.name(""), masks.buyer("张伟", 7), masks.number("91110000600037341L")
('Z***', '张***', '', '张*** #7', '***341L')
>>> masks.text("CC 7: 张伟, Wei Zhang, +86 10 8520 0000, a@example.com")
'CC 7: ***, ***, ***, ***'
"""

import functools
import re
from collections.abc import Iterable, Iterator

from pipeline.model.message import Message, message
from pipeline.model.register_line import RegisterLine

_IN_PLACE = "***"
_TITLE = re.compile(r" (?:MR|MRS|MS|MISS|MSTR|CHD|INF|DR)$", re.IGNORECASE)
#: What has the form of an e-mail address, a tax number (GB 32100: 15 to 20 digits and capitals), or a telephone number.
_FORMS = re.compile(
    r"[^\s@<>,;，；]+@[^\s@<>,;，；]+|(?<![0-9A-Za-z])(?=[0-9A-Za-z]*\d{6})[0-9A-Za-z]{15,20}(?![0-9A-Za-z])"
    r"|(?<![0-9A-Za-z])\+?\d[\d ()-]{8,}\d(?![0-9A-Za-z])"
)


def secrets_of(lines: Iterable[RegisterLine]) -> set[str]:
    """What names somebody in these lines."""
    return {
        text
        for line in lines
        for text in (line.passenger_name, line.buyer, line.tax_no, line.phone, line.email)
    }


class NoMasks:
    """A register as it is. `whole`: whether it also has what can't be masked: columns of the input's own, and sheets' names."""

    whole = True

    def name(self, name: str) -> str:
        """A passenger's name."""
        return name

    def buyer(self, name: str, number: int) -> str:  # noqa: ARG002 - masked ones have it
        """A buyer's name, which is the register's buyer of that number."""
        return name

    def number(self, number: str) -> str:
        """A tax number."""
        return number

    def text(self, text: str) -> str:
        """What somebody wrote: a cost centre, a department."""
        return text

    def file(self, name: str) -> str | Message:
        """A file's name."""
        return name


class Masks(NoMasks):
    """Without these names and numbers, in whatever case, and without anything of such a form."""

    whole = False

    def __init__(self, known: Iterable[str]) -> None:
        self._files: dict[str, int] = {}
        self._known = {way.lower() for each in known for way in _ways(each) if len(way) > 1}
        self._lengths = sorted({len(way) for way in self._known}, reverse=True)
        self._text = functools.lru_cache(maxsize=50_000)(self._without)

    def name(self, name: str) -> str:
        """The first character: nobody can be told by it."""
        return f"{name[0]}{_IN_PLACE}" if name else ""

    def buyer(self, name: str, number: int) -> str:
        """With its number: two may begin alike."""
        return f"{self.name(name)} #{number}"

    def number(self, number: str) -> str:
        """The last four characters, as receipts show a card's."""
        return f"{_IN_PLACE}{number[-4:]}" if len(number) > 2 * 4 else _IN_PLACE * bool(number)

    def text(self, text: str) -> str:
        """Without what may name somebody."""
        return self._text(text)

    def file(self, name: str) -> Message:
        """A number in place of the name: a file may be named after somebody."""
        return message("file {number}", number=self._files.setdefault(name, len(self._files) + 1))

    def _without(self, text: str) -> str:
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
