#!/usr/bin/env python3
"""Make the sample month: two agencies' October 2026 tickets, a sandbox profile, and a README.

Run as `python sample_data/generate.py` with the package installed; it replaces the files beside it.
The seed is fixed, so the same version makes the same bytes. Judged on AS_OF with sandbox.toml, every
row is ready, except those that `expected_failures` lists: each of them goes wrong in its own way.

People, companies, ticket numbers and tax numbers are made up; the tax numbers' check characters are
right.
"""

import csv
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import xlsxwriter
from stdnum.cn import uscc

from pipeline.messages.translate import choice_word, heading, translated
from pipeline.model.columns import (
    BUYER_COLUMNS,
    BUYERS_SHEET,
    COLUMN,
    TICKET_COLUMNS,
    TICKETS_SHEET,
    Kind,
    Lang,
)

#: The day on which the month is judged.
AS_OF = date(2026, 11, 20)

STATEMENT = "tickets-2026-10.statement.csv"
_FOLDER = Path(__file__).resolve().parent
_CREATED = datetime(2026, 11, 20, 9, tzinfo=UTC)
_OCTOBER = date(2026, 10, 1)

#: A row's cells by the vocabulary's names and the extra columns' headings; choices by their names.
Cells = dict[str, Any]


@dataclass(frozen=True)
class Failure:
    """How a row must fail, and what is wrong with it."""

    status: str
    code: str
    why: str


@dataclass(frozen=True)
class ExpectedFailure:
    """A row that must fail; `row` is its number as the spreadsheet program shows it."""

    file: str
    row: int
    ticket_no: str
    status: str
    code: str
    why: str


@dataclass(frozen=True)
class Book:
    """One agency's workbook."""

    file: str
    lang: Lang
    buyers: tuple[Cells, ...]
    extras: tuple[str, ...]
    rows: tuple[tuple[Cells, Failure | None], ...]


PROFILE = """\
# The carrier profile of the sample data: the sandbox, with every code filled in.
# A real carrier's profile holds that carrier's own answers.

[carrier]
base_url = "http://127.0.0.1:8080"   # where `voucher sandbox` listens
agency = "SANDBOX"
time_zone = "Asia/Shanghai"          # whose calendar days count
ticket_prefixes = ["999"]            # tickets of other airlines are not sent
currency = "CNY"

[codes.fee_type]
ticket_fare = "TICKET_FARE"
refund = "REFUND_FEE"
ancillary = "ANCILLARY_FEE"

[codes.product_type]
flight = "Flight"
baggage = "Baggage"
seat = "Seat"
upgrade = "Upgrade"
meal = "Meal"
lounge = "Lounge"

[codes.header_type]
business = "BUSINESS"
individual = "PERSONAL"

[limits]                             # of one invoice
domestic_invoice_max = "10000"
international_invoice_max = "100000"

[submission]
concurrency = 16                     # requests in flight

[reconcile]
settle_after_hours = 24              # a statement made this long after an attempt proves that nothing was issued
"""

_PASSENGERS = (
    "ZHANG/WEI MR", "WANG/FANG MS", "LI/NA MS", "LIU/YANG MR", "CHEN/JING MS", "YANG/MIN MS", "ZHAO/LEI MR",
    "HUANG/YONG MR", "ZHOU/TAO MR", "WU/XIAOLIN MS", "XU/HAORAN MR", "SUN/LILI MS", "HU/BIN MR", "ZHU/YUXI MS",
    "GAO/JUN MR", "LIN/SIQI MS", "HE/ZIHAN MR", "GUO/MEILING MS", "MA/CHAO MR", "LUO/WENJING MS",
    "LIANG/ZHIQIANG MR", "SONG/JIAYI MS", "OUYANG/MING MR", "TANG/KE MR", "SMITH/JOHN MR", "TANAKA/YUKI MS",
    "MUELLER/ANNA MS", "KIM/MINJUN MR",
)  # fmt: skip
_OWN_NAME = {"Chen Siyuan": "CHEN/SIYUAN MS"}  # a person who buys for herself
_PRODUCTS = ("baggage", "seat", "meal", "lounge", "upgrade")
_ANCILLARY_PRICES = {  # from, to and step, in yuan; international ones cost twice as much
    "baggage": (100, 600, 20),
    "seat": (30, 260, 10),
    "upgrade": (400, 1800, 50),
    "meal": (38, 98, 10),
    "lounge": (150, 300, 10),
}


