"""What a collection came to, as the page keeps and shows it."""

import datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from pipeline.model.file_status import FILE_STATUS, MISSING
from pipeline.model.itinerary_file import (
    CheckedFile,
    CollectedFile,
    FileStatus,
    ItineraryData,
    NotReceived,
    SealStatus,
)
from pipeline.model.message import Private, message
from pipeline.model.result_values import RunOrigin
from pipeline.model.settled import Decided
from pipeline.page import collection_work
from pipeline.page.collection_work import MOST_LISTED, shown_of, standing, tone
from pipeline.settlement.collection_result import Collection

DAY = datetime.date(2026, 11, 20)
NUMBER, TICKET = "2" * 20, "9990000000001"
WHY = message("the buyer “{buyer}” is none of this ledger's", buyer=Private("张<b>伟", whole=True))


def collected(status: FileStatus, *, same: bool = False, data: ItineraryData | None = None) -> CollectedFile:
    file = CheckedFile(("mails.zip", "a.ofd"), "a" * 64, data, SealStatus.INTACT)
    return CollectedFile(file, status, (WHY,), same=same)


def waiting(number: int, days: int, status: str = MISSING) -> NotReceived:
    ticket = f"999{number:010}"
    return NotReceived(NUMBER, ticket, "Acme", "f@example.com", 1000_00, DAY, days, status, f"R{number}")


def collection(files: tuple[CollectedFile, ...], missing: tuple[NotReceived, ...]) -> Collection:
    now = datetime.datetime(2026, 11, 20, tzinfo=datetime.UTC)
    return Collection(files, 5000, missing, Decided(), None, DAY, "en", "a.ledger", "L", RunOrigin(None, now))


def kept(said: Collection, folder: Path) -> dict[str, Any]:
    (folder / collection_work._SHOWN).write_bytes(orjson.dumps(collection_work._as_kept(said)))
    found = shown_of(folder)
    assert found
    return found


def test_what_is_kept_is_shown_as_it_was_said(tmp_path: Path) -> None:
    data = ItineraryData(NUMBER, (TICKET,))
    files = (
        collected(FileStatus.RECEIVED, data=data),
        collected(FileStatus.FOREIGN, data=data),
        collected(FileStatus.UNREADABLE),
        collected(FileStatus.DUPLICATE, same=True),
    )
    said = collection(files, (waiting(1, 9), waiting(2, 1)))
    found = kept(said, tmp_path)
    assert [*map(str, found["headline"])] == [
        "5,000 itineraries issued, 4,998 received, 2 missing, the longest for 9 days"
    ]
    assert found["headline"] == standing(said)["headline"]
    assert found["steps"] == standing(said)["steps"]
    assert found["counts"] == [["received", 1], ["duplicate", 1], ["foreign", 1], ["unreadable", 1]]
    # What was received before just so, and what is received, needs nobody.
    foreign, unreadable = found["files"]
    assert (str(foreign["why"]), foreign["tickets"], foreign["number"], foreign["seal"]) == (
        str(WHY), [TICKET], NUMBER, "intact",
    )  # fmt: skip
    assert (unreadable["tickets"], unreadable["seal"], unreadable["place"]) == ([], "", "mails.zip / a.ofd")
    assert [(one["ticket"], one["days"]) for one in found["missing"]] == [
        ("9990000000001", 9), ("9990000000002", 1),
    ]  # fmt: skip


def test_a_page_lists_so_many_and_counts_all(tmp_path: Path) -> None:
    many = MOST_LISTED + 7
    found = kept(
        collection(
            (collected(FileStatus.ALTERED),) * many, tuple(waiting(number, 9) for number in range(many))
        ),
        tmp_path,
    )
    for listed, count in (("files", "files_count"), ("missing", "missing_count")):
        assert (len(found[listed]), found[count]) == (MOST_LISTED, many)


def test_work_that_came_to_nothing_shows_nothing(tmp_path: Path) -> None:
    assert shown_of(tmp_path) is None


@pytest.mark.parametrize("status", [*FILE_STATUS, MISSING])
def test_every_status_has_a_badge(status: str) -> None:
    badge = "issued" if status == "received" else tone(status)
    assert tone(status) == badge
    assert (tone(status) == "issued") == (status == FileStatus.RECEIVED)
