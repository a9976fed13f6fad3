"""Vouchers that a statement's red lines show as reversed, recorded so that their charges may be issued again.

A reversal lets charges go, so it is believed only whole: of a voucher that the ledger holds as issued, and where the
red lines are about all its charges. Whatever else a red line says is asked about. Nothing is sent again here: that takes
somebody who starts `voucher issue`.
"""

import datetime
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from pipeline.ledger.operations import RunLedger
from pipeline.ledger.read_ledger import ReadLedger
from pipeline.ledger.reversals import Reversed, SaidReversed
from pipeline.model.errors import InputProblem
from pipeline.model.evidence import Evidence, Reversal
from pipeline.model.message import NOTHING, Message, message
from pipeline.model.request import Identity
from pipeline.model.settled import Trouble


@dataclass(frozen=True)
class Listed:
    """What red lines came to: those whose reversal was recorded, and troubles with the others, which are `left`."""

    recorded: tuple[Reversal, ...]
    troubles: tuple[Trouble, ...]
    left: tuple[Reversal, ...]


def record_reversals(
    ledger: RunLedger, run: int, listed: Iterable[Reversal], by: str, blue: AbstractSet[str]
) -> Listed:
    """Record the reversals that red lines show whole; what is recorded already is nothing new.

    `blue` are the numbers under which the statements list vouchers: none of them can be a red one's.
    """
    of: dict[str, list[Reversal]] = defaultdict(list)
    for red in listed:
        of[red.original].append(red)
    recorded: list[Reversal] = []
    troubles: list[Trouble] = []
    left: list[Reversal] = []
    for original, lines in of.items():
        if ledger.reversals_of([original]):
            continue
        problem = _objection(original, lines, ledger.charges_of_number(original), blue)
        if not problem:
            try:
                for red in lines:
                    ledger.check_red(original, red.number)
                said = SaidReversed(original, by, lines[0].place, lines[0].voucher, lines[0].number)
                ledger.reverse(said, run)
            except InputProblem as refused:
                problem = refused.message
        if problem:
            troubles.append(Trouble("reversal", lines[0].place, problem))
            left += lines
        else:
            recorded.append(lines[0])
    return Listed(tuple(recorded), tuple(troubles), tuple(left))


def reversal_notes(ledger: ReadLedger, recorded: Iterable[Reversal]) -> Iterator[Message]:
    """What follows of reversals that were recorded: their charges may be issued again, unless another voucher of them stands."""
    for red in recorded:
        identities = [of for one in ledger.reversals_of([red.original]) for of, _ in one.charges]
        held = ledger.holdings(sorted({of.ticket_no for of in identities})).held
        if other := next((held[of].number for of in identities if of in held), ""):
            yield message(
                "{number} was reversed by the carrier ({place}); its charges are not issued again, as {other} stands for one of them",
                number=red.original,
                place=red.place,
                other=other,
            )
        else:
            yield message(
                "{number} was reversed by the carrier ({place}); its charges may be issued again by voucher issue",
                number=red.original,
                place=red.place,
            )


def _objection(
    original: str, lines: Sequence[Reversal], charges: Mapping[Identity, int], blue: AbstractSet[str]
) -> Message:
    """Why red lines do not show that all of a voucher was reversed; NOTHING where they do."""
    if not charges:
        return message(
            "reverses {number}, which this ledger does not hold as issued; nothing was changed. If it is a voucher of yours under"
            " another number: voucher ledger reverse, with the number that voucher history shows",
            number=original,
        )
    tickets = {identity.ticket_no for identity in charges}
    if strange := next((red for red in lines if red.ticket_no not in tickets), None):
        return message(
            "reverses {number}, on which ticket {ticket_no} is not; nothing was changed. Ask the carrier",
            number=original,
            ticket_no=strange.ticket_no,
        )
    if both := next((red.number for red in lines if red.number in blue), ""):
        return message(
            "reverses {number} under the number {red}, under which a voucher is listed, too; nothing was changed. Ask the carrier",
            number=original,
            red=both,
        )
    # Line by line: one that fits several charges could be any of them, and stands for none.
    fitting = [[of for of, amount in charges.items() if _about(red, of, amount)] for red in lines]
    covered = {fits[0] for fits in fitting if len(fits) == 1}
    whole = len(lines) == 1 and 0 not in charges.values() and lines[0].amount == sum(charges.values())
    if len(covered) == len(charges) == len(lines) or whole:
        return NOTHING
    return message(
        "reverses only {covered} of the {count} charges of {number}; nothing was changed. If the carrier has reversed all of it:"
        " voucher ledger reverse",
        covered=len(covered),
        count=len(charges),
        number=original,
    )


