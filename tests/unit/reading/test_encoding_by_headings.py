"""Which encoding a text is in where its headings, in ASCII, read the same in each: its characters tell, or nothing does."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pipeline.model.errors import InputProblem
from pipeline.reading.tickets import read_table

HEADINGS = "ticket_no,passenger_name,charge,amount,market,ticket_status,flight_date"
NAMES = ("王小明", "张伟", "欧阳娜娜", "刘喆", "陈建国")
TRADITIONAL = ("王小明", "張偉", "歐陽娜娜", "劉玥", "陳建國")


@pytest.fixture
def passengers(tmp_path: Path) -> Callable[..., list[str]]:
    def read(names: Sequence[str], encoding: str, headings: str = HEADINGS) -> list[str]:
        rows = [
            f"9990000000{number:03},{name},ticket_fare,10,domestic,used,2026-10-01"
            for number, name in enumerate(names)
        ]
        path = tmp_path / "bill.csv"
        path.write_bytes("\n".join((headings, *rows)).encode(encoding))
        found: list[str] = read_table([path]).frame["passenger_name"].tolist()
        return found

    return read


@pytest.mark.parametrize(
    ("encoding", "names"), [("gb18030", NAMES), ("gb18030", TRADITIONAL), ("big5hkscs", TRADITIONAL)]
)
def test_names_under_headings_in_ascii_are_read_in_the_encoding_in_which_their_characters_are_frequent(
    passengers: Callable[..., list[str]], encoding: str, names: Sequence[str]
) -> None:
    assert passengers(names, encoding) == list(names)


@pytest.mark.parametrize(
    ("encoding", "names"),
    [
        ("gb18030", ("王明",)),  # too few to tell
        ("gb18030", ("李明", "李明兰", "林芳")),  # as frequent in Big5
        ("euc_kr", ("김철수", "이영희", "박지민", "최민호", "정하늘")),
        ("shift_jis", ("田中太郎", "カタカナ", "山田花子")),
        ("cp1252", ("José", "Müller", "François", "Zoë", "Ñandú")),
    ],
)
def test_where_the_characters_may_be_of_several_encodings_none_is_taken(
    passengers: Callable[..., list[str]], encoding: str, names: Sequence[str]
) -> None:
    with pytest.raises(InputProblem, match="save it as “CSV UTF-8”"):
        passengers(names, encoding)


def test_where_no_word_is_known_the_characters_tell_nothing(tmp_path: Path) -> None:
    (tmp_path / "bill.csv").write_bytes("\n".join(f"x,{name}" for name in NAMES).encode("gb18030"))
    with pytest.raises(InputProblem, match="nothing that is known in it tells"):
        read_table([tmp_path / "bill.csv"])


def test_a_heading_that_is_known_tells_more_than_characters(passengers: Callable[..., Any]) -> None:
    assert passengers(["王明"], "gb18030", headings=HEADINGS.replace("passenger_name", "旅客姓名")) == [
        "王明"
    ]
