"""The vocabulary: every column's name, headings, kind, choices and meaning.

One table for everyone. The reader recognises headings and values by it, the template is drawn from
it, and the result workbook takes its headings from it; so a column or a value that is added here is
understood, offered and written everywhere at once. Other words for a column are in synonyms.py.

>>> COLUMN["charge"].heading("zh")
'费用类型'
>>> [choice.name for choice in COLUMN["market"].choices]
['domestic', 'international']
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from pipeline.model.synonyms import SYNONYMS

Lang = Literal["en", "zh"]
LANGS: tuple[Lang, ...] = ("en", "zh")


class Kind(StrEnum):
    """How a column's cells are read and written."""

    TEXT = "text"
    TICKET = "ticket"  # 13 digits, kept as text
    MONEY = "money"  # main unit with at most two decimals; whole minor units inside
    DATE = "date"  # a calendar day of the carrier's time zone
    CHOICE = "choice"


@dataclass(frozen=True)
class Choice:
    """One permitted value of a column, with the words that mean it."""

    name: str
    zh: str
    variants: tuple[str, ...] = ()

    def word(self, lang: Lang) -> str:
        """The value as a person reads it in a workbook of that language."""
        return self.zh if lang == "zh" else self.name


@dataclass(frozen=True)
class Column:
    """One column of the input, as interface.md ("Input columns") has it."""

    name: str
    zh: str
    kind: Kind
    en_meaning: str
    zh_meaning: str
    choices: tuple[Choice, ...] = ()
    width: int = 14  # characters, in the workbooks that we write

    @property
    def variants(self) -> tuple[str, ...]:
        """Other headings that mean this column."""
        return SYNONYMS.get(self.name, ())

    def heading(self, lang: Lang) -> str:
        """The heading that we write; the reader knows both languages and the variants."""
        return self.zh if lang == "zh" else self.name

    def meaning(self, lang: Lang) -> str:
        """What the column holds, for the template's notes."""
        return self.zh_meaning if lang == "zh" else self.en_meaning


CHARGES = (
    Choice("ticket_fare", "机票款", ("ticket fare", "fare", "机票", "票款", "机票费", "机票费用")),
    Choice("refund", "退票费", ("refund fee", "refund charge", "退票", "退票手续费")),
    Choice("ancillary", "附加服务", ("ancillary service", "ancillaries", "附加服务费", "增值服务", "辅营")),
)
PRODUCTS = (
    Choice("flight", "机票", ("ticket", "航班")),
    Choice("baggage", "行李", ("bag", "luggage", "行李费", "逾重行李", "行李额")),
    Choice("seat", "选座", ("seat selection", "seating", "选座费", "座位")),
    Choice("upgrade", "升舱", ("upgrades", "升舱费")),
    Choice("meal", "餐食", ("meals", "餐食费", "餐饮")),
    Choice("lounge", "贵宾室", ("lounge access", "贵宾室费", "休息室", "贵宾厅", "贵宾休息室")),
)
MARKETS = (
    Choice("domestic", "国内", ("dom", "d", "国内机票", "国内票", "国内航线", "国内航班")),
    Choice("international", "国际", ("intl", "int", "i", "国际机票", "国际票", "国际航线", "国际航班")),
)
TICKET_STATUSES = (
    Choice("open", "未使用", ("unused", "open for use", "待使用", "有效", "未乘机")),
    Choice("used", "已使用", ("flown", "used/flown", "使用", "已乘机", "客票已使用", "使用完毕", "已出行")),
    Choice("refunded", "已退票", ("refund completed", "已退", "退票完成")),
    Choice("partly_used", "部分使用", ("partly used, partly refunded", "部分使用部分退票")),
)
VOUCHERS = (
    Choice("invoice", "发票", ("e-invoice", "electronic invoice", "电子发票")),
    Choice("itinerary", "行程单", ("e-itinerary", "electronic itinerary", "电子行程单")),
    Choice("auto", "自动", ("automatic",)),
)
HEADER_TYPES = (
    Choice("business", "企业", ("company", "corporate", "单位", "公司", "企业单位")),
    Choice("individual", "个人", ("person", "personal", "private", "个人/非企业单位")),
)

