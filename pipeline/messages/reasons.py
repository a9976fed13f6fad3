"""Every reason code with its texts.

A reason is a stable code for programs and a sentence for people. The sentence says what was seen and
why it matters; `cure` says what to do. `{column}` is the column that it is about and `{seen}` the cell's text;
other places are for facts that whoever finds the reason supplies.
"""

from dataclasses import dataclass

from pipeline.model.message import N_


@dataclass(frozen=True)
class Reason:
    """One code of interface.md ("Reason codes"): what was seen and why it matters, what to do about it, and both in `short`.

    `short` is what a history and an export say: what exactly was seen in a row is in its own workbook's result.
    """

    code: str
    text: str
    cure: str
    short: str = ""  # none of a hint


_FIX = N_("Correct the cell and run the row again.")
_NOTHING = N_("Nothing can be issued for this row.")
_AGAIN = N_("Run the same workbook again; nothing was issued for this row.")
_RECONCILE = N_(
    "Do not ask for it elsewhere. Ask the carrier about the request, fill in the Unknown sheet, and reconcile."
)

REASONS = (
    # --- invalid: the row can't be understood -----------------------------------------------------
    Reason(
        "missing_value",
        N_("{column} is blank, but this row needs it."),
        N_("Fill in {column} and run the row again."),
        N_("a value that it needs is blank"),
    ),
    Reason(
        "bad_ticket_no",
        N_("“{seen}” is not a ticket number of 13 digits."),
        N_("Enter the 13 digits as on the ticket, in a cell formatted as text."),
        N_("the ticket number is not one of 13 digits"),
    ),
    Reason(
        "bad_amount",
        N_("“{seen}” in {column} is not an amount above zero with at most two decimals."),
        _FIX,
        N_("an amount is not above zero with two decimals at most"),
    ),
    Reason(
        "bad_date",
        N_("“{seen}” in {column} is not a date that can be read without guessing."),
        N_("Enter it as a date, or as text like 2026-03-05."),
        N_("a date can't be read"),
    ),
    Reason(
        "date_in_future",
        N_("{column} is {seen}, after {as_of}, the day on which this run judges; it can't have happened yet."),
        N_("Correct {column}, or the ticket status if the ticket is not used yet."),
        N_("a date is still to come"),
    ),
    Reason(
        "bad_choice",
        N_("“{seen}” is not a value that {column} can have here: {choices}."),
        N_("Choose one of: {choices}."),
        N_("a value is none of those to choose from"),
    ),
    Reason(
        "bad_tax_no",
        N_("“{seen}” is not a tax number: its length, characters or check character are wrong."),
        N_("Compare it with the buyer's registration and correct it."),
        N_("the tax number is wrong"),
    ),
    Reason(
        "bad_email",
        N_("“{seen}” is not an e-mail address."),
        N_("Correct it: the carrier sends itineraries there."),
        N_("the e-mail address is wrong"),
    ),
    Reason(
        "bad_phone",
        N_("“{seen}” is not a telephone number."),
        _FIX,
        N_("the telephone number is wrong"),
    ),
    Reason(
        "amount_mismatch",
        N_("{column} is {seen}, but its components add up to {sum}."),
        N_("Correct the amount or its components, or leave the amount blank."),
        N_("the amount is not what its components add up to"),
    ),
    Reason(
        "unknown_buyer",
        N_("“{seen}” is not the name of exactly one buyer in the Buyers sheet."),
        N_(
            "Correct the name to one on the Buyers sheet (a result workbook has it as its last sheet), or add the buyer there; or fill in the"
        " row's own columns from header_type on."
        ),
        N_("the buyer is not known"),
    ),
    # --- ineligible: a rule forbids it ------------------------------------------------------------
    Reason(
        "status_conflict",
        N_(
            "The ticket is used on one row ({used_at}) and refunded on another ({refunded_at}). Which is true is not known, so neither its fare"
        " nor its refund is sent."
        ),
        N_(
            "Correct ticket_status where it is wrong, and on Failures status_of_other_rows, too. If some flights were flown and the rest"
            " refunded, set ticket_status to partly_used in all rows of the ticket."
        ),
        N_("the ticket is used on one row and refunded on another"),
    ),
    Reason(
        "ticket_not_used",
        N_("The ticket was refunded without being used, so its fare can't be issued."),
        N_(
            "Issue the refund charge instead, if there is one. If some flights were flown before the rest was refunded, set ticket_status to"
        " partly_used."
        ),
        N_("the ticket was refunded without being used"),
    ),
    Reason(
        "ticket_not_refunded",
        N_("The ticket was used, not refunded, so there is no refund charge to issue."),
        N_("If the ticket was refunded after all, set ticket_status to refunded, or to partly_used if some flights were flown."),
        N_("the ticket was not refunded"),
    ),
    Reason(
        "fare_window_closed",
        N_("An invoice for a fare had to be requested by {last_day}, one year after the ticket was used."),
        _NOTHING,
        N_("more than a year after the ticket was used"),
    ),
    Reason(
        "ancillary_window_closed",
        N_("An ancillary charge had to be requested by {last_day}, one year after purchase."),
        _NOTHING,
        N_("more than a year after the purchase"),
    ),
    Reason(
        "flight_too_old_for_itinerary",
        N_("An itinerary had to be requested by {last_day}, 180 days after the flight."),
        N_("Ask for an invoice instead: set voucher to invoice."),
        N_("more than 180 days after the flight"),
    ),
    Reason(
        "not_an_itinerary_charge",
        N_("Only ticket fares can be issued as an itinerary."),
        N_("Set voucher to auto, or leave it blank: every charge of the ticket then goes as the voucher that it can have."),
        N_("only a ticket's fare goes as itinerary"),
    ),
    Reason(
        "not_a_carrier_ticket",
        N_("The ticket number starts with {prefix}, which is not one of this carrier's prefixes ({prefixes})."),
        N_("Ask the airline that issued the ticket."),
        N_("the ticket is not this carrier's"),
    ),
    Reason(
        "amount_over_limit",
        N_("{amount} is more than one {market} invoice may hold ({limit})."),
        N_("A ticket fare may still go as an itinerary, where its conditions hold; else ask the carrier."),
        N_("the amount is over the limit of one invoice"),
    ),
    Reason(
        "voucher_conflict",
        N_("A ticket's fare and refund go either all as invoice or all as itinerary: {other}."),
        N_("Keep one kind of voucher for the ticket: that of what is issued already, if anything is."),
        N_("the ticket goes as the other kind of voucher"),
    ),
    Reason(
        "duplicate_charge",
        N_("The same charge stands more than once: {other}; {fate}."),
        N_("Keep the row that is right and delete the others."),
        N_("the same charge stands more than once"),
    ),
    Reason(
        "code_not_configured",
        N_("The carrier's code for {column} “{seen}” is not in the carrier profile ({key}), so it can't be sent."),
        N_("Ask the carrier for the code and put it into the profile, once for all rows; no cell has to change."),
        N_("the carrier's code for it is not in the profile"),
    ),
    # --- waiting: not eligible yet ----------------------------------------------------------------
    Reason(
        "ticket_still_open",
        N_("The ticket is still open; vouchers are issued after it is used."),
        N_("Run the row again when the ticket is used."),
        N_("the ticket is not used yet"),
    ),
    Reason(
        "refund_not_approved",
        N_("The refund is not approved by {as_of}, the day on which this run judges."),
        N_("Run the row again when the refund is approved, with the date of approval."),
        N_("the refund is not approved yet"),
    ),
    Reason(
        "voucher_reversed",
        N_("The carrier has reversed its voucher {number}; another one is issued only where a person asks for it."),
        N_("To have another one issued, run voucher issue with this row."),
        N_("the carrier has reversed its voucher"),
    ),
    # --- the same row once more -------------------------------------------------------------------
    Reason(
        "repeated_charge",
        N_("The same charge, identical in all that counts, stands in {other} already; it counts once, there."),
        N_("Nothing to do; this row may be deleted."),
        N_("an earlier row is the same"),
    ),
    # --- already issued ---------------------------------------------------------------------------
    Reason(
        "issued_before",
        N_("Issued on {issued_on} from {place} as {number}."),
        N_("Nothing to do."),
        N_("an earlier run issued it"),
    ),
    Reason(
        "differs_from_issued",
        N_("Issued on {issued_on} from {place} as {number}, but with other contents: {differences}."),
        N_("Compare the row with the issued voucher; a wrong voucher is corrected at the carrier by a red invoice."),
        N_("what was issued had another amount or buyer"),
    ),
    Reason(
        "issued_elsewhere",
        N_("The carrier's statement lists it as issued ({number}), but not by this ledger."),
        N_("Nothing to do, unless the voucher is not yours."),
        N_("a statement lists it as issued, not by this ledger"),
    ),
    # --- rejected ---------------------------------------------------------------------------------
    Reason(
        "carrier_rejected",
        N_("The carrier refused it: {detail}"),
        N_("Correct what the carrier names, and run the row again; where it names nothing, ask the carrier why."),
        N_("the carrier refused it, and the row is unchanged"),
    ),
    # --- not sent ---------------------------------------------------------------------------------
    Reason(
        "carrier_unreachable",
        N_("The carrier could not be reached: {detail}"),
        _AGAIN,
        N_("the carrier could not be reached"),
    ),
    Reason(
        "carrier_busy",
        N_("The carrier was too busy to take it: {detail}"),
        _AGAIN,
        N_("the carrier was too busy"),
    ),
    Reason(
        "key_refused",
        N_("The carrier refused the key or the agency: {detail}"),
        N_("Check VOUCHER_API_KEY and the profile's agency, then run the same workbook again."),
        N_("the carrier refused the key or the agency"),
    ),
    Reason(
        "run_stopped",
        N_("The run stopped before this row was sent: {detail}"),
        _AGAIN,
        N_("the run stopped before"),
    ),
    Reason(
        "in_hand",
        N_("{earlier}This run did not send it: {detail}"),
        N_("Run the same workbook again when the other run has ended; what that issued is told then, with its number."),
        N_("another run had it in hand"),
    ),
    # --- unknown: it may have been issued ---------------------------------------------------------
    Reason(
        "no_answer",
        N_("{earlier}It was sent, but no answer came back: {detail}"),
        _RECONCILE,
        N_("sent earlier, and no answer came"),
    ),
    Reason(
        "answer_unreadable",
        N_("{earlier}It was sent, but the answer can't be read: {detail}"),
        _RECONCILE,
        N_("sent earlier, and the answer can't be read"),
    ),
    Reason(
        "answer_unexplained",
        N_("{earlier}It was sent, and the answer leaves open whether it was issued: {detail}"),
        _RECONCILE,
        N_("sent earlier, and the answer leaves open whether it was issued"),
    ),
    Reason(
        "run_killed",
        N_("{earlier}It was being sent, and what came of it is not recorded: {detail}"),
        _RECONCILE,
        N_("it was being sent when a run was killed"),
    ),
)  # fmt: skip
REASON = {reason.code: reason for reason in REASONS}
