"""Whose voucher a row asks for: its own buyer columns, and what they leave blank.

A row's own cells win, which is told where the Buyers sheet says otherwise, and the buyer that the row names fills in the rest: looked up in
the row's own workbook first and then in the buyers file. A row that somebody added to an earlier result is that result's own, and means the
buyers of every workbook behind it: those are on its sheet Buyers. A row that names nobody takes the only buyer there is (interface.md,
`--buyers`); exports give a buyer's full name only, and a row that does names the one buyer who has it. A telephone number or an address
says where a voucher goes and not whose it is, so it names nobody. A row that names one buyer and has the name, the tax number or the type
of another says two things, and takes nothing of either. In Failures the columns were filled in for the buyer that the row names (see
model/buyer_source.py): what was left as it was filled in is taken from that buyer again, so that a buyer who is corrected on Buyers is so
for all rows; what differs was corrected.

Names are compared whatever their case, width, brackets and spaces, as people type them. So two buyers whose names differ in nothing else
have one name, and a row that names it says neither, not even where it has one's very letters: which buyer is meant would hang on a space. A
name that is not known, and close to exactly one that is, may be a slip: it is suggested and never taken, since a voucher in another buyer's
name is a legal document, too.
"""

import difflib
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pipeline.model.buyer_source import BEHIND, ENTERED, Source
from pipeline.model.columns import HEADER_FIELDS, HEADER_TYPES
from pipeline.model.error_cells import no_value
from pipeline.model.message import Message, Private, Term, joined, message, terms
from pipeline.model.places import row_at
from pipeline.model.table import (
    BUYER_PLACE,
    Indices,
    Mask,
    Texts,
)
from pipeline.rules.buyer_formats import is_tax_no
from pipeline.rules.text_as_sent import (
    UNSEEN,
    address,
    half_width,
    names,
    one_line,
    tax_no,
)

_AS_SENT: dict[str, Callable[[str], str]] = {
    "header_type": str,
    "header_name": one_line,
    "tax_no": tax_no,
    "phone": half_width,
    "email": address,
}
#: The columns that decide whose voucher a row asks for.
DECIDING = ("book", "remembered", "buyer", *HEADER_FIELDS)
#: What makes two buyers two, and not one buyer with two addresses.
_IDENTITY = ("header_name", "tax_no", "header_type")
_TYPES = {choice.name for choice in HEADER_TYPES}
_MOST_NAMED = 3  # of buyers of one name
_MOST_SUGGESTED = 100  # distinct names of a job: each is compared with every buyer's
#: Where a buyer is looked up: in a file, or as one of a workbook or of the workbooks behind it.
_IN, _OF = "in", "of"
_Place = tuple[str, str]


@dataclass(frozen=True)
class Whose:
    """By row: the buyer it names, its header fields, whether its buyer is known, whether it names none, and what contradicts it.

    `found` is the name of the buyer that it was given, "" where there is none, and `at` its position among the buyers, -1 where there is
    none; `own_instead` are the columns in which the row's own cells were taken instead of that buyer's. `differing` says of a row that says
    two things what the named buyer has and what the row has (a fact of its finding); "" for any other. `near` is the one known name that an
    unknown one is close to, or ""; `alike` says of a name that several have, where they stand and in what they differ (a fact of its
    finding).
    """

    named: Texts
    header: dict[str, Texts]
    known: Mask
    named_none: Mask
    found: Texts
    differing: Texts
    near: Texts
    alike: Texts
    at: Indices
    own_instead: Texts

    def by_row(self, group: Indices) -> "Whose":
        """What was found of groups of rows, by row; `group` is each row's."""
        header = {name: values[group] for name, values in self.header.items()}
        found = {name: values[group] for name, values in vars(self).items() if name != "header"}
        return Whose(header=header, **found)


def whose(rows: Mapping[str, Texts], buyers: pd.DataFrame) -> Whose:
    """The buyer of every row; `rows` are their deciding columns, as they were read."""
    named = names(rows["buyer"])
    all_own = {name: _as_sent(rows[name], _AS_SENT[name]) for name in HEADER_FIELDS}
    own = _without_filled(all_own, rows["remembered"])
    theirs = {
        name: np.array([*map(_AS_SENT[name], buyers[name]), ""], dtype=object) for name in HEADER_FIELDS
    }
    says_who = np.asarray((own["header_name"] != "") | (own["tax_no"] != ""), dtype=bool)
    by_full_name = np.asarray((named == "") & (own["header_name"] != ""), dtype=bool)
    at = _looked_up(rows, buyers, np.where(by_full_name, own["header_name"], named), by_full_name)
    at = np.where((named == "") & says_who & ~by_full_name, -1, at)
    # Of a buyer who is nowhere any more, what was filled in is all that there is.
    own = {name: np.where(at < 0, all_own[name], values) for name, values in own.items()}
    says_who = np.asarray((own["header_name"] != "") | (own["tax_no"] != ""), dtype=bool)
    differing = _differing(own, theirs, at)
    another = np.asarray((differing != "") & (rows["remembered"] == ""), dtype=bool)
    at = np.where(another, -1, at)
    two = another & np.asarray(named != "", dtype=bool)
    header = {name: np.where(own[name] != "", own[name], theirs[name][at]) for name in HEADER_FIELDS}
    known = ((at >= 0) | says_who) & ~two
    found = np.array([*buyers["buyer"].where(buyers["buyer"] != "", buyers["header_name"]), ""], dtype=object)
    named_none = np.asarray((named == "") & ~known, dtype=bool)
    # In a row of Failures the cells were filled in for its buyer: what differs there was corrected.
    instead = np.where(rows["remembered"] == "", _instead(own, theirs, at), "")
    near, alike = _near(rows, named, buyers, np.flatnonzero(~known & ~named_none & ~two))
    differing = np.where(two, differing, "")
    return Whose(named, header, known, named_none, found[at], differing, near, alike, at, instead)


