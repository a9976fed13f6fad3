"""What stands in which column: heading rows found and understood by the vocabulary."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pipeline.messages.translate import RESULT_HEADINGS, in_every_language
from pipeline.model.columns import COLUMN, Kind
from pipeline.model.errors import InputProblem
from pipeline.model.message import Joined, Message, Private, Term, joined, message
from pipeline.model.places import on_sheet
from pipeline.reading.cell_words import folded
from pipeline.reading.formats.column_letters import column_letters
from pipeline.reading.heading_meanings import (
    BUYER_NAMES,
    is_carried,
    is_unit_label,
    meanings,
    name_in_currency,
    nearest,
    other_unit,
    sum_of_taxes,
    vague,
)
from pipeline.reading.sheet import Sheet, is_blank

#: Headings stand below a few title rows at most.
_TITLE_ROWS = 30

TAXES = ("airport_fee", "fuel_surcharge", "other_taxes")

#: What divides a group such as 票价 into columns, and is no heading by itself.
_TAXED = re.compile(
    r"[不未]?含税[价额]?|税[前后]|(?:incl|excl|with|without|before|after)(?:uding|usive)?(?:of)?tax(?:es)?"
)

_RENAME = message("rename or delete one of them, or say in --columns which of them is meant")
_RENAME_IN_RESULT = message("rename or delete one of them")

#: Before a heading that would pass for a column, though it is not read as one: so nobody takes it for that
#: column again, neither here nor where the result is read back.
NOT_READ = "input: "

#: A team's own headings, folded, and the columns that they mean; "" is none (see columns_file.py).
Own = Mapping[str, str]


@dataclass(frozen=True)
class Layout:
    """Where a sheet's headings stand.

    `heading_row` is the index of the last row of headings in the sheet's rows; `columns` maps a column's
    name to its position in a row; `extra` maps every other heading, as it stands, to its position; `words`
    are the words of the heading rows by position, folded; `headings` are the columns' headings as they stand, with
    their cells; `set_aside` are other headings that say nothing of a ticket or a buyer.
    """

    heading_row: int
    columns: dict[str, int]
    extra: dict[str, int]
    words: dict[int, frozenset[str]] = field(default_factory=dict)
    headings: dict[str, tuple[str, str]] = field(default_factory=dict)
    set_aside: dict[str, int] = field(default_factory=dict)

    def without(self, headings: Collection[str]) -> "Layout":
        """The same with extra columns of these headings set aside."""
        extra = {heading: at for heading, at in self.extra.items() if heading not in headings}
        aside = {heading: at for heading, at in self.extra.items() if heading in headings}
        return replace(self, extra=extra, set_aside=aside)


@dataclass(frozen=True)
class _Headings:
    """One heading for every position, of a heading row or of two; `at` are the rows that they stand in."""

    last: int
    cells: list[Any]
    at: list[int]
    rows: tuple[int, ...]


def _means(cell: Any, own: Own) -> frozenset[str]:
    """The columns that a heading means, by the team's own mapping first."""
    if own and (word := folded(cell)) in own:
        return frozenset(filter(None, [own[word]]))
    return meanings(cell)


def _known(row: Sequence[Any], own: Own) -> set[str]:
    """The columns that a row's cells name; a cell that mixes several names none."""
    return {name for cell in row if len(names := _means(cell, own)) == 1 for name in names}


def _is_heading_row(names: set[str]) -> bool:
    """Tickets' headings name the ticket number and one column more at least; buyers' two buyer columns."""
    return len(names) > 1 and ("ticket_no" in names or names <= BUYER_NAMES)


def _continues(top: Sequence[Any], below: Sequence[Any], own: Own) -> bool:
    """Whether a row is the second half of the headings above it: under merged cells, such as groups have."""
    filled = [(at, cell) for at, cell in enumerate(below) if not is_blank(cell)]
    if len(filled) < 2 or not all(isinstance(cell, str) for _, cell in filled):
        return False
    known = [bool(_means(cell, own)) for _, cell in filled]
    under_known = [at < len(top) and bool(_means(top[at], own)) for at, _ in filled]
    same = all(at < len(top) and folded(top[at]) == folded(cell) for at, cell in filled)
    grouped = _is_grouped(top, dict(filled), own)
    return (any(known) or grouped) and not same and (all(known) or grouped or not any(under_known))


