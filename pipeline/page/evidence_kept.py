"""Evidence that visitors bring, kept in the page's folder: statements, resolved workbooks, and whatever shows what a carrier said."""

import contextlib
import hashlib
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from pipeline.file_writing import private_folder, sync
from pipeline.page.month_files import Form

_PIECE = 1 << 20


@contextlib.contextmanager
def kept(pages: Path, form: Form) -> Iterator[list[Path]]:
    """Move a form's files into a folder of their own, while what they are for is begun; their paths from the page's folder on.

    Where that can't be begun, nothing of them stays behind.
    """
    folder = Path("evidence", secrets.token_hex(8))
    if form.files:
        private_folder(pages / folder)
    try:
        for name, file in form.files.items():
            file.replace(pages / folder / name)
        if form.files:
            sync(pages / folder)
        yield [folder / name for name in form.files]
    except BaseException:
        shutil.rmtree(pages / folder, ignore_errors=True)
        raise


def named(pages: Path, path: Path) -> str:
    """A file as an evidence text names it: by its name and the SHA-256 of what is in it, by which it can be found again."""
    digest = hashlib.sha256()
    with (pages / path).open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return f"{path.name}, SHA-256 {digest.hexdigest()}"
