"""Make the pictures of README.md again that are stale: `python -m tests.pictures`.

It needs LibreOffice, poppler's tools, and a font of Chinese. One that is to look otherwise, with the same words, is deleted first.
"""

import tempfile
from pathlib import Path

from pipeline.model.columns import LANGS
from tests.pictures.making import HERE, draw, month, print_out


def main() -> None:
    for lang in LANGS:
        with tempfile.TemporaryDirectory() as folder:
            for picture in month(Path(folder), lang):
                kept = HERE / lang / f"{picture.name}.png"
                words = kept.with_suffix(".txt")
                if not kept.exists() or words.read_text(encoding="utf-8") != picture.words:
                    draw(picture, print_out(picture, Path(folder)), kept)
                    words.write_text(picture.words, encoding="utf-8")


if __name__ == "__main__":
    main()
