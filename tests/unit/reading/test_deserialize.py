"""A reader that a file has taken over can say wrong values, and nothing else: what it writes is data, checked here."""

import json
import os
import pickle
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from pipeline.model.errors import InputProblem
from pipeline.model.message import SheetName, message
from pipeline.reading import child_process
from pipeline.reading.child_process import Ended, Opening
from pipeline.reading.deserialize import NotAnAnswer, loads
from pipeline.reading.formats.serialize import dumps
from pipeline.reading.input_files import read_sheets

SHEET: dict[str, Any] = {
    "name": "S", "visible": True, "first_row": 0, "first_column": 0, "height": 3, "merged": [[0, 0, 1, 0]],
    "currencies": [["$", 2]], "columns": [[["a", 1.5], 3], [["x", "y", "z"], None]],
}  # fmt: skip
NUMBERS = [1, 1, 0, 1, 1]


class Harm:
    """What a pickle does when it is read."""

    def __init__(self, done: Path) -> None:
        self.done = done

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.done),)


def answer(sheet: Any = None, numbers: list[int] | None = None, **more: Any) -> bytes:
    said = {"readings": [[SHEET if sheet is None else sheet]], "certain": True, "detail": "", **more}
    text = orjson.dumps(said)
    behind = struct.pack(f"<{len(numbers or NUMBERS)}i", *(numbers or NUMBERS))
    return len(text).to_bytes(8, "little") + text + behind


def framed(said: bytes) -> bytes:
    """One thing that is said, with its length before it."""
    return len(said).to_bytes(8, "little") + said


def piece(number: Any, *columns: Any, numbers: list[int]) -> bytes:
    text = orjson.dumps({"piece": number, "columns": columns})
    return len(text).to_bytes(8, "little") + text + struct.pack(f"<{len(numbers)}i", *numbers)


@pytest.fixture
def taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """A file whose reader does what a script does."""

    def make(script: str) -> Path:
        (tmp_path / "child.py").write_text(script)
        monkeypatch.setattr(child_process, "CHILD", tmp_path / "child.py")
        path = tmp_path / "t.csv"
        path.write_text("ticket_no\n9991234567890\n")
        return path

    return make


def test_what_the_reader_writes_is_taken() -> None:
    (sheet,) = loads([answer()])["readings"][0]
    assert [list(codes) for _, codes in sheet["columns"]] == [[0, 1, 1], [0, 1, 2]]
    assert (sheet["merged"], list(sheet["currencies"]["$"])) == ([(0, 0, 1, 0)], [1, 1])
    problem = b"".join(dumps({"problem": "encrypted", "detail": ""}))
    assert loads([problem]) == {"problem": "encrypted", "detail": ""}


#: The sheet's second row and third, and the piece that holds its first.
BELOW = {**SHEET, "pieces": [4], "columns": [[["a"], 2], [["z"], None]]}
FIRST = piece(4, [["b"], 1], [["x", "y"], None], numbers=[0])


def test_pieces_are_taken_together_with_what_is_below_them() -> None:
    (sheet,) = loads([FIRST, answer(BELOW, [1, 1, 1, 0])])["readings"][0]
    assert [(values, list(codes)) for values, codes in sheet["columns"]] == [
        (["b", "a"], [0, 1, 0]),
        (["x", "y", "z"], [0, 1, 2]),
    ]


def test_of_two_pieces_of_one_number_the_last_one_counts() -> None:
    before = piece(4, [["c"], 1], [["u", "v"], None], numbers=[0])
    (sheet,) = loads([before, FIRST, answer(BELOW, [1, 1, 1, 0])])["readings"][0]
    assert sheet["columns"][0][0] == ["b", "a"]


@pytest.mark.parametrize(
    ("first", "below"),
    [
        (FIRST, {"pieces": [5]}), (FIRST, {"pieces": [4, 4], "height": 5}), (FIRST, {"pieces": 4}), (FIRST, {"pieces": [[4]]}),
        (FIRST, {"height": 2}), (FIRST[:-1], {}), (FIRST[:-4], {}), (answer(BELOW), {}),
        (piece(4, [["b"], 1], [["x", "y"], None], numbers=[1]), {}),  # of a value that only the next piece has
        (piece(4, [["b"], 1], [["x", "y"], None], numbers=[-1]), {}), (piece(4, [["b", 1], 1], numbers=[0]), {}),
        (piece([4], [["b"], 1], [["x", "y"], None], numbers=[0]), {}), (piece(4, ["b"], numbers=[0]), {}),
    ],
)  # fmt: skip
def test_a_piece_that_does_not_fit_is_no_answer(first: bytes, below: dict[str, Any]) -> None:
    with pytest.raises(NotAnAnswer):
        loads([first, answer({**BELOW, **below}, [1, 1, 1, 0])])


@pytest.mark.parametrize("said", [framed(answer()) + b"more", framed(answer())[:-1], framed(FIRST)])
def test_what_is_cut_off_on_its_way_is_no_answer(taken_over: Callable[[str], Path], said: bytes) -> None:
    with pytest.raises(InputProblem, match="does not fit together"):
        read_sheets(taken_over(f"import sys; sys.stdout.buffer.write({said!r})"))


@pytest.mark.parametrize("said", [[], [FIRST]])
def test_pieces_alone_are_no_answer(said: list[bytes]) -> None:
    with pytest.raises(NotAnAnswer):
        loads(said)


