"""The shapes of vouchers' numbers: what a statement's numbers say about its kinds of voucher, and about itself.

The carrier's interface shows an invoice's ID with 18 digits and an itinerary's number with 20 (carrier-interface.md,
Invoice result and Itinerary result). A carrier may number the invoices of its statements in a way of its own; that is
believed of a statement that has our own vouchers under such numbers, and of no other.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pipeline.model.errors import InputProblem
from pipeline.model.evidence import (
    OWN_NEEDED,
    Misread,
    Statement,
    StatementLine,
    attempt_name,
)
from pipeline.model.known_charges import KnownCharge
from pipeline.model.message import Message, Term, message
from pipeline.model.request import Identity
from pipeline.model.settled import Settled
from pipeline.settlement.match import matched, shape

_DIGITS = {"invoice": 18, "itinerary": 20}
_EXACT_DIGITS = 15  # of a number, that a spreadsheet keeps
_OTHER = {"invoice": "itinerary", "itinerary": "invoice"}


def has_shape(voucher: str, number: str) -> bool:
    """Whether a number looks like those that the carrier's interface shows for this kind of voucher."""
    return re.fullmatch(f"[0-9]{{{_DIGITS[voucher]}}}", number) is not None


def odd_numbers(settled: Sequence[Settled]) -> list[Message]:
    """Warnings of numbers that are recorded, and do not look like those that the carrier's interface shows."""
    return [
        message(
            "{attempt}: the number {number} has another shape than the carrier's interface shows; it is recorded as it is",
            attempt=attempt_name(one.attempt),
            number=one.number,
        )
        for one in settled
        if one.number and not has_shape(one.attempt.voucher, one.number)
    ]


def check_kinds(statement: Statement, held: Mapping[Identity, KnownCharge]) -> None:
    """Refuse a statement whose numbers, on most lines of a kind, are those of the other kind. Raises InputProblem.

    `held` is what the ledger holds of the statement's tickets.
    """
    believed = _believed(statement.lines, held)
    for kind, other in _OTHER.items():
        lines = [line for line in statement.lines if line.voucher == kind]
        odd = [
            line
            for line in lines
            if has_shape(other, line.number) and (kind, shape(line.number)) not in believed
        ]
        if 2 * len(odd) > len(lines):
            raise InputProblem(
                "{place}: is said to be an {kind}, and its number {number} has the {digits} digits of an {other}, as have {odd} of"
                " {lines} such lines; nothing was recorded. Correct the column that says the kind of voucher, or ask the carrier"
                " for a statement with the numbers that its service returned",
                place=odd[0].place, kind=Term(kind, "choice"), number=odd[0].number, digits=_DIGITS[other],
                other=Term(other, "choice"), odd=len(odd), lines=len(lines),
            )  # fmt: skip


def without_odd_numbers(
    statement: Statement, held: Mapping[Identity, KnownCharge], *, holding: bool
) -> Statement:
    """The statement with lines of an odd number set aside, among those that can't be understood: a person is asked about them.

    What it lists of vouchers that the ledger has issued is compared whatever its number. `holding`: the charges of such
    lines will be held all the same.
    """
    statement = _without_rounded(statement, held)
    believed = _believed(statement.lines, held)
    found = matched(statement.lines, held)
    kept: list[StatementLine] = []
    odd: list[StatementLine] = []
    for at, line in enumerate(statement.lines):
        identity = found[at]
        if (
            has_shape(line.voucher, line.number)
            or (line.voucher, shape(line.number)) in believed
            or (identity is not None and _is_own(held[identity]))
        ):
            kept.append(line)
        else:
            odd.append(line)
    told = (Misread(line.place, line.ticket_no, _odd(line, holding=holding)) for line in odd)
    return replace(statement, lines=tuple(kept), misread=(*statement.misread, *told), set_aside=tuple(odd))


