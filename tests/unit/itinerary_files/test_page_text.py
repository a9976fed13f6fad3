"""Texts of a page: which amount belongs to a label."""

import re

from pipeline.itinerary_files.page_text import PageText, Placed

MONEY = re.compile(r"\d+\.\d{2}")


def test_an_amount_is_the_nearest_below_its_label() -> None:
    placed = (
        Placed("合计", 50, 10, 10, 4),
        Placed("9.00", 50, 4, 10, 4),  # above
        Placed("1.00", 40, 20, 10, 4),
        Placed("CNY 2.00", 52, 20, 10, 4),
        Placed("3.00", 50, 26, 10, 4),  # a line further down
        Placed("4.00", 90, 14, 10, 4),  # another column
    )
    assert PageText({}, (placed,)).below("合计", MONEY) == "2.00"
    assert PageText({}, (placed[:2],)).below("合计", MONEY) is None
    assert PageText({}, (placed,)).below("票价", MONEY) is None
