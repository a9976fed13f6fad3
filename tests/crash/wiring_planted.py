"""Which planted bug is switched on, and which were reached: the part of wiring_mutants that is in all processes.

It is copied beside the packages of an environment of the mutants' own, whose copy of the program calls it where a bug is
planted. The switch and what was reached are a file that every process of that environment maps, so that children with an
environment of their own obey it, too, and tests that kill processes lose nothing. (Bug 0 is none.)
"""

import mmap
import os
import sys
from typing import Any

#: Beside the environment that this file was copied into.
SWITCH = os.path.join(os.path.dirname(sys.prefix), "switch")  # noqa: PTH118, PTH120 - quick: at every start
_SIZE = 1 << 16
_FIRST = 8  # bytes before those that tell what was reached: the number switched on, and whether to record

if os.path.basename(os.path.dirname(__file__)) == "site-packages":  # noqa: PTH119, PTH120 - as above
    _descriptor = os.open(SWITCH, os.O_RDWR | os.O_CREAT, 0o600)
    if os.fstat(_descriptor).st_size != _SIZE:
        os.ftruncate(_descriptor, _SIZE)
    _mapped = memoryview(mmap.mmap(_descriptor, _SIZE))
    os.close(_descriptor)
else:  # pytest looks for examples in it: nothing is planted there, and no file is to appear beside the tests
    _mapped = memoryview(mmap.mmap(-1, _SIZE))
_PLAIN = str | bytes | int | float | tuple | list | dict | set | frozenset | None
_on = _mapped[:8].cast("I")
_reached = _mapped[_FIRST:]


def switch(number: int, *, record: bool = False) -> None:
    """Switch one bug on in all processes, or none; and note from now on what is reached, or not."""
    _on[0], _on[1] = number, record


def taken() -> set[int]:
    """The bugs reached since this was last asked: those that would have changed something."""
    seen = bytes(_reached)
    found = {number for number in range(len(seen)) if seen[number]} if any(seen) else set()
    for number in found:
        _reached[number] = 0
    return found


def _emptied(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    try:
        return type(value)()
    except Exception:  # noqa: BLE001 - no defaults
        return None


def empty(number: int, value: Any) -> Any:
    """An argument: emptied, if this bug is on."""
    if _on[0] == number:
        return _emptied(value)
    if _on[1]:
        _reached[number] |= isinstance(value, bool) or not (isinstance(value, _PLAIN) and not value)
    return value


def false(number: int, value: Any) -> Any:
    """A condition: not met, if this bug is on."""
    if _on[0] == number:
        return False
    if _on[1] and value:
        _reached[number] = 1
    return value


def true(number: int, value: Any) -> Any:
    """A condition: met, if this bug is on."""
    if _on[0] == number:
        return True
    if _on[1] and not value:
        _reached[number] = 1
    return value


def left_out(number: int) -> bool:
    """Whether something is left out: a keyword argument, an operand, a call."""
    if _on[1]:
        _reached[number] = 1
    return _on[0] == number
