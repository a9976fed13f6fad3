"""What the template says beside the vocabulary, in both languages."""

from dataclasses import dataclass

from pipeline.model.columns import Kind, Lang


@dataclass(frozen=True)
class Words:
    """What the template says beside the vocabulary, in one language."""

    sheet: str
    title: str
    steps_heading: str
    steps: tuple[str, ...]
    after_heading: str
    after: tuple[str, ...]
    statuses_heading: tuple[str, str]
    statuses: tuple[tuple[str, str], ...]
    columns_heading: str
    table_heading: tuple[str, str, str, str]
    permitted: dict[Kind, str]
    check_title: str
    choice_check: str
    buyer_check: str
    checks: dict[Kind, str]
    page: str


WORDS: dict[Lang, Words] = {
    "en": Words(
        sheet="Instructions",
        title="How to fill in this workbook",
        steps_heading="What to fill in",
        steps=(
            "{tickets}: one row is one charge on one ticket. A ticket may have several rows: its fare, a seat, a bag.",
            "{buyers}: each buyer once. A ticket row names its buyer in the column {buyer}; with a single buyer it may stay blank.",
            "Money: the total in {amount}, or its components (lighter headings), or both; both must add up. Two decimals at most.",
            "Ticket numbers, tax numbers and phone numbers are kept as text, so that no digit is lost. Paste values only.",
            "Columns may stand in any order. Columns of your own may be added on the right; they come back untouched.",
            "Point at a heading to read what belongs below it. The table at the end of this sheet has all of them.",
        ),
        after_heading="What happens then",
        after=(
            (
                "“voucher check” judges every row and sends nothing. “voucher issue” sends to the carrier what is ready,"
                " and writes a result workbook beside this one. Every row ends in exactly one status:"
            ),
        ),
        statuses_heading=("Status", "Meaning, and what to do"),
        statuses=(
            ("ready", "would be sent (“voucher check” only)"),
            ("issued", "the carrier accepted it in this run; the number stands beside it"),
            ("already_issued", "an earlier run did; it is not sent again"),
            ("repeated", "the same charge stands in an earlier row as well: it counts once, there"),
            ("invalid", "the row can't be understood: correct it on the sheet Failures and run that file"),
            ("ineligible", "a rule forbids it; the reason says which"),
            ("waiting", "not yet: ticket still open, or refund not approved. Run it again later"),
            ("rejected", "the carrier answered no"),
            ("not_sent", "nothing reached the carrier: run it again"),
            ("unknown", "it may have been issued: not sent again until that is known (“voucher reconcile”)"),
        ),
        columns_heading="The columns",
        table_heading=("Heading", "Sheet", "Meaning", "Permitted values"),
        permitted={
            Kind.TEXT: "text",
            Kind.TICKET: "13 digits, as text",
            Kind.MONEY: "number, two decimals at most",
            Kind.DATE: "date",
        },
        check_title="Please check this cell",
        choice_check="Choose one of: {choices}.",
        buyer_check="This name is not in the column {buyer} of the sheet {buyers}. Keep it only if the buyers are in a file of their own.",
        checks={
            Kind.TICKET: "A ticket number has 13 digits; a hyphen after the third is allowed. Keep leading zeros.",
            Kind.MONEY: "Enter a number such as 1234.50: not negative, no currency sign, no words.",
            Kind.DATE: "Enter a date such as 2026-10-31, between 2000 and 2099.",
        },
        page="Page &P of &N",
    ),
    "zh": Words(
        sheet="填写说明",
        title="填写说明",
        steps_heading="如何填写",
        steps=(
            "“{tickets}”表：每行为一张客票的一项费用。同一客票可有多行，例如机票款、选座、行李。",
            "“{buyers}”表：每个购买方填写一次。客票行在“{buyer}”列填写其名称；只有一个购买方时可留空。",
            "金额：可填“{amount}”合计，或填分项（浅色表头），或两者都填；两者都填时须相符。最多两位小数。",
            "票号、税号和电话为文本格式，以免丢失数字。粘贴时请选择“只粘贴值”。",
            "列的顺序可以调整。可在右侧增加自用列，结果文件中会原样保留。",
            "将鼠标移到表头可查看说明；全部列的说明见本页末尾的表格。",
        ),
        after_heading="提交之后",
        after=(
            (
                "“voucher check”逐行检查，不发送任何内容。“voucher issue”将可开具的行发送给承运人，"
                "并在本文件旁生成结果文件，其中每行有且只有一个状态："
            ),
        ),
        statuses_heading=("状态", "含义及处理办法"),
        statuses=(
            ("可开具", "可以发送（仅 voucher check）"),
            ("已开具", "本次已由承运人受理，旁边为其编号"),
            ("此前已开具", "此前已开具，不会再次发送"),
            ("重复", "同一费用已列于前面某行：仅在该行计一次"),
            ("填写有误", "无法识别：请在结果文件的 Failures 表中改正后，用该文件再次运行"),
            ("不可开具", "规则不允许开具，见原因说明"),
            ("待条件满足", "暂不能开具：客票尚未使用，或退票尚未审核通过，请以后再次运行"),
            ("承运人拒绝", "承运人拒绝开具"),
            ("未发送", "未送达承运人，可再次运行"),
            ("结果未知", "可能已开具：查明之前不会再次发送（voucher reconcile）"),
        ),
        columns_heading="列说明",
        table_heading=("表头", "工作表", "含义", "可填内容"),
        permitted={
            Kind.TEXT: "文本",
            Kind.TICKET: "13 位数字，文本格式",
            Kind.MONEY: "数字，最多两位小数",
            Kind.DATE: "日期",
        },
        check_title="请检查此单元格",
        choice_check="请选择以下之一：{choices}。",
        buyer_check="“{buyers}”表的“{buyer}”列中没有此名称。仅当购买方另存于单独文件时才可保留。",
        checks={
            Kind.TICKET: "票号为 13 位数字，第三位后可有连字符。请保留开头的 0。",
            Kind.MONEY: "请输入数字，例如 1234.50：不能为负数，不带货币符号或文字。",
            Kind.DATE: "请输入日期，例如 2026-10-31，须在 2000 年至 2099 年之间。",
        },
        page="第 &P 页，共 &N 页",
    ),
}
