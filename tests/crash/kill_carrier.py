"""A carrier that issues whatever it is asked for, as often as it is asked, and keeps count of it.

It has no memory that could hide a second request behind a refusal, as a real carrier's might: what is
sent twice is issued twice and stands in its journal twice. A line of JSON a request, written in one
piece before the answer leaves, so that it outlives whatever happens to the client:

    {"charges": [["9990000010017", "ticket_fare", "flight"]], "did": "issued", "number": "12", "answer": "lost"}

How it answers is told by a ticket's last digit, so that each kill point brings its own faults along.
"""

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from pipeline.carrier.crypto import Cipher

KEY = "canary-encryption-key-91bd"

#: By a ticket's last digit: what the carrier does, and what becomes of its answer. Else it just issues.
FAULTS = {
    "6": ("issued", "unreadable"),
    "7": ("busy", "once"),  # 429 the first time
    "8": ("issued", "lost"),
    "9": ("refused", ""),
}
_SLOWEST = 0.015  # seconds, so that answers come in while others are being written down


class Carrier:
    """One carrier on loopback; its wire codes are the program's own names."""

    def __init__(self, journal: Path) -> None:
        self._journal = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._cipher = Cipher(KEY)
        self._numbers = 0
        self._turned_away: set[str] = set()
        self._open = 0
        self._closed = asyncio.Condition()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until either side ends it; half a request is none."""
        self._open += 1
        try:
            while await self._served(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client was killed
        finally:
            writer.close()
            async with self._closed:
                self._open -= 1
                self._closed.notify_all()

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"GET /settled"):
            async with self._closed:
                await self._closed.wait_for(lambda: self._open == 1)
            writer.write(_http(200, b"yes"))
            return False
        found = re.search(rb"(?i)content-length: *([0-9]+)", head)
        body = await reader.readexactly(int(found.group(1)) if found else 0)
        voucher = "invoice" if b" /invoice/issueInvoice " in head else "itinerary"
        answer = await self._answer(json.loads(self._cipher.open(json.loads(body))), voucher)
        if answer:
            writer.write(answer)
            await writer.drain()
        return bool(answer)

    async def _answer(self, asked: dict[str, Any], voucher: str) -> bytes:
        charges = _charges(asked, voucher)
        await asyncio.sleep(sum(int(ticket[-4:]) for ticket, _, _ in charges) % 16 / 16 * _SLOWEST)
        did, answer = next(
            (FAULTS[ticket[-1]] for ticket, _, _ in charges if ticket[-1] in FAULTS), ("issued", "")
        )
        if did == "busy":
            tickets = {ticket for ticket, _, _ in charges if FAULTS.get(ticket[-1]) == (did, answer)}
            did = "issued" if tickets <= self._turned_away else did
            self._turned_away |= tickets
        self._numbers += did == "issued"
        number = f"{self._numbers:018}" if did == "issued" else ""
        line = {"charges": charges, "did": did, "number": number, "answer": answer}
        os.write(self._journal, json.dumps(line).encode() + b"\n")
        if did == "busy":
            return _http(429, b"", "Retry-After: 0\r\n")
        if did == "issued" and answer == "lost":
            return b""
        result = _result(charges, voucher, number)
        data = "?" if did == "issued" and answer == "unreadable" else self._cipher.seal(_json(result))
        return _http(200, _json({"code": 200, "message": "success", "data": data, "traceId": "t"}))


def _charges(asked: dict[str, Any], voucher: str) -> list[tuple[str, str, str]]:
    if voucher == "itinerary":
        return [(asked["issueItinerary"]["ticketNo"], "ticket_fare", "flight")]
    fees = asked["issueInvoiceInfo"]["ticketFeeList"]
    return sorted((fee["ticketNo"], fee["feeType"], fee["productType"]) for fee in fees)


def _result(charges: list[tuple[str, str, str]], voucher: str, number: str) -> dict[str, Any]:
    said = {"success": bool(number), "errInfo": "" if number else "refused"}
    if voucher == "invoice":
        return {**said, "invoiceId": number}
    return {"itineraryResult": {**said, "itineraryNum": number, "ticketNo": charges[0][0]}}


def _json(document: dict[str, Any]) -> bytes:
    return json.dumps(document).encode()


def _http(status: int, body: bytes, more: str = "") -> bytes:
    head = (
        f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    )
    return head.encode() + body


async def _serve(journal: Path) -> None:
    server = await asyncio.start_server(Carrier(journal).talk, "127.0.0.1", 0, backlog=512)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    # Whoever started it ends it by closing its standard input, or by dying.
    await asyncio.to_thread(sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1])))
