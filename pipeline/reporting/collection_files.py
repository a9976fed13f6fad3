"""The files that a collection ends in, the workbook and the report, each where it is asked for."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline.model.errors import Stop
from pipeline.model.itinerary_file import CollectedFile, NotReceived
from pipeline.model.money import money_text
from pipeline.reporting.collection_workbook import write_collection_workbook
from pipeline.reporting.json_report import VERSION, write_report
from pipeline.settlement.collection_result import Collected, Collection


def write_collection(said: Collection, target: Path | None, report: Path | None) -> Collected:
    """Write what is asked for; a failure of one does not lose the other, and the ledger has it all."""
    finished = Collected(said)
    if target is not None:
        try:
            finished = replace(finished, workbook=write_collection_workbook(said, target))
        except Stop as problem:
            finished = replace(finished, problems=(problem.message,))
    if report is not None:
        try:
            write_report(_report(said, finished.exit_code), report)
        except Stop as problem:
            finished = replace(finished, problems=(*finished.problems, problem.message))
    return finished


def _report(said: Collection, exit_code: int) -> dict[str, Any]:
    """The report's content, as plain values; texts are in English, as those of other reports are."""
    return {
        "version": VERSION,
        "command": "collect",
        "as_of": str(said.as_of),
        "exit_code": exit_code,
        "ledger": said.ledger,
        "archive": said.archive,
        "period": None
        if said.period is None
        else {"from": str(said.period.first), "to": str(said.period.last), "of": "issued"},
        "itineraries": {"issued": said.issued, **said.states},
        "settled": [
            {
                "request": one.attempt.request_id,
                "attempt": one.attempt.attempt,
                "status": one.state,
                "number": one.number,
            }
            for one in said.decided.settled
        ],
        "remaining_mails": said.remaining,
        "files": [_file(one) for one in said.files],
        "missing": [_missing(one) for one in said.not_received],
    }


def _file(one: CollectedFile) -> dict[str, Any]:
    data = one.file.data
    return {
        "place": [*one.file.place],
        "status": one.status,
        "same": one.same,
        "number": data.number if data else None,
        "tickets": [*data.tickets] if data else [],
        "amount": money_text(data.total) if data and data.total is not None and data.total >= 0 else None,
        "issued_on": str(data.issued_on) if data and data.issued_on else None,
        "seal": one.file.seal,
        "sources": data.sources if data else {},
        "sha256": one.file.sha256,
        "archived": one.file.archived or None,
        "request": (one.of.request_id if one.of else "") or None,
        "reasons": [str(reason) for reason in one.reasons],
    }


def _missing(one: NotReceived) -> dict[str, Any]:
    return {
        "ticket_no": one.ticket_no,
        "number": one.number,
        "amount": money_text(one.amount),
        "issued_on": str(one.issued),
        "days": one.days,
        "status": one.status,
        "request": one.request_id,
    }
