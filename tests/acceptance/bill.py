"""An agency's month as finance teams have it: five sheets, titles, merged cells, totals, signatures, hotels and trains, and the
same lines again on 全部."""

from pathlib import Path
from typing import Any

import openpyxl

HEAD = (
    "序号", "订单编号", "订单类型名称", "承运人-票号", "乘机人", "起飞日期", "航程名称", "航班号", "舱位", "销售价", "机建", "燃油",
    "改签手续费", "退票手续费", "服务费", "结算金额", "成本中心", "部门", "客票状态", "出票日期", "备注",
)  # fmt: skip
BUYER = (
    "云帆咨询",
    "企业",
    "上海云帆示例咨询有限公司",
    "91110000600037341L",
    "021-55550142",
    "invoices@example.com",
)
SUMS = slice(9, 16)


def line(
    order: str, ticket: str, name: str, money: tuple[int, ...], status: str, day: str = "2026-10-02"
) -> list[Any]:
    """A line; `money` are fare, airport fee, fuel, change fee, refund fee and service fee, and their sum is the total."""
    flown = ("上海虹桥-北京首都", "MU5101", "Y")
    last = ("CC-200 市场", "市场部", status, "2026-09-02", None)
    return [None, order, order, ticket, name, day, *flown, *money, sum(money), *last]


DOMESTIC = [
    *(
        line("国内机票正常单", f"999-24200000{n:02}", name, (1150, 50, 20, 0, 0, 20), "已使用")
        for n, name in enumerate(("李娜", "王芳", "赵磊", "陈杰", "周涛", "孙燕"), start=1)
    ),
    line("国内机票改签单", "999-2420000033", "李娜", (0, 0, 0, 150, 0, 10), "已使用"),
    line("国内机票正常单", "999-2420000034", "王芳", (2030, 50, 20, 0, 0, 20), "未使用"),
]
REFUNDS = [
    line("国内机票退票单", "999-2420000031", "赵磊", (-680, -50, -20, 0, 200, 10), "已退票"),
    line("国内机票退票单", "999-2420000032", "陈杰", (-920, -50, -20, 0, 200, 10), "已退票"),
]
ABROAD = [line("国际机票正常单", "999-2420000041", "李娜", (3200, 90, 480, 0, 0, 20), "已使用")]
HOTELS = [line("酒店订单", "", name, (1300, 0, 0, 0, 0, 10), "已入住") for name in ("李娜", "王芳")]
TRAINS = [line("火车票订单", f"E12345678{n}", "赵磊", (73, 0, 0, 0, 0, 5), "已出票") for n in (1, 2, 3)]
SHEETS = {"国内机票": [*DOMESTIC, *REFUNDS], "国际机票": ABROAD, "酒店": HOTELS, "火车票": TRAINS}


def write_bill(path: Path, head: tuple[str, ...] = HEAD) -> Path:
    """The bill as an .xlsx file."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    everything = [one for lines in SHEETS.values() for one in lines]
    for name, lines in {"全部": everything, **SHEETS}.items():
        sheet = book.create_sheet(name)
        sheet.append(["上海云帆示例咨询有限公司 2026年10月差旅月结账单"])
        sheet.append(["结算周期：2026-10-01 至 2026-10-31    币种：人民币"])
        sheet.append([*[None] * 8, "费用明细（元）"])
        sheet.append(list(head))
        for number, one in enumerate(lines, start=1):
            sheet.append([number, f"DD{number}", *one[2:]])
        sheet.append(
            ["合计", *[None] * 8, *(sum(one[at] for one in lines) for at in range(*SUMS.indices(16)))]
        )
        sheet.append([])
        sheet.append(["制表人：王会计", *[None] * 4, "复核人：", *[None] * 5, "客户确认（签章）："])
        sheet.append(["制表日期：2026-11-05"])
        for merged in ("A1:U1", "A2:U2", "I3:O3", f"A{len(lines) + 5}:I{len(lines) + 5}"):
            sheet.merge_cells(merged)
    book.save(path)
    return path


def write_buyers(path: Path) -> Path:
    """The buyers file that goes with it."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["购买方", "抬头类型", "抬头名称", "税号", "电话", "邮箱"])
    sheet.append(list(BUYER))
    book.save(path)
    return path
