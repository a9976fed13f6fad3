"""The sheet Summary: what was done, what to do next, and the counts and money behind it."""

import datetime
import math
from collections.abc import Sequence
from typing import Any

from pipeline.account import Account
from pipeline.columns import VOUCHERS
from pipeline.reasons import STATUS
from pipeline.results.formats import DARK, FAINT, FONT, LINE, MONEY
from pipeline.results.plain import fit
from pipeline.results.sheets import Book, StreamedSheet, cells_wide, print_setup
from pipeline.results.tallies import (
    Group,
    Tally,
    by_buyer,
    by_status,
    by_voucher,
    differing,
    failing,
    together,
)
from pipeline.results.words import WORDS
from pipeline.table import MINOR

_MOST_BUYERS = 20
_WIDTHS = (34, 12, 20, 12, 20, 12, 20)
_LAST = len(_WIDTHS) - 1
_LINE_POINTS = 13.5
_LETTER = 0.9  # of a digit, the measure of widths: what a letter of running text takes, with some to spare


class _Page:
    """The sheet from top to bottom, one line after another (constant_memory goes forward only)."""

    def __init__(self, book: Book) -> None:
        make = book.workbook.add_format
        font = {"font_name": FONT, "font_size": 10, "valign": "top"}
        box = font | {"border": 1, "border_color": LINE}
        self.sheet: StreamedSheet = book.workbook.add_worksheet("Summary", worksheet_class=StreamedSheet)
        self.book, self.row = book, 0
        self.title = make({"font_name": FONT, "font_size": 16, "bold": True, "font_color": DARK})
        self.section = make(font | {"font_size": 12, "bold": True, "font_color": DARK})
        self.label = make(font | {"font_color": FAINT})
        self.text = make(font | {"text_wrap": True})
        self.name = make(box | {"text_wrap": True})
        self.count = make(box | {"num_format": "#,##0"})
        self.money = make(box | {"num_format": MONEY})
        self.total = {
            "name": make(box | {"bold": True}),
            "count": make(box | {"bold": True, "num_format": "#,##0"}),
            "money": make(box | {"bold": True, "num_format": MONEY}),
        }
        self.fact_count = make(font | {"num_format": "#,##0", "align": "left"})
        self.fact_money = make(font | {"num_format": MONEY, "align": "left"})
        self.fact_day = book.formats.day

    def put(self, column: int, text: str, look: Any) -> None:
        """Write a text as a text. XlsxWriter takes one that looks like its rich strings for XML."""
        shown = fit(text)
        if shown.startswith("<r>") and shown.endswith("</r>"):
            self.sheet.write_rich_string(self.row, column, shown[:1], shown[1:2], shown[2:], look)
        else:
            self.sheet.write_string(self.row, column, shown, look)

    def spread(self, column: int, text: str, look: Any) -> None:
        """Write a text over the rest of the width, as high as it takes."""
        width = sum(_WIDTHS[column:])
        lines = sum(max(1, math.ceil(cells_wide(line) * _LETTER / width)) for line in fit(text).split("\n"))
        self.sheet.set_row(self.row, 3 + _LINE_POINTS * lines)
        if column < _LAST:
            self.sheet.merge_range(self.row, column, self.row, _LAST, "", look)
        self.put(column, text, look)

    def heading(self, text: str) -> None:
        """Write a section's heading below a blank line."""
        self.row += 1
        self.put(0, text, self.section)
        self.row += 1


def add_summary(book: Book, account: Account) -> None:
    """Write the sheet Summary."""
    page, words = _Page(book), WORDS[account.lang]
    for index, width in enumerate(_WIDTHS):
        page.sheet.set_column(index, index, width)
    page.sheet.hide_gridlines(2)
    page.sheet.set_row(0, 26)
    page.put(0, words.title, page.title)
    page.row = 2
    _facts(page, account)
    page.heading(words.next_heading)
    for step in next_steps(account) or [words.nothing]:
        page.spread(0, f"• {step}", page.text)
        page.row += 1
    _statuses(page, account)
    names = {choice.name: choice.word(account.lang) for choice in VOUCHERS}
    vouchers = by_voucher(account)
    _groups(page, account, "voucher", [(names.get(group.name, group.name), group) for group in vouchers])
    _groups(page, account, "buyer", _buyers(account))
    if account.notes:
        page.heading(words.notes_heading)
        for note in account.notes:
            page.spread(0, f"• {note}", page.text)
            page.row += 1
    print_setup(page.sheet, account.lang)


