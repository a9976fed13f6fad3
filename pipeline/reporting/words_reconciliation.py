"""What the reconciliation workbook and its last lines say."""

from pipeline.messages.translate import heading, rendered
from pipeline.model.columns import Lang
from pipeline.model.message import N_, Fact, Message
from pipeline.settlement.reconciliation_result import Reconciliation

_SAID = {
    # headings and labels, and the names of the kinds; a column's heading goes before a kind's name
    "title": N_("Reconciliation: tickets, ledger and statement"),
    "by_kind": N_("What agrees and what does not"),
    "kind": N_("Kind"),
    "charges": N_("Charges"),
    "total": N_("Amount"),
    "meaning": N_("Meaning"),
    "chart": N_("Charges by kind"),
    "next": N_("What to do next"),
    "settled": N_("Settled by evidence"),
    "troubles": N_("Evidence that settles nothing"),
    "files": N_("Itinerary files"),
    "unread": N_("Files that could not be read"),
    "notes": N_("Notes"),
    "facts": N_("About this reconciliation"),
    "command": N_("Command"),
    "as_of": N_("Judged on"),
    "period": N_("Compared: vouchers issued in"),
    "statements": N_("Statements"),
    "ledger": N_("Ledger"),
    "ledger_id": N_("Ledger ID"),
    "agreed": N_("Agreed"),
    "not_on_statement": N_("Issued, not on the statement"),
    "not_ours": N_("On the statement, not ours"),
    "differing": N_("Differing"),
    "unknown": N_("Unknown"),
    "to_issue": N_("Still to be issued"),
    "not_covered": N_("Issued, on no statement given"),
    "voucher": N_("voucher"),
    "issued_on": N_("issued_on"),
    "place": N_("row"),
    "differing_column": N_("differing"),
    "row": N_("row"),
    "statement_voucher": N_("on statement: voucher"),
    "statement_number": N_("on statement: number"),
    "statement_amount": N_("on statement: amount"),
    "statement_buyer": N_("on statement: buyer"),
    "statement_issued": N_("on statement: issued"),
    "statement_place": N_("on statement: line"),
    # sentences
    "headline": N_("{agreed} of {issued} issued charges agree with a statement; {open} still to be issued."),
    "headline_nothing": N_("Nothing was compared."),
    "nothing": N_("Nothing: everything agrees."),
    "nothing_covered": N_(
        "Nothing: what a statement shows agrees. The charges that are on no statement given are compared when one is."
    ),
    "nothing_given": N_("Nothing: there was nothing to compare, no statement and no rows."),
    "no_statement": N_("none: tickets and ledger alone were compared"),
    "settled_issued": N_("request {request}, attempt {attempt}: issued as {number} ({evidence})"),
    "settled_not_sent": N_(
        "request {request}, attempt {attempt}: not issued, and sent again where a row asks for it ({evidence})"
    ),
    "more": N_("… and {count} more"),
    "agreed_means": N_("A statement shows it, and the ledger has it alike."),
    "not_covered_means": N_(
        "The ledger has it as issued; no statement given is of its kind of voucher and its time."
    ),
    "not_on_statement_means": N_("The ledger has it as issued in this period; no statement lists it."),
    "not_ours_means": N_(
        "The carrier lists it; it was not issued with this ledger. It is held, so that it is not issued again."
    ),
    "differing_means": N_("Amount, buyer, number or kind of voucher are not the same."),
    "unknown_means": N_("May have been issued; nothing proves it yet."),
    "to_issue_means": N_("No voucher yet; the last day to request it stands beside each."),
    "nothing_in_period_do": N_(
        "Nothing was compared: neither this ledger nor a statement has a voucher that was issued in {period}. Days are"
        " those of issuing, whatever month the tickets are of; check --month, the statement and --ledger."
    ),
    "no_statement_do": N_(
        "Nothing was compared: no statement was given. Name the carrier's with --statement."
    ),
    "nothing_compared_do": N_(
        "Nothing was compared: the statement lists no voucher that could be read. Check that it is the right file."
    ),
    "not_on_statement_do": N_(
        "Issued, but not on the statement: {count} (sheet Not on statement). Ask the carrier about them, with their"
        " numbers."
    ),
    "not_ours_do": N_(
        "On the statement, but not issued by this ledger: {count} (sheet Not ours). Find out who did. They are held and"
        " are not issued again."
    ),
    "differing_do": N_(
        "Differing: {count} (sheet Differing, marked). A wrong voucher is corrected at the carrier by a red invoice, a"
        " wrong row in your workbook."
    ),
    "unknown_do": N_(
        "Requests with an unknown outcome: {count} (sheet Unknown). Do not ask for them elsewhere. Ask the carrier,"
        " fill in the last columns there, and give this file to “voucher reconcile --resolved”; a statement that lists"
        " them settles them too."
    ),
    "troubles_do": N_(
        "Pieces of evidence that settle nothing: {count}, named one by one. Correct the cell or the file that each"
        " names, or ask the carrier, and reconcile again."
    ),
    "unread_do": N_("Files that could not be read: {count}. Mend or remove them; they are left as they are."),
    "set_free_do": N_(
        "Charges that turned out as not issued, and stand in no workbook given: {count}. To send them, give their"
        " workbook (sheet To issue names it) to voucher issue."
    ),
    "failures_do": N_(
        "Rows without a voucher: {count} (sheet Failures, or the workbook's own result). What says “waiting” comes by"
        " itself; correct the others and give the file to “voucher issue” or the inbox."
    ),
    "lacking_do": N_(
        "Nothing is sent: {lacking}. Compare it with the carrier's complete statement from then on, then say what that"
        " showed: voucher ledger close-gap."
    ),
    "line": N_("Reconciled vouchers issued {period}: {parts}"),
    "line_no_period": N_("Reconciled {period}: {parts}"),
    "no_period": N_("tickets and ledger"),
    "settled_line": N_("Settled by evidence: {issued} issued, {not_sent} not issued"),
}


def said(name: str, **facts: Fact) -> Message:
    """One text, with facts at its places."""
    return Message(_SAID[name], facts)


def tell(name: str, lang: Lang, **facts: Fact) -> str:
    """The same in words; the heading of a column that has no other here."""
    return rendered(said(name, **facts), lang) if name in _SAID else heading(name, lang)


def period_text(done: Reconciliation) -> Fact:
    """The days in which what is compared was issued."""
    return f"{done.period.first}..{done.period.last}" if done.period else said("no_period")
