"""The vocabulary: every column's name, kind, choices and meaning.

One table for everyone. The reader recognises headings and values by it, the template is drawn from
it, and the result workbook takes its headings from it; so a column or a value that is added here is
understood, offered and written everywhere at once. In English a column and a choice are called by their names;
their words in other languages are in the catalogues (messages/*.po), and other words that mean a column in heading_synonyms.py.

>>> [choice.name for choice in COLUMN["market"].choices]
['domestic', 'international']
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, get_args

from pipeline.model.heading_synonyms import SYNONYMS
from pipeline.model.message import P_, Message, Term, message

#: English is in the code; each other language is here, and has a catalogue (messages/zh.po).
Lang = Literal["en", "zh"]
LANGS: tuple[Lang, ...] = get_args(Lang)


class Kind(StrEnum):
    """How a column's cells are read and written."""

    TEXT = "text"
    TICKET = "ticket"  # 13 digits, kept as text
    MONEY = "money"  # main unit with at most two decimals; whole minor units inside
    DATE = "date"  # a calendar day of the carrier's time zone
    CHOICE = "choice"


@dataclass(frozen=True)
class Choice:
    """One permitted value of a column, with other words that mean it."""

    name: str
    variants: tuple[str, ...] = ()


@dataclass(frozen=True)
class Column:
    """One column of the input, as interface.md ("Input columns") has it."""

    name: str
    kind: Kind
    meaning: Message
    choices: tuple[Choice, ...] = ()
    width: int = 14  # characters, in the workbooks that we write
    asked: bool = True  # whether a person may have to fill it in; else it is written only where it was read

    @property
    def variants(self) -> tuple[str, ...]:
        """Other headings that mean this column."""
        return SYNONYMS.get(self.name, ())


CHARGES = (
    Choice(P_("choice", "ticket_fare"), ("ticket fare", "fare", "机票", "票款", "机票费", "机票费用")),
    Choice(P_("choice", "refund"), ("refund fee", "refund charge", "退票", "退票手续费")),
    Choice(P_("choice", "ancillary"), ("ancillary service", "ancillaries", "附加服务费", "增值服务", "辅营")),
)
PRODUCTS = (
    Choice(P_("choice", "flight"), ("ticket", "航班", "国内机票", "国际机票")),
    Choice(P_("choice", "baggage"), ("bag", "luggage", "行李费", "逾重行李", "行李额")),
    Choice(P_("choice", "seat"), ("seat selection", "seating", "选座费", "座位")),
    Choice(P_("choice", "upgrade"), ("upgrades", "升舱费")),
    Choice(P_("choice", "meal"), ("meals", "餐食费", "餐饮")),
    Choice(P_("choice", "lounge"), ("lounge access", "贵宾室费", "休息室", "贵宾厅", "贵宾休息室")),
)
MARKETS = (
    Choice(P_("choice", "domestic"), ("dom", "d", "国内机票", "国内票", "国内航线", "国内航班")),
    Choice(P_("choice", "international"), ("intl", "int", "i", "国际机票", "国际票", "国际航线", "国际航班")),
)
TICKET_STATUSES = (
    Choice(P_("choice", "open"), ("unused", "open for use", "待使用", "有效", "未乘机")),
    Choice(
        P_("choice", "used"), ("flown", "used/flown", "使用", "已乘机", "客票已使用", "使用完毕", "已出行")
    ),
    Choice(P_("choice", "refunded"), ("refund completed", "已退", "退票完成")),
    Choice(P_("choice", "partly_used"), ("partly used, partly refunded", "部分使用部分退票")),
)
VOUCHERS = (
    Choice(P_("choice", "invoice"), ("e-invoice", "electronic invoice", "电子发票")),
    Choice(P_("choice", "itinerary"), ("e-itinerary", "electronic itinerary", "电子行程单")),
    Choice(P_("choice", "auto"), ("automatic",)),
)
HEADER_TYPES = (
    Choice(P_("choice", "business"), ("company", "corporate", "单位", "公司", "企业单位")),
    Choice(P_("choice", "individual"), ("person", "personal", "private", "个人/非企业单位")),
)