def _facts(page: _Page, account: Account) -> None:
    words = WORDS[account.lang]
    files = list(dict.fromkeys(row.file for row in account.rows))
    named = (
        ", ".join(files)
        if len(files) <= 3
        else words.files.format(first=", ".join(files[:3]), count=len(files) - 3)
    )
    amount = sum(row.amount or 0 for row in account.rows) / MINOR
    shown: dict[str, Any] = {
        "command": f"voucher {account.command}",
        "as_of": datetime.date.fromisoformat(account.as_of),
        "files": named,
        "rows": len(account.rows),
        "amount": amount,
        "ledger": account.ledger,
        "ledger_id": account.ledger_id,
    }
    for name, value in shown.items():
        page.put(0, words.facts[name].format(currency=account.currency), page.label)
        if isinstance(value, str):
            page.spread(1, value, page.text)
        elif isinstance(value, datetime.date):
            page.sheet.write_datetime(page.row, 1, value, page.fact_day)
        else:
            look = page.fact_money if name == "amount" else page.fact_count
            page.sheet.write_number(page.row, 1, value, look)
        page.row += 1


def next_steps(account: Account) -> list[str]:
    """What a person is to do, the most urgent first; nothing where every row is issued."""
    words, totals = WORDS[account.lang], account.totals
    steps = words.steps
    found = [steps["stopped"].format(stopped=account.stopped)] if account.stopped else []
    if account.doubts:
        found.append(steps["unknown"].format(requests=words.count_requests(len(account.doubts))))
    for status in ("not_sent", "invalid", "ineligible", "rejected", "waiting"):
        if status in totals:
            found.append(steps[status].format(rows=words.count_rows(totals[status])))
        if status == "invalid" and failing(account, "unknown_buyer"):
            found.append(steps["unknown_buyer"])
    if other := differing(account):
        found.append(steps["differs"].format(rows=words.count_rows(other)))
    if "ready" in totals:
        found.append(steps["ready"].format(rows=words.count_rows(totals["ready"])))
    return found


def _table_heading(page: _Page, account: Account, names: Sequence[str]) -> None:
    texts = WORDS[account.lang].columns
    for column, name in enumerate(names):
        number = name.endswith(("rows", "amount"))
        page.put(
            column, texts[name], page.book.formats.heading_right if number else page.book.formats.heading
        )
    page.row += 1


def _numbers(page: _Page, column: int, tallies: Sequence[Tally], *, total: bool) -> None:
    count, money = (page.total["count"], page.total["money"]) if total else (page.count, page.money)
    for index, tally in enumerate(tallies):
        page.sheet.write_number(page.row, column + 2 * index, tally.rows, count)
        page.sheet.write_number(page.row, column + 2 * index + 1, tally.amount / MINOR, money)


def _statuses(page: _Page, account: Account) -> None:
    words, tallies = WORDS[account.lang], by_status(account)
    page.heading(words.by_status)
    _table_heading(page, account, ("status", "rows", "amount", "meaning"))
    for name, tally in tallies.items():
        page.put(0, STATUS[name].word(account.lang), page.book.formats.tones[STATUS[name].tone])
        _numbers(page, 1, [tally], total=False)
        page.spread(3, words.meanings[name], page.name)
        page.row += 1
    page.put(0, words.total, page.total["name"])
    everything = Tally(len(account.rows), sum(tally.amount for tally in tallies.values()))
    _numbers(page, 1, [everything], total=True)
    page.row += 1


def _buyers(account: Account) -> list[tuple[str, Group]]:
    """The largest buyers, and the others in one line."""
    words, groups = WORDS[account.lang], by_buyer(account)
    shown = [(group.name or words.no_buyer, group) for group in groups[:_MOST_BUYERS]]
    if rest := groups[_MOST_BUYERS:]:
        shown.append((words.other_buyers.format(count=len(rest)), together("", rest)))
    return shown


def _groups(page: _Page, account: Account, of: str, lines: Sequence[tuple[str, Group]]) -> None:
    """A table of groups: all, issued, ready (where anything is), and the rest."""
    words = WORDS[account.lang]
    parts = ("issued", "ready", "rest") if "ready" in account.totals else ("issued", "rest")
    page.heading(words.by_voucher if of == "voucher" else words.by_buyer)
    columns = [
        f"{'open' if part == 'rest' else part}_{what}" for part in parts for what in ("rows", "amount")
    ]
    _table_heading(page, account, (of, *columns))
    everything = together("", [group for _, group in lines])
    for name, group in (*lines, (words.total, everything)):
        total = group is everything
        page.put(0, name, page.total["name"] if total else page.name)
        _numbers(page, 1, [getattr(group, part) for part in parts], total=total)
        page.row += 1
