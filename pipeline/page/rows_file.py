"""A month's rows as they were judged last, and the requests that they come to, in a SQLite file of their own: written whole by the process
that judged them, and asked by the pages a screen at a time, so that the server holds no month in memory.

Reasons are written in every language, because people of several look at one month.
"""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import numpy as np
import orjson

from pipeline.file_writing import PRIVATE, scratch_folder, sync
from pipeline.model.columns import BUYER_COLUMNS, COLUMN, LANGS, Lang
from pipeline.model.result import RunResult
from pipeline.model.result_values import ReasonText
from pipeline.model.shown_cells import shown
from pipeline.model.status import STATUS, WORST
from pipeline.reporting.cells_at_fault import at_fault
from pipeline.reporting.input_cells import shown_cells

_SCHEMA = """
CREATE TABLE row (
    at INTEGER PRIMARY KEY,        -- its place in the input, as in the report
    file TEXT NOT NULL, sheet TEXT NOT NULL, line INTEGER NOT NULL,
    ticket_no TEXT NOT NULL, passenger TEXT NOT NULL, charge TEXT NOT NULL, voucher TEXT NOT NULL, buyer TEXT NOT NULL,
    amount INTEGER,                -- minor units; NULL: not known
    status TEXT NOT NULL, rank INTEGER NOT NULL,
    number TEXT NOT NULL,          -- of its vouchers, a line each
    last_day TEXT,                 -- the last on which a charge of it may be requested
    cells TEXT NOT NULL,           -- what the input says, by column, as JSON
    reasons TEXT NOT NULL,         -- by language, as JSON
    search TEXT NOT NULL           -- what is looked in, casefolded
) STRICT;
CREATE TABLE buyer (                -- as the files' Buyers sheets have them
    buyer TEXT PRIMARY KEY, header_type TEXT NOT NULL, header_name TEXT NOT NULL, tax_no TEXT NOT NULL,
    phone TEXT NOT NULL, email TEXT NOT NULL
) STRICT;
CREATE TABLE reason (                -- which rows have it
    code TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (code, at)
) STRICT, WITHOUT ROWID;
CREATE TABLE charge (                -- what would be sent, a line for each charge of a request, request after request
    id INTEGER PRIMARY KEY,          -- from 1 on, without a gap
    request INTEGER NOT NULL,
    voucher TEXT NOT NULL, market TEXT NOT NULL, header_name TEXT NOT NULL, tax_no TEXT NOT NULL,
    total INTEGER NOT NULL,          -- of the request; minor units, as is `amount`
    ticket_no TEXT NOT NULL, charge TEXT NOT NULL, product TEXT NOT NULL, amount INTEGER NOT NULL
) STRICT;
CREATE TABLE plan (digest TEXT NOT NULL, requests INTEGER NOT NULL, charges INTEGER NOT NULL) STRICT;
"""
_INDEXES = """
CREATE INDEX row_by_status ON row (status);
CREATE INDEX row_by_ticket ON row (ticket_no);
CREATE INDEX row_by_amount ON row (amount);
CREATE INDEX row_by_day ON row (last_day);
CREATE INDEX row_by_rank ON row (rank);
CREATE INDEX row_by_buyer ON row (buyer);
"""
#: What rows can be sorted by, and the SQL of it.
SORTS = {
    "row": "at",
    "status": "rank, at",
    "ticket_no": "ticket_no, at",
    "amount": "amount, at",
    "buyer": "buyer, at",
    "last_day": "last_day IS NULL, last_day, at",
}
_AS_THEY_ARE = (
    "at", "file", "sheet", "line", "ticket_no", "passenger", "charge", "voucher", "buyer", "amount", "status",
)  # fmt: skip
#: The rows that a person has to act on, as a filter beside the statuses.
FAILING = "failing"
_FAILURES = tuple(name for name, status in STATUS.items() if status.failure)
PAGE = 50  # rows a screen
CHARGES = 100  # of requests, a screen