def _tax_no(start: str) -> str:
    """Complete a unified social credit code by its check character."""
    return start + str(uscc.calc_check_digit(start))


def _buyer(name: str, header_name: str, tax_no: str, phone: str, email: str) -> Cells:
    return {
        "buyer": name,
        "header_type": "business" if tax_no else "individual",
        "header_name": header_name,
        "tax_no": tax_no,
        "phone": phone,
        "email": email,
    }


_EN_BUYERS = (
    _buyer(
        "Yunfan Consulting", "上海云帆示例咨询有限公司", _tax_no("91310115MA1XXXX01"),
        "+86 21 5555 0142", "invoices@yunfan.example.com",
    ),
    _buyer(
        "Yuanshan Works", "北京远山示例制造有限公司", _tax_no("91110108MA1XXXX02"),
        "010-55550187", "finance@yuanshan.example.com",
    ),
    _buyer(
        "Haishi Trading", "深圳海石示例贸易有限公司", _tax_no("91440300MA1XXXX03"),
        "+86 755 8655 0163", "accounts@haishi.example.com",
    ),
    _buyer("Chen Siyuan", "陈思远", "", "+86 138 0013 8000", "siyuan.chen@example.com"),
)  # fmt: skip
_ZH_BUYERS = (
    _buyer(
        "江南文化", "杭州江南示例文化传播有限公司", _tax_no("91330106MA1XXXX04"),
        "0571-85550126", "caiwu@jiangnan.example.com",
    ),
    _buyer(
        "蜀道科技", "成都蜀道示例科技有限公司", _tax_no("91510100MA1XXXX05"),
        "028-85550135", "fapiao@shudao.example.com",
    ),
    _buyer(
        "申浦会展", "上海申浦示例会展服务有限公司", _tax_no("91310101MA1XXXX06"),
        "021-55550158", "invoice@shenpu.example.com",
    ),
)  # fmt: skip


