"""The sheets By buyer and By cost centre of a register: counts and amounts by state."""

from typing import Any

from pipeline.messages.translate import heading, heading_in, rendered
from pipeline.model.columns import Lang
from pipeline.model.money import MINOR
from pipeline.model.places import about
from pipeline.model.register_line import RegisterLine
from pipeline.model.text_width import cells_wide
from pipeline.reporting.register_by_buyer import shown_buyer
from pipeline.reporting.register_cost_centre import carried
from pipeline.reporting.register_values import STATES, Register
from pipeline.reporting.words_register import label
from pipeline.reporting.xlsx.book import Book
from pipeline.reporting.xlsx.column_specs import Field, width_of
from pipeline.reporting.xlsx.row_stream import by_column
from pipeline.reporting.xlsx.styles import Style


class Sums:
    """Charges and their amounts, by state."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(STATES, 0)
        self.amounts = dict.fromkeys(STATES, 0)

    def add(self, line: RegisterLine) -> None:
        """One charge more."""
        self.counts[line.state] += 1
        self.amounts[line.state] += line.amount or 0

    @property
    def cells(self) -> list[Any]:
        """A count and an amount for each state."""
        return [value for state in STATES for value in (self.counts[state], self.amounts[state] / MINOR)]


def by_buyer(register: Register, lang: Lang) -> tuple[list[Field], list[list[Any]]]:
    """The buyers in the order of their numbers, for `add_totals`: columns and lines."""
    sums: dict[int, Sums] = {}
    first: dict[int, RegisterLine] = {}
    for number, line in zip(register.buyers, register.lines, strict=True):
        sums.setdefault(number, Sums()).add(line)
        if number not in first or (first[number].elsewhere and not line.elsewhere):
            first[number] = line
    rows = [
        [
            shown_buyer(register, number, first[number].buyer, lang),
            register.masks.number(first[number].tax_no),
            *sums[number].cells,
        ]
        for number in sorted(sums)
    ]
    fields = [
        Field("buyer", heading("buyer", lang), Style.TEXT, max(28, width_of(row[0] for row in rows))),
        Field("tax_no", heading("tax_no", lang), Style.IDENTIFIER, 22),
    ]
    return fields, rows


def by_cost_centre(register: Register, lang: Lang) -> tuple[list[Field], list[list[Any]]]:
    """The cost centres in alphabetical order, what has none last; likewise."""
    sums: dict[str, Sums] = {}
    for line in register.lines:
        sums.setdefault(carried(line.carried).cost_centre, Sums()).add(line)
    rows = [
        [register.masks.text(centre) if centre else label("no_cost_centre", lang), *sums[centre].cells]
        for centre in sorted(sums, key=lambda centre: (not centre, centre))
    ]
    return [
        Field(
            "cost_centre", label("cost_centre", lang), Style.TEXT, max(28, width_of(row[0] for row in rows))
        )
    ], rows


def add_totals(
    book: Book, register: Register, sheet: str, found: tuple[list[Field], list[list[Any]]]
) -> None:
    """Counts and amounts by state, a line for each of `found`, and the total of all."""
    fields, rows = found
    lang, named = book.lang, len(fields)
    for state in STATES:
        said = label(state, lang)
        count = rendered(about(said, label("charges", lang)), lang)
        amount = heading_in(said, register.currency, lang)
        fields += [
            Field(f"{state}_charges", count, Style.COUNT, cells_wide(count) + 2),
            Field(f"{state}_amount", amount, Style.MONEY, 18),
        ]
    if rows:
        whole = Sums()
        for line in register.lines:
            whole.add(line)
        rows.append([label("total", lang), *[None] * (named - 1), *whole.cells])
    book.add_rows(sheet, fields, len(rows), by_column(rows))
