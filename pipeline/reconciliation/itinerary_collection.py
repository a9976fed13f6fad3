"""Itinerary files, from where they were found to what the ledger notes of them: read, kept in the archive, weighed, matched.

A file is in the archive before the ledger knows of it, and is known by its content: a collection that is killed is begun again
from its start, and finds what it did.
"""

import datetime
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.beside_ledger import beside_ledger
from pipeline.file_reading import SETTINGS_BYTES, check_regular, said_by
from pipeline.itinerary_files import archive
from pipeline.itinerary_files.certificates import root_certificates
from pipeline.itinerary_files.der import NotDer
from pipeline.itinerary_files.reading_processes import read_itinerary_files
from pipeline.model.errors import InputProblem
from pipeline.model.evidence import Evidence, Statement, StatementLine, attempt_name
from pipeline.model.itinerary_file import (
    CheckedFile,
    CollectedFile,
    FoundFile,
)
from pipeline.model.job import Job
from pipeline.model.message import Fact, Message, joined, message
from pipeline.model.settled import Decided, Trouble
from pipeline.reconciliation.record_settlements import settle
from pipeline.settlement.itinerary_matching import InLedger, Proof, evidence_of, match_files
from pipeline.submission.sending_run import Run

#: So many files, or bytes, are kept in the archive at once.
_AT_ONCE, _BYTES_AT_ONCE = 200, 64 * 1024**2
#: Files put back that are named.
_NAMED = 5


#: What lies beside the ledger: the archive, and how far mailboxes were read.
_ARCHIVE, MAILBOXES = ".itineraries", ".mailboxes"


def archive_folder(job: Job, given: Path | None) -> Path:
    """Where itinerary files are kept: as given, as the profile has it, or beside the ledger."""
    if given or job.profile.itinerary_files.archive:
        return given or Path(job.profile.itinerary_files.archive)
    return beside_ledger(job, _ARCHIVE)


def seal_roots(job: Job) -> tuple[bytes, ...]:
    """The certificates that the profile names. Raises InputProblem for what is none."""
    roots: list[bytes] = []
    for name in job.profile.itinerary_files.seal_roots:
        try:
            check_regular(Path(name), SETTINGS_BYTES)
            roots += root_certificates(Path(name).read_bytes())
        except OSError as problem:
            raise InputProblem(
                "[itinerary_files].seal_roots: {file} can't be read ({problem}); check the path",
                file=name,
                problem=said_by(problem),
            ) from None
        except NotDer:
            raise InputProblem(
                "[itinerary_files].seal_roots: {file} holds no certificate; name files in PEM or DER",
                file=name,
            ) from None
    return tuple(roots)


@dataclass(frozen=True)
class Weighed:
    """Files with what each came to, and what they settled."""

    files: tuple[CollectedFile, ...]
    decided: Decided


def checked_files(
    run: Run, found: Iterable[FoundFile], folder: Path, roots: Sequence[bytes]
) -> list[CheckedFile]:
    """The files, each read and, where it is an itinerary, kept in the archive in that folder; what is put back there is told.

    `roots`: certificates that a valid seal goes back to. Raises Stop where the archive can't be written.
    """
    checked: list[CheckedFile] = []
    put_back: list[str] = []
    noted = run.ledger.archived_files()
    for batch in _batches(_read(found, roots)):
        kept = [(at, one.data, content) for at, (one, content) in enumerate(batch) if one.data]
        archived = archive.keep(folder, [(data, content) for _, data, content in kept], noted) if kept else []
        put_back += [one.path for one in archived if one.put_back]
        places = {at: one.path for (at, _, _), one in zip(kept, archived, strict=True)}
        checked += [replace(one, archived=places.get(at, "")) for at, (one, _) in enumerate(batch)]
    if put_back:
        more = len(put_back) - _NAMED
        named: list[Fact] = [*put_back[:_NAMED]]
        if more > 0:
            named.append(message("… and {count} more", count=more))
        run.watch.warn(
            message(
                "Archive {folder}: missing or damaged, and put back as it was kept (what is damaged lies beside it, as .damaged): {paths}",
                folder=str(folder),
                paths=joined(named),
            )
        )
    return checked


def _read(found: Iterable[FoundFile], roots: Sequence[bytes]) -> Iterator[tuple[CheckedFile, bytes]]:
    for file, read in read_itinerary_files(found, tuple(roots)):
        sha256 = hashlib.sha256(file.content or "\n".join(file.place).encode(errors="replace")).hexdigest()
        yield CheckedFile(file.place, sha256, read.data, read.seal, read.problem, read.reasons), file.content


