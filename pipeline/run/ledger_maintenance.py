"""What a team does with its one ledger beside issuing: look it over, back it up, move it, mend its memory."""

import contextlib
import datetime
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pipeline.ledger import carrier_move
from pipeline.ledger.clock import local_text, utc_now, utc_text
from pipeline.ledger.gaps import Gap
from pipeline.ledger.inbox_files import EARLY, UNREAD
from pipeline.ledger.integrity_check import Looked
from pipeline.ledger.ledger_file import existing_file
from pipeline.ledger.ledger_path import path_for
from pipeline.ledger.ledger_to_change import file_to_change
from pipeline.ledger.opening import OpenOptions
from pipeline.ledger.operations import LedgerToChange
from pipeline.ledger.reversals import SaidReversed
from pipeline.model.errors import InputProblem
from pipeline.model.job import Job
from pipeline.model.message import NOTHING, Message, Note, joined, message, verbatim
from pipeline.model.places import about as at_place
from pipeline.model.profile import Owner
from pipeline.model.server_address import is_server
from pipeline.open_ledger import existing_ledger, ledger_to_change
from pipeline.reporting.output_paths import check_folder

#: No ledger is older than this program.
_FIRST = datetime.date(2026, 1, 1)


@dataclass(frozen=True)
class LookedOver:
    """What looking a ledger over has found, why it may be an older copy of itself, and whether outcomes wait to be taken in by it."""

    name: str
    looked: Looked
    doubted: Message
    outcomes_wait: bool

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong with it, but for what it may lack."""
        return not (self.looked.wrong or self.doubted)


def looked_over(job: Job) -> LookedOver:
    """Everything that the ledger holds, and what is wrong with it; a run may be on."""
    with existing_ledger(job) as ledger:
        doubted = ledger.doubt()
        return LookedOver(ledger.name, ledger.looked_over(), doubted, ledger.outcomes_wait)


def backed_up(job: Job, wanted: Path) -> Path:
    """Copy the ledger to a new file, or into a folder under a name with the time; a run may be on.

    The copy knows that it may lack what was issued after what it knows, and sends nothing until that is settled. Its own time
    of making would say too much where the clock is ahead.
    """
    if is_server(job.ledger or ""):
        raise InputProblem(
            "A ledger on a server is backed up there: pg_basebackup with the archive of its WAL, or pg_dump; voucher ledger copy-to PATH moves all of"
            " it into a file"
        )
    now = utc_now()
    if wanted.is_dir():
        stem = path_for(job).name.removesuffix(".ledger")
        wanted /= f"{stem}.{now[:19].replace('-', '').replace(':', '')}Z.ledger"
    check_folder(wanted)
    with existing_file(path_for(job), None) as ledger:
        ledger.back_up(wanted, now)
    return wanted


def moved(job: Job, note: Note, why: str, moved_by: str, confirm: Callable[[Message], bool]) -> Message:
    """Let the ledger follow its carrier to the profile's address; what was done, nothing if declined.

    A ledger in its default place is renamed to that of the new address, or it would not be found there.
    """
    if is_server(job.ledger or ""):
        with ledger_to_change(job, OpenOptions(note=note)) as shared:
            old, to = shared.owner, job.owner
            if against := carrier_move.obstacle(old, to):
                raise InputProblem(at_place(shared.name, against))
            if not confirm(_to_move(shared.name, old, to)):
                return NOTHING
            shared.move(to, moved_by, why)
        return _moved(shared.name, old, to)
    with contextlib.ExitStack() as stack:
        ledger = stack.enter_context(file_to_change(job, OpenOptions(note=note)))
        path, old, to = ledger.path, ledger.owner, job.owner
        wanted = ledger.name_after_move(to)
        if old != to or wanted == path:  # else an earlier move was cut off before the ledger had its new name
            carrier_move.check_move(path, old, to)
        if wanted != path:
            ledger.check_at_rest()
            wanted_lock = stack.enter_context(carrier_move.free_name(wanted, ledger.ledger_id))
        if not confirm(_to_move(str(path), old, to)):
            return NOTHING
        ledger.move(to, moved_by, why)
        if wanted != path:
            carrier_move.rename(path, ledger.lock, wanted, wanted_lock)
    return _moved(str(wanted), old, to)


def _to_move(name: str, old: Owner, to: Owner) -> Message:
    return message("{path}: belongs to {old} and is to belong to {to}", path=name, old=old.told, to=to.told)


def _moved(name: str, old: Owner, to: Owner) -> Message:
    return message(
        "{wanted}: belonged to {old} and belongs to {to} from now on", wanted=name, old=old.told, to=to.told
    )


def nothing_missing(job: Job, note: Note, said_by: str, why: str) -> Message:
    """Record that a ledger lacks nothing whose last run is not noted beside it, or on this machine; what was done."""
    if is_server(job.ledger or ""):
        raise InputProblem(
            "--nothing-missing is for a file that was moved. Of a ledger on a server that was started anew it is said by voucher ledger vouch;"
            " where an older copy may be in its place: voucher ledger mark-gap without --nothing-missing"
        )
    with ledger_to_change(job, OpenOptions(unnoted=True, note=note)) as ledger:
        name = ledger.name
        if ledger.open_gap is not None:
            raise InputProblem(
                "{path}: has a gap, which only the carrier's statement can close: voucher ledger close-gap",
                path=name,
            )
        if not ledger.doubt():
            raise InputProblem(
                "{path}: its last run is noted beside it and on this machine, so that there is nothing to"
                " say",
                path=name,
            )
        unnoted = message("its last run was not noted beside it, or on this machine")
        ledger.deny_gap(unnoted, said_by, message("nothing is missing: {why}", why=verbatim(why)))
    return message(
        "{path}: may be used for sending again; recorded: nothing is missing ({why})",
        path=name,
        why=verbatim(why),
    )


def gap_marked(job: Job, note: Note, since: datetime.datetime | None, why: str) -> Message:
    """Record that the ledger may lack what was issued since then; what was done.

    Without a time it is when the run began that did not end, whose -wal is lost; else the end of the last
    run that the ledger knows, after which it may be an older copy.
    """
    given = None if since is None else _past(since)
    with ledger_to_change(job, OpenOptions(may_lack=True, note=note)) as ledger:
        name, text = ledger.name, given or ledger.known_until
        if text is None:
            raise InputProblem("--since is missing: from when on may the ledger lack what was issued?")
        aside = ledger.mark_gap(text, verbatim(why))
    if aside is None:
        return message(
            "{path}: nothing is sent until the time from {since} on is settled (voucher ledger close-gap)",
            path=name,
            since=local_text(text),
        )
    return message(
        "{path}: nothing is sent until the time from {since} on is settled (voucher ledger close-gap);"
        " what was in its spill file is kept in {aside} for comparing",
        path=name,
        since=local_text(text),
        aside=str(aside),
    )


def gap_closed(
    job: Job, note: Note, closed_by: str, evidence: str, confirm: Callable[[Message], bool]
) -> Message:
    """Record what shows that the ledger lacks nothing any more; what was done, nothing if declined.

    It is asked about where voucher reconcile was given no statement since that can show that, or could not read all of one.
    """
    with ledger_to_change(job, OpenOptions(note=note)) as ledger:
        name, gap = ledger.name, ledger.open_gap
        if gap is None:
            raise InputProblem("{path}: has no gap to close", path=name)
        if unseen := _unseen(ledger, gap):
            note(at_place(name, unseen))
            if not confirm(message("{path}: has a gap", path=name)):
                return NOTHING
        held = ledger.held_since_gap()
        closed = ledger.close_gaps(closed_by, verbatim(evidence))
    settled = [
        message("what was issued after {since} ({why})", since=local_text(gap.since), why=gap.why)
        for gap in closed
    ]
    done = message(
        "{path}: may be used for sending again; settled: {settled}",
        path=name,
        settled=joined(settled, "sentences"),
    )
    if not held:
        return done
    return message("{done}; charges held since as a statement showed them: {count}", done=done, count=held)


def _unseen(ledger: LedgerToChange, gap: Gap) -> Message:
    """Why nobody can tell that the carrier's statement was compared; nothing where it was."""
    taken = ledger.statements_since(gap.found)
    unread = sorted(name for name, how in taken.items() if UNREAD in how)
    if unread:
        return message(
            "voucher reconcile could not read all of {files}, and what it did not read is not held"
            " and would be issued again; correct the statement, and give it to voucher reconcile"
            " again under its name",
            files=joined(unread),
        )
    if any(EARLY not in how for how in taken.values()):
        return NOTHING
    return message(
        "voucher reconcile was given no statement since the gap was found that was made after"
        " {since} and lists anything; what the ledger lacks would be issued again. Give it the carrier's complete"
        " statement from then on: voucher reconcile --statement FILE",
        since=local_text(gap.since),
    )


