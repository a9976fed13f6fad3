"""What is read at first sight is read as the closer look reads it, and what months are made of is read at first sight."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline.reading import amount_cells, cells, cells_fast, ticket_number
from pipeline.reading.heading_rows import find_layout
from pipeline.reading.repeated_headings import repeats_headings
from pipeline.reading.sheet import Sheet, is_blank
from pipeline.reading.totals_and_footers import is_footer, is_total

TEXT = st.text(max_size=20) | st.text("0123456789-E. #/年月日合计１\u00a0\u3000", max_size=15)
CELL = (
    TEXT
    | st.floats()
    | st.integers(0, 10**9).map(lambda minor: minor / 100)
    | st.sampled_from([b"=", b"#N/A"])
)
TICKET = st.from_regex(r"[0-9]{3}-?[0-9]{10}", fullmatch=True) | st.integers(10**12, 10**13 - 1).map(float)


def closely(parse: Callable[[Any], Any], cell: Any) -> Any:
    return parse(cells.value(cell))


@pytest.mark.parametrize(
    ("plain", "parse"),
    [(cells_fast.tickets, ticket_number.ticket_no), (cells_fast.texts, cells.text), (cells_fast.money, amount_cells.money), (cells_fast.money, amount_cells.amount)],
)  # fmt: skip
@settings(deadline=None)
@given(values=st.lists(CELL | TICKET, max_size=8))
@example(values=["9991234567890", "9991234567891", "999123456789 ", "９９９１２３４５６７８９０", "²" * 13])
@example(
    values=[
        0.1 + 0.2,
        1.005,
        12.345,
        12.34004,
        785.630001,
        -1.0,
        0.0,
        1e12,
        1e12 + 0.01,
        4.35,
        float("nan"),
        float("inf"),
    ]
)
@example(values=["#N/A", "Eve", "a\u00a0b", "\u3000a", "", " "])
def test_what_is_plain_is_what_the_closer_look_reads(
    plain: Callable[[Sequence[Any]], list[Any]], parse: Callable[[Any], Any], values: list[Any]
) -> None:
    for value, read in zip(values, plain(values), strict=True):
        if read is not None and not is_blank(value):
            assert read == closely(parse, value)
            assert type(read) is type(closely(parse, value))


def test_what_months_are_made_of_is_plain() -> None:
    tickets = [f"999{at:010}" for at in range(1_200)]
    assert cells_fast.tickets(["ticket_no", *tickets])[1:] == tickets
    assert cells_fast.money([0.01, 785.63, 100.0, 9_999_999.99]) == [1, 78_563, 10_000, 999_999_999]
    assert cells_fast.texts(["ZHANG/WEI MR ", "张伟", ""]) == ["ZHANG/WEI MR", "张伟", ""]


PIECE = st.lists(CELL | TICKET, max_size=5) | st.lists(TICKET, max_size=5)


@settings(deadline=None)
@given(st.lists(st.tuples(PIECE, st.booleans()), max_size=4))
@example([(["999-1234567890"], True), ([1.5], True), (["Ann", "#N/A"], False), (["9991234567890"], True)])
def test_values_that_are_read_piece_by_piece_are_read_as_all_at_once(
    pieces: list[tuple[list[Any], bool]],
) -> None:
    whole = cells_fast.Values()
    for values, looked_at in pieces:
        piece = cells_fast.Values(values)
        if looked_at:
            piece.look()
        whole.add(piece)
    assert list(map(id, whole)) == [id(value) for values, _ in pieces for value in values]
    for reader in (cells_fast.tickets, cells_fast.named, cells_fast.texts, cells_fast.money):
        assert cells_fast.at_sight(reader, whole) == reader(list(whole))


def test_what_was_read_already_is_not_read_again() -> None:
    texts, amounts = cells_fast.Values(["999-1234567890", "9991234567890"]), cells_fast.Values([12.5])
    texts.look()
    amounts.look()
    assert [*texts.known] == [cells_fast.tickets, cells_fast.named]
    assert [*amounts.known] == [cells_fast.money]
    whole = cells_fast.Values()
    whole.add(texts)
    whole.add(amounts)
    assert (whole.known[cells_fast.named], whole.known.get(cells_fast.money)) == ([True, True], [])


OTHER = st.sampled_from(
    ["合计", "Total", "制表人：张三", "日期：2026-10-01", "票号", "ticket_no", "第1页", "", 3.0, "3张", "x"]
)


@settings(deadline=None)
@given(TICKET, st.lists(OTHER, min_size=2, max_size=2))
def test_a_row_with_a_ticket_s_number_is_no_total_no_footer_and_no_heading(
    ticket: Any, others: list[Any]
) -> None:
    row = [others[0], ticket, others[1]]
    sheet = Sheet.of_rows("S", [["remarks", "ticket_no", "amount"], row])
    layout = find_layout("S", sheet)
    assert layout
    assert cells_fast.named([ticket]) == [True]
    assert not is_total(row, layout)
    assert not is_footer(row)
    assert not repeats_headings("S", sheet, 1, layout, {})


def test_cells_of_totals_and_footers_are_no_ticket_s_number() -> None:
    assert not any(
        cells_fast.named(["合计", "Total", "", " ", "3", "3张", 3.0, 99_912_345_678.0, b"=", "999123456789"])
    )
