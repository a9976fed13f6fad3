"""One line of the register of vouchers (开票清单): a charge that was issued, reversed, or may have been issued."""

import datetime
from typing import NamedTuple


class RegisterLine(NamedTuple):
    """A charge as a ledger knows it; "" where it does not know.

    `state` is issued, unknown (the request's outcome is) or reversed. `amount` is in minor units, None where a statement does not say it;
    `components` and `carried` are JSON objects (charge.components, charge.carried). `issued` is local to the carrier: a time without zone,
    to the second, a day where a statement says no more, None where it says nothing; of what is unknown it is when it was asked for.
    `elsewhere`: a carrier's statement alone shows it; `file` is a message (message.to_text) that says where in it, and `row` is 0. Of an
    itinerary whose file was received: when (local to the carrier), where it lies in the archive, and what its seal says.
    """

    number: str
    voucher: str
    ticket_no: str
    charge: str
    product: str
    passenger_name: str
    buyer: str
    tax_no: str
    phone: str
    email: str
    components: str
    carried: str
    amount: int | None
    issued: datetime.datetime | datetime.date | None
    run: int
    file: str
    sheet: str
    row: int
    state: str
    red_number: str
    request: str
    elsewhere: bool
    received_at: datetime.datetime | None = None
    itinerary_file: str = ""
    seal: str = ""

    @property
    def moment(self) -> datetime.datetime:
        """When it was issued, to be sorted by: a day by itself at its beginning, what has none last."""
        match self.issued:
            case datetime.datetime():
                return self.issued
            case datetime.date():
                return datetime.datetime.combine(self.issued, datetime.time())
            case _:
                return datetime.datetime.max  # noqa: DTZ901 - as all of these, without zone
