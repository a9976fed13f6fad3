"""The blank input workbook: headings, notes, drop-downs and formats, all drawn from `columns`.

A person fills it in, the reader takes it back. Nothing here knows a heading or a permitted value of
its own, so a word that is added to the vocabulary is in the next template too. The same version
writes the same bytes: the copies in templates/ can be compared with what is written today.
"""

import io
import math
import os
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import xlsxwriter
from xlsxwriter.utility import quote_sheetname, xl_col_to_name, xl_range_abs, xl_rowcol_to_cell

from pipeline.columns import (
    BUYER_COLUMNS,
    BUYERS_SHEET,
    COMPONENTS,
    TICKET_COLUMNS,
    TICKETS_SHEET,
    Column,
    Kind,
    Lang,
)
from pipeline.errors import InputProblem
from pipeline.placing import appear

#: Rises when a filled-in template would be read differently from before.
VERSION = "1"
#: The workbook's custom property that holds VERSION: how a program recognises a template.
VERSION_PROPERTY = "Voucher template version"

#: Rows that have drop-downs and checks; rows below them are read just the same.
ROWS = 5000

# A fixed date in the file's properties: the same version writes the same bytes.
_CREATED = datetime(2026, 1, 1, tzinfo=UTC)
_MODE = 0o644

_FORMATS: dict[Kind, dict[str, Any]] = {
    # As text: 0123 stays 0123, and a name that starts with = is no formula.
    Kind.TEXT: {"num_format": "@", "indent": 1},
    Kind.TICKET: {"num_format": "@", "indent": 1},
    Kind.MONEY: {"num_format": "#,##0.00"},
    Kind.DATE: {"num_format": "yyyy-mm-dd", "align": "center"},
    Kind.CHOICE: {"indent": 1},
}
_FIRST_DAY, _LAST_DAY = date(2000, 1, 1), date(2099, 12, 31)
_MOST_MONEY = 99_999_999.99

_FONT = "Arial"
_LETTER = 0.75  # of a digit, the measure of column widths: what a letter of running text takes
_DARK, _SOFT, _LINE = "#1F3864", "#8497B0", "#BFBFBF"
_INSTRUCTION_WIDTHS = (20, 12, 70, 40)
_COMPONENTS = {name for names in COMPONENTS.values() for name in names}


@dataclass(frozen=True)
class _Words:
    """What the template says beside the vocabulary, in one language."""

    sheet: str
    title: str
    stamp: str
    steps_heading: str
    steps: tuple[str, ...]
    after_heading: str
    after: tuple[str, ...]
    statuses_heading: tuple[str, str]
    statuses: tuple[tuple[str, str], ...]
    columns_heading: str
    table_heading: tuple[str, str, str, str]
    permitted: dict[Kind, str]
    check_title: str
    choice_check: str
    buyer_check: str
    checks: dict[Kind, str]
    page: str


