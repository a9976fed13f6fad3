"""The filled-in example: one row for each kind of charge and voucher, of made-up people and companies.

Cells are by column; a choice is named as the vocabulary names it and written in the workbook's words, and so are
the made-up names (a passenger's stands as on the ticket, in Latin letters).
Its days lie before EXAMPLE_DAY, the day that it is meant to be judged on.
"""

from collections.abc import Mapping
from datetime import date

from pipeline.model.message import N_

#: The day on which every row of the example is ready.
EXAMPLE_DAY = date(2026, 11, 20)

Cell = str | float | date
Cells = Mapping[str, Cell]

_COMPANY, _PERSON = N_("Example Trading"), N_("Li Na")
_FARE: Cells = {"charge": "ticket_fare", "ticket_status": "used", "buyer": _COMPANY}

TICKETS: tuple[Cells, ...] = (
    # A fare by its components; the rules choose the voucher.
    {
        **_FARE, "ticket_no": "9990000000101", "passenger_name": "ZHANG/WEI MR", "fare": 820.0, "airport_fee": 50.0,
        "fuel_surcharge": 40.0, "market": "domestic", "flight_date": date(2026, 10, 12), "voucher": "auto",
    },
    # A fare by its total, as an invoice.
    {
        **_FARE, "ticket_no": "9990000000102", "passenger_name": "WANG/FANG MS", "amount": 3260.5,
        "market": "international", "flight_date": date(2026, 9, 28), "voucher": "invoice", "remarks": N_("PO 2026-0117"),
    },
    # Total and components, which add up.
    {
        **_FARE, "ticket_no": "9990000000103", "passenger_name": "LI/NA MS", "amount": 760.0, "fare": 600.0,
        "change_fee": 60.0, "airport_fee": 50.0, "fuel_surcharge": 50.0, "market": "domestic",
        "flight_date": date(2026, 11, 2), "used_on": date(2026, 11, 3), "voucher": "itinerary", "buyer": _PERSON,
    },
    # A refund.
    {
        "ticket_no": "9990000000104", "passenger_name": "CHEN/JIE MR", "charge": "refund", "product": "flight",
        "refund_fee": 120.0, "market": "domestic", "ticket_status": "refunded", "flight_date": date(2026, 10, 30),
        "refund_approved_on": date(2026, 11, 5), "voucher": "invoice", "buyer": _COMPANY,
    },
    # Two services on the first ticket.
    {
        "ticket_no": "9990000000101", "passenger_name": "ZHANG/WEI MR", "charge": "ancillary", "product": "baggage",
        "amount": 180.0, "market": "domestic", "ticket_status": "used", "flight_date": date(2026, 10, 12),
        "purchased_on": date(2026, 10, 10), "voucher": "invoice", "buyer": _COMPANY,
    },
    {
        "ticket_no": "9990000000101", "passenger_name": "ZHANG/WEI MR", "charge": "ancillary", "product": "seat",
        "amount": 60.0, "market": "domestic", "ticket_status": "used", "flight_date": date(2026, 10, 12),
        "purchased_on": date(2026, 10, 10), "buyer": _COMPANY,
    },
)  # fmt: skip

BUYERS: tuple[Cells, ...] = (
    {
        "buyer": _COMPANY, "header_type": "business", "header_name": N_("Example Trading (Shanghai) Co., Ltd."),
        "tax_no": "91110000600037341L", "phone": "010-85200000", "email": "finance@example.com",
    },
    {
        "buyer": _PERSON, "header_type": "individual", "header_name": _PERSON, "phone": "13800138000",
        "email": "li.na@example.com",
    },
)  # fmt: skip
