"""The last lines of a reconciliation: what cron's mail says."""

from dataclasses import replace

from pipeline.messages.translate import rendered
from pipeline.model.message import NOTHING, joined
from pipeline.model.places import about
from pipeline.reporting.sanitise import one_line
from pipeline.reporting.sheet_reconciliation_summary import period_text, steps
from pipeline.reporting.summary_text import summary_lines
from pipeline.reporting.words_reconciliation import tell
from pipeline.settlement.compare import KINDS
from pipeline.settlement.reconciled import Reconciliation

_MOST = 10


def reconciled_lines(done: Reconciliation) -> list[str]:
    """Short lines in the run's language, safe to print and without what stands in cells: it names people where columns slip."""
    lang = done.result.lang
    counts = [f"{tell(kind, lang)} {len(done.of(kind))}" for kind in KINDS if done.of(kind)]
    parts = joined(counts or ["0"], "sentences")
    lines = [tell("line" if done.period else "line_no_period", lang, period=period_text(done), parts=parts)]
    if done.decided.settled:
        states = [one.state for one in done.decided.settled]
        lines.append(
            tell("settled_line", lang, issued=states.count("issued"), not_sent=states.count("not_sent"))
        )
    if done.result.rows:
        # What to do about doubts and a stop is said below, of all of the ledger.
        lines += summary_lines(replace(done.result, doubts=(), stopped=NOTHING), cells=False)
    told = [rendered(about(t.place, t.message), lang, names=False) for t in done.decided.troubles]
    told += [rendered(unread.problem, lang, names=False) for unread in done.unread]
    lines += told[:_MOST]
    if len(told) > _MOST:
        lines.append(tell("more", lang, count=len(told) - _MOST))
    lines += [rendered(note, lang, names=False) for note in (*done.decided.warnings[:_MOST], *done.notes)]
    lines += steps(done)
    return [line if line.startswith("  ") else one_line(line) for line in lines]
