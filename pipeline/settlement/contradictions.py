"""What statements list of an attempt whose outcome is unknown, and what contradicts it, a person's answer included: then nothing is
settled.
"""

import datetime
from collections.abc import Mapping, Sequence

from pipeline.model.evidence import Answer, StatementLine, Unsettled
from pipeline.model.message import NOTHING, Fact, Message, Term, joined, message
from pipeline.model.request import Identity
from pipeline.settlement.match import MatchedLines
from pipeline.settlement.shared_numbers import line_of_others
from pipeline.settlement.voucher_numbers import has_shape

_DAY = datetime.timedelta(days=1)


def listed(
    attempt: Unsettled,
    lines: MatchedLines,
    taken: Mapping[str, Fact],
    gone: Mapping[Identity, tuple[str, str]],
) -> tuple[str | None, Message]:
    """(the number under which the statement lists all of it, else None; what is wrong with what it lists).

    `taken` says of a number what has it already; `gone` are charges whose voucher was reversed: its number, and when that was
    recorded (UTC, ISO 8601).
    """
    charges = [identity for identity, _, _ in attempt.charges]
    by_charge = {identity: lines.by_charge.get(identity, ()) for identity in charges}
    found = [line for those in by_charge.values() for line in those]
    if not found:
        return None, _other_kind(attempt, lines)
    numbers = sorted({line.number for line in found})
    vouchers = sorted({line.voucher for line in found})
    missing = [identity for identity, those in by_charge.items() if not those]
    if vouchers != [attempt.voucher]:
        problem = message(
            "it was asked for as {voucher}, and the statement lists it as {listed}",
            voucher=Term(attempt.voucher, "choice"),
            listed=joined((Term(voucher, "choice") for voucher in vouchers), "and"),
        )
    elif len(numbers) > 1:
        places = {line.number: line.place for line in reversed(found)}
        said = (message("{number} ({place})", number=number, place=places[number]) for number in numbers)
        problem = message("it is listed under several numbers: {numbers}", numbers=joined(said))
    elif early := _before(attempt, found):
        problem = message(
            "the statement says that {number} was issued on {day}, before it was asked for",
            number=early.number,
            day=str(early.issued_day),
        )
    elif missing:
        problem = message(
            "the statement lists only {listed} of its {count} charges as {number}; {ticket_no} is not among them",
            listed=len(charges) - len(missing),
            count=len(charges),
            number=numbers[0],
            ticket_no=missing[0].ticket_no,
        )
    elif line_of_others(numbers[0], attempt, lines):
        problem = message(
            "the statement lists {number} for charges of other requests, too", number=numbers[0]
        )
    elif holder := taken.get(numbers[0]):
        problem = message(
            "the statement lists it as {number}, which {holder} has already",
            number=numbers[0],
            holder=holder,
        )
    elif old := _may_be_gone(attempt, found, gone):
        problem = message(
            "the statement lists it as {number}, which may be its voucher {old}, that was reversed, under another number. If it is:"
            " voucher ledger reverse {number}; if not, answer on the sheet Unknown",
            number=numbers[0],
            old=old,
        )
    else:
        return numbers[0], NOTHING
    return None, problem


def only_as(number: str, attempt: Unsettled, lines: MatchedLines) -> bool:
    """Whether all that statements list of an attempt has this number; that others have it, too, is seen of all that is settled."""
    found = [line for identity, _, _ in attempt.charges for line in lines.by_charge.get(identity, ())]
    listed = {(line.number, line.voucher) for line in found}
    return listed == {(number, attempt.voucher)} and not _before(attempt, found)


def denied_listed(
    attempt: Unsettled,
    lines: MatchedLines,
    taken: Mapping[str, Fact],
    settle_after: datetime.timedelta | None,
) -> tuple[Unsettled, ...]:
    """The earlier attempts, said not to be issued, that explain all that is listed of this one; none where something is left."""
    numbers = {
        line.number for identity, _, _ in attempt.charges for line in lines.by_charge.get(identity, ())
    }
    explained = {
        number: one
        for one in attempt.denied
        for number in sorted(numbers - taken.keys())
        if _fits([line for line, _ in lines.by_number[number]], one, settle_after or datetime.timedelta())
    }
    return tuple(explained.values()) if explained.keys() == numbers else ()


def _fits(lines: Sequence[StatementLine], denied: Unsettled, settle_after: datetime.timedelta) -> bool:
    """Whether these lines are all of an attempt and nothing else: its charges, amounts, kind and day."""
    amounts = {identity: amount for identity, _, amount in denied.charges}
    last = datetime.datetime.fromisoformat(denied.ended) + settle_after
    return (
        {line.identity for line in lines} == amounts.keys()
        and not _before(denied, lines)
        and all(
            line.voucher == denied.voucher
            and line.amount in (None, amounts[line.identity])
            and (denied.times_doubtful or not line.issued_day or line.issued_day <= last.date() + _DAY)
            for line in lines
        )
    )


def _may_be_gone(
    attempt: Unsettled, found: Sequence[StatementLine], gone: Mapping[Identity, tuple[str, str]]
) -> str:
    """The number of a voucher that was reversed, which these lines may list in a way of numbering of their own; "" for none.

    A number as the service gives it is another voucher's than the one that was reversed, and so is one of a later day
    (two days: a day's difference may be the time zones').
    """
    for identity, _, _ in attempt.charges:
        number, at = gone.get(identity, ("", ""))
        later = datetime.datetime.fromisoformat(at).date() + _DAY if at else None
        for line in found:
            if (
                later
                and not has_shape(line.voucher, line.number)
                and (attempt.times_doubtful or not line.issued_day or line.issued_day <= later)
            ):
                return number
    return ""


def _before(attempt: Unsettled, found: Sequence[StatementLine]) -> StatementLine | None:
    """A line that was issued before it was first asked for; a day's difference may be the time zones'.

    It may be of an earlier attempt that was said by mistake not to be issued. None where a wrong clock said when that was.
    """
    if not attempt.first_asked:
        return None
    began = datetime.datetime.fromisoformat(attempt.first_asked).date()
    return next(
        (line for line in found if line.issued_day and line.issued_day < began - _DAY),
        None,
    )


def _other_kind(attempt: Unsettled, lines: MatchedLines) -> Message:
    """What is wrong where the ticket's other charge stands on the statement as the other kind of voucher."""
    for identity, _, _ in attempt.charges:
        for line, _ in lines.by_ticket.get(identity.ticket_no, ()):
            bound = {line.charge, identity.charge} <= {"ticket_fare", "refund"}
            if bound and line.voucher != attempt.voucher:
                return message(
                    "the statement lists an {voucher} of ticket {ticket_no} ({number}) instead",
                    voucher=Term(line.voucher, "choice"),
                    ticket_no=identity.ticket_no,
                    number=line.number,
                )
    return NOTHING


def answer_against(answer: Answer, number: str | None, *, silent: bool) -> Message:
    """How an answer contradicts the statements, which list its attempt under a number, or prove by silence that it was not issued."""
    if number is not None and (answer.state, answer.number) != ("issued", number):
        return message(
            "the statement lists it as {listed}, and {place} says {told}",
            listed=number,
            place=answer.place,
            told=message("issued as {number}", number=answer.number)
            if answer.state == "issued"
            else message("not issued"),
        )
    if silent and answer.state == "issued":
        return message(
            "{place} says issued as {number}, and the statement, said to be complete, does not list it",
            place=answer.place,
            number=answer.number,
        )
    return NOTHING
