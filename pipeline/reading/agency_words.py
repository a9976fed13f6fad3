"""Words of travel agencies' exports beyond our own columns: order types, headings carried through, vague ones."""

import re
from collections.abc import Iterable

from pipeline.reading.character_width import one_width

#: What an order type says by itself, for cells that are blank. Whether the ticket of a normal or a changed
#: order was used is nothing that its type says; a team's own mapping may.
ORDER_TYPES: dict[str, dict[str, str]] = {
    f"{market}机票{kind}单": {"market": market} | ({"ticket_status": "已退票"} if kind == "退票" else {})
    for market in ("国内", "国际")
    for kind in ("正常", "改签", "退票")
}

#: Names of sheets that say which market their tickets are of, for cells that are blank.
MARKET_SHEETS = {
    "国内机票": "国内", "国内": "国内", "domestic": "domestic", "domestic tickets": "domestic",
    "国际机票": "国际", "国际": "国际", "international": "international", "international tickets": "international",
}  # fmt: skip

#: What else agencies arrange and put into the same bill, in names of sheets and in order types, charges and products:
#: rows that say so, and hold no ticket's number, are no tickets.
OTHER_SERVICES = (
    "酒店", "住宿", "宾馆", "客房", "火车", "高铁", "动车", "铁路", "用车", "打车", "租车", "网约车", "出租车", "专车", "接送", "接机", "送机",
    "汽车票", "船票", "轮渡", "保险", "签证", "门票", "hotel", "lodging", "accommodation", "train", "rail", "railway", "car", "taxi",
    "car rental", "car hire", "ferry", "bus", "insurance", "visa",
)  # fmt: skip

#: Words for ancillary services in names of orders and sheets.
ANCILLARY_SERVICES = (
    "行李", "选座", "升舱", "餐食", "贵宾", "休息室", "baggage", "luggage", "seat", "seat selection", "upgrade", "meal", "lounge",
)  # fmt: skip

#: Words that say that a row is of a flight all the same.
FLIGHTS = ("机票", "客票", "航班", "air", "flight", "airfare", "air ticket")

#: Headings of columns that say which currency the amounts of their rows are in (currency_columns.py). One that says what an
#: amount was before it was exchanged (原币种) is none of them.
CURRENCIES = (
    "currency", "currency code", "ccy", "curr", "cur", "settlement currency", "payment currency", "invoice currency", "billing currency",
    "transaction currency", "price currency", "fare currency", "amount currency",
    "币种", "币别", "币制", "货币", "币种代码", "币种名称", "币种类型", "货币代码", "货币名称", "货币类型", "货币种类", "货币单位", "货币符号", "结算币种",
    "结算币别", "结算货币", "支付币种", "支付货币", "付款币种", "付款货币", "交易币种", "交易货币", "开票币种", "开票货币", "记账币种", "金额币种", "金额单位", "票价币种",
    "票面币种", "票款币种", "账单币种", "销售币种", "出票币种",
)  # fmt: skip

#: Headings that exports have beside ours: carried through, and never taken for a slip of ours.
CARRIED = (
    "cost center", "cost centre", "department", "project", "employee no", "order no", "order number", "booking no",
    "invoice no", "invoice number", "pnr", "flight no", "flight number", "cabin", "class", "route", "airline",
    "service fee", "issue date", "booking date", "order date", "departure time", "arrival time",
    "成本中心", "部门", "项目", "工号", "员工编号", "订单号", "订单编号", "订票日期", "预订日期", "订单日期", "出票日期", "出票时间",
    "发票号", "发票号码", "航班号", "航班", "航程", "行程", "舱位", "航空公司", "承运人", "起飞时间", "到达时间", "到达日期",
    "出发城市", "到达城市", "服务费", "折扣", "序号", "结算日期", "客户经理", "旅客类型", "乘客类型", "乘机人类型", "证件号", "证件号码",
    "税率", "税额", "不含税金额", "退款金额", "退票金额", "实退金额", "订单状态", "发票状态", "开票状态", "开票日期", "发票日期", "单价", "数量",
    "no", "number", "line", "passenger type", "order status", "invoice status", "invoice date", "tax rate", "net amount", *CURRENCIES,
)  # fmt: skip

#: Headings that could be several of ours: which one is for the team to say.
VAGUE: dict[str, tuple[str, ...]] = {
    "date": ("flight_date", "used_on", "purchased_on", "refund_approved_on"),
    "日期": ("flight_date", "used_on", "purchased_on", "refund_approved_on"),
    "type": ("charge", "voucher", "header_type"),
    "类型": ("charge", "voucher", "header_type"),
    "name": ("passenger_name", "header_name"),
    "名称": ("header_name", "product"),
    "status": ("ticket_status",),
    "状态": ("ticket_status",),
    "price": ("fare", "amount"),
    "价格": ("fare", "amount"),
    "机票款": ("fare", "amount"),
    "机票费": ("fare", "amount"),
    "发票金额": ("amount",),
    "invoice amount": ("amount",),
    "发票类型": ("voucher", "header_type"),
    "invoice type": ("voucher", "header_type"),
    "客户名称": ("buyer", "header_name"),
    "customer name": ("buyer", "header_name"),
    "fee": ("refund_fee", "change_fee", "airport_fee"),
    "手续费": ("refund_fee", "change_fee"),
    "退改手续费": ("refund_fee", "change_fee"),
    "退改签手续费": ("refund_fee", "change_fee"),
    "退改签费": ("refund_fee", "change_fee"),
    **dict.fromkeys(
        ("机建燃油", "机建燃油费", "机建燃油税", "机建费燃油费", "机场建设费燃油费", "机场建设费燃油附加费"),
        ("airport_fee", "fuel_surcharge"),
    ),
    "税": ("other_taxes", "airport_fee", "fuel_surcharge"),
    "tax": ("other_taxes", "airport_fee", "fuel_surcharge"),
}


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    """Chinese words wherever they stand, English ones as whole words."""
    return re.compile(
        "|".join(rf"(?<![a-z]){word}s?(?![a-z])" if word.isascii() else re.escape(word) for word in words)
    )


_OTHER, _FLIGHTS = _any_of(OTHER_SERVICES), _any_of(FLIGHTS)
_NO_FARE = _any_of((*OTHER_SERVICES, *ANCILLARY_SERVICES))


def says_other_service(text: str) -> bool:
    """Whether a name says hotels, trains, cars and the like, and nothing of flights.

    >>> says_other_service("火车票订单"), says_other_service("Hotels"), says_other_service("机票+酒店"), says_other_service("Career")
    (True, True, False, False)
    """
    return _says(_OTHER, text)


def says_no_fare(text: str) -> bool:
    """Whether a name says such a service or an ancillary one, so that what is charged under it is no ticket's fare.

    >>> says_no_fare("保险订单"), says_no_fare("行李额订单"), says_no_fare("国内机票正常单")
    (True, True, False)
    """
    return _says(_NO_FARE, text)


def says_flight(text: str) -> bool:
    """Whether a name has a word for flights."""
    return bool(_FLIGHTS.search(one_width(text).casefold()))


def _says(words: re.Pattern[str], text: str) -> bool:
    return bool(words.search(one_width(text).casefold())) and not says_flight(text)
