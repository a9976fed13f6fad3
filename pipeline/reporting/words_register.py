"""What the register of vouchers says."""

from pipeline.messages.translate import translated
from pipeline.model.columns import Lang
from pipeline.model.message import P_

#: Headings, labels and states.
_LABELS = {
    "title": P_("register", "Register of vouchers"),
    "period": P_("register", "Issued in"),
    "everything": P_("register", "all that the ledger has"),
    "carrier": P_("register", "Carrier"),
    "for_buyer": P_("register", "Buyer"),
    "times": P_("register", "Times"),
    "currency": P_("register", "Amounts in"),
    "written": P_("register", "Written"),
    "names": P_("register", "Names and numbers of people"),
    "names_masked": P_("register", "masked; columns of your own are left out, but for cost centre and department"),
    "by_state": P_("register", "Charges by state"),
    "notes": P_("register", "Notes"),
    "total": P_("register", "Total"),
    "charges": P_("register", "charges"),
    "issued": P_("register", "issued"),
    "unknown": P_("register", "unknown"),
    "reversed": P_("register", "reversed"),
    "state": P_("register", "state"),
    "issued_at": P_("register", "issued_at"),
    "total_amount": P_("register", "total"),
    "run": P_("register", "run"),
    "red_number": P_("register", "red_number"),
    "known_from": P_("register", "known_from"),
    "received_on": P_("register", "received_on"),
    "itinerary_file": P_("register", "itinerary_file"),
    "seal": P_("register", "seal"),
    "ledger": P_("register", "this ledger"),
    "statement": P_("register", "the carrier's statement alone"),
    "cost_centre": P_("register", "cost_centre"),
    "department": P_("register", "department"),
    "no_buyer": P_("register", "(no buyer)"),
    "no_cost_centre": P_("register", "(no cost centre)"),
}  # fmt: skip


def label(name: str, lang: Lang) -> str:
    """A heading, a label, a state."""
    return translated(_LABELS[name], lang, "register")
