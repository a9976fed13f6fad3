"""Lines about evidence: statements, answers, an inbox, and what contradicts itself."""

RECONCILING = {
    # --- how it was asked for ---
    "--inbox {}: can't be read ({}); name a folder that exists": "--inbox {0}：无法读取（{1}）；请指明存在的文件夹",
    "--outbox {}: is the inbox itself; name another folder": "--outbox {0}：就是收件夹本身；请另指一个文件夹",
    "--month {}: is not a month; write it like 2026-10": "--month {0}：不是月份；请写成 2026-10 的形式",
    "--statement-complete {}: is not a time [KIND:]FROM..TO; write it like invoice:2026-10-01..2026-10-31": "--statement-complete {0}：不是“[种类:]起..止”的日期；请写成 发票:2026-10-01..2026-10-31 的形式",
    "--statement-complete {}: its two days are swapped; write the earlier one first, like invoice:2026-10-01..2026-10-31": "--statement-complete {0}：起止日期颠倒；请先写较早的日期，如 发票:2026-10-01..2026-10-31",
    "--statement-complete {}: is of no kind of voucher that is known; write invoice (发票) or itinerary (行程单)": "--statement-complete {0}：不是已知的凭证种类；请写发票或行程单",
    "--statement-made {}: is not a time; write it like 2026-11-01T09:30 (where the carrier is), or with its time zone like"
    " 2026-11-01T09:30+08:00": "--statement-made {0}：不是时间；请写成 2026-11-01T09:30（承运人当地时间），或带时区 2026-11-01T09:30+08:00",
    "--statement-made {}: is still to come by this machine's clock; set the clock right, or say when they were made": "--statement-made {0}：按本机时钟尚未到来；请校正时钟，或说明账单的生成时间",
    "--statement-complete {}: no statement is complete for days to come; today is {}": "--statement-complete {0}：账单不可能包含未来的日期；今天是 {1}",
    "This machine's clock says {} UTC, and the ledger's last entry is of {} UTC; nothing was changed. Set the clock right, or say"
    " --clock-is-right if that entry was made by a wrong one": "本机时钟为 {0} UTC，而台账最后一条记录的时间为 {1} UTC；未作任何更改。请校正时钟；如该记录是由错误的时钟写入，请加 --clock-is-right",
    "{}: was made at {} UTC, which is still to come by this machine's clock; set the clock right, or save the statement again": "{0}：生成时间为 {1} UTC，按本机时钟尚未到来；请校正时钟，或重新保存账单",
    # --- files ---
    "{}: is no workbook, and is not read; save it as .xlsx, or take it away": "{0}：不是工作簿，未读取；请另存为 .xlsx 或移走",
    "its last day is not known here; voucher check with its workbook says it": "此处无法得知截止日；请用其工作簿运行 voucher check 查看",
    "{}: is an answer about another ledger ({}), not about this one ({}); nothing was changed. Name that ledger with --ledger. If it was lost"
    " and this one restored in its place, what it asked is compared by the carrier's statement": "{0}：是关于另一台账（{1}）的答复，而非本台账（{2}）；未作任何更改。请用 --ledger 指明那一台账。如该台账已丢失、本台账由备份恢复而来，请用承运人账单核对其申请的内容",
    "request {}, attempt {}: the answer is about an attempt of that number that was lost when this ledger was restored, and settles"
    " nothing here. If it says issued, compare the carrier's statement (--statement) before more is sent": "请求 {0} 第 {1} 次：该答复针对的是同一编号的另一次申请，其记录在恢复台账时已丢失；在此不改变任何结果。如答复称已开具，请先用承运人账单（--statement）核对，再继续发送",
    "request {}, attempt {}: this evidence was withdrawn ({}) and settles it no more; it takes an answer on the sheet Unknown"
    " with other evidence": "请求 {0} 第 {1} 次：该依据已被撤回（{2}），不再据以认定；须在 Unknown 工作表中填写含其他依据的答复",
    "not named": "未注明",
    "{}: is still being written, and is left for the next time": "{0}：仍在写入，留待下次处理",
    "{}: can't be read ({}); check its permissions": "{0}：无法读取（{1}）；请检查其权限",
    # --- lines of a statement ---
    "lists an ancillary charge of ticket {} as {} and does not say which; it settles nothing. Ask the carrier, and answer on the"
    " sheet Unknown": "列有客票 {0} 的附加服务费（号码 {1}），但未写明是哪一项；不据以认定任何结果。请向承运人查询，并在 Unknown 工作表中填写答复",
    # --- contradictions ---
    "request {}, attempt {}": "请求 {0} 第 {1} 次",
    "the answers to it contradict each other ({}); clear the wrong one": "对它的答复互相矛盾（{0}）；请清除错误的答复",
    "the statement lists it as {}, and {} says {}": "账单列其号码为 {0}，而 {1} 称{2}",
    "issued as {}": "已开具，号码 {0}",
    "not sent yet": "尚未发送",
    "being sent": "正在发送",
    "refused by the carrier": "被承运人拒绝",
    "not issued": "未开具",
    "{} says issued as {}, and the statement, said to be complete, does not list it": "{0} 称已开具，号码 {1}，而被称为完整的账单并未列出",
    "it was asked for as {}, and the statement lists it as {}": "申请的是{0}，而账单列为{1}",
    "the statement lists it under several numbers: {}": "账单以多个号码列出：{0}",
    "the statement lists only {} of its {} charges as {}; {} is not among them": "账单仅列出其 {1} 项费用中的 {0} 项，号码 {2}；其中没有 {3}",
    "{}. It may be that of request {}, attempt {}, which was said not to be issued ({}). If only that one was issued, answer “not issued” to"
    " this one, then withdraw {}": "{0}。可能属于曾被称为未开具的请求 {1} 第 {2} 次（{3}）。如仅该次已开具，请对本次答复“未开具”，再撤回 {4}",
    "the statement lists {} for charges of other requests, too": "账单将号码 {0} 也用于其他请求的费用",
    "the statement lists it as {}, which may be its voucher {}, that was reversed, under another number. If it is: voucher ledger"
    " reverse {}; if not, answer on the sheet Unknown": "账单列其号码为 {0}，可能是其已红冲的凭证 {1} 的另一号码。如是：voucher ledger reverse {2}；如不是，请在 Unknown 工作表中填写答复",
    "the statement lists it as {}, which {} has already": "账单列其号码为 {0}，而{1}已使用该号码",
    "a red line ({})": "红字行（{0}）",
    "the statement lists an {} of ticket {} ({}) instead": "账单列出的是客票 {1} 的{0}（{2}）",
    "is said to be issued as {} ({}), and {} has that number, too; nothing is settled by it. Ask the carrier whose number it is, and"
    " correct the other": "据称已开具，号码 {0}（{1}），而{2}也使用该号码；不据此作任何认定。请向承运人查询该号码的归属，并更正另一处",
    "another request ({})": "另一请求（{0}）",
    "another request ({}; {})": "另一请求（{0}；{1}）",
    "another request (ticket {} on a statement)": "另一请求（账单所示客票 {0}）",
    "a voucher that was reversed": "已被红冲的凭证",
    "{}: the number {} has another shape than the carrier's interface shows; it is recorded as it is": "{0}：号码 {1} 与承运人接口所示形式不同；已按原样记录",
    "the statement says that {} was issued on {}, before it was asked for": "账单称号码 {0} 于 {1} 开具，早于申请时间",
    "is said to be complete for {}, and lacks {} requests of that kind ({}) that were issued then, such as {}; so what it does not"
    " list of them is not taken for not issued": "据称在 {0} 期间完整，却缺少当时已开具的 {1} 个该类（{2}）请求（如 {3}）；因此其未列出的不视为未开具",
    "sheet {} was not read: it is hidden, or has no headings of a statement": "工作表“{0}”未读取：已隐藏，或没有账单的标题",
    "a voucher of ticket {} was reversed by the carrier ({}); start voucher issue to issue it again": "客票 {0} 的凭证（{1}）已被承运人红冲；如需重新开具，请运行 voucher issue",
    "{} was reversed by the carrier ({}); its charges may be issued again by voucher issue": "{0} 已被承运人红冲（{1}）；其费用可用 voucher issue 重新开具",
    "reverses {}, which this ledger does not hold as issued; nothing was changed. If it is a voucher of yours under another number:"
    " voucher ledger reverse, with the number that voucher history shows": "红冲 {0}，但本台账中没有以该号码开具的凭证；未作任何更改。如为以其他号码开具的凭证，请以 voucher history 所示号码使用 voucher ledger reverse",
    "{} can't be the number of what reversed {}: the ledger knows it as that of a voucher; nothing was changed. Ask the carrier for the"
    " red voucher's number, or leave it out": "{0} 不能是红冲 {1} 的号码：台账中它是一张凭证的号码；未作任何更改。请向承运人询问红字凭证的号码，或不填写",
    "reverses {} under the number {}, under which a voucher is listed, too; nothing was changed. Ask the carrier": "以号码 {1} 红冲 {0}，但该号码也列为一张凭证的号码；未作任何更改。请向承运人查询",
    "lists a voucher under {}, which is recorded as the number of what reversed {} ({}); it settles nothing. Ask the carrier; if {} is the"
    " mistake: voucher ledger withdraw {}": "所列凭证的号码 {0} 已记录为红冲 {1} 的号码（{2}）；不据以认定任何结果。请向承运人查询；如 {3} 有误：voucher ledger withdraw {4}",
    "reverses {}, on which ticket {} is not; nothing was changed. Ask the carrier": "红冲 {0}，但其中没有客票 {1}；未作任何更改。请向承运人查询",
    "reverses {}, and that reversal was withdrawn ({}); nothing was changed. If the carrier has reversed it after all: voucher"
    " ledger reverse": "红冲 {0}，但该红冲记录已被撤回（{1}）；未作任何更改。如承运人确已红冲，请使用 voucher ledger reverse",
    "reverses only {} of the {} charges of {}; nothing was changed. If the carrier has reversed all of it: voucher ledger reverse": "仅红冲 {2} 的 {1} 项费用中的 {0} 项；未作任何更改。如承运人已全部红冲，请使用 voucher ledger reverse",
    "the statement has a line about ticket {} that can't be read; correct the statement first": "账单中有一行涉及客票 {0} 但无法读取；请先更正账单",
    "“{}” is not a voucher's number; enter it as the carrier has it": "“{0}”不是凭证号码；请按承运人所示填写",
    # --- answers ---
    "“{}” is no answer; enter “issued” or “not issued”": "“{0}”不是有效答复；请填写“issued”或“not issued”",
    "request {}, attempt {}: there is no such attempt in this ledger": "请求 {0} 第 {1} 次：本台账中没有该次申请",
    "request {}, attempt {} is not unknown any more: it is {}; the answer changes nothing": "请求 {0} 第 {1} 次已不再是结果未知：现为 {2}；该答复不改变任何内容",
    "says issued, and the voucher's number is missing; enter it in the column number": "称已开具，但缺少凭证号码；请填写凭证号码列",
    "says not issued, and gives a number ({}); clear one of them": "称未开具，却填写了号码（{0}）；请清除其一",
    "{} missing: say who found out, and how": "缺少{0}：请说明由谁、如何查明",
    "resolved_by and evidence": "处理人和依据",
    "resolved_by": "处理人",
    "evidence": "依据",
    # --- evidence, as it is recorded ---
    "{}, {}, row {}": "{0}，{1} 第 {2} 行",
    "{}, {}, row {} (run {})": "{0}，{1} 第 {2} 行（第 {3} 次运行）",
    "{} unknown outcomes are not on the statements, and that proves nothing: {}": "{0} 个未知结果未列于账单，但不能证明未开具：{1}",
    "the profile does not say how long after a request the carrier's statement lists it; set settle_after_hours under [reconcile]": "配置未说明承运人账单在请求后多久列出；请在 [reconcile] 下设置 settle_after_hours",
    "they list nothing": "账单未列出任何内容",
    "{} does not say when it was made; say it with --statement-made": "{0} 未说明生成时间；请用 --statement-made 说明",
    "there are sheets that were not read: {}": "未读取：{0}",
    "they list vouchers of another kind (not {})": "账单所列为另一种凭证（不是{0}）",
    "an answer about it lacks something; complete the answer first": "对该请求的答复不完整；请先补全",
    "{} lines that may be about it can't be read": "有 {0} 行可能涉及该请求但无法读取",
    "a clock that is known to have been wrong wrote when it was sent": "其发送时间由已知有误的时钟写入",
    "nobody says that they are complete for this kind ({})": "无人说明账单对该种凭证（{0}）完整",
    "it must have begun an hour after {}, and ended {} hours before {} and before the statement was made ({} UTC)": "请求须在 {0} 一小时之后开始，并在 {2} 以及账单生成时间（{3} UTC）之前至少 {1} 小时结束",
    "they lack others of that kind ({})": "账单缺少其他该类凭证（{0}）",
    "they must list at least {} others of that kind ({}) that this ledger issued in those days, one of them before it and one after"
    " it; they list {} ({} before, {} after)": "账单须列出本台账在该期间开具的至少 {0} 个其他该类（{1}）请求，其前、其后各至少一个；现列出 {2} 个（其前 {3} 个，其后 {4} 个）",
    "they list no other that is like it ({}) and that this ledger issued {} it, so that they may leave such out": "账单未列出本台账在其{1}开具的同类请求（{0}），可能略去了此类",
    "they list no other that this ledger issued in those days and whose {} is higher, nor others of the same before and after it, so"
    " that they may be cut off or filtered there; ask the carrier, and answer on the sheet Unknown": "账单未列出本台账在该期间开具的、{0}更高的其他请求，也未在其前后均列出{0}相同的请求，账单可能在此处截断或经过筛选；请询问承运人，并在 Unknown 工作表中答复",
    "they list no other that this ledger issued in those days and whose {} is lower, nor others of the same before and after it, so"
    " that they may be cut off or filtered there; ask the carrier, and answer on the sheet Unknown": "账单未列出本台账在该期间开具的、{0}更低的其他请求，也未在其前后均列出{0}相同的请求，账单可能在此处截断或经过筛选；请询问承运人，并在 Unknown 工作表中答复",
    "ticket number": "票号",
    "total amount": "合计金额",
    "before": "前",
    "after": "后",
    "they list a voucher of ticket {} ({}) that is none of those known here": "账单列有客票 {0} 的凭证（{1}），与此处已知的凭证均不相符",
    "not on the carrier's statement {}, which {} says is complete for {}, and which lists {} others of that kind": "未列于承运人账单 {0}；{1} 称该账单在 {2} 期间完整，且其列出另外 {3} 个该类请求",
    "The statement has no dates, so what is missing on it can't be told; say --month or --statement-complete": "账单没有日期，无法判断缺少哪些内容；请指定 --month 或 --statement-complete",
}  # fmt: skip
