"""What is not asked again by itself: a charge that the carrier refused or whose voucher it reversed, in an unchanged row.

Source: the promise (a rejected charge is sent again only where a person starts it, or its row has changed). A
refusal may have reasons that time alone does not mend, and the carrier sees every repetition. A voucher was
reversed for a reason that somebody has: that it may be issued again does not say that it is to be.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from pipeline.model.known_charges import Refusal
from pipeline.model.message import Message
from pipeline.model.request import (
    HEADER,
    Charge,
    Header,
    Identity,
    content_digest,
)
from pipeline.model.table import Finding
from pipeline.rules.judge import Verdicts


def hold_back(verdicts: Verdicts, refusals: Mapping[Identity, Refusal]) -> Verdicts:
    """The verdicts with unchanged refused rows as `rejected`, for the carrier's reason, and those of reversed ones as `waiting`."""
    if not refusals:
        return verdicts
    rows, status = verdicts.rows, verdicts.status.copy()
    refused = dict[int, Message]()
    reversed_numbers: dict[int, str] = {}
    for at in np.flatnonzero(verdicts.ready).tolist():
        identity = Identity(rows.ticket_no[at], rows.charge[at], rows.product[at])
        refusal = refusals.get(identity)
        if refusal is None:
            continue
        charge = Charge(identity, rows.passenger_name[at], int(rows.amount[at]), at, None)
        header = Header(*(rows.text(name)[at] for name in HEADER))
        # A refusal of a program that did not note what it asked can't be told from a changed row: a person sends it.
        if refusal.content in ("", content_digest(rows.voucher[at], rows.market[at], header, charge)):
            if refusal.reversed_number:
                reversed_numbers[at] = refusal.reversed_number
            else:
                refused[at] = refusal.detail
    status[[*refused]], status[[*reversed_numbers]] = "rejected", "waiting"
    findings = tuple(
        Finding(code, "", np.array([*held], dtype=np.int64), {fact: [*held.values()]})
        for code, fact, held in (
            ("carrier_rejected", "detail", refused),
            ("voucher_reversed", "number", reversed_numbers),
        )
        if held
    )
    return replace(verdicts, status=status, findings=(*verdicts.findings, *findings))
