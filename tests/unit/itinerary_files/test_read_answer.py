"""What the process that reads says is taken apart and checked: it may have been taken over."""

from typing import Any

import orjson
import pytest

from pipeline.itinerary_files.itinerary_reader import read_itinerary
from pipeline.itinerary_files.read_answer import NotAnAnswer, read_file
from pipeline.itinerary_files.read_reasons import FIELD_WORDS, SOURCE_WORDS, Reason
from pipeline.model.itinerary_file import FieldSource, FileStatus, ItineraryData, SealStatus
from pipeline.model.message import Private
from tests.unit.itinerary_files.ofd_files import NUMBER, itinerary

GOOD = orjson.loads(orjson.dumps(read_itinerary(itinerary(), ())))
REFUSED = {"problem": "unreadable", "reasons": [["it has {count} pages", {"count": 9}]]}


def with_data(**changes: Any) -> dict[str, Any]:
    """The good answer with other values, each with a source."""
    return GOOD | {
        "data": GOOD["data"] | changes,
        "sources": GOOD["sources"] | dict.fromkeys(changes, "page"),
    }


def test_good_answers_come_through() -> None:
    file = read_file(orjson.dumps(GOOD))
    assert isinstance(file.data, ItineraryData)
    assert (file.seal, file.data.number) == (SealStatus.INTACT, NUMBER)
    refused = read_file(orjson.dumps(REFUSED))
    assert (refused.problem, refused.data) == (FileStatus.UNREADABLE, None)


@pytest.mark.parametrize(
    "answer",
    [
        b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000,
        {}, {"problem": "received", "reasons": []}, {"problem": "unreadable"}, {"problem": "unreadable", "reasons": []},
        REFUSED | {"problem": None}, REFUSED | {"problem": ["unreadable"]}, REFUSED | {"seal": "golden"},
        REFUSED | {"reasons": [["it has {count} pages", {}]]},
        REFUSED | {"reasons": [["it has {count} pages", {"count": 9, "more": 1}]]},
        REFUSED | {"reasons": [["it has {count} pages", {"count": [9]}]]},
        REFUSED | {"reasons": [["{count.__class__}", {"count": 9}]]},
        REFUSED | {"reasons": [["it has {count} pages", {"count": 10**14}]]},
        REFUSED | {"reasons": REFUSED["reasons"] * 21},
        REFUSED | {"reasons": [[str(Reason.NOT_UNDERSTOOD), {"field": "money", "one": "1", "source": "page"}]]},
        REFUSED | {"reasons": [[str(Reason.NOT_UNDERSTOOD), {"field": "total", "one": "1", "source": "its page"}]]},
        with_data(number="2694873111104313256X"), with_data(number=NUMBER[:-1]), with_data(number="２" * 20),
        with_data(tickets=[]), with_data(tickets=["12"]), with_data(tickets="9992400000017"), with_data(tickets=["9992400000017"] * 101),
        with_data(total="100000"), with_data(total=1.5), with_data(total=True), with_data(total=10**14),
        with_data(issued_on="2026-02-30"), with_data(issued_on=20260908), with_data(buyer_name=None), with_data(red_of="1"),
        with_data(owner="me"), with_data(net=1), GOOD | {"sources": {}}, GOOD | {"notes": None},
        GOOD | {"sources": GOOD["sources"] | {"total": "a guess"}},
    ],
)  # fmt: skip
def test_what_is_no_answer(answer: Any) -> None:
    with pytest.raises(NotAnAnswer):
        read_file(answer if isinstance(answer, bytes) else orjson.dumps(answer))


def test_texts_of_the_file_are_private_and_of_a_bounded_length() -> None:
    facts = {"field": "total", "one": "x" * 10_000, "source": "page"}
    (told,) = read_file(orjson.dumps(REFUSED | {"reasons": [[str(Reason.NOT_UNDERSTOOD), facts]]})).reasons
    one = told.facts["one"]
    assert isinstance(one, Private)
    assert len(one.text) == 500
    assert read_file(orjson.dumps(with_data(buyer_name="x" * 10_000))).data


def test_every_field_and_source_has_a_word() -> None:
    fields = set(ItineraryData.__dataclass_fields__) - {"sources", "notes"}
    assert fields <= set(FIELD_WORDS)
    assert set(SOURCE_WORDS) == set(FieldSource)
