"""The sheet of instructions: what to fill in, what happens then, and the table of all columns."""

import math
from typing import Any

from pipeline.messages.translate import heading, rendered, status_word, translated
from pipeline.model.columns import (
    BUYER_COLUMNS,
    BUYERS_SHEET,
    TICKET_COLUMNS,
    TICKETS_SHEET,
    Lang,
)
from pipeline.model.status import STATUSES
from pipeline.model.template_version import STAMP, VERSION
from pipeline.model.text_width import cells_wide
from pipeline.template.looks import Drawing
from pipeline.template.sheets import permitted, print_setup
from pipeline.template.template_words import words_in

_LETTER = 0.75  # of a digit, the measure of column widths: what a letter of running text takes
_INSTRUCTION_WIDTHS = (20, 12, 70, 40)


def add_instructions(drawing: Drawing) -> None:
    """Write the last sheet: what to fill in, what happens then, and the table of all columns."""
    lang, words = drawing.lang, words_in(drawing.lang)
    sheet = drawing.book.add_worksheet(words.sheet)
    for index, width in enumerate(_INSTRUCTION_WIDTHS):
        sheet.set_column(index, index, width)
    sheet.hide_gridlines(2)
    sheet.write_string(0, 0, words.title, drawing.title)
    sheet.set_row(0, 26)
    sheet.write_string(1, 0, translated(STAMP, lang).format(version=VERSION), drawing.stamp)
    row = _section(sheet, 3, words.steps_heading, _steps(lang), drawing)
    row = _section(sheet, row, words.after_heading, words.after, drawing)
    row = _statuses(sheet, row, drawing)
    sheet.write_string(row, 0, words.columns_heading, drawing.section)
    _columns_table(sheet, row + 1, drawing)
    sheet.set_portrait()
    print_setup(sheet, lang)


def _steps(lang: Lang) -> tuple[str, ...]:
    headings = {column.name: heading(column.name, lang) for column in (*TICKET_COLUMNS, *BUYER_COLUMNS)}
    sheets = {
        "tickets": translated(TICKETS_SHEET, lang, "sheet"),
        "buyers": translated(BUYERS_SHEET, lang, "sheet"),
    }
    return tuple(
        f"{number}. {step.format(**headings, **sheets)}"
        for number, step in enumerate(words_in(lang).steps, start=1)
    )


def _section(sheet: Any, row: int, heading: str, lines: tuple[str, ...], drawing: Drawing) -> int:
    """Write a heading and its lines over the sheet's whole width; give the next free row."""
    sheet.write_string(row, 0, heading, drawing.section)
    for line in lines:
        row += 1
        sheet.merge_range(row, 0, row, 3, line, drawing.text)
        # A merged cell does not find its height by itself.
        sheet.set_row(row, _height((line, sum(_INSTRUCTION_WIDTHS))))
    return row + 2


def _statuses(sheet: Any, row: int, drawing: Drawing) -> int:
    lang, words = drawing.lang, words_in(drawing.lang)
    sheet.write_string(row - 1, 0, words.statuses_heading[0], drawing.heading)
    sheet.merge_range(row - 1, 1, row - 1, 3, words.statuses_heading[1], drawing.heading)
    for offset, status in enumerate(STATUSES):
        sheet.write_string(row + offset, 0, status_word(status.name, lang), drawing.name)
        sheet.merge_range(row + offset, 1, row + offset, 3, translated(status.advice, lang), drawing.boxed)
    return row + len(STATUSES) + 1


def _columns_table(sheet: Any, row: int, drawing: Drawing) -> None:
    lang = drawing.lang
    for index, title in enumerate(words_in(lang).table_heading):
        sheet.write_string(row, index, title, drawing.heading)
    for name, columns in ((TICKETS_SHEET, TICKET_COLUMNS), (BUYERS_SHEET, BUYER_COLUMNS)):
        for column in columns:
            row += 1
            meaning, values = rendered(column.meaning, lang), permitted(column, lang)
            sheet.write_string(row, 0, heading(column.name, lang), drawing.name)
            sheet.write_string(row, 1, translated(name, lang, "sheet"), drawing.boxed)
            sheet.write_string(row, 2, meaning, drawing.boxed)
            sheet.write_string(row, 3, values, drawing.boxed)
            sheet.set_row(row, _height((meaning, _INSTRUCTION_WIDTHS[2]), (values, _INSTRUCTION_WIDTHS[3])))


def _height(*cells: tuple[str, int]) -> float:
    """Give the height in points of a row of texts that wrap, each in a column so many digits wide."""
    lines = max(math.ceil(cells_wide(text) * _LETTER / width) for text, width in cells)
    return 4 + 13.0 * lines
