"""What the result workbook and the last lines say beside the vocabulary and the reasons, in both languages."""

from dataclasses import dataclass

from pipeline.model.columns import Lang


@dataclass(frozen=True)
class Words:
    """One language's words. Sentences in `steps` are what a person is to do next, by what happened."""

    page: str
    title: str
    headline: str
    headline_check: str
    facts_heading: str
    facts: dict[str, str]
    files: str
    next_heading: str
    steps: dict[str, str]
    nothing: str
    by_status: str
    by_voucher: str
    by_buyer: str
    status_chart: str
    buyer_chart: str
    short_money: str
    deadlines: str
    no_deadlines: str
    more_deadlines: str
    place: str
    columns: dict[str, str]
    meanings: dict[str, str]
    total: str
    no_buyer: str
    other_buyers: str
    notes_heading: str
    resolution_title: str
    resolution_note: str
    resolution_error: str
    more: str
    rows: tuple[str, str]
    requests: tuple[str, str]
    bills: str
    judged: str
    example: str
    more_reasons: str
    where: str
    where_on_sheet: str
    of_source: str
    row: str

    def count_rows(self, count: int) -> str:
        """A number of rows, in words."""
        return self.rows[count != 1].format(f"{count:,}")

    def count_requests(self, count: int) -> str:
        """A number of requests, in words."""
        return self.requests[count != 1].format(f"{count:,}")


