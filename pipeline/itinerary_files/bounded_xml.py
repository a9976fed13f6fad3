"""XML of unknown origin as elements: no document type, no entities, bounded in depth and number, whatever its encoding.

expat does the reading, without its own treatment of namespaces: real CustomTag.xml has been seen with names such as `:eInvoice` and
`xmlns:=""`, which are XML but no names of a namespace (itinerary-files.md). So prefixes are resolved here, and such names are told.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NoReturn
from xml.parsers import expat

#: Nested groups of a page's objects are some ten deep; a page of an itinerary has some hundred texts. Of elements: all that one file may
#: have.
DEEPEST, MOST_ELEMENTS = 64, 50_000
#: Namespaces that are in scope at one place. XBRL declares some ten.
_MOST_SPACES = 200
_XMLNS = "xmlns"


class NotXml(ValueError):
    """The text is not well-formed, or in an encoding that expat does not know."""


class Entities(ValueError):
    """It declares a document type or entities."""


class TooMuch(ValueError):
    """It goes beyond the bounds."""


class Room:
    """How many elements may still come, in all texts that share it."""

    def __init__(self) -> None:
        self._left = MOST_ELEMENTS

    def take(self) -> None:
        """One more. Raises TooMuch."""
        self._left -= 1
        if self._left < 0:
            raise TooMuch


class Element:
    """An element: its name without prefix, its namespace, its attributes by their names without prefix, its children."""

    __slots__ = ("attributes", "children", "name", "pieces", "space")

    def __init__(self, name: str, space: str, attributes: Mapping[str, str]) -> None:
        self.name, self.space, self.attributes = name, space, attributes
        self.children: list[Element] = []
        self.pieces: list[str] = []

    @property
    def text(self) -> str:
        """Its own text, without that of its children."""
        return "".join(self.pieces).strip()

    def all(self, name: str = "") -> Iterator["Element"]:
        """Itself and everything in it, in the order of the text; of a name, or of any."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            if not name or element.name == name:
                yield element
            waiting += reversed(element.children)

    def first(self, name: str) -> "Element | None":
        """The first of a name in it."""
        return next(self.all(name), None)

    def said(self, name: str) -> str:
        """The text of the first of a name in it, "" where there is none."""
        element = self.first(name)
        return element.text if element else ""


class _Builder:
    """Takes what expat says."""

    def __init__(self, room: Room) -> None:
        self.root: Element | None = None
        self.odd = False
        self._open: list[Element] = []
        self._spaces: list[dict[str, str]] = [{}]
        self._room = room

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._room.take()
        if len(self._open) >= DEEPEST:
            raise TooMuch
        declared, local_ones = dict[str, str](), dict[str, str]()
        for key, value in attributes.items():
            prefix, local, odd = _parted(key)
            self.odd |= odd
            if _XMLNS in (prefix, key):
                declared[local if prefix else ""] = value
            else:
                local_ones[local] = value
        spaces = self._spaces[-1] | declared if declared else self._spaces[-1]
        if len(spaces) > _MOST_SPACES:
            raise TooMuch
        prefix, local, odd = _parted(name)
        self.odd |= odd
        element = Element(local, spaces.get(prefix, ""), local_ones)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)
        self._spaces.append(spaces)

    def end(self, _name: str) -> None:
        self._open.pop()
        self._spaces.pop()

    def text(self, text: str) -> None:
        self._open[-1].pieces.append(text)


@lru_cache(maxsize=1_000)
def _parted(name: str) -> tuple[str, str, bool]:
    """A name's prefix, the rest of it, and whether it is no name of a namespace."""
    prefix, colon, local = name.rpartition(":")
    return prefix, local, bool(colon) and (not prefix or not local or ":" in prefix)


def _refuse(*_: object) -> NoReturn:
    raise Entities


def parsed(content: bytes, room: Room) -> tuple[Element, bool]:
    """The root element, and whether names in it are malformed. Raises NotXml, Entities, TooMuch."""
    parser, builder = expat.ParserCreate(), _Builder(room)
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.StartDoctypeDeclHandler = _refuse
    parser.EntityDeclHandler = _refuse
    parser.ExternalEntityRefHandler = _refuse
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, LookupError, UnicodeError, ValueError) as error:
        if isinstance(error, Entities | TooMuch):
            raise
        raise NotXml(str(error)) from None
    assert builder.root is not None  # noqa: S101 - expat says otherwise that there is none
    return builder.root, builder.odd
