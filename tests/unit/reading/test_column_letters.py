"""Columns are lettered as spreadsheet programs do it."""

import pytest

from pipeline.reading.formats.column_letters import column_letters


@pytest.mark.parametrize(
    ("position", "letters"),
    [(0, "A"), (25, "Z"), (26, "AA"), (51, "AZ"), (52, "BA"), (701, "ZZ"), (702, "AAA"), (16383, "XFD")],
)
def test_columns_are_lettered_as_the_spreadsheet_does(position: int, letters: str) -> None:
    assert column_letters(position) == letters
