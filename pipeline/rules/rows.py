"""The rows as the rules see them: typed arrays, with amounts, dates and buyers resolved."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from pipeline.model.columns import HEADER_FIELDS
from pipeline.model.encoded_column import EncodedColumn, Groups, alike
from pipeline.model.message import Message
from pipeline.model.places import row_at
from pipeline.model.table import (
    Days,
    Finding,
    Indices,
    Mask,
    Money,
    Table,
    Texts,
    UnreadAmounts,
)
from pipeline.rules.buyer_lookup import DECIDING, Whose, whose
from pipeline.rules.text_as_sent import names
from pipeline.rules.wide_bills import charges_of

#: Columns of which nearly every row has a value of its own: finding the distinct ones would be all the work.
_HARDLY_TWICE = ("ticket_no", "passenger_name")


@dataclass(frozen=True)
class Rows:
    """One array a column, one element a row.

    A row here is one charge; `line` is the input row that it comes from, ascending (a wide bill has several). `ticket` is its ticket number
    as a whole number, -1 where there is none, and `same_ticket` the number of its ticket among the tickets. Texts and choices are str (""
    where blank or unreadable), `amount` int64 minor units (0 where it is not known), days datetime64[D] (NaT where not given). `voucher` is
    what a row asks for (invoice, itinerary, auto) until `auto_voucher` has decided the autos. `whose` is what was found of the buyers.
    `elsewhere` is what rows that are not here say of a ticket's status. `paid_back` is what a refund line says was paid back, below zero.
    `unread` are columns that are not read, which totals may be off by.
    `unreadable` marks, by column, cells that hold something which can't be read. `same_buyer` are the groups of rows whose cells say the
    same of their buyer, so that one of each has to be looked at. `coded_already` are the columns that `coded` need not take apart.
    """

    line: Indices
    ticket_no: Texts
    ticket: Indices
    same_ticket: Indices
    passenger_name: Texts
    charge: Texts
    product: Texts
    amount: Money
    components: Money
    market: Texts
    ticket_status: Texts
    flight_date: Days
    used_on: Days
    refund_approved_on: Days
    purchased_on: Days
    elsewhere: Texts
    voucher: Texts
    remarks: Texts
    buyer: Texts
    header_type: Texts
    header_name: Texts
    tax_no: Texts
    phone: Texts
    email: Texts
    file: Texts
    sheet: Texts
    row: Money
    whose: Whose
    given_amount: Money
    left_fee: Money
    paid_back: Money
    given_used_on: Days
    same_buyer: Groups
    unreadable: Mapping[str, Mask] = field(default_factory=dict)
    unread: tuple[UnreadAmounts, ...] = ()
    coded_already: dict[str, EncodedColumn] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.ticket_no)

    def asking(self, voucher: EncodedColumn) -> "Rows":
        """The same rows asking for these vouchers."""
        return replace(self, voucher=voucher.texts, coded_already={**self.coded_already, "voucher": voucher})

    def text(self, column: str) -> Texts:
        """A text or choice column by name."""
        found: Texts = getattr(self, column)
        return found

    def coded(self, column: str) -> EncodedColumn:
        """A text or choice column by its distinct values, which are found out once."""
        if column not in self.coded_already:
            if column in HEADER_FIELDS:
                of_group = EncodedColumn.of(self.text(column)[self.same_buyer.first])
                self.coded_already[column] = of_group.spread(self.same_buyer.group)
            else:
                self.coded_already[column] = EncodedColumn.of(self.text(column))
        return self.coded_already[column]

    def says(self, column: str, value: str) -> Mask:
        """Which rows have that value."""
        if column in _HARDLY_TWICE:
            return np.asarray(self.text(column) == value, dtype=bool)
        return self.coded(column).says(value)

    def bad(self, column: str) -> Mask:
        """Which rows hold something unreadable in that column."""
        return self.unreadable.get(column, np.zeros(len(self), dtype=bool))

    def of_tickets(self, chosen: Mask) -> Mask:
        """The rows of every ticket that a chosen row is of."""
        found = np.zeros(len(self), dtype=bool)  # by group, of which there are no more than rows
        found[self.same_ticket[chosen & (self.ticket >= 0)]] = True
        return found[self.same_ticket]

    def place(self, row: int) -> Message:
        """Where a row stands, for a message."""
        return row_at(self.file[row], self.sheet[row], self.row[row])


def _objects(values: "pd.Series[str]") -> Texts:
    """A text or categorical column as an object array of str."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        words = np.array([*values.cat.categories, ""], dtype=object)
        return words[values.cat.codes.to_numpy()]
    return values.to_numpy(dtype=object)


