"""A ticket's history as lines of text: every attempt, answer and settlement, in time order."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.table import money_text


def _events(attempt: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(time, what happened) of one attempt at one charge."""
    what = f"{attempt['charge']}/{attempt['product']} {money_text(attempt['amount'])} as {attempt['voucher']}"
    name = f"request {attempt['request_id']}, attempt {attempt['attempt']}"
    place = f"{attempt['file']}, {attempt['sheet']}, row {attempt['row']}"
    if attempt["sending_at"]:
        yield (
            attempt["sending_at"],
            f"sending {what} for {attempt['header_name']} ({name}, run {attempt['run']}; {place})",
        )
    else:
        yield attempt["planned_at"], f"planned {what} ({name}, run {attempt['run']}; {place})"
    if attempt["answered_at"]:
        yield attempt["answered_at"], f"answered with HTTP {attempt['http_status']} ({name})"
    settled = attempt["settled_as"] is not None
    if attempt["ended_at"]:
        state = "unknown" if settled else attempt["state"]
        said = [attempt["number"] if not settled else "", attempt["reason"], attempt["detail"]]
        trace = f"trace {attempt['trace_id']}" if attempt["trace_id"] else ""
        yield attempt["ended_at"], f"{state} {' '.join(part for part in (*said, trace) if part)} ({name})"
    if settled:
        number = f" {attempt['number']}" if attempt["number"] else ""
        by = f"by {attempt['settled_by']}: {attempt['evidence']}"
        yield attempt["settled_at"], f"settled as {attempt['settled_as']}{number} {by} ({name})"


def history_lines(known: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[str]:
    """Each ticket with its events below it; one that the ledger does not know is named as such."""
    for ticket, attempts in known.items():
        events = sorted(event for attempt in attempts for event in _events(attempt))
        yield f"{ticket[:3]}-{ticket[3:]}" + ("" if events else ": the ledger knows nothing of it")
        yield from (f"  {at}  {what}" for at, what in events)
