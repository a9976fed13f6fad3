"""What it proves that the statements list nothing of an attempt: nothing, but where `silence` says so.

And only where every line of its tickets is known for what it is: the carrier may call the doubtful charge by another's word.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.model.evidence import Evidence, Unsettled
from pipeline.model.known_charges import KnownCharge
from pipeline.model.message import NOTHING, Message, Term, joined, message
from pipeline.model.request import Identity
from pipeline.model.settled import Trouble
from pipeline.settlement.match import MatchedLines
from pipeline.settlement.silence import Completeness, agrees


@dataclass(frozen=True)
class Silence:
    """What the statements do not list; `held` is what the ledger holds of the tickets on `lines` and of those in doubt."""

    evidence: Evidence
    lines: MatchedLines
    held: Mapping[Identity, KnownCharge]
    complete: Completeness

    @property
    def claimed(self) -> bool:
        """Whether somebody says of statements that they are complete."""
        return bool(self.evidence.complete and self.evidence.statements)

    def unproven(self, attempt: Unsettled) -> Message:
        """Why it proves nothing that the statements do not list an attempt; NOTHING where they would if it had been issued."""
        if (attempt.request_id, attempt.attempt) in self.evidence.unclear:
            return message("an answer about it lacks something; complete the answer first")
        return self._not_known(attempt) or self.complete.unproven(attempt)

    def _not_known(self, attempt: Unsettled) -> Message:
        """A line of one of its tickets that is not that of another charge held as issued: it may be the doubtful one's.

        Whatever charge it names. One voucher of ours explains one number.
        """
        explained: dict[Identity, str] = {}
        for ticket_no in sorted({identity.ticket_no for identity, _, _ in attempt.charges}):
            for line, identity in self.lines.by_ticket.get(ticket_no, ()):
                if (
                    identity is None
                    or (holding := self.held[identity]).state != "issued"
                    or holding.elsewhere
                    or not agrees(holding, line)
                    or explained.setdefault(identity, line.number) != line.number
                ):
                    return message(
                        "they list a voucher of ticket {ticket_no} ({number}) that is none of those known here",
                        ticket_no=ticket_no,
                        number=line.number,
                    )
        return NOTHING

    def told(self, attempt: Unsettled) -> Message:
        """The evidence for an attempt about which silence proves something."""
        evidence = self.evidence
        names = joined(f"{statement.name} ({statement.sha256[:12]})" for statement in evidence.statements)
        claim, others = self.complete.claim_for(attempt)
        return message(
            "not on the carrier's statement {names}, which {by} says is complete for {days}, and which lists {count} others of that"
            " kind",
            names=names,
            by=evidence.by,
            days=claim.text,
            count=others,
        )

    def incomplete(self) -> list[Trouble]:
        """Statements that lack what this ledger issued in their time are not complete, whoever says so."""
        names = joined(statement.name for statement in self.evidence.statements)
        return [
            Trouble(
                "contradiction",
                names,
                message(
                    "is said to be complete for {days}, and lacks {count} requests of that kind ({kind}) that were issued then, such"
                    " as {number}; so what it does not list of them is not taken for not issued",
                    days=claim.text,
                    count=len(lacking),
                    kind=Term(kind, "choice"),
                    number=lacking[0].number,
                ),
            )
            for claim, kind, lacking in self.complete.lacking()
        ]