TICKET_COLUMNS = (
    Column(
        P_("column", "ticket_no"),
        Kind.TICKET,
        message("The ticket number: 13 digits, a hyphen after the third allowed. Keep the cell as text."),
        width=16,
    ),
    Column(
        P_("column", "passenger_name"),
        Kind.TEXT,
        message("The passenger's name as on the ticket."),
        width=28,
    ),
    Column(
        P_("column", "charge"),
        Kind.CHOICE,
        message("What is to be issued: the ticket's fare, its refund charge, or an ancillary service."),
        choices=CHARGES,
        width=12,
    ),
    Column(
        P_("column", "product"),
        Kind.CHOICE,
        message("flight (or blank) for fares and refunds; the service for an ancillary charge."),
        choices=PRODUCTS,
        width=10,
    ),
    Column(
        P_("column", "amount"),
        Kind.MONEY,
        message(
            "The charge's total, in the currency's main unit. May stay blank where components are given."
        ),
        width=12,
    ),
    Column(
        P_("column", "fare"),
        Kind.MONEY,
        message("Component of a ticket fare: the fare itself."),
        width=11,
    ),
    Column(
        P_("column", "change_fee"),
        Kind.MONEY,
        message("Component of a ticket fare or of a refund: the change fee."),
        width=11,
    ),
    Column(
        P_("column", "airport_fee"),
        Kind.MONEY,
        message("Component of a ticket fare: the airport construction fee."),
        width=11,
    ),
    Column(
        P_("column", "fuel_surcharge"),
        Kind.MONEY,
        message("Component of a ticket fare: the fuel surcharge."),
        width=11,
    ),
    Column(
        P_("column", "other_taxes"),
        Kind.MONEY,
        message("Component of a ticket fare: other (international) taxes."),
        width=11,
    ),
    Column(
        P_("column", "refund_fee"),
        Kind.MONEY,
        message("Component of a refund: the refund fee."),
        width=11,
    ),
    Column(
        P_("column", "market"),
        Kind.CHOICE,
        message("Whether the ticket is domestic or international."),
        choices=MARKETS,
        width=13,
    ),
    Column(
        P_("column", "ticket_status"),
        Kind.CHOICE,
        message(
            "open (not used yet), used, refunded, or partly_used (some flights flown, the rest refunded)."
        ),
        choices=TICKET_STATUSES,
        width=12,
    ),
    Column(
        P_("column", "flight_date"),
        Kind.DATE,
        message(
            "The date of the last flight on the ticket; of a ticket partly used, of the last that was flown."
        ),
        width=12,
    ),
    Column(
        P_("column", "used_on"),
        Kind.DATE,
        message("The date on which the ticket was used; blank: the flight date."),
        width=12,
    ),
    Column(
        P_("column", "refund_approved_on"),
        Kind.DATE,
        message("The date on which the refund was approved."),
        width=14,
    ),
    Column(
        P_("column", "purchased_on"),
        Kind.DATE,
        message("For ancillary charges: the date of purchase."),
        width=12,
    ),
    Column(
        P_("column", "voucher"),
        Kind.CHOICE,
        message("invoice, itinerary, or auto (or blank) to let the rules choose."),
        choices=VOUCHERS,
        width=11,
    ),
    Column(
        P_("column", "buyer"),
        Kind.TEXT,
        message("The buyer: a name from the Buyers sheet. Blank: the only buyer there is."),
        width=16,
    ),
    Column(
        P_("column", "remarks"),
        Kind.TEXT,
        message("Free text printed on the invoice."),
        width=20,
    ),
)

BUYER_COLUMNS = (
    *(column for column in TICKET_COLUMNS if column.name == "buyer"),
    Column(
        P_("column", "header_type"),
        Kind.CHOICE,
        message("business or individual."),
        choices=HEADER_TYPES,
        width=11,
    ),
    Column(
        P_("column", "header_name"),
        Kind.TEXT,
        message("The buyer's name on the voucher."),
        width=28,
    ),
    Column(
        P_("column", "tax_no"),
        Kind.TEXT,
        message("The buyer's tax number; needed for a business. Keep the cell as text."),
        width=22,
    ),
    Column(
        P_("column", "phone"),
        Kind.TEXT,
        message("The buyer's telephone number."),
        width=16,
    ),
    Column(
        P_("column", "email"),
        Kind.TEXT,
        message("The buyer's e-mail address; itineraries are sent to it."),
        width=26,
    ),
)


