"""The archive of itinerary files: original bytes, under names made of checked numbers, never written over, and on disk before they count.

A file lies at `2026-09/2026-09-08_<ticket>_<number>_<total>.ofd`, by its issuer's date, and where other bytes have that name
already, at the same with `-2`, `-3` and so on before `.ofd`. No name of a person is part of it.
"""

import contextlib
import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

from pipeline.file_reading import said_by
from pipeline.file_writing import PRIVATE, appear, private_folder, scratch_folder, sync
from pipeline.model.errors import InputProblem, Stop
from pipeline.model.itinerary_file import ItineraryData
from pipeline.model.message import N_, Message
from pipeline.model.money import money_text

#: What our names look like; nothing else is opened by a name that a ledger gives.
_OURS = re.compile(r"(\d{4}-\d{2}|undated)/[0-9a-z_.-]+\.ofd", re.ASCII)
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
    """A file of the archive: its place below the archive's folder, with forward slashes, and its SHA-256 in hexadecimal digits."""

    path: str
    sha256: str


@dataclass(frozen=True)
class Verification:
    """What an archive is beside the ledger's list of it: how many files are as they were, and the paths of those that are not.

    `unreadable`: the system can't read them. `unlisted`: they are in the archive, and the ledger knows nothing of them.
    """

    intact: int = 0
    missing: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()


def keep(folder: Path, files: Sequence[tuple[ItineraryData, bytes]]) -> list[Archived]:
    """Put files into the archive, as they are; each is on disk, with its name, when this returns.

    Bytes that lie there under their name already are not written again. Raises Stop where they can't be written: those
    that were, are found again when it is tried again.
    """
    sums = [hashlib.sha256(content).hexdigest() for _, content in files]
    try:
        private_folder(folder)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            lying = [_lying(folder, data, sha256) for (data, _), sha256 in zip(files, sums, strict=True)]
            # Where nothing is new nothing is written, not even a folder: the archive may be on read-only media.
            with contextlib.nullcontext(folder) if all(lying) else scratch_folder(folder) as scratch:
                fresh = {at: scratch / f"{at}" for at, one in enumerate(lying) if not one}
                for at, path in fresh.items():
                    _write(path, files[at][1])
                _sync_all(pool, fresh.values())
                kept = [
                    one or _placed(folder, fresh[at], files[at][0], sums[at]) for at, one in enumerate(lying)
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


def verify(folder: Path, listed: Iterable[Archived]) -> Verification:
    """Compare an archive with the ledger's list of it; nothing is changed. Raises InputProblem if there is no such folder."""
    if not folder.is_dir():
        raise InputProblem("{folder}: there is no such folder; check the path", folder=str(folder))
    missing, altered, unreadable, known = [], [], [], dict[str, bool]()
    for one in listed:
        known[one.path] = False
        try:
            if not _OURS.fullmatch(one.path) or not os.path.lexists(folder / one.path):
                missing.append(one.path)
            elif _sha256(folder / one.path) != one.sha256:
                altered.append(one.path)
            else:
                known[one.path] = True
        except OSError:
            unreadable.append(one.path)
    unlisted = (path for path in _inside(folder) if path not in known)
    return Verification(
        sum(known.values()), tuple(missing), tuple(altered), tuple(unreadable), tuple(sorted(unlisted))
    )


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


def _lying(folder: Path, data: ItineraryData, sha256: str) -> Archived | None:
    """The file of these bytes that lies under one of its names already."""
    for path in _names(name_of(data)):
        if not os.path.lexists(folder / path):
            return None
        with contextlib.suppress(
            OSError
        ):  # nobody can say what lies there: these bytes get a name of their own
            if _sha256(folder / path) == sha256:
                return Archived(path, sha256)
    raise AssertionError  # names have no end


def _placed(folder: Path, fresh: Path, data: ItineraryData, sha256: str) -> Archived:
    """Let a file appear under the first of its names that is free, unless these bytes lie there by now; the name is not synced yet."""
    name = name_of(data)
    private_folder((folder / name).parent)
    for path in _names(name):
        with contextlib.suppress(FileExistsError):
            appear(fresh, folder / path)
            return Archived(path, sha256)
        if lying := _lying(folder, data, sha256):  # twice among these files, or put there by another run
            return lying
    raise AssertionError  # names have no end


def _names(name: str) -> Iterator[str]:
    yield name
    for number in count(2):
        yield f"{name.removesuffix('.ofd')}-{number}.ofd"


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


def _inside(folder: Path) -> Iterator[str]:
    """What lies in an archive that is no folder, by its place in it."""
    for at, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(_HALF_MADE)]
        links = [name for name in folders if (Path(at) / name).is_symlink()]
        for name in (*names, *links):
            yield (Path(at) / name).relative_to(folder).as_posix()