class Reason(NamedTuple):
    """A reason as it is shown: its code, the column that it is about ("" for none), what is wrong, what to do, whether that cell is at
    fault.
    """

    code: str
    column: str
    message: str
    cure: str
    at_fault: bool


@dataclass(frozen=True)
class Row:
    """A row of a month. `cells` are what the input says, by column, the corrections in it; `amount` in minor units."""

    at: int
    file: str
    sheet: str
    line: int
    ticket_no: str
    passenger: str
    charge: str
    voucher: str
    buyer: str
    amount: int | None
    status: str
    numbers: tuple[str, ...]
    last_day: str
    cells: Mapping[str, str]
    reasons: tuple[Reason, ...]

    @property
    def wrong(self) -> dict[str, list[Reason]]:
        """By column the reasons for which its cell is at fault."""
        found: dict[str, list[Reason]] = {}
        for reason in self.reasons:
            if reason.at_fault:
                found.setdefault(reason.column, []).append(reason)
        return found

    @property
    def extras(self) -> dict[str, str]:
        """What stands in columns of the file's own."""
        return {name: text for name, text in self.cells.items() if name not in COLUMN}


@dataclass(frozen=True)
class Asked:
    """Which rows are wanted: of a status (or FAILING, or "" for all), of a last day, with a reason (its code), holding a text, sorted,
    from which page on (1 is the first).
    """

    status: str = ""
    text: str = ""
    sort: str = "row"
    descending: bool = False
    page: int = 1
    day: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Screen:
    """The rows of one screen, and how many there are of them in all."""

    rows: tuple[Row, ...]
    count: int
    pages: int


class PlannedCharge(NamedTuple):
    """A charge of a request that would be sent, with what stands on the voucher; `total` is the request's. Money in minor units."""

    id: int
    request: int
    voucher: str
    market: str
    header_name: str
    tax_no: str
    total: int
    ticket_no: str
    charge: str
    product: str
    amount: int


@dataclass(frozen=True)
class PlanScreen:
    """The requests of one screen, each with those of its charges that stand there, and how many there are in all of the plan of
    that digest ("" where the month was never judged).
    """

    digest: str
    requests: int
    charges: int
    shown: tuple[tuple[PlannedCharge, ...], ...]
    page: int
    pages: int


def write_rows(path: Path, result: RunResult, digest: str) -> None:
    """Write the rows of one run, told in every language, and its requests, whose digest is given, in place of those before.

    Raises OSError, apsw.Error.
    """
    with scratch_folder(path.parent) as folder:
        made = folder / path.name
        with contextlib.closing(apsw.Connection(str(made))) as connection:
            connection.pragma("journal_mode", "off")
            connection.pragma("synchronous", 0)  # it has its name only once it is whole and on disk
            connection.execute(_SCHEMA)
            with connection:
                marks = ", ".join("?" * 17)
                connection.executemany(f"INSERT INTO row VALUES ({marks})", _lines(result))  # noqa: S608 - marks alone
                marks = ", ".join("?" * len(BUYER_COLUMNS))
                said = result.table.buyers[[column.name for column in BUYER_COLUMNS]].drop_duplicates("buyer")
                connection.executemany(
                    f"INSERT INTO buyer VALUES ({marks})",  # noqa: S608 - marks alone
                    (tuple(map(_text, line)) for line in said[said["buyer"] != ""].itertuples(index=False)),
                )
                having = (
                    (code, at) for code, rows in result.columns.having.items() for at in set(map(int, rows))
                )
                connection.executemany("INSERT INTO reason VALUES (?, ?)", having)
                marks = ", ".join("?" * len(PlannedCharge._fields[1:]))
                connection.executemany(f"INSERT INTO charge VALUES (NULL, {marks})", _planned(result))  # noqa: S608 - marks alone
                connection.execute(
                    "INSERT INTO plan SELECT ?, ?, count(*) FROM charge", (digest, len(result.asked))
                )
            connection.execute(_INDEXES)
        made.chmod(PRIVATE)
        sync(made)
        made.replace(path)


