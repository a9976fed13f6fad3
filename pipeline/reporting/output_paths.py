"""Where results go: never over a file that is there, and known to be writable before anything is sent."""

import tempfile
from pathlib import Path

from pipeline.files import names, taken
from pipeline.model.errors import InputProblem

_WORKBOOKS = (".xlsx", ".xls", ".xlsb", ".ods", ".csv")


def result_path(output: Path | None, first_input: Path) -> Path:
    """Give the result workbook's path: `output`, or beside the first input file; numbered where taken.

    Raises InputProblem where `output` is no .xlsx name or the folder can't be written to.
    """
    if output is None:
        result = first_input.name.lower().endswith(".result.xlsx")
        wanted = first_input if result else first_input.with_name(f"{first_input.stem}.result.xlsx")
        cure = "choose another place with -o"
    else:
        wanted, cure = output, "choose a folder that exists and that you may write to"
        if wanted.suffix.lower() != ".xlsx":
            raise InputProblem(f"{wanted}: a result is an Excel workbook; give -o a name that ends in .xlsx")
    check_folder(wanted, cure)
    return next(path for path in names(wanted) if not taken(path))


def check_report_path(path: Path) -> None:
    """Check that a report can be written to `path`, in whose place an earlier report may be.

    Raises InputProblem; also for a workbook's name, which may be an input given by mistake.
    """
    if path.suffix.lower() in _WORKBOOKS:
        raise InputProblem(
            f"{path}: a report is JSON and would replace this workbook; give a name that ends in .json"
        )
    if taken(path) and not path.is_file():
        raise InputProblem(f"{path}: is not a file that a report could replace; give the name of a file")
    if taken(path) and not _is_report(path):
        raise InputProblem(f"{path}: is no earlier report and is left as it is; give the report another name")
    check_folder(path, "choose a folder that exists and that you may write to")


def _is_report(path: Path) -> bool:
    """Whether a file is empty or begins as our reports do: nothing else is ever replaced by one."""
    try:
        with path.open("rb") as file:
            begins = b"".join(file.read(64).split())
    except OSError:
        return False
    return begins == b"" or begins.startswith(b'{"version":')


def check_folder(path: Path, cure: str) -> None:
    """Check that the folder of `path` takes a new file, by putting one there for a moment."""
    folder = path.parent
    if not folder.is_dir():
        raise InputProblem(f"{path}: there is no folder {folder}; create it, or {cure}")
    try:
        with tempfile.NamedTemporaryFile(prefix=".voucher-", dir=folder):
            pass
        path.exists()
    except OSError as problem:
        raise InputProblem(f"{path}: can't be written ({problem.strerror or problem}); {cure}") from problem
