"""Records what the ledger's code asks of the disk: through a VFS of SQLite's, and through `os`.

The VFS is made the default one while it records, so that the product opens its files as it always does.
Each write, change of size, new name, removal and sync is noted when it has happened, and so is every state
that a commit made and every acknowledgement. A recording that missed something is refused: at its end, what
it says must be what the files hold. The recorder can also kill (from a moment on nothing more happens and
everything fails) and fill the disk.
"""

import contextlib
import ctypes
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import apsw

from tests.crash.power_disk import FOLDER, Event, FolderSynced, Image, Live, Name, Resize, Synced, Write

#: All rows of all tables, by table; the first row of each is the names of its columns.
Dump = dict[str, tuple[tuple[Any, ...], ...]]

_VFS = "recorder"
_FILES = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL
#: A real disk takes its time for a sync: who is told "done" too early can act on it before it is.
_SYNC_SECONDS = 0.001
_OPEN_DIRECTORY = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(ctypes.c_int))


_COLUMNS = """
SELECT tables.name, columns.name FROM sqlite_schema AS tables, pragma_table_info(tables.name, 'main') AS columns
WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%' ORDER BY tables.name, columns.cid
"""
_columns_of_version: dict[int, dict[str, tuple[str, ...]]] = {}


def dump(connection: apsw.Connection) -> Dump:
    """Everything that a ledger's file says. Tables are asked for once in each version of the ledger.

    Only the file's own: an older one that is opened for reading has temporary tables and views of what its version lacks.
    """
    version = connection.pragma("user_version")
    if version not in _columns_of_version:
        named: dict[str, tuple[str, ...]] = {}
        for table, column in connection.execute(_COLUMNS):
            named[table] = (*named.get(table, ()), column)
        _columns_of_version[version] = named
    return {
        table: (columns, *connection.execute(f'SELECT * FROM main."{table}"'))
        for table, columns in _columns_of_version[version].items()
    }


def rows(found: Dump, table: str) -> list[dict[str, Any]]:
    """The rows of a table by the names of its columns."""
    columns, *values = found.get(table, ((),))
    return [dict(zip(columns, row, strict=True)) for row in values]


#: Attempts by their ID and run (IDs of attempts that were never sent are given again), by column.
Attempts = dict[tuple[int, int], dict[str, Any]]


def attempts(found: Dump) -> Attempts:
    """All attempts of a ledger."""
    return {(row["attempt_id"], row["run"]): row for row in rows(found, "attempt")}


@dataclass(frozen=True)
class Acknowledged:
    """Somebody was told that something is on disk, after so many events.

    `since` is the first state that it must be in: its number, or what is true of the attempts there; `kept`
    is true of them as the next start has put them in order, however it got there (the spill file).
    """

    at: int
    what: str
    since: int | Callable[[Attempts], bool]
    kept: Callable[[Attempts], bool] = lambda _: True


@dataclass
class Recording:
    """What was asked of the disk, from a known state on, and what was promised meanwhile."""

    start: Image
    ledger: str
    events: list[Event] = field(default_factory=list)
    #: The ledger's states in their order, each with the number of events after which it was seen.
    states: list[tuple[int, Dump]] = field(default_factory=list)
    acknowledged: list[Acknowledged] = field(default_factory=list)
    phases: list[tuple[int, str]] = field(default_factory=list)
    #: By how many versions of the ledger the program is later than today's.
    versions_later: int = 0


