"""How the template's cells look: one format a use."""

import functools
from typing import Any

from pipeline.messages.translate import rendered
from pipeline.model.columns import Column, Kind, Lang

FONT = "Arial"
_DARK, _SOFT, _LINE = "#1F3864", "#8497B0", "#BFBFBF"

_FORMATS: dict[Kind, dict[str, Any]] = {
    # As text: 0123 stays 0123, and a name that starts with = is no formula.
    Kind.TEXT: {"num_format": "@", "indent": 1},
    Kind.TICKET: {"num_format": "@", "indent": 1},
    Kind.MONEY: {"num_format": "#,##0.00"},
    Kind.DATE: {"num_format": "yyyy-mm-dd", "align": "center"},
    Kind.CHOICE: {"indent": 1},
}


class Drawing:
    """A workbook that is being drawn, its language, and its cell formats by use."""

    def __init__(self, book: Any, lang: Lang) -> None:
        self.book = book
        self.lang = lang
        self.said = functools.partial(rendered, lang=lang)
        font = {"font_name": FONT, "font_size": 10}
        box = {"border": 1, "border_color": _LINE, "valign": "vcenter", "indent": 1}
        heading = font | box | {"bold": True, "font_color": "white"}
        self.heading = book.add_format(heading | {"bg_color": _DARK})
        # On the right as the numbers below it, but clear of the filter's button.
        number = heading | {"align": "right", "indent": 2}
        self._money = {
            True: book.add_format(number | {"bg_color": _SOFT}),
            False: book.add_format(number | {"bg_color": _DARK}),
        }
        self.cells = {kind: book.add_format(font | looks) for kind, looks in _FORMATS.items()}
        self.title = book.add_format(font | {"bold": True, "font_size": 16, "font_color": _DARK})
        self.section = book.add_format(font | {"bold": True, "font_size": 12, "font_color": _DARK})
        self.stamp = book.add_format(font | {"font_color": "#7F7F7F", "font_size": 9})
        self.text = book.add_format(font | {"text_wrap": True, "valign": "vcenter"})
        self.boxed = book.add_format(font | box | {"text_wrap": True})
        self.name = book.add_format(font | box | {"bold": True})

    def heading_of(self, column: Column, *, light: bool) -> Any:
        """A column's heading; a component of an amount has a lighter one than the amount."""
        return self._money[light] if column.kind is Kind.MONEY else self.heading
