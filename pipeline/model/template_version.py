"""The mark of a template: which version of it a filled-in workbook was made from.

It stands on the sheet of instructions, where people and the reader see it, and in the workbook's properties.
"""

from pipeline.model.message import N_

#: Rises when a filled-in template would be read differently from before.
VERSION = "1"
#: The workbook's custom property that holds VERSION.
PROPERTY = "Voucher template version"
#: What stands on the sheet of instructions, in the workbook's language.
STAMP = N_("Template version {version}")
