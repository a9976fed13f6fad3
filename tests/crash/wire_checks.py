"""What must hold of a case once it has been played: the promise, point by point."""

from collections.abc import Iterator, Mapping, Sequence

from pipeline.model.message import to_text
from pipeline.model.outcome import Result
from pipeline.submission.retry import TRIES
from tests.crash.wire_bench import Case, Row, Unreached
from tests.crash.wire_server import API_KEY, ENCRYPTION_KEY, Asked, Log

Rows = Mapping[str, Sequence[Row]]


def problems(case: Case, rows: Rows) -> list[str]:
    """Everything that is not as it must be."""
    found = [*case.log.broken]
    for request, result in zip(case.requests, case.results, strict=True):
        found += on_disk(result, rows.get(request.charges[0].identity.ticket_no, ()))
    found += kept_promise(case.results, case.log, rows)
    found += _outcomes(case)
    found += _answers(case, rows)
    found += _connections(case)
    return found


def on_disk(result: Result, rows: Sequence[Row]) -> Iterator[str]:
    """What is returned is what the ledger has; every attempt before the last reached nobody."""
    if not rows:
        if result.outcome.state != "not_sent" or result.outcome.reason != "run_stopped":
            yield f"{result.outcome.state} is not in the ledger at all"
        return
    last, told = rows[-1], result.outcome
    if last.state == "planned" and len(rows) > 1 and told.reason != "run_stopped":
        last = rows[-2]  # the run stopped while the next attempt was planned, which is forgotten
    if last.state == "planned":
        if told.reason != "run_stopped":
            yield f"{told.state} {told.reason} is returned of an attempt that was never claimed"
    elif (last.state, last.reason, last.number, last.trace_id, last.detail) != (
        told.state, told.reason, told.number, told.trace_id, to_text(told.detail),
    ):  # fmt: skip
        yield f"the ledger says {last}, the result {told}"
    if any(row.state != "not_sent" for row in rows[:-1]):
        yield f"tried again after {[row.state for row in rows]}"
    if any(secret in repr(result) for secret in (API_KEY, ENCRYPTION_KEY)):
        yield "a key is in the result"


def kept_promise(results: Sequence[Result], log: Log, rows: Rows) -> Iterator[str]:
    """Against the carrier's own record: nothing issued twice, nothing issued and denied, no claim sent twice."""
    claimed = 0
    for result in results:
        for charge in result.request.charges[:1]:
            ticket = charge.identity.ticket_no
            mine = rows.get(ticket, ())
            claims = sum(row.claimed for row in mine)
            claimed += claims
            asked = sum(ticket in request.tickets for request in log.asked)
            if asked > claims:
                yield f"{ticket}: {asked} requests on the wire, {claims} claims in the ledger"
            numbers = log.numbers(ticket)
            if len(numbers) > 1:
                yield f"{ticket}: issued {len(numbers)} times"
            if mine:
                yield from _against(ticket, mine[-1], numbers)
    if len(log.touched) > claimed:
        yield f"{len(log.touched)} requests reached the carrier, {claimed} were claimed"


def _against(ticket: str, row: Row, numbers: Sequence[str]) -> Iterator[str]:
    if row.state == "issued" and row.number not in numbers:
        yield f"{ticket}: the ledger has number {row.number}, the carrier issued {numbers}"
    if numbers and row.state not in ("issued", "unknown"):
        yield f"{ticket}: the carrier issued {numbers}, the ledger says {row.state} {row.reason}"


