"""The pictures of README.md: the sample month's five steps, from what the program writes for it.

A picture is a page of a workbook as LibreOffice prints it, cut out of the page; what a command shows on a terminal is put
into a workbook for that, a line a row. Beside each stands what it shows, as text, without what differs from run to run: by
that a test knows which pictures are stale, with no look at a pixel.
"""

import os
import re
import shutil
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy
import openpyxl
import xlsxwriter
from openpyxl.utils import column_index_from_string

from pipeline.model.columns import Lang
from pipeline.model.text_width import cells_wide
from tests.libreoffice import convert

HERE = Path(__file__).parent
SAMPLES = HERE.parents[1] / "sample_data"
SAMPLE: dict[Lang, str] = {"en": "tickets-2026-10.xlsx", "zh": "tickets-2026-10-zh.xlsx"}
#: What differs from run to run: times, and names of ledgers, requests, traces and vouchers.
OF_A_RUN = re.compile(
    r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?|\bR[0-9a-f]{16,}\b|\b[0-9a-f]{32,}\b|\b\d{15,}\b|\d+/s|每秒 \d+ 个"
)
TERMINAL_WIDTH = 110
DPI = 96


class Part(NamedTuple):
    """What is cut out of a page, in points from its upper left corner."""

    left: int
    top: int
    width: int
    height: int


@dataclass(frozen=True)
class Picture:
    """What a picture is made of: a sheet of a workbook."""

    name: str
    workbook: Path
    sheet: str
    part: Part
    words: str


def month(folder: Path, lang: Lang) -> Iterator[Picture]:
    """Have the sample month issued in that folder, and give the picture of each step."""
    shutil.copy(SAMPLES / SAMPLE[lang], folder / "october.xlsx")
    shutil.copy(SAMPLES / "sandbox.toml", folder / "carrier.toml")
    environment = os.environ | {
        "HOME": str(folder), "LOGNAME": "wangfang", "VOUCHER_LANG": lang, "VOUCHER_PROFILE": "carrier.toml",
        "PYTHONPATH": str(HERE.parents[1]),
    }  # fmt: skip
    sandbox = "--sandbox --ledger carrier.ledger"

    def voucher(command: str) -> str:
        ran = subprocess.run(
            [sys.executable, "-m", "pipeline", *command.split()],
            cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert ran.returncode in {0, 1}, ran.stderr
        return f"$ voucher {command}\n{ran.stdout}{ran.stderr}"

    yield terminal("columns", folder, voucher("columns october.xlsx"))
    yield terminal("check", folder, voucher("check october.xlsx --sandbox --as-of 2026-11-20"))
    voucher(f"issue october.xlsx {sandbox} --as-of 2026-11-20")
    result = folder / "october.result.xlsx"
    yield sheet("issue", result, 0, Part(20, 18, 555, {"en": 437, "zh": 376}[lang]))
    yield sheet("failures", result, 3, Part(20, 15, 802, 170))
    voucher(f"register {sandbox} -o register.xlsx")
    yield sheet("register", folder / "register.xlsx", 1, Part(20, 15, 802, 150))


def terminal(name: str, folder: Path, shown: str) -> Picture:
    """The picture of what a command shows."""
    lines = [part for line in shown.rstrip("\n").splitlines() for part in wrapped(line)]
    path = folder / f"{name}.terminal.xlsx"
    with xlsxwriter.Workbook(path) as book:
        page = book.add_worksheet()
        look = {"font_name": "Noto Sans Mono CJK SC", "font_size": 10, "bg_color": "#F3F4F6"}
        typed, told = book.add_format(look | {"bold": True}), book.add_format(look)
        page.set_landscape()
        page.set_paper(9)
        page.set_margins(0.3, 0.3, 0.3, 0.3)
        page.fit_to_pages(1, 1)
        page.set_column(0, 0, TERMINAL_WIDTH)
        for number, line in enumerate(lines):
            page.write_string(number, 0, line, told if number else typed)
    return Picture(name, path, "", Part(20, 20, 802, 0), words_of(lines))


def wrapped(line: str) -> Iterator[str]:
    """A line as a terminal breaks it."""
    part = ""
    for character in line:
        if cells_wide(part + character) > TERMINAL_WIDTH:
            yield part
            part = ""
        part += character
    yield part


def sheet(name: str, workbook: Path, index: int, part: Part) -> Picture:
    """The picture of what stands in a sheet's columns that are printed; its words are sorted, for vouchers of one second are so by their numbers."""
    found = openpyxl.load_workbook(workbook).worksheets[index]
    last = found.print_area.rpartition("$")[0].rpartition("$")[2] if found.print_area else found.max_column
    columns = last if isinstance(last, int) else column_index_from_string(last)
    cells = found.iter_rows(max_col=columns, values_only=True)
    lines = [" | ".join(str(cell) for cell in row if cell is not None) for row in cells]
    return Picture(
        name, workbook, found.title, part, "".join(sorted(words_of(lines).splitlines(keepends=True)))
    )


def words_of(lines: list[str]) -> str:
    return "".join(f"{OF_A_RUN.sub('…', line).rstrip()}\n" for line in lines)


def draw(picture: Picture, printed: Path, path: Path) -> None:
    """Cut the picture out of its workbook as it was printed (PDF), as a PNG file."""
    pages = told("pdftotext", "-layout", printed, "-").split("\f")[:-1]
    page = next(
        at
        for at, text in enumerate(pages, 1)
        if text.rstrip().splitlines()[-1].strip().startswith(picture.sheet)
    )
    part = picture.part
    if not part.height:  # as long as it has lines
        boxes = told("pdftotext", "-bbox", "-l", "1", printed, "-")
        ends = [float(end) for end in re.findall(r'yMax="([0-9.]+)"', boxes)]
        rights = [float(end) for end in re.findall(r'xMax="([0-9.]+)"', boxes)]
        part = part._replace(width=int(max(rights)) + 6 - part.left, height=int(max(ends)) + 6 - part.top)
    x, y, width, height = (str(points * DPI // 72) for points in part)
    cut = (
        "pdftoppm", "-singlefile", "-r", str(DPI), "-f", str(page), "-l", str(page), "-x", x, "-y", y, "-W", width, "-H", height
    )  # fmt: skip
    if picture.sheet:
        told(*cut, "-png", printed, path.with_suffix(""))
        return
    grey = path.with_suffix(".pgm")
    told(*cut, "-gray", printed, path.with_suffix(""))
    path.write_bytes(in_sixteen_greys(grey.read_bytes()))
    grey.unlink()


def in_sixteen_greys(image: bytes) -> bytes:
    """A PGM image as a PNG of 4 bits a pixel, half as large as poppler's (w3.org/TR/png-3)."""
    _, width, height, _, pixels = image.split(maxsplit=4)
    lines = numpy.frombuffer(pixels, numpy.uint8).reshape(int(height), int(width)) >> 4
    lines = numpy.pad(lines, ((0, 0), (0, int(width) % 2)))
    packed = numpy.pad(
        lines[:, ::2] << 4 | lines[:, 1::2], ((0, 0), (1, 0))
    )  # each line begins with its filter: none
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", int(width), int(height), 4, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(packed.tobytes(), 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )


def told(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8", timeout=60).stdout


def print_out(picture: Picture, folder: Path) -> Path:
    """The picture's workbook as a PDF file."""
    printed = folder / f"{picture.workbook.stem}.pdf"
    return printed if printed.exists() else convert(picture.workbook, "pdf", folder, folder / "libreoffice")
