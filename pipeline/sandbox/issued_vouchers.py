"""What the carrier has issued: its memory, and the statement that it keeps of it.

The statement is a CSV file, one line for each charge of a voucher, written and synced before the
answer leaves. A carrier that is started again on the same statement remembers what stands in it,
and only ever appends: one running carrier to a statement.

A voucher that is reversed has a red line for each of its charges, with a number of its own, the amount below zero, and the
number that it reverses in the last column, which statements of earlier sandboxes lack. Its charges may be issued again.
"""

import csv
import io
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from pipeline.model.columns import CHARGES, PRODUCTS
from pipeline.model.errors import InputProblem
from pipeline.model.message import system_error
from pipeline.model.money import money_text
from pipeline.sandbox.sold_tickets import Charge, ChargeKey, plain_ticket_no

Voucher = Literal["invoice", "itinerary"]

HEADER = (
    "voucher",
    "number",
    "ticket_no",
    "charge",
    "amount",
    "issued_at",
    "product",
    "buyer",
    "original_number",
)

#: Charges that go on one kind of voucher for a whole ticket. Source: carrier-interface.md, "Issue
#: invoice" rule 2: "a ticket fare charge or refund charge for a ticket".
FARE_AND_REFUND = frozenset({"ticket_fare", "refund"})

_VOUCHERS: dict[str, Voucher] = {"invoice": "invoice", "itinerary": "itinerary"}
_CHARGE_NAMES = frozenset(choice.name for choice in CHARGES)
_PRODUCT_NAMES = frozenset(choice.name for choice in PRODUCTS)
_OWNER_ONLY = 0o600  # the statement names buyers
_BUYER_MAX = 200  # characters


