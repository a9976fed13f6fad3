"""A long .xlsx whose sheets are taken out by column where they are as usual (`usual_cells`); python-calamine lays out the others.

What the values are python-calamine says here too: the numbers in their styles, and the shared texts where any is more than plain
text, are given to it as a workbook of their own, in which each of them stands once.
"""

import io
import re
import zipfile
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from pipeline.reading.formats import xlsx_prescan
from pipeline.reading.formats.calamine import Beside, Workbook
from pipeline.reading.formats.columnar import ByColumn
from pipeline.reading.formats.usual_cells import UsualCells
from pipeline.reading.formats.zip_package import OF_XLSX, Package

_SMALL = 32 * 1024**2
_SHEETS, _SHEET = "xl/worksheets/", "xl/worksheets/sheet1.xml"
_TEXTS, _STYLES = "xl/sharedStrings.xml", "xl/styles.xml"
_TEXT = re.compile(rb"<si[\s>/]")
#: Shared texts as nearly every program writes them: what stands before, between and behind them. An entity, a character by its number
#: (`_x000D_`) or an end of line is not what it looks like.
_BEFORE = re.compile(rb"(?:<\?xml [^<>]*\"(?i:utf-8)\"[^<>]*\?>)?\s*<sst [^<>]*>\s*<si><t>")
_BETWEEN, _BEHIND = "</t></si><si><t>", re.compile(rb"</t></si>\s*</sst>\s*")
_NOT_PLAIN, _CONTROLS = (b"&", b"_x"), bytes(range(32))
_IN_1904 = re.compile(rb"""\bdate1904\s*=\s*["'](?:1|true)["']""")
_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELATION = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Type="%s" Target="/%s"/></Relationships>'
)


class UsualWorkbook:
    """Such a workbook; its shared texts are read beside what is done here."""

    def __init__(self, content: bytes) -> None:
        self._content, self._package = content, Package(content)
        self._texts = Beside(self._shared_texts)
        self._cells: dict[str, UsualCells] = {}
        self._laid_out: Beside[Workbook] | None = None
        #: The worksheets by name, and whether each is shown.
        self.worksheets: list[tuple[str, bool]] = []

    def cells_of(self, sheet: str) -> UsualCells:
        """What takes in the cells of a sheet while it is looked through; where they are odd, it is laid out beside that."""
        self._cells[sheet] = cells = UsualCells(lambda: self._lay_out(sheet))
        return cells

    def workbook(self) -> "Workbook | UsualWorkbook":
        """The workbook, of which all sheets that are taken out here have been looked through."""
        parts, self.worksheets = xlsx_prescan.sheet_parts(self._package), xlsx_prescan.listed(self._package)
        if len(parts) == len(self.worksheets) and all(
            part in self._package and part.startswith(_SHEETS) for part in parts.values()
        ):
            return self
        return self._original()

    def sheet(self, name: str) -> Any:
        """A sheet, by column or laid out."""
        cells = self._cells.get(name)
        if cells is None or not cells.usual or cells.texts > len(texts := self._texts.made()):
            return self._original().sheet(name)
        start, height, width = cells.start, cells.total_height, cells.total_width
        return ByColumn(name, start, height, width, cells.columns(texts, self._in_style))

    def _lay_out(self, sheet: str) -> None:
        self._laid_out = self._laid_out or Beside(partial(Workbook, self._content, laid_out=sheet))

    def _original(self) -> Workbook:
        """All of it as python-calamine has it."""
        if not self._laid_out:
            self._laid_out = Beside(partial(Workbook, self._content))
        return self._laid_out.made()

    def _shared_texts(self) -> list[Any]:
        """The workbook's shared texts."""
        if _TEXTS not in self._package:
            return []
        texts = b"".join(Package(self._content).pieces(_TEXTS))
        if (plain := _plain(texts)) is not None:
            return plain
        return _values({_TEXTS: texts}, 't="s"', map(str, range(len(_TEXT.findall(texts)))))

    def _in_style(self, numbers: Sequence[bytes], style: int) -> list[Any]:
        """What numbers are in a style: days, say."""
        styles = {_STYLES: self._package.whole(_STYLES, _SMALL)} if _STYLES in self._package else {}
        in_1904 = _IN_1904.search(self._package.whole(OF_XLSX, _SMALL)) is not None
        return _values(styles, f's="{style}"', map(bytes.decode, numbers), in_1904=in_1904)


def _plain(part: bytes) -> list[str] | None:
    """The shared texts, where each is nothing but text, without a space at its ends; else None."""
    before, end = _BEFORE.match(part), part.rfind(b"</t>")
    if not before or not _BEHIND.fullmatch(part, max(end, 0)):
        return None
    said = part[before.end() : end]
    if any(mark in said for mark in _NOT_PLAIN) or len(said.translate(None, _CONTROLS)) < len(said):
        return None
    try:
        texts = said.decode().split(_BETWEEN)
    except UnicodeDecodeError:
        return None
    plain = said.count(b"<") == _BETWEEN.count("<") * (len(texts) - 1) and texts == [*map(str.strip, texts)]
    return texts if plain else None


def _values(
    parts: dict[str, bytes], attributes: str, values: Iterable[str], *, in_1904: bool = False
) -> list[Any]:
    """What cells with these attributes and values are, by python-calamine."""
    begin, end = f"<row><c {attributes}><v>", "</v></c></row>"
    cells = f"{begin}{f'{end}{begin}'.join(values)}{end}"
    book = (
        f'<workbook {_MAIN} xmlns:r="{_TYPES}"><workbookPr date1904="{int(in_1904)}"/>'
        '<sheets><sheet name="1" sheetId="1" r:id="rId1"/></sheets></workbook>'
    )
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
        archive.writestr("_rels/.rels", _RELATION % (f"{_TYPES}/officeDocument", OF_XLSX))
        archive.writestr(OF_XLSX, book)
        archive.writestr("xl/_rels/workbook.xml.rels", _RELATION % (f"{_TYPES}/worksheet", _SHEET))
        archive.writestr(_SHEET, f"<worksheet {_MAIN}><sheetData>{cells}</sheetData></worksheet>")
    return [cell for (cell,) in Workbook(made.getvalue()).sheet("1").iter_rows()]
