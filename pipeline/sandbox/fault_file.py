"""How the sandbox is told to misbehave: faults from a TOML file, whose kinds and keys stand in handbook/sandbox.en.md.

Only requests that are well-formed and carry the right key count. They are counted for each fault by itself, of those that match its
`operation` and ask for one of its `tickets` at least; where it chooses none of them, all are hit.
"""

import math
import random
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self, cast

from pipeline.file_reading import said_by, settings_text, toml_problem
from pipeline.model.errors import InputProblem
from pipeline.model.message import Message, joined, message
from pipeline.sandbox.sold_tickets import plain_ticket_no

Operation = Literal["invoice", "itinerary"]

# Each kind's own keys, and whether they must be given.
_KIND_KEYS: dict[str, dict[str, bool]] = {
    "latency": {"seconds": True},
    "refuse": {"message": False},
    "http": {"status": True, "body": False, "retry_after": False, "location": False},
    "envelope": {"code": True, "message": False},
    "reset": {},
    "close": {},
    "garbage": {},
    "undecryptable": {},
    "nonsense": {},
    "wrong_ticket": {},
    "truncated": {},
    "file_late": {"seconds": True},
    "file_never": {},
    "file_twice": {},
    "file_wrong_buyer": {},
    "file_wrong_amount": {},
    "file_altered": {},
    "file_unsealed": {},
    "file_link_only": {},
    "file_zip": {},
    "file_red": {},
}
_OF_FILES = "file_"
_SELECTORS = ("every", "first", "requests", "probability")
_OF_REQUESTS = ("when", "operation")
_SHARED_KEYS = ("kind", *_OF_REQUESTS, "tickets", *_SELECTORS)


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault; the fields are the file's keys (see the module's docstring)."""

    kind: str
    when: Literal["before", "after"] = "before"
    operation: Literal["invoice", "itinerary", "both"] = "both"
    tickets: Collection[str] = ()
    every: int | None = None
    first: int | None = None
    requests: Collection[int] | None = None
    probability: float | None = None
    seconds: float = 0
    status: int = 500
    body: str = ""
    retry_after: int | None = None
    location: str = ""
    code: int = 500
    message: str = ""

    @property
    def of_file(self) -> bool:
        """Whether it befalls the file that is mailed, not the answer."""
        return self.kind.startswith(_OF_FILES)


@dataclass(frozen=True)
class Strike:
    """What befalls one request."""

    fault: Fault | None = None
    seconds_before: float = 0
    seconds_after: float = 0

    def hits(self, when: Literal["before", "after"]) -> Fault | None:
        """Give the fault, if this is its time."""
        return self.fault if self.fault is not None and self.fault.when == when else None


@dataclass(frozen=True)
class FileStrike:
    """What befalls the file of one itinerary: kinds without `file_`, and how many seconds later it is mailed."""

    kinds: frozenset[str] = frozenset()
    seconds: float = 0


class Faults:
    """The faults of one file, and how many requests each has seen."""

    def __init__(self, faults: Sequence[Fault] = (), seed: int = 0) -> None:
        self._faults = tuple(faults)
        self._seen = [0] * len(self._faults)
        # A generator to a fault, so that adding one at the end leaves the others' choices alone.
        self._random = [random.Random(f"{seed}/{ordinal}") for ordinal in range(len(self._faults))]  # noqa: S311 - faults repeat, nothing is secret

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read the faults of a TOML file; InputProblem names what is wrong with it."""
        try:
            content = tomllib.loads(settings_text(path))
        except OSError as error:
            raise InputProblem(
                "{file}: can't be read ({problem}): check the path", file=str(path), problem=said_by(error)
            ) from None
        except (ValueError, RecursionError) as error:
            raise InputProblem(
                "{file}: is not TOML ({problem}): correct it", file=str(path), problem=toml_problem(error)
            ) from None
        for key in content.keys() - {"seed", "fault"}:
            raise InputProblem(
                "{file}: unknown key {key}: only seed and [[fault]] tables are known",
                file=str(path),
                key=repr(key),
            )
        seed, tables = content.get("seed", 0), content.get("fault", [])
        if not _whole(seed):
            raise InputProblem("{file}: seed must be a whole number", file=str(path))
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise InputProblem("{file}: fault must be written as [[fault]] tables", file=str(path))
        faults = [
            _fault(table, message("{file}: fault {number}", file=str(path), number=number))
            for number, table in enumerate(tables, start=1)
        ]
        return cls(faults, cast("int", seed))

    def strike(self, operation: Operation, ticket_nos: Sequence[str]) -> Strike:
        """Count one request, and say what befalls it."""
        struck = self._struck(
            ticket_nos, lambda fault: not fault.of_file and fault.operation in (operation, "both")
        )
        latencies = [fault for fault in struck if fault.kind == "latency"]
        return Strike(
            next((fault for fault in struck if fault.kind != "latency"), None),
            sum(fault.seconds for fault in latencies if fault.when == "before"),
            sum(fault.seconds for fault in latencies if fault.when == "after"),
        )

    def strike_file(self, ticket_no: str) -> FileStrike:
        """Count one itinerary that is issued, and say what befalls its file."""
        struck = self._struck([ticket_no], lambda fault: fault.of_file)
        return FileStrike(
            frozenset(fault.kind.removeprefix(_OF_FILES) for fault in struck),
            sum(fault.seconds for fault in struck),
        )

    @property
    def first_of_files(self) -> str:
        """The kind of the first fault that is about files; blank where there is none."""
        return next((fault.kind for fault in self._faults if fault.of_file), "")

    def _struck(self, ticket_nos: Sequence[str], aimed: Callable[[Fault], bool]) -> list[Fault]:
        """The faults of this aim that befall it; of each, one more is counted that it could befall."""
        numbers = {plain_ticket_no(ticket_no) for ticket_no in ticket_nos}
        return [
            fault
            for ordinal, fault in enumerate(self._faults)
            if aimed(fault)
            and (not fault.tickets or not numbers.isdisjoint(fault.tickets))
            and self._chosen(ordinal, fault)
        ]

    def _chosen(self, ordinal: int, fault: Fault) -> bool:
        self._seen[ordinal] += 1
        seen = self._seen[ordinal]
        if fault.every is not None:
            return seen % fault.every == 0
        if fault.first is not None:
            return seen <= fault.first
        if fault.requests is not None:
            return seen in fault.requests
        return fault.probability is None or self._random[ordinal].random() < fault.probability


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _from(least: int, most: float = math.inf) -> Callable[[object], bool]:
    return lambda value: _whole(value) and least <= cast("int", value) <= most


