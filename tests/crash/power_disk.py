"""A disk that loses power: what is on it for sure, and what may be on it besides.

The model is meaner than a real disk, and fair to what is promised of one:

- What was synced is there. Of what a file was asked since its last sync, any part may have arrived, in any
  order: whole writes, single sectors of 512 bytes of them, changes of its size or not.
- A sector that was being written may hold garbage, and one that is new to its file also zeros or what an
  older file had there; but a write never damages the bytes beside it (SQLite's "powersafe overwrite").
- A name (of a file or a folder) that was made, moved or removed is sure once its folder was synced, not by
  a sync of the file itself. Until then any of these changes may have happened, each whole.
"""

import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SECTOR = 512
#: The node of every folder; what is in it is a matter of names.
FOLDER = 0

_Older = Callable[[int, int, random.Random], bytes]


@dataclass(frozen=True, slots=True)
class Write:
    """Bytes were written to a file."""

    node: int
    at: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Resize:
    """A file was cut or made longer."""

    node: int
    size: int


@dataclass(frozen=True, slots=True)
class Name:
    """A path came to name this file, or, with None, nothing; with `old`, it had that other path before."""

    path: str
    node: int | None
    old: str = ""

    @property
    def folder(self) -> str:
        """The folder whose sync makes it sure; renaming is within one folder."""
        return self.path.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class Synced:
    """A file's contents and size are on the disk."""

    node: int


@dataclass(frozen=True, slots=True)
class FolderSynced:
    """The names in a folder are on the disk."""

    folder: str


Event = Write | Resize | Name | Synced | FolderSynced


@dataclass(frozen=True)
class Image:
    """What is found after a power cut: names and contents. Two names may have one content (hard links)."""

    names: dict[str, int] = field(default_factory=dict)
    contents: dict[int, bytes] = field(default_factory=dict)

    @property
    def key(self) -> int:
        """Equal images have equal keys."""
        return hash(tuple(sorted((path, self.contents.get(node)) for path, node in self.names.items())))

    def put(self, root: Path) -> None:
        """Make these files in an empty folder."""
        made: dict[int, str] = {}
        for path in sorted(self.names):
            node, place = self.names[path], f"{root}/{path}"
            if node == FOLDER:
                os.mkdir(place, 0o700)  # noqa: PTH102 - done so often that Path takes too long
            elif node in made:
                os.link(made[node], place)
            else:
                handle = os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
                try:
                    os.write(handle, self.contents[node])
                finally:
                    os.close(handle)
                made[node] = place


class Live:
    """Files as running programs see them: everything that was asked of the disk has happened."""

    def __init__(self, start: Image) -> None:
        self.names = dict(start.names)
        self.contents = {node: bytearray(data) for node, data in start.contents.items()}

    def apply(self, event: Event) -> None:
        match event:
            case Write() | Resize():
                _do(self.contents.setdefault(event.node, bytearray()), event)
            case Name():
                _rename(self.names, event)
                if event.node:
                    self.contents.setdefault(event.node, bytearray())
            case Synced() | FolderSynced():
                pass

    def image(self) -> Image:
        """What a program finds that starts now."""
        named = {node for node in self.names.values() if node != FOLDER}
        return Image(dict(self.names), {node: bytes(self.contents[node]) for node in named})


def _do(content: bytearray, event: Write | Resize) -> None:
    if isinstance(event, Resize):
        _resize(content, event.size)
        return
    if len(content) < event.at:
        _resize(content, event.at)
    content[event.at : event.at + len(event.data)] = event.data


def _resize(content: bytearray, size: int, filling: bytes = b"") -> None:
    if size <= len(content):
        del content[size:]
    else:
        content += filling[: size - len(content)].ljust(size - len(content), b"\0")


def _rename(names: dict[str, int], event: Name) -> None:
    if event.old:
        names.pop(event.old, None)
    if event.node is None:
        names.pop(event.path, None)
    else:
        names[event.path] = event.node


@dataclass(frozen=True)
class Kind:
    """How what was not synced has fared.

    `writes` is the share of whole writes that arrived (of those, `sectors` the share of their sectors);
    `ordered`: the first ones arrived and the others did not; `filled`: what is in sectors that did not;
    `resized`: whether the size may differ from what arrived.
    """

    name: str
    writes: float = 1.0
    sectors: float = 1.0
    ordered: bool = False
    but_one: bool = False
    filled: str = ""
    resized: bool = True

    def share(self, after_last: int, chance: random.Random, *, missing: bool) -> float:
        """Of one thing that was asked: how much of it arrives; `after_last` is 0 for the last in order."""
        if self.ordered:
            return 1.0 if after_last < 0 else self.sectors % 1 if after_last == 0 else 0.0
        if (self.but_one and missing) or chance.random() >= self.writes:
            return 0.0
        return self.sectors


KINDS = (
    Kind("nothing arrived", writes=0),
    Kind("everything arrived", resized=False),
    Kind("the first ones arrived", ordered=True),
    Kind("the first ones, the last of them torn", ordered=True, sectors=0.5),
    Kind("some writes", writes=0.5),
    Kind("few sectors", sectors=0.2),
    Kind("half of the sectors", sectors=0.5),
    Kind("most sectors", sectors=0.9),
    Kind("all but one", but_one=True),
    Kind("some sectors, others zeros", sectors=0.5, filled="zeros"),
    Kind("some sectors, others garbage", sectors=0.5, filled="garbage"),
    Kind("some sectors, others of older files", sectors=0.5, filled="older"),
)
MIXED = "another way for each file"


