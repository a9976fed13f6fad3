"""The pictures of README.md show what the program writes today, in both languages.

Seen to catch: a sheet's heading or a command's sentence that has changed, a picture that no page shows, one that is not there.
"""

import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from pipeline.model.columns import LANGS, Lang
from tests.pictures.making import HERE, Picture, draw, month, print_out

REPOSITORY = HERE.parents[1]
PAGES: dict[Lang, Path] = {
    "en": REPOSITORY / "README.md",
    "zh": REPOSITORY / "pipeline/handbook/README.zh.md",
}


@pytest.mark.parametrize("lang", LANGS)
def test_each_picture_is_shown_and_small(lang: Lang) -> None:
    links = re.findall(r"!\[[^]]+\]\(([^)]+)\)", PAGES[lang].read_text(encoding="utf-8"))
    kept = sorted((HERE / lang).glob("*.png"))
    assert sorted((PAGES[lang].parent / link).resolve() for link in links) == kept
    assert [path for path in kept if path.stat().st_size > 100_000] == []


@pytest.fixture(scope="module")
def months(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Lang], list[Picture]]:
    return cache(lambda lang: [*month(tmp_path_factory.mktemp(lang), lang)])


@pytest.mark.slow
@pytest.mark.parametrize("lang", LANGS)
def test_no_picture_is_stale(lang: Lang, months: Callable[[Lang], list[Picture]]) -> None:
    shown = {picture.name: picture.words for picture in months(lang)}
    kept = {path.stem: path.read_text(encoding="utf-8") for path in (HERE / lang).glob("*.txt")}
    assert shown == kept, "make them again: python -m tests.pictures"


@pytest.mark.slow
def test_the_pictures_can_be_made(
    tmp_path: Path, months: Callable[[Lang], list[Picture]], needs_tool: Callable[[str, object], None]
) -> None:
    needs_tool("LibreOffice", shutil.which("soffice"))
    needs_tool("poppler (pdftoppm)", shutil.which("pdftoppm"))
    for picture in months("en"):
        path = tmp_path / f"{picture.name}.png"
        draw(picture, print_out(picture, tmp_path), path)
        made, kept = (png.read_bytes()[:24] for png in (path, HERE / "en" / path.name))
        assert made[:8] == kept[:8] == b"\x89PNG\r\n\x1a\n"
        if picture.sheet:  # how wide a terminal's is depends on the fonts that there are
            assert made[16:24] == kept[16:24]
