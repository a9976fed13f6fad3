"""The files that were uploaded to a month."""

from dataclasses import dataclass
from pathlib import Path

from pipeline.model.message import message
from pipeline.page import month_history, months
from pipeline.page.page_database import connected, transaction

#: Kinds of uploads that rows are read from, that are judged, and that a reconciliation or a collection weighs.
TICKETS = ("workbook", "answered")
JUDGED = (*TICKETS, "buyers")
EVIDENCE = ("statement", "resolved", "answered", "itineraries")


@dataclass(frozen=True)
class Upload:
    """A file that was uploaded to a month.

    `kind`: workbook (tickets), buyers, statement, resolved (answers), answered (tickets and answers), itineraries, or new: not told apart
    yet. `reconcile_in` is the language of a reconciliation with it, "" where nobody who may reconcile has brought it.
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
    """Note a file of the month's folder; what may be judged has the month judged anew. Within a transaction, in which the file is put
    there.

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
    month_history.note_within(folder, month, upload.by, message("uploaded {file}", file=upload.name))
    if upload.kind in JUDGED:
        months.changed(folder, month, upload.by)
    elif upload.kind == "new":
        months.count_up(folder, month)


def told_apart(folder: Path, month: str, upload: Upload, kind: str) -> bool:
    """Note what a new upload is; whoever brought tickets has prepared the month. Whether it was still there to be told apart."""
    with transaction(folder) as connection:
        connection.execute(
            "UPDATE upload SET kind = ? WHERE month = ? AND number = ? AND kind = 'new'",
            (kind, month, upload.number),
        )
        found = bool(connection.changes())
        if found and kind in TICKETS:
            months.note_preparer(folder, month, upload.by)
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
                month_history.note_within(folder, month, by, message("took {file} out", file=one.name))
                if one.kind in (*JUDGED, "new"):
                    months.changed(folder, month, by)
