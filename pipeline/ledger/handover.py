"""A ledger that was copied elsewhere and goes on there: closed for good, and kept for reading.

What closes it is a gap, for it lacks whatever is issued from then on: so the database itself lets nothing be sent with it, in the hands of
an older program too. This one is closed by nothing.
"""

from collections.abc import Iterable

import apsw

from pipeline.model.errors import InputProblem
from pipeline.model.message import N_, Message, from_text, message

_COPIED = N_("it was copied to {to}, which goes on in its place")


def copied_to(to: str) -> Message:
    """Why a ledger that was copied to `to` (a path or an address) lacks what is issued from now on."""
    return message(_COPIED, to=to)


def successor(whys: Iterable[str]) -> str:
    """Where a ledger was copied to, by the reasons of its open gaps as they are kept; "" for one that goes on itself."""
    for why in map(from_text, whys):
        if why.text == _COPIED:
            return str(why.facts["to"])
    return ""


def successor_of(connection: apsw.Connection) -> str:
    """The same of a ledger's file."""
    return successor(why for (why,) in connection.execute("SELECT why FROM gap WHERE closed_at IS NULL"))


def check_goes_on(name: str, to: str) -> None:
    """Raise InputProblem for a ledger that was copied to `to`."""
    if to:
        raise InputProblem(
            "{path}: was copied to {to}, which goes on in its place, so that nothing is changed here any more; name that one with --ledger."
            " What was in it by then can still be read",
            path=name,
            to=to,
        )
