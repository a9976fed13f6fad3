"""Months: what people uploaded, corrected, proposed and approved, and what became of it; the part of the page's database about them.

A month's `version` counts every change of what is judged. What it came to (`judged`, `plan`) is of one version, and so is a proposal or
an approval, beside the digest of the very plan that was looked at: after a change both are asked for anew.
"""

import secrets
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import apsw

from pipeline.file_writing import private_folder
from pipeline.model.approval import may_approve
from pipeline.model.columns import BUYER_COLUMNS
from pipeline.model.errors import Stop
from pipeline.model.message import Message, from_text, message, to_text
from pipeline.page.page_database import connected, transaction
from pipeline.page.plan_facts import PlanFacts
from pipeline.rules.buyer_lookup import name_key

State = Literal["reading", "checked", "proposed", "approved", "sending", "stopped", "sent"]
Ending = Literal["stopped", "sent"]
Step = Literal["proposed", "approved"]
STATES: tuple[State, ...] = get_args(State)


#: Kinds of uploads that rows are read from, that are judged, and that a reconciliation weighs.
TICKETS = ("workbook", "answered")
JUDGED = (*TICKETS, "buyers")
EVIDENCE = ("statement", "resolved", "answered")


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


@dataclass(frozen=True)
class Upload:
    """A file that was uploaded to a month.

    `kind`: workbook (tickets), buyers, statement, resolved (answers), answered (tickets and answers), or new: not told apart yet.
    `reconcile_in` is the language of a reconciliation with it, "" where nobody who may reconcile has brought it.
    """

    number: int
    name: str
    kind: str
    size: int
    at: float
    by: str
    reconcile_in: str = ""

    def path(self, folder: Path) -> Path:
        """Where it lies in the month's folder."""
        return folder / "uploads" / str(self.number) / self.name


@dataclass(frozen=True)
class Correction:
    """What the cell of a row's column is to say. `seen` is what it said on the page of whoever corrects it."""

    file: str
    sheet: str
    line: int
    column: str
    value: str
    seen: str


@dataclass(frozen=True)
class BuyerCorrection:
    """What a buyer is to say, by the columns of the Buyers sheet. `seen` is what the one of that name said on the page of whoever
    corrects it, `in_files` what the files say of that name; both are blank where there was none.
    """

    said: Mapping[str, str]
    seen: Mapping[str, str]
    in_files: Mapping[str, str]


@dataclass(frozen=True)
class Kept:
    """A correction that stands: what the file says, what is read in its place, who said so and when."""

    file: str
    sheet: str
    line: int
    column: str
    before: str
    value: str
    at: float
    by: str


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
    return [_month(line) for line in _named(folder, _ALL + "ORDER BY made_at DESC, id")]


def find(folder: Path, month: str) -> Month | None:
    """A month by its ID."""
    return next((_month(line) for line in _named(folder, _ALL + "WHERE id = ?", month)), None)


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


def uploads(folder: Path, month: str, *kinds: str) -> list[Upload]:
    """What was uploaded to a month, in its order; of these kinds, where any are named."""
    found = [
        Upload(*line)
        for line in connected(folder).execute(
            "SELECT number, name, kind, size, at, by, reconcile_in FROM upload WHERE month = ? ORDER BY number",
            (month,),
        )
    ]
    return [one for one in found if not kinds or one.kind in kinds]


def add_upload(folder: Path, month: str, upload: Upload) -> None:
    """Note a file of the month's folder; what may be judged has the month judged anew. Within a transaction, in which the file is put there.

    Raises Overtaken while the month is being sent.
    """
    connected(folder).execute(
        "INSERT INTO upload VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            month,
            upload.number,
            upload.name,
            upload.kind,
            upload.size,
            upload.at,
            upload.by,
            upload.reconcile_in,
        ),
    )
    _note(folder, month, upload.by, message("uploaded {file}", file=upload.name))
    if upload.kind in JUDGED:
        changed(folder, month, upload.by)
    elif upload.kind == "new":
        _count_up(folder, month)


