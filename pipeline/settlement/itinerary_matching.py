"""Itinerary files against what the ledger knows: each file's one status, and which of them prove an unknown outcome.

A file is tied to its itinerary by the 20-digit number, else by its ticket; never by passenger, date or amount. That the number in
the file is the service's itineraryNum is inferred (carrier-interface.md shows 20 digits, so do published files).

What a file proves: a statement is brought by somebody who had it from the carrier, a mail may be anybody's. So a file settles an unknown
outcome only where it says everything that was asked for (ticket, buyer, tax number, total) and nothing else, in its embedded data, not on
its page alone; and where the profile names root certificates, only under a seal that is valid by them. Without roots no seal can tell whose
file it is, so `none` and `intact` count alike. All that is then weighed like a statement's line; but what a file without a valid seal says
is not remembered where it settles nothing: a mail must not stand in the way of a statement for ever. That a file about an attempt came is:
from then on no statement's silence proves that it was not issued. Likewise only a file that says all that, under a valid seal where there
are roots, is the one that was received: else another may still come. A file about a ticket that the ledger does not know is held like one
(issued elsewhere) under a valid seal alone; else a mail could block any ticket.
"""

import datetime
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pipeline.model.evidence import StatementLine
from pipeline.model.itinerary_file import (
    CheckedFile,
    CollectedFile,
    EarlierFile,
    FieldSource,
    FileStatus,
    ItineraryData,
    KnownVoucher,
    SealStatus,
)
from pipeline.model.message import NOTHING, Fact, Message, Private, Term, joined, message
from pipeline.model.money import money_shown

#: Days after its issuing after which an itinerary whose file has not come needs somebody. No source says how soon it is mailed;
#: "automatically after issuing" (carrier-interface.md, Issue itinerary, rule 2).
PATIENCE = 3
#: A day's difference may be the time zones'.
_DAY = datetime.timedelta(days=1)


@dataclass(frozen=True)
class InLedger:
    """What the ledger knows of the numbers and tickets of some files, and of the files themselves.

    `received` are the received files by number, `noted` what was noted last of each content; `buyers` names and tax numbers of the
    ledger's buyers, as `plain` has them.
    """

    by_number: Mapping[str, KnownVoucher] = field(default_factory=dict)
    by_ticket: Mapping[str, Sequence[KnownVoucher]] = field(default_factory=dict)
    received: Mapping[str, EarlierFile] = field(default_factory=dict)
    noted: Mapping[str, EarlierFile] = field(default_factory=dict)
    buyers: frozenset[str] = frozenset()


def plain(text: str) -> str:
    """A name or a tax number to compare: full-width characters, spaces and case do not count.

    >>> plain("北京（中国）有限公司") == plain("北京(中国) 有限公司"), plain(" Acme  Co.") == plain("ACME CO.")
    (True, True)
    """
    return "".join(unicodedata.normalize("NFKC", text).split()).casefold()


def match_files(
    files: Iterable[CheckedFile], known: InLedger, unproven: Mapping[str, Message], *, roots: bool
) -> list[CollectedFile]:
    """What each file comes to, in their order. `unproven` says by SHA-256 why a file did not settle what it is about.

    `roots`: whether the profile names root certificates, so that a seal can be valid.
    """
    matching = _Matching(known, unproven, dict(known.received), dict(known.noted), roots)
    return [matching.collected(file) for file in files]


