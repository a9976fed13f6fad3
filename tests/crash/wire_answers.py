"""What the carrier may say, right and wrong: envelopes and results as bytes.

Made from the written interface alone (pipeline.carrier.crypto is the only thing shared with the
program), so that each side judges the other.
"""

import json
from typing import Any

from pipeline.carrier.crypto import Cipher
from tests.crash.wire_server import ENCRYPTION_KEY, Asked, Line


class _Absent:
    """Names itself alike in every process, as tests are named after it."""

    def __repr__(self) -> str:
        return "absent"


#: For a key that is left out, where None would be null.
ABSENT = _Absent()


def number_of(asked: Asked, serial: int = 0) -> str:
    """The number of the voucher that this request gets, in the interface's observed shape; no other request gets it."""
    first = "".join(character for character in asked.tickets[0] if character.isdigit())
    if asked.voucher == "invoice":
        return f"1{serial:04}{first:>013}"
    return f"2{serial:06}{first:>013}"


def _present(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not ABSENT}


def result(asked: Asked, number: Any, *, success: Any = True, ticket: Any = None) -> dict[str, Any]:
    """The result document of a request; `ticket` None is the one that was asked for."""
    if asked.voucher == "invoice":
        return _present({"success": success, "errInfo": "The request was received.", "invoiceId": number})
    ticket = asked.tickets[0] if ticket is None else ticket
    return {"itineraryResult": _present({"ticketNo": ticket, "itineraryNum": number, "success": success})}


def sealed(document: Any, key: str = ENCRYPTION_KEY) -> str:
    """A document as the data of an envelope; bytes are sealed as they are."""
    plain = document if isinstance(document, bytes) else json.dumps(document).encode()
    return Cipher(key).seal(plain)


def envelope(data: Any, code: Any = 200, message: Any = "success", trace: Any = "trace-1") -> bytes:
    """The envelope around a result's sealed text."""
    fields = {"code": code, "message": message, "data": data, "traceId": trace}
    return json.dumps(_present(fields)).encode()


def yes(asked: Asked, **changes: Any) -> bytes:
    """A whole success with the request's own number; `changes` are those of `envelope`."""
    return envelope(sealed(result(asked, number_of(asked))), **changes)


def good(line: Line) -> None:
    """Read, issue, answer, as the service should."""
    asked = line.read()
    line.issue(asked, number_of(asked))
    line.answer(200, yes(asked))


def good_bye(line: Line) -> None:
    """Like `good`, and the last answer on this connection."""
    asked = line.read()
    line.issue(asked, number_of(asked))
    line.answer(200, yes(asked), "Connection: close")
    line.fin()
