"""What must hold in every state that a power cut left, seen with the product's own eyes.

Looked at: the file is sound, and its contents are exactly one of the states that commits made: the last
acknowledged one, or a later one whose commit had begun. Then it is opened for a run and put in order, as the
next start does: every attempt ends as what was on disk says it must, and all that was promised is there.
"""

import base64
import bisect
import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from pipeline.ledger import integrity_check, opening
from pipeline.ledger.recovery import Recovered, recover
from pipeline.ledger.spill import spill_path, spilled
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.outcome import Answered, Outcome
from tests import next_version
from tests.crash.power_disk import Image
from tests.crash.power_life import OWNER, meaning, recovered_meaning
from tests.crash.power_recorder import Acknowledged, Attempts, Dump, Recording, attempts, dump, rows

#: What can be wrong with an image; `lost`: something acknowledged is not there.
WRONGS = ("lost", "partial", "corrupt", "refused", "misjudged")


class Wrong(Exception):
    """A promise that does not hold; `kind` is one of WRONGS."""

    def __init__(self, kind: str, what: str) -> None:
        self.kind = kind
        super().__init__(f"{kind}: {what}")


@dataclass
class Promises:
    """What had been promised at each moment of a recording."""

    recording: Recording
    _since: list[int] = field(init=False)
    _told: list[int] = field(init=False)
    _seen: list[int] = field(init=False)
    _attempts: list[Attempts] = field(init=False)

    def __post_init__(self) -> None:
        self._told = [promise.at for promise in self.recording.acknowledged]
        self._seen = [at for at, _ in self.recording.states]
        self._attempts = [attempts(state) for _, state in self.recording.states]
        self._since = []
        for promise in self.recording.acknowledged:
            first = self._first(promise)
            self._since.append(max(first, self._since[-1] if self._since else 0))

    def _first(self, promise: Acknowledged) -> int:
        """The number of the first state that has what was acknowledged."""
        if isinstance(promise.since, int):
            return promise.since
        for number, found in enumerate(self._attempts):
            if promise.since(found):
                return number
        raise Wrong("lost", f"{promise.what} was acknowledged and never committed")

    def at(self, cut: int) -> list[Acknowledged]:
        """Everything that was acknowledged before the cut."""
        return self.recording.acknowledged[: bisect.bisect_right(self._told, cut)]

    def first_allowed(self, cut: int) -> int:
        """The number of the first state that has everything that was acknowledged before the cut."""
        told = bisect.bisect_right(self._told, cut)
        return self._since[told - 1] if told else 0

    def last_allowed(self, cut: int) -> int:
        """The number of the last state whose commit may have begun before the cut."""
        return min(bisect.bisect_right(self._seen, cut), len(self._seen) - 1)


def check(promises: Promises, cut: int, image: Image, looking: Path, opened: Path, *, thorough: bool) -> bool:
    """Raise Wrong if a promise is broken in this image; False if there was no ledger yet, and none promised.

    `looking` and `opened` are empty folders, and are empty again afterwards. `thorough`: what the next start
    has put in order is sound as a whole too, and the start after it finds nothing to do.
    """
    with next_version.program(promises.recording.versions_later):
        if promises.recording.ledger in image.names:
            _check_ledger(promises, cut, image, looking, opened, thorough=thorough)
            return True
        if told := promises.at(cut):
            raise Wrong("lost", f"the ledger itself; acknowledged: {told[-1].what}")
        with _placed(image, opened):
            _opened(opened / promises.recording.ledger, may_create=True)
        return False


def _check_ledger(
    promises: Promises, cut: int, image: Image, looking: Path, opened: Path, *, thorough: bool
) -> None:
    name = promises.recording.ledger
    with _placed(image, looking):
        found = _looked_at(looking / name)
    _check_state(promises, cut, found)
    with _placed(image, opened):
        after = _check_next_start(promises, cut, found, opened / name)
        if thorough:
            again, last = _opened(opened / name, may_create=False)
            if again != Recovered() or last != after or _looked_at(opened / name) != after:
                raise Wrong("misjudged", f"a second start finds something again: {again}")


@contextlib.contextmanager
def _placed(image: Image, folder: Path) -> Iterator[None]:
    image.put(folder)
    try:
        yield
    finally:
        _empty(str(folder))


def _empty(folder: str) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                _empty(entry.path)
                os.rmdir(entry.path)  # noqa: PTH106 - done so often that Path takes too long
            else:
                os.unlink(entry.path)  # noqa: PTH108


@contextlib.contextmanager
def as_wrong() -> Iterator[None]:
    """The ways in which the product refuses a ledger, as what they mean here: none of them may happen."""
    try:
        yield
    except InputProblem as problem:
        kind = "corrupt" if "damaged" in str(problem) else "refused"
        raise Wrong(kind, str(problem)) from None
    except LedgerProblem as problem:
        raise Wrong("corrupt" if "damaged" in str(problem) else "refused", str(problem)) from None
    except apsw.Error as error:
        raise Wrong("corrupt", f"{type(error).__name__}: {error}") from None


