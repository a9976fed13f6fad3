"""Lines about workbooks, their sheets, headings and cells; a team's mapping of headings."""

WORKBOOKS = {
    "{}, sheet {}, cell {}": "{0}，工作表“{1}”，单元格 {2}",
    "{}, sheet {}, row {}": "{0}，工作表“{1}”第 {2} 行",
}  # fmt: skip
