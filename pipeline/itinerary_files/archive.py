"""The archive of itinerary files: original bytes, under names made of checked numbers, never written over, and on disk before they count.

A file lies at `2026-09/2026-09-08_<ticket>_<number>_<total>.ofd`, by its issuer's date, and where other bytes have that name
already, or had it when they were noted, at the same with `-2`, `-3` and so on before `.ofd`. No name of a person is part of it. What
was noted is put back at the place that was noted, where it is missing or damaged there; what is damaged is set aside beside it.
"""

import contextlib
import errno
import hashlib
import os
import re
import stat
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, count, cycle
from pathlib import Path

from pipeline.file_reading import said_by
from pipeline.file_writing import PRIVATE, appear, private_folder, scratch_folder, sync
from pipeline.model.errors import InputProblem, Stop
from pipeline.model.itinerary_file import ItineraryData
from pipeline.model.message import N_, Message
from pipeline.model.money import money_text

#: What our names look like; nothing else is opened by a name that a ledger gives.
_OURS = re.compile(r"(\d{4}-\d{2}|undated)/[0-9a-z_.-]+\.ofd", re.ASCII)
#: Ends the names of our files, and of what is set aside since it is not what was kept there.
_OFD, _DAMAGED = ".ofd", ".damaged"
#: What is in place of what a file does not say.
_UNDATED, _NO_TICKET, _NO_NUMBER, _NO_TOTAL = "undated", "no-ticket", "no-number", "no-total"
#: Files that are brought to the disk at once: it writes them together.
_AT_ONCE = 8
#: Begins the names of folders for files half made (`file_writing.scratch_folder`); a killed program leaves one.
_HALF_MADE = ".voucher-"
#: What helps where it can't be written, by what the system says.
_DISK = N_("free disk space or mend the disk, then run again")
_PERMISSION = N_("name a folder that can be written to, or change its permissions")
_NO_FOLDER = N_("a file is where a folder should be; name another place")
_CURES = {
    errno.EROFS: _PERMISSION,
    errno.EACCES: _PERMISSION,
    errno.EPERM: _PERMISSION,
    errno.ENOTDIR: _NO_FOLDER,
    errno.EEXIST: _NO_FOLDER,
}


@dataclass(frozen=True)
class Archived:
    """A file of the archive: its place below the archive's folder, with forward slashes, and its SHA-256 in hexadecimal digits.

    `put_back`: it was noted as kept there, and was missing or damaged.
    """

    path: str
    sha256: str
    put_back: bool = False


@dataclass(frozen=True)
class Verification:
    """What an archive is beside the ledger's list of it: how many files are as they were, and the paths of those that are not.

    `unreadable`: the system can't read them. `unlisted`: they are in the archive, not set aside, and the ledger knows nothing of them.
    """

    intact: int = 0
    missing: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()


def keep(folder: Path, files: Sequence[tuple[ItineraryData, bytes]], noted: dict[str, str]) -> list[Archived]:
    """Put files into the archive, as they are; each is on disk, with its name, when this returns.

    `noted` are the places of what the ledger has as kept, by SHA-256, what came first being first: what is missing or damaged there is
    put back. Bytes that lie where they belong already are not written again. Raises Stop where they can't be written: those that
    were, are found again when it is tried again.
    """
    sums = [hashlib.sha256(content).hexdigest() for _, content in files]
    taken = _owners(noted)
    homes = {
        sha256: home
        for sha256 in sums
        if (home := noted.get(sha256, "")) and taken[home] == sha256 and _OURS.fullmatch(home)
    }

    def names(at: int) -> Iterable[str]:
        home = homes.get(sums[at])
        return [home] if home else _free(files[at][0], taken)

    try:
        private_folder(folder)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            lying = [_lying(folder, names(at), sha256) for at, sha256 in enumerate(sums)]
            # Where nothing is new nothing is written, not even a folder: the archive may be on read-only media.
            with contextlib.nullcontext(folder) if all(lying) else scratch_folder(folder) as scratch:
                fresh = {at: scratch / f"{at}" for at, one in enumerate(lying) if not one}
                for at, path in fresh.items():
                    _write(path, files[at][1])
                _sync_all(pool, fresh.values())
                kept = [
                    one or _placed(folder, fresh[at], names(at), sums[at], noted=sums[at] in homes)
                    for at, one in enumerate(lying)
                ]
            paths = {folder / one.path for one in kept}  # some may have lain there, put there by whoever
            _sync_all(pool, chain(paths, {path.parent for path in paths}))
    except OSError as error:
        raise Stop(
            "--archive {folder}: can't be written ({problem}); {cure}",
            folder=str(folder),
            problem=said_by(error),
            cure=Message(_CURES.get(error.errno or 0, _DISK)),
        ) from None
    return kept


def check_folder(folder: Path) -> None:
    """Raise InputProblem where a file is in the place of an archive, or of a folder above it."""
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if os.path.lexists(path))
    if not there.is_dir():
        raise InputProblem(
            "--archive {folder}: {file} is no folder; name another place",
            folder=str(folder),
            file=str(there),
        )


