"""Itinerary files, from where they were found to what the ledger notes of them: read, kept in the archive, weighed, matched.

A file is in the archive before the ledger knows of it, and is known by its content: a collection that is killed is begun again
from its start, and finds what it did.
"""

import datetime
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.itinerary_files import archive
from pipeline.itinerary_files.reading_processes import read_itinerary_files
from pipeline.ledger import received_files
from pipeline.ledger.session import as_problem
from pipeline.model.evidence import Evidence, Statement, attempt_name
from pipeline.model.itinerary_file import (
    CheckedFile,
    CollectedFile,
    FoundFile,
)
from pipeline.model.message import Message
from pipeline.model.settled import Decided
from pipeline.reconciliation.record_settlements import settle
from pipeline.settlement.itinerary_matching import InLedger, Proof, evidence_of, match_files
from pipeline.submission.sending_run import Run

#: So many files, or bytes, are kept in the archive at once.
_AT_ONCE, _BYTES_AT_ONCE = 200, 64 * 1024**2


@dataclass(frozen=True)
class Weighed:
    """Files with what each came to, and what they settled."""

    files: tuple[CollectedFile, ...]
    decided: Decided


def checked_files(found: Iterable[FoundFile], folder: Path, roots: Sequence[bytes]) -> list[CheckedFile]:
    """The files, each read and, where it is an itinerary, kept in the archive in that folder.

    `roots`: certificates that a valid seal goes back to. Raises Stop where the archive can't be written.
    """
    checked: list[CheckedFile] = []
    for batch in _batches(_read(found, roots)):
        kept = [(at, one.data, content) for at, (one, content) in enumerate(batch) if one.data]
        archived = archive.keep(folder, [(data, content) for _, data, content in kept]) if kept else []
        places = {at: one.path for (at, _, _), one in zip(kept, archived, strict=True)}
        checked += [replace(one, archived=places.get(at, "")) for at, (one, _) in enumerate(batch)]
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
    ledger, zone = run.ledger, run.job.profile.carrier.time_zone
    with as_problem(ledger.path):
        known = received_files.known(ledger.connection, files, zone)
    proof = evidence_of(files, known, roots=bool(roots))
    decided = settle(run, _evidence(proof, by)) if proof.lines else Decided()
    with as_problem(ledger.path):
        if proof.lines:
            known = received_files.known(ledger.connection, files, zone)
        found = match_files(files, known, {**proof.unproven, **dict(_against(proof, known, decided))})
        received_files.note(ledger.connection, run.number, found)
    for one in found:
        if one.new:
            run.watch.log("itinerary_file", sha256=one.file.sha256, status=one.status, seal=one.file.seal)
    return Weighed(tuple(found), decided)


def _evidence(proof: Proof, by: str) -> Evidence:
    """The files' lines, as a statement that says nothing of what it does not list."""
    now = datetime.datetime.now(datetime.UTC)
    statement = Statement("", "", now, proof.lines, kinds=frozenset({"itinerary"}))
    return Evidence((statement,), (), (), None, by)


def _against(proof: Proof, known: InLedger, decided: Decided) -> Iterator[tuple[str, Message]]:
    """By SHA-256, why files that were weighed did not settle what they are about."""
    troubles = {str(trouble.place): trouble.message for trouble in decided.troubles}
    for sha256, lines in proof.by_file.items():
        for of in known.by_ticket.get(lines[0].ticket_no, ()):
            if why := troubles.get(str(attempt_name(of))):
                yield sha256, why