def _fee(name: str, service: Choice) -> Column:
    meaning = message(
        "In a bill that names no charge: the fee of an ancillary service ({service}).",
        service=Term(service.name, "choice"),
    )
    return Column(name, Kind.MONEY, meaning, width=11, asked=False)


#: Columns that only bills have which give each charge of a ticket a column of its own.
FEE_COLUMNS = (
    _fee(P_("column", "baggage_fee"), PRODUCTS[1]),
    _fee(P_("column", "seat_fee"), PRODUCTS[2]),
    _fee(P_("column", "upgrade_fee"), PRODUCTS[3]),
    _fee(P_("column", "meal_fee"), PRODUCTS[4]),
    _fee(P_("column", "lounge_fee"), PRODUCTS[5]),
)

#: What agencies' exports may have apart from the ticket number; see reading/ticket_numbers.py.
TICKET_PREFIX = Column(
    P_("column", "ticket_prefix"),
    Kind.TEXT,
    message("The airline's 3 digits, where the ticket number holds the other ten alone."),
    width=10,
    asked=False,
)

#: What an agency's export says of the order behind a row; see exports.ORDER_TYPES.
ORDER_TYPE = Column(
    P_("column", "order_type"),
    Kind.TEXT,
    message("The order's type in an agency's export; market and ticket status may follow from it."),
    width=16,
    asked=False,
)

#: All columns in their order, the shared `buyer` once.
COLUMNS = (
    TICKET_COLUMNS[0],
    TICKET_PREFIX,
    *TICKET_COLUMNS[1:],
    *BUYER_COLUMNS[1:],
    *FEE_COLUMNS,
    ORDER_TYPE,
)
COLUMN = {column.name: column for column in COLUMNS}

#: The header fields of a buyer: what a voucher says of it.
HEADER_FIELDS = tuple(column.name for column in BUYER_COLUMNS[1:])

#: The components of each charge that has any (carrier-interface.md, Terms).
COMPONENTS = {
    "ticket_fare": ("fare", "change_fee", "airport_fee", "fuel_surcharge", "other_taxes"),
    "refund": ("refund_fee", "change_fee"),
}
#: Those of a fare that no refund has.
FARE_ALONE = tuple(name for name in COMPONENTS["ticket_fare"] if name not in COMPONENTS["refund"])

#: The column that an ancillary product's charge has in a wide bill.
FEES = {product.name: fee.name for product, fee in zip(PRODUCTS[1:], FEE_COLUMNS, strict=True)}

#: The sheets of the input workbook; their names are in its language.
TICKETS_SHEET = P_("sheet", "Tickets")
BUYERS_SHEET = P_("sheet", "Buyers")

#: The result workbook's sheets, in their order; the same names in every language, because people
#: and programs find them by name.
RESULT_SHEETS = ("Summary", "Invoices", "Itineraries", "Failures", "Unknown", "Rows")

#: The reconciliation workbook's sheets. Failures and Unknown are those of a result: corrected and answered there, they
#: are read back in the same way.
RECONCILIATION_SHEETS = (
    "Summary", "Agreed", "Not on statement", "Not ours", "Differing", "Not covered", "Unknown", "To issue", "Failures",
)  # fmt: skip

#: Columns that the result workbook adds to the input's own.
RESULT_COLUMNS = (
    P_("column", "status"),
    P_("column", "number"),
    P_("column", "reason_no"),
    P_("column", "reason"),
    P_("column", "what_to_do"),
    P_("column", "last_day"),
    P_("column", "request"),
    P_("column", "attempt"),
    P_("column", "trace_id"),
    P_("column", "file"),
    P_("column", "sheet"),
    P_("column", "row"),
    P_("column", "currency"),
    P_("column", "charges"),
    P_("column", "buyer_source"),
    P_("column", "status_of_other_rows"),
    P_("column", "ledger"),
    P_("column", "tickets"),
    P_("column", "resolution"),
    P_("column", "resolved_by"),
    P_("column", "evidence"),
)