def _is_grouped(top: Sequence[Any], below: Mapping[int, str], own: Own) -> bool:
    """Whether a row divides groups of the headings above it, some of them by taxes, and has nothing of a ticket."""
    whose = [at for at, cell in enumerate(top) if _means(cell, own) & {"ticket_no", "passenger_name"}]
    divides = [bool(_means(cell, own) or _TAXED.fullmatch(folded(cell))) for cell in below.values()]
    return (
        bool(whose)
        and not any(at in below for at in whose)
        and any(is_blank(_at(top, at)) for at in below)
        and any(divides)
        and all(known or is_carried(cell) for known, cell in zip(divides, below.values(), strict=True))
    )


def _divided(top: Sequence[Any], at: int, cell: Any) -> Any:
    """A heading of the lower row: with the one of its group where it only says how that is taxed."""
    group = next((above for above in reversed(top[: at + 1]) if not is_blank(above)), "")
    return f"{group}({cell})" if _TAXED.fullmatch(folded(cell)) and not is_blank(group) else cell


def _headings(sheet: Sheet, index: int, own: Own) -> _Headings:
    """The headings that begin in a row: of it alone, or of it and its neighbour where cells are merged."""
    rows = sheet.rows
    row = rows[index]
    if index + 1 < len(rows) and _continues(row, rows[index + 1], own):
        lower, last = rows[index + 1], index + 1
        pairs = [
            (_divided(row, at, lower[at]), last)
            if at < len(lower) and not is_blank(lower[at])
            else (_at(row, at), index)
            for at in range(max(len(row), len(lower)))
        ]
        return _Headings(last, [cell for cell, _ in pairs], [at for _, at in pairs], (index, last))
    cells, at_rows = list(row), [index] * len(row)
    named = _known(row, own)
    used = False
    for at, cell in enumerate(rows[index - 1] if index else []):
        # A heading merged over this row and the one above stands in the one above.
        above = _means(cell, own)
        if is_blank(_at(row, at)) and above and not above & named and _has_data(sheet, index, at):
            cells += [""] * (at + 1 - len(cells))
            at_rows += [index] * (at + 1 - len(at_rows))
            cells[at], at_rows[at], used = cell, index - 1, True
    return _Headings(index, cells, at_rows, (index - 1, index) if used else (index,))


def _at(row: Sequence[Any], at: int) -> Any:
    return row[at] if at < len(row) else ""


def _has_data(sheet: Sheet, row: int, position: int) -> bool:
    return position < sheet.width and not sheet.columns[position].blank[row + 1 :].all()


def _layout(place: Message, sheet: Sheet, found: _Headings, own: Own, cure: Message) -> Layout:
    columns: dict[str, int] = {}
    extra: dict[str, int] = {}
    headings: dict[str, tuple[str, str]] = {}
    numbers: defaultdict[str, int] = defaultdict(lambda: 1)  # of the last column that says so
    for position in range(sheet.width):
        cell = _at(found.cells, position)
        names = _means(cell, own)
        if len(names) > 1:
            raise _ambiguous(place, _cell(sheet, found, position), cell, names)
        name = next(iter(names), "")
        if name in columns:
            raise InputProblem(
                "{place}: {first} “{heading}” and {second} “{other}” both mean {column}; {cure}",
                place=place,
                first=_cell(sheet, found, columns[name]),
                heading=Private(str(found.cells[columns[name]])),
                second=_cell(sheet, found, position),
                other=Private(str(cell)),
                column=Term(name),
                cure=cure,
            )
        if name:
            columns[name], headings[name] = position, (str(cell), _cell(sheet, found, position))
            continue
        heading = (cell.decode() if isinstance(cell, bytes) else str(cell)).strip()
        if not heading:
            if not _has_data(sheet, found.last, position):
                continue
            heading = f"column {column_letters(sheet.first_column + position)}"
        if meanings(cell):  # a team says that it is not this column
            heading = NOT_READ + heading
        unique = heading
        while unique in extra:
            numbers[heading] += 1
            unique = f"{heading} ({numbers[heading]})"
        extra[unique] = position
    if taken := _sum_of_taxes(columns, extra, own):
        columns["other_taxes"] = position = extra.pop(taken)
        headings["other_taxes"] = (taken, _cell(sheet, found, position))
    said = [sheet.rows[row] for row in found.rows]
    words = {at: frozenset(folded(_at(row, at)) for row in said) - {""} for at in range(sheet.width)}
    return Layout(found.last, columns, extra, words, headings)


