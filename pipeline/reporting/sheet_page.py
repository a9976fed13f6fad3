"""A page of prose and small tables, written from top to bottom: the Summary's paper."""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pipeline.messages.translate import rendered
from pipeline.model.message import Message
from pipeline.reporting.xlsx.book import Book
from pipeline.reporting.xlsx.cell_values import write_cell, write_link
from pipeline.reporting.xlsx.column_specs import LINE_POINTS, lines_of
from pipeline.reporting.xlsx.styles import (
    DARK,
    DAY,
    FAINT,
    FONT,
    LINE,
    LINK,
    MONEY,
    TONES,
)

#: The widths of the page's columns; texts spread over several of them.
WIDTHS = (34, 12, 20, 12, 20, 12, 20)
_LAST = len(WIDTHS) - 1
#: How the names of columns end that hold numbers.
NUMBERS = ("charges", "rows", "amount", "days_left")
_ROW_POINTS = 17
_BETWEEN = 0.7  # of a column's width, between two of them
_GAP = "_)"  # beside a number as much room as a bracket takes: programs differ in how they indent numbers


class Page:
    """The sheet from top to bottom, one line after another (constant_memory goes forward only)."""

    def __init__(self, book: Book, name: str) -> None:
        self.book = book
        self.lang = book.lang
        make = book.workbook.add_format
        font = {"font_name": FONT, "font_size": 10, "valign": "top"}
        box = font | {"border": 1, "border_color": LINE, "valign": "vcenter", "indent": 1}
        number = box | {"align": "right", "indent": 0}
        self.sheet = book.workbook.add_worksheet(name)
        self.row = 0
        self.column_heading = book.formats.heading
        self.number_heading = book.formats.heading_right
        for index, width in enumerate(WIDTHS):
            self.sheet.set_column(index, index, width)
        self.sheet.hide_gridlines(2)
        self.title = make({"font_name": FONT, "font_size": 16, "bold": True, "font_color": DARK})
        self.section = make(font | {"font_size": 12, "bold": True, "font_color": DARK})
        self.label = make(font | {"font_color": FAINT})
        self.headline = make(
            {"font_name": FONT, "font_size": 12, "text_wrap": True, "valign": "vcenter", "font_color": DARK}
        )
        self.text = make(font | {"text_wrap": True})
        self.text_link = make(font | LINK | {"align": "right"})
        self.name = make(box | {"text_wrap": True})
        self.name_link = make(box | LINK | {"text_wrap": True})
        self.day = make(box | {"num_format": DAY, "align": "left"})
        count, money = {"num_format": f"#,##0{_GAP}"}, {"num_format": f"{MONEY}{_GAP}"}
        self.count = make(number | count)
        self.money = make(number | money)
        self.total = {
            "name": make(box | {"bold": True}),
            "count": make(number | count | {"bold": True}),
            "money": make(number | money | {"bold": True}),
        }
        self.tones = {
            tone: make(box | {"bg_color": fill, "font_color": letters})
            for tone, (fill, letters) in TONES.items()
        }
        self.fact_count = make(font | {"num_format": "#,##0", "align": "left"})
        self.fact_money = make(font | {"num_format": MONEY, "align": "left"})
        self.fact_day = make(font | {"num_format": DAY, "align": "left"})
        self.sheet.set_row(0, 26)
        self.put(0, book.cover.shown, self.title)
        self.row = 1

    def put(self, column: int, value: Any, look: Any) -> None:
        """Write a text, a message, a number or a date."""
        shown = rendered(value, self.lang) if isinstance(value, Message) else value
        write_cell(self.sheet, (self.row, column), shown, look)

    def spread(self, column: int, text: str | Message, look: Any, last: int = _LAST) -> None:
        """Write a text over the rest of the width, as high as it takes."""
        said = rendered(text, self.lang)
        lines = lines_of(said, sum(WIDTHS[column : last + 1]) + int(_BETWEEN * (last - column)))
        self.sheet.set_row(self.row, _ROW_POINTS + LINE_POINTS * (lines - 1))
        self.merged(column, last, said, look)

    def point(self, text: str | Message, last: int = _LAST) -> None:
        """Write a point of a list."""
        self.spread(0, f"• {rendered(text, self.lang)}", self.text, last)

    def points(self, lines: Iterable[str | Message]) -> None:
        """Write a list, a line each."""
        for line in lines:
            self.point(line)
            self.row += 1

    def table_heading(self, names: Sequence[str], headings: Mapping[str, Message]) -> None:
        """Write a table's headings, by the names of its columns: of numbers on the right, of what a line means over the rest."""
        for column, name in enumerate(names):
            look = self.number_heading if name.endswith(NUMBERS) else self.column_heading
            if name == "meaning":
                self.spread(column, headings[name], look)
            else:
                self.put(column, headings[name], look)
        self.row += 1

    def facts(self, shown: Iterable[tuple[str | Message, Any]]) -> None:
        """Write facts with their labels, a line each; what is "" is left out."""
        for label, value in shown:
            if value == "":
                continue
            self.put(0, label, self.label)
            match value:
                case str():
                    self.spread(1, value, self.text)
                case datetime.date():
                    self.put(1, value, self.fact_day)
                case _:
                    self.merged(1, 2, value, self.fact_money if isinstance(value, float) else self.fact_count)
            self.row += 1

    def finish(self) -> None:
        """Say how it is printed."""
        self.book.print_setup(self.sheet)
        self.sheet.set_portrait()

    def merged(self, first: int, last: int, value: Any, look: Any, link: str = "") -> None:
        """Write a value over several columns."""
        if first < last:
            self.sheet.merge_range(self.row, first, self.row, last, "", look)
        if link:
            write_link(self.sheet, (self.row, first), link, value, look)
        else:
            self.put(first, value, look)

    def heading(self, text: str | Message) -> None:
        """Write a section's heading below a blank line."""
        self.row += 1
        self.sheet.set_row(self.row, 1.3 * _ROW_POINTS)
        self.put(0, text, self.section)
        self.row += 1

    def line(self, name: str | Message, look: Any, link: str = "") -> None:
        """Begin a table's line with its name, which may be longer than its column is wide."""
        name = rendered(name, self.lang)
        self.sheet.set_row(self.row, _ROW_POINTS + LINE_POINTS * (lines_of(name, WIDTHS[0]) - 1))
        self.merged(0, 0, name, look, link)
