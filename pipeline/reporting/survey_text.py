"""What workbooks are read as, in lines for a terminal: each sheet, its headings with samples, what is missing or not known."""

from collections.abc import Iterator, Sequence

from pipeline.messages.translate import rendered
from pipeline.model.columns import COLUMN, Lang
from pipeline.model.message import Fact, Private, Term, counted, joined, message, terms
from pipeline.model.places import on_sheet
from pipeline.model.quoting import one_line
from pipeline.model.survey import HeadingUse, Lack, SheetUse, Survey, ValueUse
from pipeline.model.text_width import cells_wide

#: What a sheet is used as, in words.
USES = {
    "tickets": message("tickets"),
    "buyers": message("buyers"),
    "unheaded": message("not read"),
    "left_out": message("left out"),
    "unreadable": message("can't be read"),
}
#: The longest sample of a value that a line shows.
_SAMPLE = 24


def survey_lines(survey: Survey, lang: Lang) -> Iterator[str]:
    """All of it, sheet by sheet; an empty line before each sheet but the first."""
    for number, use in enumerate(survey.sheets):
        if number:
            yield ""
        yield from _sheet(use, lang)
    for problem in survey.problems:
        yield ""
        yield rendered(problem, lang)


def _sheet(use: SheetUse, lang: Lang) -> Iterator[str]:
    place: Fact = on_sheet(use.file, use.sheet) if use.sheet else use.file
    said: Fact = USES[use.use]
    if use.heading_row:
        said = counted(
            "{use}, {count} row, headings in row {heading_row}",
            "{use}, {count} rows, headings in row {heading_row}",
            use.rows,
            use=said,
            heading_row=use.heading_row,
        )
    yield rendered(message("{place}: {note}", place=place, note=said), lang)
    of_sheet = rendered(place, lang)
    lines = [_heading(one, use, lang) for one in use.headings]
    widths = [max((cells_wide(line[at]) for line in lines), default=0) for at in range(3)]
    for line in lines:
        padded = (
            text + " " * (width - cells_wide(text)) for text, width in zip(line, [*widths, 0], strict=True)
        )
        yield f"  {'  '.join(padded)}".rstrip()
    for told in (*_lacks(use.lacks), *_values(use.values), *use.notes):
        yield "  " + rendered(told, lang).removeprefix(of_sheet).lstrip(":：,， ")


def _heading(one: HeadingUse, use: SheetUse, lang: Lang) -> tuple[str, str, str, str]:
    said = rendered(message("carried along"), lang)
    if use.use in ("left_out", "unheaded"):
        said = rendered(message("left out"), lang)
    elif one.may_mean:
        said = f"? {rendered(joined(map(Term, one.may_mean), 'or'), lang)}"
    elif one.column:
        said = f"= {rendered(Term(one.column), lang)}"
    samples = " | ".join(text if len(text) <= _SAMPLE else f"{text[:_SAMPLE]}…" for text in one.samples)
    return one.cell, one_line(one.heading), said, one_line(samples)


def _lacks(lacks: Sequence[Lack]) -> Iterator[Fact]:
    for lack in sorted(lacks, key=lambda lack: lack.kind):
        if lack.kind == "missing" and lack.column == "buyer":
            yield counted(
                "! no buyer in {count} row, the first of them row {first}; a buyers file is given with --buyers",
                "! no buyer in {count} rows, the first of them row {first}; a buyers file is given with --buyers",
                lack.rows,
                first=lack.first_row,
            )
        elif lack.kind == "missing":
            yield counted(
                "! {column} is missing in {count} row, the first of them row {first}",
                "! {column} is missing in {count} rows, the first of them row {first}",
                lack.rows,
                column=Term(lack.column),
                first=lack.first_row,
            )
        else:
            yield counted(
                "! {column} can't be read in {count} row, the first of them row {first}",
                "! {column} can't be read in {count} rows, the first of them row {first}",
                lack.rows,
                column=Term(lack.column),
                first=lack.first_row,
            )


def _values(values: Sequence[ValueUse]) -> Iterator[Fact]:
    """The values that are not known; of what close ones mean, that, else all that the column may hold."""
    for value in values:
        column = COLUMN[value.column]
        if value.choice or not column.choices:
            continue
        told: dict[str, Fact] = {"column": Term(value.column), "value": Private(value.text)}
        if value.close:
            yield counted(
                "! {column} is “{value}” in {count} row, which is not known; did you mean {choices}?",
                "! {column} is “{value}” in {count} rows, which is not known; did you mean {choices}?",
                value.rows,
                choices=joined((Term(name, "choice") for name in value.close), "or"),
                **told,
            )
        else:
            yield counted(
                "! {column} is “{value}” in {count} row, which is not known; known: {choices}",
                "! {column} is “{value}” in {count} rows, which is not known; known: {choices}",
                value.rows,
                choices=terms((choice.name for choice in column.choices), "choice"),
                **told,
            )
