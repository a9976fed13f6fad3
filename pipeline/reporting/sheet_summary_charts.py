"""The Summary's two charts: charges by status, and money by buyer, both drawn from the tables beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.messages.translate import rendered
from pipeline.model.message import Message, message
from pipeline.model.text_width import cells_wide
from pipeline.reporting.sheet_page import WIDTHS, Page
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


def _bars(page: Page, title: Message, form: str, *, stacked: bool) -> Any:
    kind = {"type": "bar", "subtype": "stacked"} if stacked else {"type": "bar"}
    chart = page.book.workbook.add_chart(kind)
    name = rendered(title, page.lang)
    chart.set_title({"name": name, "name_font": {**_font(11), "bold": True}, "overlay": False})
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


def _insert(page: Page, chart: Any, place: tuple[int, int], title: Message, size: tuple[int, int]) -> None:
    chart.set_size(dict(zip(("width", "height"), size, strict=True)))
    said = {"x_offset": 2, "object_position": 1, "description": rendered(title, page.lang)}
    page.sheet.insert_chart(*place, chart, said)


def add_counts(
    page: Page, title: Message, lines: Lines, row: int, size: tuple[int, int] = (_LEFT, _HEIGHT)
) -> None:
    """Charges by what the lines are named after, each bar in its line's colour."""
    chart = _bars(page, title, "#,##0", stacked=False)
    points = [{"fill": {"color": CHART_TONES[tone]}} for tone in lines.tones]
    series = _series(lines, len(lines.names), *lines.parts["charges"])
    chart.add_series(
        series | {"points": points, "data_labels": {"value": True, "num_format": "#,##0", "font": _font(9)}}
    )
    chart.set_legend({"none": True})
    _insert(page, chart, (row, 0), title, size)


def add_buyers(page: Page, title: Message, lines: Lines, named: Mapping[str, Message], row: int) -> None:
    """Money by buyer: issued, ready and the rest, as they are `named`, in one bar; the largest buyers."""
    form = rendered(message('[>=1000000]#,##0.0,,"M";[>=1000]#,##0,"k";#,##0'), page.lang)
    chart = _bars(page, title, form, stacked=True)
    count = min(len(lines.names), _MOST_BUYERS)
    for part, (column, amounts) in lines.parts.items():
        colour = CHART_TONES[_PART_TONES[part]]
        series = _series(lines, count, column, amounts, _LABELS)
        chart.add_series(series | {"name": rendered(named[part], page.lang), "fill": {"color": colour}})
    chart.show_hidden_data()
    page.sheet.set_column(_LABELS, _LABELS, None, None, {"hidden": True})
    chart.set_legend({"position": "bottom", "font": _font(9)})
    _insert(page, chart, (row, 3), title, (_RIGHT, _HEIGHT))