def _day(values: "pd.Series[pd.Timestamp]") -> Days:
    return values.to_numpy().astype("datetime64[D]")


def _unreadable(findings: tuple[Finding, ...], size: int) -> dict[str, Mask]:
    marks: dict[str, Mask] = {}
    for finding in findings:
        marks.setdefault(finding.column, np.zeros(size, dtype=bool))[finding.rows] = True
    return marks


def _buyers(frame: pd.DataFrame, buyers: pd.DataFrame) -> tuple[Groups, Whose]:
    """The rows grouped by all that decides whose voucher they ask for, and what is found of each group, by row."""
    columns = {name: _objects(frame[name]) for name in DECIDING}
    same = alike([EncodedColumn.of(texts) for texts in columns.values()])
    found = whose({name: texts[same.first] for name, texts in columns.items()}, buyers)
    return same, found.by_row(same.group)


def _ticket_numbers(texts: Texts) -> Indices:
    """Ticket numbers of 13 digits as whole numbers, -1 where there is none."""
    size, digits = 13, "".join(texts.tolist())
    blank = np.zeros(len(texts), dtype=bool)
    if len(digits) < size * len(texts):
        blank = np.asarray(texts == "", dtype=bool)
        digits = "".join(np.where(blank, "0" * size, texts).tolist())
    each = np.frombuffer(digits.encode("ascii"), dtype=np.uint8).reshape(-1, size).astype(np.int64) - ord("0")
    return np.where(blank, -1, each @ 10 ** np.arange(size - 1, -1, -1))


def _by_charge(by_row: Money | None, line: Indices) -> Money:
    return np.zeros(len(line), dtype=np.int64) if by_row is None else by_row[line]


def resolve(table: Table) -> Rows:
    """The Table's rows with everything that follows from other cells filled in."""
    charge, product = (
        EncodedColumn.of_choices(table.frame["charge"]),
        EncodedColumn.of_choices(table.frame["product"]),
    )
    unreadable = _unreadable(table.findings, len(table))
    no_product = product.says("") & ~unreadable.get("product", np.zeros(len(table), dtype=bool))
    product = product.but(no_product & (charge.says("ticket_fare") | charge.says("refund")), "flight")
    charges = charges_of(table, charge, product)
    frame = table.frame if len(charges.line) == len(table) else table.frame.iloc[charges.line]
    voucher = EncodedColumn.of_choices(frame["voucher"])
    choices = {
        "charge": charges.charge,
        "product": charges.product,
        "market": EncodedColumn.of_choices(frame["market"]),
        "ticket_status": EncodedColumn.of_choices(frame["ticket_status"]),
        "voucher": voucher.but(voucher.says(""), "auto"),
    }
    flight, used = _day(frame["flight_date"]), _day(frame["used_on"])
    ticket_no = _objects(frame["ticket_no"])
    ticket = _ticket_numbers(ticket_no)
    same_buyer, whose_voucher = _buyers(frame, table.buyers)
    texts: dict[str, Any] = {name: column.texts for name, column in choices.items()}
    return Rows(
        line=charges.line,
        ticket_no=ticket_no,
        ticket=ticket,
        same_ticket=pd.factorize(ticket)[0].astype(np.int64, copy=False),
        passenger_name=names(_objects(frame["passenger_name"])),
        amount=charges.amount,
        components=charges.parts,
        flight_date=flight,
        used_on=np.where(np.isnat(used), flight, used),
        refund_approved_on=_day(frame["refund_approved_on"]),
        purchased_on=_day(frame["purchased_on"]),
        elsewhere=_objects(frame["elsewhere"]),
        remarks=_objects(frame["remarks"]),
        **texts,
        buyer=whose_voucher.named,
        **whose_voucher.header,
        whose=whose_voucher,
        file=_objects(frame["file"]),
        sheet=_objects(frame["sheet"]),
        row=frame["row"].to_numpy(),
        given_amount=charges.given,
        left_fee=charges.left,
        paid_back=_by_charge(table.paid_back, charges.line),
        unread=tuple(replace(one, amounts=one.amounts[charges.line]) for one in table.unread),
        given_used_on=used,
        same_buyer=same_buyer,
        unreadable={column: marks[charges.line] for column, marks in unreadable.items()},
        coded_already=choices,
    )