@pytest.mark.parametrize(
    "change",
    [
        {"height": -1}, {"height": 2}, {"height": 3.0}, {"height": True}, {"height": 2**40}, {"height": 200_000_000},
        {"first_row": -1}, {"first_column": "0"}, {"name": 5}, {"name": None}, {"columns": {"ab": 1}}, {"columns": None},
        {"columns": [[["a"], 3], [["x"], None]]}, {"columns": [["abc", None]]}, {"columns": [[["a", 1], 3]]},
        {"columns": [[["a", None], 3]]}, {"columns": [[["a", True], 3]]}, {"columns": [[["a", {"b": 1}], 3]]},
        {"columns": [[["a", ["date", "31.12.2026"]], 3]]}, {"columns": [[["a", ["eval", "1"]], 3]]},
        {"columns": [[["a", ["date"]], 3]]}, {"columns": [[["a", ["timedelta", "1e300"]], 3]]},
        {"columns": [[["a", 1.0], 4]]}, {"columns": [[["a", 1.0], -1]]}, {"columns": [[["a", 1.0], 10**9]]},
        {"columns": [[["x", "y", "z", "w"], None]]}, {"currencies": [["$", 1]]}, {"currencies": {"$": 2}},
        {"merged": [[0, 0, 1, -1]]}, {"merged": [[0, 0, 1, 2**40]]}, {"merged": 5},
    ],
)  # fmt: skip
def test_whatever_does_not_fit_is_no_answer(change: dict[str, Any]) -> None:
    with pytest.raises(NotAnAnswer):
        loads([answer({**SHEET, **change})])


@pytest.mark.parametrize(
    "said",
    [
        b"", b"\0", b"{}", b"\xff" * 64, (2).to_bytes(8, "little") + b"{}", (4).to_bytes(8, "little") + b"null",
        answer()[:-1], answer()[:-4], answer(numbers=[1, 1, 0, 1, 2]), answer(numbers=[1, 1, 0, 1, -1]),
        answer(numbers=[-1, 1, 0, 1, 1]), answer(readings=[]), answer(readings=[[]] * 9), answer(readings={}),
        answer(certain=True, detail=None), (200_000).to_bytes(8, "little") + b"[" * 200_000,
        b"".join(dumps({"problem": "damaged", "detail": ["a"]})),
    ],
)  # fmt: skip
def test_whatever_is_cut_off_or_another_is_no_answer(said: bytes) -> None:
    with pytest.raises(NotAnAnswer):
        loads([said])


def test_a_pickle_is_not_read(taken_over: Callable[[str], Path], tmp_path: Path) -> None:
    harm = framed(pickle.dumps({"readings": Harm(tmp_path / "harm"), "certain": True}))
    path = taken_over(f"import sys; sys.stdout.buffer.write({harm!r})")
    with pytest.raises(InputProblem, match="does not fit together"):
        read_sheets(path)
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize(
    ("said", "taken"),
    [
        (
            {"detail": "it holds {count} parts", "facts": {"count": 7}},
            message("it holds {count} parts", count=7),
        ),
        (
            {"detail": "sheet {sheet} spans {count} cells", "facts": {"sheet": "王小明", "count": 2**40}},
            message("sheet {sheet} spans {count} cells", sheet=SheetName("王小明"), count=2**40),
        ),
        ({"detail": "Permission denied"}, message("Permission denied")),
        ({"detail": "{sheet} is yours", "facts": {"sheet": "x"}}, "{sheet} is yours"),
        ({"detail": "Nothing was sent."}, "Nothing was sent."),
    ],
)
def test_only_texts_of_ours_about_files_are_taken_for_ours(said: dict[str, Any], taken: Any) -> None:
    detail = loads([b"".join(dumps({"problem": "damaged", **said}))])["detail"]
    assert (detail, type(detail)) == (taken, type(taken))


@pytest.mark.parametrize(
    "facts", [{}, {"count": 1, "other": 2}, {"count": [1]}, {"count": None}, [], "count"]
)
def test_a_text_of_ours_with_other_facts_is_no_answer(facts: Any) -> None:
    with pytest.raises(NotAnAnswer):
        loads([b"".join(dumps({"problem": "damaged", "detail": "it holds {count} parts", "facts": facts}))])


def test_a_code_that_nobody_knows_is_a_damaged_file(taken_over: Callable[[str], Path]) -> None:
    said = framed(b"".join(dumps({"problem": "no such", "detail": "{path.__class__}" + "x" * 10_000})))
    with pytest.raises(InputProblem, match="can't be read as a workbook") as refused:
        read_sheets(taken_over(f"import sys; sys.stdout.buffer.write({said!r})"))
    assert len(str(refused.value)) < 600


def test_one_that_never_stops_talking_is_ended(
    taken_over: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_process, "LARGEST_ANSWER", 10_000_000)
    path, begun = taken_over("import os\nwhile True: os.write(1, b'x' * 65536)"), time.monotonic()
    with pytest.raises(Ended) as ended:
        [*Opening(path).said()]
    assert ended.value.problem["problem"] == "too_large"
    assert time.monotonic() - begun < 60


@pytest.mark.slow
def test_one_that_says_nothing_is_ended(
    taken_over: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_process, "TIME_SECONDS", 0.2)
    for silent in ("", "os.close(1); "):
        with pytest.raises(Ended) as ended:
            [*Opening(taken_over(f"import os, time; {silent}time.sleep(60)")).said()]
        assert "longer than" in str(ended.value.problem["detail"])


def test_the_reader_gets_no_keys_of_anybody_s(
    taken_over: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("VOUCHER_API_KEY", "VOUCHER_ENCRYPTION_KEY", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD"):
        monkeypatch.setenv(name, "canary-secret")
    seen = tmp_path / "environment"
    script = f"import os, json; open({str(seen)!r}, 'w').write(json.dumps(dict(os.environ)))"
    assert [*Opening(taken_over(script)).said()] == []
    environment = json.loads(seen.read_text())
    assert "canary-secret" not in environment.values()
    assert environment["PATH"] == os.environ["PATH"]