def _about(red: Reversal, identity: Identity, amount: int) -> bool:
    """Whether a red line reverses this charge, all of it; where its amount is not known (0), an amount may be a part of it."""
    return (
        red.ticket_no == identity.ticket_no
        and red.charge in ("", identity.charge)
        and red.product in ("", identity.product)
        and red.amount in (None, amount)
    )


def without_reversed(ledger: ReadLedger, evidence: Evidence) -> tuple[Evidence, list[Trouble]]:
    """The evidence without the lines of vouchers that were reversed: they hold nothing, and settle nothing.

    A line under the number of what reversed one stays, and is told: either it or the record of the reversal is wrong.
    So is a voucher that a later statement lists as if it had not been reversed.
    """
    numbers = {line.number: line for line in evidence.lines}
    standing = ledger.reversals_of(numbers)
    gone = {(one.voucher, one.number, of.ticket_no) for one in standing for of, _ in one.charges}
    red = [(numbers[number], found) for number, found in ledger.reversed_by(numbers).items()]
    troubles = [
        Trouble(
            "contradiction",
            line.place,
            message(
                "lists a voucher under {red}, which is recorded as the number of what reversed {number} ({entry}); it settles"
                " nothing. Ask the carrier; if {entry} is the mistake: voucher ledger withdraw {entry}",
                red=line.number,
                number=original,
                entry=entry,
            ),
        )
        for line, (entry, original) in red
    ]
    troubles += _not_red(evidence, standing)
    if not gone:
        return evidence, troubles
    return replace(
        evidence,
        statements=tuple(
            replace(
                one,
                lines=tuple(
                    line for line in one.lines if (line.voucher, line.number, line.ticket_no) not in gone
                ),
            )
            for one in evidence.statements
        ),
    ), troubles


def _not_red(evidence: Evidence, standing: Iterable[Reversed]) -> Iterator[Trouble]:
    """Vouchers that a person said were reversed, and that a later statement lists though no statement has their red line.

    A reversal that a red line showed is the carrier's own word, and stays so where a later statement leaves that line out.
    A statement that does not say when it was made counts as made when its file was written: it may be older than the
    reversal, but to be silent about one that is newer costs a second voucher, and to tell one that is older a look.
    """
    shown = {red.original for red in evidence.reversals}
    for one in standing:
        if one.by_red_line or one.number in shown:
            continue
        recorded = datetime.datetime.fromisoformat(one.at)
        listed = (
            line.place
            for statement in evidence.statements
            if (statement.made or statement.written) >= recorded
            for line in statement.lines
            if (line.voucher, line.number) == (one.voucher, one.number)
        )
        if place := next(listed, None):
            yield Trouble(
                "contradiction",
                place,
                message(
                    "lists {number} without a line that reverses it (red), and {entry} records that it was reversed; nothing shows that"
                    " the statement is the older of the two. Ask the carrier before its charges are issued again. If {entry} is the"
                    " mistake: voucher ledger withdraw {entry}; if another statement has the red line, give both; if this one is"
                    " older, say so with --statement-made",
                    number=one.number,
                    entry=one.entry,
                ),
            )
