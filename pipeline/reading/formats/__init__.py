"""What a file is, told by its content, and its sheets as plain cells. Everything here runs in the child process.

`kinds` tells what a file is, `text` reads separated values, `spreadsheets` all that a spreadsheet program
saves. Before cells are taken out of a workbook, `package` bounds what its ZIP members unpack to, and `xlsx`,
`xlsb`, `xls` and `ods` look through each sheet: how far it reaches, and which cells hold no value. python-calamine takes the cells
out, xlrd those of an .xls; `repackaging` writes a sound workbook that the former can't read anew, and one with cells far from all
others (`far`). `columns` holds what is
handed over; an .xlsx is laid out while it is looked through (`laying`).
"""
