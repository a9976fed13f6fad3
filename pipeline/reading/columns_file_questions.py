"""A mapping that says what a survey found: the lines that are certain, and what only the team can say."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from pipeline.model.columns import COLUMN, Kind
from pipeline.model.message import Private, SheetName, Term, counted, message
from pipeline.model.places import about
from pipeline.model.survey import Answer, Entry, HeadingUse, Question, SheetUse, ValueUse
from pipeline.reading.cell_words import folded
from pipeline.reading.columns_file import ColumnMap

_READ = ("tickets", "buyers", "unreadable")


def entries(uses: Sequence[SheetUse], mapping: ColumnMap) -> list[Entry]:
    """The lines that change nothing of how these sheets are read: what the mapping has, then what was found, each once."""
    found = dict(_of_mapping(mapping))
    known = {(section, folded(key)) for section, key in found}
    uses = [use for use in uses if use.use in _READ]
    unsure = {folded(one.heading) for use in uses for one in use.headings if one.may_mean}
    for use in uses:
        if use.use == "unreadable":
            continue
        for one in use.headings:
            if one.plain and folded(one.heading) not in unsure:
                found.setdefault((("headings",), one.heading), one.column)
        for value in use.values:
            if value.choice:
                found.setdefault((("values", value.column), value.text), value.choice)
    once = {(section, folded(key)): (section, key) for section, key in reversed(found)}
    differing = _differing(uses)
    return [
        Entry(section, key, value)
        for (section, key), value in found.items()
        if once[section, folded(key)] == (section, key)
        and ((section, folded(key)) in known or section != ("headings",) or folded(key) not in differing)
    ]


def _differing(uses: Iterable[SheetUse]) -> set[str]:
    """Headings that are taken for another column on another sheet."""
    taken: defaultdict[str, set[str]] = defaultdict(set)
    for use in uses:
        for one in use.headings:
            taken[folded(one.heading)].add(one.column)
    return {heading for heading, columns in taken.items() if len(columns) > 1}


def _of_mapping(mapping: ColumnMap) -> Iterator[tuple[tuple[tuple[str, ...], str], str | bool]]:
    """The lines of a mapping; its words are folded, which makes no difference."""
    for heading, column in mapping.headings.items():
        yield (("headings",), heading), column
    for column, words in mapping.values.items():
        yield from (((("values", column), word), choice) for word, choice in words.items())
    yield from (((("fixed",), column), text) for column, text in mapping.fixed.items())
    for kind, sections, skipped in (
        ("sheets", mapping.sheets, mapping.skipped_sheets),
        ("order_types", mapping.order_types, mapping.skipped_order_types),
    ):
        for name, filling in sections.items():
            yield from ((((kind, name), column), text) for column, text in filling.items())
        yield from ((((kind, name), "skip"), skip) for name, skip in skipped.items())


def questions(uses: Sequence[SheetUse]) -> list[Question]:
    """What is to be asked of the sheets that are read, each thing once though many sheets ask it."""
    uses = [use for use in uses if use.use in _READ]
    asked: dict[tuple[str, ...], Question] = {}
    for use in uses:
        for one in use.headings:
            if one.may_mean:
                asked.setdefault(("heading", folded(one.heading)), _of_heading(one))
        for same in _same_column(use):
            asked.setdefault(("same", *(folded(one.heading) for one in same)), _of_same(same))
        unsure = {column for one in use.headings for column in one.may_mean}  # it may be there: asked first
        for lack in use.lacks:
            column = COLUMN[lack.column]
            if (
                lack.kind == "missing"
                and column.kind is Kind.CHOICE
                and column.name not in ("charge", *unsure)
            ):
                asked["lack", use.sheet, lack.column] = _of_lack(use, lack.column, lack.rows)
    for value, rows in _unknown_values(uses):
        asked["value", value.column, folded(value.text)] = _of_value(value, rows)
    return list(asked.values())


def _of_heading(one: HeadingUse) -> Question:
    return Question(
        message("Which column is {cell} “{heading}”?", cell=one.cell, heading=Private(one.heading)),
        (
            *(_takes(one.heading, column) for column in one.may_mean),
            Answer(message("none of them: it is carried along"), (Entry(("headings",), one.heading, ""),)),
        ),
    )


def _takes(heading: str, column: str) -> Answer:
    return Answer(about(Term(column), COLUMN[column].meaning), (Entry(("headings",), heading, column),))


def _same_column(use: SheetUse) -> list[list[HeadingUse]]:
    """Headings of a sheet that mean the same column, which stops its reading; a mapping can't tell equal ones apart."""
    by_column: defaultdict[str, list[HeadingUse]] = defaultdict(list)
    for one in use.headings:
        if one.column:
            by_column[one.column].append(one)
    return [
        same for same in by_column.values() if len({folded(one.heading) for one in same}) == len(same) > 1
    ]


def _of_same(same: Sequence[HeadingUse]) -> Question:
    asked = message("Several headings mean {column}. Which of them is read?", column=Term(same[0].column))
    return Question(
        asked,
        tuple(
            Answer(
                Private(f"{one.cell} “{one.heading}”"),
                tuple(Entry(("headings",), other.heading, "") for other in same if other is not one),
            )
            for one in same
        ),
    )


def _of_lack(use: SheetUse, column: str, rows: int) -> Question:
    asked = counted(
        "{column} is blank in {count} row of sheet {sheet}. What is it there?",
        "{column} is blank in {count} rows of sheet {sheet}. What is it there?",
        rows,
        column=Term(column),
        sheet=SheetName(use.sheet),
    )
    choices = tuple(
        Answer(
            Term(choice.name, "choice"),
            (Entry(("sheets", use.sheet), column, choice.name),),
        )
        for choice in COLUMN[column].choices
    )
    return Question(asked, choices)


def _unknown_values(uses: Iterable[SheetUse]) -> list[tuple[ValueUse, int]]:
    """Values that are not known, with the rows that have them on all sheets."""
    rows: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], ValueUse] = {}
    for use in uses:
        for value in use.values:
            if not value.choice and COLUMN[value.column].choices:
                first.setdefault((value.column, folded(value.text)), value)
                rows[value.column, folded(value.text)] += value.rows
    return [(value, rows[key]) for key, value in first.items()]


def _of_value(value: ValueUse, rows: int) -> Question:
    asked = counted(
        "{column} is “{value}” in {count} row. What does that mean?",
        "{column} is “{value}” in {count} rows. What does that mean?",
        rows,
        column=Term(value.column),
        value=Private(value.text),
    )
    names = [choice.name for choice in COLUMN[value.column].choices]
    ordered = [*value.close, *(name for name in names if name not in value.close)]
    return Question(
        asked,
        tuple(
            Answer(
                Term(name, "choice"),
                (Entry(("values", value.column), value.text, name),),
            )
            for name in ordered
        ),
    )