class Disk:
    """The disk in the course of a recording: what is sure, and what was asked since."""

    def __init__(self, start: Image, events: Sequence[Event]) -> None:
        self._events = events
        self._at = 0
        self._names = dict(start.names)
        self._contents = {node: bytearray(data) for node, data in start.contents.items()}
        self._frozen: dict[int, bytes] = dict(start.contents)
        self._asked: dict[int, list[Write | Resize]] = {}
        self._renamed: list[Name] = []

    def advance(self, cut: int) -> None:
        """Go on to a moment: after so many events."""
        while self._at < cut:
            self._take(self._events[self._at])
            self._at += 1

    def _take(self, event: Event) -> None:
        match event:
            case Write() | Resize():
                self._asked.setdefault(event.node, []).append(event)
            case Name():
                self._renamed.append(event)
                if event.node:
                    self._contents.setdefault(event.node, bytearray())
            case Synced(node):
                if asked := self._asked.pop(node, None):
                    for each in asked:
                        _do(self._contents[node], each)
                    self._frozen.pop(node, None)
            case FolderSynced(folder):
                for name in self._renamed:
                    if name.folder == folder:
                        _rename(self._names, name)
                self._renamed = [name for name in self._renamed if name.folder != folder]

    def lost_power(self, kind: Kind | None, chance: random.Random) -> Image:
        """One of the states that may be found if the power fails now; kind None: each file its own way."""
        names = dict(self._names)
        for event in _arrived_names(self._renamed, kind or chance.choice(KINDS), chance):
            _rename(names, event)
        for path in list(names):
            folder = path
            while folder := folder.rpartition("/")[0]:
                if folder not in names:
                    names.pop(path, None)
        contents = {node: self._content(node, kind, chance) for node in set(names.values()) - {FOLDER}}
        return Image(names, contents)

    def _content(self, node: int, kind: Kind | None, chance: random.Random) -> bytes:
        if node in self._asked:
            content = bytearray(self._contents[node])
            _arrive(content, self._asked[node], kind or chance.choice(KINDS), chance, self._older)
            return bytes(content)
        if node not in self._frozen:
            self._frozen[node] = bytes(self._contents[node])
        return self._frozen[node]

    def _older(self, at: int, size: int, chance: random.Random) -> bytes:
        """What some file had at that place once: disks give freed sectors to new files as they are."""
        for _ in range(20):
            event = self._events[chance.randrange(self._at)]
            if isinstance(event, Write) and event.at <= at and event.at + len(event.data) >= at + size:
                return event.data[at - event.at : at - event.at + size]
        return chance.randbytes(size)


def _arrived_names(asked: Sequence[Name], kind: Kind, chance: random.Random) -> list[Name]:
    if kind.ordered:
        return list(asked[: chance.randint(0, len(asked))])
    if kind.but_one and asked:
        missing = chance.randrange(len(asked))
        return [name for number, name in enumerate(asked) if number != missing]
    return [name for name in asked if chance.random() < kind.writes * kind.sectors]


def _arrive(
    content: bytearray,
    asked: Sequence[Write | Resize],
    kind: Kind,
    chance: random.Random,
    older: _Older,
) -> None:
    """Let a part of what was asked of a file happen to its content."""
    sizes = _sizes(len(content), asked)
    first = chance.randint(0, len(asked))
    missing = chance.randrange(len(asked))
    for index, event in enumerate(asked):
        share = kind.share(index - first, chance, missing=index == missing)
        if isinstance(event, Write) and share < 1:
            _tear(content, event, share, _Filling(kind.filled, min(sizes), older), chance)
        elif chance.random() < share:
            _do(content, event)
    if kind.resized and chance.random() < 0.3:
        # The size is a matter of its own: it may be that of any moment since, whatever else arrived.
        _resize(content, chance.choice(sizes), chance.randbytes(SECTOR) if kind.filled == "garbage" else b"")


def _sizes(size: int, asked: Sequence[Write | Resize]) -> list[int]:
    sizes = [size]
    for event in asked:
        size = event.size if isinstance(event, Resize) else max(size, event.at + len(event.data))
        sizes.append(size)
    return sizes


@dataclass(frozen=True)
class _Filling:
    """What is in sectors that did not arrive; those before `old` were the file's already."""

    filled: str
    old: int
    older: _Older

    def data(self, at: int, size: int, chance: random.Random) -> bytes | None:
        """The bytes, None for those that were there before."""
        if not self.filled or chance.random() < 0.5:
            return None
        if self.filled == "garbage":
            return chance.randbytes(size)
        if at < self.old:
            return None
        return bytes(size) if self.filled == "zeros" else self.older(at, size, chance)


def _tear(content: bytearray, event: Write, share: float, filling: _Filling, chance: random.Random) -> None:
    """Let some sectors of a write arrive; others stay as they were, or hold something else."""
    if not share and not filling.filled:
        return
    end = event.at + len(event.data)
    start = event.at
    while start < end:
        stop = min(end, (start // SECTOR + 1) * SECTOR)
        if chance.random() < share:
            data: bytes | None = event.data[start - event.at : stop - event.at]
        else:
            data = filling.data(start, stop - start, chance)
        if data is not None:
            _do(content, Write(event.node, start, data))
        start = stop
