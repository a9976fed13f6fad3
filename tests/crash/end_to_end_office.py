"""The office of the end-to-end harness: its workbooks, its ledger and copies of it, and the real program with a clock of its own.

Every command is the real program as a process (forked; SIGKILL: `failpoint.c`, clock: `moved_clock.c`). The office's time is the carrier's, which
is right: hours and days are let pass by setting it forward. What the program's clock says may differ.
"""

import csv
import datetime
import os
import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import apsw
import openpyxl

from tests import next_version
from tests.crash.counting_carrier import KEYS, Charge
from tests.crash.end_to_end_carrier import Carrier
from tests.crash.forked import HUNG, Forks, Ran

CHINA = datetime.timezone(datetime.timedelta(hours=8))
_BEGIN = datetime.datetime(2027, 3, 1, 1, 0, tzinfo=datetime.UTC)
_BUYERS: tuple[dict[str, str], ...] = (
    {"header_type": "business", "header_name": "Acme Trading Co.", "tax_no": "91110000600037341L", "email": "a@example.com"},
    {"header_type": "individual", "header_name": "Li Na", "email": "li.na@example.com"},
    {"header_type": "individual", "header_name": "王伟", "email": "wang@example.com"},
)  # fmt: skip
_COLUMNS = (
    "ticket_no", "passenger_name", "charge", "product", "amount", "market", "ticket_status", "flight_date", "used_on",
    "refund_approved_on", "purchased_on", "voucher", "header_type", "header_name", "tax_no", "email",
)  # fmt: skip

Row = dict[str, str]


def charge_of(row: Row) -> Charge:
    """What a row asks for."""
    return row["ticket_no"], row["charge"], row["product"] or "flight"


@dataclass(frozen=True)
class Held:
    """What a ledger holds of a charge: its state and number; `elsewhere`: known from a statement alone."""

    state: str
    number: str
    elsewhere: bool = False


@dataclass(frozen=True)
class Asked:
    """A line of an Unknown sheet: what was in the attempt, and under which number it was issued when the sheet was made.

    `number` is "" where it was not issued, None where nobody could say it in one word.
    """

    request: str
    attempt: str
    charges: frozenset[Charge]
    number: str | None


