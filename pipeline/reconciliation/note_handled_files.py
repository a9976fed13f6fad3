"""What is noted of files that were dealt with: those of the inbox, and the statements that were named."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.ledger.clock import utc_text
from pipeline.ledger.inbox_files import EARLY, NAMED, UNREAD, Handled
from pipeline.model.evidence import Statement
from pipeline.reconciliation.inbox import Inbox
from pipeline.reconciliation.resubmit import Again
from pipeline.reconciliation.result_changes import fates, unfinished
from pipeline.settlement.reconciliation_result import Reconciled
from pipeline.submission.sending_run import Run


def note_handled(run: Run, inbox: Inbox, done: Sequence[Again], finished: Reconciled) -> None:
    """Note what was done with every file of the inbox, and with the statements that were named."""
    gap = run.ledger.open_gap
    for one in _handled_files(inbox, done, finished, gap.since if gap else ""):
        run.ledger.note_handled(run.number, one)


def _handled_files(
    inbox: Inbox, done: Sequence[Again], finished: Reconciled, gap_since: str
) -> Iterator[Handled]:
    """What is to be noted of every file that was dealt with. `gap_since`: from when on the ledger may lack something.

    Evidence that is in trouble is weighed again the next time, and a file whose result could not be written is taken again.
    """
    troubled = bool(finished.said.decided.troubles)
    from_inbox = {statement.sha256: path for statement, path in inbox.statements}
    for one in finished.said.statements:
        named = [] if one.sha256 in from_inbox else [NAMED]
        path = from_inbox.get(one.sha256, Path(one.name))
        taken = " ".join([*named, *_taken(one, gap_since)])
        yield Handled(one.sha256, "statement", _name(path), "", taken, troubled)
    for _, path, sha256 in inbox.answers:
        yield Handled(sha256, "resolved", _name(path), "", "", troubled)
    for again in done:
        if again.batch.path is None:
            continue
        path, seen = again.batch.path, fates(again.result)
        result = finished.results[path].name if path in finished.results else ""
        comes_again = unfinished(again.result)
        if path in finished.unwritten:
            seen, comes_again = "", True
        yield Handled(again.batch.sha256, "tickets", _name(path), result, seen, comes_again)
    for path, sha256 in inbox.spent:
        yield Handled(sha256, "resolved", _name(path), "", "", False)


def _taken(statement: Statement, gap_since: str) -> list[str]:
    """Why a statement can't show all that the ledger lacks: the rest of it holds nothing."""
    made = utc_text(statement.made or statement.written)
    unread = (
        len(statement.misread) > len(statement.set_aside) or statement.unread
    )  # those that are set aside hold
    empty = not (statement.lines or statement.misread or statement.reversals)  # set aside is misread, too
    return [UNREAD] * bool(unread) + [EARLY] * bool(gap_since and (empty or made < gap_since))


def _name(path: Path) -> str:
    """A file's name as text, whatever its bytes."""
    return path.name.encode(errors="replace").decode()
