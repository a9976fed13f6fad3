"""A ledger lies on a disk of this machine."""

from pathlib import Path

import pytest

from pipeline.errors import InputProblem
from pipeline.ledger import filesystem, opening
from pipeline.ledger.filesystem import check_local, remote_kind

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
""".strip()


@pytest.fixture
def mounts(tmp_path: Path) -> Path:
    (tmp_path / "mountinfo").write_text(MOUNTS)
    return tmp_path / "mountinfo"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/mnt/share/a.ledger", "nfs4"),
        ("/mnt/share/deep/in/it/a.ledger", "nfs4"),
        ("/mnt/office share/a.ledger", "cifs"),
        ("/home/chen/cloud/a.ledger", "fuse.rclone"),
        ("/over/a.ledger", "nfs"),
    ],
)
def test_network_file_systems_are_known_by_name(path: str, kind: str, mounts: Path) -> None:
    assert remote_kind(Path(path), mounts) == kind


@pytest.mark.parametrize(
    "path",
    ["/var/a.ledger", "/mnt/share/local/a.ledger", "/mnt/shared/a.ledger", "/home/chen/vault/a.ledger"],
)
def test_local_disks_are_fine(path: str, mounts: Path) -> None:
    assert remote_kind(Path(path), mounts) == ""


@pytest.mark.parametrize(("root", "kind"), [("9p", ""), ("nfs", "nfs"), ("overlay", "")])
def test_a_container_s_own_root_may_be_handed_in(root: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / "mountinfo").write_text(
        f"22 1 0:1 / / rw - {root} none rw\n23 22 0:2 / /share rw - 9p none rw"
    )
    assert remote_kind(Path("/var/a.ledger"), tmp_path / "mountinfo") == kind
    assert remote_kind(Path("/share/a.ledger"), tmp_path / "mountinfo") == "9p"


def test_without_the_kernels_list_nothing_is_known(tmp_path: Path) -> None:
    assert remote_kind(Path("/mnt/share/a.ledger"), tmp_path / "nothing") == ""


def test_a_ledger_on_one_is_refused_with_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filesystem, "remote_kind", lambda _: "nfs4")
    with pytest.raises(InputProblem) as refused:
        check_local(Path("a.ledger"))
    assert str(refused.value) == (
        "a.ledger: lies on a network file system (nfs4), where locks and syncs do not hold and vouchers could be issued"
        " twice; put the ledger on a local disk and name it with --ledger"
    )


def test_both_ways_to_open_a_ledger_look_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = opening.Owner("https://carrier.example", "AGENCY")
    connection, lock = opening.open_for_run(tmp_path / "a.ledger", owner, may_create=True)
    connection.close()
    lock.close()

    def refuse(path: Path) -> None:
        raise InputProblem(f"{path}: lies on a network file system")

    monkeypatch.setattr(opening, "check_local", refuse)
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(InputProblem, match="network"):
        opening.open_for_reading(tmp_path / "a.ledger", owner)
    with pytest.raises(InputProblem, match="network"):
        opening.open_for_run(tmp_path / "b.ledger", owner, may_create=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
