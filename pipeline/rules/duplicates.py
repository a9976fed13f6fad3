"""Each charge once: rows of one charge, identical or differing.

Source: that nothing is issued twice is the product's promise.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pipeline.model.encoded_column import EncodedColumn, alike
from pipeline.model.lazy import LazySequence
from pipeline.model.message import Fact, Message, message, terms
from pipeline.model.profile import Profile
from pipeline.model.request import wire_text
from pipeline.model.table import (
    Finding,
    Mask,
)
from pipeline.rules.related_rows import Together
from pipeline.rules.rows import Rows
from pipeline.rules.rule import identified

#: What two rows of one charge must agree in to be the same row twice: all that decides whether and
#: how it is sent.
_SAME = (
    "charge", "product", "amount", "voucher", "market", "passenger_name", "ticket_status", "flight_date",
    "used_on", "refund_approved_on", "purchased_on", "remarks", "header_type", "header_name", "tax_no",
    "phone", "email",
)  # fmt: skip


def _charge_keys(rows: Rows, profile: Profile) -> EncodedColumn:
    """What makes two charges of one ticket the same: equal wire codes, else equal names."""
    charge, product = rows.coded("charge"), rows.coded("product")
    kinds = alike([charge, product])
    names = (f"{rows.charge[at]}/{rows.product[at]}" for at in kinds.first.tolist())
    keys = [wire_text(profile.wire(*name.split("/"))) or name for name in names]
    return EncodedColumn.of(np.array(keys, dtype=object)).spread(kinds.group)


def duplicates(rows: Rows, profile: Profile, wrong: Mapping[str, Mask], held: Iterable[int]) -> list[Finding]:
    """Rows of one charge: `repeated_charge` for identical ones but the first, `duplicate_charge` for differing ones.

    `wrong` has by column the rows that can't be understood there: such a row repeats nothing, and beside one that can be
    it differs, because what it says is not known. Of a charge that the ledger holds (its rows are `held`) no
    row is to be sent, so that those that are as the first repeat it, whatever others say.
    """
    keys = _charge_keys(rows, profile)
    charges = rows.same_ticket * len(keys.words) + keys.codes
    known = np.flatnonzero(identified(rows))
    groups = Together.of(known, charges[known])
    if not len(groups.rows):
        return []
    values = {name: _comparable(name, getattr(rows, name)[groups.rows]) for name in _SAME}
    differing = {name: groups.differ(numbers) for name, numbers in values.items()}
    for column, marks in wrong.items():
        differs = groups.differ(marks[groups.rows].astype(np.int64))
        differing[column] = differing.get(column, np.zeros_like(differs)) | differs
    any_differs = np.any(list(differing.values()), axis=0)

    def fate(group: int) -> Message:
        names = [name for name, differs in differing.items() if differs[group]]
        one_to_the_carrier = {"charge", "product"} & set(names)
        key = keys.words[keys.codes[groups.rows[groups.starts[group]]]]
        return _told_apart_by_nothing(key) if one_to_the_carrier else _differ_in(names)

    refused = any_differs[groups.group]
    first = groups.starts[groups.group]
    of_held = np.zeros(len(rows), dtype=bool)
    of_held[list(held)] = True
    repeating = (~refused | of_held[groups.rows]) & (first != np.arange(len(groups.rows)))
    for numbers in values.values():
        repeating &= numbers == numbers[first]
    for marks in wrong.values():
        repeating &= ~(marks[groups.rows] | marks[groups.rows[first]])
    return [
        *groups.finding("duplicate_charge", "ticket_no", rows, refused, fate),
        *_repeats(rows, groups, repeating),
    ]


def _told_apart_by_nothing(code: str) -> Message:
    return message(
        "the carrier's code is {code} for each, so that it could not tell them apart, and none of them is sent",
        code=code,
    )


def _differ_in(columns: Iterable[str]) -> Message:
    return message("they differ in {columns}, so that none of them is sent", columns=terms(columns))


def _repeats(rows: Rows, groups: Together, chosen: Mask) -> list[Finding]:
    """`repeated_charge`; the fact `first` is the charge that each repeats, by its position."""
    at, first = groups.rows[chosen], groups.rows[groups.starts[groups.group[chosen]]]
    if not len(at):
        return []
    order = np.argsort(at)
    at, first = at[order], first[order]
    facts: dict[str, Sequence[Fact]] = {
        "other": LazySequence(len(at), lambda n: rows.place(int(first[n]))),
        "first": first.tolist(),
    }
    return [Finding("repeated_charge", "ticket_no", at, facts)]


def _comparable(name: str, values: np.ndarray) -> np.ndarray:
    """A column as whole numbers that are equal where its values are; days that are not given are equal, and names by their words."""
    if name == "passenger_name":
        values = np.array([" ".join(text.split()) for text in values.tolist()], dtype=object)
    return EncodedColumn.of(values).codes if values.dtype == object else values.astype(np.int64)
