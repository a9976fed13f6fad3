"""What the ledger's export says: its labels, and the headings of its sheets."""

from pipeline.messages import translate
from pipeline.model.columns import Lang
from pipeline.model.message import P_

#: Headings beside those of the vocabulary and of results.
_HEADINGS = {
    "state": P_("audit", "state"),
    "reason_code": P_("audit", "reason_code"),
    "detail": P_("audit", "detail"),
    "planned_at": P_("audit", "planned_at"),
    "sending_at": P_("audit", "sending_at"),
    "answered_at": P_("audit", "answered_at"),
    "ended_at": P_("audit", "ended_at"),
    "http_status": P_("audit", "http_status"),
    "settled_as": P_("audit", "settled_as"),
    "settled_by": P_("audit", "settled_by"),
    "settled_at": P_("audit", "settled_at"),
    "entry": P_("audit", "entry"),
    "epoch_id": P_("audit", "epoch_id"),
    "red_number": P_("audit", "red_number"),
    "reversed_by": P_("audit", "reversed_by"),
    "reversed_at": P_("audit", "reversed_at"),
    "in_force": P_("audit", "in_force"),
    "withdrawn_by": P_("audit", "withdrawn_by"),
    "withdrawn_at": P_("audit", "withdrawn_at"),
    "held": P_("audit", "held"),
    "wire": P_("audit", "carrier's code"),
    "run": P_("audit", "run"),
    "components": P_("audit", "components"),
    "carried": P_("audit", "columns carried along"),
    "issued_text": P_("audit", "issued (on the statement)"),
    "found_by": P_("audit", "found_by"),
    "found_at": P_("audit", "found_at"),
    "judged_at": P_("audit", "judged_at"),
    "command": P_("audit", "command"),
    "version": P_("audit", "version"),
    "as_of": P_("audit", "as_of"),
    "files": P_("audit", "files"),
    "started_at": P_("audit", "started_at"),
    "exit_code": P_("audit", "exit_code"),
    "name": P_("audit", "name"),
    "kind": P_("audit", "kind"),
    "sha256": P_("audit", "sha256"),
    "handled_at": P_("audit", "handled_at"),
    "result": P_("audit", "result"),
    "unfinished": P_("audit", "unfinished"),
    "noted_at": P_("audit", "noted_at"),
    "what": P_("audit", "what"),
    "why": P_("audit", "why"),
    "noted_by": P_("audit", "noted_by"),
    "since": P_("audit", "since"),
    "old": P_("audit", "from"),
    "new": P_("audit", "to"),
    "closed_at": P_("audit", "closed_at"),
    "closed_by": P_("audit", "closed_by"),
    "fact": P_("audit", "fact"),
    "value": P_("audit", "value"),
}

_SAID = {
    "title": P_("audit", "Ledger: all requests with their evidence"),
    "ledger": P_("audit", "Ledger"),
    "ledger_id": P_("audit", "Ledger ID"),
    "carrier": P_("audit", "Carrier"),
    "version": P_("audit", "Version of the ledger"),
    "created": P_("audit", "Begun (UTC)"),
    "exported": P_("audit", "Exported (UTC)"),
    "by_program": P_("audit", "Exported by"),
    "attempts": P_("audit", "Attempts"),
    "gap": P_("audit", "Gap"),
    "move": P_("audit", "Move of the carrier"),
    "epoch": P_("audit", "New epoch"),
    "clock": P_("audit", "Correction of the clock"),
    "tickets": P_("audit", "tickets"),
    "statement": P_("audit", "statement"),
    "resolved": P_("audit", "answers"),
    "may_lack": P_("audit", "may lack what was issued after {since} ({why})"),
    "times": P_("audit", "Times on the sheets"),
    "left_out": P_("audit", "Left out"),
    "answers": P_("audit", "the carrier's raw answers: sealed data, kept in the ledger"),
    "not_issued": P_("audit", "not issued"),
    "yes": P_("audit", "yes"),
    "no": P_("audit", "no"),
}


def tell(name: str, lang: Lang) -> str:
    """One text."""
    return translate.translated(_SAID[name], lang, "audit")


def heading(name: str, lang: Lang) -> str:
    """A column's heading."""
    if name in _HEADINGS:
        return translate.translated(_HEADINGS[name], lang, "audit")
    return translate.heading(name, lang)
