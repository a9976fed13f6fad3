"""A sentence for a person, as a value: an English text with named places, and the facts that stand in them.

Whoever finds something makes a message and knows no language. At the edge, where it reaches a person, it is written out in the
person's language (pipeline/messages/translate.py); `str()` of it is the English one. The English text is the key of the
catalogues, so it is written out as a literal where the message is made, for `pybabel extract` to find.

>>> told = message("{file}: sheet {sheet} has {count} rows", file="may.xlsx", sheet=SheetName("May"), count=3)
>>> str(told)
'may.xlsx: sheet May has 3 rows'
>>> str(counted("{count} row", "{count} rows", 1000)), str(joined(["a", told], "and"))
('1,000 rows', 'a and may.xlsx: sheet May has 3 rows')
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pipeline.model.quoting import one_line, quoted


@dataclass(frozen=True)
class Private:
    """A text that people wrote and that may name somebody: a cell, a carrier's words. It is hidden where a line must name nobody.

    It is quoted on one line and cut in its middle; a `whole` one is not.
    """

    text: str
    whole: bool = False

    def __str__(self) -> str:
        return self.text if self.whole else quoted(self.text)


@dataclass(frozen=True)
class SheetName(Private):
    """The name of a sheet: hidden, unless it is one that nobody has thought of (`Sheet1`)."""


@dataclass(frozen=True)
class Term:
    """A name of ours that has a word in each language: a column, a choice of one, a status, a sheet. `kind` is its context in the
    catalogue.
    """

    name: str
    kind: "TermKind" = "column"

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Joined:
    """Facts one after another, with what joins them in a list, an alternative, or between sentences."""

    parts: "tuple[Fact, ...]"
    how: "Joint" = "list"

    def __str__(self) -> str:
        return JOINTS[self.how].join(map(str, self.parts))


@dataclass(frozen=True)
class Message:
    """A text of ours and its facts, by the names of their places. `plural` is the text for any `count` but 1, where it has another."""

    text: str
    facts: "Mapping[str, Fact]" = field(default_factory=dict)
    plural: str = ""

    def __hash__(self) -> int:
        return hash((self.text, *self.facts))

    def __bool__(self) -> bool:
        return bool(self.text)

    def __str__(self) -> str:
        many = self.plural and self.facts["count"] != 1
        return filled(self.plural if many else self.text, texts(self.facts))


Fact = str | int | Private | Term | Joined | Message
#: Takes a line for whoever runs a command.
Note = Callable[[Message], None]
Joint = Literal["list", "or", "and", "sentences"]
TermKind = Literal["column", "choice", "status", "sheet"]


def message(text: str, /, **facts: Fact) -> Message:
    """A message of one text."""
    return Message(text, facts)


#: Where there is nothing to be said.
NOTHING = Message("")


def counted(one: str, many: str, /, count: int, **facts: Fact) -> Message:
    """A message about a number of things, which the texts have at `{count}`."""
    return Message(one, {"count": count, **facts}, many)


def verbatim(text: str) -> Message:
    """What the carrier or another program said, as it is; it may name people."""
    return Message("{said}", {"said": Private(text, whole=True)}) if text else NOTHING


def said(text: str | Message) -> Message:
    """A message, or what a person said, as one."""
    return text if isinstance(text, Message) else verbatim(text)


def joined(parts: Iterable[Fact], how: Joint = "list") -> Joined:
    """Facts one after another."""
    return Joined(tuple(parts), how)


def terms(names: Iterable[str], kind: TermKind = "column") -> Joined:
    """Names of ours one after another."""
    return Joined(tuple(Term(name, kind) for name in names))


def N_(text: str) -> str:  # noqa: N802 - the name by which gettext's users know it
    """Mark a text for the catalogues that is written out elsewhere."""
    return text


def P_(_context: str, text: str) -> str:  # noqa: N802 - likewise
    """Likewise, where the same text may need other words in another context."""
    return text


def system_error(error: BaseException) -> Message:
    """What the operating system, or SQLite, says of a file: in the catalogues, as far as it is common."""
    return Message(getattr(error, "strerror", "") or str(error) or type(error).__name__)


SYSTEM_ERRORS = (
    N_("No such file or directory"), N_("Permission denied"), N_("No space left on device"), N_("Is a directory"),
    N_("Not a directory"), N_("File name too long"), N_("Read-only file system"), N_("Input/output error"), N_("Address already in use"),
)  # fmt: skip


#: What SQLite says of a ledger's file.
SQLITE_ERRORS = (
    N_("database disk image is malformed"), N_("file is not a database"), N_("database is locked"), N_("disk I/O error"),
    N_("database or disk is full"), N_("attempt to write a readonly database"), N_("unable to open database file"),
)  # fmt: skip


JOINTS: Mapping[Joint, str] = {"list": N_(", "), "or": N_(" or "), "and": N_(" and "), "sentences": N_("; ")}


def texts(facts: Mapping[str, Fact]) -> dict[str, str]:
    """Facts in English, to be put into a text."""
    return {
        name: number_text(name, fact) if isinstance(fact, int) else str(fact) for name, fact in facts.items()
    }


#: Facts that say how many; what else is a number, as a row's, is written as it is looked for.
_COUNTS = frozenset((
    "count", "total", "done", "rate", "rows", "charges", "requests", "more", "sheets", "runs", "issued", "refused", "received", "agreed",
    "open", "covered", "listed", "hidden", "odd", "lines", "needed", "packed", "unpacked", "not_sent",
))  # fmt: skip


def number_text(name: str, number: int) -> str:
    """A fact that is a number, as people read it."""
    return f"{number:,}" if name in _COUNTS else str(number)


def filled(text: str, facts: Mapping[str, str]) -> str:
    """A text with facts at its places, on one line; one without facts has no places."""
    return one_line(text.format_map(facts) if facts else text)


def to_data(fact: Fact) -> Any:
    """A message, or a fact, as JSON has it: for the ledger, and from process to process."""
    match fact:
        case Message(text, facts, plural):
            return {"message": text, "facts": {name: to_data(each) for name, each in facts.items()}} | (
                {"plural": plural} if plural else {}
            )
        case Joined(parts, how):
            return {"joined": [to_data(part) for part in parts], "how": how}
        case SheetName(text):
            return {"sheet": text}
        case Private(text, whole):
            return {"private": text, "whole": whole}
        case Term(name, kind):
            return {"term": name, "kind": kind}
        case _:
            return fact


def changed(fact: Fact, change: Callable[[str], str]) -> Any:
    """A fact, or a message, in whose facts every text that is not ours is changed."""
    match fact:
        case Message(text, facts, plural):
            return Message(text, {name: changed(each, change) for name, each in facts.items()}, plural)
        case Joined(parts, how):
            return Joined(tuple(changed(part, change) for part in parts), how)
        case Private(text):
            return replace(fact, text=change(text))
        case str():
            return change(fact)
        case _:
            return fact


def without_names(fact: Fact) -> Any:
    """A fact, or a message, with “…” for what may name people."""
    match fact:
        case Message(text, facts, plural):
            return Message(text, {name: without_names(each) for name, each in facts.items()}, plural)
        case Joined(parts, how):
            return Joined(tuple(without_names(part) for part in parts), how)
        case Private():
            return "…"
        case _:
            return fact


def to_text(said: Message) -> str:
    """A message as the ledger keeps it: JSON, "" for nothing."""
    return json.dumps(to_data(said), ensure_ascii=False) if said else ""


def from_text(text: str) -> Message:
    """The message that `to_text` made this of; any other text is one that somebody else said."""
    try:
        said = from_data(json.loads(text)) if text else NOTHING
    except (KeyError, TypeError, ValueError):
        said = text
    return said if isinstance(said, Message) else verbatim(text)


def from_data(data: Any) -> Any:
    """The fact that `to_data` made this of. Raises KeyError, TypeError or ValueError for what it does not make."""
    match data:
        case {"message": str(text), "facts": dict(facts)}:
            return Message(
                text, {name: from_data(each) for name, each in facts.items()}, data.get("plural", "")
            )
        case {"joined": list(parts), "how": ("list" | "or" | "and" | "sentences") as how}:
            return Joined(tuple(from_data(part) for part in parts), how)
        case {"sheet": str(text)}:
            return SheetName(text)
        case {"private": str(text), "whole": bool(whole)}:
            return Private(text, whole)
        case {"term": str(name), "kind": ("column" | "choice" | "status" | "sheet") as kind}:
            return Term(name, kind)
        case str() | int():
            return data
        case _:
            raise ValueError(data)
