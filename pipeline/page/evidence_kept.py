"""Evidence that visitors bring, kept in the page's folder: statements, resolved workbooks, and whatever shows what a carrier said."""

import hashlib
import secrets
from pathlib import Path

from pipeline.file_writing import private_folder, sync
from pipeline.page.month_files import Form

_PIECE = 1 << 20


def keep(pages: Path, form: Form) -> list[Path]:
    """Move a form's files into a folder of their own; their paths from the page's folder on."""
    folder = Path("evidence", secrets.token_hex(8))
    private_folder(pages / folder)
    for name, file in form.files.items():
        file.replace(pages / folder / name)
    sync(pages / folder)
    return [folder / name for name in form.files]


def named(pages: Path, path: Path) -> str:
    """A file as an evidence text names it: by its name and the SHA-256 of what is in it, by which it can be found again."""
    digest = hashlib.sha256()
    with (pages / path).open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return f"{path.name}, SHA-256 {digest.hexdigest()}"