class _Agency:
    """Makes an agency's rows: plausible ones, of tickets that come one after the other."""

    def __init__(self, seed: int, first_serial: int, buyers: tuple[Cells, ...], *, hyphens: bool) -> None:
        self._random = random.Random(seed)  # noqa: S311 - made-up fares, no secrets
        self._serial = first_serial
        companies = [buyer["buyer"] for buyer in buyers if buyer["tax_no"]]
        self._buyers = 3 * companies + [buyer["buyer"] for buyer in buyers if not buyer["tax_no"]]
        self._hyphen = "-" if hyphens else ""
        self._made = 0

    def ticket(self, market: str = "domestic", status: str = "used", flown: date | None = None) -> Cells:
        """Give the cells that all rows of a new ticket share."""
        self._serial += self._random.randrange(3, 900)
        buyer = self._random.choice(self._buyers)
        return {
            "ticket_no": f"999{self._hyphen}{self._serial}",
            "passenger_name": _OWN_NAME.get(buyer) or self._random.choice(_PASSENGERS),
            "market": market,
            "ticket_status": status,
            "flight_date": flown or _OCTOBER + timedelta(days=self._random.randrange(31)),
            "buyer": buyer,
        }

    def fare(self, ticket: Cells, voucher: str = "invoice", style: str = "") -> Cells:
        """Charge a ticket's fare; `style` says what is filled in: the total, its parts or both."""
        parts = self._domestic_parts() if ticket["market"] == "domestic" else self._international_parts()
        if self._random.random() < 0.12:
            parts["change_fee"] = Decimal(self._random.randrange(50, 400, 5))
        row = {**ticket, "charge": "ticket_fare", "product": self._flight(), "voucher": voucher}
        if self._random.random() < 0.4:
            row["used_on"] = row["flight_date"]
        return row | self._amounts(parts, style)

    def refund(self, ticket: Cells, style: str = "") -> Cells:
        """Charge a ticket's refund fee, approved some days after the flight would have gone."""
        most = 900 if ticket["market"] == "domestic" else 6000
        parts = {"refund_fee": Decimal(self._random.randrange(60, most, 5))}
        if self._random.random() < 0.3:
            parts["change_fee"] = Decimal(self._random.randrange(3000, 20000, 50)) / 100
        approved = ticket["flight_date"] + timedelta(days=self._random.randrange(2, 19))
        row = {**ticket, "charge": "refund", "product": self._flight(), "refund_approved_on": approved}
        return row | {"voucher": self._random.choice(("invoice", "auto", ""))} | self._amounts(parts, style)

    def ancillary(self, ticket: Cells, product: str) -> Cells:
        """Charge an ancillary service that was bought some weeks before the flight."""
        price = Decimal(self._random.randrange(*_ANCILLARY_PRICES[product]))
        return {
            **ticket,
            "charge": "ancillary",
            "product": product,
            "amount": price if ticket["market"] == "domestic" else 2 * price,
            "purchased_on": ticket["flight_date"] - timedelta(days=self._random.randrange(1, 45)),
            "voucher": self._random.choice(("invoice", "auto", "")),
        }

    def month(self, count: int) -> list[Cells]:
        """Make `count` rows that are all ready, in the order of their flights."""
        trips: list[list[Cells]] = []
        while sum(map(len, trips)) < count:
            trips.append(self._trip()[: count - sum(map(len, trips))])
        trips.sort(key=lambda trip: trip[0]["flight_date"])
        return [row for trip in trips for row in trip]

    def _trip(self) -> list[Cells]:
        """One ticket's rows: its fare or its refund, and now and then services bought with it."""
        market = "international" if self._random.random() < 0.3 else "domestic"
        refunded = self._random.random() < 0.2
        ticket = self.ticket(market, "refunded" if refunded else "used")
        if refunded:
            return [self.refund(ticket)]
        kinds = ("invoice", "invoice", "itinerary", "itinerary", "auto", "")
        rows = [self.fare(ticket, self._random.choice(kinds))]
        for _ in range(self._random.choice((0, 0, 0, 1, 1, 2))):
            self._made += 1  # every product has its turn
            rows.append(self.ancillary(ticket, _PRODUCTS[self._made % len(_PRODUCTS)]))
        return rows

    def _flight(self) -> str:
        return self._random.choice(("flight", ""))

    def _domestic_parts(self) -> dict[str, Decimal]:
        return {
            "fare": Decimal(self._random.randrange(300, 2900, 10)),
            "airport_fee": Decimal(50),
            "fuel_surcharge": Decimal(self._random.choice((10, 20))),
        }

    def _international_parts(self) -> dict[str, Decimal]:
        fare = self._random.choice(
            (self._random.randrange(1800, 9000, 10), self._random.randrange(9000, 38000, 50))
        )
        return {
            "fare": Decimal(fare),
            "airport_fee": Decimal(90),
            "fuel_surcharge": Decimal(self._random.randrange(320, 1400, 20)),
            "other_taxes": Decimal(self._random.randrange(12000, 99999)) / 100,
        }

    def _amounts(self, parts: dict[str, Decimal], style: str) -> dict[str, Decimal]:
        style = style or self._random.choice(("both", "both", "parts", "total"))
        total = {"amount": sum(parts.values(), Decimal(0))}
        return {"both": total | parts, "parts": parts, "total": total}[style]


