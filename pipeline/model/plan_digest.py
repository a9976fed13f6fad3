"""What a plan comes to, as a digest: by it a person approves exactly this plan, and no other is sent for it."""

import hashlib
import json
from collections.abc import Sequence

from pipeline.model.profile import Owner, Profile
from pipeline.model.request import Request


def plan_digest(requests: Sequence[Request], profile: Profile, carrier: Owner) -> str:
    """SHA-256, in hexadecimal, of all that the carrier is asked for and of who is asked.

    The same for the same requests in whatever order their rows stand, in any language; another one for any change to a
    charge, an amount, a buyer, a code of the carrier's or its address.
    """
    found = hashlib.sha256(_text([carrier.base_url, carrier.agency, profile.carrier.ticket_no_hyphen]))
    for content in sorted(_content(request, profile) for request in requests):
        found.update(content)
    return found.hexdigest()


def _content(request: Request, profile: Profile) -> bytes:
    """All of one request, as a line of its own."""
    header = request.header
    charges = sorted(
        [
            *(charge.identity.ticket_no, charge.identity.charge, charge.identity.product),
            *(charge.passenger_name, charge.amount, *(charge.wire or ("", ""))),
        ]
        for charge in request.charges
    )
    code = profile.codes.header_type.get(header.header_type, "")
    return _text([request.voucher, request.market, code, *header.values, charges])


def _text(content: Sequence[object]) -> bytes:
    return json.dumps(content).encode() + b"\n"
