"""The register of vouchers (开票清单) as a workbook: Summary, one line a charge, totals by buyer and by cost centre."""

import datetime
import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.messages.translate import choice_word, heading, rendered
from pipeline.model.columns import COLUMN, COMPONENTS, Lang
from pipeline.model.message import Message, counted, from_text, message
from pipeline.model.profile import Owner
from pipeline.model.register_line import RegisterLine
from pipeline.model.table import MINOR
from pipeline.model.text_width import cells_wide
from pipeline.reporting.input_cells import extra_heading
from pipeline.reporting.links import Cell
from pipeline.reporting.masking import NoMasks
from pipeline.reporting.result_workbook import write_book
from pipeline.reporting.sheet_page import Page
from pipeline.reporting.words_register import label
from pipeline.reporting.xlsx.book import Book, Cover
from pipeline.reporting.xlsx.column_specs import Field, width_of
from pipeline.reporting.xlsx.row_stream import by_column
from pipeline.reporting.xlsx.styles import Style

#: The same names in every language, because people and programs find them by name.
SHEETS = ("Summary", "Register", "By buyer", "By cost centre")
STATES = ("issued", "unknown", "reversed")
_TONES = {"issued": "good", "unknown": "warn", "reversed": "bad"}
_PARTS = tuple(dict.fromkeys(part for parts in COMPONENTS.values() for part in parts))

#: Headings that mean a cost centre or a department, without spaces and in small letters; one may stand in two languages.
_CENTRES = (
    "成本中心代码",
    "成本中心编码",
    "成本中心名称",
    "成本中心",
    "costcentrecode",
    "costcentercode",
    "costcentre",
    "costcenter",
)
_DEPARTMENTS = ("所属部门", "费用部门", "部门名称", "部门", "departmentname", "department", "dept")  # fmt: skip


@dataclass(frozen=True)
class Register:
    """What a register holds: its lines, by line the number of its buyer (from 1), and what is said of it as a whole.

    `days`: from the first to the last, None for everything. `undated`: charges known from statements that say no day, which no
    days have. `gap`: since when the ledger may lack something, "" where it lacks nothing. `of_buyer`: it is that buyer's alone.
    """

    lines: Sequence[RegisterLine]
    buyers: Sequence[int]
    days: tuple[datetime.date, datetime.date] | None
    carrier: Owner
    time_zone: str
    currency: str
    written: datetime.datetime
    undated: int
    gap: str
    masks: NoMasks = field(default_factory=NoMasks)
    of_buyer: int = 0

    @property
    def by_buyer(self) -> "Iterator[Register]":
        """A register for each buyer, in the order of their numbers."""
        lines: dict[int, list[RegisterLine]] = {}
        for number, line in zip(self.buyers, self.lines, strict=True):
            lines.setdefault(number, []).append(line)
        for number, own in sorted(lines.items()):
            yield replace(self, lines=own, buyers=[number] * len(own), of_buyer=number, undated=0)


def buyer_numbers(lines: Iterable[RegisterLine]) -> list[int]:
    """By line the number of its buyer, in the order in which they first stand.

    A buyer is its name and tax number; of those without one it takes telephone and e-mail to tell two of one name apart.
    A statement knows names alone: they mean the one buyer of that name, if there is just one.
    """
    lines = list(lines)
    of_name: dict[str, set[tuple[str, ...]]] = {}
    for line in lines:
        if not line.elsewhere:
            of_name.setdefault(_plain(line.buyer), set()).add(_buyer_key(line))
    numbers: dict[tuple[str, ...], int] = {}
    found = []
    for line in lines:
        key = _buyer_key(line)
        if line.elsewhere and len(meant := of_name.get(key[0], set())) == 1:
            (key,) = meant
        found.append(numbers.setdefault(key, len(numbers) + 1))
    return found


def _buyer_key(line: RegisterLine) -> tuple[str, ...]:
    return (
        (_plain(line.buyer), line.tax_no) if line.tax_no else (_plain(line.buyer), "", line.phone, line.email)
    )


@functools.cache
def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()


def secrets_of(lines: Iterable[RegisterLine]) -> set[str]:
    """What names somebody in these lines."""
    return {
        text
        for line in lines
        for text in (line.passenger_name, line.buyer, line.tax_no, line.phone, line.email)
    }


def write_register(register: Register, path: Path, lang: Lang) -> Path:
    """Write the register; give the path that it has, which is another where `path` was taken.

    Raises Stop where it can't be written; nothing is left behind then.
    """

    def fill(book: Book) -> None:
        _add_summary(book, register)
        _add_lines(book, register)
        _add_totals(book, register, "By buyer", _by_buyer(register, lang))
        _add_totals(book, register, "By cost centre", _by_centre(register, lang))

    return write_book(path, Cover(label("title", lang), lang, register.carrier.is_sandbox), SHEETS, fill)