def _english_failures(agency: _Agency) -> dict[int, tuple[Cells, Failure]]:
    """Give the English workbook's failing rows by the spreadsheet row that they take."""
    double = agency.fare(agency.ticket(flown=date(2026, 10, 19)), style="total") | {"amount": Decimal(980)}
    mistyped = agency.fare(agency.ticket(flown=date(2026, 10, 13))) | {
        "fare": Decimal(1250),
        "change_fee": None,
    }
    return {
        9: (
            agency.fare(agency.ticket(status="open", flown=date(2026, 11, 27))) | {"used_on": None},
            Failure("waiting", "ticket_still_open", "the ticket is still open: its flight is on 2026-11-27"),
        ),
        21: (
            agency.refund(agency.ticket(status="refunded")) | {"refund_approved_on": None},
            Failure("waiting", "refund_not_approved", "refund_approved_on is blank"),
        ),
        34: (
            agency.fare(agency.ticket(flown=date(2025, 10, 17))) | {"used_on": date(2025, 10, 17)},
            Failure("ineligible", "fare_window_closed", "used on 2025-10-17, more than one year before"),
        ),
        47: (
            agency.fare(agency.ticket(flown=date(2026, 3, 12)), "itinerary"),
            Failure("ineligible", "flight_too_old_for_itinerary", "flown on 2026-03-12, 253 days before"),
        ),
        58: (
            agency.fare(agency.ticket(), style="total") | {"amount": Decimal(10550)},
            Failure(
                "ineligible", "amount_over_limit", "10,550.00 on a domestic invoice; the limit is 10,000"
            ),
        ),
        66: (
            mistyped | {"airport_fee": Decimal(50), "fuel_surcharge": Decimal(20), "amount": Decimal(1230)},
            Failure("invalid", "amount_mismatch", "amount is 1,230.00, its components add up to 1,320.00"),
        ),
        79: (
            agency.fare(agency.ticket()) | {"buyer": "Haishi Tradng"},
            Failure("invalid", "unknown_buyer", "“Haishi Tradng” is not on the Buyers sheet"),
        ),
        88: (
            agency.fare(agency.ticket(), "itinerary") | {"passenger_name": ""},
            Failure("invalid", "missing_value", "passenger_name is blank"),
        ),
        95: (
            double,
            Failure("ineligible", "duplicate_charge", "the same fare as in row 103, with another amount"),
        ),
        103: (
            double | {"amount": Decimal(1080)},
            Failure("ineligible", "duplicate_charge", "the same fare as in row 95, with another amount"),
        ),
    }


def _chinese_failures(agency: _Agency) -> dict[int, tuple[Cells, Failure]]:
    """Give the Chinese workbook's failing rows by the spreadsheet row that they take."""
    partly = agency.ticket(flown=date(2026, 10, 16)) | {"ticket_status": "partly_used"}
    other_airline = agency.ticket()
    number = other_airline["ticket_no"].replace("999-", "781-")
    return {
        7: (
            # A number, not a text: what is left of a ticket number whose leading zero a spreadsheet ate.
            agency.fare(agency.ticket()) | {"ticket_no": 182412774069},
            Failure("invalid", "bad_ticket_no", "12 digits in a number cell: the leading zero is lost"),
        ),
        18: (
            agency.fare(agency.ticket(flown=date(2026, 10, 1))) | {"used_on": "2026年9月31日"},
            Failure("invalid", "bad_date", "使用日期 is 2026年9月31日: September has 30 days"),
        ),
        29: (
            agency.fare(agency.ticket(flown=date(2026, 12, 11))) | {"used_on": None},
            Failure("invalid", "date_in_future", "a used ticket whose flight is on 2026-12-11"),
        ),
        41: (
            agency.fare(partly, "itinerary"),
            Failure("ineligible", "voucher_conflict", "fare as itinerary, but refund (row 42) as invoice"),
        ),
        42: (
            agency.refund(partly) | {"voucher": "invoice"},
            Failure("ineligible", "voucher_conflict", "refund as invoice, but fare (row 41) as itinerary"),
        ),
        53: (
            agency.refund(agency.ticket(status="used")) | {"voucher": "invoice"},
            Failure("ineligible", "ticket_not_refunded", "a refund charge on a used ticket"),
        ),
        64: (
            agency.fare(other_airline) | {"ticket_no": number},
            Failure("ineligible", "not_a_carrier_ticket", "another airline's ticket (781)"),
        ),
        75: (
            agency.ancillary(agency.ticket(), "meal") | {"voucher": "itinerary"},
            Failure("ineligible", "not_an_itinerary_charge", "a meal as an itinerary"),
        ),
    }


def _with_failures(
    ready: list[Cells], failures: Mapping[int, tuple[Cells, Failure]]
) -> list[tuple[Cells, Failure | None]]:
    """Put each failing row where it says among the ready ones; data begin in row 2."""
    rows: list[tuple[Cells, Failure | None]] = [(row, None) for row in ready]
    for number in sorted(failures):
        rows.insert(number - 2, failures[number])
    return rows


