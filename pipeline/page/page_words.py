"""What messages of the commands say of their options, said of the page instead: a visitor has no terminal.

Files are named without their folders, which are the server's and nobody's business.
"""

import re

from pipeline.model.message import Fact, Joined, Message, message

#: By the text of a message of the commands' the one that the page has for it, with the same places.
_HERE = {
    "rename or delete one of them, or say in --columns which of them is meant":
        message("rename or delete one of them, or say under Columns which of them is meant"),
    "{place}: {cell} “{heading}” may mean {columns}; give each a column of its own, or say in --columns which is meant":
        message("{place}: {cell} “{heading}” may mean {columns}; say under Columns which is meant, or give each a column of its own"),
    "{file}: no sheet has the headings of tickets (ticket_no 票号 and others){known}. `voucher template` writes a"
    " workbook with the headings; a team's own headings are explained with --columns":
        message("{file}: no sheet has the headings of tickets (ticket_no 票号 and others){known}. Say under Columns what its headings mean"),
    "{file}: holds buyers but no tickets; give it as --buyers {file}":
        message("{file}: holds buyers, but no tickets that can be read. Say under Columns what the headings of its tickets mean; if it has none, take it out,"
            " and upload it again as “buyers alone”"),
    "{place}: {cell} “{heading}” holds {amount} in row {row} and was not read: it may mean {columns}, and no"
    " total shows what the charge comes to; name it more exactly, or say in --columns what it is":
        message("{place}: {cell} “{heading}” holds {amount} in row {row} and was not read: it may mean {columns}, and no total shows"
                " what the charge comes to; say under Columns what it is"),
    "{place}: {cell} “{heading}” may hold the airport fee and the fuel surcharge of row {row}, or come on top of"
    " them, and no total shows which; call it other_taxes (其他税费) if it comes on top, or leave it out with"
    ' "{heading}" = "" in --columns if it holds them':
        message("{place}: {cell} “{heading}” may hold the airport fee and the fuel surcharge of row {row}, or come on top of them, and no"
                " total shows which; if it comes on top, name it other_taxes (其他税费) in the file; if it holds them, say under Columns"
                " that it is carried along"),
    "{place}: {cell} “{heading}” says that it holds the taxes, and row {row} has taxes beside it, which may be part of"
    " it or come on top, and no total shows which; call it fare (票价) if they come on top, or say"
    ' "{heading}" = "fare" in --columns; if it holds them, leave the columns of taxes out':
        message("{place}: {cell} “{heading}” says that it holds the taxes, and row {row} has taxes beside it, which may be part of it or"
                " come on top, and no total shows which; if they come on top, say under Columns that it is the fare (票价); if it holds them,"
                " say there that the taxes are carried along"),
    "as --columns says": message("as the mapping says"),
    '“{total}” has “{unread}” in it in {count} row, which is not read; "{total}" = "" in --columns leaves the total unread':
        message("“{total}” has “{unread}” in it, which is not read; where “{total}” is carried along, the total is left unread (rows: {count})"),
    "This ledger may lack what was issued after {since} ({why}): nothing is sent until voucher ledger close-gap":
        message("This ledger may lack what was issued after {since} ({why}): nothing is sent until an administrator has closed that gap,"
                " under Ledger"),
    "{path}: {lacking}, so that the {requests} requests of this run may be issued already; nothing was sent. Compare it with the carrier's"
    " complete statement from then on, then say what that showed: voucher ledger close-gap":
        message("{path}: {lacking}, so that the {requests} requests of this run may be issued already; nothing was sent. Reconcile with the"
                " carrier's complete statement from then on; an administrator says then, under Ledger, what that showed"),
    "Nothing is sent: {lacking}. Compare it with the carrier's complete statement from then on, then say what that showed: voucher ledger"
    " close-gap.":
        message("Nothing is sent: {lacking}. Reconcile with the carrier's complete statement from then on; an administrator says then, under"
                " Ledger, what that showed."),
    "{path}: nothing is sent until the time from {since} on is settled (voucher ledger close-gap)":
        message("{path}: nothing is sent until the time from {since} on is settled, and the gap closed below"),
    "{path}: nothing is sent until the time from {since} on is settled (voucher ledger close-gap); what was in its spill file is kept in"
    " {aside} for comparing":
        message("{path}: nothing is sent until the time from {since} on is settled, and the gap closed below; what was in its spill file is"
                " kept in {aside} for comparing"),
    "{path}: has a gap, which only the carrier's statement can close: voucher ledger close-gap":
        message("{path}: has a gap, which only the carrier's statement can close; say below what it showed"),
    "Gap: it may lack what was issued after {since} ({why}); nothing is sent until voucher ledger close-gap":
        message("Gap: it may lack what was issued after {since} ({why}); nothing is sent until that gap is closed"),
    "--since is missing: from when on may the ledger lack what was issued?":
        message("From when on may the ledger lack what was issued? Say it."),
    "--since {since}: is not a day on which this ledger was used; check the year":
        message("{since}: on no such day was this ledger used; check the year"),
    "voucher reconcile could not read all of {files}, and what it did not read is not held and would be issued again; correct the"
    " statement, and give it to voucher reconcile again under its name":
        message("Of {files} not everything could be read, and what was not is not held and would be issued again; correct the statement, and"
                " reconcile with it again under its name"),
    "voucher reconcile was given no statement since the gap was found that was made after {since} and lists anything; what the ledger lacks"
    " would be issued again. Give it the carrier's complete statement from then on: voucher reconcile --statement FILE":
        message("No statement was reconciled with since the gap was found that was made after {since} and lists anything; what the ledger"
                " lacks would be issued again. Bring the carrier's complete statement from then on under Reconcile"),
    "Send nothing with it. Restore its backup, and settle what was issued since (`voucher help ledger`)":
        message("Send nothing with it. Whoever runs the server restores its backup, and settles what was issued since"),
    "the ledger refuses what would break its rules ({why}); look it over: voucher ledger check":
        message("the ledger refuses what would break its rules ({why}); an administrator has it looked over, under Ledger"),
    "--month {text}: is not a month; write it like 2026-10": message("{text}: is not a month; write it like 2026-10"),
    "--statement-made {made}: is not a time; write it like 2026-11-01T09:30 (where the carrier is), or with its time zone like"
    " 2026-11-01T09:30+08:00":
        message("When the statement was made ({made}) is not a time; write it like 2026-11-01 09:30"),
    "--statement-made {made}: is still to come by this machine's clock; set the clock right, or say when they were made":
        message("When the statement was made ({made}) is still to come by the server's clock; say when it was made, or have that clock set right"),
    "--statement-complete {text}: is not a time [KIND:]FROM..TO; write it like invoice:2026-10-01..2026-10-31":
        message("Complete from and to ({text}): one of them is no day of the calendar"),
    "--statement-complete {text}: no statement is complete for days to come; today is {today}":
        message("Complete from and to ({text}): no statement is complete for days to come; today is {today}"),
    "{place}: is an answer about another ledger ({other}), not about this one ({this}); nothing was changed. Name that ledger with"
    " --ledger. If it was lost and this one restored in its place, what it asked is compared by the carrier's statement":
        message("{place}: is an answer about another ledger ({other}), not about the one of this page ({this}); nothing was changed. If that"
                " ledger was lost and this one restored in its place, what it asked is compared by the carrier's statement"),
    "{attempt}: the answer is about an attempt of that number that was lost when this ledger was restored, and settles nothing here. If it"
    " says issued, compare the carrier's statement (--statement) before more is sent":
        message("{attempt}: the answer is about an attempt of that number that was lost when this ledger was restored, and settles nothing"
                " here. If it says issued, reconcile with the carrier's statement before more is sent"),
    "The statement has no dates, so what is missing on it can't be told; say --month or --statement-complete":
        message("The statement has no dates, so what is missing on it can't be told; say under Reconcile which month is compared, or for"
                " which days it is complete"),
    "{files} does not say when it was made; say it with --statement-made":
        message("{files} does not say when it was made; say it when you reconcile with it"),
    "Nothing was compared: neither this ledger nor a statement has a voucher that was issued in {period}. Days are those of issuing,"
    " whatever month the tickets are of; check --month, the statement and --ledger.":
        message("Nothing was compared: neither the ledger nor a statement has a voucher that was issued in {period}. Days are those of issuing,"
                " whatever month the tickets are of; check the month that is compared, and the statement."),
    "Nothing was compared: no statement was given. Name the carrier's with --statement.":
        message("Nothing was compared: no statement was given."),
    "Requests with an unknown outcome: {count} (sheet Unknown). Do not ask for them elsewhere. Ask the carrier, fill in the last columns"
    " there, and give this file to “voucher reconcile --resolved”; a statement that lists them settles them too.":
        message("Requests with an unknown outcome: {count}. Do not ask for them elsewhere. Ask the carrier, and say under Unknown what it says;"
                " a statement that lists them settles them too."),
    "Charges that turned out as not issued, and stand in no workbook given: {count}. To send them, give their workbook (sheet To issue"
    " names it) to voucher issue.":
        message("Charges that turned out as not issued: {count}. They can be sent again from their months (sheet To issue names them)."),
    "a voucher of ticket {ticket_no} was reversed by the carrier ({number}); start voucher issue to issue it again":
        message("a voucher of ticket {ticket_no} was reversed by the carrier ({number}); judge its month again to have another issued"),
    "{number} was reversed by the carrier ({place}); its charges may be issued again by voucher issue":
        message("{number} was reversed by the carrier ({place}); its charges may be issued again from their month"),
    "{ledger}: there is no ledger, so no itinerary is known; name the one that issued them with --ledger":
        message("{ledger}: there is no ledger yet, so no itinerary is known: issue them first"),
    "Find out who issued it before the ticket is sent: compare the carrier's statement (voucher reconcile --statement).":
        message("Find out who issued it before the ticket is sent: reconcile with the carrier's statement."),
    "Not yours: take it away, or name the ledger that issued it.":
        message("Not yours: it belongs to another ledger, or to somebody else."),
    "would be sent (“voucher check” only)": message("can be sent"),
    "it may have been issued: not sent again until that is known (“voucher reconcile”)":
        message("it may have been issued: not sent again until that is known"),
    "{place}: {count} row left out, as --columns says of its order type":
        message("{place}: left out, as the mapping says of their order types (rows: {count})"),
}  # fmt: skip

#: Options and commands, which are for a terminal.
TYPED = re.compile(r"--[a-z]|\bvoucher (?:ledger|issue|reconcile|check|profile|history|user|help) ?")


def here(fact: Fact) -> Fact:
    """A message, or a fact of one, in the page's own words, wherever it has any."""
    match fact:
        case str() if fact.startswith("/"):
            return fact.rpartition("/")[2]
        case Message(text, facts):
            said = _HERE.get(text)
            facts = {name: here(each) for name, each in facts.items()}
            return Message(said.text, facts) if said else Message(text, facts, fact.plural)
        case Joined(parts, how):
            return Joined(tuple(map(here, parts)), how)
        case _:
            return fact


def told(fact: Fact) -> Fact:
    """The same; where a cure is left that takes a terminal, with whom to ask for it."""
    found = here(fact)
    if isinstance(found, Message) and _takes_terminal(found):
        return message("{said} (What is typed there is for whoever runs the server.)", said=found)
    return found


def _takes_terminal(fact: Fact) -> bool:
    match fact:
        case Message(text, facts):
            return bool(TYPED.search(text)) or any(map(_takes_terminal, facts.values()))
        case Joined(parts, _):
            return any(map(_takes_terminal, parts))
        case _:
            return False
