"""The finished package: XlsxWriter's, with the rows of its sheets put in.

XlsxWriter writes everything but the rows of data: with some millions of cells it would take most of a run's time.
Where they belong it writes one row, the pattern, which shows in every format of the workbook a text of two parts,
and a link. From the pattern is read what number a format's style has in the package, and how its font is told;
then rows and links come in the pattern's place, as the package is compressed.

That rests on how XlsxWriter writes. Where another version writes otherwise (`fits`), nothing is put in: XlsxWriter writes the
rows too (`row_stream.SheetRows.write`), slower, and the cells are the same.
"""

import contextlib
import functools
import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any

import xlsxwriter

from pipeline.model.message import N_
from pipeline.reporting.xlsx.cell_values import Cells
from pipeline.reporting.xlsx.cell_xml import CellLook
from pipeline.reporting.xlsx.forked_pieces import made_beside
from pipeline.reporting.xlsx.row_stream import SheetRows

#: Of zlib's levels the one that takes a quarter of the usual time, for a fifth more of space.
_LEVEL = 1
#: Cells of a sheet that may come to more than 2 GB, which a package has to know before.
_MANY = 4_000_000
#: Cells of a sheet that take longer than to begin a process for them, which is some twentieth of a second.
_WORTH_A_PROCESS = 100_000

_PART = "xl/worksheets/sheet{}.xml"
_ROW = re.compile(r'<row r="2".*?</row>', re.DOTALL)
_LOOK = re.compile(r'<c r="[A-Z]+2" s="(\d+)" t="inlineStr"><is><r>(<rPr>.*?</rPr>)')
_LINKS = re.compile("<hyperlinks>.*?</hyperlinks>", re.DOTALL)
_DIMENSION = re.compile('(?<=<dimension ref=")[^"]+')


@functools.cache
def fits() -> bool:
    """Whether XlsxWriter writes the pattern so that it is found again, tried on a sheet of its own."""
    package = io.BytesIO()
    try:
        with xlsxwriter.Workbook(package, {"constant_memory": True}) as workbook:
            formats = [workbook.add_format(), workbook.add_format({"bold": True})]
            sheet = workbook.add_worksheet("Summary")
            sheet.write_string(0, 0, "heading")
            write_pattern(sheet, formats)
        with zipfile.ZipFile(package) as made:
            return _found(made.read(_PART.format(1)).decode(), formats) is not None
    except Exception:  # noqa: BLE001 - whatever it is that another version does otherwise
        return False


def write_pattern(sheet: Any, formats: Sequence[Any]) -> None:
    """Write the row that shows every format, below the headings."""
    for column, look in enumerate(formats):
        sheet.write_rich_string(1, column, look, "a", look, "b", look)
    sheet.write_url(1, len(formats), "internal:'Summary'!A1", formats[0], "c")


def put_in_rows(
    package: IO[bytes], rows: Mapping[int, SheetRows], cells: Cells, finished: IO[bytes], folder: str
) -> None:
    """Write the package again, with these rows; they are by their sheet's place in the workbook. `folder` is for what is half made."""
    sheets = {_PART.format(place + 1): sheet for place, sheet in rows.items()}
    sizes = {name: sheet.count * sheet.columns for name, sheet in sheets.items()}
    longest = max(sizes, key=sizes.__getitem__, default="")

    def pieces(name: str) -> Iterator[bytes]:
        content = made.read(name)
        if name in sheets:
            yield from _with_rows(content.decode(), sheets[name], cells)
        else:
            yield content

    with (
        zipfile.ZipFile(package) as made,
        zipfile.ZipFile(finished, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as whole,
        made_beside(functools.partial(pieces, longest), folder)
        if sizes.get(longest, 0) > _WORTH_A_PROCESS
        else contextlib.nullcontext(pieces(longest)) as of_longest,
    ):
        for name in made.namelist():
            large = sizes.get(name, 0) > _MANY
            # In a thread of its own, since zlib lets Python go on: the next piece is made meanwhile, and no more than that.
            with whole.open(name, "w", force_zip64=large) as part, ThreadPoolExecutor(1) as compressing:
                written = compressing.submit(part.write, b"")
                for piece in of_longest if name == longest else pieces(name):
                    written.result()
                    written = compressing.submit(part.write, piece)
                written.result()


def _with_rows(xml: str, sheet: SheetRows, cells: Cells) -> Iterator[bytes]:
    formats = cells.formats.of_values
    found = _found(xml, formats)
    if found is None:
        raise OSError(N_("this version of XlsxWriter writes a sheet in another way than is known here"))
    pattern, looks = found
    yield _DIMENSION.sub(f"A1:{sheet.last_cell}", xml[: pattern.start()], count=1).encode()
    yield from sheet.xml(cells, dict(zip(formats, looks, strict=True)))
    links = f"<hyperlinks>{''.join(sheet.links)}</hyperlinks>" if sheet.links else ""
    yield _LINKS.sub(lambda _: links, xml[pattern.end() :]).encode()


def _found(xml: str, formats: Sequence[Any]) -> tuple[re.Match[str], list[CellLook]] | None:
    """Where the pattern stands in a sheet, and how each format looks in the package; None where that is not as is known here."""
    pattern = _ROW.search(xml)
    looks = [CellLook(*found) for found in _LOOK.findall(pattern[0])] if pattern else []
    if pattern is None or len(looks) != len(formats) or not _LINKS.search(xml, pattern.end()):
        return None
    return pattern, looks
