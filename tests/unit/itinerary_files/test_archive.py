"""The archive: original bytes, never over others, on disk before they count; and compared with what a ledger lists."""

import datetime
import errno
import hashlib
import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.itinerary_files import archive
from pipeline.itinerary_files.archive import Archived, Verification, check_folder, keep, verify
from pipeline.model.errors import InputProblem, Stop
from pipeline.model.itinerary_file import ItineraryData

DATA = ItineraryData(
    "26948731111043132568",
    ("9992400000017", "9992400000018"),
    total=100000,
    issued_on=datetime.date(2026, 9, 8),
)
NAME = "2026-09/2026-09-08_9992400000017_26948731111043132568_1000.00.ofd"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def inside(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def noted(*kept: Archived) -> dict[str, str]:
    """What a ledger has of these files."""
    return {one.sha256: one.path for one in kept}


def test_a_file_is_kept_as_it_is_for_nobody_else(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "archive"
    assert keep(folder, [(DATA, b"one")], {}) == [Archived(NAME, sha256(b"one"))]
    assert inside(tmp_path) == {f"a/archive/{NAME}": b"one"}
    assert stat.S_IMODE((folder / NAME).stat().st_mode) == 0o600
    assert {
        stat.S_IMODE(path.stat().st_mode) for path in (folder, folder.parent, (folder / NAME).parent)
    } == {0o700}


def test_nothing_is_written_over_and_the_same_bytes_are_kept_once(tmp_path: Path) -> None:
    second, third = NAME.replace(".ofd", "-2.ofd"), NAME.replace(".ofd", "-3.ofd")
    kept = keep(tmp_path, [(DATA, content) for content in (b"one", b"two", b"one", b"three", b"two")], {})
    assert [one.path for one in kept] == [NAME, second, NAME, third, second]
    assert keep(tmp_path, [(DATA, b"two")], {}) == [Archived(second, sha256(b"two"))]
    assert inside(tmp_path) == {NAME: b"one", second: b"two", third: b"three"}


@pytest.mark.parametrize(
    "put",
    [Path.mkdir, lambda path: path.symlink_to("/nowhere"), lambda path: path.symlink_to(__file__), os.mkfifo],
)
def test_what_is_no_file_of_ours_is_left_alone(tmp_path: Path, put: Callable[[Path], None]) -> None:
    (tmp_path / NAME).parent.mkdir()
    put(tmp_path / NAME)
    content = Path(__file__).read_bytes()
    assert keep(tmp_path, [(DATA, content)], {}) == [
        Archived(NAME.replace(".ofd", "-2.ofd"), sha256(content))
    ]
    assert Path(__file__).read_bytes() == content


def test_no_path_is_built_of_text_that_is_not_checked(tmp_path: Path) -> None:
    hostile = ItineraryData("../../../x", ("ZHANG/WEI",), total=5, issued_on=None)
    (kept,) = keep(tmp_path / "archive", [(hostile, b"x")], {})
    assert kept.path == "undated/undated_no-ticket_no-number_0.05.ofd"
    assert set(inside(tmp_path)) == {f"archive/{kept.path}"}
    wide = ItineraryData("２" * 20, ("٩" * 13,), total=None)
    assert archive.name_of(wide) == "undated/undated_no-ticket_no-number_no-total.ofd"


def test_files_and_folders_are_synced_before_they_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, bool]] = []
    real = archive.sync

    def sync(path: Path) -> None:
        synced.append((path.relative_to(tmp_path).as_posix(), (tmp_path / NAME).exists()))
        real(path)

    monkeypatch.setattr(archive, "sync", sync)
    keep(tmp_path, [(DATA, b"one")], {})
    content, *after = synced
    assert content[0].startswith(".voucher-")
    assert not content[1], "a name leads to whole bytes, whenever power is lost"
    assert sorted(after) == [("2026-09", True), (NAME, True)]
    synced.clear()
    keep(tmp_path, [(DATA, b"one")], {})
    assert sorted(name for name, _ in synced) == ["2026-09", NAME], (
        "an earlier run may have been killed before"
    )


