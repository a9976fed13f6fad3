"""Slips, each with a message and a cure of its own: most of them a cell shows by itself.

A slip goes with the reason code of its column (the code is for programs); for a person it says more
exactly what was seen. Whoever finds a reason names the slip as its fact `hint`.
"""

from pipeline.messages.reasons import Reason

_TEXT_EN = "Enter it as text like 2026-03-05, or as a date."
_TEXT_ZH = "请填写 2026-03-05 形式的文本，或填写日期。"
_CHECK_EN = "Compare it with the buyer's registration, correct it, and run the row again."
_CHECK_ZH = "请与购买方登记信息核对，更正后重新提交此行。"

_ALL = (
    # --- any column ---------------------------------------------------------------------------------
    Reason(
        "error_cell",
        "{column} shows the spreadsheet's error {seen} in place of a value, so what belongs there is not known.",
        "{column}显示的是表格错误 {seen}，而不是内容，无法得知应填什么。",
        "Mend the formula or enter the value itself, save the workbook and run it again.",
        "请修正公式或直接填入内容，保存工作簿后重新运行。",
    ),
    Reason(
        "no_result",
        "{column} holds a formula that nobody has calculated: the file holds no result, or a stand-in for it, so the value is not"
        " known.",
        "{column}是尚未计算过的公式：文件中没有保存计算结果，或只有占位的值，无法得知其内容。",
        "Open the workbook in Excel (in LibreOffice press Ctrl+Shift+F9 then), save it and run it again; or enter the value itself.",
        "请用 Excel 打开工作簿（用 LibreOffice 打开后须按 Ctrl+Shift+F9），保存后重新运行；或直接填入内容。",
    ),
    # --- ticket numbers -----------------------------------------------------------------------------
    Reason(
        "letters_in_number",
        "“{seen}” is not a ticket number: it has letters where digits belong (O for 0, I or l for 1).",
        "“{seen}”不是票号：其中有字母（如 O 应为 0，I 或 l 应为 1）。",
        "Enter the 13 digits as on the ticket.", "请按客票填写 13 位数字。",
    ),
    Reason(
        "no_airline_code",
        "“{seen}” has 10 digits: a ticket number without the airline's code of three digits in front, which is not known here.",
        "“{seen}”只有 10 位：票号缺少前面的 3 位航空公司代码，此处无法得知。",
        "Enter the 13 digits as on the ticket, the airline's code first, in a cell formatted as text.",
        "请按客票填写 13 位票号（前 3 位为航空公司代码），单元格设为文本格式。",
    ),
    Reason(
        "marked_as_text",
        "“{seen}” has signs around the ticket number that mark it as text in a spreadsheet; in a CSV file they are a part of it.",
        "“{seen}”的票号带有表格程序的文本标记（引号、等号），在文本格式的文件中它们成为内容的一部分。",
        "Enter the 13 digits alone, or save the file as .xlsx.", "请只填写 13 位数字，或将文件另存为 .xlsx。",
    ),
    Reason(
        "several_tickets",
        "“{seen}” is more than one ticket number; a row is one ticket.", "“{seen}”包含多个票号；一行只能是一张客票。",
        "Give each ticket a row of its own, with its own amounts.", "请为每张客票单独填写一行，并填写各自的金额。",
    ),
    # --- amounts ------------------------------------------------------------------------------------
    Reason(
        "negative",
        "“{seen}” in {column} is less than zero (accounting writes that in brackets), and no voucher is issued for less than zero.",
        "{column}中的“{seen}”是负数（会计上也用括号表示），负数金额不能开具凭证。",
        "Enter what was charged, above zero. What was paid back for a ticket is no charge: clear the cell. Keep the row if it has a fee"
        " that was charged, as a refund has; leave it out only if nothing else was charged in it.",
        "请填写实际收取的金额（大于零）。退还给旅客的款项不是费用：请清空该单元格。若该行另有收取的费用（如退票手续费），请保留该行；"
        "没有其他费用时才删除该行。",
    ),
    Reason(
        "decimals",
        "“{seen}” in {column} has more than two decimals; it may also be meant as thousands (1.500 for 1500).",
        "{column}中的“{seen}”超过两位小数；也可能表示千位（如 1.500 表示 1500）。",
        "Enter it with two decimals at most, as 1500.00 or 1.50.", "请填写最多两位小数的金额，如 1500.00 或 1.50。",
    ),
    Reason(
        "comma",
        "“{seen}” in {column} has a comma where decimals begin, which can also be read as thousands.",
        "{column}中的“{seen}”以逗号作小数点，也可能被读作千位分隔符。",
        "Enter it with a point before the decimals, as 1234.50.", "请用小数点填写，如 1234.50。",
    ),
    Reason(
        "several_amounts",
        "“{seen}” in {column} is more than one number, and a cell is one amount.",
        "{column}中的“{seen}”包含多个数字；一个单元格只能填写一个金额。",
        "Enter the one amount that belongs there, without spaces or line breaks between its digits.",
        "请只填写应填的一个金额，数字之间不要有空格或换行。",
    ),
    Reason(
        "currency",
        "“{seen}” in {column} names another currency; amounts are issued in the carrier's own.",
        "{column}中的“{seen}”是其他币种；凭证只能以承运人的币种开具。",
        "Enter the amount in the carrier's currency, without its name.", "请填写承运人币种的金额，不带币种名称。",
    ),
    Reason(
        "unit",
        "“{seen}” in {column} is written or formatted in another unit, such as thousands or percent, so which amount is meant is not certain.",
        "{column}中的“{seen}”以其他单位书写或设置了格式（如万、%），无法确定所指金额。",
        "Enter the amount in the currency's main unit, in a cell with a plain number format.",
        "请以元为单位填写金额，单元格设为普通数字格式。",
    ),
    Reason(
        "fee_of_used",
        "{seen} stands in refund_fee, but the ticket is used, and only a refunded ticket has a refund charge. What is to be issued is not"
        " clear, and no total says it.",
        "退票手续费为 {seen}，但客票已使用，只有已退票的客票才有退票费。无法确定应开具的内容，也没有合计金额可以核对。",
        "If some flights were flown and the rest refunded, set ticket_status to partly_used: both charges are issued. If the whole ticket"
        " was refunded, set it to refunded. If it was used, clear refund_fee, or enter in amount what is to be issued for it in all.",
        "若部分航段已使用、其余已退票，请将客票状态改为部分使用，两项费用均会开具；若全部退票，请改为已退票；若已使用，请清空退票手续费，"
        "或在金额中填写应开具的合计。",
    ),
    # --- days ---------------------------------------------------------------------------------------
    Reason(
        "two_days",
        "“{seen}” in {column} can be two days: the day or the month may stand first. A wrong day may cost the voucher, so it is not guessed.",
        "{column}中的“{seen}”可能是两个不同的日期：日在前或月在前。日期错误可能导致无法开具，因此不作猜测。",
        _TEXT_EN, _TEXT_ZH,
    ),
    Reason(
        "short_year",
        "“{seen}” in {column} has a year of two digits, which could be the day or the month as well.",
        "{column}中的“{seen}”年份只有两位，也可能是日或月。",
        _TEXT_EN, _TEXT_ZH,
    ),
    Reason(
        "serial_day",
        "“{seen}” in {column} is a bare number: probably a date whose cell has lost its date format.",
        "{column}中的“{seen}”只是一个数字：可能是丢失了日期格式的日期。",
        "Format the cell as a date, look whether the day is right, save the workbook as .xlsx and run it again.",
        "请将单元格设为日期格式，核对日期后另存为 .xlsx 并重新运行。",
    ),
    Reason(
        "no_such_day",
        "“{seen}” in {column} is no day of the calendar.", "{column}中的“{seen}”在日历中不存在。",
        _TEXT_EN, _TEXT_ZH,
    ),
    # --- buyers and names ---------------------------------------------------------------------------
    Reason(
        "two_buyers",
        "“{seen}” of the Buyers sheet is not the buyer that this row's own columns name: {differing}. Which of them the voucher is for is"
        " not known.",
        "购买方信息表中的“{seen}”与此行自填的购买方不是同一个：{differing}。无法得知凭证应开给谁。",
        "Give one of them: if it is for “{seen}”, clear the row's own columns from header_type to email: they are taken from the Buyers sheet. If the"
        " row's own columns are right, clear buyer.",
        "若应开给“{seen}”，请清空此行的抬头类型至邮箱各列，将按购买方信息表填写；若以此行各列为准，请清空购买方。",
    ),
    Reason(
        "line_break",
        "{column} has a line break within it, which may stand for a space or for nothing, so the name to be put on the voucher is not"
        " known.",
        "{column}中有换行，可能表示空格，也可能只是折行，无法确定凭证上的名称。",
        "Write it on one line.", "请写在同一行内。",
    ),
    Reason(
        "unseen_characters",
        "{column} has a character within it that no eye sees or no font has (a control character, a filler), and the carrier would print it.",
        "{column}中有不可见或无字形的字符（控制字符、填充字符等），会随之发送给承运人。",
        "Type {column} anew; do not copy it.", "请重新手工输入{column}，不要复制粘贴。",
    ),
    Reason(
        "labelled",
        "“{seen}” in {column} has other words beside what belongs there, and would be sent with them.",
        "{column}中的“{seen}”带有其他文字，会随之一并发送。",
        "Keep {column} alone in its cell, without words before or behind it.", "请只填写{column}本身，前后不要带其他文字。",
    ),
    Reason(
        "tax_letters",
        "“{seen}” is not a tax number: a unified code never holds the letters I, O, S, V or Z. They are typed for 1, 0, 5, U and 2.",
        "“{seen}”不是有效税号：统一社会信用代码不使用字母 I、O、S、V、Z，它们常被误填为 1、0、5、U、2。",
        _CHECK_EN, _CHECK_ZH,
    ),
    Reason(
        "tax_check",
        "“{seen}” is not a tax number: its last character does not fit the 17 before it, so one of them is mistyped or two are swapped.",
        "“{seen}”不是有效税号：末位校验码与前 17 位不符，可能有一位填错或相邻两位颠倒。",
        _CHECK_EN, _CHECK_ZH,
    ),
    Reason(
        "tax_length",
        "“{seen}” is not a tax number: tax numbers have 18 characters (older ones 15 or 20), without spaces and hyphens.",
        "“{seen}”不是有效税号：税号应为 18 位（旧税号 15 位或 20 位），不计空格与连字符。",
        _CHECK_EN, _CHECK_ZH,
    ),
    Reason(
        "tax_rounded",
        "“{seen}” is a tax number that the spreadsheet has turned into a rounded number; its last digits are lost.",
        "“{seen}”是被表格程序舍入的税号，末尾数字已丢失。",
        "Format the cell as text and enter the tax number again from the buyer's registration.",
        "请将单元格设为文本格式，并按购买方登记信息重新填写税号。",
    ),
    Reason(
        "email_several",
        "“{seen}” is more than one e-mail address; the carrier sends to one.", "“{seen}”包含多个邮箱地址；承运人只发送到一个邮箱。",
        "Keep the one address that the voucher is to be sent to.", "请只保留接收凭证的一个邮箱地址。",
    ),
    Reason(
        "email_no_at",
        "“{seen}” is not an e-mail address: it has no @ with a name before and a domain behind it.",
        "“{seen}”不是有效邮箱地址：缺少 @ 或其前后的内容。",
        "Enter it like name@company.com.", "请按 name@company.com 的形式填写。",
    ),
    Reason(
        "email_domain",
        "“{seen}” is not an e-mail address: what stands behind the @ is no domain (a point is often mistyped as a comma, or left out).",
        "“{seen}”不是有效邮箱地址：@ 之后不是有效域名（常见错误是把点写成逗号或漏写）。",
        "Enter it like name@company.com.", "请按 name@company.com 的形式填写。",
    ),
    Reason(
        "phone_several",
        "“{seen}” is more than one telephone number; a voucher has one.", "“{seen}”包含多个电话号码；凭证上只能有一个。",
        "Keep one number.", "请只保留一个电话号码。",
    ),
    # --- against the ledger -------------------------------------------------------------------------
    Reason(
        "issued_as_other",
        "This charge was issued as another kind of voucher than this row asks for: {other}.",
        "该费用已开具为另一种凭证，与此行所填不同：{other}。",
        "Set voucher to the kind that was issued, or leave it blank. If the other kind is needed, the carrier has to reverse that"
        " voucher first: record it by voucher ledger reverse, and run the row again.",
        "请将开票类型改为已开具的种类，或留空。如确需另一种凭证，须先由承运人红冲已开凭证，用 voucher ledger reverse 记录后重新提交此行。",
    ),
)  # fmt: skip
SLIPS = {slip.code: slip for slip in _ALL}