def _without_filled(own: dict[str, Texts], remembered: Texts) -> dict[str, Texts]:
    """What rows say themselves, without what a result filled in for them and nobody changed."""
    found = {name: values.copy() for name, values in own.items()}
    for row in np.flatnonzero(remembered != "").tolist():
        source = Source.read(remembered[row])
        for name, filled in zip(HEADER_FIELDS, source.filled, strict=True):
            if filled:
                found[name][row] = ""
    return found


def _instead(own: dict[str, Texts], theirs: dict[str, Texts], at: Indices) -> Texts:
    """The columns in which a row says something else than the buyer that it was given."""
    found = np.full(len(at), "", dtype=object)
    for name in HEADER_FIELDS:
        given = theirs[name][at]
        for row in np.flatnonzero((own[name] != "") & (given != "") & (own[name] != given)).tolist():
            if same(own[name][row]) != same(given[row]):
                found[row] += f"{name} "
    return found


def _as_sent(values: Texts, write: Callable[[str], str]) -> Texts:
    codes, distinct = pd.factorize(values)
    return np.array([write(value) for value in distinct], dtype=object)[codes]


def _differing(own: dict[str, Texts], theirs: dict[str, Texts], at: np.ndarray) -> Texts:
    """What each row says of itself and the buyer that it was given says otherwise."""
    found, said = np.full(len(at), "", dtype=object), dict[int, list[Message]]()
    for name in _IDENTITY:
        given = theirs[name][at]
        told = (own[name] != "") & (given != "") & (own[name] != given)
        for row in np.flatnonzero(told).tolist():
            here, there = own[name][row], given[row]
            if _says_one(name, here, there) and same(here) != same(there):
                said.setdefault(row, []).append(_contradiction(name, there, here))
    for row, parts in said.items():
        found[row] = joined(parts, "sentences")
    return found


def _contradiction(column: str, there: str, here: str) -> Message:
    """One column in which a row contradicts the buyer that it names."""
    as_fact = Private if column != "header_type" else lambda name: Term(name, "choice")
    return message(
        "{column} is “{there}” there and “{here}” here",
        column=Term(column), there=as_fact(there), here=as_fact(here),
    )  # fmt: skip


def _says_one(column: str, here: str, there: str) -> bool:
    """Whether both are what they should be; else one is a slip, which is told as that, and not another buyer."""
    if column == "header_type":
        return there in _TYPES
    return is_tax_no(here) and is_tax_no(there) if column == "tax_no" else not no_value(there)


def _looked_up(rows: Mapping[str, Texts], buyers: pd.DataFrame, wanted: Texts, in_full: Mask) -> np.ndarray:
    """The position of each row's buyer, -1 where there is none."""
    short_names = [name_key(name) for name in buyers["buyer"].tolist()]
    full_names = [name_key(name) for name in buyers["header_name"].tolist()] if in_full.any() else []
    by_name = _unique(buyers, short_names)
    by_full_name = _unique(buyers, full_names) if full_names else {}
    only = _only(buyers, short_names) if (wanted == "").any() else {}
    having = {place for file in set(buyers["file"].tolist()) for place in _places(file)}

    def find(book: str, name: str, full: bool) -> int:
        known, key, nearer = by_full_name if full else by_name, name_key(name), False
        for place in _asked(book):
            if name and (place, key) in known:
                return known[place, key]
            if not name and not nearer and place in only:
                return only[place]
            nearer = nearer or place in having
        return -1

    keys = zip(*(texts.tolist() for texts in (rows["book"], wanted, in_full)), strict=True)
    return np.array([find(*key) for key in keys], dtype=np.int64)


def _near(
    rows: Mapping[str, Texts], named: Texts, buyers: pd.DataFrame, unknown: Indices
) -> tuple[Texts, Texts]:
    """Of rows whose buyer is unknown, the one known buyer that has a name close to it, and what is to be told of those who have that very
    name.
    """
    found, alike = np.full(len(named), "", dtype=object), np.full(len(named), "", dtype=object)
    if not len(unknown):
        return found, alike
    known, several = _names_known(buyers)
    asked: dict[tuple[str, str], list[int]] = {}
    for row in unknown.tolist():
        asked.setdefault((rows["book"][row], name_key(named[row])), []).append(row)
    for at, ((book, name), those) in enumerate(asked.items()):
        same_name = [one for place in _asked(book) for one in several.get((place, name), ())]
        if same_name:
            alike[those] = _alike(buyers.iloc[list(dict.fromkeys(same_name))])
        if same_name or at >= _MOST_SUGGESTED:
            continue
        # One character typed for another, two swapped, or up to three left out or added.
        cutoff = max(0.7, 1 - 1.5 / max(len(name), 1))
        near = {
            buyer
            for place in _asked(book)
            for key in difflib.get_close_matches(name, known.get(place, {}), 1 + 2 * len(buyers), cutoff)
            for buyer in known[place][key]
        }
        if len(near) == 1:
            found[those] = near.pop()
    return found, alike


