"""Whether a ledger lies on a disk of this machine, under a name that the files beside it share.

SQLite's WAL needs memory that all who open the file share, and locks and syncs that hold: that is promised by
the file systems that the kernel itself keeps on a disk or in memory, and by no other one that we know of
(sqlite.org/wal.html, "All processes using a database must be on the same host computer"; sqlite.org/lockingv3.html).
"""

import os
import re
from pathlib import Path

from pipeline.model.errors import InputProblem

#: As the kernel names them in its list of mounts. Not among them: FAT and its kin, which keep no permissions and no
#: journal; whatever goes by FUSE, over a network or from another machine's disk (9p, virtiofs), as a container's root may.
_LOCAL = frozenset(
    {
        "bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "nilfs2", "reiserfs", "xfs", "zfs",
        "overlay", "ramfs", "tmpfs",
    }
)  # fmt: skip
_MOUNTS = Path("/proc/self/mountinfo")


def check_local(path: Path, mounts: Path = _MOUNTS) -> None:
    """Raise InputProblem for a ledger's path on a file system that is not known to keep what a ledger needs.

    Likewise where the file is mounted by itself: what lies beside its other name does not lie beside this one. `mounts`
    is the kernel's list (proc(5), /proc/PID/mountinfo); where there is none, nothing is known.
    """
    try:
        lines = os.fsdecode(mounts.read_bytes()).strip("\n").split("\n")
    except OSError:
        return
    point, kind = _mount(path.resolve(), lines)
    if point == path.resolve() and not path.is_dir():
        raise InputProblem(
            "{path}: is mounted by itself (a bind mount of the file alone), so that the files which"
            " belong beside it lie elsewhere; mount the folder that it lies in, and name the ledger"
            " there",
            path=str(path),
        )
    if kind not in _LOCAL:
        raise InputProblem(
            "{path}: lies on a file system ({kind}) whose locks and syncs are not known to hold, as a"
            " network's do not, and vouchers could be issued twice; put the ledger on a local disk"
            " (ext4, xfs, btrfs, zfs) and name it with --ledger",
            path=str(path),
            kind=kind,
        )


def _mount(path: Path, lines: list[str]) -> tuple[Path, str]:
    """Where the file system is mounted that holds the path, and its type: the last mount at its nearest mount point."""
    found = Path("/"), ""
    for line in lines:
        before, _, after = line.partition(" - ")
        point = Path(_unescaped(before.split(" ")[4]))
        if path.is_relative_to(point) and len(point.parts) >= len(found[0].parts):
            found = point, after.split(" ")[0]
    return found


def _unescaped(field: str) -> str:
    r"""A path with the kernel's octal escapes taken back: blank \040, tab \011, newline \012, \134."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), field)
