"""The piece of the page's work that collects itinerary files: it runs the flow of `voucher collect`, and keeps what that came to for the
page.

The files stay where they were brought to, so that what a kill interrupts is done once more with them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from pipeline.file_writing import PRIVATE, place_over
from pipeline.model.file_status import FILE_STATUS, MISSING, needs_person
from pipeline.model.itinerary_file import CollectedFile, FileStatus
from pipeline.model.message import Message, from_text, joined, message, to_text
from pipeline.page.ledger_work import judge_what_may_have_changed, when_free
from pipeline.page.month_files import is_workbook
from pipeline.page.work import Ended
from pipeline.page.work_task import WorkTask
from pipeline.reporting.words_collection import headline, place_of, settled_lines, steps
from pipeline.run.collect import Collecting, collect
from pipeline.settlement.collection_result import Collection

#: Files, and itineraries, that a page lists; the workbook has all.
MOST_LISTED = 200
#: What a collection came to, as its page shows it.
_SHOWN = "collection.json"
#: The badge (page.css) of each tone of a file's status.
_BADGES = {"good": "issued", "bad": "invalid", "warn": "waiting", "plain": "plain"}


def collected(task: WorkTask) -> Ended:
    """Collect the files that were brought, and have judged again what that may have settled."""
    asked = task.asked
    job = replace(task.job, lang=asked["lang"], output=task.results / "itineraries.xlsx")
    wanted = Collecting(tuple(task.folder / name for name in asked["files"]), task.work.by)
    finished = when_free(task, lambda: collect(job, wanted, task.watch(lambda _: False)))
    half = task.results / f"{_SHOWN}.part"
    half.touch(PRIVATE)
    half.write_bytes(orjson.dumps(_as_kept(finished.said)))
    place_over(half, task.results / _SHOWN)
    for told in (*settled_lines(finished.said), *_packed(finished.said.files), *finished.problems):
        task.teller.note(told)
    judge_what_may_have_changed(task, finished.said.decided)
    return Ended(finished.exit_code, (finished.workbook.name,) if finished.workbook else ())


def _packed(files: Iterable[CollectedFile]) -> Iterator[Message]:
    """What is told of workbooks in archives and mails, such as a statement: nothing reads them there."""
    for one in files:
        if one.status is FileStatus.NOT_AN_ITINERARY and is_workbook(one.file.place[-1]):
            yield message(
                "{file}: was not read. A statement, or tickets, in an archive or a mail have to be unpacked and brought by themselves",
                file=place_of(one),
            )


def tone(status: str) -> str:
    """The badge of a file's status; of an itinerary that is missing, that of what waits."""
    return _BADGES["warn" if status == MISSING else FILE_STATUS[FileStatus(status)].tone]


def shown_of(folder: Path) -> dict[str, Any] | None:
    """What a collection came to, for its page, from the folder of its work; None where it did not come to anything."""
    try:
        kept = orjson.loads((folder / _SHOWN).read_bytes())
    except FileNotFoundError:
        return None
    files = [{**one, "why": from_text(one["why"])} for one in kept["files"]]
    said = {name: [from_text(line) for line in kept[name]] for name in ("headline", "steps")}
    return {**kept, **said, "files": files}


def standing(said: Collection) -> dict[str, Any]:
    """What is received and what is missing, for a page: as in a collection's result."""
    waiting = [
        {
            "status": one.status, "days": one.days, "number": one.number, "ticket": one.ticket_no, "buyer": one.header_name,
            "email": one.email, "amount": one.amount, "issued": str(one.issued),
        }
        for one in said.not_received[:MOST_LISTED]
    ]  # fmt: skip
    return {
        "headline": [headline(said)],
        "steps": steps(said),
        "missing": waiting,
        "missing_count": len(said.not_received),
    }


def _as_kept(said: Collection) -> dict[str, Any]:
    """The same as plain values, with the files: how many of each status, and those that need a person."""
    odd = [one for one in said.files if needs_person(one)]
    counts = Counter(one.status for one in said.files)
    found = standing(said)
    return {
        **found,
        "headline": [*map(to_text, found["headline"])],
        "steps": [*map(to_text, found["steps"])],
        "counts": [(status, counts[status]) for status in FILE_STATUS if counts[status]],
        "files": [*map(_file, odd[:MOST_LISTED])],
        "files_count": len(odd),
    }


def _file(one: CollectedFile) -> dict[str, Any]:
    data = one.file.data
    return {
        "status": one.status,
        "why": to_text(message("{reasons}", reasons=joined(one.reasons, "sentences"))) if one.reasons else "",
        "place": place_of(one),
        "tickets": _tickets(one),
        "number": (data and data.number) or "",
        "seal": one.file.seal if data else "",
    }


def _tickets(one: CollectedFile) -> Sequence[str]:
    """The ledger's ticket, where the file is about one of its vouchers; else those that the file names."""
    if one.of:
        return (one.of.ticket_no,)
    return one.file.data.tickets if one.file.data else ()