def _batches(files: Iterable[tuple[CheckedFile, bytes]]) -> Iterator[list[tuple[CheckedFile, bytes]]]:
    batch: list[tuple[CheckedFile, bytes]] = []
    size = 0
    for one in files:
        batch.append(one)
        size += len(one[1])
        if len(batch) == _AT_ONCE or size >= _BYTES_AT_ONCE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def weigh_files(run: Run, by: str, files: Sequence[CheckedFile], roots: Sequence[bytes]) -> Weighed:
    """Settle what files prove, tie each to its itinerary, and note in the ledger what it came to. Raises LedgerProblem."""
    proof = proof_of(run, files, roots)
    decided = settle(run, evidence_by(proof, proof.lines, by)) if proof.lines else Decided()
    return Weighed(noted_files(run, files, (proof, bool(roots)), decided.troubles), decided)


def settle_with_files(
    run: Run, evidence: Evidence, files: Sequence[CheckedFile], roots: Sequence[bytes]
) -> tuple[Decided, tuple[CollectedFile, ...]]:
    """Weigh files beside statements and answers; what all of it settled, and what the files came to.

    What files alone speak of is settled first: a statement's silence must not let go what a file proves. Where statements or
    answers are about the same ticket all is weighed together, so that a contradiction settles nothing.
    """
    if not files:
        return settle(run, evidence), ()
    proof = proof_of(run, files, roots)
    open_now = run.ledger.unsettled()
    told = {(answer.request_id, answer.attempt) for answer in evidence.answers}
    answered = {
        of.ticket_no for one in open_now if (one.request_id, one.attempt) in told for of, _, _ in one.charges
    }
    evidence = replace(evidence, filed=proof.filed)
    alone, together = proof.beside(evidence.lines, answered)
    first = settle(run, evidence_by(proof, alone, evidence.by)) if alone else Decided()
    if together:
        # What a statement shows is remembered.
        passing = proof.passing - {line.content for line in evidence.lines}
        evidence = replace(
            evidence, statements=(*evidence.statements, as_statement(together)), passing=passing
        )
    decided = settle(run, evidence)
    decided = replace(
        decided,
        settled=(*first.settled, *decided.settled),
        troubles=(*first.troubles, *decided.troubles),
        warnings=(*first.warnings, *decided.warnings),
    )
    return decided, noted_files(run, files, (proof, bool(roots)), decided.troubles)


def proof_of(run: Run, files: Sequence[CheckedFile], roots: Sequence[bytes]) -> Proof:
    """What files bring as evidence about this ledger's outcomes."""
    return evidence_of(files, _known(run, files), roots=bool(roots))


def noted_files(
    run: Run, files: Sequence[CheckedFile], weighed: tuple[Proof, bool], troubles: Sequence[Trouble]
) -> tuple[CollectedFile, ...]:
    """Tie each file to its itinerary, once what they prove was settled, and note what it came to.

    `weighed`: what they prove, and whether the profile names root certificates.
    """
    known, (proof, roots) = _known(run, files), weighed
    unproven = {**proof.unproven, **dict(_against(proof, known, troubles))}
    found = match_files(files, known, unproven, roots=roots)
    run.ledger.note_files(run.number, found)
    for one in found:
        if one.new:
            run.watch.log("itinerary_file", sha256=one.file.sha256, status=one.status, seal=one.file.seal)
    return tuple(found)


def _known(run: Run, files: Sequence[CheckedFile]) -> InLedger:
    return run.ledger.about_files(files, run.job.profile.carrier.time_zone)


def evidence_by(proof: Proof, lines: Sequence[StatementLine], by: str) -> Evidence:
    """Files' lines alone, as evidence: a statement that says nothing of what it does not list."""
    return Evidence((as_statement(lines),), (), (), None, by, passing=proof.passing)


def as_statement(lines: Sequence[StatementLine]) -> Statement:
    """Files' lines as a statement, of no kind of voucher: what is not among them may have been issued all the same."""
    return Statement("", "", datetime.datetime.now(datetime.UTC), tuple(lines), kinds=frozenset())


def _against(proof: Proof, known: InLedger, found: Sequence[Trouble]) -> Iterator[tuple[str, Message]]:
    """By SHA-256, why files that were weighed did not settle what they are about."""
    troubles = {str(trouble.place): trouble.message for trouble in found}
    for sha256, lines in proof.by_file.items():
        for of in known.by_ticket.get(lines[0].ticket_no, ()):
            # By the attempt that it contradicts itself about, or by the line, as evidence that was withdrawn.
            if why := troubles.get(str(attempt_name(of))) or troubles.get(str(lines[0].place)):
                yield sha256, why
