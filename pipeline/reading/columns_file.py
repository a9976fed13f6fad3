"""A team's own mapping (`--columns MAP.toml`): its headings and words, and what blank cells mean, as handbook/bills.en.md shows it.

Columns and values may be named in English or Chinese. A cell that is filled always wins; then the order type, then the sheet's name,
then `fixed`. Built in is what the words themselves say: the market of sheets called 国内机票 or 国际机票 and of order types such as
国内机票正常单, and that the ticket of a 退票单 is refunded. With `skip = false` rows are read though their sheet's name, or their order
type, says hotels, trains or cars. An unknown key is an error.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pipeline.file_reading import said_by, settings_text, toml_problem
from pipeline.messages.translate import in_every_language
from pipeline.model.columns import COLUMN, COLUMNS, Kind
from pipeline.model.errors import InputProblem
from pipeline.model.message import Term, joined, terms
from pipeline.model.survey import Entry
from pipeline.reading.agency_words import MARKET_SHEETS, ORDER_TYPES
from pipeline.reading.cell_words import CHOICE_WORDS, folded
from pipeline.reading.heading_meanings import meanings, nearest

#: What blank cells hold, by column: texts as they could stand in the cell.
Filling = Mapping[str, str]

_NAMES = {
    folded(word): column.name for column in COLUMNS for word in in_every_language(column.name, "column")
}
#: What may be the same in many rows. A ticket's number, amounts and days are each its own, and a buyer that is
#: the same everywhere stands in a buyers file.
_FILLABLE = [
    column.name for column in COLUMNS if column.kind is Kind.CHOICE or column.name in ("buyer", "remarks")
]


#: The key of a sheet or an order type that is left out.
_SKIP = "skip"


@dataclass(frozen=True)
class ColumnMap:
    """The mapping as the reader uses it; every word in it is folded."""

    headings: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    fixed: Filling = field(default_factory=dict)
    sheets: Mapping[str, Filling] = field(default_factory=dict)
    order_types: Mapping[str, Filling] = field(default_factory=dict)
    skipped_sheets: Mapping[str, bool] = field(default_factory=dict)
    skipped_order_types: Mapping[str, bool] = field(default_factory=dict)

    def knows(self, text: str) -> bool:
        """Whether a text is a heading, a value or an order type, of the team's or of everybody's.

        Such a text shows which encoding a file is in.
        """
        word = folded(text)
        own = word in self.headings or any(word in words for words in self.values.values())
        own = own or word in self.skipped_order_types
        return own or bool(self.of_order_type(text) or meanings(text))

    def words(self, column: str) -> Mapping[str, str]:
        """The words of a column's choices, with the team's own."""
        own = self.values.get(column)
        return {**CHOICE_WORDS[column], **own} if own else CHOICE_WORDS[column]

    def of_sheet(self, name: str) -> Filling:
        """What a sheet's name says of its rows."""
        return {**_BUILT_IN_SHEETS.get(folded(name), {}), **self.sheets.get(folded(name), {})}

    def skips_sheet(self, name: str) -> bool | None:
        """Whether a sheet of this name is left out; None where the team says nothing of it."""
        return self.skipped_sheets.get(folded(name))

    def skips_order_type(self, text: str) -> bool | None:
        """Whether rows of this order type are left out; None where the team says nothing of that."""
        return self.skipped_order_types.get(folded(text), False if folded(text) in self.order_types else None)

    def of_order_type(self, text: str) -> Filling:
        """What an order type says of its row."""
        return {**_BUILT_IN_ORDER_TYPES.get(folded(text), {}), **self.order_types.get(folded(text), {})}


_BUILT_IN_SHEETS = {folded(name): {"market": market} for name, market in MARKET_SHEETS.items()}
_BUILT_IN_ORDER_TYPES = {folded(name): filling for name, filling in ORDER_TYPES.items()}
NO_MAP = ColumnMap()