_WORDS: dict[Lang, _Words] = {
    "en": _Words(
        sheet="Instructions",
        title="How to fill in this workbook",
        stamp="Template version {version}",
        steps_heading="What to fill in",
        steps=(
            "{tickets}: one row is one charge on one ticket. A ticket may have several rows: its fare, a seat, a bag.",
            "{buyers}: each buyer once. A ticket row names its buyer in the column {buyer}; with a single buyer it may stay blank.",
            "Money: the total in {amount}, or its components (lighter headings), or both; both must add up. Two decimals at most.",
            "Ticket numbers, tax numbers and phone numbers are kept as text, so that no digit is lost. Paste values only.",
            "Columns may stand in any order. Columns of your own may be added on the right; they come back untouched.",
            "Point at a heading to read what belongs below it. The table at the end of this sheet has all of them.",
        ),
        after_heading="What happens then",
        after=(
            "“voucher check” judges every row and sends nothing. “voucher issue” sends to the carrier what is ready,",
            "and writes a result workbook beside this one. Every row ends in exactly one status:",
        ),
        statuses_heading=("Status", "Meaning, and what to do"),
        statuses=(
            ("ready", "would be sent (“voucher check” only)"),
            ("issued", "the carrier accepted it in this run; the number stands beside it"),
            ("already_issued", "an earlier run did; it is not sent again"),
            ("invalid", "the row can't be understood: correct it on the sheet Failures and run that file"),
            ("ineligible", "a rule forbids it; the reason says which"),
            ("waiting", "not yet: ticket still open, or refund not approved. Run it again later"),
            ("rejected", "the carrier answered no"),
            ("not_sent", "nothing reached the carrier: run it again"),
            ("unknown", "it may have been issued: not sent again until that is known (“voucher reconcile”)"),
        ),
        columns_heading="The columns",
        table_heading=("Heading", "Sheet", "Meaning", "Permitted values"),
        permitted={
            Kind.TEXT: "text",
            Kind.TICKET: "13 digits, as text",
            Kind.MONEY: "number, two decimals at most",
            Kind.DATE: "date",
        },
        check_title="Please check this cell",
        choice_check="Choose one of: {choices}.",
        buyer_check="This name is not in the column {buyer} of the sheet {buyers}. Keep it only if the buyers are in a file of their own.",
        checks={
            Kind.TICKET: "A ticket number has 13 digits; a hyphen after the third is allowed. Keep leading zeros.",
            Kind.MONEY: "Enter a number such as 1234.50: not negative, no currency sign, no words.",
            Kind.DATE: "Enter a date such as 2026-10-31, between 2000 and 2099.",
        },
        page="Page &P of &N",
    ),
    "zh": _Words(
        sheet="填写说明",
        title="填写说明",
        stamp="模板版本 {version}",
        steps_heading="如何填写",
        steps=(
            "“{tickets}”表：每行为一张客票的一项费用。同一客票可有多行，例如机票款、选座、行李。",
            "“{buyers}”表：每个购买方填写一次。客票行在“{buyer}”列填写其名称；只有一个购买方时可留空。",
            "金额：可填“{amount}”合计，或填分项（浅色表头），或两者都填；两者都填时须相符。最多两位小数。",
            "票号、税号和电话为文本格式，以免丢失数字。粘贴时请选择“只粘贴值”。",
            "列的顺序可以调整。可在右侧增加自用列，结果文件中会原样保留。",
            "将鼠标移到表头可查看说明；全部列的说明见本页末尾的表格。",
        ),
        after_heading="提交之后",
        after=(
            "“voucher check”逐行检查，不发送任何内容。“voucher issue”将可开具的行发送给承运人，",
            "并在本文件旁生成结果文件，其中每行有且只有一个状态：",
        ),
        statuses_heading=("状态", "含义及处理办法"),
        statuses=(
            ("可开具", "可以发送（仅 voucher check）"),
            ("已开具", "本次已由承运人受理，旁边为其编号"),
            ("此前已开具", "此前已开具，不会再次发送"),
            ("填写有误", "无法识别：请在结果文件的 Failures 表中改正后，用该文件再次运行"),
            ("不可开具", "规则不允许开具，见原因说明"),
            ("待条件满足", "暂不能开具：客票尚未使用，或退票尚未审核通过，请以后再次运行"),
            ("承运人拒绝", "承运人拒绝开具"),
            ("未发送", "未送达承运人，可再次运行"),
            ("结果未知", "可能已开具：查明之前不会再次发送（voucher reconcile）"),
        ),
        columns_heading="列说明",
        table_heading=("表头", "工作表", "含义", "可填内容"),
        permitted={
            Kind.TEXT: "文本",
            Kind.TICKET: "13 位数字，文本格式",
            Kind.MONEY: "数字，最多两位小数",
            Kind.DATE: "日期",
        },
        check_title="请检查此单元格",
        choice_check="请选择以下之一：{choices}。",
        buyer_check="“{buyers}”表的“{buyer}”列中没有此名称。仅当购买方另存于单独文件时才可保留。",
        checks={
            Kind.TICKET: "票号为 13 位数字，第三位后可有连字符。请保留开头的 0。",
            Kind.MONEY: "请输入数字，例如 1234.50：不能为负数，不带货币符号或文字。",
            Kind.DATE: "请输入日期，例如 2026-10-31，须在 2000 年至 2099 年之间。",
        },
        page="第 &P 页，共 &N 页",
    ),
}


