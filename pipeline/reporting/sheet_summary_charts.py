"""The Summary's two charts: charges by status, and money by buyer, both drawn from the tables beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.model.result import RunResult
from pipeline.model.text_width import cells_wide
from pipeline.reporting.sheet_page import WIDTHS, Page
from pipeline.reporting.words_result import words_in
from pipeline.reporting.xlsx.book import Book
from pipeline.reporting.xlsx.styles import (
    CHART_TONES,
    DARK,
    FONT,
    LINE,
)
from pipeline.reporting.xlsx.unfit_characters import fit

#: Rows of the page that the charts take.
ROWS = 14
_MOST_BUYERS = 8
_BEGINNING, _END = 9, 5  # letters of a long name that a label shows
_LABELS = len(WIDTHS)  # the hidden column of labels, beside the page
_HEIGHT, _LEFT, _RIGHT = 300, 470, 470  # pixels
_PART_TONES = {"issued": "good", "ready": "plain", "rest": "warn"}


@dataclass(frozen=True)
class Lines:
    """Where the lines of a table stand on the page, and by part its column there and a number for each name."""

    first: int
    names: Sequence[str]
    parts: Mapping[str, tuple[int, Sequence[float]]]
    tones: Sequence[str]


def _font(size: float) -> dict[str, Any]:
    return {"name": FONT, "size": size, "bold": False, "color": DARK}


def label(name: str) -> str:
    """A name as a label beside a bar, where a long one would take the bar's room: its beginning and its end.

    >>> label("上海云帆示例国际货物运输代理有限公司第二分公司"), label("Example Trading")
    ('上海云帆示例国际货…第二分公司', 'Example Trading')
    """
    if cells_wide(name) <= 2 * (_BEGINNING + _END + 1):
        return name
    wide = 1 if cells_wide(name) > len(name) * 1.5 else 2  # Latin letters are half as wide as Chinese ones
    return f"{name[: wide * _BEGINNING].rstrip()}…{name[-wide * _END :].lstrip()}"


def put_label(page: Page, position: int, name: str) -> None:
    """Write a table line's label for the chart, in a column that nobody sees."""
    if position < _MOST_BUYERS:
        page.put(_LABELS, label(name), page.label)


def _series(
    lines: Lines, count: int, column: int, numbers: Sequence[float], names: int = 0
) -> dict[str, Any]:
    """One series from the table's cells; the values besides, for programs that show what is stored."""
    last = lines.first + count - 1
    shown = lines.names[:count] if names == 0 else [label(name) for name in lines.names[:count]]
    return {
        "categories": ["Summary", lines.first, names, last, names],
        "values": ["Summary", lines.first, column, last, column],
        "categories_data": [fit(name) for name in shown],
        "values_data": list(numbers[:count]),
        "gap": 45,
    }


def _bars(book: Book, title: str, form: str, *, stacked: bool) -> Any:
    kind = {"type": "bar", "subtype": "stacked"} if stacked else {"type": "bar"}
    chart = book.workbook.add_chart(kind)
    chart.set_title({"name": title, "name_font": {**_font(11), "bold": True}, "overlay": False})
    # The first line of the table at the top, as it is read.
    chart.set_y_axis(
        {"reverse": True, "num_font": _font(9), "line": {"color": LINE}, "major_tick_mark": "none",
         "interval_unit": 1}  # every bar has its name, however little room there is
    )  # fmt: skip
    chart.set_x_axis(
        {"num_format": form, "num_font": _font(8), "major_gridlines": {"visible": True, "line": {"color": LINE}},
         "line": {"none": True}, "min": 0, "label_position": "high"}
    )  # fmt: skip
    chart.set_chartarea({"border": {"color": LINE}})
    return chart


def add_statuses(book: Book, page: Page, result: RunResult, lines: Lines, row: int) -> None:
    """Charges by status, each bar in its status's colour."""
    chart = _bars(book, words_in(result.lang).status_chart, "#,##0", stacked=False)
    points = [{"fill": {"color": CHART_TONES[tone]}} for tone in lines.tones]
    series = _series(lines, len(lines.names), *lines.parts["charges"])
    chart.add_series(
        series | {"points": points, "data_labels": {"value": True, "num_format": "#,##0", "font": _font(9)}}
    )
    chart.set_legend({"none": True})
    chart.set_size({"width": _LEFT, "height": _HEIGHT})
    page.sheet.insert_chart(
        row,
        0,
        chart,
        {"x_offset": 2, "object_position": 1, "description": words_in(result.lang).status_chart},
    )


def add_buyers(book: Book, page: Page, result: RunResult, lines: Lines, row: int) -> None:
    """Money by buyer: issued, ready and the rest in one bar; the largest buyers."""
    words = words_in(result.lang)
    title = words.buyer_chart.format(currency=result.currency)
    chart = _bars(book, title, words.short_money, stacked=True)
    count = min(len(lines.names), _MOST_BUYERS)
    for part, (column, amounts) in lines.parts.items():
        colour = CHART_TONES[_PART_TONES[part]]
        name = words.columns["open_amount" if part == "rest" else f"{part}_amount"]
        series = _series(lines, count, column, amounts, _LABELS)
        chart.add_series(series | {"name": name, "fill": {"color": colour}})
    chart.show_hidden_data()
    page.sheet.set_column(_LABELS, _LABELS, None, None, {"hidden": True})
    chart.set_legend({"position": "bottom", "font": _font(9)})
    chart.set_size({"width": _RIGHT, "height": _HEIGHT})
    page.sheet.insert_chart(row, 3, chart, {"x_offset": 2, "object_position": 1, "description": title})
