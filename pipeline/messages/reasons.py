"""Every reason code with its texts, in both languages.

A reason is a stable code for programs and a sentence for people. The sentence says what was seen and
why it matters; `cure` says what to do. `{column}` is the column's heading and `{seen}` the cell's text
in the language of the workbook; other placeholders are facts that whoever finds the reason supplies.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.model.columns import Lang


@dataclass(frozen=True)
class Reason:
    """One code of interface.md ("Reason codes")."""

    code: str
    en: str
    zh: str
    en_cure: str
    zh_cure: str

    def message(self, lang: Lang, facts: Mapping[str, str]) -> str:
        """What was seen and why it matters, in one or two sentences."""
        return (self.zh if lang == "zh" else self.en).format_map(facts)

    def cure(self, lang: Lang, facts: Mapping[str, str]) -> str:
        """What to do about it."""
        return (self.zh_cure if lang == "zh" else self.en_cure).format_map(facts)


_FIX_EN = "Correct the cell and run the row again."
_FIX_ZH = "请更正该单元格后重新提交此行。"
_NOTHING_EN = "Nothing can be issued for this row."
_NOTHING_ZH = "此行无法开具。"
_AGAIN_EN = "Run the same workbook again; nothing was issued for this row."
_AGAIN_ZH = "请重新运行同一工作簿；此行尚未开具任何凭证。"
_RECONCILE_EN = "Do not ask for it elsewhere. Ask the carrier about the request, fill in the Unknown sheet, and reconcile."
_RECONCILE_ZH = "请勿另行申请。向承运人查询该请求，填写 Unknown 表后进行对账。"

REASONS = (
    # --- invalid: the row can't be understood -----------------------------------------------------
    Reason(
        "missing_value",
        "{column} is blank, but this row needs it.", "{column}为空，但此行必须填写。",
        "Fill in {column} and run the row again.", "请填写{column}后重新提交此行。",
    ),
    Reason(
        "bad_ticket_no",
        "“{seen}” is not a ticket number of 13 digits.{hint}", "“{seen}”不是 13 位票号。{hint}",
        "Enter the 13 digits as on the ticket, in a cell formatted as text.",
        "请按客票填写 13 位票号，单元格设为文本格式。",
    ),
    Reason(
        "bad_amount",
        "“{seen}” in {column} is not an amount above zero with at most two decimals.",
        "{column}中的“{seen}”不是大于零且最多两位小数的金额。",
        _FIX_EN, _FIX_ZH,
    ),
    Reason(
        "bad_date",
        "“{seen}” in {column} is not a date that can be read without guessing.",
        "{column}中的“{seen}”无法确定为日期。",
        "Enter it as a date, or as text like 2026-03-05.", "请填写日期，或 2026-03-05 形式的文本。",
    ),
    Reason(
        "date_in_future",
        "{column} is {seen}, after {as_of}, the day on which this run judges; it can't have happened yet.",
        "{column}为 {seen}，晚于本次判定日 {as_of}，不可能已经发生。",
        "Correct {column}, or the ticket status if the ticket is not used yet.",
        "请更正{column}；若客票尚未使用，请更正客票状态。",
    ),
    Reason(
        "bad_choice",
        "“{seen}” is not a value that {column} can have here: {choices}.",
        "“{seen}”不是此处{column}可用的值：{choices}。",
        "Choose one of: {choices}.", "请从以下值中选择：{choices}。",
    ),
    Reason(
        "bad_tax_no",
        "“{seen}” is not a tax number: its length, characters or check character are wrong.",
        "“{seen}”不是有效税号：长度、字符或校验位有误。",
        "Compare it with the buyer's registration and correct it.", "请与购买方登记信息核对后更正。",
    ),
    Reason(
        "bad_email",
        "“{seen}” is not an e-mail address.", "“{seen}”不是有效邮箱地址。",
        "Correct it: the carrier sends itineraries there.", "请更正：承运人会将行程单发送至该邮箱。",
    ),
    Reason(
        "bad_phone",
        "“{seen}” is not a telephone number.", "“{seen}”不是有效电话号码。",
        _FIX_EN, _FIX_ZH,
    ),
    Reason(
        "amount_mismatch",
        "{column} is {seen}, but its components add up to {sum}.", "{column}为 {seen}，但各分项合计为 {sum}。",
        "Correct the amount or its components, or leave the amount blank.", "请更正金额或分项，或将金额留空。",
    ),
    Reason(
        "unknown_buyer",
        "“{seen}” is not the name of exactly one buyer in the Buyers sheet.", "“{seen}”在购买方信息表中没有唯一对应的购买方。",
        "Correct the name to one on the Buyers sheet (a result workbook has it as its last sheet), or add the buyer there; or fill in the"
        " row's own columns from header_type on.",
        "请将名称更正为购买方信息表中的名称（在结果工作簿中为最后的 Buyers 表），或在该表中补充此购买方；也可直接填写此行自抬头类型起的各列。",
    ),
    # --- ineligible: a rule forbids it ------------------------------------------------------------
    Reason(
        "status_conflict",
        "The ticket is used on one row ({used_at}) and refunded on another ({refunded_at}). Which is true is not known, so neither its fare"
        " nor its refund is sent.",
        "同一客票的状态前后矛盾：已使用（{used_at}）与已退票（{refunded_at}）。无法得知哪个正确，因此机票款与退票费均不发送。",
        "Correct ticket_status where it is wrong. If some flights were flown and the rest refunded, set it to partly_used in all rows"
        " of the ticket.",
        "请更正有误的客票状态。若部分航段已使用、其余已退票，请将该客票各行的客票状态均改为部分使用。",
    ),
    Reason(
        "ticket_not_used",
        "The ticket was refunded without being used, so its fare can't be issued.",
        "客票未使用即已退票，机票款不可开具。",
        "Issue the refund charge instead, if there is one. If some flights were flown before the rest was refunded, set ticket_status to"
        " partly_used.",
        "如有退票费，请改开退票费。若部分航段已使用、其余已退票，请将客票状态改为部分使用。",
    ),
    Reason(
        "ticket_not_refunded",
        "The ticket was used, not refunded, so there is no refund charge to issue.",
        "客票已使用而非已退票，没有可开具的退票费。",
        "If the ticket was refunded after all, set ticket_status to refunded, or to partly_used if some flights were flown.",
        "若客票确已退票，请将客票状态改为已退票；若部分航段已使用、其余已退票，请改为部分使用。",
    ),
    Reason(
        "fare_window_closed",
        "An invoice for a fare had to be requested by {last_day}, one year after the ticket was used.",
        "机票款发票须在客票使用后一年内（{last_day} 前，含当日）申请，现已逾期。",
        _NOTHING_EN, _NOTHING_ZH,
    ),
    Reason(
        "ancillary_window_closed",
        "An ancillary charge had to be requested by {last_day}, one year after purchase.",
        "附加服务须在购买后一年内（{last_day} 前，含当日）申请，现已逾期。",
        _NOTHING_EN, _NOTHING_ZH,
    ),
    Reason(
        "flight_too_old_for_itinerary",
        "An itinerary had to be requested by {last_day}, 180 days after the flight.",
        "行程单须在航班日期后 180 天内（{last_day} 前，含当日）申请，现已逾期。",
        "Ask for an invoice instead: set voucher to invoice.", "请改开发票：将开票类型设为发票。",
    ),
    Reason(
        "not_an_itinerary_charge",
        "Only ticket fares can be issued as an itinerary.", "只有机票款可以开具行程单。",
        "Set voucher to auto, or leave it blank: every charge of the ticket then goes as the voucher that it can have.",
        "请将开票类型设为自动或留空：该客票的每项费用会按其可开的凭证种类开具。",
    ),
    Reason(
        "not_a_carrier_ticket",
        "The ticket number starts with {prefix}, which is not one of this carrier's prefixes ({prefixes}).",
        "票号以 {prefix} 开头，不是该承运人的票号前缀（{prefixes}）。",
        "Ask the airline that issued the ticket.", "请向出票航空公司申请。",
    ),
    Reason(
        "amount_over_limit",
        "{amount} is more than one {market} invoice may hold ({limit}).",
        "金额 {amount} 超过单张{market}发票限额（{limit}）。",
        "A ticket fare may still go as an itinerary, where its conditions hold; else ask the carrier.",
        "机票款在符合条件时可改开行程单；否则请联系承运人。",
    ),
    Reason(
        "voucher_conflict",
        "A ticket's fare and refund go either all as invoice or all as itinerary: {other}.",
        "同一客票的机票款与退票费只能统一开具发票或行程单：{other}。",
        "Keep one kind of voucher for the ticket: that of what is issued already, if anything is.",
        "请为该客票只选择一种凭证；已有开具的，以已开具的种类为准。",
    ),
    Reason(
        "duplicate_charge",
        "The same charge stands more than once: {other}; {fate}.", "同一费用重复出现：{other}；{fate}。",
        "Keep the row that is right and delete the others.", "请保留正确的一行，删除其余各行。",
    ),
    Reason(
        "code_not_configured",
        "The carrier's code for {column} “{seen}” is not in the carrier profile ({key}), so it can't be sent.",
        "承运人配置中没有{column}“{seen}”的代码（{key}），无法发送。",
        "Ask the carrier for the code and put it into the profile.", "请向承运人取得代码并写入配置。",
    ),
    # --- waiting: not eligible yet ----------------------------------------------------------------
    Reason(
        "ticket_still_open",
        "The ticket is still open; vouchers are issued after it is used.", "客票尚未使用；使用后方可开具。",
        "Run the row again when the ticket is used.", "客票使用后请重新提交此行。",
    ),
    Reason(
        "refund_not_approved",
        "The refund is not approved by {as_of}, the day on which this run judges.",
        "截至本次判定日 {as_of}，退票尚未审核通过。",
        "Run the row again when the refund is approved, with the date of approval.",
        "请在退票审核通过后填写审核日期，并重新提交此行。",
    ),
    Reason(
        "voucher_reversed",
        "The carrier has reversed its voucher {number}; another one is issued only where a person asks for it.",
        "承运人已红冲其凭证 {number}；仅在人工申请时才重新开具。",
        "To have another one issued, run voucher issue with this row.",
        "如需重新开具，请用 voucher issue 提交此行。",
    ),
    # --- the same row once more -------------------------------------------------------------------
    Reason(
        "repeated_charge",
        "The same charge, identical in all that counts, stands in {other} already; it counts once, there.",
        "同一费用已列于 {other}，且各项内容相同；仅以该行计一次。",
        "Nothing to do; this row may be deleted.", "无需处理；此行可删除。",
    ),
    # --- already issued ---------------------------------------------------------------------------
    Reason(
        "issued_before",
        "Issued on {issued_on} from {place} as {number}.", "已于 {issued_on} 由 {place}开具（{number}）。",
        "Nothing to do.", "无需处理。",
    ),
    Reason(
        "differs_from_issued",
        "Issued on {issued_on} from {place} as {number}, but with other contents: {differences}.",
        "已于 {issued_on} 由 {place}开具（{number}），但内容不同：{differences}。",
        "Compare the row with the issued voucher; a wrong voucher is corrected at the carrier by a red invoice.",
        "请与已开凭证核对；开错的凭证需在承运人处红冲更正。",
    ),
    Reason(
        "issued_elsewhere",
        "The carrier's statement lists it as issued ({number}), but not by this ledger.",
        "承运人账单显示已开具（{number}），但并非由本台账开具。",
        "Nothing to do, unless the voucher is not yours.", "除非该凭证不属于贵方，否则无需处理。",
    ),
    # --- rejected ---------------------------------------------------------------------------------
    Reason(
        "carrier_rejected",
        "The carrier refused it: {detail}", "承运人拒绝开具：{detail}",
        "Correct what the carrier names and run the row again, or ask the carrier.",
        "请按承运人说明更正后重新提交，或联系承运人。",
    ),
    # --- not sent ---------------------------------------------------------------------------------
    Reason(
        "carrier_unreachable",
        "The carrier could not be reached: {detail}", "无法连接承运人：{detail}",
        _AGAIN_EN, _AGAIN_ZH,
    ),
    Reason(
        "carrier_busy",
        "The carrier was too busy to take it: {detail}", "承运人繁忙，未受理：{detail}",
        _AGAIN_EN, _AGAIN_ZH,
    ),
    Reason(
        "key_refused",
        "The carrier refused the key or the agency: {detail}", "承运人拒绝密钥或代理人代码：{detail}",
        "Check VOUCHER_API_KEY and the profile's agency, then run the same workbook again.",
        "请检查 VOUCHER_API_KEY 与配置中的 agency，然后重新运行同一工作簿。",
    ),
    Reason(
        "run_stopped",
        "The run stopped before this row was sent: {detail}", "运行在发送此行前已停止：{detail}",
        _AGAIN_EN, _AGAIN_ZH,
    ),
    # --- unknown: it may have been issued ---------------------------------------------------------
    Reason(
        "no_answer",
        "{earlier}It was sent, but no answer came back: {detail}", "{earlier}已发送但未收到答复：{detail}",
        _RECONCILE_EN, _RECONCILE_ZH,
    ),
    Reason(
        "answer_unreadable",
        "{earlier}It was sent, but the answer can't be read: {detail}", "{earlier}已发送但答复无法解读：{detail}",
        _RECONCILE_EN, _RECONCILE_ZH,
    ),
    Reason(
        "answer_unexplained",
        "{earlier}It was sent, and the answer leaves open whether it was issued: {detail}", "{earlier}已发送，但答复未说明是否已开具：{detail}",
        _RECONCILE_EN, _RECONCILE_ZH,
    ),
    Reason(
        "run_killed",
        "{earlier}It was being sent, and what came of it is not recorded: {detail}", "{earlier}发送过程中，结果未记录：{detail}",
        _RECONCILE_EN, _RECONCILE_ZH,
    ),
)  # fmt: skip
REASON = {reason.code: reason for reason in REASONS}

#: Hints that a message about a ticket number may end in, by the reader's code.
HINTS: dict[str, dict[Lang, str]] = {
    "": {"en": "", "zh": ""},
    "lost_zero": {
        "en": " The spreadsheet may have dropped a leading zero of a number.",
        "zh": "表格程序可能已丢掉数字开头的零。",
    },
    "spoilt_number": {
        "en": " The spreadsheet has turned it into a rounded number.",
        "zh": "表格程序已将其变为舍入后的数字。",
    },
}

#: What becomes of rows that hold one charge.
FATES: dict[str, dict[Lang, str]] = {
    "differing": {
        "en": "they differ in {columns}, so that none of them is sent",
        "zh": "各行的{columns}不同，因此均不发送",
    },
    "wire": {
        "en": "the carrier's code is {code} for each, so that it could not tell them apart, and none of them is sent",
        "zh": "承运人对各行的代码均为 {code}，无法区分，因此均不发送",
    },
}
#: One column in which a row contradicts the buyer that it names.
DIFFERING: dict[Lang, str] = {
    "en": "{column} is “{there}” there and “{here}” here",
    "zh": "{column}在表中为“{there}”，此行为“{here}”",
}
#: Put before the reason of a doubt that an earlier run left.
EARLIER: dict[Lang, str] = {"en": "In doubt since {earlier}: ", "zh": "自 {earlier}起结果未知："}
#: One column in which a row differs from what was issued.
DIFFERENCE: dict[Lang, str] = {
    "en": "{column} was issued as “{issued}”, this row says “{here}”",
    "zh": "{column}已开具为“{issued}”，此行为“{here}”",
}