@dataclass(frozen=True)
class _Matching:
    """One collection's matching, file by file; `received` and `noted` grow by what is found on the way."""

    known: InLedger
    unproven: Mapping[str, Message]
    received: dict[str, EarlierFile]
    noted: dict[str, EarlierFile]
    roots: bool

    def collected(self, file: CheckedFile) -> CollectedFile:
        """What a file comes to; whether the ledger has it so already."""
        found = self.judged(file)
        attempt_id = found.of.attempt_id if found.of else None
        if found.status is FileStatus.RECEIVED and file.data and file.data.number:
            self.received[file.data.number] = EarlierFile(file.sha256, found.status, attempt_id)
        noted = self.noted.get(file.sha256)
        self.noted[file.sha256] = EarlierFile(file.sha256, found.status, attempt_id)
        known = noted is not None and (noted.status, noted.attempt_id) == (found.status, attempt_id)
        return replace(found, new=not (known or found.same))

    def judged(self, file: CheckedFile) -> CollectedFile:
        """What a file comes to, whatever was noted of it before."""
        data = file.data
        if data is None or file.problem in (FileStatus.NOT_AN_ITINERARY, FileStatus.UNREADABLE):
            return CollectedFile(file, file.problem or FileStatus.UNREADABLE, file.reasons)
        of, several = self._about(data)
        if file.problem or file.seal is SealStatus.BROKEN:
            broken = () if file.problem else (message("the seal does not fit the file"),)
            return CollectedFile(
                file, file.problem or FileStatus.ALTERED, (*file.reasons, *broken), None if several else of
            )
        if data.red_of:
            done = of is not None and of.state == "reversed"
            return CollectedFile(file, FileStatus.RED, (_takes_back(data.red_of),), of, done=done)
        if several:
            return CollectedFile(file, FileStatus.UNCLEAR, (several,))
        if of is None:
            return CollectedFile(file, *self._not_ours(data))
        return self._compared(file, data, of)

    def _about(self, data: ItineraryData) -> tuple[KnownVoucher | None, Message]:
        """(the voucher that a file is about, None for none; why that is not clear)."""
        for number in (data.number, data.red_of):
            if number and number in self.known.by_number:
                return self.known.by_number[number], NOTHING
        found = [one for ticket in data.tickets for one in self.known.by_ticket.get(ticket, ())]
        standing = [one for one in found if one.state != "reversed"] or found
        its = [one for one in standing if one.voucher == "itinerary"] or standing
        if len({(one.attempt_id, one.number) for one in its}) > 1:
            tickets = joined(dict.fromkeys(one.ticket_no for one in its))
            return None, message("the ledger has several vouchers of its tickets {tickets}", tickets=tickets)
        return (its[0] if its else None), NOTHING

    def _not_ours(self, data: ItineraryData) -> tuple[FileStatus, tuple[Message, ...]]:
        names = {plain(text) for text in (data.buyer_name, data.buyer_tax_no) if text}
        if not names & self.known.buyers:
            buyer = Private(data.buyer_name or data.buyer_tax_no or "", whole=True)
            return FileStatus.FOREIGN, (message("the buyer “{buyer}” is none of this ledger's", buyer=buyer),)
        return FileStatus.UNKNOWN_TICKET, (
            message("this ledger issued no itinerary of ticket {tickets}", tickets=joined(data.tickets)),
        )

    def _compared(self, file: CheckedFile, data: ItineraryData, of: KnownVoucher) -> CollectedFile:
        """What a file about a voucher of the ledger comes to."""
        if differing := tuple(differences(data, of)):
            earlier = self.received.get(of.number)
            done = of.state == "reversed" and earlier is not None and earlier.sha256 == file.sha256
            return CollectedFile(file, FileStatus.DIFFERS, differing, of, done=done)
        if of.state == "unknown":
            why = self.unproven.get(file.sha256, NOTHING) or message("it settles nothing")
            told = message(
                "whether request {request} was issued is not known, and this file does not prove it: {why}",
                request=of.request_id,
                why=why,
            )
            return CollectedFile(file, FileStatus.UNCLEAR, (told,), of)
        if why := _not_whole(file, data, of, roots=self.roots):
            return CollectedFile(file, FileStatus.UNCLEAR, (why,), of)
        if earlier := self.received.get(of.number):
            same = earlier.sha256 == file.sha256
            told = (
                message("the same file was received before")
                if same
                else message("another file with the number {number} was received before", number=of.number)
            )
            return CollectedFile(file, FileStatus.DUPLICATE, (told,), of, same)
        return CollectedFile(file, FileStatus.RECEIVED, data.notes, of)


def _takes_back(number: str) -> Message:
    return message("takes back {number}", number=number)


def differences(data: ItineraryData, of: KnownVoucher) -> Iterator[Message]:
    """What a file says otherwise than the ledger, a message each; what one of them does not say differs from nothing."""
    if of.voucher != "itinerary":
        yield message(
            "ticket {ticket_no} has the invoice {number} in this ledger; a ticket has one kind of voucher alone",
            ticket_no=of.ticket_no,
            number=of.number or message("of an unknown outcome"),
        )
        return
    if of.state == "reversed":
        yield message("{number} was reversed by the carrier; it is worth nothing any more", number=of.number)
        return
    if of.number and data.number != of.number:
        yield _differing("number", of.number, data.number or "")
    if of.ticket_no not in data.tickets:
        yield _differing("ticket_no", of.ticket_no, joined(data.tickets))
    for name, known, found in (
        ("header_name", of.header_name, data.buyer_name),
        ("tax_no", of.tax_no, data.buyer_tax_no),
    ):
        if known and found and plain(known) != plain(found):
            yield _differing(name, Private(known, whole=True), Private(found, whole=True))
    if None not in (of.amount, data.total) and of.amount != data.total:
        yield _differing("amount", money_shown(of.amount or 0), money_shown(data.total or 0))
    if (day := data.issued_on) and not _may_be_of(day, of):
        yield _differing("issued_on", str(of.first), str(day))


def _may_be_of(day: datetime.date, of: KnownVoucher) -> bool:
    """Whether an itinerary may have been issued on that day."""
    return (of.first is None or of.first - _DAY <= day) and (of.last is None or day <= of.last + _DAY)


