"""Whether a ledger lies on a disk of this machine.

SQLite's WAL needs memory that all who open the file share, and locks and syncs that hold: network file
systems promise none of them (sqlite.org/wal.html, "All processes using a database must be on the same
host computer"; sqlite.org/lockingv3.html on NFS).
"""

import os
import re
from pathlib import Path

from pipeline.errors import InputProblem

_REMOTE = frozenset(
    [
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "gfs",
        "gfs2",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "orangefs",
        "prl_fs",
        "smb2",
        "smb3",
        "smbfs",
        "vboxsf",
        "vmhgfs",
        "wekafs",
    ]
)
#: FUSE mounts that reach over a network.
_REMOTE_FUSE = frozenset(
    [
        "blobfuse",
        "blobfuse2",
        "ceph",
        "curlftpfs",
        "davfs",
        "gcsfuse",
        "glusterfs",
        "google-drive-ocamlfuse",
        "goofys",
        "juicefs",
        "mountpoint-s3",
        "onedriver",
        "rclone",
        "s3fs",
        "smbnetfs",
        "sshfs",
        "vmhgfs-fuse",
    ]
)
_ROOTS = ("9p", "virtiofs")
_MOUNTS = Path("/proc/self/mountinfo")


def check_local(path: Path) -> None:
    """Raise InputProblem if the ledger's path lies on a network file system."""
    if kind := remote_kind(path):
        raise InputProblem(
            f"{path}: lies on a network file system ({kind}), where locks and syncs do not hold and vouchers could be"
            " issued twice; put the ledger on a local disk and name it with --ledger"
        )


def remote_kind(path: Path, mounts: Path = _MOUNTS) -> str:
    """The type of the network file system that a path lies on, "" for a disk of this machine.

    `mounts` is the kernel's list (proc(5), /proc/PID/mountinfo); where there is none, nothing is known.
    """
    try:
        lines = os.fsdecode(mounts.read_bytes()).strip("\n").split("\n")
    except OSError:
        return ""
    kind = _kind(path.resolve(), lines)
    return kind if kind in _REMOTE or kind.removeprefix("fuse.") in _REMOTE_FUSE else ""


def _kind(path: Path, lines: list[str]) -> str:
    """The type of the file system that holds the path: that of the last mount at its nearest mount point."""
    nearest, kind = -1, ""
    for line in lines:
        before, _, after = line.partition(" - ")
        point = Path(_unescaped(before.split(" ")[4]))
        if path.is_relative_to(point) and len(point.parts) >= nearest:
            nearest, kind = len(point.parts), after.split(" ")[0]
    # Some containers have their own root by such a file system, from a disk of the same machine.
    return "" if nearest == 1 and kind in _ROOTS else kind


def _unescaped(field: str) -> str:
    r"""A path with the kernel's octal escapes taken back: blank \040, tab \011, newline \012, \134."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), field)