def withdrawn(job: Job, note: Note, entry: str, withdrawn_by: str, why: str) -> list[Message]:
    """Let a piece of evidence count no more; what was done, line by line."""
    with ledger_to_change(job, OpenOptions(note=note)) as ledger:
        name, done = ledger.name, ledger.withdraw(entry, withdrawn_by=withdrawn_by, why=why)
    match done.kind:
        case "settlement":
            follows = message(
                "request {what}: is unknown again, and its charges are held until other evidence settles it",
                what=done.what,
            )
        case "elsewhere":
            follows = message(
                "what a statement showed under {number}: holds its charge no more", number=done.what
            )
        case _:
            follows = message("{number}: counts as issued again, and its charges are held", number=done.what)
    counts = message("{path}: {entry} is withdrawn and counts no more", path=name, entry=done.entry)
    return [counts, follows]


def voucher_reversed(job: Job, note: Note, said: SaidReversed) -> list[Message]:
    """Record that the carrier has reversed a voucher; what was done, line by line."""
    with ledger_to_change(job, OpenOptions(note=note)) as ledger:
        name, done = ledger.name, ledger.reverse(said)
    tickets = dict.fromkeys(identity.ticket_no for identity, _ in done.charges)
    recorded = message(
        "{path}: {number} is recorded as reversed ({entry}); its {count} charges may be issued again",
        path=name,
        number=done.number,
        entry=done.entry,
        count=len(done.charges),
    )
    return [recorded, message("Tickets: {tickets}", tickets=joined(tickets))]


def _past(since: datetime.datetime) -> str:
    """A time in the ledger's form. Raises InputProblem for one that no gap can begin at."""
    if not _FIRST <= since.date() <= datetime.datetime.now(since.tzinfo).date():
        raise InputProblem(
            "--since {since}: is not a day on which this ledger was used; check the year",
            since=f"{since:%Y-%m-%d}",
        )
    return utc_text(since)
