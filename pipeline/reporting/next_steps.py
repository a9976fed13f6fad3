"""What a person is to do after a run or a reconciliation, in plain sentences, and where it begins."""

from typing import NamedTuple

from pipeline.model.message import Message, counted, joined, message
from pipeline.model.result import RunResult
from pipeline.model.status import STATUS, STATUSES
from pipeline.reporting.links import Places
from pipeline.reporting.words_reconciliation import period_text, said
from pipeline.settlement.compare import DISAGREEING
from pipeline.settlement.reconciliation_result import Reconciliation

#: Statuses of rows to be corrected or sent again, the most urgent first: what stopped the run, what needs a person, what needs time.
_FAILURES = [
    status.name
    for status in sorted(STATUSES, key=lambda s: (-s.exit_code, s.tone != "bad"))
    if status.failure
]


class Step(NamedTuple):
    """One thing to do; `sheet` and `link` lead to the first row or request that it speaks of."""

    text: Message
    sheet: str = ""
    link: str = ""


def rows_in_words(count: int) -> Message:
    """A number of rows."""
    return counted("{count} row", "{count} rows", count)


def stopped_lines(result: RunResult) -> list[Message]:
    """Why the run stopped early, and that it may be run again; nothing where it did not."""
    if not result.stopped:
        return []
    return [
        message("The run stopped early: {stopped}", stopped=result.stopped),
        message("Running the same command again is safe."),
    ]


def unknown_step(count: int) -> Message:
    """What to do about so many requests whose outcome is unknown."""
    requests = counted("{count} request", "{count} requests", count)
    return Message(STATUS["unknown"].step, {"requests": requests})


def next_steps(result: RunResult, places: Places) -> list[Step]:
    """What a person is to do, the most urgent first; nothing where every row is issued."""
    totals, rows = result.totals, places.rows
    found = [Step(line) for line in stopped_lines(result)]
    if result.doubts:
        link = places.doubts[result.doubts[0].request_id]
        found.append(Step(unknown_step(len(result.doubts)), "Unknown", link))
    for status in _FAILURES:
        mine = [
            row for cause, of in rows.causes.items() if cause.status == status and not cause.key for row in of
        ]
        if mine:
            found.append(Step(_of_rows(status, len(mine)), "Failures", places.failures[mine[0]]))
        if status == "invalid" and (
            named := [row for row in rows.having("unknown_buyer") if row in places.failures]
        ):
            text = message(
                "Some rows name a buyer that is not known. On the sheet Failures, correct buyer to a name on the sheet"
                " Buyers (the last one), or add the buyer there; or fill in header_type, header_name and the columns"
                " after it."
            )
            found.append(Step(text, "Failures", places.failures[named[0]]))
    if lacking := [row for cause, of in rows.causes.items() if cause.key for row in of]:
        text = message(
            "{rows} only lack codes of the carrier. {lacking}",
            rows=rows_in_words(len(lacking)),
            lacking=lacking_step(result),
        )
        found.append(Step(text, "Failures", places.failures[lacking[0]]))
    if other := rows.having("differs_from_issued"):
        text = message(
            "{rows} issued earlier with another amount or buyer: compare them with the issued vouchers (sheet Rows,"
            " reason differs_from_issued).",
            rows=rows_in_words(len(other)),
        )
        found.append(Step(text, "Rows", Places.row(other[0])))
    if "ready" in totals:
        found.append(Step(_of_rows("ready", totals["ready"])))
    return found


def lacking_step(result: RunResult) -> Message:
    """What to do once about the keys that the carrier profile lacks."""
    return message(
        "The carrier profile has no code at {keys}: ask the carrier for them, fill them in once, and run the same workbook again; no cell"
        " has to change for that.",
        keys=joined(result.lacking),
    )


def _of_rows(status: str, count: int) -> Message:
    return Message(STATUS[status].step, {"rows": rows_in_words(count)})


def reconciliation_steps(done: Reconciliation) -> list[Message]:
    """What a person is to do, the most urgent first; nothing where everything agrees."""
    result = done.result
    counts = {kind: len(done.of(kind)) for kind in DISAGREEING}
    counts["unknown"] = len(result.doubts)
    counts |= {"troubles": len(done.decided.troubles), "unread": len(done.unread)}
    counts["set_free"] = sum(entry.set_free for entry in done.entries)
    counts["failures"] = len(result.columns.failed)
    # Where the ledger may lack something, a stop has no other cause.
    found = [said("lacking_do", lacking=done.lacking)] if done.lacking else stopped_lines(result)
    if done.nothing_compared and not any(of.reversals for of in done.statements):
        nothing = "nothing_in_period_do" if done.period else "nothing_compared_do"
        nothing = nothing if done.statements else "no_statement_do"
        found.append(said(nothing, period=period_text(done)))
    order = ("unknown", "troubles", "unread", *DISAGREEING, "set_free", "failures")
    return found + [said(f"{name}_do", count=counts[name]) for name in order if counts[name]]