def test_a_disk_that_is_full_is_told_and_nothing_half_made_remains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archive, "sync", full)
    with pytest.raises(Stop) as stopped:
        keep(tmp_path, [(DATA, b"one")], {})
    assert str(stopped.value) == (
        f"--archive {tmp_path}: can't be written (No space left on device); free disk space or mend the disk, then run again"
    )
    assert stopped.value.exit_code == 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "cure"),
    [
        (errno.EROFS, "name a folder that can be written to, or change its permissions"),
        (errno.EACCES, "name a folder that can be written to, or change its permissions"),
        (errno.ENOSPC, "free disk space or mend the disk, then run again"),
        (errno.EIO, "free disk space or mend the disk, then run again"),
    ],
)
def test_what_stops_it_is_told_with_its_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, cure: str
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "mkdir", refused)
    with pytest.raises(Stop) as stopped:
        keep(tmp_path, [(DATA, b"one")], {})
    assert str(stopped.value).endswith(f"; {cure}")


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(InputProblem) as told:
            check_folder(folder)
        assert str(told.value) == f"--archive {folder}: {tmp_path / 'file'} is no folder; name another place"
        with pytest.raises(Stop, match="name another place"):
            keep(folder, [(DATA, b"one")], {})
    check_folder(tmp_path)
    check_folder(tmp_path / "not" / "yet")


def test_where_nothing_new_is_kept_nothing_is_written(tmp_path: Path) -> None:
    """So that an archive on read-only media will do."""
    kept = keep(tmp_path, [(DATA, b"one")], {})
    before = tmp_path.stat().st_mtime_ns
    assert keep(tmp_path, [(DATA, b"one")], {}) == kept
    assert tmp_path.stat().st_mtime_ns == before
    keep(tmp_path, [(DATA, b"two")], {})
    assert tmp_path.stat().st_mtime_ns != before, "a folder for files half made was in it"


def test_a_file_system_without_hard_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refused)
    assert [one.path for one in keep(tmp_path, [(DATA, b"one"), (DATA, b"two"), (DATA, b"one")], {})] == [
        NAME, NAME.replace(".ofd", "-2.ofd"), NAME,
    ]  # fmt: skip
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600


def damage(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"x")


