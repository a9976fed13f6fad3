"""What a file is, told by its content, and its sheets as plain cells. Everything here runs in the child process.

`detect` tells what a file is, `csv_text` reads separated values in one of the `text_encodings`, `zip_workbook` and `workbook` all that a
spreadsheet program saves. Before cells are taken out of a workbook, `zip_package` bounds what its ZIP members unpack to, and
`xlsx_prescan`, `xlsb_prescan`, `xls_prescan` and `ods_prescan` look through each sheet: how far it reaches, and which cells hold no value.
python-calamine takes the cells out (`calamine`), xlrd those of an .xls. `columnar` holds what is handed over.

Of a long .xlsx that is written as usual the cells are taken out by column, while the look goes on (`usual_cells`, `usual_workbook`): a
month of 100,000 rows x 14 columns takes 0.3 s for both, in place of 0.1 s for the look, 0.9 s for laying it out, and what sorting its
cells into columns takes (the least processor seconds of five, 2026-11-29). Those 400 lines pay where a month is long, and are not
loaded where it is not.

What that look costs: the four modules and `prescan`, some 1,200 lines; 0.1 s of a month of 100,000 rows x 14 columns, beside 0.9 s
for its cells (in threads side by side), 4 s where the quick pattern does not fit and every element is looked at (tests/benchmarks/README.md).
python-calamine shows error cells, and formulas whose result was never stored, as blank cells: a component would count as 0.
It would not be needed for them if https://github.com/dimastbk/python-calamine/issues/105 (errors by their names) and
https://github.com/dimastbk/python-calamine/issues/107 (formulas) were resolved; the bound of a sheet's extent would remain.
"""
