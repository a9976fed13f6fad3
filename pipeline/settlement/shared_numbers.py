"""One number for two requests: then neither is settled, for nobody here knows whose it is."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from pipeline.model.evidence import StatementLine, Unsettled, attempt_name
from pipeline.model.message import Fact, message
from pipeline.model.settled import Settled, Trouble
from pipeline.settlement.match import MatchedLines


def line_of_others(number: str, attempt: Unsettled, lines: MatchedLines) -> StatementLine | None:
    """A line that has this number for what is none of an attempt's charges. One that names no product may be any of its ticket's."""
    charges = {identity for identity, _, _ in attempt.charges}
    named = {(identity.ticket_no, identity.charge) for identity in charges}
    for line, of in lines.by_number.get(number, ()):
        if of not in charges and (of or line.product or (line.ticket_no, line.charge) not in named):
            return line
    return None


def without_shared_numbers(
    settled: Sequence[Settled], lines: MatchedLines, taken: Mapping[str, Fact]
) -> tuple[list[Settled], list[Trouble]]:
    """What is settled under numbers of its own, and what is wrong with the rest; `taken` says of a number what has it already."""
    having: dict[str, list[Settled]] = defaultdict(list)
    for one in settled:
        having[one.number].append(one)
    clear, troubles = [], []
    for one in settled:
        others = [other for other in having[one.number] if other.attempt.attempt_id != one.attempt.attempt_id]
        holder: Fact = taken.get(one.number, "")
        if others and not holder:
            holder = message(
                "another request ({request}; {place})",
                request=others[0].attempt.request_id,
                place=others[0].place,
            )
        if (listed := line_of_others(one.number, one.attempt, lines)) and not holder:
            holder = message(
                "another request (ticket {ticket_no} on a statement)", ticket_no=listed.ticket_no
            )
        if one.number and holder:
            problem = message(
                "is said to be issued as {number} ({place}), and {holder} has that number, too; nothing is settled by it. Ask the"
                " carrier whose number it is, and correct the other",
                number=one.number,
                place=one.place,
                holder=holder,
            )
            troubles.append(Trouble("contradiction", attempt_name(one.attempt), problem))
        else:
            clear.append(one)
    return clear, troubles