def _outcomes(case: Case) -> Iterator[str]:
    """The table's expectation, and whether the run went on."""
    fault = case.fault
    first, hit, after = case.results
    if first.outcome.state != "issued":
        yield f"the good request before it is {first.outcome}"
    told = hit.outcome
    if told.state not in fault.expected:
        yield f"expected {fault.expected}, got {told}"
    elif told.state != "issued" and told.reason not in fault.reason:
        yield f"expected reason {fault.reason}, got {told}"
    elif told.state == "issued":
        own = fault.number(Asked(case.voucher, (hit.request.charges[0].identity.ticket_no,), b"", 0))
        if told.number != own:
            yield f"expected number {own}, got {told.number}"
    tries = TRIES if told.state == "not_sent" and not fault.stops else 1
    if (
        hit.attempt != tries and not fault.idle
    ):  # on a line that is not quiet it may be left unsent, and go again
        yield f"expected {tries} attempts, got {hit.attempt}"
    yield from _onward(case, after)


def _onward(case: Case, after: Result) -> Iterator[str]:
    """Whether the run goes on, and in step, or stops."""
    if case.fault.stops:
        if (after.outcome.state, after.outcome.reason) != ("not_sent", "run_stopped") or not case.stopped:
            yield f"the run should stop, but the next request is {after.outcome}"
    elif case.stopped:
        yield f"the run should go on, but it stopped: {case.stopped}"
    elif after.outcome.state != "issued" and not (case.fault.stray and after.outcome.state == "unknown"):
        yield f"the good request after it is {after.outcome}"
    if any(secret in case.stopped for secret in (API_KEY, ENCRYPTION_KEY)):
        yield "a key is in the reason for stopping"


def _answers(case: Case, rows: Rows) -> Iterator[str]:
    """A whole answer is in the ledger as it was sent; where none came whole, none is."""
    ticket = case.requests[1].charges[0].identity.ticket_no
    hit = list(rows.get(ticket, ()))
    if case.fault.whole:
        kept = [(row.http_status, row.answer) for row in hit]
        sent = case.log.answers[1 : 1 + len(hit)]
        if case.fault.ahead:
            sent = [answer for answer in case.log.answers if answer in kept]
        if kept != sent:
            yield f"the ledger has answers {kept!r:.200}, the carrier sent {sent!r:.200}"
    elif hit and hit[-1].state == "unknown" and hit[-1].reason == "no_answer" and hit[-1].answer is not None:
        yield "no answer, and yet there is one in the ledger"


def _connections(case: Case) -> Iterator[str]:
    """The fault met the kind of connection it was meant for; a connection is used again only after a clear yes."""
    touched = case.log.touched
    if len(touched) > 1 and not case.fault.idle and (touched[0] == touched[1]) is not case.reused:
        yield f"the connections were {touched}, which is not {'reused' if case.reused else 'fresh'}"
    again = len(touched[1:]) - len(set(touched[1:]))
    # A request that left between its tries, and was issued, leaves them its connection.
    if case.results[1].outcome.state != "issued" and again > case.fault.ahead:
        yield f"after {case.results[1].outcome.state} the connection was used again: {touched}"


def unreached_problems(case: Unreached, rows: Rows) -> list[str]:
    """Nothing reached anybody, it is told so, and not even a proxy has heard the key."""
    found = [line for log in case.logs for line in log.broken]
    expected = case.way.state
    for result in case.results:
        mine = rows.get(result.request.charges[0].identity.ticket_no, ())
        found += on_disk(result, mine)
        if case.way.state == "either":  # by who was first
            expected = "not_sent" if result.outcome.state == "not_sent" else "unknown"
        if result.outcome.state != expected or (
            expected != "issued" and result.outcome.reason not in case.way.reason
        ):
            found.append(f"expected {expected} {case.way.reason}, got {result.outcome}")
        if case.way.state != "either" and result.attempt != (TRIES if expected == "not_sent" else 1):
            found.append(f"{result.attempt} attempts")
    touched = sum(len(log.touched) for log in case.logs)
    if touched > (0 if expected == "not_sent" else len(case.results)):
        found.append(f"{touched} requests reached somebody")
    if (
        expected != "issued"
        and case.way.name.startswith("the proxy")
        and any(API_KEY.encode() in log.heard for log in case.logs)
    ):
        found.append("the key was sent to the proxy")
    if case.stopped:
        found.append(f"the run should go on, but it stopped: {case.stopped}")
    return found
