"""Whose voucher a row asks for: its own buyer columns, and what they leave blank.

A row's own cells win, and the buyer that the row names fills in the rest: looked up in the row's own workbook first
and then in the buyers file. A row that names nobody takes the only buyer there is (interface.md, `--buyers`);
exports give a buyer's full name only, and a row that does names the one buyer who has it. A telephone number
or an address says where a voucher goes and not whose it is, so it names nobody. A row that names one buyer and has
the name, the tax number or the type of another says two things, and takes nothing of either. In Failures the
columns were filled in for the buyer that the row names (see refilling.py): what differs there was corrected.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pipeline.columns import HEADER_FIELDS, HEADER_TYPES
from pipeline.rules.forms import is_tax_no
from pipeline.rules.written import address, half_width, one_line, same, tax_no
from pipeline.slips import no_value
from pipeline.table import FIELD, PART, Mask, Texts

_AS_SENT: dict[str, Callable[[str], str]] = {
    "header_type": str,
    "header_name": one_line,
    "tax_no": tax_no,
    "phone": half_width,
    "email": address,
}
#: What makes two buyers two, and not one buyer with two addresses.
_IDENTITY = ("header_name", "tax_no", "header_type")
_TYPES = {choice.name for choice in HEADER_TYPES}


@dataclass(frozen=True)
class Whose:
    """By row: its header fields, whether its buyer is known, whether it names none, and what contradicts it.

    `found` is the name of the buyer that it was given, "" where there is none. `differing` holds, for a row that says two things, each column with what the named buyer has and what the row
    has; "" for any other.
    """

    header: dict[str, Texts]
    known: Mask
    named_none: Mask
    found: Texts
    differing: Texts


def whose(frame: pd.DataFrame, buyers: pd.DataFrame, named: Texts, own: dict[str, Texts]) -> Whose:
    """The buyer of every row; `named` and `own` as the rows have them, `frame` for where they stand."""
    own = {name: _as_sent(own[name], _AS_SENT[name]) for name in HEADER_FIELDS}
    theirs = {
        name: np.array([*map(_AS_SENT[name], buyers[name]), ""], dtype=object) for name in HEADER_FIELDS
    }
    says_who = np.asarray((own["header_name"] != "") | (own["tax_no"] != ""), dtype=bool)
    by_full_name = np.asarray((named == "") & (own["header_name"] != ""), dtype=bool)
    at = _looked_up(frame, buyers, np.where(by_full_name, own["header_name"], named), by_full_name)
    at = np.where((named == "") & says_who & ~by_full_name, -1, at)
    differing = _differing(own, theirs, at)
    another = np.asarray(differing != "", dtype=bool)
    at = np.where(another, -1, at)
    two = another & np.asarray(named != "", dtype=bool) & np.asarray(frame["remembered"] == "", dtype=bool)
    header = {name: np.where(own[name] != "", own[name], theirs[name][at]) for name in HEADER_FIELDS}
    known = ((at >= 0) | says_who) & ~two
    found = np.array([*buyers["buyer"].where(buyers["buyer"] != "", buyers["header_name"]), ""], dtype=object)
    named_none = np.asarray((named == "") & ~known, dtype=bool)
    return Whose(header, known, named_none, found[at], np.where(two, differing, ""))


def _as_sent(values: Texts, write: Callable[[str], str]) -> Texts:
    codes, distinct = pd.factorize(values)
    return np.array([write(value) for value in distinct], dtype=object)[codes]


def _differing(own: dict[str, Texts], theirs: dict[str, Texts], at: np.ndarray) -> Texts:
    """What each row says of itself and the buyer that it was given says otherwise."""
    found = np.full(len(at), "", dtype=object)
    for name in _IDENTITY:
        given = theirs[name][at]
        told = (own[name] != "") & (given != "") & (own[name] != given)
        for row in np.flatnonzero(told).tolist():
            here, there = own[name][row], given[row]
            if _says_one(name, here, there) and same(here) != same(there):
                found[row] += (FIELD if found[row] else "") + PART.join((name, there, here))
    return found


def _says_one(column: str, here: str, there: str) -> bool:
    """Whether both are what they should be; else one is a slip, which is told as that, and not another buyer."""
    if column == "header_type":
        return there in _TYPES
    return is_tax_no(here) and is_tax_no(there) if column == "tax_no" else not no_value(there)


def _looked_up(frame: pd.DataFrame, buyers: pd.DataFrame, wanted: Texts, in_full: Mask) -> np.ndarray:
    """The position of each row's buyer, -1 where there is none."""
    keys = pd.MultiIndex.from_arrays([frame["book"], frame["file"], wanted, in_full])
    codes, distinct = pd.factorize(keys)
    by_name, only = _buyers_by_name(buyers)
    by_full_name, having = _by_full_name(buyers), set(buyers["file"])

    def find(book: str, file: str, name: str, full: bool) -> int:
        known, nearer = by_full_name if full else by_name, False
        for where in dict.fromkeys((book, file, "")):
            if name and (where, _key(name)) in known:
                return known[where, _key(name)]
            if not name and not nearer and where in only:
                return only[where]
            nearer = nearer or where in having
        return -1

    return np.array([find(*key) for key in distinct], dtype=np.int64)[codes]


def _key(name: str) -> str:
    return " ".join(one_line(name).split()).casefold()


def _buyers_by_name(buyers: pd.DataFrame) -> tuple[dict[tuple[str, str], int], dict[str, int]]:
    """Positions of buyers by file and name, and by file the only one that there is.

    A buyer that stands twice alike is one; a name that two different buyers have is nobody's.
    """
    once = buyers.assign(name=buyers["buyer"].map(_key)).drop_duplicates(["file", "name", *HEADER_FIELDS])
    by_name = _unique(once)
    only = {str(file): int(group.index[0]) for file, group in once.groupby("file") if len(group) == 1}
    return by_name, only


def _by_full_name(buyers: pd.DataFrame) -> dict[tuple[str, str], int]:
    """Positions of buyers by file and the name that stands on vouchers, of which only one buyer has it."""
    named = buyers[buyers["header_name"] != ""]
    once = named.assign(name=named["header_name"].map(_key)).drop_duplicates(["file", *HEADER_FIELDS])
    return _unique(once)


def _unique(buyers: pd.DataFrame) -> dict[tuple[str, str], int]:
    """Positions by file and name of those whose name nobody else has."""
    alone = buyers[~buyers.duplicated(["file", "name"], keep=False)]
    return {
        (file, name): int(at)
        for at, file, name in zip(alone.index, alone["file"], alone["name"], strict=True)
    }
