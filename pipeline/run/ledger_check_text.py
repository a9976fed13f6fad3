"""What looking a ledger over has found, in lines for people."""

from collections.abc import Iterator, Mapping
from pathlib import PurePath

from pipeline.ledger.clock import local_text
from pipeline.model.message import P_, Message, Term, joined, message
from pipeline.run.ledger_maintenance import LookedOver

#: States in which an attempt does not end: all others are statuses of rows too.
_UNDER_WAY = (P_("status", "planned"), P_("status", "sending"))


def _attempts(states: Mapping[str, int]) -> Message:
    """How many attempts are in which state."""
    if not states:
        return message("Attempts: none")
    counts = [
        message("{count} {state}", count=count, state=Term(state, "status"))
        for state, count in states.items()
    ]
    return message("Attempts: {states}", states=joined(counts))


def check_lines(found: LookedOver) -> Iterator[Message]:
    """What was found of a ledger."""
    looked = found.looked
    yield message("Ledger: {path}", path=found.name)
    yield message(
        "Carrier: {base_url} as agency {agency}; version {version}; runs: {runs}",
        base_url=looked.base_url,
        agency=looked.agency,
        version=looked.version,
        runs=looked.runs,
    )
    yield _attempts(looked.states)
    if looked.open_since:
        yield message(
            "A run that began at {begun} is on, or was killed; the next run puts it in order",
            begun=local_text(looked.open_since),
        )
    elif found.outcomes_wait:
        yield message(
            "Outcomes that the ledger could not take wait in {name}.spill; the next run takes them in",
            name=PurePath(found.name).name,
        )
    if looked.gap:
        yield message(
            "Gap: it may lack what was issued after {since} ({why}); nothing is sent until voucher ledger"
            " close-gap",
            since=local_text(looked.gap.since),
            why=looked.gap.why,
        )
    if found.sound and looked.gap:
        yield message("Sound but for what it may lack")
    elif found.sound:
        yield message("Sound: nothing is wrong with it")
    if not looked.wrong:
        return
    yield from (message("WRONG: {line}", line=line) for line in looked.wrong)
    yield message(
        "Send nothing with it. Restore its backup, and settle what was issued since (`voucher help ledger`)"
    )
