"""What the ledger's export says: its labels, and the headings of its sheets."""

from pipeline.messages import translate
from pipeline.model.columns import Lang
from pipeline.model.message import P_

#: Headings beside those of the vocabulary and of results.
_HEADINGS = {name: name for name in (
    P_("audit", "state"), P_("audit", "reason_code"), P_("audit", "detail"), P_("audit", "planned_at"),
    P_("audit", "sending_at"), P_("audit", "answered_at"), P_("audit", "ended_at"), P_("audit", "http_status"),
    P_("audit", "settled_as"), P_("audit", "settled_by"), P_("audit", "settled_at"), P_("audit", "entry"),
    P_("audit", "epoch_id"), P_("audit", "red_number"), P_("audit", "reversed_by"), P_("audit", "reversed_at"),
    P_("audit", "in_force"), P_("audit", "withdrawn_by"), P_("audit", "withdrawn_at"), P_("audit", "held"),
    P_("audit", "run"), P_("audit", "components"), P_("audit", "found_by"), P_("audit", "found_at"),
    P_("audit", "judged_at"), P_("audit", "command"), P_("audit", "version"), P_("audit", "as_of"),
    P_("audit", "files"), P_("audit", "started_at"), P_("audit", "exit_code"), P_("audit", "name"),
    P_("audit", "kind"), P_("audit", "sha256"), P_("audit", "handled_at"), P_("audit", "result"),
    P_("audit", "unfinished"), P_("audit", "noted_at"), P_("audit", "what"), P_("audit", "why"),
    P_("audit", "noted_by"), P_("audit", "since"), P_("audit", "closed_at"), P_("audit", "closed_by"),
    P_("audit", "role"), P_("audit", "person"), P_("audit", "plan"),
    P_("audit", "received_at"), P_("audit", "seal"), P_("audit", "archived"), P_("audit", "place"),
    P_("audit", "fact"), P_("audit", "value"),
)} | {
    "wire": P_("audit", "carrier's code"),
    "carried": P_("audit", "columns carried along"),
    "issued_text": P_("audit", "issued (on the statement)"),
    "old": P_("audit", "from"),
    "new": P_("audit", "to"),
}  # fmt: skip

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
    "prepared": P_("audit", "prepared"),
    "proposed": P_("audit", "proposed"),
    "approved": P_("audit", "approved"),
    "sent": P_("audit", "sent"),
    "reconciled": P_("audit", "reconciled"),
    "stopped": P_("audit", "stopped"),
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
