"""A ledger lies on a disk of this machine, under a name that its lock and its -wal share."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.ledger import local_disk, opening
from pipeline.ledger.local_disk import check_local
from pipeline.model.errors import InputProblem
from pipeline.model.profile import Owner

#: As the kernel lists mounts (proc(5)): an office's share, a blank in a name, a local disk inside a share.
MOUNTS = r"""
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
36 22 0:30 / /mnt/share rw,relatime shared:2 - nfs4 server:/export rw,vers=4.2
37 22 0:31 / /mnt/office\040share rw,relatime - cifs //server/finance rw
38 36 8:2 / /mnt/share/local rw,relatime shared:4 master:2 - xfs /dev/sdb1 rw
39 22 0:32 / /home/chen/cloud rw,nosuid - fuse.rclone remote: rw
40 22 0:33 / /home/chen/vault rw,nosuid - fuse.gocryptfs /enc rw
41 22 8:3 / /over rw - ext4 /dev/sdc1 rw
42 22 0:34 / /over rw - nfs server:/x rw
43 22 8:1 /books/a.ledger /data/a.ledger rw - ext4 /dev/sda1 rw
""".strip()
#: Network file systems, some of which a list of such had not, and others that keep less than a ledger needs.
REFUSED = ["9p", "virtiofs", "ceph", "cifs", "nfs", "nfs4", "drvfs", "vboxsf", "vmhgfs", "prl_fs", "fuse", "fuseblk", "fuse.sshfs", "fuse.gvfsd-fuse", "fuse.ossfs", "fuse.rclone", "vfat", "exfat", "ntfs3", "hfsplus", "iso9660", "squashfs", "proc", "gpfs", "lustre", "glusterfs", "something-new"]  # fmt: skip
LOCAL = ["ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "jfs", "reiserfs", "bcachefs", "nilfs2", "tmpfs", "ramfs", "overlay"]  # fmt: skip


@pytest.fixture
def mounts(tmp_path: Path) -> Path:
    (tmp_path / "mountinfo").write_text(MOUNTS)
    return tmp_path / "mountinfo"


def refused(path: str | Path, mounts: Path) -> str:
    """Why that path is refused, "" where it is not."""
    try:
        check_local(Path(path), mounts)
    except InputProblem as problem:
        return str(problem)
    return ""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/mnt/share/a.ledger", "nfs4"),
        ("/mnt/share/deep/in/it/a.ledger", "nfs4"),
        ("/mnt/office share/a.ledger", "cifs"),
        ("/home/chen/cloud/a.ledger", "fuse.rclone"),
        ("/home/chen/vault/a.ledger", "fuse.gocryptfs"),
        ("/over/a.ledger", "nfs"),
    ],
)
def test_the_type_is_that_of_the_nearest_mount(path: str, kind: str, mounts: Path) -> None:
    assert f"lies on a file system ({kind})" in refused(path, mounts)


@pytest.mark.parametrize("path", ["/var/a.ledger", "/mnt/share/local/a.ledger", "/mnt/shared/a.ledger"])
def test_local_disks_are_fine(path: str, mounts: Path) -> None:
    assert refused(path, mounts) == ""


@pytest.mark.parametrize("kind", LOCAL)
def test_what_the_kernel_keeps_itself_is_local(kind: str, tmp_path: Path) -> None:
    (tmp_path / "mountinfo").write_text(f"22 1 0:1 / / rw - {kind} none rw")
    assert refused("/var/a.ledger", tmp_path / "mountinfo") == ""


@pytest.mark.parametrize("kind", REFUSED)
def test_whatever_is_not_known_to_hold_is_refused_as_a_root_too(kind: str, tmp_path: Path) -> None:
    (tmp_path / "mountinfo").write_text(f"22 1 0:1 / / rw - {kind} none rw")
    assert f"({kind})" in refused("/var/a.ledger", tmp_path / "mountinfo")


def test_without_the_kernels_list_nothing_is_known(tmp_path: Path) -> None:
    assert refused("/mnt/share/a.ledger", tmp_path / "nothing") == ""


def test_a_network_disk_is_known_by_whatever_name_it_is_mounted(tmp_path: Path) -> None:
    """Names on a disk are bytes, which need not be text; of blanks the kernel escapes three alone."""
    mounts = tmp_path / "mountinfo"
    mounts.write_bytes(
        b"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n23 22 0:30 / /mnt/\xff\xe8\xb4\xa2\xe3\x80\x80b rw - nfs server:/x rw\n"
    )
    assert "(nfs)" in refused(os.fsdecode(b"/mnt/\xff\xe8\xb4\xa2\xe3\x80\x80b/a.ledger"), mounts)
    assert refused("/mnt/a.ledger", mounts) == ""


def test_it_is_refused_with_the_cure(mounts: Path) -> None:
    assert refused("/mnt/share/a.ledger", mounts) == (
        "/mnt/share/a.ledger: lies on a file system (nfs4) whose locks and syncs are not known to hold, as a network's do not,"
        " and vouchers could be issued twice; put the ledger on a local disk (ext4, xfs, btrfs, zfs) and name it with --ledger"
    )


def test_a_ledger_that_is_mounted_by_itself_is_refused_with_the_cure(mounts: Path) -> None:
    assert refused("/data/a.ledger", mounts) == (
        "/data/a.ledger: is mounted by itself (a bind mount of the file alone), so that the files which belong beside it lie"
        " elsewhere; mount the folder that it lies in, and name the ledger there"
    )
    assert refused("/data/b.ledger", mounts) == ""
    assert refused("/over", mounts).startswith(
        "/over: "
    )  # no such folder here: whatever it is, it is no folder


OWNER = Owner("https://carrier.example", "AGENCY")


def test_both_ways_to_open_a_ledger_look_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection, lock = opening.open_for_run(tmp_path / "a.ledger", OWNER, may_create=True)
    connection.close()
    lock.close()
    monkeypatch.setattr(local_disk, "_LOCAL", frozenset())
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(InputProblem, match="not known to hold"):
        opening.open_for_reading(tmp_path / "a.ledger", OWNER)
    with pytest.raises(InputProblem, match="not known to hold"):
        opening.open_for_run(tmp_path / "b.ledger", OWNER, may_create=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's own file system is Linux's")
def test_a_real_file_system_that_is_none_for_a_ledger_is_refused() -> None:
    with pytest.raises(InputProblem, match=r"^/proc/a\.ledger: lies on a file system \(proc\) whose"):
        opening.open_for_run(Path("/proc/a.ledger"), OWNER, may_create=True)


def test_a_real_bind_mount_of_the_file_alone_is_refused_and_one_of_its_folder_is_not(
    tmp_path: Path, needs_tool: Callable[[str, object], None]
) -> None:
    unshare = shutil.which("unshare")
    needs_tool("unshare", unshare)
    assert unshare is not None
    command = [unshare, "--user", "--map-root-user", "--mount"]
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system does not let users mount")
    books, folder, alone = tmp_path / "books", tmp_path / "folder", tmp_path / "alone" / "a.ledger"
    connection, lock = opening.open_for_run(books / "a.ledger", OWNER, may_create=True)
    connection.close()
    lock.close()
    folder.mkdir()
    alone.parent.mkdir()
    alone.touch()
    script = (
        "import sys; from pathlib import Path; from pipeline.model.errors import Stop; from pipeline.ledger import opening; from pipeline.model.profile import Owner\n"
        "owner = Owner('https://carrier.example', 'AGENCY')\n"
        "for path in sys.argv[1:]:\n"
        "    for way in (lambda: opening.open_for_run(Path(path), owner, may_create=True),\n"
        "                lambda: opening.open_for_reading(Path(path), owner)):\n"
        "        try: way(); print('taken')\n"
        "        except Stop as problem: print(problem)\n"
    )
    mounting = f'mount --bind {books} {folder} && mount --bind {books}/a.ledger {alone} && exec "$@"'
    done = subprocess.run(
        [*command, "sh", "-c", mounting, "-", sys.executable, "-c", script, alone, folder / "a.ledger"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    told, again, *taken = done.stdout.splitlines() or [done.stderr, ""]
    assert told.startswith(f"{alone}: is mounted by itself (a bind mount of the file alone)")
    assert (again, taken) == (told, ["taken", "taken"])
    assert [path.name for path in alone.parent.iterdir()] == ["a.ledger"]