def unreadable(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


class TestOfPuttingBack:
    """What the ledger has as kept, and is not as it was."""

    @pytest.mark.parametrize("lose", [Path.unlink, damage, unreadable])
    def test_what_is_missing_or_damaged_is_put_back_in_its_place_once(
        self, tmp_path: Path, lose: Callable[[Path], None]
    ) -> None:
        known = noted(*keep(tmp_path, [(DATA, b"one"), (DATA, b"two")], {}))
        lose(tmp_path / NAME)
        one = Archived(NAME, sha256(b"one"))
        same = [(DATA, b"one")] * 2
        assert keep(tmp_path, same, known) == [replace(one, put_back=True), one]
        assert keep(tmp_path, same, known) == [one, one]
        assert verify(tmp_path, known) == Verification(intact=2)
        assert (tmp_path / NAME).read_bytes() == b"one"

    def test_what_is_damaged_is_set_aside_as_it_is(self, tmp_path: Path) -> None:
        known = noted(*keep(tmp_path, [(DATA, b"one")], {}))
        for content in (b"x", b"y"):
            (tmp_path / NAME).write_bytes(content)
            keep(tmp_path, [(DATA, b"one")], known)
        assert inside(tmp_path) == {NAME: b"one", f"{NAME}.damaged": b"x", f"{NAME}-2.damaged": b"y"}

    def test_a_place_that_was_noted_is_no_other_file_s_be_it_missing_or_these_very_bytes(
        self, tmp_path: Path
    ) -> None:
        known = noted(*keep(tmp_path, [(DATA, b"one")], {}))
        (tmp_path / NAME).write_bytes(b"two")
        (two,) = keep(tmp_path, [(DATA, b"two")], known)
        (tmp_path / NAME).unlink()
        (three,) = keep(tmp_path, [(DATA, b"three")], known | noted(two))
        assert [two.path, three.path] == [NAME.replace(".ofd", f"-{number}.ofd") for number in (2, 3)]
        known |= noted(two, three)
        assert [one.path for one in keep(tmp_path, [(DATA, b"one")], known)] == [NAME]
        assert verify(tmp_path, known) == Verification(intact=3)

    def test_where_two_were_noted_at_one_place_it_is_the_first_one_s_and_the_other_may_lie_anywhere(
        self, tmp_path: Path
    ) -> None:
        """Earlier versions noted so what a damaged file had become."""
        keep(tmp_path, [(DATA, b"damaged")], {})
        known = {sha256(b"one"): NAME, sha256(b"damaged"): NAME}
        keep(tmp_path, [(DATA, b"one")], known)
        assert verify(tmp_path, known) == Verification(intact=1)
        keep(tmp_path, [(DATA, b"damaged")], known)
        assert inside(tmp_path) == {
            NAME: b"one", f"{NAME}.damaged": b"damaged", NAME.replace(".ofd", "-2.ofd"): b"damaged",
        }  # fmt: skip
        assert verify(tmp_path, known) == Verification(intact=1)

    def test_a_name_that_is_none_of_ours_is_no_place(self, tmp_path: Path) -> None:
        folder = tmp_path / "archive"
        kept = keep(folder, [(DATA, b"one")], {sha256(b"one"): "../secret.ofd"})
        assert kept == [Archived(NAME, sha256(b"one"))]
        assert set(inside(tmp_path)) == {f"archive/{NAME}"}


class TestOfVerifying:
    """An archive beside the ledger's list of it."""

    def test_an_archive_as_it_was_is_intact(self, tmp_path: Path) -> None:
        kept = keep(tmp_path, [(DATA, b"one"), (DATA, b"two")], {})
        assert verify(tmp_path, noted(*kept)) == Verification(intact=2)

    def test_what_is_missing_altered_or_unlisted_is_named(self, tmp_path: Path) -> None:
        lost, changed, swapped, other, good = keep(
            tmp_path, [(DATA, content.encode()) for content in "abcde"], {}
        )
        (tmp_path / lost.path).unlink()
        (tmp_path / changed.path).write_bytes(b"B")
        (tmp_path / swapped.path).unlink()
        (tmp_path / swapped.path).symlink_to(tmp_path / good.path)
        for name in ("2026-09/notes.txt", ".voucher-half/0", "x", ".hidden"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes(b"x")
        (tmp_path / "away").symlink_to(tmp_path.parent)
        assert verify(tmp_path, noted(lost, changed, swapped, good)) == Verification(
            1,
            missing=(lost.path,),
            altered=(changed.path, swapped.path),
            unlisted=(".hidden", other.path, "2026-09/notes.txt", "away", "x"),
        )

    @pytest.mark.parametrize(
        "path",
        ["../secret.ofd", "/etc/passwd", "2026-09/../../secret.ofd", "2026-09/a/b.ofd", "2026-09/a.OFD", ""],
    )
    def test_nothing_is_opened_by_a_name_that_is_none_of_ours(self, tmp_path: Path, path: str) -> None:
        (tmp_path / "secret.ofd").write_bytes(b"x")
        (tmp_path / "archive" / "2026-09").mkdir(parents=True)
        assert verify(tmp_path / "archive", {sha256(b"x"): path}) == Verification(missing=(path,))

    def test_one_that_can_t_be_read_is_named_and_the_others_are_looked_at(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shut, good = keep(tmp_path, [(DATA, b"one"), (DATA, b"two")], {})
        real = Path.open

        def opened(path: Path, *how: str) -> Any:
            if path == tmp_path / shut.path:
                raise OSError(5, "Input/output error")
            return real(path, *how)

        monkeypatch.setattr(Path, "open", opened)
        assert verify(tmp_path, noted(shut, good)) == Verification(1, unreadable=(shut.path,))

    def test_a_folder_that_is_not_there_stops_the_run(self, tmp_path: Path) -> None:
        with pytest.raises(InputProblem, match="gone: there is no such folder; check the path"):
            verify(tmp_path / "gone", {})
