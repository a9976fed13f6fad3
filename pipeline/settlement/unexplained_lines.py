"""Statement lines that nothing this ledger issued explains: they are held as issued elsewhere, and asked about where unclear."""

from collections.abc import Mapping, Sequence

from pipeline.model.evidence import StatementLine
from pipeline.model.known_charges import KnownCharge
from pipeline.model.message import message
from pipeline.model.request import Identity
from pipeline.model.settled import Settled, Trouble
from pipeline.settlement.match import MatchedLines


def ambiguous(
    lines: MatchedLines, held: Mapping[Identity, KnownCharge], settled: Sequence[Settled]
) -> list[Trouble]:
    """Lines that do not say which ancillary product they are about, and so may speak of a charge in doubt or of another one."""
    doubtful = {(i.ticket_no, i.charge) for i, holding in held.items() if holding.state == "unknown"}
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
        and not _settled_as(line, settled)
    ]


def issued_elsewhere(
    lines: MatchedLines, held: Mapping[Identity, KnownCharge], settled: Sequence[Settled]
) -> list[StatementLine]:
    """Lines of charges that no attempt of this ledger issued, and those that contradict themselves about one.

    They are held, and remembered: what was said once counts at the next reconciliation, too. So are those that do not
    say which ancillary product they are about, unless their number is that of ours.
    """
    ours = {identity for one in settled for identity, _, _ in one.attempt.charges if one.state == "issued"}

    def to_hold(line: StatementLine, identity: Identity | None) -> bool:
        if identity is None:
            return bool(line.product) or not _settled_as(line, settled)
        of = held[identity]
        unsaid = not line.product and of.number != line.number
        return identity not in ours and (of.elsewhere or of.state == "unknown" or unsaid)

    return [line for line, identity in lines.pairs if to_hold(line, identity)]


def _settled_as(line: StatementLine, settled: Sequence[Settled]) -> bool:
    """Whether a charge of the line's ticket is settled as issued under its number."""
    return any(
        one.number == line.number and any(of.ticket_no == line.ticket_no for of, _, _ in one.attempt.charges)
        for one in settled
    )
