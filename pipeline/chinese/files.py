"""What was seen in a file that is not read: the details within the lines of workbooks.py."""

FILES = {
    # --- what it is instead -------------------------------------------------------------------------
    "a PDF document": "PDF 文档",
    "a text document": "文字文档",
    "a presentation": "演示文稿",
    "a picture": "图片",
    "an archive": "压缩包",
    "a SYLK file": "SYLK 文件",
    "a database": "数据库",
    "an Excel file from before 1997": "1997 年以前的 Excel 文件",
    "an “XML Spreadsheet 2003”": "“XML 表格 2003”文件",
    # --- damaged ------------------------------------------------------------------------------------
    "it is cut off, or its parts do not fit together": "文件不完整，或各部分不相符",
    "it holds {} parts": "内含 {0} 个部分",
    "it holds two parts of one name": "内含两个同名部分",
    "a part of it unpacks to more than it declares": "有一部分展开后大于其声明的大小",
    "a part of it is packed in a way that spreadsheet programs do not use": "有一部分的压缩方式不是表格程序所用的",
    "a row of it is repeated beyond all bounds": "有一行的重复次数超出限度",
    "the workbook reader stumbled over it": "读取时出错",
    "the reader ended with {}": "读取中断，代码 {0}",
    "its text breaks off at byte {}": "文本在第 {0} 字节处中断",
    "it holds NUL bytes": "内含空字节",
    "line {}: {}": "第 {0} 行：{1}",
    "a cell of it is in row {}, column {}": "有单元格位于第 {0} 行第 {1} 列",
    "its XML is not UTF-8": "内部的 XML 不是 UTF-8 编码",
    "its list of sheets: {}": "工作表清单：{0}",
    "a sheet of it: {}": "其中一张工作表：{0}",
    "a cell of it is called {}": "有单元格的名称为 {0}",
    # --- too large ----------------------------------------------------------------------------------
    "it has {} bytes": "共 {0} 字节",
    "it takes more memory than the reader may have": "所需内存超出读取限度",
    "it took longer than {} seconds": "读取超过 {0} 秒",
    "its part {} is larger than any program writes it": "其中的 {0} 大于任何程序写入的大小",
    "{} bytes unpack to {} or more": "{0} 字节展开后达 {1} 字节以上",
    "its sheets span {} cells": "各工作表共跨 {0} 个单元格",
    "sheet {} spans {} cells": "工作表“{0}”跨 {1} 个单元格",
    "sheet {} reaches to row {} and column {} for {} filled cells": "工作表“{0}”有 {3} 个单元格有内容，却延伸到第 {1} 行第 {2} 列",
    "one cell with {} is repeated {} times": "一个含 {0} 的单元格重复 {1} 次",
    "it holds more than {} cells": "单元格超过 {0} 个",
    # --- an encoding that can't be told -------------------------------------------------------------
    "byte {}": "第 {0} 字节",
}  # fmt: skip