def write_template(path: Path, lang: Lang) -> None:
    """Write the blank input workbook in `lang` to `path`, whole or not at all, never over a file.

    Raises InputProblem where `path` is taken, is not an .xlsx name, or can't be written.
    """
    if path.suffix.lower() != ".xlsx":
        raise InputProblem(f"{path}: a template is an Excel workbook; give a name that ends in .xlsx")
    try:
        _put(path, _workbook_bytes(lang))
    except FileExistsError as problem:
        raise InputProblem(
            f"{path}: exists already and is left as it is; choose another name, or move it away"
        ) from problem
    except OSError as problem:
        reason = problem.strerror or problem
        raise InputProblem(
            f"{path}: can't be written ({reason}); choose a folder that exists and that you may write to"
        ) from problem


def _put(path: Path, content: bytes) -> None:
    """Let `path` appear with all its content at once; FileExistsError if it exists by then."""
    with _temporary(path.parent, content) as temporary:
        appear(temporary, path)


@contextmanager
def _temporary(folder: Path, content: bytes) -> Iterator[Path]:
    """Hold the content in a file of its own in `folder`, gone afterwards."""
    handle, name = tempfile.mkstemp(prefix=".voucher-", suffix=".xlsx", dir=folder)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        temporary.chmod(_MODE)  # mkstemp's 0600 would keep colleagues out of a shared folder
        yield temporary
    finally:
        with suppress(FileNotFoundError):  # replace() has taken it
            temporary.unlink()


def _workbook_bytes(lang: Lang) -> bytes:
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as book:
        book.set_properties({"title": _WORDS[lang].title, "author": "Voucher Pipeline", "created": _CREATED})
        book.set_custom_property(VERSION_PROPERTY, VERSION, "text")
        formats = _Formats(book)
        _input_sheet(book, TICKETS_SHEET[lang], TICKET_COLUMNS, lang, formats)
        _input_sheet(book, BUYERS_SHEET[lang], BUYER_COLUMNS, lang, formats)
        _instructions(book, lang, formats)
    return stream.getvalue()


class _Formats:
    """The cell formats of one workbook, by use."""

    def __init__(self, book: Any) -> None:
        font = {"font_name": _FONT, "font_size": 10}
        box = {"border": 1, "border_color": _LINE, "valign": "vcenter", "indent": 1}
        heading = font | box | {"bold": True, "font_color": "white"}
        self.heading = book.add_format(heading | {"bg_color": _DARK})
        self.component = book.add_format(heading | {"bg_color": _SOFT})
        self.cells = {kind: book.add_format(font | looks) for kind, looks in _FORMATS.items()}
        self.title = book.add_format(font | {"bold": True, "font_size": 16, "font_color": _DARK})
        self.section = book.add_format(font | {"bold": True, "font_size": 12, "font_color": _DARK})
        self.stamp = book.add_format(font | {"font_color": "#7F7F7F", "font_size": 9})
        self.text = book.add_format(font | {"text_wrap": True, "valign": "vcenter"})
        self.boxed = book.add_format(font | box | {"text_wrap": True})
        self.name = book.add_format(font | box | {"bold": True})