def told_apart(folder: Path, month: str, upload: Upload, kind: str) -> bool:
    """Note what a new upload is; whoever brought tickets has prepared the month. Whether it was still there to be told apart."""
    with transaction(folder) as connection:
        connection.execute(
            "UPDATE upload SET kind = ? WHERE month = ? AND number = ? AND kind = 'new'",
            (kind, month, upload.number),
        )
        found = bool(connection.changes())
        if found and kind in TICKETS:
            _note_preparer(folder, month, upload.by)
    return found


def reconcile_with(folder: Path, month: str, number: int, lang: str) -> Upload | None:
    """Note that somebody who may reconcile wants it done with an upload; that upload, None where it is no evidence of this month's."""
    connected(folder).execute(
        "UPDATE upload SET reconcile_in = ? WHERE month = ? AND number = ?", (lang, month, number)
    )
    return next((one for one in uploads(folder, month, *EVIDENCE) if one.number == number), None)


def take_out(folder: Path, month: str, number: int, by: str) -> None:
    """Take an upload out of a month again; the file stays in its folder. Its corrections go with it.

    Raises Overtaken where the month is being sent, and it is judged.
    """
    with transaction(folder) as connection:
        for one in uploads(folder, month):
            if one.number == number:
                connection.execute("DELETE FROM upload WHERE month = ? AND number = ?", (month, number))
                connection.execute("DELETE FROM correction WHERE month = ? AND file = ?", (month, one.name))
                _note(folder, month, by, message("took {file} out", file=one.name))
                if one.kind in (*JUDGED, "new"):
                    changed(folder, month, by)


def changed(folder: Path, month: str, by: str) -> None:
    """Somebody changed what is judged, and so prepares the month: it has to be judged, proposed and approved anew. Within a transaction.

    Raises Overtaken while the month is being sent.
    """
    _count_up(folder, month)
    _note_preparer(folder, month, by)


def _note_preparer(folder: Path, month: str, by: str) -> None:
    connected(folder).execute("INSERT OR IGNORE INTO preparer VALUES (?, ?)", (month, by))


def _count_up(folder: Path, month: str) -> None:
    standing = find(folder, month)
    if standing and standing.state == "sending":
        raise Overtaken(
            "This month is being sent: nothing of it can be changed until that has ended, or was stopped."
        )
    connected(folder).execute("UPDATE month SET version = version + 1, ended = '' WHERE id = ?", (month,))


def judge_again(folder: Path, month: str) -> None:
    """Have a month judged anew though nobody changed it: time went on, or vouchers were issued elsewhere."""
    with transaction(folder):
        _count_up(folder, month)


def corrections(folder: Path, month: str) -> list[Kept]:
    """The corrections that stand, the newest first."""
    return [
        Kept(*line)
        for line in connected(folder).execute(
            "SELECT file, sheet, line, name, before, value, at, by FROM correction WHERE month = ? AND value != before"
            " ORDER BY at DESC, rowid DESC",
            (month,),
        )
    ]


def correct(
    folder: Path, month: str, wanted: Sequence[Correction], in_file: Mapping[str, str], by: str
) -> None:
    """Let cells of a row say something else than the file, where each still says what the person saw; all of them or none.

    `in_file` is what the file says, by column. Raises Overtaken where somebody else corrected one of them meanwhile.
    """
    with transaction(folder):
        there = {one.name for one in uploads(folder, month, "workbook", "buyers")}
        if gone := [one.file for one in wanted if one.file not in there]:
            raise Overtaken("{file} was taken out meanwhile, and nothing was saved.", file=gone[0])
        done = [_correct(folder, month, one, in_file.get(one.column, ""), by) for one in wanted]
        if any(done):
            changed(folder, month, by)


def take_back(folder: Path, month: str, one: Correction, by: str) -> None:
    """Let a cell say again what the file says, if it says what the person saw; `one.value` counts for nothing.

    Raises Overtaken where the correction does not stand any more, or is another.
    """
    place = (one.file, one.sheet, one.line, one.column)
    for kept in corrections(folder, month):
        if (kept.file, kept.sheet, kept.line, kept.column) == place:
            correct(folder, month, [replace(one, value=kept.before)], {}, by)
            return
    raise Overtaken("This correction does not stand any more: it was taken back meanwhile.")


