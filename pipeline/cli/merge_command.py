"""`voucher merge`."""

from pathlib import Path

from pipeline.cli.stderr import teller
from pipeline.model.columns import Lang
from pipeline.profile_file import load_profile
from pipeline.run.merge import Merge
from pipeline.run.merge import merge as merged


def merge(  # noqa: PLR0913 - its options
    *,
    original: Path,
    results: tuple[Path, ...],
    output: Path,
    columns: Path | None,
    profile: Path | None,
    lang: Lang,
) -> None:
    """Write the merged workbook, and say what was done."""
    merged(Merge(original, results, output, columns, load_profile(profile).carrier.currency), teller(lang))
