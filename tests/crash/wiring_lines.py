"""Which test runs which lines of the program, in whatever process: the part of wiring_mutants that is in all of them.

It is copied beside the packages of an environment of the mutants' own and imported at the start of each of its interpreters (a
.pth file), so that children with an environment of their own are seen too. Where there is nothing to record it does nothing.
Which test runs now is a number in a file that every process maps; a line is written out as soon as it is first seen, because
tests kill processes. A fixture that several tests share counts for each test that uses it. (PYTEST_DONT_REWRITE: it is imported before pytest.)
"""

import json
import os
import sys
import threading
from types import FrameType
from typing import Any

#: Where to record, if at all: beside the environment that this file was copied into.
_FOLDER = os.path.join(os.path.dirname(sys.prefix), "recorded")  # noqa: PTH118, PTH120 - quick: at every start
sys.dont_write_bytecode = not os.path.exists(_FOLDER)  # noqa: PTH110 - while mutants are tried


def emptied(value: Any) -> Any:
    """What an argument is emptied by."""
    if isinstance(value, bool):
        return not value
    try:
        return type(value)()
    except Exception:  # noqa: BLE001 - no defaults
        return None


class _Recorder:
    def __init__(self) -> None:
        import mmap  # noqa: PLC0415 - only where it is needed

        with open(f"{_FOLDER}/now", "r+b") as file:  # noqa: PTH123
            self._now = mmap.mmap(file.fileno(), 4)
        self._lines = os.open(f"{_FOLDER}/lines", os.O_WRONLY | os.O_APPEND)
        with open(f"{_FOLDER}/modules", encoding="utf-8") as file:  # noqa: PTH123
            self._modules = dict(line.split("\t") for line in file.read().splitlines())
        self._seen: set[tuple[bytes, str, int]] = set()
        self._names: dict[str, int] = {}

    def called(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        return self._line if frame.f_code.co_filename in self._modules else None

    def _line(self, frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line":
            now, name = self._now[:4], frame.f_code.co_filename
            if (now, name, frame.f_lineno) not in self._seen:
                self._seen.add((now, name, frame.f_lineno))
                number = int.from_bytes(now, "little")
                os.write(self._lines, f"{number}\t{self._modules[name]}\t{frame.f_lineno}\n".encode())
        return self._line

    def set_now(self, name: str) -> None:
        if name not in self._names:
            self._names[name] = len(self._names) + 1
            self.note(number=self._names[name], name=name)
        self._now[:4] = self._names[name].to_bytes(4, "little")

    def note(self, **what: Any) -> None:
        with open(f"{_FOLDER}/tests", "a", encoding="utf-8") as file:  # noqa: PTH123
            file.write(json.dumps(what) + "\n")


_recorder = _Recorder() if os.path.exists(_FOLDER) else None  # noqa: PTH110
if _recorder:
    sys.settrace(_recorder.called)
    threading.settrace(_recorder.called)


# What pytest calls where this is its plugin.


def _shared(definition: Any) -> str:
    return f"fixture {definition.argname} of {definition.baseid}"


def pytest_runtest_setup(item: Any) -> None:
    assert _recorder
    _recorder.set_now(item.nodeid)
    known = getattr(item, "_fixtureinfo", None)
    shared = [
        _shared(each)
        for definitions in (known.name2fixturedefs.values() if known else ())
        for each in definitions
        if each.scope != "function"
    ]
    _recorder.note(test=item.nodeid, shared=shared)


def pytest_fixture_setup(fixturedef: Any, request: Any) -> None:
    assert _recorder
    _recorder.set_now(request.node.nodeid if fixturedef.scope == "function" else _shared(fixturedef))


def pytest_runtest_call(item: Any) -> None:
    assert _recorder
    _recorder.set_now(item.nodeid)


def pytest_runtest_logreport(report: Any) -> None:
    assert _recorder
    _recorder.note(report=report.nodeid, outcome=report.outcome, seconds=report.duration)
