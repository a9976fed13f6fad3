"""Lines about workbooks, their sheets, headings and cells; a team's mapping of headings."""

WORKBOOKS = {
    "{}, sheet {}, cell {}": "{0}，工作表“{1}”，单元格 {2}",
    "{}, sheet {}, row {}": "{0}，工作表“{1}”第 {2} 行",
    "{}, {}, row {}": "{0}，{1} 第 {2} 行",
    "{}, {}, row {} (run {})": "{0}，{1} 第 {2} 行（第 {3} 次运行）",
    "{}: can't be read ({}); check its permissions": "{0}：无法读取（{1}）；请检查其权限",
    "This machine's clock says {} UTC, and the ledger's last entry is of {} UTC; nothing was changed. Set the clock right, or say"
    " --clock-is-right if that entry was made by a wrong one": "本机时钟为 {0} UTC，而台账最后一条记录的时间为 {1} UTC；未作任何更改。请校正时钟；如该记录是由错误的时钟写入，请加 --clock-is-right",
}  # fmt: skip
