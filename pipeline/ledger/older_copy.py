"""Whether a ledger's file may be an older copy of itself, put back or put elsewhere: by the notes of its last run."""

from pathlib import Path

import apsw

from pipeline.ledger import last_run_witness, runs
from pipeline.ledger.gaps import open_gap
from pipeline.ledger.lock import Phase, note_garbled, noted_run
from pipeline.model.errors import InputProblem
from pipeline.model.message import NOTHING, Message, message


def doubt(
    path: Path, connection: apsw.Connection, witnesses: tuple[Path, ...], *, unnoted: bool = False
) -> Message:
    """Why an open ledger may be an older copy of itself, nothing where nothing says so, or where its gap says so already.

    `unnoted`: somebody says of it that it is the latest, though no note of its last run lies beside it or on this machine. A run that
    begins meanwhile is in the ledger first, and is known to witnesses last.
    """
    own = runs.last_run(connection, Phase.AT_REST)
    noted = list(last_run_witness.noted(witnesses, own.ledger_id))
    if open_gap(connection) is not None:
        return NOTHING
    for place, last in noted:
        if not last_run_witness.knows(connection, last):
            return message(
                "{path}: was put back from an earlier time: it does not know a run that {place} notes"
                " (begun {begun}), its end, or what was recorded after it, and what was issued since"
                " would be issued again. Put the right one back, with the files beside it. If it is lost"
                " for good: voucher ledger mark-gap",
                path=str(path),
                place=str(place),
                begun=last.started_at,
            )
    # Each note beside it is on disk before what it is about is done: one that was garbled as it was written is no sign of an
    # older copy where the notes outside the folder are those of this very state.
    if own.run and not unnoted and noted_run(path) is None and not (noted and note_garbled(path)):
        return message(
            "{path}: its last run is not noted beside it ({name}.lock), so that it may be an older"
            " copy, put here from elsewhere, and what was issued since would be issued again. Put it"
            " back with the files that were beside it. If this is its latest state, and nothing is"
            " missing: voucher ledger mark-gap --nothing-missing; else: voucher ledger mark-gap",
            path=str(path),
            name=path.name,
        )
    if own.run and not unnoted and witnesses and not noted:
        return message(
            "{path}: its last run is not noted on this machine for this user ({place}): it may be a"
            " copy of one in use elsewhere. Run it where it was run last (same user, same"
            " VOUCHER_WITNESS). If it was moved here, and nothing is missing: voucher ledger mark-gap"
            " --nothing-missing; else: voucher ledger mark-gap",
            path=str(path),
            place=str(witnesses[0]),
        )
    return NOTHING


def check_latest(
    path: Path, connection: apsw.Connection, witnesses: tuple[Path, ...], *, unnoted: bool
) -> None:
    """Close the ledger and raise InputProblem where there is such a doubt."""
    if found := doubt(path, connection, witnesses, unnoted=unnoted):
        connection.close()
        raise InputProblem(found)