def _sum_of_taxes(columns: Collection[str], extra: Collection[str], own: Own) -> str:
    """The heading of two taxes in one column, as exports often have them, where no other column holds either.

    A charge is issued as the sum of its parts, so that it makes no difference which part they are called.
    """
    found = [heading for heading in extra if sum_of_taxes(heading) and folded(heading) not in own]
    return found[0] if len(found) == 1 and not {*TAXES} & set(columns) else ""


def _cell(sheet: Sheet, found: _Headings, position: int) -> str:
    row = found.at[position] if position < len(found.at) else found.last
    return sheet.cell_name(row, position)


#: The headings of our own workbooks, folded.
_OURS = {
    folded(word)
    for words in (RESULT_HEADINGS, *(in_every_language(name, "column") for name in COLUMN))
    for word in words
}


def beside_ours(own: Own) -> Own:
    """What a team's mapping says of an earlier result: nothing of the headings that we wrote ourselves.

    The mapping was heeded when the result was made; its 票价 is the fare, whatever the input called so.
    """
    return {word: name for word, name in own.items() if word not in _OURS}


def _ambiguous(place: Message, cell: str, heading: Any, names: Collection[str]) -> InputProblem:
    return InputProblem(
        "{place}: {cell} “{heading}” may mean {columns}; give each a column of its own, or say in --columns which is meant",
        place=place,
        cell=cell,
        heading=Private(str(heading)),
        columns=_either(sorted(names)),
    )


def _either(names: Iterable[str]) -> Joined:
    """Columns, of which one is meant."""
    return joined(map(Term, names), "or")


def _is_money(name: str) -> bool:
    """Whether a column holds amounts; a statement has columns that tickets have not."""
    return name in COLUMN and COLUMN[name].kind is Kind.MONEY


def _check_units(
    place: Message, sheet: Sheet, found: _Headings, headings: Mapping[str, tuple[str, str]], currency: str
) -> None:
    """Amounts in thousands, or in another currency, would be taken for what they are not.

    Their own heading may say so, or a title above the headings for all of them.
    """
    money = [heading for name, heading in headings.items() if _is_money(name)]
    for heading, cell_name in money:
        if said := other_unit(heading, currency):
            raise _other_unit(place, cell_name, heading, said)
    if not money:
        return
    if name_in_currency(sheet.name, currency):
        raise InputProblem(
            "{place}: the sheet's name says that its amounts are in another currency; enter them in the carrier's currency, and"
            " name the sheet otherwise",
            place=place,
        )
    last = sheet.rows[found.last]
    for row in range(found.last):
        label = ""
        for at, cell in enumerate(sheet.rows[row]):
            if row in found.rows and is_blank(_at(last, at)):
                continue  # a heading of its own, merged down: looked at where it is read
            if said := other_unit(f"{label} {cell}" if label else cell, currency, title=True):
                raise _other_unit(place, sheet.cell_name(row, at), cell, said)
            if not is_blank(cell):
                label = cell if is_unit_label(cell) else ""


def refuse_unit_of_footer(place: Message, sheet: Sheet, row: int, layout: Layout, currency: str) -> None:
    """Raise InputProblem where a note below the data says that the amounts are in thousands, or in another currency.

    One that does not speak of amounts may be of anything, such as an account in dollars.
    """
    for at, cell in enumerate(sheet.rows[row]):
        if (
            isinstance(cell, str)
            and any(map(_is_money, layout.columns))
            and _OF_AMOUNTS.search(folded(cell))
            and (said := other_unit(cell, currency, title=True))
        ):
            raise _other_unit(place, sheet.cell_name(row, at), cell, said)


