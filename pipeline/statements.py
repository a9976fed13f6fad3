"""The vocabulary of carriers' statements: their columns, and the words that carriers have for them.

A statement is known by its headings: the ticket's number, a voucher's number, and none of the columns that only
tickets have.
"""

import re

#: A statement's columns and their headings. Two columns may give a voucher's number: then each says its kind.
STATEMENT_COLUMNS: dict[str, tuple[str, ...]] = {
    "voucher": (
        "voucher", "voucher type", "document type", "kind of voucher", "type", "凭证", "凭证类型", "凭证种类", "开票类型", "票据类型",
        "单据类型", "类型", "种类",
    ),
    "number": (
        "number", "voucher number", "voucher no", "document number", "document no", "no", "凭证号", "凭证号码", "号码", "单据号",
        "单据号码", "票据号码", "开具号码",
    ),
    "invoice_number": (
        "invoice number", "invoice no", "invoice id", "invoiceid", "发票号", "发票号码", "电子发票号码", "数电发票号码", "发票编号",
    ),
    "itinerary_number": (
        "itinerary number", "itinerary no", "itinerary id", "itinerarynum", "行程单号", "行程单号码", "电子行程单号", "电子行程单号码",
        "印刷序号",
    ),
    "original_number": (
        "original number", "original no", "original invoice number", "original invoice no", "original voucher number", "reversed number",
        "reversal of", "原发票号", "原发票号码", "原号码", "原凭证号", "原凭证号码", "原行程单号", "原行程单号码", "蓝字发票号码", "对应蓝字发票",
        "对应蓝字发票号码", "原蓝字发票号码", "对应正数发票号码", "对应蓝字号码", "对应蓝字", "被红冲发票号码", "被红冲号码",
    ),
    "status": (
        "status", "voucher status", "invoice status", "document status", "状态", "发票状态", "凭证状态", "票据状态", "红冲状态", "红蓝标识",
        "红蓝字标识", "红蓝标志", "是否红冲", "正负标识",
    ),
    "ticket_no": (
        "ticket_no", "ticket number", "ticket no", "ticket", "e-ticket number", "ticketno", "tkt no", "票号", "客票号", "客票号码",
        "机票号", "机票号码", "电子客票号", "电子客票号码", "承运人-票号",
    ),
    "charge": (
        "charge", "charge type", "fee type", "feetype", "fee", "item", "费用", "费用类型", "费用类别", "费用种类", "项目", "费用项目",
        "收费项目",
    ),
    "product": ("product", "product type", "producttype", "service", "产品", "产品类型", "服务", "服务项目", "产品名称"),
    "amount": (
        "amount", "total", "total amount", "amount incl tax", "invoice amount", "金额", "合计", "价税合计", "开票金额", "发票金额",
        "总金额", "含税金额",
    ),
    "issued_at": (
        "issued at", "issued_at", "issued on", "issue date", "issue time", "date of issue", "issued", "invoice date", "date",
        "开具时间", "开具日期", "开票时间", "开票日期", "发票日期", "填开日期", "日期",
    ),
    "buyer": (
        "buyer", "buyer name", "header name", "header_name", "headername", "customer", "customer name", "purchaser", "title",
        "购买方", "购买方名称", "抬头", "抬头名称", "发票抬头", "购方名称", "客户名称", "受票方",
    ),
}  # fmt: skip

#: Where the sheet's own name says what its vouchers are.
VOUCHER_SHEETS = {
    "invoice": "invoice", "invoices": "invoice", "发票": "invoice", "电子发票": "invoice",
    "itinerary": "itinerary", "itineraries": "itinerary", "行程单": "itinerary", "电子行程单": "itinerary",
}  # fmt: skip

#: What a statement's kind of voucher may be called beside our own words.
VOUCHER_WORDS = {
    "inv": "invoice", "invoices": "invoice", "数电发票": "invoice", "数电票": "invoice", "电子普通发票": "invoice", "普通发票": "invoice",
    "电子发票(普通发票)": "invoice", "itineraries": "itinerary", "航空运输电子客票行程单": "itinerary", "电子发票(航空运输电子客票行程单)": "itinerary",
    "客票行程单": "itinerary",
}  # fmt: skip

#: What says that a line is red: it reverses another. A cell that denies it says nothing.
RED_WORDS = (
    "红字",
    "红冲",
    "冲红",
    "作废",
    "红票",
    "负数",
    "reversed",
    "reversal",
    "void",
    "credit note",
    "red invoice",
)
#: What says that a part of a voucher was reversed: not how much.
PARTLY = re.compile(r"部[分份]|(?<![a-z])(partial|partly|part(?![a-z]))", re.IGNORECASE)
DENYING_WORDS = ("未", "非", "否", "不", "not", "non", "un")

#: Headings that only workbooks of tickets have.
TICKETS_ONLY = frozenset(
    {"passenger_name", "ticket_status", "flight_date", "used_on", "refund_approved_on", "purchased_on"}
)
