"""The process that looks into files (`container_child`): started when it is needed, ended when it is silent, and what it says checked."""

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from pipeline.bounded_process import Said, end, started
from pipeline.itinerary_files import container_bounds as bounds
from pipeline.itinerary_files.container_bounds import Refused, Seen
from pipeline.model.itinerary_file import FileStatus, FoundFile
from pipeline.model.message import Message
from pipeline.process_bounds import framed
from pipeline.signals import put_off

CHILD = Path(__file__).with_name("container_child.py")
#: What it may say at once: a content, and what follows it.
_MOST = bounds.LARGEST_FILE + 4 * bounds.MIB


class ContainerProcess:
    """Looks into one file after another. To be used as a context, at whose end the process has ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def found_in(self, path: Path, name: str) -> Iterator[FoundFile]:
        """What is found in one file, at least one thing; `name` is the file's for people.

        What ends the process, silences it, or makes it say what it does not say is a finding, after what was found before.
        """
        whole = False
        try:
            self._ask(path)
            for frame in self._frames():
                if frame.get("reason") == Seen.MEMORY:  # it is not to be relied on any more
                    raise Refused(Seen.MEMORY)  # noqa: TRY301 - as where it ends by itself
                yield _checked(frame, self._next(), name)
            whole = True
        except Refused as refused:
            yield refused.found((name,))
        except (KeyError, TypeError, ValueError, AttributeError):  # it says what it does not say
            yield Refused(Seen.ENDED).found((name,))
        finally:
            if not whole:
                self._end()

    def _ask(self, path: Path) -> None:
        named = os.fsencode(path.absolute())
        if self._process is None or self._process.poll() is not None:
            self._end()
            try:
                with put_off():  # it would be left behind
                    self._process = started(CHILD, stdin=subprocess.PIPE)
                    self._said = Said(self._process)
            except KeyboardInterrupt:
                self._end()
                raise
        assert self._process.stdin  # noqa: S101 - it is a pipe
        with contextlib.suppress(
            BrokenPipeError
        ):  # it has ended, which is seen when it is asked what it found
            self._process.stdin.write(framed(named))
            self._process.stdin.flush()

    def _frames(self) -> Iterator[dict[str, Any]]:
        """What is said of each thing found, before its content. Raises Refused and ValueError."""
        found = 0
        while frame := json.loads(self._next()):
            yield frame
            found += 1
        if not found:
            raise Refused(Seen.ENDED)

    def _next(self) -> bytes:
        """The next thing that it says. Raises Refused where it says nothing for too long."""
        try:
            return self._said.next(time.monotonic() + bounds.SILENT_SECONDS, _MOST)
        except TimeoutError:
            raise Refused(Seen.TIME, most=bounds.SILENT_SECONDS) from None

    def _end(self) -> None:
        if self._process:
            end(self._process)
        self._process = None


def _checked(frame: dict[str, Any], content: bytes, name: str) -> FoundFile:
    """What was found, of texts of ours and names alone. Raises KeyError, TypeError, ValueError."""
    if len(content) != frame["size"]:  # it was cut off
        raise ValueError
    place = (name, *map(str, frame["place"]))
    if "problem" not in frame:
        return FoundFile(place, content)
    facts = {str(key): int(number) for key, number in frame["facts"].items()}
    return FoundFile(
        place, problem=FileStatus(frame["problem"]), reason=Message(Seen(frame["reason"]), facts)
    )