@dataclass
class Office:
    """A life's office."""

    folder: Path
    forks: Forks
    carrier: Carrier
    rng: Random
    hours: float
    workbooks: list[Path] = field(default_factory=list)
    rows: dict[Path, list[Row]] = field(default_factory=dict)
    #: Result workbooks with an Unknown sheet, and what it asked.
    sheets: dict[Path, list[Asked]] = field(default_factory=dict)
    copies: list[Path] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    #: Whether the ledger that is in use may lack what was issued: one was put back, and nothing was settled since.
    put_back: bool = False
    #: Whether the program's clock was ever wrong by more than an honest clock is.
    wrong_clock: bool = False
    begun: bool = False
    #: How often somebody said of a charge by mistake that it was not issued; the numbers that somebody made up by mistake.
    mistaken: Counter[Charge] = field(default_factory=Counter)
    made_up: set[str] = field(default_factory=set)
    #: The kinds of voucher of months whose rows are alike, () where rows differ in everything.
    alike: tuple[str, ...] = ()
    #: By how many versions the program is later than today's.
    versions_later: int = 0
    #: A second place for notes of the last run, on another disk.
    second: Path | None = None
    #: How the carrier's statements show what was taken back: by an amount below zero, by a word, or not at all.
    red_style: str = "amount"
    shows_amounts: bool = True
    _ahead: datetime.timedelta = datetime.timedelta()
    _count: int = 0

    def __post_init__(self) -> None:
        self.desk = self.folder / "desk"
        self.home = self.folder / "home"
        for path in (self.desk / "books", self.home, self.folder / "copies", self.folder / "answers"):
            path.mkdir(parents=True)
        self.ledger = self.desk / "books" / "o.ledger"
        self._ahead = _BEGIN - datetime.datetime.now(datetime.UTC)
        self.start = self.now()
        self.carrier.begin(Random(self.rng.random()), self.now, self._amount_of)
        self.red_style = self.rng.choice(("amount", "status", "kind", "not at all"))
        self.shows_amounts = self.rng.random() < 0.5
        if self.rng.random() < 0.3:
            self.second = self.folder / "second-disk"
            self.second.mkdir()

    # -- time

    def now(self) -> datetime.datetime:
        """The right time."""
        return datetime.datetime.now(datetime.UTC) + self._ahead

    def wait(self, hours: float) -> None:
        """Let hours pass."""
        self._ahead += datetime.timedelta(hours=hours)
        self.done.append(f"{hours:.1f} hours pass")

    def day(self, back: int = 0) -> datetime.date:
        """The carrier's day, so many days ago."""
        return (self.now().astimezone(CHINA) - datetime.timedelta(days=back)).date()

    # -- workbooks

    def add_workbook(self, rows: list[Row]) -> Path:
        """A workbook comes from somebody."""
        suffix = self.rng.choice((".xlsx", ".csv"))
        path = self.desk / f"month-{len(self.workbooks)}{suffix}"
        self.workbooks.append(path)
        self.write(path, rows)
        return path

    def write(self, path: Path, rows: list[Row]) -> None:
        """Write a workbook, or write it anew."""
        self.rows[path] = rows
        if path.suffix == ".csv":
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, _COLUMNS, restval="")
                writer.writeheader()
                writer.writerows(rows)
        else:
            book = openpyxl.Workbook()
            sheet = book.worksheets[0]
            sheet.append(list(_COLUMNS))
            for row in rows:
                sheet.append([row.get(name, "") for name in _COLUMNS])
            book.save(path)
        self.touch(path)

    def touch(self, path: Path, then: datetime.datetime | None = None) -> None:
        """A file was written then; five minutes ago unless it is said."""
        moment = (then or self.now() - datetime.timedelta(minutes=5)).timestamp()
        os.utime(path, (moment, moment))

    def month(self, count: int) -> list[Row]:
        """Random rows: all kinds of charges, both markets, several buyers, some not eligible yet, some twice."""
        rows = [self._row() for _ in range(count)]
        rows += [dict(self.rng.choice(rows)) for _ in range(self.rng.choice((0, 0, 1, 2)))]
        self.rng.shuffle(rows)
        return rows

    def _amount_of(self, charge: Charge) -> str:
        return next(
            (row["amount"] for rows in self.rows.values() for row in rows if charge_of(row) == charge), ""
        )

    def _row(self) -> Row:
        rng = self.rng
        self._count += 1
        ago = self.start.date() - datetime.timedelta(days=rng.randrange(20, 90))
        row = {
            "ticket_no": f"999{rng.randrange(10**6):06}{self._count:04}", "passenger_name": "ZHANG/WEI MR",
            "charge": "ticket_fare", "product": "", "amount": f"{rng.randrange(100, 4000)}.{rng.randrange(100):02}",
            "market": rng.choice(("domestic", "domestic", "international")), "ticket_status": "used",
            "flight_date": str(ago), "voucher": rng.choice(("invoice", "itinerary", "itinerary", "auto")),
        }  # fmt: skip
        if self.alike:
            return row | {"market": "domestic", "voucher": rng.choice(self.alike)} | _BUYERS[1]
        kind = rng.random()
        if kind < 0.15:
            row |= {"charge": "ancillary", "product": rng.choice(("baggage", "seat")), "voucher": "invoice"}
            row |= {"purchased_on": str(ago)}
        elif kind < 0.3:
            row |= {"charge": "refund", "ticket_status": "refunded", "voucher": "invoice"}
            row |= {"refund_approved_on": str(ago)}
        elif kind < 0.38:
            row |= {"ticket_status": "open"}
        elif kind < 0.42:
            row |= {"passenger_name": ""}
        return row | rng.choice(_BUYERS)

    # -- the program

    def voucher(self, *arguments: str | Path, error: float = 0, kill_at: int = 0, faults: Mapping[str, float] | None = None,
                only: str = "", concurrency: int = 1, in_traffic: bool = False, log: Path | None = None,
                environment: Mapping[str, str] | None = None) -> Ran:  # fmt: skip
        """Run a command to its end, or until it is killed; `error`: seconds by which its clock is ahead.

        `kill_at`: before which system call it is killed, of all that matter or (`in_traffic`) of those on sockets.
        """
        profile = self.desk / "carrier.toml"
        profile.write_text(self.carrier.profile(concurrency, self.hours))
        self.carrier.next_run(faults or {}, only, one_at_a_time=concurrency == 1)
        given = {
            "HOME": str(self.home), "XDG_DATA_HOME": "", "XDG_STATE_HOME": "", "XDG_CACHE_HOME": "", "LANG": "C.UTF-8", **KEYS,
            "VOUCHER_PROFILE": str(profile), "VOUCHER_LEDGER": str(self.ledger), "VOUCHER_WITNESS": str(self.second or ""),
            next_version.LATER: str(self.versions_later),
            "MOVED_CLOCK": str(round(self._ahead.total_seconds() + error)), "FAILPOINT_FOLDER": str(self.folder),
            "FAILPOINT_AT": str(kill_at), "FAILPOINT_WHAT": "kill", "FAILPOINT_ONLY": "traffic" if in_traffic else "", "FAILPOINT_LOG": str(log or ""),
        }  # fmt: skip
        ran = self.forks.run(self.desk, list(map(str, arguments)), {**given, **(environment or {})})
        self.carrier.settled()
        told = " ".join(str(part).replace(str(self.folder), "") for part in arguments)
        how = f", clock {error / 3600:+.1f} h" if error else ""
        self.done.append(
            f"voucher {told} ({concurrency} at a time{how}): {ran.code} {ran.err[-300:].strip()!r}"
        )
        if ran.code == HUNG or re.search("defect of the program|what would break its rules", ran.err):
            raise AssertionError(f"the program hung, or has a defect: {ran.err[-3000:]}")
        self._note_sheets()
        return ran

    def _note_sheets(self) -> None:
        """Keep what new Unknown sheets ask, and what is the truth of it now."""
        for path in sorted([*self.desk.rglob("*.xlsx"), *self.folder.glob("copies/*.reconciliation*.xlsx")]):
            if (
                path in self.sheets
                or path.parent.name == "in"
                or not re.search(r"result|reconcil", path.name)
            ):
                continue
            book = openpyxl.load_workbook(path, read_only=True)
            self.sheets[path] = []
            if "Unknown" in book.sheetnames and self.ledger.exists():
                rows = [
                    [str(cell or "") for cell in row] for row in book["Unknown"].iter_rows(values_only=True)
                ]
                at = {name: index for index, name in enumerate(rows[0])} if rows else {}
                of = _attempts(self.ledger) if rows[1:] else {}
                for row in rows[1:]:
                    key = row[at["request"]], row[at["attempt"]]
                    charges = of.get(key, frozenset())
                    self.sheets[path].append(Asked(*key, charges, self._truth(charges)))
            book.close()
        self.sheets = {path: asked for path, asked in self.sheets.items() if path.exists()}

    def _truth(self, charges: frozenset[Charge]) -> str | None:
        """The number of the voucher of these charges, "" where there is none.

        None where another voucher has some of them that the ledger knows from no statement: who is told "not issued" would ask for them.
        """
        vouchers = self.carrier.vouchers
        same = [one.number for one in vouchers if one.charges == charges and not one.reversed]
        if len(same) == 1:
            return same[0]
        others = [one for one in vouchers if one.counting & charges]
        shown = (
            {number for (number,) in _rows(self.ledger, "SELECT number FROM elsewhere WHERE live = 1")}
            if others
            else set()
        )
        plain = charges and all(one.number in shown and one.charges != charges for one in others)
        return "" if plain else None

    # -- the ledger

    def held(self) -> dict[Charge, Held]:
        """What the ledger holds of every charge that may not be sent again."""
        found: dict[Charge, Held] = {}
        for ticket, charge, product, number in _rows(
            self.ledger, "SELECT ticket_no, charge, product, number FROM elsewhere"
        ):
            found[ticket, charge, product or "flight"] = Held("issued", number, elsewhere=True)
        for ticket, charge, product, state, number in _rows(
            self.ledger,
            "SELECT ticket_no, charge.charge, product, state, number FROM charge JOIN attempt USING (attempt_id) WHERE live = 1",
        ):
            found[ticket, charge, product] = Held(state, number)
        return found

    def has_gap(self) -> bool:
        """Whether it is known to lack something."""
        return bool(_rows(self.ledger, "SELECT since FROM gap WHERE closed_at IS NULL"))

    def lacks(self, *, mistakes: bool = True) -> list[str]:
        """What the carrier issued and the ledger holds nothing of; without `mistakes`, but for what somebody was mistaken about."""
        held = self.held()
        return [
            f"{charge} was issued as {voucher.number}, and the ledger holds nothing of it"
            for voucher in self.carrier.vouchers
            for charge in sorted(voucher.counting)
            if not _holding(held, charge) and (mistakes or not self.mistaken[charge])
        ]

    def unknown(self) -> int:
        """How many outcomes are unknown."""
        return len(_rows(self.ledger, "SELECT 1 FROM attempt WHERE state IN ('unknown', 'sending')"))

    def unsettled(self) -> dict[tuple[str, str], str]:
        """The unknown attempts that were issued, by the carrier's books, each with its number."""
        unknown = set(_rows(self.ledger, "SELECT request_id, attempt FROM attempt WHERE state = 'unknown'"))
        of = _attempts(self.ledger)
        keys = [(request, str(attempt)) for request, attempt in sorted(unknown)]
        return {key: number for key in keys if (number := self._truth(of[key]))}

    def wrongly_settled(self) -> list[tuple[str, frozenset[Charge]]]:
        """(entry, charges) of every settlement that says what the carrier's books do not."""
        found = []
        held = {one.number for one in self.held().values() if not one.elsewhere}
        of = _attempts(self.ledger)
        for settlement, request, attempt, state, number in _rows(
            self.ledger,
            "SELECT settlement, request_id, attempt, settlement.state, settlement.number FROM settlement JOIN attempt"
            " USING (attempt_id) WHERE withdrawn = 0 ORDER BY settlement",
        ):
            charges = of[request, str(attempt)]
            numbers = {one.number for one in self.carrier.vouchers if one.charges == charges}
            counting = {
                one.number for one in self.carrier.vouchers if one.counting and one.charges == charges
            }
            mistaken = any(self.mistaken[charge] for charge in charges) and counting - held
            if (state == "issued" and number not in numbers) or (state == "not_sent" and mistaken):
                found.append((f"S{settlement}", charges))
        return found

    def last_entry(self) -> datetime.datetime | None:
        """The last time that the ledger has written down."""
        sql = "SELECT max(coalesce(ended_at, started_at)) FROM run UNION ALL SELECT max(coalesce(ended_at, sending_at)) FROM attempt"
        times = [text for (text,) in _rows(self.ledger, sql) if text]
        return datetime.datetime.fromisoformat(max(times)) if times else None


