"""Statement lines that nothing this ledger issued explains: they are held as issued elsewhere, and asked about where unclear."""

from collections.abc import Mapping, Sequence

from pipeline.model.evidence import StatementLine
from pipeline.model.known_charges import KnownCharge
from pipeline.model.message import message
from pipeline.model.request import Identity
from pipeline.model.settled import Settled, Trouble
from pipeline.settlement.match import MatchedLines
from pipeline.settlement.voucher_numbers import of_other_vouchers


def ambiguous(
    lines: MatchedLines, held: Mapping[Identity, KnownCharge], settled: Sequence[Settled]
) -> list[Trouble]:
    """Lines that do not say which ancillary product they are about, and so may speak of a charge in doubt or of another one."""
    doubtful = {(i.ticket_no, i.charge) for i, holding in held.items() if holding.state == "unknown"}
    numbers = _numbers(settled)
    return [
        Trouble(
            "ambiguous",
            line.place,
            message(
                "lists an ancillary charge of ticket {ticket_no} as {number} and does not say which; it settles nothing. Ask the"
                " carrier, and answer on the sheet Unknown",
                ticket_no=line.ticket_no,
                number=line.number,
            ),
        )
        for line, identity in lines.pairs
        if identity is None
        and not line.product
        and (line.ticket_no, line.charge) in doubtful
        and line.number not in numbers
    ]


def issued_elsewhere(
    lines: MatchedLines, held: Mapping[Identity, KnownCharge], settled: Sequence[Settled]
) -> list[StatementLine]:
    """Lines of charges that no attempt of this ledger issued, and those that contradict themselves about one.

    They are held, and remembered: what was said once counts at the next reconciliation, too. So are those that do not
    say which ancillary product they are about, unless their number is that of ours, and second vouchers of a charge: when ours is
    reversed, they still stand.
    """
    ours = {identity for one in settled for identity, _, _ in one.attempt.charges if one.state == "issued"}
    numbers = _numbers(settled)
    issued = [
        (line, held[of])
        for line, of in lines.pairs
        if of and held[of].state == "issued" and not held[of].elsewhere
    ]
    second = {
        line.content for (line, _), other in zip(issued, of_other_vouchers(issued), strict=True) if other
    }

    def to_hold(line: StatementLine, identity: Identity | None) -> bool:
        if identity is None:
            return line.number not in numbers
        of = held[identity]
        unsaid = not line.product and of.number != line.number
        doubtful = of.elsewhere or of.state == "unknown" or unsaid
        return identity not in ours and (doubtful or line.content in second)

    return [line for line, identity in lines.pairs if to_hold(line, identity)]


def _numbers(settled: Sequence[Settled]) -> set[str]:
    """The numbers of what is settled as issued: a line under one of them is of it, or it would not be settled (shared_numbers)."""
    return {one.number for one in settled if one.state == "issued"}
