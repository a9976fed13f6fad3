"""Months as they stand: begun, changed, judged, sent; their uploads, corrections, approvals and history are modules of their own
(month_*.py).

A month's `version` counts every change of what is judged. What it came to (`judged`, `plan`) is of one version, and so is a proposal or
an approval, beside the digest of the very plan that was looked at: after a change both are asked for anew.
"""

import secrets
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pipeline.file_writing import private_folder
from pipeline.model.errors import Stop
from pipeline.model.message import Message, from_text, to_text
from pipeline.page.page_database import connected, named_columns, transaction
from pipeline.page.plan_facts import PlanFacts

State = Literal["reading", "checked", "proposed", "approved", "sending", "stopped", "sent"]
Ending = Literal["stopped", "sent"]


class Overtaken(Stop):
    """Somebody else was quicker: nothing was saved, and the message says what stands now."""


@dataclass(frozen=True)
class Month:
    """A month as it stands. `state` is what the page shows of it; `plan` is what its judging came to, None where there is none yet."""

    id: str
    title: str
    made_at: float
    made_by: str
    version: int
    judged: int
    plan: PlanFacts | None
    problem: Message
    state: State
    proposed_by: str = ""
    proposed_at: float = 0.0
    approved_by: str = ""
    approved_at: float = 0.0

    @property
    def stamp(self) -> str:
        """What is another as soon as anything of it is, for a page that is open."""
        return f"{self.version}.{self.judged}.{self.state}"

    def may_be_sent(self, people: int) -> bool:
        """Whether its plan may be sent, where it needs so many people: where it needs one, whatever it waited for while it needed two."""
        ready: tuple[State, ...] = ("approved",) if people > 1 else ("checked", "proposed", "approved")
        return self.state in ready and self.plan is not None and self.plan.request_count > 0

    @property
    def may_be_written(self) -> bool:
        """Whether its result can be written as it stands."""
        return self.state not in ("reading", "sending")

    @property
    def is_judged(self) -> bool:
        """Whether what is shown of it is of what was uploaded and corrected last."""
        return self.judged == self.version and not self.problem


def folder_of(pages: Path, month: str) -> Path:
    """The folder of a month's files, made where it is not there."""
    folder = pages / "months" / month
    for part in (folder, folder / "uploads", folder / "results"):
        private_folder(part)
    return folder


def begin(folder: Path, by: str, title: str) -> str:
    """A new month; its ID."""
    month = secrets.token_hex(8)
    with transaction(folder) as connection:
        connection.execute(
            "INSERT INTO month (id, title, made_at, made_by) VALUES (?, ?, ?, ?)",
            (month, title, time.time(), by),
        )
    return month


_ALL = """
SELECT month.*, proposal.by AS proposed_by, proposal.at AS proposed_at, approval.by AS approved_by, approval.at AS approved_at,
       EXISTS (SELECT 1 FROM work WHERE work.month = month.id AND kind = 'send' AND ended_at IS NULL) AS sending
FROM month
LEFT JOIN approval AS proposal ON proposal.month = id AND proposal.version = month.version AND proposal.step = 'proposed'
LEFT JOIN approval ON approval.month = id AND approval.version = month.version AND approval.step = 'approved'
"""


def all_months(folder: Path) -> list[Month]:
    """Every month, the newest first."""
    return [_month(line) for line in named_columns(folder, _ALL + "ORDER BY made_at DESC, id")]


def find(folder: Path, month: str) -> Month | None:
    """A month by its ID."""
    return next((_month(line) for line in named_columns(folder, _ALL + "WHERE id = ?", month)), None)


def _month(line: Mapping[str, Any]) -> Month:
    return Month(
        line["id"],
        line["title"],
        line["made_at"],
        line["made_by"],
        line["version"],
        line["judged"],
        PlanFacts.read(line["plan"]) if line["plan"] else None,
        from_text(line["problem"]),
        _state(line),
        line["proposed_by"] or "",
        line["proposed_at"] or 0.0,
        line["approved_by"] or "",
        line["approved_at"] or 0.0,
    )


