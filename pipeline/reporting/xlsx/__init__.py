"""Sheets, cells and styles of the workbooks that are written."""
