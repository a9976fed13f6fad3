"""What is to be remembered of every file of the inbox that was dealt with."""

import datetime
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from pipeline.ledger.inbox_files import EARLY, NAMED, UNREAD, Handled
from pipeline.model.evidence import Statement
from pipeline.reconciliation.inbox import Inbox
from pipeline.reconciliation.resubmit import Again, fates, unfinished
from pipeline.settlement.reconciled import Reconciliation


def handled_files(  # noqa: PLR0913 - all that was dealt with
    inbox: Inbox,
    said: Reconciliation,
    done: Sequence[Again],
    results: Mapping[Path, str],
    unwritten: AbstractSet[Path],
    gap_since: str,
) -> list[Handled]:
    """What is to be noted of every file that was dealt with. `gap_since`: from when on the ledger may lack something.

    Evidence that is in trouble is weighed again the next time, and a file whose result could not be written is taken again.
    """
    troubled = bool(said.decided.troubles)
    from_inbox = {statement.sha256: path for statement, path in inbox.statements}
    found = [
        Handled(
            one.sha256,
            "statement",
            _name(from_inbox.get(one.sha256, Path(one.name))),
            "",
            " ".join([NAMED] * (one.sha256 not in from_inbox) + _taken(one, gap_since)),
            troubled,
        )
        for one in said.statements
    ]
    found += [Handled(sha256, "resolved", _name(path), "", "", troubled) for _, path, sha256 in inbox.answers]
    for one in done:
        path = one.batch.path
        if path is None:
            continue
        comes_again = path in unwritten or unfinished(one.account)
        seen = "" if path in unwritten else fates(one.account)
        found.append(
            Handled(one.batch.sha256, "tickets", _name(path), results.get(path, ""), seen, comes_again)
        )
    return [
        *found,
        *(Handled(sha256, "resolved", _name(path), "", "", False) for path, sha256 in inbox.spent),
    ]


def _taken(statement: Statement, gap_since: str) -> list[str]:
    """Why a statement can't show all that the ledger lacks: the rest of it holds nothing."""
    made = (statement.made or statement.written).astimezone(datetime.UTC).isoformat(timespec="milliseconds")
    unread = (
        len(statement.misread) > len(statement.set_aside) or statement.unread
    )  # those that are set aside hold
    return [UNREAD] * bool(unread) + [EARLY] * (made < gap_since)


def _name(path: Path) -> str:
    """A file's name as text, whatever its bytes."""
    return path.name.encode(errors="replace").decode()
