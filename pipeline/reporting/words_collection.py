"""What a collection of itinerary files says: its workbook's headings, and its last lines."""

from collections.abc import Iterable, Iterator

from pipeline.messages.translate import heading, rendered, translated
from pipeline.model.columns import Lang
from pipeline.model.file_status import FILE_STATUS, MISSING, needs_person
from pipeline.model.itinerary_file import CollectedFile
from pipeline.model.message import P_, Fact, Message, Private, Term, counted, joined, message
from pipeline.model.places import about
from pipeline.settlement.collection_result import Collection
from pipeline.settlement.itinerary_matching import PATIENCE

_MOST = 10  # lines about single files, or itineraries
_TOLD = 2  # reasons of one file; the others stand in the workbook
_LABELS = {
    "title": P_("collection", "Itinerary files"),
    "files": P_("collection", "Files"),
    "itineraries": P_("collection", "Itineraries issued"),
    "status": P_("collection", "status"),
    "count": P_("collection", "count"),
    "meaning": P_("collection", "Meaning"),
    "next": P_("collection", "What to do next"),
    "settled": P_("collection", "Settled by evidence"),
    "facts": P_("collection", "About this collection"),
    "command": P_("collection", "Command"),
    "as_of": P_("collection", "Judged on"),
    "period": P_("collection", "Itineraries issued in"),
    "everything": P_("collection", "all that the ledger has"),
    "archive": P_("collection", "Archive"),
    "ledger": P_("collection", "Ledger"),
    "ledger_id": P_("collection", "Ledger ID"),
    # columns
    "number": P_("collection", "itinerary number"),
    "ticket": P_("collection", "ticket"),
    "buyer": P_("collection", "buyer"),
    "total": P_("collection", "total"),
    "issued": P_("collection", "issued on"),
    "seal": P_("collection", "seal"),
    "read_from": P_("collection", "read from"),
    "archived": P_("collection", "kept as"),
    "place": P_("collection", "found in"),
    "sha256": P_("collection", "SHA-256"),
    "days": P_("collection", "days since issuing"),
    # where a field was read
    "xbrl": P_("collection", "embedded data"),
    "custom_tag": P_("collection", "tags"),
    "page": P_("collection", "page"),
}  # fmt: skip


def label(name: str, lang: Lang) -> str:
    """A heading or a label; of a column of the vocabulary, its own."""
    return translated(_LABELS[name], lang, "collection") if name in _LABELS else heading(name, lang)


def headline(said: Collection) -> Message:
    """How many itineraries were issued, and what became of their files."""
    parts: list[Fact] = []
    for status, count in said.states.items():
        if status != MISSING:
            parts.append(message("{count} {status}", count=count, status=Term(status, "status")))
    if missing := said.states.get(MISSING):
        parts.append(
            counted(
                "{count} missing for {days} days",
                "{count} missing, the longest for {days} days",
                missing,
                days=said.longest_missing,
            )
        )
    return counted(
        "{count} itinerary issued, {parts}",
        "{count} itineraries issued, {parts}",
        said.issued,
        parts=joined(parts),
    )


def settled_lines(said: Collection) -> list[Message]:
    """How many unknown outcomes the files have settled; no line for none."""
    settled = len(said.decided.settled)
    return [
        counted(
            "Settled by evidence: {count} itinerary was issued",
            "Settled by evidence: {count} itineraries were issued",
            settled,
        )
    ] * bool(settled)


def steps(said: Collection) -> list[Message]:
    """What a person is to do next."""
    found = []
    for one in FILE_STATUS.values():
        count = sum(file.status is one.status and needs_person(file) for file in said.files)
        if count and one.step:
            found.append(
                message(
                    "{count} × {status}: {step}",
                    count=count,
                    status=Term(one.status, "status"),
                    step=Message(one.step),
                )
            )
    late = sum(one.status == MISSING and one.days >= PATIENCE for one in said.not_received)
    fresh = said.states.get(MISSING, 0) - late
    if late:
        found.append(
            counted(
                "{count} itinerary is missing for {days} days or more: ask the carrier to mail it again, and look at the buyer's e-mail address.",
                "{count} itineraries are missing for {days} days or more: ask the carrier to mail them again, and look at the buyers' e-mail"
                " addresses.",
                late,
                days=PATIENCE,
            )
        )
    if fresh:
        found.append(
            counted(
                "{count} itinerary was issued less than {days} days ago; its file may still come.",
                "{count} itineraries were issued less than {days} days ago; their files may still come.",
                fresh,
                days=PATIENCE,
            )
        )
    if said.remaining:
        found.append(
            message(
                "{count} more mails are new in the mailbox: run the same command again.", count=said.remaining
            )
        )
    return found


def place_of(file: CollectedFile) -> str:
    """Where a file was found: its name, after those of what it lay in."""
    return " / ".join(file.file.place)


def told_of(files: Iterable[CollectedFile]) -> Iterator[Message]:
    """What is told of files that need a person."""
    for one in files:
        if needs_person(one):
            told: list[Fact] = [*one.reasons[:_TOLD]]
            if more := len(one.reasons) - _TOLD:
                told += [message("… and {count} more", count=more)] * (more > 0)
            data = one.file.data
            name: Fact = Private(place_of(one))
            if data and data.tickets:
                name = message("{number} ({place})", number=joined(data.tickets), place=name)
            yield about(
                name,
                message(
                    "{status}: {reasons}",
                    status=Term(one.status, "status"),
                    reasons=joined(told, "sentences"),
                ),
            )


def collected_lines(said: Collection, *, names: bool = True) -> list[str]:
    """Short lines in the run's language, safe to print; `names`: whether they may hold what names people."""
    single = [*told_of(said.files)]
    lines: list[Message] = [headline(said), *settled_lines(said), *single[:_MOST]]
    if more := len(single) - _MOST:
        lines += [message("… and {count} more", count=more)] * (more > 0)
    return [rendered(line, said.lang, names=names) for line in (*lines, *steps(said))]
