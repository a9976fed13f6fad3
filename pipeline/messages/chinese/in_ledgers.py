"""Lines about the ledger: why it can't be used, and what puts that right."""

LEDGERS = {
    "If it is damaged, restore its backup; what was issued since is not in that, so nothing is sent until it was compared with"
    " the carrier's statement (README, The ledger)": "如已损坏，请恢复其备份；备份中没有此后开具的内容，因此在与承运人账单核对之前不会发送任何内容（见 README 的 The ledger 一节）",
    "This ledger may lack what was issued after {} ({}): nothing is sent until voucher ledger close-gap": "此台账可能缺少 {0} 之后开具的内容（{1}）：在 voucher ledger close-gap 之前不会发送任何内容",
    "this ledger may lack what was issued after {} ({})": "此台账可能缺少 {0} 之后开具的内容（{1}）",
    "the ledger can't be read or written ({}); free disk space or mend the disk, then run again": "台账无法读写（{0}）；请腾出空间或修复磁盘后再运行",
    "Taken in from the spill file of an earlier run: {} outcomes": "已从此前运行的备用文件取回 {0} 个结果",
    "An earlier run was killed after the carrier answered: {} answers read from the ledger": "此前一次运行在承运人答复后被强行终止：已从台账读取 {0} 个答复",
    "An earlier run was killed while sending: {} requests are now unknown and wait for evidence": "此前一次运行在发送时被强行终止：{0} 个请求结果未知，等待证据",
    "{}{}: nothing is sent until voucher ledger close-gap": "{0}{1}：在 voucher ledger close-gap 之前不会发送任何内容",
    "{}: {}, so that the {} requests of this run may be issued already; nothing was sent. Compare it with the carrier's complete"
    " statement from then on, then say what that showed: voucher ledger close-gap": "{0}：{1}，因此本次的 {2} 个请求可能已经开具；未发送任何内容。请与承运人自该时起的完整账单核对，再用 voucher ledger close-gap 说明核对结果",
    "lies on a file system ({}) whose locks and syncs are not known to hold, as a network's do not, and vouchers could be issued twice;"
    " put the ledger on a local disk (ext4, xfs, btrfs, zfs) and name it with --ledger": "位于文件系统 {0}，其锁定和同步是否可靠未知（如网络文件系统便不可靠），可能重复开具；请将台账放在本地磁盘（ext4、xfs、btrfs、zfs），并以 --ledger 指明",
    "is mounted by itself (a bind mount of the file alone), so that the files which belong beside it lie elsewhere; mount the folder"
    " that it lies in, and name the ledger there": "该文件被单独挂载，属于它旁边的文件因而在别处；请挂载它所在的文件夹，并指明其中的台账",
    "another command has been reading this ledger for a minute (ledger check, ledger backup, or a program of somebody's own); let"
    " it end, or end it, then run the same command again": "另一命令读取此台账已达一分钟（ledger check、ledger backup 或其他程序）；请待其结束或将其结束，再运行同一命令",
    "another run is using this ledger; wait until it ends, then run again": "另一次运行正在使用此台账；请待其结束后再运行",
    "its last run did not end; before the ledger moves, let a run with the old address put it in order (voucher issue with any"
    " workbook)": "上次运行未正常结束；台账迁移之前，请先用原地址运行一次（voucher issue 加任一工作簿）进行整理",
    "the new address has a ledger already, so that there are two memories of what was issued; only one of them may be used. Name"
    " the one to be moved with --ledger, under another name": "新地址已有台账，已开具内容便有两份记录，只能使用其中一份。请以 --ledger 指明要迁移的台账，并另取名称",
    "The ledger was upgraded from version {} to {}; as it was before: {}": "台账已从版本 {0} 升级到 {1}；升级前的副本：{2}",
    "--ledger is empty; name the ledger's file, or leave the option out": "--ledger 为空；请指明台账文件，或省略该选项",
    "--ledger {}://…: only a file (a path or sqlite:///PATH) can be used": "--ledger {0}://…：只能使用文件（路径或 sqlite:///PATH）",
    "the ledger's version is {}, this program's {}; update the program": "台账版本为 {0}，本程序为 {1}；请更新程序",
    "the ledger's rules were changed ({}), so it can't be trusted to keep anything from being issued twice. {}": "台账的规则已被改动（{0}），无法保证不重复开具。{1}",
    "this ledger belongs to {}, not to {}; use that carrier's profile, or another --ledger. If the carrier itself has moved:"
    " voucher ledger move-carrier": "此台账属于 {0}，不属于 {1}；请使用该承运人的配置，或另一个 --ledger。若承运人更换了地址：voucher ledger move-carrier",
    "this is a sandbox's ledger, in which nothing was issued by a real carrier: add --sandbox, or name your own ledger with --ledger": "这是沙箱的台账，其中没有任何内容由真实承运人开具：请加 --sandbox，或以 --ledger 指明您自己的台账",
    "this is the ledger of {}, a real carrier, and not to be used for a sandbox: leave out --sandbox, or --ledger": "这是真实承运人（{0}）的台账，不能用于沙箱：请去掉 --sandbox，或去掉 --ledger",
    "This user has no home folder for a ledger; name one with --ledger": "此用户没有存放台账的主目录；请以 --ledger 指明",
    "is not a ledger{}; check --ledger": "不是台账{0}；请检查 --ledger",
    "is not a ledger, or is damaged; check --ledger. {}": "不是台账，或已损坏；请检查 --ledger。{0}",
    "the ledger is damaged ({}). {}": "台账已损坏（{0}）。{1}",
    "the ledger can't be opened ({}); check the disk and permissions": "台账无法打开（{0}）；请检查磁盘和权限",
    "is a folder; name the ledger's file in it with --ledger": "是文件夹；请以 --ledger 指明其中的台账文件",
    "the ledger can't be read ({}); check the path": "台账无法读取（{0}）；请检查路径",
    "there is no ledger; name one with --ledger": "没有台账；请以 --ledger 指明",
    "there is no ledger, though one is expected: without its memory everything would be issued again. Find it, or restore it from"
    " its backup; if the carrier has a new address: voucher ledger move-carrier with the old ledger; for the very first run with"
    " this carrier say --new-ledger": "应有台账而没有找到：没有其记录，一切都会重复开具。请找回台账或从备份恢复；若承运人更换了地址：对原台账使用 voucher ledger move-carrier；若是首次对此承运人运行，请加 --new-ledger",
    "there is no ledger, but {} may be of the same carrier ({}), and a second one would issue again what that one holds. Name it with"
    " --ledger; if the carrier has another address now: voucher ledger move-carrier --ledger with it; for another carrier, or a trial:"
    " --new-ledger": "没有台账，但 {0} 可能属于同一承运人（{1}），另建台账会重复开具其中的内容。请以 --ledger 指明该台账；若承运人现在的地址不同：对该台账使用 voucher ledger move-carrier --ledger；若是另一承运人或试用：--new-ledger",
    "holds the outcome of attempt {}, which does not fit this ledger: the ledger is older, or another has its name. Put the right"
    " one back; if it is lost for good: voucher ledger mark-gap": "其中第 {0} 次尝试的结果与此台账不符：台账较旧，或是另一个同名台账。请放回正确的台账；若已无法找回：voucher ledger mark-gap",
    "this spill file is of another ledger; put it back beside its own": "此备用文件属于另一个台账；请放回其台账旁边",
    "no room to keep outcomes safe ({}); free some disk space and run again": "没有空间安全保存结果（{0}）；请腾出磁盘空间后再运行",
    "the ledger has a second name (a hard link); delete the other name, then run again": "台账还有另一个文件名（硬链接）；请删除另一个名称后再运行",
    "there is no ledger, though one had this name (its last run began {}): without its memory everything would be issued again. Put"
    " it back, or restore its backup. To begin a new one all the same, which is right for trials alone: delete {}.lock": "没有台账，而此前有同名台账（上次运行始于 {0}）：没有其记录，一切都会重复开具。请放回台账或恢复备份。若仍要新建（仅限试用）：请删除 {1}.lock",
    "does not know the last run on this ledger (begun {}), or what was recorded after it: it is another one, or an older copy, and what"
    " was issued since would be issued again. Put the right one back. {}": "不含此台账的上次运行（始于 {0}）或其后的记录：它是另一个台账或较旧的副本，此后开具的内容会重复开具。请放回正确的台账。{1}",
    "{} beside it was written by a run (begun {}) on another ledger, or a later state of this one. Put the right one back. {}": "旁边的 {0} 由一次运行（始于 {1}）写成，该运行属于另一个台账或此台账的较新状态。请放回正确的台账。{2}",
    "the last run on this ledger did not end, and {}, which holds what that run issued, is not beside it (or is empty): without it"
    " everything would be issued again. Put it back under that name. {}, also where another program has opened the ledger since, which"
    " takes that file away": "此台账的上次运行未正常结束，而保存其开具内容的 {0} 不在旁边（或为空）：缺少它会重复开具。请以该名称放回。{1}；若此后有其他程序打开过台账而使该文件消失，也照此办理",
    "is a copy made while a run was on, which has ended since: what it issued after that would be issued again. Put the right one"
    " back. {}": "是运行期间所作的副本，而该运行已经结束：此后开具的内容会重复开具。请放回正确的台账。{0}",
    "{} beside it is not its own: everything was in the ledger's own file. Another program has written to the ledger, or an old {} was"
    " put back. Close that program, or keep {} elsewhere, then run again": "旁边的 {0} 不属于此台账：全部内容都在台账文件本身。有其他程序写过此台账，或放回了旧的 {1}。请关闭该程序，或将 {2} 另行保存，然后重新运行",
    "was put back from an earlier time: it does not know a run that {} notes (begun {}), its end, or what was recorded after"
    " it, and what was issued since would be issued again. Put the right one back, with the files beside it. If it is lost for good: voucher ledger mark-gap": "是较早时间的状态：{0} 记有一次运行（始于 {1}），此台账不含该运行、其结束或其后的记录，此后开具的内容会重复开具。请放回正确的台账及其旁边的文件。若已无法找回：voucher ledger mark-gap",
    "its last run is not noted beside it ({}.lock), so that it may be an older copy, put here from elsewhere, and what was issued"
    " since would be issued again. Put it back with the files that were beside it. If this is its latest state, and nothing is missing:"
    " voucher ledger mark-gap --nothing-missing; else: voucher ledger mark-gap": "旁边没有其上次运行的记录（{0}.lock），因此可能是从别处放来的较旧副本，此后开具的内容会重复开具。请连同原来旁边的文件一起放回。若这就是最新状态且没有缺少内容：voucher ledger mark-gap --nothing-missing；否则：voucher ledger mark-gap",
    "its last run is not noted on this machine for this user ({}): it may be a copy of one in use elsewhere. Run it where it was run last"
    " (same user, same VOUCHER_WITNESS). If it was moved here, and nothing is missing: voucher ledger mark-gap --nothing-missing; else:"
    " voucher ledger mark-gap": "这台机器上此用户没有其上次运行的记录（{0}）：它可能是别处正在使用的台账的副本。请在上次运行的地方运行（同一用户、相同的 VOUCHER_WITNESS）。若它已移到这里且没有缺少内容：voucher ledger mark-gap --nothing-missing；否则：voucher ledger mark-gap",
    "there is no folder {}; make it, or mount its disk, then run again": "没有文件夹 {0}；请创建该文件夹或挂载其磁盘，然后重新运行",
    "This user has no home folder to note a ledger's last run in; name a folder for that with the environment variable"
    " VOUCHER_WITNESS": "此用户没有主目录可记录台账的上次运行；请用环境变量 VOUCHER_WITNESS 指明一个文件夹",
    "this note of the ledger's last run can't be written ({}), and without it nothing is sent; make its folder writable, or name"
    " another (VOUCHER_WITNESS, XDG_STATE_HOME), then run again": "无法写入台账上次运行的记录（{0}），没有它不会发送任何内容；请使其文件夹可写，或另行指定（VOUCHER_WITNESS、XDG_STATE_HOME），然后重新运行",
    "this note of the ledger's last run can't be read ({}), so that the ledger may be an older copy; mend the disk or permissions."
    " If the note is damaged: voucher ledger mark-gap": "无法读取台账上次运行的记录（{0}），因此台账可能是较旧的副本；请修复磁盘或权限。若该记录已损坏：voucher ledger mark-gap",
    "it is damaged": "已损坏",
    "it is a copy made before an upgrade": "它是升级前所作的副本",
    "it is a backup of what may be an older copy": "它是可能较旧的副本的备份",
    "its last run was not noted beside it, or on this machine": "旁边或这台机器上没有其上次运行的记录",
    "has a gap, which only the carrier's statement can close: voucher ledger close-gap": "有缺口，只能凭承运人账单关闭：voucher ledger close-gap",
    "its last run is noted beside it and on this machine, so that there is nothing to say": "旁边和这台机器上都有其上次运行的记录，无须说明",
    "may be used for sending again; recorded: nothing is missing ({})": "可以重新用于发送；已记录：没有缺少内容（{0}）",
    "nothing is missing: {}": "没有缺少内容：{0}",
    "--since says what is missing, --nothing-missing that nothing is": "--since 说明缺少什么，--nothing-missing 说明没有缺少",
    "If it is lost for good: voucher ledger mark-gap": "若已无法找回：voucher ledger mark-gap",
    "If it is lost for good: keep {} elsewhere, then voucher ledger mark-gap": "若已无法找回：将 {0} 另行保存，再使用 voucher ledger mark-gap",
    "is an empty file; check --ledger. {}": "是空文件；请检查 --ledger。{0}",
    "Waiting for another command that reads the ledger; a minute at most": "另一命令正在读取台账，请稍候（最多一分钟）",
    "there is no ledger, but {}, which belongs to one, is there: put the ledger back beside it. If it is lost for good, keep that"
    " file elsewhere for comparing with the carrier's statement": "没有台账，但有属于台账的 {0}：请将台账放回其旁边。若台账已无法找回，请将该文件另行保存，以便与承运人账单核对",
    "attempt {} is not in the ledger any more, or has ended there: another program has changed the ledger during this run. Keep this"
    " run's result workbook, and look the ledger over: voucher ledger check": "第 {0} 次尝试已不在台账中，或在其中已结束：运行期间有其他程序改动了台账。请保留本次结果工作簿，并检查台账：voucher ledger check",
    "is not a ticket number of 13 digits; enter them as on the ticket": "不是 13 位票号；请按客票填写",
    "Export: {}": "已导出：{0}",
    "the export is an Excel workbook; give it a name that ends in .xlsx": "导出文件为 Excel 工作簿；名称须以 .xlsx 结尾",
    "can't be written ({}); choose a folder that exists and has room": "无法写入（{0}）；请选择存在且有空间的文件夹",
    "the ledger refused a change: {}": "台账拒绝更改：{0}",
    # --- voucher ledger check -----------------------------------------------------------------------
    "Carrier: {} as agency {}; version {}; runs: {}": "承运人：{0}（代理人 {1}）；版本 {2}；运行 {3} 次",
    "Attempts: none": "开具尝试：无",
    "Attempts: {}": "开具尝试：{0}",
    "A run that began at {} is on, or was killed; the next run puts it in order": "始于 {0} 的运行仍在进行，或已被强行终止；下次运行会予以整理",
    "Outcomes that the ledger could not take wait in {}.spill; the next run takes them in": "台账未能写入的结果保存在 {0}.spill 中；下次运行会取回",
    "Gap: it may lack what was issued after {} ({}); nothing is sent until voucher ledger close-gap": "缺口：可能缺少 {0} 之后开具的内容（{1}）；在 voucher ledger close-gap 之前不会发送任何内容",
    "Sound: nothing is wrong with it": "完好：没有发现问题",
    "Sound but for what it may lack": "除可能缺少的内容外完好",
    "WRONG: {}": "有误：{0}",
    "Send nothing with it. Restore its backup, and settle what was issued since (README, The ledger)": "请勿用其发送。请恢复备份，并核清此后开具的内容（见 README 的 The ledger 一节）",
    "the file is damaged: {}": "文件已损坏：{0}",
    "the ledger's rules were changed: {}": "台账的规则已被改动：{0}",
    "{} {} refers to a {} that is not there": "{0} {1} 所指的 {2} 不存在",
    "a charge that is held, or not held, against the state of its attempt: {}": "费用的占用状态与其尝试不符：{0}",
    "a charge in two live attempts: {}": "同一费用有两次有效的尝试：{0}",
    "a ticket with both kinds of voucher for its fare and refund: {}": "同一客票的机票款与退票费开具了两种凭证：{0}",
    "a number that two requests have: {}": "两个请求有同一号码：{0}",
    "an attempt at nothing: {}": "不含任何费用的尝试：{0}",
    "an attempt whose charges are not its request's total: {}": "费用之和与请求总额不符的尝试：{0}",
    "an attempt that ended without a time: {}": "已结束而没有时间的尝试：{0}",
    "a settlement that its attempt does not follow: {}": "核定结果与其尝试不符：{0}",
    "a doubt that is not remembered: {}": "未记录的未知结果：{0}",
    "a withdrawn settlement that its attempt still follows: {}": "核定结果已撤回，而其尝试仍以此为准：{0}",
    "an entry marked as withdrawn, or not, against what is recorded: {}": "条目的撤回标记与记录不符：{0}",
    "what a statement showed that is held, or not held, against what is recorded: {}": "账单所列费用的占用状态与记录不符：{0}",
    "a reversal of what is not issued: {}": "被红冲的凭证并未开具：{0}",
    "an attempt of an epoch that is not there: {}": "尝试所属的台账时期不存在：{0}",
    "a charge that was sent though a statement had shown it as issued elsewhere: {}": "账单已列为他处开具、却仍被发送的费用：{0}",
    # --- voucher ledger backup, move-carrier, mark-gap, close-gap -----------------------------------
    "Backup: {}": "备份：{0}",
    "exists already and is left as it is; choose another name, or a folder": "已经存在，保持不变；请另取名称，或指定文件夹",
    "belongs to {} and is to belong to {}": "现属于 {0}，将改属 {1}",
    "{}. Move it?": "{0}。是否迁移？",
    "belonged to {} and belongs to {} from now on": "原属于 {0}，从现在起属于 {1}",
    "Nothing was changed.": "未作任何更改。",
    "belongs to {} already; name the new address in the profile (base_url)": "已属于 {0}；请在配置中写明新地址（base_url）",
    "is the ledger of a trial ({}): what it holds was never issued by a real carrier, and would never be; begin a ledger of its own"
    " for the carrier with --new-ledger": "是试用台账（{0}）：其中内容从未由真实承运人开具，以后也不会开具；请用 --new-ledger 为承运人另建台账",
    "is the ledger of a real carrier ({}) and is not to be used for trials ({}), which would mark real charges as issued; check the"
    " profile (base_url), and give the trial a --ledger of its own": "是真实承运人（{0}）的台账，不能用于试用（{1}），否则真实费用会被记为已开具；请检查配置（base_url），并用 --ledger 为试用另指定台账",
    "--since is missing: from when on may the ledger lack what was issued?": "缺少 --since：台账可能从何时起缺少已开具的内容？",
    "--since {}: is not a day on which this ledger was used; check the year": "--since {0}：不是使用过此台账的日期；请检查年份",
    "nothing is sent until the time from {} on is settled (voucher ledger close-gap)": "自 {0} 起的内容核清之前不会发送任何内容（voucher ledger close-gap）",
    "{}; what was in its spill file is kept in {} for comparing": "{0}；备用文件的内容保存在 {1}，以便核对",
    "has no gap to close": "没有需要关闭的缺口",
    "voucher reconcile could not read all of {}, and what it did not read is not held and would be issued again; correct the"
    " statement, and give it to voucher reconcile again under its name": "对账未能读取 {0} 的全部内容，未读取的部分没有占用，会重复开具；请更正账单，并以原文件名再次用于对账",
    "voucher reconcile was given no statement since the gap was found that was made after {}; what the ledger lacks would be issued"
    " again. Give it the carrier's complete statement from then on: voucher reconcile --statement FILE": "自发现缺口以来，对账未收到在 {0} 之后生成的账单；台账所缺的内容会重复开具。请用承运人自该时起的完整账单（--statement）对账",
    "{}, and nothing was changed; to close it all the same, say --yes": "{0}，未作任何更改；如仍要关闭，请加 --yes",
    "has a gap": "有缺口",
    "{}. Close it?": "{0}。是否关闭？",
    "{}; charges held since as a statement showed them: {}": "{0}；此后依据账单占用的费用：{1} 项",
    "may be used for sending again; settled: {}": "可以重新用于发送；已核清：{0}",
    "what was issued after {} ({})": "{0} 之后开具的内容（{1}）",
    "it is a backup": "它是备份",
    # --- voucher ledger withdraw, reverse -----------------------------------------------------------
    "{}: {} is withdrawn and counts no more": "{0}：{1} 已撤回，不再作数",
    "request {}, {}: is unknown again, and its charges are held until other evidence settles it": "请求 {0} 第 {1} 次：重新成为结果未知，其费用保持占用，直至有其他依据予以核定",
    "request {}: is unknown again, and its charges are held until other evidence settles it": "请求 {0}：重新成为结果未知，其费用保持占用，直至有其他依据予以核定",
    "what a statement showed under {}: holds its charge no more": "账单以号码 {0} 列出的内容：不再占用其费用",
    "{}: counts as issued again, and its charges are held": "{0}：重新视为已开具，其费用保持占用",
    "{}: {} is recorded as reversed ({}); its {} charges may be issued again": "{0}：已记录 {1} 被红冲（{2}）；其 {3} 项费用可以重新开具",
    "Tickets: {}": "客票：{0}",
    "{}: is not the name of an entry; voucher history shows them, such as S12 or E7": "{0}：不是条目名称；voucher history 会显示条目，如 S12 或 E7",
    "{}: there is no such entry in this ledger; voucher history shows them": "{0}：本台账中没有该条目；voucher history 会显示条目",
    "{}: is withdrawn already; nothing was changed": "{0}：已经撤回；未作任何更改",
    "{}: says that request {}, attempt {} was issued as {}, which the carrier has reversed since ({}), so it was issued; nothing was"
    " changed. If the reversal is the mistake, withdraw {}": "{0}：认定请求 {1} 第 {2} 次已开具，号码 {3}，而承运人此后已将其红冲（{4}），说明确已开具；未作任何更改。如红冲记录有误，请撤回 {5}",
    "{}: ticket {} is held by another attempt, request {}, attempt {} ({}), so that this one can't hold it again; nothing was changed."
    " {}": "{0}：客票 {1} 由另一次申请（请求 {2} 第 {3} 次）占用（{4}），本次申请不能再占用；未作任何更改。{5}",
    "If the carrier has issued both, have {} reversed and record that (voucher ledger reverse {}), then withdraw {}": "如承运人两次都已开具，请让其红冲 {0} 并予以记录（voucher ledger reverse {1}），再撤回 {2}",
    "Settle that attempt first (voucher reconcile, with the carrier's statement); if it was not issued, withdraw {} then": "请先核定该次尝试（voucher reconcile，并附承运人账单）；如其未开具，再撤回 {0}",
    "{}: its reversal is recorded already ({}); nothing was changed": "{0}：其红冲已有记录（{1}）；未作任何更改",
    "{}: no voucher of this number is held as issued, so there is nothing to let go; check the number (voucher history, voucher"
    " ledger export)": "{0}：没有以该号码登记为已开具的凭证，无可释放的费用；请核对号码（voucher history、voucher ledger export）",
    "{}: is the number of an invoice and of an itinerary; say which with --voucher": "{0}：既是发票号码又是行程单号码；请用 --voucher 说明是哪一种",
}  # fmt: skip
