"""What is to be remembered of every file of the inbox that was dealt with."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from pipeline.ledger.inbox_files import Handled
from pipeline.reconciliation.inbox import Inbox
from pipeline.reconciliation.resubmit import Again, fates, unfinished
from pipeline.settlement.reconciled import Reconciliation


def handled_files(
    inbox: Inbox,
    said: Reconciliation,
    done: Sequence[Again],
    results: Mapping[Path, str],
    unwritten: AbstractSet[Path],
) -> list[Handled]:
    """What is to be noted of every file that was dealt with.

    Evidence that is in trouble is weighed again the next time, and a file whose result could not be written is taken again.
    """
    troubled = bool(said.decided.troubles)
    found = [
        Handled(statement.sha256, "statement", _name(path), "", "", troubled)
        for statement, path in inbox.statements
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


def _name(path: Path) -> str:
    """A file's name as text, whatever its bytes."""
    return path.name.encode(errors="replace").decode()