def _correct(folder: Path, month: str, one: Correction, in_file: str, by: str) -> bool:
    """Whether there was anything to do."""
    connection, place = connected(folder), (month, one.file, one.sheet, one.line, one.column)
    at = "month = ? AND file = ? AND sheet = ? AND line = ? AND name = ?"
    standing = next(
        iter(connection.execute(f"SELECT value, by, before FROM correction WHERE {at}", place)),  # noqa: S608 - a constant
        None,
    )
    present = standing[0] if standing else in_file
    if present == one.value:
        return False
    if present != one.seen:
        raise Overtaken(
            "{by} has changed this cell meanwhile: it says “{present}” now, and your “{value}” was not saved.",
            by=standing[1] if standing else message("somebody"), present=present, value=one.value,
        )  # fmt: skip
    # One that is taken back stays until the month is judged: pages show what was judged last, with it.
    connection.execute(
        "INSERT OR REPLACE INTO correction VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*place, standing[2] if standing else in_file, one.value, time.time(), by),
    )
    return True


def buyers(folder: Path, month: str) -> list[dict[str, str]]:
    """The buyers that were added or corrected, in the order of their names; with `at` and `by`."""
    return _named(folder, "SELECT * FROM buyer_correction WHERE month = ? ORDER BY buyer", month)


def correct_buyer(folder: Path, month: str, wanted: BuyerCorrection, by: str) -> None:
    """Add a buyer, or let one be other than the files say, where it still says what the person saw.

    Raises Overtaken where it does not, such as a new one under a name that there is already.
    """
    said = _buyer(wanted.said)
    key = name_key(said[0])
    with transaction(folder) as connection:
        standing = next((one for one in buyers(folder, month) if name_key(one["buyer"]) == key), None)
        present = _buyer(standing or wanted.in_files)
        if present == said:
            return
        if present != (_buyer(wanted.seen) if name_key(wanted.seen.get("buyer", "")) == key else _buyer({})):
            raise Overtaken(
                "{by} has entered the buyer {buyer} otherwise: it says “{present}” now, and what you entered was not saved."
                " Look at it, and correct that one.",
                by=standing["by"] if standing else message("a file"), buyer=said[0],
                present=", ".join(filter(None, present[1:])),
            )  # fmt: skip
        if standing:
            connection.execute(
                "DELETE FROM buyer_correction WHERE month = ? AND buyer = ?", (month, standing["buyer"])
            )
        connection.execute(
            "INSERT INTO buyer_correction VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (month, *said, time.time(), by)
        )
        _note(folder, month, by, message("corrected the buyer {buyer}", buyer=said[0]))
        changed(folder, month, by)


def _buyer(said: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(said.get(column.name, "") for column in BUYER_COLUMNS)


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
        _note(folder, month, by, said)


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


def note(folder: Path, month: str, by: str, said: Message) -> None:
    """Note who did what to a month."""
    with transaction(folder):
        _note(folder, month, by, said)


def changes(folder: Path, month: str, most: int = 50) -> list[tuple[float, str, Message]]:
    """(when, who, what) of the last changes, the newest first."""
    found = connected(folder).execute(
        "SELECT at, by, said FROM change WHERE month = ? ORDER BY rowid DESC LIMIT ?", (month, most)
    )
    return [(at, by, from_text(said)) for at, by, said in found]


def _note(folder: Path, month: str, by: str, said: Message) -> None:
    connected(folder).execute(
        "INSERT INTO change VALUES (?, ?, ?, ?)", (month, time.time(), by, to_text(said))
    )


def _named(folder: Path, sql: str, *given: Any) -> list[dict[str, Any]]:
    cursor = connected(folder).execute(sql, given)
    try:
        names = [name for name, _ in cursor.get_description()]
    except apsw.ExecutionCompleteError:  # no line at all
        return []
    return [dict(zip(names, line, strict=True)) for line in cursor]
