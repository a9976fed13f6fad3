"""Who asks for a page, and what they may do."""

from dataclasses import dataclass
from enum import IntEnum

from aiohttp import web

from pipeline.model.columns import Lang
from pipeline.model.message import Message, message


class Role(IntEnum):
    """What somebody may do; each may also do what those before it may.

    >>> Role.APPROVER >= Role.PREPARER, Role.named("viewer") >= Role.PREPARER
    (True, False)
    """

    VIEWER = 1
    PREPARER = 2
    APPROVER = 3
    ADMINISTRATOR = 4

    @classmethod
    def named(cls, name: str) -> "Role":
        """The role of a name as accounts have it ("viewer"). Raises KeyError for any other."""
        return cls[name.upper()]

    @property
    def word(self) -> str:
        """Its name as accounts and options have it."""
        return self.name.lower()

    @property
    def said(self) -> Message:
        """Its name for people."""
        return _SAID[self]


_SAID = {
    Role.VIEWER: message("viewer"),
    Role.PREPARER: message("preparer"),
    Role.APPROVER: message("approver"),
    Role.ADMINISTRATOR: message("administrator"),
}


@dataclass(frozen=True)
class Visitor:
    """Who asks: a name for the record, a role (None: nobody has logged in), a language, and the token of their forms.

    `account` is their account's number in the page's database; None also for whoever came by the one-time link.
    """

    name: str
    role: Role | None
    lang: Lang
    csrf: str
    account: int | None = None

    def may(self, least: Role | None) -> bool:
        """Whether they may do what takes that role (None: anybody may)."""
        return least is None or (self.role is not None and self.role >= least)


VISITOR: web.RequestKey[Visitor] = web.RequestKey("visitor", Visitor)


def visitor_of(request: web.Request) -> Visitor:
    """Who asks; the session's middleware has found out before any handler is called."""
    return request[VISITOR]
