"""The carrier's address moves: its ledger goes along, and the move is recorded."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import apsw

from pipeline.file_writing import sync
from pipeline.ledger.clock import utc_now
from pipeline.ledger.files_match import check_nothing_left
from pipeline.ledger.ledger_path import default_path
from pipeline.ledger.lock import LastRun, Lock
from pipeline.ledger.opening import owner_of
from pipeline.ledger.runs import begun_and_not_ended
from pipeline.ledger.spill import spill_path
from pipeline.model.errors import InputProblem
from pipeline.model.message import NOTHING, Message, message
from pipeline.model.places import about
from pipeline.model.profile import Owner


def check_move(path: Path, old: Owner, to: Owner) -> None:
    """Raise InputProblem for a move that something is against."""
    if against := obstacle(old, to):
        raise InputProblem(about(str(path), against))


def obstacle(old: Owner, to: Owner) -> Message:
    """What is against a move that is none, or one between a trial and a real carrier; nothing if nothing is.

    At an address of this machine may be a trial, or a real carrier that is reached through a tunnel; a sandbox is always a trial.
    """
    if old == to:
        return message("belongs to {to} already; name the new address in the profile (base_url)", to=to.told)
    if old.is_sandbox and not to.is_sandbox:
        return message(
            "is the ledger of a trial ({old}): what it holds was never issued by a real carrier, and"
            " would never be; begin a ledger of its own for the carrier with --new-ledger",
            old=old.told,
        )
    if _is_on_this_machine(old) and not _is_on_this_machine(to):
        return message(
            "is the ledger of a trial ({old}), whose vouchers no real carrier has issued: begin a ledger of its own for the carrier with --new-ledger."
            " If a real carrier was reached there, through a tunnel, go on reaching it there, or a new ledger would issue everything again",
            old=old.told,
        )
    if (to.is_sandbox and not old.is_sandbox) or (_is_on_this_machine(to) and not _is_on_this_machine(old)):
        return message(
            "is the ledger of a real carrier ({old}) and is not to be used for trials ({to}), which"
            " would mark real charges as issued; check the profile (base_url), and give the trial a"
            " --ledger of its own",
            old=old.told,
            to=to.told,
        )
    return NOTHING


def _is_on_this_machine(owner: Owner) -> bool:
    """Whether it is reached by plain http, which is for loopback alone (interface.md, Carrier profile), or within a run."""
    return urlsplit(owner.base_url).scheme != "https"


def move(connection: apsw.Connection, to: Owner, moved_by: str, why: str) -> None:
    """Let the ledger belong to the carrier at its new address, and record that."""
    with connection:
        old = owner_of(connection)
        connection.execute(
            "INSERT INTO carrier_move (from_base_url, from_agency, to_base_url, to_agency, moved_by, why, moved_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (old.base_url, old.agency, to.base_url, to.agency, moved_by, why, utc_now()),
        )
        connection.execute("UPDATE ledger SET base_url = ?, agency = ?", (to.base_url, to.agency))


def check_at_rest(path: Path, connection: apsw.Connection) -> None:
    """Raise InputProblem if the ledger has files beside it that hold what its last run left."""
    if spill_path(path).exists() or begun_and_not_ended(connection) is not None:
        raise InputProblem(
            "{path}: its last run did not end; before the ledger moves, let a run with the old"
            " address put it in order (voucher issue with any workbook)",
            path=str(path),
        )


@contextlib.contextmanager
def free_name(
    wanted: Path, ledger_id: str, witness: Callable[[LastRun], None] = lambda _: None
) -> Iterator[Lock]:
    """Hold a name that nothing has, and that nothing of another ledger lies beside. Raises InputProblem."""
    with contextlib.closing(Lock(wanted, witness=witness)) as lock:
        if wanted.exists():
            raise InputProblem(
                "{wanted}: the new address has a ledger already, so that there are two memories of what"
                " was issued; only one of them may be used. Name the one to be moved with --ledger, under"
                " another name",
                wanted=str(wanted),
            )
        last = lock.run
        check_nothing_left(wanted, last if last and last.ledger_id != ledger_id else None)
        yield lock


def rename(path: Path, lock: Lock, wanted: Path, wanted_lock: Lock) -> None:
    """Give a closed ledger at rest another name, and the note of its last run with it; both names are held."""
    wanted_lock.run = lock.run  # until all is done the ledger is expected under both names
    path.rename(wanted)
    sync(wanted.parent)
    lock.run = None


def default_names(connection: apsw.Connection, owner: Owner) -> set[Path]:
    """The default places of the ledger's carrier, at its address and at those that it had."""
    earlier = connection.execute("SELECT from_base_url, from_agency FROM carrier_move")
    return {default_path(each).resolve() for each in (owner, *(Owner(*row) for row in earlier))}