_OF_AMOUNTS = re.compile("金额|票价|amount|fare|price")


def _other_unit(place: Message, cell: str, text: Any, said: str) -> InputProblem:
    heading = Private(str(text))
    if said == "currency":
        return InputProblem(
            "{place}: {cell} “{heading}” says that the amounts are in another currency; enter them in the carrier's currency,"
            " and take its name out",
            place=place,
            cell=cell,
            heading=heading,
        )
    return InputProblem(
        "{place}: {cell} “{heading}” says that its amounts are not in the currency's main unit; enter them in the main"
        " unit (元), and name the column so",
        place=place,
        cell=cell,
        heading=heading,
    )


def find_layout(
    place: Message, sheet: Sheet, own: Own | None = None, *, ours: bool = False, currency: str = "CNY"
) -> Layout | None:
    """The sheet's headings, or None where it holds neither tickets nor buyers.

    `ours`: the sheet is of an earlier result; see beside_ours for what `own` is then. Raises InputProblem if
    two headings mean one column, or one heading two, or where amounts are said to be in another currency than this one ("": any).
    """
    own = own or {}
    found = _heading_rows(sheet, own)
    if found is None:
        return None
    layout = _layout(place, sheet, found, own, _RENAME_IN_RESULT if ours else _RENAME)
    _check_units(place, sheet, found, layout.headings, currency)
    return layout


def _heading_rows(sheet: Sheet, own: Own) -> _Headings | None:
    """The rows of headings, None where there are none of tickets or buyers."""
    for index in range(min(_TITLE_ROWS, len(sheet.rows))):
        found = _headings(sheet, index, own)
        alone = _is_heading_row(_known(sheet.rows[index], own))
        if alone or (len(found.rows) > 1 and _needs_both(sheet, found, own)):
            return found
    return None


@dataclass(frozen=True)
class Heading:
    """A heading as it stands, the position, row and cell that it stands in, and the columns that it means by itself."""

    position: int
    row: int
    cell: str
    text: str
    means: frozenset[str]


def headings_seen(sheet: Sheet, own: Own) -> tuple[Heading, ...]:
    """Every heading of a sheet, whether it can be read by them or not; of a sheet without, the row most like headings."""
    found = _heading_rows(sheet, own)
    if found is None:
        rows = range(min(_TITLE_ROWS, len(sheet.rows)))
        texts = {
            at: sum(isinstance(cell, str) and not is_blank(cell) for cell in sheet.rows[at]) for at in rows
        }
        best = max(rows, key=lambda at: (len(_known(sheet.rows[at], own)), texts[at]), default=None)
        if best is None or texts[best] < 2:
            return ()
        found = _headings(sheet, best, own)
    return tuple(
        Heading(at, found.at[at], _cell(sheet, found, at), brief(str(cell)), _means(cell, own))
        for at, cell in enumerate(found.cells)
        if isinstance(cell, str) and not is_blank(cell)
    )


def _needs_both(sheet: Sheet, found: _Headings, own: Own) -> bool:
    """Whether two rows are headings together and neither of them alone: groups above, columns below."""
    top, below = sheet.rows[found.rows[0]], sheet.rows[found.last]
    return (
        found.rows[0] != found.last
        and bool(_known(top, own))
        and not _is_heading_row(_known(below, own))
        and _is_heading_row(_known(found.cells, own))
    )


def looks_like_tickets(sheet: Sheet, own: Own | None = None) -> bool:
    """Whether some row has headings of tickets, though no heading row was found: a slip to be told."""
    return any(len(_known(row, own or {})) > 2 for row in sheet.rows[:_TITLE_ROWS])


def refuse_low_headings(place: Message, sheet: Sheet, own: Own) -> None:
    """Raise InputProblem where headings of tickets stand below the rows in which headings are looked for."""
    named = [column.where(lambda cell: "ticket_no" in _means(cell, own)) for column in sheet.columns]
    for row in np.flatnonzero(np.any(named, axis=0)).tolist():
        if row >= _TITLE_ROWS and _is_heading_row(_known(sheet.rows[row], own)):
            raise InputProblem(
                "{place}: row {row} has the headings of tickets, and headings are looked for in the first {most} rows alone; delete"
                " what stands above them, or hide the sheet if it is not to be read",
                place=place,
                row=sheet.first_row + row + 1,
                most=_TITLE_ROWS,
            )


