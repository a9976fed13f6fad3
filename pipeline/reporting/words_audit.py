"""What the ledger's export says, in both languages, and the columns of its sheets."""

from pipeline.messages import translate
from pipeline.model.columns import Lang

SHEET_COLUMNS = {
    "requests": (
        "request", "attempt", "run", "voucher", "market", "header_type", "header_name", "tax_no", "phone", "email", "remarks",
        "amount", "charges", "state", "number", "reason", "reason_code", "detail", "planned_at", "sending_at", "answered_at",
        "ended_at", "http_status", "trace_id", "entry", "settled_as", "settled_by", "evidence", "settled_at",
        "epoch_id",
    ),
    "charges": (
        "ticket_no", "charge", "product", "voucher", "amount", "state", "number", "held", "wire", "request", "attempt", "run",
        "file", "sheet", "row",
    ),
    "elsewhere": (
        "ticket_no", "charge", "product", "voucher", "number", "amount", "buyer", "issued_text", "evidence", "found_by",
        "found_at", "run", "entry", "held",
    ),
    "reversals": (
        "entry", "voucher", "number", "red_number", "request", "attempt", "reversed_by", "evidence", "reversed_at", "run",
        "in_force",
    ),
    "withdrawals": (
        "entry", "request", "attempt", "settled_as", "number", "evidence", "withdrawn_by", "why", "withdrawn_at",
    ),
    "judgements": (
        "ticket_no", "charge", "product", "voucher", "amount", "status", "reason", "reason_code", "judged_at", "run", "file",
        "sheet", "row",
    ),
    "runs": ("run", "command", "version", "as_of", "files", "started_at", "ended_at", "exit_code"),
    "files": ("name", "kind", "sha256", "handled_at", "run", "result", "unfinished"),
    "gaps_and_moves": (
        "noted_at", "what", "why", "noted_by", "since", "old", "new", "closed_at", "closed_by", "evidence",
    ),
}  # fmt: skip

#: Headings beside those of the vocabulary and of results.
_HEADINGS = {
    "state": "状态",
    "reason_code": "原因代码",
    "detail": "详情",
    "planned_at": "计划时间",
    "sending_at": "发送时间",
    "answered_at": "答复时间",
    "ended_at": "结束时间",
    "http_status": "HTTP 状态",
    "settled_as": "认定结果",
    "settled_by": "认定人",
    "settled_at": "认定时间",
    "entry": "条目",
    "epoch_id": "台账时期",
    "red_number": "红字凭证号码",
    "reversed_by": "红冲记录人",
    "reversed_at": "红冲记录时间",
    "in_force": "有效",
    "withdrawn_by": "撤回人",
    "withdrawn_at": "撤回时间",
    "held": "占用",
    "wire": "承运人代码",
    "run": "运行",
    "issued_text": "账单所列开具时间",
    "found_by": "发现人",
    "found_at": "发现时间",
    "judged_at": "判定时间",
    "command": "命令",
    "version": "程序版本",
    "as_of": "判定日",
    "files": "文件",
    "started_at": "开始时间",
    "exit_code": "退出码",
    "name": "文件名",
    "kind": "种类",
    "sha256": "SHA-256",
    "handled_at": "处理时间",
    "result": "结果文件",
    "unfinished": "未完成",
    "noted_at": "记录时间",
    "what": "事项",
    "why": "原因",
    "noted_by": "记录人",
    "since": "起始时间",
    "old": "原地址与代理人",
    "new": "新地址与代理人",
    "closed_at": "关闭时间",
    "closed_by": "关闭人",
    "fact": "项目",
    "value": "内容",
}
_ENGLISH = {"issued_text": "issued (on the statement)", "old": "from", "new": "to", "wire": "carrier's code"}

_SAID: dict[str, dict[Lang, str]] = {
    "title": {"en": "Ledger: all requests with their evidence", "zh": "台账：全部请求及其依据"},
    "ledger": {"en": "Ledger", "zh": "台账"},
    "ledger_id": {"en": "Ledger ID", "zh": "台账编号"},
    "carrier": {"en": "Carrier", "zh": "承运人"},
    "version": {"en": "Version of the ledger", "zh": "台账版本"},
    "created": {"en": "Begun (UTC)", "zh": "建立时间（UTC）"},
    "exported": {"en": "Exported (UTC)", "zh": "导出时间（UTC）"},
    "by_program": {"en": "Exported by", "zh": "导出程序"},
    "attempts": {"en": "Attempts", "zh": "请求次数"},
    "gap": {"en": "Gap", "zh": "缺口"},
    "move": {"en": "Move of the carrier", "zh": "承运人地址变更"},
    "epoch": {"en": "New epoch", "zh": "新的台账时期"},
    "clock": {"en": "Correction of the clock", "zh": "时钟更正"},
    "tickets": {"en": "tickets", "zh": "客票"},
    "statement": {"en": "statement", "zh": "账单"},
    "resolved": {"en": "answers", "zh": "人工答复"},
    "may_lack": {
        "en": "may lack what was issued after {since} ({why})",
        "zh": "可能缺少 {since} 之后开具的内容（{why}）",
    },
    "times": {"en": "Times on the sheets", "zh": "各表时间所用时区"},
    "left_out": {"en": "Left out", "zh": "未列出"},
    "answers": {
        "en": "the carrier's raw answers: sealed data, kept in the ledger",
        "zh": "承运人的原始答复：加密数据，保存在台账中",
    },
    "not_issued": {"en": "not issued", "zh": "未开具"},
    "yes": {"en": "yes", "zh": "是"},
    "no": {"en": "no", "zh": "否"},
}


def tell(name: str, lang: Lang) -> str:
    """One text."""
    return _SAID[name][lang]


def heading(name: str, lang: Lang) -> str:
    """A column's heading."""
    if lang == "en":
        return _ENGLISH.get(name, name)
    if name in _HEADINGS:
        return _HEADINGS[name]
    return translate.heading(name, lang)
