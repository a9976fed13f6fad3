"""Lines about workbooks, their sheets, headings and cells; a team's mapping of headings."""

WORKBOOKS = {
    # --- files and folders --------------------------------------------------------------------------
    "is empty; there is nothing to read": "是空的，没有可读取的内容",
    "can't be read ({}); check the path and its permissions": "无法读取（{0}）；请检查路径和权限",
    # --- sheets and headings ------------------------------------------------------------------------
    "{}: sheet {} is hidden and was not read, though {} of its rows hold ticket numbers; show it if they are to be issued":
        "{0}：工作表“{1}”已隐藏，未读取，但其中有 {2} 行含票号；如需开具，请取消隐藏该工作表",
    "{}, sheet {}: hidden or filtered out in the file, and read all the same: {} of {} rows":
        "{0}，工作表“{1}”：{3} 行中有 {2} 行在文件中被隐藏或筛选掉，仍照常读取",
    "{}, sheet {}: cells far from all others were not read ({}); see that they are no part of the tickets":
        "{0}，工作表“{1}”：远离其他内容的单元格未读取（{2}）；请确认它们不属于客票数据",
    "{}: sheet {} is hidden and was not read": "{0}：工作表“{1}”已隐藏，未读取",
    "{}: sheet {} has no headings of tickets or buyers and was not read": "{0}：工作表“{1}”没有客票或购买方的表头，未读取",
    "sheet {} was not read: of an earlier result only Failures and buyers are": "工作表“{0}”未读取：此前的结果工作簿只读取 Failures 表和购买方",
    "{} total, heading or footer rows left out": "略过 {0} 行合计、重复表头或表尾（制表人、备注等）",
    "what it holds stands on hidden sheets alone ({}); show the one with the tickets": "有内容的工作表均已隐藏（{0}）；请显示客票所在的工作表",
    "holds buyers but no tickets; give it as --buyers {}": "只有购买方而没有客票；请以 --buyers {0} 提供",
    "its Failures sheet holds no rows; there is nothing to issue again": "Failures 表中没有数据，无需再次开具",
    "has headings but no rows below them (sheets: {}); add the tickets": "表头下没有数据（工作表：{0}）；请填写客票",
    "there is no such buyers file; check the path": "没有此购买方文件；请检查路径",
    "holds no buyers; it needs the headings buyer and header_name and a row below them": "没有购买方；须有“购买方”和“抬头名称”表头，且其下有数据",
    "{} “{}” may mean {}; give each a column of its own, or say in --columns which is meant": "{0}“{1}”可能指 {2}；请各设一列，或在 --columns 中说明",
    "no sheet has the headings of tickets (ticket_no 票号 and others){}. `voucher template` writes a workbook with the headings; a team's own headings are explained"
    " with --columns": "没有工作表含有客票表头（票号等）{0}。可用 voucher template 生成带表头的工作簿；团队自己的表头用 --columns 说明",
    "{} “{}” says that its amounts are not in the currency's main unit; enter them in the main unit (元), and name the column so": "{0}“{1}”表明金额不是以元为单位；请以元填写，并相应修改表头",
    "{} “{}” and {} “{}” both mean {}; {}": "{0}“{1}”与 {2}“{3}”都表示{4}；{5}",
    "rename or delete one of them": "请改名或删除其中一列",
    "rename or delete one of them, or say in --columns which of them is meant": "请改名或删除其中一列，或在 --columns 中说明以哪一列为准",
    "; known of the first row is: {}": "；首行中可识别的有：{0}",
    "{} in {} is not what {} has for its buyer; the row's own is used (rows: {})": "{1} 的{0}与其购买方的信息（{2}）不同；以该行自填的为准（共 {3} 行）",
    "{}, sheet {}, cell {}": "{0}，工作表“{1}”，单元格 {2}",
    "{}, sheet {}, row {}": "{0}，工作表“{1}”第 {2} 行",
    "{}, sheet {}, cell {}: “{}” is not a known heading; did you mean “{}”?": "{0}，工作表“{1}”，单元格 {2}：“{3}”不是已知表头；是否应为“{4}”？",
    "{} “{}” is not a known heading and was not read; did you mean “{}”?": "{0}“{1}”不是已知表头，未读取；是否应为“{2}”？",
    "{} “{}” may mean {} and was not read; name it more exactly": "{0}“{1}”可能指 {2}，未读取；请使用更明确的表头",
    "{} “{}” begins a second table, whose columns are not those above it; put each table on a sheet of its own": "{0}“{1}”开始了另一张表，其列与上方不同；请将每张表放在单独的工作表中",
    "was made from template version {}, and this program knows version {}; update the program if anything is read wrongly": "由模板版本 {0} 填写，而本程序支持到版本 {1}；如读取有误，请更新程序",
    # --- cells filled in, fees not taken ------------------------------------------------------------
    "{} is {} by the sheet's name where its cell is blank ({} rows)": "{0}为空时按工作表名称取“{1}”（{2} 行）",
    "{} stays blank in {} rows, because the order type says another thing than the sheet's name": "{0}在 {1} 行中仍为空，因为订单类型与工作表名称不一致",
    "{}, sheet {}: {} not taken in {}: the row names its charge and is that charge alone; leave the charge blank, or give each charge a row"
    " of its own": "{0}，工作表“{1}”：{3}的{2}未计入：该行已写明费用类型，只表示该项费用；请将费用类型留空，或每项费用单独一行",
    "row {}": "第 {0} 行",
    "{} rows, the first of them row {}": "{0} 行（首行为第 {1} 行）",
    "{} “{}” says that the amounts are in another currency; enter them in the carrier's currency, and take its name out": "{0}“{1}”表明金额是其他币种；请填写承运人币种的金额，并去掉该币种名称",
    "sheet {} has no headings, but {} holds the ticket number {}; put the headings above its rows, or delete or hide the sheet if it is not to be"
    " read": "工作表“{0}”没有表头，而 {1} 中有票号 {2}；请在其数据上方加上表头；如不需读取，请删除或隐藏该工作表",
    "{}:{} is one merged cell, and its amount “{}” may be that of each row or of all together; split the cell and enter each row's own amount":
        "{0}:{1} 是一个合并单元格，其金额“{2}”可能是每行的金额，也可能是各行合计；请拆分该单元格，并填写每行各自的金额",
    # --- amounts that can be read in two ways ---------------------------------------------------------
    "row {} has {} “{}” but no fare: {} “{}” is not a known heading and was not read; call it fare (票价) if it is the fare without"
    " the taxes; if it is the total, call it amount (金额) and leave the columns of taxes out": "第 {0} 行有 {1}“{2}”而没有票价：{3}“{4}”不是已知表头，未读取；如为不含税费的票价，请将表头改为“票价”；如为总额，请改为“金额”并去掉各税费列",
    "row {} has {} “{}” but no fare, and no column is known to hold it; add the column of the fare (票价)": "第 {0} 行有 {1}“{2}”而没有票价，也没有已知的票价列；请补充“票价”列",
    "{} “{}” holds {} in row {} and was not read: it may mean {}, and no total shows what the charge comes to; name it more exactly, or say"
    " in --columns what it is": "{0}“{1}”在第 {3} 行填有 {2}，未读取：它可能指{4}，而该行没有合计金额可供核对；请使用更明确的表头，或在 --columns 中说明",
    "{} “{}” may hold the airport fee and the fuel surcharge of row {}, or come on top of them, and no total shows which; call it other_taxes"
    ' (其他税费) if it comes on top, or leave it out with "{}" = "" in --columns if it holds them': '{0}“{1}”可能已包含第 {2} 行的机建和燃油，也可能是另收，而该行没有合计金额可供核对；如为另收，请将表头改为“其他税费”；如已包含，请在 --columns 中写 "{3}" = "" 不读取该列',
    "{} “{}” says that it holds the taxes, and row {} has taxes beside it, which may be part of it or come on top, and no total shows which;"
    " call it fare (票价) if they come on top; if it holds them, leave the columns of taxes out": "{0}“{1}”表明已含税费，而第 {2} 行又另填税费，可能已含其中，也可能另收，且没有合计金额可供核对；如为另收，请将表头改为“票价”；如已包含，请去掉各税费列",
    # --- a team's own mapping -----------------------------------------------------------------------
    "Columns {}: can't be read ({}); check the path": "列对照文件 {0}：无法读取（{1}）；请检查路径",
    'Columns {}: is not valid TOML: {}; headings and values stand in quotes, as "票面价" = "fare", the file is saved as UTF-8': '列对照文件 {0}：不是有效的 TOML（{1}）；表头和取值须加引号，如 "票面价" = "fare"，文件须保存为 UTF-8',
    "Columns {}: {}": "列对照文件 {0}：{1}",
    "{} is not a known section; known: {}": "{0} 不是已知的一节；可用：{1}",
    "{} must be a section in square brackets: [{}]": "{0} 须为方括号中的一节：[{1}]",
    "{} must be a text in quotes": "{0} 须为引号中的文本",
    "{} must not be empty": "{0} 不能为空",
    '{}.{} must be a section of its own: [{}."{}"]': '{0}.{1} 须单独成节：[{2}."{3}"]',
    "{}.{} says something else than the same word above it; keep one": "{0}.{1} 与上文同一词语的含义不同；请只保留一处",
    "{}: {} can't stand here; what can: {}": "{0}：此处不能使用 {1}；可用：{2}",
    "{}: “{}” is not a column; {}": "{0}：“{1}”不是列名；{2}",
    "did you mean “{}”?": "是否应为“{0}”？",
    "the columns are {}": "列名有 {0}",
    "{}: “{}” is not a value that {} can have; it can have: {}": "{0}：“{1}”不是{2}可用的值；可用：{3}",
}  # fmt: skip