def _input_sheet(book: Any, name: str, columns: tuple[Column, ...], lang: Lang, formats: _Formats) -> None:
    """Write one sheet to fill in: headings with notes, and cells that check what is typed."""
    sheet = book.add_worksheet(name)
    for index, column in enumerate(columns):
        heading = column.heading(lang)
        # Room for the filter's button, which would hide the end of a heading of the column's width.
        width = max(column.width, _cells_wide(heading) + 4)
        sheet.set_column(index, index, width, formats.cells[column.kind])
        style = formats.component if column.name in _COMPONENTS else formats.heading
        sheet.write_string(0, index, heading, style)
        sheet.write_comment(0, index, _note(column, lang), {"x_scale": 2, "font_size": 9, "font_name": _FONT})
        check = _check(columns, index, lang)
        if check:
            sheet.data_validation(1, index, ROWS, index, check | {"error_title": _WORDS[lang].check_title})
    sheet.set_row(0, 24)
    sheet.freeze_panes(1, 1)
    sheet.autofilter(0, 0, ROWS, len(columns) - 1)
    sheet.repeat_rows(0)
    sheet.set_landscape()
    _print_setup(sheet, lang)


def _note(column: Column, lang: Lang) -> str:
    """Give the note on a heading: the meaning, then the words that may be chosen."""
    lines = [column.meaning(lang)]
    if column.choices:
        lines.append(_permitted(column, lang))
    return "\n".join(lines)


def _check(columns: tuple[Column, ...], index: int, lang: Lang) -> dict[str, Any] | None:
    """Give the data validation of a column, in XlsxWriter's words."""
    column, words = columns[index], _WORDS[lang]
    if column.choices:
        choices = [choice.word(lang) for choice in column.choices]
        message = words.choice_check.format(choices=_permitted(column, lang))
        return {"validate": "list", "source": choices, "error_message": message}
    if column.name == "buyer" and columns is TICKET_COLUMNS:
        return _buyer_check(lang)
    limits: dict[Kind, dict[str, Any]] = {
        Kind.MONEY: {"validate": "decimal", "criteria": "between", "minimum": 0, "maximum": _MOST_MONEY},
        Kind.DATE: {"validate": "date", "criteria": "between", "minimum": _FIRST_DAY, "maximum": _LAST_DAY},
        Kind.TICKET: {"validate": "custom", "value": _is_ticket_number(xl_rowcol_to_cell(1, index))},
    }
    if column.kind not in limits:
        return None
    return limits[column.kind] | {"error_message": words.checks[column.kind]}


def _is_ticket_number(cell: str) -> str:
    """Give a formula that holds where the cell has 13 digits, hyphens aside."""
    digits = f'SUBSTITUTE({cell},"-","")'
    return f"=AND(LEN({digits})=13,ISNUMBER(VALUE({digits})))"


def _buyer_check(lang: Lang) -> dict[str, Any]:
    """Offer the buyers that are filled in; anything else is a warning only.

    The list is as long as the names that are there: a fixed range would open on thousands of blank
    lines. A warning, because the buyers may be kept in a file of their own.
    """
    index = [column.name for column in BUYER_COLUMNS].index("buyer")
    sheet = quote_sheetname(BUYERS_SHEET[lang])
    first = f"{sheet}!${xl_col_to_name(index)}$2"
    names = f"{sheet}!{xl_range_abs(1, index, ROWS, index)}"
    message = _WORDS[lang].buyer_check.format(
        buyers=BUYERS_SHEET[lang], buyer=BUYER_COLUMNS[index].heading(lang)
    )
    return {
        "validate": "list",
        "source": f"=OFFSET({first},0,0,MAX(1,COUNTA({names})),1)",
        "error_type": "warning",
        "error_message": message,
    }


def _permitted(column: Column, lang: Lang) -> str:
    """Give the permitted values of a column, for people to read."""
    if column.choices:
        return ("、" if lang == "zh" else ", ").join(choice.word(lang) for choice in column.choices)
    return _WORDS[lang].permitted[column.kind]


