"""What a run leaves behind for people and programs: the result workbook, the report, the last lines.

All of it is drawn from one `RunResult`; nothing here decides anything about a row.
"""
