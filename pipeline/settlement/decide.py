"""What evidence settles: the carrier's statements and people's answers, against the unknown outcomes.

An outcome is settled only where all that is said of it agrees. A contradiction settles nothing, and is
reported with both sides. What a statement does not list is settled as not issued only where somebody says that
the statements are complete, and only long enough before they were made (carrier-interface.md shows no way to ask
the carrier, so a statement is all there is).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pipeline.model.evidence import Answer, Evidence, StatementLine, Unsettled, attempt_name
from pipeline.model.known_charges import KnownCharge
from pipeline.model.message import NOTHING, Fact, Message, SheetName, joined, message, verbatim
from pipeline.model.places import about
from pipeline.model.request import Identity
from pipeline.model.settled import Decided, Settled, Trouble
from pipeline.settlement.contradictions import answer_against, denied_listed, listed, only_as
from pipeline.settlement.match import MatchedLines
from pipeline.settlement.shared_numbers import without_shared_numbers
from pipeline.settlement.silence import Completeness, Silence, issued_requests
from pipeline.settlement.unexplained_lines import ambiguous, issued_elsewhere
from pipeline.settlement.voucher_numbers import odd_numbers


@dataclass(frozen=True)
class InLedger:
    """What the ledger knows that evidence is weighed against.

    `held` is what it holds of the tickets on the statements and of those in doubt; `taken` says of a number
    what has it already; `earlier` is what earlier statements showed of the tickets in doubt and under
    the numbers that are brought; `issued` is what this ledger issued in the days for which the statements are said to be
    complete; `gone` are charges whose voucher was reversed: its number, and when that was recorded (UTC, ISO 8601). `filed` are the
    IDs of attempts about which itinerary files came.
    """

    held: Mapping[Identity, KnownCharge]
    taken: Mapping[str, Fact]
    earlier: Sequence[StatementLine]
    issued: Sequence[KnownCharge]
    gone: Mapping[Identity, tuple[str, str]]
    filed: frozenset[int] = frozenset()


def decide(unsettled: Sequence[Unsettled], evidence: Evidence, ledger: InLedger) -> Decided:
    """Weigh the evidence; nothing is changed here."""
    known = {line.content for line in evidence.lines}
    earlier = (line for line in ledger.earlier if line.content not in known)
    lines = MatchedLines.of((*evidence.lines, *earlier), ledger.held)
    brought = MatchedLines(lines.pairs[: len(evidence.lines)])
    complete = Completeness(
        evidence.complete,
        evidence.statements,
        evidence.lines,
        # A red line may be about whatever was issued of its ticket.
        [*(line.ticket_no for line in evidence.misread), *(red.ticket_no for red in evidence.reversals)],
        issued_requests(ledger.issued, brought),
        evidence.settle_after,
    )
    silence = Silence(evidence, lines, ledger.held, complete)
    weighing = _Weighing(evidence, lines, ledger, silence)
    weighed = [weighing.weigh(attempt) for attempt in unsettled]
    settled, shared = without_shared_numbers(
        [one for one, _ in weighed if isinstance(one, Settled)], lines, ledger.taken
    )
    return Decided(
        tuple(settled),
        (
            *silence.incomplete(),
            *(one for one, _ in weighed if isinstance(one, Trouble)),
            *shared,
            *_not_read(evidence),
            *ambiguous(lines, ledger.held, settled),
        ),
        tuple(odd_numbers(settled)),
        tuple(issued_elsewhere(brought, ledger.held, settled)),
        evidence.lines,
        {at: identity for at, (_, identity) in enumerate(brought.pairs)},
        tuple(_notes(why for _, why in weighed if why)),
    )


@dataclass(frozen=True)
class _Weighing:
    """One reconciliation's evidence, to be weighed attempt by attempt."""

    evidence: Evidence
    lines: MatchedLines
    ledger: InLedger
    silence: Silence

    @cached_property
    def _answers(self) -> Mapping[tuple[str, int], Sequence[Answer]]:
        found = defaultdict(list)
        for answer in self.evidence.answers:
            found[answer.request_id, answer.attempt].append(answer)
        return found

    def weigh(self, attempt: Unsettled) -> tuple[Settled | Trouble | None, Message]:
        """(what settles an attempt or contradicts itself about it, None where neither; why it proves nothing that no line is about it)."""
        answers = self._answers.get((attempt.request_id, attempt.attempt), ())
        answer = answers[0] if answers else None
        number, problem = listed(attempt, self.lines, self.ledger.taken, self.ledger.gone)
        if not problem and len({(one.state, one.number) for one in answers}) > 1:
            problem = message(
                "the answers to it contradict each other ({places}); clear the wrong one",
                places=joined((one.place for one in answers), "sentences"),
            )
        if problem:
            return self._contradicted(attempt, problem, answers), NOTHING
        silent = number is None and self.silence.claimed
        why = self._against_silence(attempt) if silent else NOTHING
        silent = silent and not why
        if answer and (
            problem := answer_against(answer, number, silent=silent) or self._against_answer(answer, attempt)
        ):
            return Trouble("contradiction", attempt_name(attempt), problem), why
        if number is not None:
            seen = self.lines.by_charge[attempt.charges[0][0]][0].place
            return self._settled(attempt, "issued", number, answer, seen), why
        if answer:
            return self._settled(attempt, answer.state, answer.number, answer), why
        if silent:
            told = self._settled(attempt, "not_sent", "", None, self.silence.told(attempt))
            return replace(told, as_of=self.silence.complete.made), why
        return None, why

    def _against_answer(self, answer: Answer, attempt: Unsettled) -> Message:
        """Why “not issued” settles nothing: something else that is brought may say that it was issued, and it would be sent again."""
        if answer.state == "issued":
            return NOTHING
        if (attempt.request_id, attempt.attempt) in self.evidence.unclear:
            return message("another answer about it lacks something; complete that one first, or clear it")
        tickets = {identity.ticket_no for identity, _, _ in attempt.charges}
        return next(
            (
                message(
                    "the statement has a line about ticket {ticket_no} that can't be read; correct the statement first",
                    ticket_no=line.ticket_no,
                )
                for line in self.evidence.misread
                if line.ticket_no in tickets
            ),
            NOTHING,
        )

    def _against_silence(self, attempt: Unsettled) -> Message:
        """Why it proves nothing that no line is about an attempt; NOTHING where it does."""
        if attempt.attempt_id in self.ledger.filed:  # whosever it was: what was not issued has none
            return message(
                "an itinerary file about it came; only an answer or a statement that lists it settles it"
            )
        return self.silence.unproven(attempt)

    def _contradicted(
        self, attempt: Unsettled, problem: Message, answers: Sequence[Answer]
    ) -> Settled | Trouble:
        """What comes of an attempt of which the evidence contradicts itself: nothing, unless one answer explains it."""
        denied = denied_listed(attempt, self.lines, self.ledger.taken, self.evidence.settle_after)
        if len({(one.state, one.number) for one in answers}) == 1:
            answer = answers[0]
            # It lists a part of it, under the number that the answer has; or all that it lists is that of earlier attempts.
            if (
                only_as(answer.number, attempt, self.lines)
                if answer.state == "issued"
                else denied and not self._against_answer(answer, attempt)
            ):
                return self._settled(attempt, answer.state, answer.number, answer)
        if denied:
            problem = message(
                "{problem}. It may be that of request {request}, attempt {attempt}, which was said not to be issued ({entry}). If"
                " only that one was issued, answer “not issued” to this one, then withdraw {entry}",
                problem=problem,
                request=denied[0].request_id,
                attempt=denied[0].attempt,
                entry=denied[0].denial,
            )
        return Trouble("contradiction", attempt_name(attempt), problem)

    def _settled(
        self, attempt: Unsettled, state: str, number: str, answer: Answer | None, seen: Message = NOTHING
    ) -> Settled:
        by, told, typed, place = self.evidence.by, NOTHING, "", NOTHING
        if answer:
            by, typed, place = answer.resolved_by, answer.evidence, answer.place
            told = about(place, verbatim(typed))
        both = message("{seen}; {told}", seen=seen, told=told) if seen and told else seen or told
        return Settled(attempt, state, number, by, both, typed, seen or place)


def _not_read(evidence: Evidence) -> Iterator[Trouble]:
    """The lines and sheets of the statements that could not be read."""
    for (place, why), count in Counter((one.place, one.problem) for one in evidence.misread).items():
        problem = (
            message("{problem}; the line proves nothing", problem=why)
            if count == 1
            else message("{problem}; {count} lines prove nothing", problem=why, count=count)
        )
        yield Trouble("misread", place, problem)
    for statement in evidence.statements:
        for name in statement.unread:
            problem = message(
                "sheet {sheet} was not read: it is hidden, or has no headings of a statement",
                sheet=SheetName(name),
            )
            yield Trouble("misread", statement.name, problem)


def _notes(reasons: Iterable[Message]) -> Iterator[Message]:
    """Why silence proved nothing about outcomes that no statement lists."""
    for why, count in Counter(reasons).items():
        yield message(
            "{count} unknown outcomes are not on the statements, and that proves nothing: {why}",
            count=count,
            why=why,
        )
