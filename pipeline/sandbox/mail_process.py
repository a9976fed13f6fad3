"""The process that writes the mails of itineraries into a folder, while the carrier answers.

It is a process of its own so that making and sealing files takes nothing from the answers. Orders come over standard input, pickled, and
are written in their order, an order that is due later when it is. When the other side closes, or
dies, what is due is written and the rest left; then one pickled `Delivered` goes to standard output.

A mail appears whole or not at all, under a name of its own; it is not synced: a power cut may take it.
"""

import heapq
import os
import pickle
import select
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from pipeline.file_writing import appear
from pipeline.pickled_values import PIECE, taken
from pipeline.process_hardening import protect_process
from pipeline.sandbox.itinerary_mail import MailOrder, mails
from pipeline.signals import ENDING


@dataclass
class Delivered:
    """What became of the orders: mails written, mails that were not due yet, and those that could not be written, with the first reason."""

    written: int = 0
    not_due: int = 0
    failed: int = 0
    problem: str = ""


def deliver(orders: int, folder: Path) -> Delivered:
    """Write the mails of the orders that come from this file descriptor, until it ends."""
    came, waiting = bytearray(), list[tuple[float, int, MailOrder]]()
    delivered, number, open_ = Delivered(), 0, True
    while open_:
        pause = max(0.0, waiting[0][0] - time.time()) if waiting else None
        if select.select([orders], [], [], pause)[0]:
            came += (data := os.read(orders, PIECE))
            open_ = bool(data)
            for order in taken(came):
                heapq.heappush(waiting, (order.due, number, order))
                number += 1
        if waiting and waiting[0][0] <= time.time():
            _write(heapq.heappop(waiting)[2], folder, delivered)
    while waiting and waiting[0][0] <= time.time():
        _write(heapq.heappop(waiting)[2], folder, delivered)
    delivered.not_due = len(waiting)
    return delivered


def _write(order: MailOrder, folder: Path, delivered: Delivered) -> None:
    for name, mail in mails(order):
        try:
            _place(mail, folder / name)
        except OSError as error:
            delivered.failed += 1
            delivered.problem = delivered.problem or error.strerror or str(error)
        else:
            delivered.written += 1


def _place(mail: bytes, path: Path) -> None:
    """Let a mail appear, whole, readable by its owner only. Raises OSError."""
    handle, name = tempfile.mkstemp(prefix=".voucher-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(mail)
        appear(Path(name), path)
    finally:
        Path(name).unlink(missing_ok=True)


def main() -> None:
    """Deliver for whoever holds the other end of standard input."""
    protect_process()
    for number in ENDING:  # it ends when the carrier does
        signal.signal(number, signal.SIG_IGN)
    sys.stdout.buffer.write(pickle.dumps(deliver(0, Path(sys.argv[1]))))
