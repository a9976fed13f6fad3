"""Sheets column by column: what the child hands over comes out as the rows that went in, cell by cell and type by type."""

# ruff: noqa: DTZ001 - a spreadsheet's dates have no time zone

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.reading.deserialize import loads
from pipeline.reading.formats import columnar as handing
from pipeline.reading.formats.columnar import Columns
from pipeline.reading.formats.refusal import Refusal
from pipeline.reading.formats.serialize import dumps
from pipeline.reading.sheet import Cells, Sheet

CELL = st.sampled_from(
    ["", " ", "a", "1", "TRUE", 0.0, 1.0, 2.5, True, False, 0, 1, 7, b"=", b"#N/A", datetime.time(1),
     datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1), datetime.timedelta(1)]
)  # fmt: skip


def sheet_of(columns: Columns, pieces: Sequence[bytes] = ()) -> Sheet:
    """The sheet as it comes out on the other side, after the pieces of it that were handed over before."""
    made = {"name": "S", "visible": True, "first_row": 0, "first_column": 0, **columns.handed_over()}
    answer = {"readings": [[made]], "certain": True, "detail": ""}
    return Sheet.handed_over(loads([*pieces, b"".join(dumps(answer))])["readings"][0][0])


def exact(rows: Sequence[Sequence[Any]], width: int) -> list[list[tuple[type, Any]]]:
    """Rows as the parent has them, with their types: no 1 passes for True."""

    def plain(cell: Any) -> Any:
        if isinstance(cell, bool):
            return str(cell).upper()
        return float(cell) if isinstance(cell, int) else cell

    return [[(type(plain(cell)), plain(cell)) for cell in [*row, *[""] * (width - len(row))]] for row in rows]


@settings(deadline=None)
@given(
    st.lists(st.lists(CELL, max_size=4), max_size=30),
    st.sampled_from([1, 3, 500]),
    st.sampled_from([0, 3, 2_000]),
    st.sampled_from([1, 2, 7, 10_000]),
)
def test_rows_that_are_handed_over_column_by_column_are_the_same_rows(
    rows: list[list[Any]], block: int, many: int, piece: int
) -> None:
    pieces = list[bytes]()

    def hand_over(parts: list[handing.Part]) -> int:
        pieces.append(b"".join(dumps({"piece": len(pieces), "columns": parts})))
        return len(pieces) - 1

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(handing, "_BLOCK", block)
        patched.setattr(handing, "_MANY", many)
        patched.setattr(handing, "_PIECE", piece)
        patched.setattr(Columns, "hand_over", hand_over)
        columns = Columns(by_piece=True)
        columns.take(rows)
    assert bool(pieces) == (len(rows) >= piece)
    sheet, width = sheet_of(columns, pieces), max(map(len, rows), default=0)
    assert (sheet.height, sheet.width) == (len(rows), width)
    assert exact(list(sheet.rows), width) == exact(rows, width)
    assert exact([sheet.rows[at] for at in range(len(rows))], width) == exact(rows, width)
    assert exact(sheet.rows[1:-1], width) == exact(rows[1:-1], width)


def test_a_column_of_few_values_is_handed_over_with_each_once_and_one_of_many_as_its_cells() -> None:
    columns = Columns()
    columns.take([[f"999{at:010}", "used", ""] for at in range(5_000)])
    (tickets, no_codes), (statuses, codes), (blank, _) = columns.handed_over()["columns"]
    assert (len(tickets), no_codes) == (5_000, None)
    assert (statuses, len(codes or b"")) == (["used"], 4 * 5_000)
    assert blank == [""]


@pytest.mark.parametrize("many", [0, 2_000])
def test_cells_put_beyond_those_taken_in_leave_blank_ones_between(
    monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr(handing, "_MANY", many)
    columns = Columns()
    columns.skip(1)
    columns.take([["a", 1.0], ["b", 2.0]], left=1)
    columns.put(4, 3, b"=")
    columns.put(1, 1, b"#N/A")
    assert list(sheet_of(columns).rows) == [
        ["", "", "", ""],
        ["", b"#N/A", 1.0, ""],
        ["", "b", 2.0, ""],
        ["", "", "", ""],
        ["", "", "", b"="],
    ]


@pytest.mark.parametrize("rows", [[[""] * 200_000], [["x"], *[[]] * 3_000, [""] * 90_000]])
def test_a_text_as_wide_as_no_program_shows_it_is_refused(rows: list[list[str]]) -> None:
    with pytest.raises(Refusal, match="too_large"):
        Columns().take(rows)


def test_what_is_asked_of_a_value_is_asked_of_every_row_that_holds_it() -> None:
    cells = Cells(["a", "", "b"], np.array([0, 2, 1, 0], dtype=np.int32))
    assert cells.blank.tolist() == [False, False, True, False]
    assert cells.where(lambda cell: cell == "a").tolist() == [True, False, False, True]
    assert cells.changed({1: "c", 3: ""}).objects().tolist() == ["a", "c", "", ""]
    assert cells.objects().tolist() == ["a", "b", "", "a"]
    others = Cells.of(["w", "x", "y", "z"])
    assert cells.mixed(cells.blank, others).objects().tolist() == ["a", "b", "y", "a"]
    assert Cells.joined([others, cells, Cells.same("s", 2)]).objects().tolist() == [
        *"wxyz",
        *"ab",
        "",
        *"ass",
    ]
    assert cells.at(np.array([3, 1])).objects().tolist() == ["a", "b"]


def test_a_cell_is_named_from_where_the_sheet_starts() -> None:
    assert Sheet.of_rows("S", [], first_row=4, first_column=2).cell_name(1, 1) == "D6"