def _holding(held: Mapping[Charge, Held], charge: Charge) -> Held | None:
    ticket, kind, _ = charge
    return held.get(charge) or (held.get((ticket, kind, "flight")) if kind == "ancillary" else None)


def _attempts(ledger: Path) -> dict[tuple[str, str], frozenset[Charge]]:
    found: dict[tuple[str, str], set[Charge]] = {}
    sql = "SELECT request_id, attempt, ticket_no, charge.charge, product FROM charge JOIN attempt USING (attempt_id)"
    for request, attempt, ticket, charge, product in _rows(ledger, sql):
        found.setdefault((request, str(attempt)), set()).add((ticket, charge, product))
    return {key: frozenset(charges) for key, charges in found.items()}


def _rows(ledger: Path, sql: str) -> list[tuple[str, ...]]:
    """What a copy of the ledger says, -wal and all: looking at it leaves the ledger as it is."""
    if not ledger.exists():
        return []
    copy = ledger.parent.parent.parent / "looked-at"
    for end in ("", "-wal", "-shm"):
        copy.with_name(copy.name + end).unlink(missing_ok=True)
        if ledger.with_name(ledger.name + end).exists() and end != "-shm":
            shutil.copyfile(ledger.with_name(ledger.name + end), copy.with_name(copy.name + end))
    connection = apsw.Connection(str(copy))
    try:
        return list(connection.execute(sql))
    finally:
        connection.close()


def listed(paths: Sequence[Path]) -> str:
    """Names of files, for what is told."""
    return ", ".join(path.name for path in paths)
