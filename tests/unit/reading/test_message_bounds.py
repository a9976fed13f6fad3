"""Messages about headings quote headings, shortly, and nobody's cells."""

from typing import Any

import pytest

from pipeline.model.errors import InputProblem


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (["张三", "李四", "Wang Wu"], ""),
        (["ZHANG WEI MR", "乘机人", b"#N/A"], "known of the first row is: 乘机人."),
        (["x" * 300_000, "secret buyer"], ""),  # by a pattern that tries all its halves it took ten minutes
        (["()" * 5_000, "secret buyer"], ""),
    ],
)
def test_a_first_row_that_may_be_people_is_not_quoted(sheets_table: Any, row: list[Any], said: str) -> None:
    with pytest.raises(InputProblem) as refused:
        sheets_table(("S", [row, ["a", "b", "c"]]))
    line = str(refused.value)
    assert said in line
    for cell in ("张三", "李四", "Wang", "ZHANG", "secret", "b'", "xxx"):
        assert cell not in line
    assert len(line) < 400


def test_a_long_text_that_is_nearly_a_heading_is_quoted_shortly(sheets_table: Any) -> None:
    with pytest.raises(InputProblem) as refused:
        sheets_table(("S", [["航班日期/时间 " + "甲" * 5_000, "b"], ["c", "d"]]))
    assert len(str(refused.value)) < 400
