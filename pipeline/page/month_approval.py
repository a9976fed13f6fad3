"""Who prepared a month, proposed it and approved it."""

import time
from pathlib import Path
from typing import Literal

from pipeline.model.approval import may_approve
from pipeline.model.message import message
from pipeline.page import month_history
from pipeline.page.months import Overtaken, State, find
from pipeline.page.page_database import connected, transaction

Step = Literal["proposed", "approved"]


def preparers(folder: Path, month: str) -> set[str]:
    """Everybody who changed or proposed what would be sent: none of them approves it where two people are asked for."""
    sql = """
        SELECT name FROM preparer WHERE month = :month
        UNION SELECT by FROM approval WHERE month = :month AND step = 'proposed'
            AND version = (SELECT version FROM month WHERE id = :month)
    """
    return {line[0] for line in connected(folder).execute(sql, {"month": month})}


def approve(folder: Path, month: str, step: Step, digest: str, by: str) -> None:
    """Propose a plan, or approve one that was proposed: the very one whose digest the person saw.

    Raises Overtaken where the plan is another by now, was not proposed, or was prepared by the same person.
    """
    with transaction(folder) as connection:
        standing = find(folder, month)
        if standing is None or not standing.is_judged or not standing.plan or standing.plan.digest != digest:
            raise Overtaken("The plan has changed since you looked at it. Look at it again.")
        wanted: State = "checked" if step == "proposed" else "proposed"
        if standing.state != wanted:
            raise Overtaken("This was done meanwhile, or the month has changed. Look at it again.")
        if step == "approved" and not may_approve(by, preparers(folder, month)):
            raise Overtaken("You prepared this month yourself: somebody else has to approve it.")
        connection.execute(
            "INSERT INTO approval VALUES (?, ?, ?, ?, ?, ?)",
            (month, standing.version, digest, step, time.time(), by),
        )
        said = (
            message("proposed the plan {digest}", digest=digest[:12])
            if step == "proposed"
            else message("approved the plan {digest}", digest=digest[:12])
        )
        month_history.note_within(folder, month, by, said)