class Recorder(apsw.VFS):
    """Records what happens to the files below a folder; `folder` may be another one for each process."""

    def __init__(self, start: Image, ledger: str, folder: Path) -> None:
        self.recording = Recording(start, ledger)
        self.live = Live(start)
        self.folder = folder
        self.dead = False
        self._nodes = max([0, *start.contents])
        self._dies_in = self._fills_in = -1
        self._told = threading.local()
        self._lock = threading.Lock()
        super().__init__(_VFS, "unix", makedefault=True)

    # What the life of a ledger says to its recorder.

    def phase(self, name: str, *, dies_in: int = -1, fills_in: int = -1) -> None:
        """What comes now; `dies_in` so many changes of the disk the process is killed, or the disk is full."""
        self.recording.phases.append((len(self.recording.events), name))
        self._dies_in, self._fills_in = dies_in, fills_in

    def acknowledge(
        self,
        what: str,
        since: int | Callable[[Attempts], bool] | None = None,
        kept: Callable[[Attempts], bool] = lambda _: True,
    ) -> None:
        """Somebody knows now that this is on disk: in the last state that was committed, unless `since` says."""
        if not self.dead:
            if since is None:
                since = len(self.recording.states) - 1
            self.recording.acknowledged.append(Acknowledged(len(self.recording.events), what, since, kept))

    def look(self) -> None:
        """Note the ledger's state, if it is another than the last."""
        self._note_state(_dump_of(self.folder / self.recording.ledger))

    def _note_state(self, found: Dump) -> None:
        states = self.recording.states
        if not states or states[-1][1] != found:
            states.append((len(self.recording.events), found))

    def killed(self, folder: Path, spare: Path) -> None:
        """The process is gone; what it asked of the disk so far is what the next one finds, in another folder.

        That may be a commit that nobody saw: `spare` is a folder for looking without leaving traces.
        """
        image = self.live.image()
        image.put(folder)
        self.folder, self.dead = folder, False
        if self.recording.ledger in image.names:
            image.put(spare)
            self._note_state(_dump_of(spare / self.recording.ledger))

    def check_complete(self) -> None:
        """Raise if the recording is not what really happened: a way to the disk that is not watched."""
        image = self.live.image()
        found = {
            str(path.relative_to(self.folder)): FOLDER if path.is_dir() else path.read_bytes()
            for path in self.folder.rglob("*")
            if not path.name.endswith("-shm")
        }
        said = {path: image.contents.get(node, FOLDER) for path, node in image.names.items()}
        if found != said:
            differing = sorted(path for path in found | said if found.get(path) != said.get(path))
            raise AssertionError(f"the recording missed something in {differing}")

    # What happens to the disk.

    def relative(self, path: Any) -> str | None:
        """A path below the folder as the recording names it; None for what is not recorded."""
        text = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else ""
        root = f"{self.folder}/"
        return text.removeprefix(root) if text.startswith(root) else None

    def may(self, *, fills: bool = False) -> None:
        """Before each change: the process may be killed here, or the disk full. Raises then."""
        with self._lock:
            self._dies_in -= 1
            self.dead = self.dead or self._dies_in == 0
            if self.dead:
                raise apsw.IOError("killed")
            if fills and self._fills_in >= 0:
                self._fills_in -= 1
                if self._fills_in <= 0:
                    self._fills_in = 0
                    raise apsw.FullError("the disk is full")

    def note(self, event: Event) -> None:
        with self._lock:
            self.recording.events.append(event)
            self.live.apply(event)

    def node(self, path: str, *, new: bool) -> int:
        """The file of that name; a new one where there is none."""
        if path not in self.live.names and new:
            self._nodes += 1
            self.note(Name(path, self._nodes))
        return self.live.names[path]

    def xOpen(self, name: "str | apsw.URIFilename | None", flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        filename = name.filename() if isinstance(name, apsw.URIFilename) else name
        path = self.relative(filename)
        if path is None or not flags[0] & _FILES:
            return apsw.VFSFile("unix", name, flags)
        may_make = bool(flags[0] & apsw.SQLITE_OPEN_CREATE)
        if may_make and path not in self.live.names:
            self.may()
        file = RecordedFile(self, name, flags)
        file.node = self.node(path, new=may_make)
        return file

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        path = self.relative(filename)
        if path is None or path not in self.live.names:
            super().xDelete(filename, syncdir)
            return
        self.may()
        with self.folder_syncs():
            super().xDelete(filename, syncdir)
            self.note(Name(path, None))

    @contextlib.contextmanager
    def folder_syncs(self) -> Iterator[None]:
        """Note the folders that SQLite opens in order to sync them, which it does at once."""
        self._told.folders = []
        yield
        for folder in self._told.folders:
            self.note(FolderSynced(folder))

    def folder_opened(self, name: bytes) -> None:
        """SQLite opens the folder of this file, and that only ever to sync it."""
        path = self.relative(name)
        if path is not None and hasattr(self._told, "folders"):
            self._told.folders.append(path.rpartition("/")[0])

    def statement_ended(self, event: dict[str, Any]) -> None:
        """A statement of the product's ended: look at what it committed, from outside."""
        connection = event["connection"]
        ours = connection.filename == str(self.folder / self.recording.ledger)
        reading = event["sql"].lstrip().upper().startswith(("SELECT", "PRAGMA", "BEGIN", "SAVEPOINT"))
        if ours and not self.dead and not reading and connection.get_autocommit():
            self.look()


class RecordedFile(apsw.VFSFile):
    """One open file of SQLite's."""

    node = 0

    def __init__(self, recorder: Recorder, name: "str | apsw.URIFilename | None", flags: list[int]) -> None:
        self._recorder = recorder
        super().__init__("unix", name, flags)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802
        self._recorder.may(fills=True)
        super().xWrite(data, offset)
        self._recorder.note(Write(self.node, offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._recorder.may()
        super().xTruncate(newsize)
        self._recorder.note(Resize(self.node, newsize))

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._recorder.may()
        time.sleep(_SYNC_SECONDS)
        with self._recorder.folder_syncs():
            super().xSync(flags)
            self._recorder.note(Synced(self.node))


def _dump_of(ledger: Path) -> Dump:
    connection = apsw.Connection(str(ledger), flags=apsw.SQLITE_OPEN_READONLY, vfs="unix")
    try:
        return dump(connection)
    finally:
        connection.close()


@contextlib.contextmanager
def recording(
    start: Image, ledger: str, folder: Path, spare: Path, checkpoint_pages: int = 0
) -> Iterator[Recorder]:
    """Record everything that happens to the files below a folder, which is made as `start` says.

    `spare` is another empty folder, for looking at the start without leaving traces. `checkpoint_pages`:
    after so many SQLite takes the -wal into the file by itself, which in a large run it does at 1,000.
    """
    start.put(folder)
    recorder = Recorder(start, ledger, folder)
    if ledger in start.names:
        start.put(spare)
        recorder._note_state(_dump_of(spare / ledger))
    original = recorder.xGetSystemCall("openDirectory")
    if original is None:
        raise RuntimeError("this SQLite does not let its system calls be watched")
    really = _OPEN_DIRECTORY(original)

    def watched(name: bytes, handle: Any) -> int:
        recorder.folder_opened(name)
        return int(really(name, handle))

    hook = _OPEN_DIRECTORY(watched)

    def connected(connection: apsw.Connection) -> None:
        if connection.open_vfs == _VFS:
            connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, recorder.statement_ended)
            if checkpoint_pages:
                connection.wal_autocheckpoint(checkpoint_pages)

    recorder.xSetSystemCall("openDirectory", ctypes.cast(hook, ctypes.c_void_p).value or 0)
    apsw.connection_hooks.append(connected)
    try:
        with _OsCalls(recorder).watched():
            yield recorder
    finally:
        apsw.connection_hooks.remove(connected)
        recorder.xSetSystemCall("openDirectory", original)
        recorder.unregister()


class _OsCalls:
    """The functions of `os` that change what is on the disk, noted as they are called."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._handles: dict[int, int | str] = {}  # of a file its node, of a folder its path
        self._really: dict[str, Any] = {}

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        names = ["open", "close", "write", "pwrite", "ftruncate", "fsync", "fdatasync"]
        names += ["link", "unlink", "remove", "rename", "replace", "mkdir"]
        with contextlib.ExitStack() as stack:
            for name in names:
                self._really[name] = getattr(os, name)
                stack.enter_context(mock.patch.object(os, name, getattr(self, f"_{name}")))
            yield

    def _open(self, path: Any, flags: int, *rest: Any, **options: Any) -> int:
        found = self._recorder.relative(path) if str(path) != str(self._recorder.folder) else ""
        if found is None:
            return int(self._really["open"](path, flags, *rest, **options))
        if flags & os.O_TRUNC or (flags & os.O_CREAT and found not in self._recorder.live.names):
            self._may()
        handle = int(self._really["open"](path, flags, *rest, **options))
        if found == "" or self._recorder.live.names.get(found) == FOLDER:
            self._handles[handle] = found
            return handle
        node = self._recorder.node(found, new=bool(flags & os.O_CREAT))
        self._handles[handle] = node
        if flags & os.O_TRUNC:
            self._recorder.note(Resize(node, 0))
        return handle

    def _may(self) -> None:
        try:
            self._recorder.may()
        except apsw.IOError as error:
            raise OSError(5, str(error)) from None

    def _close(self, handle: int) -> None:
        self._handles.pop(handle, None)
        self._really["close"](handle)

    def _write(self, handle: int, data: Any) -> int:
        at = os.lseek(handle, 0, os.SEEK_CUR) if handle in self._handles else 0
        return self._written(handle, data, at, "write", handle, data)

    def _pwrite(self, handle: int, data: Any, offset: int) -> int:
        return self._written(handle, data, offset, "pwrite", handle, data, offset)

    def _written(self, handle: int, data: Any, at: int, name: str, *arguments: Any) -> int:
        node = self._handles.get(handle)
        if not isinstance(node, int):
            return int(self._really[name](*arguments))
        self._may()
        size = int(self._really[name](*arguments))
        self._recorder.note(Write(node, at, bytes(data)[:size]))
        return size

    def _ftruncate(self, handle: int, size: int) -> None:
        self._may()
        self._really["ftruncate"](handle, size)
        node = self._handles.get(handle)
        if isinstance(node, int):
            self._recorder.note(Resize(node, size))

    def _fsync(self, handle: int) -> None:
        self._sync("fsync", handle)

    def _fdatasync(self, handle: int) -> None:
        self._sync("fdatasync", handle)

    def _sync(self, name: str, handle: int) -> None:
        node = self._handles.get(handle)
        if node is not None:
            self._may()
        self._really[name](handle)
        if node is not None:
            self._recorder.note(FolderSynced(node) if isinstance(node, str) else Synced(node))

    def _link(self, old: Any, new: Any, **options: Any) -> None:
        before, after = self._recorder.relative(old), self._recorder.relative(new)
        if after is not None:
            self._may()
        self._really["link"](old, new, **options)
        if before is not None and after is not None:
            self._recorder.note(Name(after, self._recorder.live.names[before]))

    def _unlink(self, path: Any, **options: Any) -> None:
        self._removed("unlink", path, options)

    def _remove(self, path: Any, **options: Any) -> None:
        self._removed("remove", path, options)

    def _removed(self, name: str, path: Any, options: dict[str, Any]) -> None:
        found = self._recorder.relative(path)
        known = found is not None and found in self._recorder.live.names
        if known:
            self._may()
        self._really[name](path, **options)
        if known and found is not None:
            self._recorder.note(Name(found, None))

    def _rename(self, old: Any, new: Any, **options: Any) -> None:
        self._moved("rename", old, new, options)

    def _replace(self, old: Any, new: Any, **options: Any) -> None:
        self._moved("replace", old, new, options)

    def _moved(self, name: str, old: Any, new: Any, options: dict[str, Any]) -> None:
        before, after = self._recorder.relative(old), self._recorder.relative(new)
        if before is not None:
            self._may()
        self._really[name](old, new, **options)
        if before is not None and after is not None:
            self._recorder.note(Name(after, self._recorder.live.names[before], old=before))

    def _mkdir(self, path: Any, *rest: Any, **options: Any) -> None:
        found = self._recorder.relative(path)
        if found is not None and found not in self._recorder.live.names:
            self._may()
        self._really["mkdir"](path, *rest, **options)
        if found is not None:
            self._recorder.note(Name(found, FOLDER))
