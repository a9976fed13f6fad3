"""What the reconciliation workbook and its last lines say, in both languages."""

from pipeline.model.columns import Lang

TELL: dict[str, dict[Lang, str]] = {
    "title": {"en": "Reconciliation: tickets, ledger and statement", "zh": "对账：客票、台账与账单"},
    "headline": {
        "en": "{agreed} of {issued} issued charges agree with a statement; {open} still to be issued.",
        "zh": "已开具费用 {issued} 项，其中 {agreed} 项与账单一致；尚待开具 {open} 项。",
    },
    "headline_nothing": {"en": "Nothing was compared.", "zh": "未核对任何内容。"},
    "by_kind": {"en": "What agrees and what does not", "zh": "一致与不一致"},
    "kind": {"en": "Kind", "zh": "类别"},
    "charges": {"en": "Charges", "zh": "费用数"},
    "total": {"en": "Amount", "zh": "金额"},
    "meaning": {"en": "Meaning", "zh": "含义"},
    "chart": {"en": "Charges by kind", "zh": "各类费用数"},
    "next": {"en": "What to do next", "zh": "下一步"},
    "nothing": {"en": "Nothing: everything agrees.", "zh": "无：全部一致。"},
    "nothing_covered": {"en": "Nothing: what a statement shows agrees. The charges that are on no statement given are compared when one is.", "zh": "无：账单所列均一致。所给账单未涵盖的费用，待取得相应账单后再核对。"},
    "nothing_given": {"en": "Nothing: there was nothing to compare, no statement and no rows.", "zh": "无：没有账单和客票行，无内容可对。"},
    "settled": {"en": "Settled by evidence", "zh": "依据证据已处理"},
    "troubles": {"en": "Evidence that settles nothing", "zh": "未能处理任何结果的证据"},
    "unread": {"en": "Files that could not be read", "zh": "无法读取的文件"},
    "notes": {"en": "Notes", "zh": "说明"},
    "facts": {"en": "About this reconciliation", "zh": "本次对账"},
    "command": {"en": "Command", "zh": "命令"},
    "as_of": {"en": "Judged on", "zh": "判定日"},
    "period": {"en": "Compared: vouchers issued in", "zh": "对账范围：凭证开具于"},
    "statements": {"en": "Statements", "zh": "账单"},
    "no_statement": {"en": "none: tickets and ledger alone were compared", "zh": "无：仅比较了客票与台账"},
    "ledger": {"en": "Ledger", "zh": "台账"},
    "ledger_id": {"en": "Ledger ID", "zh": "台账编号"},
    "settled_issued": {
        "en": "request {request}, attempt {attempt}: issued as {number} ({evidence})",
        "zh": "请求 {request} 第 {attempt} 次：已开具，号码 {number}（{evidence}）",
    },
    "settled_not_sent": {
        "en": "request {request}, attempt {attempt}: not issued, and sent again where a row asks for it ({evidence})",
        "zh": "请求 {request} 第 {attempt} 次：未开具，如有对应行则重新发送（{evidence}）",
    },
    "more": {"en": "… and {count} more", "zh": "…… 另有 {count} 项"},
    # --- kinds ---
    "agreed": {"en": "Agreed", "zh": "一致"},
    "not_on_statement": {"en": "Issued, not on the statement", "zh": "已开具，账单未列"},
    "not_ours": {"en": "On the statement, not ours", "zh": "账单所列，非本台账开具"},
    "differing": {"en": "Differing", "zh": "不一致"},
    "unknown": {"en": "Unknown", "zh": "结果未知"},
    "to_issue": {"en": "Still to be issued", "zh": "尚待开具"},
    "agreed_means": {"en": "A statement shows it, and the ledger has it alike.", "zh": "账单已列，且与台账一致。"},
    "not_covered": {"en": "Issued, on no statement given", "zh": "已开具，所给账单未涵盖"},
    "not_covered_means": {"en": "The ledger has it as issued; no statement given is of its kind of voucher and its time.", "zh": "台账显示已开具；所给账单未涵盖其凭证类型和开具时间。"},
    "not_on_statement_means": {"en": "The ledger has it as issued in this period; no statement lists it.", "zh": "台账显示本期已开具，但账单未列。"},
    "not_ours_means": {"en": "The carrier lists it; it was not issued with this ledger. It is held, so that it is not issued again.", "zh": "承运人账单已列，但非本台账开具；已占用，不会重复开具。"},
    "differing_means": {"en": "Amount, buyer, number or kind of voucher are not the same.", "zh": "金额、购买方、号码或凭证类型不同。"},
    "unknown_means": {"en": "May have been issued; nothing proves it yet.", "zh": "可能已开具，尚无证据。"},
    "to_issue_means": {"en": "No voucher yet; the last day to request it stands beside each.", "zh": "尚无凭证；各行列有最后申请日。"},
    # --- steps ---
    "nothing_in_period_do": {
        "en": "Nothing was compared: neither this ledger nor a statement has a voucher that was issued in {period}. Days are those of issuing, whatever month the tickets are of; check --month, the statement and --ledger.",
        "zh": "未核对任何内容：本台账和账单均无 {period} 开具的凭证。日期指开具日期，与客票月份无关；请检查 --month、账单和 --ledger。",
    },
    "no_statement_do": {
        "en": "Nothing was compared: no statement was given. Name the carrier's with --statement.",
        "zh": "未核对任何内容：未给出账单。请用 --statement 指明承运人账单。",
    },
    "nothing_compared_do": {
        "en": "Nothing was compared: the statement lists no voucher that could be read. Check that it is the right file.",
        "zh": "未核对任何内容：账单未列出任何可读取的凭证。请检查是否为正确的文件。",
    },
    "not_on_statement_do": {
        "en": "Issued, but not on the statement: {count} (sheet Not on statement). Ask the carrier about them, with their numbers.",
        "zh": "{count} 项已开具但账单未列（Not on statement 表）：请凭号码向承运人查询。",
    },
    "not_ours_do": {
        "en": "On the statement, but not issued by this ledger: {count} (sheet Not ours). Find out who did. They are held and are not issued again.",
        "zh": "{count} 项账单所列并非本台账开具（Not ours 表）：请查明由谁开具。这些费用已占用，不会重复开具。",
    },
    "differing_do": {
        "en": "Differing: {count} (sheet Differing, marked). A wrong voucher is corrected at the carrier by a red invoice, a wrong row in your workbook.",
        "zh": "{count} 项不一致（Differing 表，已标出）：凭证有误须在承运人处红冲更正，表格有误请更正工作簿。",
    },
    "unknown_do": {
        "en": "Requests with an unknown outcome: {count} (sheet Unknown). Do not ask for them elsewhere. Ask the carrier, fill in the last columns there, and give this file to “voucher reconcile --resolved”; a statement that lists them settles them too.",
        "zh": "{count} 个请求结果未知（Unknown 表）：请勿另行申请。向承运人查询后填写该表最后几列，并将本文件交给 voucher reconcile --resolved；列有这些费用的账单也可作为依据。",
    },
    "troubles_do": {"en": "Pieces of evidence that settle nothing: {count}, named one by one. Correct the cell or the file that each names, or ask the carrier, and reconcile again.", "zh": "未能处理任何结果的证据：{count} 项，已逐一列出。请更正其所指的单元格或文件，或向承运人查询，然后重新对账。"},
    "unread_do": {"en": "Files that could not be read: {count}. Mend or remove them; they are left as they are.", "zh": "无法读取的文件：{count} 个，均保持原样，请修正或移走。"},
    "set_free_do": {
        "en": "Charges that turned out as not issued, and stand in no workbook given: {count}. To send them, give their workbook (sheet To issue names it) to voucher issue.",
        "zh": "经证据确认未开具、且不在本次所给工作簿中的费用：{count} 项。如需开具，请将其工作簿（见 To issue 表）交给 voucher issue。",
    },
    "failures_do": {
        "en": "Rows without a voucher: {count} (sheet Failures, or the workbook's own result). What says “waiting” comes by itself; correct the others and give the file to “voucher issue” or the inbox.",
        "zh": "尚无凭证的行：{count} 行（Failures 表或各工作簿的结果文件）。“待条件满足”的行会自动再次处理；其余请更正后交给 voucher issue 或放入收件夹。",
    },
    "lacking_do": {
        "en": "{lacking}: nothing is sent. Compare it with the carrier's complete statement from then on, then say what that showed: voucher ledger close-gap.",
        "zh": "{lacking}：不会发送任何内容。请与承运人自该时起的完整账单核对，再用 voucher ledger close-gap 说明核对结果。",
    },
    "stopped_do": {"en": "The run stopped early: {stopped}. Running it again is safe.", "zh": "运行提前停止：{stopped}。重新运行是安全的。"},
    # --- columns ---
    "ticket_no": {"en": "ticket_no", "zh": "票号"},
    "charge": {"en": "charge", "zh": "费用类型"},
    "product": {"en": "product", "zh": "产品"},
    "voucher": {"en": "voucher", "zh": "凭证类型"},
    "buyer": {"en": "buyer", "zh": "购买方"},
    "amount": {"en": "amount", "zh": "金额"},
    "number": {"en": "number", "zh": "凭证号码"},
    "issued_on": {"en": "issued_on", "zh": "开具日期"},
    "status": {"en": "status", "zh": "状态"},
    "request": {"en": "request", "zh": "请求"},
    "place": {"en": "row", "zh": "来源"},
    "last_day": {"en": "last_day", "zh": "申请截止日"},
    "reason": {"en": "reason", "zh": "原因"},
    "differing_column": {"en": "differing", "zh": "不同之处"},
    "row": {"en": "row", "zh": "表格行"},
    "statement_voucher": {"en": "on statement: voucher", "zh": "账单：凭证类型"},
    "statement_number": {"en": "on statement: number", "zh": "账单：凭证号码"},
    "statement_amount": {"en": "on statement: amount", "zh": "账单：金额"},
    "statement_buyer": {"en": "on statement: buyer", "zh": "账单：购买方"},
    "statement_issued": {"en": "on statement: issued", "zh": "账单：开具时间"},
    "statement_place": {"en": "on statement: line", "zh": "账单：位置"},
    # --- last lines ---
    "line": {"en": "Reconciled vouchers issued {period}: {parts}", "zh": "对账（凭证开具于 {period}）：{parts}"},
    "line_no_period": {"en": "Reconciled {period}: {parts}", "zh": "对账 {period}：{parts}"},
    "no_period": {"en": "tickets and ledger", "zh": "客票与台账"},
    "settled_line": {"en": "Settled by evidence: {issued} issued, {not_sent} not issued", "zh": "依据证据已处理：{issued} 项已开具，{not_sent} 项未开具"},
    "trouble_line": {"en": "{place}: {message}", "zh": "{place}：{message}"},
}  # fmt: skip


def tell(name: str, lang: Lang) -> str:
    """One text; a column's heading goes before a kind's name."""
    return TELL[name][lang]
