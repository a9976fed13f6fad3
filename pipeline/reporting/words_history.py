"""What a ticket's history and the ledger's export say."""

from collections.abc import Sequence

from pipeline.messages.render import reason_text
from pipeline.messages.translate import choice_word, rendered, status_word, translated
from pipeline.model.columns import (
    Lang,
)
from pipeline.model.message import P_, Message
from pipeline.model.status import STATUS, STATUS_OF

_SAID = {
    "heading": P_("history", "{ticket} (times: {zone})"),
    "nothing": P_("history", "{ticket}: the ledger knows nothing of it"),
    "and": P_("history", ", "),
    "because": P_("history", "; "),
    "why": P_("history", ": "),
    "place": P_("history", "{file}, {sheet}, row {row}"),
    "attempt": P_("history", "request {request}, attempt {attempt}"),
    "trace": P_("history", ", trace {trace}"),
    "issued_at": P_("history", "issued {at}"),
    "judged": P_("history", "judged {status}: {what} as {voucher}{because} (run {run}; {place})"),
    "judged_unread": P_("history", "judged {status}: {what}{because} (run {run}; {place})"),
    "planned": P_("history", "planned {what} as {voucher} for {buyer} ({name}, run {run}; {place})"),
    "sending": P_("history", "sending {what} as {voucher} for {buyer} ({name}, run {run}; {place})"),
    "answered": P_("history", "answered with HTTP {http_status} ({name})"),
    "issued": P_("history", "issued as {number}{trace} ({name})"),
    "ended": P_("history", "{state}{why}{trace} ({name})"),
    "settled_issued": P_("history", "settled as issued under {number} by {settled_by}: {evidence} ({name}; {entry})"),
    "settled_not_sent": P_("history", "settled as not issued by {settled_by}: {evidence} ({name}; {entry})"),
    "elsewhere": P_("history", "issued elsewhere: the carrier's statement lists {what} as {voucher} {number}{more} ({evidence}; found by {by}, run {run}; {entry})"),
    "reversed": P_("history", "{voucher} {number} was reversed by the carrier{red}: {evidence} (recorded by {reversed_by}; {entry})"),
    "red": P_("history", " (red number {number})"),
    "withdrawn": P_("history", "{entry} was withdrawn by {withdrawn_by} and counts no more: {why}"),
}  # fmt: skip

#: Why a row was judged so, in short: what exactly was seen in it is in its own workbook's result.
JUDGED = {
    "missing_value": P_("history", "a value that it needs is blank"),
    "bad_ticket_no": P_("history", "the ticket number is not one of 13 digits"),
    "bad_amount": P_("history", "an amount is not above zero with two decimals at most"),
    "bad_date": P_("history", "a date can't be read"),
    "date_in_future": P_("history", "a date is still to come"),
    "bad_choice": P_("history", "a value is none of those to choose from"),
    "bad_tax_no": P_("history", "the tax number is wrong"),
    "bad_email": P_("history", "the e-mail address is wrong"),
    "bad_phone": P_("history", "the telephone number is wrong"),
    "amount_mismatch": P_("history", "the amount is not what its components add up to"),
    "unknown_buyer": P_("history", "the buyer is not known"),
    "status_conflict": P_("history", "the ticket is used on one row and refunded on another"),
    "ticket_not_used": P_("history", "the ticket was refunded without being used"),
    "ticket_not_refunded": P_("history", "the ticket was not refunded"),
    "fare_window_closed": P_("history", "more than a year after the ticket was used"),
    "ancillary_window_closed": P_("history", "more than a year after the purchase"),
    "flight_too_old_for_itinerary": P_("history", "more than 180 days after the flight"),
    "not_an_itinerary_charge": P_("history", "only a ticket's fare goes as itinerary"),
    "not_a_carrier_ticket": P_("history", "the ticket is not this carrier's"),
    "amount_over_limit": P_("history", "the amount is over the limit of one invoice"),
    "voucher_conflict": P_("history", "the ticket goes as the other kind of voucher"),
    "duplicate_charge": P_("history", "the same charge stands more than once"),
    "repeated_charge": P_("history", "an earlier row is the same"),
    "code_not_configured": P_("history", "the carrier's code for it is not in the profile"),
    "ticket_still_open": P_("history", "the ticket is not used yet"),
    "refund_not_approved": P_("history", "the refund is not approved yet"),
    "voucher_reversed": P_("history", "the carrier has reversed its voucher"),
    "issued_before": P_("history", "an earlier run issued it"),
    "differs_from_issued": P_("history", "what was issued had another amount or buyer"),
    "issued_elsewhere": P_("history", "a statement lists it as issued, not by this ledger"),
    "carrier_rejected": P_("history", "the carrier refused it, and the row is unchanged"),
    "carrier_unreachable": P_("history", "the carrier could not be reached"),
    "carrier_busy": P_("history", "the carrier was too busy"),
    "key_refused": P_("history", "the carrier refused the key or the agency"),
    "run_stopped": P_("history", "the run stopped before"),
    "no_answer": P_("history", "sent earlier, and no answer came"),
    "answer_unreadable": P_("history", "sent earlier, and the answer can't be read"),
    "answer_unexplained": P_("history", "sent earlier, and the answer leaves open whether it was issued"),
    "run_killed": P_("history", "it was being sent when a run was killed"),
}  # fmt: skip

_STATES = {
    "planned": P_("history", "planned"),
    "sending": P_("history", "sending"),
}


def _in(lang: Lang, text: str) -> str:
    return translated(text, lang, "history")


def say(name: str, lang: Lang) -> str:
    """A text of the history, with places to be filled in."""
    return _in(lang, _SAID[name])


def word(name: str, lang: Lang) -> str:
    """A charge, product, kind of voucher or buyer, market, status or state, as a person reads it."""
    if name in STATUS:
        return status_word(name, lang)
    return _in(lang, _STATES[name]) if name in _STATES else choice_word(name, lang)


def judged_reasons(codes: Sequence[str], lang: Lang) -> str:
    """Why a row was judged so; a code of a later program stays as it is."""
    return say("because", lang).join(_in(lang, JUDGED[code]) if code in JUDGED else code for code in codes)


def attempt_reason(code: str, detail: Message, lang: Lang) -> str:
    """Why an attempt ended so, in words; "" where the ledger has nothing to say."""
    if detail and code in STATUS_OF and STATUS[STATUS_OF[code]].sent:
        return reason_text(code, "", lang, {"detail": detail}).message
    return " ".join(filter(None, (code, rendered(detail, lang))))