# --- values, as they are shown ------------------------------------------------------------------


def shown_buyer(register: Register, number: int, name: str, lang: Lang) -> str:
    """A buyer's name."""
    if not name.strip():
        return label("no_buyer", lang)
    return register.masks.buyer(name, number)


def buyer_of(register: Register, lang: Lang) -> str:
    """The name of the one buyer that a register is of, as its ledger's own vouchers have it."""
    named = next((line for line in register.lines if not line.elsewhere), register.lines[0])
    return shown_buyer(register, register.of_buyer, named.buyer, lang)


@dataclass(frozen=True)
class _Carried:
    """The columns carried along with a charge, those that mean a cost centre or a department apart."""

    cost_centre: str
    department: str
    others: dict[str, str]


@functools.lru_cache(maxsize=50_000)
def _carried(text: str) -> _Carried:
    found: dict[str, str] = {"cost_centre": "", "department": ""}
    others = {}
    for name, value in json.loads(text).items():
        kind = _meaning(name)
        if kind and not found[kind]:
            found[kind] = value
        else:
            others[name] = value
    return _Carried(**found, others=others)


@functools.cache
def _meaning(name: str) -> str:
    """What a heading means: cost_centre, department, or "" for anything else.

    >>> _meaning("成本中心 Cost Centre"), _meaning("Dept."), _meaning("部门经理")
    ('cost_centre', 'department', '')
    """
    plain = re.sub(r"[\W_]+", "", name).casefold()
    for kind, words in (("cost_centre", _CENTRES), ("department", _DEPARTMENTS)):
        if re.fullmatch(f"(?:{'|'.join(words)}){{1,2}}", plain):
            return kind
    return ""


def _components(text: str) -> dict[str, int]:
    found: dict[str, int] = json.loads(text)
    return found


# --- the sheet Register -------------------------------------------------------------------------


def _add_lines(book: Book, register: Register) -> None:
    """One line a charge."""
    lang = book.lang
    columns = _columns(register, lang)
    parsed = (
        _Parsed(line, number, _carried(line.carried), _components(line.components))
        for line, number in zip(register.lines, register.buyers, strict=True)
    )
    rows = ([value(each) for _, value in columns] for each in parsed)
    book.add_rows("Register", [shown for shown, _ in columns], len(register.lines), by_column(rows))


class _Parsed(NamedTuple):
    """A line, the number of its buyer, and what its JSON says."""

    line: RegisterLine
    buyer: int
    carried: _Carried
    components: dict[str, int]


_Column = tuple[Field, Callable[[_Parsed], Any]]


def _columns(register: Register, lang: Lang) -> list[_Column]:
    """The columns of the sheet Register, each with what gives its value; components and own columns as far as any line has them."""
    masks, lines = register.masks, register.lines
    word = functools.cache(functools.partial(choice_word, lang=lang))
    states = {state: Cell(label(state, lang), tone=_TONES[state]) for state in STATES}
    sources = {True: label("statement", lang), False: label("ledger", lang)}
    parts = {part for text in {line.components for line in lines} for part in _components(text)}
    carried = [_carried(text) for text in dict.fromkeys(line.carried for line in lines)]
    others = list(dict.fromkeys(name for each in carried for name in each.others)) if masks.whole else []
    own = {
        name: list(dict.fromkeys(getattr(each, name) for each in carried))
        for name in ("cost_centre", "department")
    }
    buyers = list(dict.fromkeys(line.buyer for line in lines))

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
        text(
            "issued_at",
            Style.DATE,
            21,
            lambda line: line.issued,
            f"{label('issued_at', lang)} ({register.time_zone})",
        ),
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
    return [
        *columns,
        text("known_from", Style.TEXT, 24, lambda line: sources[line.elsewhere], label("known_from", lang)),
        text("request", Style.IDENTIFIER, 23, lambda line: line.request),
    ]


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
        for own in ("state", "run", "known_from", "red_number", "total_amount", "cost_centre", "department")
    }
    return f"{name} (input)" if name in ours else extra_heading(name)


# --- totals -------------------------------------------------------------------------------------