def _looked_at(path: Path) -> Dump:
    """What the ledger says, whole and sound, by the product's own look at all of it."""
    with as_wrong():
        connection = opening.open_for_reading(path, OWNER)
        if connection is None:
            raise Wrong("lost", "the ledger, though its name is there")
        try:
            if wrong := list(integrity_check._wrong(connection)):
                raise Wrong("corrupt", "; ".join(map(str, wrong)))
            return dump(connection)
        finally:
            connection.close()


def _check_state(promises: Promises, cut: int, found: Dump) -> None:
    states = promises.recording.states
    first, last = promises.first_allowed(cut), promises.last_allowed(cut)
    if any(states[number][1] == found for number in range(last, first - 1, -1)):
        return
    for number in range(first - 1, -1, -1):
        if states[number][1] == found:
            missing = next(
                p.what for p, s in zip(promises.at(cut), promises._since, strict=False) if s > number
            )
            raise Wrong("lost", f"{missing}, with state {number} of at least {first}")
    raise Wrong("partial", f"what is found is none of the states {first} to {last}")


def _opened(path: Path, *, may_create: bool) -> tuple[Recovered, Dump]:
    """What the next start finds, and what the ledger says when that has put it in order."""
    folder = path.parents[1] if path.parent.name == "books" else path.parent
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    with as_wrong():
        connection, lock = opening.open_for_run(path, OWNER, may_create=may_create)
        try:
            found = recover(connection, path, lock, recovered_meaning)
            return found, dump(connection)
        finally:
            connection.close()
            lock.close()


def _check_next_start(promises: Promises, cut: int, before: Dump, path: Path) -> Dump:
    entries = list(spilled(spill_path(path), rows(before, "ledger")[0]["ledger_id"]))
    _, after = _opened(path, may_create=False)
    expected, actual = put_in_order(before, entries), _by_key(after)
    for table in before:
        if expected[table].keys() != actual[table].keys():
            odd = sorted(expected[table].keys() ^ actual[table].keys())
            raise Wrong("misjudged", f"the next start leaves other rows in {table}: {odd[:5]}")
        for key, row in expected[table].items():
            if row.items() - actual[table][key].items():
                raise Wrong("misjudged", f"the next start makes {actual[table][key]} of what must be {row}")
    kept = attempts(after)
    for promise in promises.at(cut):
        if not promise.kept(kept):
            raise Wrong("lost", f"{promise.what}, after the next start")
    return after


_Rows = dict[str, dict[tuple[Any, ...], dict[str, Any]]]
_KEYS = ("attempt", "run", "charge")


def _by_key(found: Dump) -> _Rows:
    """The rows of each table by its key; of tables without one here, by the whole row."""
    return {
        table: {
            tuple(row.values()) if table not in _KEYS else _key(table, row): row for row in rows(found, table)
        }
        for table in found
    }


def _key(table: str, row: dict[str, Any]) -> tuple[Any, ...]:
    names = ("attempt_id", "ticket_no", "charge", "product") if table == "charge" else (f"{table}_id",)
    return tuple(row[name if name in row else table] for name in names)


def put_in_order(before: Dump, entries: list[dict[str, Any]]) -> _Rows:
    """What a start must make of a ledger and its spill file, said once more and differently.

    Rows that it does not touch must stay as they are; of those that it changes, what matters is here.
    """
    expected = _by_key(before)
    for entry in entries:
        row = expected["attempt"].get((entry["attempt_id"],), {"state": None})
        if row["state"] == "sending":
            _take_in(row, entry)
    ended = {row["attempt_id"]: _ended(row) for row in expected["attempt"].values()}
    expected["attempt"] = {(number,): row for number, row in ended.items() if row["state"] != "planned"}
    expected["charge"] = {
        key: {**row, "live": int(ended[row["attempt_id"]]["state"] in ("issued", "unknown"))}
        for key, row in expected["charge"].items()
        if ended[row["attempt_id"]]["state"] != "planned"
    }
    for row in expected["run"].values():
        if row["ended_at"] is None:
            del row["ended_at"]
    return expected


def _take_in(row: dict[str, Any], entry: dict[str, Any]) -> None:
    if "body" in entry:
        row["answer"] = base64.b64decode(entry["body"])
        for name in ("http_status", "retry_after", "answered_at"):
            row.pop(name, None)
    elif "never_sent" in entry:
        _end(row, Outcome("not_sent", "run_stopped"))
    else:
        _end(row, Outcome(entry["state"], entry["reason"], entry["number"]))


def _ended(row: dict[str, Any]) -> dict[str, Any]:
    if row["state"] == "sending":
        answer = row["answer"]
        _end(row, Outcome("unknown", "run_killed") if answer is None else meaning(Answered(200, answer)))
    return row


def _end(row: dict[str, Any], outcome: Outcome) -> None:
    row.update(state=outcome.state, reason=outcome.reason, number=outcome.number)
    for name in ("trace_id", "detail", "was_unknown", "ended_at"):
        del row[name]