TICKET_COLUMNS = (
    Column(
        "ticket_no",
        "票号",
        Kind.TICKET,
        "The ticket number: 13 digits, a hyphen after the third allowed. Keep the cell as text.",
        "13 位票号，第三位后可有连字符。单元格请保持文本格式。",
        width=16,
    ),
    Column(
        "passenger_name",
        "旅客姓名",
        Kind.TEXT,
        "The passenger's name as on the ticket.",
        "旅客姓名，与客票上一致。",
        width=28,
    ),
    Column(
        "charge",
        "费用类型",
        Kind.CHOICE,
        "What is to be issued: the ticket's fare, its refund charge, or an ancillary service.",
        "开具的费用：机票款、退票费或附加服务。",
        choices=CHARGES,
        width=12,
    ),
    Column(
        "product",
        "产品",
        Kind.CHOICE,
        "flight (or blank) for fares and refunds; the service for an ancillary charge.",
        "机票款与退票费填机票或留空；附加服务填具体产品。",
        choices=PRODUCTS,
        width=10,
    ),
    Column(
        "amount",
        "金额",
        Kind.MONEY,
        "The charge's total, in the currency's main unit. May stay blank where components are given.",
        "费用合计（元）。已填写分项时可留空。",
        width=12,
    ),
    Column(
        "fare",
        "票价",
        Kind.MONEY,
        "Component of a ticket fare: the fare itself.",
        "机票款分项：票面价。",
        width=11,
    ),
    Column(
        "change_fee",
        "改签费",
        Kind.MONEY,
        "Component of a ticket fare or of a refund: the change fee.",
        "机票款或退票费分项：改签费。",
        width=11,
    ),
    Column(
        "airport_fee",
        "机建",
        Kind.MONEY,
        "Component of a ticket fare: the airport construction fee.",
        "机票款分项：机场建设费（民航发展基金）。",
        width=11,
    ),
    Column(
        "fuel_surcharge",
        "燃油",
        Kind.MONEY,
        "Component of a ticket fare: the fuel surcharge.",
        "机票款分项：燃油附加费。",
        width=11,
    ),
    Column(
        "other_taxes",
        "其他税费",
        Kind.MONEY,
        "Component of a ticket fare: other (international) taxes.",
        "机票款分项：其他（国际）税费。",
        width=11,
    ),
    Column(
        "refund_fee",
        "退票手续费",
        Kind.MONEY,
        "Component of a refund: the refund fee.",
        "退票费分项：退票手续费。",
        width=11,
    ),
    Column(
        "market",
        "国内/国际",
        Kind.CHOICE,
        "Whether the ticket is domestic or international.",
        "国内或国际客票。",
        choices=MARKETS,
        width=13,
    ),
    Column(
        "ticket_status",
        "客票状态",
        Kind.CHOICE,
        "open (not used yet), used, refunded, or partly_used (some flights flown, the rest refunded).",
        "未使用、已使用、已退票或部分使用（部分航段已使用，其余已退票）。",
        choices=TICKET_STATUSES,
        width=12,
    ),
    Column(
        "flight_date",
        "航班日期",
        Kind.DATE,
        "The date of the last flight on the ticket; of a ticket partly used, of the last that was flown.",
        "客票最后一个航段的航班日期；部分使用的客票填写最后一个已使用航段的日期。",
        width=12,
    ),
    Column(
        "used_on",
        "使用日期",
        Kind.DATE,
        "The date on which the ticket was used; blank: the flight date.",
        "客票使用日期；留空则为航班日期。",
        width=12,
    ),
    Column(
        "refund_approved_on",
        "退票审核日期",
        Kind.DATE,
        "The date on which the refund was approved.",
        "退票审核通过的日期。",
        width=14,
    ),
    Column(
        "purchased_on",
        "购买日期",
        Kind.DATE,
        "For ancillary charges: the date of purchase.",
        "附加服务的购买日期。",
        width=12,
    ),
    Column(
        "voucher",
        "开票类型",
        Kind.CHOICE,
        "invoice, itinerary, or auto (or blank) to let the rules choose.",
        "发票、行程单；自动（或留空）由规则决定。",
        choices=VOUCHERS,
        width=11,
    ),
    Column(
        "buyer",
        "购买方",
        Kind.TEXT,
        "The buyer: a name from the Buyers sheet. Blank: the only buyer there is.",
        "购买方：购买方信息表中的名称；只有一个购买方时可留空。",
        width=16,
    ),
    Column(
        "remarks",
        "备注",
        Kind.TEXT,
        "Free text printed on the invoice.",
        "发票备注，自由文本。",
        width=20,
    ),
)