def _english_book() -> Book:
    agency = _Agency(20261001, 2412000000, _EN_BUYERS, hyphens=False)
    ready = agency.month(109)
    # Too old for an itinerary, so that auto makes it an invoice.
    late = agency.fare(agency.ticket(flown=date(2026, 4, 14)), "auto") | {"remarks": "late claim"}
    ready.insert(2, late)
    rows = _with_failures(ready, _english_failures(agency))
    for row, _ in rows:
        own = random.Random(str(row["ticket_no"]))  # noqa: S311 - the same for every row of a ticket
        row["cost_centre"] = f"CC-{own.randrange(41, 47)}00"
        row["booking_ref"] = "".join(own.choices("ABCDEFGHJKLMNPQRTUVWXYZ", k=6))
    return Book("tickets-2026-10.xlsx", "en", _EN_BUYERS, ("cost_centre", "booking_ref"), tuple(rows))


def _chinese_book() -> Book:
    agency = _Agency(20261002, 2437000000, _ZH_BUYERS, hyphens=True)
    ready = agency.month(72)
    for row in ready[5:60:18]:
        row["remarks"] = "项目：2026 年秋季展会"
    rows = _with_failures(ready, _chinese_failures(agency))
    for row, _ in rows:
        own = random.Random(str(row["ticket_no"]))  # noqa: S311 - the same for every row of a ticket
        row["成本中心"] = own.choice(("市场部", "销售部", "研发部", "行政部"))
        row["订单号"] = f"DD202610-{own.randrange(10000):04d}"
    return Book("tickets-2026-10-zh.xlsx", "zh", _ZH_BUYERS, ("成本中心", "订单号"), tuple(rows))


def books() -> tuple[Book, ...]:
    """Make both workbooks' content."""
    return (_english_book(), _chinese_book())


def expected_failures() -> tuple[ExpectedFailure, ...]:
    """List every row that must fail on AS_OF with sandbox.toml; all the others are ready."""
    return tuple(
        ExpectedFailure(book.file, number, str(cells["ticket_no"]), failure.status, failure.code, failure.why)
        for book in books()
        for number, (cells, failure) in enumerate(book.rows, start=2)
        if failure
    )


def write_book(book: Book, folder: Path) -> None:
    """Write one workbook: its tickets and its buyers."""
    with xlsxwriter.Workbook(folder / book.file) as workbook:
        workbook.set_properties({"title": "October 2026", "created": _CREATED})
        tickets = [column.name for column in TICKET_COLUMNS] + list(book.extras)
        _write_sheet(
            workbook,
            translated(TICKETS_SHEET, book.lang, "sheet"),
            tickets,
            [row for row, _ in book.rows],
            book.lang,
        )
        buyers = [column.name for column in BUYER_COLUMNS]
        _write_sheet(workbook, translated(BUYERS_SHEET, book.lang, "sheet"), buyers, book.buyers, book.lang)


def _write_sheet(workbook: Any, name: str, columns: list[str], rows: Iterable[Cells], lang: Lang) -> None:
    font = {"font_name": "Arial", "font_size": 10}
    bold = workbook.add_format(font | {"bold": True, "bg_color": "#DDEBF7", "bottom": 1, "indent": 1})
    formats = {
        str: workbook.add_format(font | {"num_format": "@", "indent": 1}),
        int: workbook.add_format(font | {"num_format": "0"}),
        Decimal: workbook.add_format(font | {"num_format": "#,##0.00"}),
        date: workbook.add_format(font | {"num_format": "yyyy-mm-dd", "align": "center"}),
    }
    sheet = workbook.add_worksheet(name)
    for index, column in enumerate(columns):
        title = heading(column, lang)
        known_width = COLUMN[column].width if column in COLUMN else 14
        sheet.set_column(index, index, max(known_width, len(title) + 4))
        sheet.write_string(0, index, title, bold)
    last = 0
    for last, row in enumerate(rows, start=1):
        for index, column in enumerate(columns):
            value = _shown(column, row.get(column), lang)
            if value is not None:
                sheet.write(last, index, value, formats[type(value)])
    sheet.freeze_panes(1, 1)
    sheet.autofilter(0, 0, last, len(columns) - 1)
    sheet.set_landscape()
    sheet.set_paper(9)  # A4
    sheet.fit_to_pages(1, 0)
    sheet.set_margins(left=0.4, right=0.4, top=0.5, bottom=0.5)
    sheet.repeat_rows(0)