class Issued:
    """The vouchers issued so far. Use it as a context manager: it holds the statement open."""

    def __init__(self, statement: Path | None, now: Callable[[], datetime]) -> None:
        self._now = now
        self._charges: set[ChargeKey] = set()
        self._tickets: dict[str, Voucher] = {}
        self._numbers: set[str] = set()
        self._lines: dict[str, list[tuple[str, ...]]] = {}  # of each voucher that stands
        self._columns: tuple[str, ...] = HEADER
        self._serial = 0
        self._file: int | None = None
        if statement is not None:
            for line in _opening_lines(statement):
                self._remember(line)
                self._columns = HEADER[: len(line)]
            self._file = _open(statement)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def holds(self, key: ChargeKey) -> bool:
        """Whether the charge was issued, on any voucher."""
        return key in self._charges

    def voucher_of_ticket(self, ticket_no: str) -> Voucher | None:
        """Tell the kind of voucher that the ticket's fare or refund went on, if one of them did."""
        return self._tickets.get(ticket_no)

    def issue(self, voucher: Voucher, charges: Sequence[Charge], buyer: str) -> str:
        """Issue one voucher for the charges and return its number.

        What can't be written is not issued: an OSError leaves statement and memory as they were.
        """
        number = self._new_number(voucher)
        self._write([*_lines(voucher, number, charges, self._now(), buyer)])
        return number

    def reverse(self, number: str) -> str:
        """Reverse a voucher that stands, so that its charges may be issued again; the number of the red one.

        Raises KeyError where none of that number stands, OSError, with nothing changed, where it can't be written.
        """
        if len(self._columns) < len(HEADER):
            raise OSError("a statement without the column original_number has no reversals")
        lines = self._lines[number]
        red, now = self._new_number(_VOUCHERS[lines[0][0]]), self._now().isoformat(timespec="seconds")
        self._write([(line[0], red, *line[2:4], f"-{line[4]}", now, *line[6:8], number) for line in lines])
        return red

    def _write(self, lines: Sequence[tuple[str, ...]]) -> None:
        lines = [line[: len(self._columns)] for line in lines]
        if self._file is not None:
            _append(self._file, _csv(lines))
        for line in lines:
            self._remember(line)

    def _remember(self, line: tuple[str, ...]) -> None:
        voucher, number, _, charge = line[:4]
        key = ChargeKey(plain_ticket_no(line[2]) or "", charge, line[6])
        self._numbers.add(number)
        if original := "".join(line[8:]):
            self._charges.discard(key)
            self._lines.pop(original, None)
            others = (other for other in self._charges if other.ticket_no == key.ticket_no)
            if not any(other.charge in FARE_AND_REFUND for other in others):
                self._tickets.pop(key.ticket_no, None)
            return
        self._charges.add(key)
        self._lines.setdefault(number, []).append(line)
        if key.charge in FARE_AND_REFUND:
            self._tickets[key.ticket_no] = _VOUCHERS[voucher]

    def _new_number(self, voucher: Voucher) -> str:
        """Make a number never given before, by this carrier or by one started earlier.

        Its length is the shape observed: 18 digits (Invoice result), 20 digits (Itinerary result).
        """
        while True:
            # Tens of nanoseconds since 1970 have 18 digits until 2286.
            self._serial = max(self._serial + 1, time.time_ns() // 10)
            number = f"{self._serial:018d}" if voucher == "invoice" else f"20{self._serial:018d}"
            if number not in self._numbers:
                return number


def _open(statement: Path) -> int:
    try:
        file = os.open(statement, os.O_RDWR | os.O_APPEND | os.O_CREAT, _OWNER_ONLY)
    except OSError as error:
        raise InputProblem(
            "{file}: can't be written ({problem}): choose another path",
            file=str(statement),
            problem=system_error(error),
        ) from None
    try:
        if not os.fstat(file).st_size:
            _append(file, _csv([HEADER]))
    except OSError as error:
        os.close(file)
        raise InputProblem(
            "{file}: can't be written ({problem}): make room for it",
            file=str(statement),
            problem=system_error(error),
        ) from None
    return file


def _append(file: int, encoded: bytes) -> None:
    """Append all of it and sync, or take back what was written and raise."""
    size = os.fstat(file).st_size
    try:
        rest = memoryview(encoded)
        while rest:
            rest = rest[os.write(file, rest) :]
        os.fsync(file)
    except OSError:
        # A line cut short by a full disk would spoil the one that is written next.
        os.ftruncate(file, size)
        raise


def _lines(
    voucher: Voucher, number: str, charges: Sequence[Charge], now: datetime, buyer: str
) -> Iterator[tuple[str, ...]]:
    issued_at = now.isoformat(timespec="seconds")
    # One charge, one line, whatever stands in the name.
    buyer = " ".join(buyer.split())[:_BUYER_MAX]
    for charge in charges:
        ticket_no, name, product = charge.key
        yield (voucher, number, ticket_no, name, money_text(charge.amount), issued_at, product, buyer, "")


def _csv(lines: Iterable[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue().encode("utf-8")


def _opening_lines(statement: Path) -> Iterator[tuple[str, ...]]:
    """Read what stands in the statement of an earlier run, if there is one."""
    if not statement.exists():
        return
    if not statement.is_file():
        raise InputProblem("{file}: is not a file: choose another path", file=str(statement))
    try:
        text = statement.read_bytes().decode("utf-8")
    except OSError as error:
        raise InputProblem(
            "{file}: can't be read ({problem}): choose another path",
            file=str(statement),
            problem=system_error(error),
        ) from None
    except UnicodeDecodeError:
        raise InputProblem(
            "{file}: is not UTF-8 text: name a statement of this sandbox", file=str(statement)
        ) from None
    if not text:
        return
    if not text.endswith("\n"):
        raise InputProblem(
            "{file}: its last line is cut short: complete or delete that line", file=str(statement)
        )
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        header = tuple(next(reader, ()))
        if header not in (HEADER, HEADER[:-1]):
            raise InputProblem(
                "{file}: line 1 is not {header}: name a statement of this sandbox",
                file=str(statement),
                header=",".join(HEADER),
            )
        for line in reader:
            yield _known_line(line, len(header))
    except (csv.Error, ValueError):
        raise InputProblem(
            "{file}: line {line} is not one that the sandbox writes: correct or delete it",
            file=str(statement),
            line=reader.line_num,
        ) from None


def _known_line(line: Sequence[str], columns: int) -> tuple[str, ...]:
    """Read one line of the statement. Raises ValueError if it is not one."""
    voucher, number, ticket, charge, _, _, product, *_ = line
    if (
        len(line) == columns
        and voucher in _VOUCHERS
        and number
        and plain_ticket_no(ticket)
        and charge in _CHARGE_NAMES
        and product in _PRODUCT_NAMES
    ):
        return tuple(line)
    raise ValueError
