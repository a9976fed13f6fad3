"""The sheet Register: one line a charge."""

import functools
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from pipeline.messages.translate import choice_word, heading, heading_in, rendered, status_word
from pipeline.model.columns import COLUMN, COMPONENTS, Lang
from pipeline.model.message import from_text
from pipeline.model.money import MINOR
from pipeline.model.register_line import RegisterLine
from pipeline.reporting.input_cells import extra_heading
from pipeline.reporting.links import Cell
from pipeline.reporting.register_by_buyer import shown_buyer
from pipeline.reporting.register_cost_centre import Carried, carried
from pipeline.reporting.register_values import STATES, TONES, Register
from pipeline.reporting.words_register import label
from pipeline.reporting.xlsx.book import Book
from pipeline.reporting.xlsx.column_specs import Field, width_of
from pipeline.reporting.xlsx.row_stream import by_column
from pipeline.reporting.xlsx.styles import Style

_PARTS = tuple(dict.fromkeys(part for parts in COMPONENTS.values() for part in parts))


def add_lines(book: Book, register: Register) -> None:
    """One line a charge."""
    lang = book.lang
    columns = _columns(register, lang)
    parsed = (
        _Parsed(line, number, carried(line.carried), _components(line.components))
        for line, number in zip(register.lines, register.buyers, strict=True)
    )
    rows = ([value(each) for _, value in columns] for each in parsed)
    book.add_rows("Register", [shown for shown, _ in columns], len(register.lines), by_column(rows))


class _Parsed(NamedTuple):
    """A line, the number of its buyer, and what its JSON says."""

    line: RegisterLine
    buyer: int
    carried: Carried
    components: dict[str, int]


_Column = tuple[Field, Callable[[_Parsed], Any]]


def _columns(register: Register, lang: Lang) -> list[_Column]:
    """The columns of the sheet Register, each with what gives its value; components and own columns as far as any line has them."""
    masks, lines = register.masks, register.lines
    word = functools.cache(functools.partial(choice_word, lang=lang))
    states = {state: Cell(label(state, lang), tone=TONES[state]) for state in STATES}
    sources = {True: label("statement", lang), False: label("ledger", lang)}
    parts = {part for text in {line.components for line in lines} for part in _components(text)}
    columns_carried = [carried(text) for text in dict.fromkeys(line.carried for line in lines)]
    others = (
        list(dict.fromkeys(name for each in columns_carried for name in each.others)) if masks.whole else []
    )
    own = {
        name: list(dict.fromkeys(getattr(each, name) for each in columns_carried))
        for name in ("cost_centre", "department")
    }
    buyers = list(dict.fromkeys(line.buyer for line in lines))
    issued_at = heading_in(label("issued_at", lang), register.time_zone, lang)

    def text(
        name: str, style: Style, width: int, value: Callable[[RegisterLine], Any], said: str = ""
    ) -> _Column:
        return Field(name, said or heading(name, lang), style, width), lambda each: value(each.line)

    def own_column(name: str) -> _Column:
        def value(each: _Parsed) -> str:
            found: str = getattr(each.carried, name)
            return masks.text(found)

        return Field(name, label(name, lang), Style.TEXT, width_of(own[name])), value

    columns = [
        text("number", Style.IDENTIFIER, 24, lambda line: line.number),
        text("voucher", Style.TEXT, 11, lambda line: word(line.voucher)),
        text("ticket_no", Style.IDENTIFIER, 16, lambda line: line.ticket_no),
        text("charge", Style.TEXT, 12, lambda line: word(line.charge)),
        text("product", Style.TEXT, 10, lambda line: word(line.product) if line.product else None),
        text("passenger_name", Style.TEXT, 24, lambda line: masks.name(line.passenger_name)),
    ]
    buyer = Field("buyer", heading("buyer", lang), Style.TEXT, max(16, width_of(buyers)))
    columns.append(
        (
            buyer,
            lambda each: (
                shown_buyer(register, each.buyer, each.line.buyer, lang) if each.line.buyer else None
            ),
        )
    )
    columns.append(text("tax_no", Style.IDENTIFIER, 22, lambda line: masks.number(line.tax_no)))
    columns += [
        (Field(part, heading(part, lang), Style.MONEY, COLUMN[part].width), functools.partial(_part, part))
        for part in _PARTS
        if part in parts
    ]
    columns += [
        text("amount", Style.MONEY, 13, lambda line: _money(line.amount), label("total_amount", lang)),
        text("issued_at", Style.DATE, 21, lambda line: line.issued, issued_at),
        text("state", Style.TEXT, 10, lambda line: states[line.state], label("state", lang)),
        text("run", Style.LINE, 7, lambda line: line.run, label("run", lang)),
        text("file", Style.TEXT, 24, lambda line: _file(register, line, lang)),
    ]
    if masks.whole:
        columns.append(text("sheet", Style.TEXT, 12, lambda line: line.sheet))
    columns.append(text("row", Style.LINE, 8, lambda line: line.row or None))
    columns += [own_column(name) for name in own if any(own[name])]
    columns += [
        (Field(name, _own_heading(name, lang), Style.TEXT, 16), functools.partial(_other, name))
        for name in others
    ]
    if any(line.red_number for line in lines):
        columns.append(
            text("red_number", Style.IDENTIFIER, 24, lambda line: line.red_number, label("red_number", lang))
        )
    columns += [
        text("known_from", Style.TEXT, 24, lambda line: sources[line.elsewhere], label("known_from", lang)),
        text("request", Style.IDENTIFIER, 23, lambda line: line.request),
    ]
    if any(line.received_at for line in lines):
        seals = {line.seal: status_word(line.seal, lang) for line in lines if line.seal}
        columns += [
            text(
                "received_on",
                Style.DATE,
                13,
                lambda line: line.received_at and line.received_at.date(),
                label("received_on", lang),
            ),
            text(
                "itinerary_file",
                Style.IDENTIFIER,
                40,
                lambda line: line.itinerary_file,
                label("itinerary_file", lang),
            ),
            text("seal", Style.TEXT, 12, lambda line: seals.get(line.seal), label("seal", lang)),
        ]
    return columns


def _part(name: str, each: _Parsed) -> float | None:
    return _money(each.components.get(name))


def _other(name: str, each: _Parsed) -> str | None:
    return each.carried.others.get(name)


def _money(minor: int | None) -> float | None:
    return None if minor is None else minor / MINOR


def _file(register: Register, line: RegisterLine, lang: Lang) -> str:
    """Where a charge comes from."""
    file = register.masks.file(line.file)
    return rendered(from_text(line.file) if file == line.file and line.elsewhere else file, lang)


def _own_heading(name: str, lang: Lang) -> str:
    """The heading of a column carried along: never one of the register's own."""
    ours = {
        label(own, lang)
        for own in (
            "state",
            "run",
            "known_from",
            "red_number",
            "total_amount",
            "cost_centre",
            "department",
            "received_on",
            "itinerary_file",
            "seal",
        )
    }
    return f"{name} (input)" if name in ours else extra_heading(name)


def _components(text: str) -> dict[str, int]:
    found: dict[str, int] = json.loads(text)
    return found