WORDS: dict[Lang, Words] = {
    "en": Words(
        page="Page &P of &N",
        title="Vouchers: what became of every row",
        headline="{charges} of {all_charges} charges have their voucher: {amount} of {all_amount}.",
        headline_check="Nothing was sent. {charges} of {all_charges} charges have their voucher from earlier runs:"
        " {amount} of {all_amount}.",
        facts_heading="About this run",
        facts={
            "command": "Command",
            "as_of": "Judged on",
            "files": "Workbooks",
            "rows": "Rows",
            "charges": "Charges",
            "amount": "Amount ({currency})",
            "ledger": "Ledger",
            "ledger_id": "Ledger ID",
        },
        files="{first} and {count} more",
        next_heading="What to do next",
        steps={
            "stopped": "The run stopped early: {stopped}. Running the same command again is safe.",
            "unknown": "{requests} with an unknown outcome (sheet Unknown): these may have been issued. Do not ask for them elsewhere."
            " Ask the carrier about each, fill in the last columns there, and give this file to “voucher reconcile --resolved”.",
            "not_sent": "{rows} not sent: run the same workbook again. Nothing was issued for them.",
            "invalid": "{rows} invalid: correct the cells on the sheet Failures, save, and give this file to “voucher issue” as it is.",
            "unknown_buyer": "Some rows name a buyer that is not known. On the sheet Failures, correct buyer to a name on the sheet Buyers"
            " (the last one), or add the buyer there; or fill in header_type, header_name and the columns after it.",
            "ineligible": "{rows} ineligible: a rule forbids the voucher. The sheet Failures says which rule, and what can be done.",
            "waiting": "{rows} waiting: not yet. Run them again later, from your workbook or from the sheet Failures.",
            "rejected": "{rows} rejected: the carrier said no. Its words are on the sheet Failures.",
            "differs": "{rows} issued earlier with another amount or buyer: compare them with the issued vouchers (sheet Rows,"
            " reason differs_from_issued).",
            "ready": "{rows} ready: “voucher issue” sends them. So far nothing was sent.",
        },
        nothing="Nothing: every row is issued.",
        by_status="By status",
        by_voucher="By voucher",
        by_buyer="By buyer",
        status_chart="Charges by status",
        buyer_chart="Amount by buyer ({currency})",
        short_money='[>=1000000]#,##0.0,,"M";[>=1000]#,##0,"k";#,##0',
        deadlines="Last days to request in the next {days} days",
        no_deadlines="None: no charge without a voucher has its last day so soon.",
        more_deadlines="… and {count:,} more: sort the sheet Rows by last_day.",
        place="{file}, {sheet}, row {row}",
        columns={
            "status": "Status",
            "voucher": "Voucher",
            "buyer": "Buyer",
            "charges": "Charges",
            "amount": "Amount",
            "meaning": "Meaning",
            "issued_charges": "Issued",
            "issued_amount": "Amount issued",
            "ready_charges": "Ready",
            "ready_amount": "Amount ready",
            "open_charges": "Remaining",
            "open_amount": "Amount remaining",
            "place": "Where",
            "last_day": "Last day",
            "ticket": "Ticket",
            "days_left": "Days left",
            "what": "Charge and voucher",
        },
        meanings={
            "ready": "would be sent; nothing was sent yet",
            "issued": "the carrier accepted it in this run",
            "already_issued": "an earlier run issued it; not sent again",
            "repeated": "repeats an earlier row: counted there, in no total",
            "invalid": "the row can't be understood: to be corrected",
            "ineligible": "a rule forbids it",
            "waiting": "not yet: ticket open, or refund not approved",
            "rejected": "the carrier said no",
            "not_sent": "nothing reached the carrier: run it again",
            "unknown": "may have been issued: reconcile, never ask twice",
        },
        total="Total",
        no_buyer="(no buyer)",
        other_buyers="{count} other buyers",
        notes_heading="Notes",
        resolution_title="What the carrier says",
        resolution_note="issued: the carrier has it; enter its number. not issued: the carrier knows nothing of it. Name yourself and the evidence.",
        resolution_error="Choose issued or not issued.",
        more="{shown} … and {count} more",
        rows=("{} row", "{} rows"),
        requests=("{} request", "{} requests"),
        bills="{rows} ({charges:,} charges)",
        judged="{rows}, judged on {as_of}",
        example="{count} × {code}: {message}",
        more_reasons="kinds of reasons not shown here: {count}; every row's stand on the sheets Failures and Rows of the result (check writes one with -o)",
        where="{file}, {cell}: {message}",
        where_on_sheet="{file}, {sheet}, {cell}: {message}",
        of_source="{source}: {message}",
        row="row {row}",
    ),
    "zh": Words(
        page="第 &P 页，共 &N 页",
        title="开票结果：每一行的处理情况",
        headline="{all_charges} 笔费用中 {charges} 笔已有凭证，金额 {amount}，总额 {all_amount}。",
        headline_check="本次未发送任何内容。{all_charges} 笔费用中 {charges} 笔此前已有凭证，金额 {amount}，总额 {all_amount}。",
        facts_heading="本次运行",
        facts={
            "command": "命令",
            "as_of": "判定日",
            "files": "工作簿",
            "rows": "行数",
            "charges": "费用数",
            "amount": "金额（{currency}）",
            "ledger": "台账",
            "ledger_id": "台账编号",
        },
        files="{first} 等，另有 {count} 个",
        next_heading="下一步",
        steps={
            "stopped": "运行提前停止：{stopped}。重新运行同一命令是安全的。",
            "unknown": "{requests}结果未知（Unknown 表），可能已开具。请勿另行申请。请逐一向承运人查询，填写该表最后几列，"
            "再将本文件交给“voucher reconcile --resolved”。",
            "not_sent": "{rows}未发送：请重新运行同一工作簿。这些行尚未开具任何凭证。",
            "invalid": "{rows}填写有误：请在 Failures 表中更正并保存，然后将本文件直接交给“voucher issue”。",
            "unknown_buyer": "部分行的购买方不在购买方信息表中。请在 Failures 表中将购买方更正为 Buyers 表（最后一个表）中的名称，"
            "或在 Buyers 表中补充此购买方；也可填写抬头类型、抬头名称及其后各列。",
            "ineligible": "{rows}不可开具：规则不允许。Failures 表列出具体规则和处理办法。",
            "waiting": "{rows}待条件满足：请以后从原工作簿或 Failures 表重新运行。",
            "rejected": "{rows}被承运人拒绝：承运人的说明见 Failures 表。",
            "differs": "{rows}此前开具时的金额或购买方不同：请与已开凭证核对（Rows 表，原因 differs_from_issued）。",
            "ready": "{rows}可开具：由“voucher issue”发送。目前尚未发送任何内容。",
        },
        nothing="无：所有行均已开具。",
        by_status="按状态",
        by_voucher="按凭证类型",
        by_buyer="按购买方",
        status_chart="各状态费用数",
        buyer_chart="各购买方金额（{currency}）",
        short_money='[>=10000]0\\.0,"万";#,##0',
        deadlines="今后 {days} 天内的申请截止日",
        no_deadlines="无：今后一段时间内，尚无凭证的费用均未到申请截止日。",
        more_deadlines="……另有 {count:,} 笔：请在 Rows 表中按申请截止日排序。",
        place="{file}，{sheet}，第 {row} 行",
        columns={
            "status": "状态",
            "voucher": "凭证类型",
            "buyer": "购买方",
            "charges": "费用数",
            "amount": "金额",
            "meaning": "含义",
            "issued_charges": "已开具",
            "issued_amount": "已开具金额",
            "ready_charges": "可开具",
            "ready_amount": "可开具金额",
            "open_charges": "其余",
            "open_amount": "其余金额",
            "place": "位置",
            "last_day": "截止日",
            "ticket": "票号",
            "days_left": "剩余天数",
            "what": "费用与凭证",
        },
        meanings={
            "ready": "可以发送；目前尚未发送",
            "issued": "本次已由承运人受理",
            "already_issued": "此前已开具，不会再次发送",
            "repeated": "与前面某行相同：仅在该行计一次，不计入合计",
            "invalid": "无法识别，需更正",
            "ineligible": "规则不允许开具",
            "waiting": "客票尚未使用，或退票尚未审核通过",
            "rejected": "承运人拒绝开具",
            "not_sent": "未送达承运人，可重新运行",
            "unknown": "可能已开具：请对账，切勿重复申请",
        },
        total="合计",
        no_buyer="（无购买方）",
        other_buyers="其余 {count} 个购买方",
        notes_heading="说明",
        resolution_title="承运人的答复",
        resolution_note="issued：承运人已开具，请填写凭证号码。not issued：承运人没有该请求。请填写处理人和依据。",
        resolution_error="请选择 issued（已开具）或 not issued（未开具）。",
        more="{shown} … 另有 {count} 项",
        rows=("{} 行", "{} 行"),
        requests=("{} 个请求", "{} 个请求"),
        bills="{rows}（{charges:,} 笔费用）",
        judged="{rows}，判定日 {as_of}",
        example="{count} × {code}：{message}",
        more_reasons="另有 {count} 种原因：各行的原因见结果工作簿的 Failures 表和 Rows 表（check 须加 -o 才写出）",
        where="{file}，{cell}：{message}",
        where_on_sheet="{file}，{sheet}，{cell}：{message}",
        of_source="{source}：{message}",
        row="第 {row} 行",
    ),
}
