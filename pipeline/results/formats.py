"""How cells look: one format a use, and the colours of the statuses."""

from enum import StrEnum
from typing import Any

from pipeline.columns import Column, Kind

FONT = "Arial"
DARK, LINE, FAINT = "#1F3864", "#BFBFBF", "#7F7F7F"
DAY, MONEY = "yyyy-mm-dd", "#,##0.00"

#: Fill and letters of each tone of `reasons.Status`.
TONES = {
    "good": ("#E2EFDA", "#375623"),
    "plain": ("#DDEBF7", "#1F3864"),
    "warn": ("#FFF2CC", "#7F6000"),
    "bad": ("#FCE4D6", "#9C0006"),
}


class Style(StrEnum):
    """What a column of a result sheet holds, which says how its cells are written."""

    TEXT = "text"
    WRAP = "wrap"  # sentences, on several lines
    IDENTIFIER = "identifier"  # always text, whatever the input's cell was
    MONEY = "money"
    DATE = "date"
    COUNT = "count"
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
    """The formats of one workbook. `of_style` is also what a blank cell below a heading has."""

    def __init__(self, book: Any) -> None:
        font = {"font_name": FONT, "font_size": 10, "valign": "top"}
        box = {"border": 1, "border_color": LINE}
        text = font | {
            "num_format": "@",
            "align": "left",
            "indent": 1,
        }  # text stays text when a person edits it
        heading = (
            font
            | box
            | {"bold": True, "valign": "vcenter", "indent": 1, "font_color": "white", "bg_color": DARK}
        )
        self.heading = book.add_format(heading)
        self.heading_right = book.add_format(heading | {"align": "right", "indent": 0})
        self.plain = book.add_format(font)
        self.text = book.add_format(text)
        self.wrap = book.add_format(text | {"text_wrap": True})
        self.money = book.add_format(font | {"num_format": MONEY})
        self.day = book.add_format(font | {"num_format": DAY, "align": "left", "indent": 1})
        self.moment = book.add_format(
            font | {"num_format": "yyyy-mm-dd hh:mm:ss", "align": "left", "indent": 1}
        )
        self.time = book.add_format(font | {"num_format": "hh:mm:ss", "align": "left"})
        self.duration = book.add_format(font | {"num_format": "[h]:mm:ss", "align": "left"})
        self.count = book.add_format(font | {"num_format": "#,##0"})
        self.answer = book.add_format(text | box | {"bg_color": "#FFFFE5"})
        self.tones = {
            tone: book.add_format(text | {"bg_color": fill, "font_color": letters})
            for tone, (fill, letters) in TONES.items()
        }
        self.of_style = {
            Style.TEXT: self.text,
            Style.WRAP: self.wrap,
            Style.IDENTIFIER: self.text,
            Style.MONEY: self.money,
            Style.DATE: self.day,
            Style.COUNT: self.count,
            Style.STATUS: self.text,
            Style.ANSWER: self.text,
        }
