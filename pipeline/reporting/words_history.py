"""What a ticket's history and the ledger's export say, in both languages."""

from collections.abc import Sequence

from pipeline.messages.reasons import REASON
from pipeline.messages.render import reason_text
from pipeline.messages.translate import choice_word, rendered, status_word
from pipeline.model.columns import (
    Lang,
)
from pipeline.model.message import Message
from pipeline.model.status import STATUS, STATUS_OF

_SAID: dict[str, dict[Lang, str]] = {
    "heading": {"en": "{ticket} (times: {zone})", "zh": "{ticket}（时间：{zone}）"},
    "nothing": {"en": "{ticket}: the ledger knows nothing of it", "zh": "{ticket}：台账中没有任何记录"},
    "and": {"en": ", ", "zh": "，"},
    "place": {"en": "{file}, {sheet}, row {row}", "zh": "{file}，{sheet}，第 {row} 行"},
    "attempt": {"en": "request {request}, attempt {attempt}", "zh": "请求 {request}，第 {attempt} 次"},
    "trace": {"en": ", trace {trace}", "zh": "，跟踪号 {trace}"},
    "issued_at": {"en": "issued {at}", "zh": "开具时间 {at}"},
    "judged": {
        "en": "judged {status}: {what} as {voucher}{because} (run {run}; {place})",
        "zh": "判定为{status}：{what}，{voucher}{because}（第 {run} 次运行；{place}）",
    },
    "judged_unread": {
        "en": "judged {status}: {what}{because} (run {run}; {place})",
        "zh": "判定为{status}：{what}{because}（第 {run} 次运行；{place}）",
    },
    "planned": {
        "en": "planned {what} as {voucher} for {buyer} ({name}, run {run}; {place})",
        "zh": "已计划：{what}，{voucher}，购买方 {buyer}（{name}，第 {run} 次运行；{place}）",
    },
    "sending": {
        "en": "sending {what} as {voucher} for {buyer} ({name}, run {run}; {place})",
        "zh": "发送：{what}，{voucher}，购买方 {buyer}（{name}，第 {run} 次运行；{place}）",
    },
    "answered": {"en": "answered with HTTP {http_status} ({name})", "zh": "收到答复：HTTP {http_status}（{name}）"},
    "issued": {"en": "issued as {number}{trace} ({name})", "zh": "已开具，号码 {number}{trace}（{name}）"},
    "ended": {"en": "{state}{why}{trace} ({name})", "zh": "{state}{why}{trace}（{name}）"},
    "settled_issued": {
        "en": "settled as issued under {number} by {settled_by}: {evidence} ({name}; {entry})",
        "zh": "由 {settled_by} 认定为已开具，号码 {number}：{evidence}（{name}；{entry}）",
    },
    "settled_not_sent": {
        "en": "settled as not issued by {settled_by}: {evidence} ({name}; {entry})",
        "zh": "由 {settled_by} 认定为未开具：{evidence}（{name}；{entry}）",
    },
    "elsewhere": {
        "en": "issued elsewhere: the carrier's statement lists {what} as {voucher} {number}{more} ({evidence}; found by {by}, run {run}; {entry})",
        "zh": "他处已开具：承运人账单列有 {what}，{voucher} {number}{more}（{evidence}；由 {by} 发现，第 {run} 次运行；{entry}）",
    },
    "reversed": {
        "en": "{voucher} {number} was reversed by the carrier{red}: {evidence} (recorded by {reversed_by}; {entry})",
        "zh": "承运人已红冲{voucher} {number}{red}：{evidence}（由 {reversed_by} 记录；{entry}）",
    },
    "red": {"en": " (red number {number})", "zh": "（红字号码 {number}）"},
    "withdrawn": {
        "en": "{entry} was withdrawn by {withdrawn_by} and counts no more: {why}",
        "zh": "{entry} 已由 {withdrawn_by} 撤回，不再作数：{why}",
    },
}  # fmt: skip