def _instructions(book: Any, lang: Lang, formats: _Formats) -> None:
    """Write the last sheet: what to fill in, what happens then, and the table of all columns."""
    words = _WORDS[lang]
    sheet = book.add_worksheet(words.sheet)
    for index, width in enumerate(_INSTRUCTION_WIDTHS):
        sheet.set_column(index, index, width)
    sheet.hide_gridlines(2)
    sheet.write_string(0, 0, words.title, formats.title)
    sheet.set_row(0, 26)
    sheet.write_string(1, 0, words.stamp.format(version=VERSION), formats.stamp)
    row = _section(sheet, 3, words.steps_heading, _steps(lang), formats)
    row = _section(sheet, row, words.after_heading, words.after, formats)
    row = _statuses(sheet, row, words, formats)
    sheet.write_string(row, 0, words.columns_heading, formats.section)
    _columns_table(sheet, row + 1, lang, formats)
    sheet.set_portrait()
    _print_setup(sheet, lang)


def _steps(lang: Lang) -> tuple[str, ...]:
    headings = {column.name: column.heading(lang) for column in (*TICKET_COLUMNS, *BUYER_COLUMNS)}
    sheets = {"tickets": TICKETS_SHEET[lang], "buyers": BUYERS_SHEET[lang]}
    return tuple(
        f"{number}. {step.format(**headings, **sheets)}"
        for number, step in enumerate(_WORDS[lang].steps, start=1)
    )


def _section(sheet: Any, row: int, heading: str, lines: tuple[str, ...], formats: _Formats) -> int:
    """Write a heading and its lines over the sheet's whole width; give the next free row."""
    sheet.write_string(row, 0, heading, formats.section)
    for line in lines:
        row += 1
        sheet.merge_range(row, 0, row, 3, line, formats.text)
        # A merged cell does not find its height by itself.
        sheet.set_row(row, _height((line, sum(_INSTRUCTION_WIDTHS))))
    return row + 2


def _statuses(sheet: Any, row: int, words: _Words, formats: _Formats) -> int:
    sheet.write_string(row - 1, 0, words.statuses_heading[0], formats.heading)
    sheet.merge_range(row - 1, 1, row - 1, 3, words.statuses_heading[1], formats.heading)
    for offset, (status, meaning) in enumerate(words.statuses):
        sheet.write_string(row + offset, 0, status, formats.name)
        sheet.merge_range(row + offset, 1, row + offset, 3, meaning, formats.boxed)
    return row + len(words.statuses) + 1


def _columns_table(sheet: Any, row: int, lang: Lang, formats: _Formats) -> None:
    for index, heading in enumerate(_WORDS[lang].table_heading):
        sheet.write_string(row, index, heading, formats.heading)
    for name, columns in ((TICKETS_SHEET[lang], TICKET_COLUMNS), (BUYERS_SHEET[lang], BUYER_COLUMNS)):
        for column in columns:
            row += 1
            meaning, permitted = column.meaning(lang), _permitted(column, lang)
            sheet.write_string(row, 0, column.heading(lang), formats.name)
            sheet.write_string(row, 1, name, formats.boxed)
            sheet.write_string(row, 2, meaning, formats.boxed)
            sheet.write_string(row, 3, permitted, formats.boxed)
            sheet.set_row(
                row, _height((meaning, _INSTRUCTION_WIDTHS[2]), (permitted, _INSTRUCTION_WIDTHS[3]))
            )


def _height(*cells: tuple[str, int]) -> float:
    """Give the height in points of a row of texts that wrap, each in a column so many digits wide."""
    lines = max(math.ceil(_cells_wide(text) * _LETTER / width) for text, width in cells)
    return 4 + 13.0 * lines


def _cells_wide(text: str) -> int:
    """Count a text's width in Latin characters: a Chinese character is as wide as two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _print_setup(sheet: Any, lang: Lang) -> None:
    sheet.set_paper(9)  # A4
    sheet.fit_to_pages(1, 0)  # one page wide, as many long as it takes
    sheet.set_margins(left=0.4, right=0.4, top=0.6, bottom=0.6)
    sheet.set_footer(f"&L&A&R{_WORDS[lang].page}")
