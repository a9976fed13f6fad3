"""Workbooks of any size to measure with: a month of tickets and the buyers that they are for.

Rows are as different from one another as a real month's: every ticket has a number of its own, names, days and
amounts come again as they do in an office. They are the same for the same seed. Judged on AS_OF with
sample_data/sandbox.toml every row is ready.

    python -m tests.benchmarks.months month.xlsx --rows 100000 --buyers 3000
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import xlsxwriter
from stdnum.cn import uscc

from pipeline.messages.translate import translated
from pipeline.model.columns import BUYERS_SHEET, TICKETS_SHEET

#: The day on which the month is judged.
AS_OF = date(2026, 11, 20)
#: The 14 columns of the tickets.
TICKETS = (
    "ticket_no", "passenger_name", "charge", "product", "amount", "market", "ticket_status", "flight_date",
    "used_on", "refund_approved_on", "purchased_on", "voucher", "buyer", "remarks",
)  # fmt: skip
BUYERS = ("buyer", "header_type", "header_name", "tax_no", "phone", "email")

_CREATED = datetime(2026, 11, 20, 9, tzinfo=UTC)
_FIRST_DAY = datetime(2026, 10, 1)  # noqa: DTZ001 - a spreadsheet's days have no time zone
_FAMILIES = (
    "ZHANG", "WANG", "LI", "LIU", "CHEN", "YANG", "ZHAO", "HUANG", "ZHOU", "WU", "XU", "SUN", "HU", "ZHU", "GAO", "LIN",
    "HE", "GUO", "MA", "LUO", "LIANG", "SONG", "ZHENG", "XIE", "HAN", "TANG", "FENG", "YU", "DONG", "XIAO", "CHENG", "CAO",
    "YUAN", "DENG", "XUE", "FU", "SHEN", "ZENG", "PENG", "LV", "SU", "LU", "JIANG", "CAI", "JIA", "DING", "WEI", "YE",
)  # fmt: skip
_FIRST = (
    "WEI", "FANG", "NA", "YANG", "JING", "MIN", "LEI", "YONG", "TAO", "XIAO", "HAO", "LI", "BIN", "YU", "JUN", "SI", "ZI",
    "MEI", "CHAO", "WEN", "ZHI", "JIA", "MING", "KE",
)  # fmt: skip
_SECOND = (
    "RAN", "LIN", "HAN", "QI", "LING", "JING", "QIANG", "YI", "HUA", "GANG", "PING", "JIE", "YUN", "BO", "FEI", "RUI",
    "NING", "XIN", "YUE", "TING",
)  # fmt: skip
_PRODUCTS = {
    "baggage": (100, 600),
    "seat": (30, 260),
    "upgrade": (400, 1800),
    "meal": (38, 98),
    "lounge": (150, 300),
}
_REMARKS = ("", "", "", "", "", "", "", "Cost centre 410", "Project Q4", "Customer visit")


def write_month(path: Path, rows: int, buyers: int, seed: int = 1) -> Path:
    """A workbook of so many rows of tickets and so many buyers."""
    return write_book(path, ticket_rows(rows, buyers, seed), buyer_rows(buyers, seed))


def write_book(path: Path, tickets: Iterable[Sequence[Any]], buyers: Iterable[Sequence[Any]]) -> Path:
    """A workbook of these tickets, and of these buyers."""
    with xlsxwriter.Workbook(str(path), {"default_date_format": "yyyy-mm-dd"}) as book:
        book.set_properties({"created": _CREATED})
        for name, headings, lines in (
            (translated(TICKETS_SHEET, "en", "sheet"), TICKETS, tickets),
            (translated(BUYERS_SHEET, "en", "sheet"), BUYERS, buyers),
        ):
            sheet = book.add_worksheet(name)
            sheet.write_row(0, 0, headings)
            for at, line in enumerate(lines, start=1):
                _write(sheet, at, line)
    return path


def _write(sheet: Any, at: int, line: Sequence[Any]) -> None:
    for column, cell in enumerate(line):
        if isinstance(cell, datetime):
            sheet.write_datetime(at, column, cell)
        elif isinstance(cell, str):
            if cell:
                sheet.write_string(at, column, cell)
        elif cell is not None:
            sheet.write_number(at, column, cell)


def ticket_rows(rows: int, buyers: int, seed: int = 1) -> Iterator[tuple[Any, ...]]:
    """The cells of so many rows, as TICKETS has them; None is a blank one."""
    chance, made, ticket = Random(f"tickets {seed}"), 0, 1_000_000_000
    while made < rows:
        ticket += chance.randrange(1, 900)
        for line in _charges(chance, f"999{ticket:010}", _name_of(chance.randrange(buyers)))[: rows - made]:
            made += 1
            yield line


def _charges(chance: Random, ticket: str, buyer: str) -> list[tuple[Any, ...]]:
    """The charges on one ticket: its fare or its refund, and now and then what was bought beside it."""
    abroad, refunded = chance.random() < 0.2, chance.random() < 0.1
    market, times = ("international", 4) if abroad else ("domestic", 1)
    passenger = f"{chance.choice(_FAMILIES)}/{chance.choice(_FIRST)}{chance.choice(_SECOND)} {chance.choice(('MR', 'MS'))}"
    flight = _FIRST_DAY + timedelta(days=chance.randrange(31))
    status, remarks = "refunded" if refunded else "used", chance.choice(_REMARKS)

    def line(
        charge: str, product: str, amount: float, *, approved: Any = None, bought: Any = None
    ) -> tuple[Any, ...]:
        used = None if refunded else flight
        return (
            ticket, passenger, charge, product, amount, market, status, flight, used, approved, bought, "invoice",
            buyer, remarks,
        )  # fmt: skip

    if refunded:
        approved = flight + timedelta(days=chance.randrange(1, 15))
        found = [line("refund", "flight", times * chance.randrange(6_000, 90_000) / 100, approved=approved)]
    else:
        found = [line("ticket_fare", "flight", times * chance.randrange(30_000, 240_000) / 100)]
    bought = flight - timedelta(days=chance.randrange(1, 30))
    for product, (low, high) in _PRODUCTS.items():
        if chance.random() < 0.06:
            found.append(line("ancillary", product, times * chance.randrange(low, high), bought=bought))
    return found


def buyer_rows(buyers: int, seed: int = 1) -> Iterator[tuple[str, ...]]:
    """The cells of so many buyers, as BUYERS has them: companies, and every fifth a person."""
    chance = Random(f"buyers {seed}")
    for at in range(buyers):
        email, phone = f"invoices@buyer{at}.example.com", f"010-5555{at % 10_000:04}"
        if at % 5 == 4:
            yield _name_of(at), "individual", f"示例旅客{at}", "", phone, email
        else:
            start = f"91{chance.randrange(110_000, 660_000)}MA1{at:06}"
            tax_no = start + str(uscc.calc_check_digit(start))
            yield _name_of(at), "business", f"示例第{at}贸易有限公司", tax_no, phone, email


def _name_of(buyer: int) -> str:
    return f"Example Buyer {buyer}"


def main() -> None:
    """Write one workbook."""
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=Path)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--buyers", type=int, default=3_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    write_month(given.path, given.rows, given.buyers, given.seed)


if __name__ == "__main__":
    main()