def _state(line: Mapping[str, Any]) -> State:
    if line["sending"]:
        return "sending"
    if line["judged"] < line["version"] or line["problem"] or not line["plan"]:
        return "reading"
    if line["ended"]:
        return "stopped" if line["ended"] == "stopped" else "sent"
    if line["approved_by"]:
        return "approved"
    return "proposed" if line["proposed_by"] else "checked"


def changed(folder: Path, month: str, by: str) -> None:
    """Somebody changed what is judged, and so prepares the month: it has to be judged, proposed and approved anew. Within a transaction.

    Raises Overtaken while the month is being sent.
    """
    count_up(folder, month)
    note_preparer(folder, month, by)


def note_preparer(folder: Path, month: str, by: str) -> None:
    """Note that somebody has prepared the month. Within a transaction."""
    connected(folder).execute("INSERT OR IGNORE INTO preparer VALUES (?, ?)", (month, by))


def count_up(folder: Path, month: str) -> None:
    """Count a change of what is judged. Within a transaction. Raises Overtaken while the month is being sent."""
    standing = find(folder, month)
    if standing and standing.state == "sending":
        raise Overtaken(
            "This month is being sent: nothing of it can be changed until that has ended, or was stopped."
        )
    connected(folder).execute("UPDATE month SET version = version + 1, ended = '' WHERE id = ?", (month,))


def judge_again(folder: Path, month: str) -> None:
    """Have a month judged anew though nobody changed it: time went on, or vouchers were issued elsewhere."""
    with transaction(folder):
        count_up(folder, month)


def judged(folder: Path, month: str, version: int, plan: PlanFacts) -> None:
    """What the judging of a version came to."""
    with transaction(folder) as connection:
        connection.execute(
            "UPDATE month SET judged = ?, plan = ?, problem = '' WHERE id = ? AND judged <= ?",
            (version, plan.text, month, version),
        )
        connection.execute(
            "DELETE FROM correction WHERE month = ? AND value = before AND ? = (SELECT version FROM month WHERE id = ?)",
            (month, version, month),
        )


def could_not_be_judged(folder: Path, month: str, problem: Message) -> None:
    """Why a month could not be judged as it is now; what it came to before is of something else. Within a transaction."""
    connected(folder).execute(
        "UPDATE month SET judged = version, plan = '', problem = ? WHERE id = ? AND judged < version",
        (to_text(problem), month),
    )


def ended(folder: Path, month: str, how: Ending, plan: PlanFacts) -> None:
    """How the sending of a month ended, and what it came to."""
    with transaction(folder) as connection:
        connection.execute("UPDATE month SET ended = ?, plan = ? WHERE id = ?", (how, plan.text, month))


def sending_ended(folder: Path, month: str) -> None:
    """A sending is over: where it came to no result, what was looked at before it counts no more. Within a transaction."""
    connected(folder).execute("UPDATE month SET version = version + 1 WHERE id = ? AND ended = ''", (month,))


def forget_old(folder: Path, days: int) -> list[str]:
    """Take out, with all their files, the months that nobody has changed for so many days; their titles. Vouchers are in the ledger."""
    there = [*(folder / "months").glob("*")]
    sql = """
        SELECT id, title FROM month WHERE NOT EXISTS (SELECT 1 FROM work WHERE work.month = month.id AND ended_at IS NULL)
            AND max(made_at, ifnull((SELECT max(at) FROM change WHERE change.month = month.id), 0),
                    ifnull((SELECT max(at) FROM correction WHERE correction.month = month.id), 0)) < ?
    """
    with transaction(folder) as connection:
        before = time.time() - days * 24 * 60 * 60
        old = [(str(month), str(title)) for month, title in connection.execute(sql, (before,))]
        for month, _ in old:
            connection.execute("DELETE FROM month WHERE id = ?", (month,))
        known = {month for (month,) in connection.execute("SELECT id FROM month").fetchall()}
    for path in there:  # those of a month that was taken out before a kill, too
        if path.name not in known:
            shutil.rmtree(path, ignore_errors=True)
    return [title for _, title in old]
