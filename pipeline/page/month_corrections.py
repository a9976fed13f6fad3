"""Corrections of a month: what cells and buyers are to say in place of what the files say."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.model.columns import BUYER_COLUMNS
from pipeline.model.message import message
from pipeline.page import month_history
from pipeline.page.month_uploads import uploads
from pipeline.page.months import Overtaken, changed
from pipeline.page.page_database import connected, named_columns, transaction
from pipeline.rules.buyer_lookup import name_key


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
    return named_columns(folder, "SELECT * FROM buyer_correction WHERE month = ? ORDER BY buyer", month)


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
        month_history.note_within(folder, month, by, message("corrected the buyer {buyer}", buyer=said[0]))
        changed(folder, month, by)


def _buyer(said: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(said.get(column.name, "") for column in BUYER_COLUMNS)
