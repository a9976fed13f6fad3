"""What is found in files and folders: by content, each once, and nothing left out but what is hidden."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.itinerary_files import container_bounds, container_process
from pipeline.itinerary_files.container_bounds import Seen
from pipeline.itinerary_files.find_files import found_files, may_hold_itineraries
from pipeline.model.errors import InputProblem
from pipeline.model.itinerary_file import FileStatus, FoundFile
from tests.unit.itinerary_files.containers import attached, mail, ofd, text_mail, zipped


def written(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def places(*given: Path) -> list[tuple[str, ...]]:
    return [found.place for found in found_files(given)]


def test_all_kinds_of_containers_are_opened_whatever_they_are_called(tmp_path: Path) -> None:
    one, two, three = ofd("1"), ofd("2"), ofd("3")
    written(tmp_path / "a.png", one)
    written(tmp_path / "b.dat", zipped([("in/two.jpg", two), ("deeper.txt", zipped([("three", three)]))]))
    written(tmp_path / "c", mail(attached(one), attached(two)))
    series = b"From a@b Tue Sep  8 10:00:00 2026\n" + mail(attached(three)).replace(b"\r", b"") + b"\n"
    written(tmp_path / "d.bin", series * 2)
    written(tmp_path / "e", b"ticket_no,amount\n")
    found = list(found_files([tmp_path]))
    assert [(one.place, one.content) for one in found] == [
        (("a.png",), one),
        (("b.dat", "in/two.jpg"), two),
        (("b.dat", "deeper.txt", "three"), three),
        (("c", "x.ofd"), one),
        (("c", "x.ofd"), two),
        (("d.bin", "#1 hello 2026-09-08", "x.ofd"), three),
        (("d.bin", "#2 hello 2026-09-08", "x.ofd"), three),
        (("e",), b"ticket_no,amount\n"),
    ]
    assert {one.problem for one in found} == {None}


def test_what_may_hold_itineraries_shows_from_how_it_begins(tmp_path: Path) -> None:
    series = b"From a@b Tue Sep  8 10:00:00 2026\n" + text_mail("x").replace(b"\r", b"")
    for content in (ofd(), zipped([("a", b"b")]), mail(attached(ofd())), series):
        assert may_hold_itineraries(written(tmp_path / "a.png", content))
    for content in (b"", b"ticket_no,amount\n", b"\x89PNG\r\n\x1a\n", b"From: the desk\nof somebody\n"):
        assert not may_hold_itineraries(written(tmp_path / "a.ofd", content))
    assert not may_hold_itineraries(tmp_path)


def test_a_folder_leaves_out_what_is_hidden_and_our_own_results(tmp_path: Path) -> None:
    for name in (
        ".hidden",
        "~$month.xlsx",
        ".~lock.x#",
        "month.result.xlsx",
        "may.reconciliation.2.xlsx",
        ".git/x",
        "b/c/1.ofd",
    ):
        written(tmp_path / name, ofd())
    assert places(tmp_path) == [("b/c/1.ofd",)]
    assert places(tmp_path / ".hidden") == [(".hidden",)], "it was named"


def test_of_a_maildir_mails_are_read_and_nothing_that_is_half_delivered(tmp_path: Path) -> None:
    for name in ("cur/1:2,S", "new/2", "tmp/3", ".Archive/cur/4:2,", "dovecot-uidlist", "subscriptions"):
        written(tmp_path / name, mail(attached(ofd())))
    for name in (".Archive/new", ".Archive/tmp"):
        (tmp_path / name).mkdir()
    assert places(tmp_path) == [(".Archive/cur/4:2,", "x.ofd"), ("cur/1:2,S", "x.ofd"), ("new/2", "x.ofd")]


def test_folders_called_like_those_of_a_maildir_are_folders(tmp_path: Path) -> None:
    for name in ("cur/1", "new/2", "3"):
        written(tmp_path / name, ofd())
    assert places(tmp_path) == [("3",), ("cur/1",), ("new/2",)]


def test_each_file_is_found_once(tmp_path: Path) -> None:
    path = written(tmp_path / "a.ofd", ofd())
    (tmp_path / "b.ofd").symlink_to(path)
    assert places(path, tmp_path, tmp_path) == [("a.ofd",)]


def test_links_out_of_the_folder_are_named_and_not_followed(tmp_path: Path) -> None:
    outside = written(tmp_path / "outside" / "secret.ofd", ofd("secret"))
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "file").symlink_to(outside)
    (folder / "folder").symlink_to(outside.parent)
    (folder / "nowhere").symlink_to(tmp_path / "gone")
    (folder / "round").symlink_to(folder)
    (folder / "self").symlink_to(folder / "self")
    found = list(found_files([folder]))
    assert [(one.place, one.problem, one.content) for one in found] == [
        ((name,), FileStatus.UNREADABLE, b"") for name in ("file", "folder", "nowhere", "round", "self")
    ]
    assert (
        str(found[0].reason) == "it is a link to another file, which is not followed; give that file itself"
    )
    given = tmp_path / "link"
    given.symlink_to(folder)
    assert len(places(given)) == 5, "the given path itself may be one"


def test_pipes_and_what_may_not_be_read_are_findings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    written(tmp_path / "shut", ofd())
    real = Path.stat

    def stat(path: Path, **how: bool) -> os.stat_result:
        if path.name == "shut":
            raise PermissionError(13, "Permission denied")
        return real(path, **how)

    monkeypatch.setattr(Path, "stat", stat)
    assert [(one.place, str(one.reason)) for one in found_files([tmp_path])] == [
        (("pipe",), "it is not a file but a pipe or a device"),
        (("shut",), "it can't be read; check the path and its permissions"),
    ]


def test_a_file_that_vanishes_before_it_is_read_is_a_finding(tmp_path: Path) -> None:
    written(tmp_path / "a", ofd())
    gone = written(tmp_path / "b", ofd())
    found = found_files([tmp_path])
    assert next(found).problem is None
    gone.unlink()
    assert [(one.place, one.problem) for one in found] == [(("b",), FileStatus.UNREADABLE)]


def test_names_in_no_known_encoding_are_shown(tmp_path: Path) -> None:
    raw = os.fsencode(tmp_path) + b"/" + "行程单\n.ofd".encode("gbk")
    Path(os.fsdecode(raw)).write_bytes(ofd())
    assert places(tmp_path) == [("行程单 .ofd",)]


def test_a_path_that_is_not_there_stops_the_run_before_anything_is_found(tmp_path: Path) -> None:
    with pytest.raises(InputProblem, match="gone: there is no such file; check the path"):
        found_files([written(tmp_path / "a", ofd()), tmp_path / "gone"])


def test_a_file_may_be_known_by_another_name(tmp_path: Path) -> None:
    path = written(tmp_path / "7.eml", mail(attached(ofd())))
    assert [one.place for one in found_files([path], {path: "电子行程单 2026-09-08"})] == [
        ("电子行程单 2026-09-08", "x.ofd")
    ]


@pytest.mark.slow
def test_a_folder_deeper_than_python_s_stack_is_walked(tmp_path: Path) -> None:
    deep = [tmp_path / "/".join("d" * depth) for depth in range(1, 1_101)]
    try:
        for folder in deep:
            folder.mkdir()
        written(deep[-1] / "x", ofd())
        assert len(places(tmp_path)) == 1
        (deep[-1] / "x").unlink()
    finally:
        for folder in reversed(deep):  # pytest's own cleaning has no such stack
            folder.rmdir()


class TestOfItsProcess:
    """What the process that looks into files comes to."""

    def test_it_is_one_for_all_files_and_ends_with_them(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        started = []
        real = container_process.started
        monkeypatch.setattr(
            container_process,
            "started",
            lambda *how, **more: started.append(real(*how, **more)) or started[-1],
        )
        for name in "abc":
            written(tmp_path / name, ofd())
        assert len(places(tmp_path)) == 3
        (process,) = started
        assert process.returncode is not None

    @pytest.mark.slow
    def test_it_ends_when_nobody_wants_more(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        started = []
        real = container_process.started
        monkeypatch.setattr(
            container_process,
            "started",
            lambda *how, **more: started.append(real(*how, **more)) or started[-1],
        )
        written(tmp_path / "a", zipped([(f"{number}", ofd()) for number in range(5_000)]))
        found = found_files([tmp_path])
        next(found)
        found.close()  # type: ignore[attr-defined]
        assert started[0].returncode is not None

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("program", "said"),
        [
            (
                "import sys; sys.stdin.buffer.read(1)",
                "its reading came to a sudden end; unpack it and give what is in it",
            ),
            (
                "import sys, time; sys.stdin.buffer.read(1); time.sleep(9)",
                "its reading said nothing for 1 seconds; unpack it and give what is in it",
            ),
            ("print('x' * 1000)", "its reading came to a sudden end; unpack it and give what is in it"),
            (
                "print('\\x02' + '\\0' * 7 + '[]', end='')",
                "its reading came to a sudden end; unpack it and give what is in it",
            ),
            (
                (
                    'import sys; said = b\'{"place": [], "size": 0, "problem": "unreadable", "reason": "trust me", "facts": {}}\';'
                    " sys.stdout.buffer.write(len(said).to_bytes(8, 'little') + said + bytes(8))"
                ),
                "its reading came to a sudden end; unpack it and give what is in it",
            ),
        ],
    )
    def test_what_ends_or_silences_it_or_makes_it_lie_costs_one_finding(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, said: str
    ) -> None:
        child = written(tmp_path / "child.py", program.encode())
        monkeypatch.setattr(container_process, "CHILD", child)
        monkeypatch.setattr(container_bounds, "SILENT_SECONDS", 1)
        found = found_files([written(tmp_path / "x" / name, ofd()) for name in "ab"])
        first = next(found)
        assert (first.place, first.problem, str(first.reason)) == (("a",), FileStatus.UNREADABLE, said)
        monkeypatch.undo()
        assert list(found) == [FoundFile(("b",), ofd())], "the next file has a process again"

    def test_one_that_ran_out_of_memory_is_ended_and_the_next_file_has_another(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        frame = json.dumps(
            {"place": [], "size": 0, "problem": "unreadable", "reason": Seen.MEMORY, "facts": {}}
        )
        said = len(frame).to_bytes(8, "little") + frame.encode()
        child = written(
            tmp_path / "child.py",
            f"import sys, time; sys.stdout.buffer.write({said!r}); sys.stdout.flush(); time.sleep(9)".encode(),
        )
        monkeypatch.setattr(container_process, "CHILD", child)
        found = found_files([written(tmp_path / "x" / name, ofd()) for name in "ab"])
        assert (
            str(next(found).reason)
            == "it takes more memory than a file may; unpack it and give what is in it"
        )
        monkeypatch.undo()
        assert list(found) == [FoundFile(("b",), ofd())]

    @pytest.mark.slow
    def test_what_takes_all_memory_or_time_costs_one_finding(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        head = b"From: a@b\nSubject: x\n"
        deep = [
            b'Content-Type: multipart/mixed; boundary="%d"\n\n--%d\n' % (number, number)
            for number in range(400)
        ]
        written(tmp_path / "1", head + b"X: y\n" * 14_000_000)
        written(tmp_path / "2", head + b"".join(deep) + b"\n" + b"x\n" * 20_000_000)
        written(tmp_path / "3", ofd())
        found = found_files([tmp_path])
        of_memory = next(found)
        monkeypatch.setattr(container_bounds, "SILENT_SECONDS", 5)
        of_time = next(found)
        monkeypatch.undo()
        (good,) = found
        assert of_memory.reason.text in (Seen.MEMORY, Seen.TIME), "on a slow machine time comes first"
        assert of_time.reason.text == Seen.TIME
        assert good == FoundFile(("3",), ofd())

    @pytest.mark.slow
    def test_it_has_no_keys_and_its_bounds(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("VOUCHER_API_KEY", "s3cret")
        started = []
        real = container_process.started
        monkeypatch.setattr(
            container_process,
            "started",
            lambda *how, **more: started.append(real(*how, **more)) or started[-1],
        )
        found = found_files(
            [written(tmp_path / "a", zipped([(f"{number}", ofd()) for number in range(5_000)]))]
        )
        next(found)
        about = Path(f"/proc/{started[0].pid}")
        assert b"s3cret" not in (about / "environ").read_bytes()
        assert str(container_bounds.MEMORY_BYTES) in (about / "limits").read_text()
        found.close()  # type: ignore[attr-defined]

    def test_a_bound_that_is_stricter_already_is_kept(self, tmp_path: Path) -> None:
        """As under `ulimit -f`: a bound that is set for all programs can't be raised by ours."""
        written(tmp_path / "a.zip", zipped([("1", ofd())]))
        program = (
            "import pathlib, resource, sys\n"
            "from pipeline.itinerary_files.find_files import found_files\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))\n"
            "print([(one.place, one.problem) for one in found_files([pathlib.Path(sys.argv[1])])])"
        )
        said = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
        )
        assert said.stdout.strip() == "[(('a.zip', '1'), None)]"


def test_mails_in_a_folder_that_offer_a_link_alone_are_told(tmp_path: Path) -> None:
    written(tmp_path / "1", text_mail("请点击 https://mail.example/1 下载", "电子行程单", "gbk"))
    written(tmp_path / "2", text_mail("see you"))
    assert [(one.problem, one.content) for one in found_files([tmp_path])] == [
        (FileStatus.LINK_ONLY, b""),
        (FileStatus.NOT_AN_ITINERARY, b""),
    ]
