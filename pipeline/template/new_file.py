"""A file that is written to be filled in: whole or not at all, and never over another."""

from pathlib import Path

from pipeline.file_writing import appear, scratch_folder, taken
from pipeline.model.errors import InputProblem
from pipeline.model.message import system_error


def check_new(path: Path) -> None:
    """Raise InputProblem where something has that name already."""
    if taken(path):
        raise _exists(path)


def put_new(path: Path, content: bytes, mode: int) -> None:
    """Let `path` appear with all its content at once. Raises InputProblem where it is taken by then, or can't be written."""
    try:
        with scratch_folder(path.parent) as folder:
            finished = folder / "new"
            finished.write_bytes(content)
            finished.chmod(mode)
            appear(finished, path)
    except FileExistsError as problem:
        raise _exists(path) from problem
    except OSError as problem:
        raise InputProblem(
            "{file}: can't be written ({problem}); choose a folder that exists and that you may write to",
            file=str(path),
            problem=system_error(problem),
        ) from problem


def _exists(path: Path) -> InputProblem:
    return InputProblem(
        "{file}: exists already and is left as it is; choose another name, or move it away", file=str(path)
    )
