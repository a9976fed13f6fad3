"""What the model's runs are asked for: few tickets, so that requests clash."""

import itertools
import random

from pipeline.model.request import (
    Charge,
    Header,
    Identity,
    Request,
)

TICKETS = tuple(f"999000000000{number}" for number in range(1, 7))
NUMBERS = tuple(f"2600{number}" for number in range(1, 13))  # few, so that one comes twice
_KINDS = (
    ("ticket_fare", "flight", ("FARE", "Flight")),
    ("refund", "flight", ("REFUND_FEE", "Flight")),
    ("ancillary", "baggage", ("EXTRA", "Baggage")),
    ("ancillary", "seat", ("EXTRA", "Seat")),
    ("ancillary", "seat", ("EXTRA", "SeatSelection")),  # the carrier has renamed its code
    ("ancillary", "meal", ("EXTRA", "Other")),
    ("ancillary", "lounge", ("EXTRA", "Other")),  # on the wire the same as a meal
    ("ancillary", "upgrade", None),  # no code of its own: only the identity holds it
)
_HEADERS = (
    Header("business", "Example Trading Co.", "91110000600037341L", "", "finance@example.com"),
    Header("individual", "ZHANG WEI", "", "+86 10 8520 0000", "", "gate 7"),
)
_HOUSE = (1, 1, 1, 1, 2, 3)  # charges of an invoice


def _pool() -> tuple[Request, ...]:
    """Requests that differ in every way that the ledger tells apart; the same ones in each process."""
    chance = random.Random(20261120)
    pool = [
        Request(
            "itinerary",
            "domestic",
            header,
            (Charge(Identity(ticket, "ticket_fare", "flight"), "", 100_00, 0, None),),
        )
        for ticket in TICKETS
        for header in _HEADERS
    ]
    row = itertools.count(1)
    while len(pool) < 160:
        charges = {}
        for _ in range(chance.choice(_HOUSE)):
            kind, product, wire = chance.choice(_KINDS)
            identity = Identity(chance.choice(TICKETS), kind, product)
            charges[identity] = Charge(identity, "", chance.choice((100_00, 55_50)), next(row), wire)
        market = chance.choice(("domestic", "domestic", "international"))
        pool.append(Request("invoice", market, chance.choice(_HEADERS), tuple(charges.values())))
    return tuple(pool)


POOL = _pool()
PLACES = {
    charge.row: ("tickets.xlsx", "Tickets", charge.row + 2) for request in POOL for charge in request.charges
}

#: Each request as the ledger's row holds it, without its ID.
REQUEST_ROWS = {
    r.request_id: (
        r.voucher, r.market, r.amount, r.header.header_type, r.header.header_name, r.header.tax_no,
        r.header.phone, r.header.email, r.header.remarks,
    )
    for r in POOL
}  # fmt: skip


def on_the_wire(charge: Charge) -> str:
    return "/".join(charge.wire) if charge.wire else ""


def shown_as(request: Request) -> str:
    charges = ", ".join(
        f"{c.identity.ticket_no[-1]} {c.identity.charge} {on_the_wire(c)} {c.amount}" for c in request.charges
    )
    return f"{request.request_id} {request.voucher} of {charges}"