#: Why a row was judged so, in short: what exactly was seen in it is in its own workbook's result.
JUDGED: dict[str, dict[Lang, str]] = {
    "missing_value": {"en": "a value that it needs is blank", "zh": "必填内容为空"},
    "bad_ticket_no": {"en": "the ticket number is not one of 13 digits", "zh": "票号不是 13 位数字"},
    "bad_amount": {"en": "an amount is not above zero with two decimals at most", "zh": "金额不是大于零且最多两位小数"},
    "bad_date": {"en": "a date can't be read", "zh": "日期无法识别"},
    "date_in_future": {"en": "a date is still to come", "zh": "日期晚于判定日"},
    "bad_choice": {"en": "a value is none of those to choose from", "zh": "内容不在可选范围内"},
    "bad_tax_no": {"en": "the tax number is wrong", "zh": "税号有误"},
    "bad_email": {"en": "the e-mail address is wrong", "zh": "邮箱地址有误"},
    "bad_phone": {"en": "the telephone number is wrong", "zh": "电话号码有误"},
    "amount_mismatch": {"en": "the amount is not what its components add up to", "zh": "金额与各分项合计不符"},
    "unknown_buyer": {"en": "the buyer is not known", "zh": "购买方不明"},
    "status_conflict": {"en": "the ticket is used on one row and refunded on another", "zh": "该客票在不同行中状态矛盾"},
    "ticket_not_used": {"en": "the ticket was refunded without being used", "zh": "客票未使用即已退票"},
    "ticket_not_refunded": {"en": "the ticket was not refunded", "zh": "客票未退票"},
    "fare_window_closed": {"en": "more than a year after the ticket was used", "zh": "客票使用后已超过一年"},
    "ancillary_window_closed": {"en": "more than a year after the purchase", "zh": "购买后已超过一年"},
    "flight_too_old_for_itinerary": {"en": "more than 180 days after the flight", "zh": "航班日期后已超过 180 天"},
    "not_an_itinerary_charge": {"en": "only a ticket's fare goes as itinerary", "zh": "只有机票款可以开具行程单"},
    "not_a_carrier_ticket": {"en": "the ticket is not this carrier's", "zh": "不是该承运人的客票"},
    "amount_over_limit": {"en": "the amount is over the limit of one invoice", "zh": "金额超过单张发票限额"},
    "voucher_conflict": {"en": "the ticket goes as the other kind of voucher", "zh": "该客票已使用另一种凭证"},
    "duplicate_charge": {"en": "the same charge stands more than once", "zh": "同一费用重复出现"},
    "repeated_charge": {"en": "an earlier row is the same", "zh": "与前面某行相同"},
    "code_not_configured": {"en": "the carrier's code for it is not in the profile", "zh": "承运人配置中没有相应代码"},
    "ticket_still_open": {"en": "the ticket is not used yet", "zh": "客票尚未使用"},
    "refund_not_approved": {"en": "the refund is not approved yet", "zh": "退票尚未审核通过"},
    "voucher_reversed": {"en": "the carrier has reversed its voucher", "zh": "承运人已红冲其凭证"},
    "issued_before": {"en": "an earlier run issued it", "zh": "此前已开具"},
    "differs_from_issued": {"en": "what was issued had another amount or buyer", "zh": "已开具的金额或购买方不同"},
    "issued_elsewhere": {"en": "a statement lists it as issued, not by this ledger", "zh": "账单显示已开具，但并非由本台账开具"},
    "carrier_rejected": {"en": "the carrier refused it, and the row is unchanged", "zh": "承运人已拒绝，且该行未更改"},
    "carrier_unreachable": {"en": "the carrier could not be reached", "zh": "无法连接承运人"},
    "carrier_busy": {"en": "the carrier was too busy", "zh": "承运人繁忙"},
    "key_refused": {"en": "the carrier refused the key or the agency", "zh": "承运人拒绝密钥或代理人代码"},
    "run_stopped": {"en": "the run stopped before", "zh": "运行在此之前已停止"},
    "no_answer": {"en": "sent earlier, and no answer came", "zh": "此前已发送但未收到答复"},
    "answer_unreadable": {"en": "sent earlier, and the answer can't be read", "zh": "此前已发送但答复无法解读"},
    "answer_unexplained": {"en": "sent earlier, and the answer leaves open whether it was issued", "zh": "此前已发送，但答复未说明是否已开具"},
    "run_killed": {"en": "it was being sent when a run was killed", "zh": "此前运行在发送时被强行终止"},
}  # fmt: skip

_STATES: dict[str, dict[Lang, str]] = {
    "planned": {"en": "planned", "zh": "已计划"},
    "sending": {"en": "sending", "zh": "发送中"},
}


def say(name: str, lang: Lang) -> str:
    """A text of the history, with places to be filled in."""
    return _SAID[name][lang]


def word(name: str, lang: Lang) -> str:
    """A charge, product, kind of voucher or buyer, market, status or state, as a person reads it."""
    if name in STATUS:
        return status_word(name, lang)
    return _STATES[name][lang] if name in _STATES else choice_word(name, lang)


def judged_because(codes: Sequence[str], lang: Lang) -> str:
    """Why a row was judged so, as the end of a sentence; a code of a later program stays as it is."""
    said = [JUDGED[code][lang] if code in JUDGED else code for code in codes]
    if not said:
        return ""
    return f"；{'；'.join(said)}" if lang == "zh" else f"; {'; '.join(said)}"


def known_reason(code: str, detail: Message, lang: Lang) -> str:
    """Why an attempt ended so, in words, as the end of a sentence; "" where the ledger has nothing to say."""
    if code in REASON and STATUS_OF[code] in ("rejected", "not_sent", "unknown"):
        said = reason_text(code, "", lang, {"detail": detail}).message.rstrip(": ：")
    else:
        said = " ".join(filter(None, (code, rendered(detail, lang))))
    joint = "：" if lang == "zh" else ": "
    return f"{joint}{said}" if said else ""
