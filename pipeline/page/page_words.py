"""What messages of the commands say of their options, said of the page instead: a visitor has no terminal.

Files are named without their folders, which are the server's and nobody's business.
"""

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
}  # fmt: skip


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


#: The commands' texts for which the page has words of its own.
REPLACED = frozenset(_HERE)
