"""The report of a reconciliation: a run's report, with the comparison and what the evidence came to beside it."""

from typing import Any

from pipeline.model.quoting import bounded
from pipeline.model.table import money_text
from pipeline.reporting.json_report import report
from pipeline.settlement.compare import KINDS, Compared
from pipeline.settlement.reconciled import Reconciliation


def reconciled_report(done: Reconciliation, exit_code: int) -> dict[str, Any]:
    """The report's content, as plain values."""
    decided = done.decided
    return {
        **report(done.result, exit_code),
        "period": None
        if done.period is None
        else {"from": str(done.period.first), "to": str(done.period.last), "of": "issued"},
        "comparison": {kind: len(done.of(kind)) for kind in KINDS},
        "charges": [_entry(entry) for entry in done.entries],
        "settled": [
            {
                "request": one.attempt.request_id,
                "attempt": one.attempt.attempt,
                "status": one.state,
                "number": one.number or None,
                "settled_by": one.settled_by,
                "evidence": str(one.evidence),
            }
            for one in decided.settled
        ],
        "problems": [
            *(
                {"code": t.code, "place": str(t.place), "message": bounded(str(t.message))}
                for t in decided.troubles
            ),
            *(
                {"code": "unreadable", "place": str(unread.path), "message": bounded(str(unread.problem))}
                for unread in done.unread
            ),
        ],
        "warnings": [str(said) for said in (*decided.warnings, *done.notes)],
        "unknown": [
            {
                "request": doubt.request_id,
                "attempt": doubt.attempt,
                "voucher": doubt.voucher,
                "amount": money_text(doubt.amount),
            }
            for doubt in done.result.doubts
        ],
    }


def _entry(entry: Compared) -> dict[str, Any]:
    line = entry.line
    return {
        "kind": entry.kind,
        "ticket_no": entry.ticket_no,
        "charge": entry.charge,
        "product": entry.product,
        "voucher": entry.voucher or (line.voucher if line else ""),
        "amount": None if entry.amount is None else money_text(entry.amount),
        "number": entry.number or None,
        "status": entry.status or None,
        "request": entry.request_id or None,
        "last_day": str(entry.last_day) if entry.last_day else None,
        "differing": list(entry.differing),
        "statement": None
        if line is None
        else {
            "voucher": line.voucher,
            "number": line.number,
            "amount": None if line.amount is None else money_text(line.amount),
            "issued_at": line.issued_text or None,
            "place": str(line.place),
        },
    }
