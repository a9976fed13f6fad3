"""LibreOffice, as tests start it."""

import subprocess
from pathlib import Path


def convert(path: Path, suffix: str, folder: Path, profile: Path) -> Path:
    """A workbook saved again in another format, in that folder; `profile` is where LibreOffice keeps what is its own."""
    subprocess.run(
        ["soffice", f"-env:UserInstallation={profile.as_uri()}", "--headless",
         "--convert-to", suffix, "--outdir", str(folder), str(path)],
        check=True, capture_output=True, timeout=180,
    )  # fmt: skip
    return folder / f"{path.stem}.{suffix}"