def _lines(result: RunResult) -> Iterator[tuple[Any, ...]]:
    told = {lang: result.rows_in(lang) for lang in LANGS}
    table, columns, frame = result.table, result.columns, result.table.frame
    everyone = np.arange(columns.size)
    cells = {str(name): shown_cells(str(name), table, everyone) for name in table.cells}
    with_reasons = set(np.concatenate([[], *columns.having.values()]).astype(np.int64).tolist())
    first, charges = columns.first.tolist(), columns.charges
    amounts = np.bincount(charges.line, charges.amount, columns.size).astype(np.int64).tolist()
    days = columns.last_day.astype("datetime64[D]").astype(str)
    days = np.where(days == "NaT", "", days).tolist()
    names = [frame[name].tolist() for name in ("file", "sheet", "row", "ticket_no", "passenger_name")]
    asked = [frame[name].astype(object).where(frame[name].notna(), "").tolist() for name in ("charge",)]
    status = columns.status.tolist()
    for at, (file, sheet, line, ticket, passenger, charge) in enumerate(zip(*names, *asked, strict=True)):
        one = int(first[at])
        said = {name: text for name, values in cells.items() if (text := _text(values[at]))}
        ticket_seen = ticket or said.get("ticket_no", "")
        numbers = "\n".join(columns.numbers[at])
        buyer = str(charges.buyer[one])
        reasons = (
            {lang: [[*_reason(reason)] for reason in rows[at].reasons] for lang, rows in told.items()}
            if at in with_reasons
            else {}
        )
        yield (
            at, file, sheet, int(line), ticket_seen, passenger, charge, str(charges.voucher[one]), buyer,
            amounts[at] or None, status[at], WORST.index(status[at]), numbers, days[at] or None,
            orjson.dumps(said).decode(), orjson.dumps(reasons).decode(),
            "\n".join((*said.values(), ticket_seen, buyer, numbers)).casefold(),
        )  # fmt: skip


def _planned(result: RunResult) -> Iterator[tuple[Any, ...]]:
    for number, request in enumerate(result.asked, 1):
        header = request.header
        for charge in request.charges:
            of = charge.identity
            yield (
                number, request.voucher, request.market, header.header_name, header.tax_no, request.amount,
                of.ticket_no, of.charge, of.product, charge.amount,
            )  # fmt: skip


def _text(cell: Any) -> str:
    """A cell's text, its line breaks as a browser has them in a field."""
    return shown(cell).strip().replace("\r\n", "\n").replace("\r", "\n")


def _reason(reason: ReasonText) -> Reason:
    return Reason(reason.code, reason.column, reason.message, reason.cure, at_fault(reason))


