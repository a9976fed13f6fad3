"""How cells look: one format a use, and the colours of the statuses."""

from enum import StrEnum
from typing import Any

from pipeline.model.columns import Column, Kind

FONT = "Arial"
DARK, LINE, FAINT = "#1F3864", "#BFBFBF", "#7F7F7F"
LINK = {"font_color": "#0563C1", "underline": 1}
MARK = {"bg_color": "#FFC7CE"}  # a cell to be corrected
DAY, MONEY = "yyyy-mm-dd", "#,##0.00"

#: Fill and letters of each tone of `reasons.Status`.
TONES = {
    "good": ("#E2EFDA", "#375623"),
    "plain": ("#DDEBF7", "#1F3864"),
    "warn": ("#FFF2CC", "#7F6000"),
    "bad": ("#FCE4D6", "#9C0006"),
}

#: The same tones as bars of a chart, where there are no letters to read.
CHART_TONES = {"good": "#70AD47", "plain": "#5B9BD5", "warn": "#F4B942", "bad": "#C0504D"}


class Style(StrEnum):
    """What a column of a result sheet holds, which says how its cells are written."""

    TEXT = "text"
    WRAP = "wrap"  # sentences, on several lines
    IDENTIFIER = "identifier"  # always text, whatever the input's cell was
    MONEY = "money"
    DATE = "date"
    COUNT = "count"
    LINE = "line"  # the number of a line, as the spreadsheet program shows it
    STATUS = "status"  # a status's name: written as its word, in its colour
    ANSWER = "answer"  # left for a person to fill in


_OF_KIND = {
    Kind.TEXT: Style.TEXT,
    Kind.TICKET: Style.IDENTIFIER,
    Kind.MONEY: Style.MONEY,
    Kind.DATE: Style.DATE,
    Kind.CHOICE: Style.TEXT,
}


def style_of(column: Column) -> Style:
    """The style of a column of the vocabulary."""
    return Style.IDENTIFIER if column.name in ("tax_no", "phone") else _OF_KIND[column.kind]


class Formats:
    """The formats of one workbook. `of_style` is also what a blank cell below a heading has.

    Every format of values has two twins: as a link, and as a cell that is to be corrected. `of_values` are all of them.
    """

    def __init__(self, book: Any) -> None:
        self._book = book
        self.of_values: list[Any] = []
        self._linked: dict[Any, Any] = {}
        self._marked: dict[Any, Any] = {}
        font = {"font_name": FONT, "font_size": 10, "valign": "top"}
        box = {"border": 1, "border_color": LINE}
        # text stays text when a person edits it
        # and wraps: a long name or several numbers are read whole, not cut off at the next cell
        text = font | {"num_format": "@", "align": "left", "indent": 1, "text_wrap": True}
        day = font | {"align": "left", "indent": 1}
        number = font | {"align": "right", "indent": 1}
        white = {"bold": True, "valign": "vcenter", "indent": 1, "font_color": "white", "bg_color": DARK}
        heading = font | box | white
        self.heading = book.add_format(heading)
        self.heading_right = book.add_format(heading | {"align": "right"})
        # On the right, but clear of the filter's button.
        self.heading_number = book.add_format(heading | {"align": "right", "indent": 2})
        self.plain = self._add(font)
        self.text = self._add(text)
        self.money = self._add(number | {"num_format": MONEY})
        self.day = self._add(day | {"num_format": DAY})
        self.moment = self._add(day | {"num_format": "yyyy-mm-dd hh:mm:ss"})
        self.time = self._add(font | {"num_format": "hh:mm:ss", "align": "left"})
        self.duration = self._add(font | {"num_format": "[h]:mm:ss", "align": "left"})
        self.count = self._add(number | {"num_format": "#,##0"})
        self.line_number = self._add(number | {"num_format": "0"})
        self.below = book.add_format({"bottom": 1, "bottom_color": LINE})
        self.answer = book.add_format(text | box | {"bg_color": "#FFFFE5"})
        self.of_values.append(self.answer)
        self.tones = {
            tone: self._add(text | {"bg_color": fill, "font_color": letters})
            for tone, (fill, letters) in TONES.items()
        }
        self.of_style = {
            Style.TEXT: self.text,
            Style.WRAP: self.text,
            Style.IDENTIFIER: self.text,
            Style.MONEY: self.money,
            Style.DATE: self.day,
            Style.COUNT: self.count,
            Style.LINE: self.line_number,
            Style.STATUS: self.text,
            Style.ANSWER: self.text,
        }

    def _add(self, looks: dict[str, Any]) -> Any:
        made = self._book.add_format(looks)
        # A status keeps its own letters: its colour says more than that it is a link.
        link = {"underline": 1} if "bg_color" in looks else LINK
        self._linked[made] = self._book.add_format(looks | link)
        self._marked[made] = self._book.add_format(looks | MARK)
        self.of_values += [made, self._linked[made], self._marked[made]]
        return made

    def heading_of(self, style: Style) -> Any:
        """A heading's format: numbers stand below it on the right."""
        return self.heading_number if style in (Style.MONEY, Style.COUNT, Style.LINE) else self.heading

    def special(self, look: Any, *, link: bool, marked: bool) -> Any:
        """A format's twin for a link or for a cell that is to be corrected."""
        if marked:
            return self._marked.get(look, look)
        return self._linked.get(look, look) if link else look
