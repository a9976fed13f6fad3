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
        "status", "voucher status", "invoice status", "document status", "状态", "发票状态", "凭证状态", "票据状态",
    ),
    "reversal_status": ("reversal status", "红冲状态", "冲红状态", "作废状态"),
    "reversed": (
        "reversed", "is reversed", "是否红冲", "是否已红冲", "是否冲红", "是否被红冲", "是否红字", "是否红票", "红冲标志", "红冲标识",
        "冲红标志", "冲红标识", "红字标志", "红字标识",
    ),
    "voided": ("voided", "is voided", "is void", "是否作废", "是否已作废", "作废标志", "作废标识"),
    "colour": ("红蓝标识", "红蓝字标识", "红蓝标志", "红蓝字标志", "红蓝字", "红蓝票", "正负标识", "正负标志"),
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

#: The columns that may say that a line is red: it reverses another.
RED_COLUMNS = ("voucher", "status", "reversal_status", "reversed", "voided", "colour")
#: What a cell that is of these words and harmless ones alone says: folded, with no separators.
RED_WORDS = (
    "红字", "红冲", "冲红", "红票", "红", "作废", "负数", "负票", "负", "reversed", "reversal", "voided", "void", "creditnote",
    "redinvoice", "red",
)  # fmt: skip
HARMLESS_WORDS = (
    "已经", "已", "被", "该", "此", "全额", "全部", "整张", "全", "成功", "完成", "完毕", "了", "电子", "数电", "增值税", "普通", "专用",
    "航空运输", "客票", "发票", "行程单", "凭证", "票", "fully", "full", "completely", "completed", "complete", "successfully", "has",
    "been", "was", "is", "electronic", "e", "itinerary", "invoice", "voucher",
)  # fmt: skip
BLUE_WORDS = ("正常", "蓝字", "蓝票", "蓝", "正数", "正票", "正", "normal", "blue", "positive")
#: Beside these, in a status: where a reversal is asked about, success may be the reversal's.
GOOD_WORDS = (
    "有效", "开具", "开票", "交付", "推送", "发送", "成功", "完成", "valid", "issued", "active", "successful", "success", "completed",
    "sent", "delivered", "ok",
)  # fmt: skip
YES_WORDS = frozenset({"是", "y", "yes", "true", "1", "√", "✓"})
NO_WORDS = frozenset({"否", "不是", "n", "no", "false", "0", "无", "na", "none", "null"})
#: What denies the red word behind it.
DENIED = re.compile(
    r"[从尚暂还均并]?(?:未|没有?|不是?|非|无)[被曾经]?\s*(?:红字|红冲|冲红|红票|作废|负数)"
    r"|(?<![a-z])(?:not|no|non|never|un)(?:\s+(?:yet|been|a))*[\s-]*(?:reversed|reversal|voided|void|credit note|red invoice)(?![a-z])"
)
#: Anything about a reversal: in a kind of voucher too, which may say much else.
ABOUT_REVERSAL = re.compile(
    r"红|作废|负[数票]|冲[销正]|撤销|revers|void|cancel|credit\s*(?:note|memo)|(?<![a-z])red(?![a-z])"
)
#: What says that a part of a voucher was reversed: not how much.
PARTLY = re.compile(r"部[分份]|(?<![a-z])(partial|partly|part(?![a-z]))", re.IGNORECASE)

#: Headings that only workbooks of tickets have.
TICKETS_ONLY = frozenset(
    {"passenger_name", "ticket_status", "flight_date", "used_on", "refund_approved_on", "purchased_on"}
)