def _number(least: float, most: float) -> Callable[[object], bool]:
    # NaN is below and above nothing.
    return lambda value: (_whole(value) or isinstance(value, float)) and least <= cast("float", value) <= most


def _one_of(*words: str) -> Callable[[object], bool]:
    return lambda value: isinstance(value, str) and value in words


def _list_of(check: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and bool(value) and all(map(check, value))


def _text(value: object) -> bool:
    return isinstance(value, str)


def _header_text(value: object) -> bool:
    return isinstance(value, str) and value.isascii() and value.isprintable()


def _ticket(value: object) -> bool:
    return isinstance(value, str) and plain_ticket_no(value) is not None


_A_DAY = 86_400

# Each key's check, and the words for what it wants.
_KEYS: dict[str, tuple[Callable[[object], bool], Message]] = {
    "kind": (_one_of(*_KIND_KEYS), message("one of {kinds}", kinds=joined(_KIND_KEYS))),
    "when": (_one_of("before", "after"), message('"before" or "after"')),
    "operation": (_one_of("invoice", "itinerary", "both"), message('"invoice", "itinerary" or "both"')),
    "tickets": (_list_of(_ticket), message("a list of 13-digit ticket numbers, as texts")),
    "every": (_from(1), message("a whole number from 1")),
    "first": (_from(1), message("a whole number from 1")),
    "requests": (_list_of(_from(1)), message("a list of whole numbers from 1")),
    "probability": (_number(0, 1), message("a number from 0 to 1")),
    "seconds": (_number(0, _A_DAY), message("a number of seconds, a day at most")),
    "status": (_from(200, 599), message("an HTTP status from 200 to 599")),
    "body": (_text, message("a text")),
    "retry_after": (_from(0), message("a whole number of seconds")),
    "location": (_header_text, message("a web address")),
    "code": (_whole, message("a whole number")),
    "message": (_text, message("a text")),
}


def _fault(table: Mapping[str, object], where: Message) -> Fault:
    """One fault from its table, every key and value checked."""
    kind = table.get("kind")
    own = _KIND_KEYS.get(kind, {}) if isinstance(kind, str) else {}
    for key, value in table.items():
        if key not in _KEYS:
            raise InputProblem(
                "{place}: unknown key {key}: known are {keys}", place=where, key=repr(key), keys=joined(_KEYS)
            )
        fits, wanted = _KEYS[key]
        if not fits(value):
            raise InputProblem("{place}: {key} must be {wanted}", place=where, key=key, wanted=wanted)
    for key in ("kind", *(key for key, needed in own.items() if needed)):
        if key not in table:
            raise InputProblem(
                "{place}: lacks {key}: add {key}, which is {wanted}",
                place=where,
                key=key,
                wanted=_KEYS[key][1],
            )
    shared = [key for key in _SHARED_KEYS if key not in _OF_REQUESTS or not str(kind).startswith(_OF_FILES)]
    for key in table.keys() - {*shared, *own}:
        raise InputProblem(
            "{place}: {key} has no meaning for {kind}: remove it", place=where, key=key, kind=str(kind)
        )
    if kind == "refuse" and table.get("when") == "after":
        raise InputProblem('{place}: when must be "before": what is issued can\'t be refused', place=where)
    selectors = [key for key in _SELECTORS if key in table]
    if len(selectors) > 1:
        raise InputProblem(
            "{place}: {keys} exclude each other: keep one", place=where, keys=joined(selectors, "and")
        )
    values = dict(table)
    if "tickets" in values:
        tickets = cast("list[str]", values["tickets"])
        values["tickets"] = frozenset(map(plain_ticket_no, tickets))
    return Fault(**cast("dict[str, Any]", values))
