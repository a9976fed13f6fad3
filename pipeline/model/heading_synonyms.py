"""Other headings that mean a column of ours: those of travel agencies' exports, and what people type themselves.

Case, width, spaces, separators, traditional characters and units make no difference (reading/heading_meanings.py), so
each stands here once. What means none of our columns, or several, is in reading/agency_words.py.
"""

SYNONYMS: dict[str, tuple[str, ...]] = {
    "ticket_no": (
        "ticket number", "ticket", "e-ticket no", "e-ticket number", "tkt no", "ticket nr", "ticket #", "tkt #",
        "carrier-ticket no",
        "电子客票号", "电子客票号码", "客票号", "客票号码", "机票号", "机票号码", "票号码", "承运人-票号",
        "完整票号",
    ),
    "ticket_prefix": (
        "ticket number prefix", "ticket prefix", "airline numeric code", "airline accounting code",
        "结算码", "航司结算代码", "航司结算码", "航空公司结算代码", "承运人结算代码", "票证结算代码", "票号前缀",
    ),
    "passenger_name": (
        "passenger", "pax", "pax name", "name of passenger", "traveller", "traveler", "traveller name",
        "traveler name",
        "乘机人", "乘机人姓名", "旅客", "旅客名称", "乘客", "乘客姓名", "出行人", "姓名",
    ),
    "charge": (
        "charge type", "fee type",
        "费用", "费用种类", "收费类型", "收费项目", "费用项目",
    ),
    "product": (
        "product type", "service",
        "产品类型", "产品名称", "服务", "服务项目",
    ),
    "amount": (
        "total", "total amount", "sum", "amount due", "settlement amount", "amount incl tax",
        "总金额", "合计", "合计金额", "总价", "总额", "价税合计", "含税金额", "费用金额", "结算金额", "结算价",
        "开票金额",
    ),
    "fare": (
        "base fare", "ticket price", "face value", "face price", "selling price", "sales price",
        "票面价", "票面", "票面金额", "机票价", "销售价", "机票销售价", "票款",
    ),
    "change_fee": (
        "rebooking fee", "reissue fee", "change charge",
        "改签手续费", "改签费用", "变更费", "变更手续费", "改期费", "改期手续费",
    ),
    "airport_fee": (
        "airport construction fee", "airport tax", "civil aviation development fund",
        "机场建设费", "机场建设", "机建费", "机建税", "基建", "基建费", "民航发展基金", "民航基金",
    ),
    "fuel_surcharge": (
        "fuel", "fuel fee", "fuel tax", "yq",
        "燃油附加费", "燃油附加", "燃油费", "燃油税",
    ),
    "other_taxes": (
        "other tax", "taxes", "international taxes",
        "税费", "其它税费", "其他税", "其它税", "国际税费",
    ),
    "refund_fee": (
        "refund penalty", "refund charge", "cancellation fee",
        "退票费", "退票手续费用", "退票费用",
    ),
    "market": (
        "domestic/international", "dom/intl", "domestic or international", "route type",
        "国内国际", "国内国际标签", "国内国际标识", "国内国际类型", "国际国内", "国际/国内", "国内或国际",
        "航线类型",
    ),
    "ticket_status": (
        "status of ticket", "coupon status", "e-ticket status",
        "票状态", "机票状态", "票号状态", "客票使用状态",
    ),
    "flight_date": (
        "date of flight", "flight day", "departure date", "date of departure", "travel date",
        "起飞日期", "乘机日期", "出行日期", "航班起飞日期", "出发日期",
    ),
    "used_on": (
        "date used", "use date", "used date",
        "客票使用日期", "客票使用日", "使用日",
    ),
    "refund_approved_on": (
        "refund approved", "refund approval date", "date of refund approval", "refund date",
        "退票日期", "退票审核通过日期", "退票审批日期", "退票审核时间", "退票审核通过时间",
    ),
    "purchased_on": (
        "purchase date", "date of purchase", "bought on",
        "购买时间", "附加服务购买日期",
    ),
    "voucher": (
        "voucher type", "voucher kind",
        "凭证类型", "凭证种类", "票据类型", "票据种类", "开票种类",
    ),
    "buyer": (
        "buyer id", "customer",
        "购方", "购买方简称", "购买方编号", "客户", "客户简称",
    ),
    "remarks": (
        "remark", "note", "notes", "invoice remarks",
        "发票备注", "备注信息",
    ),
    "header_type": (
        "buyer type", "title type", "invoice title type",
        "发票抬头类型", "购买方类型",
    ),
    "header_name": (
        "invoice title", "company name", "buyer name", "name of buyer",
        "抬头", "发票抬头", "发票抬头名称", "购买方名称", "购方名称", "公司名称", "单位名称", "企业名称",
    ),
    "tax_no": (
        "tax number", "tax id", "taxpayer id", "taxpayer no", "taxpayer identification number", "buyer tax no",
        "unified social credit code", "uscc",
        "纳税人识别号", "纳税识别号", "统一社会信用代码", "社会信用代码", "购买方税号", "购方税号",
        "购买方纳税人识别号", "纳税人识别号/统一社会信用代码", "统一社会信用代码/纳税人识别号",
    ),
    "phone": (
        "telephone", "tel", "tel no", "mobile", "mobile phone", "phone number", "phone no", "buyer phone",
        "手机", "手机号", "手机号码", "电话号码", "联系电话", "购买方电话", "购买方手机",
    ),
    "email": (
        "e-mail", "mail", "email address", "e-mail address", "buyer email",
        "电子邮箱", "电子邮件", "电子邮箱地址", "邮箱地址", "购买方邮箱", "购买方电子邮箱",
    ),
    "baggage_fee": (
        "baggage charge", "luggage fee",
        "逾重行李费", "行李额费", "行李服务费",
    ),
    "seat_fee": (
        "seat selection fee", "seating fee",
        "选座服务费", "座位费",
    ),
    "upgrade_fee": (
        "upgrade charge",
        "升舱服务费",
    ),
    "meal_fee": (
        "meals fee",
        "餐费", "餐食服务费",
    ),
    "lounge_fee": (
        "lounge access fee",
        "休息室费", "贵宾厅费", "贵宾休息室费",
    ),
    "order_type": (
        "order type name", "type of order",
        "订单类型名称", "订单种类",
    ),
}  # fmt: skip
