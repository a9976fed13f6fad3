"""What a file is, told by its content, and its sheets as plain cells. Everything here runs in the child process.

`detect` tells what a file is, `csv_text` reads separated values, `workbook` all that a spreadsheet program
saves. Before cells are taken out of a workbook, `zip_package` bounds what its ZIP members unpack to, and `xlsx_prescan`,
`xlsb_prescan`, `xls_prescan` and `ods_prescan` look through each sheet: how far it reaches, and which cells hold no value.
python-calamine takes the cells out (`calamine`), xlrd those of an .xls. `columnar` holds what is handed over.
"""