class _Sums:
    """Charges and their amounts, by state."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(STATES, 0)
        self.amounts = dict.fromkeys(STATES, 0)

    def add(self, line: RegisterLine) -> None:
        self.counts[line.state] += 1
        self.amounts[line.state] += line.amount or 0

    @property
    def cells(self) -> list[Any]:
        """A count and an amount for each state."""
        return [value for state in STATES for value in (self.counts[state], self.amounts[state] / MINOR)]


def _by_buyer(register: Register, lang: Lang) -> tuple[list[Field], list[list[Any]]]:
    sums: dict[int, _Sums] = {}
    first: dict[int, RegisterLine] = {}
    for number, line in zip(register.buyers, register.lines, strict=True):
        sums.setdefault(number, _Sums()).add(line)
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


def _by_centre(register: Register, lang: Lang) -> tuple[list[Field], list[list[Any]]]:
    sums: dict[str, _Sums] = {}
    for line in register.lines:
        sums.setdefault(_carried(line.carried).cost_centre, _Sums()).add(line)
    rows = [
        [register.masks.text(centre) if centre else label("no_cost_centre", lang), *sums[centre].cells]
        for centre in sorted(sums, key=lambda centre: (not centre, centre))
    ]
    return [
        Field(
            "cost_centre", label("cost_centre", lang), Style.TEXT, max(28, width_of(row[0] for row in rows))
        )
    ], rows


def _add_totals(
    book: Book, register: Register, sheet: str, found: tuple[list[Field], list[list[Any]]]
) -> None:
    """Counts and amounts by state, a line for each of `found`, and the total of all."""
    fields, rows = found
    lang, named = book.lang, len(fields)
    for state in STATES:
        said = label(state, lang)
        count, amount = f"{said}: {label('charges', lang)}", f"{said} ({register.currency})"
        fields += [
            Field(f"{state}_charges", count, Style.COUNT, cells_wide(count) + 2),
            Field(f"{state}_amount", amount, Style.MONEY, 18),
        ]
    if rows:
        whole = _Sums()
        for line in register.lines:
            whole.add(line)
        rows.append([label("total", lang), *[None] * (named - 1), *whole.cells])
    book.add_rows(sheet, fields, len(rows), by_column(rows))


# --- the sheet Summary --------------------------------------------------------------------------


def _add_summary(book: Book, register: Register) -> None:
    """What it is a register of, totals, and what whoever reads it should know."""
    lang = book.lang
    page = Page(book, "Summary")
    page.facts((label(name, lang), value) for name, value in _facts(register, lang))
    _state_table(page, register, lang)
    if notes := list(_notes(register)):
        page.heading(label("notes", lang))
        page.points(notes)
    page.finish()


def _facts(register: Register, lang: Lang) -> Iterator[tuple[str, str]]:
    days = register.days
    yield "period", f"{days[0]}..{days[1]}" if days else label("everything", lang)
    if register.of_buyer:
        yield "for_buyer", buyer_of(register, lang)
    yield "carrier", rendered(register.carrier.told, lang)
    yield "times", register.time_zone
    yield "currency", register.currency
    yield "written", f"{register.written:%Y-%m-%d %H:%M}"
    if not register.masks.whole:
        yield "names", label("names_masked", lang)


def _state_table(page: Page, register: Register, lang: Lang) -> None:
    """Charges and amounts of invoices and itineraries, by state."""
    kinds = ("invoice", "itinerary")
    sums = {kind: _Sums() for kind in kinds}
    for line in register.lines:
        sums[line.voucher].add(line)
    page.heading(label("by_state", lang))
    page.put(0, label("state", lang), page.column_heading)
    for place, said in enumerate((*(choice_word(kind, lang) for kind in kinds), label("total", lang))):
        page.put(2 * place + 1, label("charges", lang), page.number_heading)
        page.put(2 * place + 2, said, page.number_heading)
    page.row += 1
    for state in STATES:
        page.line(
            label(state, lang),
            page.tones[_TONES[state] if any(sums[k].counts[state] for k in kinds) else "plain"],
        )
        counts, amounts = (
            [getattr(sums[kind], what)[state] for kind in kinds] for what in ("counts", "amounts")
        )
        for place, (count, amount) in enumerate(
            zip([*counts, sum(counts)], [*amounts, sum(amounts)], strict=True)
        ):
            page.put(2 * place + 1, count, page.count)
            page.put(2 * place + 2, amount / MINOR, page.money)
        page.row += 1


def _notes(register: Register) -> Iterator[Message]:
    if not register.lines:
        yield message("Nothing: the ledger has no voucher of this time.")
    if unknown := sum(line.state == "unknown" for line in register.lines):
        yield counted(
            "unknown: {count} charge was asked for, and whether it was issued is not known; voucher reconcile settles it.",
            "unknown: {count} charges were asked for, and whether they were issued is not known; voucher reconcile settles them.",
            unknown,
        )
    if missing := sum(line.amount is None for line in register.lines):
        yield counted(
            "{count} charge is known from a statement that does not say its amount; it counts as 0.",
            "{count} charges are known from statements that do not say their amounts; they count as 0.",
            missing,
        )
    if register.undated and register.days:
        yield counted(
            "{count} charge is known from a statement that does not say when it was issued; it is in the register of no month.",
            "{count} charges are known from statements that do not say when they were issued; they are in the register of no month.",
            register.undated,
        )
    if register.gap:
        yield message("The ledger may lack what was issued after {since}.", since=register.gap)