def _names_known(
    buyers: pd.DataFrame,
) -> tuple[dict[_Place, dict[str, set[str]]], dict[tuple[_Place, str], list[int]]]:
    """By place, the buyers' names by all that they may be looked up by; and by place and name, the positions of different buyers who have
    it.
    """
    names = [name_key(name) for name in buyers["buyer"].tolist()]
    single = _unique(buyers, names)
    known: dict[_Place, dict[str, set[str]]] = {}
    several: dict[tuple[_Place, str], list[int]] = {}
    for at, (file, *both) in enumerate(buyers[["file", "buyer", "header_name"]].to_numpy().tolist()):
        for place in _places(file):
            if names[at] and (place, names[at]) not in single:
                several.setdefault((place, names[at]), []).append(at)
                continue
            for key in filter(None, map(name_key, both)):
                known.setdefault(place, {}).setdefault(key, set()).add(next(filter(None, both)))
    return known, several


def _alike(buyers: pd.DataFrame) -> Message:
    """Where buyers of one name stand, and in what they differ."""
    places = [row_at(*place) for place in buyers[[*BUYER_PLACE]].to_numpy().tolist()]
    return message(
        "{places} differ in {columns}",
        places=joined(places[:_MOST_NAMED], "and"),
        columns=terms(name for name in HEADER_FIELDS if len(set(buyers[name])) > 1),
    )


def same(text: str) -> str:
    """A name as names are compared: whatever its case, width and spaces.

    >>> same("ACME  Ltd（上海）") == same("Acme ltd (上海)")
    True
    """
    if not text.isascii():  # else it is normal already
        text = unicodedata.normalize("NFKC", UNSEEN.sub("", text))
    return "".join(text.casefold().split())


def name_key(name: str) -> str:
    """What the names of one buyer have in common; "" for none."""
    return same(one_line(name))


def _asked(book: str) -> Iterator[_Place]:
    r"""Where a row's buyer is looked up, in this order: as one of its workbook's or of those behind it, as one that was
    written into an earlier result of it, the last first, in the buyers file, and among those that were entered on the page.

    >>> list(_asked("june.xlsx: may.xlsx"))
    [('of', 'june.xlsx: may.xlsx'), ('in', 'june.xlsx: may.xlsx'), ('in', 'june.xlsx'), ('in', ''), ('in', '\x00')]
    """
    yield _OF, book
    books = book.split(BEHIND)
    yield from ((_IN, BEHIND.join(books[:end])) for end in range(len(books), 0, -1))
    yield _IN, ""
    yield _IN, ENTERED


def _places(file: str) -> Iterator[_Place]:
    """Where a buyer is looked up: in its own file, and as one of every workbook that it came by.

    >>> list(_places("june.xlsx: may.xlsx"))
    [('in', 'june.xlsx: may.xlsx'), ('of', 'june.xlsx'), ('of', 'june.xlsx: may.xlsx')]
    """
    yield _IN, file
    books = file.split(BEHIND)
    yield from ((_OF, BEHIND.join(books[:end])) for end in range(1, len(books) + 1))


def _only(buyers: pd.DataFrame, names: Sequence[str]) -> dict[_Place, int]:
    """By place, the position of the only buyer that there is; one who stands twice alike is one.

    Who was entered on the page was entered for those who name it, and is nobody else's.
    """
    found: dict[_Place, dict[tuple[str, ...], int]] = {}
    for at, (file, *content) in enumerate(_contents(buyers, names)):
        for place in _places(file) if file != ENTERED else ():
            found.setdefault(place, {}).setdefault(tuple(content), at)
    return {place: next(iter(those.values())) for place, those in found.items() if len(those) == 1}


def _unique(buyers: pd.DataFrame, names: Sequence[str]) -> dict[tuple[_Place, str], int]:
    """By place and name, the position of the buyer who has it; a name that two different buyers have is nobody's."""
    found: dict[tuple[_Place, str], dict[tuple[str, ...], int]] = {}
    for at, (file, name, *content) in enumerate(_contents(buyers, names)):
        for place in _places(file):
            found.setdefault((place, name), {}).setdefault(tuple(content), at)
    return {key: next(iter(those.values())) for key, those in found.items() if len(those) == 1}


def _contents(buyers: pd.DataFrame, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Of every buyer: the file, the name that it is looked up by, and what stands on vouchers."""
    columns = (buyers[column].tolist() for column in HEADER_FIELDS)
    return zip(buyers["file"].tolist(), names, *columns, strict=True)
