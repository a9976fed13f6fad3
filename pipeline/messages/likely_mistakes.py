"""Hints: likely mistakes, each with a message and a cure of its own; most of them a cell shows by itself.

A hint goes with the reason code of its column (the code is for programs); for a person it says more
exactly what was seen. Whoever finds a reason names the hint as its fact `hint`.
"""

from pipeline.messages.reasons import Reason
from pipeline.model.message import N_

_TEXT = N_("Enter it as text like 2026-03-05, or as a date.")
_CHECK = N_("Compare it with the buyer's registration, correct it, and run the row again.")

_ALL = (
    # --- any column ---------------------------------------------------------------------------------
    Reason(
        "error_cell",
        N_("{column} shows the spreadsheet's error {seen} in place of a value, so what belongs there is not known."),
        N_("Mend the formula or enter the value itself, save the workbook and run it again."),
    ),
    Reason(
        "no_result",
        N_(
            "{column} holds a formula that nobody has calculated: the file holds no result, or a stand-in for it, so the value is not"
        " known."
        ),
        N_("Open the workbook in Excel (in LibreOffice press Ctrl+Shift+F9 then), save it and run it again; or enter the value itself."),
    ),
    # --- ticket numbers -----------------------------------------------------------------------------
    Reason(
        "lost_zero",
        N_("“{seen}” is not a ticket number of 13 digits. The spreadsheet may have dropped a leading zero of a number."),
        N_("Enter the 13 digits as on the ticket, in a cell formatted as text."),
    ),
    Reason(
        "spoilt_number",
        N_("“{seen}” is not a ticket number of 13 digits. The spreadsheet has turned it into a rounded number."),
        N_("Enter the 13 digits as on the ticket, in a cell formatted as text."),
    ),
    Reason(
        "letters_in_number",
        N_("“{seen}” is not a ticket number: it has letters where digits belong (O for 0, I or l for 1)."),
        N_("Enter the 13 digits as on the ticket."),
    ),
    Reason(
        "no_airline_code",
        N_("“{seen}” has 10 digits: a ticket number without the airline's code of three digits in front, which is not known here."),
        N_(
            "Enter the 13 digits as on the ticket, the airline's code first, in a cell formatted as text; or give the code in a column"
        " ticket_prefix."
        ),
    ),
    Reason(
        "two_airline_codes",
        N_("“{seen}” has two airlines' codes: the first stands in ticket_prefix, and the ticket number begins with another."),
        N_("Correct the one that is wrong."),
    ),
    Reason(
        "marked_as_text",
        N_("“{seen}” has signs around the ticket number that mark it as text in a spreadsheet; in a CSV file they are a part of it."),
        N_("Enter the 13 digits alone, or save the file as .xlsx."),
    ),
    Reason(
        "several_tickets",
        N_("“{seen}” is more than one ticket number; a row is one ticket."),
        N_("Give each ticket a row of its own, with its own amounts."),
    ),
    # --- amounts ------------------------------------------------------------------------------------
    Reason(
        "negative",
        N_("“{seen}” in {column} is less than zero (accounting writes that in brackets), and no voucher is issued for less than zero."),
        N_(
            "Enter what was charged, above zero. What was paid back for a ticket is no charge: clear the cell. Keep the row if it has a fee"
        " that was charged, as a refund has; leave it out only if nothing else was charged in it."
        ),
    ),
    Reason(
        "decimals",
        N_("“{seen}” in {column} has more than two decimals; it may also be meant as thousands (1.500 for 1500)."),
        N_("Enter it with two decimals at most, as 1500.00 or 1.50."),
    ),
    Reason(
        "comma",
        N_("“{seen}” in {column} has a comma where decimals begin, which can also be read as thousands."),
        N_("Enter it with a point before the decimals, as 1234.50."),
    ),
    Reason(
        "several_amounts",
        N_("“{seen}” in {column} is more than one number, and a cell is one amount."),
        N_("Enter the one amount that belongs there, without spaces or line breaks between its digits."),
    ),
    Reason(
        "currency",
        N_("“{seen}” in {column} names another currency; amounts are issued in the carrier's own."),
        N_("Enter the amount in the carrier's currency, without its name."),
    ),
    Reason(
        "currency_column",
        N_("{column} is in another currency than the carrier's, {currency}, or in one that is not known: {cell} “{heading}” says “{seen}”."),
        N_(
            "Enter the amount in {currency}, and {currency} under “{heading}”. If that column says nothing of the amounts, write"
            ' "{heading}" = "" under [headings] in --columns.'
        ),
    ),
    Reason(
        "unit",
        N_("“{seen}” in {column} is written or formatted in another unit, such as thousands or percent, so which amount is meant is not certain."),
        N_("Enter the amount in the currency's main unit, in a cell with a plain number format."),
    ),
    Reason(
        "off_by_unread",
        N_("{column} is {seen}, but its components add up to {sum}: what it has beyond them, {difference}, stands in “{unread}”, which is not read."),
        N_(
            'If “{unread}” is no part of the charge, such as an agency\'s service fee, write "{total}" = "" under [headings] in --columns: the total'
            ' is not read then, and the components are issued. If it is a part of it, write "{unread}" = "other_taxes" there.'
        ),
    ),
    Reason(
        "fee_of_used",
        N_(
            "{seen} stands in refund_fee, but the ticket is used, and only a refunded ticket has a refund charge. What is to be issued is not"
        " clear, and no total says it."
        ),
        N_(
            "If some flights were flown and the rest refunded, set ticket_status to partly_used: both charges are issued. If the whole ticket"
        " was refunded, set it to refunded. If it was used, clear refund_fee, or enter in amount what is to be issued for it in all."
        ),
    ),
    # --- days ---------------------------------------------------------------------------------------
    Reason(
        "two_days",
        N_("“{seen}” in {column} can be two days: the day or the month may stand first. A wrong day may cost the voucher, so it is not guessed."),
        _TEXT,
    ),
    Reason(
        "short_year",
        N_("“{seen}” in {column} has a year of two digits, which could be the day or the month as well."),
        _TEXT,
    ),
    Reason(
        "serial_day",
        N_("“{seen}” in {column} is a bare number: probably a date whose cell has lost its date format."),
        N_("Format the cell as a date, look whether the day is right, save the workbook as .xlsx and run it again."),
    ),
    Reason(
        "no_such_day",
        N_("“{seen}” in {column} is no day of the calendar."),
        _TEXT,
    ),
    # --- buyers and names ---------------------------------------------------------------------------
    Reason(
        "two_buyers",
        N_(
            "“{seen}” of the Buyers sheet is not the buyer that this row's own columns name: {differing}. Which of them the voucher is for is"
        " not known."
        ),
        N_(
            "Give one of them: if it is for “{seen}”, clear the row's own columns from header_type to email: they are taken from the Buyers sheet. If the"
        " row's own columns are right, clear buyer."
        ),
    ),
    Reason(
        "buyers_alike",
        N_(
            "“{seen}” is the name of more than one buyer: {alike}. Case, width and spaces of a name do not count, so which of them is meant is"
        " not known."
        ),
        N_(
            "If they are one buyer, make those rows alike, or delete all but one. If they are several, give each a name that differs in more than"
        " case, width and spaces, there and in the rows that name it."
        ),
    ),
    Reason(
        "close_buyer",
        N_("There is no buyer “{seen}”, and “{near}” is one. Whether it is meant is not guessed."),
        N_("Did you mean “{near}”? Then write that name. Otherwise correct the name or add the buyer to the Buyers sheet, and run the row again."),
    ),
    Reason(
        "line_break",
        N_(
            "{column} has a line break within it, which may stand for a space or for nothing, so the name to be put on the voucher is not"
        " known."
        ),
        N_("Write it on one line."),
    ),
    Reason(
        "unseen_characters",
        N_("{column} has a character within it that no eye sees or no font has (a control character, a filler), and the carrier would print it."),
        N_("Type {column} anew; do not copy it."),
    ),
    Reason(
        "labelled",
        N_("“{seen}” in {column} has other words beside what belongs there, and would be sent with them."),
        N_("Keep {column} alone in its cell, without words before or behind it."),
    ),
    Reason(
        "tax_letters",
        N_("“{seen}” is not a tax number: a unified code never holds the letters I, O, S, V or Z. They are typed for 1, 0, 5, U and 2."),
        _CHECK,
    ),
    Reason(
        "tax_check",
        N_("“{seen}” is not a tax number: its last character does not fit the 17 before it, so one of them is mistyped or two are swapped."),
        _CHECK,
    ),
    Reason(
        "tax_length",
        N_("“{seen}” is not a tax number: tax numbers have 18 characters (older ones 15 or 20), without spaces and hyphens."),
        _CHECK,
    ),
    Reason(
        "tax_rounded",
        N_("“{seen}” is a tax number that the spreadsheet has turned into a rounded number; its last digits are lost."),
        N_("Format the cell as text and enter the tax number again from the buyer's registration."),
    ),
    Reason(
        "email_several",
        N_("“{seen}” is more than one e-mail address; the carrier sends to one."),
        N_("Keep the one address that the voucher is to be sent to."),
    ),
    Reason(
        "email_no_at",
        N_("“{seen}” is not an e-mail address: it has no @ with a name before and a domain behind it."),
        N_("Enter it like name@company.com."),
    ),
    Reason(
        "email_domain",
        N_("“{seen}” is not an e-mail address: what stands behind the @ is no domain (a point is often mistyped as a comma, or left out)."),
        N_("Enter it like name@company.com."),
    ),
    Reason(
        "phone_several",
        N_("“{seen}” is more than one telephone number; a voucher has one."),
        N_("Keep one number."),
    ),
    # --- against the ledger -------------------------------------------------------------------------
    Reason(
        "issued_as_other",
        N_("This charge was issued as another kind of voucher than this row asks for: {other}."),
        N_(
            "Set voucher to the kind that was issued, or leave it blank. If the other kind is needed, the carrier has to reverse that"
        " voucher first: record it by voucher ledger reverse, and run the row again."
        ),
    ),
)  # fmt: skip
HINTS = {hint.code: hint for hint in _ALL}
