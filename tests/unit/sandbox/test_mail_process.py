"""The process that writes mails: when, in which order, and what it says of what it could not write."""

import os
import pickle
import stat
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest

from pipeline.pickled_values import packed
from pipeline.sandbox.itinerary import FareParts, Itinerary
from pipeline.sandbox.itinerary_mail import MailOrder
from pipeline.sandbox.mail_delivery import _RUN
from pipeline.sandbox.mail_process import Delivered, deliver
from tests.unit.sandbox.mailed import mail

OF_THE_PAST = 1.0


def order(
    number: int, due: float = OF_THE_PAST, *faults: str, address: str = "books@example.com"
) -> MailOrder:
    itinerary = Itinerary(
        f"{number:020}", "9991234567890", "ZHANG/WEI", "Acme", "", "domestic", None, date(2026, 11, 20), FareParts.of(1)
    )  # fmt: skip
    return MailOrder(itinerary, address, due, frozenset({"unsealed", *faults}))


def delivered(folder: Path, orders: Sequence[MailOrder]) -> Delivered:
    """What becomes of orders that have all come when the other side closes."""
    reading, writing = os.pipe()
    try:
        with os.fdopen(writing, "wb") as file:
            file.write(b"".join(map(packed, orders)))
        return deliver(reading, folder)
    finally:
        os.close(reading)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_is_due_is_written_and_the_rest_left(tmp_path: Path) -> None:
    told = delivered(tmp_path, [order(1), order(2, time.time() + 3600), order(3)])
    assert told == Delivered(written=2, not_due=1)
    assert names(tmp_path) == [f"{1:020}.eml", f"{3:020}.eml"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


@pytest.mark.parametrize(
    ("first", "second", "wins"), [(1.0, 1.0, "first"), (1.0, 2.0, "first"), (2.0, 1.0, "second")]
)
def test_mails_are_written_in_the_order_in_which_they_are_due_and_came(
    tmp_path: Path, first: float, second: float, wins: str
) -> None:
    """Of two mails of one name the first that is written stays."""
    told = delivered(tmp_path, [order(1, first, address="first@x"), order(1, second, address="second@x")])
    assert (told.written, told.failed) == (1, 1)
    assert mail((tmp_path / f"{1:020}.eml").read_bytes())["To"] == f"{wins}@x"


@pytest.mark.slow
def test_a_mail_is_written_when_it_is_due_while_the_other_side_is_open(tmp_path: Path) -> None:
    with process(tmp_path) as running:
        assert running.stdin is not None
        began = time.time()
        for one in (order(1, began + 0.4), order(2)):
            running.stdin.write(packed(one))
        running.stdin.flush()
        seen: dict[str, float] = {}
        while len(seen) < 2:
            assert time.time() < began + 20, seen
            time.sleep(0.005)
            for path in tmp_path.glob("*.eml"):
                seen.setdefault(path.name, time.time())
        assert list(seen) == [f"{2:020}.eml", f"{1:020}.eml"]
        assert (tmp_path / f"{1:020}.eml").stat().st_mtime >= began + 0.4
        assert end(running) == Delivered(written=2)


def test_a_mail_that_can_not_be_written_is_told_and_the_next_one_tried(tmp_path: Path) -> None:
    (tmp_path / f"{1:020}.eml").write_text("somebody else's")
    told = delivered(tmp_path, [order(1), order(2), order(1)])
    assert (told.written, told.failed, told.problem) == (1, 2, "File exists")
    assert names(tmp_path) == [f"{1:020}.eml", f"{2:020}.eml"]
    assert (tmp_path / f"{1:020}.eml").read_text() == "somebody else's"


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    with process(
        tmp_path, "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
    ) as running:
        assert running.stdin is not None
        running.stdin.write(packed(order(1)))
        told = end(running)
    assert (told.written, told.failed, told.problem) == (0, 1, "File too large")
    assert names(tmp_path) == []


def test_an_order_cut_short_is_none(tmp_path: Path) -> None:
    """As where the carrier is killed: what came whole is mailed."""
    with process(tmp_path) as running:
        assert running.stdin is not None
        running.stdin.write(packed(order(1)) + packed(order(2))[:-1])
        assert end(running) == Delivered(written=1)
    assert names(tmp_path) == [f"{1:020}.eml"]


def process(folder: Path, first: str = "") -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-P", "-c", first + _RUN, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )


def end(running: "subprocess.Popen[bytes]") -> Delivered:
    told, _ = running.communicate(timeout=20)
    answer = pickle.loads(told)
    assert isinstance(answer, Delivered)
    return answer


@pytest.mark.parametrize("faults", [("never",), ("twice",)])
def test_an_order_is_as_many_mails_as_its_faults_make(tmp_path: Path, faults: tuple[str, ...]) -> None:
    assert (
        delivered(tmp_path, [order(1, OF_THE_PAST, *faults)]).written == {"never": 0, "twice": 2}[faults[0]]
    )
