"""No power cut loses what was acknowledged; and the harness that says so does find what is lost."""

import itertools
import random
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import apsw
import pytest

from pipeline.ledger import opening
from pipeline.ledger.schema import Steps
from tests.crash.power_checks import Promises, Wrong, check
from tests.crash.power_disk import (
    FOLDER,
    KINDS,
    SECTOR,
    Disk,
    Event,
    FolderSynced,
    Image,
    Kind,
    Name,
    Synced,
    Write,
)
from tests.crash.power_life import NAME, lives
from tests.crash.power_loss import look
from tests.crash.power_recorder import Acknowledged, Recording, recording


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3, 4, 5, 7))]
)  # in 7 the ledger is upgraded
def test_no_power_cut_loses_what_was_acknowledged(seed: int) -> None:
    found = look(seed, 100)
    assert (found.images, found.told) == (100, [])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_a_folder_that_the_program_made_is_not_lost_either(seed: int) -> None:
    found = look(seed, 40, made_folder=True)
    assert (found.images, found.told) == (40, [])


def _with(setting: str) -> Callable[[Path, int, Steps], apsw.Connection]:
    connect = opening._connect

    def connected(path: Path, flags: int, steps: Steps) -> apsw.Connection:
        connection = connect(path, flags, steps)
        connection.execute(f"PRAGMA {setting}")
        return connection

    return connected


@pytest.mark.parametrize(
    ("setting", "seed", "wrong"),
    [("NORMAL", 0, "lost"), pytest.param("OFF", 1, "corrupt", marks=pytest.mark.slow)],
)
def test_a_ledger_that_syncs_less_is_seen_to_lose_what_was_acknowledged(
    setting: str, seed: int, wrong: str
) -> None:
    with mock.patch.object(opening, "_connect", _with(f"synchronous = {setting}")):
        found = look(seed, 60)
    assert found.wrong[wrong] > 0, found


def test_a_creation_cut_off_between_its_two_names_is_no_obstacle_for_the_next_start(tmp_path: Path) -> None:
    """The name that the ledger was made under is still there: a second name of the same file."""
    made = next(life for life in (lives(seed)[0] for seed in range(9)) if not life.start.names)
    named = next(
        at for at, event in enumerate(made.events, 1) if isinstance(event, Name) and event.path == NAME
    )
    image = left_after(made.events[:named], EVERYTHING, made.start)
    assert sum(node == image.names[NAME] for node in image.names.values()) == 2
    folders = tmp_path / "looking", tmp_path / "opened"
    for folder in folders:
        folder.mkdir()
    assert check(Promises(made), named, image, *folders, thorough=True)


NOTHING, EVERYTHING = KINDS[:2]
OLD, NEW = b"o" * 3 * SECTOR, b"n" * 3 * SECTOR


def left_after(events: list[Event], kind: Kind | None, start: Image | None = None, draw: int = 0) -> Image:
    disk = Disk(start or Image(), events)
    disk.advance(len(events))
    return disk.lost_power(kind, random.Random(draw))


def test_what_was_synced_is_there_whatever_else_arrives() -> None:
    events: list[Event] = [
        Name("a", 1),
        Write(1, 0, OLD),
        Synced(1),
        FolderSynced(""),
        Write(1, len(OLD), NEW),
    ]
    for draw in range(200):
        image = left_after(events, KINDS[draw % len(KINDS)], draw=draw)
        assert image.contents[image.names["a"]].startswith(OLD)


def test_what_was_not_synced_arrives_in_any_part() -> None:
    events: list[Event] = [Name("a", 1), Write(1, 0, OLD), Synced(1), FolderSynced(""), Write(1, 0, NEW)]
    found = {left_after(events, kind, draw=draw).contents[1] for kind in KINDS for draw in range(100)}
    parts = {
        b"".join((OLD, NEW)[bit][:SECTOR] for bit in bits) for bits in itertools.product((0, 1), repeat=3)
    }
    assert parts <= found
    assert any(set(content) - set(OLD + NEW) for content in found)  # a sector cut while it was written
    assert left_after(events, NOTHING).contents[1] == OLD
    assert left_after(events, EVERYTHING).contents[1] == NEW


def test_a_name_is_sure_when_its_folder_was_synced_and_not_before() -> None:
    events: list[Event] = [Name("sub", FOLDER), Name("sub/a", 1), Synced(1), FolderSynced("sub")]
    assert not left_after(events, NOTHING).names  # the folder itself may be gone
    events.append(FolderSynced(""))
    assert set(left_after(events, NOTHING).names) == {"sub", "sub/a"}
    events.append(Name("sub/b", 1, old="sub/a"))
    found = {tuple(sorted(left_after(events, kind, draw=draw).names)) for kind in KINDS for draw in range(20)}
    assert found == {("sub", "sub/a"), ("sub", "sub/b")}


def test_a_recording_that_missed_something_is_refused(tmp_path: Path) -> None:
    folder, spare = tmp_path / "folder", tmp_path / "spare"
    for each in (folder, spare):
        each.mkdir()
    with recording(Image(), NAME, folder, spare) as recorder:
        connection = apsw.Connection(str(folder / NAME))
        connection.execute("CREATE TABLE one (two)")
        connection.close()
        recorder.check_complete()
        (folder / "past-the-recorder").write_bytes(b"x")
        with pytest.raises(AssertionError, match="past-the-recorder"):
            recorder.check_complete()


def test_an_acknowledgement_of_what_was_never_committed_is_a_loss() -> None:
    told = Acknowledged(0, "sending (1, 1)", lambda found: (1, 1) in found)
    with pytest.raises(Wrong, match="never committed"):
        Promises(Recording(Image(), NAME, acknowledged=[told]))
