"""The rows as the rules see them: typed arrays, with amounts, dates and buyers resolved."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from pipeline.columns import HEADER_FIELDS
from pipeline.rules.bills import charges_of
from pipeline.table import Days, Finding, Indices, Mask, Money, Table, Texts, among


@dataclass(frozen=True)
class Rows:
    """One array a column, one element a row.

    A row here is one charge; `line` is the input row that it comes from, ascending (a wide bill has
    several). Texts and choices are str ("" where blank or unreadable), `amount` int64 minor units (0 where it is
    not known), days datetime64[D] (NaT where not given). `voucher` is what a row asks for (invoice,
    itinerary, auto) until `judging` has chosen for the autos. `unreadable` marks, by column, cells
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
    given_amount: Money
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
        names = np.array([*values.cat.categories, ""], dtype=object)
        return names[values.cat.codes.to_numpy()]
    return values.to_numpy(dtype=object)


def _day(values: "pd.Series[pd.Timestamp]") -> Days:
    return values.to_numpy().astype("datetime64[D]")


def _unreadable(findings: tuple[Finding, ...], size: int) -> dict[str, Mask]:
    marks: dict[str, Mask] = {}
    for finding in findings:
        marks.setdefault(finding.column, np.zeros(size, dtype=bool))[finding.rows] = True
    return marks


def _buyers(frame: pd.DataFrame, buyers: pd.DataFrame, named: Texts) -> tuple[dict[str, Texts], Mask, Mask]:
    """Header fields by row, which rows have a known buyer, and which name none at all.

    A row's own header cells win; what they leave blank comes from the buyer that it names, looked up
    in its own workbook first and then in the buyers file; a row that names nobody takes the only buyer
    there is (interface.md, `--buyers`). Exports give a buyer's full name only: a row that does names the
    one buyer who has it.
    """
    own = {name: _objects(frame[name]) for name in HEADER_FIELDS}
    has_own = np.any([own[name] != "" for name in HEADER_FIELDS], axis=0)
    by_name, only = _buyers_by_name(buyers)
    in_full = _by_full_name(buyers)
    by_full_name = (named == "") & (own["header_name"] != "")
    keys = pd.MultiIndex.from_arrays(
        [frame["file"], np.where(by_full_name, own["header_name"], named), by_full_name]
    )
    codes, distinct = pd.factorize(keys)

    def find(file: str, name: str, full: bool) -> int:
        known = in_full if full else by_name
        for where in (file, ""):
            if name:
                if (where, name.casefold()) in known:
                    return known[where, name.casefold()]
            elif where in only and (where or not any(buyers["file"] == file)):
                return int(only[where])
        return -1

    at = np.array([find(*key) for key in distinct], dtype=np.int64)[codes]
    at = np.where((named == "") & has_own & ~by_full_name, -1, at)
    fields_of = {
        name: np.where(own[name] != "", own[name], np.append(buyers[name].to_numpy(dtype=object), "")[at])
        for name in HEADER_FIELDS
    }
    known = (at >= 0) | has_own
    return fields_of, known, (named == "") & ~known


def _buyers_by_name(buyers: pd.DataFrame) -> tuple[dict[tuple[str, str], int], dict[str, int]]:
    """Positions of buyers by file and name, and by file the only one that there is.

    A buyer that stands twice alike is one; a name that two different buyers have is nobody's.
    """
    once = buyers.assign(name=buyers["buyer"].str.casefold()).drop_duplicates(
        ["file", "name", *HEADER_FIELDS]
    )
    by_name = _unique(once)
    only = {str(file): int(group.index[0]) for file, group in once.groupby("file") if len(group) == 1}
    return by_name, only


def _by_full_name(buyers: pd.DataFrame) -> dict[tuple[str, str], int]:
    """Positions of buyers by file and the name that stands on vouchers, of which only one buyer has it."""
    named = buyers[buyers["header_name"] != ""]
    once = named.assign(name=named["header_name"].str.casefold()).drop_duplicates(["file", *HEADER_FIELDS])
    return _unique(once)


def _unique(buyers: pd.DataFrame) -> dict[tuple[str, str], int]:
    """Positions by file and name of those whose name nobody else has."""
    alone = buyers[~buyers.duplicated(["file", "name"], keep=False)]
    return {
        (file, name): int(at)
        for at, file, name in zip(alone.index, alone["file"], alone["name"], strict=True)
    }


def _tax_no(values: Texts) -> Texts:
    """Tax numbers in capitals without the spaces that people group them by."""
    codes, distinct = pd.factorize(values)
    return np.array(["".join(value.split()).upper() for value in distinct], dtype=object)[codes]


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
    buyer = _objects(frame["buyer"])
    header, known, none = _buyers(frame, table.buyers, buyer)
    return Rows(
        line=charges.line,
        ticket_no=_objects(frame["ticket_no"]),
        passenger_name=_objects(frame["passenger_name"]),
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
        header_type=header["header_type"],
        header_name=header["header_name"],
        tax_no=_tax_no(header["tax_no"]),
        phone=header["phone"],
        email=header["email"],
        file=_objects(frame["file"]),
        sheet=_objects(frame["sheet"]),
        row=frame["row"].to_numpy(),
        known_buyer=known,
        named_no_buyer=none,
        given_amount=charges.given,
        given_used_on=used,
        unreadable={column: marks[charges.line] for column, marks in unreadable.items()},
    )