def _shown(column: str, value: Any, lang: Lang) -> Any:
    """Give a cell's value as the workbook of that language has it; None where it is blank."""
    if value in (None, ""):
        return None
    if column in COLUMN and COLUMN[column].kind is Kind.CHOICE:
        return choice_word(value, lang)
    return value


_TRY_RECONCILE = (
    "voucher reconcile sample_data/{book} --statement sample_data/{statement} --sandbox"
    " --profile sample_data/sandbox.toml --as-of {as_of} -o october.reconciliation.xlsx"
)


def statement() -> list[dict[str, str]]:
    """The carrier's statement: two charges of the month that somebody had issued at the counter, and one of no workbook."""
    book = books()[0]
    rows = [row for row, failure in book.rows if failure is None]
    fare = next(row for row in rows if row.get("charge") == "ticket_fare" and row["voucher"] == "invoice")
    baggage = next(row for row in rows if row.get("product") == "baggage")
    at_counter = [
        (fare, "262810154501174401", "2026-10-28T15:45:01+08:00"),
        (baggage, "262910091207174402", "2026-10-29T09:12:07+08:00"),
        ({**fare, "ticket_no": "9992412099991"}, "263010103344174403", "2026-10-30T10:33:44+08:00"),
    ]
    header_names = {buyer["buyer"]: buyer["header_name"] for buyer in book.buyers}
    return [
        {
            "voucher": "invoice",
            "number": number,
            "ticket_no": str(row["ticket_no"]).replace("-", ""),
            "charge": str(row["charge"]),
            "product": str(row.get("product") or "flight"),
            "amount": f"{row['amount']:.2f}",
            "issued_at": when,
            "buyer": str(header_names[row["buyer"]]),
        }
        for row, number, when in at_counter
    ]


def write_statement(folder: Path) -> None:
    """Write the statement as the carrier's file."""
    lines = statement()
    with (folder / STATEMENT).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def readme() -> str:
    """Write the README: what is here, and the table of what must fail."""
    counts = {book.file: len(book.rows) for book in books()}
    failures = expected_failures()
    lines = [
        "# Sample data",
        "",
        "Made by `generate.py`; change that and run it again. People, companies and numbers are made up.",
        "",
        *(f"- `{file}`: {count} rows" for file, count in counts.items()),
        "- `sandbox.toml`: a carrier profile for the sandbox",
        f"- `{STATEMENT}`: a statement of the carrier's that lists what others issued",
        "",
        "```sh",
        *(
            f"voucher check sample_data/{file} --profile sample_data/sandbox.toml --as-of {AS_OF}"
            for file in counts
        ),
        "```",
        "",
        "Two charges of the English workbook stand on the statement: they were issued elsewhere, and are not issued again.",
        "The third line of it belongs to no workbook:",
        "",
        "```sh",
        _TRY_RECONCILE.format(book=books()[0].file, statement=STATEMENT, as_of=AS_OF),
        "```",
        "",
        f"On {AS_OF}, {sum(counts.values()) - len(failures)} rows are ready. These {len(failures)} must fail:",
        "",
        "| file | row | ticket | status | reason | why |",
        "|---|---|---|---|---|---|",
        *(
            f"| {one.file} | {one.row} | {one.ticket_no} | {one.status} | `{one.code}` | {one.why} |"
            for one in failures
        ),
        "",
    ]
    return "\n".join(lines)


def main(folder: Path = _FOLDER) -> None:
    """Write the workbooks, the profile and the README into `folder`."""
    for book in books():
        write_book(book, folder)
    write_statement(folder)
    (folder / "sandbox.toml").write_text(PROFILE, encoding="utf-8", newline="\n")
    (folder / "README.md").write_text(readme(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