def _without_rounded(statement: Statement, held: Mapping[Identity, KnownCharge]) -> Statement:
    """The statement without lines whose number is the ledger's own, rounded: a number that stands alone shows that by nothing else."""
    found = matched(statement.lines, held)
    own = [held[of] if (of := found[at]) else None for at in range(len(statement.lines))]
    rounded = [
        of is not None and line.number in _rounded(of) for line, of in zip(statement.lines, own, strict=True)
    ]
    told = [
        Misread(
            line.place,
            line.ticket_no,
            message(
                "the number {number} is {own} as a spreadsheet rounds it, which keeps 15 digits; have it as text",
                number=line.number,
                own=of.number,
            ),
        )
        for line, of, bad in zip(statement.lines, own, rounded, strict=True)
        if bad and of
    ]
    kept = tuple(line for line, bad in zip(statement.lines, rounded, strict=True) if not bad)
    return replace(statement, lines=kept, misread=(*statement.misread, *told)) if told else statement


def _rounded(holding: KnownCharge) -> set[str]:
    """What a spreadsheet makes of the number under which this was issued: cut off after 15 digits, or rounded to them."""
    number = holding.number
    if not _is_own(holding) or not re.fullmatch(f"[1-9][0-9]{{{_EXACT_DIGITS},}}", number):
        return set()
    unit = 10 ** (len(number) - _EXACT_DIGITS)
    return {str(int(number) // unit * unit), str((int(number) + unit // 2) // unit * unit)} - {number}


def _odd(line: StatementLine, *, holding: bool) -> Message:
    """What is told of a line that is set aside."""
    voucher, digits = Term(line.voucher, "choice"), _DIGITS[line.voucher]
    if holding:
        return message(
            "the number {number} is not one of an {voucher} as the carrier's interface shows it ({digits} digits). As this ledger"
            " may lack what was issued, its charge is held all the same. If the file is no statement of the carrier's, withdraw"
            " that (voucher ledger withdraw) by the entry that voucher history shows",
            number=line.number,
            voucher=voucher,
            digits=digits,
        )
    return message(
        "the number {number} is not one of an {voucher} as the carrier's interface shows it ({digits} digits), nor are {count}"
        " vouchers of this ledger listed under such numbers. If the file is no statement of the carrier's, take it away; if it"
        " is, ask the carrier for the number that its service returned",
        number=line.number,
        voucher=voucher,
        digits=digits,
        count=OWN_NEEDED,
    )


def _is_own(holding: KnownCharge) -> bool:
    return holding.state == "issued" and not holding.elsewhere


def _believed(lines: Sequence[StatementLine], held: Mapping[Identity, KnownCharge]) -> set[tuple[str, str]]:
    """(kind, shape) of numbers under which a statement lists vouchers of that kind that this ledger has issued."""
    found = matched(lines, held)
    listed: Counter[tuple[str, str]] = Counter()
    for at, line in enumerate(lines):
        identity = found[at]
        holding = held[identity] if identity else None
        if holding is None or not _is_own(holding) or holding.voucher != line.voucher:
            continue
        same = line.number == holding.number
        listed[line.voucher, shape(line.number)] += OWN_NEEDED if same else 1
    return {key for key, count in listed.items() if count >= OWN_NEEDED}


def shows_our_ids(ours: Iterable[tuple[StatementLine, KnownCharge]]) -> bool:
    """Whether a statement gives invoices the IDs that the carrier returned for them: one equal number is no chance.

    A number that evidence settled (its attempt has the reason of its doubt) may come from such a statement, in a numbering of
    the carrier's own; that makes its shape believed (`_believed`), and says nothing of IDs.
    """
    return any(line.number == of.number and not of.reason for line, of in ours)


def of_other_vouchers(ours: Sequence[tuple[StatementLine, KnownCharge]]) -> list[bool]:
    """Of lines with the issued charges that they are about, which are of another voucher than ours: their number can't be ours.

    An invoice's may be the carrier's own number of ours, unless its statement shows our IDs, or the charge is listed or held as settled
    under another number of that make: one charge under two such numbers has two vouchers, be they on two statements.
    """
    by_statement = defaultdict(list)
    numbers = defaultdict(set)
    for line, of in ours:
        numbers[of.identity, shape(line.number)].add(line.number)
        if of.reason:
            numbers[of.identity, shape(of.number)].add(of.number)
        if line.voucher == of.voucher == "invoice":
            by_statement[line.statement].append((line, of))
    shown = {name for name, lines in by_statement.items() if shows_our_ids(lines)}
    return [
        line.number != of.number
        and (
            "itinerary" in (line.voucher, of.voucher)
            or line.statement in shown
            or len(numbers[of.identity, shape(line.number)]) > 1
        )
        for line, of in ours
    ]
