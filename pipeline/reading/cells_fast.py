"""Cells that can be read at first sight, as nearly all can: a column's values at once, in no time.

What is not plain is given as None, and is read by `cells`, which knows every way to write it; what is plain here is
read there as the same.

>>> tickets(["9991234567890", "999-1234567890"]), texts([" Ann ", "#N/A"]), money([12.5, 0.1 + 0.2, 1.005, "12.50"])
(['9991234567890', None], ['Ann', None], [1250, None, None, None])
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pipeline.model.money import MINOR
from pipeline.reading.amount_cells import LARGEST_MONEY

_TOGETHER = 500
_TICKET = re.compile("[0-9]{3}-?[0-9]{10}")
#: What an error, and a number that a spreadsheet has spoilt, may begin with; and a space of another width.
_ODD_BEGINNINGS, _SPACES = frozenset("#Ee="), "\u00a0\u3000"


Reader = Callable[[Sequence[Any]], list[Any]]


class Values(list[Any]):
    """A column's values, of the first of which it is known how readers read them."""

    def __init__(self, values: Sequence[Any] = ()) -> None:
        super().__init__(values)
        self.known: dict[Reader, list[Any]] = {}

    def look(self) -> None:
        """Read them as cells of their kind are read: while a sheet's next rows are still taken in, nobody waits for it."""
        last = self[-1] if self else None
        of_text = (tickets, named) if last.__class__ is str and _are_tickets([last]) else (texts,)
        for reader in (money,) if last.__class__ is float else of_text:
            self.known[reader] = reader(self)

    def add(self, more: "Values") -> None:
        """Put others behind them."""
        for reader, known in more.known.items():
            if len(mine := self.known.setdefault(reader, [])) == len(self):
                mine += known
        self += more

    def read(self, reader: Reader) -> list[Any]:
        """Each value as a reader reads it."""
        known = self.known.get(reader, [])
        return [*known, *reader(self[len(known) :])]


def at_sight(reader: Reader, values: Sequence[Any]) -> list[Any]:
    """Each value as a reader reads it."""
    return values.read(reader) if isinstance(values, Values) else reader(values)


def tickets(values: Sequence[Any]) -> list[str | None]:
    """Texts of 13 digits; looked at by hundreds, because a month's are nearly all of that kind."""
    found: list[str | None] = []
    for begin in range(0, len(values), _TOGETHER):
        some = values[begin : begin + _TOGETHER]
        found += some if _are_tickets(some) else [value if _are_tickets([value]) else None for value in some]
    return found


def _are_tickets(values: Sequence[Any]) -> bool:
    try:
        text = "".join(values)
    except TypeError:  # a number is among them
        return False
    return text.isascii() and text.isdecimal() and set(map(len, values)) == {13}


def named(values: Sequence[Any]) -> list[bool]:
    """Which cells are a ticket's number, hyphen or not, and so no part of a total or of a note."""
    found: list[bool] = []
    for begin in range(0, len(values), _TOGETHER):
        some = values[begin : begin + _TOGETHER]
        found += [True] * len(some) if _are_tickets(some) else map(_is_ticket, some)
    return found


def _is_ticket(cell: Any) -> bool:
    if isinstance(cell, str):
        return _TICKET.fullmatch(cell) is not None
    return isinstance(cell, float) and 1e12 <= cell < 1e13


def texts(values: Sequence[Any]) -> list[str | None]:
    """Texts without the spaces at their ends."""
    try:
        stripped = [*map(str.strip, values)]
    except TypeError:  # a number is among them
        stripped = [value.strip() if value.__class__ is str else "#" for value in values]
    found = [None if text[:1] in _ODD_BEGINNINGS else text for text in stripped]
    together = "".join(stripped)
    if any(space in together for space in _SPACES):
        return [None if text is None or any(space in text for space in _SPACES) else text for text in found]
    return found


def money(values: Sequence[Any]) -> list[int | None]:
    """Numbers of at most two decimals, as whole minor units; what is not above zero is left to a closer look."""
    numbers = np.array([value if value.__class__ is float else np.nan for value in values], dtype=np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        minor = np.rint(numbers * MINOR)
        plain = (minor / MINOR == numbers) & (minor > 0) & (minor <= LARGEST_MONEY)
    found: list[int | None] = np.where(plain, minor, 0).astype(np.int64).tolist()
    for index in np.flatnonzero(~plain):
        found[index] = None
    return found