def load_map(path: Path | None) -> ColumnMap:
    """The mapping of a TOML file; none of its own where no file is given.

    Raises InputProblem naming the file and the key.
    """
    if path is None:
        return NO_MAP
    try:
        given = tomllib.loads(settings_text(path))
    except OSError as error:
        raise InputProblem(
            "Columns {file}: can't be read ({problem}); check the path",
            file=str(path),
            problem=said_by(error),
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputProblem(
            'Columns {file}: is not valid TOML: {problem}; headings and values stand in quotes, as "票面价" = "fare", the file is'
            " saved as UTF-8",
            file=str(path),
            problem=toml_problem(error),
        ) from None
    try:
        return _checked(given)
    except InputProblem as wrong:
        raise InputProblem("Columns {file}: {problem}", file=str(path), problem=wrong.message) from None


def with_entries(mapping: ColumnMap, entries: Sequence[Entry]) -> ColumnMap:
    """The mapping with more lines, as if they stood in its file."""
    given: dict[str, Any] = {}
    for entry in entries:
        section = given
        for name in entry.section:
            section = section.setdefault(name, {})
        section[entry.key] = entry.value
    more = _checked(given)
    return replace(
        mapping,
        headings={**mapping.headings, **more.headings},
        values=_joined(mapping.values, more.values),
        sheets=_joined(mapping.sheets, more.sheets),
    )


def _joined(sections: Mapping[str, Filling], more: Mapping[str, Filling]) -> dict[str, Filling]:
    return {name: {**sections.get(name, {}), **more.get(name, {})} for name in {**sections, **more}}


def _checked(given: dict[str, Any]) -> ColumnMap:
    """Every section with its checked entries; an InputProblem begins with the key."""
    known = ("headings", "values", "fixed", "sheets", "order_types")
    for name, section in given.items():
        if name not in known:
            raise InputProblem("{key} is not a known section; known: {keys}", key=name, keys=joined(known))
        if not isinstance(section, dict):
            raise InputProblem("{key} must be a section in square brackets: [{key}]", key=name)
    values = _sections("values", given.get("values", {}), _values)
    values = {_column(f"values.{name}", name, _with_choices()): words for name, words in values.items()}

    def filling(where: str, entries: dict[str, Any]) -> dict[str, str]:
        return {
            (column := _column(f"{where}.{key}", key, _FILLABLE)): _fill(
                f"{where}.{key}", column, text, values
            )
            for key, text in entries.items()
            if key != _SKIP or where == "fixed"
        }

    return ColumnMap(
        headings=_once("headings", given.get("headings", {}), _heading),
        values=values,
        fixed=filling("fixed", given.get("fixed", {})),
        sheets=_folded(_sections("sheets", given.get("sheets", {}), filling)),
        order_types=_folded(_sections("order_types", given.get("order_types", {}), filling)),
        skipped_sheets=_skipped("sheets", given),
        skipped_order_types=_skipped("order_types", given),
    )


def _skipped(where: str, given: dict[str, Any]) -> dict[str, bool]:
    """What is said of leaving out, by folded name."""
    found = {}
    for name, entries in given.get(where, {}).items():
        skip = entries.get(_SKIP)
        if skip is not None and not isinstance(skip, bool):
            raise InputProblem("{key} must be true or false, without quotes", key=f"{where}.{name}.{_SKIP}")
        if skip and len(entries) > 1:
            raise InputProblem(
                "{section}.{key} is left out by skip = true, so that nothing else can be said of it; keep one",
                section=where,
                key=name,
            )
        if skip is not None:
            found[folded(name)] = skip
    return found


def _with_choices() -> list[str]:
    return list(CHOICE_WORDS)


def _sections(
    where: str, given: dict[str, Any], check: Callable[[str, dict[str, Any]], Any]
) -> dict[str, Any]:
    """Sections within a section, such as [values.market]."""
    found = {}
    for name, entries in given.items():
        if not isinstance(entries, dict):
            raise InputProblem(
                '{section}.{key} must be a section of its own: [{section}."{key}"]', section=where, key=name
            )
        found[name] = check(f"{where}.{name}", entries)
    return found


def _folded(sections: dict[str, Any]) -> dict[str, Any]:
    return {folded(name): section for name, section in sections.items()}


def _once(where: str, entries: dict[str, Any], check: Callable[[str, Any], str]) -> dict[str, str]:
    """Words folded, with what each means; two spellings of one word can't mean two things."""
    found: dict[str, str] = {}
    for word, text in entries.items():
        meant = check(f"{where}.{word}", text)
        if found.setdefault(folded(word), meant) != meant:
            raise InputProblem(
                "{section}.{key} says something else than the same word above it; keep one",
                section=where,
                key=word,
            )
    return found


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InputProblem("{key} must be a text in quotes", key=key)
    return value.strip()


def _heading(key: str, value: Any) -> str:
    text = _text(key, value)
    return _column(key, text, list(COLUMN)) if text else ""


def _column(key: str, word: str, allowed: list[str]) -> str:
    """The column that a word of the file names, in either language."""
    name = _NAMES.get(folded(word), "")
    if name in allowed:
        return name
    if name:
        raise InputProblem(
            "{key}: {column} can't stand here; what can: {columns}",
            key=key,
            column=Term(name),
            columns=terms(allowed),
        )
    if close := nearest(word):
        raise InputProblem(
            "{key}: “{word}” is not a column; did you mean “{close}”?", key=key, word=word, close=Term(close)
        )
    raise InputProblem(
        "{key}: “{word}” is not a column; the columns are {columns}",
        key=key,
        word=word,
        columns=terms(allowed),
    )


def _values(where: str, entries: dict[str, Any]) -> dict[str, str]:
    column = _column(where, where.removeprefix("values."), _with_choices())
    return _once(where, entries, lambda key, value: _choice(key, column, value, CHOICE_WORDS[column]))


def _choice(key: str, column: str, value: Any, words: Mapping[str, str]) -> str:
    text = _text(key, value)
    if folded(text) not in words:
        raise InputProblem(
            "{key}: “{word}” is not a value that {column} can have; it can have: {choices}",
            key=key,
            word=text,
            column=Term(column),
            choices=terms((choice.name for choice in COLUMN[column].choices), "choice"),
        )
    return words[folded(text)]


def _fill(key: str, column: str, value: Any, values: Mapping[str, Mapping[str, str]]) -> str:
    """What a blank cell is filled with: as it is written in the file, if a workbook alone could say so."""
    text = _text(key, value)
    if not text:
        raise InputProblem("{key} must not be empty", key=key)
    if not COLUMN[column].choices:
        return text
    meant = _choice(key, column, text, {**CHOICE_WORDS[column], **values.get(column, {})})
    return text if folded(text) in CHOICE_WORDS[column] else meant