def _differing(column: str, known: Fact, found: Fact) -> Message:
    return message(
        "{column}: the ledger has “{known}”, the file “{found}”",
        column=Term(column),
        known=known,
        found=found,
    )


@dataclass(frozen=True)
class Proof:
    """What files bring as evidence, by SHA-256: lines as a statement has them, and why others prove nothing.

    `passing`: the contents of lines that may be anybody's, without a valid seal; `filed`: the IDs of the attempts in doubt about
    which there are files, whatever they prove (`Evidence`).
    """

    by_file: Mapping[str, Sequence[StatementLine]]
    unproven: Mapping[str, Message]
    passing: frozenset[tuple[object, ...]] = frozenset()
    filed: frozenset[int] = frozenset()

    @property
    def lines(self) -> tuple[StatementLine, ...]:
        """The lines of all files."""
        return tuple(line for lines in self.by_file.values() for line in lines)

    def beside(
        self, listed: Iterable[StatementLine], answered: Iterable[str]
    ) -> tuple[list[StatementLine], list[StatementLine]]:
        """(the lines that stand alone, those that are weighed together with what else is brought): statements list something
        else of these tickets, or people answer about them. `answered` are those tickets.
        """
        also = {line.ticket_no for line in listed} | {*answered}
        alone, together = list[StatementLine](), list[StatementLine]()
        for line in self.lines:
            (together if line.ticket_no in also else alone).append(line)
        return alone, together


def evidence_of(files: Iterable[CheckedFile], known: InLedger, *, roots: bool) -> Proof:
    """The evidence that files bring about unknown outcomes, and about tickets that the ledger does not know.

    `roots`: whether the profile names root certificates, so that a seal can be valid.
    """
    lines, unproven, passing = (
        dict[str, list[StatementLine]](),
        dict[str, Message](),
        set[tuple[object, ...]](),
    )
    filed = set[int]()
    matching = _Matching(known, {}, {}, {}, roots)
    for file in files:
        found = matching.judged(file)
        if found.of and found.of.state == "unknown" and found.of.attempt_id is not None:
            filed.add(found.of.attempt_id)
        if found.file.data is None or found.status not in (FileStatus.UNCLEAR, FileStatus.UNKNOWN_TICKET):
            continue
        if found.of is None:
            if found.status is FileStatus.UNKNOWN_TICKET and file.seal is SealStatus.VALID:
                lines[file.sha256] = [
                    _line(file, found.file.data, ticket) for ticket in found.file.data.tickets
                ]
        elif file.problem is None:
            if why := _unproven(file, found.file.data, found.of, roots=roots):
                unproven[file.sha256] = why
            else:
                line = _line(file, found.file.data, found.of.ticket_no)
                lines[file.sha256] = [line]
                passing |= {line.content} if file.seal is not SealStatus.VALID else set()
    return Proof(lines, unproven, frozenset(passing), frozenset(filed))


def _unproven(file: CheckedFile, data: ItineraryData, of: KnownVoucher, *, roots: bool) -> Message:
    """Why a file that differs in nothing from what was asked for does not prove that it was issued; NOTHING where it does."""
    if why := _not_whole(file, data, of, roots=roots):
        return why
    if of.amount is None:
        return message("the ledger does not say {columns}", columns=Term("amount"))
    if FieldSource.PAGE in (data.sources.get("number"), data.sources.get("tickets")):
        return message("its number and ticket stand on the page alone, not in its data")
    return NOTHING


def _not_whole(file: CheckedFile, data: ItineraryData, of: KnownVoucher, *, roots: bool) -> Message:
    """Why a file that differs in nothing is not the one that was waited for; NOTHING where it is."""
    if roots and file.seal is not SealStatus.VALID:
        return message(
            "its seal is {seal}, and the profile names whose seals are valid", seal=Term(file.seal, "status")
        )
    said = {
        "number": data.number,
        "ticket_no": data.tickets,
        "header_name": data.buyer_name,
        "tax_no": data.buyer_tax_no or not of.tax_no,
        "amount": data.total is not None,
    }
    if missing := [name for name, value in said.items() if not value]:
        return message("it does not say {columns}", columns=joined(Term(name) for name in missing))
    return NOTHING


def _line(file: CheckedFile, data: ItineraryData, ticket_no: str) -> StatementLine:
    """A file as a line of a statement: the fare of its ticket, issued as an itinerary."""
    place = message(
        "itinerary file {file} ({sha256}, seal: {seal})",
        file=file.place[-1] if file.place else "",
        sha256=file.sha256[:12],
        seal=Term(file.seal, "status"),
    )
    return StatementLine(
        "itinerary", data.number or "", ticket_no, "ticket_fare", "flight", data.total, data.issued_on,
        data.buyer_name or "", place, file.place[0] if file.place else file.sha256,
    )  # fmt: skip