def verify(folder: Path, noted: dict[str, str]) -> Verification:
    """Compare an archive with what the ledger has as kept, as in `keep`; nothing is changed. Raises InputProblem if there is no such
    folder.
    """
    if not folder.is_dir():
        raise InputProblem("{folder}: there is no such folder; check the path", folder=str(folder))
    listed, intact = _owners(noted), 0
    missing, altered, unreadable = [], [], []
    for path in sorted(listed):
        try:
            if not _OURS.fullmatch(path) or not os.path.lexists(folder / path):
                missing.append(path)
            elif _sha256(folder / path) != listed[path]:
                altered.append(path)
            else:
                intact += 1
        except OSError:
            unreadable.append(path)
    # A damaged file that earlier versions took for a new one has the place of what it had been; where it lies by now nothing says.
    elsewhere = noted.keys() - set(listed.values())
    unlisted = (
        path
        for path in _inside(folder)
        if path not in listed and not (elsewhere and _is_one(folder / path, elsewhere))
    )
    return Verification(intact, tuple(missing), tuple(altered), tuple(unreadable), tuple(sorted(unlisted)))


def name_of(data: ItineraryData) -> str:
    """Where a file belongs in the archive, of what it says of itself; whatever is not a number is left out.

    >>> import datetime
    >>> name_of(ItineraryData("2" * 20, ("9991234567890",), total=100000, issued_on=datetime.date(2026, 9, 8)))
    '2026-09/2026-09-08_9991234567890_22222222222222222222_1000.00.ofd'
    >>> name_of(ItineraryData("../../x", ("ZHANG/WEI",), total=-5))
    'undated/undated_no-ticket_no-number_-0.05.ofd'
    """
    day = data.issued_on.isoformat() if data.issued_on else _UNDATED
    ticket = _digits(data.tickets[0] if data.tickets else None, 13, _NO_TICKET)
    total = _NO_TOTAL if data.total is None else f"{'-' * (data.total < 0)}{money_text(abs(data.total))}"
    month = day[:7] if data.issued_on else _UNDATED
    return f"{month}/{day}_{ticket}_{_digits(data.number, 20, _NO_NUMBER)}_{total}.ofd"


def _digits(text: str | None, length: int, otherwise: str) -> str:
    return text if text and re.fullmatch(rf"[0-9]{{{length}}}", text) else otherwise


def _owners(noted: dict[str, str]) -> dict[str, str]:
    """By its path, the SHA-256 of what was noted first as kept there."""
    return {path: sha256 for sha256, path in reversed(noted.items())}


def _lying(folder: Path, names: Iterable[str], sha256: str) -> Archived | None:
    """The file of these bytes that lies under one of these names already."""
    for path in names:
        if not os.path.lexists(folder / path):
            break
        if _is_one(folder / path, {sha256}):
            return Archived(path, sha256)
    return None


def _placed(folder: Path, fresh: Path, names: Iterable[str], sha256: str, *, noted: bool) -> Archived:
    """Let a file appear under the first of these names that is free, unless these bytes lie there by now; the name is not synced yet.

    `noted`: there is one name, under which it was kept before; what has that by now is set aside.
    """
    for path in cycle(names):
        private_folder((folder / path).parent)
        with contextlib.suppress(FileExistsError):
            appear(fresh, folder / path)
            return Archived(path, sha256, put_back=noted)
        if _is_one(folder / path, {sha256}):  # twice among these files, or put there by another run
            return Archived(path, sha256)
        if noted:
            _set_aside(folder / path)
    raise AssertionError  # names have no end


def _set_aside(path: Path) -> None:
    """Let what is in the place of a file have a name that says so."""
    names = map(path.with_name, _numbered(path.name, _DAMAGED))
    path.rename(next(name for name in names if not os.path.lexists(name)))


def _free(data: ItineraryData, taken: Container[str]) -> Iterator[str]:
    """The names under which a file may be kept: nothing else was noted under them."""
    return (path for path in _numbered(name_of(data).removesuffix(_OFD), _OFD) if path not in taken)


def _numbered(name: str, ending: str) -> Iterator[str]:
    yield f"{name}{ending}"
    for number in count(2):
        yield f"{name}-{number}{ending}"


def _sync_all(pool: ThreadPoolExecutor, paths: Iterable[Path]) -> None:
    for _ in pool.map(sync, paths):
        pass


def _write(path: Path, content: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE), "wb") as file:
        file.write(content)


def _sha256(path: Path) -> str:
    """Of a file; "" of what is none, such as a link. Raises OSError."""
    if not stat.S_ISREG(path.lstat().st_mode):
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_one(path: Path, sums: Collection[str]) -> bool:
    """Whether a file is one of those with these SHA-256; of what can't be read nobody can say so."""
    try:
        return _sha256(path) in sums
    except OSError:
        return False


def _inside(folder: Path) -> Iterator[str]:
    """What lies in an archive that is no folder and not set aside, by its place in it."""
    for at, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(_HALF_MADE)]
        links = [name for name in folders if (Path(at) / name).is_symlink()]
        for name in (*names, *links):
            if not name.endswith(_DAMAGED):
                yield (Path(at) / name).relative_to(folder).as_posix()
