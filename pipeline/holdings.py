"""What a ledger says of charges, as plain values that the rules can judge by."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline.request import Identity


@dataclass(frozen=True, slots=True)
class Holding:
    """A charge in a live attempt: issued, or in doubt (`state` is issued or unknown).

    `amount` in minor units; `at` is the UTC time of the attempt, ISO 8601; `reason` and `detail` say
    why it is unknown.
    """

    identity: Identity
    wire: str
    voucher: str
    state: str
    number: str
    amount: int
    header_type: str
    header_name: str
    tax_no: str
    request_id: str
    attempt: int
    run: int
    at: str
    reason: str
    detail: str
    file: str
    sheet: str
    row: int

    @property
    def issued_on(self) -> str:
        """The UTC day of the attempt."""
        return self.at[:10]

    @property
    def place(self) -> str:
        """The workbook row that it was issued from, for a message."""
        return f"{self.file}, {self.sheet}, row {self.row} (run {self.run})"


@dataclass(frozen=True)
class Holdings:
    """All that the ledger knows of some tickets.

    `held` by identity; `apart` are charges whose invoice of several was rejected, so that they go one
    to a request from now on; `doubted` are charges that ever had an unknown attempt: the carrier's no
    to one of them may mean "issued already".
    """

    held: Mapping[Identity, Holding] = field(default_factory=dict)
    apart: frozenset[Identity] = frozenset()
    doubted: frozenset[Identity] = frozenset()