def doubts(layout: Layout, own: Own) -> Iterator[tuple[str, int, tuple[str, ...], str]]:
    """Headings that are not known, each with its position, the columns that it may mean, and the known word it is close to.

    "" where it is no slip but vague. A column that has its heading lacks none, so nothing is told of words that come
    close to that one.
    """
    for heading, at in layout.extra.items():
        if heading.startswith(NOT_READ) or folded(heading) in own:
            continue
        free, close = may_mean(heading, layout.columns)
        if free:
            yield heading, at, free, close


def may_mean(heading: str, taken: Collection[str]) -> tuple[tuple[str, ...], str]:
    """The columns that a heading which is not known may mean, but for those that others mean, and the known word it is close to.

    >>> may_mean("手续费", ["refund_fee"]), may_mean("Ticket Numbr", []), may_mean("weather", [])
    ((('change_fee',), ''), (('ticket_no',), 'ticket number'), ((), ''))
    """
    if free := tuple(name for name in vague(heading) if name not in taken):
        return free, ""
    close = nearest(heading, taken)
    return (tuple(meanings(close)), close) if close else ((), "")


def slips(sheet: Sheet, layout: Layout, own: Own | None = None) -> Iterator[Message]:
    """What to tell of headings that are not known: the nearest known one, or all that it could be.

    Such a column is carried through and not read.
    """
    for heading, at, free, close in doubts(layout, own or {}):
        cell = sheet.cell_name(layout.heading_row, at)
        if close:
            yield message(
                "{cell} “{heading}” is not a known heading and was not read; did you mean “{close}”?",
                cell=cell,
                heading=Private(heading),
                close=Term(close),
            )
        else:
            yield message(
                "{cell} “{heading}” may mean {columns} and was not read; name it more exactly",
                cell=cell,
                heading=Private(heading),
                columns=_either(free),
            )


def brief(text: str) -> str:
    r"""A heading as a message quotes it: on one line, cut where no heading is so long.

    >>> brief("Ticket\nnumber"), len(brief("x" * 100))
    ('Ticket number', 41)
    """
    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:40]}…"


def nothing_known(place: str, sheets: Sequence[Sheet], own: Own | None = None) -> InputProblem:
    """The error for a workbook in which no sheet has headings of tickets."""
    unsure = [
        (sheet.name, one, columns, close)
        for sheet in sheets
        for seen in [headings_seen(sheet, own or {})]
        for one in seen
        if not one.means
        for columns, close in [may_mean(one.text, {name for known in seen for name in known.means})]
        if columns
    ]
    # The one heading without which a sheet holds no tickets comes first.
    for sheet_name, one, columns, close in sorted(unsure, key=lambda found: "ticket_no" not in found[2])[:1]:
        return InputProblem(
            "{place}, cell {cell}: “{heading}” is not a known heading; did you mean “{close}”?",
            place=on_sheet(place, sheet_name),
            cell=one.cell,
            heading=Private(one.text),
            close=Term(close) if close else _either(columns),
        )
    # What is no known heading may be a person's data, and is left to the workbook: messages go to logs and mails.
    firsts = [row for sheet in sheets for row in sheet.rows[:1]]
    seen = [
        brief(cell) for row in firsts for cell in row if isinstance(cell, str) and _means(cell, own or {})
    ]
    known = message("; known of the first row is: {headings}", headings=joined(seen[:8])) if seen else ""
    return InputProblem(
        "{file}: no sheet has the headings of tickets (ticket_no 票号 and others){known}. `voucher template` writes a"
        " workbook with the headings; a team's own headings are explained with --columns",
        file=place,
        known=known,
    )


def known_at(row: Sequence[Any], own: Own | None = None) -> dict[int, str]:
    """The columns that a row's cells name, by position."""
    found = ((at, _means(cell, own or {})) for at, cell in enumerate(row))
    return {at: next(iter(names)) for at, names in found if len(names) == 1}