class RowsFile:
    """The rows of a month, to be asked; of a month that was never judged there are none."""

    def __init__(self, path: Path, lang: Lang) -> None:
        self._path = path
        self._lang = lang

    def screen(self, asked: Asked) -> Screen:
        """One screen of the rows that are asked for; a page beyond the last is the last."""
        where, given = _filter(asked)
        with self._open() as connection:
            if connection is None:
                return Screen((), 0, 1)
            counted = connection.execute(f"SELECT count(*) AS rows FROM row {where}", given)  # noqa: S608 - see _filter
            count = int(next(iter(counted))["rows"])
            pages = max(1, -(-count // PAGE))
            page = min(max(asked.page, 1), pages)
            order = SORTS.get(asked.sort, "at")
            if asked.descending:
                order = order.replace(", at", " DESC, at") if ", at" in order else f"{order} DESC"
            found = connection.execute(
                f"SELECT * FROM row {where} ORDER BY {order} LIMIT ? OFFSET ?",  # noqa: S608 - of SORTS
                (*given, PAGE, (page - 1) * PAGE),
            )
            return Screen(tuple(self._row(line) for line in found), count, pages)

    def row(self, at: int) -> Row | None:
        """One row by its place in the input."""
        with self._open() as connection:
            found = connection.execute("SELECT * FROM row WHERE at = ?", (at,)) if connection else ()
            return next((self._row(line) for line in found), None)

    def plan(self, page: int) -> PlanScreen:
        """One screen of the requests that would be sent; a page beyond the last is the last."""
        with self._open() as connection:
            if connection is None:
                return PlanScreen("", 0, 0, (), 1, 1)
            plan = next(iter(connection.execute("SELECT * FROM plan")))
            pages = max(1, -(-plan["charges"] // CHARGES))
            page = min(max(page, 1), pages)
            first = (page - 1) * CHARGES
            found = connection.execute(
                "SELECT * FROM charge WHERE id > ? AND id <= ? ORDER BY id", (first, first + CHARGES)
            )
            charges = [PlannedCharge(**line) for line in found]
            by_request = tuple(tuple(of) for _, of in groupby(charges, attrgetter("request")))
            return PlanScreen(plan["digest"], plan["requests"], plan["charges"], by_request, page, pages)

    def tickets(self, ticket_no: str) -> list[Row]:
        """The rows of one ticket."""
        with self._open() as connection:
            found = (
                connection.execute("SELECT * FROM row WHERE ticket_no = ?", (ticket_no,))
                if connection
                else ()
            )
            return [self._row(line) for line in found]

    def last_days(self, since: str) -> list[tuple[str, int, int]]:
        """(last day, rows, their money in minor units) of what can still be asked for, from that day on."""
        sql = "SELECT last_day, count(*), coalesce(sum(amount), 0) FROM row WHERE last_day >= ? GROUP BY last_day ORDER BY last_day"
        with self._open() as connection:
            found = connection.execute(sql, (since,)) if connection else ()
            return [tuple(line.values()) for line in found]

    def buyers(self) -> list[dict[str, str]]:
        """The buyers that rows may name, as the files' Buyers sheets have them, by their names."""
        with self._open() as connection:
            return [*connection.execute("SELECT * FROM buyer ORDER BY buyer")] if connection else []

    @contextlib.contextmanager
    def _open(self) -> Iterator[apsw.Connection | None]:
        try:
            connection = apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READONLY)
        except apsw.CantOpenError:
            yield None
            return
        connection.row_trace = _by_name
        with contextlib.closing(connection):
            yield connection

    def _row(self, line: Mapping[str, Any]) -> Row:
        told = orjson.loads(line["reasons"]).get(self._lang, [])
        kept = {name: line[name] for name in _AS_THEY_ARE}
        return Row(
            **kept,
            numbers=tuple(line["number"].splitlines()),
            last_day=line["last_day"] or "",
            cells=orjson.loads(line["cells"]),
            reasons=tuple(Reason(*reason) for reason in told),
        )


def _by_name(cursor: apsw.Cursor, line: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip((name for name, _ in cursor.get_description()), line, strict=True))


def _filter(asked: Asked) -> tuple[str, tuple[Any, ...]]:
    """The WHERE clause of marks alone, and what stands at them."""
    conditions, given = [], list[Any]()
    if asked.status == FAILING:
        conditions.append(f"status IN ({', '.join('?' * len(_FAILURES))})")
        given += _FAILURES
    elif asked.status in STATUS:
        conditions.append("status = ?")
        given.append(asked.status)
    if asked.day:
        conditions.append("last_day = ?")
        given.append(asked.day)
    if asked.reason:
        conditions.append("at IN (SELECT at FROM reason WHERE code = ?)")
        given.append(asked.reason)
    for word in asked.text.casefold().split():
        conditions.append("instr(search, ?) > 0")
        given.append(word)
    return (f"WHERE {' AND '.join(conditions)}" if conditions else ""), tuple(given)


def columns_of(row: Row) -> list[str]:
    """The columns that a row's page shows: those of the vocabulary that a person may have to fill in or that it has, in order."""
    return [name for name, column in COLUMN.items() if column.asked or name in row.cells]