BUYER_COLUMNS = (
    TICKET_COLUMNS[-2],
    Column(
        "header_type",
        "抬头类型",
        Kind.CHOICE,
        "business or individual.",
        "企业或个人。",
        choices=HEADER_TYPES,
        width=11,
    ),
    Column(
        "header_name",
        "抬头名称",
        Kind.TEXT,
        "The buyer's name on the voucher.",
        "凭证上的购买方名称。",
        width=28,
    ),
    Column(
        "tax_no",
        "税号",
        Kind.TEXT,
        "The buyer's tax number; needed for a business. Keep the cell as text.",
        "购买方税号，企业必填。单元格请保持文本格式。",
        width=22,
    ),
    Column(
        "phone",
        "电话",
        Kind.TEXT,
        "The buyer's telephone number.",
        "购买方电话。",
        width=16,
    ),
    Column(
        "email",
        "邮箱",
        Kind.TEXT,
        "The buyer's e-mail address; itineraries are sent to it.",
        "购买方邮箱，行程单会发送至此。",
        width=26,
    ),
)


def _fee(name: str, zh: str, service: Choice) -> Column:
    return Column(
        name,
        zh,
        Kind.MONEY,
        f"In a bill that names no charge: the fee of an ancillary service ({service.name}).",
        f"未填写费用类型的账单：附加服务（{service.zh}）的费用。",
        width=11,
    )


#: Columns that only bills have which give each charge of a ticket a column of its own.
FEE_COLUMNS = (
    _fee("baggage_fee", "行李费", PRODUCTS[1]),
    _fee("seat_fee", "选座费", PRODUCTS[2]),
    _fee("upgrade_fee", "升舱费", PRODUCTS[3]),
    _fee("meal_fee", "餐食费", PRODUCTS[4]),
    _fee("lounge_fee", "贵宾室费", PRODUCTS[5]),
)

#: What an agency's export says of the order behind a row; see exports.ORDER_TYPES.
ORDER_TYPE = Column(
    "order_type",
    "订单类型",
    Kind.TEXT,
    "The order's type in an agency's export; market and ticket status may follow from it.",
    "代理人导出表中的订单类型；可由其得出国内/国际与客票状态。",
    width=16,
)

#: All columns in their order, the shared `buyer` once.
COLUMNS = (*TICKET_COLUMNS, *BUYER_COLUMNS[1:], *FEE_COLUMNS, ORDER_TYPE)
COLUMN = {column.name: column for column in COLUMNS}

#: The header fields of a buyer: what a voucher says of it.
HEADER_FIELDS = tuple(column.name for column in BUYER_COLUMNS[1:])

#: The components of each charge that has any (carrier-interface.md, Terms).
COMPONENTS = {
    "ticket_fare": ("fare", "change_fee", "airport_fee", "fuel_surcharge", "other_taxes"),
    "refund": ("refund_fee", "change_fee"),
}

#: The column that an ancillary product's charge has in a wide bill.
FEES = {product.name: fee.name for product, fee in zip(PRODUCTS[1:], FEE_COLUMNS, strict=True)}

TICKETS_SHEET = {"en": "Tickets", "zh": "客票"}
BUYERS_SHEET = {"en": "Buyers", "zh": "购买方信息"}

#: The result workbook's sheets, in their order; the same names in every language, because people
#: and programs find them by name.
RESULT_SHEETS = ("Summary", "Invoices", "Itineraries", "Failures", "Unknown", "Rows")

#: The reconciliation workbook's sheets. Failures and Unknown are those of a result: corrected and answered there, they
#: are read back in the same way.
RECONCILIATION_SHEETS = (
    "Summary", "Agreed", "Not on statement", "Not ours", "Differing", "Not covered", "Unknown", "To issue", "Failures",
)  # fmt: skip

#: Headings that the result workbook adds to the input's own, in both languages.
RESULT_COLUMNS = {
    "status": "状态",
    "number": "凭证号码",
    "reason": "原因",
    "what_to_do": "处理办法",
    "last_day": "申请截止日",
    "request": "请求",
    "attempt": "次数",
    "trace_id": "承运人追踪号",
    "file": "来源文件",
    "sheet": "来源工作表",
    "row": "来源行",
    "currency": "币种",
    "charges": "费用数",
    "buyer_source": "购买方填写来源",
    "ledger": "台账",
    "tickets": "客票明细",
    "resolution": "处理结果",
    "resolved_by": "处理人",
    "evidence": "依据",
}
RESULT_HEADINGS = {heading for pair in RESULT_COLUMNS.items() for heading in pair}
