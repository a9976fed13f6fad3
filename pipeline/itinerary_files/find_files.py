"""What may be an itinerary file in the files and folders that were given: recognised by content, never by name.

A folder is walked with the folders in it, in the order of names. It leaves out what is hidden, what programs keep beside open files, our
own results, and the indexes of a Maildir; a link that leads out of it is a finding, and not followed. Everything else shows up, one after
another: no more than one content is in memory. What is in archives and mails is found by a process of its own (`container_process`).
"""

import os
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from pipeline.file_reading import check_regular, is_background, is_ours
from pipeline.itinerary_files.container_bounds import Refused, Seen
from pipeline.itinerary_files.container_process import ContainerProcess
from pipeline.itinerary_files.mail_parts import HEAD_BYTES, is_mail, is_mbox
from pipeline.itinerary_files.shown_names import shown_name
from pipeline.itinerary_files.zip_parts import MAGIC
from pipeline.model.errors import InputProblem
from pipeline.model.itinerary_file import FoundFile

#: Folders of a Maildir: of mails that were seen, that are new, and that are not whole yet.
_OF_MAILDIR = ("cur", "new", "tmp")
_NO_NAMES: Mapping[Path, str] = MappingProxyType({})


def found_files(given: Sequence[Path], names: Mapping[Path, str] = _NO_NAMES) -> Iterator[FoundFile]:
    """Every file behind the given files and folders, each given path once. `names` are names for people in place of paths' own.

    Raises InputProblem, before anything is found, for a path that does not exist.
    """
    for path in given:
        if not os.path.lexists(path):
            raise InputProblem("{file}: there is no such file; check the path", file=str(path))
    return _found(given, names)


def may_hold_itineraries(path: Path) -> bool:
    """Whether a file begins as an archive (an itinerary's file is one) or as mails do; where it may be anything else, too."""
    try:
        check_regular(path, sys.maxsize)
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return False
    return head.startswith(MAGIC) or is_mail(head) or is_mbox(head)


def _found(given: Sequence[Path], names: Mapping[Path, str]) -> Iterator[FoundFile]:
    seen: set[str] = set()
    with ContainerProcess() as process:
        for top in given:
            for path in _files(top):
                real = os.path.realpath(path)
                if real in seen:
                    continue
                seen.add(real)
                name = names.get(path) or shown_name(
                    os.fsencode(path.relative_to(top) if path != top else path.name)
                )
                if refused := _no_file(path, top):
                    yield refused.found((name,))
                else:
                    yield from process.found_in(path, name)


def _files(top: Path) -> Iterator[Path]:
    """A file, or those in a folder, on every level; also what is no file, and a folder that can't be read."""
    waiting = [top]
    while waiting:
        path = waiting.pop()
        inside = _inside(path, top)
        if inside is None:
            yield path
        else:
            waiting += reversed(inside)


def _inside(path: Path, top: Path) -> list[Path] | None:
    """What is in a folder and not left out, by name; None where it is no folder, a link to one, or can't be read."""
    try:
        if path != top and path.is_symlink():
            return None
        inside = sorted(path.iterdir())
        if _is_maildir(path):
            return [one for one in inside if one.name in _OF_MAILDIR[:2] or _is_maildir(one)]
    except OSError:
        return None
    return [one for one in inside if not is_background(one) and not is_ours(one)]


def _is_maildir(path: Path) -> bool:
    return all((path / name).is_dir() for name in _OF_MAILDIR)


def _no_file(path: Path, top: Path) -> Refused | None:
    """Why a path is not read: it leads out of the given folder, or is no file; None for a file."""
    try:
        if path != top and path.is_symlink() and not _leads_inside(path, top):
            return Refused(Seen.LINK)
        mode = path.stat().st_mode
    except OSError:
        return Refused(Seen.UNREADABLE)
    if stat.S_ISREG(mode):
        return None
    return Refused(Seen.UNREADABLE if stat.S_ISDIR(mode) else Seen.NO_FILE)


def _leads_inside(path: Path, top: Path) -> bool:
    """Whether a link leads to a file in the given folder, which is found there under its own name as well."""
    target = Path(os.path.realpath(path))
    return target.is_file() and target.is_relative_to(os.path.realpath(top))
