"""What a ticket's history and the ledger's export say."""

from collections.abc import Sequence

from pipeline.messages.reason_rendering import reason_text
from pipeline.messages.reasons import REASON
from pipeline.messages.translate import choice_word, rendered, status_word, translated
from pipeline.model.columns import (
    Lang,
)
from pipeline.model.file_status import FILE_STATUS
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
    "run_prepared": P_("history", "prepared by {person} (run {run})"),
    "run_proposed": P_("history", "proposed for approval by {person} (run {run})"),
    "run_approved": P_("history", "approved by {person} (run {run}; plan {plan})"),
    "run_sent": P_("history", "sending begun by {person} (run {run})"),
    "run_reconciled": P_("history", "reconciliation begun by {person} (run {run})"),
    "run_stopped": P_("history", "stopped by {person} (run {run})"),
    "reversed": P_("history", "{voucher} {number} was reversed by the carrier{red}: {evidence} (recorded by {reversed_by}; {entry})"),
    "file": P_("history", "itinerary file {status}: {place}, number {number}, seal {seal}{why}{kept} ({sha256}; run {run})"),
    "kept": P_("history", ", kept as {archived}"),
    "red": P_("history", " (red number {number})"),
    "withdrawn": P_("history", "{entry} was withdrawn by {withdrawn_by} and counts no more: {why}"),
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
    if name in STATUS or name in FILE_STATUS:
        return status_word(name, lang)
    return _in(lang, _STATES[name]) if name in _STATES else choice_word(name, lang)


def judged_reasons(codes: Sequence[str], lang: Lang) -> str:
    """Why a row was judged so; a code of a later program stays as it is."""
    return say("because", lang).join(
        translated(REASON[code].short, lang) if code in REASON else code for code in codes
    )


def attempt_reason(code: str, detail: Message, lang: Lang) -> str:
    """Why an attempt ended so, in words; "" where the ledger has nothing to say."""
    if detail and code in STATUS_OF and STATUS[STATUS_OF[code]].sent:
        return reason_text(code, "", lang, {"detail": detail}).message
    return " ".join(filter(None, (code, rendered(detail, lang))))
