"""The rows as the rules see them: typed arrays, with amounts, dates and buyers resolved."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from pipeline.columns import HEADER_FIELDS
from pipeline.rules.bills import charges_of
from pipeline.rules.whose import whose
from pipeline.rules.written import names
from pipeline.table import Days, Finding, Indices, Mask, Money, Table, Texts, among


@dataclass(frozen=True)
class Rows:
    """One array a column, one element a row.

    A row here is one charge; `line` is the input row that it comes from, ascending (a wide bill has
    several). Texts and choices are str ("" where blank or unreadable), `amount` int64 minor units (0 where it is
    not known), days datetime64[D] (NaT where not given). `voucher` is what a row asks for (invoice,
    itinerary, auto) until `judging` has chosen for the autos. `found_buyer` is the buyer
    of the Buyers sheet that the row was given; `two_buyers` says how a row contradicts the
    buyer that it names (whose.Whose.differing). `unreadable` marks, by column, cells
    that hold something which can't be read.
    """

    line: Indices
    ticket_no: Texts
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
    known_buyer: Mask
    named_no_buyer: Mask
    found_buyer: Texts
    two_buyers: Texts
    given_amount: Money
    left_fee: Money
    given_used_on: Days
    unreadable: Mapping[str, Mask] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ticket_no)

    def text(self, column: str) -> Texts:
        """A text or choice column by name."""
        found: Texts = getattr(self, column)
        return found

    def bad(self, column: str) -> Mask:
        """Which rows hold something unreadable in that column."""
        return self.unreadable.get(column, np.zeros(len(self), dtype=bool))

    def place(self, row: int) -> str:
        """Where a row stands, for a message."""
        return f"{self.file[row]}, {self.sheet[row]}, row {self.row[row]}"


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


def resolve(table: Table) -> Rows:
    """The Table's rows with everything that follows from other cells filled in."""
    charge, product = _objects(table.frame["charge"]), _objects(table.frame["product"])
    unreadable = _unreadable(table.findings, len(table))
    blank_product = (product == "") & ~unreadable.get("product", np.zeros(len(table), dtype=bool))
    product = np.where(blank_product & among(charge, ["ticket_fare", "refund"]), "flight", product)
    charges = charges_of(table, charge, product)
    frame = table.frame if len(charges.line) == len(table) else table.frame.iloc[charges.line]
    voucher = _objects(frame["voucher"])
    flight, used = _day(frame["flight_date"]), _day(frame["used_on"])
    buyer = names(_objects(frame["buyer"]))
    own = {name: _objects(frame[name]) for name in HEADER_FIELDS}
    found = whose(frame, table.buyers, buyer, own)
    return Rows(
        line=charges.line,
        ticket_no=_objects(frame["ticket_no"]),
        passenger_name=names(_objects(frame["passenger_name"])),
        charge=charges.charge,
        product=charges.product,
        amount=charges.amount,
        components=charges.parts,
        market=_objects(frame["market"]),
        ticket_status=_objects(frame["ticket_status"]),
        flight_date=flight,
        used_on=np.where(np.isnat(used), flight, used),
        refund_approved_on=_day(frame["refund_approved_on"]),
        purchased_on=_day(frame["purchased_on"]),
        voucher=np.where(voucher == "", "auto", voucher),
        remarks=_objects(frame["remarks"]),
        buyer=buyer,
        **found.header,
        file=_objects(frame["file"]),
        sheet=_objects(frame["sheet"]),
        row=frame["row"].to_numpy(),
        known_buyer=found.known,
        named_no_buyer=found.named_none,
        found_buyer=found.found,
        two_buyers=found.differing,
        given_amount=charges.given,
        left_fee=charges.left,
        given_used_on=used,
        unreadable={column: marks[charges.line] for column, marks in unreadable.items()},
    )
