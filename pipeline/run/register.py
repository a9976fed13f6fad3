"""`voucher register`: the register of vouchers of a month, or of all that the ledger has."""

import datetime
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

from pipeline.model.columns import Lang
from pipeline.model.errors import InputProblem
from pipeline.model.job import Job
from pipeline.model.message import Note, system_error
from pipeline.open_ledger import existing_ledger
from pipeline.reconciliation.given_evidence import month_of
from pipeline.reporting.output_paths import ANOTHER_FOLDER, check_folder
from pipeline.reporting.register_by_buyer import buyer_numbers, names_by_buyer, split_by_buyer
from pipeline.reporting.register_masking import Masks, NoMasks, secrets_of
from pipeline.reporting.register_values import Register
from pipeline.reporting.register_workbook import write_register

_SUFFIX = ".xlsx"


@dataclass(frozen=True)
class Wanted:
    """Which register is asked for: of a month ("2026-10", "" for everything), in times of a zone.

    `output` is a workbook or a folder; `split`: a workbook for each buyer.
    """

    month: str
    time_zone: str
    output: Path | None
    split: bool
    masked: bool

    @property
    def stem(self) -> str:
        """How a file is named where nobody names it."""
        return "-".join(filter(None, ("register", self.month, "masked" if self.masked else "")))


def registered(job: Job, wanted: Wanted, lang: Lang, note: Note) -> tuple[list[Path], int]:
    """Write it; the workbooks and how many charges they have together. A run may be on: it is read as of one moment."""
    place = _folder(wanted) if wanted.split else _file(wanted)
    register = _read(job, wanted, note)
    if not wanted.split:
        check_folder(place)
        return [write_register(register, place, lang)], len(register.lines)
    if register.lines:
        _make(place)
    named = names_by_buyer(split_by_buyer(register), wanted.stem, lang)
    written = [write_register(one, place / f"{name}{_SUFFIX}", lang) for one, name in named]
    return written, len(register.lines)


def _read(job: Job, wanted: Wanted, note: Note) -> Register:
    month = month_of(wanted.month)
    days = (month.first, month.last) if month else None
    # Its months and its currency are the profile's: where one is named, it has to be of the ledger's carrier.
    with existing_ledger(job, job.owner if job.names_carrier or not job.ledger else None) as ledger:
        ledger.note_gap(note)
        ledger.note_doubt(note)
        ledger.as_of_now()
        lines, undated = ledger.register_lines(wanted.time_zone, days)
        gap, owner = ledger.open_gap, ledger.owner
    return Register(
        lines,
        buyer_numbers(lines),
        days,
        owner,
        wanted.time_zone,
        job.profile.carrier.currency,
        datetime.datetime.now(ZoneInfo(wanted.time_zone)),
        undated,
        gap.since if gap else "",
        Masks(secrets_of(lines)) if wanted.masked else NoMasks(),
    )


def _file(wanted: Wanted) -> Path:
    """The workbook that is to be written: `output`, or one with a name of ours in it or in the working folder."""
    output = wanted.output or Path()
    if output.is_dir():
        return output / f"{wanted.stem}{_SUFFIX}"
    if output.suffix.lower() != _SUFFIX:
        raise InputProblem(
            "{file}: a register is an Excel workbook; give -o a name that ends in .xlsx, or a folder that is there",
            file=str(output),
        )
    return output


def _folder(wanted: Wanted) -> Path:
    """The folder of the buyers' workbooks; a new one is made when there is something to put into it."""
    folder = wanted.output or Path(wanted.stem)
    if folder.suffix.lower() == _SUFFIX or (folder.exists() and not folder.is_dir()):
        raise InputProblem(
            "{file}: is no folder; with --split-by give -o a folder for the buyers' workbooks",
            file=str(folder),
        )
    check_folder(folder / "register" if folder.is_dir() else folder)
    return folder


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as problem:
        raise InputProblem(
            "{file}: can't be written ({problem}); {cure}",
            file=str(folder), problem=system_error(problem), cure=ANOTHER_FOLDER,
        ) from problem  # fmt: skip
